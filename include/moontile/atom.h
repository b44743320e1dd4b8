/*
** atom.h - MMA, copy and shared-memory atoms: what one instruction does, as layouts.
** SPDX-License-Identifier: MIT
**
** An atom is data: a shape, the types of its operands, and layouts that say which thread
** holds which value. Names are CuTe's. Blanks in a name, `cute::`, `cutlass::` and
** `UMMA::Major::` do not count.
*/
#ifndef MOONTILE_ATOM_H
#define MOONTILE_ATOM_H

#include "moontile/layout.h"
#include "moontile/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- elements */

/* What atoms compute with and move; each has its spelling in the names of instructions
** and in C++.
** name     bits  in names  in C++ */
#define MT_ELEMENTS(X)                                                                   \
  X(u1, 1, "U1", "uint1_t")                                                              \
  X(u2, 2, "U2", "uint2_t")                                                              \
  X(u4, 4, "U4", "uint4_t")                                                              \
  X(u8, 8, "U8", "uint8_t")                                                              \
  X(u16, 16, "U16", "uint16_t")                                                          \
  X(u32, 32, "U32", "uint32_t")                                                          \
  X(u64, 64, "U64", "uint64_t")                                                          \
  X(u128, 128, "U128", "uint128_t")                                                      \
  X(u256, 256, "U256", "uint256_t")                                                      \
  X(s4, 4, "S4", "int4_t")                                                               \
  X(s8, 8, "S8", "int8_t")                                                               \
  X(s16, 16, "S16", "int16_t")                                                           \
  X(s32, 32, "S32", "int32_t")                                                           \
  X(s64, 64, "S64", "int64_t")                                                           \
  X(e2m1, 4, "E2M1", "float_e2m1_t")                                                     \
  X(e3m2, 6, "E3M2", "float_e3m2_t")                                                     \
  X(e2m3, 6, "E2M3", "float_e2m3_t")                                                     \
  X(e4m3, 8, "E4M3", "float_e4m3_t")                                                     \
  X(e5m2, 8, "E5M2", "float_e5m2_t")                                                     \
  X(f16, 16, "F16", "half_t")                                                            \
  X(bf16, 16, "BF16", "bfloat16_t")                                                      \
  X(tf32, 32, "TF32", "tfloat32_t")                                                      \
  X(f32, 32, "F32", "float")                                                             \
  X(f64, 64, "F64", "double")                                                            \
  X(cf64, 128, "C64", "complex<double>")                                                 \
  X(gcf64, 192, "GC64", "GaussComplex")

#define MT_ELEMENT_NAME(name, bits, tag, type) MT_ELEMENT_##name,
typedef enum mt_element { MT_ELEMENTS(MT_ELEMENT_NAME) MT_NELEMENT } mt_element;
#undef MT_ELEMENT_NAME

MT_API const char *mt_element_name (mt_element e); /* "bf16" */
MT_API int mt_element_bits (mt_element e);
/* By its name or by one of its spellings. Errors: MT_EINVAL, with the list. */
MT_API mt_status mt_element_find (mt_element *out, const char *name, mt_err *err);

/* ---------------------------------------------------------------- MMA atoms */

enum {
  MT_ATOM_NAME = 128, /* bytes of the longest name, its end included */
  MT_ATOM_GROUPS = 8
};

/* Where an operand is: in registers of the threads, in shared memory behind a descriptor
** that all threads share, in tensor memory. */
typedef enum mt_source { MT_REG, MT_SMEM_DESC, MT_TMEM } mt_source;
MT_API const char *mt_source_name (mt_source s); /* "smem_desc" */

typedef struct mt_operand {
  mt_element element;
  int sparse; /* 1; 2: of two values one is stored */
  mt_source source;
} mt_operand;
enum { MT_OPERAND_D, MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C, MT_OPERANDS };

/* An instruction: D = A B + C for A (M,K), B (N,K), C and D (M,N). */
typedef struct mt_mma_op {
  char name[MT_ATOM_NAME];
  const char *arch; /* that brought it: "sm80", "sm90a"; "own" */
  bool own;         /* described by mt_mma_atom_make: of no table, no instruction */
  char major[2];    /* 'K' or 'M', for MN, of A and B where the name says them; else 0 */
  int64_t m, n, k;
  mt_operand operand[MT_OPERANDS];
} mt_mma_op;

/* thr_id: the threads of the atom, as numbered by the instruction. a, b, c: (thread,
** value) -> index in the column-major tile of the operand.
** (1) size(thr_id) = size(a[0]) = size(b[0]) = size(c[0]), thr_id is injective,
** (2) a is onto the M K indices of A, b onto the N K of B, c onto the M N of C,
** (3) each index has as many (thread, value) as threads are broadcast to: the extents of
**     the thread modes with stride 0. */
typedef struct mt_mma_atom {
  mt_mma_op op;
  mt_layout thr_id, a, b, c;
} mt_mma_atom;

/* The majors that C++ wants of SM90 atoms may stand there: "..._SS<GMMA::Major::K,K>",
** and are kept. Errors: MT_EINVAL with the names nearest to it. */
MT_API mt_status mt_mma_atom_find (mt_mma_atom *out, const char *name, mt_err *err);
/* Its name with its majors: "SM90_64x64x16_F32F16F16_SS<K,MN>"; in `out`, or in op. */
MT_API const char *mt_mma_op_name (char out[MT_ATOM_NAME], const mt_mma_op *op);

/* An atom of one's own, proven: name ("": one is made of the shape and the elements),
** shape and the elements of D, A, B and C come from `op`; operands are in registers.
** thr_id: NULL: 0, 1, 2, ... (1) thr_id, a, b, c are as above, c a bijection; (2) a, b
** and c are layouts of coordinates of their tiles; (3) no atom of the tables has its
** name. It computes C += A B: the products of one atom are summed with C as far as a
** double is exact, then rounded once to the type of C; with f32 or f64 they are fused,
** one by one; integers are exact modulo 2^32. It runs with C of f16, bf16, f32, f64 or
** s32. Errors, with a witness: MT_EINVAL, MT_ERANK, MT_ERANGE, MT_EINEXACT (an element
** is held by nobody; a run goes over the end of a column), MT_EINJECTIVE (it is held
** twice), MT_ETOOBIG. */
MT_API mt_status mt_mma_atom_make (mt_mma_atom *out, const mt_mma_op *op,
                                   const mt_node *thr_id, const mt_node *a,
                                   const mt_node *b, const mt_node *c, mt_err *err);

/* The error bound of products: |C - exact| is at most this for k products that are
** accumulated by the instruction, in any order and on any device, where `sum` is the sum
** of |a b| over them and |c|. 0 for integers: they are exact modulo 2^32. What is stored
** in another type is rounded once more. */
MT_API double mt_mma_op_bound (const mt_mma_op *op, int64_t k, double sum);

/* A place in the list of all atoms; one that is all 0 is before the first. */
typedef struct mt_atom_cursor {
  int row, choice[MT_ATOM_GROUPS];
} mt_atom_cursor;
/* The next of all MMA atoms; false at the end. */
MT_API bool mt_mma_atom_next (mt_mma_op *out, mt_atom_cursor *c);

/* ---------------------------------------------------------------- copy atoms */

/* src, dst, ref: (thread, value) -> the place of the value, counted in values, in what
** the instruction moves; src and dst: who reads and who writes it; ref: what the
** description of a tiled copy means. */
typedef struct mt_copy_atom {
  char name[MT_ATOM_NAME];
  const char *arch;
  bool own; /* described by mt_copy_atom_make */
  int bits; /* of a value */
  mt_layout thr_id, src, dst, ref;
} mt_copy_atom;

/* bits: of a value; 1: the layouts in bits, as the instruction has them. With L the
** layout in bits, V in values, and u the bit of a thread: (1) L(t,u) = V(t, u div bits)
** bits + u mod bits. Errors: MT_EINVAL with the nearest names, MT_EINEXACT (the
** instruction parts a value). */
MT_API mt_status mt_copy_atom_find (mt_copy_atom *out, const char *name, int bits,
                                    mt_err *err);
/* An atom of one's own, proven. name NULL: one is made. thr_id NULL: 0, 1, 2, ...; ref
** NULL: src, or dst where threads share values of src. (1) src and dst hold the same
** places 0, 1, ..., each once but for threads along stride 0; (2) ref is a bijection
** onto them; (3) no atom of the tables has its name. Errors: those of
** mt_mma_atom_make. */
MT_API mt_status mt_copy_atom_make (mt_copy_atom *out, const char *name, int bits,
                                    const mt_node *thr_id, const mt_node *src,
                                    const mt_node *dst, const mt_node *ref, mt_err *err);
/* The same atom in values of other bits: one value becomes several of a thread, or
** several of a thread become one. Errors: MT_EINVAL, MT_EINEXACT (one would be parted, or
** threads would be put together); `a` is undefined then. */
MT_API mt_status mt_copy_atom_recast (mt_copy_atom *a, int bits, mt_err *err);
/* The next of all copy atoms: its name and what brought it; false at the end. */
MT_API bool mt_copy_atom_next (char name[MT_ATOM_NAME], const char **arch,
                               mt_atom_cursor *c);

/* ---------------------------------------------------------------- shared memory */

/* The shared-memory layout atom of CuTe with this name, "GMMA::Layout_K_SW128_Atom", for
** elements of `bits` bits: (M,K) or (N,K) -> element, the swizzle acting on element
** offsets. The atoms without a swizzle (INTER) are plain layouts. bits is a power of two
** from 1 to 128. Errors: MT_EINVAL; an unknown name lists the names. */
MT_API mt_status mt_smem_atom (mt_layout *out, const char *name, int bits, mt_err *err);
/* The names, one a call; NULL at the end. */
MT_API const char *mt_smem_atom_name (int i);

#ifdef __cplusplus
}
#endif

#endif
