/*
** gmma.c - canonical layouts of wgmma: which mode reads a layout, or the first
** element that none reads.
** SPDX-License-Identifier: MIT
**
** A mode says which swizzle it has, so a layout has one candidate. Its two offsets are
** read off the layout, the formula is written as a layout, and the two are compared as
** functions.
*/
#include "moontile/algebra.h"
#include "moontile/gmma.h"
#include "core/build.h"

enum { UNIT = 16, ROWS = 8, MOST_OFFSET = (1 << 14) - 1 }; /* bytes; rows; of a field */

const char *mt_gmma_mode_name (mt_gmma_mode m) {
#define MT_GMMA_ROW(mode, name) name,
  static const char *const names[] = {MT_GMMA_MODES(MT_GMMA_ROW)};
#undef MT_GMMA_ROW
  return (unsigned)m < MT_NGMMA_MODE ? names[m] : "?";
}

const char *mt_gmma_major_name (mt_gmma_major m) { return m == MT_GMMA_K ? "K" : "MN"; }

/* Elements of 16 bytes; of a row of the swizzle. */
static int64_t unit_of (const mt_gmma_desc *d) { return 8 * UNIT / d->bits; }
/* log2 of the elements of 16 bytes: the M of the swizzles. */
static int base_of (const mt_gmma_desc *d) {
  int m = 0;
  while (unit_of(d) >> (m + 1)) m++;
  return m;
}
static int64_t row_of (const mt_gmma_desc *d) { return unit_of(d) << d->mode; }
static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

mt_gmma_major mt_gmma_major_of (const mt_node *a) {
  const mt_node *in = mt_inner(a), *k = mt_mode(in, 1);
  for (const mt_node *p = k ? mt_leaf(k, k) : NULL; p && p < mt_next(k);
       p = mt_leaf(k, mt_after(p)))
    if (p->shape > 1) return p->stride == 1 ? MT_GMMA_K : MT_GMMA_MN;
  return MT_GMMA_MN;
}

mt_gmma_major mt_gmma_major_asked (char said, const mt_node *a, int bits) {
  if (said) return said == 'K' ? MT_GMMA_K : MT_GMMA_MN;
  return bits == 16 ? mt_gmma_major_of(a) : MT_GMMA_K;
}

/* ---------------------------------------------------------------- the formula */

/* A piece of the formula: extent and stride. Those of mode MN come first. */
typedef struct piece {
  int64_t extent, stride;
} piece;
enum { PIECES = 4 };

/* The operand in pieces; the strides of the pieces 1 and 3 are the two offsets, or, of K
** under a swizzle, piece 3 is none. */
static void cut (piece p[PIECES], const mt_gmma_desc *d) {
  int64_t unit = unit_of(d), row = row_of(d);
  bool k = d->major == MT_GMMA_K, plain = d->mode == MT_GMMA_INTERLEAVE;
  int64_t run = k ? ROWS : least(row, d->mn);
  int64_t other = !k ? least(ROWS, d->k) : plain ? unit : d->k;
  p[0] = (piece){run, k ? row : 1};
  p[1] = (piece){d->mn / run, 0};
  p[2] = (piece){other, k ? 1 : row};
  p[3] = (piece){d->k / other, 0};
}

/* Which of the pieces 1 and 3 has the stride LBO. */
static int lbo_piece (const mt_gmma_desc *d) {
  if (d->mode == MT_GMMA_INTERLEAVE) return 3;
  return d->major == MT_GMMA_K ? 3 : 1;
}

int64_t mt_gmma_at (const mt_gmma_desc *d, int64_t i, int64_t j) {
  piece p[PIECES];
  int64_t unit = unit_of(d), lbo = d->lbo * unit, sbo = d->sbo * unit;
  cut(p, d);
  p[1].stride = lbo_piece(d) == 1 ? lbo : sbo;
  p[3].stride = lbo_piece(d) == 3 ? lbo : sbo;
  int64_t at = i % p[0].extent * p[0].stride + i / p[0].extent * p[1].stride +
               j % p[2].extent * p[2].stride + j / p[2].extent * p[3].stride;
  return mt_swizzle_apply((mt_swizzle){(int)d->mode, base_of(d), 3}, at);
}

static mt_status formula (mt_layout *out, const piece p[PIECES], mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "make_gmma_desc", err);
  mt_open(&b, MT_MODES);
  for (int i = 0; i < PIECES; i++) mt_add_leaf(&b, p[i].extent, p[i].stride);
  mt_close(&b);
  return mt_end(&b);
}

/* ---------------------------------------------------------------- refusals */

static void way_out (const mt_gmma_desc *d, mt_err *err) {
  mt_explain(
      err,
      "\ntile.tile_to_shape(tile.smem_atom(\"GMMA::Layout_%s_SW128_Atom\", %d), "
      "shape) is one that it reads, if a row has 128 bytes; else SW64, SW32, INTER",
      mt_gmma_major_name(d->major), d->bits);
}

static mt_status no_swizzle (const mt_gmma_desc *d, const mt_node *a, mt_err *err) {
  mt_swizzle w = mt_swizzle_of(a);
  mt_failn(
      err, MT_EINEXACT,
      "make_gmma_desc: %N: Sw<%d,%d,%d> is no swizzle of wgmma, which for elements of "
      "%d bits has ",
      a, w.b, w.m, w.s, d->bits);
  int m = base_of(d);
  mt_explain(err, "Sw<1,%d,3>, Sw<2,%d,3> and Sw<3,%d,3>", m, m, m);
  way_out(d, err);
  return MT_EINEXACT;
}

static mt_status elsewhere (const mt_gmma_desc *d, const mt_node *a, int64_t at,
                            const mt_node *want, mt_err *err) {
  int64_t is = 0, read = 0;
  MT_TRY(mt_at(&is, mt_inner(a), at, err));
  MT_TRY(mt_at(&read, want, at, err));
  mt_failn(
      err, MT_EINEXACT,
      "make_gmma_desc: %N is not canonical in mode %s, major %s, of %d bits: element "
      "(%lld,%lld) lies at %lld",
      a, mt_gmma_mode_name(d->mode), mt_gmma_major_name(d->major), d->bits,
      (long long)(at % d->mn), (long long)(at / d->mn), (long long)is);
  mt_explain(err, ", wgmma reads it at %lld%s", (long long)read,
             d->mode ? ", both under the swizzle" : "");
  way_out(d, err);
  return MT_EINEXACT;
}

static mt_status bad_offset (const mt_gmma_desc *d, const mt_node *a, int64_t stride,
                             mt_err *err) {
  mt_failn(
      err, MT_EINEXACT,
      "make_gmma_desc: %N: a step of %lld elements of %d bits is none of 0 to %d times "
      "16 bytes, as a descriptor has it",
      a, (long long)stride, d->bits, (int)MOST_OFFSET);
  way_out(d, err);
  return MT_EINEXACT;
}

/* ---------------------------------------------------------------- one tile */

static mt_status check_shape (const mt_gmma_desc *d, const mt_node *a, mt_err *err) {
  int64_t deep = d->k <= 512 ? d->k * d->bits : 0;
  bool k = d->major == MT_GMMA_K;
  if (deep != 256 && deep != 512 && (k || deep != 128))
    return mt_failn(err, MT_EINVAL,
                    "make_gmma_desc: %N: its mode 2, K, has %lld elements of %d bits: an "
                    "instruction reads %d, 32 bytes\ntake a tile of K: zipped_divide",
                    a, (long long)d->k, d->bits, 256 / d->bits);
  if (k && d->mn % ROWS != 0)
    return mt_failn(err, MT_EINVAL,
                    "make_gmma_desc: %N: its mode 1 has %lld elements, no multiple of 8",
                    a, (long long)d->mn);
  return MT_OK;
}

static mt_status check_operand (const mt_node *a, int bits, int most, mt_err *err) {
  const mt_node *in = mt_inner(a);
  if (bits != 8 && bits != 16 && bits != 32)
    return mt_fail(err, MT_EINVAL,
                   "make_gmma_desc: elements of %d bits: wgmma reads 8, 16 and 32", bits);
  if (!mt_is_layout(a) || !mt_is_integral(a) || mt_rank(in) < 2 || mt_rank(in) > most ||
      mt_size(in) == 0)
    return mt_failn(
        err, MT_EINVAL,
        "make_gmma_desc: a layout (MN,K) -> element, not empty, expected, got "
        "%N",
        a);
  return MT_OK;
}

/* Whether the swizzle of `a` does what that of the mode does, on what `a` has. */
static mt_status acts_as (bool *out, const mt_gmma_desc *d, const mt_node *a, int mode,
                          mt_err *err) {
  mt_build b;
  mt_layout other;
  mt_swizzle w = mt_swizzle_of(a);
  *out = mode == 0 ? !mt_is_swizzled(a) || w.b == 0 :
                     mt_is_swizzled(a) && w.b == mode && w.m == base_of(d) && w.s == 3;
  if (*out || !mt_is_swizzled(a)) return MT_OK;
  mt_begin(&b, &other, "make_gmma_desc", err);
  mt_open(&b, MT_SWIZZLE);
  mt_add(&b, mt_inner(a));
  mt_close(&b);
  MT_TRY(mt_end(&b));
  other.node[0].shape = mt_swizzle_pack(mode, base_of(d), 3);
  other.node[0].stride = a->stride;
  return mt_equivalent(out, NULL, a, other.node, err);
}

/* The stride of a piece as a field of the descriptor. */
static mt_status read_offset (int64_t *out, piece *p, const mt_gmma_desc *d,
                              const mt_node *a, int64_t index, mt_err *err) {
  int64_t unit = unit_of(d);
  if (p->extent <= 1) return *out = 0, MT_OK;
  MT_TRY(mt_at(&p->stride, mt_inner(a), index, err));
  *out = p->stride / unit;
  if (p->stride % unit == 0 && *out >= 0 && *out <= MOST_OFFSET) return MT_OK;
  return bad_offset(d, a, p->stride, err);
}

/* `t`, one tile of the operand `a`. */
static mt_status describe (mt_gmma_desc *d, const mt_node *t, const mt_node *a,
                           mt_err *err) {
  piece p[PIECES];
  mt_layout want;
  bool same;
  int64_t at, offset[2];
  MT_TRY(check_shape(d, a, err));
  cut(p, d);
  if (p[0].extent * p[1].extent != d->mn || p[2].extent * p[3].extent != d->k)
    return mt_failn(err, MT_EINVAL,
                    "make_gmma_desc: %N: %lld by %lld elements are no whole rows of %lld",
                    a, (long long)d->mn, (long long)d->k, (long long)row_of(d));
  MT_TRY(read_offset(&offset[0], &p[1], d, t, p[0].extent, err));
  MT_TRY(read_offset(&offset[1], &p[3], d, t, d->mn * p[2].extent, err));
  bool first = lbo_piece(d) == 1;
  d->lbo = offset[first ? 0 : 1];
  d->sbo = offset[first ? 1 : 0];
  if (d->major == MT_GMMA_K && d->mode != MT_GMMA_INTERLEAVE) d->lbo = 1;
  MT_TRY(formula(&want, p, err));
  MT_TRY(mt_equivalent(&same, &at, mt_inner(t), want.node, err));
  return same ? MT_OK : elsewhere(d, t, at, want.node, err);
}

/* ---------------------------------------------------------------- operands */

/* Law (2): where the tiles begin. */
static mt_status check_starts (const mt_gmma_desc *d, const mt_node *a,
                               const mt_node *rest, mt_err *err) {
  int64_t first = mt_is_swizzled(a) ? a->stride : 0, at;
  for (int64_t i = 0; i < d->tiles; i++) {
    MT_TRY(mt_at(&at, rest, i, err));
    at += first;
    if (at % unit_of(d) == 0 &&
        (d->mode == MT_GMMA_INTERLEAVE || at / row_of(d) % ROWS == 0))
      continue;
    mt_failn(err, MT_EINEXACT,
             "make_gmma_desc: %N: tile %lld of %lld by %lld begins at element %lld, %s",
             a, (long long)i, (long long)d->mn, (long long)d->k, (long long)at,
             at % unit_of(d) ? "no multiple of 16 bytes" :
                               "not in the first of the 8 rows of its swizzle");
    way_out(d, err);
    return MT_EINEXACT;
  }
  return MT_OK;
}

/* An operand and its tiles: the first, and where all begin. */
typedef struct operand {
  const mt_node *a, *tile, *rest;
} operand;

static mt_status describe_as (mt_gmma_desc *d, const operand *o, mt_err *err) {
  MT_TRY(describe(d, o->tile, o->a, err));
  d->tiles = mt_size(o->rest);
  return check_starts(d, o->a, o->rest, err);
}

/* The mode of the swizzle; else one whose swizzle acts alike: what is said is of the
** first. */
static mt_status find_mode (mt_gmma_desc *d, const operand *o, mt_err *err) {
  mt_swizzle w = mt_swizzle_of(o->a);
  int own = mt_is_swizzled(o->a) ? w.b : 0;
  bool like = false, found = false;
  if (own < MT_NGMMA_MODE) MT_TRY(acts_as(&like, d, o->a, own, err));
  d->mode = (mt_gmma_mode)(like ? own : 0);
  mt_status s = like ? describe_as(d, o, err) : no_swizzle(d, o->a, err);
  for (int mode = 0; s != MT_OK && !found && own > 0 && mode < MT_NGMMA_MODE; mode++) {
    mt_gmma_desc other = *d;
    MT_TRYERR(why, err);
    if (mode == own || acts_as(&like, d, o->a, mode, &why) || !like) continue;
    other.mode = (mt_gmma_mode)mode;
    found = describe_as(&other, o, &why) == MT_OK;
    if (found) *d = other;
  }
  if (!found) return s;
  mt_forgive(err);
  return MT_OK;
}

mt_status mt_gmma_operand (mt_gmma_desc *out, const mt_node *a, int bits, int64_t mn,
                           int64_t k, mt_gmma_major major, mt_err *err) {
  mt_layout tiler, divided, tile;
  const int64_t extent[] = {mn, k};
  MT_TRY(check_operand(a, bits, MT_MAXNODES, err));
  const mt_node *in = mt_inner(a);
  if (mn < 1 || k < 1 || mt_size(mt_mode(in, 0)) % mn || mt_size(mt_mode(in, 1)) % k)
    return mt_failn(err, MT_EINEXACT,
                    "make_gmma_desc: %N is no whole number of operands of %lld by %lld",
                    a, (long long)mn, (long long)k);
  *out = (mt_gmma_desc){.major = major, .bits = bits, .mn = mn, .k = k};
  MT_TRY(mt_ints(&tiler, 2, extent, err));
  MT_TRY(mt_zipped_divide(&divided, in, tiler.node, err)); /* ((mn,k),(...)) */
  mt_copy_value(&tile, mt_mode(divided.node, 0));
  return find_mode(out, &(operand){a, tile.node, mt_mode(divided.node, 1)}, err);
}

mt_status mt_make_gmma_desc (mt_gmma_desc *out, const mt_node *a, int bits,
                             mt_gmma_major major, mt_err *err) {
  static const mt_node start = {.tag = MT_LEAF, .span = 1, .shape = 1};
  MT_TRY(check_operand(a, bits, 2, err));
  *out = (mt_gmma_desc){.major = major, .bits = bits, .tiles = 1};
  out->mn = mt_size(mt_mode(mt_inner(a), 0));
  out->k = mt_size(mt_mode(mt_inner(a), 1));
  return find_mode(out, &(operand){a, a, &start}, err);
}
