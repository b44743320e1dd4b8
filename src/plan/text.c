/*
** text.c - plans for people.
** SPDX-License-Identifier: MIT
**
** Only the lines that begin with `kernel:`, `grid:` and `refused:` depend on the device;
** of a product without a partition those about the atom that was chosen, too.
*/
#include "copy/algo.h"
#include "plan/device.h"
#include "desc/swizzle.h"
#include "core/say.h"
#include "plan/stage.h"
#include "algebra/swizzle.h"

static void say_extents (mt_text *t, const mt_axis *a, uint32_t n, int64_t size) {
  say(t, "%lld", (long long)size);
  for (uint32_t i = 0; n > 1 && i < n; i++)
    say(t, "%s%lld", i ? " x " : " = ", (long long)a[i].extent);
}

/* What a bound counts along: a mode of the tensors, a coordinate of a ragged one, or the
** pieces of an axis of a box. */
static void say_bound (mt_text *t, const mt_plan *p, uint32_t k) {
  const char *bound = mt_algo_of(p->launch.desc.algo)->bound;
  if (bound) say(t, "%s %d", bound, (int)k + 1);
  else if (p->modes[k] == 0) say(t, "coordinate");
  else say(t, "mode %d", p->modes[k]);
}

/* "NAME: 256 = 32 x 8    src 1, 4096    dst 4096, 1    mode 1: 0, 1" */
static void say_mode (mt_text *t, const char *name, const mt_plan *p, uint32_t first,
                      uint32_t n, int64_t size) {
  static const char *const sides[] = {"src", "dst"};
  const mt_desc *d = &p->launch.desc;
  const mt_axis *a = d->axis + first;
  size_t start = t->length;
  say(t, "%s: ", name);
  say_extents(t, a, n, size);
  if (size == 0) n = 0;
  for (size_t o = 0; n > 0 && o < 2; o++) {
    size_t to = start + 28 + 20 * o;
    do say(t, " "); while (t->length < to);
    say(t, " %s ", sides[o]);
    for (uint32_t i = 0; i < n; i++)
      say(t, "%s%lld", i ? ", " : "", (long long)a[i].stride[o]);
  }
  for (uint32_t k = 0; n > 0 && k < d->nbound; k++) {
    say(t, "  ");
    say_bound(t, p, k);
    say(t, ": ");
    for (uint32_t i = 0; i < n; i++)
      say(t, "%s%lld", i ? ", " : "", (long long)a[i].step[k]);
  }
  say(t, "\n");
}

/* "turn: 2, 0, 1": the axes of a box along the destination, counted from 0. */
static void say_turn (mt_text *t, const mt_desc *d) {
  const uint8_t *order = mt_algo_of(d->algo)->order(d);
  say(t, "turn:");
  for (uint32_t i = 0; i < d->nthr; i++) say(t, "%s %d", i ? "," : "", (int)order[i]);
  say(t, "\n");
}

static void say_bounds (mt_text *t, const mt_plan *p) {
  const mt_desc *d = &p->launch.desc;
  if (d->nbound == 0) return;
  say(t, "bounds:");
  for (uint32_t k = 0; k < d->nbound; k++) {
    say(t, "%s ", k ? "," : "");
    say_bound(t, p, k);
    say(t, " < %lld", (long long)d->bound[k]);
  }
  say(t, "\n");
}

static void say_refused (mt_text *t, const mt_plan *p) {
  for (int i = 0; i < p->why.n; i++)
    say(t, "refused: %s: %s\n", p->why.name[i], mt_refusals_reason(&p->why, i));
}

static void say_grid (mt_text *t, const mt_plan *p) {
  const mt_grid *g = &p->grid;
  if (p->device->backend->prepare)
    say(t, "grid: %lu tiles on %lu threads\n", (unsigned long)g->blocks,
        (unsigned long)g->threads);
  else
    say(t, "grid: %lu blocks of %lu threads\n", (unsigned long)g->blocks,
        (unsigned long)g->threads);
}

/* "swizzle: src Sw<3,4,3>, from 128 on" */
static void say_swizzle (mt_text *t, const mt_plan *p, const char *name, int side) {
  const mt_desc_swizzle f = p->launch.desc.swizzle[side];
  mt_swizzle w;
  if (f.mask == 0 ||
      !mt_swizzle_from_masks(&w, f.mask, mt_desc_swizzled(f, f.mask) ^ f.mask))
    return;
  say(t, "swizzle: %s Sw<%d,%d,%d>", name, w.b, w.m, w.s);
  if (p->launch.origin[side] != 0)
    say(t, ", from %lld on", (long long)p->launch.origin[side]);
  say(t, "\n");
}

static void say_vector (mt_text *t, const mt_desc *d) {
  uint32_t from = d->vec * d->elem, to = d->vec * MT_ELEM(d, MT_DST);
  say(t, "vector: %d", (int)from);
  if (from != to) say(t, " to %d", (int)to);
  say(t, " byte%s, %d element%s\n", to == 1 ? "" : "s", (int)d->vec,
      d->vec == 1 ? "" : "s");
}

static void say_copy (mt_text *t, const mt_plan *p) {
  const mt_desc *d = &p->launch.desc;
  const mt_algo *a = mt_algo_of(d->algo);
  say_grid(t, p);
  say_vector(t, d);
  if (p->launch.offset[MT_SRC] != 0 || p->launch.offset[MT_DST] != 0)
    say(t, "offset: src %lld, dst %lld\n", (long long)p->launch.offset[MT_SRC],
        (long long)p->launch.offset[MT_DST]);
  say_swizzle(t, p, "src", MT_SRC);
  say_swizzle(t, p, "dst", MT_DST);
  if (a->thread) say_mode(t, a->thread, p, 0, d->nthr, d->threads);
  if (a->order) say_turn(t, d);
  if (a->value) say_mode(t, a->value, p, d->nthr, d->nval, d->values);
  say_mode(t, "rest", p, d->nthr + d->nval, d->nrest, d->rests);
  say_bounds(t, p);
}

/* ---------------------------------------------------------------- products */

/* "NAME: 256 x 128 x 64": numbers of M, N and K. */
static void say_mnk (mt_text *t, const char *name, int64_t m, int64_t n, int64_t k) {
  say(t, "%s: %lld x %lld x %lld", name, (long long)m, (long long)n, (long long)k);
}

static void say_work (mt_text *t, const mt_plan *p) {
  const mt_gemm_desc *d = &p->gemm.desc;
  if (!p->device->backend->host)
    say_grid(t, p);
  else if (p->atom[0])
    say(t, "grid: %lld atoms of every thread on %lu thread%s\n", (long long)p->units,
        (unsigned long)p->grid.threads, p->grid.threads == 1 ? "" : "s");
  if (p->atom[0] == 0) return;
  say(t, "atom: %s\n", p->atom);
  say(t, "threads: %lu", (unsigned long)d->threads);
  if (d->kthreads > 1) say(t, ", %lu of them along K", (unsigned long)d->kthreads);
  say_mnk(t, "\ntile", d->tile[0], d->tile[1], d->tile[2]);
  if (d->inner[0] * d->inner[1] * d->inner[2] > 1)
    say_mnk(t, ", atoms of a thread", d->inner[0], d->inner[1], d->inner[2]);
  say_mnk(t, "\ntiles", d->tiles[0], d->tiles[1], d->tiles[2]);
  say(t, "\n");
}

static void say_hopper (mt_text *t, const mt_plan *p) {
  const mt_hopper_launch *l = &p->hopper.launch;
  const mt_hopper_row *row = p->hopper.row;
  say_grid(t, p);
  int64_t k = MT_SLAB / (int64_t)mt_dtype_size(row->type[MT_A]);
  say_mnk(t, "tile", MT_TILE_M, row->n, k);
  say(t, ", %d stages, clusters of %d", (int)row->stages, (int)row->cluster);
  say_mnk(t, "\ntiles", (int64_t)l->tiles_m * row->cluster, l->tiles_n, l->slabs);
  say(t, "\nout: %s\n", l->direct ? "by elements" : "by TMA");
}

static void say_product (mt_text *t, const mt_plan *p) {
  const mt_gemm_desc *d = &p->gemm.desc;
  if (p->kernel && p->kernel->op == MT_OP_HOPPER) say_hopper(t, p);
  else say_work(t, p);
  say_mnk(t, "size", d->size[MT_M], d->size[MT_N], d->size[MT_K]);
  if (d->size[MT_L] != 1) say(t, ", batch %lld", (long long)d->size[MT_L]);
  say(t, "\n");
  if (p->gemm.alpha != 1 || p->gemm.beta != 0)
    say(t, "factors: alpha %.14g, beta %.14g\n", p->gemm.alpha, p->gemm.beta);
}

static void say_kernel (mt_text *t, const mt_plan *p) {
  say(t, "kernel: %s (%s)\n", mt_plan_name(p), p->device->backend->name);
  if (p->launch.desc.op == MT_OP_GEMM) say_product(t, p);
  else say_copy(t, p);
}

size_t mt_plan_format (char *buf, size_t size, const mt_plan *p) {
  mt_text t = {buf, size, 0};
  if (size > 0) buf[0] = 0;
  say(&t, "plan: %s\n", p->head);
  if (p->stage) mt_stage_say(&t, p);
  else say_kernel(&t, p);
  say_refused(&t, p);
  if (t.length > 0) t.length--;                        /* the last end of line */
  if (t.length < size) buf[t.length] = 0;
  return t.length;
}
