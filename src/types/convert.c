/*
** convert.c - one element as an element of another type.
** SPDX-License-Identifier: MIT
*/
#include "moontile/types.h"
#include "types/convert.h"
#include "types/float.h"
#include "core/error.h"

void mt_cast_element (mt_dtype to, void *dst, mt_dtype from, const void *src) {
  mt_cast_type s = mt_cast_type_of(from), d = mt_cast_type_of(to);
  uint64_t bits = mt_get_bits(src, s.bytes);
  mt_put_bits(dst, d.bytes, from == to ? bits : mt_cast_bits(bits, s, d));
}

void mt_cast_rounded (mt_dtype to, void *dst, mt_dtype from, const void *src,
                      mt_rounding r) {
  mt_cast_type s = mt_cast_type_of(from), d = mt_cast_type_of(to);
  uint64_t bits = mt_get_bits(src, s.bytes);
  mt_put_bits(dst, d.bytes, from == to ? bits : mt_cast_rounded_bits(bits, s, d, r));
}

const char *mt_rounding_name (mt_rounding r) {
  static const char *const names[] = {"nearest", "zero", "down", "up"};
  return (unsigned)r <= MT_ROUND_UP ? names[r] : NULL;
}
