/*
** pipeline.c - a described kernel on a GPU, where no precompiled one is it: its tables,
** which are those of its execution on the processor, and its plan.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "atom/mma_number.h"
#include "kernel/pipeline.h"
#include "moontile/algebra.h"
#include "plan/gathered.h"
#include "plan/piped.h"

enum { LINE = 128 }; /* bytes: where what wgmma reads may begin */

/* ---------------------------------------------------------------- what is brought */

/* Element by element, in order. */
static void bring_each (mt_pipeline_side *s, uint32_t *bring) {
  for (uint32_t i = 0; i < s->elements; i++) bring[i] = i;
  s->fills = s->elements;
  s->wide = 1;
}

/* As the copy has it: access by access, its threads side by side. */
static mt_status bring_by_copy (mt_pipeline_side *s, uint32_t *bring,
                                const mt_gemm_spec *k, int x, mt_err *err) {
  const mt_tiled_copy *c = &k->way[x].copy;
  mt_layout index, tv;
  int64_t at, wide = c->atom_bits > c->bits ? c->atom_bits / c->bits : 1;
  MT_TRY(mt_side_index(&index, k, x, err));
  MT_TRY(mt_copy_tidfrg(&tv, c, MT_COPY_D, index.node, err));
  const int64_t threads = mt_size(mt_mode(mt_base(tv.node), 0)), n = mt_size(tv.node);
  bring_each(s, bring);
  if (n != s->elements) return MT_OK; /* some bring the same */
  if (n / threads % wide != 0) wide = 1;
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&at, tv.node, i, err));
    const int64_t t = i % threads, v = i / threads;
    bring[(v / wide * threads + t) * wide + v % wide] = (uint32_t)at;
  }
  s->wide = (uint32_t)wide;
  s->fills = (uint32_t)(n / wide);
  return MT_OK;
}

/* ---------------------------------------------------------------- cp.async */

static uint32_t place_of (const mt_pipeline_side *s, uint32_t element, uint32_t stage) {
  const uint32_t o = s->line[element] + s->step[stage], moved = o & s->swizzle;
  return o ^ (s->shift < 0 ? moved << -s->shift : moved >> s->shift);
}

/* The mode that an access runs along; -1: none. */
static int along_of (const mt_pipeline_side *s, const uint32_t *e) {
  const uint32_t step = e[1] - e[0];
  for (uint32_t j = 1; j < s->wide; j++)
    if (e[j] - e[j - 1] != step) return -1;
  if (step == s->rows) return 1;
  return step == 1 && e[0] % s->rows + s->wide <= s->rows ? 0 : -1;
}

/* Its elements lie together in each stage, where the instruction can write them. */
static bool lies_together (const mt_pipeline *p, const mt_pipeline_side *s,
                           const uint32_t *e) {
  for (uint32_t stage = 0; stage < p->stages; stage++) {
    const uint32_t first = place_of(s, e[0], stage);
    if (first * s->size % (s->wide * s->size) != 0) return false;
    for (uint32_t j = 1; j < s->wide; j++)
      if (place_of(s, e[j], stage) != first + j) return false;
  }
  return true;
}

/* s->async, if all accesses can go so, and along which mode. */
static int find_async (const mt_pipeline *p, mt_pipeline_side *s) {
  const uint32_t bytes = s->wide * s->size;
  int along = -1;
  if (bytes != 4 && bytes != 8 && bytes != 16) return -1;
  for (uint32_t i = 0; i < s->fills; i++) {
    const uint32_t *e = s->bring + i * s->wide;
    const int a = s->wide > 1 ? along_of(s, e) : -1;
    if (i > 0 && a != along) return -1;
    if (s->wide > 1 && a < 0) return -1;
    if (!lies_together(p, s, e)) return -1;
    along = a;
  }
  s->async = bytes;
  return along;
}

/* ---------------------------------------------------------------- tables */

static size_t words_of (const mt_run *r, int x) {
  return 2 * (size_t)r->side[x].elements + (size_t)r->k->stages;
}

static size_t table_words (const mt_run *r) { return words_of(r, 0) + words_of(r, 1); }

size_t mt_pipeline_room (const mt_gemm_spec *k) {
  mt_err unused = MT_NOERR;
  mt_run r;
  if (mt_run_sizes(&r, k, &unused) != MT_OK) return 0;
  return mt_gemm_room_for(k) + table_words(&r) * sizeof(uint32_t);
}

static void put_swizzle (mt_pipeline_side *s, const mt_node *smem) {
  if (!mt_is_swizzled(smem)) return;
  const mt_swizzle w = mt_swizzle_of(smem);
  const uint32_t bits = ((UINT32_C(1) << w.b) - 1) << w.m;
  s->swizzle = w.s >= 0 ? bits << w.s : bits;
  s->shift = w.s;
}

static mt_status put_side (mt_pipeline_tables *out, const mt_run *r, int x,
                           uint32_t *table, mt_err *err) {
  mt_pipeline_side *s = &out->pipe.side[x];
  const mt_run_side *from = &r->side[x];
  const uint32_t n = (uint32_t)from->elements;
  uint32_t *step = table + n, *bring = step + r->k->stages;
  memcpy(table, from->line, n * sizeof *table);
  memcpy(step, from->step, (size_t)r->k->stages * sizeof *step);
  *s = (mt_pipeline_side){.line = table,
                          .step = step,
                          .bring = bring,
                          .elements = n,
                          .rows = (uint32_t)r->k->tile[x],
                          .first = (uint32_t)(from->memory - r->shared),
                          .size = (uint32_t)from->size};
  put_swizzle(s, r->k->way[x].smem.node);
  out->along[x] = -1;
  if (!mt_side_copied(r->k, x)) return bring_each(s, bring), MT_OK;
  MT_TRY(bring_by_copy(s, bring, r->k, x, err));
  if (r->k->way[x].fill == MT_FILL_CP_ASYNC) out->along[x] = find_async(&out->pipe, s);
  return MT_OK;
}

/* Behind the stages, what wgmma reads. */
static mt_status put_shared (mt_pipeline *p, const mt_run *r, mt_err *err) {
  int64_t bytes;
  MT_TRY(mt_side_bytes(&bytes, r->k, 1, err));
  const int64_t end = bytes + p->side[1].first, wide = 128;
  p->scratch = (uint32_t)((end + LINE - 1) / LINE * LINE);
  p->shared = p->scratch;
  if (r->atom_threads == wide)
    p->shared += (uint32_t)(r->threads / wide) * MT_PIPELINE_SCRATCH;
  return MT_OK;
}

static mt_status put_all (mt_pipeline_tables *out, const mt_run *r, uint32_t *table,
                          mt_err *err) {
  const mt_gemm_spec *k = r->k;
  const int64_t last = k->stages - 1;
  *out = (mt_pipeline_tables){.table = table, .words = table_words(r)};
  out->pipe.stages = (uint32_t)k->stages;
  out->pipe.ahead = (uint32_t)(k->ahead < last ? k->ahead : last);
  out->pipe.raster = k->raster != 0;
  out->sum_bits =
      (uint32_t)mt_element_bits(mt_mma_op_element(&k->mma.atom.op, MT_OPERAND_C));
  for (int i = 0; i < 3; i++) out->tile[i] = (uint32_t)k->tile[i];
  MT_TRY(put_side(out, r, 0, table, err));
  MT_TRY(put_side(out, r, 1, table + words_of(r, 0), err));
  return put_shared(&out->pipe, r, err);
}

mt_status mt_pipeline_of (mt_pipeline_tables *out, const mt_gemm_spec *k, void *room,
                          mt_err *err) {
  mt_run r;
  mt_carve c = {room, 0};
  MT_TRY(mt_mma_op_check(&k->mma.atom.op, err));
  MT_TRY(mt_run_sizes(&r, k, err));
  mt_run_carve(&r, &c);
  MT_TRY(mt_run_tables(&r, err));
  return put_all(out, &r, (uint32_t *)(void *)((char *)room + c.used), err);
}

/* ---------------------------------------------------------------- plans */

static mt_status prove (mt_device *d, const mt_gemm_spec *k, const mt_tensor *const t[],
                        mt_err *err) {
  mt_gemm_proof *p = mt_host_alloc(d, sizeof *p);
  if (p == NULL) return mt_fail(err, MT_ENOMEM, "gemm: no host memory for a proof");
  mt_status s = mt_verify_gemm(p, k, t, err);
  if (s == MT_OK && !p->ok)
    s = mt_fail(err, MT_EINVAL, "gemm: the kernel breaks a law, %s: %s",
                mt_law_name(p->broken), p->reason);
  mt_host_free(d, p, sizeof *p);
  return s;
}

/* What it adds to its product is there; of composed operands the product says it. */
static mt_status check_ending (const mt_gemm_spec *k, const mt_tensor *const t[],
                               mt_err *err) {
  mt_gemm_launch l;
  if (mt_needs_gathering(t)) return MT_OK;
  MT_TRY(mt_gemm_tensors(&l, t[0], t[1], t[2], k->ending.alpha, k->ending.beta, err));
  MT_TRY(mt_put_ending(&l, k, t, err));
  return mt_check_ending(&l, k, t, err);
}

static mt_gemm_options options_of (const mt_gemm_spec *k, const mt_tensor *const t[],
                                   size_t memory) {
  mt_gemm_options o = {.size = sizeof o,
                       .alpha = k->ending.alpha,
                       .beta = k->ending.beta,
                       .memory = memory,
                       .columns = mt_kernel_columns(k)};
  o.epilogue = (mt_epilogue){.activation = k->ending.activation,
                             .bias = t[MT_KERNEL_BIAS],
                             .residual = t[MT_KERNEL_RESIDUAL]};
  if (o.epilogue.bias) o.epilogue.along = k->ending.bias;
  return o;
}

/* "differs in stages, ahead" */
static void say_near (mt_plan *p, const mt_near_row *near) {
  char text[160];
  int n = snprintf(text, sizeof text, "differs in");
  for (int f = 0; f < MT_NFIELD && n < (int)sizeof text; f++)
    if (near->differs & 1u << f)
      n += snprintf(text + n, sizeof text - (size_t)n, "%s %s", n == 10 ? "" : ",",
                    mt_kernel_field_name((mt_kernel_field)f));
  mt_refusals_add(&p->why, mt_gemm_row_name(near->row), "%s", text);
}

mt_status mt_plan_kernel (mt_plan **out, mt_device *d, const mt_gemm_spec *k,
                          const mt_tensor *const t[MT_KERNEL_TENSORS], size_t memory,
                          const mt_near_row *near, mt_err *err) {
  mt_pipeline_tables tables;
  const mt_gemm_options o = options_of(k, t, memory);
  *out = NULL;
  if (mt_device_is_host(d))
    return mt_fail(err, MT_EUNSUPPORTED,
                   "plan: a kernel is executed on the host by gemm, without a plan");
  MT_TRY(prove(d, k, t, err));
  MT_TRY(check_ending(k, t, err));
  const size_t bytes = mt_pipeline_room(k) + 64;
  char *room = mt_host_alloc(d, bytes);
  if (room == NULL) return mt_fail(err, MT_ENOMEM, "gemm: no host memory for a kernel");
  mt_status s = mt_pipeline_of(&tables, k, room + (64 - (uintptr_t)room % 64), err);
  if (s == MT_OK) s = mt_plan_piped(out, d, &k->mma, t, &o, &tables, err);
  mt_host_free(d, room, bytes);
  if (s == MT_OK && near) say_near(*out, near);
  return s;
}
