/*
** run_tables.c - what the execution of a kernel looks up: made once, from its layouts.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "types/dtype.h"
#include "kernel/run.h"

static const mt_mma_part part_of[] = {MT_PART_A, MT_PART_B};

/* ---------------------------------------------------------------- sizes */

static const mt_node *atom_tv (const mt_gemm_spec *k, int part) {
  const mt_mma_atom *a = &k->mma.atom;
  return part == 0 ? a->a.node : part == 1 ? a->b.node : a->c.node;
}

/* (thread,FrgV,(RestX,RestY)) of a tile of these extents -> its element. */
static mt_status tvr (mt_layout *out, const mt_gemm_spec *k, mt_mma_part part, int64_t m,
                      int64_t n, mt_err *err) {
  mt_layout shape, index;
  const int64_t extent[] = {m, n};
  MT_TRY(mt_ints(&shape, 2, extent, err));
  MT_TRY(mt_layout_left(&index, shape.node, err));
  return mt_mma_tvr(out, &k->mma, part, index.node, err);
}

static mt_status side_sizes (mt_run *r, int x, mt_err *err) {
  mt_layout tv;
  mt_run_side *s = &r->side[x];
  const mt_gemm_spec *k = r->k;
  MT_TRY(tvr(&tv, k, part_of[x], k->tile[x], k->tile[2], err));
  const mt_node *rest = mt_mode(mt_base(tv.node), 2);
  s->elements = mt_side_size(k, x);
  s->size = mt_side_bits(k, x) / 8;
  s->values = mt_size(mt_mode(mt_base(tv.node), 1));
  s->rests[0] = mt_size(mt_mode(rest, 0));
  s->rests[1] = mt_size(mt_mode(rest, 1));
  const mt_mma_op *op = &k->mma.atom.op;
  s->cells = (x == 0 ? op->m : op->n) * op->k;
  return MT_OK;
}

mt_status mt_run_sizes (mt_run *r, const mt_gemm_spec *k, mt_err *err) {
  int64_t shared;
  *r = (mt_run){.k = k, .err = err};
  const mt_node *vmnk = k->mma.thr_vmnk.node;
  for (int x = 0; x < 2; x++) MT_TRY(side_sizes(r, x, err));
  r->threads = mt_tiled_mma_threads(&k->mma);
  r->atom_threads = mt_size(mt_mode(mt_base(vmnk), 0));
  r->groups = mt_size(vmnk) / r->atom_threads;
  r->users = r->groups > 1 ? 2 : 1;
  r->cells = k->mma.atom.op.m * k->mma.atom.op.n;
  r->atoms = r->side[0].rests[0] * r->side[1].rests[0];
  MT_TRY(mt_shared_bytes(&shared, k, 64, err));
  r->shared_bytes = (size_t)shared;
  return MT_OK;
}

/* ---------------------------------------------------------------- memory */

static void *take (mt_carve *c, int64_t n, size_t size) {
  void *p = c->base ? c->base + c->used : NULL;
  c->used += ((size_t)n * size + 63) / 64 * 64;
  return p;
}

static void carve_side (mt_run *r, mt_carve *c, int x) {
  mt_run_side *s = &r->side[x];
  int64_t rests = s->rests[0] * s->rests[1];
  bool direct = mt_side_direct(r->k, x);
  s->line = take(c, s->elements, sizeof *s->line);
  s->filler = take(c, s->elements, sizeof *s->filler);
  s->frag = take(c, direct ? 0 : r->threads * s->values * rests, sizeof *s->frag);
  s->start = take(c, direct ? r->groups * rests : 0, sizeof *s->start);
  s->cell = take(c, s->cells, sizeof *s->cell);
  s->step = take(c, r->k->stages, sizeof *s->step);
  s->number = take(c, s->cells, sizeof *s->number);
  s->offset[0] = take(c, MT_WORKS * r->k->tile[x], sizeof *s->offset[0]);
  s->offset[1] = take(c, r->k->tile[2], sizeof *s->offset[1]);
}

void mt_run_carve (mt_run *r, mt_carve *c) {
  int64_t all = r->groups * r->atoms * r->cells, tile = r->k->tile[0] * r->k->tile[1];
  for (int x = 0; x < 2; x++) carve_side(r, c, x);
  r->thread = take(c, r->groups * r->atom_threads, sizeof *r->thread);
  r->place = take(c, all, sizeof *r->place);
  for (int w = 0; w < MT_WORKS; w++) r->acc[w] = take(c, all, sizeof **r->acc);
  r->out = take(c, tile, sizeof *r->out);
  r->some = take(c, tile, sizeof *r->some);
  for (int i = 0; i < 2; i++) r->offset[i] = take(c, r->k->tile[i], sizeof **r->offset);
  r->shared = take(c, (int64_t)r->shared_bytes, 1);
}

/* ---------------------------------------------------------------- shared memory */

/* The layout under the swizzle, element by element; the modes of a layout add up. */
static mt_status fill_lines (mt_run *r, int x, mt_err *err) {
  mt_run_side *s = &r->side[x];
  const mt_node *a = r->k->way[x].smem.node, *in = mt_inner(a);
  int64_t at, first = mt_is_swizzled(a) ? a->stride : 0;
  for (int64_t i = 0; i < s->elements; i++) {
    MT_TRY(mt_at(&at, in, i, err));
    s->line[i] = (uint32_t)at;
  }
  for (int64_t i = 0; i < r->k->stages; i++) {
    MT_TRY(mt_at(&at, mt_mode(in, 2), i, err));
    s->step[i] = (uint32_t)(at + first);
  }
  return MT_OK;
}

/* Who writes an element of the stage: the thread, as one of the two roles. */
static mt_status fill_fillers (mt_run *r, int x, mt_err *err) {
  mt_layout index, tv;
  mt_run_side *s = &r->side[x];
  memset(s->filler, 0, (size_t)s->elements);
  if (!mt_side_copied(r->k, x) || r->users == 1) return MT_OK;
  MT_TRY(mt_side_index(&index, r->k, x, err));
  MT_TRY(mt_copy_tidfrg(&tv, &r->k->way[x].copy, MT_COPY_D, index.node, err));
  int64_t threads = mt_size(mt_mode(mt_base(tv.node), 0)), n = mt_size(tv.node), at;
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&at, tv.node, i, err));
    if (at < s->elements) s->filler[at] = (uint8_t)(i % threads * 2 / threads);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- registers */

static mt_status frag_of_mma (mt_run *r, int x, const mt_node *tv, mt_err *err) {
  int64_t at, n = mt_size(tv);
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&at, tv, i, err));
    r->side[x].frag[i] = (uint32_t)at;
  }
  return MT_OK;
}

/* What the copy brings, at the registers where its retile puts it. */
static mt_status frag_of_copy (mt_run *r, int x, mt_err *err) {
  mt_run_side *s = &r->side[x];
  const mt_tiled_copy *copy = &r->k->way[x].s2r;
  mt_layout index, tv, shape, registers, retiled;
  const int64_t extent[] = {s->values, s->rests[0], s->rests[1]};
  MT_TRY(mt_side_index(&index, r->k, x, err));
  MT_TRY(mt_copy_tidfrg(&tv, copy, MT_COPY_D, index.node, err));
  MT_TRY(mt_ints(&shape, 3, extent, err));
  MT_TRY(mt_layout_left(&registers, shape.node, err));
  MT_TRY(mt_copy_retile(&retiled, copy, registers.node, err));
  int64_t threads = mt_size(mt_mode(mt_base(tv.node), 0)), n = mt_size(retiled.node), at,
          to;
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&to, retiled.node, i, err));
    for (int64_t t = 0; t < threads && t < r->threads; t++) {
      MT_TRY(mt_at(&at, tv.node, t + threads * i, err));
      s->frag[t + r->threads * to] = (uint32_t)at;
    }
  }
  return MT_OK;
}

/* Where the descriptors of wgmma begin, and what they reach from there. */
static mt_status fill_starts (mt_run *r, int x, const mt_node *tv, mt_err *err) {
  mt_run_side *s = &r->side[x];
  mt_gmma_desc d;
  int64_t rests = s->rests[0] * s->rests[1], threads = mt_size(mt_mode(mt_base(tv), 0)),
          at;
  int m = 0;
  MT_TRY(mt_side_desc(&d, r->k, x, err));
  while (128 / d.bits >> (m + 1)) m++;
  for (int64_t g = 0; g < r->groups; g++)
    for (int64_t i = 0; i < rests; i++) {
      int64_t first = r->thread[g * r->atom_threads];
      MT_TRY(mt_at(&at, tv, first + threads * s->values * i, err));
      s->start[g * rests + i] = s->line[at];
    }
  const mt_swizzle w = {(int)d.mode, m, 3};
  for (int64_t i = 0; i < s->cells; i++)
    s->cell[i] = (uint32_t)mt_swizzle_apply(w, mt_gmma_at(&d, i % d.mn, i / d.mn));
  return MT_OK;
}

static mt_status fill_cells (mt_run *r, int x, mt_err *err) {
  const mt_node *tv = atom_tv(r->k, x);
  int64_t threads = mt_size(mt_mode(mt_base(tv), 0)), n = mt_size(tv), at;
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&at, tv, i, err));
    r->side[x].cell[at] = (uint32_t)(i % threads + r->atom_threads * (i / threads));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- all of them */

static mt_status fill_threads (mt_run *r, mt_err *err) {
  const mt_node *vmnk = r->k->mma.thr_vmnk.node;
  int64_t at;
  for (int64_t i = 0; i < r->groups * r->atom_threads; i++) {
    MT_TRY(mt_at(&at, vmnk, i, err));
    r->thread[i] = (uint32_t)at;
  }
  return MT_OK;
}

/* Every cell of C: its thread and value in the atom say which element it is. */
static mt_status fill_places (mt_run *r, mt_err *err) {
  const mt_gemm_spec *k = r->k;
  const mt_node *tv = atom_tv(k, 2);
  mt_layout all;
  MT_TRY(tvr(&all, k, MT_PART_C, k->tile[0], k->tile[1], err));
  int64_t threads = mt_size(mt_mode(mt_base(all.node), 0)),
          values = mt_size(mt_mode(mt_base(all.node), 1));
  int64_t cell, at, n = mt_size(mt_mode(mt_base(tv), 0));
  for (int64_t i = 0; i < mt_size(tv); i++) {
    MT_TRY(mt_at(&cell, tv, i, err));
    for (int64_t g = 0; g < r->groups; g++)
      for (int64_t j = 0; j < r->atoms; j++) {
        int64_t t = r->thread[g * r->atom_threads + i % n];
        MT_TRY(mt_at(&at, all.node, t + threads * (i / n + values * j), err));
        r->place[(g * r->atoms + j) * r->cells + cell] = (uint32_t)at;
      }
  }
  return MT_OK;
}

static MT_APART mt_status fill_side (mt_run *r, int x, mt_err *err) {
  mt_layout tv;
  const mt_gemm_spec *k = r->k;
  MT_TRY(fill_lines(r, x, err));
  MT_TRY(fill_fillers(r, x, err));
  MT_TRY(tvr(&tv, k, part_of[x], k->tile[x], k->tile[2], err));
  if (mt_side_direct(k, x)) return fill_starts(r, x, tv.node, err);
  MT_TRY(fill_cells(r, x, err));
  if (k->way[x].s2r.bits) return frag_of_copy(r, x, err);
  return frag_of_mma(r, x, tv.node, err);
}

mt_status mt_run_tables (mt_run *r, mt_err *err) {
  int64_t bytes;
  MT_TRY(fill_threads(r, err));
  for (int x = 0; x < 2; x++) MT_TRY(fill_side(r, x, err));
  MT_TRY(mt_side_bytes(&bytes, r->k, 0, err));
  r->side[0].memory = r->shared;
  r->side[1].memory = r->shared + mt_second_side(r->k, bytes);
  MT_TRY(mt_side_bytes(&bytes, r->k, 1, err));
  bool alone = r->k->schedule == MT_MULTISTAGE;
  r->staged = alone ? r->shared : r->side[1].memory + bytes;
  return fill_places(r, err);
}
