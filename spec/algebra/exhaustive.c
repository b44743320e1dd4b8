/*
** exhaustive.c - every tiny layout: ranks 1 and 2, extents to 4, strides to 6.
** SPDX-License-Identifier: MIT
*/
#include "property.h"

enum { S = 4, D = 7, ONE = S * D, ALL = ONE + ONE * ONE };

/* Number k: extents 1..4, strides 0..6; one leaf, then pairs. */
static void tiny (mt_layout *out, int k) {
  pen p = {out, 0};
  if (k < ONE) {
    pen_leaf(&p, 1 + k % S, k / S);
    return;
  }
  k -= ONE;
  int at = pen_open(&p, MT_MODES), a = k % ONE, b = k / ONE;
  pen_leaf(&p, 1 + a % S, a / S);
  pen_leaf(&p, 1 + b % S, b / S);
  pen_close(&p, at, 2);
}

typedef outcome (*check)(ctx *x, const mt_node *a, const mt_node *b);

static const struct {
  const char *name;
  check f;
} pairs[] = {
    {"all compositions", check_composition},
    {"all divides", check_divide},
    {"all products", check_product},
};

/* Every layout with every n:d, and with a share of the pairs. */
static void run_pairs (ctx *x, int which, count *c) {
  mt_layout a, b;
  for (int i = 0; i < ALL; i++) {
    tiny(&a, i);
    for (int j = 0; j < ALL; j += j < ONE ? 1 : 1 + pick(x, 40)) {
      tiny(&b, j);
      report(x, pairs[which].f(x, a.node, b.node), c);
    }
  }
}

int64_t run_exhaustive (ctx *x) {
  count total[5] = {{"all compositions", {0}, 0},
                    {"all divides", {0}, 0},
                    {"all products", {0}, 0},
                    {"all single layouts", {0}, 0}};
  mt_layout a;
  int64_t n = 0;
  for (int k = 0; k < 3; k++) run_pairs(x, k, &total[k]);
  for (int i = 0; i < ALL; i++) {
    tiny(&a, i);
    report(x, check_coalesce(x, a.node), &total[3]);
    report(x, check_right_inverse(x, a.node), &total[3]);
    for (int bound = 0; bound < 40; bound++)
      report(x, check_complement(x, a.node, bound), &total[3]);
  }
  for (int k = 0; k < 4; k++) {
    const int64_t *c = total[k].cases;
    printf("%-20s %10lld %10lld %10lld %6lld\n", total[k].name,
           (long long)(c[0] + c[1] + c[2] + c[3]), (long long)(c[1] + c[2]),
           (long long)c[2], (long long)c[3]);
    n += c[0] + c[1] + c[2] + c[3];
  }
  return n;
}
