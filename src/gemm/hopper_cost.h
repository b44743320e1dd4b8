/*
** hopper_cost.h - private: how long a launch of TMA and wgmma takes.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_GEMM_HOPPER_COST_H
#define MT_GEMM_HOPPER_COST_H

#include "gemm/hopper.h"
#include "gemm/matrix.h"

/* Clusters of so many blocks that run at a time on so many multiprocessors. */
int mt_hopper_at_once (int cores, int blocks);

/* Microseconds of the launch that h has for this row, with what is packed before it. */
double mt_hopper_predict (const mt_hopper *h, const mt_hopper_row *row,
                          const mt_matrix x[MT_PARTS], int cores);

#endif
