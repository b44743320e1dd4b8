/*
** algos.cuh - the algorithms that copy: a header each.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGOS_CUH
#define MT_ALGOS_CUH

#include "box.cuh"
#include "copy.cuh"
#include "pack.cuh"
#include "rows.cuh"
#include "skew.cuh"
#include "tile.cuh"

#endif
