/*
** view.h - private to the binding: views of tensors, and which of their elements are
** real.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_VIEW_H
#define MT_BINDING_VIEW_H

#include "binding/lmt.h"

/* The layout that a swizzled or composed one has its modes of; others are their own. */
static inline const mt_node *lmt_base (const mt_node *t) {
  while (t->tag == MT_COMPOSED) t = mt_next(mt_child(t));
  return t->tag == MT_SWIZZLE && t->arity == 1 ? mt_child(t) : t;
}
/* Swizzled or composed: its offsets are not those of its strides. */
static inline bool lmt_isrooted (const mt_node *t) { return t->tag >= MT_SWIZZLE; }

/* The bounds of a tensor, of the one at `i`; NULL: all of it is real. */
static inline const mt_bounds *lmt_boundsof (const lmt_tensor *t) {
  return t->bounded ? (const mt_bounds *)(const void *)(t->layout + t->bounded) : NULL;
}
const mt_bounds *lmt_bounds (lua_State *L, int i);
/* A view of all that is real of the tensor at `i`, which is `base`. */
lmt_tensor *lmt_pushwhole (lua_State *L, int i, const lmt_tensor *base,
                           const mt_node *layout, int64_t offset);

/* How a function cuts a tensor. */
typedef struct lmt_cut {
  const mt_node *tiler; /* NULL: into what is its own, unless that is larger */
  bool divides;         /* else by composition */
  lua_CFunction again;  /* the function for a layout in its place; NULL: itself */
} lmt_cut;
/* The view t of the tensor at `i` that the function at hand made, whose arguments are all
** that is on the stack; which of its elements are real. Returns 1. */
int lmt_pushcut (lua_State *L, int i, const mt_node *t, int64_t offset,
                 const lmt_cut *how);
/* The same of a slice at c. */
int lmt_pushsliced (lua_State *L, int i, const mt_node *t, int64_t offset,
                    const mt_node *c);
/* The view of this layout, with these bounds, as far as they bound it. Returns 1. */
int lmt_pushknown (lua_State *L, int i, const mt_node *t, int64_t offset,
                   const mt_bounds *b);
/* Raises if the element at c is not real. */
void lmt_checkreal (lua_State *L, const lmt_tensor *t, const mt_node *c);
/* Which elements of a tensor are real, by their numbers. */
typedef struct lmt_real {
  int n;
  mt_ordinate o[MT_MAXORDINATES];
  mt_layout buf[MT_MAXORDINATES];
} lmt_real;
/* Pushes what is known of the tensor at `i`; NULL, and nil, if all of it is real. */
const lmt_real *lmt_pushreal (lua_State *L, int i);
bool lmt_isreal (const lmt_real *r, int64_t index);
/* The place of element i, counted from lo, in [lo, hi), what lmt_range gave; -1: it is
** not real. */
int64_t lmt_placeof (lua_State *L, const lmt_tensor *t, const lmt_real *real, int64_t i,
                     int64_t lo, int64_t hi, mt_err *err);

/* As lmt_pushfrom of a composition or a divide by `tiler`; arguments i and i + 1 are all.
** Both return 1. */
int lmt_pushcomposed (lua_State *L, int i, const mt_node *a, const mt_node *tiler,
                      const mt_node *t);
int lmt_pushdivided (lua_State *L, int i, const mt_node *a, const mt_node *tiler,
                     const mt_node *t);

/* What a tiler that divides, or some of it, has of the layout or tensor at `i`: the part
** and its offset, of a tensor a view; returns how many. */
int lmt_pushpart (lua_State *L, int i, const mt_node *part, const mt_node *offset,
                  const mt_node *tiler);
/* The same where an argument at i + 1 may say where the layout begins, `base` (read by
** lmt_tobase; NULL: nothing is said): the offset counts from there. */
const mt_node *lmt_tobase (lua_State *L, int i, mt_layout *buf);
int lmt_pushpartfrom (lua_State *L, int i, const mt_node *part, const mt_node *offset,
                      const mt_node *tiler, const mt_node *base);
int lmt_pushcutpart (lua_State *L, int i, const mt_node *part, const mt_node *offset,
                     const lmt_cut *how);

#endif
