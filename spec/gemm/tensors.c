/*
** tensors.c - the tensors' half of a product's descriptor: against the layouts, and what
** is refused.
** SPDX-License-Identifier: MIT
*/
#include "mma_test.h"

static char memory[1 << 16];

/* A tensor in the memory. */
static mt_tensor tensor (mt_layout *room, const char *layout, mt_dtype d,
                         int64_t offset) {
  *room = parse(layout);
  return (mt_tensor){room->node, d, memory, sizeof memory, offset, NULL};
}

/* Extents of the three modes of a layout, the third 1 if there is none. */
static void extents (int64_t s[3], const mt_node *a) {
  const mt_node *t = a->tag == MT_SWIZZLE ? mt_child(a) : a;
  for (int i = 0; i < 3; i++) s[i] = i < mt_rank(t) ? mt_size(mt_mode(t, i)) : 1;
}

/* Each element lies where the layout says. */
static void compare (const mt_gemm_launch *l, int part, const mt_tensor *t) {
  int64_t s[3], at;
  const char *base = l->base[part];
  extents(s, t->layout);
  for (int64_t i = 0; i < s[0] * s[1] * s[2]; i++) {
    int64_t x = i % s[0], y = i / s[0] % s[1], b = i / s[0] / s[1];
    MUST(mt_at(&at, t->layout, i, err));
    int64_t size = (int64_t)mt_dtype_size(t->dtype);
    int64_t want = (t->offset + at) * size;
    int64_t got = base - memory + place(l, part, x, y, b) * size;
    CHECK(got == want, "part %d (%d,%d,%d): byte %d, not %d", part, (int)x, (int)y,
          (int)b, (int)got, (int)want);
  }
  CHECK(base + mt_gemm_room(l, part, t) == memory + sizeof memory, "room");
}

static void test_places (void) {
  static const struct {
    const char *a, *b, *c;
    int64_t m, n, k, l;
  } rows[] = {
      {"(4,6):(1,4)", "(5,6):(6,1)", "(4,5):(1,4)", 4, 5, 6, 1},
      {"((2,2),(3,2)):((1,10),(2,100))", "(5,6):(0,1)", "(4,5):(-1,-4)", 4, 5, 6, 1},
      {"(7,3,2):(3,1,21)", "(2,3,2):(1,0,50)", "(7,2,2):(2,1,14)", 7, 2, 3, 2},
      {"(7,3):(3,1)", "(2,3,4):(1,0,50)", "(7,2,(2,2)):(2,1,(28,14))", 7, 2, 3, 4},
      {"Sw<2,1,3> o 3 o (8,16):(16,1)", "Sw<3,0,-3> o 0 o (16,(4,4)):(1,(16,64))",
       "Sw<0,0,0> o 7 o (8,16):(1,8)", 8, 16, 16, 1},
      {"(1,1):(0,0)", "(3,1):(1,7)", "(1,3):(5,1)", 1, 3, 1, 1},
      {"(0,4):(1,1)", "(3,4):(4,1)", "(0,3):(1,1)", 0, 3, 4, 1},
      {"(4,0):(1,1)", "(3,0):(4,1)", "(4,3):(1,4)", 4, 3, 0, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mt_layout a, b, c;
    mt_gemm_launch l;
    mt_tensor A = tensor(&a, rows[i].a, MT_f32, 200);
    mt_tensor B = tensor(&b, rows[i].b, MT_i8, 0), C = tensor(&c, rows[i].c, MT_f64, 77);
    MUST(mt_gemm_tensors(&l, &A, &B, &C, 2, 0, err));
    const int64_t *s = l.desc.size;
    CHECK(s[0] == rows[i].m && s[1] == rows[i].n && s[2] == rows[i].k &&
              s[3] == rows[i].l,
          "row %d: sizes", (int)i);
    CHECK(l.desc.op == MT_OP_GEMM && l.desc.algo == MT_ALGO_STRIDED && l.alpha == 2,
          "head");
    compare(&l, MT_A, &A);
    compare(&l, MT_B, &B);
    compare(&l, MT_C, &C);
  }
}

static void test_refused (void) {
  static const struct {
    const char *a, *b, *c;
    mt_dtype d;
    mt_status s;
    const char *text;
  } rows[] = {
      {"(4,6):(1,4)", "(5,7):(7,1)", "(4,5):(1,4)", MT_f32, MT_ERANK,
       "gemm: K is mode 2 of A and mode 2 of B: 6 and 7\nA is (4,6):(1,4)\n"
       "B is (5,7):(7,1)"},
      {"(4,6):(1,4)", "(5,6):(6,1)", "(5,4):(1,5)", MT_f32, MT_ERANK,
       "gemm: M is mode 1 of A and mode 1 of C: 4 and 5\nA is (4,6):(1,4)\n"
       "C is (5,4):(1,5)"},
      {"(4,6,2):(1,4,24)", "(5,6,3):(6,1,30)", "(4,5,2):(1,4,20)", MT_f32, MT_ERANK,
       "gemm: L is mode 3 of A and mode 3 of B: 2 and 3\nA is (4,6,2):(1,4,24)\n"
       "B is (5,6,3):(6,1,30)"},
      {"(4,6):(1,4)", "(5,6,3):(6,1,30)", "(4,5):(1,4)", MT_f32, MT_ERANK,
       "gemm: B has a batch of 3, C (4,5):(1,4) has none\ngive C a third mode of that "
       "size, or sum over the batch: group it with K"},
      {"24:1", "(5,6):(6,1)", "(4,5):(1,4)", MT_f32, MT_ERANK,
       "gemm: A 24:1 has rank 1, it is (M,K) and may have a last mode for the batch\n"
       "group its modes to 2 or 3"},
      {"(4,6):(1,4)", "(5,6):(6,1)", "(4,5):(1@0,1@1)", MT_f32, MT_EINVAL,
       "gemm: C has no layout of offsets: (4,5):(1@0,1@1)"},
      {"(4,6):(1,4)", "(5,6):(6,1)", "(4,5):(1,4)", MT_i32, MT_EINVAL,
       "gemm: alpha is 0.5, but C is i32: an integer of at most 53 bits is needed"},
      {"Sw<1,0,40> o 0 o (4,6):(1,4)", "(5,6):(6,1)", "(4,5):(1,4)", MT_f32,
       MT_EUNSUPPORTED,
       "gemm: the swizzle of A Sw<1,0,40> o 0 o (4,6):(1,4) moves bits "
       "beyond the 32nd"},
      {"((2,2,2,2,2,2,2,2,2,2),(2,2,2,2,2,2,2,2,2)):((2,1,8,4,32,16,128,64,512,256),"
       "(2,1,8,4,32,16,128,64,512))",
       "(5,512):(6,1)", "(1024,5):(1,4)", MT_f32, MT_ETOOBIG,
       "gemm: A ((2,2,2,2,2,2,2,2,2,2),(2,2,2,2,2,2,2,2,2)):((2,1,8,4,32,16,"
       "128,64,512,256),(2,1,8,4,32,16,128,64,512)) has more than 18 axes"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mt_layout a, b, c;
    mt_gemm_launch l;
    mt_tensor A = tensor(&a, rows[i].a, MT_f32, 0);
    mt_tensor B = tensor(&b, rows[i].b, MT_f32, 0);
    mt_tensor C = tensor(&c, rows[i].c, rows[i].d, 0);
    REFUSED(mt_gemm_tensors(&l, &A, &B, &C, 0.5, 0, err), rows[i].s, rows[i].text);
  }
}

void test_tensors (void) {
  test_places();
  test_refused();
}
