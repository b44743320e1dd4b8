/*
** sm80.h - the instructions of kernels/gemm/ampere.cuh on the host, in place of those of
** warp.cuh; a block of its threads, each a fiber.
** SPDX-License-Identifier: MIT
**
** The copies of a thread come as late as they may: when it waits for their group. Until
** then their shared memory holds no number. Instructions of a warp take what their lanes
** brought, by the layouts of the manual of PTX.
*/
#ifndef SM80_H
#define SM80_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ampere_test.h"
#include "fibers.h"
#include "spec/common/splitmix64.h"

#define MT_EMULATED
#define __device__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline

struct index3 {
  unsigned x;
};
static index3 threadIdx, blockIdx;

/* ------------------------------------------------------------------ threads */

enum { MOST = 512, MOST_BLOCKS = 2, WARPS = MOST / 32 };

/* The blocks of a cluster, whose threads are numbered through; they meet all together, by
** blocks, by warps. */
static unsigned number;
static fibers<MOST, 1 + MOST_BLOCKS + WARPS> block(&number);
static unsigned threads, cluster; /* of a block; of which this is the cluster-th */
static const mt_ampere_launch *parameter;

/* The thread that goes on is this one. */
static void be_here () {
  threadIdx.x = number % threads;
  blockIdx.x = cluster * (unsigned)parameter->parts + number / threads;
}
static emulated_block *how;

/* Says what is wrong, and ends the run. */
static void need (bool fine, const char *what) {
  if (fine) return;
  snprintf(how->report, sizeof how->report, "thread %u of block %u: %s", threadIdx.x,
           blockIdx.x, what);
  block.abandon();
}

static void meet (unsigned where, unsigned count) {
  if (block.meet(where, count)) block.go_on(where);
  be_here();
}
static void meet_warp () { meet(1 + MOST_BLOCKS + number / 32, 32); }
#define __syncthreads() meet(1 + number / threads, threads)

static inline uint32_t __umulhi (uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}
static inline uint32_t __funnelshift_r (uint32_t low, uint32_t high, uint32_t bits) {
  return (uint32_t)(((uint64_t)high << 32 | low) >> (bits & 31));
}

/* ------------------------------------------------------------------ shared memory */

alignas(128) static char memory[MOST_BLOCKS][128 << 10];
static size_t room; /* that the launch asked for */

static char *own_memory () { return memory[number / threads]; }
static bool is_shared (const void *p, size_t bytes) {
  const char *own = own_memory();
  return (const char *)p >= own && (const char *)p + bytes <= own + room;
}

/* ------------------------------------------------------------------ copies */

struct copy {
  char *to;
  const char *from;
  int size, bytes;
};
enum { MOST_COPIES = 256, MOST_GROUPS = 10 };
static struct {
  copy list[MOST_GROUPS][MOST_COPIES];
  int n[MOST_GROUPS], groups;
} pending[MOST]; /* groups[groups]: the open one */

static bool is_source (const char *p, size_t bytes) {
  for (int i = 0; i < 2; i++)
    if (p >= how->source[i].low && p + bytes <= how->source[i].high) return true;
  return false;
}

namespace mt {

/* Blocks run one after the other: a flag of one that comes later is never raised. */
static void flag_raise (int32_t *flag) {
  need(*flag == 0, "a flag that nobody put down");
  *flag = 1;
}
static void flag_wait (int32_t *flag) {
  need(*flag == 1, "a block waits for one behind it");
  *flag = 0;
}
template <typename T> static T read_of_block (const T *p) { return *p; }

template <typename T> static T read_global (const void *p) {
  need(is_source((const char *)p, sizeof(T)), "a read outside");
  return *(const T *)p;
}

template <int SIZE> static void copy_async (void *to, const void *from, int bytes) {
  auto &p = pending[number];
  need(is_shared(to, SIZE) && (uintptr_t)to % SIZE == 0, "a copy to a wrong place");
  need(bytes >= 0 && bytes <= SIZE, "a copy of a wrong size");
  need(bytes == 0 || (uintptr_t)from % SIZE == 0, "a copy that is not aligned");
  need(bytes == 0 || is_source((const char *)from, (size_t)bytes), "a copy from outside");
  need(p.n[p.groups] < MOST_COPIES, "too many copies");
  memset(to, 0xFF, SIZE);
  p.list[p.groups][p.n[p.groups]++] = {(char *)to, (const char *)from, SIZE, bytes};
}

static void copies_end_group () {
  auto &p = pending[number];
  need(p.groups + 1 < MOST_GROUPS, "too many groups");
  p.n[++p.groups] = 0;
}

template <int N> static void copies_wait () {
  auto &p = pending[number];
  while (p.groups > N) {
    for (int i = 0; i < p.n[0]; i++) {
      const copy &c = p.list[0][i];
      memset(c.to, 0, (size_t)c.size);
      memcpy(c.to, c.from, (size_t)c.bytes);
    }
    memmove(p.list[0], p.list[1], sizeof p.list - sizeof p.list[0]);
    memmove(p.n, p.n + 1, sizeof p.n - sizeof p.n[0]);
    p.groups--;
  }
}

/* ------------------------------------------------------------------ clusters */

static void parts_meet () { meet(0, threads * (unsigned)parameter->parts); }

struct alignas(16) quad {
  float x[4];
};

static quad quad_of_part (const float *at, int part) {
  need(is_shared(at, sizeof(quad)) && part < parameter->parts, "no place of a part");
  return *(const quad *)(memory[part] + ((const char *)at - own_memory()));
}

/* ------------------------------------------------------------------ matrices */

static const char *row_of_lane[MOST];

static void matrices (uint32_t *r, const char *row) {
  need(is_shared(row, 16) && (uintptr_t)row % 16 == 0, "a matrix at a wrong place");
  const unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
  row_of_lane[threadIdx.x] = row;
  meet_warp();
  for (unsigned i = 0; i < 4; i++)
    memcpy(&r[i], row_of_lane[first + 8 * i + lane / 4] + lane % 4 * 4, 4);
  meet_warp();
}

static void matrices_turned (uint32_t *r, const char *row) {
  need(is_shared(row, 16) && (uintptr_t)row % 16 == 0, "a matrix at a wrong place");
  const unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
  row_of_lane[threadIdx.x] = row;
  meet_warp();
  for (unsigned i = 0; i < 4; i++)
    for (unsigned h = 0; h < 2; h++)
      memcpy((char *)&r[i] + 2 * h,
             row_of_lane[first + 8 * i + lane % 4 * 2 + h] + lane / 4 * 2, 2);
  meet_warp();
}

} // namespace mt

#include "kernels/gemm/finish.cuh" /* and number.cuh: one for all mutants */

/* ------------------------------------------------------------------ products */

namespace mt {

static const void *a_of[MOST], *b_of[MOST];

static double number_f16 (uint32_t bits) { return read_float(MT_f16, bits & 0xffff); }
static double number_bf16 (uint32_t bits) { return read_float(MT_bf16, bits & 0xffff); }
static double number_i8 (uint32_t bits) { return (int8_t)bits; }
static double number_u8 (uint32_t bits) { return (uint8_t)bits; }

/* Element `at` of K of row or column g: registers of 32 bits, 32 bytes of K. Of A the
** registers are rows 0 to 7 and 8 to 15 of the first half of K, then of the other; of B
** the two halves. */
static uint32_t element (const uint32_t *(*lane)(unsigned), int size, int g, int at,
                         int rows) {
  const int byte = at * size, half = byte / 16, t = byte % 16 / 4;
  const uint32_t *r = lane((unsigned)(g % 8 * 4 + t));
  return r[rows == 16 ? half * 2 + g / 8 : half] >> byte % 4 * 8;
}

static unsigned first_lane () { return threadIdx.x / 32 * 32; }
static const uint32_t *lane_a (unsigned i) {
  return (const uint32_t *)a_of[first_lane() + i];
}
static const uint32_t *lane_b (unsigned i) {
  return (const uint32_t *)b_of[first_lane() + i];
}

template <typename SUM> static SUM rounded (double x) {
  if (sizeof(SUM) == 4 && (SUM)0.5 == 0) return (SUM)fmax(fmin(x, INT32_MAX), INT32_MIN);
  return (SUM)x;
}

template <typename SUM>
static void multiply (SUM *c, const uint32_t *a, const uint32_t *b, int size,
                      double (*of_a)(uint32_t), double (*of_b)(uint32_t)) {
  a_of[threadIdx.x] = a, b_of[threadIdx.x] = b;
  meet_warp();
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (int i = 0; i < 4; i++) {
    double sum = c[i];
    for (int k = 0; k < 32 / size; k++)
      sum += of_a(element(lane_a, size, g + i / 2 * 8, k, 16)) *
             of_b(element(lane_b, size, t * 2 + i % 2, k, 8));
    c[i] = rounded<SUM>(sum);
  }
  meet_warp();
}

#define MT_EMULATED_MMA(name, sum, size, of_a, of_b)                                     \
  static void mma_##name(sum *c, const uint32_t *a, const uint32_t *b) {                 \
    multiply(c, a, b, size, number_##of_a, number_##of_b);                               \
  }
MT_EMULATED_MMA(f16, float, 2, f16, f16)
MT_EMULATED_MMA(bf16, float, 2, bf16, bf16)
MT_EMULATED_MMA(i8_i8, int32_t, 1, i8, i8)
MT_EMULATED_MMA(i8_u8, int32_t, 1, i8, u8)
MT_EMULATED_MMA(u8_i8, int32_t, 1, u8, i8)
MT_EMULATED_MMA(u8_u8, int32_t, 1, u8, u8)

/* A: rows g and g + 8 of column t, then of column t + 4; B: rows t, t + 4 of column g. */
static void mma_f64 (double *c, const double *a, const double *b) {
  a_of[threadIdx.x] = a, b_of[threadIdx.x] = b;
  meet_warp();
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, first = first_lane();
  for (unsigned i = 0; i < 4; i++)
    for (unsigned k = 0; k < 8; k++) {
      const double *x = (const double *)a_of[first + g * 4 + k % 4];
      const double *y = (const double *)b_of[first + (t * 2 + i % 2) * 4 + k % 4];
      c[i] += x[i / 2 + k / 4 * 2] * y[k / 4];
    }
  meet_warp();
}

static uint32_t multiply_halves (uint32_t x, uint32_t y) {
  uint32_t r = 0;
  for (int i = 0; i < 32; i += 16)
    r |= write_float(MT_f16, number_f16(x >> i) * number_f16(y >> i)) << i;
  return r;
}

} // namespace mt

#include "kernels/gemm/warp.cuh"

/* ------------------------------------------------------------------ blocks, clusters */

typedef void block_kernel (const mt_ampere_launch &p, char *memory);
static block_kernel *running;

static void start () {
  be_here();
  running(*parameter, own_memory());
  need(pending[number].n[0] == 0, "copies that nobody waited for");
  block.end();
}

/* Who goes on after this thread: the next one; any; its own warp, as far as it gets. */
static unsigned after (unsigned last) {
  if (how->order == IN_TURN) return last + 1;
  return how->order == ANY_ORDER ? (unsigned)splitmix64(&how->seed) : last / 32 * 32;
}

static bool run_cluster () {
  const unsigned all = threads * (unsigned)parameter->parts;
  if (all > MOST) {
    snprintf(how->report, sizeof how->report, "%u threads, of %d", all, (int)MOST);
    return false;
  }
  for (unsigned t = 0; t < all; t++) pending[t].groups = pending[t].n[0] = 0;
  for (int i = 0; i < parameter->parts; i++) memset(memory[i], 0xFF, room);
  if (block.run(all, start, after)) return true;
  if (how->report[0] == '\0') snprintf(how->report, sizeof how->report, "all wait");
  return false;
}

static bool run_blocks (block_kernel *k, const mt_ampere_launch *l, emulated_block *b) {
  running = k, parameter = l, how = b;
  threads = b->threads, room = b->shared;
  b->report[0] = '\0';
  const unsigned clusters = mt_ampere_blocks_of(l) / (unsigned)l->parts;
  for (cluster = 0; cluster < clusters; cluster++) {
    if (!run_cluster()) return false;
  }
  return true;
}

#endif
