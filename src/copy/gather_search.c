/*
** gather_search.c - the search for tiles of copies whose units lie anywhere.
** SPDX-License-Identifier: MIT
**
** What such a copy costs depends on the tile: sectors of the source that a tile uses in
** part are read again by others. So a tile has, beside a piece of the destination's run,
** rows whose units are neighbours in the source:
**
**   source      a0 b0 c0 a1 b1 c1 a2 b2 c2 ...      a sector has units of three rows
**   tile        a0 a1 a2 ..., b0 b1 b2 ..., c0 c1 c2 ...
**
** Pieces of some lengths are tried, each with the rows that fit to it. Short rows between
** which the destination has gaps are tried with their neighbours of both sides: lines
** that are written in part are then written by one block. The tile with the least
** estimated cost is taken.
*/
#include <math.h>

#include "moontile/analysis.h"
#include "copy/algo.h"
#include "copy/gather.h"
#include "desc/axes.h"
#include "desc/gather_desc.h"

enum {
  MT_GATHER_LIKELY = 2048,   /* bytes of a run that are tried first */
  MT_GATHER_LEAST = 16384,   /* bytes that keep the threads of a block busy */
  MT_GATHER_SMALLEST = 2048, /* bytes of a tile */
  MT_GATHER_SHEAR = 256,     /* bytes of a run from which on tiles have whole sectors */
  MT_GATHER_WORSE = 2,       /* lengths of runs in turn that are worse */
  MT_GATHER_SHORT = 6,       /* microseconds of a copy that is not worth a long search */
  MT_GATHER_MUCH = 32 << 20, /* bytes of a copy for which more tiles are tried */
  MT_GATHER_PIECE = 256 /* bytes of the source that are far from being read in part */
};

static const double MT_GATHER_PART = 0.25; /* of a tile's bytes that others have */

static int64_t unit_of (const mt_desc *d) { return (int64_t)d->vec * d->elem; }
static int64_t word_units (const mt_desc *d) { return MT_GATHER_UNITS(unit_of(d)); }

/* ---------------------------------------------------------------- making */

/* A tile in the making: axes that are left, a piece of the run, rows. */
typedef struct candidate {
  mt_axes *mode; /* three */
  bool beside;   /* rows are neighbours of the destination only */
  int64_t near;  /* but for so many bytes of the source */
  int64_t most;  /* bytes of a tile */
  uint32_t cut[2];
  int64_t unit, v, units, rows; /* bytes of a unit, units of a word; of a tile */
  int64_t group;                /* units that tiles of long runs are multiples of */
  int64_t piece;                /* bytes of the source that lie together, about */
  bool sums;                    /* rows are sums: there may be more of them */
  bool whole;                   /* no axis of the run is cut, if it has several */
} candidate;

static int64_t gcd (int64_t a, int64_t b) { return b == 0 ? a : gcd(b, a % b); }

/* Pieces of up to c indices of an axis, as equal as they can be, multiples of `step`: of
** one step at least. */
static int64_t even (int64_t extent, int64_t c, int64_t step) {
  if (c >= extent) return extent;
  int64_t most = c < step ? step : c - c % step;
  c = mt_div_up(mt_div_up(extent, mt_div_up(extent, most)), step) * step;
  c = c < most ? c : most;
  return c < extent ? c : extent;
}

static mt_axis take (mt_axes *from, int i) {
  mt_axis a = from->axis[i];
  memmove(from->axis + i, from->axis + i + 1,
          (size_t)(--from->n - i) * sizeof from->axis[0]);
  return a;
}

/* The axis of the destination that continues a run of so many elements; -1: none. */
static int find_next (const mt_axes *a, int64_t length) {
  for (int i = 0; i < a->n; i++)
    if (a->axis[i].stride[MT_DST] == length) return i;
  return -1;
}

/* Adds c indices of an axis to what lies together in the source. */
static void add_piece (candidate *x, int64_t stride, int64_t c) {
  if (stride <= (x->piece > 32 ? x->piece : 32)) x->piece += stride * (c - 1);
}

/* The first axes of the run, and a piece of the next: so many bytes. */
static void take_run (candidate *x, const mt_desc *d, int64_t most) {
  int i;
  x->cut[0] = 1;
  while ((i = find_next(&x->mode[2], x->units * (int64_t)d->vec)) >= 0) {
    int64_t e = x->mode[2].axis[i].extent, c = most / (x->units * x->unit), size;
    if (mt_mulo(d->vec * x->units, e, &size) || size > INT32_MAX / 2) return;
    if (c < 1 || (x->whole && c < e && x->mode[0].n > 0)) return;
    const int64_t group = most < MT_GATHER_SHEAR ? x->v : x->group;
    const int64_t step = group / gcd(group, x->units);
    if (c < step && c < e && x->mode[0].n > 0) return;
    c = even(e, c, step);
    x->mode[0].axis[x->mode[0].n++] = take(&x->mode[2], i);
    x->cut[0] = (uint32_t)c;
    x->units *= c;
    if (c < e) return;
  }
}

/* The axis of the run not seen that has the smallest stride in the source; -1: none. */
static int next_piece (const mt_axes *a, const mt_desc *d, const bool *seen) {
  int best = -1;
  for (int i = 0; i < a->n; i++)
    if (!seen[i] && (best < 0 || mt_gather_stride(d, &a->axis[i], MT_SRC) <
                                     mt_gather_stride(d, &a->axis[best], MT_SRC)))
      best = i;
  return best;
}

/* What the run has of the source. */
static void find_piece (candidate *x, const mt_desc *d) {
  bool seen[MT_LISTSIZE] = {false};
  const mt_axes *run = &x->mode[0];
  int i;
  x->piece = x->unit;
  while ((i = next_piece(run, d, seen)) >= 0) {
    seen[i] = true;
    add_piece(x, mt_gather_stride(d, &run->axis[i], MT_SRC),
              i + 1 == run->n ? x->cut[0] : run->axis[i].extent);
  }
}

/* The axis that is left with the smallest stride on a side. */
static int nearest (const mt_axes *a, int side) {
  int best = -1;
  for (int i = 0; i < a->n; i++)
    if (best < 0 ||
        mt_magnitude(a->axis[i].stride[side]) < mt_magnitude(a->axis[best].stride[side]))
      best = i;
  return best;
}

/* Up to c indices of the axis number rows. True: all of them do. */
static bool take_rows (candidate *x, const mt_desc *d, int i, int64_t c) {
  const int64_t e = x->mode[2].axis[i].extent;
  if (c < 2 || e > INT32_MAX / 2 / x->rows) return false;
  c = even(e, c, 1);
  add_piece(x, mt_gather_stride(d, &x->mode[2].axis[i], MT_SRC), c);
  x->mode[1].axis[x->mode[1].n++] = take(&x->mode[2], i);
  x->cut[1] = (uint32_t)c;
  x->rows *= c;
  return c == e;
}

static int64_t left_of (const candidate *x, int64_t bytes) {
  int64_t words = mt_div_up(x->units, x->v) * (x->unit < 4 ? 4 : x->unit);
  int64_t row = x->sums ? x->units * x->unit : words;
  int64_t most = x->sums ? MT_STAGED_ROWS : MT_GATHER_ROWS;
  return (bytes / row < most ? bytes / row : most) / x->rows;
}

/* Rows that lie among one another in the source; then, if there are few, neighbours of
** the destination. */
static void find_rows (candidate *x, const mt_desc *d) {
  const int64_t least = x->most < MT_GATHER_LEAST ? x->most : MT_GATHER_LEAST;
  x->cut[1] = 1;
  for (bool whole = !x->beside; whole && x->mode[2].n > 0;) {
    int i = nearest(&x->mode[2], MT_SRC);
    int64_t s = mt_gather_stride(d, &x->mode[2].axis[i], MT_SRC),
            near = x->piece > 32 ? x->piece : 32;
    if (s > near || (s == near && near >= MT_GATHER_PIECE)) break;
    whole = take_rows(x, d, i, left_of(x, x->most));
    if (!whole) return;
  }
  while (x->mode[2].n > 0 &&
         take_rows(x, d, nearest(&x->mode[2], MT_DST), left_of(x, least)))
    continue;
}

/* Makes two axes of one, the first of the largest extent from `least` to `most` that is
** possible. False: none is. */
static bool split (mt_axes *a, int i, int64_t least, int64_t most) {
  mt_axis outer = a->axis[i];
  int64_t n = most;
  while (n >= least && outer.extent % n != 0) n--;
  if (n < least || n < 2 || a->n == MT_LISTSIZE) return false;
  a->axis[i].extent = n;
  outer.extent /= n;
  for (int s = 0; s < 2; s++) outer.stride[s] *= n;
  a->axis[a->n++] = outer;
  return true;
}

/* Rows that lie among one another in the source, about x->near bytes of it; then
** neighbours of the destination. An axis of which not all are taken is the last one. */
static void find_mixed (candidate *x, const mt_desc *d) {
  mt_axes held = {0};
  int64_t c = 1;
  x->cut[1] = 1;
  while (x->mode[2].n > 0 && x->piece < x->near) {
    const int i = nearest(&x->mode[2], MT_SRC);
    const mt_axis a = x->mode[2].axis[i];
    const int64_t s = mt_gather_stride(d, &a, MT_SRC);
    if (s > (x->piece > 32 ? x->piece : 32) || s == 0) break;
    c = mt_div_up(x->near - x->piece, s) + 1;
    if (a.extent > 2 * c && !split(&x->mode[2], i, c, 2 * c)) {
      held.axis[held.n++] = take(&x->mode[2], i);
      break;
    }
    c = 1;
    if (!take_rows(x, d, i, left_of(x, x->most))) return;
  }
  while (x->mode[2].n > 0) {
    const int i = nearest(&x->mode[2], MT_DST);
    const int64_t left = left_of(x, x->most) / c;
    if (held.n > 0 && x->mode[2].axis[i].extent > left && !split(&x->mode[2], i, 2, left))
      break;
    if (!take_rows(x, d, i, left)) break;
  }
  if (held.n == 0) return;
  mt_axes_append(&x->mode[2], &held);
  take_rows(x, d, x->mode[2].n - 1, left_of(x, x->most));
}

/* Tiles in the making: bytes of the run, whether rows are neighbours of the destination
** only, but for so many bytes of the source; tiles of `size` times as many bytes as most
** have; sums: rows that are alone, of which there may be more; whole: the run ends where
** an axis would be cut. */
typedef struct kind {
  int64_t most;
  bool beside;
  int64_t near;
  double size;
  bool sums, whole;
} kind;

/* Rows begin within sectors, or words, of so many bytes, as far as strides tell. */
static bool is_torn (const mt_axes *a, const mt_desc *d, uint64_t bytes) {
  uint64_t all = 0;
  for (int i = 0; i < a->n; i++) {
    const uint64_t s = mt_magnitude(a->axis[i].stride[MT_DST]) * d->elem;
    if (s >= bytes) all |= s;
  }
  return all % bytes != 0;
}

/* The run is short, and goes on nowhere: neighbours of the destination may share sectors
** with it. */
static bool is_short (const candidate *x, const mt_desc *d) {
  return x->units * x->unit < MT_GATHER_PIECE &&
         find_next(&x->mode[2], x->units * (int64_t)d->vec) < 0 &&
         (x->mode[0].n == 0 || x->cut[0] == x->mode[0].axis[x->mode[0].n - 1].extent);
}

/* Rows whose units STAGED writes one by one, as far as strides tell. */
static bool is_alone (const candidate *x, const mt_desc *d) {
  const bool parts =
      x->units % x->v != 0 || is_torn(&x->mode[2], d, (uint64_t)(x->v * x->unit));
  return x->v > 1 && x->units <= MT_STAGED_ALONE && is_short(x, d) && parts;
}

static void begin_tiles (candidate *x, const mt_desc *d, const mt_axes *all, kind of) {
  x->mode[0].n = x->mode[1].n = 0;
  mt_axes_copy(&x->mode[2], all);
  x->unit = unit_of(d), x->v = word_units(d), x->units = x->rows = 1;
  x->beside = of.beside, x->near = of.near;
  x->most = (int64_t)(of.size * MT_GATHER_TILE);
  x->group = mt_staged_shears(d) && is_torn(all, d, MT_SECTORBYTES) ?
                 MT_SECTORBYTES / x->unit :
                 x->v;
  x->sums = of.sums, x->whole = of.whole;
  take_run(x, d, of.most);
}

/* The run that a tile has: the same run makes the same tile. */
typedef struct run {
  int axes;
  uint32_t cut;
  int64_t units;
} run;

static bool is_same (run *last, const candidate *x) {
  const run now = {x->mode[0].n, x->cut[0], x->units}, before = *last;
  *last = now;
  return now.axes == before.axes && now.cut == before.cut && now.units == before.units;
}

/* The copy in them: whatever tiles l has are gone. */
static bool make_tiles (mt_launch *l, candidate *x, mt_algorithm algo) {
  mt_desc *d = &l->desc;
  find_piece(x, d);
  if (x->near > 0) find_mixed(x, d);
  else find_rows(x, d);
  d->algo = algo;
  if (!mt_axes_store(d, x->mode) || d->threads > INT32_MAX / 2 ||
      d->values > INT32_MAX / 2)
    return false;
  if (algo != MT_ALGO_STAGED)
    return mt_gather_find(&d->gather, l, x->cut, x->v * x->unit);
  if (!mt_staged_find(&d->staged, l, x->cut)) return false;
  mt_staged_busy(l);
  x->units = d->gather.units;
  return true;
}

/* Microseconds of the copy in its tiles; those above `limit` need not be known. */
static double take_us (mt_launch *l, double limit, const mt_search *search) {
  mt_cost cost;
  if (l->desc.algo == MT_ALGO_STAGED) {
    if (!search->all) return mt_staged_us(l, limit);
    mt_staged_rotate(&l->desc);
  }
  mt_cost_apart(&cost, l, NULL);
  return cost.us;
}

static bool is_kind (const kind *a, const kind *b) {
  return a->most == b->most && a->beside == b->beside && a->near == b->near &&
         a->size == b->size && a->sums == b->sums && a->whole == b->whole;
}

/* A search for tiles: the best that were found, and those that l has. */
typedef struct search {
  mt_launch *l;
  mt_algorithm algo;
  const mt_axes *all;
  const mt_search *limits;
  kind best, made; /* most 0: none, or the axes are no more those of `made` */
  double least;
  double seen; /* of all tiles that were made, the least, or what that is at least */
  double now;  /* of those of a run */
  int worse;   /* runs in turn whose tiles were worse than those before */
} search;

/* Of two that take as long the shorter run, then rows that lie among one another in the
** source. */
static bool is_better (const search *s, double us, kind of) {
  const kind *b = &s->best;
  if (us != s->least || b->most == 0) return us <= s->least;
  return of.most < b->most || (of.most == b->most && b->beside && !of.beside);
}

/* Makes such tiles, which were begun. False: there are none. */
static bool try_begun (search *s, candidate *x, kind of) {
  if (!make_tiles(s->l, x, s->algo)) return false;
  s->made = of;
  const double us = take_us(s->l, s->least, s->limits);
  if (us < s->now) s->now = us;
  if (is_better(s, us, of)) s->least = us, s->best = of;
  return true;
}

/* Begins and makes such tiles. */
static bool try_kind (search *s, candidate *x, kind of) {
  s->made.most = 0;
  begin_tiles(x, &s->l->desc, s->all, of);
  return try_begun(s, x, of);
}

/* So many bytes are written that more tiles may be tried. */
static bool is_much (const mt_desc *d) {
  return (double)mt_accesses(d) * (double)unit_of(d) >= MT_GATHER_MUCH;
}

/* Larger tiles, for blocks begin less often: of a source that is smaller still ones that
** are larger still, and with rows that are neighbours of the source. */
static void try_larger (search *s, candidate *x, kind of) {
  const mt_staged *made = &s->l->desc.staged;
  of.size = 2;
  const bool has = try_kind(s, x, of);
  if (!has || !is_much(&s->l->desc)) return;
  const bool small = made->size <= MT_GATHER_TILE / 2;
  of.near = 32;
  try_kind(s, x, of);
  of.size = 4, of.near = 0;
  if (small) try_kind(s, x, of);
}

/* Of a run that ends within an axis the one that ends before it, and larger tiles of it:
** along the last axis of a run a thread's words may lie any number of indices apart. */
static void try_whole (search *s, candidate *x, kind of) {
  of.whole = true;
  try_kind(s, x, of);
  of.size = 2;
  try_kind(s, x, of);
}

/* The last of several axes of the run is cut. */
static bool is_cut (const candidate *x) {
  const int n = x->mode[0].n;
  return n > 1 && x->cut[0] < x->mode[0].axis[n - 1].extent;
}

/* Tiles that were begun. Of a small source larger ones, too. Of one that is too large, or
** is too many pieces, smaller ones; of a large one, and of rows with gaps, smaller ones,
** too. */
static void try_tiles (search *s, candidate *x, kind of) {
  const mt_staged *made = &s->l->desc.staged;
  bool has = try_begun(s, x, of);
  if (s->algo != MT_ALGO_STAGED) return;
  for (of.size = 0.5; !has && of.size * MT_GATHER_TILE >= MT_GATHER_SMALLEST;
       of.size /= 2)
    has = try_kind(s, x, of);
  if (of.size < 0.5) return;
  const bool small = made->size <= MT_GATHER_TILE;
  if ((!small || made->gaps != 0) && is_much(&s->l->desc)) try_kind(s, x, of);
  if (small) try_larger(s, x, of);
}

/* The nearest row of the destination is so far away that few lines have several. */
static bool is_lonely (const candidate *x, const mt_desc *d) {
  const int i = nearest(&x->mode[2], MT_DST);
  return i >= 0 && mt_magnitude(x->mode[2].axis[i].stride[MT_DST]) >
                       (uint64_t)(MT_LONELY * x->units * (int64_t)d->vec);
}

/* Tiles with so many bytes of a run, if that is another run than the one before. */
static void try_kinds (search *s, candidate *x, int64_t most, run *before) {
  static const int64_t near[] = {64, 32, 256};
  const mt_desc *d = &s->l->desc;
  if (most < unit_of(d)) return;
  s->made.most = 0;
  begin_tiles(x, d, s->all, (kind){.most = most, .size = 1});
  if (is_same(before, x)) return;
  const bool both = is_short(x, d), lonely = both && is_lonely(x, d);
  const bool alone = s->algo == MT_ALGO_STAGED && is_alone(x, d);
  if (lonely) try_kind(s, x, (kind){.most = most, .near = near[0], .size = 1});
  if (lonely && s->made.most != 0) return;
  if (lonely) begin_tiles(x, d, s->all, (kind){.most = most, .size = 1});
  const bool cut = s->algo == MT_ALGO_STAGED && is_cut(x) && is_much(d);
  try_tiles(s, x, (kind){.most = most, .size = 1});
  if (cut) try_whole(s, x, (kind){.most = most, .size = 1});
  if (both) try_kind(s, x, (kind){.most = most, .beside = true, .size = 1});
  for (int i = 0; both && i < 3; i++)
    try_kind(s, x, (kind){.most = most, .near = near[i], .size = 1});
  for (double size = 1; alone && size >= MT_GATHER_PART; size /= 2)
    for (int i = 0; i < 3; i++)
      try_kind(s, x, (kind){.most = most, .near = near[i], .size = size, .sums = true});
}

/* Runs are longer and longer, or shorter: mostly, once several in turn were worse, so are
** others. Of a short copy they are not tried then. False: that is so. */
static bool try_run (search *s, candidate *x, int64_t most, run *before) {
  s->now = INFINITY;
  try_kinds(s, x, most, before);
  if (s->now < s->seen) s->seen = s->now, s->worse = 0;
  else if (s->now > s->seen && s->now < INFINITY) s->worse++;
  return s->limits->all || s->seen > MT_GATHER_SHORT || s->worse < MT_GATHER_WORSE;
}

/* Runs of 32 bytes to all of a tile; first those that are likely the best, so that bank
** conflicts of few others need to be counted. */
bool mt_gather_make (mt_launch *l, mt_axes mode[3], mt_algorithm algo,
                     const mt_search *limits) {
  mt_axes all;
  candidate x = {.mode = mode};
  search s = {.l = l,
              .algo = algo,
              .all = &all,
              .limits = limits,
              .least = limits->us,
              .seen = INFINITY};
  l->desc.algo = algo;
  run last = {0}, first;
  mt_axes_copy(&all, &mode[2]);
  try_run(&s, &x, MT_GATHER_LIKELY, &last);
  first = last;
  for (int64_t most = MT_GATHER_LIKELY / 2; most >= 32; most /= 2)
    if (!try_run(&s, &x, most, &last)) break;
  s.worse = 0;
  for (int64_t most = 2 * MT_GATHER_LIKELY; most <= MT_GATHER_TILE; most *= 2)
    if (!try_run(&s, &x, most, &first)) break;
  if (s.best.most == 0) return false;
  if (limits->found) *limits->found = s.least;
  if (is_kind(&s.made, &s.best)) return true;
  begin_tiles(&x, &l->desc, &all, s.best);
  if (!make_tiles(l, &x, algo)) return false;
  if (algo == MT_ALGO_STAGED) mt_staged_rotate(&l->desc);
  return true;
}
