/*
** choices.c - which kernel is chosen, without measuring, for the copies of bench/copy.lua.
** SPDX-License-Identifier: MIT
**
** Nothing is copied: a plan only looks at addresses.
*/
#include "spec.h"
#include "copy/choice.h"
#include "copy/permute_unaligned_smem.h"

/* A row-major tensor, its modes in another order (from 0), row-major again. */
typedef struct permutation {
  mt_dtype dtype;
  const char *kernel;
  int n, shape[6], order[6];
} permutation;

static const permutation permutations[] = {
    /* dtype kernel           modes extents                    order */
    {MT_f32, "copy_strided_u128", 1, {268435456}, {0}},
    {MT_f32, "copy_strided_u128", 1, {1048576}, {0}},
    {MT_f32, "copy_transpose_b4", 2, {8192, 8192}, {1, 0}},
    {MT_f16, "copy_transpose_x2_b2", 2, {8192, 8192}, {1, 0}},
    {MT_u8, "copy_transpose_b1", 2, {8192, 8192}, {1, 0}},
    {MT_f64, "copy_transpose_b8", 2, {8192, 8192}, {1, 0}},
    {MT_f32, "copy_transpose_unaligned_b4", 2, {8191, 4099}, {1, 0}},
    {MT_f16, "copy_permute_unaligned_b2", 2, {8191, 4099}, {1, 0}},
    {MT_u8, "copy_transpose_unaligned_b1", 2, {8191, 4099}, {1, 0}},
    {MT_f16, "copy_transpose_x2_b2", 4, {64, 256, 56, 56}, {0, 2, 3, 1}},
    {MT_f16, "copy_transpose_x2_b2", 4, {64, 56, 56, 256}, {0, 3, 1, 2}},
    {MT_u8, "copy_interleave_b1", 4, {256, 3, 224, 224}, {0, 2, 3, 1}},
    {MT_f32, "copy_interleave_b4", 4, {256, 224, 224, 3}, {0, 3, 1, 2}},
    {MT_f16, "copy_permute_b2", 5, {64, 32, 8, 56, 56}, {0, 1, 3, 4, 2}},
    {MT_u8, "copy_permute_b1", 5, {64, 16, 16, 112, 112}, {0, 1, 3, 4, 2}},
    {MT_f16, "copy_strided_x4", 4, {32, 2048, 32, 128}, {0, 2, 1, 3}},
    {MT_f32, "copy_transpose_b4", 3, {512, 384, 256}, {2, 1, 0}},
    {MT_f16, "copy_transpose_x2_b2", 3, {512, 768, 512}, {2, 0, 1}},
    {MT_f32, "copy_permute_unaligned_b4", 3, {511, 383, 257}, {2, 1, 0}},
    {MT_f32, "copy_transpose_b4", 4, {64, 96, 128, 80}, {3, 2, 1, 0}},
    {MT_f32, "copy_permute_b4", 5, {24, 48, 32, 40, 36}, {4, 2, 0, 3, 1}},
    {MT_f16, "copy_permute_b2", 5, {32, 64, 32, 48, 32}, {1, 4, 0, 3, 2}},
    {MT_f32, "copy_transpose_b4", 6, {16, 20, 24, 28, 12, 16}, {5, 2, 4, 0, 3, 1}},
    {MT_f16, "copy_permute_b2", 6, {16, 24, 20, 16, 28, 24}, {3, 1, 5, 0, 2, 4}},
    {MT_f32, "copy_transpose_b4", 2, {512, 512}, {1, 0}},
    {MT_f32, "copy_transpose_b4", 2, {2048, 2048}, {1, 0}},
    {MT_f16, "copy_transpose_x2_b2", 2, {393216, 512}, {1, 0}},
    {MT_f16, "copy_transpose_b2", 2, {393216, 64}, {1, 0}},
    {MT_f16, "copy_transpose_b2", 2, {196608, 192}, {1, 0}},
    {MT_f16, "copy_transpose_x2_b2", 3, {512, 4096, 128}, {0, 2, 1}},
};

typedef struct pair {
  mt_dtype dtype;
  const char *kernel, *src, *dst;
} pair;

/* Rows of a wider matrix; row-major, and in tiles of 8x8 blocks of 2x2. Copies whose runs
** are so short that tiles would be nearly empty; the last of them reach 2^35 bytes, which
** boxes do not. Rows of odd lengths, with gaps. */
static const pair pairs[] = {
    {MT_f16, "copy_strided_u128", "(16384,8192):(12288,1)", "(16384,8192):(8192,1)"},
    {MT_f16, "copy_permute_b4", "((2,8,512),(2,8,512)):((8192,16384,131072),(1,2,16))",
     "((2,8,512),(2,8,512)):((2,32,131072),(1,4,256))"},
    {MT_f16, "copy_permute_b4", "((2,8,512),(2,8,512)):((2,32,131072),(1,4,256))",
     "((2,8,512),(2,8,512)):((8192,16384,131072),(1,2,16))"},
    {MT_f32, "copy_permute_b8", "((2,8,512),(2,8,512)):((8192,16384,131072),(1,2,16))",
     "((2,8,512),(2,8,512)):((2,32,131072),(1,4,256))"},
    {MT_f32, "copy_permute_b8", "((2,8,512),(2,8,512)):((2,32,131072),(1,4,256))",
     "((2,8,512),(2,8,512)):((8192,16384,131072),(1,2,16))"},
    {MT_f64, "copy_permute_b8", "(4,4,100000):(1,4,16)", "(4,4,100000):(4,1,16)"},
    {MT_f32, "copy_staged_b4", "(8,8,100000):(1,8,64)", "(8,8,100000):(8,1,64)"},
    {MT_f16, "copy_permute_b2", "(16,16,10000):(1,16,256)", "(16,16,10000):(16,1,256)"},
    {MT_u8, "copy_permute_b1", "(32,32,10000):(1,32,1024)", "(32,32,10000):(32,1,1024)"},
    {MT_f32, "copy_permute_b4", "(48,48,10000):(1,48,2304)", "(48,48,10000):(48,1,2304)"},
    {MT_f32, "copy_permute_b4", "(48,48,1000):(1,182000000,48)",
     "(48,48,1000):(48,1,2304)"},
    {MT_f32, "copy_bits_b4", "(48,48,1000):(1,184000000,48)", "(48,48,1000):(48,1,2304)"},
    {MT_u8, "copy_permute_unaligned_b1", "(1001,5000,7):(1,1001,5005000)",
     "(1001,5000,7):(1,7007,1001)"},
    {MT_u8, "copy_staged_b1", "(25,3000,7):(1,25,75000)", "(25,3000,7):(1,175,25)"},
    {MT_f32, "copy_staged_b4", "(7,30001,5):(1,7,210007)", "(7,30001,5):(1,35,7)"},
    {MT_u8, "copy_permute_unaligned_b1", "(172,49,181,88):(1,172,8428,1525468)",
     "(172,49,181,88):(181,2739616,1,31132)"},
    {MT_f32, "copy_permute_unaligned_b4", "(22,61,67,9,42):(1,22,1342,89914,809226)",
     "(22,61,67,9,42):(171654,1,61,3776388,4087)"},
    /* Tiles of 16 KiB would have too many pieces, or too much of the source: smaller ones. */
    {MT_u8, "copy_staged_b1", "(43,69,19,19,66):(2622,38,7441236,1,112746)",
     "(43,69,19,19,66):(1,43,2967,56373,1071087)"},
    {MT_f16, "copy_staged_b2", "(4,32,3,22,7,4,142):(69,276,23,8832,1,194304,777216)",
     "(4,32,3,22,7,4,142):(1,4,128,384,8448,59136,236544)"},
    /* Columns of 40 bytes meet few banks: words are rotated. */
    {MT_u8, "copy_staged_rotated_b1", "(118,40,28575):(40,1,4720)",
     "(118,40,28575):(1,118,4720)"},
    /* Short rows behind themselves: a warp would write many periods, in part. */
    {MT_f32, "copy_staged_b16", "(12,6,23,42,7,36):(1,0,12,276,11592,81144)",
     "(12,6,23,42,7,36):(1,12,72,1656,69552,486864)"},
};

/* The last axis of a row is in the run as well, and short; rows have even steps. */
static const permutation shared[] = {
    {MT_u8, "copy_permute_unaligned_b1", 6, {9, 11, 10, 68, 40, 50}, {3, 2, 5, 4, 0, 1}},
    {MT_u8, "copy_permute_unaligned_b1", 4, {102, 69, 294, 65}, {1, 3, 2, 0}},
    {MT_f16, "copy_permute_unaligned_b2", 5, {76, 47, 13, 34, 43}, {0, 4, 2, 3, 1}},
    {MT_u8, "copy_permute_unaligned_b1", 4, {116, 71, 391, 42}, {2, 0, 3, 1}},
};

/* Rows of which hardly two that are equally far apart begin alike: they are listed. */
static const permutation listed[] = {
    {MT_u8, "copy_permute_listed_b1", 6, {26, 13, 21, 47, 29, 14}, {0, 5, 2, 4, 1, 3}},
    {MT_u8, "copy_permute_listed_b1", 6, {11, 19, 33, 15, 57, 23}, {5, 4, 0, 1, 3, 2}},
    {MT_f16, "copy_permute_listed_b2", 6, {23, 27, 17, 7, 30, 32}, {4, 1, 3, 5, 2, 0}},
    {MT_f32, "copy_permute_listed_b4", 5, {17, 123, 65, 13, 19}, {3, 2, 4, 1, 0}},
};

/* Places of rows that would meet in one bank, or in few: a long pitch, short runs. */
static const struct banks {
  permutation copy;
  double most;  /* wavefronts of a read */
  uint32_t run; /* units of a run, at most; 0: any */
} banks[] = {
    {{MT_u8, "copy_permute_unaligned_b1", 2, {1864135, 72}, {1, 0}}, 1.5, 72},
    {{MT_u8, "copy_permute_unaligned_b1", 2, {1525205, 88}, {1, 0}}, 1.5, 88},
    {{MT_u8, "copy_permute_unaligned_b1", 2, {1597831, 84}, {1, 0}}, 1.5, 84},
    {{MT_f16, "copy_permute_unaligned_b2", 2, {1864135, 36}, {1, 0}}, 1.5, 36},
    {{MT_f16, "copy_permute_unaligned_b2", 3, {4099, 409, 40}, {2, 0, 1}}, 1.5, 40},
    {{MT_u8, "copy_permute_unaligned_b1", 5, {25, 37, 29, 105, 49}, {2, 1, 4, 3, 0}},
     3,
     0},
    {{MT_u8, "copy_permute_unaligned_b1", 5, {51, 40, 19, 90, 39}, {3, 1, 2, 4, 0}},
     2.5,
     0},
};

/* The same, but what follows the run in the source is not the first axis of the row: long
** runs. */
static const permutation long_runs[] = {
    {MT_u8, "copy_permute_unaligned_b1", 4, {82, 79, 372, 56}, {1, 3, 2, 0}},
    {MT_f16, "copy_permute_unaligned_b2", 4, {39, 213, 227, 36}, {1, 3, 2, 0}},
};

/* Rows stay rows, of bytes and halves, whatever their length. */
static const permutation pieced[] = {
    {MT_u8, "copy_permute_unaligned_b1", 3, {352, 529, 721}, {1, 0, 2}},
    {MT_u8, "copy_permute_unaligned_b1", 3, {855, 1554, 101}, {1, 0, 2}},
    {MT_f16, "copy_permute_unaligned_b2", 3, {536, 229, 547}, {1, 0, 2}},
};

/* Rows of bytes, in whose wide windows half of the lanes would be idle. */
static const permutation narrow[] = {
    {MT_u8, "copy_permute_unaligned_b1", 5, {75, 109, 16, 23, 45}, {0, 2, 3, 4, 1}},
};

/* Boxes of bytes, and threads of their blocks. */
static const struct large {
  permutation copy;
  uint32_t threads;
} large[] = {
    {{MT_u8, "copy_permute_unaligned_b1", 3, {425, 489, 646}, {2, 1, 0}}, 512},
    {{MT_u8, "copy_permute_unaligned_b1", 4, {240, 39, 78, 185}, {2, 3, 1, 0}}, 512},
    {{MT_u8, "copy_permute_unaligned_b1", 5, {75, 109, 16, 23, 45}, {0, 2, 3, 4, 1}},
     384},
};

/* Matrices of so many rows, transposed in unaligned tiles: those of a strip, the strips. */
static const struct raster {
  mt_dtype dtype;
  int64_t rows, columns;
  uint32_t strip, across;
} rasters[] = {
    {MT_u8, 8191, 4099, 1, 33}, /* a pass along the destination stays in the L2 */
    {MT_f16, 8191, 4099, 1, 65},  {MT_f16, 601, 4099, 8, 9}, /* few tiles along it */
    {MT_u8, 194832, 690, 6, 1},                              /* a pass does not stay */
    {MT_f16, 194833, 1121, 6, 3},
};

/* Of two types: runs that both sides share, tiles of two runs, short ones. us: what was
** measured (bench/RESULTS.md), or 0; the prediction is within a tenth. */
static const struct cast {
  mt_dtype from, to;
  double us;
  const char *kernel, *src, *dst;
} casts[] = {
    {MT_f32, MT_bf16, 93.8, "cast_f32_bf16", "(8192,8192):(8192,1)",
     "(8192,8192):(8192,1)"},
    {MT_f32, MT_bf16, 96.3, "cast_f32_bf16_transpose", "(8192,8192):(8192,1)",
     "(8192,8192):(1,8192)"},
    {MT_f32, MT_bf16, 0, "cast_f32_bf16_transpose_unaligned", "(8191,4099):(4099,1)",
     "(8191,4099):(1,8191)"},
    {MT_bf16, MT_f32, 106.8, "cast_bf16_f32_transpose", "(8192,8192):(8192,1)",
     "(8192,8192):(1,8192)"},
    {MT_f32, MT_i8, 78.1, "cast_f32_i8", "(8192,8192):(8192,1)", "(8192,8192):(8192,1)"},
    {MT_u8, MT_f32, 87.2, "cast_u8_f32", "(8192,8192):(8192,1)", "(8192,8192):(8192,1)"},
    {MT_u8, MT_f32, 0, "cast_any1_any4_transpose", "(8192,8192):(8192,1)",
     "(8192,8192):(1,8192)"},
    {MT_i32, MT_f64, 0, "cast_any", "(4096,8192):(8192,1)", "(4096,8192):(8192,1)"},
    {MT_i32, MT_f64, 0, "cast_any4_any8_transpose", "(4096,8192):(8192,1)",
     "(4096,8192):(1,4096)"},
    {MT_f32, MT_f16, 0, "cast_f32_f16", "(4,4000,4):(1,4,16000)",
     "(4,4000,4):(4000,1,16000)"},
    {MT_f32, MT_f16, 0, "cast_f32_f16", "(7,30001,5):(1,7,210007)",
     "(7,30001,5):(1,35,7)"},
};

static void *place (int side) { return (void *)(uintptr_t)((side + 1ull) << 40); }

/* A kernel for any types is not predicted to be faster than one for these two. */
static void expect_no_faster (const mt_plan_candidate *way, int n, const mt_plan *p,
                              double taken) {
  static const char any[] = "cast_any";
  if (strncmp(p->kernel->name, any, sizeof any - 1) == 0) return;
  for (const mt_plan_candidate *w = way; w < way + n; w++)
    EXPECT(strncmp(w->kernel, any, sizeof any - 1) != 0 || w->predicted >= taken,
           "%s: %g us predicted, of %s %g: %s", w->kernel, w->predicted, p->kernel->name,
           taken, p->head);
}

/* Law (1) and (2) of mt_plan_why; with MOONTILE_SHOW in the environment it is printed.
** The microseconds that are predicted. */
static double expect_best (const mt_plan *p) {
  mt_plan_candidate way[MT_MAXPLANCANDIDATES];
  int n = mt_plan_why(way, p), chosen = 0;
  double least = 1e300, taken = 0;
  if (getenv("MOONTILE_SHOW")) printf("%s\n", p->head);
  for (int i = 0; i < n; i++) {
    const mt_plan_candidate *w = &way[i];
    if (!w->possible) continue;
    if (w->predicted < least) least = w->predicted;
    if (w->chosen) chosen++, taken = w->predicted;
    EXPECT((w->why[0] == 0) == w->chosen, "%s: %s", w->kernel, w->why);
    if (getenv("MOONTILE_SHOW"))
      printf("  %-15s %2d %14.0f %.2f %8.1f %s\n", w->kernel, w->vector, w->traffic,
             w->used, w->predicted, w->chosen ? "chosen" : w->why);
  }
  EXPECT(chosen == 1 && mt_worth(taken) <= least,
         "%d chosen, %g us, the least are %g: %s", chosen, taken, least, p->head);
  expect_no_faster(way, n, p, taken);
  return taken;
}

static mt_plan *plan_of (mt_device *d, mt_dtype from, const mt_layout *src, mt_dtype to,
                         const mt_layout *dst) {
  mt_err err = MT_NOERR;
  mt_plan *p = NULL;
  mt_tensor s = {src->node, from, place(0), 1ull << 38, 0, NULL};
  mt_tensor t = {dst->node, to, place(1), 1ull << 38, 0, NULL};
  EXPECT_STATUS(mt_plan_copy(&p, d, NULL, &s, &t, &err), MT_OK, err);
  return p;
}

static void expect (mt_device *d, mt_dtype from, const mt_layout *src, mt_dtype to,
                    const mt_layout *dst, const char *kernel, double us) {
  mt_plan *p = plan_of(d, from, src, to, dst);
  if (p == NULL) return;
  EXPECT(strcmp(p->kernel->name, kernel) == 0, "%s, not %s: %s", p->kernel->name, kernel,
         p->head);
  const mt_desc *is = &p->launch.desc;
  EXPECT(is->algo != MT_ALGO_PERMUTE || is->permute.wide == 1 ||
             is->permute.wide_step != 16,
         "a thread writes both halves of a sector: %s", p->head);
  double predicted = expect_best(p);
  EXPECT(us == 0 || (predicted > us / 1.1 && predicted < us * 1.1),
         "%.1f us predicted, %.1f measured: %s", predicted, us, p->head);
  mt_plan_free(p);
}

/* Row-major in the order, as a layout of the shape. */
static void layout_of (mt_layout *out, const permutation *r, const int *order) {
  mt_err err = MT_NOERR;
  int64_t s[6], d[6], stride = 1;
  mt_layout shape, strides;
  for (int i = r->n - 1; i >= 0; i--) {
    d[order[i]] = stride;
    stride *= r->shape[order[i]];
  }
  for (int i = 0; i < r->n; i++) s[i] = r->shape[i];
  EXPECT_STATUS(mt_ints(&shape, r->n, s, &err), MT_OK, err);
  EXPECT_STATUS(mt_ints(&strides, r->n, d, &err), MT_OK, err);
  EXPECT_STATUS(mt_make_layout(out, shape.node, strides.node, &err), MT_OK, err);
}

static void sides_of (mt_layout *src, mt_layout *dst, const permutation *r) {
  static const int plain[] = {0, 1, 2, 3, 4, 5};
  layout_of(src, r, plain);
  layout_of(dst, r, r->order);
}

static void check_permutations (mt_device *d) {
  for (size_t i = 0; i < sizeof permutations / sizeof permutations[0]; i++) {
    const permutation *r = &permutations[i];
    mt_layout src, dst;
    sides_of(&src, &dst, r);
    expect(d, r->dtype, &src, r->dtype, &dst, r->kernel, 0);
  }
}

static void check_pair (mt_device *d, mt_dtype from, const char *a, mt_dtype to,
                        const char *b, const char *kernel, double us) {
  mt_layout src, dst;
  mt_err err = MT_NOERR;
  EXPECT_STATUS(mt_parse(&src, a, strlen(a), &err), MT_OK, err);
  EXPECT_STATUS(mt_parse(&dst, b, strlen(b), &err), MT_OK, err);
  expect(d, from, &src, to, &dst, kernel, us);
}

static void check_pairs (mt_device *d) {
  for (const pair *r = pairs; r < pairs + sizeof pairs / sizeof pairs[0]; r++)
    check_pair(d, r->dtype, r->src, r->dtype, r->dst, r->kernel, 0);
  for (const struct cast *r = casts; r < casts + sizeof casts / sizeof casts[0]; r++)
    check_pair(d, r->from, r->src, r->to, r->dst, r->kernel, r->us);
}

/* Law: no strip is longer than 8 tiles, and fewer are empty than there are strips. */
static void check_raster (mt_device *d, const struct raster *r) {
  mt_err err = MT_NOERR;
  mt_layout src, dst;
  char text[2][80];
  snprintf(text[0], sizeof text[0], "(%d,%d):(%d,1)", (int)r->rows, (int)r->columns,
           (int)r->columns);
  snprintf(text[1], sizeof text[1], "(%d,%d):(1,%d)", (int)r->rows, (int)r->columns,
           (int)r->rows);
  EXPECT_STATUS(mt_parse(&src, text[0], strlen(text[0]), &err), MT_OK, err);
  EXPECT_STATUS(mt_parse(&dst, text[1], strlen(text[1]), &err), MT_OK, err);
  mt_plan *p = plan_of(d, r->dtype, &src, r->dtype, &dst);
  if (p == NULL) return;
  char kernel[40];
  snprintf(kernel, sizeof kernel, "copy_transpose_unaligned_b%d",
           (int)mt_dtype_size(r->dtype));
  EXPECT_STATUS(mt_plan_take(p, kernel, (int)mt_dtype_size(r->dtype), 0, &err), MT_OK,
                err);
  const mt_raster *is = &p->launch.desc.raster;
  EXPECT(p->launch.desc.algo == MT_ALGO_TRANSPOSE_UNALIGNED, "%s: no unaligned tiles",
         p->head);
  EXPECT(is->strip.extent == r->strip && is->across.extent == r->across,
         "%u strips of %u, not %u of %u: %s", is->across.extent, is->strip.extent,
         r->across, r->strip, p->head);
  mt_plan_free(p);
}

/* The plan of a permutation, by the kernel that is expected. */
static mt_plan *plan_by (mt_device *d, const permutation *r) {
  mt_layout src, dst;
  sides_of(&src, &dst, r);
  expect(d, r->dtype, &src, r->dtype, &dst, r->kernel, 0);
  return plan_of(d, r->dtype, &src, r->dtype, &dst);
}

/* Law: rows of a task share what it looks up, where segments of a row do not. */
static void check_shared (mt_device *d) {
  for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
    mt_plan *p = plan_by(d, &shared[i]);
    if (p == NULL) continue;
    const mt_permute_unaligned *is = &p->launch.desc.unaligned;
    EXPECT(is->segment == 0 && is->group_rows >= 4, "%u units of a segment, %u rows: %s",
           is->segment, is->group_rows, p->head);
    mt_plan_free(p);
  }
}

/* Where row n of a box begins, of all segments. */
static int64_t begin_of (const mt_permute_unaligned *is, uint32_t n) {
  int64_t at = 0;
  for (uint32_t i = 0; i < is->nstore; i++) {
    const uint32_t e = is->store[i].by.extent;
    at += (int64_t)(i + 1 < is->nstore ? n % e : n) * is->store[i].global;
    n /= e;
  }
  return at;
}

/* Law: a list has room for all rows that begin at the same address modulo its step, and
** tasks write several of them. */
static void check_listed (mt_device *d) {
  for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) {
    mt_plan *p = plan_by(d, &listed[i]);
    if (p == NULL) continue;
    const mt_permute_unaligned *is = &p->launch.desc.unaligned;
    const uint32_t each = MT_UNALIGNED_SEGMENTS(*is);
    uint32_t count[MT_UNALIGNED_CLASSES] = {0}, most = 0;
    for (uint32_t n = 0; n < is->nrows * each; n++) {
      const int64_t at = begin_of(is, n) & (is->step - 1);
      EXPECT(at % (1 << is->list_log) == 0, "row %u begins at %d: %s", n, (int)at,
             p->head);
      const uint32_t of = ++count[at >> is->list_log];
      if (of > most) most = of;
    }
    EXPECT(is->slots >= most && is->slots < most + is->group_rows && is->group_rows >= 4,
           "%u slots of %u rows, %u of a task: %s", is->slots, most, is->group_rows,
           p->head);
    mt_plan_free(p);
  }
}

/* Law: long rows of pieces are written in long windows. */
static void check_pieced (mt_device *d) {
  for (size_t i = 0; i < sizeof pieced / sizeof pieced[0]; i++) {
    mt_plan *p = plan_by(d, &pieced[i]);
    if (p == NULL) continue;
    const mt_permute_unaligned *is = &p->launch.desc.unaligned;
    EXPECT(is->window_log == MT_UNALIGNED_WIDE && is->piece.extent > 1,
           "windows of 1 << %u, pieces of %u: %s", is->window_log, is->piece.extent,
           p->head);
    mt_plan_free(p);
  }
}

/* Law: windows are wide only where tasks are no more by that. */
static void check_narrow (mt_device *d) {
  for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
    mt_plan *p = plan_by(d, &narrow[i]);
    if (p == NULL) continue;
    const uint32_t log = p->launch.desc.unaligned.window_log;
    EXPECT(log == MT_UNALIGNED_WINDOW, "windows of 1 << %u: %s", log, p->head);
    mt_plan_free(p);
  }
}

/* Law: large boxes have more threads, others do not. */
static void check_large (mt_device *d) {
  for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
    mt_plan *p = plan_by(d, &large[i].copy);
    if (p == NULL) continue;
    const int64_t bytes = p->launch.desc.threads;
    const uint32_t threads = p->grid.threads;
    EXPECT(threads == large[i].threads, "%u threads for %lld bytes: %s", threads,
           (long long)bytes, p->head);
    EXPECT((bytes >= MT_PERMUTE_UNALIGNED_LARGE) ==
               (threads == MT_PERMUTE_UNALIGNED_MANY),
           "%u threads for %lld bytes: %s", threads, (long long)bytes, p->head);
    mt_plan_free(p);
  }
}

/* Law: places of rows meet in few banks, whatever is contiguous. */
static void check_banks (mt_device *d) {
  for (size_t i = 0; i < sizeof banks / sizeof banks[0]; i++) {
    mt_plan *p = plan_by(d, &banks[i].copy);
    if (p == NULL) continue;
    const mt_permute_unaligned *box = &p->launch.desc.unaligned;
    const mt_span *run = &box->run;
    mt_unaligned_reads reads;
    mt_permute_unaligned_reads(&reads, &p->launch.desc);
    const double waves = mt_permute_unaligned_waves(&reads, box->pitch, box->gap);
    EXPECT(waves <= banks[i].most, "%g wavefronts a read: %s", waves, p->head);
    EXPECT(banks[i].run == 0 || run->units * run->count == banks[i].run,
           "runs of %u units: %s", run->units * run->count, p->head);
    mt_plan_free(p);
  }
  for (size_t i = 0; i < sizeof long_runs / sizeof long_runs[0]; i++) {
    mt_plan *p = plan_by(d, &long_runs[i]);
    if (p == NULL) continue;
    const mt_span *run = &p->launch.desc.unaligned.run;
    EXPECT(run->units * run->count >= 128, "runs of %u units: %s",
           run->units * run->count, p->head);
    mt_plan_free(p);
  }
}

/* Law: no row executes an instruction that is newer than itself. */
static void check_newest (void) {
  mt_atom_cursor c = {0};
  mt_mma_op op;
  long n = 0;
  while (mt_mma_atom_next(&op, &c))
    for (const mt_kernel *k = mt_cuda_kernels; k < mt_cuda_kernels + mt_ncuda_kernels;
         k++) {
      const int arch = mt_kernel_arch(k);
      if (k->op != MT_OP_GEMM || !mt_kernel_executes(k, op.name, arch)) continue;
      n++;
      EXPECT(atoi(op.arch + 2) <= arch, "%s of sm_%d executes %s of %s", k->name, arch,
             op.name, op.arch);
    }
  EXPECT(n > 100, "%ld instructions have a row", n);
}

void spec_choices (void) {
  mt_device *d = NULL;
  mt_err err = MT_NOERR;
  check_newest();
  fake_restart();
  EXPECT_STATUS(spec_open(&d, "cuda", &err), MT_OK, err);
  if (d == NULL) return;
  check_permutations(d);
  check_pairs(d);
  check_shared(d);
  check_listed(d);
  check_pieced(d);
  check_narrow(d);
  check_large(d);
  check_banks(d);
  for (size_t i = 0; i < sizeof rasters / sizeof rasters[0]; i++)
    check_raster(d, &rasters[i]);
  mt_device_close(d);
  spec_expect_clean("choices");
}
