/*
** own.c - the kernel of examples/own_kernel.cu, by the atom of examples/host_kernel.c.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>

#include "gemm/gemm.h"
#include "kernels_test.h"
#include "products.h"

enum { MOST = 40, ROOM = MOST * MOST };
static float A[ROOM], B[ROOM], C[ROOM];

static void must (mt_status s, const mt_err *err) {
  if (s == MT_OK) return;
  fprintf(stderr, "own kernel: %s\n", err->text);
  exit(1);
}

static void parse (mt_layout *out, const char *text) {
  mt_err err = MT_NOERR;
  must(mt_parse(out, text, strlen(text), &err), &err);
}

static void make_mma (mt_tiled_mma *out, const char *atoms) {
  mt_mma_op op = {.name = "mine_2x2x1", .m = 2, .n = 2, .k = 1};
  mt_mma_atom atom;
  mt_layout two, four, all;
  mt_err err = MT_NOERR;
  for (int i = 0; i < MT_OPERANDS; i++)
    op.operand[i] = (mt_operand){MT_ELEMENT_f32, 1, MT_REG};
  parse(&two, "(1,2):(0,1)");
  parse(&four, "(1,4):(0,1)");
  parse(&all, atoms);
  must(mt_mma_atom_make(&atom, &op, NULL, two.node, two.node, four.node, &err), &err);
  must(mt_make_tiled_mma_of(out, &atom, all.node, NULL, &err), &err);
}

/* A matrix by rows or by columns. */
static mt_tensor matrix (mt_layout *buf, float *data, int rows, int columns,
                         bool by_rows) {
  char text[64];
  snprintf(text, sizeof text, "(%d,%d):(%d,%d)", rows, columns, by_rows ? columns : 1,
           by_rows ? 1 : rows);
  parse(buf, text);
  return (mt_tensor){buf->node, MT_f32, data, ROOM * sizeof(float), 0, NULL};
}

static float at (const mt_tensor *t, int i, int j) {
  int64_t offset = 0;
  mt_err err = MT_NOERR;
  must(mt_at(&offset, t->layout, i + j * mt_size(mt_child(t->layout)), &err), &err);
  return ((const float *)t->data)[offset];
}

static bool is_right (const mt_tensor *a, const mt_tensor *b, const mt_tensor *c, int m,
                      int n, int k) {
  for (int i = 0; i < m * n; i++) {
    float sum = 0;
    for (int x = 0; x < k; x++) sum += at(a, i % m, x) * at(b, i / m, x);
    if (at(c, i % m, i / m) == sum) continue;
    fprintf(stderr, "own kernel: C(%d,%d) of %dx%dx%d: %g, not %g\n", i % m, i / m, m, n,
            k, (double)at(c, i % m, i / m), (double)sum);
    return false;
  }
  return true;
}

bool own_kernel (long cases) {
  static const char *const atoms[] = {"(4,2,1):(1,4,0)", "(16,8,1):(1,16,0)",
                                      "(1,1,1):(0,0,0)", "(2,8,1):(8,1,0)"};
  static mt_tiled_mma mma;
  static mt_gemm_launch l;
  for (long i = 0; i < cases; i++) {
    const int m = 1 + below(MOST), n = 1 + below(MOST), k = 1 + below(MOST);
    mt_layout buf[3];
    mt_err err = MT_NOERR;
    for (int j = 0; j < ROOM; j++)
      A[j] = (float)(below(9) - 4), B[j] = (float)(below(9) - 4), C[j] = 99;
    const mt_tensor a = matrix(&buf[0], A, m, k, below(2)),
                    b = matrix(&buf[1], B, n, k, below(2)),
                    c = matrix(&buf[2], C, m, n, below(2));
    make_mma(&mma, atoms[below(4)]);
    must(mt_gemm_tensors(&l, &a, &b, &c, 1, 0, &err), &err);
    must(mt_gemm_describe(&l, &mma, &err), &err);
    emulate_product("my_product", 1 + (unsigned)below(3), &l, NULL);
    if (!is_right(&a, &b, &c, m, n, k)) return false;
  }
  return true;
}
