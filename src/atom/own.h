/*
** own.h - private: atoms that a user describes: what their layouts are proven of.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ATOM_OWN_H
#define MT_ATOM_OWN_H

#include "moontile/atom.h"
#include "core/error.h"

/* What a (thread,value) layout is to be: each element of a tile is held, by one value. */
typedef struct mt_own_tv {
  const char *op, *name; /* "mma_atom", "A" */
  const mt_node *tv;
  int64_t threads;
  int64_t extent[2]; /* of the tile; extent[1] is 0: places in a row */
  bool shared;       /* threads may hold the same, where their mode has stride 0 */
} mt_own_tv;

/* (1) A layout of integers with the modes (thread,value) and so many threads; (2) each
** element is held; (3) by one value, but for threads along stride 0; (4) of a tile of two
** modes: it is a layout of coordinates. Errors: MT_EINVAL, MT_ERANK, MT_ERANGE,
** MT_EINEXACT, MT_EINJECTIVE, with an element, who holds it and what would do. */
mt_status mt_own_prove (const mt_own_tv *x, mt_err *err);

/* The numbers of so many threads: distinct, of strides that divide one another; NULL: 0,
** 1, 2, ... */
mt_status mt_own_threads (mt_layout *out, const char *op, const mt_node *thr_id,
                          int64_t threads, mt_err *err);

/* A name that no atom of the tables has, of characters that stand in a text in quotes. */
mt_status mt_own_name (char out[MT_ATOM_NAME], const char *op, const char *name,
                       mt_err *err);

/* A layout with the modes (thread,value): its threads. */
mt_status mt_own_count (int64_t *threads, const char *op, const char *name,
                        const mt_node *tv, mt_err *err);

#endif
