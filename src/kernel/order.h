/*
** order.h - private: the proof that stages are filled and used in order.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_KERNEL_ORDER_H
#define MT_KERNEL_ORDER_H

#include "kernel/pipe.h"

/* Walks all interleavings of the pipe: MT_OK; MT_EINEXACT with a trace: a stage is filled
** before its last reader, is read before it is filled, or nothing can go on;
** MT_EUNSUPPORTED: there are more states than `seen` has room for. Adds to *states. */
mt_status mt_pipe_prove (const mt_pipe *p, uint64_t seen[MT_ORDER_STATES],
                         int64_t *states, mt_err *err);
/* The same of a kernel, for 1 to 3 stages + 1 k-tiles; of many stages fewer of them. */
mt_status mt_order_prove (const mt_gemm_spec *k, uint64_t seen[MT_ORDER_STATES],
                          int64_t *states, mt_err *err);

#endif
