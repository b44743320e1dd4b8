/*
** own.c - atoms that a user describes: proofs of their layouts, their names.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "atom/atom.h"
#include "atom/own.h"
#include "core/build.h"

enum {
  MOST_ELEMENTS = 1 << 20, /* of a tile */
  MOST_HELD = 1 << 21,     /* (thread,value) */
  MOST_THREADS = 1024,     /* of a block */
  WINDOW = 1 << 14         /* elements that are marked at once */
};

/* ---------------------------------------------------------------- forms */

static mt_status check_plain (const char *op, const char *name, const mt_node *a,
                              mt_err *err) {
  for (const mt_node *p = a; p < mt_next(a); p++)
    if (!(p->tag == MT_MODES || (p->tag == MT_LEAF && p->ring == MT_Z)))
      return mt_failn(err, MT_EINVAL,
                      "%s: %s: %N is no layout of integers: strides as 1 or 16 expected",
                      op, name, a);
  if (mt_size(a) < 1) return mt_failn(err, MT_EINVAL, "%s: %s %N is empty", op, name, a);
  return MT_OK;
}

mt_status mt_own_count (int64_t *threads, const char *op, const char *name,
                        const mt_node *tv, mt_err *err) {
  MT_TRY(check_plain(op, name, tv, err));
  if (!mt_is_branch(tv) || mt_rank(tv) != 2)
    return mt_failn(err, MT_ERANK,
                    "%s: %s %N has %d mode%s, (thread,value) are two: as "
                    "((4,8),(2,2)):((32,1),(16,8))",
                    op, name, tv, mt_rank(tv), mt_rank(tv) == 1 ? "" : "s");
  *threads = mt_size(mt_mode(tv, 0));
  if (*threads > MOST_THREADS)
    return mt_failn(err, MT_ETOOBIG, "%s: %s %N has %lld threads: a block has %d at most",
                    op, name, tv, (long long)*threads, (int)MOST_THREADS);
  if (mt_size(tv) > MOST_HELD)
    return mt_failn(err, MT_ETOOBIG,
                    "%s: %s %N has %lld (thread,value): an atom has %d at most", op, name,
                    tv, (long long)mt_size(tv), (int)MOST_HELD);
  return MT_OK;
}

/* ---------------------------------------------------------------- elements, holders */

static int64_t elements_of (const mt_own_tv *x) {
  return x->extent[0] * (x->extent[1] ? x->extent[1] : 1);
}

enum { TEXT = 64 };

/* "A(3,5)"; "place 12 of dst". */
static const char *say_element (char out[TEXT], const mt_own_tv *x, int64_t e) {
  if (x->extent[1] == 0) snprintf(out, TEXT, "place %lld of %s", (long long)e, x->name);
  else
    snprintf(out, TEXT, "%s(%lld,%lld)", x->name, (long long)(e % x->extent[0]),
             (long long)(e / x->extent[0]));
  return out;
}

/* "its tile is 16 x 8"; "there are 64 places". */
static const char *say_tile (char out[TEXT], const mt_own_tv *x) {
  if (x->extent[1] == 0)
    snprintf(out, TEXT, "there are %lld places", (long long)x->extent[0]);
  else
    snprintf(out, TEXT, "its tile is %lld x %lld", (long long)x->extent[0],
             (long long)x->extent[1]);
  return out;
}

/* The thread repeats another one: it is not the first along a stride of 0. */
static bool repeats (const mt_own_tv *x, int64_t thr) {
  const mt_node *mode = mt_mode(x->tv, 0);
  if (!x->shared) return false;
  for (const mt_node *p = mode; p < mt_next(mode); p++) {
    if (p->tag != MT_LEAF) continue;
    if (p->stride == 0 && thr % p->shape != 0) return true;
    thr /= p->shape;
  }
  return false;
}

/* Threads that hold the same along strides of 0. */
static int64_t copies_of (const mt_own_tv *x) {
  const mt_node *mode = mt_mode(x->tv, 0);
  int64_t n = 1;
  for (const mt_node *p = mode; x->shared && p < mt_next(mode); p++)
    if (p->tag == MT_LEAF && p->stride == 0) n *= p->shape;
  return n;
}

/* ---------------------------------------------------------------- what would do */

/* By its inverse: all elements are there, and there are as many values. */
static MT_APART bool is_exact (const mt_own_tv *x) {
  mt_layout inverse;
  int64_t lo, end, n = elements_of(x);
  MT_NEWERR(no);
  return mt_size(x->tv) / copies_of(x) == n &&
         mt_footprint(&lo, &end, x->tv, &no) == MT_OK && lo == 0 && end == n &&
         mt_right_inverse(&inverse, x->tv, &no) == MT_OK && mt_size(inverse.node) == n;
}

/* It has coordinates. */
static MT_APART mt_status compose (const mt_own_tv *x, mt_err *err) {
  mt_layout shape, tile, out;
  if (x->extent[1] == 0) return MT_OK;
  MT_TRY(mt_ints(&shape, 2, x->extent, err));
  MT_TRY(mt_make_identity_layout(&tile, shape.node, err));
  return mt_composition(&out, tile.node, x->tv, err);
}

/* Adds the layout, if it would do; T threads. */
static MT_APART bool propose (const mt_own_tv *x, const char *text, mt_err *err) {
  mt_layout tv;
  mt_own_tv other = *x;
  MT_NEWERR(no);
  if (mt_parse(&tv, text, strlen(text), &no) != MT_OK) return false;
  other.tv = tv.node;
  if (!is_exact(&other) || compose(&other, &no) != MT_OK) return false;
  mt_explain(err, "\n  %s = \"%s\" would do", x->name, text);
  return true;
}

/* The whole failure: adds a layout that would do, if one of the simple ones does. */
static mt_status with_advice (const mt_own_tv *x, mt_err *err) {
  char text[3 * TEXT];
  long long t = (long long)x->threads, n = (long long)elements_of(x);
  long long m = (long long)x->extent[0];
  snprintf(text, sizeof text, "(%lld,%lld):(1,%lld)", t, n / t, t);
  if (n % t == 0 && propose(x, text, err)) return err->status;
  snprintf(text, sizeof text, "(%lld,%lld):(%lld,1)", t, n / t, n / t);
  if (n % t == 0 && propose(x, text, err)) return err->status;
  snprintf(text, sizeof text, "(%lld,(%lld,%lld)):(0,(1,%lld))", t, m, n / m, m);
  if (x->shared && propose(x, text, err)) return err->status;
  if (n % t != 0 && !x->shared)
    mt_explain(err, "\n  no layout shares %lld elements evenly among %lld threads", n, t);
  return err->status;
}

/* ---------------------------------------------------------------- witnesses */

static mt_status outside (const mt_own_tv *x, int64_t thr, int64_t val, int64_t at,
                          mt_err *err) {
  char tile[TEXT];
  mt_failn(
      err, MT_ERANGE,
      "%s: %s %N: value %lld of thread %lld is number %lld: %s, numbered 0 to %lld%s",
      x->op, x->name, x->tv, (long long)val, (long long)thr, (long long)at,
      say_tile(tile, x), (long long)elements_of(x) - 1,
      x->extent[1] ? " column by column" : "");
  return with_advice(x, err);
}

static mt_status missing (const mt_own_tv *x, int64_t e, mt_err *err) {
  char what[TEXT], tile[TEXT];
  mt_failn(err, MT_EINEXACT,
           "%s: %s %N: no thread holds %s: %s, each element wants a holder", x->op,
           x->name, x->tv, say_element(what, x, e), say_tile(tile, x));
  return with_advice(x, err);
}

/* Says who holds the element first, and who holds it then. */
static mt_status twice (const mt_own_tv *x, int64_t e, mt_err *err) {
  char what[TEXT];
  int64_t at, n = mt_size(x->tv), who[2];
  int found = 0;
  for (int64_t i = 0; i < n && found < 2; i++) {
    if (repeats(x, i % x->threads)) continue;
    MT_TRY(mt_at(&at, x->tv, i, err));
    if (at == e) who[found++] = i;
  }
  MT_CHECK(found == 2, err, "%s: %s", x->op, x->name);
  mt_failn(err, MT_EINJECTIVE,
           "%s: %s %N: %s is held twice, as value %lld of thread %lld and as value %lld "
           "of thread %lld",
           x->op, x->name, x->tv, say_element(what, x, e),
           (long long)(who[0] / x->threads), (long long)(who[0] % x->threads),
           (long long)(who[1] / x->threads), (long long)(who[1] % x->threads));
  if (x->shared)
    mt_explain(err, "\n  threads share an element by a stride of 0 in the thread's mode");
  return with_advice(x, err);
}

/* Marks those of the WINDOW elements from `first` on that are held; *again: the first
** that is held twice, unless one is known; an element outside of the tile ends it. */
static mt_status mark (const mt_own_tv *x, int64_t first, uint64_t bits[WINDOW / 64],
                       int64_t *again, mt_err *err) {
  int64_t at, n = elements_of(x), values = mt_size(mt_mode(x->tv, 1)), found = -1;
  int64_t spent = 0;
  memset(bits, 0, WINDOW / 8);
  for (int64_t t = 0; t < x->threads; t++) {
    if (mt_stopped_after(&spent, 20 * values, err, x->op)) return MT_ESTOPPED;
    for (int64_t v = 0; v < values && !repeats(x, t); v++) {
      MT_TRY(mt_at(&at, x->tv, t + x->threads * v, err));
      if (at < 0 || at >= n) return outside(x, t, v, at, err);
      if ((at -= first) < 0 || at >= WINDOW) continue;
      uint64_t bit = 1ull << at % 64;
      if ((bits[at / 64] & bit) && (found < 0 || first + at < found)) found = first + at;
      bits[at / 64] |= bit;
    }
  }
  if (*again < 0) *again = found;
  return MT_OK;
}

/* What is_exact does not see, by each element. */
static MT_APART mt_status count (const mt_own_tv *x, mt_err *err) {
  uint64_t bits[WINDOW / 64];
  int64_t n = elements_of(x), again = -1;
  for (int64_t first = 0; first < n; first += WINDOW) {
    MT_TRY(mark(x, first, bits, &again, err));
    for (int64_t e = 0; e < WINDOW && first + e < n; e++)
      if (!(bits[e / 64] >> e % 64 & 1)) return missing(x, first + e, err);
  }
  return again < 0 ? MT_OK : twice(x, again, err);
}

/* ---------------------------------------------------------------- proofs */

static mt_status no_coordinates (const mt_own_tv *x, const mt_err *why, mt_err *err) {
  const char *line = strchr(why->text, '\n');
  mt_failn(err, MT_EINEXACT,
           "%s: %s %N is no layout of coordinates of a tile of %lld x %lld: a run of it "
           "goes over the end of a column\n  cut the mode there",
           x->op, x->name, x->tv, (long long)x->extent[0], (long long)x->extent[1]);
  if (line == NULL && strlen(why->text) < 400) mt_explain(err, ": %s", why->text);
  return with_advice(x, err);
}

mt_status mt_own_prove (const mt_own_tv *x, mt_err *err) {
  int64_t threads;
  MT_TRYERR(why, err);
  MT_TRY(mt_own_count(&threads, x->op, x->name, x->tv, err));
  if (threads != x->threads)
    return mt_failn(err, MT_EINVAL,
                    "%s: %s %N has %lld threads, the atom has %lld: all its layouts have "
                    "the same",
                    x->op, x->name, x->tv, (long long)threads, (long long)x->threads);
  if (elements_of(x) > MOST_ELEMENTS)
    return mt_fail(err, MT_ETOOBIG, "%s: %s has %lld elements: an atom has %d at most",
                   x->op, x->name, (long long)elements_of(x), (int)MOST_ELEMENTS);
  if (!is_exact(x)) MT_TRY(count(x, err));
  if (compose(x, &why) == MT_OK) return MT_OK;
  return no_coordinates(x, &why, err);
}

/* ---------------------------------------------------------------- threads */

static mt_status same_number (const char *op, const mt_node *thr_id, mt_err *err) {
  int64_t a, b, n = mt_size(thr_id);
  for (int64_t i = 1; i < n; i++) {
    MT_TRY(mt_at(&a, thr_id, i, err));
    for (int64_t j = 0; j < i; j++) {
      MT_TRY(mt_at(&b, thr_id, j, err));
      if (a == b)
        return mt_failn(err, MT_EINJECTIVE,
                        "%s: thr_id %N gives threads %lld and %lld the same number %lld"
                        "\n  thr_id = \"%lld:1\" would do",
                        op, thr_id, (long long)j, (long long)i, (long long)a,
                        (long long)n);
    }
  }
  return MT_OK;
}

mt_status mt_own_threads (mt_layout *out, const char *op, const mt_node *thr_id,
                          int64_t threads, mt_err *err) {
  mt_layout gaps;
  int64_t lo, end, n = threads;
  bool fills = false;
  MT_TRYERR(no, err);
  const mt_node compact = mt_leaf_of(n, n > 1 ? 1 : 0);
  if (thr_id == NULL) return mt_copy_value(out, &compact), MT_OK;
  MT_TRY(check_plain(op, "thr_id", thr_id, err));
  if (mt_size(thr_id) != n)
    return mt_failn(err, MT_EINVAL,
                    "%s: thr_id %N has %lld threads, the layouts have %lld\n"
                    "  thr_id = \"%lld:1\" would do",
                    op, thr_id, (long long)mt_size(thr_id), (long long)n, (long long)n);
  MT_TRY(mt_footprint(&lo, &end, thr_id, err));
  if (lo < 0 || end > INT32_MAX)
    return mt_failn(err, MT_ERANGE,
                    "%s: thr_id %N numbers threads from %lld to %lld: 0 and more, below "
                    "2^31 expected\n  thr_id = \"%lld:1\" would do",
                    op, thr_id, (long long)lo, (long long)end - 1, (long long)n);
  MT_TRY(same_number(op, thr_id, err));
  mt_copy_value(out, thr_id);
  if (mt_complement(&gaps, &fills, thr_id, end, &no) == MT_OK && fills) return MT_OK;
  return mt_failn(
      err, MT_EINEXACT,
      "%s: thr_id %N: its strides do not divide one another: no block is made "
      "of such threads\n  thr_id = \"%lld:1\" would do",
      op, thr_id, (long long)n);
}

/* ---------------------------------------------------------------- names */

static mt_status taken (const char *op, const char *name, mt_err *err) {
  return mt_fail(
      err, MT_EINVAL,
      "%s: name: \"%s\" is an atom of the tables\n  give yours another name, or "
      "take that one by its name alone",
      op, name);
}

mt_status mt_own_name (char out[MT_ATOM_NAME], const char *op, const char *name,
                       mt_err *err) {
  size_t n = strlen(name);
  if (n == 0 || n >= MT_ATOM_NAME)
    return mt_fail(err, MT_EINVAL, "%s: name: %d bytes, 1 to %d expected", op, (int)n,
                   MT_ATOM_NAME - 1);
  for (const char *p = name; *p; p++)
    if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
      return mt_fail(err, MT_EINVAL,
                     "%s: name: byte %d is %d: printable ASCII expected, without quotes "
                     "and backslashes",
                     op, (int)(p - name) + 1, (int)(unsigned char)*p);
  if (mt_mma_atom_is(name) || mt_copy_atom_is(name)) return taken(op, name, err);
  memmove(out, name, n + 1);
  return MT_OK;
}
