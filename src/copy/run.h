/*
** run.h - private: the axes that continue one another on a side.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_RUN_H
#define MT_COPY_RUN_H

#include "desc/axes.h"

typedef struct mt_chain {
  int n, axis[MT_PERMUTE_AXES];
} mt_chain;

/* The head of a chain: its first n axes, the last of them only `cut` of it. */
typedef struct mt_head {
  int n;
  int64_t cut;
} mt_head;

/* From stride `vec` on: each axis begins where the ones before it end. */
void mt_chain_find (mt_chain *out, const mt_axes *a, int side, int64_t vec);

/* A box that has extent[i] of axis i holds the head as well. */
void mt_chain_hold (int64_t *extent, const mt_axes *a, const mt_chain *c,
                    const mt_head *h);

#endif
