/*
** extend.c - a host's own kernels on the fake driver: taken before ours, proven as ever,
** given back with the device.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"
#include "plan/extend.h"

/* As the fake driver reads it: which kernel of ours does what each function does. */
static const char image[] = "OWN_KERNEL(my_copy, copy_strided_u128)"
                            "OWN_KERNEL(my_product, fma_f32)";
enum { N = 1024, M = 12, K = 8 };

static const mt_kernel_row my_copy = {.name = "my_copy",
                                      .algorithm = "strided",
                                      .arch = 80,
                                      .bytes = 16,
                                      .threads = 256,
                                      .unroll = 4};
static const mt_kernel_row my_product = {.name = "my_product",
                                         .atom = "mine_2x2x1",
                                         .arch = 80};

static mt_status add (mt_device *d, const mt_kernel_row *row, mt_err *err) {
  return mt_device_add_kernels(d, MT_LAUNCH_ABI, image, row, 1, err);
}

/* ---------------------------------------------------------------- refusals */

static void test_refusals (void) {
  mt_device *d = NULL, *cpu = NULL;
  mt_err err = MT_NOERR;
  EXPECT_STATUS(spec_open(&d, "cuda", &err), MT_OK, err);
  EXPECT_STATUS(spec_open(&cpu, "cpu", &err), MT_OK, err);
  const struct {
    mt_kernel_row row;
    mt_status status;
    const char *text;
  } rows[] = {
      {{.name = ""}, MT_EINVAL, "a name of 1 to"},
      {{.name = "x"}, MT_EINVAL, "an atom or an algorithm"},
      {{.name = "x", .algorithm = "fast"}, MT_EINVAL, "there are: described strided"},
      {{.name = "x", .algorithm = "strided", .bytes = 3}, MT_EINVAL, "of 3 bytes"},
      {{.name = "x", .algorithm = "strided", .bytes = 4, .unroll = 1},
       MT_EINVAL,
       "0 threads"},
      {{.name = "x", .algorithm = "strided", .atom = "y"}, MT_EINVAL, "no algorithm"},
      {{.name = "x", .atom = "y", .arch = 100}, MT_EUNSUPPORTED, "for sm_100 and later"},
      {{.name = "no_such", .atom = "y"}, MT_EINVAL, "no_such cannot be used"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mt_err e = MT_NOERR;
    EXPECT_STATUS(add(d, &rows[i].row, &e), rows[i].status, e);
    EXPECT_TEXT(e, rows[i].text);
  }
  EXPECT_STATUS(mt_device_add_kernels(d, 99, image, &my_copy, 1, &err), MT_EINVAL, err);
  EXPECT_TEXT(err, "descriptors of version 99");
  EXPECT_STATUS(mt_device_add_kernels(d, MT_LAUNCH_ABI, NULL, &my_copy, 1, &err),
                MT_EINVAL, err);
  EXPECT_STATUS(add(cpu, &my_copy, &err), MT_EINVAL, err);
  EXPECT_TEXT(err, "cpu takes none of a host");
  mt_device_close(cpu);
  mt_device_close(d);
  spec_expect_clean("kernels that are refused");
}

/* ---------------------------------------------------------------- copies */

static const char *kernel_of (const mt_plan *p) { return mt_plan_name(p); }

static void test_copy (void) {
  unsigned char from[N], to[N];
  void *src = NULL, *dst = NULL;
  mt_device *d = NULL;
  mt_plan *p = NULL, *before = NULL;
  mt_layout line;
  mt_err err = MT_NOERR;
  for (int i = 0; i < N; i++) from[i] = (unsigned char)(i * 29 >> 1);
  EXPECT_STATUS(mt_parse(&line, "1024:1", 6, &err), MT_OK, err);
  EXPECT_STATUS(spec_open(&d, "cuda", &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(d, &src, N, &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(d, &dst, N, &err), MT_OK, err);
  EXPECT_STATUS(mt_upload(d, src, from, N, &err), MT_OK, err);
  const mt_tensor s = {line.node, MT_u8, src, N, 0, NULL};
  const mt_tensor t = {line.node, MT_u8, dst, N, 0, NULL};
  EXPECT_STATUS(mt_plan_copy(&before, d, NULL, &s, &t, &err), MT_OK, err);
  EXPECT(strcmp(kernel_of(before), "copy_strided_u128") == 0, "%s", kernel_of(before));
  EXPECT_STATUS(add(d, &my_copy, &err), MT_OK, err);
  EXPECT_STATUS(mt_plan_copy(&p, d, NULL, &s, &t, &err), MT_OK, err);
  EXPECT(strcmp(kernel_of(p), "my_copy") == 0, "%s", kernel_of(p));
  EXPECT_STATUS(mt_plan_launch(p, NULL, &err), MT_OK, err);
  EXPECT_STATUS(mt_download(d, to, dst, N, &err), MT_OK, err);
  EXPECT(memcmp(from, to, N) == 0, "copied wrongly");
  EXPECT_STATUS(mt_plan_launch(before, NULL, &err), MT_OK, err);
  mt_plan_free(p);
  mt_plan_free(before);
  mt_free(d, src, N);
  mt_free(d, dst, N);
  mt_device_close(d);
  spec_expect_clean("a copy of the host's");
}

/* ---------------------------------------------------------------- products */

/* Four sums of one thread. */
static void make_atom (mt_mma_atom *out) {
  mt_mma_op op = {.name = "mine_2x2x1", .m = 2, .n = 2, .k = 1};
  mt_layout two, four;
  mt_err err = MT_NOERR;
  for (int i = 0; i < MT_OPERANDS; i++)
    op.operand[i] = (mt_operand){MT_ELEMENT_f32, 1, MT_REG};
  EXPECT_STATUS(mt_parse(&two, "(1,2):(0,1)", 11, &err), MT_OK, err);
  EXPECT_STATUS(mt_parse(&four, "(1,4):(0,1)", 11, &err), MT_OK, err);
  EXPECT_STATUS(mt_mma_atom_make(out, &op, NULL, two.node, two.node, four.node, &err),
                MT_OK, err);
}

/* C = A B^T of small integers. */
static mt_status multiply (mt_device *d, const mt_tiled_mma *mma, const char **kernel,
                           int *wrong, mt_err *err) {
  enum { BYTES = M * M * (int)sizeof(float) };
  static const mt_gemm_options o = {.size = sizeof o, .alpha = 1};
  float a[M * K], c[M * M];
  void *at_a = NULL, *at_c = NULL;
  mt_layout la, lc;
  mt_plan *p = NULL;
  *wrong = 0;
  for (int i = 0; i < M * K; i++) a[i] = (float)(i * 7 % 11 - 5);
  MT_TRY(mt_parse(&la, "(12,8):(1,12)", 13, err));
  MT_TRY(mt_parse(&lc, "(12,12):(1,12)", 14, err));
  MT_TRY(mt_malloc(d, &at_a, sizeof a, err));
  MT_TRY(mt_malloc(d, &at_c, BYTES, err));
  MT_TRY(mt_upload(d, at_a, a, sizeof a, err));
  const mt_tensor A = {la.node, MT_f32, at_a, sizeof a, 0, NULL};
  const mt_tensor C = {lc.node, MT_f32, at_c, BYTES, 0, NULL};
  mt_status s = mt_plan_gemm(&p, d, mma, &A, &A, &C, &o, err);
  if (s == MT_OK) s = mt_plan_launch(p, NULL, err);
  if (s == MT_OK) s = mt_download(d, c, at_c, BYTES, err);
  if (s == MT_OK) *kernel = strcmp(kernel_of(p), "my_product") ? "ours" : "mine";
  for (int i = 0; s == MT_OK && i < M * M; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += a[i % M + k * M] * a[i / M + k * M];
    *wrong += c[i] != sum;
  }
  mt_plan_free(p);
  mt_free(d, at_a, sizeof a);
  mt_free(d, at_c, BYTES);
  return s;
}

static void test_product (void) {
  static mt_mma_atom atom;
  static mt_tiled_mma mma;
  const char *kernel = "none";
  int wrong = 0;
  mt_device *d = NULL;
  mt_layout atoms;
  mt_err err = MT_NOERR;
  make_atom(&atom);
  EXPECT_STATUS(mt_parse(&atoms, "(4,2,1):(1,4,0)", 15, &err), MT_OK, err);
  EXPECT_STATUS(mt_make_tiled_mma_of(&mma, &atom, atoms.node, NULL, &err), MT_OK, err);
  EXPECT_STATUS(spec_open(&d, "cuda", &err), MT_OK, err);
  EXPECT_STATUS(multiply(d, &mma, &kernel, &wrong, &err), MT_EUNSUPPORTED, err);
  EXPECT_TEXT(err, "mine_2x2x1 is an atom of your own: no kernel");
  EXPECT(!mt_device_runs_mma(d, &atom.op), "it runs before its kernel is there");
  EXPECT_STATUS(add(d, &my_product, &err), MT_OK, err);
  EXPECT(mt_device_runs_mma(d, &atom.op), "it does not run");
  void (*set_atom)(const mt_mma_atom *) = fake_symbol("fakecuda_atom");
  set_atom(&atom);
  EXPECT_STATUS(multiply(d, &mma, &kernel, &wrong, &err), MT_OK, err);
  EXPECT(wrong == 0 && strcmp(kernel, "mine") == 0, "%d wrong, by %s", wrong, kernel);
  set_atom(NULL);
  mt_device_close(d);
  spec_expect_clean("a product of the host's");
}

void spec_extend (void) {
  test_refusals();
  test_copy();
  test_product();
}
