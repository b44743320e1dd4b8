/*
** ampere.h - private: products by cp.async and mma.sync, from a proof to a launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_GEMM_AMPERE_H
#define MT_GEMM_AMPERE_H

#include "moontile/types.h"
#include "desc/gemm_desc.h"
#include "gemm/ampere_desc.h"

/* A row of kernels/gemm/ampere.def. */
typedef struct mt_ampere_row {
  mt_dtype type[2], sum; /* of A and B; of the sums */
  uint16_t m, n, k, stages, warps[3];
  uint8_t major[2];
  double speed;  /* TFLOP/s of a full GPU */
  bool finishes; /* it has an epilogue, and no other result */
} mt_ampere_row;
extern const mt_ampere_row mt_ampere_rows[];
extern const size_t mt_nampere_rows;

/* Threads and bytes of shared memory of a block. */
static inline uint32_t mt_ampere_threads (const mt_ampere_row *r) {
  return 32u * r->warps[0] * r->warps[1] * r->warps[2];
}
uint32_t mt_ampere_shared (const mt_ampere_row *r);

/* Parts of K that a row may have at most: of clusters of 4, with two blocks on a
** multiprocessor, an H200 has fewer at a time than it has room for. */
enum { MT_AMPERE_MOST_PARTS = 2 };
int mt_ampere_most_parts (const mt_ampere_row *r);

typedef struct mt_ampere {
  mt_ampere_launch launch;
  const mt_ampere_row *row;
  uint32_t shared;
  double us; /* as predicted */
} mt_ampere;

/* Blocks of the launch; bytes of device memory for stream-K, zero before the first
** launch, whose address is launch.work: 0, there is none. */
uint32_t mt_ampere_blocks (const mt_ampere *a);
size_t mt_ampere_memory (const mt_ampere *a);
bool mt_ampere_has_streams (const mt_ampere_row *r);
/* Stream-K by so many blocks, of the tiles that are left by whole rounds of them, or of
** those and one round. false: its row has none, or nothing is to be shared; then, and
** without blocks, each block has a tile. */
bool mt_ampere_share (mt_ampere *a, int64_t blocks);

/* The fastest row for a product without a partition, by prediction, and its launch on a
** GPU of `cores` multiprocessors: a block a tile, or a cluster of up to `most` blocks,
** which is 1 where there are no clusters. D may be computed as its transpose: A and B
** change places. Negative: no row does it, and why is in `why`.
** The laws: (1) every element of D is stored once; (2) nothing outside of A, B and C is
** read or written. */
int mt_ampere_choose (mt_ampere *out, const mt_gemm_launch *l, int cores, int most,
                      char *why, size_t size);

/* The same by this row and so many parts, whatever they cost; false: it does not take the
** product so. */
bool mt_ampere_take (mt_ampere *out, const mt_ampere_row *row, int parts,
                     const mt_gemm_launch *l, int cores);

#endif
