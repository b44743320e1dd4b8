/*
** desc.h - descriptors: what the CPU executor and the CUDA kernels read.
** SPDX-License-Identifier: MIT
**
** A copy is three modes of flat axes: (thread, value, rest). A coordinate of each, digit
** by digit (the first axis runs fastest), gives the offsets of both sides and the
** ordinates of the bounds:
**   offset[o]   = sum over axes of index * stride[o]   (elements)
**   ordinate[k] = sum over axes of index * step[k]   (+ lane * lane_step[k])
** An access of `vec` elements is real where every ordinate[k] < bound[k]; one that
** straddles a bound is done by elements. A side may be swizzled (algorithms DESCRIBED and
** STRIDED): its elements are those at swizzle(offset[o]), an access stays together. The
** struct is cleared before it is filled: it compares and hashes as bytes.
*/
#ifndef MT_DESC_DESC_H
#define MT_DESC_DESC_H

#include "types/convert.h"

enum { MT_MAXAXIS = 24, MT_MAXBOUND = 4, MT_MAXBASE = 4 };
enum { MT_SRC = 0, MT_DST = 1 };

/* What an image of kernels is for: copies, products over one instruction, products by TMA
** and wgmma. */
typedef enum mt_op { MT_OP_COPY, MT_OP_GEMM, MT_OP_HOPPER, MT_NOP } mt_op;

/* Division of n < 2^31 by `extent`: q = (extent == 1) ? n : ((uint64_t)n * mul >> 32) >>
** shift. p = 31 + ceil(log2 extent), mul = ceil(2^p / extent), shift = p - 32; both are 0
** if the extent is 1. */
typedef struct mt_divisor {
  uint32_t extent, mul, shift;
} mt_divisor;

/* DESCRIBED: the described partition, literally: a block is one index of rest, its
** threads the threads. STRIDED: all axes are rest axes (threads = values = 1); an index
** of rest is one access. TRANSPOSE: the thread axes are a run of the source (its index s
** lies s accesses on), the value axes a run of the destination; tiles of both pass
** through shared memory; every run begins at a multiple of 16 bytes on its side.
** TRANSPOSE_UNALIGNED: the same, of runs that begin anywhere. INTERLEAVE: one short
** thread axis, of at most MT_INTERLEAVE_MOST accesses, and one value axis; on one side
** both are a run, the thread axis first, on the other the value axis is; runs begin at
** multiples of 16 bytes. PERMUTE: the thread axes are a box, in the order of the source,
** no value axes; on both sides the first axes of the box make rows of whole vectors of 16
** bytes, which begin at multiples of 16 bytes (mt_permute). ROWS: the thread axis is a
** run of both sides; rows begin anywhere. PERMUTE_UNALIGNED: the thread axes are a box as
** in PERMUTE; its rows begin anywhere, and it may overhang (mt_permute_unaligned). */
typedef enum mt_algorithm {
#define MT_ALGO(name, lower, threads, unroll, what) MT_ALGO_##name,
#include "desc/algos.def"
  MT_NALGO
} mt_algorithm;

/* What desc/algos.def says of each: MT_IS_name. */
enum { MT_TILED = 1, MT_CONVERTS = 2, MT_BOUNDED = 4, MT_SWIZZLED = 8 };
enum {
#define MT_ALGO(name, lower, threads, unroll, what) MT_IS_##name = what,
#include "desc/algos.def"
};

/* A tile of accesses of so many bytes: along the run of the source, of the destination;
** 16 KiB. TRANSPOSE has large ones of 32 KiB too, of MT_LARGE bytes, for runs that fill
** them, of MT_LARGE_THREADS threads where others have 256.
** TRANSPOSE_UNALIGNED holds MT_TRANSPOSE_UNALIGNED_ROWS along the destination and moves
** MT_TRANSPOSE_UNALIGNED_OWN of 8 vectors of these, from multiples of 32 bytes if these
** are 6, else of 16; it begins so much before the first row. Above 2 bytes it also holds
** a vector more along the source. */
#define MT_LARGE(bytes) ((bytes) == 2)
#define MT_LARGE_S(bytes) 128
#define MT_LARGE_D(bytes) 128
#define MT_LARGE_THREADS 512
#define MT_TRANSPOSE_S(bytes) ((bytes) <= 2 ? 128 / (bytes) : 256 / (bytes))
#define MT_TRANSPOSE_D(bytes) ((bytes) <= 2 ? 128 : 64)
#define MT_TRANSPOSE_UNALIGNED_S(bytes) ((bytes) <= 2 ? 128 / (bytes) : 240 / (bytes))
#define MT_TRANSPOSE_UNALIGNED_ROWS(bytes) ((bytes) <= 2 ? 128 : 64)
#define MT_TRANSPOSE_UNALIGNED_OWN(bytes) ((bytes) <= 2 ? 6 : 7)
#define MT_TRANSPOSE_UNALIGNED_D(bytes)                                                  \
  (MT_TRANSPOSE_UNALIGNED_ROWS(bytes) / 8 * MT_TRANSPOSE_UNALIGNED_OWN(bytes))
#define MT_TRANSPOSE_UNALIGNED_BEFORE(bytes)                                             \
  ((8 - MT_TRANSPOSE_UNALIGNED_OWN(bytes)) * 16 / (bytes))

/* The tiles of a run by a run, as blocks take them: in strips of `strip` tiles along the
** run of the source; in a strip first those, then along the run of the destination.
** Block b is tile (s, d) of index r of rest:
**   s = b mod strip + q2 mod across * strip, d = q1 mod along,
**   q1 = b / strip, q2 = q1 / along, r = q2 / across;
** tiles beyond the last are empty. along: tiles of the destination's run; across: strips.
** */
typedef struct mt_raster {
  mt_divisor strip, along, across;
} mt_raster;

/* INTERLEAVE: a block takes so many accesses of each of n rows, together at most
** MT_INTERLEAVE_BYTES; of MT_INTERLEAVE_FEW rows or less, of accesses below
** MT_INTERLEAVE_LONG bytes, it takes 256 vectors of each. */
enum {
  MT_INTERLEAVE_MOST = 31,
  MT_INTERLEAVE_BYTES = 16384,
  MT_INTERLEAVE_FEW = 4,
  MT_INTERLEAVE_LONG = 4
};
#define MT_INTERLEAVE_GRAIN(bytes) ((bytes) < 8 ? 128 / (bytes) : 16)
#define MT_INTERLEAVE_PIECE(bytes, n)                                                    \
  ((bytes) < MT_INTERLEAVE_LONG && (n) <= MT_INTERLEAVE_FEW ?                            \
       (uint32_t)(4096 / (bytes)) :                                                      \
       (uint32_t)(MT_INTERLEAVE_BYTES / ((n) * (bytes))) / MT_INTERLEAVE_GRAIN(bytes) *  \
           MT_INTERLEAVE_GRAIN(bytes))

/* A copy that converts: DESCRIBED, STRIDED, TRANSPOSE or TRANSPOSE_UNALIGNED, all but
** DESCRIBED without bounds. Of STRIDED an access is one element or as many as 16 bytes of
** the wider side have, of others one. Tiles are of elements; TRANSPOSE_UNALIGNED has
** larger ones, which overlap as above. What becomes of an element: types/convert.h. */
#define MT_CAST(src, dst) (1u << 16 | (uint32_t)(dst) << 8 | (uint32_t)(src))
#define MT_CAST_SRC(cast) ((cast) & 255)
#define MT_CAST_DST(cast) ((cast) >> 8 & 255)
#define MT_CAST_TRANSPOSE_S(src, dst)                                                    \
  ((src) == 1 ? 128 : (src) == 8 && (dst) == 8 ? 32 : 64)
#define MT_CAST_TRANSPOSE_D(src, dst) ((dst) == 1 ? 128 : 64)
#define MT_CAST_WIDE_S(src, dst)                                                         \
  ((src) == 1 || ((src) == 2 && (dst) != 2) ? 128 : (src) == 8 && (dst) == 8 ? 32 : 64)
#define MT_CAST_WIDE_D(src, dst) ((dst) <= 2 ? 128 : 64)
#define MT_CAST_TRANSPOSE_UNALIGNED_S(src, dst) (MT_CAST_WIDE_S(src, dst) - 16 / (src))
#define MT_CAST_TRANSPOSE_UNALIGNED_D(src, dst) (MT_CAST_WIDE_D(src, dst) / 8 * 7)
enum { MT_CAST_UNROLL = 4 };             /* accesses of a thread */
/* Bytes of an element of a side. */
#define MT_ELEM(d, side) ((d)->cast != 0 && (side) == MT_DST ? (d)->to : (d)->elem)

/* An axis of a mode; mul, shift: as in mt_divisor, and 0 of 2^31 and more. Indices of a
** mode whose size is 2^31 or more are divided by `extent` itself. The last axis of a mode
** takes what the others leave: its digit needs no remainder. */
typedef struct mt_axis {
  int64_t  extent;
  int64_t  stride[2];             /* of MT_SRC and MT_DST, in elements */
  int64_t  step[MT_MAXBOUND];     /* >= 0 */
  uint32_t mul, shift;
} mt_axis;

/* PERMUTE: a box of so many bytes at most, and so many where it lies in shared memory;
** larger than MT_PERMUTE_USUAL for longer rows only, since there are fewer at a time. */
enum {
  MT_PERMUTE_BYTES = 32768,
  MT_PERMUTE_USUAL = 16384,
  MT_PERMUTE_SHARED = 38912,
  MT_PERMUTE_AXES = 8,
  MT_PERMUTE_WALK = 10
};

/* An axis of a walk; both in bytes. The divisor is as in mt_axis; that of the last hop of
** a walk is 0 / 0 and gives the quotient 0: it takes what the others leave. */
typedef struct mt_walk_axis {
  uint32_t extent, mul, shift;
  uint32_t shared;                /* in shared memory */
  int64_t  global;                /* in the source (load) or the destination (store) */
} mt_walk_axis;

/* How a box turns. Unit (i0, i1, ...) of the thread axes lies at sum i[k] * pitch[k] in
** shared memory. Vectors of the source are numbered along the hops of `load`, and lie
** whole in shared memory. A vector of the destination is groups of `group` units; unit j
** of a group lies at lane[j] behind its first. One thread makes `wide` vectors out of the
** words of `wide` units that begin at their first vector: the vector w lies w * wide_step
** bytes on. Groups of such first vectors are numbered along the hops of `store`. Steps
** of `load` are whole vectors, those of `store` whole groups; none lies 2^31 of them or
** more from the first of the box.
** All but order, pitch, group, wide and apart follows from these and the axes. */
typedef struct mt_permute {
  uint8_t  order[MT_PERMUTE_AXES];     /* the thread axes along the destination */
  uint16_t pitch[MT_PERMUTE_AXES];
  uint16_t group, wide;
  uint16_t apart;                 /* 0, or: behind so many vectors of the destination
                                  ** come 4 along the first axis of the source */
  uint16_t nload, nstore;
  uint32_t vectors;
  uint32_t size;                  /* bytes of the box in shared memory */
  int64_t  wide_step;
  uint32_t lane[16];
  mt_walk_axis   load[MT_PERMUTE_WALK], store[MT_PERMUTE_WALK];
} mt_permute;

/* PERMUTE_UNALIGNED: a block's shared memory, of which a box has the first
** MT_PERMUTE_UNALIGNED_BOX bytes at most; how many bounds there may be. What is
** loaded passes through the L1: where shared memory leaves it 28 KiB, copies take up to
** 15 % longer than where it leaves 60. Four blocks of MT_PERMUTE_UNALIGNED_FOUR bytes do,
** and three of MT_PERMUTE_UNALIGNED_SHARED; what is between MT_PERMUTE_UNALIGNED_FOUR and
** MT_PERMUTE_UNALIGNED_THREE becomes that, so that there are three. */
enum {
  MT_PERMUTE_UNALIGNED_SHARED = 65536,
  MT_PERMUTE_UNALIGNED_THREE = 57344,
  MT_PERMUTE_UNALIGNED_FOUR = 49024,
  MT_PERMUTE_UNALIGNED_BOX = 65536,
  MT_PERMUTE_UNALIGNED_BOUNDS = 2,
  MT_PERMUTE_UNALIGNED_THREADS = 384
};

/* So many units for each of `count` indices, or for those of them that bound number
** `bound` leaves, counted from 1; 0: no bound. */
typedef struct mt_span {
  uint32_t units, count, bound;
} mt_span;

/* An axis of the places in a row: what an index adds to the number of the run, to the
** bytes behind its first, and modulo 16 to the address of the run. */
typedef struct mt_lookup_axis {
  uint32_t extent, mul, shift;
  uint32_t run, inside, low;
} mt_lookup_axis;

/* How an unaligned box turns. V units make a vector. The first thread axes are a run of
** the source, those that `order` names first a row of the destination; every axis is in
** one of them or in both. The last axis of each may overhang: then a bound counts along
** it. Runs are numbered along `load`, those of the row's axes that are in no run; rows
** along `store`, those of the run's axes that are in no row; the places in a row along
** `line`.
**   In shared memory run r begins at r * pitch + r / V * gap + (its address in the
** source) mod 16: `vectors` vectors; all_runs at most. From `table` bytes on lie the
** places of the first `length` places of a row, two bytes each, from V before the first
** to 2 V behind the last of `places`, in V planes of `plane` bytes: place n is number
** (n + V) / V of plane n mod V; or, if piece is not 0, those of its pieces of so many
** units, V and more, which are one piece in shared memory too. From `starts` bytes on
** lie the places of the runs in the source, in units, four bytes each; from `parts`
** bytes on what is known of each part of the rows, 16 bytes each; `shared` bytes are
** all. A vector lies before all that.
**   Where the last axis of a row is one of the run, the row may be cut into segments of
** `segment` units, of which the first hop of `store` is the number then; 0: it is not.
**   Where a bound counts along a row, and `ahead` is not 0, a sector of 32 bytes that
** lies in two boxes is written by the one where it begins: that one holds `ahead`
** indices more of the last axis of the row, of which ahead_runs runs are read, or
** longer runs. Else both write a part of it.
**   Rows that are 1 << period apart along the first hop of `store` begin at the same
** place modulo 16: they are of one class. A task writes a vector of `each` rows of a
** class. Vectors are counted from the multiple of `grain` bytes before the row, where
** grain is 32 or wide * 16; of `wide` beyond 32 bytes the first is that where the row
** begins. Task n has vector n mod wide + part * wide of rows n / wide mod all, part
** is what these leave: rows class + (chunk * each + i << period), i < each, of index
** `other` of the other hops, where (class, chunk, other) is an index of (classes,
** chunks, rest). If `linear` is not 0, the places of a row are so many bytes apart; each
** is 1 then, and a task writes all vectors of a row that are `wide` apart. All but order
** and ahead follows from the axes. */
typedef struct mt_permute_unaligned {
  uint8_t  order[MT_PERMUTE_AXES];
  uint16_t nload, nline, nstore;
  uint32_t pitch, gap, table, places, plane, starts, parts, shared;
  uint32_t all_runs, length, segment;
  mt_span  run, runs, row, rows;
  uint32_t ahead, ahead_runs;
  mt_divisor  vectors, piece;
  uint32_t grain, period, each, linear;
  mt_divisor  wide, classes, chunks, all;
  mt_divisor  lead;                  /* rows of the first hop; segments are one row */
  uint32_t tasks, ends;           /* all rows have so many first vectors */
  int64_t  reach[2];              /* bytes before the box in the source, to its end */
  mt_walk_axis   load[MT_PERMUTE_AXES], store[MT_PERMUTE_AXES];
  mt_lookup_axis  line[MT_PERMUTE_AXES];
} mt_permute_unaligned;

/* A swizzle: swizzle(o) = o ^ ((o & mask) >> shift), << -shift where that is below 0. The
** mask is a run of bits, which is moved by its length at least; 0, as is shift: none. */
typedef struct mt_desc_swizzle {
  int64_t mask, shift;
} mt_desc_swizzle;

typedef struct mt_desc {
  uint32_t op, algo;              /* mt_op, mt_algorithm */
  uint32_t elem;                  /* bytes of an element: 1, 2, 4, 8, 16 */
  uint32_t cast;                  /* 0, or MT_CAST of both dtypes: the copy converts */
  uint32_t to;                    /* bytes of an element of the destination, if it does */
  uint32_t vec;                   /* elements of an access: contiguous on both sides */
  /* axes of each mode; they lie in axis[] in this order */
  uint32_t nthr, nval, nrest;
  uint32_t nbound;
  int64_t  threads, values, rests;        /* sizes of the modes; values counts accesses */
  int64_t  bound[MT_MAXBOUND];
  int64_t  lane_step[MT_MAXBOUND];        /* of one element inside an access */
  mt_axis  axis[MT_MAXAXIS];
  union {                         /* by the algorithm; of others 0 */
    mt_raster
        raster; /* TRANSPOSE, TRANSPOSE_UNALIGNED; ROWS: along is the vectors of a row */
    mt_permute permute;                 /* PERMUTE */
    mt_permute_unaligned unaligned;                 /* PERMUTE_UNALIGNED */
  };
  mt_desc_swizzle  swizzle[2];               /* of MT_SRC and MT_DST */
} mt_desc;

/* Who does which access, with a grid of `blocks` blocks of `threads` threads:
**   DESCRIBED    thread t of block b does the values of thread t at rest b, b + blocks,
**         b + 2 blocks, ...; the grid has the threads of the descriptor;
**   STRIDED  thread t of block b does the accesses (c * unroll + u) * threads + t for
**         each u < unroll and c = b, b + blocks, b + 2 blocks, ...;
**   TRANSPOSE, TRANSPOSE_UNALIGNED: block b does tile b of (strips of tiles, rest);
**   INTERLEAVE  block b does piece b of (pieces, rest);
**   PERMUTE, PERMUTE_UNALIGNED: block b does the box at index b of rest;
**   ROWS  thread t of block b does the vectors b * unroll * threads + u * threads + t of
**         (vectors of a row, rest) for each u < unroll. */

/* The one parameter of every kernel, by value. Element `at` of a side, `at` the sum over
** its axes, lies at base + (origin + swizzle(offset + at)) * elem. */
typedef struct mt_launch {
  mt_desc desc;
  void   *base[MT_MAXBASE];       /* MT_SRC, MT_DST: where the buffers begin */
  int64_t offset[MT_MAXBASE];     /* in elements: coordinate 0 of each side */
  int64_t size[MT_MAXBASE];       /* of the buffers, in bytes */
  int64_t origin[2];              /* in elements; 0 of a side without a swizzle */
} mt_launch;

/* ---------------------------------------------------------------- products
**
** C = alpha A B + beta C for A (M,K), B (N,K), C (M,N), each with a batch L. The
** partition and the tensors are apart:
**   the partition gives each (thread, value, rest) of an operand its ordinates in a tile:
**     ordinate[j] = sum over axes of index * step[j],
**   where ordinate 0 counts along M (A, C) or N (B), ordinate 1 along K (A, B) or N (C);
**   the tensor gives the element with the ordinates x, y of the batch l its place:
**     offset = swizzle(offset + digits(x) + digits(y) + digits(l)).
** So any partition goes with any layout, and what overhangs is what has an ordinate that
** is no less than `real` of its operand: it is read as 0 and not written. Of C that is
** the extent of the mode, of K too; A and B may end before C does. */
enum { MT_A, MT_B, MT_C, MT_PARTS };                 /* operands of a product */
enum { MT_M, MT_N, MT_K, MT_L, MT_GEMM_MODES };   /* its modes */
enum { MT_MAXSTEP = 14, MT_MAXDIGIT = 18, MT_MAXINNER = 6 };

/* An axis of a partition: like mt_axis, extent and ordinates below 2^31. */
typedef struct mt_step {
  uint32_t extent, step[2];
  uint32_t mul, shift;
} mt_step;

/* An axis of a tensor's mode. mul, shift are 0 if the mode's size is 2^31 or more. */
typedef struct mt_digit {
  int64_t extent, stride;
  uint32_t mul, shift;
} mt_digit;

typedef struct mt_part {
  uint32_t dtype;                 /* mt_dtype of the tensor */
  uint32_t nthr, nval;            /* axes of thread and value, in this order in axis[] */
  uint32_t values;                /* of a thread in one atom */
  mt_step  axis[MT_MAXSTEP];
  int64_t  real[2];               /* ordinates below are real */
  uint32_t ndigit[3];             /* axes of ordinate 0, of ordinate 1, of the batch */
  uint32_t swizzle;               /* 0 or the mask of the bits that are moved */
  int32_t  shift;                 /* o ^= (o & swizzle) >> shift (<< -shift) */
  mt_digit digit[MT_MAXDIGIT];
} mt_part;

/* A tile is `tile` ordinates of M, N, K. A thread has inner[M] * inner[N] atoms of it,
** inner[K] deep. The unit of work is one atom position of C in every thread:
**   unit = im + inner[M] * (tm + tiles[M] * (in + inner[N] * (tn + tiles[N] * l)))
** block b does the units b, b + blocks, ...; for each it goes through K in order: tile by
** tile, inner by inner. Ordinate of M: tm * tile[M] + (inner axes at im) + (thread) +
** (value). */
typedef struct mt_gemm_desc {
  uint32_t op, algo; /* MT_OP_GEMM; MT_ALGO_DESCRIBED, or MT_ALGO_STRIDED: no partition,
                                  ** only size and digits count */
  uint32_t atom;                  /* mt_mma_atom_number: which instruction */
  uint32_t atom_shape[3];         /* its M, N, K */
  uint32_t threads;               /* of a block */
  uint32_t tile[3], inner[3];
  uint32_t ninner[3];             /* axes of the inner positions, in this order */
  mt_step  inner_axis[MT_MAXINNER];
  /* Threads that share an element of C and split K: kthreads of them. nkthr axes over the
  ** thread: step[0] its number among them, step[1] what that adds to its own number;
  ** thread - step[1] is the first of them and nkadd axes give what number j adds. */
  uint32_t kthreads, nkthr, nkadd;
  mt_step  kaxis[MT_MAXINNER];
  int64_t  size[MT_GEMM_MODES];  /* M, N, K, L */
  int64_t  tiles[3];
  mt_part  part[MT_PARTS];
} mt_gemm_desc;

/* The one parameter of every kernel of a product, by value: below 4 KiB. */
typedef struct mt_gemm_launch {
  mt_gemm_desc desc;
  double  alpha, beta;            /* integral where C is of integers; beta 0: C unread */
  void   *base[MT_PARTS];
  int64_t offset[MT_PARTS];       /* in elements */
} mt_gemm_launch;

#endif
