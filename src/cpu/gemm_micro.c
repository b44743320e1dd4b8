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

#if defined(__GNUC__)

/* Arrays of vectors with constant bounds: once unrolled, they are registers. */
#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth)                      \
  typedef type name##_v __attribute__((vector_size(bytes)));                             \
  MT_FOR_##target static void name(int64_t steps, const void *pa, const void *pb,        \
                                   void *to, bool fresh) {                               \
    const name##_v *a = pa;                                                              \
    const type *b = pb;                                                                  \
    name##_v *t = to, sum[n][vectors];                                                   \
    MT_UNROLL for (int j = 0; j < n; j++) MT_UNROLL for (int i = 0; i < vectors; i++)    \
        sum[j][i] = (name##_v){0};                                                       \
    for (; steps > 0; steps--, a += vectors, b += n)                                     \
      MT_UNROLL for (int j = 0; j < n; j++) MT_UNROLL for (int i = 0; i < vectors; i++)  \
          sum[j][i] += a[i] * b[j];                                                      \
    MT_UNROLL for (int j = 0; j < n; j++)                                                \
        MT_UNROLL for (int i = 0; i < vectors; i++, t++) *t =                            \
            fresh ? sum[j][i] : *t + sum[j][i];                                          \
  }

#else

#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth)                      \
  static void name(int64_t steps, const void *pa, const void *pb, void *to,              \
                   bool fresh) {                                                         \
    enum { MT_ROWS = vectors * bytes / sizeof(type) };                                   \
    const type *a = pa, *b = pb;                                                         \
    type *t = to, sum[n][MT_ROWS] = {{0}};                                               \
    for (; steps > 0; steps--, a += MT_ROWS, b += n)                                     \
      for (int j = 0; j < n; j++)                                                        \
        for (int i = 0; i < MT_ROWS; i++) sum[j][i] += a[i] * b[j];                      \
    for (int j = 0; j < n; j++)                                                          \
      for (int i = 0; i < MT_ROWS; i++, t++) *t = fresh ? sum[j][i] : *t + sum[j][i];    \
  }

#endif

#include "cpu/gemm_micro.def"
#undef MT_MICRO

/* ---------------------------------------------------------------- choosing */

const mt_micro *mt_micro_choose (mt_acc acc) {
#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth)                      \
  {#name, MT_ACC_##acc, (int)sizeof(type), vectors * bytes / (int)sizeof(type), n,       \
   depth, name,         (int)sizeof(type)},
  static const mt_micro rows[] = {
#include "cpu/gemm_micro.def"
  };
#undef MT_MICRO
#define MT_MICRO(name, acc, type, target, bytes, vectors, n, depth) MT_HAS_##target,
  const bool has[] = {
#include "cpu/gemm_micro.def"
  };
#undef MT_MICRO
  size_t i = 0;
  while (rows[i].acc != acc || !has[i]) i++;
  return &rows[i];
}
