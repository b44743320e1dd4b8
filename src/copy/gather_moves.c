/*
** gather_moves.c - what copies in tiles of words move: sectors of both sides.
** SPDX-License-Identifier: MIT
*/
#include "moontile/analysis.h"
#include "copy/algo.h"
#include "copy/gather.h"

static int64_t unit_of (const mt_desc *d) { return (int64_t)d->vec * d->elem; }

int64_t mt_gather_stride (const mt_desc *d, const mt_axis *a, int side) {
  uint64_t s = mt_magnitude(a->stride[side]);
  return s > INT32_MAX ? (int64_t)INT32_MAX * d->elem : (int64_t)s * d->elem;
}

/* An axis of a tile: its extent, and its stride in the source in bytes. */
typedef struct part {
  int64_t extent, stride;
} part;

/* By stride. */
static int find_parts (part *p, const mt_desc *d, int side) {
  const int n = (int)(d->nthr + d->nval);
  for (int i = 0; i < n; i++) {
    const bool thr = i < (int)d->nthr, last = i + 1 == (int)d->nthr || i + 1 == n;
    const part x = {last ? d->gather.cut[!thr] : d->axis[i].extent,
                    mt_gather_stride(d, &d->axis[i], side)};
    int j = i;
    for (; j > 0 && p[j - 1].stride > x.stride; j--) p[j] = p[j - 1];
    p[j] = x;
  }
  return n;
}

/* The largest power of two up to a sector that divides where pieces of so many bytes of a
** side begin: smaller strides lie within them. */
static int64_t grain_of (const mt_launch *l, int side, int64_t piece) {
  const mt_desc *d = &l->desc;
  uint64_t all = mt_address(l, side, 0) | 32;
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++) {
    uint64_t s = mt_magnitude(d->axis[i].stride[side]) * d->elem;
    if (i + 1 == d->nthr) s *= d->gather.cut[0];
    if (s >= (uint64_t)piece) all |= s;
  }
  return (int64_t)(all & (0 - all));
}

/* The pieces that a tile has of a side, between which whole sectors lie: how many, bytes
** of one, where they begin. */
typedef struct pieces {
  double n;
  int64_t bytes, grain;
} pieces;

static pieces pieces_of (const mt_launch *l, int side) {
  part p[MT_MAXAXIS];
  const int n = find_parts(p, &l->desc, side);
  pieces x = {1, unit_of(&l->desc), 0};
  for (int i = 0; i < n; i++) {
    if (p[i].stride < x.bytes + MT_SECTORBYTES)
      x.bytes += p[i].stride * (p[i].extent - 1);
    else x.n *= (double)p[i].extent;
  }
  x.grain = grain_of(l, side, x.bytes);
  return x;
}

/* Bytes of their sectors on the average. */
static double sectors_of (const pieces *x) {
  return x->n * mt_cut_of(x->bytes, x->grain, MT_SECTORBYTES).touched * MT_SECTORBYTES;
}

/* What their ends take as bytes: more if they are parts of sectors that are written; of
** rows that are cut at sectors, only where these begin. */
static double ends_of (const mt_launch *l, const pieces *x, int side, bool sheared) {
  double ends = mt_h200.gather_end;
  if (side == MT_DST && x->grain < MT_SECTORBYTES)
    ends += mt_h200.gather_torn * mt_part_torn(l, x->bytes / unit_of(&l->desc)) /
            (sheared ? l->desc.gather.along.extent : 1);
  return x->n * ends;
}

/* Where the words of rows begin that a warp writes: the largest power of two, a sector at
** most. */
static int64_t words_begin (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const int64_t word = MT_GATHER_WORD(unit_of(d));
  uint64_t all = mt_address(l, MT_DST, 0) | MT_SECTORBYTES | mt_gather_steps(d);
  if (d->gather.along.extent > 1)
    all |= (uint64_t)d->axis[d->nthr - 1].stride[MT_DST] * d->elem * d->gather.cut[0];
  const int64_t at = (int64_t)(all & (0 - all));
  return at > word ? at : word;
}

/* Sectors of which stores of warps write a part: a warp writes `step` words of a row
** together, 32 at most, then those that follow the step. Those of rows that lie within a
** sector are shared. */
static double torn_stores (const mt_launch *l, int64_t step, bool sheared) {
  const mt_desc *d = &l->desc;
  const mt_gather *g = &d->gather;
  const int64_t lanes = step < 32 ? step : 32;
  const int64_t word = MT_GATHER_WORD(unit_of(d)), bytes = lanes * word;
  const uint64_t pitch =
      d->nval > 0 ? mt_magnitude(d->axis[d->nthr].stride[MT_DST]) * d->elem : UINT64_MAX;
  double stores = (double)g->words.extent / (double)lanes;
  int64_t at = sheared ? MT_SECTORBYTES : words_begin(l);
  if (step > 32) stores += (double)mt_div_up(g->words.extent, step);
  at = mt_gcd_of(at, step * word);
  if (pitch < MT_SECTORBYTES && (uint64_t)bytes <= pitch)
    return stores * g->rows * (double)pitch / MT_SECTORBYTES;
  const mt_cut cut = mt_cut_of(bytes, at, MT_SECTORBYTES);
  return stores * g->rows * (cut.touched - cut.whole);
}

double mt_gather_moves (const mt_launch *l, int64_t step, bool sheared) {
  const mt_desc *d = &l->desc;
  const pieces src = pieces_of(l, MT_SRC), dst = pieces_of(l, MT_DST);
  const double tiles =
      (double)mt_accesses(d) / ((double)d->gather.units * d->gather.rows);
  const double read = tiles * sectors_of(&src), once = mt_source_bytes(d);
  return (read < once ? read : once) +
         tiles * (ends_of(l, &src, MT_SRC, false) + sectors_of(&dst) +
                  ends_of(l, &dst, MT_DST, sheared) +
                  torn_stores(l, step, sheared) * mt_h200.gather_store);
}
