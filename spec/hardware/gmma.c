/*
** gmma.c - descriptors of wgmma against the addresses that the hardware makes of them.
** SPDX-License-Identifier: MIT
**
** The address of an element is computed here from bytes, as the manual of PTX has it. A
** layout is accepted exactly if some descriptor reads it: every mode, LBO and SBO that
** could be is tried.
*/
#include <string.h>

#include "hardware_test.h"
#include "times.h"

/* ---------------------------------------------------------------- the hardware */

typedef struct wanted {
  int mode, bits;
  bool k;                      /* K is the major */
  int64_t mn, depth, lbo, sbo; /* offsets in bytes */
} wanted;

/* The byte of element (i,j): rows of 16, 32, 64 or 128 bytes, eight of which are a block
** that repeats; bits 4.. are flipped by bits 7.. of the address. */
static int64_t byte_of (const wanted *w, int64_t i, int64_t j) {
  int64_t size = w->bits / 8, span = 16 << w->mode;
  int64_t row = w->k ? i : j, x = (w->k ? j : i) * size;
  int64_t along = w->mode == 0 ? (w->k ? w->lbo : w->sbo) : w->lbo;
  int64_t across = w->mode == 0 ? (w->k ? w->sbo : w->lbo) : w->sbo;
  if (w->k && w->mode) along = span; /* one row holds all of K, or more of the same row */
  int64_t at = x % span + x / span * along + row % 8 * span + row / 8 * across;
  return at ^ (at >> 7 & ((1 << w->mode) - 1)) << 4;
}

/* ---------------------------------------------------------------- layouts */

/* A layout node by node. */
typedef struct pen {
  mt_layout *out;
  int n;
} pen;

static void leaf (pen *p, int64_t shape, int64_t stride) {
  p->out->node[p->n++] =
      (mt_node){.tag = MT_LEAF, .span = 1, .shape = shape, .stride = stride};
}

static int open (pen *p, mt_tag tag, int arity) {
  p->out->node[p->n] = (mt_node){.tag = (uint8_t)tag, .arity = (uint16_t)arity};
  return p->n++;
}

static void close_node (pen *p, int at, int64_t shape) {
  p->out->node[at].span = (uint32_t)(p->n - at);
  p->out->node[at].shape = shape;
}

/* The canonical layout of `w`; `spoil` is which of its strides is another, and by how
** much. */
static void layout_of (mt_layout *out, const wanted *w, int spoil, int64_t by) {
  int64_t size = w->bits / 8, t = 16 / size, row = t << w->mode;
  int64_t lbo = w->lbo / size, sbo = w->sbo / size, run = w->k ? 8 : row;
  int64_t other = !w->k ? 8 : w->mode ? w->depth : t;
  if (run > w->mn) run = w->mn;
  if (other > w->depth) other = w->depth;
  bool first = !w->k && w->mode;
  int64_t extent[4] = {run, w->mn / run, other, w->depth / other};
  int64_t stride[4] = {w->k ? row : 1, first ? lbo : sbo, w->k ? 1 : row,
                       first ? sbo : lbo};
  if (spoil >= 0) stride[spoil] += by;
  pen p = {out, 0};
  int log = 0, root = 0;
  while (t >> (log + 1)) log++;
  if (w->mode) {
    root = open(&p, MT_SWIZZLE, 1);
    out->node[root].stride = 0;
  }
  int all = open(&p, MT_MODES, 2);
  for (int i = 0; i < 4; i += 2) {
    int at = open(&p, MT_MODES, 2);
    leaf(&p, extent[i], extent[i] == 1 ? 0 : stride[i]);
    leaf(&p, extent[i + 1], extent[i + 1] == 1 ? 0 : stride[i + 1]);
    close_node(&p, at, extent[i] * extent[i + 1]);
  }
  close_node(&p, all, w->mn * w->depth);
  if (w->mode) close_node(&p, root, w->mode | log << 8 | 3 << 16);
}

static int64_t at (const mt_layout *a, int64_t i) {
  mt_err err = MT_NOERR;
  int64_t out = -1;
  mt_at(&out, a->node, i, &err);
  return out;
}

/* ---------------------------------------------------------------- what reads it */

static bool reads (const wanted *w, const mt_layout *a) {
  for (int64_t j = 0; j < w->depth; j++)
    for (int64_t i = 0; i < w->mn; i++)
      if (byte_of(w, i, j) != at(a, i + w->mn * j) * w->bits / 8) return false;
  return true;
}

/* Any mode and offsets: those of an element where each begins to count. */
static bool some_reads (const wanted *like, const mt_layout *a) {
  for (int mode = 0; mode < 4; mode++) {
    wanted w = *like;
    int64_t size = w.bits / 8, span = 16 << mode, unit = (w.k ? 16 : span) / size;
    int64_t rows = w.k ? w.mn : w.depth, wide = w.k ? w.depth : w.mn;
    int64_t next = 0, across = 0;
    w.mode = mode;
    if (unit < wide) next = at(a, w.k ? w.mn * unit : unit) * size;
    if (rows > 8) across = at(a, w.k ? 8 : 8 * w.mn) * size;
    /* what is read there is swizzled: the linear address is its swizzle again */
    next ^= (next >> 7 & ((1 << mode) - 1)) << 4;
    across ^= (across >> 7 & ((1 << mode) - 1)) << 4;
    w.lbo = mode == 0 && !w.k ? across : next;
    w.sbo = mode == 0 && !w.k ? next : across;
    if (next % 16 || across % 16 || next < 0 || across < 0) continue;
    if (next >> 18 || across >> 18) continue;
    if (reads(&w, a)) return true;
  }
  return false;
}

static void check_one (const wanted *w, const mt_layout *a, bool canonical) {
  char text[256];
  mt_gmma_desc d;
  mt_err err = MT_NOERR;
  mt_gmma_major major = w->k ? MT_GMMA_K : MT_GMMA_MN;
  mt_format(text, sizeof text, a->node);
  mt_status s = mt_make_gmma_desc(&d, a->node, w->bits, major, &err);
  if (canonical) CHECK(s == MT_OK, "%s: %s", text, err.text);
  CHECK((s == MT_OK) == some_reads(w, a), "%s of %d bits, major %s: status %d", text,
        w->bits, mt_gmma_major_name(major), s);
  if (s != MT_OK) return;
  const wanted got = {(int)d.mode, d.bits,     major == MT_GMMA_K, d.mn,
                      d.k,         d.lbo * 16, d.sbo * 16};
  CHECK(reads(&got, a), "%s: mode %s, LBO %lld, SBO %lld", text,
        mt_gmma_mode_name(d.mode), (long long)d.lbo, (long long)d.sbo);
  for (int64_t j = 0; j < d.k; j++)
    for (int64_t i = 0; i < d.mn; i++)
      CHECK(mt_gmma_at(&d, i, j) == at(a, i + d.mn * j), "%s: (%lld,%lld)", text,
            (long long)i, (long long)j);
}

static wanted random_wanted (uint64_t *x) {
  wanted w = {.mode = pick(x, 4), .bits = 8 << pick(x, 3), .k = pick(x, 2) == 0};
  int64_t size = w.bits / 8, run = (16 << w.mode) / size;
  w.depth = 32 / size;
  if (!w.k && w.depth < 8) w.depth = 8;
  /* of one unit of 16 bytes a plain step of 9 units is what a swizzle does, too */
  w.mn = w.k ? 8 * (1 + pick(x, 16)) : run * ((w.mode ? 1 : 2) + pick(x, 4));
  /* whole blocks of the swizzle, so that it acts alike in each */
  int64_t block = w.mode ? 128 << w.mode : 16;
  w.lbo = block * (1 + pick(x, 8));
  w.sbo = block * (1 + pick(x, 8));
  return w;
}

/* Rows of a tile that several instructions read, and stages. */
static void check_tiles (uint64_t *x) {
  static const char *const names[] = {"INTER", "SW32", "SW64", "SW128"};
  mt_layout atom, tile, shape;
  mt_gmma_desc d;
  mt_err err = MT_NOERR;
  char name[64];
  int mode = pick(x, 4), bits = 8 << pick(x, 3), mn = pick(x, 2);
  if (mn) bits = 16;
  snprintf(name, sizeof name, "GMMA::Layout_%s_%s_Atom", mn ? "MN" : "K", names[mode]);
  const int64_t extent[] = {64 * (1 + pick(x, 3)), 1024 / bits * (1 + pick(x, 2)),
                            1 + pick(x, 4)};
  int64_t k = 256 / bits;
  mt_ints(&shape, 3, extent, &err);
  mt_status s = mt_smem_atom(&atom, name, bits, &err);
  if (s == MT_OK) s = mt_tile_to_shape(&tile, atom.node, shape.node, NULL, &err);
  if (s == MT_OK)
    s = mt_gmma_operand(&d, tile.node, bits, 64, k, mn ? MT_GMMA_MN : MT_GMMA_K, &err);
  CHECK(s == MT_OK, "%s of %d bits: %s", name, bits, err.text);
  if (s != MT_OK) return;
  CHECK(d.tiles == extent[0] / 64 * (extent[1] / k) * extent[2], "%lld tiles",
        (long long)d.tiles);
  CHECK((int)d.mode == mode, "%s: mode %s", name, mt_gmma_mode_name(d.mode));
}

void test_gmma (uint64_t seed) {
  uint64_t x = seed;
  long n = cases_of(400);
  for (long i = 0; i < n; i++) {
    wanted w = random_wanted(&x);
    mt_layout a;
    layout_of(&a, &w, -1, 0);
    check_one(&w, &a, true);
    layout_of(&a, &w, pick(&x, 4), (pick(&x, 2) ? 1 : -1) * (INT64_C(1) << pick(&x, 9)));
    check_one(&w, &a, false);
    check_tiles(&x);
  }
}
