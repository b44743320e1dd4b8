/*
** partition.c - the partition's half of a product's descriptor, against mt_mma_tv.
** SPDX-License-Identifier: MIT
*/
#include "mma_test.h"

static const uint8_t mode_of[MT_PARTS][2] = {{MT_M, MT_K}, {MT_N, MT_K}, {MT_M, MT_N}};

/* Ordinates that index i of n axes adds, digit by digit. */
static void walk (int64_t at[2], const mt_step *a, uint32_t n, uint32_t i) {
  for (; n > 0; n--, a++) {
    uint32_t q = n == 1 ? 0 : (uint32_t)(((uint64_t)i * a->mul >> 32) >> a->shift);
    uint32_t digit = i - q * a->extent;
    for (int o = 0; o < 2; o++) at[o] += (int64_t)digit * a->step[o];
    i = q;
  }
}

/* The ordinate of inner position i of a mode. */
static int64_t inner (const mt_gemm_desc *d, int mode, uint32_t i) {
  int64_t at[2] = {0, 0};
  const mt_step *a = d->inner_axis;
  for (int j = 0; j < mode; j++) a += d->ninner[j];
  walk(at, a, d->ninner[mode], i);
  return at[0];
}

/* Thread t, value v, inner position (x,y): the place in the compact tile; -1: idle. */
static int64_t got_place (const mt_gemm_desc *d, int part, uint32_t t, uint32_t v,
                          uint32_t x, uint32_t y) {
  const mt_part *p = &d->part[part];
  int64_t at[2] = {0, 0};
  walk(at, p->axis, p->nthr, t);
  walk(at, p->axis + p->nthr, p->nval, v);
  if (at[0] >= d->size[mode_of[part][0]]) return -1;
  at[0] += inner(d, mode_of[part][0], x);
  at[1] += inner(d, mode_of[part][1], y);
  return at[0] + at[1] * d->tile[mode_of[part][0]];
}

static mt_layout tile_tv (const mt_tiled_mma *mma, int part) {
  mt_layout shape, compact, out;
  const int64_t n[] = {mma->tile[mode_of[part][0]], mma->tile[mode_of[part][1]]};
  MUST(mt_ints(&shape, 2, n, err));
  MUST(mt_make_layout(&compact, shape.node, NULL, err));
  MUST(mt_mma_tv(&out, mma, (mt_mma_part)part, compact.node, err));
  return out;
}

/* Thread by thread; idle threads are those that thr_vmnk leaves out. */
static void compare_part (const mt_gemm_desc *d, const mt_tiled_mma *mma, int part,
                          const char *name) {
  mt_layout tv = tile_tv(mma, part);
  const mt_part *p = &d->part[part];
  uint32_t nx = d->inner[mode_of[part][0]], ny = d->inner[mode_of[part][1]];
  int64_t want, idle = 0;
  CHECK(mt_size(mt_mode(tv.node, 0)) == d->threads &&
            mt_size(mt_mode(tv.node, 1)) == (int64_t)p->values * nx * ny,
        "%s: %d threads, "
        "%d values",
        name, (int)d->threads, (int)p->values);
  for (uint32_t t = 0; t < d->threads; t++)
    for (uint32_t i = 0; i < p->values * nx * ny; i++) {
      uint32_t v = i % p->values, x = i / p->values % nx, y = i / p->values / nx;
      int64_t got = got_place(d, part, t, v, x, y);
      MUST(mt_at(&want, tv.node, t + (int64_t)i * d->threads, err));
      idle += got < 0 && i == 0;
      if (got < 0 || got == want) continue;
      CHECK(false, "%s: part %d, thread %d, value %d at (%d,%d): %d, not %d", name, part,
            (int)t, (int)v, (int)x, (int)y, (int)got, (int)want);
      return;
    }
  CHECK(idle == d->threads - mt_tiled_mma_size(mma), "%s: %d idle threads", name,
        (int)idle);
}

/* Threads of one group have one first thread, and each number once. */
static void compare_kthreads (const mt_gemm_desc *d, const mt_tiled_mma *mma,
                              const char *name) {
  int64_t k = mt_size(mt_mode(mma->thr_vmnk.node, 3)), threads = mt_tiled_mma_size(mma);
  CHECK(d->kthreads == k, "%s: %d threads along K", name, (int)d->kthreads);
  for (int64_t i = 0; k > 1 && i < threads; i++) {
    int64_t t, first, j = i / (threads / k);
    int64_t at[2] = {0, 0}, add[2] = {0, 0};
    MUST(mt_at(&t, mma->thr_vmnk.node, i, err));
    MUST(mt_at(&first, mma->thr_vmnk.node, i % (threads / k), err));
    walk(at, d->kaxis, d->nkthr, (uint32_t)t);
    walk(add, d->kaxis + d->nkthr, d->nkadd, (uint32_t)j);
    CHECK(at[0] == j && t - at[1] == first && first + add[0] == t,
          "%s: thread %d is "
          "number %d, not %d, of those from %d",
          name, (int)t, (int)at[0], (int)j, (int)first);
  }
}

static char memory[64];

/* Tensors that are as large as they have to be: descriptors do not touch them. */
static void describe (mt_gemm_launch *l, const mt_tiled_mma *mma, int64_t m, int64_t n,
                      int64_t k) {
  const int64_t size[] = {m, n, k};
  mt_layout a[MT_PARTS];
  mt_tensor t[MT_PARTS];
  for (int part = 0; part < MT_PARTS; part++) {
    mt_layout shape;
    const int64_t s[] = {size[mode_of[part][0]], size[mode_of[part][1]]};
    MUST(mt_ints(&shape, 2, s, err));
    MUST(mt_make_layout(&a[part], shape.node, NULL, err));
    t[part] = (mt_tensor){a[part].node, MT_f32, memory, 1 << 30, 0, NULL};
  }
  MUST(mt_gemm_tensors(l, &t[0], &t[1], &t[2], 1, 0, err));
  MUST(mt_gemm_describe(l, mma, err));
}

static void test_rows (void) {
  static const struct {
    const char *atom, *atoms, *permutation;
  } rows[] = {
      {"UniversalFMA<float,float,float,float>", "(1,1,1):(0,0,0)", "(_,_,_)"},
      {"UniversalFMA<float,float,float,float>", "(16,8,1):(8,1,0)", "(_,_,_)"},
      {"UniversalFMA<float,float,float,float>", "(16,8,4):(1,16,128)", "(64,_,8)"},
      {"UniversalFMA<float,float,float,float>", "(4,(2,2),(2,4)):(16,(1,8),(2,64))",
       "(8,8,16)"},
      {"UniversalFMA<float,float,float,float>", "(2,3,2):(2,8,1)", "(_,6,_)"},
      {"SM80_16x8x16_F32F16F16F32_TN", "(1,1,1):(0,0,0)", "(_,_,_)"},
      {"SM80_16x8x16_F32F16F16F32_TN", "(2,2,1):(1,2,0)", "(32,32,16)"},
      {"SM80_16x8x16_F32F16F16F32_TN", "(2,2,2):(2,1,4)", "(_,(8,2,2):(1,16,8),_)"},
      {"SM80_16x8x16_F32F16F16F32_TN", "(2,1,1):(3,0,0)", "(_,_,_)"},
      {"SM80_8x8x4_F64F64F64F64_TN", "(4,2,2):(1,4,8)", "((4,8,2):(1,8,4),32,16)"},
      {"SM70_8x8x4_F32F16F16F32_TN", "(1,1,1):(0,0,0)", "(_,_,_)"},
      {"SM70_8x8x4_F32F16F16F32_TN", "(2,2,1):(1,2,0)", "(_,_,_)"},
      {"SM70_8x8x4_F32F16F16F32_NT", "(2,1,1):(1,0,0)", "(_,_,8)"},
      {"SM61_DP4A", "(4,4,2):(4,1,16)", "(_,_,_)"},
      {"SM90_64x64x16_F32F16F16_SS", "(2,1,1):(1,0,0)", "(_,128,32)"},
      {"SM90_64x32x16_F32F16F16_RS", "(1,2,1):(0,1,0)", "(_,_,_)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mt_layout atoms = parse(rows[i].atoms), p = parse(rows[i].permutation);
    mt_tiled_mma mma;
    mt_gemm_launch l;
    char name[256];
    MUST(mt_make_tiled_mma(&mma, rows[i].atom, atoms.node, p.node, err));
    snprintf(name, sizeof name, "%s %s %s", rows[i].atom, rows[i].atoms,
             rows[i].permutation);
    describe(&l, &mma, 200, 300, 100);
    for (int part = 0; part < MT_PARTS; part++) compare_part(&l.desc, &mma, part, name);
    compare_kthreads(&l.desc, &mma, name);
    MUST(mt_gemm_check_shape(&l, NULL, err));
    for (int o = 0; o < 3; o++)
      CHECK(l.desc.tile[o] == mma.tile[o] &&
                l.desc.tiles[o] * mma.tile[o] >= l.desc.size[o] &&
                (l.desc.tiles[o] - 1) * mma.tile[o] < l.desc.size[o],
            "%s: tiles of mode %d", name, o);
  }
}

void test_partition (void) { test_rows(); }
