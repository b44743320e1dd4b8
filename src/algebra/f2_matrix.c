/*
** f2_matrix.c - layouts as matrices over F2, and back.
** SPDX-License-Identifier: MIT
*/
#include "moontile/lattice.h"
#include "algebra/linear.h"

enum { STEPS = 1 << 12 };

/* Why a is no map of bits. */
static mt_status refuse (const mt_node *a, mt_err *err) {
  int64_t c, i, v, w, both;
  MT_NEWERR(none);
  for (const mt_node *p = mt_base(a); p < mt_next(a); p++)
    if (mt_is_leaf(p) && !mt_is_power(p->shape))
      return mt_failn(err, MT_EINEXACT,
                      "to_f2_matrix: the extent %lld of %N is no power of two: an index "
                      "is no word of bits",
                      (long long)p->shape, a);
  mt_failn(err, MT_EINEXACT, "to_f2_matrix: %N is no map of bits", a);
  if (!mt_is_integral(a) || mt_at(&c, a, 0, &none) != MT_OK) return MT_EINEXACT;
  for (i = 1; i < mt_size(a) && i < STEPS; i++) {
    if (mt_at(&v, a, i & -i, &none) || mt_at(&w, a, i & (i - 1), &none) ||
        mt_at(&both, a, i, &none))
      break;
    if ((v ^ w ^ c) == both) continue;
    mt_explain(err, ": A(%lld) = %lld, the xor of A(%lld), A(%lld) and A(0) is %lld",
               (long long)i, (long long)both, (long long)(i & -i),
               (long long)(i & (i - 1)), (long long)(v ^ w ^ c));
    break;
  }
  return MT_EINEXACT;
}

mt_status mt_to_f2_matrix (int *rows, int *columns, int64_t *column, int64_t *constant,
                           const mt_node *a, mt_err *err) {
  mt_linear x;
  MT_CHECK(mt_is_function(a), err, "to_f2_matrix: a layout expected");
  if (!mt_linear_whole(&x, a)) return refuse(a, err);
  int64_t all = x.c;
  for (int j = 0; j < x.n; j++) all |= column[j] = x.of[j];
  *rows = mt_bits(all);
  *columns = x.n;
  *constant = x.c;
  return MT_OK;
}

/* The extents are powers of two with the product 2^n. */
static mt_status check_shape (const mt_layout *t, int n, const mt_node *shape,
                              mt_err *err) {
  for (const mt_node *p = t->node; p < mt_next(t->node); p++)
    if (mt_is_leaf(p) && !mt_is_power(p->shape))
      return mt_failn(
          err, MT_EINVAL,
          "from_f2_matrix: the extent %lld of the shape %N is no power of two",
          (long long)p->shape, shape);
  if (mt_size(t->node) != INT64_C(1) << n)
    return mt_failn(
        err, MT_EINVAL,
        "from_f2_matrix: the shape %N has %lld elements, %d columns have %lld", shape,
        (long long)mt_size(t->node), n, (long long)(INT64_C(1) << n));
  return MT_OK;
}

mt_status mt_from_f2_matrix (mt_layout *out, int n, const int64_t *column,
                             int64_t constant, const mt_node *shape, mt_err *err) {
  mt_linear x = {.n = n, .c = constant};
  mt_layout t;
  MT_CHECK(n >= 0 && n <= MT_F2BITS, err, "from_f2_matrix: more than %d columns",
           MT_F2BITS);
  MT_CHECK(constant >= 0 && mt_bits(constant) <= MT_F2BITS, err,
           "from_f2_matrix: the value at 0 is below 0 or has more than %d bits",
           MT_F2BITS);
  for (int j = 0; j < n; j++) {
    MT_CHECK(column[j] >= 0 && mt_bits(column[j]) <= MT_F2BITS, err,
             "from_f2_matrix: column %d has more than %d rows", j + 1, MT_F2BITS);
    x.of[j] = column[j];
  }
  if (shape) MT_TRY(mt_layout_left(&t, shape, err));
  else t.node[0] = mt_leaf_of(INT64_C(1) << n, 0);
  if (shape) MT_TRY(check_shape(&t, n, shape, err));
  MT_TRY(mt_linear_layout(out, "from_f2_matrix", &x, t.node, false, err));
  if (shape) return MT_OK;
  mt_copy_value(&t, out->node);
  return mt_coalesce(out, t.node, NULL, err);
}
