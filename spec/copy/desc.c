/*
** desc.c - descriptors: divisors, canonical forms, and the solver behind the validator.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"
#include "desc/axes.h"
#include "copy/check.h"
#include "desc/divisor.h"
#include "copy/copy.h"
#include "core/solve.h"

static void check_divisor (int64_t extent, int64_t n) {
  mt_divisor by = mt_divisor_of(extent);
  uint32_t q =
      extent == 1 ? (uint32_t)n : (uint32_t)(((uint64_t)n * by.mul >> 32) >> by.shift);
  CHECK(q == n / extent, "%lld / %lld is not %lu", (long long)n, (long long)extent,
        (unsigned long)q);
}

static void check_divisors (void) {
  for (int64_t e = 1; e < 3000; e++)
    for (int64_t m = 0; m < 40; m++) {
      check_divisor(e, m * e);
      if (m * e > 0) check_divisor(e, m * e - 1);
      check_divisor(e, INT32_MAX - m);
    }
  for (int i = 0; i < 1000000; i++) {
    int64_t e = between(1, INT32_MAX) >> pick(31), n = between(0, INT32_MAX);
    e += e == 0;
    check_divisor(e, n);
    check_divisor(e, n / e * e);
    if (n >= e) check_divisor(e, n / e * e - 1);
  }
  mt_axis a = {.extent = (int64_t)1 << 31, .mul = 1, .shift = 1};
  mt_axis_divisor(&a);
  CHECK(a.mul == 0 && a.shift == 0, "no divisor for 2^31");
}

/* ---------------------------------------- the same problem, two ways */

typedef struct way {
  const char *src, *dst;
} way;

static const struct {
  way a, b;
} same[] = {
    {{"(4,6):(1,4)", "(4,6):(6,1)"}, {"(6,4):(4,1)", "(6,4):(1,6)"}},
    {{"(4,6):(1,4)", "(4,6):(1,4)"}, {"24:1", "24:1"}},
    {{"24:-1", "24:-1"}, {"24:1", "24:1"}},
    {{"(2,(3,4)):(12,(4,1))", "(2,(3,4)):(1,(2,6))"},
     {"((2,3),4):((12,4),1)", "((2,3),4):((1,2),6)"}},
    {{"(5,1,7):(7,3,1)", "(5,1,7):(1,9,5)"}, {"(7,5):(1,7)", "(7,5):(5,1)"}},
    {{"(8,4):(1,0)", "(8,4):(1,8)"}, {"(4,8):(0,1)", "(4,8):(8,1)"}},
    {{"((2,4),8):((8,16),1)", "(8,8):(1,8)"}, {"(8,8):(8,1)", "((4,2),8):((1,4),8)"}},
};

static mt_launch flat (way w) {
  static char room[65536];
  mt_layout src = parse(w.src), dst = parse(w.dst);
  int modes[MT_MAXBOUND];
  mt_vector_limits why;
  mt_launch l;
  int64_t lo = 0;
  MUST(mt_footprint(&lo, &(int64_t){0}, src.node, err));
  mt_tensor s = {src.node, MT_f32, room, 4096, -lo, NULL};
  mt_tensor d = {dst.node, MT_f32, room + 4096, 4096, 0, NULL};
  MUST(mt_footprint(&lo, &(int64_t){0}, dst.node, err));
  d.offset = -lo;
  MUST(mt_describe(&l, modes, NULL, &s, &d, err));
  MUST(mt_check_copy(&l, (size_t[]){4096, 4096}, err));
  MUST(mt_vectorize(&l, &why, NULL, err));
  return l;
}

static void check_canonical (void) {
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    mt_launch a = flat(same[i].a), b = flat(same[i].b);
    CHECK(memcmp(&a, &b, sizeof a) == 0, "%s -> %s is not described like %s -> %s",
          same[i].a.src, same[i].a.dst, same[i].b.src, same[i].b.dst);
  }
}

/* ---------------------------------------------------------------- the solver */

static bool any_sum (const mt_equation *e, int i, int64_t rest, bool zero, bool other) {
  if (i == e->n) return rest == 0 && !(zero && other);
  for (int64_t v = e->lo[i]; v <= e->hi[i]; v++)
    if (any_sum(e, i + 1, rest - v * e->d[i], zero && v == 0, other)) return true;
  return false;
}

static void check_solver (long n) {
  static const char *const names[] = {"none", "found", "undecided"};
  long undecided = 0;
  for (long i = 0; i < n; i++) {
    begin_case(base_seed + (uint64_t)i);
    mt_equation e = {.n = pick(5)};
    bool other = pick(2);
    int64_t target = other ? 0 : between(-60, 60), sum = 0;
    for (int j = 0; j < e.n; j++) {
      e.d[j] = between(1, pick(2) ? 8 : 60);
      e.hi[j] = between(0, 4);
      e.lo[j] = other ? -e.hi[j] : -between(0, 4);
    }
    mt_solution got = mt_solve(&e, target, other);
    bool want = any_sum(&e, 0, target, true, other);
    undecided += got == MT_UNDECIDED;
    CHECK(got == MT_UNDECIDED || (got == MT_FOUND) == want, "%s", names[got]);
    for (int j = 0; got == MT_FOUND && j < e.n; j++) {
      sum += e.v[j] * e.d[j];
      CHECK(e.lo[j] <= e.v[j] && e.v[j] <= e.hi[j], "a value outside its range");
    }
    CHECK(got != MT_FOUND || sum == target, "not a solution");
  }
  CHECK(undecided == 0, "%ld small equations undecided", undecided);
}

/* Hard ones end; large ones do not overflow. */
static void check_limits (void) {
  mt_equation e = {.n = 40};
  for (int i = 0; i < e.n; i++) {
    e.d[i] = 1000003 + 7919 * i * (i % 3 + 1);
    e.hi[i] = 1000;
    e.lo[i] = -1000;
  }
  CHECK(mt_solve(&e, 0, true) != MT_NONE, "a dense equation has no solution");
  e.n = 2;
  e.d[0] = e.d[1] = (int64_t)1 << 61;
  e.lo[0] = e.lo[1] = -1, e.hi[0] = e.hi[1] = 1;
  CHECK(mt_solve(&e, 0, true) == MT_UNDECIDED, "sums that do not fit are not judged");
}

void test_desc (void) {
  check_divisors();
  check_canonical();
  check_solver(base_cases);
  check_limits();
}
