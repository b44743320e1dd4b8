/*
** onto.h - private: what decides whether a layout has each of its offsets once, and all
** between them.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_ONTO_H
#define MT_ALGEBRA_ONTO_H

#include "core/build.h"
#include "core/solve.h"

/* Whether elements of a flattened layout, of integers or of coordinates, meet. MT_FOUND:
** two do that lie v[r] apart in mode r, |v[r]| < s[r]. */
mt_solution mt_elements_meet (int64_t *v, const mt_flat *f);
/* Of integer strides: whether no offset is left out. If one is, the first lies *reach + 1
** above the least. */
bool mt_no_gap (uint64_t *reach, const mt_flat *f);
/* A(i) as an integer; f2: A flattened and extended if it is one over F2, else NULL. */
mt_status mt_value_of (int64_t *out, const mt_node *a, const mt_flat *f2, int64_t i,
                       mt_err *err);

#endif
