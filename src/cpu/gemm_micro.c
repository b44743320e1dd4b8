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

/* Rows may lie far away: at the beginning of each line that some lines on is fetched,
** whether the row goes on there or not. */
enum { MT_LINE = 64, MT_AHEAD = 4 * MT_LINE };
#define MT_NOT_AHEAD(type, k, n)
#define MT_ROWS_AHEAD(type, k, n)                                                        \
  if ((k) % (int64_t)(MT_LINE / sizeof(type)) == 0)                                      \
    MT_UNROLL for (int j = 0; j < n; j++)                                                \
        __builtin_prefetch((const void *)((uintptr_t)&MT_IN_ROWS(k, j, n) + MT_AHEAD));

/* Arrays of vectors with constant bounds: once unrolled, they are registers. */
#define MT_LOOP(name, type, bytes, vectors, n, AT, AHEAD)                                \
  {                                                                                      \
    const name##_v *a = pa;                                                              \
    const type *b = pb;                                                                  \
    name##_v *t = to, sum[n][vectors];                                                   \
    MT_UNROLL for (int j = 0; j < n; j++) MT_UNROLL for (int i = 0; i < vectors; i++)    \
        sum[j][i] = (name##_v){0};                                                       \
    for (int64_t k = 0; k < steps; k++, a += vectors) {                                  \
      AHEAD(type, k, n)                                                                  \
      MT_UNROLL for (int j = 0; j < n; j++) MT_UNROLL for (int i = 0; i < vectors; i++)  \
          sum[j][i] += a[i] * AT(k, j, n);                                               \
    }                                                                                    \
    MT_UNROLL for (int j = 0; j < n; j++)                                                \
        MT_UNROLL for (int i = 0; i < vectors; i++, t++) *t =                            \
            fresh ? sum[j][i] : *t + sum[j][i];                                          \
  }
#define MT_VECTOR(name, type, bytes)                                                     \
  typedef type name##_v __attribute__((vector_size(bytes)));

#else

#define MT_LOOP(name, type, bytes, vectors, n, AT, AHEAD)                                \
  {                                                                                      \
    enum { MT_ROWS = vectors * bytes / sizeof(type) };                                   \
    const type *a = pa, *b = pb;                                                         \
    type *t = to, sum[n][MT_ROWS] = {{0}};                                               \
    for (int64_t k = 0; k < steps; k++, a += MT_ROWS)                                    \
      for (int j = 0; j < n; j++)                                                        \
        for (int i = 0; i < MT_ROWS; i++) sum[j][i] += a[i] * AT(k, j, n);               \
    for (int j = 0; j < n; j++)                                                          \
      for (int i = 0; i < MT_ROWS; i++, t++) *t = fresh ? sum[j][i] : *t + sum[j][i];    \
  }
#define MT_VECTOR(name, type, bytes)

#endif

#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth)                      \
  MT_VECTOR(name, type, bytes)                                                           \
  MT_FOR_##target static void name(int64_t steps, const void *pa, const void *pb,        \
                                   void *to, bool fresh)                                 \
      MT_LOOP(name, type, bytes, vectors, n, MT_IN_PANEL, MT_NOT_AHEAD)                  \
          MT_FOR_##target static void name##_rows(int64_t steps, const void *pa,         \
                                                  const void *pb, int64_t pitch,         \
                                                  void *to, bool fresh)                  \
              MT_LOOP(name, type, bytes, vectors, n, MT_IN_ROWS, MT_ROWS_AHEAD)
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
  const mt_micro *next = u + 1;
  if (u < micros || next >= micros + MICROS) return NULL;
  return next->acc == u->acc && next->vectors == 1 ? next : NULL;
}
