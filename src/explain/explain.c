/*
** explain.c - derivations in words: each number in them is the library's own.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/explain.h"
#include "moontile/swizzle.h"
#include "algebra/zip.h"
#include "algebra/tiles.h"
#include "explain/explain.h"

/* ---- telling */

static void begin_line (mt_derivation *x) {
  if (x->text.n > 0) mt_put(&x->text, "\n");
  for (int i = 0; i < x->indent; i++) mt_put(&x->text, " ");
}

void mt_tell (mt_derivation *x, const char *format, ...) {
  MT_NEWERR(text);
  va_list ap;
  va_start(ap, format);
  mt_vfailn(&text, MT_OK, 0, format, ap);
  va_end(ap);
  begin_line(x);
  mt_put(&x->text, text.text);
}

void mt_tell_value (mt_derivation *x, const char *name, const mt_node *v) {
  begin_line(x);
  mt_put(&x->text, name);
  mt_put(&x->text, " = ");
  size_t room = x->text.n < x->text.size ? x->text.size - x->text.n : 0;
  x->text.n += mt_format(room ? x->text.p + x->text.n : NULL, room, v);
}

void mt_tell_failure (mt_derivation *x, const mt_err *err) {
  const char *s = err->text;
  begin_line(x);
  for (; *s; s++) {
    char c[2] = {*s, 0};
    mt_put(&x->text, c);
    for (int i = 0; *s == '\n' && i < x->indent; i++) mt_put(&x->text, " ");
  }
}

/* ---- coalesce */

typedef const mt_node *node;

static void tell_coalesce (mt_derivation *x, node a, node none) {
  const mt_node *leaf[MT_MAXNODES];
  int n = mt_leaves(leaf, a);
  mt_layout mode, before;
  bool first = true;
  (void)none;
  mt_tell(x,
          "s:d and t:e after it are one mode, s*t:d, if s*d = e; extents of 1 drop out");
  for (int k = 0; k < n && mt_size(a) > 0; k++) {
    mt_copy_value(&mode, leaf[k]);
    if (leaf[k]->shape == 1) {
      mt_tell(x, "  %N drops out", mode.node);
    } else if (!first && mt_same_scaled(before.node, before.node[0].shape, leaf[k])) {
      before.node[0].shape *= leaf[k]->shape;
      mt_tell(x, "  %N goes on where the mode before it ends: now %N", mode.node,
              before.node);
    } else {
      mt_tell(x, first ? "  %N" : "  %N is a mode of its own", mode.node);
      before = mode;
      first = false;
    }
  }
}

/* ---- complement */

/* The modes of a that move, in the order of their strides. */
static int sorted_modes (const mt_node **m, node a) {
  const mt_node *leaf[MT_MAXNODES];
  int n = mt_leaves(leaf, a), count = 0;
  for (int i = 0; i < n; i++) {
    int k = count;
    if (leaf[i]->shape <= 1 || mt_zero_stride(leaf[i])) continue;
    for (; k > 0 && mt_magnitude(m[k - 1]->stride) > mt_magnitude(leaf[i]->stride); k--)
      m[k] = m[k - 1];
    m[k] = leaf[i];
    count++;
  }
  return count;
}

/* A mode of the complement: as many parts of 0 .. run-1 as fit below d. */
static void tell_gap (mt_derivation *x, node m, int64_t gap, int64_t run, int64_t d) {
  if (gap == 1) mt_tell(x, "  %N begins at %lld: no gap", m, (long long)d);
  else
    mt_tell(x, "  %N begins at %lld, %lld times %lld: the gap %lld:%lld", m, (long long)d,
            (long long)gap, (long long)run, (long long)gap, (long long)run);
  if (d % run != 0)
    mt_tell(x, "    %lld is no multiple of %lld: some offsets are missed", (long long)d,
            (long long)run);
}

/* Tells the gaps of integer modes up to the bound; false if they overlap. */
static bool tell_gaps (mt_derivation *x, node a, int64_t bound) {
  const mt_node *m[MT_MAXNODES];
  int n = sorted_modes(m, a);
  int64_t run = 1;
  mt_tell(x, "modes by stride, without those of extent 1 or stride 0:%s",
          n ? "" : " none");
  for (int k = 0; k < n; k++) {
    int64_t d = mt_magnitude(m[k]->stride);
    if (d < run) {
      mt_tell(x, "  %N begins at %lld: the modes before it are not done", m[k],
              (long long)d);
      return false;
    }
    tell_gap(x, m[k], d / run, run, d);
    if (mt_mulo(m[k]->shape, d, &run)) return false;
    mt_tell(x, "    so far 0 .. %lld", (long long)(run - 1));
  }
  int64_t rest = bound / run + (bound % run != 0);
  mt_tell(x, "%lld takes %lld of these: %lld:%lld", (long long)bound, (long long)rest,
          (long long)rest, (long long)run);
  return true;
}

/* The complement of a below a bound; false if there is none. */
static bool tell_complement_of (mt_derivation *x, node a, int64_t bound, mt_layout *out) {
  mt_err err = MT_NOERR;
  bool fills;
  if (bound >= 0 && !mt_is_swizzled(a) && mt_is_integral(a) && mt_size(a) > 0)
    tell_gaps(x, a, bound);
  if (mt_complement(out, &fills, a, bound, &err) != MT_OK) return false;
  mt_tell(x,
          fills ? "with the layout itself that is every offset below %lld" :
                  "with the layout itself that is not every offset below %lld",
          (long long)bound);
  return true;
}

static void tell_complement (mt_derivation *x, node a, node bound) {
  mt_layout out;
  mt_err err = MT_NOERR;
  int64_t cosize;
  if (bound == NULL && mt_cosize(&cosize, a, &err) != MT_OK) return;
  if (bound == NULL) mt_tell(x, "the bound is cosize(A) = %lld", (long long)cosize);
  tell_complement_of(x, a, bound ? bound->shape : cosize, &out);
}

static mt_status run_complement (mt_layout *out, node a, node bound, mt_err *err) {
  int64_t cosize;
  if (bound) return mt_complement(out, NULL, a, bound->shape, err);
  MT_TRY(mt_cosize(&cosize, a, err));
  return mt_complement(out, NULL, a, cosize, err);
}

/* ---- composition, divides, products: by mode where the right side is a tiler */

typedef void (*tell_fn)(mt_derivation *x, node a, node b);

static void by_mode (mt_derivation *x, node a, node t, tell_fn tell) {
  mt_node room;
  if (t->tag != MT_TILER && t->tag != MT_TUPLE) {
    if (t->tag == MT_WILD) mt_tell(x, "`_`: %N stays", a);
    else tell(x, a, mt_as_layout(&room, t));
    return;
  }
  int i = 0, rank = mt_rank(a);
  for (node c = mt_child(t); c < mt_next(t) && i < rank; c = mt_next(c), i++) {
    node m = mt_is_branch(a) ? mt_mode(a, i) : a;
    mt_tell(x, "mode %d: %N and %N", i + 1, m, c);
    x->indent += 2;
    by_mode(x, m, c, tell);
    x->indent -= 2;
  }
}

static void tell_compose (mt_derivation *x, node a, node t) {
  if (mt_is_layout(t) && !mt_is_swizzled(t) && mt_size(t) > 0)
    mt_tell_composition(x, a, t);
}

static void tell_composition (mt_derivation *x, node a, node t) {
  by_mode(x, a, t, tell_compose);
}

/* (T,T*) as a layout. */
static bool pair (mt_layout *out, node t, node rest) {
  mt_err err = MT_NOERR;
  const mt_node *modes[2] = {t, rest};
  return mt_concat(out, 2, modes, &err) == MT_OK;
}

/* Of a tile whose strides name modes of A. */
static void tell_axes (mt_derivation *x, node a, node t) {
  mt_layout both;
  mt_err err = MT_NOERR;
  mt_tell(x,
          "T*: along each mode that T = %N names its complement up to the size of that "
          "mode; the others whole",
          t);
  if (mt_tile_of_axes(&both, "explain", t, a, &err) == MT_OK)
    mt_tell(x, "(T,T*) = %N", both.node);
}

static void tell_tile (mt_derivation *x, node a, node t) {
  mt_layout rest, both;
  if (!mt_is_layout(t)) return;
  if (mt_is_axes(t)) {
    tell_axes(x, a, t);
    return;
  }
  mt_tell(x, "T*: the complement of T = %N below size(A) = %lld", t,
          (long long)mt_size(a));
  x->indent += 2;
  bool fine = tell_complement_of(x, t, mt_size(a), &rest);
  if (fine) mt_tell_value(x, "T*", rest.node);
  x->indent -= 2;
  if (!fine || !pair(&both, t, rest.node)) return;
  mt_tell(x, "A o (T,T*) for A = %N, (T,T*) = %N", a, both.node);
  x->indent += 2;
  x->right = "(T,T*)";
  tell_compose(x, a, both.node);
  x->indent -= 2;
}

static void tell_divide (mt_derivation *x, node a, node t) {
  by_mode(x, a, t, tell_tile);
}

static void tell_block (mt_derivation *x, node a, node t) {
  mt_layout rest;
  mt_err err = MT_NOERR;
  int64_t cosize, bound;
  if (!mt_is_layout(t) || mt_cosize(&cosize, t, &err) != MT_OK) return;
  if (mt_mulo(cosize, mt_size(a), &bound)) return;
  mt_tell(x, "C: the complement of A = %N below size(A)*cosize(B) = %lld*%lld", a,
          (long long)mt_size(a), (long long)cosize);
  x->indent += 2;
  bool fine = tell_complement_of(x, a, bound, &rest);
  if (fine) mt_tell_value(x, "C", rest.node);
  x->indent -= 2;
  if (!fine) return;
  mt_tell(x, "C o B, where the copies of A begin, for C = %N, B = %N", rest.node, t);
  x->indent += 2;
  x->left = "C";
  tell_compose(x, rest.node, t);
  x->indent -= 2;
}

static void tell_product (mt_derivation *x, node a, node t) {
  by_mode(x, a, t, tell_block);
}

/* The copies of a block side by side, or each element's copies side by side. */
static void tell_blocked (mt_derivation *x, node a, node t) {
  mt_node room;
  node b = mt_as_layout(&room, t);
  if (!mt_is_layout(b)) return;
  mt_tell(x, "G = C o B; each mode of A goes with that of G");
  tell_block(x, a, b);
}

/* ---- inverses */

/* Over F2: strides whose highest bits make a chain. */
static void tell_bits (mt_derivation *x, const mt_flat *f) {
  int next = 0;
  for (bool more = true; more;) {
    int64_t index = 1, at = 0;
    const mt_node *m = NULL;
    more = false;
    for (int r = 0; r < f->n; index *= f->s[r++])
      if (mt_f2_continues(next, f->s[r], f->d[r]->stride) &&
          (m == NULL || f->d[r]->stride < m->stride))
        m = f->d[r], at = index;
    if (m == NULL) break;
    for (int r = 0; r < f->n; r++)
      if (f->d[r] == m) index = f->s[r];
    mt_tell(x,
            "bit %d is the highest of the stride F%lld of %lld values, %lld apart in the "
            "index",
            next, (long long)m->stride, (long long)index, (long long)at);
    next += mt_bits(index - 1);
    more = mt_is_power(index);
  }
  mt_tell(x, "no other stride goes on with bit %d: R ends", next);
}

/* Modes whose strides make a chain 1, s, s*s', ...; over F2 a chain of highest bits. */
static void tell_right_inverse (mt_derivation *x, node a, node none) {
  mt_flat f;
  int64_t next = 1, index = 1;
  (void)none;
  if (mt_size(a) == 0) return;
  mt_flatten_coalesced(&f, a);
  if (mt_is_f2(a)) tell_bits(x, &f);
  if (!mt_is_integral(a)) return;
  for (int r = 0; r < f.n;) {
    if (f.d[r]->stride != next) {
      index *= f.s[r++];
      continue;
    }
    mt_tell(x,
            "%lld is the stride of %lld:%lld, whose steps are %lld apart in the index: "
            "%lld:%lld",
            (long long)next, (long long)f.s[r], (long long)f.d[r]->stride,
            (long long)index, (long long)f.s[r], (long long)index);
    if (mt_mulo(next, f.s[r], &next)) return;
    r = 0;
    index = 1;
  }
  mt_tell(x, "%lld is the stride of no mode: R ends", (long long)next);
}

/* R reads an offset by digits: those of A's strides must give the steps in the index. */
static void tell_left_inverse (mt_derivation *x, node a, node none) {
  mt_layout l, c;
  mt_err err = MT_NOERR;
  mt_flat f;
  int64_t index = 1, v, most;
  (void)none;
  if (!mt_is_integral(a) || mt_size(a) == 0 || mt_left_inverse(&l, a, &err) != MT_OK)
    return;
  mt_flatten_coalesced(&f, a);
  mt_tell(x,
          "R = %N reads an offset by digits; each stride of A must lead to its step in "
          "the index",
          l.node);
  for (int r = 0; r < f.n; index *= f.s[r++]) {
    int64_t d = f.d[r]->stride;
    if (d == 0 || mt_idx2crd(&c, d, l.node, &err) || mt_at(&v, l.node, d, &err)) continue;
    mt_tell(x,
            "  %lld:%lld steps by %lld in the index; %lld has the digits %N, and R(%lld) "
            "= %lld",
            (long long)f.s[r], (long long)d, (long long)index, (long long)d, c.node,
            (long long)d, (long long)v);
  }
  mt_tell(x, "no carry: the largest digits that all modes make together");
  for (int j = 0; j < mt_rank(l.node); j++) {
    most = 0;
    for (int r = 0; r < f.n; r++) {
      if (mt_idx2crd(&c, f.d[r]->stride, l.node, &err)) continue;
      most += (f.s[r] - 1) * (mt_is_branch(c.node) ? mt_mode(c.node, j) : c.node)->shape;
    }
    mt_tell(x, "  digit %d: %lld, at most %lld", j + 1, (long long)most,
            (long long)(mt_is_branch(l.node) ? mt_mode(l.node, j) : l.node)->shape - 1);
  }
}

/* ---- all of them */

static mt_status run_right_inverse (mt_layout *out, node a, node none, mt_err *err) {
  (void)none;
  return mt_right_inverse(out, a, err);
}

static mt_status run_left_inverse (mt_layout *out, node a, node none, mt_err *err) {
  (void)none;
  return mt_left_inverse(out, a, err);
}

/* The places of a tile that (thread,value) have, in the order of the strides. */
static void tell_partition (mt_derivation *x, node a, node size) {
  const mt_node *leaf[MT_MAXNODES];
  int64_t shared = 1, cosize;
  mt_err err = MT_NOERR;
  int n = mt_leaves(leaf, a);
  if (mt_size(a) == 0 || mt_cosize(&cosize, a, &err) != MT_OK) return;
  for (int i = 0; i < n; i++)
    if (mt_zero_stride(leaf[i])) shared *= leaf[i]->shape;
  if (shared > 1)
    mt_tell(x, "%lld have each place, by modes of stride 0", (long long)shared);
  if (size && size->tag == MT_INT) cosize = size->shape;
  if (!mt_is_integral(a) || !tell_gaps(x, a, cosize)) return;
  mt_tell(x, "R: place -> thread + threads * value");
}

static mt_status run_swizzle (mt_layout *out, node a, node none, mt_err *err) {
  (void)none;
  return mt_get_swizzle_portion(out, a, err);
}

/* What the first operand is; of SHAPES the second too: a tuple or a layout. */
typedef enum operand { LAYOUT, SHAPES, SWIZZLE } operand;

static const struct row {
  const char *name;
  int least, most; /* operands */
  operand of;
  tell_fn tell;
  mt_status (*run)(mt_layout *out, node a, node b, mt_err *err);
  const char *about; /* the first line */
} rows[] = {
    /* name       operands     derivation          operation */
    {"coalesce", 1, 1, LAYOUT, tell_coalesce, mt_coalesce,
     "coalesce: the shortest layout with the values of A = %N"},
    {"composition", 2, 2, LAYOUT, tell_composition, mt_composition,
     "composition: R(i) = A(B(i)) for A = %N, B = %N"},
    {"complement", 1, 2, LAYOUT, tell_complement, run_complement,
     "complement: the offsets that A = %N skips"},
    {"logical_divide", 2, 2, LAYOUT, tell_divide, mt_logical_divide,
     "logical_divide: A o (T,T*) for A = %N, T = %N"},
    {"zipped_divide", 2, 2, LAYOUT, tell_divide, mt_zipped_divide,
     "zipped_divide: A o (T,T*), the tiles before the rests, for A = %N, T = %N"},
    {"tiled_divide", 2, 2, LAYOUT, tell_divide, mt_tiled_divide,
     "tiled_divide: A o (T,T*), the tiles before each rest, for A = %N, T = %N"},
    {"flat_divide", 2, 2, LAYOUT, tell_divide, mt_flat_divide,
     "flat_divide: A o (T,T*), all modes side by side, for A = %N, T = %N"},
    {"logical_product", 2, 2, LAYOUT, tell_product, mt_logical_product,
     "logical_product: (A, C o B) for A = %N, B = %N"},
    {"zipped_product", 2, 2, LAYOUT, tell_product, mt_zipped_product,
     "zipped_product: (A, C o B), the blocks before the grids, for A = %N, B = %N"},
    {"tiled_product", 2, 2, LAYOUT, tell_product, mt_tiled_product,
     "tiled_product: (A, C o B), the blocks before each grid, for A = %N, B = %N"},
    {"flat_product", 2, 2, LAYOUT, tell_product, mt_flat_product,
     "flat_product: (A, C o B), all modes side by side, for A = %N, B = %N"},
    {"blocked_product", 2, 2, LAYOUT, tell_blocked, mt_blocked_product,
     "blocked_product: ((A0,G0),(A1,G1),...), G = C o B, for A = %N, B = %N"},
    {"raked_product", 2, 2, LAYOUT, tell_blocked, mt_raked_product,
     "raked_product: ((G0,A0),(G1,A1),...), G = C o B, for A = %N, B = %N"},
    {"right_inverse", 1, 1, LAYOUT, tell_right_inverse, run_right_inverse,
     "right_inverse: A(R(i)) = i for A = %N"},
    {"left_inverse", 1, 1, LAYOUT, tell_left_inverse, run_left_inverse,
     "left_inverse: R(A(i)) = i, or A(R(A(i))) = A(i), for A = %N"},
    {"partition", 1, 2, LAYOUT, tell_partition, run_left_inverse,
     "partition: who has which place of a tile, for A = %N from (thread,value)"},
    {"compatible", 2, 2, SHAPES, mt_tell_compatible, NULL,
     "compatible: coordinates of A are coordinates of B, for A = %N, B = %N"},
    {"weakly_congruent", 2, 2, SHAPES, mt_tell_weakly_congruent, NULL,
     "weakly_congruent: B is A with integers replaced by tuples, for A = %N, B = %N"},
    {"congruent", 2, 2, SHAPES, mt_tell_congruent, NULL,
     "congruent: A and B have the same tree, for A = %N, B = %N"},
    {"swizzle", 1, 1, SWIZZLE, mt_tell_swizzle, run_swizzle,
     "swizzle: w(i) = i ^ ((i & Y) >> S) for w = %N"},
};
enum { NROWS = sizeof rows / sizeof *rows };

static mt_status no_such (const char *op, mt_err *err) {
  mt_failn(err, MT_EINVAL, "explain: %s is not explained; there are", op);
  for (int i = 0; i < NROWS; i++) mt_explain(err, "%s %s", i ? "," : "", rows[i].name);
  return MT_EINVAL;
}

/* Whether the operands are what the row takes. */
static mt_status fits (const struct row *row, node a, node b, mt_err *err) {
  if (row->of == LAYOUT)
    MT_CHECK(mt_is_function(a), err, "explain: %s: a layout expected", row->name);
  if (row->of == SWIZZLE)
    MT_CHECK(a->tag == MT_SWIZZLE, err, "explain: %s: a swizzle expected", row->name);
  MT_CHECK(!!b >= row->least - 1 && !!b <= row->most - 1, err,
           "explain: %s: %d operand%s expected", row->name, row->least,
           row->least == 1 ? "" : "s");
  bool is_number = b && b->tag == MT_INT && b->ring == MT_Z;
  if (b && row->run == run_complement && !is_number)
    return mt_failn(err, MT_EINVAL,
                    "explain: the bound of a complement is an integer, not %N", b);
  if (b && row->tell == tell_partition && !is_number)
    return mt_failn(err, MT_EINVAL, "explain: the size of a tile is an integer, not %N",
                    b);
  return MT_OK;
}

/* The last lines: the result, or why there is none. */
static void tell_result (mt_derivation *x, const struct row *row, node a, node b) {
  mt_layout out;
  mt_err why = MT_NOERR;
  x->indent = 0;
  if (row->run(&out, a, b, &why) == MT_OK) mt_tell_value(x, "R", out.node);
  else mt_tell_failure(x, &why);
}

mt_status mt_explanation (size_t *len, char *buf, size_t size, const char *op, node a,
                          node b, mt_err *err) {
  mt_derivation x = {{buf, size, 0}, 0, "A", "B"};
  const struct row *row = rows;
  while (row < rows + NROWS && strcmp(row->name, op) != 0) row++;
  if (row == rows + NROWS) return no_such(op, err);
  MT_TRY(fits(row, a, b, err));
  mt_tell(&x, row->about, a, b);
  x.indent = 2;
  if (row->of == LAYOUT && mt_is_swizzled(a))
    mt_tell(&x, "the swizzle acts on the values: it stays, A is what it covers");
  bool whole = row->of == LAYOUT && mt_tell_functions(&x, op, a, b);
  if (!whole && mt_is_composed(a))
    mt_tell(&x, "the links act on the values: they stay, A is what is applied first");
  if (!whole) row->tell(&x, row->of == LAYOUT ? mt_base(a) : a, b);
  if (row->run) tell_result(&x, row, a, b);
  *len = mt_put_end(&x.text);
  return MT_OK;
}
