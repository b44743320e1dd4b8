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
#define MT_FOR_avx512 __attribute__((target("avx512f,avx512dq")))
#define MT_HAS_avx512                                                                    \
  (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
#define MT_FOR_avx2 __attribute__((target("avx2,fma")))
#define MT_HAS_avx2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define MT_FOR_avx512
#define MT_HAS_avx512 false
#define MT_FOR_avx2
#define MT_HAS_avx2 false
#endif
#define MT_FOR_plain
#define MT_HAS_plain true

/* ---------------------------------------------------------------- loops */

/* Where b[k][j] lies: in panels, in rows of so many elements. */
#define MT_IN_PANEL(k, j, n) b[(k) * (n) + (j)]
#define MT_IN_ROWS(k, j, n) b[(j)*pitch + (k)]

#if defined(__GNUC__)

/* Vectors of A so many steps on are fetched, whether it goes on there or not; and a tile
** before it is needed. */
enum { MT_AHEAD = 8 };
static inline void ahead (const void *p, int64_t bytes) {
  __builtin_prefetch((const void *)((uintptr_t)p + (uintptr_t)bytes));
}

/* Arrays of vectors with constant bounds: once unrolled, they are registers. */
#define MT_LOOP(name, type, bytes, vectors, n, AT)                                       \
  {                                                                                      \
    enum { W = bytes / sizeof(type) };                                                   \
    const type *a = s->a, *b = s->b;                                                     \
    const int64_t pitch = s->pitch, far = MT_AHEAD * s->a_step * (int64_t)sizeof(type);  \
    type *t = s->tile;                                                                   \
    name##_v sum[n][vectors];                                                            \
    (void)pitch;                                                                         \
    MT_UNROLL for (int j = 0; j < n; j++) MT_UNROLL for (int i = 0; i < vectors; i++) {  \
      sum[j][i] = (name##_v){0};                                                         \
      if (!s->fresh) ahead(t, (j * s->tile_step + i * W) * (int64_t)sizeof(type));       \
    }                                                                                    \
    for (int64_t k = 0, steps = s->depth; k < steps; k++, a += s->a_step) {              \
      MT_UNROLL for (int i = 0; i < vectors; i++) ahead(a + i * W, far);                 \
      MT_UNROLL for (int j = 0; j < n; j++) MT_UNROLL for (int i = 0; i < vectors; i++)  \
          sum[j][i] += ((const name##_v *)a)[i] * AT(k, j, n);                           \
    }                                                                                    \
    MT_UNROLL for (int j = 0; j < n; j++, t += s->tile_step)                             \
        MT_UNROLL for (int i = 0; i < vectors; i++) {                                    \
      name##_v *to = (name##_v *)t + i;                                                  \
      *to = s->fresh ? sum[j][i] : *to + sum[j][i];                                      \
    }                                                                                    \
  }
#define MT_VECTOR(name, type, bytes)                                                     \
  typedef type name##_v __attribute__((vector_size(bytes), aligned(sizeof(type))));

#else

#define MT_LOOP(name, type, bytes, vectors, n, AT)                                       \
  {                                                                                      \
    enum { MT_ROWS = vectors * bytes / sizeof(type) };                                   \
    const type *a = s->a, *b = s->b;                                                     \
    const int64_t pitch = s->pitch;                                                      \
    type *t = s->tile, sum[n][MT_ROWS] = {{0}};                                          \
    (void)pitch;                                                                         \
    for (int64_t k = 0; k < s->depth; k++, a += s->a_step)                               \
      for (int j = 0; j < n; j++)                                                        \
        for (int i = 0; i < MT_ROWS; i++) sum[j][i] += a[i] * AT(k, j, n);               \
    for (int j = 0; j < n; j++, t += s->tile_step)                                       \
      for (int i = 0; i < MT_ROWS; i++) t[i] = s->fresh ? sum[j][i] : t[i] + sum[j][i];  \
  }
#define MT_VECTOR(name, type, bytes)

#endif

#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth)                      \
  MT_VECTOR(name, type, bytes)                                                           \
  MT_FOR_##target static void name(const mt_steps *s)                                    \
      MT_LOOP(name, type, bytes, vectors, n, MT_IN_PANEL)                                \
          MT_FOR_##target static void name##_rows(const mt_steps *s)                     \
              MT_LOOP(name, type, bytes, vectors, n, MT_IN_ROWS)
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
   name,                                                                                 \
   name##_rows,                                                                          \
   (int)sizeof(type)},
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
