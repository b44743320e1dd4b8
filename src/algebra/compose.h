/*
** compose.h - private: the parts of composition.
** SPDX-License-Identifier: MIT
**
** B's leaves that meet the same mode of A form a group: all of them if B's strides are
** integers, by the index path of their strides if they are basis elements. Groups are
** independent.
*/
#ifndef MT_ALGEBRA_COMPOSE_H
#define MT_ALGEBRA_COMPOSE_H

#include "core/build.h"

/* A mode m : t * stride(d) of the result (d NULL: m : t). r: the mode of A that it
** lies in. */
typedef struct mt_piece {
  int64_t m, t;
  const mt_node *d;
  int r;
} mt_piece;

/* Leaf k of B becomes the modes p[first[k]] ... of which there are count[k]. */
typedef struct mt_pieces {
  int n;
  int first[MT_MAXNODES], count[MT_MAXNODES];
  mt_piece p[MT_MAXNODES];
  mt_layout sums; /* strides that no leaf of A has; used[] of its nodes are taken */
  int used;
} mt_pieces;

typedef struct mt_meet {
  const mt_node *a; /* the mode of A */
  mt_flat f;        /* as modes, on its extended domain */
  int n;
  int64_t s[MT_MAXNODES], d[MT_MAXNODES]; /* the leaves of B: extent, stride */
  int leaf[MT_MAXNODES];                  /* which of B's leaves they are */
} mt_meet;

typedef enum mt_reason {
  MT_FITS,
  MT_CROSSES,  /* steps of leaf k do not meet the end of A's mode r */
  MT_UNEVEN,   /* the extent of leaf k does not split at the end of A's mode r */
  MT_CARRIES,  /* the leaves add up past the end of A's mode r */
  MT_SHARES,   /* over F2: steps in A's mode r share bits, their sum is no xor */
  MT_NEGATIVE, /* leaf k has a negative stride and A more than one mode */
  MT_MANY      /* too many modes */
} mt_reason;

typedef struct mt_refusal {
  mt_reason reason;
  int k, r;
  bool bounded; /* the search for an exact answer was not finished */
  bool witness;
  int leaf;   /* in the group: A(at * d) of it is `is`, a layout would give `would`; */
  int64_t at; /* leaf < 0: the same of A(B(at)) */
  mt_layout *is, *would; /* NULL: they are not asked for */
} mt_refusal;

/* The rule (exact digits, no carry). */
mt_reason mt_compose_rule (mt_pieces *q, const mt_meet *g, mt_refusal *w);
/* The definition: the factorisation of each leaf, then all values, as far as the bound
** goes. */
bool mt_compose_exact (mt_pieces *q, const mt_meet *g, mt_refusal *w);
/* Fails: the condition, a witness, a way out. `t` is the whole of B. */
void mt_compose_refuse (mt_build *b, const mt_meet *g, const mt_node *t,
                        const mt_refusal *w);

/* Adds the mode m : t * stride(d) to the leaf that is growing. */
static inline bool mt_add_piece (mt_pieces *q, int leaf, int64_t m, int64_t t,
                                 const mt_node *d, int r) {
  mt_piece p = {m, t, d, r};
  if (q->n == MT_MAXNODES) return false;
  if (q->count[leaf]++ == 0) q->first[leaf] = q->n;
  q->p[q->n++] = p;
  return true;
}

#endif
