/*
** gemm_block.h - private: a product of the processor's own, the block of it at hand.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_GEMM_BLOCK_H
#define MT_CPU_GEMM_BLOCK_H

#include <stdatomic.h>

#include "cpu/gemm.h"
#include "cpu/gemm_sum.h"
#include "types/dtype.h"

struct mt_cpu_gemm {
  size_t bytes; /* of the whole allocation */
  char name[24];
  mt_blas *blas; /* runs the call, nothing below counts; NULL: none */
  mt_blas_call call;
  bool measured; /* the elements decide how they are added up */
  const mt_micro *micro;
  mt_acc acc;         /* of C; that of `micro`, or U32 by sums in f32 */
  mt_cpu_scale scale; /* of a C of integers */
  bool turned;        /* the roles of A and B, of M and N, are exchanged */
  bool rows;          /* panels of B are rows along K, as it has them */
  /* Of A and B: panels that are whole are read where they lie. Of C: sums are its
  ** elements, and whole tiles of them are added up where it has them. */
  bool direct[2], straight;
  bool lines;              /* A is rows, a pitch apart, that are copied as they are */
  int64_t pitch[MT_PARTS]; /* elements from a row to the next, if so */
  mt_cpu_side side[MT_PARTS];
  mt_cpu_convert *widen[MT_PARTS], *narrow; /* NULL: as they are */
  double alpha, beta;
  /* Of an epilogue: what it reads, and how that becomes sums; NULL: as it is. */
  bool finishes, has[MT_BESIDES];
  uint32_t activation;
  mt_cpu_side beside[MT_BESIDES];
  mt_cpu_convert *widen_beside[MT_BESIDES];
  int64_t size[MT_GEMM_MODES], most[MT_GEMM_MODES]; /* of a block at most */
  char *base, *panel[2], *tiles; /* of a block; tiles NULL: K is one block */
  /* Blocks of K that are added up at a time, each with panels and tiles of its own; 1:
  ** one after the other. */
  int64_t slices, slice_bytes;
  char *slice;
  /* The block at hand. */
  int64_t first[MT_GEMM_MODES], n[MT_GEMM_MODES];
  int64_t panels[2];           /* of A and of B, at one index of the batch */
  int64_t group[2], groups[2]; /* panels of a task; tasks along M and N */
  int64_t whole[2];            /* of these, that are read where they lie */
  bool fresh, last;            /* the first, the last block along K */
  bool keep;                   /* the panels of A are there already */
  int64_t spent;               /* nanoseconds of blocks since it was asked */
  mt_stint stint;              /* in products of elements */
  int measuring;               /* A or B */
  _Atomic uint64_t most_of;    /* the largest magnitude seen in it */
};

/* Everything for sums whose products have magnitudes of at most `reach` in all, at
** g->base; returns how much is taken there. */
size_t mt_cpu_arrange (mt_cpu_gemm *g, const mt_gemm_launch *l, double reach,
                       int threads);
static inline bool mt_cpu_is_float (uint32_t d) { return mt_is_float_type((mt_dtype)d); }

/* The product's modes of the modes of an operand. */
static const uint8_t mt_cpu_mode_of[MT_PARTS][MT_SIDE_MODES] = {{MT_M, MT_K, MT_L},
                                                                {MT_N, MT_K, MT_L},
                                                                {MT_M, MT_N, MT_L}};

enum { MT_PACKROWS = 32 }; /* of a panel that are moved at once */

static inline int64_t mt_cpu_width (const mt_cpu_gemm *g, int part) {
  return part == MT_A ? g->micro->m : g->micro->n;
}

/* Which panels of the block at hand are read where they lie: sets g->whole. */
void mt_cpu_set_whole (mt_cpu_gemm *g, int part);
/* Where an element of the block at hand is, of an operand that is direct, straight or
** lines. */
char *mt_cpu_place (const mt_cpu_gemm *g, int part, int64_t x, int64_t y, int64_t batch);
/* Where panel i of the block at hand is; *step is what mt_steps says of it. */
const char *mt_cpu_panel (int64_t *step, const mt_cpu_gemm *g, int part, int64_t i,
                          int64_t batch);
/* ny rows of it from row y on, as far as the operand is real: C may go on, over zeros. */
mt_cpu_piece mt_cpu_piece_of (const mt_cpu_gemm *g, int part, int64_t i, int64_t batch,
                              int64_t y, int64_t ny);
/* Packs panels at .. end of all, batch by batch, but for those that are direct. */
void mt_cpu_pack (const mt_cpu_gemm *g, int part, int64_t at, int64_t end, mt_worker *w);

/* Where a tile of C is, and how much of it is real. */
mt_cpu_piece mt_cpu_tile_at (const mt_cpu_gemm *g, int64_t i, int64_t j, int64_t batch);
/* The sums along the block of the tiles of panel j of B and those at .. end of A; behind
** the last block they are put. Whether the loop is to end. */
bool mt_cpu_make_tiles (const mt_cpu_gemm *g, int64_t at, int64_t end, int64_t j,
                        int64_t batch, mt_worker *w);
/* C = alpha tile + beta C, and what the epilogue makes of it. The tile is used up. */
void mt_cpu_put_tile (const mt_cpu_gemm *g, char *tile, const mt_cpu_piece *p);

#endif
