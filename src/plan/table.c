/*
** table.c - copies of composed layouts, by a table of offsets.
** SPDX-License-Identifier: MIT
*/
#include "plan/table.h"
#include "moontile/algebra.h"
#include "copy/copy.h"
#include "core/build.h"
#include "tile/bounds.h"
#include "tile/tile.h"

static const char *const side_name[] = {"src", "dst"};

bool mt_needs_table (const mt_tensor *src, const mt_tensor *dst) {
  return mt_is_composed(src->layout) || mt_is_composed(dst->layout);
}

/* Each place of the tile once. */
static bool has_each (const mt_tiled_copy *c) {
  MT_NEWERR(err);
  int64_t places = 1;
  for (int i = 0; i < mt_rank(c->tiler.node); i++)
    places *= mt_size(mt_mode(c->tiler.node, i));
  return mt_size(c->layout_tv.node) == places &&
         mt_numbers_all("copy", "tv", "place", c->layout_tv.node, &err) == MT_OK;
}

bool mt_table_by (const mt_tiled_copy **copy) {
  if (*copy == NULL || (*copy)->layout_tv.node->tag < MT_SWIZZLE) return false;
  if (!has_each(*copy)) return true;
  *copy = NULL;
  return false;
}

static int64_t size_of (const mt_table *t, int side) {
  return (int64_t)mt_dtype_size(t->dtype[side]);
}

/* ---- as the copy of compact tensors: shapes, types, the partition, bounds */

static MT_APART mt_status describe (mt_plan *p, const mt_tiled_copy *copy,
                                    const mt_tensor *src, const mt_tensor *dst,
                                    mt_err *err) {
  mt_layout left[2];
  mt_tensor t[2] = {*src, *dst};
  for (int o = 0; o < 2; o++) {
    MT_TRY(mt_layout_left(&left[o], mt_base(t[o].layout), err));
    t[o].layout = left[o].node;
    t[o].offset = 0;
  }
  MT_TRY(mt_describe(&p->launch, p->modes, copy, &t[0], &t[1], err));
  p->first = p->launch;
  return MT_OK;
}

/* ---- the table */

static mt_status allocate (mt_plan *p, int64_t n, bool elements, mt_err *err) {
  size_t each = (elements ? 3 : 2) * sizeof(int64_t);
  size_t bytes = sizeof(mt_table) + (size_t)n * each;
  if (n > INT64_MAX / 32 || (p->table = mt_host_alloc(p->device, bytes)) == NULL)
    return mt_fail(err, MT_ENOMEM, "copy: no host memory for a table of %lld offsets",
                   (long long)n);
  memset(p->table, 0, bytes);
  p->table->n = n;
  p->table->bytes = bytes;
  p->table->at[0] = (int64_t *)(p->table + 1);
  p->table->at[1] = p->table->at[0] + n;
  if (elements) p->table->element = p->table->at[1] + n;
  return MT_OK;
}

/* (Thr,Val,Rest) of the ordinates of mode k: the elements of what lies inside, so far. */
static MT_APART mt_status add_mode (mt_table *x, const mt_tiled_copy *copy,
                                    const mt_node *a, int k, int64_t run, mt_err *err) {
  mt_layout ordinates, part;
  int64_t at, size = mt_size(mt_mode(a, k));
  MT_TRY(mt_ordinates_of(&ordinates, a, k, err));
  MT_TRY(mt_partition(&part, copy, ordinates.node, err));
  for (int64_t i = 0; i < x->n; i++) {
    if (x->element[i] < 0) continue;
    MT_TRY(mt_at(&at, part.node, i, err));
    x->element[i] = at < size ? x->element[i] + run * at : -1;
  }
  return MT_OK;
}

static MT_APART mt_status allocate_values (mt_plan *p, const mt_tiled_copy *copy,
                                           const mt_node *a, mt_err *err) {
  mt_layout ordinates, part;
  MT_TRY(mt_ordinates_of(&ordinates, a, 0, err));
  MT_TRY(mt_partition(&part, copy, ordinates.node, err));
  return allocate(p, mt_size(part.node), true, err);
}

/* Which element each value is, by a copy whose threads and values are a function. */
static mt_status list_values (mt_plan *p, const mt_tiled_copy *copy, const mt_node *a,
                              mt_err *err) {
  int64_t run = 1;
  MT_TRY(allocate_values(p, copy, a, err));
  for (int k = 0; k < mt_rank(a); k++) {
    MT_TRY(add_mode(p->table, copy, a, k, run, err));
    run *= mt_size(mt_mode(a, k));
  }
  for (int64_t i = 0; i < p->table->n; i++)
    if (p->table->element[i] < 0) p->table->at[MT_SRC][i] = -1;
  return MT_OK;
}

static int64_t element_of (const mt_table *x, int64_t i) {
  return x->element ? x->element[i] : i;
}

/* What bound k of t excludes is not copied. */
static MT_APART mt_status exclude (mt_table *x, const mt_tensor *t, int k, mt_err *err) {
  mt_layout ordinates;
  int64_t bound, at;
  MT_TRY(mt_bound_of(&ordinates, &bound, t, k, err));
  for (int64_t i = 0; i < x->n; i++) {
    if (x->at[MT_SRC][i] < 0) continue;
    MT_TRY(mt_at(&at, ordinates.node, element_of(x, i), err));
    if (at >= bound) x->at[MT_SRC][i] = -1;
  }
  return MT_OK;
}

static mt_status outside (const mt_table *x, int side, const mt_tensor *t, int64_t at,
                          mt_err *err) {
  return mt_failn(err, MT_ERANGE,
                  "copy: %s reaches element %lld of a buffer of %lld: it is %N at "
                  "offset %lld",
                  side_name[side], (long long)at,
                  (long long)(t->bytes / (size_t)size_of(x, side)), t->layout,
                  (long long)t->offset);
}

/* The offsets of a side, inside of its buffer. */
static mt_status list (mt_table *x, int side, const mt_tensor *t, mt_err *err) {
  int64_t at, room = (int64_t)(t->bytes / (size_t)size_of(x, side));
  int64_t spent = 0;
  x->low[side] = room;
  for (int64_t i = 0; i < x->n; i++) {
    if (mt_stopped_after(&spent, 200, err, "copy")) return MT_ESTOPPED;
    if (x->at[MT_SRC][i] < 0) continue;
    MT_TRY(mt_at(&at, t->layout, element_of(x, i), err));
    if (mt_addo(at, t->offset, &at) || at < 0 || at >= room)
      return outside(x, side, t, at, err);
    x->at[side][i] = at;
    if (at < x->low[side]) x->low[side] = at;
    if (at >= x->end[side]) x->end[side] = at + 1;
  }
  if (x->low[side] > x->end[side]) x->low[side] = x->end[side] = 0;
  return MT_OK;
}

/* ---- what is written once, and not read */

static bool test (const uint64_t *bits, int64_t i) { return bits[i / 64] >> i % 64 & 1; }

static mt_status written_once (uint64_t *bits, const mt_table *x, const mt_tensor *dst,
                               mt_err *err) {
  for (int64_t i = 0; i < x->n; i++) {
    int64_t k = x->at[MT_DST][i] - x->low[MT_DST];
    if (x->at[MT_SRC][i] < 0) continue;
    if (test(bits, k))
      return mt_failn(err, MT_EINJECTIVE,
                      "copy: dst: two values go to element %lld, one of them at %lld\n"
                      "dst is %N at offset %lld\nan element of dst is written once: give "
                      "each value a place of its own",
                      (long long)x->at[MT_DST][i], (long long)i, dst->layout,
                      (long long)dst->offset);
    bits[k / 64] |= UINT64_C(1) << k % 64;
  }
  return MT_OK;
}

/* Bytes of elements of src against elements of dst that are written. */
static mt_status apart (const uint64_t *bits, const mt_table *x, mt_err *err) {
  int64_t from = size_of(x, MT_SRC), to = size_of(x, MT_DST);
  int64_t between = (int64_t)((uintptr_t)x->data[MT_SRC] - (uintptr_t)x->data[MT_DST]);
  int64_t room = x->end[MT_DST] - x->low[MT_DST];
  for (int64_t i = 0; i < x->n; i++) {
    int64_t byte = between + x->at[MT_SRC][i] * from - x->low[MT_DST] * to;
    if (x->at[MT_SRC][i] < 0 || byte + from <= 0 || byte >= room * to) continue;
    for (int64_t b = byte < 0 ? 0 : byte; b < byte + from && b < room * to; b++)
      if (test(bits, b / to))
        return mt_fail(err, MT_EOVERLAP,
                       "copy: src and dst overlap: value %lld is read where another is "
                       "written\ncopy through a tensor of its own in between",
                       (long long)i);
  }
  return MT_OK;
}

static mt_status prove (mt_plan *p, const mt_tensor *dst, mt_err *err) {
  const mt_table *x = p->table;
  size_t words = (size_t)(x->end[MT_DST] - x->low[MT_DST]) / 64 + 1;
  uint64_t *bits = mt_host_alloc(p->device, words * sizeof *bits);
  if (bits == NULL)
    return mt_fail(err, MT_ENOMEM, "copy: no host memory to prove a table of offsets");
  memset(bits, 0, words * sizeof *bits);
  bool one = x->device[MT_SRC] == x->device[MT_DST]; /* kind of memory */
  mt_status s = written_once(bits, x, dst, err);
  if (s == MT_OK && one) s = apart(bits, x, err);
  mt_host_free(p->device, bits, words * sizeof *bits);
  return s;
}

mt_status mt_table_make (mt_plan *p, const mt_tiled_copy *copy,
                         mt_device *const device[2], const mt_tensor *src,
                         const mt_tensor *dst, mt_err *err) {
  const mt_tensor *t[] = {src, dst};
  bool values = mt_table_by(&copy);
  MT_TRY(describe(p, values ? NULL : copy, src, dst, err));
  if (values) MT_TRY(list_values(p, copy, mt_base(src->layout), err));
  else MT_TRY(allocate(p, mt_size(src->layout), false, err));
  for (int o = 0; o < 2; o++) {
    p->table->device[o] = device[o];
    p->table->dtype[o] = t[o]->dtype;
    p->table->data[o] = t[o]->data;
    for (int k = 0; k < mt_ordinates(t[o]); k++) MT_TRY(exclude(p->table, t[o], k, err));
  }
  for (int o = 0; o < 2; o++) MT_TRY(list(p->table, o, t[o], err));
  MT_TRY(prove(p, dst, err));
  p->name = "copy_table";
  mt_refusals_add(&p->why, "all others", "%s",
                  values ? "threads that a function numbers have no strides: the "
                           "offsets of their values are listed" :
                           "a composed layout has no strides: its offsets are "
                           "listed");
  return MT_OK;
}

void mt_table_free (mt_plan *p) { mt_host_free(p->device, p->table, p->table->bytes); }

/* ---- running it */

/* Both sides on the host, where element low[o] lies at data[o]. */
static mt_status copy_elements (const mt_plan *p, char *const data[2], mt_err *err) {
  const mt_table *x = p->table;
  mt_rounding r = MT_CAST_ROUNDING(p->launch.desc.cast);
  int64_t from = size_of(x, MT_SRC), to = size_of(x, MT_DST), spent = 0;
  for (int64_t i = 0; i < x->n; i++) {
    if (mt_stopped_after(&spent, 10, err, "copy")) return MT_ESTOPPED;
    if (x->at[MT_SRC][i] < 0) continue;
    mt_cast_rounded(x->dtype[MT_DST],
                    data[MT_DST] + (x->at[MT_DST][i] - x->low[MT_DST]) * to,
                    x->dtype[MT_SRC],
                    data[MT_SRC] + (x->at[MT_SRC][i] - x->low[MT_SRC]) * from, r);
  }
  return MT_OK;
}

static char *place (const mt_table *x, int side) {
  return (char *)x->data[side] + x->low[side] * size_of(x, side);
}

/* What of a side is not the host's passes through `room`. */
static mt_status through_host (mt_plan *p, char *room, const size_t bytes[2],
                               mt_err *err) {
  const mt_table *x = p->table;
  mt_device *to = x->device[MT_DST];
  char *data[2];
  for (int o = 0; o < 2; o++) {
    data[o] = place(x, o);
    if (bytes[o] == 0) continue;
    MT_TRY(mt_download(x->device[o], room, data[o], bytes[o], err));
    data[o] = room;
    room += bytes[o];
  }
  MT_TRY(copy_elements(p, data, err));
  if (bytes[MT_DST] == 0) return MT_OK;
  return mt_upload(to, place(x, MT_DST), data[MT_DST], bytes[MT_DST], err);
}

mt_status mt_table_launch (mt_plan *p, mt_stream *s, mt_err *err) {
  const mt_table *x = p->table;
  size_t bytes[2] = {0, 0};
  if (x->end[MT_DST] == x->low[MT_DST]) return MT_OK;
  for (int o = 0; o < 2; o++) {
    MT_TRY(mt_graph_idle(x->device[o], "a copy by a list of offsets", err));
    MT_TRY(mt_synchronize(x->device[o], x->device[o] == p->device ? s : NULL, err));
    if (!x->device[o]->backend->host)
      bytes[o] = (size_t)((x->end[o] - x->low[o]) * size_of(x, o));
  }
  size_t all = bytes[0] + bytes[1];
  char *room = all ? mt_host_alloc(p->device, all) : NULL;
  if (all && room == NULL)
    return mt_fail(err, MT_ENOMEM, "copy: no host memory for %zu bytes", all);
  mt_status status = through_host(p, room, bytes, err);
  if (room) mt_host_free(p->device, room, all);
  return status;
}
