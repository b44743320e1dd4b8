/*
** rows.c - copies of rows that are a run of both sides, forwards or backwards, and begin
** anywhere; rows that are repeated.
** SPDX-License-Identifier: MIT
*/
#include "moontile/analysis.h"
#include "copy/algo.h"
#include "desc/divisor.h"
#include "desc/transpose_desc.h"

enum { MT_SHORTROW = 24 }; /* bytes: below, a vector of 16 is mostly empty */

/* Rows that lie so many on begin at the same address modulo `bytes`, a power of two. */
static int64_t alike (const mt_axis *a, const mt_desc *d, int64_t bytes) {
  int64_t n = 1;
  const int64_t pitch = a->stride[MT_DST] % bytes * (int64_t)d->elem;
  while (n < a->extent && n * pitch % bytes != 0) n++;
  return n;
}

/* Groups of rows that are the same; `a` NULL: one row. */
static int64_t find_groups (mt_raster *r, const mt_axis *a, const mt_desc *d) {
  if (a == NULL) return 1;
  const int64_t strip = alike(a, d, 16), rows = mt_div_up(a->extent, strip);
  const int64_t groups = strip * mt_div_up(rows, MT_ROWS_EACH);
  if (a->extent > INT32_MAX / MT_ROWS_EACH) return INT32_MAX;
  r->strip = mt_divisor_of(strip), r->across = mt_divisor_of(groups);
  return groups;
}

enum { MT_LONGPERIOD = 1 << 28 }; /* units of a period, at most */

/* The rows of a period. It has whole lines, so that each warp writes whole ones, if a
** thread has enough periods to write to; else whole vectors. */
static int64_t period_of (const mt_axis *a, const mt_desc *d) {
  for (int64_t bytes = MT_LINEBYTES; bytes > 16; bytes /= 2) {
    const int64_t strip = alike(a, d, bytes);
    if (strip <= a->extent / MT_ROWS_EACH && strip * d->threads <= MT_LONGPERIOD)
      return strip;
  }
  return alike(a, d, 16);
}

/* Periods of v units a vector; false: their vectors are too many. The last ones may begin
** in the vector before. */
static bool find_periods (mt_raster *r, int64_t *vectors, const mt_desc *d, int64_t v) {
  const mt_axis *a = &d->axis[1];
  const int64_t strip = period_of(a, d), all = d->threads * a->extent;
  const bool one = strip == a->extent;
  if (a->extent > INT32_MAX / MT_ROWS_EACH) return false;
  const int64_t each = one ? (all + 2 * v - 2) / v : strip * d->threads / v;
  const int64_t groups =
      one ? 1 : mt_div_up(mt_div_up(all + v - 1, each * v), MT_ROWS_EACH);
  if (mt_mulo(each * groups, d->rests, vectors) || *vectors > INT32_MAX) return false;
  r->along = mt_divisor_of(each);
  r->strip = mt_divisor_of(strip), r->across = mt_divisor_of(groups);
  return true;
}

/* A row of n accesses has vectors of 16 bytes, the first and the last not whole. d has
** the axes of the row and of what is repeated. */
static bool find_raster (mt_raster *r, int64_t *vectors, const mt_desc *d) {
  int64_t v = 16 / ((int64_t)d->vec * d->elem), each = (d->threads + 2 * v - 2) / v;
  memset(r, 0, sizeof *r);
  if (MT_ROWS_PERIODIC(d)) return find_periods(r, vectors, d, v);
  if (each > INT32_MAX || mt_mulo(each, d->rests, vectors) ||
      mt_mulo(*vectors, find_groups(r, d->nval ? &d->axis[1] : NULL, d), vectors) ||
      *vectors > INT32_MAX)
    return false;
  r->along = mt_divisor_of(each);
  return true;
}

/* Vectors of 16 bytes that are put together. */
static int64_t vectors_of (const mt_desc *d) {
  const mt_raster *r = &d->raster;
  return r->along.extent * d->rests * (d->nval == 0 ? 1 : r->across.extent);
}

static mt_axis take (mt_axes *from, int i) {
  mt_axis a = from->axis[i];
  memmove(from->axis + i, from->axis + i + 1,
          (size_t)(--from->n - i) * sizeof from->axis[0]);
  return a;
}

/* The longest axis that the source does not have; -1: none. */
static int find_again (const mt_axes *a) {
  int best = -1;
  for (int i = 0; i < a->n; i++)
    if (a->axis[i].stride[MT_SRC] == 0 &&
        (best < 0 || a->axis[i].extent > a->axis[best].extent))
      best = i;
  return best;
}

/* A run of both sides; of the source it may be one backwards. */
static bool is_run (const mt_axis *a, int64_t vec) {
  int64_t s = a->stride[MT_SRC];
  return (s == vec || s == -vec) && a->stride[MT_DST] == vec;
}

/* The axis that is a run of both sides becomes the thread axis. Whole vectors that are
** not repeated need no more than accesses one by one. */
static bool rows_make (mt_launch *l, mt_axes mode[3], const mt_search *search,
                       char *why) {
  mt_desc probe = l->desc;
  int64_t vec = probe.vec, bytes = vec * probe.elem, n;
  mt_axes *rest = &mode[2];
  int i = 0;
  (void)search, (void)why;
  while (i < rest->n && !is_run(&rest->axis[i], vec)) i++;
  if (i == rest->n || rest->axis[i].extent * bytes < MT_SHORTROW) return false;
  mode[0].axis[mode[0].n++] = take(rest, i);
  const int again = find_again(rest);
  if (again < 0 && bytes >= 16) return false;
  probe.threads = mode[0].axis[0].extent, probe.axis[0] = mode[0].axis[0];
  probe.rests /= probe.threads, probe.nval = again >= 0;
  if (again >= 0) {
    mode[1].axis[mode[1].n++] = take(rest, again);
    probe.rests /= mode[1].axis[0].extent, probe.axis[1] = mode[1].axis[0];
  }
  l->desc.algo = MT_ALGO_ROWS;
  return find_raster(&l->desc.raster, &n, &probe);
}

static mt_status rows_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_raster raster;
  int64_t n;
  MT_CHECK(d->nbound == 0 && d->nthr == 1 && d->nval <= 1, err,
           "a copy of rows has one thread axis, one value axis at most, and no bounds");
  MT_CHECK(d->nval == 0 || d->axis[1].stride[MT_SRC] == 0, err,
           "the value axis does not repeat rows");
  MT_CHECK(is_run(&d->axis[0], d->vec), err, "the thread axis is no run of both sides");
  MT_CHECK(find_raster(&raster, &n, d) && memcmp(&raster, &d->raster, sizeof raster) == 0,
           err, "a wrong raster");
  return MT_OK;
}

/* A period is less than what a warp writes together, and no whole sectors: so a warp
** writes periods of several rows, and their sectors in part. */
static bool has_pieces (const mt_desc *d) {
  const int64_t bytes = (int64_t)d->raster.strip.extent * d->threads * d->vec * d->elem;
  return MT_ROWS_PERIODIC(d) && bytes < MT_WARP * 16 && bytes % MT_SECTORBYTES != 0;
}

/* What part of the rows lies at another address modulo 16 on the source than on the
** destination: each of their vectors is cut out of two. A row backwards counts from its
** end. */
static double part_shifted (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const bool back = d->axis[0].stride[MT_SRC] < 0;
  const uint64_t dst = mt_address(l, MT_DST, 0), all = back ? -dst : dst;
  const uint64_t src = mt_address(l, MT_SRC, 0) + (back ? mt_unit_of(d, MT_SRC) : 0);
  uint64_t steps = 16;
  for (uint32_t i = 1; i < 1 + d->nval + d->nrest; i++) {
    const int64_t to = d->axis[i].stride[MT_DST] * (back ? -1 : 1);
    steps |= (uint64_t)(d->axis[i].stride[MT_SRC] - to) * d->elem;
  }
  const uint64_t grain = steps & -steps;
  return (src - all) % grain != 0 ? 1 : 1 - (double)grain / 16;
}

/* The rows of a side: how many, accesses of one, its axes. Rows that adjoin the next ones
** are longer; those that are repeated are written one by one, but for periods. */
typedef struct side_rows {
  double n;
  int64_t length;
  uint32_t axes;
} side_rows;

static side_rows rows_of (const mt_desc *d, int side) {
  const bool pieces = has_pieces(d);
  const bool alone = side == MT_DST && d->nval > 0 && (!MT_ROWS_PERIODIC(d) || pieces);
  int64_t length = d->threads * (alone && pieces ? d->raster.strip.extent : 1);
  uint32_t i = 1;
  for (; i <= d->nval + d->nrest && d->axis[i].stride[side] == length * d->vec && !alone;
       i++)
    length *= d->axis[i].extent;
  return (side_rows){(double)mt_accesses(d) / (double)length, length, mt_axis_bits(0, i)};
}

/* Sectors of both sides, what is read again once; the ends of rows. */
static double row_traffic (const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const side_rows src = rows_of(d, MT_SRC), dst = rows_of(d, MT_DST);
  const double values = (double)d->values, once = mt_source_bytes(d);
  const double read = mt_in_pieces(l, MT_SRC, src.length, src.axes) / values;
  const double ends = has_pieces(d) ? m->row_piece : 1;
  return (read < once ? read : once) + mt_in_pieces(l, MT_DST, dst.length, dst.axes) +
         m->row_each * src.n / values +
         dst.n * ends * (m->row_each + mt_torn(l, dst.axes, dst.length, m->row_torn));
}

/* Warps that write elements at the ends of rows: the ends of two rows that follow one
** another lie in one; none if rows begin and end with vectors. */
static double warps_with_ends (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const double warps = (double)vectors_of(d) / MT_WARP;
  double rows = (double)d->rests * (d->nval == 0 ? 1 : d->raster.across.extent);
  uint64_t all =
      mt_address(l, MT_DST, 0) | (uint64_t)(d->threads * mt_unit_of(d, MT_DST));
  for (uint32_t i = 1; i <= d->nval + d->nrest; i++)
    all |= (uint64_t)d->axis[i].stride[MT_DST] * MT_ELEM(d, MT_DST);
  if (all % 16 == 0) return 0;
  if (MT_ROWS_PERIODIC(d)) rows = (double)d->rests;
  return rows < warps ? rows : warps;
}

/* Vectors of 16 bytes that are written, or looked at. */
static double written_of (const mt_desc *d) {
  const double rows = (double)d->values * (double)d->rests;
  if (MT_ROWS_PERIODIC(d))
    return rows * (double)d->threads * (double)mt_unit_of(d, MT_DST) / 16 +
           (double)d->rests;
  return rows * d->raster.along.extent;
}

/* Threads put vectors together and write them, those of repeated rows several times; both
** ends of a row go by elements. */
static void rows_cost (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const double unit = (double)mt_unit_of(d, MT_DST), vectors = (double)vectors_of(d);
  c->traffic = row_traffic(l);
  c->slow += mt_by_width(m->row_shifted, (int64_t)unit) * part_shifted(l);
  const double rows = (double)d->values * (double)d->rests;
  const double written = written_of(d), again = written / vectors;
  const double each = MT_ROWS_PERIODIC(d) ? m->row_period : m->row_again;
  c->used = (double)d->threads * rows * unit / (16 * written);
  c->least = vectors * (m->row_vector + d->nrest * m->row_axis + m->row_unit / unit) +
             (written - vectors) * each +
             warps_with_ends(l) * again * (16 / unit - 1) * m->row_element;
}

/* A thread has one vector of a period: it writes that to many. */
static mt_grid rows_grid (const mt_kernel *k, const mt_desc *d) {
  const int64_t each = MT_ROWS_PERIODIC(d) ? 1 : k->unroll;
  return mt_grid_of(k, mt_blocks_of(vectors_of(d), k->threads * each));
}

const mt_algo mt_algo_rows =
    {.name = "rows",
     .needs = "is for rows that are a run of both sides and begin anywhere",
     .make = rows_make,
     .check = rows_check,
     .cost = rows_cost,
     .grid = rows_grid,
     .thread = "row",
     .value = "repeated"};
