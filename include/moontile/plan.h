/*
** plan.h - plans: copies and products, proven legal, given a kernel, launched.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_PLAN_H
#define MOONTILE_PLAN_H

#include "moontile/device.h"
#include "moontile/epilogue.h"
#include "moontile/tensor.h"
#include "moontile/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A copy that was proven legal for its two tensors and given a kernel. Remembers their
** addresses, not their layouts. mt_plan_copy allocates it (host memory of the device).
** copy NULL: any partition. src and dst lie on the device, have congruent or equal
** shapes, any strides, swizzled or not; what is real on both sides is copied. To another
** dtype each element is converted (mt_cast_element), by a tiled copy one at a time,
** whatever its width. Errors: MT_ERANK, MT_ERANGE, MT_EALIGN, MT_EINJECTIVE, MT_EOVERLAP,
** MT_EINEXACT, MT_EUNSUPPORTED. */
typedef struct mt_plan mt_plan;
MT_API mt_status mt_plan_copy (mt_plan **out, mt_device *d, const mt_tiled_copy *copy,
                               const mt_tensor *src, const mt_tensor *dst, mt_err *err);
/* The same with elements rounded so where they are converted (mt_cast_rounded): by
** kernels for any types, whose speed is less. */
MT_API mt_status mt_plan_copy_rounded (mt_plan **out, mt_device *d,
                                       const mt_tiled_copy *copy, const mt_tensor *src,
                                       const mt_tensor *dst, mt_rounding r, mt_err *err);
/* What a product is besides its tensors; {.size = sizeof(mt_gemm_options), .alpha = 1} is
** plain. */
typedef struct mt_gemm_options {
  size_t size; /* sizeof(mt_gemm_options): later versions have more fields */
  double alpha, beta;
  mt_precision precision; /* of A and B in f32, without a tiled MMA */
  size_t memory;          /* of the device, for copies of tensors in a form that a fast
                           ** kernel takes, and for sums of stream-K: bytes at most; 0: as
                           ** many as these have */
  const char *family; /* of a GPU's kernels, "hopper" or "ampere", without a tiled MMA;
                           ** NULL: the fastest, as predicted, of all */
  mt_epilogue epilogue;
  unsigned columns; /* bit 0, 1: a composed A, B is copied with its first mode fastest */
} mt_gemm_options;
/* C = alpha A B + beta C, proven legal and given a kernel: A (M,K), B (N,K), C (M,N),
** each with an optional last mode L for the batch; any modes, any strides, swizzled or
** not; a composed one is copied, by the host, to memory of the device and, C, back, as is
** a composed bias or residual. Each of the modes has one size in the operands that have
** it. mma NULL: one is chosen, or the processor's own product. options NULL: alpha 1.
** With an epilogue C = activation(alpha A B + beta C + bias) + residual
** (moontile/epilogue.h). Laws:
** (1) each element of C is written once, and C lies apart from A and B;
** (2) beta 0: C is not read; alpha 0: A and B are not, nor without any K: C is beta C,
**     as in BLAS, whatever is in A and B, a NaN too;
** (3) A and B are what the instruction makes of them, C has the type of its accumulators,
**     or both are floats; alpha and beta are integral where C is of integers;
** (4) what C cannot hold is as mt_cast_element has it: floats become infinity, or NaN
**     where there is none, integers the end of the range; floats are rounded once;
** (5) the accumulators are the instruction's own: those of integers (s32) wrap modulo
**     2^32 by definition, but those of a name with SATURATE, whose sums stop at the ends;
**     without mma a GPU and "cpu:checked" choose these, and on "cpu" the sums of integers
**     are exact whatever their size;
** (6) where the partition splits K over threads, their sums are added in order, as
**     accumulators;
** (7) what is not real of A and B adds nothing, what is not real of C is not stored. Real
**     is the beginning of each mode.
** Errors: MT_EINVAL, MT_ERANK, MT_ERANGE, MT_EALIGN, MT_EINJECTIVE, MT_EOVERLAP,
** MT_EUNSUPPORTED (types; an atom that this device has not, with the list of those that
** it has), MT_EOVERFLOW, MT_ETOOBIG, MT_ENOMEM. */
MT_API mt_status mt_plan_gemm (mt_plan **out, mt_device *d, const mt_tiled_mma *mma,
                               const mt_tensor *a, const mt_tensor *b, const mt_tensor *c,
                               const mt_gemm_options *options, mt_err *err);
/* Whether a product described by the atom runs on the device: mt_plan_gemm takes it, if
** the rest is right. A processor runs each dense one of real numbers. */
MT_API bool mt_device_runs_mma (const mt_device *d, const mt_mma_op *op);
/* The same of a copy: one thread does it, whole bytes, at most 16 of them at once, or it
** is of one's own. Every device runs the same. */
MT_API bool mt_device_runs_copy (const mt_device *d, const mt_copy_atom *atom);
/* Starts it; on a GPU it returns at once. Allocates nothing. */
MT_API mt_status mt_plan_launch (mt_plan *p, mt_stream *s, mt_err *err);
/* The plan for people: kernel, grid, vector width, axes of both sides, what was
** refused and why. Like snprintf. */
MT_API size_t mt_plan_format (char *buf, size_t size, const mt_plan *p);
MT_API void mt_plan_free (mt_plan *p);
/* Bytes of the device's memory that the plan holds. */
MT_API size_t mt_plan_memory (const mt_plan *p);

/* Names of the kernels that this library carries for a device, "cpu", "cuda" or "cuda:1",
** one a call; NULL at the end, and where it knows no such device. Without nvcc at build
** time the library has no CUDA kernels. */
MT_API const char *mt_kernel_name (const char *device, int i);

#ifdef __cplusplus
}
#endif

#endif
