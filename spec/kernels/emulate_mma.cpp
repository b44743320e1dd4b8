/*
** emulate_mma.cpp - the kernels of mma.cuh and pipeline.cuh on the host: each thread a
** coroutine.
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

#define MT_EMULATED
#define __device__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
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

/* ------------------------------------------------------------------ cp.async */

/* What a thread has begun, in order, and in which group: it lands when it is waited for. */
namespace {
struct copy {
  char *to;
  const char *from;
  int size;
  unsigned group;
};
struct begun {
  copy *list;
  size_t n, landed, room;
  unsigned group; /* that is open */
};
}
static begun pending[MOST];

template <int SIZE> static void copy_async (void *to, const void *from, int bytes) {
  begun &b = pending[threadIdx.x];
  if (bytes != SIZE || (uintptr_t)to % SIZE || (uintptr_t)from % SIZE) abort();
  memset(to, 0xff, SIZE);
  if (b.n == b.room) {
    b.room = 2 * b.room + 64;
    b.list = (copy *)realloc(b.list, b.room * sizeof *b.list);
    if (b.list == NULL) abort();
  }
  b.list[b.n++] = {(char *)to, (const char *)from, SIZE, b.group};
}

static void copies_end_group () { pending[threadIdx.x].group++; }

/* All groups but the last N that have ended. */
template <int N> static void copies_wait () {
  begun &b = pending[threadIdx.x];
  for (; b.landed < b.n && b.list[b.landed].group + N < b.group; b.landed++)
    memcpy(b.list[b.landed].to, b.list[b.landed].from, (size_t)b.list[b.landed].size);
}

/* Nobody here does it. */
static uint32_t multiply_halves (uint32_t, uint32_t) { abort(); }

#include "kernels/gemm/mma.cuh"
#ifdef MT_PLANTED
#define MT_MUTANT_BEGIN(name)                                                            \
  namespace mutant_##name {                                                              \
    using namespace mt;                                                                  \
  }
#define MT_MUTANT_END(name, kernel)
#include "desc/pipeline_desc.h"
#include "kernels/gemm/warp.cuh"
#include "mutants.inc"
#else
#include "kernels/gemm/pipeline.cuh"

/* The kernel of a host's own: its instruction is plain C. */
#define __global__
#define __grid_constant__
#define __launch_bounds__(threads)
static float __uint_as_float (uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
#include "examples/own_kernel.cu"
#endif

/* ------------------------------------------------------------------ blocks */

namespace {
typedef void kernel (const mt_gemm_launch &p);
kernel *running;
const mt_gemm_launch *parameter;

void start () {
  running(*parameter);
  block.end();
}

/* A described kernel, with shared memory of its size, which nobody has filled. */
typedef void pipeline_kernel (const mt_pipeline_launch &p, char *memory);
pipeline_kernel *running_pipeline;
const mt_pipeline_launch *pipeline_parameter;
char *dynamic;

void start_pipeline () {
  running_pipeline(*pipeline_parameter, dynamic);
  block.end();
}
unsigned next (unsigned last) { return last + 1; }
/* A warp runs as far ahead as it can. */
unsigned same_warp (unsigned last) { return last / 32 * 32; }

#define MT_MMA_KERNEL(name, arch, atom) {"mt_" #name, mt::product<mt::name>},
const struct { const char *name; kernel *function; } kernels[] = {
#ifndef MT_PLANTED
  {"mt_my_product", [](const mt_gemm_launch &p) { my_product(p); }},
#endif
#include "kernels/gemm/mma.def"
};
}

#ifdef MT_PLANTED
#define MT_MUTANT(name, kernel, told)                                                    \
  {"mt_" #name, #kernel, mutant_##name::pipeline<mt::kernel>},
#define MT_ALL_PIPELINES MT_MUTANTS
#else
#define MT_MMA_KERNEL(name, arch, atom) {"mt_" #name, #name, mt::pipeline<mt::name>},
#define MT_ALL_PIPELINES
#endif
static const struct { const char *name, *kernel; pipeline_kernel *function; } pipelines[] = {
  MT_ALL_PIPELINES
#ifndef MT_PLANTED
#include "kernels/gemm/mma.def"
#endif
};
const char *emulated_mutant;

bool emulated_pipeline_mutant (int i, const char **name, const char **kernel) {
  if (i < 0 || (size_t)i >= sizeof pipelines / sizeof pipelines[0]) return false;
  *name = pipelines[i].name + 3, *kernel = pipelines[i].kernel;
  return true;
}

void emulate_pipeline (const char *name, unsigned blocks, const mt_pipeline_launch *l,
                       emulated_instruction *how) {
  enum { AROUND = 1024 };
  const size_t bytes = l->pipe.shared;
  char *memory = (char *)aligned_alloc(AROUND, (bytes / AROUND + 3) * AROUND);
  if (emulated_mutant) name = emulated_mutant;
  instruction = how, pipeline_parameter = l, running_pipeline = NULL;
  for (size_t i = 0; i < sizeof pipelines / sizeof pipelines[0]; i++)
    if (strcmp(pipelines[i].name + 3, name) == 0) running_pipeline = pipelines[i].function;
  if (running_pipeline == NULL || memory == NULL) abort();
  dynamic = memory + AROUND;
  origin = NULL; /* that of other memory: descriptors would begin at two */
  gridDim.x = blocks, blockDim.x = l->gemm.desc.threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    for (begun &b : pending) b.n = b.landed = b.group = 0;
    memset(memory, 0xff, (bytes / AROUND + 3) * AROUND);
    if (!block.run(blockDim.x, start_pipeline, same_warp)) abort();
    for (size_t i = 0; i < AROUND; i++)
      if (memory[i] != -1 || dynamic[bytes + i] != -1) abort(); /* it wrote outside */
  }
  free(memory);
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
