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
