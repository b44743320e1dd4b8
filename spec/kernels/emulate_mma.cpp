/*
** emulate_mma.cpp - the kernels of mma.cuh on the host: each thread a coroutine.
** SPDX-License-Identifier: MIT
**
** Threads meet at barriers and at instructions; the last one to come does what they met
** for. The instruction itself is a function of the test: it gets the registers of all
** lanes.
*/
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fibers.h"
#include "products.h"

#define __device__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __syncthreads() meet(0, blockDim.x, NULL)
#define MT_INSTRUCTION(name, text, out, in) execute(lanes, #name, c, a, b)
#define MT_BARRIER(text, id) meet(id, 128, NULL)
#define MT_ORDER(text) (void)0

struct index3 { unsigned x; };
static index3 threadIdx, blockIdx, blockDim, gridDim;

static emulated_instruction *instruction;

/* ------------------------------------------------------------------ meeting */

enum { MOST = 1024, PLACES = 64 };

static fibers<MOST, PLACES> block(&threadIdx.x);   /* 0: it; from 1: barriers; from 16: lanes */
static emulated_lanes lanes[PLACES];
static const char *origin;         /* of addresses in shared memory */

/* Returns when `count` threads are at the place; the last one runs the instruction. */
static void meet (unsigned where, unsigned count, const char *name) {
  if (!block.meet(where, count)) return;
  if (name != NULL) instruction(name, &lanes[where], origin);
  block.go_on(where);
}

/* Addresses of shared memory count from an origin near the first one asked for. */
static uint64_t __cvta_generic_to_shared (const void *p) {
  const char *at = (const char *)p;
  if (origin == NULL || at < origin || at - origin >= 256 << 10) origin = at - (64 << 10);
  return (uint64_t)(at - origin);
}

static inline uint32_t __umulhi (uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}

static emulated_lanes &lanes_of (unsigned count, const void *a, void *c,
                                 unsigned *where) {
  *where = count == 1 ? 15 : 16 + threadIdx.x / count;
  emulated_lanes &l = lanes[*where];
  l.count = count;
  l.a[threadIdx.x % count] = a, l.c[threadIdx.x % count] = c;
  return l;
}

/* ------------------------------------------------------------------ instructions */

/* Of a thread or a warp: B in registers. */
template <typename T>
static void execute (unsigned count, const char *name, void *c, const void *a,
                     const T *b) {
  unsigned where;
  lanes_of(count, a, c, &where).b[threadIdx.x % count] = b;
  meet(where, count, name);
}

/* Of a warpgroup: B in shared memory. */
static void execute (unsigned count, const char *name, void *c, const void *a,
                     uint64_t b) {
  unsigned where;
  lanes_of(count, a, c, &where).b_matrix = b;
  meet(where, count, name);
}

#include "kernels/gemm/mma.cuh"

/* ------------------------------------------------------------------ blocks */

namespace {
typedef void kernel (const mt_gemm_launch &p);
kernel *running;
const mt_gemm_launch *parameter;

void start () {
  running(*parameter);
  block.end();
}
unsigned next (unsigned last) { return last + 1; }

#define MT_MMA_KERNEL(name, arch, atom) {"mt_" #name, mt::product<mt::name>},
const struct { const char *name; kernel *function; } kernels[] = {
#include "kernels/gemm/mma.def"
};
}

void emulate_product (const char *name, unsigned blocks, const mt_gemm_launch *l,
                      emulated_instruction *how) {
  instruction = how, parameter = l, running = NULL;
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
    if (strcmp(kernels[i].name + 3, name) == 0) running = kernels[i].function;
  if (running == NULL) abort();
  gridDim.x = blocks, blockDim.x = l->desc.threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
    if (!block.run(blockDim.x, start, next)) abort();
}

double emulate_read (uint32_t dtype, const char *base, int64_t i) {
  return mt::read_real(dtype, base, i);
}

void emulate_write (uint32_t dtype, char *base, int64_t i, double v) {
  mt::write_real(dtype, base, i, v);
}
