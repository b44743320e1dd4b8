/*
** modes.c - the modes of tuples and layouts: beside, in, out, in other trees.
** SPDX-License-Identifier: MIT
**
** The modes of a swizzled layout stay under the swizzle, those of a composed one under
** what is composed with it.
*/
#include "moontile/tuple.h"
#include "tuple/tuple.h"

static bool has_root (const mt_node *x) { return mt_is_swizzled(x) || mt_is_composed(x); }

/* Whether x can be a mode beside the modes of t: both parts of layouts, of tilers, or of
** tuples. */
static bool fits_beside (const mt_node *t, const mt_node *x) {
  if (has_root(x)) return false;
  if (mt_is_function(t)) return mt_is_layout(x);
  if (t->tag == MT_TILER)
    return mt_is_layout(x) || x->tag == MT_TILER || x->tag == MT_WILD;
  return !mt_is_layout(x) && x->tag != MT_TILER;
}

static mt_status check_beside (const char *op, const mt_node *t, const mt_node *x,
                               mt_err *err) {
  if (fits_beside(t, x)) return MT_OK;
  return mt_failn(err, MT_EINVAL, "%s: %N cannot be a mode of %N: %s", op, x, t,
                  mt_is_composed(x)  ? "it is composed with a function of its own" :
                  mt_is_swizzled(x)  ? "it has a swizzle of its own" :
                  mt_is_function(t)  ? "a layout expected" :
                  t->tag == MT_TILER ? "a layout, a tiler or _ expected" :
                                       "an integer or a tuple expected");
}

static mt_status no_mode (mt_err *err, const char *op, int i, const mt_node *t) {
  return mt_failn(err, MT_ERANGE, "%s: there is no mode %d in %N, its rank is %d", op,
                  i + 1, t, mt_rank(t));
}

/* Opens the branch that the modes of t are to lie in. */
static void begin_modes (mt_build *b, mt_layout *out, const char *op, const mt_node *t,
                         mt_err *err) {
  mt_begin(b, out, op, err);
  mt_open_root(b, t);
  mt_open(b, mt_branch_of(mt_base(t)));
}

static void add_modes (mt_build *b, const mt_node *t, int first, int last) {
  const mt_node *c = mt_first_mode(mt_base(t));
  for (int i = 0; i < last; i++, c = mt_next(c))
    if (i >= first) mt_add(b, c);
}

/* ---- more modes */

/* The modes of t with x before or after them, until they are n. */
static mt_status extend (mt_layout *out, const char *op, const mt_node *t, int n,
                         const mt_node *x, bool before, mt_err *err) {
  static const mt_node one = {.tag = MT_LEAF, .span = 1, .shape = 1};
  mt_build b;
  int rank = mt_rank(t);
  if (x == NULL && !mt_is_function(t))
    return mt_failn(err, MT_EINVAL, "%s: %N to %d modes: what is to fill them?", op, t,
                    n);
  if (x == NULL) x = &one;
  MT_TRY(check_beside(op, t, x, err));
  if (n < rank)
    return mt_failn(err, MT_ERANK, "%s: %N to %d modes: it has %d already", op, t, n,
                    rank);
  if (n == rank) {
    mt_copy_value(out, t);
    return MT_OK;
  }
  begin_modes(&b, out, op, t, err);
  for (int i = rank; before && i < n && b.status == MT_OK; i++) mt_add(&b, x);
  add_modes(&b, t, 0, rank);
  for (int i = rank; !before && i < n && b.status == MT_OK; i++) mt_add(&b, x);
  return mt_end(&b);
}

mt_status mt_append (mt_layout *out, const mt_node *t, const mt_node *x, mt_err *err) {
  return extend(out, "append", t, mt_rank(t) + 1, x, false, err);
}

mt_status mt_append_n (mt_layout *out, const mt_node *t, int n, const mt_node *x,
                       mt_err *err) {
  return extend(out, "append", t, n, x, false, err);
}

mt_status mt_prepend (mt_layout *out, const mt_node *t, const mt_node *x, mt_err *err) {
  return extend(out, "prepend", t, mt_rank(t) + 1, x, true, err);
}

mt_status mt_prepend_n (mt_layout *out, const mt_node *t, int n, const mt_node *x,
                        mt_err *err) {
  return extend(out, "prepend", t, n, x, true, err);
}

mt_status mt_insert (mt_layout *out, const mt_node *t, int i, const mt_node *x,
                     mt_err *err) {
  mt_build b;
  MT_TRY(check_beside("insert", t, x, err));
  if (i < 0 || i > mt_rank(t))
    return mt_failn(err, MT_ERANGE, "insert: as mode %d of %N, whose rank is %d", i + 1,
                    t, mt_rank(t));
  begin_modes(&b, out, "insert", t, err);
  add_modes(&b, t, 0, i);
  mt_add(&b, x);
  add_modes(&b, t, i, mt_rank(t));
  return mt_end(&b);
}

/* ---- fewer and other modes */

mt_status mt_remove (mt_layout *out, const mt_node *t, int i, mt_err *err) {
  mt_build b;
  if (i < 0 || i >= mt_rank(t)) return no_mode(err, "remove", i, t);
  begin_modes(&b, out, "remove", t, err);
  add_modes(&b, t, 0, i);
  add_modes(&b, t, i + 1, mt_rank(t));
  return mt_end(&b);
}

mt_status mt_replace (mt_layout *out, const mt_node *t, int i, const mt_node *x,
                      mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  MT_TRY(check_beside("replace", t, x, err));
  if (i < 0 || i >= mt_rank(t)) return no_mode(err, "replace", i, t);
  mt_begin(&b, out, "replace", err);
  mt_open_root(&b, t);
  if (mt_is_branch(in)) mt_open(&b, (mt_tag)in->tag);
  add_modes(&b, t, 0, i);
  mt_add(&b, x);
  add_modes(&b, t, i + 1, mt_rank(t));
  return mt_end(&b);
}

mt_status mt_reverse (mt_layout *out, const mt_node *t, mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  mt_begin(&b, out, "reverse", err);
  mt_open_root(&b, t);
  if (mt_is_branch(in)) mt_open(&b, (mt_tag)in->tag);
  for (int i = mt_rank(t) - 1; i >= 0; i--) mt_add(&b, mt_mode(in, i));
  return mt_end(&b);
}

/* ---- other trees */

mt_status mt_wrap (mt_layout *out, const mt_node *t, mt_err *err) {
  mt_build b;
  if (mt_is_branch(mt_base(t))) {
    mt_copy_value(out, t);
    return MT_OK;
  }
  begin_modes(&b, out, "wrap", t, err);
  add_modes(&b, t, 0, 1);
  return mt_end(&b);
}

mt_status mt_unwrap (mt_layout *out, const mt_node *t, mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  while (mt_is_branch(in) && in->arity == 1) in = mt_child(in);
  mt_begin(&b, out, "unwrap", err);
  mt_open_root(&b, t);
  mt_add(&b, in);
  return mt_end(&b);
}

/* The first or the last part of t that is no tuple. */
static mt_status end_of (mt_layout *out, const char *op, const mt_node *t, bool last,
                         mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  while (mt_is_branch(in) && in->arity > 0) in = mt_mode(in, last ? in->arity - 1 : 0);
  if (mt_is_branch(in))
    return mt_failn(err, MT_ERANK, "%s: %N %s ()", op, t,
                    last ? "ends in" : "begins with");
  mt_begin(&b, out, op, err);
  mt_open_root(&b, t);
  mt_add(&b, in);
  return mt_end(&b);
}

mt_status mt_front (mt_layout *out, const mt_node *t, mt_err *err) {
  return end_of(out, "front", t, false, err);
}

mt_status mt_back (mt_layout *out, const mt_node *t, mt_err *err) {
  return end_of(out, "back", t, true, err);
}

mt_status mt_flatten_to_tuple (mt_layout *out, const mt_node *t, mt_err *err) {
  mt_layout flat;
  MT_TRY(mt_flatten(&flat, t, err));
  return mt_wrap(out, flat.node, err);
}

/* The tree of `profile` with the modes *c, ... in the places of its leaves. */
static void emit_unflat (mt_build *b, const mt_node *profile, mt_tag branch,
                         const mt_node **c) {
  if (!mt_is_branch(profile)) {
    mt_add(b, *c);
    *c = mt_next(*c);
    return;
  }
  mt_open(b, branch);
  for (const mt_node *p = mt_child(profile); p < mt_next(profile); p = mt_next(p))
    emit_unflat(b, p, branch, c);
  mt_close(b);
}

static int count_leaves (const mt_node *t) {
  int n = 0;
  if (!mt_is_branch(t)) return 1;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    n += count_leaves(c);
  return n;
}

mt_status mt_unflatten (mt_layout *out, const mt_node *t, const mt_node *profile,
                        mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t), *c = mt_first_mode(in), *tree = mt_base(profile);
  if (mt_depth(t) > 1) return mt_failn(err, MT_ERANK, "unflatten: %N is not flat", t);
  if (mt_rank(t) != count_leaves(tree))
    return mt_failn(err, MT_ERANK, "unflatten: %N has %d modes, profile %N has %d places",
                    t, mt_rank(t), profile, count_leaves(tree));
  mt_begin(&b, out, "unflatten", err);
  mt_open_root(&b, t);
  emit_unflat(&b, tree, mt_branch_of(in), &c);
  return mt_end(&b);
}

/* ---- transposition */

/* Every part is a tuple of as many modes as the first. */
static mt_status check_parts (const mt_node *const *t, int n, mt_err *err) {
  for (int i = 0; i < n; i++) {
    mt_pair p = {"zip", t[0], t[i], err};
    if (has_root(t[i]))
      return mt_failn(err, MT_EUNSUPPORTED, "zip: of the %s %N",
                      mt_is_composed(t[i]) ? "composed" : "swizzled", t[i]);
    if (mt_is_layout(t[i]) != mt_is_layout(t[0]))
      return mt_failn(err, MT_EINVAL, "zip: %N and %N: a layout and none", t[0], t[i]);
    if ((t[i]->tag == MT_TILER) != (t[0]->tag == MT_TILER))
      return mt_failn(err, MT_EINVAL, "zip: %N and %N: a tiler and none", t[0], t[i]);
    if (mt_is_branch(t[0]) && (!mt_is_branch(t[i]) || t[i]->arity != t[0]->arity))
      return mt_ranks_differ(&p, t[0], t[i]);
  }
  return MT_OK;
}

/* The parts of a whole: its modes. */
static int parts_of (const mt_node **part, const mt_node *whole) {
  int n = 0;
  for (const mt_node *c = mt_child(whole); c < mt_next(whole); c = mt_next(c))
    part[n++] = c;
  return n;
}

mt_status mt_zip (mt_layout *out, int n, const mt_node *const *t, mt_err *err) {
  const mt_node *part[MT_MAXNODES], *whole = t[0];
  mt_build b;
  MT_CHECK(n > 0 && n <= MT_MAXNODES, err, "zip: 1 to %d values expected", MT_MAXNODES);
  if (n == 1 && mt_rank(whole) == 0) return mt_wrap(out, whole, err);
  mt_begin(&b, out, "zip", err);
  if (n == 1) mt_open_root(&b, whole);
  if (n == 1 && mt_is_branch(mt_base(whole))) {
    n = parts_of(part, mt_base(whole));
    t = part;
  } else if (n == 1) {
    mt_add(&b, mt_base(whole));
    return mt_end(&b);
  }
  MT_TRY(check_parts(t, n, err));
  mt_tag branch = mt_branch_of(t[0]);
  int rank = mt_rank(t[0]);
  mt_open(&b, branch);
  for (int j = 0; j < rank; j++) {
    mt_open(&b, branch);
    for (int i = 0; i < n; i++) mt_add(&b, mt_is_branch(t[0]) ? mt_mode(t[i], j) : t[i]);
    mt_close(&b);
  }
  return mt_end(&b);
}

/* Where the guide has a leaf, t has two modes. */
static mt_status check_guide (const mt_pair *p, const mt_node *t, const mt_node *g) {
  if (!mt_is_branch(t)) return mt_ranks_differ(p, t, g);
  if (!mt_is_branch(g)) {
    if (t->arity == 2) return MT_OK;
    mt_failn(p->err, MT_ERANK, "%s: a pair expected at %N of the guide, not %N", p->op, g,
             t);
    mt_tell_wholes(p, t);
    return MT_ERANK;
  }
  if (t->arity < g->arity) return mt_ranks_differ(p, t, g);
  const mt_node *c = mt_child(t);
  for (const mt_node *d = mt_child(g); d < mt_next(g); d = mt_next(d), c = mt_next(c))
    MT_TRY(check_guide(p, c, d));
  return MT_OK;
}

/* The first or the second of each pair, in the tree of the guide; the second are followed
** by what the guide does not reach. */
static void emit_half (mt_build *b, const mt_node *t, const mt_node *g, int half) {
  if (!mt_is_branch(g)) {
    mt_add(b, mt_mode(t, half));
    return;
  }
  const mt_node *c = mt_child(t);
  mt_open(b, (mt_tag)t->tag);
  for (const mt_node *d = mt_child(g); d < mt_next(g); d = mt_next(d), c = mt_next(c))
    emit_half(b, c, d, half);
  for (; half == 1 && c < mt_next(t); c = mt_next(c)) mt_add(b, c);
  mt_close(b);
}

mt_status mt_zip2_by (mt_layout *out, const mt_node *t, const mt_node *guide,
                      mt_err *err) {
  mt_pair p = {"zip2_by", t, guide, err};
  mt_build b;
  const mt_node *in = mt_base(t);
  MT_TRY(check_guide(&p, in, guide));
  begin_modes(&b, out, p.op, t, err);
  emit_half(&b, in, guide, 0);
  emit_half(&b, in, guide, 1);
  return mt_end(&b);
}

/* ---- repetition */

static void emit_repeated (mt_build *b, const mt_node *t, const mt_node *x) {
  if (!mt_is_branch(t)) {
    mt_add(b, x);
    return;
  }
  mt_open(b, mt_is_layout(x) ? MT_MODES : MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t) && b->status == MT_OK;
       c = mt_next(c))
    emit_repeated(b, c, x);
  mt_close(b);
}

static mt_status check_repeated (const char *op, const mt_node *x, mt_err *err) {
  if (!has_root(x) && x->tag != MT_TILER) return MT_OK;
  return mt_failn(err, MT_EINVAL, "%s: %N cannot be a mode of a tuple or a layout", op,
                  x);
}

mt_status mt_repeat_like (mt_layout *out, const mt_node *t, const mt_node *x,
                          mt_err *err) {
  mt_build b;
  MT_TRY(check_repeated("repeat_like", x, err));
  mt_begin(&b, out, "repeat_like", err);
  emit_repeated(&b, mt_base(t), x);
  return mt_end(&b);
}

mt_status mt_repeat (mt_layout *out, int n, const mt_node *x, mt_err *err) {
  mt_build b;
  MT_TRY(check_repeated("repeat", x, err));
  if (n < 0) return mt_fail(err, MT_ERANGE, "repeat: %d times", n);
  mt_begin(&b, out, "repeat", err);
  if (n != 1) mt_open(&b, mt_is_layout(x) ? MT_MODES : MT_TUPLE);
  for (int i = 0; i < n && b.status == MT_OK; i++) mt_add(&b, x);
  return mt_end(&b);
}
