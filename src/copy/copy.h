/*
** copy.h - private: from two tensors and a partition to a launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_COPY_H
#define MT_COPY_COPY_H

#include "moontile/tensor.h"
#include "moontile/tile.h"
#include "desc/axes.h"

enum { MT_MAXTHREADS = 1024, MT_MAXWIDTH = 5, MT_REASON = 160 };

/* Why an access is not wider: reason[w] for accesses of 1 << w bytes, "" where nothing
** prevents it. */
typedef struct mt_vector_limits {
  char reason[MT_MAXWIDTH][MT_REASON];
  char tile[MT_REASON]; /* why no tiles were taken; "" if they were */
  bool unaligned;       /* they would be */
} mt_vector_limits;

/* The copy as described: accesses of one element, values and rests in the order of the
** layouts. `modes` receives the tensor's mode of each bound, counted from 1. copy NULL:
** algorithm STRIDED. */
mt_status mt_describe (mt_launch *out, int modes[MT_MAXBOUND], const mt_tiled_copy *copy,
                       const mt_tensor *src, const mt_tensor *dst, mt_err *err);

/* Whether a block can do this copy of tensors that have elements and modes as src. */
mt_status mt_check_tiled_copy (const mt_tiled_copy *copy, const mt_tensor *src,
                               mt_err *err);

/* Of a copy that a function numbers: whether its accesses are those of its atom, on
** both sides. Composed layouts, whose elements are looked up, are not asked. Errors:
** MT_EALIGN, those of mt_copy_tidfrg. */
mt_status mt_check_wide (const mt_tiled_copy *copy, const mt_tensor *src,
                         const mt_tensor *dst, mt_err *err);

/* The same accesses, made wide and put in an order that suits memory: what a thread does
** is the same set of elements. `l` was accepted by mt_check_copy. Errors: MT_EALIGN if
** the atom of `copy` cannot be had; MT_ETOOBIG. */
mt_status mt_vectorize (mt_launch *l, mt_vector_limits *why, const mt_tiled_copy *copy,
                        mt_err *err);
/* The same by accesses of `most` bytes at most; most 1: of one element, the algorithm in
** which copies are compared. */
mt_status mt_vectorize_to (mt_launch *l, mt_vector_limits *why, const mt_tiled_copy *copy,
                           uint32_t most, mt_err *err);

/* How far to look for tiles. us: those that take longer are of no use; all: none is left
** out because it could not be better: that is for tests, which compare. What is found
** takes *found microseconds, where the search has counted them. */
typedef struct mt_search {
  double us;
  bool all;
  double *found;
} mt_search;

/* How an algorithm is made of the flat copy l, with plain sides and without bounds: its
** axes in `mode` become those of the algorithm, which l receives. False, and why not ("":
** there is nothing to say, or it would take longer than the search allows): l and `mode`
** are of no more use. mt_algo_make calls these. */
typedef bool mt_algo_maker (mt_launch *l, mt_axes mode[3], const mt_search *search,
                            char *why);

/* Whether these tiles are large ones. */
bool mt_tile_is_large (const mt_desc *d);

/* The ordinate of mode k of a tensor with the shape of `a`: strides 1 there, 0
** elsewhere. */
mt_status mt_ordinates_of (mt_layout *out, const mt_node *a, int k, mt_err *err);

#endif
