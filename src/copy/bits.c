/*
** bits.c - copies that permute the bits of an index: axes of powers of two.
** SPDX-License-Identifier: MIT
**
** Any axis of 2^k indices is k axes of two: bits. On each side those whose strides follow
** one another from a unit on are its run; a box has the first bits of both runs, as many
** of each as it has room for, so that both sides have rows as long as can be:
**
**   source        bits 0 1 2 3 4 5 ...            Morton order: the destination's bits
**   destination   bits 0 12 1 13 2 14 ...         are every second one of the source's
**   the box       0 1 2 3 4 and 0 12 1 13 2       rows of 32 units on both sides
**
** What is left of an axis, bits or an odd number, counts boxes.
*/
#include "copy/algo.h"
#include "copy/bits.h"
#include "desc/axes.h"

enum {
  MT_BITS_MOST = 14,    /* bits of a box at most: of bytes */
  MT_BITS_LEAST = 2048, /* bytes of a box */
  MT_BITS_ROW = 512,    /* bytes: longer rows are not faster */
  MT_BITS_ALONG = 3,    /* threads of a warp along the destination's run: 2^3 vectors */
  MT_BITS_LIST = 48     /* bits that are looked at */
};

static uint32_t unit_of (const mt_desc *d) { return d->vec * d->elem; }
static int log_of (uint64_t n) { return __builtin_ctzll(n); }
/* Units of a vector, as a power of two. */
static int vector_of (const mt_desc *d) { return log_of(16 / unit_of(d)); }

/* ---------------------------------------------------------------- columns */

/* The thread axes by their stride in the source, those of stride 0 left out. */
static int order_of (int *order, const mt_desc *d) {
  int n = 0;
  for (int i = 0; i < (int)d->nthr; i++) {
    const uint64_t s = mt_magnitude(d->axis[i].stride[MT_SRC]);
    int at = n;
    if (s == 0) continue;
    while (at > 0 && mt_magnitude(d->axis[order[at - 1]].stride[MT_SRC]) > s)
      order[at] = order[at - 1], at--;
    order[at] = i, n++;
  }
  return n;
}

/* All banks that are met by any of the columns that were added, as bits; bit 0: none. */
static uint32_t meet (uint32_t met, uint32_t bank) {
  uint32_t more = met;
  for (uint32_t x = 0; x < 32; x++)
    if (met >> x & 1) more |= 1u << (x ^ bank);
  return more;
}

/* The columns of the source's bits. A vector lies together; the next three bits are those
** of the banks' vectors; the others, of those that a warp reads along, move it to other
** ones as long as there are any. */
static void find_columns (uint32_t *column, const int *order, int n, const mt_desc *d) {
  const int v = vector_of(d);
  uint32_t met = 1, lanes = 0;
  for (int i = v; i < v + MT_BITS_LANES && i < (int)d->nthr; i++) lanes |= 1u << i;
  for (int k = 0; k < n; k++) {
    column[order[k]] = unit_of(d) << k;
    if ((lanes >> order[k] & 1) && column[order[k]] < 128)
      met = meet(met, column[order[k]] / 4);
  }
  for (int k = 0; k < n; k++) {
    uint32_t *c = &column[order[k]], more = 16;
    if (!(lanes >> order[k] & 1) || *c < 128) continue;
    while (more < 128 && (met >> more / 4 & 1)) more += 16;
    if (more == 128) continue;
    met = meet(met, more / 4);
    *c ^= more;
  }
}

/* ---------------------------------------------------------------- geometry */

/* Every step of a side but those of its vectors is a whole number of vectors, and it
** begins with one. */
static bool is_aligned (const mt_launch *l, int side, uint64_t in, int64_t low) {
  const mt_desc *d = &l->desc;
  if ((mt_address(l, side, 0) + (uint64_t)low) % 16 != 0) return false;
  for (uint32_t i = 0; i < d->nthr + d->nrest; i++)
    if (!(in >> i & 1) && d->axis[i].stride[side] * (int64_t)d->elem % 16 != 0)
      return false;
  return true;
}

static bool has_vectors (mt_bits_box *b, const mt_launch *l, const int *order, int n) {
  const mt_desc *d = &l->desc;
  const int v = vector_of(d);
  uint64_t in = 0;
  if (n < v || (int)d->nthr < v) return false;
  for (int k = 0; k < v; k++) {
    if (mt_magnitude(d->axis[order[k]].stride[MT_SRC]) != (uint64_t)d->vec << k ||
        d->axis[k].stride[MT_DST] != (int64_t)d->vec << k)
      return false;
    in |= (uint64_t)1 << order[k];
  }
  for (int k = 0; k < n; k++) {
    const int64_t s = d->axis[order[k]].stride[MT_SRC];
    if (s < 0) b->low += s * (int64_t)d->elem;
  }
  return is_aligned(l, MT_SRC, in, b->low) &&
         is_aligned(l, MT_DST, ((uint64_t)1 << v) - 1, 0);
}

/* Bit i of a vector's number: of a thread, or it doubles the rounds. */
static void add_step (mt_bits_step *step, mt_bits_step *round, int i, mt_bits_step x) {
  if (i < MT_BITS_LOG) {
    step[i] = x;
    return;
  }
  const int n = 1 << (i - MT_BITS_LOG);
  for (int r = 0; r < n; r++) {
    round[n + r].global = round[r].global + x.global;
    round[n + r].shared = round[r].shared ^ x.shared;
  }
}

static void find_steps (mt_bits_box *b, const mt_desc *d, const int *order, int n,
                        const uint32_t *column) {
  const int v = vector_of(d);
  for (int k = v; k < n; k++) {
    const uint64_t s = mt_magnitude(d->axis[order[k]].stride[MT_SRC]) * d->elem;
    const mt_bits_step x = {(int64_t)s, column[order[k]], 0};
    add_step(b->load, b->load_round, k - v, x);
  }
  for (int i = v; i < (int)d->nthr; i++) {
    const mt_bits_step x = {d->axis[i].stride[MT_DST] * (int64_t)d->elem, column[i], 0};
    add_step(b->store, b->store_round, i - v, x);
  }
  for (int i = 0; i < (int)d->nthr; i++)
    if (d->axis[i].stride[MT_SRC] < 0) b->start ^= column[i];
  for (uint32_t j = 0; j < 16 / unit_of(d); j++)
    for (int i = 0; i < v; i++)
      if (j >> i & 1) b->lane[j] ^= column[i];
}

/* The first rest axes, as long as they are powers of two and have room. */
static void find_blocks (mt_bits_box *b, const mt_desc *d) {
  uint32_t i = d->nthr;
  for (; i < d->nthr + d->nrest; i++) {
    const mt_axis *a = &d->axis[i];
    const uint64_t e = (uint64_t)a->extent;
    if ((e & (e - 1)) != 0 || b->grid + (uint32_t)log_of(e) > MT_BITS_GRID) break;
    for (int k = 0; k < log_of(e); k++, b->grid++)
      for (int side = 0; side < 2; side++)
        b->block[b->grid][side] = a->stride[side] * (int64_t)d->elem * ((int64_t)1 << k);
  }
  b->first = i;
}

bool mt_bits_find (mt_bits_box *b, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  uint32_t column[MT_MAXAXIS] = {0};
  int order[MT_MAXAXIS];
  memset(b, 0, sizeof *b);
  for (uint32_t i = 0; i < d->nthr; i++)
    if (d->axis[i].extent != 2) return false;
  const int n = order_of(order, d), v = vector_of(d);
  if (!has_vectors(b, l, order, n) || d->rests > INT32_MAX ||
      (uint64_t)unit_of(d) << d->nthr > MT_BITS_SHARED)
    return false;
  b->loads = (uint32_t)(n - v), b->stores = d->nthr - (uint32_t)v;
  b->size = unit_of(d) << n;
  find_columns(column, order, n, d);
  find_steps(b, d, order, n, column);
  find_blocks(b, d);
  return true;
}

/* ---------------------------------------------------------------- making */

/* A bit: an axis of two indices; whether the box has it. */
typedef struct bit {
  int64_t stride[2];
  bool in;
} bit;

/* A box in the making: all bits; of each side those of its run, as far as a box has them;
** how many the box has. */
typedef struct candidate {
  bit bit[MT_BITS_LIST];
  int nbits, run[2][MT_BITS_MOST], length[2], row[2], n, most;
  uint32_t unit;
} candidate;

/* The bits of all axes; what is odd of them goes to `rest`. False: they are too many. */
static bool find_bits (candidate *x, mt_axes *rest, const mt_axes *all) {
  for (int i = 0; i < all->n; i++) {
    mt_axis a = all->axis[i];
    while (a.extent % 2 == 0) {
      if (x->nbits == MT_BITS_LIST) return false;
      x->bit[x->nbits++] = (bit){{a.stride[MT_SRC], a.stride[MT_DST]}, false};
      a.extent /= 2, a.stride[MT_SRC] *= 2, a.stride[MT_DST] *= 2;
    }
    if (a.extent > 1) rest->axis[rest->n++] = a;
  }
  return true;
}

static void find_run (candidate *x, int side, uint64_t at) {
  bool found = true;
  while (found && x->length[side] < MT_BITS_MOST) {
    found = false;
    for (int i = 0; i < x->nbits && !found; i++)
      if (mt_magnitude(x->bit[i].stride[side]) == at) {
        x->run[side][x->length[side]++] = i;
        found = true;
      }
    at *= 2;
  }
}

static void take (candidate *x, int i) {
  x->n += !x->bit[i].in;
  x->bit[i].in = true;
}

/* The next bit of a side's run; false: there is none, or no room for it. */
static bool grow (candidate *x, int side) {
  const int at = x->row[side];
  if (at == x->length[side] || x->unit << at >= MT_BITS_ROW) return false;
  const int i = x->run[side][at];
  if (!x->bit[i].in && x->n == x->most) return false;
  take(x, i);
  x->row[side]++;
  return true;
}

/* The bit that the box does not have with the smallest stride in the destination. */
static int nearest (const candidate *x) {
  int best = -1;
  for (int i = 0; i < x->nbits; i++)
    if (!x->bit[i].in && (best < 0 || mt_magnitude(x->bit[i].stride[MT_DST]) <
                                          mt_magnitude(x->bit[best].stride[MT_DST])))
      best = i;
  return best;
}

/* Rows of both sides, the shorter one first; then whatever is near. */
static bool find_box (candidate *x, int v) {
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < v; k++)
      if (!grow(x, side)) return false;
  for (bool more = true; more;) {
    const int first = x->row[MT_SRC] < x->row[MT_DST] ? MT_SRC : MT_DST;
    more = grow(x, first) || grow(x, 1 - first);
  }
  for (int i = nearest(x); i >= 0 && x->n < x->most; i = nearest(x)) take(x, i);
  return x->unit << x->n >= MT_BITS_LEAST;
}

/* The bit moves to the thread axes; what is `in` then is what was not moved yet. */
static void put (mt_axes *to, candidate *x, int i) {
  if (!x->bit[i].in) return;
  x->bit[i].in = false;
  to->axis[to->n++] =
      (mt_axis){.extent = 2, .stride = {x->bit[i].stride[0], x->bit[i].stride[1]}};
}

/* A vector of the destination, then what a warp reads along: more of the destination's
** run, and units that lie beside each other in other banks; then the rest of the run. */
static void put_box (mt_axes *to, candidate *x, int v) {
  const int *run = x->run[MT_DST], row = x->row[MT_DST];
  for (int k = 0; k < row && k < v + MT_BITS_ALONG; k++) put(to, x, run[k]);
  for (int k = 0; k < x->row[MT_SRC] && x->unit << k < 16; k++)
    if (x->unit << k >= 4) put(to, x, x->run[MT_SRC][k]);
  for (int k = 0; k < row; k++) put(to, x, run[k]);
  for (int k = x->row[MT_SRC] - 1; k >= 0; k--) put(to, x, x->run[MT_SRC][k]);
  for (int i = 0; i < x->nbits; i++) put(to, x, i);
}

/* Bits that are left, before what is odd; `left` is room for them: stacks are small. */
static void put_rest (mt_axes *rest, mt_axes *left, const bool *taken,
                      const candidate *x) {
  left->n = 0;
  for (int i = 0; i < x->nbits; i++)
    if (!taken[i])
      left->axis[left->n++] =
          (mt_axis){.extent = 2, .stride = {x->bit[i].stride[0], x->bit[i].stride[1]}};
  mt_axes_sort(left);
  mt_axes_merge(left);
  mt_axes_append(left, rest);
  *rest = *left;
}

static bool bits_make (mt_launch *l, mt_axes mode[3], const mt_search *search,
                       char *why) {
  mt_axes all = mode[2];
  const int v = vector_of(&l->desc);
  candidate x = {.unit = unit_of(&l->desc)};
  bool taken[MT_BITS_LIST];
  (void)search, (void)why;
  x.most = MT_BITS_MOST - log_of(x.unit);
  mode[0].n = mode[1].n = mode[2].n = 0;
  if (!find_bits(&x, &mode[2], &all)) return false;
  for (int side = 0; side < 2; side++) find_run(&x, side, l->desc.vec);
  if (!find_box(&x, v)) return false;
  for (int i = 0; i < x.nbits; i++) taken[i] = x.bit[i].in;
  put_box(&mode[0], &x, v);
  put_rest(&mode[2], &all, taken, &x);
  l->desc.algo = MT_ALGO_BITS;
  return mt_axes_store(&l->desc, mode) && mt_bits_find(&l->desc.bits, l);
}

/* ---------------------------------------------------------------- checking */

static mt_status bits_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_bits_box b;
  MT_TRY(mt_check_runs(d, err));
  MT_CHECK(d->nval == 0 && mt_bits_find(&b, l) && memcmp(&b, &d->bits, sizeof b) == 0,
           err, "a wrong box of bits");
  return MT_OK;
}

/* ---------------------------------------------------------------- cost */

/* Units of a row of a box on a side, and its axes. */
static int64_t row_of (uint32_t *row, const mt_desc *d, int side) {
  int64_t n = 1;
  *row = 0;
  for (bool found = true; found;) {
    found = false;
    for (uint32_t i = 0; i < d->nthr && !found; i++) {
      if (mt_magnitude(d->axis[i].stride[side]) != (uint64_t)(n * d->vec)) continue;
      found = true;
      n *= 2, *row |= 1u << i;
    }
  }
  return n;
}

/* Units are read one by one. */
static void bits_least (mt_cost *c, const mt_launch *l) {
  c->least = (double)mt_accesses(&l->desc) / 32 * mt_h200.bits_unit;
  c->slow += c->least * mt_h200.bits_both * mt_h200.memory / c->traffic;
}

/* Rows of both sides have ends; a block begins, finds its place, and reads words of
** shared memory for units. */
static void bits_cost (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const double blocks = (double)d->rests, vectors = (double)(1u << d->bits.stores);
  for (int side = 0; side < 2; side++) {
    uint32_t row;
    const int64_t length = row_of(&row, d, side);
    c->traffic += mt_in_pieces(l, side, length, row) +
                  m->bits_row * (double)mt_accesses(d) / (double)length;
  }
  const double issue =
      blocks * (m->bits_block + (d->nthr + d->nrest - d->bits.first) * m->bits_axis +
                vectors / 32 * (16 / unit_of(d)) * m->bits_unit);
  c->slow += issue * m->bits_both * m->memory / c->traffic;
  c->least = issue;
}

/* ---------------------------------------------------------------- kernels */

static mt_grid bits_grid (const mt_kernel *k, const mt_desc *d) {
  return mt_grid_of(k, d->rests);
}

static uint32_t bits_shared (const mt_desc *d) { return d->bits.size; }

const mt_algo mt_algo_bits = {.name = "bits",
                              .needs = "is for rows of powers of two on both sides, at "
                                       "multiples of 16 bytes",
                              .make = bits_make,
                              .check = bits_check,
                              .cost = bits_cost,
                              .least = bits_least,
                              .grid = bits_grid,
                              .shared = bits_shared,
                              .most_shared = MT_BITS_SHARED,
                              .thread = "box"};
