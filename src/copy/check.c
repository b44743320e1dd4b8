/*
** check.c - the launch validator: range, alignment, injectivity, overlap. A pure
** function.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "desc/domain.h"
#include "copy/check.h"
#include "copy/witness.h"
#include "desc/swizzle.h"
#include "core/solve.h"

static const char *const side_name[] = {"src", "dst"};

/* Offsets of one side: those of the real elements lie in low .. high before the swizzle;
** the elements in first .. last, from the start of the buffer, both of them if `reached`
** and the box is exact. */
typedef struct mt_side {
  mt_domain box;
  int64_t low, high;
  int64_t first, last;
  bool reached;
} mt_side;

/* ---------------------------------------------------------------- range */

/* Index 0, or the last, on each axis: the lowest or the highest offset. */
static void extreme (int64_t *v, const mt_domain *b, int side, bool high) {
  for (int j = 0; j < b->n; j++)
    v[j] = (b->axis[j].stride[side] > 0) == high ? b->axis[j].extent - 1 : 0;
}

/* The index of an element on each axis; false if none was found. */
static bool find_index (int64_t *v, const mt_launch *l, const mt_side *s, int side,
                        int64_t element) {
  mt_equation e = {.n = 0};
  int64_t at = mt_desc_swizzled(l->desc.swizzle[side], element - l->origin[side]);
  const mt_domain *b = &s->box;
  for (int j = 0; j < b->n; j++) {
    int64_t d = b->axis[j].stride[side];
    if (d == 0) continue;
    e.d[e.n] = d < 0 ? -d : d;
    e.hi[e.n++] = b->axis[j].extent - 1;
  }
  if (mt_solve(&e, at - s->low, false) != MT_FOUND) return false;
  for (int j = 0, i = 0; j < b->n; j++) {
    int64_t d = b->axis[j].stride[side];
    v[j] = d == 0 ? 0 : e.v[i++];
    if (d < 0) v[j] = b->axis[j].extent - 1 - v[j];
  }
  return true;
}

static mt_status fail_swizzled (const mt_launch *l, const mt_side *s, int side,
                                int64_t have, mt_err *err) {
  int64_t v[MT_MAXDOMAIN], at = s->first < 0 ? s->first : s->last;
  char text[MT_WITNESS_TEXT] = "an element";
  if (!s->reached || !s->box.exact)
    return mt_fail(err, MT_ERANGE,
                   "%s: that all stays inside its buffer of %lld "
                   "elements could not be proven: %s",
                   side_name[side], (long long)have,
                   s->reached ?
                       "bounds and strides do not go together" :
                       "its swizzled range has too many elements to be searched");
  if (find_index(v, l, s, side, at)) {
    mt_witness w = mt_witness_of(l, &s->box, side, v);
    mt_witness_text(text, &l->desc, &w);
  }
  return mt_fail(err, MT_ERANGE,
                 "%s: %s lies at offset %lld under the swizzle; the "
                 "buffer has elements 0 to %lld",
                 side_name[side], text, (long long)at, (long long)have - 1);
}

static mt_status fail_range (const mt_launch *l, const mt_side *s, int side, int64_t have,
                             mt_err *err) {
  int64_t v[MT_MAXDOMAIN];
  char text[MT_WITNESS_TEXT];
  if (l->desc.swizzle[side].mask) return fail_swizzled(l, s, side, have, err);
  extreme(v, &s->box, side, s->low >= 0);
  mt_witness w = mt_witness_of(l, &s->box, side, v);
  if (!s->box.exact)
    return mt_fail(err, MT_ERANGE,
                   "%s: that all stays inside its buffer of %lld "
                   "elements could not be proven: bounds and strides do not go together",
                   side_name[side], (long long)have);
  return mt_fail(err, MT_ERANGE,
                 "%s: %s lies at offset %lld; the buffer has elements 0 "
                 "to %lld",
                 side_name[side], mt_witness_text(text, &l->desc, &w),
                 (long long)w.offset, (long long)have - 1);
}

/* The elements of the side: whole blocks of a swizzle. */
static void find_blocks (mt_side *s, const mt_launch *l, int side) {
  int64_t block = mt_desc_swizzle_block(l->desc.swizzle[side]);
  s->first = l->origin[side] + (s->low & ~block);
  s->last = l->origin[side] + (s->high | block);
  s->reached = block == 0;
}

/* The same, exactly, where that can be found. */
static void find_elements (mt_side *s, const mt_launch *l, int side) {
  int64_t low, high;
  if (s->reached ||
      !mt_desc_swizzle_range(&low, &high, l->desc.swizzle[side],
                             l->offset[side] + s->box.start[side], &s->box, side))
    return;
  s->first = l->origin[side] + low;
  s->last = l->origin[side] + high;
  s->reached = true;
}

static void find_span (mt_side *s, const mt_launch *l, int side) {
  s->low = s->high = l->offset[side] + s->box.start[side];
  for (int j = 0; j < s->box.n; j++) {
    int64_t t = (s->box.axis[j].extent - 1) * s->box.axis[j].stride[side];
    *(t < 0 ? &s->low : &s->high) += t;
  }
}

static mt_status check_range (const mt_launch *l, mt_side *s, int side, size_t bytes,
                              mt_err *err) {
  uint32_t elem = MT_ELEM(&l->desc, side);
  int64_t have = (int64_t)((bytes < INT64_MAX ? bytes : INT64_MAX) / elem);
  find_span(s, l, side);
  find_blocks(s, l, side);
  MT_CHECK(l->base[side] != NULL, err, "%s has no memory", side_name[side]);
  MT_CHECK((uintptr_t)l->base[side] <= UINTPTR_MAX - bytes, err,
           "%s: the buffer runs over the end of the address space", side_name[side]);
  if (s->first >= 0 && s->last < have) return MT_OK;
  find_elements(s, l, side);
  if (s->first >= 0 && s->last < have) return MT_OK;
  return fail_range(l, s, side, have, err);
}

/* ---------------------------------------------------------------- alignment */

static mt_status check_alignment (const mt_launch *l, int side, mt_err *err) {
  static const char *const mode_name[] = {"thread", "value", "rest"};
  const mt_desc *d = &l->desc;
  const uint32_t first[] = {0, d->nthr, d->nthr + d->nval};
  uint64_t elem = MT_ELEM(d, side), width = d->vec * elem;
  bool swizzled = d->swizzle[side].mask != 0;
  uint64_t start = (uint64_t)(uintptr_t)l->base[side] +
                   (uint64_t)(swizzled ? l->origin : l->offset)[side] * elem;
  if ((uintptr_t)l->base[side] % elem != 0)
    return mt_fail(err, MT_EALIGN,
                   "%s: the buffer is not aligned to its elements of %d "
                   "bytes",
                   side_name[side], (int)elem);
  if (start % width != 0)
    return mt_fail(err, MT_EALIGN,
                   "%s: accesses of %d bytes, but it begins %d bytes "
                   "past a multiple of that",
                   side_name[side], (int)width, (int)(start % width));
  if (swizzled && (l->offset[side] % (int64_t)d->vec != 0 ||
                   d->vec > mt_desc_swizzle_run(d->swizzle[side])))
    return mt_fail(err, MT_EALIGN,
                   "%s: accesses of %d elements, which its swizzle from "
                   "offset %lld on does not keep together",
                   side_name[side], (int)d->vec, (long long)l->offset[side]);
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++) {
    int mode = i < first[1] ? 0 : i < first[2] ? 1 : 2;
    if (d->axis[i].extent > 1 && d->axis[i].stride[side] % (int64_t)d->vec != 0)
      return mt_fail(err, MT_EALIGN,
                     "%s: accesses of %d elements, but %s axis %d has "
                     "stride %lld",
                     side_name[side], (int)d->vec, mode_name[mode],
                     (int)(i - first[mode]) + 1, (long long)d->axis[i].stride[side]);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- injectivity */

/* Two coordinates x, y with one offset, from the difference x - y along the |stride|s;
** met if they are surely real. */
static mt_status fail_injective (const mt_launch *l, const mt_side *s,
                                 const mt_equation *e, bool *met, mt_err *err) {
  int64_t x[MT_MAXDOMAIN], y[MT_MAXDOMAIN];
  char text[2 * MT_WITNESS_TEXT + 8];
  *met = s->box.exact;
  if (!*met)
    return mt_fail(err, MT_EINJECTIVE,
                   "dst: that no element is written twice could not "
                   "be proven: bounds and strides do not go together");
  for (int j = 0; j < s->box.n; j++) {
    int64_t v = s->box.axis[j].stride[MT_DST] < 0 ? -e->v[j] : e->v[j];
    x[j] = v > 0 ? v : 0;
    y[j] = x[j] - v;
  }
  mt_witness a = mt_witness_of(l, &s->box, MT_DST, x),
             b = mt_witness_of(l, &s->box, MT_DST, y);
  mt_witness *first =
      a.rest < b.rest ||
              (a.rest == b.rest &&
               (a.thread < b.thread || (a.thread == b.thread && a.value < b.value))) ?
          &a :
          &b;
  return mt_fail(err, MT_EINJECTIVE, "dst: %s write offset %lld",
                 mt_witnesses_text(text, &l->desc, first, first == &a ? &b : &a),
                 (long long)a.offset);
}

static mt_status check_injective (const mt_launch *l, const mt_side *s, bool *met,
                                  mt_err *err) {
  mt_equation e = {.n = s->box.n};
  for (int j = 0; j < e.n; j++) {
    int64_t d = s->box.axis[j].stride[MT_DST];
    e.hi[j] = s->box.axis[j].extent - 1;
    e.lo[j] = -e.hi[j];
    e.d[j] = e.hi[j] == 0 ? 1 : d < 0 ? -d : d;
    e.v[j] = 0;
    if (e.d[j] == 0) {
      e.v[j] = e.hi[j];
      return fail_injective(l, s, &e, met, err);
    }
  }
  mt_solution found = mt_solve(&e, 0, true);
  if (found == MT_NONE) return MT_OK;
  if (found == MT_FOUND) return fail_injective(l, s, &e, met, err);
  return mt_fail(err, MT_EINJECTIVE,
                 "dst: that no element is written twice could not be "
                 "decided in %d steps",
                 (int)MT_SOLVE_STEPS);
}

/* ---------------------------------------------------------------- overlap */

/* Index `sign` * v of an axis of extent n, as a term; terms of one stride are one. */
static void add_term (mt_equation *e, int64_t stride, int64_t n, int sign) {
  int j = 0;
  int64_t d = stride < 0 ? -stride : stride;
  if (d == 0 || n == 1) return;
  while (j < e->n && e->d[j] != d) j++;
  if (j == e->n) {
    e->d[e->n] = d;
    e->lo[e->n] = e->hi[e->n] = 0;
    e->n++;
  }
  if (sign > 0) e->hi[j] += n - 1;
  else e->lo[j] -= n - 1;
}

/* Units of an element of a side: those of the shorter one. */
static int64_t units_of (const mt_desc *d, int side) {
  uint32_t src = d->elem, dst = MT_ELEM(d, MT_DST);
  return MT_ELEM(d, side) / (src < dst ? src : dst);
}

/* The axes of a side and, of more units, its elements themselves. */
static void add_side (mt_equation *e, const mt_launch *l, const mt_domain *b, int side) {
  int64_t units = units_of(&l->desc, side);
  int sign = side == MT_SRC ? 1 : -1;
  for (int j = 0; j < b->n; j++)
    if (b->axis[j].extent > 1)
      add_term(e, b->axis[j].stride[side] * units, b->axis[j].extent, sign);
  add_term(e, 1, units, sign);
}

/* `apart`: of the two offsets before a swizzle, in units, which are of one buffer. */
static mt_status fail_overlap (const mt_launch *l, const mt_side s[2],
                               const mt_equation *e, int64_t apart, mt_err *err) {
  const int64_t us = units_of(&l->desc, MT_SRC), ud = units_of(&l->desc, MT_DST);
  int64_t at = s[MT_SRC].low * us;
  if (!s[MT_SRC].box.exact || !s[MT_DST].box.exact)
    return mt_fail(err, MT_EOVERLAP,
                   "that src and dst do not overlap could not be "
                   "proven: bounds and strides do not go together");
  for (int j = 0; j < e->n; j++)
    if (e->v[j] > 0) at += e->v[j] * e->d[j];
  int64_t from = mt_element_of(l, MT_SRC, at / us - l->offset[MT_SRC]);
  int64_t to = mt_element_of(l, MT_DST, (at - apart) / ud - l->offset[MT_DST]);
  return mt_fail(err, MT_EOVERLAP,
                 "src and dst overlap: offset %lld of src %s offset "
                 "%lld of dst",
                 (long long)from, us == ud ? "is" : "shares bytes with", (long long)to);
}

static uint64_t address_of (const mt_launch *l, int side, int64_t element) {
  return (uint64_t)(uintptr_t)l->base[side] + (uint64_t)element * MT_ELEM(&l->desc, side);
}

static bool are_apart (const mt_launch *l, const mt_side s[2]) {
  uint64_t src = address_of(l, MT_SRC, s[MT_SRC].first);
  uint64_t dst = address_of(l, MT_DST, s[MT_DST].first);
  return address_of(l, MT_SRC, s[MT_SRC].last + 1) <= dst ||
         address_of(l, MT_DST, s[MT_DST].last + 1) <= src;
}

/* By the ranges alone. */
static mt_status check_ranges (const mt_launch *l, mt_side s[2], mt_err *err) {
  if (are_apart(l, s)) return MT_OK;
  for (int side = 0; side < 2; side++) find_elements(&s[side], l, side);
  if (are_apart(l, s)) return MT_OK;
  return mt_fail(err, MT_EOVERLAP,
                 "that src and dst do not overlap could not be proven: "
                 "swizzled in two ways, elements %lld to %lld of the buffer of src and "
                 "%lld to %lld of that of dst lie between each other",
                 (long long)s[MT_SRC].first, (long long)s[MT_SRC].last,
                 (long long)s[MT_DST].first, (long long)s[MT_DST].last);
}

/* Swizzles are one bijection of one buffer's elements: offsets before them may be
** compared. */
static bool one_swizzle (const mt_launch *l) {
  const mt_desc_swizzle *f = l->desc.swizzle;
  return f[MT_SRC].mask == f[MT_DST].mask && f[MT_SRC].shift == f[MT_DST].shift &&
         l->desc.elem == MT_ELEM(&l->desc, MT_DST) &&
         address_of(l, MT_SRC, l->origin[MT_SRC]) ==
             address_of(l, MT_DST, l->origin[MT_DST]);
}

/* src + i == dst + i + apart, in units. */
static mt_status check_overlap (const mt_launch *l, mt_side s[2], mt_err *err) {
  if (mt_desc_is_swizzled(&l->desc) && !one_swizzle(l)) return check_ranges(l, s, err);
  int64_t us = units_of(&l->desc, MT_SRC), ud = units_of(&l->desc, MT_DST);
  uint64_t low[2], end[2];
  mt_equation e = {.n = 0};
  for (int o = 0; o < 2; o++) {
    low[o] = address_of(l, o, l->origin[o] + s[o].low);
    end[o] = address_of(l, o, l->origin[o] + s[o].high + 1);
    add_side(&e, l, &s[o].box, o);
  }
  if (end[MT_SRC] <= low[MT_DST] || end[MT_DST] <= low[MT_SRC]) return MT_OK;
  int64_t apart = (int64_t)(low[MT_DST] - low[MT_SRC]) / ((int64_t)l->desc.elem / us);
  mt_solution found = mt_solve(&e, apart, false);
  if (found == MT_NONE) return MT_OK;
  if (found == MT_UNDECIDED)
    return mt_fail(err, MT_EOVERLAP,
                   "that src and dst do not overlap could not be "
                   "decided in %d steps: they lie in one buffer, between each other",
                   (int)MT_SOLVE_STEPS);
  return fail_overlap(l, s, &e, apart + s[MT_SRC].low * us - s[MT_DST].low * ud, err);
}

/* ---------------------------------------------------------------- boxes */

/* Of all real elements, or of more, where they are no box. */
static mt_status check_box (const mt_launch *l, mt_side s[2], const size_t bytes[2],
                            mt_err *err) {
  for (int side = 0; side < 2; side++) mt_domain_of(&s[side].box, &l->desc, 1u << side);
  bool met;
  if (s[MT_SRC].box.empty) return MT_OK;
  for (int side = 0; side < 2; side++)
    MT_TRY(check_range(l, &s[side], side, bytes[side], err));
  MT_TRY(check_alignment(l, MT_SRC, err));
  MT_TRY(check_alignment(l, MT_DST, err));
  MT_TRY(check_injective(l, &s[MT_DST], &met, err));
  return check_overlap(l, s, err);
}

/* What is proven of pieces; `whole` is the number of the one in s. bytes NULL: that they
** are written once, no more. */
typedef struct mt_proof {
  const mt_launch *l;
  const size_t *bytes;
  mt_side s[2];
  int whole, other;
  mt_status status;
  bool met; /* two elements were found at one place */
  mt_err *err;
} mt_proof;

static mt_status place_piece (mt_side *s, const mt_proof *x, int side,
                              const mt_domain *piece) {
  s->box = *piece;
  if (x->bytes) return check_range(x->l, s, side, x->bytes[side], x->err);
  find_span(s, x->l, side);
  return MT_OK;
}

/* Elements of two pieces that are written at one place. */
static mt_status check_twice (mt_proof *x, const mt_side *other) {
  const mt_side *s = &x->s[MT_DST];
  mt_equation e = {.n = 0};
  if (s->high < other->low || other->high < s->low) return MT_OK;
  for (int j = 0; j < s->box.n; j++)
    add_term(&e, s->box.axis[j].stride[MT_DST], s->box.axis[j].extent, 1);
  for (int j = 0; j < other->box.n; j++)
    add_term(&e, other->box.axis[j].stride[MT_DST], other->box.axis[j].extent, -1);
  mt_solution found = mt_solve(&e, other->low - s->low, false);
  if (found == MT_NONE) return MT_OK;
  if (found == MT_UNDECIDED)
    return mt_fail(x->err, MT_EINJECTIVE,
                   "dst: that no element is written twice could "
                   "not be decided in %d steps",
                   (int)MT_SOLVE_STEPS);
  int64_t at = s->low;
  for (int j = 0; j < e.n; j++)
    if (e.v[j] > 0) at += e.v[j] * e.d[j];
  x->met = true;
  return mt_fail(x->err, MT_EINJECTIVE, "dst: two elements write offset %lld",
                 (long long)mt_element_of(x->l, MT_DST, at - x->l->offset[MT_DST]));
}

static mt_status check_pair (mt_proof *x, const mt_domain *piece) {
  mt_side pair[2], other;
  bool same = x->other == x->whole;
  MT_TRY(place_piece(&other, x, MT_DST, piece));
  pair[MT_SRC] = x->s[MT_SRC];
  pair[MT_DST] = other;
  if (x->other < x->whole) MT_TRY(check_twice(x, &other));
  if (same) MT_TRY(check_injective(x->l, &other, &x->met, x->err));
  return x->bytes ? check_overlap(x->l, pair, x->err) : MT_OK;
}

static bool next_pair (void *ud, const mt_domain *piece) {
  mt_proof *x = ud;
  x->status = check_pair(x, piece);
  x->other++;
  return x->status == MT_OK;
}

static bool next_piece (void *ud, const mt_domain *piece) {
  mt_proof *x = ud;
  for (int side = 0; side < 2 && x->status == MT_OK; side++)
    x->status = place_piece(&x->s[side], x, side, piece);
  x->other = 0;
  if (x->status == MT_OK) mt_pieces(&x->l->desc, next_pair, x);
  x->whole++;
  return x->status == MT_OK;
}

/* Piece by piece, and each against all. */
static mt_status check_pieces (const mt_launch *l, const size_t bytes[2], mt_err *err) {
  mt_proof x = {.l = l, .bytes = bytes, .err = err};
  mt_err first = *err;
  err->status = MT_OK;
  if (!mt_pieces(&l->desc, next_piece, &x) && x.status == MT_OK) {
    *err = first;
    return err->status;
  }
  MT_TRY(x.status);
  MT_TRY(check_alignment(l, MT_SRC, err));
  return check_alignment(l, MT_DST, err);
}

mt_status mt_check_once (const mt_launch *l, bool *met, mt_err *err) {
  mt_proof x = {.l = l, .err = err};
  mt_side s;
  *met = false;
  mt_domain_of(&s.box, &l->desc, 1u << MT_DST);
  if (s.box.empty || (check_injective(l, &s, met, err) == MT_OK)) return MT_OK;
  if (s.box.exact || (!mt_pieces(&l->desc, next_piece, &x) && x.status == MT_OK))
    return err->status;
  if (x.status == MT_OK) err->status = MT_OK;
  *met = x.met;
  return x.status;
}

mt_status mt_check_copy (const mt_launch *l, const size_t bytes[2], mt_err *err) {
  mt_side s[2];
  MT_TRY(mt_check_shape(l, err));
  mt_status found = check_box(l, s, bytes, err);
  bool exact = s[MT_SRC].box.exact && s[MT_DST].box.exact;
  if (found == MT_OK || exact) return found;
  return check_pieces(l, bytes, err);
}
