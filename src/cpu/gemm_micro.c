/*
** gemm_micro.c - the inner loops of the processor's own product, and the choice among
** them.
** SPDX-License-Identifier: MIT
**
** Compiled with contraction of a * b + c (cmake/targets.cmake).
*/
#include "cpu/gemm_micro.h"
#include "core/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define MT_MASKS_avx512 true
#define MT_FOR_avx512 __attribute__((target("avx512f,avx512dq")))
#define MT_HAS_avx512                                                                    \
  (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
#define MT_FOR_avx2 __attribute__((target("avx2,fma")))
#define MT_HAS_avx2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define MT_MASKS_avx512 false
#define MT_FOR_avx512
#define MT_HAS_avx512 false
#define MT_FOR_avx2
#define MT_HAS_avx2 false
#endif
#define MT_FOR_plain
#define MT_MASKS_avx2 false
#define MT_MASKS_plain false
#define MT_HAS_plain true

/* ---------------------------------------------------------------- loops */

/* Where b[k][j] lies: in a panel; in rows, the last for those behind it. */
#define MT_IN_PANEL(k, j) b[(k)*pitch + (j)]
#define MT_IN_ROWS(k, j) row[j][k]

#if defined(__GNUC__)

/* Vectors of A so many steps on are fetched, whether it goes on there or not; and a tile
** before it is needed. */
enum { MT_AHEAD = 8 };
static inline void ahead (const void *p, int64_t bytes) {
  __builtin_prefetch((const void *)((uintptr_t)p + (uintptr_t)bytes));
}

/* The first `count` elements of a vector, or all. */
typedef uint16_t mt_mask;
static inline mt_mask mask_of (int64_t count) { return (mt_mask)((1u << count) - 1); }
#define MT_LOAD_plain(V, p, mask) (*(const V *)(p))
#define MT_STORE_plain(V, p, mask, v) (*(V *)(p) = (v))
#define MT_LOAD_avx2 MT_LOAD_plain
#define MT_STORE_avx2 MT_STORE_plain
#define MT_LOAD_avx512(V, p, mask)                                                       \
  (sizeof *(p) == 4 ? (V)_mm512_maskz_loadu_epi32(mask, p) :                             \
                      (V)_mm512_maskz_loadu_epi64((__mmask8)(mask), p))
#define MT_STORE_avx512(V, p, mask, v)                                                   \
  (sizeof *(p) == 4 ? _mm512_mask_storeu_epi32(p, mask, (__m512i)(v)) :                  \
                      _mm512_mask_storeu_epi64(p, (__mmask8)(mask), (__m512i)(v)))

#define MT_SUM(name, type, target, vectors, n, AT, mask)                                 \
  for (int64_t k = 0, steps = s->depth; k < steps; k++, a += step) {                     \
    MT_UNROLL for (int i = 0; i < vectors; i++) ahead(a + i * W, far);                   \
    MT_UNROLL for (int j = 0; j < n; j++) MT_UNROLL for (int i = 0; i < vectors; i++)    \
        sum[j][i] += MT_LOAD_##target(name##_v, a + i * W, mask) * AT(k, j);             \
  }
/* Arrays of vectors with constant bounds: once unrolled, they are registers. */
#define MT_LOOP(name, type, target, bytes, vectors, n, AT)                               \
  {                                                                                      \
    enum { W = bytes / sizeof(type), LAST = vectors - 1 };                               \
    const type *a = s->a, *b = s->b, *row[n];                                            \
    const int64_t step = s->a_step, far = MT_AHEAD * step * (int64_t)sizeof(type);       \
    const int64_t pitch = s->pitch, tile_step = s->tile_step, columns = s->columns;      \
    const mt_mask all = mask_of(W), some = mask_of(s->rows - LAST * W),                  \
                  there = s->whole ? all : some;                                         \
    const bool fresh = s->fresh;                                                         \
    type *t = s->tile;                                                                   \
    name##_v sum[n][vectors];                                                            \
    MT_UNROLL for (int j = 0; j < n; j++) {                                              \
      row[j] = b;                                                                        \
      b += j + 1 < columns ? pitch : 0;                                                  \
      MT_UNROLL for (int i = 0; i < vectors; i++) sum[j][i] = (name##_v){0};             \
    }                                                                                    \
    b = s->b;                                                                            \
    if (!fresh)                                                                          \
      for (int j = 0; j < columns; j++)                                                  \
        MT_UNROLL for (int i = 0; i < vectors; i++)                                      \
            ahead(t + i * W, j * tile_step * (int64_t)sizeof(type));                     \
    (void)row, (void)there;                                                              \
    if (MT_MASKS_##target && some != all)                                                \
      MT_SUM(name, type, target, vectors, n, AT, i < LAST ? all : some)                  \
    else MT_SUM(name, type, plain, vectors, n, AT, all)                                  \
    MT_UNROLL for (int j = 0; j < n; j++, t += tile_step) {                              \
      if (j >= columns) return;                                                          \
      MT_UNROLL for (int i = 0; i < vectors; i++) {                                      \
        const mt_mask mask = i < LAST ? all : there;                                     \
        (void)mask;                                                                      \
        if (!fresh) sum[j][i] += MT_LOAD_##target(name##_v, t + i * W, mask);            \
        MT_STORE_##target(name##_v, t + i * W, mask, sum[j][i]);                         \
      }                                                                                  \
    }                                                                                    \
  }
/* Rows of A to a panel, zeros behind them. */
#define MT_COPY(name, type, target, bytes, vectors)                                      \
  {                                                                                      \
    enum { W = bytes / sizeof(type) };                                                   \
    const type *a = s->a;                                                                \
    type *t = s->tile;                                                                   \
    mt_mask mask[vectors];                                                               \
    for (int i = 0; i < vectors; i++) {                                                  \
      const int64_t left = s->rows - i * W;                                              \
      mask[i] = mask_of(left < 0 ? 0 : left < W ? left : W);                             \
    }                                                                                    \
    (void)mask;                                                                          \
    for (int64_t k = 0; k < s->depth; k++, a += s->a_step, t += vectors * W)             \
      MT_UNROLL for (int i = 0; i < vectors; i++) * (name##_v *)(t + i * W) =            \
          MT_LOAD_##target(name##_v, a + i * W, mask[i]);                                \
  }
#define MT_VECTOR(name, type, bytes)                                                     \
  typedef type name##_v __attribute__((vector_size(bytes), aligned(sizeof(type))));

#else

#define MT_LOOP(name, type, target, bytes, vectors, n, AT)                               \
  {                                                                                      \
    enum { MT_ROWS = vectors * bytes / sizeof(type) };                                   \
    const type *a = s->a, *b = s->b, *row[n];                                            \
    const int64_t pitch = s->pitch;                                                      \
    type *t = s->tile, sum[n][MT_ROWS] = {{0}};                                          \
    for (int j = 0; j < n; j++)                                                          \
      row[j] = b + (j < s->columns ? j : s->columns - 1) * pitch;                        \
    (void)row, (void)pitch;                                                              \
    for (int64_t k = 0; k < s->depth; k++, a += s->a_step)                               \
      for (int j = 0; j < n; j++)                                                        \
        for (int i = 0; i < MT_ROWS; i++) sum[j][i] += a[i] * AT(k, j);                  \
    for (int j = 0; j < s->columns; j++, t += s->tile_step)                              \
      for (int i = 0; i < MT_ROWS; i++) t[i] = s->fresh ? sum[j][i] : t[i] + sum[j][i];  \
  }
#define MT_COPY(name, type, target, bytes, vectors)                                      \
  {                                                                                      \
    const type *a = s->a;                                                                \
    type *t = s->tile;                                                                   \
    for (int64_t k = 0; k < s->depth; k++, a += s->a_step)                               \
      for (int i = 0; i < (int)(vectors * bytes / sizeof(type)); i++) *t++ = a[i];       \
  }
#define MT_VECTOR(name, type, bytes)

#endif

/* Of all columns, and of half of them, for what is left. */
#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth)                      \
  MT_VECTOR(name, type, bytes)                                                           \
  MT_RUN(name, name, type, target, bytes, vectors, n, MT_IN_PANEL)                       \
  MT_RUN(name##_half, name, type, target, bytes, vectors, n / 2, MT_IN_PANEL)            \
  MT_RUN(name##_rows, name, type, target, bytes, vectors, n, MT_IN_ROWS)                 \
  MT_RUN(name##_rows_half, name, type, target, bytes, vectors, n / 2, MT_IN_ROWS)        \
  MT_FOR_##target static void name##_copy(const mt_steps *s)                             \
      MT_COPY(name, type, target, bytes, vectors)
#define MT_RUN(run, name, type, target, bytes, vectors, n, AT)                           \
  MT_FOR_##target static void run(const mt_steps *s)                                     \
      MT_LOOP(name, type, target, bytes, vectors, n, AT)
#include "cpu/gemm_micro.def"
#undef MT_MICRO

/* ---------------------------------------------------------------- choosing */

#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth)                      \
  {#name,                                                                                \
   MT_ACC_##acc,                                                                         \
   (int)sizeof(type),                                                                    \
   vectors * bytes / (int)sizeof(type),                                                  \
   n,                                                                                    \
   depth,                                                                                \
   vectors,                                                                              \
   {name, name##_half},                                                                  \
   {name##_rows, name##_rows_half},                                                      \
   name##_copy,                                                                          \
   (int)sizeof(type),                                                                    \
   MT_MASKS_##target},
static const mt_micro micros[] = {
#include "cpu/gemm_micro.def"
};
#undef MT_MICRO
enum { MICROS = sizeof micros / sizeof *micros };

const mt_micro *mt_micro_choose (mt_acc acc) {
#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth) MT_HAS_##target,
  const bool has[] = {
#include "cpu/gemm_micro.def"
  };
#undef MT_MICRO
  size_t i = 0;
  while (micros[i].acc != acc || !has[i]) i++;
  return &micros[i];
}

const mt_micro *mt_micro_thin (const mt_micro *u) {
  const mt_micro *next = u + u->vectors;
  if (u < micros || next >= micros + MICROS) return NULL;
  return next->acc == u->acc && next->vectors == 1 ? next : NULL;
}
