/*
** float.h - private: binary floats of any width, to and from doubles; bits in bytes.
** SPDX-License-Identifier: MIT
**
** A float is sign, exponent, fraction, with the bias 2^(e-1) - 1 and subnormals as in
** IEEE 754. What the largest exponent means differs.
*/
#ifndef MT_TYPES_FLOAT_H
#define MT_TYPES_FLOAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "types/convert.h"

typedef struct mt_float {
  uint8_t e, m, top; /* bits of the exponent (0: no float), of the fraction */
} mt_float;

/* Formats that have no dtype of their own: those that lie in u8 as codes.
** name     e   m   top */
#define MT_CODE_FLOATS(X)                                                                \
  X(e2m1, 2, 1, FINITE)                                                                  \
  X(e3m2, 3, 2, FINITE)                                                                  \
  X(e2m3, 2, 3, FINITE)

/* Up to 8 bytes, little endian: where the host is, too, they are its own. */
static inline uint64_t mt_get_bits (const void *p, int bytes) {
  uint64_t bits = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&bits, p, (size_t)bytes);
#else
  for (int i = bytes; i-- > 0;) bits = bits << 8 | ((const unsigned char *)p)[i];
#endif
  return bits;
}

static inline void mt_put_bits (void *p, int bytes, uint64_t bits) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(p, &bits, (size_t)bytes);
#else
  unsigned char *b = p;
  for (int i = 0; i < bytes; i++, bits >>= 8) b[i] = (unsigned char)bits;
#endif
}

/* The first code, without its sign, that is no finite number. */
static inline uint64_t mt_float_end (mt_float f) {
  uint64_t top = (1ull << f.e) - 1, ones = (1ull << (f.e + f.m)) - 1;
  return f.top == MT_TOP_IEEE ? top << f.m : f.top == MT_TOP_ONES ? ones : ones + 1;
}

/* The double with the value of these bits, exactly. A NaN keeps its payload. */
static inline double mt_float_decode (uint64_t bits, mt_float f) {
  if (f.e == 11) return mt_as_double(bits);
  uint64_t top = (1ull << f.e) - 1, rebias = 1023 - (top >> 1);
  uint64_t sign = bits >> (f.e + f.m) << 63, code = bits & ((1ull << (f.e + f.m)) - 1);
  uint64_t exponent = code >> f.m, fraction = code & ((1ull << f.m) - 1);
  if (exponent == 0) { /* fraction * 2^(1-bias-m), a normal double */
    double scale = mt_as_double((rebias + 1 - (uint64_t)f.m) << 52);
    return mt_as_double(mt_double_as((double)fraction * scale) | sign);
  }
  exponent = code >= mt_float_end(f) ? 2047 : exponent + rebias;
  return mt_as_double(sign | exponent << 52 | fraction << (52 - f.m));
}

/* What infinity becomes, and a NaN with this payload. */
static inline uint64_t mt_float_special (uint64_t fraction, mt_float f) {
  uint64_t end = mt_float_end(f), payload = fraction >> (52 - f.m);
  if (f.top != MT_TOP_IEEE) return f.top == MT_TOP_ONES ? end : end - 1;
  return end | (fraction && !payload ? 1ull << (f.m - 1) : payload);
}

/* The code of the nearest float, ties to even. Beyond the largest: infinity; NaN where
** there is none; the largest where there is no NaN either. A NaN stays one, if it can,
** and keeps what fits of its payload. Doubles below the normal range are far below half
** of the smallest float. */
static inline uint64_t mt_float_encode (double v, mt_float f) {
  uint64_t bits = mt_double_as(v);
  if (f.e == 11) return bits;
  uint64_t sign = bits >> 63 << (f.e + f.m), end = mt_float_end(f);
  uint64_t fraction = bits & ((1ull << 52) - 1);
  int64_t exponent = (int64_t)(bits >> 52 & 2047);
  if (exponent == 0) return sign;
  if (exponent == 2047) return sign | mt_float_special(fraction, f);
  exponent -= 1023 - ((1 << (f.e - 1)) - 1);
  int shift = 52 - f.m;
  if (exponent < 1) { /* subnormal */
    shift = 1 - exponent > 63 - shift ? 63 : shift + (int)(1 - exponent);
    exponent = 1;
  }
  uint64_t whole = fraction | 1ull << 52, half = 1ull << (shift - 1);
  uint64_t q = whole >> shift, rest = whole & (2 * half - 1);
  q += rest > half || (rest == half && (q & 1));
  q += (uint64_t)(exponent - 1) << f.m; /* a carry is the next exponent */
  return sign | (q < end ? q : mt_float_special(0, f));
}

#endif
