/*
** check.c - the validator of products: what it refuses, in its words; and descriptors
** spoilt at random: what it accepts runs inside the buffers.
** SPDX-License-Identifier: MIT
*/
#include "mma_test.h"

#include "plan/device.h"

static char arena[1 << 14];

typedef struct row {
  const char *a, *b, *c;
  size_t bytes;                           /* of each buffer */
  int64_t at[MT_PARTS], offset[MT_PARTS]; /* where in the arena; the tensor's offset */
  mt_status status;
  const char *text;
} row;

static const row rows[] = {
    {"(4,6):(1,4)",
     "(5,6):(1,5)",
     "(4,5):(1,4)",
     80,
     {0, 1024, 2048},
     {0, 0, 0},
     MT_ERANGE,
     "gemm: element (3,5) of A lies at offset 23; its buffer has elements 0 to 19\n"
     "A is (4,6):(1,4) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5):(1,4) at offset 0"},
    {"(4,6):(1,4)",
     "(5,6):(1,-5)",
     "(4,5):(1,4)",
     256,
     {0, 1024, 2048},
     {0, 3, 0},
     MT_ERANGE,
     "gemm: element (0,5) of B lies at offset -22; its buffer has elements 0 to 63\n"
     "A is (4,6):(1,4) at offset 0\nB is (5,6):(1,-5) at offset 3\n"
     "C is (4,5):(1,4) at offset 0"},
    {"(4,6,2):(1,4,24)",
     "(5,6):(1,5)",
     "(4,5,2):(1,4,60)",
     256,
     {0, 1024, 2048},
     {0, 0, 0},
     MT_ERANGE,
     "gemm: element (3,4,1) of C lies at offset 79; its buffer has elements 0 to 63\n"
     "A is (4,6,2):(1,4,24) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5,2):(1,4,60) at offset 0"},
    {"Sw<1,0,4> o 0 o (4,6):(1,4)",
     "(5,6):(1,5)",
     "(4,5):(1,4)",
     92,
     {0, 1024, 2048},
     {0, 0, 0},
     MT_ERANGE,
     "gemm: an element of A lies at offset 23 under its swizzle; from its first element on "
     "the buffer has 0 to 22\n"
     "A is Sw<1,0,4> o 0 o (4,6):(1,4) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5):(1,4) at offset 0"},
    {"(4,6):(1,4)",
     "(5,6):(1,5)",
     "(4,5):(1,0)",
     256,
     {0, 1024, 2048},
     {0, 0, 0},
     MT_EINJECTIVE,
     "gemm: elements (0,0) and (0,1) of C are one place in memory\n"
     "an element of C is written once: give each its own place\n"
     "A is (4,6):(1,4) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5):(1,0) at offset 0"},
    {"(4,6):(1,4)",
     "(5,6):(1,5)",
     "(4,5):(2,-3)",
     256,
     {0, 1024, 2048},
     {0, 0, 12},
     MT_EINJECTIVE,
     "gemm: elements (0,0) and (3,2) of C are one place in memory\n"
     "an element of C is written once: give each its own place\n"
     "A is (4,6):(1,4) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5):(2,-3) at offset 12"},
    {"(4,6):(1,4)",
     "(5,6):(1,5)",
     "(4,5):(1,4)",
     256,
     {0, 1024, 64},
     {0, 0, 0},
     MT_EOVERLAP,
     "gemm: A and C may overlap: A reaches over 96 bytes, C begins 64 bytes behind its "
     "beginning and reaches over 80\nmultiply into a tensor of its own\n"
     "A is (4,6):(1,4) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5):(1,4) at offset 0"},
    {"(4,6):(1,4)",
     "(5,6):(1,5)",
     "(4,5):(1,4)",
     256,
     {0, 1026, 2048},
     {0, 0, 0},
     MT_EALIGN,
     "gemm: the buffer of B is not aligned to its elements of 4 bytes\n"
     "A is (4,6):(1,4) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5):(1,4) at offset 0"},
    {"(4,6):(1,1000000000000000000)",
     "(5,6):(1,5)",
     "(4,5):(1,4)",
     256,
     {0, 1024, 2048},
     {0, 0, 0},
     MT_EOVERFLOW,
     "gemm: an offset of A leaves 64 bits\n"
     "A is (4,6):(1,1000000000000000000) at offset 0\nB is (5,6):(1,5) at offset 0\n"
     "C is (4,5):(1,4) at offset 0"},
};

static void test_refused (void) {
  mt_device *d = NULL;
  MUST(mt_device_open(&d, "cpu", NULL, err));
  for (const row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++) {
    const char *const text[] = {r->a, r->b, r->c};
    mt_layout a[MT_PARTS];
    mt_tensor t[MT_PARTS];
    mt_plan *p = NULL;
    for (int i = 0; i < MT_PARTS; i++) {
      a[i] = parse(text[i]);
      t[i] =
          (mt_tensor){a[i].node, MT_f32, arena + r->at[i], r->bytes, r->offset[i], NULL};
    }
    REFUSED(mt_plan_gemm(&p, d, NULL, &t[0], &t[1], &t[2], NULL, err), r->status,
            r->text);
    CHECK(p == NULL, "a plan that was refused");
  }
  mt_device_close(d);
}

/* ---------------------------------------------------------------- empty products */

/* No K: C = beta C, whatever A and B are; no C: nothing, of no memory. */
static void test_empty (void) {
  static const char *const names[] = {"cpu", "cpu:checked"};
  for (int i = 0; i < 4; i++) {
    mt_device *d = NULL;
    mt_tiled_mma mma;
    mt_plan *p = NULL;
    float c[6] = {1, 2, 3, 4, 5, 6};
    mt_layout a = parse("(2,0):(1,2)"), b = parse("(3,0):(1,3)");
    mt_layout l = parse("(2,3):(1,2)");
    mt_layout none = parse("(0,3):(1,1)"), x = parse("(0,4):(1,1)");
    mt_layout y = parse("(3,4):(1,3)");
    mt_tensor A = {.layout = a.node, .dtype = MT_f32};
    mt_tensor B = {.layout = b.node, .dtype = MT_f32};
    mt_tensor C = {l.node, MT_f32, c, sizeof c, 0, NULL};
    const mt_gemm_options twice = {.size = sizeof twice, .alpha = 1, .beta = 2};
    MUST(mt_device_open(&d, names[i / 2], NULL, err));
    MUST(mt_make_tiled_mma(&mma, "UniversalFMA<float>", NULL, NULL, err));
    MUST(mt_plan_gemm(&p, d, i % 2 ? &mma : NULL, &A, &B, &C, &twice, err));
    MUST(mt_plan_launch(p, NULL, err));
    mt_plan_free(p);
    for (int j = 0; j < 6; j++) CHECK(c[j] == (float)(2 * (j + 1)), "no K: %g", c[j]);
    A.layout = x.node, B.layout = y.node, C.layout = none.node;
    A.data = B.data = C.data = NULL, C.bytes = 0;
    MUST(mt_plan_gemm(&p, d, i % 2 ? &mma : NULL, &A, &B, &C, &twice, err));
    MUST(mt_plan_launch(p, NULL, err));
    mt_plan_free(p);
    mt_device_close(d);
  }
}

/* ---------------------------------------------------------------- spoilt descriptors */

static const struct {
  const char *atom, *atoms, *a, *b, *c;
} good[] = {
    {"UniversalFMA<float>", "(4,2,2):(1,4,8)", "(9,7):(7,1)", "(6,7):(1,6)",
     "(9,6):(1,9)"},
    {"SM61_DP4A", "(2,3,2):(2,8,1)", "(8,9,2):(9,1,72)", "Sw<2,1,3> o 0 o (6,9):(9,1)",
     "(8,6,2):(1,8,48)"},
    {"SM80_16x8x8_F32TF32TF32F32_TN", "(1,2,1):(0,1,0)", "((4,5),8):((8,32),1)",
     "(19,8):(0,1)", "(20,19):(19,1)"},
};

/* The product of row i, in the arena: 4 KiB for each operand. */
static mt_gemm_launch make_good (int i) {
  mt_layout l[] = {parse(good[i].a), parse(good[i].b), parse(good[i].c)};
  mt_layout atoms = parse(good[i].atoms);
  mt_dtype ab = i == 1 ? MT_i8 : MT_f32, c = i == 1 ? MT_i32 : MT_f32;
  mt_tensor t[] = {{l[0].node, ab, arena, 4096, 0, NULL},
                   {l[1].node, ab, arena + 4096, 4096, 0, NULL},
                   {l[2].node, c, arena + 8192, 4096, 0, NULL}};
  mt_tiled_mma mma;
  mt_gemm_launch out;
  MUST(mt_make_tiled_mma(&mma, good[i].atom, atoms.node, NULL, err));
  MUST(mt_gemm_tensors(&out, &t[0], &t[1], &t[2], 1, 0, err));
  MUST(mt_gemm_describe(&out, &mma, err));
  return out;
}

/* One word of the descriptor, or an offset, becomes another. */
static void spoil (mt_gemm_launch *l) {
  uint32_t *word = (uint32_t *)(void *)&l->desc + 2; /* op and form stay */
  int at = pick((int)(sizeof l->desc / sizeof *word) - 2);
  static const uint32_t odd[] = {0, 1, 2, 3, 7, 255, 1u << 28, INT32_MAX, UINT32_MAX};
  switch (pick(4)) {
    case 0: word[at] = odd[pick(sizeof odd / sizeof odd[0])]; break;
    case 1: word[at] += 1; break;
    case 2: word[at] ^= 1u << pick(12); break;
    default: l->offset[pick(MT_PARTS)] += pick(64) - 8;
  }
}

static bool is_unsupported (mt_status s) {
  return s == MT_EUNSUPPORTED || s == MT_EINVAL;
}

/* Verified access by access: nothing that was accepted leaves its buffer. */
static bool run_accepted (const mt_gemm_launch *l, const size_t *bytes) {
  mt_err err = MT_NOERR;
  size_t room = mt_mma_ref_size(&l->desc, NULL, 1);
  if (room == 0 || room > 1 << 24) return false;
  mt_gemm_ref *r = aligned_alloc(64, room);
  mt_status s = mt_mma_ref_make(r, &l->desc, NULL, 1, &err);
  if (s == MT_OK) {
    s = mt_mma_ref_run(r, l, bytes, NULL, &err);
    CHECK(s == MT_OK, "accepted, but %s", err.text);
  } else CHECK(is_unsupported(s), "%s", err.text);
  free(r);
  return s == MT_OK;
}

static void test_spoilt (void) {
  static const size_t bytes[MT_PARTS] = {4096, 4096, 4096};
  long n = cases_of(10000), accepted = 0;
  for (long i = 0; i < n; i++) {
    begin_case((uint64_t)i * 104729 + 1);
    mt_gemm_launch l = make_good((int)(i % 3));
    mt_err err = MT_NOERR;
    if (i >= 3) spoil(&l);
    mt_status s = mt_gemm_check(&l, NULL, bytes, &err);
    CHECK(i >= 3 || s == MT_OK, "a good one: %s", err.text);
    int64_t work = 1;
    for (int k = 0; k < 4; k++) work *= l.desc.size[k] < 64 ? l.desc.size[k] + 1 : 1000;
    if (s == MT_OK && work < 1000000) accepted += run_accepted(&l, bytes);
  }
  CHECK(accepted > n / 20, "only %ld of %ld were accepted", accepted, n);
}

void test_check (void) {
  test_refused();
  test_empty();
  test_spoilt();
}
