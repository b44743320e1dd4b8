/*
** feed.cuh - how operands come from global to shared memory, stage by stage.
** SPDX-License-Identifier: MIT
**
** A feed is one operand of one tile: ROWS of M or N by K elements a stage. It knows where
** this thread's part of the next stage is. What is outside of the operand is 0 in shared
** memory, and is not read.
**
** How a stage lies in shared memory:
**   line_rows      ROWS rows of LINE bytes of K; chunks of 16 bytes trade places in a row
**                  so that 8 rows of one chunk, 2 rows of 4 chunks, or 8 chunks of one
**                  row are in all banks
**   element_rows   the same, of 8 bytes: 4 rows of 2 chunks are in all banks
**   line_columns   K rows of ROWS elements of 16 bits; chunks trade places alike
**   padded_columns K rows of ROWS elements of 4 or 8 bytes, and a pad
*/
#ifndef FEED_CUH
#define FEED_CUH

#include "kernels/gemm/warp.cuh"
#include "kernels/gemm/window.cuh"
#include "gemm/ampere_desc.h"

namespace mt {

typedef mt_ampere_operand operand;

/* Bytes of a chunk that are real, of those that are left. */
MT_INLINE int real_bytes (int left) { return left < 0 ? 0 : left > 16 ? 16 : left; }

/* ------------------------------------------------------------------ places */

/* Chunk c of row r, in rows of LINE bytes. */
template <int LINE> MT_INLINE int row_place (int r, int c) {
  const int turn = LINE == 64 ? r / 2 % 4 : r % 2 * 4 + r / 2 % 4;
  return r * LINE + ((c ^ turn) << 4);
}

/* Chunk c of row r of doubles: 4 rows of 2 chunks are in all banks. */
template <int LINE> MT_INLINE int double_place (int r, int c) {
  return r * LINE + ((c ^ r % 4 * 2) << 4);
}

/* Chunk c of 8 elements of row k. */
template <int ROWS> MT_INLINE int column_place (int k, int c) {
  return k * ROWS * 2 + ((c ^ k % 8) << 4);
}

/* The first `bytes` bytes at p, then 0. */
MT_INLINE vector part_of (const char *p, int bytes) {
  vector v = {};
#pragma unroll 1
  for (int i = bytes - 1; i >= 0; i--) {
    for (int j = 3; j > 0; j--) v.w[j] = v.w[j] << 8 | v.w[j - 1] >> 24;
    v.w[0] = v.w[0] << 8 | read_global<uint8_t>(p + i);
  }
  return v;
}

/* Lines of which `bytes` are real, of each NEXT-th of `rows` rows. A line that ends early
** goes byte by byte: tools that watch memory take every line for a whole one. */
template <int TIMES, int NEXT>
MT_INLINE void copy_lines (char *to, int to_step, const char *from, int64_t from_step,
                           int rows, int bytes) {
  if (bytes == 0 || bytes == 16) {
#pragma unroll
    for (int i = 0; i < TIMES; i++)
      copy_async<16>(to + i * to_step, from + i * NEXT * from_step,
                     i * NEXT < rows ? bytes : 0);
  } else {
#pragma unroll 1
    for (int i = 0; i < TIMES; i++)
      *(vector *)(to + i * to_step) =
          part_of(from + i * NEXT * from_step, i * NEXT < rows ? bytes : 0);
  }
}

/* ------------------------------------------------------------------ lines of K */

template <int ROWS, int LINE, int SIZE, int THREADS> struct line_rows {
  enum { CHUNKS = LINE / 16, TIMES = ROWS * CHUNKS / THREADS, NEXT = THREADS / CHUNKS };
  const char *at;
  int rows, left; /* rows from this thread's on; bytes from its chunk on */

  MT_INLINE line_rows (const operand &o, int row, int k, int l) {
    const int r = threadIdx.x / CHUNKS, c = threadIdx.x % CHUNKS * 16;
    rows = o.extent - row - r;
    left = k * SIZE - c;
    at = o.base + l * o.batch + (row + r) * o.along + c;
  }
  MT_INLINE void load (char *to, const operand &o) {
    const int r = threadIdx.x / CHUNKS, c = threadIdx.x % CHUNKS;
    static_assert(NEXT % 8 == 0, "all rows of a thread have one order of chunks");
    copy_lines<TIMES, NEXT>(to + row_place<LINE>(r, c), NEXT * LINE, at, o.along, rows,
                            real_bytes(left));
    at += LINE;
    left -= LINE;
  }
};

/* ------------------------------------------------------------------ lines of M or N */

template <int ROWS, int K, int THREADS> struct line_columns {
  enum { CHUNKS = ROWS / 8, TIMES = K * CHUNKS / THREADS, NEXT = THREADS / CHUNKS };
  const char *at;
  int bytes, left; /* of this thread's chunk; rows of K from its own on */

  MT_INLINE line_columns (const operand &o, int row, int k, int l) {
    const int r = threadIdx.x / CHUNKS, c = threadIdx.x % CHUNKS * 8;
    bytes = real_bytes((o.extent - row - c) * 2);
    left = k - r;
    at = o.base + l * o.batch + r * o.k + (int64_t)(row + c) * 2;
  }
  MT_INLINE void load (char *to, const operand &o) {
    const int r = threadIdx.x / CHUNKS, c = threadIdx.x % CHUNKS;
    static_assert(NEXT % 8 == 0, "all rows of a thread have one order of chunks");
    copy_lines<TIMES, NEXT>(to + column_place<ROWS>(r, c), NEXT * ROWS * 2, at, o.k, left,
                            bytes);
    at += K * o.k;
    left -= K;
  }
};

/* ------------------------------------------------------------------ 4 and 8 bytes */

/* A stage is TIMES copies of a thread, which has no branch on its way: what is outside is
** copied as 0. They may be issued one by one, part 0 first, between products; `at` goes
** along. WAY is the operand's, known to the compiler. Lines are whole. */
#define MT_PARTS_OF_A_STAGE                                                              \
  template <int WAY> MT_INLINE void all(char *to, const operand &o) {                    \
    _Pragma("unroll") for (int i = 0; i < of<WAY>::TIMES; i++) part<WAY>(i, to, o);      \
    next<WAY>(o);                                                                        \
  }

/* Whether the operand comes so: as it says, or as the kernel has it, FIXED. */
enum { NOT_FIXED = -1 };
template <int FIXED> MT_INLINE bool comes_by (const operand &o, int way) {
  return (FIXED == NOT_FIXED ? o.way : FIXED) == way;
}

/* Rows of K of 8 bytes: lines, or single elements along K. */
template <int ROWS, int LINE, int THREADS, int FIXED = NOT_FIXED> struct element_rows {
  enum { SIZE = 8, K = LINE / SIZE, CHUNKS = LINE / 16, ELEMENTS = MT_WAY_ALONG_K };
  template <int WAY> struct of {
    enum { BYTES = WAY == MT_WAY_LINES ? 16 : SIZE, ACROSS = LINE / BYTES };
    enum { NEXT = THREADS / ACROSS, TIMES = ROWS / NEXT };
    static_assert(NEXT % 4 == 0, "all rows of a thread have one order of chunks");
  };
  const char *at;
  int rows, left; /* rows from this thread's on; bytes of K from its part on */

  MT_INLINE element_rows (const operand &o, int row, int k, int l) {
    const bool lines = comes_by<FIXED>(o, MT_WAY_LINES);
    const int r = threadIdx.x / (lines ? CHUNKS : K);
    const int c = lines ? threadIdx.x % CHUNKS * 2 : threadIdx.x % K;
    rows = o.extent - row - r;
    left = (k - c) * SIZE;
    at = o.base + l * o.batch + (row + r) * o.along + c * o.k;
  }
  template <int WAY> MT_INLINE void part (int i, char *to, const operand &o) {
    enum { BYTES = of<WAY>::BYTES, ACROSS = of<WAY>::ACROSS, NEXT = of<WAY>::NEXT };
    const int r = threadIdx.x / ACROSS, byte = threadIdx.x % ACROSS * BYTES;
    to += double_place<LINE>(r, byte / 16) + byte % 16;
    copy_async<BYTES>(to + i * NEXT * LINE, at, i * NEXT < rows && left > 0 ? BYTES : 0);
    at += NEXT * o.along;
  }
  template <int WAY> MT_INLINE void next (const operand &o) {
    at += (WAY == MT_WAY_LINES ? LINE : K * o.k) - ROWS * o.along;
    left -= LINE;
  }
  MT_INLINE void skip (const operand &o, int slabs) {
    at += (int64_t)slabs * K * o.k;
    left -= slabs * LINE;
  }
  MT_PARTS_OF_A_STAGE
  MT_INLINE void load (char *to, const operand &o) {
    if (comes_by<FIXED>(o, MT_WAY_LINES)) all<MT_WAY_LINES>(to, o);
    else all<MT_WAY_ALONG_K>(to, o);
  }
};

/* Of the copies of a thread, by way: which elements they are, how far apart. */
template <int ROWS, int K, int SIZE, int THREADS, int WAY> struct column_copies;
template <int ROWS, int K, int SIZE, int THREADS>
struct column_copies<ROWS, K, SIZE, THREADS, MT_WAY_LINES> {
  enum { BYTES = 16, LINE = 16 / SIZE, ACROSS = ROWS / LINE, NEXT = THREADS / ACROSS };
  enum { TIMES = K / NEXT, DOWN = NEXT, ALONG = 0 }; /* the next is DOWN of K, or ALONG */
  static MT_INLINE int row () { return threadIdx.x % ACROSS * LINE; }
  static MT_INLINE int k () { return threadIdx.x / ACROSS; }
};
template <int ROWS, int K, int SIZE, int THREADS>
struct column_copies<ROWS, K, SIZE, THREADS, MT_WAY_ALONG_MN> {
  enum { BYTES = SIZE, NEXT = THREADS / ROWS, TIMES = K / NEXT, DOWN = NEXT, ALONG = 0 };
  static MT_INLINE int row () { return threadIdx.x % ROWS; }
  static MT_INLINE int k () { return threadIdx.x / ROWS; }
};
template <int ROWS, int K, int SIZE, int THREADS>
struct column_copies<ROWS, K, SIZE, THREADS, MT_WAY_ALONG_K> {
  enum { BYTES = SIZE, NEXT = THREADS / K, TIMES = ROWS / NEXT, DOWN = 0, ALONG = NEXT };
  static MT_INLINE int row () { return threadIdx.x / K; }
  static MT_INLINE int k () { return threadIdx.x % K; }
};

/* K rows of M or N and a pad: by any way, or, if it is known, by this one. */
template <int ROWS, int K, int SIZE, int THREADS, int FIXED = NOT_FIXED>
struct padded_columns {
  enum { PITCH = (ROWS + MT_COLUMN_PAD(SIZE)) * SIZE, ELEMENTS = MT_WAY_ALONG_MN };
  static_assert(THREADS >= ROWS, "a round is whole rows of K");
  template <int WAY> using of = column_copies<ROWS, K, SIZE, THREADS, WAY>;
  const char *at;
  int rows, left; /* elements from this thread's on: of M or N, of K */

  template <int WAY> MT_INLINE void begin (const operand &o, int row, int k, int l) {
    const int r = of<WAY>::row(), c = of<WAY>::k();
    rows = o.extent - row - r;
    left = k - c;
    at = o.base + l * o.batch + (row + r) * o.along + c * o.k;
  }
  MT_INLINE padded_columns (const operand &o, int row, int k, int l) {
    if (comes_by<FIXED>(o, MT_WAY_ALONG_K)) begin<MT_WAY_ALONG_K>(o, row, k, l);
    else if (comes_by<FIXED>(o, MT_WAY_LINES)) begin<MT_WAY_LINES>(o, row, k, l);
    else begin<MT_WAY_ALONG_MN>(o, row, k, l);
  }
  template <int WAY> MT_INLINE void part (int i, char *to, const operand &o) {
    enum { BYTES = of<WAY>::BYTES, DOWN = of<WAY>::DOWN, ALONG = of<WAY>::ALONG };
    to += of<WAY>::k() * PITCH + of<WAY>::row() * SIZE;
    copy_async<BYTES>(to + i * (DOWN * PITCH + ALONG * SIZE), at,
                      i * ALONG < rows && i * DOWN < left ? BYTES : 0);
    at += DOWN * o.k + ALONG * o.along;
  }
  template <int WAY> MT_INLINE void next (const operand &o) {
    if (WAY == MT_WAY_ALONG_K) at += K * o.k - ROWS * o.along;
    left -= K;
  }
  MT_INLINE void skip (const operand &o, int slabs) {
    at += (int64_t)slabs * K * o.k;
    left -= slabs * K;
  }
  MT_PARTS_OF_A_STAGE
  MT_INLINE void load (char *to, const operand &o) {
    if (comes_by<FIXED>(o, MT_WAY_ALONG_K)) all<MT_WAY_ALONG_K>(to, o);
    else if (comes_by<FIXED>(o, MT_WAY_LINES)) all<MT_WAY_LINES>(to, o);
    else all<MT_WAY_ALONG_MN>(to, o);
  }
};
#undef MT_PARTS_OF_A_STAGE

/* ------------------------------------------------------------------ any layout */

/* As line_rows in shared memory. Chunks pass through registers: each of the TIMES of a
** thread is fetched a slab before it is put, and put a slab before it is multiplied. */
template <int ROWS, int LINE, int SIZE, int THREADS> struct any_rows {
  enum { CHUNKS = LINE / 16, TIMES = ROWS * CHUNKS / THREADS, EACH = 16 / SIZE };
  enum { NEXT_ROW = THREADS / CHUNKS, NEXT_CHUNK = THREADS / ROWS };
  static_assert(THREADS >= ROWS, "a round is whole columns of chunks");
  uint32_t w[TIMES][8];
  const char *at;
  int rows, left; /* rows from this thread's on; bytes of K from its chunk on */
  bool inside;    /* the windows of all of them lie in the operand's memory */

  MT_INLINE int row_of (int way) const {
    return way == MT_WAY_WINDOWS ? threadIdx.x / CHUNKS : threadIdx.x % ROWS;
  }
  MT_INLINE int chunk_of (int way) const {
    return way == MT_WAY_WINDOWS ? threadIdx.x % CHUNKS : threadIdx.x / ROWS;
  }
  MT_INLINE any_rows (const operand &o, int row, int k, int l) {
    const int r = row_of(o.way), c = chunk_of(o.way);
    rows = o.extent - row - r;
    left = k * SIZE - c * 16;
    at = o.base + l * o.batch + (row + r) * o.along + c * EACH * o.k;
    const int last = rows > TIMES * NEXT_ROW ? TIMES - 1 :
                     rows > 0                ? (rows - 1) / NEXT_ROW :
                                               0;
    const char *end = at + last * NEXT_ROW * o.along;
    inside = (at < end ? at : end) - 15 >= o.low &&
             (at < end ? end : at) + left + 32 <= o.high;
  }
  /* On to the next slab; what was fetched is of the one before. */
  MT_INLINE void next (const operand &o) {
    at += LINE / SIZE * o.k;
    left -= LINE;
  }

  /* Two aligned vectors, the second where it is needed. */
  MT_INLINE void fetch_windows (int i, const operand &o) {
    const char *p = at + i * NEXT_ROW * o.along;
    const int shift = (int)((uintptr_t)p % 16), bytes = real_bytes(left);
    const bool first = i * NEXT_ROW < rows && bytes > 0, second = shift + bytes > 16;
    const vector *from = (const vector *)(p - shift);
    vector v = {}, u = {};
    if (inside) {
      if (first) v = read_global<vector>(from);
      if (first && second) u = read_global<vector>(from + 1);
    } else {
      if (first) v = window_at(p - shift, o.low, o.high);
      if (first && second) u = window_at(p - shift + 16, o.low, o.high);
    }
#pragma unroll
    for (int j = 0; j < 4; j++) w[i][j] = v.w[j], w[i][4 + j] = u.w[j];
  }
  /* The elements of a chunk, which may lie anywhere. */
  MT_INLINE void fetch_each (int i, const operand &o) {
    const char *p = at + i * NEXT_CHUNK * EACH * o.k;
    const int real = rows > 0 ? left - i * NEXT_CHUNK * 16 : 0;
#pragma unroll
    for (int j = 0; j < 4; j++) w[i][j] = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
      uint32_t x = 0;
      if (j * SIZE < real)
        x = SIZE == 1 ? read_global<uint8_t>(p + j * o.k) :
                        read_global<uint16_t>(p + j * o.k);
      w[i][j * SIZE / 4] |= x << j * SIZE % 4 * 8;
    }
  }
  MT_INLINE void fetch (int i, const operand &o) {
    if (o.way == MT_WAY_WINDOWS) fetch_windows(i, o);
    else fetch_each(i, o);
  }
  MT_INLINE void put (int i, char *to, const operand &o) {
    const int r = row_of(o.way), c = chunk_of(o.way);
    if (o.way == MT_WAY_WINDOWS) {
      const int shift = (int)((uintptr_t)(at + i * NEXT_ROW * o.along) % 16);
      const int bytes = real_bytes(left + LINE);
      vector v = shifted(w[i], shift);
      if (bytes < 16) keep_bytes(v, bytes);
      *(vector *)(to + row_place<LINE>(r + i * NEXT_ROW, c)) = v;
    } else {
      *(vector *)(to + row_place<LINE>(r, c + i * NEXT_CHUNK)) = {
          {w[i][0], w[i][1], w[i][2], w[i][3]}};
    }
  }
};

} // namespace mt
#endif
