/*
** stream_k.h - private: the memory of products whose tiles are shared by stream-K.
** SPDX-License-Identifier: MIT
**
** Flags of its blocks, which each launch leaves 0, and sums (gemm/ampere_desc.h). It
** stays until the plan goes: other ways of the plan may come back to it.
*/
#ifndef MT_PLAN_STREAM_K_H
#define MT_PLAN_STREAM_K_H

#include "plan/device.h"

/* Takes it for the plan's launch, `most` bytes at most, 0: any number. Where there is
** none the launch and its grid are those of a block for each tile. */
void mt_stream_k_take (mt_plan *p, size_t most);
/* The launch and its grid without stream-K. */
void mt_stream_k_leave (mt_plan *p);
void mt_stream_k_free (mt_plan *p);

#endif
