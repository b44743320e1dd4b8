/*
** copy_isas.h - private: loops made for several instruction sets; the first that the
** processor has is taken.
** SPDX-License-Identifier: MIT
**
** MT_CAST_ISAS(X, ...) is X(isa, ...) for each of them, the best one first. A function
** with MT_CAST_FOR_isa is made for it; MT_CAST_HAS_isa is whether it is there.
*/
#ifndef MT_CPU_COPY_ISAS_H
#define MT_CPU_COPY_ISAS_H

#if defined(__x86_64__) && defined(__GNUC__)
#define MT_CAST_ISAS(X, ...)                                                             \
  X(avx512, __VA_ARGS__) X(avx2, __VA_ARGS__) X(plain, __VA_ARGS__)
#define MT_CAST_FOR_avx512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define MT_CAST_HAS_avx512                                                               \
  (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&            \
   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#define MT_CAST_FOR_avx2 __attribute__((target("avx2")))
#define MT_CAST_HAS_avx2 __builtin_cpu_supports("avx2")
#else
#define MT_CAST_ISAS(X, ...) X(plain, __VA_ARGS__)
#endif
#define MT_CAST_FOR_plain
#define MT_CAST_HAS_plain true

#endif
