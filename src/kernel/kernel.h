/*
** kernel.h - private: what describing, proving and executing a kernel have in common.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_KERNEL_KERNEL_H
#define MT_KERNEL_KERNEL_H

#include "moontile/kernel.h"
#include "core/build.h"
#include "gemm/gemm.h"

extern const char *const mt_side_name[2]; /* "A", "B" */

/* The mode of the product that is mode 0 of A, of B: 0, 1; mode 1 of both is 2. */
static inline int64_t mt_side_extent (const mt_gemm_spec *k, int x) { return k->tile[x]; }
static inline int64_t mt_side_size (const mt_gemm_spec *k, int x) {
  return k->tile[x] * k->tile[2];
}
static inline const mt_operand *mt_side_operand (const mt_gemm_spec *k, int x) {
  return &k->mma.atom.op.operand[x == 0 ? MT_OPERAND_A : MT_OPERAND_B];
}
/* Whether the instruction reads the operand from shared memory. */
static inline bool mt_side_direct (const mt_gemm_spec *k, int x) {
  return mt_side_operand(k, x)->source == MT_SMEM_DESC;
}
static inline bool mt_side_copied (const mt_gemm_spec *k, int x) {
  return k->way[x].fill != MT_FILL_TMA;
}
int mt_side_bits (const mt_gemm_spec *k, int x); /* of an element of the tensor */

/* The compact column-major layout of a tile of A, of B: coordinate -> its index. */
mt_status mt_side_index (mt_layout *out, const mt_gemm_spec *k, int x, mt_err *err);
/* The descriptor of wgmma of an operand that it reads from shared memory. */
mt_status mt_side_desc (mt_gmma_desc *out, const mt_gemm_spec *k, int x, mt_err *err);
/* Bytes of all stages of A, of B; of all, with barriers and the tile on its way out. */
mt_status mt_side_bytes (int64_t *out, const mt_gemm_spec *k, int x, mt_err *err);
/* Where B begins behind so many bytes of A. */
int64_t mt_second_side (const mt_gemm_spec *k, int64_t first);
mt_status mt_shared_bytes (int64_t *out, const mt_gemm_spec *k, int bits_of_c,
                           mt_err *err);
/* The ending's part of a launch, behind the tensors'; what is not there is left out.
** Errors: those of mt_gemm_epilogue; MT_EINVAL: a tensor that the ending has not. */
mt_status mt_put_ending (mt_gemm_launch *l, const mt_gemm_spec *k,
                         const mt_tensor *const t[MT_KERNEL_TENSORS], mt_err *err);
/* MT_OK: all that the ending reads is there, inside its buffers, apart from C or C. */
mt_status mt_check_ending (const mt_gemm_launch *l, const mt_gemm_spec *k,
                           const mt_tensor *const t[MT_KERNEL_TENSORS], mt_err *err);
/* MT_OK: C may be of this type. */
mt_status mt_check_result (const mt_gemm_spec *k, mt_dtype c, mt_err *err);
/* "; then a bias along a row, relu, a residual"; like snprintf. */
int mt_say_ending (char *out, size_t size, const mt_gemm_spec *k);

/* How a copy reaches one of its sides. */
mt_warp_access mt_access_of (const mt_tiled_copy *c, mt_copy_side side);
/* The number in "sm80", "sm90a". */
int mt_arch_number (const char *arch);
/* The shared memory of a block on it. */
int64_t mt_arch_shared (int arch);
/* The newest of what the instructions of the kernel need. */
int mt_needed_arch (const mt_gemm_spec *k);

#endif
