/*
** text.c - plans for people.
** SPDX-License-Identifier: MIT
**
** Only the lines that begin with `kernel:`, `grid:` and `refused:` depend on the device;
** of a product without a partition those about the atom that was chosen, too.
*/
#include "copy/algo.h"
#include "plan/gathered.h"
#include "plan/device.h"
#include "desc/swizzle.h"
#include "core/strbuf.h"
#include "plan/stage.h"
#include "plan/table.h"
#include "algebra/swizzle.h"

static void put_extents (mt_strbuf *t, const mt_axis *a, uint32_t n, int64_t size) {
  mt_putf(t, "%lld", (long long)size);
  for (uint32_t i = 0; n > 1 && i < n; i++)
    mt_putf(t, "%s%lld", i ? " x " : " = ", (long long)a[i].extent);
}

/* What a bound counts along: a mode of the tensors, a coordinate of a ragged one, or the
** pieces of an axis of a box. */
static void put_bound (mt_strbuf *t, const mt_plan *p, uint32_t k) {
  const char *bound = mt_algo_of(p->launch.desc.algo)->bound;
  if (bound) mt_putf(t, "%s %d", bound, (int)k + 1);
  else if (p->modes[k] == 0) mt_putf(t, "coordinate");
  else mt_putf(t, "mode %d", p->modes[k]);
}

/* "NAME: 256 = 32 x 8    src 1, 4096    dst 4096, 1    mode 1: 0, 1" */
static void put_mode (mt_strbuf *t, const char *name, const mt_plan *p, uint32_t first,
                      uint32_t n, int64_t size) {
  static const char *const sides[] = {"src", "dst"};
  const mt_desc *d = &p->launch.desc;
  const mt_axis *a = d->axis + first;
  size_t start = t->n;
  mt_putf(t, "%s: ", name);
  put_extents(t, a, n, size);
  if (size == 0) n = 0;
  for (size_t o = 0; n > 0 && o < 2; o++) {
    size_t to = start + 28 + 20 * o;
    do mt_putf(t, " ");
    while (t->n < to);
    mt_putf(t, " %s ", sides[o]);
    for (uint32_t i = 0; i < n; i++)
      mt_putf(t, "%s%lld", i ? ", " : "", (long long)a[i].stride[o]);
  }
  for (uint32_t k = 0; n > 0 && k < d->nbound; k++) {
    mt_putf(t, "  ");
    put_bound(t, p, k);
    mt_putf(t, ": ");
    for (uint32_t i = 0; i < n; i++)
      mt_putf(t, "%s%lld", i ? ", " : "", (long long)a[i].step[k]);
  }
  mt_putf(t, "\n");
}

/* "turn: 2, 0, 1": the axes of a box along the destination, counted from 0. */
static void put_turn (mt_strbuf *t, const mt_desc *d) {
  const uint8_t *order = mt_algo_of(d->algo)->order(d);
  mt_putf(t, "turn:");
  for (uint32_t i = 0; i < d->nthr; i++) mt_putf(t, "%s %d", i ? "," : "", (int)order[i]);
  mt_putf(t, "\n");
}

static void put_bounds (mt_strbuf *t, const mt_plan *p) {
  const mt_desc *d = &p->launch.desc;
  if (d->nbound == 0) return;
  mt_putf(t, "bounds:");
  for (uint32_t k = 0; k < d->nbound; k++) {
    mt_putf(t, "%s ", k ? "," : "");
    put_bound(t, p, k);
    mt_putf(t, " < %lld", (long long)d->bound[k]);
  }
  mt_putf(t, "\n");
}

static void put_refused (mt_strbuf *t, const mt_plan *p) {
  for (int i = 0; i < p->why.n; i++)
    mt_putf(t, "refused: %s: %s\n", p->why.name[i], mt_refusals_reason(&p->why, i));
}

static void put_grid (mt_strbuf *t, const mt_plan *p) {
  const mt_grid *g = &p->grid;
  if (p->device->backend->prepare)
    mt_putf(t, "grid: %lu tiles on %lu threads\n", (unsigned long)g->blocks,
            (unsigned long)g->threads);
  else
    mt_putf(t, "grid: %lu blocks of %lu threads\n", (unsigned long)g->blocks,
            (unsigned long)g->threads);
}

/* "swizzle: src Sw<3,4,3>, from 128 on" */
static void put_swizzle (mt_strbuf *t, const mt_plan *p, const char *name, int side) {
  const mt_desc_swizzle f = p->launch.desc.swizzle[side];
  mt_swizzle w;
  if (f.mask == 0 ||
      !mt_swizzle_from_masks(&w, f.mask, mt_desc_swizzled(f, f.mask) ^ f.mask))
    return;
  mt_putf(t, "swizzle: %s Sw<%d,%d,%d>", name, w.b, w.m, w.s);
  if (p->launch.origin[side] != 0)
    mt_putf(t, ", from %lld on", (long long)p->launch.origin[side]);
  mt_putf(t, "\n");
}

static void put_vector (mt_strbuf *t, const mt_desc *d) {
  uint32_t from = d->vec * d->elem, to = d->vec * MT_ELEM(d, MT_DST);
  mt_putf(t, "vector: %d", (int)from);
  if (from != to) mt_putf(t, " to %d", (int)to);
  mt_putf(t, " byte%s, %d element%s\n", to == 1 ? "" : "s", (int)d->vec,
          d->vec == 1 ? "" : "s");
}

static void put_copy (mt_strbuf *t, const mt_plan *p) {
  const mt_desc *d = &p->launch.desc;
  const mt_algo *a = mt_algo_of(d->algo);
  put_grid(t, p);
  put_vector(t, d);
  if (p->launch.offset[MT_SRC] != 0 || p->launch.offset[MT_DST] != 0)
    mt_putf(t, "offset: src %lld, dst %lld\n", (long long)p->launch.offset[MT_SRC],
            (long long)p->launch.offset[MT_DST]);
  put_swizzle(t, p, "src", MT_SRC);
  put_swizzle(t, p, "dst", MT_DST);
  if (a->thread) put_mode(t, a->thread, p, 0, d->nthr, d->threads);
  if (a->order) put_turn(t, d);
  if (a->value) put_mode(t, a->value, p, d->nthr, d->nval, d->values);
  put_mode(t, "rest", p, d->nthr + d->nval, d->nrest, d->rests);
  put_bounds(t, p);
}

/* ---------------------------------------------------------------- products */

/* "NAME: 256 x 128 x 64": numbers of M, N and K. */
static void put_mnk (mt_strbuf *t, const char *name, int64_t m, int64_t n, int64_t k) {
  mt_putf(t, "%s: %lld x %lld x %lld", name, (long long)m, (long long)n, (long long)k);
}

static void put_work (mt_strbuf *t, const mt_plan *p) {
  const mt_gemm_desc *d = &p->gemm.desc;
  if (!p->device->backend->host) put_grid(t, p);
  else if (p->atom[0])
    mt_putf(t, "grid: %lld atoms of every thread on %lu thread%s\n", (long long)p->units,
            (unsigned long)p->grid.threads, p->grid.threads == 1 ? "" : "s");
  if (p->atom[0] == 0) return;
  mt_putf(t, "atom: %s\n", p->atom);
  mt_putf(t, "threads: %lu", (unsigned long)d->threads);
  if (d->kthreads > 1) mt_putf(t, ", %lu of them along K", (unsigned long)d->kthreads);
  put_mnk(t, "\ntile", d->tile[0], d->tile[1], d->tile[2]);
  if (d->inner[0] * d->inner[1] * d->inner[2] > 1)
    put_mnk(t, ", atoms of a thread", d->inner[0], d->inner[1], d->inner[2]);
  put_mnk(t, "\ntiles", d->tiles[0], d->tiles[1], d->tiles[2]);
  mt_putf(t, "\n");
}

/* How a stage of A or B is filled. */
static void put_filled (mt_strbuf *t, const mt_pipeline_side *s) {
  if (s->async) mt_putf(t, "cp.async of %lu bytes", (unsigned long)s->async);
  else mt_putf(t, "elements");
}

static void put_pipeline (mt_strbuf *t, const mt_plan *p) {
  const mt_pipeline *x = &p->piped.pipe;
  const mt_gemm_desc *d = &p->gemm.desc;
  int64_t tile[3];
  for (int i = 0; i < 3; i++) tile[i] = (int64_t)d->tile[i] * x->repeat[i];
  put_grid(t, p);
  mt_putf(t, "literal: as described, not precompiled\natom: %s\n", p->atom);
  put_mnk(t, "tile", tile[0], tile[1], tile[2]);
  mt_putf(t, ", %d stages, %d ahead", (int)x->stages, (int)x->ahead);
  put_mnk(t, "\ntiles", x->tiles[0], x->tiles[1], x->tiles[2]);
  mt_putf(t, "\nin: A by ");
  put_filled(t, &x->side[0]);
  mt_putf(t, ", B by ");
  put_filled(t, &x->side[1]);
  mt_putf(t, "\nshared: %lu bytes%s\n", (unsigned long)x->shared,
          x->shared > x->scratch ? ", operands of wgmma moved out of their stage" : "");
}

/* What packs its operands, both in one launch. */
static void put_packing (mt_strbuf *t, const mt_hopper *h) {
  const mt_pack_launch *l = &h->pack;
  if (!mt_packs(l)) return;
  const unsigned long blocks = l->operand[0].blocks + l->operand[1].blocks;
  mt_putf(t, "packing: %s, %lu blocks of %d threads\n", mt_pack_rows[h->pack_row].name,
          blocks, (int)MT_PACK_THREADS);
}

static void put_hopper (mt_strbuf *t, const mt_plan *p) {
  const mt_hopper_launch *l = &p->hopper.launch;
  const mt_hopper_row *row = p->hopper.row;
  put_grid(t, p);
  int64_t k = MT_SLAB / (int64_t)mt_dtype_size(row->type[MT_A]);
  put_mnk(t, "tile", MT_TILE_M, row->n, k);
  mt_putf(t, ", %d stages, clusters of %d", (int)row->stages, (int)p->hopper.cluster);
  if (l->terms == 3) mt_putf(t, ", three terms");
  if (l->parts > 1) mt_putf(t, ", K in %d parts", (int)l->parts);
  put_mnk(t, "\ntiles", (int64_t)l->tiles_m * row->cluster, l->tiles_n, l->slabs);
  if (l->streams)
    mt_putf(t, "\nstream-K: by %d clusters, memory: %zu bytes",
            (int)(p->hopper.blocks / p->hopper.cluster), mt_hopper_memory(&p->hopper));
  mt_putf(t, "\nout: %s\n",
          l->direct == MT_BY_WORDS ? "by words of rows" :
          l->direct                ? "by rows" :
          row->turned              ? "by TMA, turned" :
                                     "by TMA");
  for (int part = 0; part < MT_PARTS; part++)
    if (p->hopper.pitch[part]) mt_putf(t, "packed: %s\n", p->hopper.why[part]);
  put_packing(t, &p->hopper);
  if (p->memory_bytes) mt_putf(t, "memory: %zu bytes\n", p->memory_bytes);
}

static void put_ampere (mt_strbuf *t, const mt_plan *p) {
  static const char *const ways[] = {"lines", "elements along K", "elements", "windows"};
  const mt_ampere_launch *l = &p->ampere.launch;
  const mt_ampere_row *row = p->ampere.row;
  put_grid(t, p);
  put_mnk(t, "tile", row->m, row->n, row->k);
  mt_putf(t, ", %d stages, %d x %d warps", (int)row->stages, (int)row->warps[0],
          (int)row->warps[1]);
  if (l->parts > 1) mt_putf(t, ", K in %d parts", (int)l->parts);
  put_mnk(t, "\ntiles", l->tiles_m, l->tiles_n, l->slabs);
  if (l->streams)
    mt_putf(t, "\nstream-K: %d tiles by %d blocks, memory: %zu bytes",
            (int)(l->streamed + l->halves), (int)l->streams,
            mt_ampere_memory(&p->ampere));
  mt_putf(t, "\nin: A by %s, B by %s\nout: by %s\n", ways[l->operand[0].way],
          ways[l->operand[1].way], l->wide ? "vectors" : "elements");
}

/* "epilogue: bias of f32; gelu; residual of bf16, which is C" */
static void put_epilogue (mt_strbuf *t, const mt_gemm_launch *l) {
  static const char *const names[] = {"bias", "residual"};
  const char *before = "";
  if (!l->finishes) return;
  mt_putf(t, "epilogue: ");
  for (int i = 0; i < MT_BESIDES; i++) {
    if (mt_has_beside(l, i)) {
      mt_putf(t, "%s%s of %s%s", before, names[i],
              mt_dtype_name((mt_dtype)l->beside[i].dtype),
              mt_beside_is_c(l, i) ? ", which is C" : "");
      before = "; ";
    }
    if (i != MT_BIAS || l->activation == MT_ACTIVATION_NONE) continue;
    mt_putf(t, "%s%s", before, mt_activation_name((mt_activation)l->activation));
    before = "; ";
  }
  mt_putf(t, "\n");
}

static void put_product (mt_strbuf *t, const mt_plan *p) {
  const mt_gemm_desc *d = &p->gemm.desc;
  const mt_op op = p->kernel ? (mt_op)p->kernel->op : MT_OP_GEMM;
  if (op == MT_OP_HOPPER) put_hopper(t, p);
  else if (op == MT_OP_AMPERE) put_ampere(t, p);
  else if (op == MT_OP_PIPELINE) put_pipeline(t, p);
  else put_work(t, p);
  put_mnk(t, "size", d->size[MT_M], d->size[MT_N], d->size[MT_K]);
  if (d->size[MT_L] != 1) mt_putf(t, ", batch %lld", (long long)d->size[MT_L]);
  mt_putf(t, "\n");
  if (p->gemm.alpha != 1 || p->gemm.beta != 0)
    mt_putf(t, "factors: alpha %.14g, beta %.14g\n", p->gemm.alpha, p->gemm.beta);
  put_epilogue(t, &p->gemm);
  if (p->gathered)
    mt_putf(t, "composed operands: by lists of offsets, by the host, into %zu bytes\n",
            mt_gathered_bytes(p->gathered));
}

static void put_table (mt_strbuf *t, const mt_plan *p) {
  mt_putf(t, "kernel: %s (%s)\n", p->name, p->device->backend->name);
  mt_putf(t, "table: %lld elements, by the host\n", (long long)p->table->n);
}

static void put_kernel (mt_strbuf *t, const mt_plan *p) {
  mt_putf(t, "kernel: %s (%s)\n", mt_plan_name(p), p->device->backend->name);
  if (p->launch.desc.op == MT_OP_GEMM) put_product(t, p);
  else put_copy(t, p);
}

size_t mt_plan_format (char *buf, size_t size, const mt_plan *p) {
  mt_strbuf t = {buf, size, 0};
  if (size > 0) buf[0] = 0;
  mt_putf(&t, "plan: %s\n", p->head);
  if (p->stage) mt_stage_put(&t, p);
  else if (p->table) put_table(&t, p);
  else put_kernel(&t, p);
  put_refused(&t, p);
  if (t.n > 0) t.n--; /* the last end of line */
  if (t.n < size) buf[t.n] = 0;
  return t.n;
}
