/*
** kernels_test.h - tests of kernels on the host: what their files share.
** SPDX-License-Identifier: MIT
*/
#ifndef KERNELS_TEST_H
#define KERNELS_TEST_H

#include "copy/kernel_choice.h"
#include "cuda/cuda.h"
#include "ampere_test.h"

int below (int n);        /* random: 0 .. n-1 */
uint64_t seed_now (void); /* which main takes back */

/* A kernel on the host. A random copy for a row of mt_cuda_kernels, by some functions:
** false if one of them is wrong, which is told. */
typedef void emulated (unsigned blocks, unsigned block, const mt_launch *l);
bool one_copy (int row, emulated *const *by, int count);

/* The divisor of an axis as desc/divisor_desc.h has it; a whole axis. */
void set_divisor (mt_axis *a);
void set_axis (mt_desc *d, uint32_t i, int64_t extent, int64_t src, int64_t dst);

/* Extents of n axes of a box, or of fewer if it is full: how many. */
int draw_extents (mt_desc *d, int n);

/* A random copy of the form PERMUTE_UNALIGNED; elem and vec are there. */
void draw_unaligned (mt_launch *l, bool listed);

/* A random copy of the algorithm ROWS; elem and vec are there. */
void draw_rows (mt_launch *l);

/* A random copy of the algorithm GATHER or STAGED; elem and vec are there. */
void draw_gather (mt_launch *l);
void draw_staged (mt_launch *l, bool rotated);
/* The first axes of the rest come before tiles, as those of a source that no cache holds. */
void draw_first (mt_desc *d);

/* A random copy of the algorithm BITS; elem and vec are there. */
void draw_bits (mt_launch *l);

/* A random product by this row; *ran is false if what was drawn is none. */
bool one_product (const mt_kernel *k, bool *ran);
/* The same by a random kernel that is described over its tiled MMA. */
bool described_product (const mt_kernel *k, bool *ran);
/* Described kernels over each row's instruction, `cases` times. */
bool pipelines (long cases);

/* A random product by the row, run by a kernel; *ran is false if the row does not take
** what was drawn, and then nothing was done. */
bool one_ampere (const mt_ampere_row *row, run_block_kernel *run, size_t kernel,
                 bool *ran, emulated_block *b);
/* Random products by each row of ampere.def, so many. */
bool by_cp_async (long times);
/* Halves that cp.async's kernels make of 8-bit floats are the same numbers. */
bool halves_of_bytes (void);

/* Batches of products in blocks of one thread and of two: fewer than operands. */
bool small_blocks (void);

/* Sums of threads that share K wrap or stop as those of their instruction. */
bool sums_of_threads (void);

/* Products by the kernel that examples/own_kernel.cu adds. */
bool own_kernel (long cases);

/* Accesses of every pair of types become what types/convert.h says: of all elements of 16
** bits or less; of more bits at the ends of ranges, half-way between numbers, random. */
bool conversions (void);

/* Small floats are the numbers that the processor has for them, and back. */
bool small_floats (void);

#endif
