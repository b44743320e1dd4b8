/*
** mt_chain.h - private: the axes that continue one another on a side.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CHAIN_H
#define MT_CHAIN_H

#include "mt_axes.h"

typedef struct mt_chain {
  int n, axis[MT_MAXTURN];
} mt_chain;

/* From stride `vec` on: each axis begins where the ones before it end. */
void mt_chain_find (mt_chain *out, const mt_axes *a, int side, int64_t vec);

#endif
