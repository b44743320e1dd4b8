/*
** describe.c - from partitions to descriptors: flat axes of both sides, and the bounds.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "desc/axes.h"
#include "tile/bounds.h"
#include "desc/cast_desc.h"
#include "desc/domain.h"
#include "copy/copy.h"
#include "algebra/swizzle.h"

static const char *const side_name[] = {"src", "dst"};

/* A copy while it is described. mode[]: thread, value, rest. */
typedef struct mt_draft {
  mt_axes mode[3];
  uint32_t nbound;
  int64_t bound[MT_MAXBOUND];
  bool empty; /* no element is real */
} mt_draft;

/* ---------------------------------------------------------------- tensors */

static mt_status check_tensor (const mt_tensor *t, int side, mt_err *err) {
  const mt_node *a = t->layout;
  for (const mt_node *p = mt_inner(a); p < mt_next(a); p++) {
    if (p->tag == MT_MODES || (p->tag == MT_LEAF && p->ring == MT_Z)) continue;
    return mt_failn(err, MT_EINVAL, "copy: %s has no layout of offsets: %N",
                    side_name[side], a);
  }
  MT_CHECK((unsigned)t->dtype < MT_NDTYPE, err, "copy: %s has no data type",
           side_name[side]);
  return MT_OK;
}

static mt_status check_shapes (const mt_tensor *src, const mt_tensor *dst, mt_err *err) {
  const mt_node *a = mt_inner(src->layout), *b = mt_inner(dst->layout);
  int n = mt_rank(a);
  if (n != mt_rank(b))
    return mt_failn(err, MT_ERANK, "copy: src %N has rank %d, dst %N has rank %d", a, n,
                    b, mt_rank(b));
  for (int i = 0; i < n; i++)
    if (mt_size(mt_mode(a, i)) != mt_size(mt_mode(b, i)))
      return mt_failn(err, MT_ERANK,
                      "copy: mode %d of src %N has size %lld, of dst %N "
                      "it has %lld",
                      i + 1, a, (long long)mt_size(mt_mode(a, i)), b,
                      (long long)mt_size(mt_mode(b, i)));
  return MT_OK;
}

mt_status mt_check_tiled_copy (const mt_tiled_copy *copy, const mt_tensor *src,
                               mt_err *err) {
  int bits = (int)mt_dtype_size(src->dtype) * 8, modes = mt_rank(copy->tiler.node);
  int64_t threads = mt_tiled_copy_size(copy);
  if (mt_size(copy->atom.thr_id.node) > 1 && !copy->atom.own)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "copy: %s is done by %lld threads together on "
                   "registers and shared memory, which tensors are not in: it can be "
                   "partitioned, not run\nUniversalCopy<uint%d_t> would do, or "
                   "AutoVectorizingCopy",
                   copy->atom.name, (long long)mt_size(copy->atom.thr_id.node), bits);
  if (copy->atom_bits > 128)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "copy: %s moves %d bits at once, kernels move "
                   "at most 128\nUniversalCopy<uint128_t> would do, or "
                   "AutoVectorizingCopy",
                   copy->atom.name, copy->atom_bits);
  if (copy->bits != bits)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "copy: the tiled copy moves elements of %d "
                   "bits, %s has %d",
                   copy->bits, mt_dtype_name(src->dtype), bits);
  if (mt_rank(mt_base(src->layout)) < modes)
    return mt_failn(err, MT_ERANK,
                    "copy: the tile %N has %d modes, the tensors %N have "
                    "%d",
                    copy->tiler.node, modes, src->layout, mt_rank(mt_base(src->layout)));
  if (threads > MT_MAXTHREADS)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "copy: thr %N has %lld threads, a block has at "
                    "most %d",
                    copy->thr.node, (long long)threads, (int)MT_MAXTHREADS);
  return MT_OK;
}

/* ---------------------------------------------------------------- partitions */

/* Mode by mode coalesced: the same function, in the form that divides most easily. */
static MT_APART mt_status simplify (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_layout profile;
  int64_t one[MT_MAXNODES];
  int n = mt_rank(a);
  if (n > MT_MAXNODES / 4)
    return mt_failn(err, MT_ETOOBIG,
                    "copy: %N has %d modes, at most %d can be "
                    "partitioned",
                    a, n, MT_MAXNODES / 4);
  for (int i = 0; i < n; i++) one[i] = 1;
  MT_TRY(mt_ints(&profile, n, one, err));
  return mt_coalesce(out, a, mt_is_branch(a) ? profile.node : NULL, err);
}

/* Axes have steps: of a partition that is a function what composition says of it. */
static mt_status partition_by_steps (mt_layout *out, const mt_tiled_copy *copy,
                                     const mt_node *a, mt_err *err) {
  mt_layout divided;
  MT_TRY(mt_partition(out, copy, a, err));
  if (mt_base(out->node) == out->node) return MT_OK;
  MT_TRY(mt_zipped_divide(&divided, a, copy->tiler.node, err));
  MT_TRY(mt_composition(out, mt_mode(divided.node, 0), copy->layout_tv.node, err));
  return mt_failn(err, MT_EINEXACT, "copy: the partition of %N is a function", a);
}

static MT_APART mt_status partition (mt_layout *out, const mt_tiled_copy *copy,
                                     const mt_node *a, mt_err *err) {
  mt_layout simple;
  MT_TRY(simplify(&simple, a, err));
  return partition_by_steps(out, copy, simple.node, err);
}

mt_status mt_ordinates_of (mt_layout *out, const mt_node *a, int k, mt_err *err) {
  mt_layout shape, stride;
  int64_t s[MT_MAXNODES], d[MT_MAXNODES];
  int n = mt_rank(a);
  for (int i = 0; i < n; i++) s[i] = mt_size(mt_mode(a, i)), d[i] = i == k;
  MT_TRY(mt_ints(&shape, n, s, err));
  MT_TRY(mt_ints(&stride, n, d, err));
  return mt_make_layout(out, shape.node, stride.node, err);
}

static mt_status no_refinement (int i, const mt_node *a, const char *what,
                                const mt_node *b, mt_err *err) {
  static const char *const names[] = {"threads", "values", "rests"};
  return mt_failn(err, MT_EINEXACT,
                  "copy: the %s of src and of %s have no common "
                  "refinement: %N and %N\ngive both tensors one shape, or copy without a "
                  "partition",
                  names[i], what, mt_mode(a, i), mt_mode(b, i));
}

static mt_status check_room (const mt_draft *x, mt_err *err) {
  if (x->nbound < MT_MAXBOUND) return MT_OK;
  return mt_fail(err, MT_ETOOBIG,
                 "copy: more than %d bounds: of what the tile overhangs "
                 "and of tensors that are ragged themselves\ncopy the ragged one into a "
                 "tensor of its own first",
                 (int)MT_MAXBOUND);
}

/* Of mode i of the partitioned tensor `a` and its coordinates. */
static MT_APART mt_status no_bound (int i, const mt_tiled_copy *copy, const mt_node *a,
                                    const mt_node *crd, mt_err *err) {
  mt_layout tv;
  MT_TRY(partition(&tv, copy, a, err));
  return no_refinement(i, tv.node, "the coordinates", crd, err);
}

/* Of the ordinates `crd` of the tensor `a`. */
static MT_APART mt_status add_bound (mt_draft *x, const mt_tiled_copy *copy,
                                     const mt_node *crd, const mt_node *a, int64_t bound,
                                     mt_err *err) {
  mt_layout part;
  int f = MT_STEP + (int)x->nbound;
  MT_TRY(check_room(x, err));
  MT_TRY(partition_by_steps(&part, copy, crd, err));
  for (int i = 0; i < 3; i++)
    if (!mt_axes_refine(&x->mode[i], mt_mode(part.node, i), f))
      return no_bound(i, copy, a, part.node, err);
  x->bound[x->nbound++] = bound;
  return MT_OK;
}

/* Whether the tiles end where mode k of the tensor ends: those of a layout do if it and
** its complement are all of the mode. */
static mt_status ends_whole (bool *whole, const mt_node *tile, const mt_node *mode,
                             mt_err *err) {
  mt_layout divided;
  int64_t size = mt_size(mode);
  *whole = size % mt_size(tile) == 0;
  if (tile->tag == MT_INT || size == 0) return MT_OK;
  const mt_node ordinates = {.tag = MT_LEAF, .span = 1, .shape = size, .stride = 1};
  MT_TRY(mt_logical_divide(&divided, &ordinates, tile, err));
  *whole = mt_size(divided.node) == size;
  return MT_OK;
}

/* A mode of the tensors that the tile overhangs gets a bound. */
static MT_APART mt_status add_bounds (mt_draft *x, int *modes, const mt_tiled_copy *copy,
                                      const mt_node *src, mt_err *err) {
  int n = mt_rank(copy->tiler.node);
  for (int k = 0; k < n; k++) {
    mt_layout crd;
    bool whole;
    MT_TRY(ends_whole(&whole, mt_mode(copy->tiler.node, k), mt_mode(src, k), err));
    if (whole) continue;
    if (x->nbound < MT_MAXBOUND) modes[x->nbound] = k + 1;
    MT_TRY(mt_ordinates_of(&crd, src, k, err));
    MT_TRY(add_bound(x, copy, crd.node, src, mt_size(mt_mode(src, k)), err));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- ragged tensors */

/* The bound that was added last says nothing new: it counts as another one does, which
** becomes the lower of both. */
static void drop_twin (mt_draft *x) {
  uint32_t last = x->nbound - 1, k = 0;
  for (bool same = false; k < last; k++) {
    same = true;
    for (int i = 0; i < 3; i++)
      for (mt_axis *a = x->mode[i].axis; a < x->mode[i].axis + x->mode[i].n; a++)
        same = same && a->step[k] == a->step[last];
    if (same) break;
  }
  if (k == last) return;
  if (x->bound[last] < x->bound[k]) x->bound[k] = x->bound[last];
  x->nbound = last;
  for (int i = 0; i < 3; i++)
    for (mt_axis *a = x->mode[i].axis; a < x->mode[i].axis + x->mode[i].n; a++)
      a->step[last] = 0;
}

/* Whether the other tensor has the same ordinates; the lower bound counts. */
static MT_APART mt_status find_twin (bool *found, int64_t *bound, const mt_node *crd,
                                     const mt_tensor *other, mt_err *err) {
  *found = false;
  for (int k = 0; k < mt_ordinates(other); k++) {
    mt_layout twin;
    int64_t least;
    MT_TRY(mt_bound_of(&twin, &least, other, k, err));
    if (!mt_equal(twin.node, crd)) continue;
    *found = true;
    if (least < *bound) *bound = least;
  }
  return MT_OK;
}

static mt_status add_flat (mt_draft *x, const mt_node *crd, int64_t bound, mt_err *err) {
  MT_TRY(check_room(x, err));
  if (!mt_axes_refine(&x->mode[2], crd, MT_STEP + (int)x->nbound))
    return mt_failn(err, MT_EINEXACT,
                    "copy: offsets and coordinates of the tensors have "
                    "no common refinement: coordinates %N\ncopy the ragged tensor into "
                    "one of its own first",
                    crd);
  x->bound[x->nbound++] = bound;
  return MT_OK;
}

/* Bound k of one of the tensors. */
static MT_APART mt_status add_own (mt_draft *x, int *modes, const mt_tiled_copy *copy,
                                   const mt_tensor *const t[2], int side, int k,
                                   mt_err *err) {
  mt_layout crd, simple;
  int64_t bound;
  bool found;
  MT_TRY(mt_renamed("copy", mt_bound_of(&crd, &bound, t[side], k, err), err));
  MT_TRY(find_twin(&found, &bound, crd.node, t[1 - side], err));
  if ((side == MT_DST && found) || mt_last_ordinate(crd.node) < bound) return MT_OK;
  x->empty = x->empty || bound <= 0;
  if (x->nbound < MT_MAXBOUND) modes[x->nbound] = 0;
  if (copy == NULL) MT_TRY(add_flat(x, crd.node, bound, err));
  else {
    MT_TRY(simplify(&simple, crd.node, err));
    MT_TRY(add_bound(x, copy, simple.node, mt_inner(t[side]->layout), bound, err));
  }
  drop_twin(x);
  return MT_OK;
}

static mt_status add_all (mt_draft *x, int *modes, const mt_tiled_copy *copy,
                          const mt_tensor *const t[2], mt_err *err) {
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < mt_ordinates(t[side]); k++)
      MT_TRY(add_own(x, modes, copy, t, side, k, err));
  return MT_OK;
}

/* ---------------------------------------------------------------- drafts */

static MT_APART mt_status draft_tv (mt_draft *x, const mt_tiled_copy *copy,
                                    const mt_node *src, const mt_node *dst, mt_err *err) {
  mt_layout from, to;
  MT_TRY(partition(&from, copy, src, err)); /* (Thr,Val,(RestM,RestN,...)) */
  MT_TRY(partition(&to, copy, dst, err));
  for (int i = 0; i < 3; i++) {
    mt_axes_of(&x->mode[i], mt_mode(from.node, i), MT_SRC);
    if (mt_size(mt_mode(from.node, i)) != mt_size(mt_mode(to.node, i)) ||
        !mt_axes_refine(&x->mode[i], mt_mode(to.node, i), MT_DST))
      return no_refinement(i, from.node, "dst", to.node, err);
  }
  return MT_OK;
}

static MT_APART mt_status draft_flat (mt_draft *x, const mt_node *src, const mt_node *dst,
                                      mt_err *err) {
  for (int i = 0; i < mt_rank(src); i++) {
    mt_axes mode;
    mt_axes_of(&mode, mt_mode(src, i), MT_SRC);
    if (!mt_axes_refine(&mode, mt_mode(dst, i), MT_DST))
      return mt_failn(err, MT_EINEXACT,
                      "copy: mode %d of src and of dst have no common "
                      "refinement: %N and %N\ngive both tensors one shape",
                      i + 1, mt_mode(src, i), mt_mode(dst, i));
    mt_axes_append(&x->mode[2], &mode);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- descriptors */

static void begin (mt_launch *l, const mt_tiled_copy *copy, const mt_tensor *src,
                   const mt_tensor *dst) {
  memset(l, 0, sizeof *l);
  l->desc.op = MT_OP_COPY;
  l->desc.algo = copy ? MT_ALGO_DESCRIBED : MT_ALGO_STRIDED;
  l->desc.elem = (uint32_t)mt_dtype_size(src->dtype);
  if (src->dtype != dst->dtype) {
    l->desc.cast = MT_CAST(src->dtype, dst->dtype);
    l->desc.to = (uint32_t)mt_dtype_size(dst->dtype);
  }
  l->desc.vec = 1;
  l->desc.threads = l->desc.values = 1;
  l->base[MT_SRC] = src->data;
  l->base[MT_DST] = dst->data;
  l->offset[MT_SRC] = src->offset;
  l->offset[MT_DST] = dst->offset;
  l->size[MT_SRC] = (int64_t)src->bytes;
  l->size[MT_DST] = (int64_t)dst->bytes;
}

/* Offsets before the swizzle lie in low .. high; true if they leave 64 bits. */
static bool find_reach (int64_t *low, int64_t *high, const mt_node *a) {
  *low = *high = a->stride;
  for (const mt_node *p = mt_child(a); p < mt_next(a); p++) {
    int64_t t;
    if (p->tag != MT_LEAF || p->shape <= 1) continue;
    if (mt_mulo(p->shape - 1, p->stride, &t)) return true;
    int64_t *end = t < 0 ? low : high;
    if (mt_addo(*end, t, end)) return true;
  }
  return false;
}

/* Whether the swizzle adds one number to all offsets that `a` reaches: where it swizzles
** nothing, or all of them lie in one run of 2^M. */
static bool is_shift (int64_t *by, const mt_node *a) {
  mt_swizzle w = mt_swizzle_of(a);
  int64_t low, high, y = mt_swizzle_y(w);
  *by = 0;
  if (w.b == 0) return true;
  if (find_reach(&low, &high, a)) return false;
  if ((low & y) == 0 && low >> __builtin_ctzll(y) == high >> __builtin_ctzll(y))
    return true;
  *by = mt_swizzle_apply(w, low) - low;
  return low >> w.m == high >> w.m;
}

/* The swizzle of a side, and the offsets before and behind it. */
static mt_status put_swizzle (mt_launch *l, int side, const mt_tensor *t, mt_err *err) {
  const mt_node *a = t->layout;
  int64_t by;
  if (!mt_is_swizzled(a)) return MT_OK;
  if (is_shift(&by, a)) {
    if (mt_addo(by, a->stride, &by) || mt_addo(by, t->offset, &l->offset[side]))
      return mt_failn(err, MT_EOVERFLOW, "copy: %s: the offset of %N leaves 64 bits",
                      side_name[side], a);
    return MT_OK;
  }
  mt_swizzle w = mt_swizzle_of(a);
  l->desc.swizzle[side] = (mt_desc_swizzle){mt_swizzle_y(w), w.s};
  l->offset[side] = a->stride;
  l->origin[side] = t->offset;
  return MT_OK;
}

/* ---------------------------------------------------------------- boxes */

static mt_status put_axes (mt_launch *out, mt_draft *x, mt_err *err) {
  out->desc.nbound = x->nbound;
  memcpy(out->desc.bound, x->bound, sizeof x->bound);
  for (int i = 0; i < 3; i++) mt_axes_merge(&x->mode[i]);
  return mt_axes_put(&out->desc, x->mode, err);
}

/* The box's axes in the order that they had. */
static void take_box (mt_draft *x, const mt_domain *b) {
  mt_axes *rest = &x->mode[2];
  int place[MT_LISTSIZE];
  x->nbound = 0;
  rest->n = 0;
  for (int j = 0; j < b->n; j++) {
    int i = rest->n++, at = b->part[b->axis[j].first];
    for (; i > 0 && place[i - 1] > at; i--) {
      rest->axis[i] = rest->axis[i - 1];
      place[i] = place[i - 1];
    }
    memset(&rest->axis[i], 0, sizeof rest->axis[i]);
    rest->axis[i].extent = b->axis[j].extent;
    memcpy(rest->axis[i].stride, b->axis[j].stride, sizeof b->axis[j].stride);
    place[i] = at;
  }
}

typedef struct mt_only {
  int n;
  mt_domain box;
} mt_only;

static bool only_one (void *ud, const mt_domain *piece) {
  mt_only *only = ud;
  only->box = *piece;
  return ++only->n == 1;
}

/* Threads of a flat copy that converts and has bounds: only DESCRIBED has both. */
static void share_rest (mt_launch *out, mt_draft *x) {
  mt_axes *thr = &x->mode[0], *rest = &x->mode[2];
  int64_t n = rest->n > 0 ? rest->axis[0].extent : 1, most = MT_MAXTHREADS / 4;
  out->desc.algo = MT_ALGO_DESCRIBED;
  while (most > 1 && n % most != 0) most--;
  if (rest->n == 0 || most == 1) return;
  thr->n = 1;
  thr->axis[0] = rest->axis[0];
  thr->axis[0].extent = most;
  rest->axis[0].extent /= most;
  for (int o = 0; o < 2; o++) rest->axis[0].stride[o] *= most;
  for (int k = 0; k < MT_MAXBOUND; k++) rest->axis[0].step[k] *= most;
}

/* A flat copy of a box has smaller axes instead of bounds. */
static MT_APART mt_status put_flat (mt_launch *out, mt_draft *x, mt_err *err) {
  mt_only only = {0};
  MT_TRY(put_axes(out, x, err));
  if (x->nbound == 0) return MT_OK;
  mt_domain_of(&only.box, &out->desc, 1u << MT_SRC | 1u << MT_DST);
  if (only.box.exact || (mt_pieces(&out->desc, only_one, &only) && only.n == 1))
    take_box(x, &only.box);
  else if (out->desc.cast) share_rest(out, x);
  return put_axes(out, x, err);
}

/* Nothing is to be done: an axis of extent 0. */
static mt_status put_nothing (mt_launch *out) {
  out->desc.nrest = 1;
  out->desc.rests = 0;
  return MT_OK;
}

/* Nothing of it: axes are made as they come. */
static void clear (mt_draft *x) {
  for (int i = 0; i < 3; i++) x->mode[i].n = 0;
  for (int k = 0; k < MT_MAXBOUND; k++) x->bound[k] = 0;
  x->nbound = 0, x->empty = false;
}

mt_status mt_describe (mt_launch *out, int modes[MT_MAXBOUND], const mt_tiled_copy *copy,
                       const mt_tensor *src, const mt_tensor *dst, mt_err *err) {
  const mt_tensor *const t[] = {src, dst};
  mt_draft x;
  clear(&x);
  MT_TRY(check_tensor(src, MT_SRC, err));
  MT_TRY(check_tensor(dst, MT_DST, err));
  MT_TRY(check_shapes(src, dst, err));
  if (copy) MT_TRY(mt_check_tiled_copy(copy, src, err));
  begin(out, copy, src, dst);
  if (mt_size(src->layout) == 0) return put_nothing(out);
  MT_TRY(put_swizzle(out, MT_SRC, src, err));
  MT_TRY(put_swizzle(out, MT_DST, dst, err));
  const mt_node *from = mt_inner(src->layout), *to = mt_inner(dst->layout);
  if (copy) {
    MT_TRY(draft_tv(&x, copy, from, to, err));
    MT_TRY(add_bounds(&x, modes, copy, from, err));
  } else MT_TRY(draft_flat(&x, from, to, err));
  MT_TRY(add_all(&x, modes, copy, t, err));
  if (x.empty) return put_nothing(out);
  return copy ? put_axes(out, &x, err) : put_flat(out, &x, err);
}
