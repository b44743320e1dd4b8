/*
** prototypes.c - where the toolkit is, mt_cuda.def agrees with its cuda.h: prototypes and
** numbers of errors. Nothing is run: it compiles.
** SPDX-License-Identifier: MIT
*/
#if __has_include(<cuda.h>)
#include <cuda.h>

#define MT_CUDA_CALL(name, suffix, args)                                                 \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&name##suffix),                 \
                                              CUresult(*) args),                         \
                 #name);
#include "cuda/driver.def"

#define MT_CUDA_ERROR(name, number, status, advice)                                      \
  _Static_assert(CUDA_ERROR_##name == number, #name);
#include "cuda/driver.def"
#endif

typedef int spec_prototypes;
