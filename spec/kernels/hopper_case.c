/*
** hopper_case.c - random products by TMA and wgmma: their operands, launches and results.
** SPDX-License-Identifier: MIT
**
** Sums are exact in any order: operands are small integers, those of tf32 with bits that
** it does not read, or, of three terms, that its rest has.
*/
#include <math.h>

#include "core/arith.h"
#include "desc/epilogue_desc.h"
#include "gemm/matrix.h"
#include "hopper_case.h"
#include "hopper_tensor.h"
#include "near_end.h"
#include "spec/common/wide.h"
#include "types/dtype.h"

static double draw_number (mt_dtype d, int terms) {
  if (d == MT_i8) return pick(256) - 128;
  if (d == MT_u8) return pick(256);
  if (d == MT_f32 && terms == 3) return (pick(2) ? 1 : -1) * (1 + pick(8) * 0x1p-13);
  if (d == MT_f32) return (pick(5) - 2) * (1 + pick(8) * 0x1p-13);
  return pick(5) - 2;
}

static void fill (const tensor *t, int terms) {
  for (int64_t l = 0; l < (t->stride[2] ? t->extent[2] : 1); l++)
    for (int64_t y = 0; y < t->extent[1]; y++)
      for (int64_t x = 0; x < t->extent[0]; x++)
        put(t, element(t, x, y, l), draw_number(t->dtype, terms));
}
static void fill_all (const hopper_case *c, const tensor x[MT_PARTS]) {
  for (int i = 0; i < (c->beta != 0 || c->side ? 3 : 2); i++)
    fill(&x[i], i == MT_C ? 1 : c->terms);
}

/* ---------------------------------------------------------------- epilogues */

/* Of any strides; or where sums are: a bias of rows or columns, the residual by pairs. */
static void make_side (const hopper_case *c, tensor *t, const tensor *d, int which) {
  static const mt_dtype floats[] = {MT_f32, MT_f16, MT_bf16, MT_f64};
  const bool pairs = !c->direct && which == MT_RESIDUAL;
  const bool turned = c->row->turned;
  const bool mapped = pairs && (c->row->side == MT_SIDE_MAP || turned);
  *t = (tensor){.dtype = floats[mapped ? 1 + pick(2) : pick(pairs ? 3 : 4)]};
  memcpy(t->extent, d->extent, sizeof d->extent);
  if (!(pairs ? make_lines(t, turned ? 0 : 1, false) : make_any(t))) abort();
  for (int k = 0; k < 3; k++)
    if (pick(3) == 0 && !(pairs && (k == 1 || (mapped && k == 0)))) t->stride[k] = 0;
  if (!c->direct && which == MT_BIAS) t->stride[pick(2)] = 0;
  fill(t, 1);
}

/* Whether an epilogue of the row may have C or a residual. */
bool may_read (const mt_hopper_row *row) { return mt_hopper_ends(row, true, row->form); }

/* Bias and residual. The residual is C, now and then. */
static void make_sides (hopper_case *c, tensor side[MT_BESIDES], const tensor *d) {
  memset(side, 0, MT_BESIDES * sizeof *side);
  c->side = c->row->finishes ? side : NULL;
  for (int i = 0; c->side && i < MT_BESIDES; i++) {
    const bool last = i == MT_RESIDUAL,
               must = last && c->row->side != MT_SIDE_NONE && c->beta == 0;
    if (last && !may_read(c->row)) continue;
    if (last && !c->direct && c->beta != 0) continue;
    if (last && pick(3) == 0) {
      side[i] = *d;
      side[i].buffer = NULL; /* it is freed as C */
    } else if (must || pick(3)) make_side(c, &side[i], d, i);
  }
}

static double side_value (const tensor *t, int64_t m, int64_t n, int64_t l) {
  return t->base ? get(t, element(t, m, n, l)) : 0;
}

/* ---------------------------------------------------------------- launches */

static void make_map (mt_tma_map *out, const tensor *t, int inner, uint32_t line,
                      uint32_t rows) {
  const uint64_t size = size_of(t);
  const bool shared = t->stride[2] == 0;
  const emulated_map m = {.base = t->base,
                          .extent = {(uint64_t)t->extent[inner],
                                     (uint64_t)t->extent[1 - inner],
                                     shared ? 1 : (uint64_t)t->extent[2]},
                          .stride = {(uint64_t)t->stride[1 - inner] * size,
                                     (uint64_t)t->stride[2] * size},
                          .box = {(uint32_t)(line / size), rows, 1},
                          .size = (uint32_t)size};
  emulate_map(out, &m);
}

static void make_operand (mt_tma_map *out, const tensor *t, bool mn, int rows) {
  make_map(out, t, mn ? 0 : 1, MT_SLAB,
           (uint32_t)(mn ? MT_SLAB / (int)size_of(t) : rows));
}

/* D or a residual: rows of a warp by 128 bytes, or a sector of 32 columns. */
static void make_result (mt_tma_map *out, const tensor *t, bool turned) {
  if (turned) make_map(out, t, 0, 2 * MT_WARP_ROWS, MT_TURNED_COLUMNS);
  else make_map(out, t, 1, MT_SLAB, MT_WARP_ROWS);
}

/* The last rows by boxes of their own. */
static void make_edges (mt_hopper_launch *l, hopper_case *c, const tensor x[MT_PARTS]) {
  const mt_hopper_row *r = c->row;
  const int rows[2] = {MT_TILE_M, r->n / r->cluster};
  l->edges = c->terms == 1;
  for (int i = 0; i < 2 && l->edges; i++) {
    if (r->mn[i]) continue;
    l->edge[i] = (int32_t)round_up(l->size[i] % rows[i], 8);
    if (l->edge[i] != 0) make_operand(&l->edge_map[i], &x[i], false, l->edge[i]);
  }
}

static void make_launch (mt_hopper_launch *l, hopper_case *c, const tensor x[MT_PARTS]) {
  const mt_hopper_row *r = c->row;
  const int depth = MT_SLAB / (int)mt_dtype_size(r->type[MT_A]);
  *l = (mt_hopper_launch){.slabs = (int32_t)mt_div_up(c->k, depth) * c->terms,
                          .tiles_m = (int32_t)mt_div_up(c->m, MT_TILE_M * r->cluster),
                          .tiles_n = (int32_t)mt_div_up(c->n, r->n),
                          .group = 1 + pick(3),
                          .terms = c->terms,
                          .parts = c->parts,
                          .a_step = x[MT_A].stride[2] != 0,
                          .b_step = x[MT_B].stride[2] != 0,
                          .direct = c->direct,
                          .size = {c->m, c->n},
                          .alpha = c->alpha,
                          .beta = c->beta,
                          .c = x[MT_C].base,
                          .dtype = c->type,
                          .finish.activation = (int32_t)c->activation,
                          .finish.form = mt_form_of(c->activation)};
  for (int i = 0; c->side && i < MT_BESIDES; i++) {
    const tensor *t = &c->side[i];
    mt_finishing_side *s = &l->finish.side[i];
    *s = (mt_finishing_side){.base = t->base, .dtype = t->dtype};
    memcpy(s->stride, t->stride, sizeof s->stride);
  }
  l->tiles = l->tiles_m * l->tiles_n * c->batch;
  for (int i = 0; i < 3; i++) l->stride[i] = x[MT_C].stride[i];
  make_operand(&l->a, &x[MT_A], r->mn[0], MT_TILE_M);
  make_operand(&l->b, &x[MT_B], r->mn[1], r->n / r->cluster);
  make_edges(l, c, x);
  if (!c->direct) make_result(&l->d, &x[MT_C], r->turned);
  if (c->direct == MT_BY_WORDS) l->d_width = width_of(&x[MT_C]);
  if ((r->side == MT_SIDE_MAP || r->turned) && c->beta == 0 && l->finish.side[1].base) {
    make_result(&l->side, &c->side[MT_RESIDUAL], r->turned);
    l->side_step = c->side[MT_RESIDUAL].stride[2] != 0;
  }
  l->streams = c->streams;
  const int each = MT_HOPPER_STREAM_K(r->cluster, r->turned) ? l->tiles_n : 1;
  const int most = l->tiles / each * (c->streams ? l->slabs : 1);
  c->clusters = (c->clusters > most ? most : c->clusters) * each;
  c->run.cluster = (unsigned)(r->cluster * c->parts);
  c->run.blocks = (unsigned)c->clusters * c->run.cluster;
  c->run.threads = MT_HOPPER_THREADS, c->run.edges = l->edges != 0,
  c->run.shared = MT_HOPPER_SHARED(r->n, r->stages, r->cluster, r->turned);
}

/* What tf32 leaves out of an operand, in memory of its own. */
static bool make_rest (mt_tma_map *out, tensor *rest, const tensor *t, int rows) {
  *rest = *t;
  rest->low = rest->high = 0;
  rest->stride[0] = round_up(t->extent[1], ALIGN / 4);
  rest->stride[2] = t->stride[2] == 0 ? 0 : rest->stride[0] * t->extent[0];
  if (!make_buffer(rest)) return false;
  const int64_t batches = t->stride[2] == 0 ? 1 : t->extent[2];
  const mt_rest_launch l = {.from = (const float *)(const void *)t->base,
                            .to = (float *)(void *)rest->base,
                            .columns = (uint32_t)t->extent[1],
                            .rows = (uint32_t)t->extent[0],
                            .all = (uint32_t)(t->extent[0] * batches),
                            .from_pitch = t->stride[0],
                            .from_batch = t->stride[2],
                            .to_pitch = rest->stride[0]};
  emulate_rest(&l);
  make_operand(out, rest, false, rows);
  return true;
}

/* ---------------------------------------------------------------- results */

static double head (double x) {
  float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  bits &= 0xffffe000u;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* An operand's numbers of a batch: all, or what tf32 reads of them. Those of k lie
** together. */
static double *numbers (const tensor *t, int64_t l, bool heads) {
  const int64_t rows = t->extent[0], deep = t->extent[1];
  double *out = malloc((size_t)(rows * deep) * sizeof *out);
  for (int64_t x = 0; out && x < rows; x++)
    for (int64_t k = 0; k < deep; k++) {
      const double v = get(t, element(t, x, k, l));
      out[k * rows + x] = heads ? head(v) : v;
    }
  return out;
}

/* sum[n] += x y[n]. */
WIDE_VECTORS static void add_row (double *restrict sum, double x,
                                  const double *restrict y, int count) {
  for (int n = 0; n < count; n++) sum[n] += x * y[n];
}

/* sums[m][n] += sign a[k][m] b[k][n]. */
static void add_products (double *sums, const hopper_case *c, const double *a,
                          const double *b, double sign) {
  for (size_t m = 0; m < (size_t)c->m; m++)
    for (size_t k = 0; k < (size_t)c->k; k++)
      add_row(sums + m * (size_t)c->n, sign * a[k * (size_t)c->m + m],
              b + k * (size_t)c->n, c->n);
}

/* Of three terms: all but the product of the rests. */
static double *sums_of (const hopper_case *c, const tensor x[MT_PARTS], int64_t l) {
  const size_t count = (size_t)c->m * (size_t)c->n;
  const bool tf32 = c->row->type[MT_A] == MT_f32;
  double *sums = calloc(count, sizeof *sums);
  double *a = numbers(&x[MT_A], l, tf32 && c->terms == 1);
  double *b = numbers(&x[MT_B], l, tf32 && c->terms == 1);
  if (sums == NULL || a == NULL || b == NULL) abort();
  add_products(sums, c, a, b, 1);
  if (c->terms == 3) {
    for (int i = 0; i < c->m * c->k; i++) a[i] -= head(a[i]);
    for (int i = 0; i < c->n * c->k; i++) b[i] -= head(b[i]);
    add_products(sums, c, a, b, -1);
  }
  free(a), free(b);
  return sums;
}

/* What C is to become, in order of batch, m, n. */
static double *expect (const hopper_case *c, const tensor x[MT_PARTS]) {
  const size_t count = (size_t)c->m * (size_t)c->n;
  double *out = malloc(count * (size_t)c->batch * sizeof *out), *to = out;
  if (out == NULL) abort();
  for (int l = 0; l < c->batch; l++) {
    double *sums = sums_of(c, x, l);
    for (int m = 0; m < c->m; m++)
      for (int n = 0; n < c->n; n++) {
        char held[8];
        double v = c->alpha * sums[(size_t)m * (size_t)c->n + (size_t)n];
        if (c->beta != 0) v += c->beta * get(&x[MT_C], element(&x[MT_C], m, n, l));
        if (c->side)
          v = mt_finish_sum(c->activation, false, v, side_value(&c->side[0], m, n, l),
                            side_value(&c->side[1], m, n, l));
        put(&x[MT_C], held, v);
        *to++ = get(&x[MT_C], held);
      }
    free(sums);
  }
  return out;
}

static bool is_right (hopper_case *c, const tensor *d, const double *want) {
  for (int l = 0; l < c->batch; l++)
    for (int m = 0; m < c->m; m++)
      for (int n = 0; n < c->n; n++, want++) {
        const double got = get(d, element(d, m, n, l));
        if (mt_near_end(c->activation, d->dtype, got, *want)) continue;
        if (c->alpha == NO_FLOAT && mt_near_twice(d->dtype, got, *want)) continue;
        snprintf(c->run.report, sizeof c->run.report, "C(%d,%d,%d) is %g, not %g", m, n,
                 l, got, *want);
        return false;
      }
  return true;
}

/* Nothing but C was written. */
static bool is_untouched (hopper_case *c, const tensor *d) {
  for (int l = 0; l < c->batch; l++)
    for (int m = 0; m < c->m; m++)
      for (int n = 0; n < c->n; n++) memset(element(d, m, n, l), POISON, size_of(d));
  const char *end = d->base + (d->high + 1) * (int64_t)size_of(d) + MARGIN;
  for (const char *p = d->buffer; p < end; p++)
    if (*p != (char)POISON) {
      snprintf(c->run.report, sizeof c->run.report, "memory beside C was written");
      return false;
    }
  return true;
}

/* ---------------------------------------------------------------- a case */

static bool make_tensors (tensor x[MT_PARTS], const hopper_case *c) {
  const mt_hopper_row *r = c->row;
  memset(x, 0, MT_PARTS * sizeof *x);
  x[MT_A] = (tensor){.dtype = r->type[0], .extent = {c->m, c->k, c->batch}};
  x[MT_B] = (tensor){.dtype = r->type[1], .extent = {c->n, c->k, c->batch}};
  x[MT_C] = (tensor){.dtype = c->type, .extent = {c->m, c->n, c->batch}};
  for (int i = 0; i < 2; i++)
    if (!make_lines(&x[i], r->mn[i] ? 0 : 1, pick(3) == 0)) return false;
  return c->direct == MT_BY_WORDS ? make_rows(&x[MT_C]) :
         c->direct                ? make_any(&x[MT_C]) :
                                    make_lines(&x[MT_C], r->turned ? 0 : 1, false);
}

static void free_tensors (tensor *x, int n) {
  for (int i = 0; i < n; i++) free(x[i].buffer);
}

/* The launch, with memory for stream-K, whose flags are down before and after. */
static bool run_launch (hopper_case *c, mt_hopper_launch l, run_kernel *run,
                        void *kernel) {
  const size_t sums = MT_TILE_M * (size_t)c->row->n * sizeof(float);
  l.work = calloc(1, MT_HOPPER_FLAGS + c->run.blocks * sums);
  if (l.work == NULL) abort();
  bool good = run(kernel, &l, &c->run);
  for (int i = 0; good && i < MT_HOPPER_FLAGS; i++)
    if (l.work[i] != 0) {
      snprintf(c->run.report, sizeof c->run.report, "a flag that nobody put down");
      good = false;
    }
  free(l.work);
  return good;
}

/* The result by the launch. */
static bool is_computed (hopper_case *c, const tensor x[MT_PARTS],
                         const mt_hopper_launch *l, run_kernel *run, void *kernel) {
  double *want = expect(c, x);
  const bool good = run_launch(c, *l, run, kernel) && is_right(c, &x[MT_C], want) &&
                    is_untouched(c, &x[MT_C]);
  free(want);
  return good;
}

bool one_case (hopper_case *c, run_kernel *run, void *kernel) {
  tensor x[MT_PARTS], rest[2] = {{.buffer = NULL}}, side[MT_BESIDES];
  mt_hopper_launch l;
  if (!make_tensors(x, c)) abort();
  make_sides(c, side, &x[MT_C]);
  make_launch(&l, c, x);
  fill_all(c, x);
  if (c->terms == 3)
    if (!make_rest(&l.a_rest, &rest[0], &x[MT_A], MT_TILE_M) ||
        !make_rest(&l.b_rest, &rest[1], &x[MT_B], c->row->n / c->row->cluster))
      abort();
  const bool good = is_computed(c, x, &l, run, kernel);
  free_tensors(x, MT_PARTS), free_tensors(rest, 2), free_tensors(side, MT_BESIDES);
  return good;
}

/* ---------------------------------------------------------------- as the library does */

static void put_part (mt_part *p, const tensor *t) {
  p->dtype = t->dtype;
  mt_digit *digit = p->digit;
  for (int i = 0; i < 3; i++)
    if (t->extent[i] > 1) {
      p->ndigit[i] = 1;
      *digit++ = (mt_digit){.extent = t->extent[i], .stride = t->stride[i]};
    }
  for (int i = 0; i < 2; i++) p->real[i] = t->extent[i];
}

static void describe (mt_gemm_launch *g, const hopper_case *c, const tensor x[MT_PARTS]) {
  memset(g, 0, sizeof *g);
  memcpy(g->desc.size, (int64_t[]){c->m, c->n, c->k, c->batch}, 4 * sizeof(int64_t));
  g->alpha = c->alpha, g->beta = c->beta;
  if (c->row->type[MT_A] == MT_f32)
    g->precision = c->terms == 3 ? MT_PRECISION_3XTF32 : MT_PRECISION_TF32;
  for (int i = 0; i < MT_PARTS; i++)
    put_part(&g->desc.part[i], &x[i]), g->base[i] = x[i].base;
  g->finishes = c->side != NULL, g->activation = c->activation;
  for (int i = 0; c->side && i < MT_BESIDES; i++) {
    mt_part p = {.dtype = MT_f32};
    put_part(&p, &c->side[i]);
    g->beside[i].dtype = p.dtype;
    memcpy(g->beside[i].ndigit, p.ndigit, sizeof p.ndigit);
    memcpy(g->beside[i].digit, p.digit, sizeof p.digit);
    g->beside_base[i] = c->side[i].base;
  }
}

static void encode (mt_tma_map *out, const mt_tma_box *b) {
  emulated_map m = {.base = b->base, .size = (uint32_t)mt_dtype_size(b->dtype)};
  memcpy(m.extent, b->extent, sizeof m.extent);
  memcpy(m.stride, b->stride, sizeof m.stride);
  memcpy(m.box, b->box, sizeof m.box);
  emulate_map(out, &m);
}

/* What tf32 leaves out of operand i, in the buffer. */
static void encode_rest (mt_tma_map *out, mt_hopper *h, int i, tensor *rest) {
  const uint64_t bytes = h->rest_map[i].stride[1] * h->rest_map[i].extent[2];
  rest->buffer = aligned_alloc(64, (size_t)round_up((int64_t)bytes, 64));
  if (rest->buffer == NULL) abort();
  memset(rest->buffer, POISON, bytes);
  h->rest_map[i].base = rest->buffer;
  h->rest[i].from = h->map[i].base;
  h->rest[i].to = (float *)(void *)rest->buffer;
  emulate_rest(&h->rest[i]);
  encode(out, &h->rest_map[i]);
}

static bool run_row (void *row, const mt_hopper_launch *l, emulated_run *r) {
  return emulate_hopper((size_t)(*(const mt_hopper_row **)row - mt_hopper_rows), l, r);
}

static void encode_edges (mt_hopper *h) {
  for (int i = 0; i < 2; i++) {
    const mt_tma_box edge = mt_hopper_edge(h, i);
    if (h->launch.edge[i] != 0) encode(&h->launch.edge_map[i], &edge);
  }
}

bool chosen_case (hopper_case *c, bool *ran) {
  tensor x[MT_PARTS], rest[2] = {{.buffer = NULL}}, side[MT_BESIDES];
  mt_gemm_launch g;
  mt_hopper h;
  char why[160];
  bool good = true;
  if (!make_tensors(x, c)) abort();
  make_sides(c, side, &x[MT_C]);
  describe(&g, c, x);
  *ran = mt_hopper_choose(&h, &g, 16 + 2 * pick(59), why, sizeof why) >= 0;
  for (int i = 0; i < MT_PARTS; i++) *ran = *ran && h.pitch[i] == 0;
  if (*ran) {
    fill_all(c, x);
    encode(&h.launch.a, &h.map[MT_A]), encode(&h.launch.b, &h.map[MT_B]);
    encode_edges(&h);
    if (!h.launch.direct) encode(&h.launch.d, &h.map[MT_C]);
    if (mt_hopper_has_side(&h)) encode(&h.launch.side, &h.side_map);
    if (c->terms == 3) encode_rest(&h.launch.a_rest, &h, MT_A, &rest[0]);
    if (c->terms == 3) encode_rest(&h.launch.b_rest, &h, MT_B, &rest[1]);
    c->run.blocks = h.blocks, c->run.cluster = h.cluster, c->run.shared = h.shared;
    c->run.threads = MT_HOPPER_THREADS, c->run.edges = h.launch.edges != 0;
    c->row = h.row, c->parts = h.launch.parts, c->clusters = (int)(h.blocks / h.cluster);
    good = is_computed(c, x, &h.launch, run_row, &h.row);
  }
  free_tensors(x, MT_PARTS), free_tensors(rest, 2), free_tensors(side, MT_BESIDES);
  return good;
}
