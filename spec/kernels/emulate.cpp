/*
** emulate.cpp - the kernels of copy.cuh as functions of the host, thread after thread.
** SPDX-License-Identifier: MIT
**
** What CUDA adds to C++ is declared here. EMULATE is the name of the table of kernels.
** Compiled twice: with a small MT_FAR, what is for huge grids runs on small ones.
*/
#include <stddef.h>
#include <stdint.h>

#define __device__
#define __forceinline__ inline __attribute__((always_inline))

struct index3 { unsigned x; };
static index3 threadIdx, blockIdx, blockDim, gridDim;
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };

static inline uint32_t __umulhi (uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}

template <typename T> static inline T __ldg (const T *p) { return *p; }

#include "copy.cuh"

namespace {
#define MT_COPY_KERNEL(name, form, bytes, threads, unroll)                               \
  void run_##name (unsigned blocks, unsigned block, const mt_launch *l) {                \
    gridDim.x = blocks, blockDim.x = block;                                              \
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)                              \
      for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++)                          \
        mt::copy<MT_FORM_##form, bytes, unroll>(*l);                                     \
  }
#include "kernels.def"
}

typedef void emulated (unsigned blocks, unsigned block, const mt_launch *l);
extern "C" {
extern emulated *const EMULATE[];
emulated *const EMULATE[] = {
#define MT_COPY_KERNEL(name, form, bytes, threads, unroll) run_##name,
#include "kernels.def"
};
}
