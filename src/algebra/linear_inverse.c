/*
** linear_inverse.c - inverses of maps of bits.
** SPDX-License-Identifier: MIT
**
** The images of the bits, each with the x that has it, are brought to a form in which the
** highest bit of each is in no other. Then a value is an image if the rows of its highest
** bits add up to it, and 2^i is one if it is the row i itself.
*/
#include "moontile/lattice.h"
#include "algebra/linear.h"
#include "algebra/f2.h"

typedef struct row {
  int64_t v, x;
} row; /* A(x) xor A(0) = v; v is 0 or has its highest bit where the row stands */

typedef struct rows {
  row at[MT_F2BITS];
} rows;

/* v and x without the rows that v has the highest bits of. */
static void reduce (const rows *r, int64_t *v, int64_t *x) {
  for (int j = MT_F2BITS - 1; j >= 0; j--)
    if (r->at[j].v != 0 && (*v >> j & 1)) *v ^= r->at[j].v, *x ^= r->at[j].x;
}

static void add_row (rows *r, int64_t v, int64_t x) {
  reduce(r, &v, &x);
  if (v == 0) return;
  int top = mt_bits(v) - 1;
  for (int j = 0; j < MT_F2BITS; j++)
    if (r->at[j].v >> top & 1) r->at[j].v ^= v, r->at[j].x ^= x;
  r->at[top] = (row){v, x};
}

static void rows_of (rows *r, const mt_linear *a) {
  memset(r, 0, sizeof *r);
  for (int j = 0; j < a->n; j++) add_row(r, a->of[j], INT64_C(1) << j);
}

/* The map of n bits whose images are the x of the first n rows; c is what A(0) makes of
** it. */
static bool write (mt_layout *out, const char *op, const rows *r, int n, int64_t c,
                   bool f2) {
  mt_layout flat;
  mt_linear x = {.n = n, .c = c};
  const mt_node whole = mt_leaf_of(INT64_C(1) << n, 0);
  MT_NEWERR(err);
  for (int j = 0; j < n; j++) x.of[j] = r->at[j].x;
  return mt_linear_layout(&flat, op, &x, &whole, f2, &err) == MT_OK &&
         mt_coalesce(out, flat.node, NULL, &err) == MT_OK;
}

bool mt_linear_right_inverse (mt_layout *out, const mt_node *a, int64_t n) {
  mt_linear x;
  rows r;
  int k = 0;
  if (!mt_linear_whole(&x, a)) return false;
  rows_of(&r, &x);
  while (k < MT_F2BITS && r.at[k].v == INT64_C(1) << k) k++;
  int64_t rest = x.c, c = 0, size = INT64_C(1) << k;
  reduce(&r, &rest, &c);
  return rest == 0 && size > n && (n == 0 || k == x.n) &&
         write(out, "right_inverse", &r, k, c, mt_is_f2(mt_inner(a)));
}

bool mt_linear_left_inverse (mt_layout *out, const mt_node *a) {
  mt_linear x;
  rows r;
  if (!mt_linear_whole(&x, a)) return false;
  rows_of(&r, &x);
  int64_t all = 0, rest = x.c, c = 0;
  for (int j = 0; j < x.n; j++) all |= x.of[j];
  reduce(&r, &rest, &c);
  return write(out, "left_inverse", &r, mt_bits(all | x.c), c, mt_is_f2(mt_inner(a)));
}
