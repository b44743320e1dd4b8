/*
** run.h - private: the execution of a kernel on the processor: its tables, its memory.
** SPDX-License-Identifier: MIT
**
** A cell is an element of an operand of an atom; a group is the threads of one atom, of
** which a block has `groups`. Elements of a tile have numbers, the first mode fastest.
*/
#ifndef MT_KERNEL_RUN_H
#define MT_KERNEL_RUN_H

#include "gemm/gemm.h"
#include "kernel/kernel.h"
#include "kernel/pipe.h"

/* Takes bytes from one block; with base NULL it only counts. */
typedef struct mt_carve {
  char *base;
  size_t used;
} mt_carve;

/* A or B. */
typedef struct mt_run_side {
  int64_t elements, size; /* of a stage; bytes of an element */
  int64_t cells, rests[2], values;
  uint32_t *line;  /* element of the tile -> element of stage 0, under the swizzle */
  uint8_t *filler; /* element of the tile -> the role that brings it */
  uint32_t *frag;  /* (thread, value, rests) -> element of the tile, in registers */
  uint32_t *start; /* (group, rests) -> where the descriptor begins, under the swizzle */
  uint32_t *cell;  /* cell -> thread of the atom + its threads * value; by descriptors:
                   ** the element behind the start */
  uint32_t *step;  /* stage -> elements, under the swizzle */
  double *number;  /* of the cells of one atom */
  char *memory;    /* all stages */
  int64_t *offset[2]; /* in global memory, of both modes of the tile at hand */
} mt_run_side;

enum { MT_WORKS = 2 };
typedef struct mt_run {
  const mt_gemm_spec *k;
  mt_gemm_launch l;
  mt_run_side side[2];
  int64_t threads, groups, atom_threads, users;
  int64_t cells, atoms;  /* of C: cells of an atom; atoms of a group */
  uint32_t *thread;      /* (thread of the atom, group) -> thread of the block */
  uint32_t *place;       /* (cell, atom, group) -> element of the tile of C */
  double *acc[MT_WORKS]; /* the same, accumulators */
  double *out;           /* of the tile of C */
  uint8_t *some;         /* whether there is an `out` yet */
  int64_t *offset[2];    /* of C */
  char *shared, *staged; /* the tile of C on its way out */
  size_t shared_bytes;
  uint64_t seed;
  int64_t spent;
  mt_stint stint;
  mt_err *err;
} mt_run;

/* Sizes, then tables: of memory that has been carved twice. */
mt_status mt_run_sizes (mt_run *r, const mt_gemm_spec *k, mt_err *err);
void mt_run_carve (mt_run *r, mt_carve *c);
mt_status mt_run_tables (mt_run *r, mt_err *err);

static inline int64_t mt_run_swizzled (const mt_run *r, int x, int64_t line) {
  const mt_node *a = r->k->way[x].smem.node;
  return mt_is_swizzled(a) ? mt_swizzle_apply(mt_swizzle_of(a), line) : line;
}

#endif
