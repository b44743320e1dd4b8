/*
** gemm_tile.c - the processor's own product: a tile of C, from its sums to its elements.
** SPDX-License-Identifier: MIT
*/
#include "cpu/gemm_block.h"

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

/* ---------------------------------------------------------------- to C */

/* Rows of its sums: whole vectors. */
static int64_t width_of (const mt_cpu_gemm *g, const mt_cpu_piece *p) {
  return mt_micro_narrow(g->micro, p->nx)->m;
}

/* The same of integers, to raw elements or as they are. */
static char *to_integers (const mt_cpu_gemm *g, char *tile, char *raw,
                          const mt_cpu_piece *p) {
  _Alignas(MT_PANEL_ALIGN) char old[MT_MAXTILE];
  int64_t m = width_of(g, p), n = m * p->ny;
  bool plain = g->alpha == 1 && g->beta == 0;
  if (plain && g->acc != MT_ACC_WIDE) {
    if (g->narrow) g->narrow(raw, tile, n);
    return g->narrow ? raw : tile;
  }
  if (g->beta != 0) mt_cpu_gather(old, &g->side[MT_C], p, m);
  mt_cpu_scale_sums(&g->scale, raw, tile, g->beta != 0 ? old : NULL, n);
  return raw;
}

/* What the epilogue reads at a tile, as sums, at one of two places; NULL: nothing. */
static const char *read_beside (const mt_cpu_gemm *g, int which, const mt_cpu_piece *p,
                                char *raw, char *wide) {
  const int64_t m = width_of(g, p);
  if (!g->has[which]) return NULL;
  mt_cpu_gather(raw, &g->beside[which], p, m);
  if (g->widen_beside[which]) g->widen_beside[which](wide, raw, m * p->ny);
  return g->widen_beside[which] ? wide : raw;
}

static void finish_tile (const mt_cpu_gemm *g, char *tile, const mt_cpu_piece *p) {
  _Alignas(MT_PANEL_ALIGN) char raw[2 * MT_MAXTILE]; /* of f64, for sums of f32 */
  _Alignas(MT_PANEL_ALIGN) char wide[MT_MAXTILE];
  const int64_t n = width_of(g, p) * p->ny;
  const char *x = read_beside(g, MT_BIAS, p, raw, wide);
  if (x) mt_cpu_combine(g->acc, tile, x, n, 1, 1);
  mt_cpu_activate(g->acc, tile, n, g->activation);
  x = read_beside(g, MT_RESIDUAL, p, raw, wide);
  if (x) mt_cpu_combine(g->acc, tile, x, n, 1, 1);
}

static char *to_floats (const mt_cpu_gemm *g, char *tile, char *raw,
                        const mt_cpu_piece *p) {
  _Alignas(MT_PANEL_ALIGN) char old[MT_MAXTILE];
  int64_t m = width_of(g, p), n = m * p->ny;
  char *before = NULL;
  if (g->beta != 0) {
    mt_cpu_gather(raw, &g->side[MT_C], p, m);
    if (g->widen[MT_C]) g->widen[MT_C](old, raw, n);
    before = g->widen[MT_C] ? old : raw;
  }
  if (g->alpha != 1 || before) mt_cpu_combine(g->acc, tile, before, n, g->alpha, g->beta);
  if (g->finishes) finish_tile(g, tile, p);
  if (g->narrow) g->narrow(raw, tile, n);
  return g->narrow ? raw : tile;
}

void mt_cpu_put_tile (const mt_cpu_gemm *g, char *tile, const mt_cpu_piece *p) {
  _Alignas(MT_PANEL_ALIGN) char raw[MT_MAXTILE];
  bool floats = mt_cpu_is_float(g->side[MT_C].part.dtype);
  char *from = (floats ? to_floats : to_integers)(g, tile, raw, p);
  mt_cpu_scatter(&g->side[MT_C], p, from, width_of(g, p));
}

/* ---------------------------------------------------------------- sums */

mt_cpu_piece mt_cpu_tile_at (const mt_cpu_gemm *g, int64_t i, int64_t j, int64_t batch) {
  int64_t m = g->micro->m, n = g->micro->n;
  mt_cpu_piece p = {i * m, min_of(m, g->n[MT_M] - i * m), j * n,
                    min_of(n, g->n[MT_N] - j * n), batch};
  return p;
}

/* Sums go to C at once, where they are its elements; to *tile, or to one that waits there
** for the rest of K. */
static void place_sums (const mt_cpu_gemm *g, const mt_cpu_piece *p, const mt_micro *v,
                        mt_steps *s) {
  const mt_micro *u = g->micro;
  s->whole = !g->straight || (!u->masks && p->nx < v->m);
  if (!s->whole) {
    s->tile = mt_cpu_place(g, MT_C, p->x, p->y, p->batch);
    s->tile_step = g->pitch[MT_C];
    return;
  }
  s->tile_step = v->m;
  if (g->tiles) {
    int64_t at = (p->batch * g->panels[1] + p->y / u->n) * g->panels[0] + p->x / u->m;
    s->tile = g->tiles + at * u->m * u->n * u->sum;
  }
}

/* With B in *s. */
static void make_tile (const mt_cpu_gemm *g, int64_t i, int64_t j, int64_t batch,
                       mt_steps *s) {
  _Alignas(MT_PANEL_ALIGN) char here[MT_MAXTILE], part[MT_MAXTILE];
  const mt_cpu_piece p = mt_cpu_tile_at(g, i, j, batch);
  const mt_micro *v = mt_micro_narrow(g->micro, p.nx);
  s->tile = here;
  s->fresh = g->fresh;
  s->a = mt_cpu_panel(&s->a_step, g, MT_A, i, batch);
  s->rows = p.nx;
  s->columns = p.ny;
  place_sums(g, &p, v, s);
  char *tile = s->tile;
  if (v->acc != g->acc) {
    s->tile = part;
    s->fresh = true;
  }
  (g->rows ? v->rows : v->run)[2 * p.ny <= v->n](s);
  if (s->tile != tile) mt_cpu_count(tile, part, v->m * p.ny, g->fresh);
  if (g->last && s->whole) mt_cpu_put_tile(g, tile, &p);
}

/* Whether all tiles of a column are sums that go to C, of panels as far apart. */
static bool is_plain (const mt_cpu_gemm *g) {
  return g->straight && g->micro->masks &&
         (g->whole[MT_A] == 0 || g->whole[MT_A] == g->panels[MT_A]);
}

/* These tiles, then: with all of the first in *s. */
static bool make_plain (const mt_cpu_gemm *g, int64_t at, int64_t end, int64_t ns,
                        mt_steps *s, mt_worker *w) {
  const mt_micro *u = g->micro;
  const int64_t next = u->m * (g->whole[MT_A] ? 1 : s->depth) * u->bytes;
  const bool half = 2 * s->columns <= u->n;
  const char *a = s->a;
  char *tile = s->tile;
  for (; at < end; at++, a += next, tile += u->m * u->bytes) {
    s->rows = min_of(u->m, g->n[MT_M] - at * u->m);
    s->a = a;
    s->tile = tile;
    const mt_micro *v = mt_micro_narrow(u, s->rows);
    (g->rows ? v->rows : v->run)[half](s);
    if (mt_worker_ends(w, ns)) return true;
  }
  return false;
}

bool mt_cpu_make_tiles (const mt_cpu_gemm *g, int64_t at, int64_t end, int64_t j,
                        int64_t batch, mt_worker *w) {
  const mt_micro *u = g->micro;
  const mt_cpu_piece p = mt_cpu_tile_at(g, at, j, batch);
  const int64_t ns =
      (g->n[MT_K] + 64) * u->m * u->n / 8 * (g->acc == MT_ACC_WIDE ? 64 : 1);
  mt_steps s = {.depth = g->n[MT_K], .fresh = g->fresh, .columns = p.ny};
  s.b = mt_cpu_panel(&s.pitch, g, MT_B, j, batch);
  if (is_plain(g)) {
    s.a = mt_cpu_panel(&s.a_step, g, MT_A, at, batch);
    s.tile = mt_cpu_place(g, MT_C, p.x, p.y, batch);
    s.tile_step = g->pitch[MT_C];
    return make_plain(g, at, end, ns, &s, w);
  }
  for (int64_t i = at; i < end; i++) {
    make_tile(g, i, j, batch, &s);
    if (mt_worker_ends(w, ns)) return true;
  }
  return false;
}
