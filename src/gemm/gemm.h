/*
** gemm.h - private: products, from tensors and a partition to a proven launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_GEMM_GEMM_H
#define MT_GEMM_GEMM_H

#include "moontile/epilogue.h"
#include "moontile/tile.h"
#include "core/error.h"
#include "desc/copy_desc.h"
#include "desc/gemm_desc.h"

/* The tensors' half of a launch: sizes, digits (coalesced; strides of any sign, 0 where
** an element is repeated), swizzles, dtypes, bases, offsets; algorithm STRIDED, no
** partition. A and B without L are repeated over it; alpha 0 sums over no K. The base of
** a swizzled operand is where its tensor begins, not its buffer: an offset in front of a
** swizzle has no other place. Errors: MT_EINVAL, MT_ERANK, MT_ERANGE, MT_EUNSUPPORTED,
** MT_ETOOBIG. */
mt_status mt_gemm_tensors (mt_gemm_launch *out, const mt_tensor *a, const mt_tensor *b,
                           const mt_tensor *c, double alpha, double beta, mt_err *err);

/* What is real of tensors whose sizes are known: that of C is what the product has, K
** ends where A or B does. Errors: MT_EUNSUPPORTED (it is not the beginning of each
** mode). */
mt_status mt_gemm_real (mt_gemm_desc *d, const mt_tensor *const t[MT_PARTS], mt_err *err);
/* The elements of an operand, and no others, as the destination of a flat copy; its base
** and source say nothing. */
void mt_mma_elements (mt_launch *out, const mt_gemm_launch *l, int part);

/* So many ordinates of a mode of an operand are real; whether its digits make up no
** more. */
int64_t mt_gemm_real_of (const mt_gemm_desc *d, int part, int i);
bool mt_gemm_is_box (const mt_gemm_desc *d, int part);
/* Elements low .. high of the memory at the base of an operand; none: it is not used. */
typedef struct mt_reach {
  bool none;
  int64_t low, high;
} mt_reach;
mt_status mt_mma_reach_of (mt_reach *r, const mt_gemm_launch *l, int part, mt_err *err);
/* low -= or high += (extent - 1) * stride; true if that leaves 64 bits. */
bool mt_reach_widen (mt_reach *r, int64_t extent, int64_t stride);

/* The bytes of the buffer of t from the base that mt_gemm_tensors gave it. */
size_t mt_gemm_room (const mt_gemm_launch *l, int part, const mt_tensor *t);

/* The atom of a descriptor: that of its number; of MT_OWN_ATOM `own`, which a plan has
** while it is made. False: there is none. */
bool mt_gemm_atom (mt_mma_atom *out, const mt_gemm_desc *d, const mt_mma_atom *own);

/* The partition's half, behind the tensors': algorithm DESCRIBED. The threads of the
** block are numbered as the instruction numbers them; a thread between those that
** thr_vmnk has has ordinates outside. Errors: MT_EUNSUPPORTED, MT_ETOOBIG, those of
** mt_mma_thrfrg. */
mt_status mt_gemm_describe (mt_gemm_launch *l, const mt_tiled_mma *mma, mt_err *err);

/* The descriptor is one: counts, sizes and divisors agree, no ordinate reaches 2^31, no
** offset leaves int64. own: as of mt_gemm_atom. MT_EINVAL, MT_EUNSUPPORTED,
** MT_EOVERFLOW. */
mt_status mt_gemm_check_shape (const mt_gemm_launch *l, const mt_mma_atom *own,
                               mt_err *err);
/* MT_OK is a proof: every element of A, B and C lies in its buffer and is aligned, no two
** elements of C, and no two values that are written, are one place, and C does not reach
** over A or B. Otherwise MT_ERANGE, MT_EALIGN, MT_EINJECTIVE, MT_EOVERLAP with a witness,
** or what could not be proven. bytes: from the bases on. Pure. */
mt_status mt_gemm_check (const mt_gemm_launch *l, const mt_mma_atom *own,
                         const size_t bytes[MT_PARTS], mt_err *err);

/* C, bias and residual may be of this type. */
bool mt_epilogue_takes (mt_dtype d);
/* The epilogue's part of a launch, behind the tensors'. Errors: MT_EINVAL,
** MT_EUNSUPPORTED, MT_ERANK, those of mt_gemm_tensors. */
mt_status mt_gemm_epilogue (mt_gemm_launch *l, const mt_tensor *const t[MT_PARTS],
                            const mt_epilogue *e, mt_err *err);
/* Bias or residual is read by it. */
static inline bool mt_has_beside (const mt_gemm_launch *l, int which) {
  return l->finishes && l->beside_base[which] != NULL;
}
/* The bytes of its buffer from its base on; t NULL: 0. */
size_t mt_beside_room (const mt_gemm_launch *l, int which, const mt_tensor *t);
/* MT_OK is a proof: what is read of bias and residual lies in their buffers and is
** aligned, and each lies apart from C or is C itself. MT_ERANGE, MT_EALIGN, MT_EOVERLAP.
** room: from the bases on. */
mt_status mt_epilogue_check (const mt_gemm_launch *l, const size_t room[MT_BESIDES],
                             mt_err *err);
/* It is C itself: each launch adds to it. */
bool mt_beside_is_c (const mt_gemm_launch *l, int which);
/* Its element at ordinates of M, N and L: a place; a number, 0 if it is not there. */
int64_t mt_beside_element (const mt_gemm_launch *l, int which, const int64_t at[3]);
double mt_beside_value (const mt_gemm_launch *l, int which, const int64_t at[3]);

/* An element of C, at ordinates of M, N and L, is made of the sum there: integers
** saturate, floats are rounded once. */
void mt_gemm_finish (const mt_gemm_launch *l, void *p, double acc, const int64_t at[3]);

/* The reference (gemm/ref.c): runs a product of algorithm DESCRIBED as its threads would,
** unit by unit, step of K by step, atom by atom, each operand gathered through the
** (thread,value) layouts of the atom. It keeps tables of ordinates, made once from the
** descriptor, and room for `workers` threads, in memory that the caller gives:
** mt_mma_ref_size bytes, 0 if there is no such atom. Of `own`, as of mt_gemm_atom,
** nothing is kept but what the instruction computes. Errors: MT_EUNSUPPORTED
** (mt_mma_op_check; the threads of the block are not those of atoms). */
typedef struct mt_gemm_ref mt_gemm_ref;
size_t mt_mma_ref_size (const mt_gemm_desc *d, const mt_mma_atom *own, int workers);
mt_status mt_mma_ref_make (mt_gemm_ref *out, const mt_gemm_desc *d,
                           const mt_mma_atom *own, int workers, mt_err *err);
/* The launch has the descriptor that the reference was made for. bytes: sizes of the
** buffers from the bases on; each access is verified before it is made, in order:
** MT_ERANGE or MT_EALIGN. NULL: unverified, on the threads of the pool, NULL: on the
** caller's; those of bias and residual come behind those of the operands. Allocates
** nothing. */
struct mt_pool;
mt_status mt_mma_ref_run (mt_gemm_ref *r, const mt_gemm_launch *l, const size_t *bytes,
                          struct mt_pool *pool, mt_err *err);

#endif
