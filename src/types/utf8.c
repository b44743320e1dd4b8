/*
** utf8.c - strings of JSON, and UTF-8.
** SPDX-License-Identifier: MIT
*/
#include <stdint.h>
#include <string.h>

#include "types/utf8.h"

enum { REPLACEMENT = 0xFFFD };

int mt_hex_digit (unsigned char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---------------------------------------------------------------- UTF-8 */

/* The bytes of the code point at s, of n bytes; 0: there is none. */
static size_t point (const unsigned char *s, size_t n) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t size = *s < 0x80     ? 1 :
                *s >> 5 == 6  ? 2 :
                *s >> 4 == 14 ? 3 :
                *s >> 3 == 30 ? 4 :
                                0;
  if (size < 2 || size > n) return size > n ? 0 : size;
  uint32_t x = *s & (0x7Fu >> size);
  for (size_t i = 1; i < size; i++) {
    if (s[i] >> 6 != 2) return 0;
    x = x << 6 | (s[i] & 0x3Fu);
  }
  return x < least[size] || x > 0x10FFFF || x >> 11 == 27 ? 0 : size;
}

bool mt_is_utf8 (const unsigned char *s, size_t n) {
  for (size_t k; n > 0; s += k, n -= k)
    if ((k = point(s, n)) == 0) return false;
  return true;
}

static size_t put_point (char *out, uint32_t x) {
  size_t size = x < 0x80 ? 1 : x < 0x800 ? 2 : x < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = size; i-- > 1; x >>= 6) out[i] = (char)(0x80 | (x & 0x3F));
  out[0] = (char)(lead[size] | x);
  return size;
}

/* ---------------------------------------------------------------- strings of JSON */

static uint32_t hex (const unsigned char *s) {
  uint32_t x = 0;
  for (int i = 0; i < 4; i++) x = x << 4 | (uint32_t)mt_hex_digit(s[i]);
  return x;
}

/* The code point of \uXXXX at s, of a pair both; *k: the bytes that it takes. */
static uint32_t unicode (const unsigned char *s, size_t n, size_t *k) {
  uint32_t x = hex(s + 2);
  *k = 6;
  if (x >> 11 != 27) return x;
  if (x >= 0xDC00 || n < 12 || s[6] != '\\' || s[7] != 'u') return REPLACEMENT;
  uint32_t low = hex(s + 8);
  if (low < 0xDC00 || low > 0xDFFF) return REPLACEMENT;
  *k = 12;
  return 0x10000 + ((x - 0xD800) << 10) + (low - 0xDC00);
}

/* What the character at s becomes, at most 4 bytes; *k: the bytes that it takes. */
static size_t step (char *out, const unsigned char *s, size_t n, size_t *k) {
  static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
  *k = 1;
  *out = (char)*s;
  if (*s != '\\') return 1;
  if (s[1] == 'u') return put_point(out, unicode(s, n, k));
  *k = 2;
  const char *p = strchr(letters, s[1]);
  *out = p ? controls[p - letters] : (char)s[1];
  return 1;
}

size_t mt_json_to_utf8 (char *out, const unsigned char *s, size_t n) {
  size_t at = 0;
  char piece[4];
  for (size_t k; n > 0; s += k, n -= k) {
    size_t bytes = step(piece, s, n, &k);
    memcpy(out + at, piece, bytes);
    at += bytes;
  }
  return at;
}

/* A string as it is read, byte by byte. */
typedef struct cursor {
  const unsigned char *s;
  size_t n, at, have;
  char piece[4];
} cursor;

static int next (cursor *c) {
  if (c->at < c->have) return (unsigned char)c->piece[c->at++];
  if (c->n == 0) return -1;
  size_t k;
  c->have = step(c->piece, c->s, c->n, &k);
  c->s += k;
  c->n -= k;
  c->at = 1;
  return (unsigned char)c->piece[0];
}

int mt_compare_json (const unsigned char *a, size_t n, const unsigned char *b, size_t m) {
  cursor x = {.s = a, .n = n}, y = {.s = b, .n = m};
  int c, d;
  do {
    c = next(&x);
    d = next(&y);
  } while (c == d && c >= 0);
  return c - d;
}
