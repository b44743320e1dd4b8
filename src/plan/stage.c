/*
** stage.c - copies between the host and a device: what travels, in which pieces, and
** the plans at both ends.
** SPDX-License-Identifier: MIT
**
** The whole copy is proven as one between two tensors. A piece is a part of it: what is
** proven of the whole holds for it too, and its plans are proven by themselves.
*/
#include "moontile/transfer.h"
#include "copy/copy.h"
#include "core/strbuf.h"
#include "plan/stage.h"
#include "plan/table.h"

/* ---------------------------------------------------------------- axes */

static bool repeats (const mt_stage *g, int i) { return g->stride[MT_SRC][i] == 0; }

static bool comes_first (const mt_stage *g, int i, int j) {
  const int64_t *h = g->stride[g->host], *d = g->stride[1 - g->host];
  if (repeats(g, i) != repeats(g, j)) return repeats(g, i);
  if (h[i] != h[j]) return mt_magnitude(h[i]) < mt_magnitude(h[j]);
  return mt_magnitude(d[i]) < mt_magnitude(d[j]);
}

static void swap (int64_t *a, int i, int j) {
  int64_t t = a[i];
  a[i] = a[j];
  a[j] = t;
}

static void sort_axes (mt_stage *g) {
  for (int i = 1; i < g->n; i++)
    for (int j = i; j > 0 && comes_first(g, j, j - 1); j--) {
      swap(g->extent, j, j - 1);
      swap(g->stride[MT_SRC], j, j - 1);
      swap(g->stride[MT_DST], j, j - 1);
    }
}

/* Whether axis j goes on where axis i ends, on both sides. */
static bool continues (const mt_stage *g, int i, int j) {
  for (int s = 0; s < 2; s++) {
    int64_t next;
    if (mt_mulo(g->extent[i], g->stride[s][i], &next) || next != g->stride[s][j])
      return false;
  }
  return true;
}

static void merge_axes (mt_stage *g) {
  int n = 0;
  for (int i = 0; i < g->n; i++) {
    if (n > 0 && continues(g, n - 1, i)) {
      g->extent[n - 1] *= g->extent[i];
      continue;
    }
    g->extent[n] = g->extent[i];
    for (int s = 0; s < 2; s++) g->stride[s][n] = g->stride[s][i];
    n++;
  }
  g->n = n;
}

/* Those of the copy as it was described; at least one. */
static void take_axes (mt_stage *g, const mt_desc *d) {
  const mt_axis *a = d->axis;
  for (uint32_t i = 0; i < d->nrest; i++) {
    if (a[i].extent == 1) continue;
    g->extent[g->n] = a[i].extent;
    for (int s = 0; s < 2; s++) g->stride[s][g->n] = a[i].stride[s];
    g->n++;
  }
  sort_axes(g);
  merge_axes(g);
  if (g->n == 0) g->extent[g->n++] = 1;
}

/* ---------------------------------------------------------------- pieces */

/* As many whole axes as fit, and of the next as much as does; by multiples of 16 indices
** if there are that many: so that pieces are alike. */
static void cut_pieces (mt_stage *g, size_t bytes) {
  int64_t most = (int64_t)(bytes / mt_dtype_size(g->travels)), n = 1, i = 0;
  while (i < g->n && (repeats(g, (int)i) || g->extent[i] <= most / n))
    n *= repeats(g, (int)i) ? 1 : g->extent[i], i++;
  g->room = bytes;
  g->cut = (int)(i < g->n ? i : g->n - 1);
  g->piece = i < g->n ? most / n : g->extent[g->cut];
  if (i < g->n && g->piece > 16) g->piece &= -16;
  g->across = (g->extent[g->cut] - 1) / g->piece + 1;
  g->pieces = g->across;
  for (int k = g->cut + 1; k < g->n; k++) g->pieces *= g->extent[k];
}

/* Bytes of a piece where the options do not say: as many pieces as there are slots at
** least, so that packing and transfer of different ones overlap. */
static size_t piece_bytes (const mt_stage *g, size_t room) {
  size_t all = mt_dtype_size(g->travels);
  for (int i = 0; i < g->n; i++)
    if (!repeats(g, i)) all *= (size_t)g->extent[i];
  all /= MT_STAGE_SLOTS;
  if (all < MT_STAGE_SHORT) all = MT_STAGE_SHORT;
  return all < room ? all : room;
}

static int64_t extent_of (const mt_stage *g, const mt_piece *p, int i) {
  return i < g->cut ? g->extent[i] : p->extent;
}

static void find_place (mt_piece *p, const mt_stage *g, int64_t i) {
  int64_t at = i % g->across * g->piece, left = g->extent[g->cut] - at;
  p->extent = left < g->piece ? left : g->piece;
  for (int s = 0; s < 2; s++) p->offset[s] = g->offset[s] + at * g->stride[s][g->cut];
  i /= g->across;
  for (int k = g->cut + 1; k < g->n; i /= g->extent[k++])
    for (int s = 0; s < 2; s++) p->offset[s] += i % g->extent[k] * g->stride[s][k];
}

/* A side's part of a piece, under the side's swizzle; side -1: what travels packed. once:
** without what the source repeats. */
static mt_status box_of (mt_layout *out, const mt_stage *g, const mt_piece *p, int side,
                         bool once, mt_err *err) {
  mt_build b;
  const int64_t *stride = side < 0 ? p->stride : g->stride[side];
  mt_begin(&b, out, "copy", err);
  if (side >= 0) {
    mt_node root = g->swizzle[side];
    root.stride = p->offset[side];
    mt_open_root(&b, &root);
  }
  mt_open(&b, MT_MODES);
  for (int i = 0; i <= g->cut; i++)
    mt_add_leaf(&b, once && repeats(g, i) ? 1 : extent_of(g, p, i), stride[i]);
  return mt_end(&b);
}

/* The elements of the host's buffer that a piece reaches are *low .. *low + span - 1;
** false if that was not found. */
static bool find_span (int64_t *low, int64_t *span, const mt_stage *g,
                       const mt_piece *p) {
  mt_layout a;
  mt_err err = MT_NOERR;
  int64_t high;
  const int h = g->host;
  if (box_of(&a, g, p, h, false, &err) != MT_OK ||
      mt_footprint(low, &high, a.node, &err) != MT_OK)
    return false;
  *span = high - *low;
  *low += mt_is_swizzled(a.node) ? g->origin[h] : p->offset[h];
  return true;
}

static bool is_direct (const mt_stage *g, const mt_piece *p) {
  const int d = 1 - g->host;
  if (g->dtype[d] != g->travels || g->swizzle[d].arity != 0 ||
      (p->raw && g->swizzle[g->host].arity != 0))
    return false;
  for (int i = 0; i <= g->cut; i++)
    if (extent_of(g, p, i) > 1 && p->stride[i] != g->stride[d][i]) return false;
  return true;
}

void mt_stage_piece (mt_piece *out, const mt_stage *g, int64_t i) {
  int64_t n = 1, span = 0;
  const int h = g->host;
  find_place(out, g, i);
  for (int k = 0; k <= g->cut; k++) {
    out->stride[k] = repeats(g, k) ? 0 : n;
    if (!repeats(g, k)) n *= extent_of(g, out, k);
  }
  out->raw =
      g->dtype[h] == g->travels && find_span(&out->low, &span, g, out) && span <= n;
  out->zero = 0;
  if (out->raw) {
    memcpy(out->stride, g->stride[h], sizeof out->stride);
    out->zero = (g->swizzle[h].arity ? g->origin[h] : out->offset[h]) - out->low;
    n = span;
  }
  out->direct = is_direct(g, out);
  out->bytes = (size_t)n * mt_dtype_size(g->travels);
}

static void *element (const mt_stage *g, int side, int64_t i) {
  return (char *)g->data[side] + i * (int64_t)mt_dtype_size(g->dtype[side]);
}

void *mt_piece_host (const mt_stage *g, const mt_piece *p) {
  return element(g, g->host, p->low);
}

void *mt_piece_device (const mt_stage *g, const mt_piece *p) {
  return element(g, 1 - g->host, p->offset[1 - g->host] - p->zero);
}

/* ---------------------------------------------------------------- both ends */

/* A raw piece is bytes to the host. */
static bool in_bytes (const mt_leg *leg, const mt_stage *g, const mt_piece *p) {
  return p->raw && leg->side == g->host;
}

static mt_status run_of (mt_layout *out, size_t bytes, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "copy", err);
  mt_add_leaf(&b, (int64_t)bytes, 1);
  return mt_end(&b);
}

static mt_status plan_leg (mt_leg *leg, const mt_stage *g, const mt_piece *p, void *room,
                           mt_err *err) {
  mt_layout here, travels;
  mt_tensor t[2];
  const int s = leg->side, way = p->raw ? g->host : -1;
  t[s] = (mt_tensor){here.node, g->dtype[s], g->data[s], g->bytes[s], p->offset[s], NULL};
  t[1 - s] = (mt_tensor){travels.node, g->travels, room, g->room, p->zero, NULL};
  if (in_bytes(leg, g, p)) {
    MT_TRY(run_of(&here, p->bytes, err));
    travels = here;
    t[0].dtype = t[1].dtype = MT_u8;
    t[s].offset = p->low * (int64_t)mt_dtype_size(g->travels);
    t[1 - s].offset = 0;
  } else {
    MT_TRY(box_of(&here, g, p, s, s == MT_SRC, err));
    MT_TRY(box_of(&travels, g, p, way, s == MT_SRC, err));
    if (g->swizzle[s].arity) t[s].offset = g->origin[s];
  }
  return mt_plan_copy_rounded(&leg->p, leg->device, NULL, &t[MT_SRC], &t[MT_DST],
                              g->rounding, err);
}

/* The plan at another offset, of the same alignment. */
static mt_status move_leg (mt_leg *leg, int64_t offset, void *room, mt_err *err) {
  mt_plan *p = leg->p;
  p->launch.offset[leg->side] += offset - leg->offset;
  p->launch.base[1 - leg->side] = room;
  leg->offset = offset;
  if (p->device->backend->prepare == NULL) return MT_OK;
  p->why = (mt_refusals){0};
  return p->device->backend->prepare(p, err);
}

/* Whether the leg's plan does this piece too, once moved. */
static bool is_alike (const mt_leg *leg, const mt_stage *g, const mt_piece *p,
                      int64_t offset, int64_t unit) {
  bool swizzles = g->swizzle[leg->side].arity || g->swizzle[g->host].arity;
  return leg->p != NULL && !swizzles && leg->extent == p->extent &&
         (offset - leg->offset) % 16 * unit % 16 == 0;
}

mt_status mt_stage_leg (mt_leg *leg, const mt_stage *g, const mt_piece *p, void *room,
                        mt_err *err) {
  int64_t unit = (int64_t)mt_dtype_size(g->dtype[leg->side]);
  int64_t offset = p->offset[leg->side];
  if (in_bytes(leg, g, p)) offset = p->low * unit, unit = 1;
  if (is_alike(leg, g, p, offset, unit)) return move_leg(leg, offset, room, err);
  mt_plan_free(leg->p);
  leg->p = NULL;
  leg->extent = p->extent;
  leg->offset = offset;
  return plan_leg(leg, g, p, room, err);
}

/* The same plan once more, so that both may be at work. */
static mt_status twin (mt_leg *to, const mt_leg *from, mt_err *err) {
  mt_plan *p = mt_plan_new(from->device, "copy", err);
  if (p == NULL) return err->status;
  void *data = p->data;
  *p = *from->p;
  p->data = data;
  p->workspace = NULL;
  *to = *from;
  to->p = p;
  return MT_OK;
}

/* What a host packs a GPU reads next, and what it unpacks is a part of more: neither is
** left in the caches of a processor. */
static mt_status aim (mt_leg *leg, mt_err *err) {
  const mt_backend *b = leg->device->backend;
  leg->p->slots = 1u << (1 - leg->side);
  return b->prepare ? b->prepare(leg->p, err) : MT_OK;
}

mt_status mt_stage_pack (mt_stage *g, int slot, const mt_piece *p, void *room,
                         mt_err *err) {
  mt_leg *leg = &g->pack[slot];
  if (leg->p == NULL && g->pack[0].p != NULL) MT_TRY(twin(leg, &g->pack[0], err));
  MT_TRY(mt_stage_leg(leg, g, p, room, err));
  return leg->p->slots ? MT_OK : aim(leg, err);
}

/* ---------------------------------------------------------------- plans */

static mt_dtype shorter (mt_dtype host, mt_dtype device) {
  return mt_dtype_size(device) < mt_dtype_size(host) ? device : host;
}

static void begin_stage (mt_stage *g, const mt_plan *p, mt_device *const device[2],
                         const mt_tensor *const t[2]) {
  g->host = device[MT_SRC]->backend->host ? MT_SRC : MT_DST;
  g->travels = shorter(t[g->host]->dtype, t[1 - g->host]->dtype);
  for (int s = 0; s < 2; s++) {
    g->dtype[s] = t[s]->dtype;
    g->data[s] = t[s]->data;
    g->bytes[s] = t[s]->bytes;
    g->offset[s] = p->launch.offset[s];
    g->origin[s] = p->launch.origin[s];
    if (p->launch.desc.swizzle[s].mask != 0) g->swizzle[s] = t[s]->layout[0];
  }
  for (int i = 0; i < MT_STAGE_SLOTS; i++)
    g->pack[i] = (mt_leg){.device = device[g->host], .side = g->host};
  g->place = (mt_leg){.device = p->device, .side = 1 - g->host};
  take_axes(g, &p->launch.desc);
}

/* Whether all of it is one run on both sides: then it need not be staged. */
static mt_status is_run (bool *out, mt_stage *g, mt_device *d, mt_err *err) {
  mt_piece all;
  cut_pieces(g, SIZE_MAX / 2);
  mt_stage_piece(&all, g, 0);
  *out = all.raw && all.direct;
  if (!all.raw) return MT_OK;
  MT_TRY(d->backend->locked(d, &g->locked, mt_piece_host(g, &all), all.bytes, err));
  size_t least = d->options.piece ? d->options.piece : MT_UNSTAGED;
  g->staged = !g->locked && all.bytes > (least < MT_UNSTAGED ? least : MT_UNSTAGED);
  return MT_OK;
}

/* Both ends of the first piece: so that they can be looked at, and what is wrong with
** them is said at once. */
static mt_status find_room (mt_stage *g, mt_device *d, mt_err *err) {
  void *at[2];
  mt_piece first;
  size_t bytes = 0;
  MT_TRY(d->backend->room(d, &bytes, at, err));
  g->staged = true;
  cut_pieces(g, d->options.piece ? bytes : piece_bytes(g, bytes));
  mt_stage_piece(&first, g, 0);
  if (!first.raw || !g->locked) MT_TRY(mt_stage_pack(g, 0, &first, at[0], err));
  if (first.direct) return MT_OK;
  return mt_stage_leg(&g->place, g, &first, at[1], err);
}

/* A run without a place to pass through goes as the driver takes it. */
static mt_status make_stage (mt_plan *p, mt_err *err) {
  mt_stage *g = p->stage;
  bool run = false;
  MT_TRY(is_run(&run, g, p->device, err));
  if (run && !g->staged) return MT_OK;
  mt_status s = find_room(g, p->device, err);
  if (s != MT_ENOMEM || !run) return s;
  mt_forgive(err);
  g->staged = false;
  cut_pieces(g, SIZE_MAX / 2);
  return MT_OK;
}

static mt_status plan_transfer (mt_plan *p, mt_device *const device[2],
                                const mt_tensor *const t[2], mt_rounding r, mt_err *err) {
  MT_TRY(mt_plan_prove(p, t[MT_SRC], t[MT_DST], r, err));
  mt_stage *g = p->stage = mt_host_alloc(p->device, sizeof *g);
  if (g == NULL) return mt_fail(err, MT_ENOMEM, "copy: no host memory for a plan");
  memset(g, 0, sizeof *g);
  g->rounding = r;
  begin_stage(g, p, device, t);
  return p->launch.desc.rests > 0 ? make_stage(p, err) : MT_OK;
}

mt_status mt_plan_transfer (mt_plan **out, mt_device *from, const mt_tensor *src,
                            mt_device *to, const mt_tensor *dst, mt_err *err) {
  return mt_plan_transfer_rounded(out, from, src, to, dst, MT_ROUND_NEAREST, err);
}

mt_status mt_plan_transfer_rounded (mt_plan **out, mt_device *from, const mt_tensor *src,
                                    mt_device *to, const mt_tensor *dst, mt_rounding r,
                                    mt_err *err) {
  mt_device *const device[] = {from, to};
  const mt_tensor *const t[] = {src, dst};
  *out = NULL;
  MT_CHECK(from->backend->host != to->backend->host, err,
           "copy: src is on %s, dst is on "
           "%s: one of them must be the host",
           from->name, to->name);
  mt_plan *p = mt_plan_new(from->backend->host ? to : from, "copy", err);
  if (p == NULL) return err->status;
  mt_status s = mt_needs_table(src, dst) ?
                    mt_plan_table(p, NULL, device, src, dst, r, err) :
                    plan_transfer(p, device, t, r, err);
  if (s == MT_OK) *out = p;
  else mt_plan_free(p);
  return s;
}

mt_status mt_stage_launch (mt_plan *p, mt_stream *s, mt_err *err) {
  MT_TRY(mt_graph_idle(p->device, "copy", err));
  MT_TRY(mt_graph_idle(p->stage->pack[0].device, "copy", err));
  return p->device->backend->transfer(p, s, err);
}

void mt_stage_free (mt_plan *p) {
  for (int i = 0; i < MT_STAGE_SLOTS; i++) mt_plan_free(p->stage->pack[i].p);
  mt_plan_free(p->stage->place.p);
  mt_host_free(p->device, p->stage, sizeof *p->stage);
}

/* ---------------------------------------------------------------- for people */

static void put_leg (mt_strbuf *t, const mt_leg *leg, const char *before) {
  if (leg->p)
    mt_putf(t, "%s%s (%s)", before, leg->p->kernel->name, leg->device->backend->name);
}

/* "kernel: cpu_rows (cpu), copy_transpose_b4 (cuda)", in the order of the way. */
void mt_stage_put (mt_strbuf *t, const mt_plan *p) {
  const mt_stage *g = p->stage;
  bool up = g->host == MT_SRC;
  const mt_leg *first = up ? g->pack : &g->place, *second = up ? &g->place : g->pack;
  if (first->p == NULL && second->p == NULL) mt_putf(t, "kernel: none");
  put_leg(t, first, "kernel: ");
  put_leg(t, second, first->p ? ", " : "kernel: ");
  mt_putf(t, "\nway: from %s to %s, ", first->device->name, second->device->name);
  if (g->staged)
    mt_putf(t, "%lld piece%s of at most %zu bytes%s%s\n", (long long)g->pieces,
            g->pieces == 1 ? "" : "s", g->room, g->dtype[0] == g->dtype[1] ? "" : " of ",
            g->dtype[0] == g->dtype[1] ? "" : mt_dtype_name(g->travels));
  else mt_putf(t, p->launch.desc.rests > 0 ? "as one run\n" : "nothing\n");
}
