/*
** algo_desc.h - what kernels do and by which algorithm, shared with CUDA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_ALGO_DESC_H
#define MT_DESC_ALGO_DESC_H

/* What an image of kernels is for: copies, products over one instruction, products by
** cp.async and mma.sync, products by TMA and wgmma, what packs their operands; described
** kernels over one instruction. */
typedef enum mt_op {
  MT_OP_COPY,
  MT_OP_GEMM,
  MT_OP_AMPERE,
  MT_OP_HOPPER,
  MT_OP_PACK,
  MT_OP_PIPELINE,
  MT_NOP
} mt_op;

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
** run of both sides, the value axis, if there is one, repeats it; rows begin anywhere.
** PERMUTE_UNALIGNED: the thread axes are a box as in PERMUTE; its rows begin anywhere,
** and it may overhang (mt_permute_unaligned). GATHER: the thread axes, if there are any,
** are a run of the destination; the value axes number rows of it that a block writes
** together (mt_gather). STAGED: as GATHER, by way of shared memory (mt_staged). BITS: the
** thread axes are a box, with two indices each; no value axes; both sides have whole
** vectors of 16 bytes (mt_bits_box). */
typedef enum mt_algorithm {
#define MT_ALGO(name, lower, threads, unroll, what) MT_ALGO_##name,
#include "desc/algos.def"
  MT_NALGO
} mt_algorithm;

/* What desc/algos.def says of each: MT_IS_name. */
enum {
  MT_TILED = 1,
  MT_CONVERTS = 2,
  MT_BOUNDED = 4,
  MT_SWIZZLED = 8,
  MT_BACKWARDS = 16
};
enum {
#define MT_ALGO(name, lower, threads, unroll, what) MT_IS_##name = what,
#include "desc/algos.def"
};

#endif
