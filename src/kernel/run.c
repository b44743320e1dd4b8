/*
** run.c - a kernel executed stage by stage: shared memory, registers, atoms.
** SPDX-License-Identifier: MIT
**
** Roles act in a random order, one action at a time, as far as their barriers allow. What
** an element of shared memory has that nobody has filled is poison: all bits are ones, a
** NaN in every float.
*/
#include "atom/mma_number.h"
#include "types/dtype.h"
#include "kernel/run.h"

enum { POISON = 0xff };
#define OUTSIDE INT64_MIN /* the offset of an ordinate that is not real */

static uint64_t random_below (mt_run *r, uint64_t n) {
  uint64_t z = (r->seed += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % n;
}

/* ---------------------------------------------------------------- global memory */

static int64_t digits (const mt_digit *g, uint32_t n, int64_t x) {
  int64_t o = 0;
  for (const mt_digit *end = g + n; g < end; g++) {
    int64_t q = g + 1 == end ? 0 : x / g->extent;
    o += (x - q * g->extent) * g->stride;
    x = q;
  }
  return o;
}

/* The offsets of n ordinates of a mode from `first` on. */
static void find_offsets (int64_t *out, const mt_run *r, int part, int mode,
                          int64_t first, int64_t n) {
  const mt_part *p = &r->l.desc.part[part];
  const mt_digit *g = p->digit + (mode ? p->ndigit[0] : 0);
  for (int64_t i = 0; i < n; i++)
    out[i] = first + i < p->real[mode] ? digits(g, p->ndigit[mode], first + i) : OUTSIDE;
}

/* The element with these offsets; NULL: it is not real. */
static char *element (const mt_run *r, int part, int64_t x, int64_t y, int64_t batch) {
  const mt_part *p = &r->l.desc.part[part];
  if (x == OUTSIDE || y == OUTSIDE) return NULL;
  int64_t o = r->l.offset[part] + x + y +
              digits(p->digit + p->ndigit[0] + p->ndigit[1], p->ndigit[2], batch);
  int64_t bits = o & (int64_t)p->swizzle;
  o ^= p->shift >= 0 ? bits >> p->shift : bits << -p->shift;
  return (char *)r->l.base[part] + o * (int64_t)mt_dtype_size((mt_dtype)p->dtype);
}

/* ---------------------------------------------------------------- stages */

/* Tiles of C that are computed in turn, by one pipe. */
typedef struct work {
  int n;
  int64_t at[MT_WORKS][3]; /* tile of M, of N, batch */
  mt_pipe pipe;
} work;

static char *stage_at (const mt_run *r, int x, int64_t e, int64_t stage) {
  const mt_run_side *s = &r->side[x];
  return s->memory + mt_run_swizzled(r, x, s->line[e] + s->step[stage]) * s->size;
}

/* What the role brings of a k-tile of A or B. */
static void fill_side (mt_run *r, const work *w, int x, int role, int64_t tile) {
  mt_run_side *s = &r->side[x];
  int64_t which = tile / w->pipe.tiles, rows = r->k->tile[x], depth = r->k->tile[2];
  const int64_t *offset = s->offset[0] + which * rows;
  find_offsets(s->offset[1], r, x, 1, tile % w->pipe.tiles * depth, depth);
  for (int64_t e = 0; e < s->elements; e++) {
    if (s->filler[e] != role) continue;
    char *to = stage_at(r, x, e, tile % r->k->stages);
    const char *from =
        element(r, x, offset[e % rows], s->offset[1][e / rows], w->at[which][2]);
    if (from) memcpy(to, from, (size_t)s->size);
    else memset(to, 0, (size_t)s->size);
  }
}

static void fill (mt_run *r, const work *w, int role, int64_t tile) {
  for (int x = 0; x < 2; x++) fill_side(r, w, x, role, tile);
}

static void poison (mt_run *r, int64_t stage) {
  for (int x = 0; x < 2; x++)
    for (int64_t e = 0; e < r->side[x].elements; e++)
      memset(stage_at(r, x, e, stage), POISON, (size_t)r->side[x].size);
}

/* ---------------------------------------------------------------- atoms */

/* The numbers of an operand of group g, a cell each: rests i and j. */
static void gather (mt_run *r, int x, int64_t g, int64_t i, int64_t j, int64_t stage) {
  mt_run_side *s = &r->side[x];
  int64_t rest = i + s->rests[0] * j;
  mt_dtype d = r->k->type[x];
  mt_element kind =
      mt_mma_op_element(&r->k->mma.atom.op, x == 0 ? MT_OPERAND_A : MT_OPERAND_B);
  for (int64_t c = 0; c < s->cells; c++) {
    const char *p;
    if (mt_side_direct(r->k, x)) {
      int64_t start = s->start[g * s->rests[0] * s->rests[1] + rest] + s->step[stage];
      p = s->memory + mt_run_swizzled(r, x, start + s->cell[c]) * s->size;
    } else {
      int64_t t = s->cell[c] % r->atom_threads, v = s->cell[c] / r->atom_threads;
      int64_t thread = r->thread[g * r->atom_threads + t];
      p = stage_at(r, x, s->frag[thread + r->threads * (v + s->values * rest)], stage);
    }
    s->number[c] = mt_get_number(d, kind, p);
  }
}

/* The atoms of a group for one step of K. */
static mt_status multiply (mt_run *r, int which, int64_t g, int64_t step, int64_t stage) {
  const mt_mma_op *op = &r->k->mma.atom.op;
  int64_t ns = op->m * op->n * op->k + 20 * (op->m + op->n) * op->k;
  for (int64_t i = 0; i < r->side[0].rests[0]; i++) {
    gather(r, 0, g, i, step, stage);
    for (int64_t j = 0; j < r->side[1].rests[0]; j++) {
      int64_t atom = g * r->atoms + i + r->side[0].rests[0] * j;
      gather(r, 1, g, j, step, stage);
      mt_mma_op_run(op, r->side[0].number, r->side[1].number,
                    r->acc[which] + atom * r->cells);
      if (mt_stopped_after(&r->spent, ns, r->err, "gemm")) return MT_ESTOPPED;
    }
  }
  return MT_OK;
}

/* What a role does with a k-tile: all that its groups have of it. */
static mt_status use (mt_run *r, const work *w, int role, int64_t tile) {
  int which = (int)(tile / w->pipe.tiles);
  int user = w->pipe.schedule == MT_MULTISTAGE ? role : role - 1;
  for (int64_t step = 0; step < r->side[0].rests[1]; step++)
    for (int64_t g = 0; g < r->groups; g++) {
      if (w->pipe.works == 1 && g * r->users / r->groups != user) continue;
      MT_TRY(multiply(r, which, g, step, tile % r->k->stages));
    }
  return MT_OK;
}

/* ---------------------------------------------------------------- the way out */

/* The sums of groups that share an element, which split K, in their order. */
static void collect (mt_run *r, int which) {
  int64_t n = r->groups * r->atoms * r->cells;
  memset(r->some, 0, (size_t)(r->k->tile[0] * r->k->tile[1]));
  for (int64_t i = 0; i < n; i++) {
    uint32_t e = r->place[i];
    double v = r->acc[which][i];
    r->out[e] = r->some[e] ? mt_mma_op_sum(&r->k->mma.atom.op, r->out[e], v) : v;
    r->some[e] = 1;
  }
}

/* An element in C's type, through shared memory if it is staged there. */
static mt_status store (mt_run *r, char *c, int64_t e, const int64_t at[3]) {
  size_t size = mt_dtype_size((mt_dtype)r->l.desc.part[MT_C].dtype);
  char value[16];
  int64_t place;
  memcpy(value, c, size);
  mt_gemm_finish(&r->l, value, r->out[e], at);
  if (r->k->staged) {
    MT_TRY(mt_at(&place, r->k->d.node, e, r->err));
    memcpy(r->staged + place * (int64_t)size, value, size);
    memcpy(value, r->staged + place * (int64_t)size, size);
  }
  memcpy(c, value, size);
  return MT_OK;
}

static mt_status write_out (mt_run *r, const work *w, int which) {
  const int64_t *tile = r->k->tile;
  collect(r, which);
  for (int i = 0; i < 2; i++)
    find_offsets(r->offset[i], r, MT_C, i, w->at[which][i] * tile[i], tile[i]);
  for (int64_t e = 0; e < tile[0] * tile[1]; e++) {
    const int64_t x = e % tile[0], y = e / tile[0], *first = w->at[which];
    const int64_t at[3] = {first[0] * tile[0] + x, first[1] * tile[1] + y, first[2]};
    char *c = element(r, MT_C, r->offset[0][x], r->offset[1][y], at[2]);
    if (c) MT_TRY(store(r, c, e, at));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- the roles */

static mt_status act (mt_run *r, const work *w, const mt_pipe_state *s,
                      const mt_step_done *d) {
  const mt_pipe *p = &w->pipe;
  if (d->action == MT_DO_LAND || (d->action == MT_DO_ISSUE && !p->async))
    fill(r, w, d->role, d->tile);
  if (d->action != MT_DO_USE) return MT_OK;
  MT_TRY(use(r, w, d->role, d->tile));
  for (int role = 0; role < p->roles; role++)
    if (!mt_pipe_used(p, s, role, d->tile)) return MT_OK;
  poison(r, d->tile % r->k->stages);
  return MT_OK;
}

/* One random action after the other. */
static mt_status go (mt_run *r, const work *w) {
  enum { CHOICES = 2 * MT_MAXROLES };
  mt_pipe_state s = {{0}, {0}};
  mt_step_done d, possible[CHOICES];
  while (!mt_pipe_ended(&w->pipe, &s)) {
    int choice[CHOICES], n = 0;
    for (int c = 0; c < CHOICES; c++) {
      if (!mt_pipe_can(&d, &w->pipe, &s, c)) continue;
      possible[n] = d;
      choice[n++] = c;
    }
    if (n == 0)
      return mt_fail(r->err, MT_EUNSUPPORTED,
                     "gemm: the kernel's roles wait for "
                     "each other");
    int i = (int)random_below(r, (uint64_t)n);
    mt_pipe_do(&w->pipe, &s, choice[i]);
    MT_TRY(act(r, w, &s, &possible[i]));
    if (mt_stopped_after(&r->spent, 1000, r->err, "gemm")) return MT_ESTOPPED;
  }
  return MT_OK;
}

static mt_status compute (mt_run *r, work *w) {
  const int64_t *tile = r->k->tile;
  int64_t all = r->groups * r->atoms * r->cells;
  memset(r->shared, POISON, r->shared_bytes);
  for (int i = 0; i < w->n; i++) {
    memset(r->acc[i], 0, (size_t)all * sizeof **r->acc);
    for (int x = 0; x < 2; x++)
      find_offsets(r->side[x].offset[0] + i * tile[x], r, x, 0, w->at[i][x] * tile[x],
                   tile[x]);
  }
  if (w->pipe.tiles > 0) MT_TRY(go(r, w));
  for (int i = 0; i < w->n; i++) MT_TRY(write_out(r, w, i));
  return MT_OK;
}

/* ---------------------------------------------------------------- all tiles */

/* Tile number i, of `tiles` along M and N. */
static void place (const mt_run *r, int64_t at[3], int64_t i, const int64_t tiles[2]) {
  int first = r->k->raster ? 1 : 0;
  at[first] = i % tiles[first];
  at[1 - first] = i / tiles[first] % tiles[1 - first];
  at[2] = i / (tiles[0] * tiles[1]);
}

static mt_status run_tiles (mt_run *r, const int64_t tiles[3], int64_t all) {
  for (int64_t i = 0; i < all;) {
    work w = {.n = 1, .pipe = mt_pipe_of(r->k, (int)r->users, tiles[2])};
    if (w.pipe.works == 2 && i + 1 < all) w.n = 2;
    if (w.n < w.pipe.works) w.pipe.works = 1, w.pipe.roles = 2;
    for (int j = 0; j < w.n; j++) place(r, w.at[j], i + j, tiles);
    int64_t users = r->users;
    if (w.pipe.schedule == MT_PINGPONG) r->users = 1;
    mt_status s = compute(r, &w);
    r->users = users;
    MT_TRY(s);
    i += w.n;
    r->stint.done = (double)i;
  }
  return MT_OK;
}

static mt_status run_all (mt_run *r) {
  const mt_gemm_desc *d = &r->l.desc;
  int64_t tiles[3];
  for (int i = 0; i < 3; i++) tiles[i] = (d->size[i] + r->k->tile[i] - 1) / r->k->tile[i];
  int64_t all = tiles[0] * tiles[1] * d->size[MT_L];
  mt_stint_begin(&r->stint, "gemm", "tiles", (double)all, r->err);
  mt_status s = run_tiles(r, tiles, all);
  mt_stint_end(&r->stint, r->err);
  return s;
}

size_t mt_gemm_room_for (const mt_gemm_spec *k) {
  mt_err *err = &(mt_err){.status = MT_OK};
  mt_run r;
  mt_carve c = {NULL, 0};
  if (mt_run_sizes(&r, k, err) != MT_OK) return 0;
  mt_run_carve(&r, &c);
  return c.used;
}

mt_status mt_run_gemm (const mt_gemm_spec *k, const mt_tensor *const t[MT_KERNEL_TENSORS],
                       uint64_t seed, void *room, mt_err *err) {
  mt_run r;
  size_t bytes[MT_PARTS];
  mt_carve c = {room, 0};
  MT_TRY(mt_mma_op_check(&k->mma.atom.op, err));
  MT_TRY(mt_run_sizes(&r, k, err));
  MT_TRY(mt_gemm_tensors(&r.l, t[0], t[1], t[2], k->ending.alpha, k->ending.beta, err));
  MT_TRY(mt_put_ending(&r.l, k, t, err));
  for (int part = 0; part < MT_PARTS; part++)
    bytes[part] = mt_gemm_room(&r.l, part, t[part]);
  MT_TRY(mt_gemm_check(&r.l, NULL, bytes, err));
  MT_TRY(mt_check_ending(&r.l, k, t, err));
  mt_run_carve(&r, &c);
  MT_TRY(mt_run_tables(&r, err));
  r.seed = seed;
  return run_all(&r);
}
