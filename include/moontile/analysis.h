/*
** analysis.h - what one access of a warp costs: banks, sectors, swizzles.
** SPDX-License-Identifier: MIT
**
** Counted from the layout, without running anything, in the units of the hardware's own
** counters (sm_70 and later, per warp and instruction):
**   wavefronts   l1tex__data_pipe_lsu_wavefronts_mem_shared
**   conflicts    l1tex__data_bank_conflicts_pipe_lsu_mem_shared
**   sectors      l1tex__t_sectors_pipe_lsu_mem_global / l1tex__t_requests_...
**
** A layout of accesses maps (thread, value, ...) to an element of memory: mode 0 is the
** thread, all others are its values; without others each thread has one value. It may be
** swizzled. Threads 32w to 32w+31 are warp w. Each thread takes its values `bytes` at a
** time, neighbours in order, one instruction after the other: all counts are sums over
** warps and instructions.
**
** Memory begins at an address that 128 divides; what lies in front has negative offsets.
**
** Other models differ. One that puts all values of a thread into a single access finds 4
** ways in (32,4):(4,1) of 4 bytes, where the hardware needs 4 wavefronts for 512 bytes
** and has no conflict. One that counts from the smallest offset finds no misalignment.
*/
#ifndef MOONTILE_ANALYSIS_H
#define MOONTILE_ANALYSIS_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MT_WARP = 32,       /* threads */
  MT_BANKS = 32,      /* of shared memory */
  MT_BANKBYTES = 4,   /* of a word: what a bank gives in a wavefront */
  MT_LINEBYTES = 128, /* of a line of cache; of all banks together */
  MT_SECTORBYTES = 32
};

/* ---------------------------------------------------------------- requests */

/* kind            name        reads */
#define MT_WARP_ACCESSES(X)                                                              \
  X(MT_READ, "read", true)                                                               \
  X(MT_WRITE, "write", false)                                                            \
  X(MT_LDMATRIX, "ldmatrix", true)                                                       \
  X(MT_STMATRIX, "stmatrix", false)

#define MT_WARP_ACCESS_NAME(kind, name, reads) kind,
typedef enum mt_warp_access_kind {
  MT_WARP_ACCESSES(MT_WARP_ACCESS_NAME) MT_NWARPACCESS
} mt_warp_access_kind;
#undef MT_WARP_ACCESS_NAME

/* How a warp asks for memory. bits: of an element, 8 to 128. bytes: of a thread in one
** instruction, 1 to 16; 0: as many as lie side by side, aligned, for every thread and
** value. matrices: of ldmatrix and stmatrix, 1, 2 or 4; 0: one for 8 threads of the warp;
** threads 8i to 8i+7 have the rows of matrix i, 16 bytes each, others have none.
** offset: of the layout in memory, in elements. Where a layout has no values and `bytes`
** is more than an element, it says where each thread begins. */
typedef struct mt_warp_access {
  mt_warp_access_kind kind;
  int bits, bytes, matrices;
  int64_t offset;
} mt_warp_access;

MT_API const char *mt_warp_access_name (mt_warp_access_kind k); /* "ldmatrix" */
/* Errors: MT_EINVAL with the names. */
MT_API mt_status mt_warp_access_find (mt_warp_access_kind *out, const char *name,
                                      mt_err *err);

/* ---------------------------------------------------------------- banks */

/* A wavefront gives one word of each bank to all threads that want it. An instruction of
** 16 bytes is served in phases of 8 threads, one of 8 bytes in phases of 16, others at
** once; a read of 8 or 16 bytes in phases twice as large where threads 2i and 2i+1, or
** 4i+j and 4i+j+2, want the same bytes; matrices are phases of 8 threads. (1) A phase
** takes as many wavefronts as the words that it wants of one bank, the most of all banks:
** its ways. Threads that write into one word do not conflict: one of them wins, or they
** write different bytes.
** (2) ideal: one wavefront a phase, (3) conflicts = wavefronts - ideal. */
typedef struct mt_banks {
  mt_warp_access how;      /* complete: bytes, matrices */
  int64_t warps, accesses; /* accesses: instructions, of all warps */
  int64_t wavefronts, ideal, conflicts;
  int degree; /* the most ways of any phase */
  /* The worst access: the first of those with the most conflicts. */
  int64_t warp, value;        /* its warp; its first value */
  int64_t worst, worst_ideal; /* its wavefronts */
  int bank, ways;             /* a bank with the most ways in its worst phase, and ... */
  int64_t thread[MT_WARP];    /* ... a thread for each word, */
  int64_t at[MT_WARP];        /* the element of this thread in the word */
} mt_banks;

/* Errors: MT_EINVAL (strides are no integers, an empty layout, no such bits or bytes),
** MT_EALIGN (a thread's values do not lie side by side, or not aligned, `bytes` at a
** time; names them), MT_EOVERFLOW, MT_EUNSUPPORTED (more than 2^20 accesses that differ).
** */
MT_API mt_status mt_bank_conflicts (mt_banks *out, const mt_node *a,
                                    const mt_warp_access *how, mt_err *err);

/* ---------------------------------------------------------------- sectors */

/* (1) sectors: of 32 bytes, that each access touches, (2) lines: of 128 bytes, (3)
** useful: bytes, each counted once in an access, (4) ideal: the sectors that the useful
** bytes of each access would fill. Efficiency is useful / (32 * sectors). */
typedef struct mt_sectors {
  mt_warp_access how;
  int64_t warps, accesses;
  int64_t sectors, ideal, lines, useful;
  int64_t warp, value; /* the worst access: the first with the most above ideal */
  int64_t worst, worst_ideal;
} mt_sectors;

/* Errors: those of mt_bank_conflicts; matrices are MT_EINVAL. */
MT_API mt_status mt_coalescing (mt_sectors *out, const mt_node *a,
                                const mt_warp_access *how, mt_err *err);

/* Both for people, like snprintf. */
MT_API size_t mt_banks_format (char *buf, size_t size, const mt_banks *b);
MT_API size_t mt_sectors_format (char *buf, size_t size, const mt_sectors *s);

/* ---------------------------------------------------------------- the best swizzle */

/* A way to lay shared memory out: plain (b = 0, pad = 0), Sw<b,m,s>, or `pad` elements
** after each `run`. */
typedef struct mt_candidate {
  int b, m, s;
  int64_t run, pad;
  int64_t write, read; /* wavefronts */
  int64_t extra;       /* bytes more than plain */
} mt_candidate;
enum { MT_MAXCANDIDATES = 256 };

/* smem: a plain layout. write, read: (thread, value, ...) -> index in smem; NULL: none,
** but not both. how: of both; bytes as the plain layout allows or asks for, no candidate
** breaks them. */
typedef struct mt_swizzle_query {
  const mt_node *smem, *write, *read;
  mt_warp_access write_how, read_how;
} mt_swizzle_query;

/* All candidates, the best first: (1) the fewest wavefronts of write and read together,
** then the fewest extra bytes, then plain, swizzle, padding, then the fewest bits b, the
** shortest s, the lowest m. Swizzles: all that move bits into those that choose the bank
** and stay within smem's cosize, rounded up to a power of two. Padding: up to 128 bytes,
** after any extent that the strides jump over. list has room for MT_MAXCANDIDATES.
** Errors: those of mt_composition (smem o write), of mt_bank_conflicts. */
MT_API mt_status mt_find_swizzle (mt_candidate *list, int *n, const mt_swizzle_query *q,
                                  mt_err *err);
/* smem laid out so. */
MT_API mt_status mt_candidate_layout (mt_layout *out, const mt_node *smem,
                                      const mt_candidate *c, mt_err *err);
/* "plain", "Sw<3,3,3>", "pad 64 + 8". Like snprintf. */
MT_API size_t mt_candidate_name (char *buf, size_t size, const mt_candidate *c);
/* The table, of which the best, plain and the best padding are shown. Like snprintf. */
MT_API size_t mt_candidates_format (char *buf, size_t size, const mt_candidate *list,
                                    int n);

#ifdef __cplusplus
}
#endif
#endif
