/*
** tile.h - tiled copies and tiled MMAs: which thread has which values of a tile.
** SPDX-License-Identifier: MIT
**
** Both lay an atom out over threads and values, and both say one thing of an operand: a
** layout of (thread, value, rest). Names and forms are CuTe's.
*/
#ifndef MOONTILE_TILE_H
#define MOONTILE_TILE_H

#include "moontile/atom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- tiled copies */

/* Who copies what. `layout_tv` maps (thread, value) to the coordinates of the tile that
** `tiler` takes of a tensor, colexicographic: CuTe's make_tiled_copy. */
typedef struct mt_tiled_copy {
  mt_copy_atom atom;   /* in values of `bits` */
  int atom_bits;       /* of one access of a thread; 0: as wide as can be proven */
  int bits;            /* of one element */
  mt_layout thr, val;  /* as described; both (), if an MMA or a copy described it */
  mt_layout layout_tv; /* (thr,val): of the atom's reference */
  mt_layout tiler;     /* (TileM,TileN,...): extents; by layout_tv layouts, too */
} mt_tiled_copy;

/* What a copy reads, what it writes. */
typedef enum mt_copy_side { MT_COPY_S, MT_COPY_D } mt_copy_side;

/* thr and val number threads and values: layouts, swizzled, over F2, composed or listed
** (mt_make_numbering). layout_tv is composed where no layout is it. Functions that number
** are looked at one by one: at most 2^16 of each.
** atom: the name of any copy atom. The threads and the values of a thread must make up
** whole atoms: their numbers are multiples of the sizes of its ref. Errors: MT_EINVAL,
** MT_EINEXACT, MT_EINJECTIVE. */
MT_API mt_status mt_make_tiled_copy (mt_tiled_copy *out, const char *atom, int bits,
                                     const mt_node *thr, const mt_node *val, mt_err *err);
/* The same from what those give: (thread,value) -> place in a tile, colexicographic, of
** these extents, or of what layouts take of their modes: 16:2 every other ordinate.
** Places may be met more than once, or never. Errors: also MT_ERANK, MT_ERANGE. CuTe's
** make_tiled_copy_impl. */
MT_API mt_status mt_make_tiled_copy_tv (mt_tiled_copy *out, const char *atom, int bits,
                                        const mt_node *tv, const mt_node *tiler,
                                        mt_err *err);
/* The same copy by another atom, which is copied: threads, values and tile stay, elements
** have so many bits. "DefaultCopy" takes any threads and values: what is made with it and
** then given an atom of one's own is the tiled copy of that atom. Its accesses are as
** wide as can be proven. Errors: MT_EINVAL (the tile is no whole atoms), MT_EINEXACT (the
** atom has no values of these bits); `copy` is undefined then. */
MT_API mt_status mt_tiled_copy_by (mt_tiled_copy *copy, const mt_copy_atom *atom,
                                   int bits, mt_err *err);
/* What mt_make_tiled_copy begins with: layout_tv and the tiler of thr and val. */
MT_API mt_status mt_make_layout_tv (mt_layout *tv, mt_layout *tiler, const mt_node *thr,
                                    const mt_node *val, mt_err *err);
/* Threads, and values of each: the sizes of the modes of layout_tv. */
MT_API int64_t mt_tiled_copy_size (const mt_tiled_copy *copy);
MT_API int64_t mt_tiled_copy_values (const mt_tiled_copy *copy);
/* The partition of a tensor's layout: (Thr,Val,(RestM,RestN,...)) -> offset. For a
** coordinate layout: coordinates. Values that overhang the tensor are its natural
** extension. Errors: MT_ERANK, those of mt_zipped_divide. */
MT_API mt_status mt_partition (mt_layout *out, const mt_tiled_copy *copy,
                               const mt_node *a, mt_err *err);

/* Who reads (S), who writes (D) what: (Thr,(FrgV,FrgX)) -> element of the tile, FrgV the
** values of an atom. CuTe's get_layoutS_TV, get_layoutD_TV. (1) Both are layout_tv where
** the atom's src, dst and ref are one. */
MT_API mt_status mt_copy_tv (mt_layout *out, const mt_tiled_copy *copy, mt_copy_side side,
                             mt_err *err);
/* (Thr,(FrgV,FrgX),(RestM,RestN,...)): mt_partition by that side. CuTe's tidfrg_S, _D. */
MT_API mt_status mt_copy_tidfrg (mt_layout *out, const mt_tiled_copy *copy,
                                 mt_copy_side side, const mt_node *a, mt_err *err);
/* What thread number `thr` has of `a`: ((FrgV,FrgX),RestM,RestN,...), and where that
** begins: an integer; of a coordinate layout a coordinate. CuTe's partition_S, _D. (1) It
** is mt_copy_tidfrg at this thread. Errors: also MT_ERANGE (there is no such thread). */
MT_API mt_status mt_copy_partition (mt_layout *out, mt_layout *offset,
                                    const mt_tiled_copy *copy, mt_copy_side side,
                                    const mt_node *a, int64_t thr, mt_err *err);
/* A thread's values, (V,M,N,...) as another partition of the same tile has them, in the
** order of this copy: ((FrgV,FrgX),RestM,RestN,...). The first V values of a thread in
** layout_tv are those of mode 1. A swizzle of layout_tv that moves threads only is passed
** over; else it is an error. CuTe's retile_S, retile_D, which are one. */
MT_API mt_status mt_copy_retile (mt_layout *out, const mt_tiled_copy *copy,
                                 const mt_node *a, mt_err *err);
/* The copy by another atom whose reference is that side of `copy`: CuTe's
** make_tiled_copy_S, _D. */
MT_API mt_status mt_make_tiled_copy_side (mt_tiled_copy *out, const char *atom, int bits,
                                          const mt_tiled_copy *copy, mt_copy_side side,
                                          mt_err *err);

/* ---------------------------------------------------------------- tiled MMAs */

/* The operands of an MMA by their modes: A is (M,K), B is (N,K), C is (M,N). */
typedef enum mt_mma_part { MT_PART_A, MT_PART_B, MT_PART_C } mt_mma_part;

/* An atom laid out over more threads (`atoms`) and more values (`permutation`). */
typedef struct mt_tiled_mma {
  mt_mma_atom atom;
  mt_layout atoms;       /* as described, with modes M, N, K: (m,n,k) -> atom */
  mt_layout permutation; /* a tiler of modes M, N, K: `_`, an integer, a layout */
  mt_layout thr_vmnk;    /* (ThrV,ThrM,ThrN,ThrK) -> thread of the block */
  mt_layout thr_index;   /* thread of the block -> its place in thr_vmnk */
  int64_t tile[3];       /* extents of the tile: M, N, K */
} mt_tiled_mma;

/* atoms and the layouts of a permutation may be swizzled, over F2, composed or listed, as
** thr of a tiled copy; then thr_vmnk is composed where no layout is it.
** atom: the name of an MMA atom; atoms: a layout of rank <= 3, NULL: 1:0; permutation: a
** tiler of rank <= 3, NULL: `_`. thr_vmnk is tiled_product(thr_id, atoms). Errors:
** MT_EINVAL (no such atom, no layouts of numbers), MT_EINEXACT (a permutation is no
** bijection, or no multiple of the atoms; the strides of the threads do not divide one
** another), MT_EINJECTIVE (two atoms have one thread, two values one place), MT_ERANK. */
MT_API mt_status mt_make_tiled_mma (mt_tiled_mma *out, const char *atom,
                                    const mt_node *atoms, const mt_node *permutation,
                                    mt_err *err);
/* The same of an atom: one's own, or one that was found. It is copied. */
MT_API mt_status mt_make_tiled_mma_of (mt_tiled_mma *out, const mt_mma_atom *atom,
                                       const mt_node *atoms, const mt_node *permutation,
                                       mt_err *err);
/* Threads: the size of thr_vmnk. */
MT_API int64_t mt_tiled_mma_size (const mt_tiled_mma *mma);
/* Threads of a block: these, and the numbers that thr_vmnk leaves out between them, which
** repeat others. The size of mode 0 of mt_mma_tv. */
MT_API int64_t mt_tiled_mma_threads (const mt_tiled_mma *mma);
/* Whether atoms or a permutation are swizzled, composed or listed, or the places of a
** permutation are not divided by the atoms: (2,3):(3,1) and 3 of them. */
MT_API bool mt_tiled_mma_by_function (const mt_tiled_mma *mma);
/* The same tile where such atoms are numbered by steps, and such permutations left out:
** who has which number is lost, what the threads make of a tensor is not, but for the
** order of the sums along K. Of one without such it is a copy. */
MT_API mt_status mt_tiled_mma_by_steps (mt_tiled_mma *out, const mt_tiled_mma *mma,
                                        mt_err *err);
/* ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY,...))) -> what `a`, a layout of (X,Y,...), has
** there: CuTe's thrfrg. For a coordinate layout: coordinates. */
MT_API mt_status mt_mma_thrfrg (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                                const mt_node *a, mt_err *err);
/* (thread,(FrgV,(RestX,RestY,...))): the same by the number of the thread. Threads that
** differ only along the mode that the operand lacks have stride 0 there: (1) of C, those
** along K as well; (2) numbers that thr_vmnk leaves out have stride 0 too.
** layout_A_TV is this for the compact layout of the tile. */
MT_API mt_status mt_mma_tv (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                            const mt_node *a, mt_err *err);
/* (thread,FrgV,(RestX,RestY,...)): the same as the three modes (thread, value, rest). */
MT_API mt_status mt_mma_tvr (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                             const mt_node *a, mt_err *err);
/* What thread number `thr` has of `a`: (FrgV,RestX,RestY,...), and where that begins: an
** integer; of a coordinate layout a coordinate. CuTe's partition_A, _B, _C. (1) It is
** mt_mma_tv at this thread. Errors: also MT_ERANGE (there is no such thread). */
MT_API mt_status mt_mma_partition (mt_layout *out, mt_layout *offset,
                                   const mt_tiled_mma *mma, mt_mma_part x,
                                   const mt_node *a, int64_t thr, mt_err *err);

/* What a thread keeps of its part (V,X,Y,...) of an operand: CuTe's make_fragment_A, _B,
** _C. Registers, of A and B in the order of the part's strides (mt_make_fragment_like),
** of C compact in the order of its modes; where the instruction reads shared memory by
** descriptors (1,RestX,RestY,...), a descriptor for each instruction, in steps of 16
** bytes, as the part lies without its swizzle. Errors: MT_ERANK, those of mt_upcast. */
MT_API mt_status mt_mma_fragment (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                                  const mt_node *part, mt_err *err);
/* Whether the instruction reads the operand so. */
MT_API bool mt_mma_by_descriptor (const mt_tiled_mma *mma, mt_mma_part x);

/* Products of fragments on the processor, CuTe's gemm of (V,M,K), (V,N,K), (V,M,N): each
** atom of the tiled MMA executes its instruction for each m, n and, in order, k, with
** what its threads have. Numbers are doubles, which hold those of every element.
**
** mt_fragment_values: V, the values that a thread has of one instruction.
** mt_fragment_check: whether a dtype holds the operand's elements. Errors:
** MT_EUNSUPPORTED (it does not; an instruction without arithmetic here).
** mt_fragment_load, mt_fragment_store: one element of a tensor, and back. */
MT_API int64_t mt_fragment_values (const mt_tiled_mma *mma, mt_mma_part x);
MT_API mt_status mt_fragment_check (const mt_tiled_mma *mma, mt_mma_part x, mt_dtype d,
                                    mt_err *err);
MT_API double mt_fragment_load (const mt_tiled_mma *mma, mt_mma_part x, mt_dtype d,
                                const void *p);
MT_API void mt_fragment_store (mt_dtype d, void *p, double v);
/* c = a b + c. threads: whose fragments these are, those of whole atoms in the order of
** thr_vmnk; of all, mt_tiled_mma_size. mnk: how many instructions a thread takes part in
** along M, N, K. Of thread thr_vmnk(j) value v at (m,k) is a[v + V (m + M (k + K j))],
** and so on. cells: scratch for mt_fragment_cells doubles. Threads along K have sums of
** their own. Errors: MT_EINVAL (no whole atoms), MT_EUNSUPPORTED, MT_ESTOPPED. */
MT_API int64_t mt_fragment_cells (const mt_tiled_mma *mma);
MT_API mt_status mt_gemm_fragments (const mt_tiled_mma *mma, int64_t threads,
                                    const int64_t mnk[3], double *a, double *b, double *c,
                                    double *cells, mt_err *err);

/* The copy that brings an operand of an MMA to, or from, the threads that need it there:
** layout_tv is layout_A_TV, the tiler the extents of its tile. CuTe's make_tiled_copy_A,
** _B, _C. Errors: MT_EINVAL (the values of a thread are no whole atoms). */
MT_API mt_status mt_make_tiled_copy_mma (mt_tiled_copy *out, const char *atom, int bits,
                                         const mt_tiled_mma *mma, mt_mma_part x,
                                         mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
