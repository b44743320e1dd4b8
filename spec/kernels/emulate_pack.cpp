/*
** emulate_pack.cpp - the kernels of pack.def on the host: what they read and write is seen.
** SPDX-License-Identifier: MIT
*/
#include <stdint.h>
#include <string.h>

#include "pack_test.h"

#define MT_EMULATED
#define __device__
#define __forceinline__ inline

static struct { unsigned x; } threadIdx, blockIdx;

static inline uint32_t __umulhi (uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}
static inline uint32_t __funnelshift_r (uint32_t low, uint32_t high, uint32_t bits) {
  return (uint32_t)(((uint64_t)high << 32 | low) >> (bits & 31));
}

static const mt_pack_launch *launch;
static bool waits, good;

namespace mt {

static inline void grid_let_next () {}
static inline void grid_wait () { waits = true; }

template <typename T> static T read_global (const void *p) {
  T x = {};
  const char *at = (const char *)p;
  bool inside = false;
  for (const mt_pack_operand &o : launch->operand)
    inside |= o.all && at >= o.low && at + sizeof x <= o.high;
  good &= inside && waits && (uintptr_t)p % sizeof x == 0;
  if (inside) memcpy(&x, p, sizeof x);
  return x;
}
template <typename T> static void write_global (void *p, const T &x) {
  good &= waits && emulate_pack_write(p, sizeof x);
  memcpy(p, &x, sizeof x);
}

} // namespace mt

#include "kernels/gemm/pack.cuh"

typedef void kernel (const mt_pack_launch &p);
#define MT_PACK_KERNEL(name, unroll) mt::run_pack<unroll>,
static kernel *const kernels[] = {
#include "kernels/gemm/pack.def"
};

bool emulate_pack (size_t row, const mt_pack_launch *l) {
  const unsigned blocks = l->operand[0].blocks + l->operand[1].blocks;
  launch = l;
  good = true;
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
    for (threadIdx.x = 0; threadIdx.x < MT_PACK_THREADS; threadIdx.x++) {
      waits = false;
      kernels[row](*l);
    }
  return good;
}
