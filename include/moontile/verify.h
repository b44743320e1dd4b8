/*
** verify.h - proofs: that a partition covers a tensor, found without running it.
** SPDX-License-Identifier: MIT
**
** A partition says who has what of one tile, which is repeated over a tensor. That each
** element is had once is proven on the strides: of one tile, of its repetition in each
** mode, and of the tensor in memory. Nothing is enumerated: the time depends on the
** number of modes, not on the extents.
**
** The conventions of moontile.h hold here too.
*/
#ifndef MOONTILE_VERIFY_H
#define MOONTILE_VERIFY_H

#include "moontile/gmma.h"
#include "moontile/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stands in the way of a proof.
**   MT_PROVEN         nothing does
**   MT_TWICE          a place of the tile has two owners
**   MT_GAP            a place of the tile has none
**   MT_OUTSIDE        a value lies outside of the tile
**   MT_NO_TILING      the tile, repeated, does not fill a mode of the tensor
**   MT_ONE_PLACE      two elements of a tensor that is written are at one place in memory
**   MT_OPEN           that they are not could not be decided in 2^16 steps
**   MT_NARROW         an access as wide as the atom's is not contiguous or not aligned
**   MT_NOT_CANONICAL  wgmma reads the operand from shared memory, but not this layout */
#define MT_PROBLEMS(X)                                                                   \
  X(MT_PROVEN, "proven")                                                                 \
  X(MT_TWICE, "twice")                                                                   \
  X(MT_GAP, "gap")                                                                       \
  X(MT_OUTSIDE, "outside")                                                               \
  X(MT_NO_TILING, "tiler")                                                               \
  X(MT_ONE_PLACE, "one place")                                                           \
  X(MT_OPEN, "undecided")                                                                \
  X(MT_NARROW, "vector")                                                                 \
  X(MT_NOT_CANONICAL, "canonical")

#define MT_PROBLEM_NAME(name, text) name,
typedef enum mt_problem { MT_PROBLEMS(MT_PROBLEM_NAME) MT_NPROBLEM } mt_problem;
#undef MT_PROBLEM_NAME
MT_API const char *mt_problem_text (mt_problem p); /* "twice" */

/* Who has a place of a tile. */
typedef struct mt_owner {
  int64_t thread, value;
} mt_owner;

/* A mode of the tensor under the tile: `tiles` tiles of `tile` elements have the `extent`
** elements of the mode. */
typedef struct mt_tiled_mode {
  int64_t extent, tile, tiles;
  int64_t last;  /* how many the last tile has; -1: its elements lie apart */
  int64_t reach; /* tiles * tile >= extent: what is above is predicated */
} mt_tiled_mode;

/* A proof, or why there is none. T is the size of the tile, a place of it an index 0 ..
** T-1 in colexicographic order; every tile is a whole one, real or not.
** (1) `covers`: each place of the tile has exactly `broadcast` owners, all in different
**     threads, there is nothing outside, and each element of the tensor is at exactly one
**     place of one tile;
** (2) covers: tiles * threads * values = broadcast * size(tensor) + predicated;
** (3) MT_TWICE: both owners have place `index`; MT_GAP: nobody has place `index`; in both
**     cases no place below it is wrong. MT_OUTSIDE: owner[0] has `index`, which is no
**     place;
** (4) the values of the tensor's layout at what is real are lowest .. highest, both
**     included (of nothing: 0, -1);
** (5) injective == 0: coordinates x != y of the tensor both lie at `offset`; of a ragged
**     one that is not said, `reason` says where they lie;
** (6) vector: the values of each thread are whole runs of `vector` elements, contiguous
**     and aligned to their size; a run that straddles a bound is done by elements. It is
**     1 where no layout says where the tile is in this tensor: `reason` says why, and a
**     plan of such a copy is refused.
** (7) wgmma.bits != 0: wgmma reads the operand from shared memory, as `wgmma` says.
** problem == MT_PROVEN exactly if covers; of a tensor that is written, injective == 1; of
** a copy with an access of `asked` elements, vector == asked, if there are elements;
** of an operand that wgmma reads from shared memory, (7). */
typedef struct mt_verdict {
  mt_problem problem; /* the first that was found */
  bool covers;
  bool written;            /* the partition writes the tensor */
  int64_t threads, values; /* of one tile */
  int64_t idle;            /* thread numbers that an MMA leaves out */
  int64_t broadcast;
  int64_t tiles, predicated; /* predicated: values of threads that are no element */
  int64_t elements;          /* of the tensor */
  int64_t real;              /* those of them that are; -1: they were not counted */
  mt_layout shape;           /* of the tensor */
  int modes;
  mt_tiled_mode mode[MT_MAXNODES];
  int64_t lowest, highest;
  int injective; /* 1; 0: not; -1: not decided */
  mt_layout x, y;
  int64_t offset;
  int owners; /* MT_TWICE, MT_OUTSIDE: who has the place */
  mt_owner owner[2];
  int64_t index;
  mt_layout at;   /* place `index` as a coordinate of the tensor */
  int64_t vector; /* 0: nothing was asked, or it was not looked at */
  int64_t asked;  /* elements of an access of the atom; 0: as wide as can
                                   ** be proven */
  int bits;       /* of an element; 0: unknown */
  mt_gmma_desc wgmma;
  char why[160];    /* why `vector` is not twice as wide, or "" */
  char reason[512]; /* MT_NO_TILING, MT_NOT_CANONICAL; of a ragged tensor, (5); (6): in
                    ** words */
} mt_verdict;

/* Each returns MT_OK if there is a verdict, whatever it says. The tensor may be a layout
** alone, with data NULL: then its coordinate 0 counts as aligned. Errors: MT_EINVAL (the
** tensor's strides are no integers; tv or the tiler is none), MT_ERANK (the tensor has
** fewer modes than the tile), MT_EUNSUPPORTED (the copy moves other elements),
** MT_EOVERFLOW. */

/* A partition by hand. tv: (thread,value) -> place of the tile, or thread -> place, of
** one value each; tiler: an extent for each mode of the tile, or a layout of the elements
** that it takes of the mode; of a tile with one mode, that alone. What is
** written, MT_COPY_D, has one owner; of what is read several threads may have the same,
** by modes of stride 0. */
MT_API mt_status mt_verify_tv (mt_verdict *out, const mt_node *tv, const mt_node *tiler,
                               mt_copy_side side, const mt_tensor *t, mt_err *err);
/* The partition of a tiled copy on this side: the owners of an element are those by the
** reference of the atom. */
MT_API mt_status mt_verify_copy (mt_verdict *out, const mt_tiled_copy *copy,
                                 mt_copy_side side, const mt_tensor *t, mt_err *err);
/* What the threads of an MMA have of A (M,K), B (N,K) or C (M,N), the batch L behind it.
** Any number of threads may share an element: those of A and B all read it; those of C, C
** being written, each have a part of K, and what they have is added. Of an operand that
** wgmma reads from shared memory the layout is that of shared memory. */
MT_API mt_status mt_verify_mma (mt_verdict *out, const mt_tiled_mma *mma, mt_mma_part x,
                                const mt_tensor *t, mt_err *err);

/* A verdict for people: what was proven, or the witness. Like snprintf. */
MT_API size_t mt_verdict_format (char *buf, size_t size, const mt_verdict *v);

#ifdef __cplusplus
}
#endif
#endif
