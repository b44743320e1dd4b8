/*
** warp_access.h - private: a layout of (thread, value) as the accesses of warps.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ANALYSIS_WARP_ACCESS_H
#define MT_ANALYSIS_WARP_ACCESS_H

#include "moontile/analysis.h"
#include "core/build.h"

enum {
  MT_RESIDUES = 512,       /* of steps: accesses are counted by them up to here */
  MT_MAXACCESSES = 1 << 20 /* different accesses that are looked at, of all warps */
};

/* Accesses whose places differ by a multiple of 128 bytes, and of all bits that a swizzle
** looks at, cost the same: they are one place. */
typedef struct mt_place {
  int64_t step;  /* where it begins, in elements, from that of thread */
  int64_t count; /* of such accesses */
  int64_t first; /* the first of them */
} mt_place;

typedef struct mt_warps {
  mt_warp_access how; /* complete */
  const mt_node *a;
  int64_t elem;                 /* bytes of an element */
  int64_t width;                /* elements of an access of a thread */
  int64_t threads, warps, each; /* each: accesses of a warp */
  int64_t offset;               /* before the swizzle */
  const mt_node *links;         /* a, composed; NULL: it is not */
  bool swizzled;
  mt_swizzle w;
  mt_node thr[MT_MAXNODES]; /* thread -> element */
  mt_flat steps;            /* access -> element */
  mt_layout room;           /* what steps points into */
  bool listed;              /* each access is a place; else each residue of steps */
  int places;
  int64_t count[MT_RESIDUES], first[MT_RESIDUES]; /* of a residue; 0: none is there */
} mt_warps;

enum { MT_ACCESSNS = 500 }; /* that counting one takes, about */

/* op begins the texts. */
mt_status mt_warps_of (mt_warps *out, const char *op, const mt_node *a,
                       const mt_warp_access *how, mt_err *err);
/* The elements where the threads of a warp begin, before the swizzle and without the step
** of an access; returns how many threads take part. */
int mt_warp_threads (int64_t at[MT_WARP], const mt_warps *w, int64_t warp);
/* The step of access number i. */
int64_t mt_warp_step (const mt_warps *w, int64_t i);
/* Place number k; if its count is 0 there is none. */
static inline mt_place mt_warp_place (const mt_warps *w, int k) {
  if (w->listed) return (mt_place){mt_warp_step(w, k), 1, k};
  return (mt_place){k, w->count[k], w->first[k]};
}
/* The same where links are above the base. */
int64_t mt_warp_linked (const mt_warps *w, int64_t x);
/* The element at x, after the swizzle. */
static inline int64_t mt_warp_element (const mt_warps *w, int64_t x) {
  if (w->links) return mt_warp_linked(w, x);
  return (w->swizzled ? mt_swizzle_apply(w->w, x + w->offset) : x + w->offset) +
         w->how.offset;
}
static inline bool mt_warp_access_reads (mt_warp_access_kind k) {
#define MT_WARP_ACCESS_READS(kind, name, reads) reads,
  static const bool table[] = {MT_WARP_ACCESSES(MT_WARP_ACCESS_READS)};
#undef MT_WARP_ACCESS_READS
  return table[k];
}

#endif
