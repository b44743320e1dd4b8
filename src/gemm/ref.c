/*
** ref.c - the reference executor of products: as the threads of a block would.
** SPDX-License-Identifier: MIT
**
** A group is the threads of one atom: thread i of group g has the number thr_id(i) +
** complement(thr_id)(g), as the instruction numbers them. A cell is an element of an
** operand of an atom; where several threads have it they have it at the same place.
*/
#include <math.h>

#include "moontile/algebra.h"
#include "desc/epilogue_desc.h"
#include "types/convert.h"
#include "gemm/gemm.h"
#include "atom/mma_number.h"
#include "copy/copy.h"
#include "host/pool.h"

static const char *const part_name[] = {"A", "B", "C"};
static const uint8_t mode_of[MT_PARTS][2] = {{MT_M, MT_K}, {MT_N, MT_K}, {MT_M, MT_N}};

#define MT_OUTSIDE INT64_MIN /* the offset of an ordinate that is not real */

/* The ordinates of a cell in a tile, without those of its inner position. */
typedef struct mt_cell {
  uint32_t at[2];
} mt_cell;

/* What a worker has of its own: numbers of one atom, and accumulators of the block. */
typedef struct mt_hand {
  double *a, *b, *c; /* c: group after group */
  /* offsets of the ordinates of a tile: those of ordinate o of an operand */
  int64_t *offset[MT_PARTS][2];
} mt_hand;

struct mt_gemm_ref {
  mt_mma_op op;
  int groups, workers;
  uint32_t cells[MT_PARTS]; /* of an atom */
  mt_cell *cell[MT_PARTS];  /* group after group */
  uint32_t *inner[3];       /* ordinates of the inner positions */
  /* of each group: its number among those that split K, the group with the next one */
  uint16_t *turn, *next;
  mt_hand *hand;
};

/* ---------------------------------------------------------------- memory */

/* Takes bytes from one block; with base NULL it only counts. */
typedef struct mt_taker {
  char *base;
  size_t used;
} mt_taker;

static void *take (mt_taker *t, size_t bytes) {
  void *p = t->base ? t->base + t->used : NULL;
  t->used += (bytes + 63) / 64 * 64;
  return p;
}

static uint32_t cells_of (const mt_gemm_desc *d, int part) {
  return d->atom_shape[mode_of[part][0]] * d->atom_shape[mode_of[part][1]];
}

/* A cell's ordinate is `tile` at most, which is outside, an inner one is less. */
static size_t table_size (const mt_gemm_desc *d, int mode) {
  return 2 * (size_t)d->tile[mode] * sizeof(int64_t);
}

static void take_hand (mt_taker *t, mt_hand *h, const mt_gemm_desc *d, size_t groups) {
  mt_hand own;
  if (h == NULL) h = &own;
  h->a = take(t, cells_of(d, MT_A) * sizeof(double));
  h->b = take(t, cells_of(d, MT_B) * sizeof(double));
  h->c = take(t, groups * cells_of(d, MT_C) * sizeof(double));
  for (int part = 0; part < MT_PARTS; part++)
    for (int o = 0; o < 2; o++)
      h->offset[part][o] = take(t, table_size(d, mode_of[part][o]));
}

/* The parts of a reference in its block; what `r` points to is left as it is while
** counting. */
static void take_all (mt_taker *t, mt_gemm_ref *r, const mt_gemm_desc *d, size_t groups,
                      int workers) {
  mt_gemm_ref own;
  take(t, sizeof *r);
  if (r == NULL) r = &own;
  r->groups = (int)groups;
  r->workers = workers;
  for (int part = 0; part < MT_PARTS; part++) {
    r->cells[part] = cells_of(d, part);
    r->cell[part] = take(t, groups * r->cells[part] * sizeof(mt_cell));
  }
  for (int i = 0; i < 3; i++) r->inner[i] = take(t, d->inner[i] * sizeof(uint32_t));
  r->turn = take(t, groups * sizeof *r->turn);
  r->next = take(t, groups * sizeof *r->next);
  r->hand = take(t, (size_t)workers * sizeof *r->hand);
  for (int i = 0; i < workers; i++) take_hand(t, t->base ? &r->hand[i] : NULL, d, groups);
}

size_t mt_mma_ref_size (const mt_gemm_desc *d, const mt_mma_atom *own, int workers) {
  mt_mma_atom atom;
  mt_taker t = {NULL, 0};
  if (!mt_gemm_atom(&atom, d, own)) return 0;
  take_all(&t, NULL, d, d->threads / (size_t)mt_size(atom.thr_id.node) + 1, workers);
  return t.used;
}

/* ---------------------------------------------------------------- tables */

static uint32_t divide (const mt_step *a, uint32_t n) {
  return a->extent == 1 ? n : (uint32_t)(((uint64_t)n * a->mul >> 32) >> a->shift);
}

/* What index i of n axes adds. */
static mt_cell walk (const mt_step *a, uint32_t n, uint32_t i) {
  mt_cell at = {{0, 0}};
  for (const mt_step *end = a + n; a < end; a++) {
    uint32_t q = a + 1 < end ? divide(a, i) : 0, digit = i - q * a->extent;
    at.at[0] += digit * a->step[0];
    at.at[1] += digit * a->step[1];
    i = q;
  }
  return at;
}

/* The number of thread 0 of each group; and of the group of each thread. */
static mt_status find_groups (uint16_t *first, uint16_t *group, const mt_gemm_ref *r,
                              const mt_gemm_desc *d, const mt_node *thr_id, mt_err *err) {
  mt_layout rest;
  bool fills = false;
  int64_t n = mt_size(thr_id), t, at;
  mt_status s = mt_complement(&rest, &fills, thr_id, d->threads, err);
  if (s != MT_OK || !fills || mt_size(rest.node) * n != d->threads)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "gemm: %s has the threads %N: a block of %d "
                    "is not made of such",
                    r->op.name, thr_id, (int)d->threads);
  for (int g = 0; g < r->groups; g++) {
    MT_TRY(mt_at(&at, rest.node, g, err));
    first[g] = (uint16_t)at;
    for (int64_t i = 0; i < n; i++) {
      MT_TRY(mt_at(&t, thr_id, i, err));
      group[first[g] + t] = (uint16_t)g;
    }
  }
  return MT_OK;
}

/* Whether every thread of an atom has all of an operand. */
static bool is_shared (const mt_node *thr) {
  for (const mt_node *p = thr; p < mt_next(thr); p++)
    if (p->tag == MT_LEAF && p->shape > 1 && p->stride != 0) return false;
  return true;
}

/* The cells of one operand, through the (thread,value) layout of the atom. */
static mt_status fill_cells (mt_gemm_ref *r, const mt_gemm_desc *d, int part,
                             const mt_node *tv, const mt_node *thr_id,
                             const uint16_t *first, mt_err *err) {
  const mt_part *p = &d->part[part];
  const uint32_t *tile = d->tile;
  int64_t all = mt_size(mt_mode(tv, 0)), at, t;
  int64_t n = is_shared(mt_mode(tv, 0)) ? 1 : all;
  for (int64_t v = 0; v < p->values; v++)
    for (int64_t i = 0; i < n; i++) {
      MT_TRY(mt_at(&at, tv, i + v * all, err));
      MT_TRY(mt_at(&t, thr_id, i, err));
      MT_CHECK(at >= 0 && at < r->cells[part], err, "gemm: a value outside of its atom");
      mt_cell own = walk(p->axis + p->nthr, p->nval, (uint32_t)v);
      for (int g = 0; g < r->groups; g++) {
        mt_cell c = walk(p->axis, p->nthr, (uint32_t)(first[g] + t));
        for (int o = 0; o < 2; o++) {
          uint32_t most = tile[mode_of[part][o]];
          c.at[o] += own.at[o];
          if (c.at[o] > most) c.at[o] = most; /* of an idle thread */
        }
        r->cell[part][(size_t)g * r->cells[part] + (size_t)at] = c;
      }
    }
  return MT_OK;
}

static void fill_turns (mt_gemm_ref *r, const mt_gemm_desc *d, const uint16_t *first,
                        const uint16_t *group) {
  for (int g = 0; g < r->groups; g++) {
    mt_cell k = walk(d->kaxis, d->nkthr, (uint32_t)first[g]), add = {{0, 0}};
    uint32_t next = d->kthreads > 1 ? (k.at[0] + 1) % d->kthreads : 0;
    add = walk(d->kaxis + d->nkthr, d->nkadd, next);
    r->turn[g] = (uint16_t)k.at[0];
    r->next[g] = group[(uint32_t)first[g] - k.at[1] + add.at[0]];
  }
}

mt_status mt_mma_ref_make (mt_gemm_ref *r, const mt_gemm_desc *d, const mt_mma_atom *own,
                           int workers, mt_err *err) {
  mt_mma_atom atom;
  mt_taker t = {(char *)r, 0};
  uint16_t first[MT_MAXTHREADS], group[MT_MAXTHREADS];
  MT_CHECK(d->algo == MT_ALGO_DESCRIBED && d->threads <= MT_MAXTHREADS &&
               mt_gemm_atom(&atom, d, own),
           err, "gemm: no atom, or no partition");
  MT_TRY(mt_mma_op_check(&atom.op, err));
  const mt_node *tv[] = {atom.a.node, atom.b.node, atom.c.node}, *thr = atom.thr_id.node;
  take_all(&t, r, d, d->threads / (size_t)mt_size(thr), workers);
  r->op = atom.op;
  MT_TRY(find_groups(first, group, r, d, thr, err));
  for (int part = 0; part < MT_PARTS; part++)
    MT_TRY(fill_cells(r, d, part, tv[part], thr, first, err));
  const mt_step *a = d->inner_axis;
  for (int i = 0; i < 3; a += d->ninner[i++])
    for (uint32_t j = 0; j < d->inner[i]; j++)
      r->inner[i][j] = walk(a, d->ninner[i], j).at[0];
  fill_turns(r, d, first, group);
  return MT_OK;
}

/* ---------------------------------------------------------------- a unit of work */

/* A worker at its work. */
typedef struct mt_task {
  mt_gemm_ref *r;
  const mt_gemm_launch *l;
  const size_t *bytes; /* NULL: unverified */
  mt_hand *h;
  int64_t unit;
  uint32_t inner[3];       /* ordinates of the inner position */
  int64_t base[MT_PARTS];  /* offsets with the batch's */
  int64_t first[2], batch; /* ordinates of the tile of C */
  mt_err *err;
  mt_worker *worker; /* NULL: err is asked whether to end */
  int64_t spent;
} mt_task;

static int64_t digits (const mt_digit *g, uint32_t n, int64_t x) {
  int64_t o = 0;
  for (const mt_digit *end = g + n; g < end; g++) {
    int64_t q = g + 1 == end ? 0 :
                g->mul == 0  ? x / g->extent :
                               (int64_t)(((uint64_t)x * g->mul >> 32) >> g->shift);
    o += (x - q * g->extent) * g->stride;
    x = q;
  }
  return o;
}

/* Offsets of the ordinates of tile number `tile` of ordinate o of an operand. */
static void fill_offsets (mt_task *w, int part, int o, int64_t tile) {
  const mt_gemm_desc *d = &w->l->desc;
  const mt_part *p = &d->part[part];
  const mt_digit *g = p->digit + (o ? p->ndigit[0] : 0);
  int mode = mode_of[part][o];
  int64_t n = d->tile[mode], first = tile * n, *out = w->h->offset[part][o];
  for (int64_t i = 0; i < 2 * n; i++)
    out[i] =
        i < n && first + i < p->real[o] ? digits(g, p->ndigit[o], first + i) : MT_OUTSIDE;
}

static int64_t swizzle (const mt_part *p, int64_t o) {
  int64_t bits = o & (int64_t)p->swizzle;
  return o ^ (p->shift >= 0 ? bits >> p->shift : bits << -p->shift);
}

/* The element of a cell; -1: it is not real. */
static int64_t element (const mt_task *w, int part, uint32_t x, uint32_t y) {
  int64_t dx = w->h->offset[part][0][x], dy = w->h->offset[part][1][y];
  if (dx == MT_OUTSIDE || dy == MT_OUTSIDE) return MT_OUTSIDE;
  return swizzle(&w->l->desc.part[part], w->base[part] + dx + dy);
}

static char *address (const mt_task *w, int part, int64_t e) {
  size_t size = mt_dtype_size((mt_dtype)w->l->desc.part[part].dtype);
  return (char *)w->l->base[part] + e * (int64_t)size;
}

static mt_status verify (const mt_task *w, int part, int g, int64_t e) {
  int64_t size = (int64_t)mt_dtype_size((mt_dtype)w->l->desc.part[part].dtype);
  int64_t have = (int64_t)w->bytes[part] / size;
  if (e < 0 || e >= have)
    return mt_fail(w->err, MT_ERANGE,
                   "%s: unit %lld, atom %d reaches element %lld of a "
                   "buffer of %lld",
                   part_name[part], (long long)w->unit, g, (long long)e, (long long)have);
  if ((uintptr_t)address(w, part, e) % (size_t)size != 0)
    return mt_fail(w->err, MT_EALIGN,
                   "%s: unit %lld, atom %d: element %lld is "
                   "misaligned",
                   part_name[part], (long long)w->unit, g, (long long)e);
  return MT_OK;
}

/* The numbers of an operand of group g, a cell each, at inner position x, y. */
static mt_status gather (mt_task *w, int part, int g, uint32_t x, uint32_t y,
                         double *out) {
  const mt_gemm_ref *r = w->r;
  uint32_t n = r->cells[part];
  const mt_cell *c = r->cell[part] + (size_t)g * n;
  mt_dtype d = (mt_dtype)w->l->desc.part[part].dtype;
  mt_element kind = mt_mma_op_element(&r->op, part == MT_A ? MT_OPERAND_A : MT_OPERAND_B);
  for (uint32_t i = 0; i < n; i++) {
    int64_t e = element(w, part, c[i].at[0] + x, c[i].at[1] + y);
    if (e != MT_OUTSIDE && w->bytes) MT_TRY(verify(w, part, g, e));
    out[i] = e == MT_OUTSIDE ? 0 : mt_get_number(d, kind, address(w, part, e));
  }
  return MT_OK;
}

/* After an instruction of an atom. */
static bool has_ended (mt_task *w) {
  const mt_mma_op *op = &w->r->op;
  int64_t ns = op->m * op->n * op->k + 20 * (op->m + op->n) * op->k;
  if (w->worker) return mt_worker_ends(w->worker, ns);
  return mt_stopped_after(&w->spent, ns, w->err, "gemm");
}

/* All of K: tile by tile, inner by inner, group by group. */
static mt_status accumulate (mt_task *w) {
  const mt_gemm_ref *r = w->r;
  const mt_gemm_desc *d = &w->l->desc;
  mt_hand *h = w->h;
  memset(h->c, 0, (size_t)r->groups * r->cells[MT_C] * sizeof *h->c);
  for (int64_t k = 0; k < d->tiles[MT_K]; k++) {
    fill_offsets(w, MT_A, 1, k);
    fill_offsets(w, MT_B, 1, k);
    for (uint32_t i = 0; i < d->inner[MT_K]; i++)
      for (int g = 0; g < r->groups; g++) {
        MT_TRY(gather(w, MT_A, g, w->inner[MT_M], r->inner[MT_K][i], h->a));
        MT_TRY(gather(w, MT_B, g, w->inner[MT_N], r->inner[MT_K][i], h->b));
        mt_mma_op_run(&r->op, h->a, h->b, h->c + (size_t)g * r->cells[MT_C]);
        if (has_ended(w)) return MT_ESTOPPED;
      }
  }
  return MT_OK;
}

/* The sums of the groups that split K, in their order, in the first of them: rounded to
** the type of the accumulators after each. */
static void reduce (const mt_task *w, int g) {
  const mt_gemm_ref *r = w->r;
  uint32_t n = r->cells[MT_C];
  double *sum = w->h->c + (size_t)g * n;
  int other = r->next[g];
  for (uint32_t j = 1; j < w->l->desc.kthreads; j++, other = r->next[other]) {
    const double *c = w->h->c + (size_t)other * n;
    for (uint32_t i = 0; i < n; i++) sum[i] = mt_mma_op_sum(&r->op, sum[i], c[i]);
  }
}

void mt_gemm_finish (const mt_gemm_launch *l, void *p, double acc, const int64_t at[3]) {
  mt_dtype d = (mt_dtype)l->desc.part[MT_C].dtype;
  if (d == MT_i32) {
    int32_t c = 0;
    if (l->beta != 0) memcpy(&c, p, sizeof c);
    c = mt_cast_scaled(l->alpha, (int32_t)acc, l->beta, c);
    memcpy(p, &c, sizeof c);
    return;
  }
  double v = l->beta == 0 ? l->alpha * acc :
                            fma(l->alpha, acc, l->beta * mt_load_element(d, p).f);
  if (l->finishes)
    v = mt_finish_sum(l->activation, d == MT_f64, v, mt_beside_value(l, MT_BIAS, at),
                      mt_beside_value(l, MT_RESIDUAL, at));
  mt_put_number(d, p, v);
}

/* What the epilogue reads at an element of C lies in its buffer. */
static mt_status verify_besides (const mt_task *w, const int64_t at[3]) {
  static const char *const names[] = {"bias", "residual"};
  for (int i = 0; i < MT_BESIDES; i++) {
    if (!mt_has_beside(w->l, i)) continue;
    const int64_t size = (int64_t)mt_dtype_size((mt_dtype)w->l->beside[i].dtype);
    const int64_t e = mt_beside_element(w->l, i, at);
    const int64_t have = (int64_t)w->bytes[MT_PARTS + i] / size;
    if (e < 0 || e >= have)
      return mt_fail(w->err, MT_ERANGE,
                     "%s: unit %lld reaches element %lld of a buffer of %lld", names[i],
                     (long long)w->unit, (long long)e, (long long)have);
  }
  return MT_OK;
}

static mt_status store (mt_task *w, int g) {
  const mt_gemm_ref *r = w->r;
  uint32_t n = r->cells[MT_C];
  const mt_cell *c = r->cell[MT_C] + (size_t)g * n;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t x = c[i].at[0] + w->inner[MT_M], y = c[i].at[1] + w->inner[MT_N];
    const int64_t e = element(w, MT_C, x, y);
    const int64_t at[3] = {w->first[0] + x, w->first[1] + y, w->batch};
    if (e == MT_OUTSIDE) continue;
    if (w->bytes) {
      MT_TRY(verify(w, MT_C, g, e));
      MT_TRY(verify_besides(w, at));
    }
    mt_gemm_finish(w->l, address(w, MT_C, e), w->h->c[(size_t)g * n + i], at);
  }
  return MT_OK;
}

/* Where a unit is: unit = im + inner[M] (tm + tiles[M] (in + inner[N] (tn + tiles[N] b)))
** */
static void begin_unit (mt_task *w, int64_t unit) {
  const mt_gemm_desc *d = &w->l->desc;
  int64_t tile[2], rest = unit;
  w->unit = unit;
  for (int i = 0; i < 2; i++) {
    w->inner[i] = w->r->inner[i][rest % d->inner[i]];
    rest /= d->inner[i];
    tile[i] = rest % d->tiles[i];
    rest /= d->tiles[i];
  }
  for (int part = 0; part < MT_PARTS; part++) {
    const mt_part *p = &d->part[part];
    w->base[part] = w->l->offset[part] +
                    digits(p->digit + p->ndigit[0] + p->ndigit[1], p->ndigit[2], rest);
  }
  w->batch = rest;
  for (int i = 0; i < 2; i++) w->first[i] = tile[i] * d->tile[i];
  fill_offsets(w, MT_A, 0, tile[0]);
  fill_offsets(w, MT_B, 0, tile[1]);
  fill_offsets(w, MT_C, 0, tile[0]);
  fill_offsets(w, MT_C, 1, tile[1]);
}

static mt_status do_unit (mt_task *w, int64_t unit) {
  begin_unit(w, unit);
  MT_TRY(accumulate(w));
  for (int g = 0; g < w->r->groups; g++) {
    if (w->r->turn[g] != 0) continue;
    reduce(w, g);
    MT_TRY(store(w, g));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- all of them */

/* What the workers share; piece: units of each. */
typedef struct mt_job {
  mt_gemm_ref *r;
  const mt_gemm_launch *l;
  int64_t piece;
} mt_job;

static void do_units (void *arg, int64_t first, int64_t last, mt_worker *w) {
  const mt_job *job = arg;
  MT_NEWERR(err); /* unverified: nothing can fail */
  mt_task task = {.r = job->r,
                  .l = job->l,
                  .h = &job->r->hand[first / job->piece],
                  .err = &err,
                  .worker = w};
  for (int64_t u = first; u < last; u++) {
    if (do_unit(&task, u) != MT_OK) return;
    mt_worker_did(w, 1);
  }
}

static mt_status do_all (mt_task *w, int64_t units) {
  mt_stint stint;
  mt_status s = MT_OK;
  mt_stint_begin(&stint, "gemm", "tiles", (double)units, w->err);
  for (int64_t u = 0; s == MT_OK && u < units; u++) {
    s = do_unit(w, u);
    stint.done++;
  }
  mt_stint_end(&stint, w->err);
  return s;
}

mt_status mt_mma_ref_run (mt_gemm_ref *r, const mt_gemm_launch *l, const size_t *bytes,
                          struct mt_pool *pool, mt_err *err) {
  const mt_gemm_desc *d = &l->desc;
  int64_t units =
      d->inner[MT_M] * d->tiles[MT_M] * d->inner[MT_N] * d->tiles[MT_N] * d->size[MT_L];
  mt_job job = {r, l, units / r->workers + (units % r->workers != 0)};
  mt_task w = {.r = r, .l = l, .bytes = bytes, .h = r->hand, .err = err};
  if (units > 0 && pool != NULL && bytes == NULL)
    return mt_pool_run(pool, "gemm", units, job.piece, do_units, &job, err);
  return do_all(&w, units);
}
