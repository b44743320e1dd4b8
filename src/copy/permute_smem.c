/*
** permute_smem.c - the geometry of a box in shared memory: walks and padding.
** SPDX-License-Identifier: MIT
**
** desc/permute_desc.h has the picture. Everything follows from a few choices:
**   pitch     from the padding before each axis, 0 to 4 vectors, the best of one axis
**             after the other;
**   group     the largest that is a box of the first axes along the destination;
**   wide      4 / unit for units of 1 and 2 bytes, where words hold units of several
**             vectors, else 1;
**   warp_row  0 or 8, whichever has fewer bank conflicts.
** A walk is a list of axes, the fastest first. Neighbours that continue one another on
** both sides are one axis: each axis is a division in the kernel.
*/
#include "copy/banks.h"
#include "desc/divisor.h"
#include "copy/permute_smem.h"
#include "desc/permute_desc.h"

enum {
  MT_BLOCK = 256,   /* threads of a block, at most */
  MT_WARP_ROWS = 4, /* along the source's first axis, with a warp_row */
  MT_MOSTGAP = 4    /* vectors of padding before an axis, at most */
};

typedef struct mt_walk {
  int n;
  mt_walk_axis axis[2 * MT_PERMUTE_AXES];
} mt_walk;

static uint32_t unit_of (const mt_desc *d) { return d->vec * d->elem; }

int64_t mt_permute_group (int *axis, int64_t *part, const int64_t *extent, int n,
                          int64_t most) {
  for (; most > 1; most /= 2) {
    int64_t left = most;
    for (int i = 0; i < n; left /= extent[i++]) {
      *axis = i, *part = left;
      if (extent[i] % left == 0) return most;
      if (left % extent[i] != 0) break;
    }
  }
  *axis = 0, *part = 1;
  return 1;
}

/* ---------------------------------------------------------------- walks */

static bool continues (const mt_walk_axis *a, uint32_t shared, int64_t global) {
  return a->shared * a->by.extent == shared &&
         a->global * (int64_t)a->by.extent == global;
}

static void push (mt_walk *w, int64_t extent, uint32_t shared, int64_t global) {
  if (extent == 1) return;
  if (w->n > 0 && continues(&w->axis[w->n - 1], shared, global))
    w->axis[w->n - 1].by.extent *= (uint32_t)extent;
  else
    w->axis[w->n++] =
        (mt_walk_axis){.by.extent = (uint32_t)extent, .shared = shared, .global = global};
}

static void insert (mt_walk *w, int i, uint32_t extent, uint32_t shared, int64_t global) {
  memmove(w->axis + i + 1, w->axis + i, (size_t)(w->n++ - i) * sizeof w->axis[0]);
  w->axis[i] = (mt_walk_axis){.by.extent = extent, .shared = shared, .global = global};
}

static void drop (mt_walk *w, int i) {
  memmove(w->axis + i, w->axis + i + 1, (size_t)(--w->n - i) * sizeof w->axis[0]);
}

/* The walk, which counts units, counts groups of g units then: its first axes become
** shorter, and their steps larger. False if a group is
** no box of the first axes. */
static bool count_by (mt_walk *w, uint32_t g) {
  while (g > 1 && w->n > 0) {
    mt_walk_axis *h = w->axis;
    uint32_t part = h->by.extent < g ? h->by.extent : g;
    if (h->by.extent % part != 0 || g % part != 0) return false;
    h->by.extent /= part, h->shared *= part, h->global *= part, g /= part;
    if (h->by.extent == 1) drop(w, 0);
  }
  return g == 1;
}

/* Puts the walk in another order: its first n things, then MT_WARP_ROWS along the axis
** with these steps, then all others. The first n are a box of the first axes. */
static bool shape_warps (mt_walk *w, uint32_t n, uint32_t shared, int64_t global) {
  int i = 0, x;
  for (; i < w->n && n % w->axis[i].by.extent == 0; i++) n /= w->axis[i].by.extent;
  if (i == w->n || w->axis[i].by.extent % n != 0) return false;
  for (x = i; x < w->n; x++)
    if (w->axis[x].shared == shared && w->axis[x].global == global) break;
  if (x == w->n || w->axis[x].by.extent % MT_WARP_ROWS != 0 || (x == i && n > 1))
    return false;
  w->axis[x].by.extent /= MT_WARP_ROWS;
  w->axis[x].shared *= MT_WARP_ROWS, w->axis[x].global *= MT_WARP_ROWS;
  if (w->axis[x].by.extent == 1) drop(w, x);
  if (n > 1) {
    mt_walk_axis h = w->axis[i];
    w->axis[i].by.extent /= n, w->axis[i].shared *= n, w->axis[i].global *= n;
    if (w->axis[i].by.extent == 1) drop(w, i);
    insert(w, i++, n, h.shared, h.global);
  }
  insert(w, i, MT_WARP_ROWS, shared, global);
  return true;
}

/* Steps are multiples of so many bytes, and their sum is less than 2^31 of these: the
** kernel adds them up in 32 bits. */
static bool is_near (const mt_walk *w, uint32_t bytes) {
  const uint64_t most = bytes * (uint64_t)INT32_MAX;
  uint64_t sum = 0;
  for (int i = 0; i < w->n; i++) {
    int64_t by = w->axis[i].global;
    uint64_t step = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
    if (step > most || step % bytes != 0)
      return false; /* extents: up to MT_PERMUTE_BYTES */
    sum += step * (w->axis[i].by.extent - 1);
  }
  return sum <= most;
}

/* Into the descriptor, with divisors of all axes but the last. */
static bool put (mt_walk_axis *to, uint16_t *count, const mt_walk *w, uint32_t bytes) {
  if (w->n > MT_PERMUTE_WALK || !is_near(w, bytes)) return false;
  for (int i = 0; i < w->n; i++) {
    to[i] = w->axis[i];
    if (i + 1 < w->n) to[i].by = mt_divisor_of(to[i].by.extent);
  }
  *count = (uint16_t)w->n;
  return true;
}

/* The first axis is contiguous and makes whole vectors, the others have steps of whole
** vectors. */
static bool has_whole_vectors (const mt_walk *w, uint32_t unit) {
  if (w->n == 0 || w->axis[0].global != unit || w->axis[0].by.extent * unit % 16 != 0)
    return false;
  for (int i = 1; i < w->n; i++)
    if (w->axis[i].global % 16 != 0) return false;
  return true;
}

/* Along the source: vectors, contiguous in shared memory too. */
static bool build_load (mt_desc *d) {
  uint32_t unit = unit_of(d);
  mt_walk w = {0};
  for (uint32_t k = 0; k < d->nthr; k++)
    push(&w, d->axis[k].extent, d->permute.pitch[k],
         d->axis[k].stride[MT_SRC] * (int64_t)d->elem);
  if (!has_whole_vectors(&w, unit)) return false;
  for (int i = 1; i < w.n; i++)
    if (w.axis[i].shared % 16 != 0) return false;
  return w.axis[0].shared == unit && count_by(&w, 16 / unit) &&
         put(d->permute.load, &d->permute.nload, &w, 16);
}

/* ---------------------------------------------------------------- of the destination */

/* Rows of the destination are whole vectors. With words of several units the first axis
** of the source may not lie within a vector: it begins `at` bytes into the row, a
** multiple of 16, or is not in the row. */
static bool has_whole_rows (const mt_desc *d) {
  uint32_t unit = unit_of(d), at = unit;
  mt_walk w = {0};
  for (uint32_t j = 0; j < d->nthr; j++) {
    const mt_axis *a = &d->axis[d->permute.order[j]];
    if (d->permute.wide > 1 && d->permute.order[j] == 0 && at % 16 != 0) return false;
    push(&w, a->extent, at, a->stride[MT_DST] * (int64_t)d->elem);
    if (w.n == 1) at = unit * w.axis[0].by.extent;
  }
  return has_whole_vectors(&w, unit);
}

/* Unit j of a group, j's digits being those of the first axes along the destination. */
static void set_lanes (mt_desc *d) {
  for (uint32_t j = 0; j < d->permute.group; j++) {
    uint32_t n = j, at = 0;
    for (uint32_t k = 0; k < d->nthr; k++) {
      uint32_t axis = d->permute.order[k], extent = (uint32_t)d->axis[axis].extent;
      at += n % extent * d->permute.pitch[axis];
      n /= extent;
    }
    d->permute.lane[j] = at;
  }
}

/* Along the destination: the first axis of the source counts words of `wide` units, then
** all counts groups, then warp_row puts them in order. */
static bool build_store (mt_desc *d) {
  uint32_t unit = unit_of(d), wide = d->permute.wide;
  mt_walk w = {0};
  for (uint32_t j = 0; j < d->nthr; j++) {
    uint32_t k = d->permute.order[j], by = k == 0 ? wide : 1;
    const mt_axis *a = &d->axis[k];
    if (a->extent % by != 0) return false;
    push(&w, a->extent / by, d->permute.pitch[k] * by,
         a->stride[MT_DST] * (int64_t)d->elem * by);
  }
  d->permute.wide_step = d->axis[0].stride[MT_DST] * (int64_t)d->elem;
  set_lanes(d);
  if (!has_whole_rows(d) || !count_by(&w, d->permute.group)) return false;
  if (d->permute.warp_row != 0 &&
      !shape_warps(&w, d->permute.warp_row * (16 / unit / d->permute.group), unit * wide,
                   d->permute.wide_step * wide))
    return false;
  return put(d->permute.store, &d->permute.nstore, &w, unit * d->permute.group);
}

/* Pitches do not overlap, words do not cross them; the size that they give. */
static bool find_size (mt_desc *d) {
  uint32_t unit = unit_of(d), end = 0, word = unit * d->permute.wide;
  for (uint32_t k = 0; k < d->nthr; k++) {
    uint32_t pitch = d->permute.pitch[k];
    if (k == 0 ? pitch != unit : pitch < end || pitch % word != 0) return false;
    end = pitch * (uint32_t)d->axis[k].extent;
    if (end > MT_PERMUTE_SHARED) return false;
  }
  d->permute.size = (end + 15) / 16 * 16;
  return true;
}

bool mt_permute_build (mt_desc *d) {
  d->permute.vectors = (uint32_t)d->threads * unit_of(d) / 16;
  return find_size(d) && build_load(d) && build_store(d);
}

/* ---------------------------------------------------------------- banks */

/* Wavefronts of a warp whose lane i accesses the thing `each` * i, of so many. */
static uint32_t wavefronts_of (const mt_walk_axis *h, uint32_t count, uint32_t each,
                               uint32_t things, uint32_t bytes) {
  uint32_t at[MT_LANES], n = things < MT_LANES ? things : MT_LANES;
  mt_banks_places(at, n, h, count, each);
  return mt_banks_wavefronts(at, n, bytes);
}

/* What a vector costs, in issue slots: four for a wavefront of shared memory, six for an
** axis of a walk. */
static uint32_t slots (const mt_desc *d, uint32_t writes, uint32_t reads) {
  const mt_permute *t = &d->permute;
  const uint32_t units = 16 / unit_of(d), groups = units / t->group;
  return 4 * writes + 6 * t->nload +
         (4 * reads * units + 6 * t->nstore * groups) / t->wide;
}

/* The same where no bank is met twice. No padding has less if this has none: an axis goes
** on where the one before it ends, so that walks have the fewest. */
static uint32_t least_of (const mt_desc *d) {
  const mt_permute *t = &d->permute;
  return slots(d, mt_banks_least(t->vectors, 16),
               mt_banks_least(t->vectors / t->wide, unit_of(d) * t->wide));
}

/* UINT32_MAX: not less than `limit`. */
static uint32_t cost_of (const mt_desc *d, uint32_t limit) {
  const mt_permute *t = &d->permute;
  const uint32_t unit = unit_of(d), word = unit * t->wide;
  const uint32_t writes = wavefronts_of(t->load, t->nload, 1, t->vectors, 16);
  if (slots(d, writes, mt_banks_least(t->vectors / t->wide, word)) >= limit)
    return UINT32_MAX;
  return slots(d, writes,
               wavefronts_of(t->store, t->nstore, 16 / unit / t->group,
                             t->vectors / t->wide, word));
}

double mt_permute_waves (const mt_desc *d) {
  const mt_permute *t = &d->permute;
  const uint32_t unit = unit_of(d), words = t->vectors / t->wide;
  const uint32_t reads =
      wavefronts_of(t->store, t->nstore, 16 / unit / t->group, words, unit * t->wide);
  return wavefronts_of(t->load, t->nload, 1, t->vectors, 16) +
         (double)reads * (16 / unit) / t->wide;
}

/* Paddings: gap[k] vectors before axis k; and what they cost. */
typedef struct padding {
  uint32_t gap[MT_PERMUTE_AXES], warp_row, cost;
} padding;

/* The box with these paddings. False: there is none. */
static bool pad (mt_desc *d, const padding *p) {
  uint32_t at = unit_of(d);
  for (uint32_t k = 0; k < d->nthr; k++) {
    at += 16 * p->gap[k];
    d->permute.pitch[k] = (uint16_t)(at < MT_PERMUTE_SHARED ? at : MT_PERMUTE_SHARED);
    at = d->permute.pitch[k] * (uint32_t)d->axis[k].extent;
  }
  d->permute.warp_row = (uint16_t)p->warp_row;
  return mt_permute_build(d);
}

/* The best padding before one axis after the other, from the last: *best stays where
** nothing costs less, and nothing costs less than *least. More padding before an axis
** does not make walks shorter. */
static void choose_gaps (padding *best, uint32_t *least, mt_desc *x, uint32_t warp_row) {
  padding p = {.warp_row = warp_row};
  uint32_t lowest = UINT32_MAX;
  for (uint32_t k = x->nthr; k-- > 0;) {
    uint32_t take = 0;
    for (p.gap[k] = 0; p.gap[k] <= (k > 0 ? MT_MOSTGAP : 0); p.gap[k]++) {
      if (best->cost <= *least) return;
      if (!pad(x, &p)) continue;
      const uint32_t any = least_of(x);
      if (warp_row == 0 && lowest == UINT32_MAX && p.gap[k] == 0) *least = any;
      if (any >= lowest) break;
      p.cost = cost_of(x, lowest);
      if (p.cost < lowest) lowest = p.cost, take = p.gap[k];
      if (p.cost < best->cost) *best = p;
    }
    p.gap[k] = take;
  }
}

/* Units in a word: several where the first axis of the source lies across the vectors of
** the destination. But 1 if the vectors of a word are neighbours there: a thread would
** write the halves of a sector one after the other, which costs more than reading single
** units. */
static void choose_wide (mt_desc *d) {
  const uint32_t unit = unit_of(d), wide = unit < 4 ? 4 / unit : 1;
  d->permute.wide = (uint16_t)wide;
  if (d->axis[0].stride[MT_DST] * (int64_t)d->elem == 16 ||
      d->axis[0].extent % wide != 0 || !has_whole_rows(d))
    d->permute.wide = 1;
}

bool mt_permute_choose (mt_desc *d) {
  padding best = {.cost = UINT32_MAX};
  int64_t extent[MT_PERMUTE_AXES], part;
  uint32_t least = 0;
  int axis;
  for (uint32_t k = 0; k < d->nthr; k++) extent[k] = d->axis[d->permute.order[k]].extent;
  choose_wide(d);
  d->permute.group =
      (uint16_t)mt_permute_group(&axis, &part, extent, (int)d->nthr, 16 / unit_of(d));
  mt_desc x = *d;
  choose_gaps(&best, &least, &x, 0);
  choose_gaps(&best, &least, &x, 8);
  return best.cost < UINT32_MAX && pad(d, &best);
}

/* As many rounds as 256 threads need, as few threads as these rounds need. */
uint32_t mt_permute_threads (const mt_desc *d) {
  uint32_t n = d->permute.vectors, rounds = (n + MT_BLOCK - 1) / MT_BLOCK;
  uint32_t each = (n + rounds - 1) / rounds;
  return (each + MT_LANES - 1) / MT_LANES * MT_LANES;
}

/* ---------------------------------------------------------------- checking */

mt_status mt_permute_check (const mt_desc *d, mt_err *err) {
  uint32_t unit = unit_of(d), group = d->permute.group, wide = d->permute.wide;
  mt_desc x = *d;
  MT_CHECK(d->nval == 0 && d->nthr >= 1 && d->nthr <= MT_PERMUTE_AXES, err,
           "a box has 1 to %d thread axes and no value axes", (int)MT_PERMUTE_AXES);
  MT_CHECK(d->threads <= MT_PERMUTE_BYTES / unit && d->threads > 0, err,
           "a box of %lld accesses", (long long)d->threads);
  MT_CHECK(mt_banks_order(d->permute.order, d->nthr), err,
           "the order of a box is no permutation");
  MT_CHECK(group >= 1 && 16 / unit % group == 0 &&
               (wide == 1 || (unit < 4 && wide == 4 / unit)),
           err, "a box of groups of %d, words of %d", (int)group, (int)wide);
  memset(&x.permute, 0, sizeof x.permute);
  memcpy(x.permute.order, d->permute.order, sizeof x.permute.order);
  memcpy(x.permute.pitch, d->permute.pitch, sizeof x.permute.pitch);
  x.permute.group = d->permute.group, x.permute.wide = d->permute.wide;
  x.permute.warp_row = d->permute.warp_row;
  MT_CHECK(mt_permute_build(&x), err,
           "the rows of a box are no whole vectors, or too far apart");
  MT_CHECK(memcmp(&x.permute, &d->permute, sizeof x.permute) == 0, err,
           "the geometry of a box does not follow from its axes");
  return MT_OK;
}
