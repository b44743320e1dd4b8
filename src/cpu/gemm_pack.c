/*
** gemm_pack.c - the processor's own product: panels of a block's operands.
** SPDX-License-Identifier: MIT
*/
#include "cpu/gemm_block.h"

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_of (int64_t a, int64_t b) { return a > b ? a : b; }

/* ---------------------------------------------------------------- where */

/* All but the last one are; of that all must be real, unless what it lacks is not
** read. */
void mt_cpu_set_whole (mt_cpu_gemm *g, int part) {
  const int mode = mt_cpu_mode_of[part][MT_X];
  const int64_t width = mt_cpu_width(g, part), last = g->panels[part] - 1;
  const int64_t rest = g->n[mode] - last * width;
  const int64_t real = g->side[part].part.real[0] - g->first[mode];
  const bool any = part == MT_B ? g->rows : g->micro->masks;
  const int64_t most = part == MT_B ? width : mt_micro_narrow(g->micro, rest)->m;
  g->whole[part] = 0;
  if (!g->direct[part] || g->n[MT_K] == 0) return;
  if (real < g->n[mode]) g->whole[part] = max_of(real, 0) / width;
  else g->whole[part] = last + (any || rest == most);
}

static char *packed_at (const mt_cpu_gemm *g, int part, int64_t i, int64_t batch) {
  int64_t bytes = mt_cpu_width(g, part) * g->n[MT_K] * g->micro->bytes;
  return g->panel[part] + (batch * g->panels[part] + i) * bytes;
}

char *mt_cpu_place (const mt_cpu_gemm *g, int part, int64_t x, int64_t y, int64_t batch) {
  const mt_cpu_side *s = &g->side[part];
  const uint8_t *mode = mt_cpu_mode_of[part];
  int64_t at = s->offset + s->table[MT_BATCH][batch];
  if (s->mode[MT_X].n) at += (g->first[mode[MT_X]] + x) * s->mode[MT_X].digit->stride;
  if (s->mode[MT_Y].n) at += (g->first[mode[MT_Y]] + y) * s->mode[MT_Y].digit->stride;
  return s->base + at * s->elem;
}

const char *mt_cpu_panel (int64_t *step, const mt_cpu_gemm *g, int part, int64_t i,
                          int64_t batch) {
  const bool direct = i < g->whole[part];
  const int64_t x = i * mt_cpu_width(g, part);
  const bool rows = part == MT_B && g->rows;
  *step = direct ? g->pitch[part] : rows ? g->n[MT_K] : mt_cpu_width(g, part);
  return direct ? mt_cpu_place(g, part, x, 0, batch) : packed_at(g, part, i, batch);
}

mt_cpu_piece mt_cpu_piece_of (const mt_cpu_gemm *g, int part, int64_t i, int64_t batch,
                              int64_t y, int64_t ny) {
  int mode = mt_cpu_mode_of[part][MT_X];
  int64_t width = mt_cpu_width(g, part), first = g->first[mode] + i * width;
  int64_t nx = min_of(width, g->n[mode] - i * width);
  nx = min_of(nx, g->side[part].part.real[0] - first);
  return (mt_cpu_piece){i * width, max_of(nx, 0), y, ny, batch};
}

/* ---------------------------------------------------------------- packing */

/* Of A that is lines. */
static void copy_lines (const mt_cpu_gemm *g, const mt_cpu_piece *p, char *to) {
  const mt_steps s = {.depth = p->ny,
                      .a = mt_cpu_place(g, MT_A, p->x, p->y, p->batch),
                      .a_step = g->pitch[MT_A],
                      .rows = p->nx,
                      .tile = to};
  g->micro->copy(&s);
}

/* 0 beyond that. */
static void pack_rows (const mt_cpu_gemm *g, int part, int64_t i, int64_t batch,
                       int64_t y, int64_t ny) {
  _Alignas(MT_PANEL_ALIGN) char raw[MT_PACKROWS * MT_MAXWIDTH * 8];
  const mt_cpu_side *s = &g->side[part];
  int64_t width = mt_cpu_width(g, part);
  mt_cpu_piece p = mt_cpu_piece_of(g, part, i, batch, y, ny);
  char *to = packed_at(g, part, i, batch) + y * width * g->micro->bytes;
  if (p.nx == 0) {
    memset(to, 0, (size_t)(ny * width * g->micro->bytes));
    return;
  }
  if (part == MT_A && g->lines && (g->micro->masks || p.nx == width)) {
    copy_lines(g, &p, to);
    return;
  }
  mt_cpu_gather(g->widen[part] ? raw : to, s, &p, width);
  if (g->widen[part]) g->widen[part](to, raw, ny * width);
}

/* Panels of B whose rows are as they are; 0 behind the last. */
static void copy_rows (const mt_cpu_gemm *g, int part, int64_t at, int64_t end,
                       mt_worker *w) {
  const int64_t n = g->panels[part], depth = g->n[MT_K], bytes = depth * g->micro->bytes;
  for (int64_t i = at; i < end; i++) {
    char *to = packed_at(g, part, i % n, i / n);
    mt_cpu_piece p = mt_cpu_piece_of(g, part, i % n, i / n, 0, depth);
    if (i % n < g->whole[part]) continue;
    for (int64_t x = 0; x < g->micro->n; x++, to += bytes, p.x++) {
      const char *from = x < p.nx ? mt_cpu_element(&g->side[part], &p) : NULL;
      if (from == NULL) memset(to, 0, (size_t)bytes);
      else if (g->widen[part]) g->widen[part](to, from, depth);
      else memcpy(to, from, (size_t)bytes);
    }
    if (mt_worker_ends(w, depth)) return;
  }
}

/* Rows of all panels before the next ones: where they are longer than two pages so few
** that all are fetched ahead; where columns lie together, so far. */
static int64_t rows_at_once (const mt_cpu_gemm *g, int part, int64_t panels) {
  enum { FEW = 8, FAR = 4 * MT_PACKROWS, LONG = 2 * 4096 };
  const mt_cpu_mode *x = &g->side[part].mode[MT_X];
  if (g->widen[part]) return MT_PACKROWS;
  if (x->n == 0 || x->digit->stride != 1) return FAR;
  return panels * mt_cpu_width(g, part) * g->micro->bytes >= LONG ? FEW : MT_PACKROWS;
}

static void pack_panels (const mt_cpu_gemm *g, int part, int64_t at, int64_t end,
                         mt_worker *w) {
  const int64_t rows = rows_at_once(g, part, end - at);
  int64_t n = g->panels[part], ns = 4 * rows * mt_cpu_width(g, part);
  for (int64_t y = 0; y < g->n[MT_K]; y += rows)
    for (int64_t i = at; i < end; i++) {
      if (i % n < g->whole[part]) continue;
      pack_rows(g, part, i % n, i / n, y, min_of(rows, g->n[MT_K] - y));
      if (mt_worker_ends(w, ns)) return;
    }
}

void mt_cpu_pack (const mt_cpu_gemm *g, int part, int64_t at, int64_t end, mt_worker *w) {
  (part == MT_B && g->rows ? copy_rows : pack_panels)(g, part, at, end, w);
}
