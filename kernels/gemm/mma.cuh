/*
** mma.cuh - products as their descriptors say, over one instruction.
** SPDX-License-Identifier: MIT
**
** The reference on the GPU: any tiled MMA goes, element by element. A template fixes the
** instruction; what is big and does not depend on it is a function of its own, shared by
** all kernels. The parameter lies in shared memory, where all of them read it.
**
** The atom of a warpgroup is n/8 instructions of 8 columns side by side, N_AT_ONCE of
** them at a time, so that their sums stay in registers. What they multiply is brought to
** shared memory K-major, of whatever major the tensors are: that order is the kernel's
** own affair.
*/
#ifndef MMA_CUH
#define MMA_CUH

#include "desc/epilogue_desc.h"
#include "kernels/base.cuh"
#include "kernels/gemm/ptx.cuh"

namespace mt {

enum { MOST_THREADS = 1024, WARPGROUP = 128 };

/* ------------------------------------------------------------------ coordinates */

/* Ordinates 0 and 1 of an element: with a partition they are below 2^31. */
struct spot {
  uint32_t x, y;
  MT_INLINE void step (const mt_step &a, uint32_t digit) {
    x += digit * a.step[0];
    y += digit * a.step[1];
  }
  MT_INLINE spot beside (uint32_t by) const { return {x, y + by}; }
};

/* Index n < 2^31 of these axes; the last one takes what the others leave. */
template <typename T>
MT_INLINE void walk (T &t, const mt_step *a, uint32_t count, uint32_t n) {
#pragma unroll 1
  for (; count > 1; count--, a++) {
    uint32_t q = a->extent == 1 ? n : __umulhi(n, a->mul) >> a->shift;
    t.step(*a, n - q * a->extent);
    n = q;
  }
  if (count == 1) t.step(*a, n);
}

MT_INLINE int64_t divide (int64_t n, const mt_digit &g) {
  if (g.extent == 1) return n;
  if (g.mul == 0) return (int64_t)divide_far((uint64_t)n, (uint64_t)g.extent);
  return __umulhi((uint32_t)n, g.mul) >> g.shift;
}

/* The offset of ordinate n in a mode with these digits. */
MT_INLINE int64_t offset_of (const mt_digit *g, uint32_t count, int64_t n) {
  int64_t offset = 0;
#pragma unroll 1
  for (; count > 1; count--, g++) {
    int64_t q = divide(n, *g);
    offset += (n - q * g->extent) * g->stride;
    n = q;
  }
  return count == 1 ? offset + n * g->stride : offset;
}

/* Where an element is, counted in elements; offset: of its batch. T: an operand, or what
** an epilogue reads. */
template <typename T>
MT_INLINE int64_t place_of (const T &t, int64_t offset, const spot &s) {
  int64_t o = offset + offset_of(t.digit, t.ndigit[0], s.x) +
              offset_of(t.digit + t.ndigit[0], t.ndigit[1], s.y);
  int64_t moved = o & (int64_t)t.swizzle;
  return o ^ (t.shift < 0 ? moved << -t.shift : moved >> t.shift);
}

template <typename T> MT_INLINE int64_t batch_of (const T &t, int64_t l) {
  return offset_of(t.digit + t.ndigit[0] + t.ndigit[1], t.ndigit[2], l);
}

/* Whether an element of the operand is real. */
MT_INLINE bool is_real (const mt_gemm_desc &d, int operand, const spot &s) {
  return s.x < d.part[operand].real[0] && s.y < d.part[operand].real[1];
}

MT_INLINE void walk_thread (spot &s, const mt_part &t, uint32_t thread) {
  walk(s, t.axis, t.nthr, thread);
}

MT_INLINE void walk_value (spot &s, const mt_part &t, uint32_t value) {
  walk(s, t.axis + t.nthr, t.nval, value);
}

/* Ordinates of atom position i of a mode in its tile. */
MT_INLINE uint32_t inner_of (const mt_gemm_desc &d, int mode, uint32_t i) {
  const mt_step *a = d.inner_axis;
  spot s = {};
#pragma unroll 1
  for (int m = 0; m < mode; m++) a += d.ninner[m];
  walk(s, a, d.ninner[mode], i);
  return s.x;
}

/* ------------------------------------------------------------------ units of work */

MT_INLINE int64_t units_of (const mt_gemm_desc &d) {
  return (int64_t)d.inner[MT_M] * d.tiles[MT_M] * d.inner[MT_N] * d.tiles[MT_N] *
         d.size[MT_L];
}

/* Takes the digit of this extent off n. */
MT_INLINE int64_t take (int64_t *n, int64_t extent) {
  int64_t q = (int64_t)divide_far((uint64_t)*n, (uint64_t)extent);
  int64_t digit = *n - q * extent;
  *n = q;
  return digit;
}

/* What is the same for all threads: ordinates of M and N, the batch. */
struct unit {
  uint32_t m, n;
  int64_t l;
  MT_INLINE unit (const mt_gemm_desc &d, int64_t i) {
    m = inner_of(d, MT_M, (uint32_t)take(&i, d.inner[MT_M]));
    m += (uint32_t)take(&i, d.tiles[MT_M]) * d.tile[MT_M];
    n = inner_of(d, MT_N, (uint32_t)take(&i, d.inner[MT_N]));
    n += (uint32_t)take(&i, d.tiles[MT_N]) * d.tile[MT_N];
    l = i;
  }
};

/* Threads that share an element of C: the number of one among them, the first of them. */
struct sharers {
  uint32_t number, first;
  MT_INLINE void step (const mt_step &a, uint32_t digit) {
    number += digit * a.step[0];
    first -= digit * a.step[1];
  }
};

/* ------------------------------------------------------------------ read by all */

/* The parameter, its offsets those of the batch that a unit is in; and in C the unit. */
MT_SHARED mt_gemm_launch here;
MT_SHARED spot here_c;

MT_INLINE void bring_parameter (const mt_gemm_launch &p) {
  const uint32_t *from = (const uint32_t *)&p;
  for (uint32_t i = threadIdx.x; i < sizeof p / sizeof *from; i += blockDim.x)
    ((uint32_t *)&here)[i] = from[i];
  __syncthreads();
}

/* Where C goes on, in this batch. A block may have fewer threads than a product has
** operands. */
MT_INLINE void set_place (const mt_gemm_launch &p, spot c, int64_t l) {
  __syncthreads();
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < MT_PARTS; i += blockDim.x)
    here.offset[i] = p.offset[i] + batch_of(here.desc.part[i], l);
#pragma unroll 1
  for (uint32_t i = threadIdx.x; here.finishes && i < MT_BESIDES; i += blockDim.x)
    here.beside_offset[i] = p.beside_offset[i] + batch_of(here.beside[i], l);
  if (threadIdx.x == 0) here_c = c;
  __syncthreads();
}

MT_INLINE void set_unit (const mt_gemm_launch &p, int64_t i) {
  const unit u(here.desc, i);
  set_place(p, {u.m, u.n}, u.l);
}

/* A or B of this thread at the unit. */
MT_INLINE spot thread_of (int operand) {
  spot s = {operand == MT_A ? here_c.x : here_c.y, 0};
  walk_thread(s, here.desc.part[operand], threadIdx.x);
  return s;
}

/* ------------------------------------------------------------------ A and B */

template <int BYTES> struct bits_of_size;
template <> struct bits_of_size<1> { typedef uint8_t type; };
template <> struct bits_of_size<2> { typedef uint16_t type; };
template <> struct bits_of_size<4> { typedef uint32_t type; };
template <> struct bits_of_size<8> { typedef uint64_t type; };

/* The bits of a value of A or B; 0 if it is not real. */
template <int BYTES>
MT_INLINE typename bits_of_size<BYTES>::type get (int operand, spot s, uint32_t value) {
  const mt_part &t = here.desc.part[operand];
  walk_value(s, t, value);
  if (!is_real(here.desc, operand, s)) return 0;
  const int64_t place = place_of(t, here.offset[operand], s);
  return ((const typename bits_of_size<BYTES>::type *)here.base[operand])[place];
}

/* Where values come from: their tensors. */
struct from_tensors {
  template <int BYTES>
  MT_INLINE typename bits_of_size<BYTES>::type read (int operand, spot s,
                                                     uint32_t value) const {
    return get<BYTES>(operand, s, value);
  }
};

/* A register of them: from this value on, the first in the low bits. */
template <typename WORD, int BYTES, int BITS, typename FROM>
MT_SHARED_FUNCTION WORD fetch (FROM from, int operand, spot s, uint32_t value) {
  enum { EACH = 8 * sizeof(WORD) / BITS };
  const WORD mask = (WORD)-1 >> (8 * sizeof(WORD) - BITS);
  WORD word = 0;
#pragma unroll 1
  for (int i = 0; i < EACH; i++)
    word |= ((WORD)from.template read<BYTES>(operand, s, value + i) & mask) << (i * BITS);
  return word;
}

/* ------------------------------------------------------------------ C */

/* What the epilogue reads beside C; 0: nothing. */
MT_INLINE double beside (int which, const spot &s) {
  const mt_beside &t = here.beside[which];
  const char *base = (const char *)here.beside_base[which];
  if (base == nullptr) return 0;
  return read_real(t.dtype, base, place_of(t, here.beside_offset[which], s));
}

MT_SHARED_FUNCTION double finish (double x, spot s) {
  return mt_finish_sum(here.activation, here.desc.part[MT_C].dtype == MT_f64, x,
                       beside(MT_BIAS, s), beside(MT_RESIDUAL, s));
}

/* C = alpha x + beta C, and what the epilogue makes of it, rounded once to its type. */
MT_INLINE void write_number (int64_t place, spot s, double x) {
  const uint32_t dtype = here.desc.part[MT_C].dtype;
  char *base = (char *)here.base[MT_C];
  if (here.beta == 0) x *= here.alpha;
  else x = fma(here.alpha, x, here.beta * read_real(dtype, base, place));
  if (here.finishes) x = finish(x, s);
  write_real(dtype, base, place, x);
}

/* The same of integers, alpha and beta too: saturated; or to a float. */
MT_INLINE void write_number (int64_t place, spot s, int64_t x) {
  if (here.desc.part[MT_C].dtype != MT_i32) return write_number(place, s, (double)x);
  int32_t *c = (int32_t *)here.base[MT_C] + place;
  *c = mt_cast_scaled(here.alpha, (int32_t)x, here.beta, here.beta != 0 ? *c : 0);
}

/* One value of C at the unit: what those have who share it is added in their order, by
** the first; all threads of the block are here. */
template <typename ACC>
MT_SHARED_FUNCTION void put (uint32_t value, typename ACC::number x) {
  const mt_gemm_desc &d = here.desc;
  if (d.kthreads > 1) {
    sharers share = {0, threadIdx.x};
    MT_SHARED typename ACC::number of_thread[MOST_THREADS];
    walk(share, d.kaxis, d.nkthr, threadIdx.x);
    of_thread[threadIdx.x] = x;
    __syncthreads();
#pragma unroll 1
    for (uint32_t j = 1; share.number == 0 && j < d.kthreads; j++) {
      sharers other = {0, 0};
      walk(other, d.kaxis + d.nkthr, d.nkadd, j);
      x = ACC::sum(x, of_thread[share.first + other.number]);
    }
    __syncthreads();
    if (share.number != 0) return;
  }
  spot s = here_c;
  walk_thread(s, d.part[MT_C], threadIdx.x);
  walk_value(s, d.part[MT_C], value);
  if (is_real(d, MT_C, s))
    write_number(place_of(d.part[MT_C], here.offset[MT_C], s), s, x);
}

/* ------------------------------------------------------------------ a thread, a warp */

/* Register i of A or B at a position in K; all N of them. */
template <int OPERAND, typename OP, typename FROM>
MT_INLINE typename OP::word fetch_word (FROM from, spot s, int i) {
  typedef typename OP::word word;
  return fetch<word, OP::bytes, OP::bits>(from, OPERAND, s,
                                          i * (8 * sizeof(word) / OP::bits));
}

template <int OPERAND, typename OP, int N, typename FROM>
MT_INLINE void fetch_all (FROM from, typename OP::word *w, spot s) {
#pragma unroll
  for (int i = 0; i < N; i++) w[i] = fetch_word<OPERAND, OP>(from, s, i);
}

/* One atom position of C in every thread, over all of K. */
template <typename OP> MT_INLINE void run_unit () {
  const mt_gemm_desc &d = here.desc;
  const spot at_a = thread_of(MT_A), at_b = thread_of(MT_B);
  typename OP::acc::word c[OP::C] = {};
#pragma unroll 1
  for (uint32_t tk = 0; tk < d.size[MT_K]; tk += d.tile[MT_K])
#pragma unroll 1
    for (uint32_t ik = 0; ik < d.inner[MT_K]; ik++) {
      typename OP::word a[OP::A], b[OP::B];
      const uint32_t k = tk + inner_of(d, MT_K, ik);
      fetch_all<MT_A, OP, OP::A>(from_tensors(), a, at_a.beside(k));
      fetch_all<MT_B, OP, OP::B>(from_tensors(), b, at_b.beside(k));
      OP::run(c, a, b);
    }
#pragma unroll
  for (int v = 0; v < OP::C * OP::acc::per; v++)
    put<typename OP::acc>(v, OP::acc::get(c, v));
}

/* ------------------------------------------------------------------ a warpgroup */

/* Rows of 32 bytes of K in shared memory: core matrices of 8 rows by 16 bytes, first the
** two along K. Both offsets are what the descriptor is told. */
enum { ROW = 32, NEXT_CORE_K = 128, NEXT_CORE_ROWS = 256 };
enum { ROWS_A = 64, N_AT_ONCE = 32, SLICE = 8, SLICES = N_AT_ONCE / SLICE };

struct staged {
  alignas(128) char a[ROWS_A * ROW];
  alignas(128) char b[N_AT_ONCE * ROW];
};

MT_INLINE uint32_t core_place (uint32_t row, uint32_t byte) {
  return row / 8 * NEXT_CORE_ROWS + byte / 16 * NEXT_CORE_K + row % 8 * 16 + byte % 16;
}

/* Address, leading byte offset (of the next core matrix along K) and stride byte offset
** (along rows), in units of 16 bytes; no swizzle. */
MT_INLINE uint64_t matrix_descriptor (const char *p) {
  return (uint64_t)(__cvta_generic_to_shared(p) >> 4 & 0x3fff) |
         (uint64_t)(NEXT_CORE_K >> 4) << 16 | (uint64_t)(NEXT_CORE_ROWS >> 4) << 32;
}

/* Values of A or B to shared memory, by the 128 threads: `rows`, a power of 2, from
** `first` on, of `all`; beyond them 0. Value i is row i mod all, column i / all. */
template <int BYTES, typename FROM>
MT_INLINE void stage (FROM from, char *to, int operand, spot s, uint32_t first,
                      uint32_t rows, uint32_t all) {
  typedef typename bits_of_size<BYTES>::type bits;
#pragma unroll 1
  for (uint32_t i = threadIdx.x % WARPGROUP; i < rows * (ROW / BYTES); i += WARPGROUP) {
    uint32_t row = i % rows, k = i / rows;
    bits value = 0;
    if (first + row < all)
      value = from.template read<BYTES>(operand, s, first + row + k * all);
    *(bits *)(to + core_place(row, k * BYTES)) = value;
  }
}

/* A of a position in K: its descriptor, or its registers, by way of shared memory:
** results of functions would hold up the instructions that read them. */
template <typename OP, typename FROM>
MT_INLINE void bring_a (FROM from, typename OP::word *a, staged &m, spot s) {
  if constexpr (OP::a_shared) {
    stage<OP::bytes>(from, m.a, MT_A, s, 0, ROWS_A, ROWS_A);
    a[0] = matrix_descriptor(m.a);
  } else {
    uint32_t *mine = (uint32_t *)m.a + threadIdx.x % WARPGROUP * OP::A;
#pragma unroll 1
    for (int i = 0; i < OP::A; i++) mine[i] = fetch_word<MT_A, OP>(from, s, i);
#pragma unroll
    for (int i = 0; i < OP::A; i++) a[i] = mine[i];
  }
}

template <typename OP, typename FROM>
MT_INLINE void bring_and_run (FROM from, typename OP::acc::word c[SLICES][OP::C],
                              staged &m, spot a_spot, spot b_spot, uint32_t n) {
  typename OP::word a[OP::A];
  const uint32_t barrier = 1 + threadIdx.x / WARPGROUP;
  bring_a<OP>(from, a, m, a_spot);
  stage<OP::bytes>(from, m.b, MT_B, b_spot, n, N_AT_ONCE, here.desc.atom_shape[MT_N]);
  shared_written();
  warpgroup_barrier(barrier);
  wgmma_begin();
#pragma unroll
  for (int j = 0; j < SLICES; j++)
    OP::run(c[j], a, matrix_descriptor(m.b + j * SLICE * ROW));
  wgmma_end();
  warpgroup_barrier(barrier);
}

/* Columns [n, n + N_AT_ONCE) of an atom position, over all of K. */
template <typename OP> MT_INLINE void run_columns (staged &m, uint32_t n) {
  const mt_gemm_desc &d = here.desc;
  const spot at_a = thread_of(MT_A), at_b = thread_of(MT_B);
  typename OP::acc::word c[SLICES][OP::C] = {};
#pragma unroll 1
  for (uint32_t tk = 0; tk < d.size[MT_K]; tk += d.tile[MT_K])
#pragma unroll 1
    for (uint32_t ik = 0; ik < d.inner[MT_K]; ik++) {
      const uint32_t k = tk + inner_of(d, MT_K, ik);
      bring_and_run<OP>(from_tensors(), c, m, at_a.beside(k), at_b.beside(k), n);
    }
#pragma unroll
  for (int v = 0; v < SLICES * 4; v++)
    if (n + v / 4 * SLICE < d.atom_shape[MT_N])
      put<typename OP::acc>(n / SLICE * 4 + v, OP::acc::get(c[v / 4], v % 4));
}

template <typename OP> MT_INLINE void run_group () {
  MT_SHARED staged of_group[MOST_THREADS / WARPGROUP];
  staged &m = of_group[threadIdx.x / WARPGROUP];
#pragma unroll 1
  for (uint32_t n = 0; n < here.desc.atom_shape[MT_N]; n += N_AT_ONCE)
    run_columns<OP>(m, n);
}

/* ------------------------------------------------------------------ the kernel */

template <typename OP> MT_INLINE void product (const mt_gemm_launch &p) {
  bring_parameter(p);
  const int64_t units = units_of(here.desc);
#pragma unroll 1
  for (int64_t i = blockIdx.x; i < units; i += gridDim.x) {
    set_unit(p, i);
    if constexpr ((int)OP::lanes == WARPGROUP) run_group<OP>();
    else run_unit<OP>();
  }
}

} // namespace mt
#endif
