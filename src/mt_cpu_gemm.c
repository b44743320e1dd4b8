/*
** mt_cpu_gemm.c - the processor's own product: blocks, panels, tiles.
** SPDX-License-Identifier: MIT
**
** A block of ordinates (M, N, K, batch) at a time: its panels of A and B are packed
** through tables of offsets, whatever the layouts; then every tile of its C is a loop
** over a panel of each. Sums that are not at the end of K wait in `tiles`. Layouts, types,
** alpha and beta are dealt with once per element of a panel and of C.
*/
#include <stdio.h>

#include "mt_cpu_gemm.h"
#include "mt_cpu_side.h"

enum {
  MT_BLOCKSIDE = 1024,               /* rows and columns of a block's C */
  MT_PANELCACHE = 512 << 10,         /* bytes of panels of A that a task goes through */
  MT_PACKPIECE = 256 << 10,          /* bytes that are worth a thread's while */
  MT_PACKROWS = 32,                  /* rows of a panel at once */
  MT_MAXWIDTH = 32,                  /* elements of a row of a panel, at most */
  MT_EXACTDEPTH = 256                /* 256 products of 8 bits are exact in f32 */
};
#define MT_FLOPPIECE 4e6             /* operations that are worth a thread's while */

struct mt_cpu_gemm {
  size_t bytes;                      /* of the whole allocation */
  char name[24];
  const mt_blas *blas;               /* runs the call, nothing below counts; NULL: none */
  mt_blas_call call;
  const mt_micro *micro;
  mt_acc acc;                        /* of C; that of `micro`, or U32 by sums in f32 */
  bool turned;                       /* the roles of A and B, of M and N, are exchanged */
  mt_cpu_side side[MT_PARTS];
  mt_cpu_convert *widen[MT_PARTS], *narrow;      /* NULL: as they are */
  double alpha, beta;
  int64_t size[MT_PRODUCT_MODES], most[MT_PRODUCT_MODES];    /* of a block at most */
  char *panel[2], *tiles;            /* of a block; tiles NULL: K is one block */
  /* The block at hand. */
  int64_t first[MT_PRODUCT_MODES], n[MT_PRODUCT_MODES];
  int64_t panels[2];                 /* of A and of B, at one index of the batch */
  int64_t group[2], groups[2];       /* panels of a task; tasks along M and N */
  bool fresh, last;                  /* the first, the last block along K */
  bool keep;                         /* the panels of A are there already */
};

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_of (int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t ceil_div (int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* ---------------------------------------------------------------- types */

static bool is_float (uint32_t d) {
  mt_cpu_convert *exact = mt_cpu_widener((mt_dtype)d, MT_ACC_U64);
  return exact == NULL;
}

/* What f32 does not hold exactly. */
static bool needs_f64 (uint32_t d) {
  return d == MT_f64 || (!is_float(d) && mt_dtype_size((mt_dtype)d) >= 4);
}

static mt_status choose_acc (mt_acc *acc, const mt_mma_desc *d, mt_err *err) {
  uint32_t a = d->part[MT_A].dtype, b = d->part[MT_B].dtype, c = d->part[MT_C].dtype;
  if (!is_float(c) && (is_float(a) || is_float(b)))
    return mt_fail(err, MT_EUNSUPPORTED, "gemm: A is %s, B is %s, C is %s: floats are "
                   "not added up as integers\nmake C of f32 or f64",
                   mt_dtype_name((mt_dtype)a), mt_dtype_name((mt_dtype)b),
                   mt_dtype_name((mt_dtype)c));
  if (!is_float(c)) *acc = mt_dtype_size((mt_dtype)c) <= 4 ? MT_ACC_U32 : MT_ACC_U64;
  else *acc = needs_f64(a) || needs_f64(b) || c == MT_f64 ? MT_ACC_F64 : MT_ACC_F32;
  if (mt_cpu_narrower(*acc, (mt_dtype)c)) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED, "gemm: C is %s, which has no sums",
                 mt_dtype_name((mt_dtype)c));
}

/* Integers of 8 bits go as floats, which are faster: so many of their products are exact,
** and added up in 32 bits from block to block. */
static const mt_micro *choose_micro (mt_acc acc, const mt_mma_desc *d) {
  bool small = mt_dtype_size((mt_dtype)d->part[MT_A].dtype) == 1 &&
               mt_dtype_size((mt_dtype)d->part[MT_B].dtype) == 1;
  return mt_micro_choose(acc == MT_ACC_U32 && small ? MT_ACC_F32 : acc);
}

/* ---------------------------------------------------------------- operands */

/* Whether the first axis of this mode of C walks along memory. */
static bool is_unit (const mt_part *c, int mode) {
  const mt_digit *d = c->digit + (mode ? c->ndigit[0] : 0);
  return c->ndigit[mode] > 0 && d->stride == 1;
}

static double padded (int64_t rows, int64_t columns, const mt_micro *m) {
  return (double)ceil_div(rows, m->m) * m->m * (double)ceil_div(columns, m->n) * m->n;
}

/* Rows of a tile are vectors: along M, or along N if there C lies together, unless that
** leaves much of them empty. */
static bool wants_turn (const mt_mma_desc *d, const mt_micro *micro) {
  const mt_part *c = &d->part[MT_C];
  double as_is = padded(d->size[MT_M], d->size[MT_N], micro);
  double turned = padded(d->size[MT_N], d->size[MT_M], micro);
  if (turned < 0.8 * as_is) return true;
  return turned < 1.25 * as_is && is_unit(c, 1) && !is_unit(c, 0);
}

static void make_side (mt_cpu_side *s, const mt_part *p, bool turned) {
  const mt_digit *digit;
  memset(s, 0, sizeof *s);
  s->part = *p;
  s->elem = (int64_t)mt_dtype_size((mt_dtype)p->dtype);
  digit = s->part.digit;
  for (int i = 0; i < MT_SIDE_MODES; i++) {
    int mode = turned && i < MT_BATCH ? 1 - i : i;
    s->mode[mode].digit = digit;
    s->mode[mode].n = p->ndigit[i];
    digit += p->ndigit[i];
  }
}

static void make_sides (mt_cpu_gemm *g, const mt_mma_desc *d) {
  for (int i = 0; i < MT_PARTS; i++) {
    mt_acc acc = i == MT_C ? g->acc : g->micro->acc;
    int from = g->turned && i != MT_C ? 1 - i : i;
    mt_dtype t = (mt_dtype)d->part[from].dtype;
    make_side(&g->side[i], &d->part[from], g->turned && i == MT_C);
    g->widen[i] = mt_cpu_is_native(t, acc) ? NULL : mt_cpu_widener(t, acc);
    if (i == MT_C) g->narrow = mt_cpu_is_native(t, acc) ? NULL : mt_cpu_narrower(acc, t);
  }
  memcpy(g->size, d->size, sizeof g->size);
  if (g->turned) {
    g->size[MT_M] = d->size[MT_N];
    g->size[MT_N] = d->size[MT_M];
  }
}

/* ---------------------------------------------------------------- memory */

/* The product's modes of the modes of an operand. */
static const uint8_t mode_of[MT_PARTS][MT_SIDE_MODES] = {
  {MT_M, MT_K, MT_L}, {MT_N, MT_K, MT_L}, {MT_M, MT_N, MT_L}
};

/* Blocks of n ordinates of about one size, whole panels but for the last. */
static int64_t even (int64_t n, int64_t most, int64_t panel) {
  if (n <= most) return max_of(n, 1);
  int64_t part = ceil_div(n, ceil_div(n, most));
  return ceil_div(part, panel) * panel;
}

static void choose_blocks (mt_cpu_gemm *g, int threads) {
  const int64_t side = threads <= 4 ? MT_BLOCKSIDE : 2 * MT_BLOCKSIDE;
  const mt_micro *u = g->micro;
  int64_t n = min_of(g->size[MT_N], side), m;
  m = even(g->size[MT_M], min_of(4 * side, side * side / max_of(n, 1)), u->m);
  n = even(g->size[MT_N], min_of(4 * side, side * side / m), u->n);
  g->most[MT_M] = m;
  g->most[MT_N] = n;
  g->most[MT_K] = even(g->size[MT_K], g->acc == u->acc ? u->depth : MT_EXACTDEPTH, 1);
  m = ceil_div(m, u->m) * u->m;
  n = ceil_div(n, u->n) * u->n;
  g->most[MT_L] = min_of(side * side / (m * n), 2 * side / max_of(m, n));
  g->most[MT_L] = max_of(1, min_of(g->most[MT_L], g->size[MT_L]));
}

/* Takes `bytes` at `base`, if there is one, aligned; the place behind is returned. */
static size_t take (char **out, char *base, size_t at, int64_t bytes) {
  if (base) *out = base + at;
  return (at + (size_t)bytes + MT_PANEL_ALIGN - 1) & ~(size_t)(MT_PANEL_ALIGN - 1);
}

/* Gives everything its place behind `base`; base NULL: only counts. */
static size_t lay_out (mt_cpu_gemm *g, char *base) {
  const mt_micro *u = g->micro;
  const int64_t *most = g->most;
  int64_t m = ceil_div(most[MT_M], u->m) * u->m, n = ceil_div(most[MT_N], u->n) * u->n;
  size_t at = 0;
  for (int i = 0; i < MT_PARTS; i++)
    for (int j = 0; j < MT_SIDE_MODES; j++) {
      char *table = NULL;
      at = take(&table, base, at, most[mode_of[i][j]] * (int64_t)sizeof(int64_t));
      g->side[i].table[j] = (void *)table;
    }
  at = take(&g->panel[0], base, at, most[MT_L] * m * most[MT_K] * u->bytes);
  at = take(&g->panel[1], base, at, most[MT_L] * n * most[MT_K] * u->bytes);
  if (most[MT_K] < g->size[MT_K])
    at = take(&g->tiles, base, at, most[MT_L] * m * n * u->bytes);
  return at;
}

mt_status mt_cpu_gemm_native (mt_cpu_gemm **out, mt_device *d, const mt_mma_launch *l,
                              mt_err *err) {
  mt_cpu_gemm g = {0}, *p;
  *out = NULL;
  MT_TRY(choose_acc(&g.acc, &l->desc, err));
  g.micro = choose_micro(g.acc, &l->desc);
  g.turned = wants_turn(&l->desc, g.micro);
  memcpy(g.size, l->desc.size, sizeof g.size);
  make_sides(&g, &l->desc);
  choose_blocks(&g, mt_pool_threads(d->impl));
  g.bytes = sizeof g + MT_PANEL_ALIGN + lay_out(&g, NULL);
  p = mt_host_alloc(d, g.bytes);
  if (p == NULL)
    return mt_fail(err, MT_ENOMEM, "gemm: no host memory for %zu bytes of panels",
                   g.bytes);
  *p = g;
  make_sides(p, &l->desc);
  p->alpha = l->alpha;
  p->beta = l->beta;
  snprintf(p->name, sizeof p->name, "gemm_%s", g.micro->name);
  char *base = (char *)(p + 1);
  lay_out(p, base + (-(uintptr_t)base & (MT_PANEL_ALIGN - 1)));
  *out = p;
  return MT_OK;
}

static mt_status new_blas (mt_cpu_gemm **out, mt_device *d, const mt_blas_call *call,
                           mt_err *err) {
  mt_cpu_gemm *p = mt_host_alloc(d, sizeof *p);
  if (p == NULL) return mt_fail(err, MT_ENOMEM, "gemm: no host memory for a product");
  memset(p, 0, sizeof *p);
  p->bytes = sizeof *p;
  p->blas = d->blas;
  p->call = *call;
  snprintf(p->name, sizeof p->name, "gemm_blas");
  *out = p;
  return MT_OK;
}

mt_status mt_cpu_gemm_new (mt_cpu_gemm **out, mt_device *d, const mt_mma_launch *l,
                           mt_why *why, mt_err *err) {
  mt_blas_call call;
  *out = NULL;
  if (mt_cpu_wants_blas(&call, d, l, why)) return new_blas(out, d, &call, err);
  return mt_cpu_gemm_native(out, d, l, err);
}

void mt_cpu_gemm_free (mt_device *d, mt_cpu_gemm *g) {
  if (g) mt_host_free(d, g, g->bytes);
}

const char *mt_cpu_gemm_name (const mt_cpu_gemm *g) { return g->name; }

/* ---------------------------------------------------------------- panels */

static int64_t panel_width (const mt_cpu_gemm *g, int part) {
  return part == MT_A ? g->micro->m : g->micro->n;
}

static char *panel_at (const mt_cpu_gemm *g, int part, int64_t i, int64_t batch) {
  int64_t bytes = panel_width(g, part) * g->n[MT_K] * g->micro->bytes;
  return g->panel[part] + (batch * g->panels[part] + i) * bytes;
}

/* ny rows of panel i from row y on. */
static void pack_rows (const mt_cpu_gemm *g, int part, int64_t i, int64_t batch,
                       int64_t y, int64_t ny) {
  _Alignas(MT_PANEL_ALIGN) char raw[MT_PACKROWS * MT_MAXWIDTH * 8];
  const mt_cpu_side *s = &g->side[part];
  int64_t width = panel_width(g, part), nx = g->n[mode_of[part][MT_X]] - i * width;
  mt_cpu_piece p = {i * width, min_of(nx, width), y, ny, batch};
  char *to = panel_at(g, part, i, batch) + y * width * g->micro->bytes;
  mt_cpu_gather(g->widen[part] ? raw : to, s, &p, width);
  if (g->widen[part]) g->widen[part](to, raw, ny * width);
}

/* A few rows of all panels, then the next: their pages stay in the processor's tables. */
static void pack_panels (const mt_cpu_gemm *g, int part, int64_t at, int64_t end) {
  int64_t n = g->panels[part];
  for (int64_t y = 0; y < g->n[MT_K]; y += MT_PACKROWS)
    for (int64_t i = at; i < end; i++)
      pack_rows(g, part, i % n, i / n, y, min_of(MT_PACKROWS, g->n[MT_K] - y));
}

/* An mt_work: the panels of A, then those of B, batch by batch. */
static void pack_some (void *arg, int64_t at, int64_t end) {
  const mt_cpu_gemm *g = arg;
  int64_t a = g->keep ? 0 : g->panels[0] * g->n[MT_L];
  if (at < a) pack_panels(g, MT_A, at, min_of(end, a));
  if (end > a) pack_panels(g, MT_B, max_of(at, a) - a, end - a);
}

/* ---------------------------------------------------------------- tiles */

/* Where a tile of C is, and how much of it is real. */
static mt_cpu_piece place_of (const mt_cpu_gemm *g, int64_t i, int64_t j, int64_t batch) {
  int64_t m = g->micro->m, n = g->micro->n;
  mt_cpu_piece p = {i * m, min_of(m, g->n[MT_M] - i * m), j * n,
                    min_of(n, g->n[MT_N] - j * n), batch};
  return p;
}

/* C = alpha tile + beta C. The tile is used up. */
static void put_tile (const mt_cpu_gemm *g, char *tile, const mt_cpu_piece *p) {
  _Alignas(MT_PANEL_ALIGN) char raw[MT_MAXTILE], old[MT_MAXTILE];
  const mt_cpu_side *c = &g->side[MT_C];
  int64_t m = g->micro->m, n = m * p->ny;
  char *before = NULL;
  if (g->beta != 0) {
    mt_cpu_gather(raw, c, p, m);
    if (g->widen[MT_C]) g->widen[MT_C](old, raw, n);
    before = g->widen[MT_C] ? old : raw;
  }
  if (g->alpha != 1 || before)
    mt_cpu_combine(g->acc, tile, before, n, g->alpha, g->beta);
  if (g->narrow) g->narrow(raw, tile, n);
  mt_cpu_scatter(c, p, g->narrow ? raw : tile, m);
}

static void make_tile (const mt_cpu_gemm *g, int64_t i, int64_t j, int64_t batch) {
  _Alignas(MT_PANEL_ALIGN) char here[MT_MAXTILE], part[MT_MAXTILE];
  const mt_micro *u = g->micro;
  char *tile = here;
  if (g->tiles) {
    int64_t at = (batch * g->panels[1] + j) * g->panels[0] + i;
    tile = g->tiles + at * u->m * u->n * u->bytes;
  }
  bool same = u->acc == g->acc;
  u->run(g->n[MT_K], panel_at(g, MT_A, i, batch), panel_at(g, MT_B, j, batch),
         same ? tile : part, g->fresh || !same);
  if (!same) mt_cpu_count(tile, part, u->m * u->n, g->fresh);
  if (!g->last) return;
  mt_cpu_piece p = place_of(g, i, j, batch);
  put_tile(g, tile, &p);
}

/* An mt_work: groups of tiles; a panel of B stays in the first cache, a group of those of
** A in the second. */
static void multiply_some (void *arg, int64_t at, int64_t end) {
  const mt_cpu_gemm *g = arg;
  for (; at < end; at++) {
    int64_t gi = at % g->groups[0], rest = at / g->groups[0];
    int64_t gj = rest % g->groups[1], batch = rest / g->groups[1];
    int64_t i1 = min_of((gi + 1) * g->group[0], g->panels[0]);
    int64_t j1 = min_of((gj + 1) * g->group[1], g->panels[1]);
    for (int64_t j = gj * g->group[1]; j < j1; j++)
      for (int64_t i = gi * g->group[0]; i < i1; i++) make_tile(g, i, j, batch);
  }
}

/* ---------------------------------------------------------------- blocks */

static void set_tables (mt_cpu_gemm *g, int part) {
  for (int i = 0; i < MT_SIDE_MODES; i++) {
    int mode = mode_of[part][i];
    mt_cpu_offsets(g->side[part].table[i], &g->side[part].mode[i], g->first[mode],
                   g->n[mode]);
  }
}

/* Tasks of whole rows of tiles, and more of them until every thread has some. */
static int64_t choose_groups (mt_cpu_gemm *g, int threads) {
  const mt_micro *u = g->micro;
  int64_t bytes = u->m * max_of(g->n[MT_K], 1) * u->bytes;
  g->group[0] = min_of(g->panels[0], max_of(1, MT_PANELCACHE / bytes));
  g->group[1] = g->panels[1];
  for (;;) {
    for (int i = 0; i < 2; i++) g->groups[i] = ceil_div(g->panels[i], g->group[i]);
    int64_t tasks = g->groups[0] * g->groups[1] * g->n[MT_L];
    int most = g->group[1] > 2 * g->group[0] || g->group[0] == 1;
    if (threads == 1 || tasks >= 4 * threads || g->group[most] == 1) return tasks;
    g->group[most] = ceil_div(g->group[most], 2);
  }
}

static void run_block (mt_cpu_gemm *g, mt_pool *pool) {
  const mt_micro *u = g->micro;
  int64_t depth = g->n[MT_K], total = g->panels[1] + (g->keep ? 0 : g->panels[0]);
  if (depth > 0) {
    if (!g->keep) set_tables(g, MT_A);
    set_tables(g, MT_B);
    mt_pool_run(pool, total * g->n[MT_L], 1 + MT_PACKPIECE / (depth * u->n * u->bytes),
                pack_some, g);
  }
  if (g->last) set_tables(g, MT_C);
  int64_t tasks = choose_groups(g, mt_pool_threads(pool));
  double flops = 2.0 * (double)(g->group[0] * u->m * g->group[1] * u->n) * (double)depth;
  mt_pool_run(pool, tasks, 1 + (int64_t)(MT_FLOPPIECE / (flops + 1)), multiply_some, g);
}

/* All of K for these rows and columns of C. */
static void run_blocks_of_k (mt_cpu_gemm *g, mt_pool *pool) {
  int64_t k = g->alpha == 0 ? 0 : g->size[MT_K];
  g->first[MT_K] = 0;
  do {
    g->n[MT_K] = min_of(g->most[MT_K], k - g->first[MT_K]);
    g->fresh = g->first[MT_K] == 0;
    g->last = g->first[MT_K] + g->n[MT_K] == k;
    run_block(g, pool);
    g->first[MT_K] += g->n[MT_K];
  } while (!g->last);
}

/* Blocks of `mode` one after the other; false behind the last. */
static bool next_block (mt_cpu_gemm *g, int mode) {
  g->first[mode] += g->n[mode];
  g->n[mode] = min_of(g->most[mode], g->size[mode] - g->first[mode]);
  return g->n[mode] > 0;
}

static bool first_block (mt_cpu_gemm *g, int mode) {
  g->first[mode] = g->n[mode] = 0;
  return next_block(g, mode);
}

static void bind (mt_cpu_gemm *g, const mt_mma_launch *l) {
  for (int i = 0; i < MT_PARTS; i++) {
    int from = g->turned && i != MT_C ? 1 - i : i;
    g->side[i].base = l->base[from];
    g->side[i].offset = l->offset[from];
  }
}

mt_status mt_cpu_gemm_run (mt_cpu_gemm *g, const mt_mma_launch *l, mt_pool *pool,
                           mt_err *err) {
  (void)err;
  if (g->blas) {
    mt_blas_run(g->blas, &g->call, l);
    return MT_OK;
  }
  bind(g, l);
  for (bool b = first_block(g, MT_L); b; b = next_block(g, MT_L))
    for (bool m = first_block(g, MT_M); m; m = next_block(g, MT_M)) {
      g->panels[0] = ceil_div(g->n[MT_M], g->micro->m);
      g->keep = false;
      for (bool n = first_block(g, MT_N); n; n = next_block(g, MT_N)) {
        g->panels[1] = ceil_div(g->n[MT_N], g->micro->n);
        run_blocks_of_k(g, pool);
        g->keep = g->size[MT_K] <= g->most[MT_K];
      }
    }
  return MT_OK;
}
