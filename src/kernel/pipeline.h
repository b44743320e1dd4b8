/*
** pipeline.h - private: a described kernel as tables, for a GPU.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_KERNEL_PIPELINE_H
#define MT_KERNEL_PIPELINE_H

#include "gemm/pipeline.h"
#include "kernel/run.h"

/* The tables of a proven kernel, in `room`: mt_pipeline_room bytes, aligned to 64.
** Errors: those of layouts. */
size_t mt_pipeline_room (const mt_gemm_spec *k);
mt_status mt_pipeline_of (mt_pipeline_tables *out, const mt_gemm_spec *k, void *room,
                          mt_err *err);

#endif
