/*
** build.h - private: building values node by node, and walking their leaves.
** SPDX-License-Identifier: MIT
**
** A builder is sticky: after its first failure it does nothing, so that algorithms read
** as mathematics and check once, in mt_end. The output is complete only after mt_end
** returned MT_OK.
*/
#ifndef MT_CORE_BUILD_H
#define MT_CORE_BUILD_H

#include "moontile/layout.h"
#include "core/error.h"

/* ---- walking */

/* The leaves of a layout in order:
**   for (p = mt_leaf(t, t); p < mt_next(t); p = mt_leaf(t, mt_after(p))) ...
** A sum is one leaf. Without leaves the loop is not entered. */
static inline bool mt_is_leaf (const mt_node *p) {
  return p->tag == MT_LEAF || p->tag == MT_SUM;
}
static inline const mt_node *mt_after (const mt_node *p) {
  return p->tag == MT_SUM ? mt_next(p) : p + 1;
}
static inline const mt_node *mt_leaf (const mt_node *t, const mt_node *p) {
  while (p < mt_next(t) && !mt_is_leaf(p)) p = mt_after(p);
  return p;
}

/* Writes the leaves of a layout (under a swizzle: of its child), at most MT_MAXNODES. */
int mt_leaves (const mt_node **leaf, const mt_node *t);

static inline bool mt_is_branch (const mt_node *t) {
  return t->tag == MT_MODES || t->tag == MT_TUPLE || t->tag == MT_TILER;
}
static inline bool mt_is_swizzled (const mt_node *t) {
  return t->tag == MT_SWIZZLE && t->arity == 1;
}
static inline bool mt_is_composed (const mt_node *t) { return t->tag == MT_COMPOSED; }
/* A link that takes numbers below 0, too: a bare swizzle, a layout over Z. */
bool mt_has_values_below_0 (const mt_node *f);
/* What a composed layout f o offset o A applies last; A. */
static inline const mt_node *mt_outer (const mt_node *t) { return mt_child(t); }
static inline const mt_node *mt_under (const mt_node *t) { return mt_next(mt_child(t)); }
/* The layout under a swizzle; any other value is its own. */
static inline const mt_node *mt_inner (const mt_node *t) {
  return mt_is_swizzled(t) ? mt_child(t) : t;
}
/* n:d as a value. */
static inline mt_node mt_leaf_of (int64_t n, int64_t d) {
  return (mt_node){.tag = MT_LEAF, .span = 1, .shape = n, .stride = d};
}
/* A layout, swizzled or not. */
static inline bool mt_is_layout (const mt_node *t) {
  t = mt_inner(t);
  return t->tag == MT_LEAF || t->tag == MT_MODES || (t->tag == MT_SUM && t->shape >= 0);
}
/* The layout of which a layout, swizzled, composed or neither, has its modes: what is
** applied first. */
const mt_node *mt_base_of (const mt_node *t); /* of one that has a root */
static inline const mt_node *mt_base (const mt_node *t) {
  return t->tag < MT_SWIZZLE ? t : mt_base_of(t);
}
/* Its values are integers or over F2, no coordinates. */
bool mt_has_numbers (const mt_node *t);
/* A layout, swizzled, composed or neither. */
static inline bool mt_is_function (const mt_node *t) {
  return mt_is_layout(t) || mt_is_composed(t);
}
/* All strides are integers (the leaves of a swizzled layout always have such); of a
** composed layout: its values. */
bool mt_is_integral (const mt_node *t);
/* The modes of a value: its children, or itself, once. */
static inline const mt_node *mt_first_mode (const mt_node *t) {
  return mt_is_branch(t) ? mt_child(t) : t;
}

/* ---- strides of any ring */

static inline bool mt_zero_stride (const mt_node *p) {
  return p->tag == MT_LEAF && p->stride == 0;
}
/* stride(a) * s == stride(b), exactly; over F2 also: s is a power of two, so that s*i + j
** with j < s is a xor. */
bool mt_same_scaled (const mt_node *a, int64_t s, const mt_node *b);
static inline bool mt_same_path (const mt_node *a, const mt_node *b) {
  return a->ring == b->ring && memcmp(a->path, b->path, sizeof a->path) == 0;
}
/* Outermost index first, as numbers; a prefix comes before what it begins. */
int mt_compare_paths (const mt_node *a, const mt_node *b);

/* ---- swizzles: Sw<B,M,S>(i) = i ^ ((i & Y) >> S), Y the B bits from M + max(S,0) on */

typedef struct mt_swizzle {
  int b, m, s;
} mt_swizzle;
static inline int64_t mt_swizzle_pack (int b, int m, int s) {
  return b | m << 8 | (s & 255) << 16;
}
static inline mt_swizzle mt_swizzle_of (const mt_node *t) {
  mt_swizzle w = {(int)(t->shape & 255), (int)(t->shape >> 8 & 255),
                  (int)(int8_t)(t->shape >> 16 & 255)};
  return w;
}
static inline int64_t mt_swizzle_apply (mt_swizzle w, int64_t i) {
  uint64_t u = (uint64_t)i, mask = ((UINT64_C(1) << w.b) - 1) << w.m;
  u ^= w.s >= 0 ? (u >> w.s) & mask : (u & mask) << -w.s;
  return (int64_t)u;
}

/* ---- building */

/* Swizzles and composed layouts above, a sum below. */
enum { MT_MAXLINKS = 16, MT_MAXOPEN = MT_MAXDEPTH + MT_MAXLINKS + 2 };

typedef struct mt_build {
  mt_layout *out;
  mt_err *err;
  mt_status status;
  const char *op;           /* of the operation, for texts */
  bool derived;             /* its operands are not the caller's: no advice about them */
  bool trial;               /* only to see whether the rule of composition answers */
  int n;                    /* nodes so far */
  int level, depth;         /* open nodes; those of them that nest */
  uint8_t open[MT_MAXOPEN]; /* where they stand */
} mt_build;

void mt_begin (mt_build *b, mt_layout *out, const char *op, mt_err *err);
/* Closes what is open and checks the whole: one value, and of a layout that no extent is
** negative, that its size and its offsets fit int64 and that its strides are of one
** kind. */
mt_status mt_end (mt_build *b);
/* Closes what is open; for a part of what another builder checks. */
mt_status mt_finish (mt_build *b);
/* Takes over the status that err already has. */
void mt_failed (mt_build *b, mt_status s);

void mt_open (mt_build *b, mt_tag tag);
void mt_close (mt_build *b);
/* The same of modes whose extents have this product. */
void mt_close_as (mt_build *b, int64_t shape);
void mt_add (mt_build *b, const mt_node *t); /* a copy of t */
void mt_add_int (mt_build *b, int64_t value);
void mt_add_wild (mt_build *b);
void mt_add_leaf (mt_build *b, int64_t shape, int64_t stride); /* an integer stride */
void mt_add_swizzle (mt_build *b, int bits, int base, int shift);
/* A leaf shape : t * stride(src), over F2 the carry-less product. src NULL: shape : t. */
void mt_add_scaled (mt_build *b, int64_t shape, const mt_node *src, int64_t t);
/* A leaf with this extent and the stride that the value v (MT_INT, a sum) is. */
void mt_add_stride (mt_build *b, int64_t shape, const mt_node *v);
/* The stride of a leaf as a value. */
void mt_add_stride_value (mt_build *b, const mt_node *leaf);
/* Opens the root of a swizzled `a`, and all of a composed one that is above its base, so
** that what follows lies under it; nothing for others. */
void mt_open_root (mt_build *b, const mt_node *a);

/* ---- what the algebra is made of; all on layouts without a swizzle */

/* A layout as modes s[r] : stride of *d[r]. */
typedef struct mt_flat {
  int n;
  int64_t s[MT_MAXNODES];
  const mt_node *d[MT_MAXNODES];
} mt_flat;

/* The same function on 0 <= i < size(a): no extents of 1, no two neighbours that could
** be one. */
void mt_flatten_coalesced (mt_flat *f, const mt_node *a);
/* The same function on all i >= 0: a last mode of extent 1 stays; at least one mode. */
void mt_flatten_extended (mt_flat *f, const mt_node *a);
/* A leaf if there is one mode, modes otherwise; 1:0 if there is none. */
void mt_emit_flat (mt_build *b, const mt_flat *f);

void mt_emit_coalesce (mt_build *b, const mt_node *a);
void mt_emit_composition (mt_build *b, const mt_node *a, const mt_node *t);
/* The same of a t with strides that are sums. */
void mt_emit_composition_sums (mt_build *b, const mt_node *a, const mt_node *t);
/* `fills` may be NULL. The complement has at least `count` elements. */
void mt_emit_complement (mt_build *b, bool *fills, const mt_node *a, int64_t bound,
                         int64_t count);
/* The same for its own sake: of an empty a all offsets below the bound. */
void mt_emit_skipped (mt_build *b, bool *fills, const mt_node *a, int64_t bound);

/* The range of a layout of integer strides; false, and nothing is known of it: it is no
** such layout, empty, or too large. */
bool mt_plain_range (int64_t *lo, int64_t *end, const mt_node *t);
/* out = A(i) of an A that has numbers; one over F2 as the integer of its bits. */
mt_status mt_number_at (int64_t *out, const mt_node *a, int64_t i, mt_err *err);
/* *v = what is above the base of a, composed or swizzled, makes of the value *v of the
** base, an integer; a has integers. */
mt_status mt_above_base (int64_t *v, const mt_node *a, mt_err *err);
/* A(c) of an A that has numbers, composed or not; mt_eval of a composed A. */
mt_status mt_composed_number (int64_t *out, const mt_node *c, const mt_node *a,
                              mt_err *err);
mt_status mt_eval_composed (mt_layout *out, const mt_node *c, const mt_node *a,
                            mt_err *err);
/* mt_eval with the zeros of all axes that `space`, a layout too, has. */
mt_status mt_eval_in (mt_layout *out, const mt_node *c, const mt_node *a,
                      const mt_node *space, mt_err *err);

/* mt_slice of a layout without a swizzle. */
mt_status mt_plain_slice (mt_layout *out, int64_t *offset, const mt_node *c,
                          const mt_node *a, mt_err *err);

/* Fails with the texts of mt_failn; for the builder's own use of err. */
#define mt_build_fail(b, s, ...)                                                         \
  do {                                                                                   \
    if ((b)->status == MT_OK) (b)->status = mt_failn((b)->err, (s), __VA_ARGS__);        \
  } while (0)

#endif
