/*
** mt_dtype.c - data types: names, sizes, and one element to and from a number.
** SPDX-License-Identifier: MIT
*/
#include "mt_impl.h"

#define MT_DTYPE_ROW(name, bytes, npy) { #name, bytes, npy },
static const struct { char name[5]; uint8_t bytes; char npy[4]; } dtypes[] = {
  MT_DTYPES(MT_DTYPE_ROW)
};
#undef MT_DTYPE_ROW

/* Bits of the exponent; 0: an integer. A float is sign, exponent, fraction, with the bias
** 2^(e-1) - 1, subnormals, infinities and NaNs as in IEEE 754. */
static const uint8_t exponent_bits[MT_NDTYPE] = {
  [MT_f16] = 5, [MT_bf16] = 8, [MT_f32] = 8, [MT_f64] = 11
};

const char *mt_dtype_name (mt_dtype d) {
  return (unsigned)d < MT_NDTYPE ? dtypes[d].name : "?";
}

size_t mt_dtype_size (mt_dtype d) {
  return (unsigned)d < MT_NDTYPE ? dtypes[d].bytes : 0;
}

mt_status mt_dtype_find (mt_dtype *out, const char *name, mt_err *err) {
  MT_CHECK(name, err, "dtype: a name expected");
  for (int d = 0; d < MT_NDTYPE; d++)
    if (strcmp(name, dtypes[d].name) == 0) { *out = (mt_dtype)d; return MT_OK; }
#define MT_DTYPE_LIST(type, bytes, npy) #type " "
  return mt_fail(err, MT_EINVAL, "unknown dtype '%.32s'\n  the dtypes are: %.*s", name,
                 (int)sizeof(MT_DTYPES(MT_DTYPE_LIST)) - 2, MT_DTYPES(MT_DTYPE_LIST));
#undef MT_DTYPE_LIST
}

/* ---------------------------------------------------------------- bits */

static uint64_t get_bits (const void *p, int bytes) {
  const unsigned char *b = p;
  uint64_t bits = 0;
  for (int i = bytes; i-- > 0;) bits = bits << 8 | b[i];
  return bits;
}

static void put_bits (void *p, int bytes, uint64_t bits) {
  unsigned char *b = p;
  for (int i = 0; i < bytes; i++, bits >>= 8) b[i] = (unsigned char)bits;
}

static uint64_t double_bits (double f) {
  uint64_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static double bits_double (uint64_t bits) {
  double f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* The double with the value of a float of e exponent and m fraction bits, exactly: e <
** 11, or a double itself. A NaN keeps its payload. */
static double widen (uint64_t bits, int e, int m) {
  if (e == 11) return bits_double(bits);
  uint64_t top = (1ull << e) - 1, rebias = 1023 - (top >> 1);
  uint64_t sign = bits >> (e + m) << 63;
  uint64_t exponent = bits >> m & top, fraction = bits & ((1ull << m) - 1);
  if (exponent == 0) {       /* fraction * 2^(1-bias-m), a normal double */
    double scale = bits_double((rebias + 1 - (uint64_t)m) << 52);
    return bits_double(double_bits((double)fraction * scale) | sign);
  }
  exponent = exponent == top ? 2047 : exponent + rebias;
  return bits_double(sign | exponent << 52 | fraction << (52 - m));
}

/* The nearest float of e exponent and m fraction bits, ties to even; beyond the largest:
** infinity. A NaN stays one and keeps what fits of its payload. Doubles below the normal
** range are far below half of the smallest float. */
static uint64_t narrow (double f, int e, int m) {
  uint64_t bits = double_bits(f);
  if (e == 11) return bits;
  uint64_t sign = bits >> 63 << (e + m), inf = ((1ull << e) - 1) << m;
  uint64_t fraction = bits & ((1ull << 52) - 1);
  int64_t exponent = (int64_t)(bits >> 52 & 2047);
  if (exponent == 0) return sign;
  if (exponent == 2047) {
    uint64_t payload = fraction >> (52 - m);
    return sign | inf | (fraction && !payload ? 1ull << (m - 1) : payload);
  }
  exponent -= 1023 - ((1 << (e - 1)) - 1);
  int shift = 52 - m;
  if (exponent < 1) {        /* subnormal */
    shift = 1 - exponent > 63 - shift ? 63 : shift + (int)(1 - exponent);
    exponent = 1;
  }
  uint64_t whole = fraction | 1ull << 52, half = 1ull << (shift - 1);
  uint64_t q = whole >> shift, rest = whole & (2 * half - 1);
  q += rest > half || (rest == half && (q & 1));
  q += (uint64_t)(exponent - 1) << m;      /* a carry is the next exponent */
  return sign | (q < inf ? q : inf);
}

/* A double that rounds to every narrower float as the integer i does: i itself where it
** has 53 bits, else i rounded to odd. */
static double sticky_double (int64_t i) {
  uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
  if (u >> 53 && (u & 1023)) u = (u & ~1023ull) | 1024;
  return i < 0 ? -(double)u : (double)u;
}

/* ---------------------------------------------------------------- elements */

static bool is_signed (mt_dtype d) { return dtypes[d].npy[1] == 'i'; }

/* The least and the largest integer of a type, not u64. */
static void int_range (mt_dtype d, int64_t *lo, int64_t *hi) {
  int bits = d == MT_bool ? 1 : 8 * dtypes[d].bytes;
  *hi = is_signed(d) ? INT64_MAX >> (64 - bits) : INT64_MAX >> (63 - bits);
  *lo = is_signed(d) ? -*hi - 1 : 0;
}

/* The integer that v is, if it is one; those of u64 beyond 2^63 as they wrap. */
static bool to_integer (mt_dtype d, mt_number v, int64_t *out) {
  const double two63 = 9223372036854775808.0;
  if (v.isint) { *out = v.i; return true; }
  if (d == MT_u64 && v.f >= two63 && v.f < 2 * two63) {
    *out = (int64_t)(uint64_t)v.f;
    return true;
  }
  if (!(v.f >= (d == MT_u64 ? 0 : -two63) && v.f < two63)) return false;
  *out = (int64_t)v.f;
  return (double)*out == v.f;
}

static mt_status store_integer (mt_dtype d, void *p, mt_number v, mt_err *err) {
  int64_t i, lo, hi;
  const char *name = dtypes[d].name;
  if (!to_integer(d, v, &i)) {
    if (d == MT_u64)
      return mt_fail(err, MT_ERANGE, "u64: %.17g is not an integer from 0 to 2^64-1",
                     v.f);
    int_range(d, &lo, &hi);
    return mt_fail(err, MT_ERANGE, "%s: %.17g is not an integer from %lld to %lld", name,
                   v.f, (long long)lo, (long long)hi);
  }
  if (d != MT_u64) {
    int_range(d, &lo, &hi);
    if (i < lo || i > hi)
      return mt_fail(err, MT_ERANGE, "%s: %lld is not in the range from %lld to %lld",
                     name, (long long)i, (long long)lo, (long long)hi);
  }
  put_bits(p, dtypes[d].bytes, (uint64_t)i);
  return MT_OK;
}

mt_number mt_load_element (mt_dtype d, const void *p) {
  mt_number v = { true, 0, 0 };
  if ((unsigned)d >= MT_NDTYPE) return v;
  int bytes = dtypes[d].bytes, e = exponent_bits[d];
  uint64_t bits = get_bits(p, bytes);
  if (e) {
    v.isint = false;
    v.f = widen(bits, e, 8 * bytes - 1 - e);
  } else if (d == MT_bool) {
    v.i = bits != 0;
  } else {
    uint64_t sign = is_signed(d) ? 1ull << (8 * bytes - 1) : 0;
    v.i = (int64_t)((bits ^ sign) - sign);
  }
  return v;
}

mt_status mt_store_element (mt_dtype d, void *p, mt_number v, mt_err *err) {
  MT_CHECK((unsigned)d < MT_NDTYPE, err, "store: there is no dtype number %d", (int)d);
  int bytes = dtypes[d].bytes, e = exponent_bits[d];
  if (!e) return store_integer(d, p, v, err);
  double f = !v.isint ? v.f : e == 11 ? (double)v.i : sticky_double(v.i);
  put_bits(p, bytes, narrow(f, e, 8 * bytes - 1 - e));
  return MT_OK;
}
