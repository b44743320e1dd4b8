/*
** tensor.h - tensors: layouts of elements in memory, and which of them are real.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_TENSOR_H
#define MOONTILE_TENSOR_H

#include "moontile/layout.h"
#include "moontile/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which elements of a tile are its own, where the tile does not divide the shape: element
** c is real if base + coord(c) is below extent, member by member. `coord` comes from
** mt_make_identity_layout(shape) as the tile came from the layout, by the same
** operations; the last of them also gives `base`, and `extent` is the shape. */
typedef struct mt_bounds {
  const mt_node *coord; /* mode by mode of the size of the tensor's layout; v@k >= 0 */
  const mt_node *base;  /* an integer or a tuple; NULL: zeros */
  const mt_node *extent;
} mt_bounds;

/* "(4,3):(1@0,1@1) + (8,6) < (10,7)", like snprintf. */
MT_API size_t mt_bounds_format (char *buf, size_t size, const mt_bounds *b);

/* A view of memory: element c of it lies at data + (offset + layout(c)) * size of the
** dtype. What is not real is nowhere: it need not lie in the buffer, is not read, not
** written, and nothing to a product. */
typedef struct mt_tensor {
  const mt_node *layout;
  mt_dtype dtype;
  void *data;              /* where the buffer begins */
  size_t bytes;            /* the size of the buffer: nothing outside is ever touched */
  int64_t offset;          /* in elements */
  const mt_bounds *bounds; /* NULL: all elements are real */
} mt_tensor;

/* ---------------------------------------------------------------- views that overhang
**
** What becomes of a view by any operation f, one that cuts again, too:
**   f of the layout is the layout;
**   of each ordinate of the tensor (mt_ordinate_of), and of each part of its layout that
**     f runs past the end of (mt_overhang, `at` 0): f is an ordinate of the view, and
**     what f gives as an offset is added to `at`;
**   mt_make_bounds puts them together.
*/

/* A coordinate of each element c: at + layout(c), integers; real below `extent`. */
typedef struct mt_ordinate {
  const mt_node *layout;
  int64_t at, extent;
} mt_ordinate;
enum { MT_MAXORDINATES = 8, MT_MAXBOUNDS = 4 };

/* How many the tensor has: the integers of bounds->extent; 0: all of it is real. */
MT_API int mt_ordinates (const mt_tensor *t);
/* Number k of them, from 0. `buf` is what out->layout is in. Errors: MT_EINVAL (these are
** no bounds of t). */
MT_API mt_status mt_ordinate_of (mt_ordinate *out, mt_layout *buf, const mt_tensor *t,
                                 int k, mt_err *err);
/* The parts of `a` that a view by `tiler` runs past the end of: each with its index, the
** first mode fastest, as the ordinate. divides: by one of the divides, else by
** composition. *k is 0 for the first; then the number of the next one, or -1: there was
** none. Errors: MT_EINEXACT (a composition that begins before `a`). */
MT_API mt_status mt_overhang (mt_ordinate *out, mt_layout *buf, int *k, const mt_node *a,
                              const mt_node *tiler, bool divides, mt_err *err);
/* The bounds of a view with these n ordinates, at most MT_MAXORDINATES of which an
** element of it leaves. (1) `coord` has the tree of `out`, which is `layout`, its leaves
** cut where the ordinates step otherwise; (2) what no element leaves, or only where it
** leaves another, is dropped: *left is how many are left, at most MT_MAXBOUNDS; (3) the
** coordinates of all elements, real or not, are within 64 bits. Errors: MT_EINEXACT,
** MT_ETOOBIG, MT_EOVERFLOW. */
MT_API mt_status mt_make_bounds (mt_layout *out, mt_layout *coord, mt_layout *base,
                                 mt_layout *extent, int *left, const mt_node *layout,
                                 int n, const mt_ordinate *o, mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
