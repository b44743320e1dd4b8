/*
** ops_forms.h - for the fuzz target ops.c: functions of the API in the forms of its table.
** SPDX-License-Identifier: MIT
*/
#ifndef OPS_FORMS_H
#define OPS_FORMS_H

#include <stdlib.h>
#include <string.h>

#include "moontile.h"

#define MUST(cond)                                                                       \
  do {                                                                                   \
    if (!(cond)) abort();                                                                \
  } while (0)

static mt_status coalesce (mt_layout *out, const mt_node *a, mt_err *err) {
  return mt_coalesce(out, a, NULL, err);
}
static mt_status complement (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  bool fills;
  return mt_complement(out, &fills, a, n, err);
}
static mt_status idx2crd (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  return mt_idx2crd(out, n, a, err);
}
static mt_status concat (mt_layout *out, const mt_node *a, const mt_node *b,
                         mt_err *err) {
  return mt_concat(out, 2, (const mt_node *const[]){a, b}, err);
}
static mt_status select_modes (mt_layout *out, const mt_node *a, int i, int j,
                               mt_err *err) {
  return mt_select(out, a, 3, (const int[]){i, j, i}, err);
}
static mt_status get (mt_layout *out, const mt_node *a, int i, int j, mt_err *err) {
  return mt_get(out, a, 2, (const int[]){i, j}, err);
}
static mt_status slice (mt_layout *out, const mt_node *c, const mt_node *a, mt_err *err) {
  int64_t offset;
  return mt_slice(out, &offset, c, a, err);
}
static mt_status footprint (int64_t *out, const mt_node *a, mt_err *err) {
  int64_t lo;
  return mt_footprint(&lo, out, a, err);
}
static mt_status zip (mt_layout *out, const mt_node *a, const mt_node *b, mt_err *err) {
  return mt_zip(out, 2, (const mt_node *const[]){a, b}, err);
}
static mt_status zip_one (mt_layout *out, const mt_node *a, mt_err *err) {
  return mt_zip(out, 1, &a, err);
}
static mt_status coalesce_z (mt_layout *out, const mt_node *a, mt_err *err) {
  return mt_coalesce_z(out, a, NULL, err);
}
static mt_status filter (mt_layout *out, const mt_node *a, mt_err *err) {
  return mt_filter(out, a, NULL, err);
}
static mt_status complement_shape (mt_layout *out, const mt_node *a, const mt_node *s,
                                   mt_err *err) {
  bool fills;
  return mt_complement_shape(out, &fills, a, s, err);
}
static mt_status tile_to_shape (mt_layout *out, const mt_node *a, const mt_node *s,
                                mt_err *err) {
  return mt_tile_to_shape(out, a, s, NULL, err);
}
static mt_status slice_and_offset (mt_layout *out, const mt_node *c, const mt_node *a,
                                   mt_err *err) {
  mt_layout offset;
  return mt_slice_and_offset(out, &offset, c, a, err);
}
static mt_status domain_offset (mt_layout *out, const mt_node *c, const mt_node *a,
                                mt_err *err) {
  mt_layout offset;
  return mt_domain_offset(out, &offset, c, a, err);
}

#define PART(f, ...)                                                                     \
  static mt_status f(mt_layout *out, const mt_node *a, const mt_node *t,                 \
                     const mt_node *c, mt_err *err) {                                    \
    mt_layout offset;                                                                    \
    return mt_##f(out, &offset, a, t, __VA_ARGS__, err);                                 \
  }
PART(inner_partition, c)
PART(outer_partition, c)
PART(local_tile, c, NULL)
PART(local_partition, c->shape, NULL)

static mt_status to_f2 (mt_layout *out, const mt_node *w, const mt_node *a, mt_err *err) {
  return mt_swizzle_to_f2(out, w, mt_size(a) & 7, a, err);
}
static mt_status smem_atom (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  const char *name = mt_smem_atom_name((int)(n & 31));
  (void)a;
  return mt_smem_atom(out, name ? name : "", (int)(n >> 3 & 255), err);
}

#define PREDICATE(f)                                                                     \
  static mt_status f(bool *out, const mt_node *a, const mt_node *b, mt_err *err) {       \
    (void)err;                                                                           \
    *out = mt_##f(a, b);                                                                 \
    return MT_OK;                                                                        \
  }
PREDICATE(congruent)
PREDICATE(equal)
PREDICATE(weakly_congruent)
PREDICATE(compatible)

enum { SHORT = 256 };

/* The text only; the result is a. c says of which operation. */
static mt_status explain (mt_layout *out, const mt_node *a, const mt_node *b,
                          const mt_node *c, mt_err *err) {
  static const char *const ops[] = {"coalesce",
                                    "composition",
                                    "complement",
                                    "logical_divide",
                                    "zipped_divide",
                                    "tiled_divide",
                                    "flat_divide",
                                    "logical_product",
                                    "right_inverse",
                                    "left_inverse",
                                    "x"};
  enum { N_OPS = sizeof ops / sizeof *ops };
  char text[SHORT];
  size_t n;
  int k = (int)((uint64_t)c->shape % (2 * N_OPS));
  mt_copy_value(out, a);
  mt_status s =
      mt_explanation(&n, text, sizeof text, ops[k / 2], a, k % 2 ? b : NULL, err);
  if (s != MT_OK) return s;
  MUST(strlen(text) == (n < SHORT ? n : SHORT - 1));
  return MT_OK;
}

#endif
