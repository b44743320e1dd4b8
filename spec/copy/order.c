/*
** order.c - tests of the order of blocks: it loses no axis; what was measured to be faster.
** SPDX-License-Identifier: MIT
*/
#include "copy/order.h"
#include "exec_test.h"

typedef struct axis {
  int64_t extent, src, dst; /* strides in bytes */
} axis;

static mt_axis axis_of (axis a) {
  return (mt_axis){.extent = a.extent, .stride = {a.src, a.dst}};
}

static uint64_t mixed (const mt_axes *a) {
  uint64_t sum = 0;
  for (int i = 0; i < a->n; i++)
    sum += ((uint64_t)a->axis[i].extent * 31 + (uint64_t)a->axis[i].stride[0]) * 1000003 ^
           (uint64_t)a->axis[i].stride[1];
  return sum;
}

static int64_t random_stride (void) {
  const int64_t s = (int64_t)(next64() >> (24 + next64() % 39));
  return next64() % 5 == 0 ? -s : s;
}

static void random_axes (mt_axes *a, int n) {
  a->n = n;
  for (int i = 0; i < n; i++)
    a->axis[i] =
        axis_of((axis){1 + (int64_t)(next64() % 300), random_stride(), random_stride()});
}

/* The axes are the same, and sorted once more they stay where they are. */
static void keeps_axes (void) {
  static mt_axes mode[3];
  for (long c = 0; c < base_cases; c++) {
    begin_case(base_seed + (uint64_t)c);
    for (int m = 0; m < 3; m++) random_axes(&mode[m], (int)(next64() % 6));
    const uint64_t before = mixed(&mode[2]);
    mt_order_rest(mode, 1 << next64() % 4);
    CHECK(mixed(&mode[2]) == before, "other axes than before");
    mt_desc d;
    memset(&d, 0, sizeof d);
    d.elem = 1;
    CHECK(mt_axes_store(&d, mode), "too many axes");
    const double cost = mt_order_cost(&d);
    CHECK(cost >= 0, "the order costs %g", cost);
    mt_order_rest(mode, 1);
    CHECK(mt_axes_store(&d, mode) && mt_order_cost(&d) <= cost * (1 + 1e-9),
          "an order that costs more than %g was taken", cost);
  }
}

/* Boxes of permutations, and what comes first: 5 to 9 % faster than the other order. */
static const struct {
  axis box[4], rest[3];
  int first;
} measured[] = {
    /* f32 41x62x146x91 (2,1,3,0): 74.5 us along 73 first, 69.9 along 62 */
    {{{91, 4, 164}, {2, 364, 925288}, {41, 3294928, 4}},
     {{73, 728, 1850576}, {62, 53144, 14924}},
     62},
    /* f32 398x688x123 (2,1,0): 93.1 us along 2, 84.7 along 3 */
    {{{62, 4, 1095296}, {133, 338496, 4}},
     {{2, 248, 67908352}, {688, 492, 1592}, {3, 45019968, 532}},
     3},
    /* f32 77x94x46x101 (3,2,1,0): 84.8 us along 47, 79.0 along 2 */
    {{{51, 4, 1331792}, {2, 18584, 308}, {77, 1746896, 4}},
     {{2, 204, 67921392}, {46, 404, 28952}, {47, 37168, 616}},
     2},
    /* f64 576x111x263 (1,2,0): 76.6 us along 450, 71.5 along 8 */
    {{{65, 8, 4608}, {72, 233544, 8}}, {{450, 520, 299520}, {8, 16815168, 576}}, 8},
};

static void chooses_measured (void) {
  static mt_axes mode[3];
  for (size_t c = 0; c < sizeof measured / sizeof *measured; c++) {
    begin_case(c);
    memset(mode, 0, sizeof mode);
    for (int i = 0; i < 4 && measured[c].box[i].extent; i++)
      mode[0].axis[mode[0].n++] = axis_of(measured[c].box[i]);
    for (int i = 0; i < 3 && measured[c].rest[i].extent; i++)
      mode[2].axis[mode[2].n++] = axis_of(measured[c].rest[i]);
    mt_order_rest(mode, 1);
    CHECK(mode[2].axis[0].extent == measured[c].first,
          "first goes the axis of %d, not %d", (int)mode[2].axis[0].extent,
          measured[c].first);
  }
}

void test_order (void) {
  keeps_axes();
  chooses_measured();
}
