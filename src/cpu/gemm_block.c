/*
** gemm_block.c - the processor's own product: blocks, panels, tiles.
** SPDX-License-Identifier: MIT
**
** A block of ordinates (M, N, K, batch) at a time: its panels of A and B are packed
** through tables of offsets, whatever the layouts; then every tile of its C is a loop
** over a panel of each. Sums that are not at the end of K wait in `tiles`, or in C where
** they are its elements. Layouts, types, alpha and beta are dealt with once per element
** of a panel and of C.
*/
#include "cpu/gemm_block.h"

enum {
  MT_PANELCACHE = 512 << 10, /* bytes of panels of A that a task goes through */
  MT_PACKPIECE = 256 << 10,  /* bytes that a thread packs at a time, at most */
  MT_PACKLEAST = 32 << 10,   /* that are worth its while */
  MT_BLOCKNS = 20000         /* that a small block takes, about */
};
#define MT_FLOPPIECE 2e6 /* operations that are worth a thread's while */

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_of (int64_t a, int64_t b) { return a > b ? a : b; }

/* ---------------------------------------------------------------- work */

/* An mt_work: the panels of A, then those of B, batch by batch. */
static void pack_some (void *arg, int64_t at, int64_t end, mt_worker *w) {
  const mt_cpu_gemm *g = arg;
  int64_t a = g->keep ? 0 : g->panels[0] * g->n[MT_L];
  if (at < a) mt_cpu_pack(g, MT_A, at, min_of(end, a), w);
  if (end > a) mt_cpu_pack(g, MT_B, max_of(at, a) - a, end - a, w);
}

/* An mt_work: groups of tiles; a panel of B stays in the first cache, a group of those of
** A in the second. */
static void multiply_some (void *arg, int64_t at, int64_t end, mt_worker *w) {
  const mt_cpu_gemm *g = arg;
  for (; at < end; at++) {
    int64_t gi = at % g->groups[0], rest = at / g->groups[0];
    int64_t gj = rest % g->groups[1], batch = rest / g->groups[1];
    int64_t i1 = min_of((gi + 1) * g->group[0], g->panels[0]);
    int64_t j1 = min_of((gj + 1) * g->group[1], g->panels[1]);
    for (int64_t j = gj * g->group[1]; j < j1; j++)
      if (mt_cpu_make_tiles(g, gi * g->group[0], i1, j, batch, w)) return;
  }
}

/* ---------------------------------------------------------------- blocks */

/* Of a side with the modes of an operand; what is all read or written where it lies needs
** that of the batch. */
static void set_side (const mt_cpu_gemm *g, const mt_cpu_side *s, int part) {
  const bool there = part == MT_C ? g->straight && g->micro->masks :
                                    g->slices == 1 && g->whole[part] == g->panels[part];
  for (int i = there ? MT_BATCH : MT_X; i < MT_SIDE_MODES; i++) {
    int mode = mt_cpu_mode_of[part][i];
    mt_cpu_offsets(s->table[i], &s->mode[i], g->first[mode], g->n[mode]);
  }
}

static void set_tables (mt_cpu_gemm *g, int part) {
  set_side(g, &g->side[part], part);
  for (int i = 0; part == MT_C && i < MT_BESIDES; i++)
    if (g->has[i]) set_side(g, &g->beside[i], MT_C);
}

/* Products of a block: packing counts for nothing. */
static double block_of (const mt_cpu_gemm *g) {
  double n = 1;
  for (int m = 0; m < MT_GEMM_MODES; m++) n *= (double)g->n[m];
  return n;
}

/* n in parts of at most so many, of about one size. */
static int64_t even (int64_t n, int64_t most) { return mt_div_up(n, mt_div_up(n, most)); }

/* Tasks of whole rows of tiles, and more of them until every thread has some. */
static int64_t choose_groups (mt_cpu_gemm *g, int threads) {
  const mt_micro *u = g->micro;
  const bool little = 2 * block_of(g) <= MT_FLOPPIECE;
  int64_t bytes = u->m * max_of(g->n[MT_K], 1) * u->bytes;
  g->group[0] = g->panels[0];
  if (bytes * g->panels[0] > MT_PANELCACHE)
    g->group[0] = even(g->panels[0], max_of(1, MT_PANELCACHE / bytes));
  g->group[1] = g->panels[1];
  for (;;) {
    for (int i = 0; i < 2; i++)
      g->groups[i] =
          g->panels[i] == g->group[i] ? 1 : mt_div_up(g->panels[i], g->group[i]);
    int64_t tasks = g->groups[0] * g->groups[1] * g->n[MT_L];
    int most = g->group[1] > 2 * g->group[0] || g->group[0] == 1;
    if (threads == 1 || little || tasks >= 8 * threads || g->group[most] == 1)
      return tasks;
    g->group[most] = mt_div_up(g->group[most], 2);
  }
}

/* Panels that a thread packs at a time: as many as there are for each, within reason. */
static int64_t pack_piece (const mt_cpu_gemm *g, int64_t panels, int threads) {
  const int64_t row = g->n[MT_K] * g->micro->bytes;
  const bool a = !g->keep && g->whole[MT_A] < g->panels[MT_A];
  const int64_t least = 1 + MT_PACKLEAST / (row * mt_cpu_width(g, a ? MT_A : MT_B));
  const int64_t most = 1 + MT_PACKPIECE / (row * g->micro->n);
  return max_of(least, min_of(most, mt_div_up(panels, threads)));
}

/* The panels that the block needs and has not. */
static mt_status pack (mt_cpu_gemm *g, mt_pool *pool, mt_err *err) {
  int64_t panels = 0, there = 0;
  for (int i = g->keep ? MT_B : MT_A; i <= MT_B; i++) {
    mt_cpu_set_whole(g, i);
    set_tables(g, i);
    panels += g->panels[i];
    there += g->whole[i];
  }
  if (panels == there) return MT_OK;
  panels *= g->n[MT_L];
  return mt_pool_run(pool, "gemm", panels, pack_piece(g, panels, mt_pool_threads(pool)),
                     pack_some, g, err);
}

static mt_status run_block (mt_cpu_gemm *g, mt_pool *pool, mt_err *err) {
  const mt_micro *u = g->micro;
  const int64_t depth = g->n[MT_K];
  if (depth > 0) MT_TRY(pack(g, pool, err));
  else memset(g->whole, 0, sizeof g->whole);
  if (g->last || (g->straight && g->fresh)) set_tables(g, MT_C);
  int64_t tasks = choose_groups(g, mt_pool_threads(pool));
  double flops = 2.0 * (double)(g->group[0] * u->m * g->group[1] * u->n) * (double)depth;
  g->stint.step = block_of(g);
  MT_TRY(mt_pool_run(pool, "gemm", tasks, 1 + (int64_t)(MT_FLOPPIECE / (flops + 1)),
                     multiply_some, g, err));
  g->stint.done += g->stint.step;
  g->stint.step = 0;
  return mt_stopped_after(&g->spent, MT_BLOCKNS, err, "gemm") ? MT_ESTOPPED : MT_OK;
}

/* All of K for these rows and columns of C. */
static mt_status run_blocks_of_k (mt_cpu_gemm *g, mt_pool *pool, mt_err *err) {
  int64_t k = g->alpha == 0 ? 0 : g->size[MT_K];
  g->first[MT_K] = 0;
  do {
    g->n[MT_K] = min_of(g->most[MT_K], k - g->first[MT_K]);
    g->fresh = g->first[MT_K] == 0;
    g->last = g->first[MT_K] + g->n[MT_K] == k;
    MT_TRY(run_block(g, pool, err));
    g->first[MT_K] += g->n[MT_K];
  } while (!g->last);
  return MT_OK;
}

/* ---------------------------------------------------------------- slices */

/* The product of block s of those of K at hand, where it has its memory. */
static void take_slice (mt_cpu_gemm *v, const mt_cpu_gemm *g, int64_t s) {
  const int64_t first = s * g->most[MT_K];
  memcpy(v, g, sizeof *v);
  v->n[MT_K] = min_of(g->most[MT_K], g->n[MT_K] - first);
  v->first[MT_K] += first;
  for (int i = 0; i < 2; i++) {
    v->side[i].table[MT_Y] += first;
    v->panel[i] += s * g->slice_bytes;
  }
  v->tiles = g->slice + s * g->slice_bytes;
  v->fresh = true;
  v->last = false;
}

/* An mt_work: the sums of blocks of K, each by itself. */
static void slice_some (void *arg, int64_t at, int64_t end, mt_worker *w) {
  mt_cpu_gemm v;
  for (; at < end; at++) {
    take_slice(&v, arg, at);
    for (int i = 0; i < 2; i++) mt_cpu_pack(&v, i, 0, v.panels[i], w);
    for (int64_t j = 0; j < v.panels[1]; j++)
      if (mt_cpu_make_tiles(&v, 0, v.panels[0], j, 0, w)) return;
  }
}

/* An mt_work: tiles of C: their sums along K, block by block in their order. */
static void reduce_some (void *arg, int64_t at, int64_t end, mt_worker *w) {
  const mt_cpu_gemm *g = arg;
  const mt_micro *u = g->micro;
  const int64_t blocks = mt_div_up(g->n[MT_K], g->most[MT_K]);
  for (; at < end; at++) {
    const mt_cpu_piece p = mt_cpu_tile_at(g, at % g->panels[0], at / g->panels[0], 0);
    const int64_t n = mt_micro_narrow(u, p.nx)->m * p.ny, bytes = u->m * u->n * u->sum;
    char *tile = g->tiles + at * bytes;
    const char *part = g->slice + at * bytes;
    for (int64_t s = 0; s < blocks; s++, part += g->slice_bytes) {
      if (s == 0 && g->fresh) memcpy(tile, part, (size_t)(n * u->sum));
      else mt_cpu_combine(g->acc, tile, part, n, 1, 1);
    }
    if (g->last) mt_cpu_put_tile(g, tile, &p);
    if (mt_worker_ends(w, n * blocks / 8)) return;
  }
}

/* All of K, so many blocks at a time. */
static mt_status run_slices (mt_cpu_gemm *g, mt_pool *pool, mt_err *err) {
  const int64_t most = g->slices * g->most[MT_K], tiles = g->panels[0] * g->panels[1];
  for (int64_t k = 0; k < g->size[MT_K]; k += most) {
    g->first[MT_K] = k;
    g->n[MT_K] = min_of(most, g->size[MT_K] - k);
    g->fresh = k == 0;
    g->last = k + g->n[MT_K] == g->size[MT_K];
    for (int part = 0; part < MT_C; part++) mt_cpu_set_whole(g, part);
    for (int part = 0; part < MT_C + g->last; part++) set_tables(g, part);
    const int64_t blocks = mt_div_up(g->n[MT_K], g->most[MT_K]);
    MT_TRY(mt_pool_run(pool, "gemm", blocks, 1, slice_some, g, err));
    MT_TRY(mt_pool_run(pool, "gemm", tiles, 1 + 256 / blocks, reduce_some, g, err));
    g->stint.done += block_of(g);
    if (mt_stopped_after(&g->spent, MT_BLOCKNS, err, "gemm")) return MT_ESTOPPED;
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- all blocks */

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

/* ---------------------------------------------------------------- elements */

/* The largest magnitude among ny rows of panel i from row y on. */
static uint64_t magnitude_of (const mt_cpu_gemm *g, int part, int64_t i, int64_t batch,
                              int64_t y, int64_t ny) {
  _Alignas(MT_PANEL_ALIGN) char raw[MT_PACKROWS * MT_MAXWIDTH * 8];
  const mt_cpu_side *s = &g->side[part];
  int64_t width = mt_cpu_width(g, part);
  mt_cpu_piece p = mt_cpu_piece_of(g, part, i, batch, y, ny);
  if (p.nx == 0) return 0;
  mt_cpu_gather(raw, s, &p, width);
  return mt_cpu_magnitude((mt_dtype)s->part.dtype, raw, ny * width);
}

/* An mt_work: panels of an operand. */
static void measure_some (void *arg, int64_t at, int64_t end, mt_worker *w) {
  mt_cpu_gemm *g = arg;
  int part = g->measuring;
  int64_t n = g->panels[part], ns = 8 * MT_PACKROWS * mt_cpu_width(g, part);
  for (int64_t y = 0; y < g->n[MT_K]; y += MT_PACKROWS)
    for (int64_t i = at; i < end; i++) {
      int64_t ny = min_of(MT_PACKROWS, g->n[MT_K] - y);
      uint64_t v = magnitude_of(g, part, i % n, i / n, y, ny), most = g->most_of;
      while (v > most && !atomic_compare_exchange_weak(&g->most_of, &most, v)) continue;
      if (mt_worker_ends(w, ns)) return;
    }
}

/* *out is multiplied by it. */
static mt_status measure (double *out, mt_cpu_gemm *g, int part, mt_pool *pool,
                          mt_err *err) {
  int x = mt_cpu_mode_of[part][MT_X];
  g->measuring = part;
  g->whole[part] = 0;
  g->most_of = 0;
  for (bool b = first_block(g, MT_L); b; b = next_block(g, MT_L))
    for (bool m = first_block(g, x); m; m = next_block(g, x))
      for (bool k = first_block(g, MT_K); k; k = next_block(g, MT_K)) {
        g->panels[part] = mt_div_up(g->n[x], mt_cpu_width(g, part));
        set_tables(g, part);
        int64_t bytes = g->n[MT_K] * mt_cpu_width(g, part) * g->side[part].elem;
        MT_TRY(mt_pool_run(pool, "gemm", g->panels[part] * g->n[MT_L],
                           1 + MT_PACKPIECE / (bytes + 1), measure_some, g, err));
        if (mt_stopped_after(&g->spent, MT_BLOCKNS, err, "gemm")) return MT_ESTOPPED;
      }
  *out *= (double)g->most_of;
  return MT_OK;
}

static void bind (mt_cpu_gemm *g, const mt_gemm_launch *l) {
  for (int i = 0; i < MT_PARTS; i++) {
    int from = g->turned && i != MT_C ? 1 - i : i;
    g->side[i].base = l->base[from];
    g->side[i].offset = l->offset[from];
  }
  for (int i = 0; i < MT_BESIDES; i++) {
    g->beside[i].base = l->beside_base[i];
    g->beside[i].offset = l->beside_offset[i];
  }
}

static mt_status run (mt_cpu_gemm *g, const mt_gemm_launch *l, mt_pool *pool,
                      mt_err *err) {
  bind(g, l);
  if (g->measured && g->alpha != 0) {
    double reach = (double)g->size[MT_K];
    MT_TRY(measure(&reach, g, MT_A, pool, err));
    MT_TRY(measure(&reach, g, MT_B, pool, err));
    mt_cpu_arrange(g, l, reach, mt_pool_threads(pool));
    bind(g, l);
  }
  const bool sliced = g->slices > 1 && g->alpha != 0;
  for (bool b = first_block(g, MT_L); b; b = next_block(g, MT_L))
    for (bool m = first_block(g, MT_M); m; m = next_block(g, MT_M)) {
      g->panels[0] = mt_div_up(g->n[MT_M], g->micro->m);
      g->keep = false;
      for (bool n = first_block(g, MT_N); n; n = next_block(g, MT_N)) {
        g->panels[1] = mt_div_up(g->n[MT_N], g->micro->n);
        MT_TRY((sliced ? run_slices : run_blocks_of_k)(g, pool, err));
        g->keep = g->size[MT_K] <= g->most[MT_K];
      }
    }
  return MT_OK;
}

mt_status mt_cpu_gemm_run (mt_cpu_gemm *g, const mt_gemm_launch *l, mt_pool *pool,
                           mt_err *err) {
  double all = 1;
  if (g->blas) return mt_blas_run(g->blas, &g->call, l, err);
  for (int m = 0; m < MT_GEMM_MODES; m++) all *= (double)g->size[m];
  mt_stint_begin(&g->stint, "gemm", "products", all, err);
  mt_status s = run(g, l, pool, err);
  mt_stint_end(&g->stint, err);
  return s;
}
