/*
** emulate.cpp - the kernels of copies as functions of the host.
** SPDX-License-Identifier: MIT
**
** What CUDA adds to C++ is declared here. EMULATE is the name of the table of kernels.
** Compiled twice: with a small MT_FAR, what is for huge grids runs on small ones. The
** threads of a block that meet, in a barrier or a shuffle, are contexts of their own:
** each runs to the next meeting, then the next thread does.
*/
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __shared__ static
#define MT_DYNAMIC(name, bytes) static uint4 name[(bytes) / 16]
#define MT_FETCH(to, from) fetch_later(to, from)
#define MT_FETCHED() fetches_end()
#define MT_ASK(p) asks_for((uintptr_t)(p))
#define MT_ASSERT(x) ((x) ? (void)0 : (fprintf(stderr, "not true: %s\n", #x), abort()))

struct index3 { unsigned x; };
static index3 threadIdx, blockIdx, blockDim, gridDim;
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) int4 { int x, y, z, w; };
static inline uint2 make_uint2 (unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4 (unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

/* Threads take turns only where they meet. */
static inline uint32_t atomicAdd (uint32_t *p, uint32_t v) {
  const uint32_t before = *p;
  *p = before + v;
  return before;
}

static inline uint32_t __umulhi (uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}

static inline uint32_t __funnelshift_r (uint32_t low, uint32_t high, uint32_t bits) {
  return (uint32_t)(((uint64_t)high << 32 | low) >> (bits & 31));
}
static inline uint32_t __funnelshift_l (uint32_t low, uint32_t high, uint32_t bits) {
  const uint64_t both = (uint64_t)high << 32 | low;
  return (uint32_t)(both << (bits & 31) >> 32);
}

static inline uint32_t __byte_perm (uint32_t a, uint32_t b, uint32_t s) {
  uint64_t all = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; i++) r |= (uint32_t)(all >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
  return r;
}

/* The source of the launch: what is read lies in it, where such a word may lie. */
static uintptr_t source_low, source_high;

template <typename T> static inline T __ldg (const T *p) {
  MT_ASSERT((uintptr_t)p >= source_low && (uintptr_t)(p + 1) <= source_high);
  MT_ASSERT((uintptr_t)p % sizeof (T) == 0);
  return *p;
}

/* The destination of the launch: what is asked for lies in it. */
static uintptr_t target_low, target_high;

static inline void asks_for (uintptr_t at) {
  MT_ASSERT(at >= target_low && at < target_high);
}

/* ------------------------------------------------------------------ meetings */

namespace {
enum { MOST_THREADS = 512, STACK = 64 << 10 };
ucontext_t scheduler, context;
jmp_buf back, resume[MOST_THREADS];
bool started[MOST_THREADS];
char stacks[MOST_THREADS][STACK];
bool done[MOST_THREADS];
uint32_t slot[MOST_THREADS];

/* A context is entered once by swapcontext, then by longjmp, which makes no system
** call. */
void meet () {
  unsigned me = threadIdx.x;
  if (_setjmp(resume[me]) == 0) _longjmp(back, 1);
  threadIdx.x = me;
}

uint32_t shuffle (uint32_t v, unsigned from) {
  slot[threadIdx.x] = v;
  meet();
  v = slot[from];
  meet();
  return v;
}
}

static inline void __syncthreads () { meet(); }
static inline void __syncwarp () { meet(); }

static inline uint32_t __shfl_down_sync (unsigned, uint32_t v, unsigned by, int width) {
  unsigned me = threadIdx.x, in = me % (unsigned)width;
  return shuffle(v, in + by < (unsigned)width ? me + by : me);
}

static inline uint32_t __shfl_up_sync (unsigned, uint32_t v, unsigned by, int width) {
  unsigned me = threadIdx.x, in = me % (unsigned)width;
  return shuffle(v, in >= by ? me - by : me);
}

/* Fetches of each thread: what they write is not there before it waits for them. */
namespace {
enum { MOST_FETCHES = 256 };
struct fetching {
  int n;
  uint4 *to[MOST_FETCHES], value[MOST_FETCHES];
} fetches[MOST_THREADS];
}

static inline void fetch_later (void *to, const void *from) {
  fetching *f = &fetches[threadIdx.x];
  MT_ASSERT(f->n < MOST_FETCHES);
  f->to[f->n] = (uint4 *)to;
  f->value[f->n++] = __ldg((const uint4 *)from);
  memset(to, 0xA5, sizeof (uint4));
}

static inline void fetches_end () {
  fetching *f = &fetches[threadIdx.x];
  for (int i = 0; i < f->n; i++) *f->to[i] = f->value[i];
  f->n = 0;
}

#ifndef MT_PLANTED
#include "spec/kernels/numbers.h"
#include "kernels/copy/algos.cuh"
#include "kernels/cast/cast.cuh"

/* What the instructions make of two f32: of every NaN the same; of bytes what is beyond
** the largest number becomes that. */
namespace mt {
#define MT_HALF_PAIR(name)                                                               \
  template <> struct half_pair<name##_number> {                                          \
    enum { HERE = 1 };                                                                   \
    static uint32_t half (uint32_t x) {                                                  \
      return is_nan(x) ? 0x7fff : mt_cast_narrow(x, name##_number::type());              \
    }                                                                                    \
    static uint32_t of (uint32_t a, uint32_t b) { return half(a) | half(b) << 16; }      \
  };
MT_HALF_PAIR(f16)
MT_HALF_PAIR(bf16)
#undef MT_HALF_PAIR
#define MT_BYTE_PAIR(name, largest)                                                      \
  template <> struct byte_pair<name##_number> {                                          \
    enum { HERE = 1, MOST = largest };                                                   \
    static uint32_t byte (uint32_t x) {                                                  \
      const uint32_t sign = x & 0x80000000u;                                             \
      if (is_nan(x)) return 0x7f;                                                        \
      if (mt_as_float(x ^ sign) > (float)MOST) x = sign | mt_float_as((float)MOST);      \
      return mt_cast_narrow(x, name##_number::type());                                   \
    }                                                                                    \
    static uint32_t of (uint32_t a, uint32_t b) { return byte(a) | byte(b) << 8; }       \
  };
MT_BYTE_PAIR(e4m3, 448)
MT_BYTE_PAIR(e5m2, 57344)
#undef MT_BYTE_PAIR
}
#else
#include "desc/copy_desc.h"
#include "kernels/base.cuh"
#endif

/* ------------------------------------------------------------------ blocks */

namespace {
typedef void body (const mt_launch &l);
body *now;
const mt_launch *launch;

void thread_main () {
  unsigned me = threadIdx.x;
  now(*launch);
  done[me] = true;
  _longjmp(back, 1);
}

void enter (unsigned t) {
  started[t] = true;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks[t];
  context.uc_stack.ss_size = STACK;
  context.uc_link = NULL;
  makecontext(&context, thread_main, 0);
  swapcontext(&scheduler, &context);
}

/* Thread t up to its next meeting, or its end. */
void go_on (unsigned t) {
  threadIdx.x = t;
  if (_setjmp(back) != 0) return;
  if (started[t]) _longjmp(resume[t], 1);
  enter(t);
}

/* A block whose threads meet. */
void run_together (unsigned threads) {
  unsigned left = threads;
  for (unsigned t = 0; t < threads; t++) started[t] = done[t] = false;
  while (left > 0)
    for (unsigned t = 0; t < threads; t++) {
      if (done[t]) continue;
      go_on(t);
      left -= done[t];
    }
}

void run_block (body *b, const mt_launch *l, bool together) {
  now = b, launch = l;
  source_low = (uintptr_t)l->base[MT_SRC];
  source_high = source_low + (uintptr_t)l->size[MT_SRC];
  target_low = (uintptr_t)l->base[MT_DST];
  target_high = target_low + (uintptr_t)l->size[MT_DST];
  if (together) return run_together(blockDim.x);
  for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) b(*l);
}

#define MT_RUN(name, together)                                                           \
  void run_##name (unsigned blocks, unsigned block, const mt_launch *l) {                \
    gridDim.x = blocks, blockDim.x = block;                                              \
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)                              \
      run_block(body_##name, l, together);                                               \
  }
#ifndef MT_PLANTED
/* Threads of blocks that make a table, or have words of pixels, meet too. */
#define MT_HAS_WORDS(algo, bytes) (MT_ALGO_##algo == MT_ALGO_STRIDED && (bytes) == 1)
#define MT_HAS_TABLE(algo, type)                                                         \
  (MT_ALGO_##algo == MT_ALGO_STRIDED && mt::type##_number::BYTES == 0)
#define MT_COPY_KERNEL(name, algo, bytes, threads, unroll)                               \
  void body_##name (const mt_launch &l) { mt::copy<MT_ALGO_##algo, bytes, unroll>(l); }  \
  MT_RUN(name, (MT_IS_##algo & MT_TILED) != 0 || MT_HAS_WORDS(algo, bytes))
#define MT_SWIZZLE_KERNEL(name, algo, bytes, threads, unroll)                            \
  void body_##name (const mt_launch &l) {                                                \
    mt::copy_swizzled<MT_ALGO_##algo, bytes, unroll>(l);                                 \
  }                                                                                      \
  MT_RUN(name, false)
#define MT_CAST_KERNEL(name, algo, src, dst)                                             \
  void body_##name (const mt_launch &l) {                                                \
    mt::cast<MT_ALGO_##algo, mt::src##_number, mt::dst##_number>(l);                     \
  }                                                                                      \
  MT_RUN(name, (MT_IS_##algo & MT_TILED) != 0 || MT_HAS_TABLE(algo, src))
#include "kernels/copy/copy.def"
#include "kernels/cast/cast.def"
#endif
}

typedef void emulated (unsigned blocks, unsigned block, const mt_launch *l);
struct copy_mutant {
  const char *name, *kernel;
  emulated *run;
};
#ifndef MT_PLANTED
extern "C" {
extern emulated *const EMULATE[];
emulated *const EMULATE[] = {
#define MT_COPY_KERNEL(name, algo, bytes, threads, unroll) run_##name,
#define MT_SWIZZLE_KERNEL(name, algo, bytes, threads, unroll) run_##name,
#include "kernels/copy/copy.def"
#define MT_CAST_KERNEL(name, algo, src, dst) run_##name,
#include "kernels/cast/cast.def"
};
}
#endif

#ifdef MT_CONVERSIONS
namespace {
template <class S> void converts_to (int type, uint32_t *to, const uint32_t *from) {
#define MT_DTYPE(name, kind, bytes, ...)                                                 \
  if (type == MT_##name)                                                                 \
    mt::convert_words<S, mt::name##_number,                                              \
                      16 / (S::BYTES > bytes ? S::BYTES : bytes)>(to, from);
#include "moontile/dtypes.def"
}
} // namespace

/* What an access of one type becomes in another one. */
extern "C" void emulate_conversion (int type, int into, uint32_t to[4],
                                    const uint32_t from[4]) {
#define MT_DTYPE(name, ...)                                                              \
  if (type == MT_##name) converts_to<mt::name##_number>(into, to, from);
#include "moontile/dtypes.def"
}
#endif
