/*
** gemm.c - the processor's own product: how it is done, and where.
** SPDX-License-Identifier: MIT
**
** Types say what is added up in what, sizes what a block is, and which of the two
** operands gives the rows of its tiles. cpu/gemm_block.c runs it.
*/
#include <stdio.h>

#include "cpu/gemm_block.h"

enum {
  MT_BLOCKSIDE = 1024, /* rows and columns of a block's C */
  MT_EXACTDEPTH = 256  /* 256 products of 8 bits are exact in f32 */
};

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_of (int64_t a, int64_t b) { return a > b ? a : b; }

/* ---------------------------------------------------------------- types */

/* What f32 does not hold exactly. */
static bool needs_f64 (uint32_t d) {
  return d == MT_f64 || (!mt_cpu_is_float(d) && mt_dtype_size((mt_dtype)d) >= 4);
}

static mt_status check_types (const mt_gemm_desc *d, mt_err *err) {
  uint32_t a = d->part[MT_A].dtype, b = d->part[MT_B].dtype, c = d->part[MT_C].dtype;
  if (!mt_cpu_is_float(c) && (mt_cpu_is_float(a) || mt_cpu_is_float(b)))
    return mt_fail(err, MT_EUNSUPPORTED,
                   "gemm: A is %s, B is %s, C is %s: floats are "
                   "not added up as integers\nmake C of f32 or f64",
                   mt_dtype_name((mt_dtype)a), mt_dtype_name((mt_dtype)b),
                   mt_dtype_name((mt_dtype)c));
  if (mt_cpu_narrower(MT_ACC_F64, (mt_dtype)c)) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED, "gemm: C is %s, which has no sums",
                 mt_dtype_name((mt_dtype)c));
}

/* What the magnitudes of the products add up to, at most; 0 of floats. */
static double reach_of (const mt_gemm_desc *d) {
  if (mt_cpu_is_float(d->part[MT_C].dtype)) return 0;
  return (double)d->size[MT_K] * mt_cpu_most((mt_dtype)d->part[MT_A].dtype) *
         mt_cpu_most((mt_dtype)d->part[MT_B].dtype);
}

static mt_acc choose_acc (const mt_gemm_desc *d, double reach) {
  uint32_t c = d->part[MT_C].dtype;
  if (!mt_cpu_is_float(c)) return mt_cpu_exact(reach);
  return needs_f64(d->part[MT_A].dtype) || needs_f64(d->part[MT_B].dtype) || c == MT_f64 ?
             MT_ACC_F64 :
             MT_ACC_F32;
}

static const mt_micro *choose_wide (const mt_gemm_desc *d, int a, int b) {
  return mt_micro_wide(mt_cpu_has_sign((mt_dtype)d->part[a].dtype),
                       mt_cpu_has_sign((mt_dtype)d->part[b].dtype));
}

/* Integers of 8 bits go as floats, which are faster: so many of their products are exact,
** and added up in 32 bits from block to block. */
static const mt_micro *choose_micro (mt_acc acc, const mt_gemm_desc *d) {
  bool small = mt_dtype_size((mt_dtype)d->part[MT_A].dtype) == 1 &&
               mt_dtype_size((mt_dtype)d->part[MT_B].dtype) == 1;
  if (acc == MT_ACC_WIDE) return choose_wide(d, MT_A, MT_B);
  return mt_micro_choose(acc == MT_ACC_U32 && small ? MT_ACC_F32 : acc);
}

/* ---------------------------------------------------------------- operands */

/* Whether the first axis of this mode walks along memory. */
static bool is_unit (const mt_part *p, int mode) {
  const mt_digit *d = p->digit + (mode ? p->ndigit[0] : 0);
  return p->ndigit[mode] > 0 && d->stride == 1 && p->swizzle == 0;
}

/* Whether all of the mode is one run. */
static bool is_run (const mt_part *p, int mode) {
  return is_unit(p, mode) && p->ndigit[mode] == 1;
}

/* What moving an element to a panel costs, in multiply-adds of vectors: by rows of so
** many, by runs along K that are turned, or each by itself. */
static double move_cost (const mt_part *p, double width) {
  return is_unit(p, 0) ? 1 + 16 / width : is_run(p, 1) ? 4 : 6;
}

/* What a step along K takes of so many rows: a few vectors load more often. */
static double rows_cost (const mt_micro *u, int64_t rows) {
  static const double cost[] = {0, 1.4, 2.1, 3};
  const int64_t whole = rows / u->m;
  const double rest = rows % u->m ? cost[mt_micro_narrow(u, rows % u->m)->vectors] : 0;
  return (double)whole * cost[u->vectors] + rest;
}

/* Columns that are multiplied for n. */
static int64_t columns_of (const mt_micro *u, int64_t n) {
  const int64_t rest = n % u->n;
  return n - rest + (rest == 0 ? 0 : 2 * rest <= u->n ? u->n / 2 : u->n);
}

/* What a step along K takes: those of tiles, and what moves. */
static double cost_of (const mt_gemm_desc *d, const mt_micro *u, bool turned) {
  const mt_part *a = &d->part[turned ? MT_B : MT_A], *b = &d->part[turned ? MT_A : MT_B];
  const int64_t m = d->size[turned ? MT_N : MT_M], n = d->size[turned ? MT_M : MT_N];
  const bool rows = u->rows[0] && is_run(b, 1);
  double cost = rows_cost(u, m) * (double)columns_of(u, n);
  cost += (double)m * move_cost(a, u->m);
  cost += (double)n * (rows ? 1 : move_cost(b, u->n));
  if (!is_unit(&d->part[MT_C], turned))
    cost += 2 * (double)m * (double)n / (double)max_of(d->size[MT_K], 1);
  return cost;
}

/* Which inner loop, and whether the vectors are along N. */
static void choose_way (mt_cpu_gemm *g, const mt_gemm_desc *d) {
  const mt_micro *first = g->micro, *thin = mt_micro_thin(first);
  double least = cost_of(d, first, false);
  g->turned = false;
  for (const mt_micro *u = first; u < first + first->vectors + (thin != NULL); u++)
    for (int turned = 0; turned < 2; turned++) {
      const double cost = cost_of(d, u, turned);
      if (cost >= least) continue;
      least = cost;
      g->micro = u;
      g->turned = turned;
    }
}

/* The mode along which rows of a part lie together, if any do. */
static int along_of (const mt_cpu_gemm *g, int part) {
  return part == MT_B && g->rows ? MT_Y : MT_X;
}

/* From one such row to the next. */
static int64_t pitch_of (const mt_cpu_gemm *g, int part) {
  const mt_cpu_mode *y = &g->side[part].mode[1 - along_of(g, part)];
  return y->n ? y->digit->stride : 0;
}

/* Whether rows, a pitch apart, are a run each. */
static bool has_rows (const mt_cpu_gemm *g, int part) {
  const mt_cpu_side *s = &g->side[part];
  const int along = along_of(g, part);
  const mt_cpu_mode *x = &s->mode[along], *y = &s->mode[1 - along];
  return s->part.swizzle == 0 && x->n == 1 && x->digit->stride == 1 && y->n <= 1;
}

/* Whether panels are read where they lie: few tiles read them, or they are small and
** begin where vectors do. */
static bool is_direct (const mt_cpu_gemm *g, int part) {
  enum { SMALL = 128 << 10, FEW = 8 };
  const mt_micro *u = g->micro;
  const int64_t bytes = g->size[part] * g->most[MT_K] * u->bytes;
  const bool aligned = g->pitch[part] * u->bytes % MT_PANEL_ALIGN == 0;
  return has_rows(g, part) && u->rows[0] && !g->widen[part] &&
         (g->size[1 - part] <= FEW * mt_cpu_width(g, 1 - part) ||
          (aligned && bytes <= SMALL));
}

/* What is neither packed nor put: operands, and sums that are C. Rows of B along K are
** copied at most, not turned. */
static void choose_direct (mt_cpu_gemm *g) {
  const mt_part *b = &g->side[MT_B].part;
  g->rows = g->micro->rows[0] && is_run(b, 1) && !is_unit(b, 0);
  for (int i = 0; i < MT_PARTS; i++) g->pitch[i] = pitch_of(g, i);
  for (int i = 0; i < 2; i++) g->direct[i] = is_direct(g, i);
  g->lines = g->micro->copy && !g->widen[MT_A] && has_rows(g, MT_A);
  g->straight = has_rows(g, MT_C) && !g->narrow && g->micro->acc == g->acc &&
                g->acc != MT_ACC_WIDE && g->alpha == 1 && g->beta == 0 && !g->finishes &&
                g->slices == 1;
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

/* Whether an element of C is a sum as it is. */
static bool is_sum (const mt_gemm_desc *d, mt_acc acc) {
  mt_dtype c = (mt_dtype)d->part[MT_C].dtype;
  bool sign = mt_cpu_has_sign((mt_dtype)d->part[MT_A].dtype) ||
              mt_cpu_has_sign((mt_dtype)d->part[MT_B].dtype);
  return mt_cpu_is_native(c, acc) && (mt_cpu_is_float(c) || mt_cpu_has_sign(c) || !sign);
}

/* Bias and residual are operands like C. */
static void make_besides (mt_cpu_gemm *g, const mt_gemm_launch *l) {
  g->finishes = l->finishes != 0;
  g->activation = l->activation;
  for (int i = 0; i < MT_BESIDES; i++) {
    const mt_beside *s = &l->beside[i];
    mt_part p = {.dtype = s->dtype, .swizzle = s->swizzle, .shift = s->shift};
    g->has[i] = mt_has_beside(l, i);
    if (!g->has[i]) continue;
    memcpy(p.ndigit, s->ndigit, sizeof p.ndigit);
    memcpy(p.digit, s->digit, sizeof p.digit);
    make_side(&g->beside[i], &p, g->turned);
    g->widen_beside[i] = mt_cpu_is_native((mt_dtype)s->dtype, g->acc) ?
                             NULL :
                             mt_cpu_widener((mt_dtype)s->dtype, g->acc);
  }
}

static void make_sides (mt_cpu_gemm *g, const mt_gemm_desc *d) {
  for (int i = 0; i < MT_PARTS; i++) {
    mt_acc acc = i == MT_C ? g->acc : g->micro->acc;
    int from = g->turned && i != MT_C ? 1 - i : i;
    mt_dtype t = (mt_dtype)d->part[from].dtype;
    make_side(&g->side[i], &d->part[from], g->turned && i == MT_C);
    g->widen[i] = mt_cpu_is_native(t, acc) ? NULL : mt_cpu_widener(t, acc);
    if (i == MT_C) g->narrow = is_sum(d, acc) ? NULL : mt_cpu_narrower(acc, t);
  }
  memcpy(g->size, d->size, sizeof g->size);
  if (g->turned) {
    g->size[MT_M] = d->size[MT_N];
    g->size[MT_N] = d->size[MT_M];
  }
}

/* ---------------------------------------------------------------- memory */

/* Blocks of n ordinates of about one size, whole panels but for the last. */
static int64_t even (int64_t n, int64_t most, int64_t panel) {
  if (n <= most) return max_of(n, 1);
  int64_t part = mt_div_up(n, mt_div_up(n, most));
  return mt_div_up(part, panel) * panel;
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
  m = mt_div_up(m, u->m) * u->m;
  n = mt_div_up(n, u->n) * u->n;
  g->most[MT_L] = min_of(side * side / (m * n), 2 * side / max_of(m, n));
  g->most[MT_L] = max_of(1, min_of(g->most[MT_L], g->size[MT_L]));
}

/* Where one block of K is too little work for the threads: blocks of K at a time. Their
** sums are added up in their order, so that they are what they would be. */
static void choose_slices (mt_cpu_gemm *g, int threads) {
  enum { EACH = 4, MOST = 8 << 20 };   /* of a thread; bytes of all */
  const double little = 3e6 * threads; /* operations */
  const mt_micro *u = g->micro;
  const int64_t m = mt_div_up(g->size[MT_M], u->m) * u->m, k = g->most[MT_K];
  const int64_t n = mt_div_up(g->size[MT_N], u->n) * u->n;
  const bool whole = g->most[MT_M] >= g->size[MT_M] && g->most[MT_N] >= g->size[MT_N];
  const int64_t blocks = mt_div_up(g->size[MT_K], k);
  g->slices = 1;
  if (threads == 1 || !whole || g->size[MT_L] != 1 || u->acc != g->acc ||
      !mt_cpu_is_float(g->side[MT_C].part.dtype) || blocks < 4 ||
      2.0 * (double)m * (double)n * (double)k > little)
    return;
  g->slices = min_of(min_of(blocks, EACH * threads),
                     MOST / ((m + n) * k * u->bytes + m * n * u->sum));
  if (g->slices > threads) g->slices -= g->slices % threads;
  g->slices = max_of(g->slices, 1);
}

/* Takes `bytes` at `base`, if there is one, aligned; the place behind is returned. */
static size_t take (char **out, char *base, size_t at, int64_t bytes) {
  if (base) *out = base + at;
  return (at + (size_t)bytes + MT_PANEL_ALIGN - 1) & ~(size_t)(MT_PANEL_ALIGN - 1);
}

/* Of a side with the modes of an operand. */
static size_t take_tables (const mt_cpu_gemm *g, mt_cpu_side *s, int part, char *base,
                           size_t at) {
  for (int j = 0; j < MT_SIDE_MODES; j++) {
    char *table = NULL;
    const int mode = mt_cpu_mode_of[part][j];
    const int64_t n = g->most[mode] * (mode == MT_K ? g->slices : 1);
    at = take(&table, base, at, n * (int64_t)sizeof(int64_t));
    s->table[j] = (void *)table;
  }
  return at;
}

/* Gives everything its place behind `base`; base NULL: only counts. */
static size_t lay_out (mt_cpu_gemm *g, char *base) {
  const mt_micro *u = g->micro;
  const int64_t *most = g->most;
  int64_t m = mt_div_up(most[MT_M], u->m) * u->m, n = mt_div_up(most[MT_N], u->n) * u->n;
  size_t at = 0;
  for (int i = 0; i < MT_PARTS; i++) at = take_tables(g, &g->side[i], i, base, at);
  for (int i = 0; i < MT_BESIDES; i++)
    if (g->has[i]) at = take_tables(g, &g->beside[i], MT_C, base, at);
  const size_t first = at;
  at = take(&g->panel[0], base, at, most[MT_L] * m * most[MT_K] * u->bytes);
  at = take(&g->panel[1], base, at, most[MT_L] * n * most[MT_K] * u->bytes);
  if (g->slices > 1) {
    at = take(&g->slice, base, at, m * n * u->sum);
    g->slice_bytes = (int64_t)(at - first);
    at = first + (size_t)g->slices * (at - first);
  }
  if (most[MT_K] < g->size[MT_K])
    at = take(&g->tiles, base, at, most[MT_L] * m * n * u->sum);
  else g->tiles = NULL;
  return at;
}

size_t mt_cpu_arrange (mt_cpu_gemm *g, const mt_gemm_launch *l, double reach,
                       int threads) {
  const mt_gemm_desc *d = &l->desc;
  g->acc = choose_acc(d, reach);
  mt_dtype c = (mt_dtype)d->part[MT_C].dtype;
  if (!mt_cpu_is_float(c))
    g->scale = mt_cpu_scale_of(g->acc, c, l->alpha, l->beta, reach);
  g->micro = choose_micro(g->acc, d);
  choose_way(g, d);
  if (g->acc == MT_ACC_WIDE && g->turned) g->micro = choose_wide(d, MT_B, MT_A);
  make_sides(g, d);
  make_besides(g, l);
  choose_blocks(g, threads);
  choose_slices(g, threads);
  choose_direct(g);
  return lay_out(g, g->base);
}

/* Where the types alone do not make sure that sums of 32 bits are exact, it is decided
** when the product runs: there is room for any. */
static size_t room_of (mt_cpu_gemm *g, const mt_gemm_launch *l, int threads) {
  static const double reaches[] = {0, 0x1p40, 0x1p60}; /* of U32, F64, U64 */
  size_t most = mt_cpu_arrange(g, l, reach_of(&l->desc), threads), bytes;
  g->measured = !mt_cpu_is_float(l->desc.part[MT_C].dtype) && g->acc != MT_ACC_U32;
  for (int i = 0; g->measured && i < 3; i++) {
    bytes = mt_cpu_arrange(g, l, reaches[i], threads);
    most = bytes > most ? bytes : most;
  }
  return most;
}

mt_status mt_cpu_gemm_native (mt_cpu_gemm **out, mt_device *d, const mt_gemm_launch *l,
                              mt_err *err) {
  mt_cpu_gemm g = {0}, *p;
  int threads = mt_pool_threads(d->impl);
  *out = NULL;
  MT_TRY(check_types(&l->desc, err));
  g.bytes = sizeof g + MT_PANEL_ALIGN + room_of(&g, l, threads);
  p = mt_host_alloc(d, g.bytes);
  if (p == NULL)
    return mt_fail(err, MT_ENOMEM, "gemm: no host memory for %zu bytes of panels",
                   g.bytes);
  memset(p, 0, sizeof *p);
  p->bytes = g.bytes;
  p->measured = g.measured;
  p->alpha = l->alpha;
  p->beta = l->beta;
  p->base = (char *)(p + 1);
  p->base += -(uintptr_t)p->base & (MT_PANEL_ALIGN - 1);
  mt_cpu_arrange(p, l, reach_of(&l->desc), threads);
  snprintf(p->name, sizeof p->name, "gemm_%s", p->measured ? "exact" : p->micro->name);
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

mt_status mt_cpu_gemm_new (mt_cpu_gemm **out, mt_device *d, const mt_gemm_launch *l,
                           mt_refusals *why, mt_err *err) {
  mt_blas_call call;
  bool blas;
  *out = NULL;
  MT_TRY(mt_cpu_wants_blas(&blas, &call, d, l, why, err));
  if (blas) return new_blas(out, d, &call, err);
  return mt_cpu_gemm_native(out, d, l, err);
}

void mt_cpu_gemm_free (mt_device *d, mt_cpu_gemm *g) {
  if (g) mt_host_free(d, g, g->bytes);
}

const char *mt_cpu_gemm_name (const mt_cpu_gemm *g) { return g->name; }
