/*
** algos.cuh - the algorithms that copy: a header each.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGOS_CUH
#define MT_ALGOS_CUH

#include "kernels/copy/bits.cuh"
#include "kernels/copy/permute.cuh"
#include "kernels/copy/strided.cuh"
#include "kernels/copy/interleave.cuh"
#include "kernels/copy/rows.cuh"
#include "kernels/copy/staged.cuh"
#include "kernels/copy/permute_listed.cuh"
#include "kernels/copy/transpose.cuh"

#endif
