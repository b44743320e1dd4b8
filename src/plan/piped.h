/*
** piped.h - private: plans of described kernels that no row is.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_PIPED_H
#define MT_PLAN_PIPED_H

#include "gemm/pipeline.h"
#include "plan/device.h"

/* mt_plan_gemm by a described kernel, whose tables the plan copies into memory of the
** device. Errors: those of mt_plan_gemm, of mt_gemm_pipeline; MT_EUNSUPPORTED (shared
** memory). */
mt_status mt_plan_piped (mt_plan **out, mt_device *d, const mt_tiled_mma *mma,
                         const mt_tensor *const t[MT_PARTS], const mt_gemm_options *o,
                         const mt_pipeline_tables *tables, mt_err *err);
/* p->piped and its memory, its kernel and grid, behind the product. */
mt_status mt_take_pipeline (mt_plan *p, mt_err *err);
/* Shared memory that such a kernel may ask for. */
uint32_t mt_pipeline_most_shared (int arch);

#endif
