/*
** check.c - the validator against enumeration: random descriptors, every access looked
** at.
** SPDX-License-Identifier: MIT
**
** What the validator accepts has to be sound in every respect; what it refuses although
** it is sound is counted. What it accepts is then run by both executors. Some convert.
*/
#include "exec_test.h"
#include "copy/check.h"
#include "desc/axes.h"
#include "copy/ref.h"
#include "cpu/copy.h"

enum { ARENA = 512, MAXELEMENTS = 5000 };

/* Both sides lie in one arena, so that overlaps happen. */
typedef struct trial {
  mt_launch l;
  size_t bytes[2];
  bool plausible; /* bounds as partitions make them */
} trial;

static _Alignas(64) unsigned char arena[ARENA * 16], want[ARENA * 16], got[ARENA * 16];
static long accepted, refused[MT_NSTATUS], harsh[MT_NSTATUS], harsh_plausible;

/* ---------------------------------------------------------------- the truth */

/* whole: a wide access begins */
typedef struct element {
  int64_t at[2];
  bool whole;
} element;

/* Digit by digit, with plain divisions. */
static void locate (const mt_desc *d, uint32_t first, uint32_t n, int64_t i,
                    int64_t at[2], int64_t ord[MT_MAXBOUND]) {
  for (uint32_t j = first; j < first + n; j++) {
    int64_t digit = i % d->axis[j].extent;
    i /= d->axis[j].extent;
    for (int o = 0; o < 2; o++) at[o] += digit * d->axis[j].stride[o];
    for (uint32_t k = 0; k < d->nbound; k++) ord[k] += digit * d->axis[j].step[k];
  }
}

/* Bit by bit. */
static int64_t place_of (const mt_launch *l, int o, int64_t at) {
  const mt_desc_swizzle *f = &l->desc.swizzle[o];
  int64_t to = at;
  for (int bit = 0; bit < 62; bit++)
    if ((f->mask >> bit & 1) && (at >> bit & 1)) to ^= INT64_C(1) << (bit - f->shift);
  return l->origin[o] + to;
}

static int enumerate (element *out, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int n = 0;
  for (int64_t i = 0; i < d->threads * d->values * d->rests; i++) {
    int64_t at[2] = {l->offset[0], l->offset[1]}, ord[MT_MAXBOUND] = {0};
    locate(d, 0, d->nthr, i % d->threads, at, ord);
    locate(d, d->nthr, d->nval, i / d->threads % d->values, at, ord);
    locate(d, d->nthr + d->nval, d->nrest, i / d->threads / d->values, at, ord);
    int first = n;
    for (uint32_t lane = 0; lane < d->vec; lane++) {
      bool real = true;
      for (uint32_t k = 0; k < d->nbound; k++)
        real = real && ord[k] + (int64_t)lane * d->lane_step[k] < d->bound[k];
      if (!real) continue;
      element e = {{0, 0}, false};
      for (int o = 0; o < 2; o++) e.at[o] = place_of(l, o, at[o] + (int64_t)lane);
      out[n++] = e;
    }
    if (n - first == (int)d->vec) out[first].whole = true;
  }
  return n;
}

static bool in_range (const trial *x, const element *e, int n) {
  for (int i = 0; i < n; i++)
    for (int o = 0; o < 2; o++)
      if (e[i].at[o] < 0 || e[i].at[o] >= (int64_t)(x->bytes[o] / MT_ELEM(&x->l.desc, o)))
        return false;
  return true;
}

static bool aligned (const trial *x, const element *e, int n) {
  const mt_desc *d = &x->l.desc;
  for (int i = 0; i < n; i++)
    for (int o = 0; o < 2; o++) {
      uint32_t elem = MT_ELEM(d, o);
      uintptr_t at = (uintptr_t)x->l.base[o] + (uintptr_t)e[i].at[o] * elem;
      if (at % (e[i].whole ? d->vec * elem : elem) != 0) return false;
      for (int j = 1; e[i].whole && j < (int)d->vec; j++)
        if (e[i + j].at[o] != e[i].at[o] + j) return false;
    }
  return true;
}

/* Range has been seen to. Bytes written, and bytes read. */
static bool once (const element *e, int n) {
  static unsigned char seen[ARENA * 16];
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < n; i++)
    if (seen[e[i].at[MT_DST]]++) return false;
  return true;
}

static bool apart (const trial *x, const element *e, int n) {
  static unsigned char written[ARENA * 16];
  const mt_launch *l = &x->l;
  ptrdiff_t src = (unsigned char *)l->base[MT_SRC] - arena;
  ptrdiff_t dst = (unsigned char *)l->base[MT_DST] - arena;
  memset(written, 0, sizeof written);
  uint32_t to = MT_ELEM(&l->desc, MT_DST);
  for (int i = 0; i < n; i++) memset(written + dst + e[i].at[MT_DST] * to, 1, to);
  for (int i = 0; i < n; i++)
    for (uint32_t b = 0; b < l->desc.elem; b++)
      if (written[src + e[i].at[MT_SRC] * l->desc.elem + b]) return false;
  return true;
}

static mt_status truth (const trial *x, const element *e, int n) {
  if (!in_range(x, e, n)) return MT_ERANGE;
  if (!aligned(x, e, n)) return MT_EALIGN;
  if (!once(e, n)) return MT_EINJECTIVE;
  return apart(x, e, n) ? MT_OK : MT_EOVERLAP;
}

/* ---------------------------------------------------------------- random descriptors */

static void set_sizes (mt_desc *d) {
  int64_t n[3] = {1, 1, 1};
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++) {
    n[i < d->nthr ? 0 : i < d->nthr + d->nval ? 1 : 2] *= d->axis[i].extent;
    mt_axis_divisor(&d->axis[i]);
  }
  d->threads = n[0], d->values = n[1], d->rests = n[2];
}

static void wild_bounds (mt_desc *d) {
  d->nbound = (uint32_t)pick(3);
  for (uint32_t k = 0; k < d->nbound; k++) {
    int64_t reach = 1;
    for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++) {
      if (pick(2)) continue;
      d->axis[i].step[k] = between(1, 6);
      reach += d->axis[i].step[k] * (d->axis[i].extent - 1);
    }
    if (pick(3) == 0) d->lane_step[k] = 1;
    d->bound[k] = between(1, reach + 2);
  }
}

/* The axes are dealt to tensor modes; those of a mode are the digits of its ordinate, and
** its strides follow the digits but for a jump here and there. */
static void mode_digits (mt_desc *d, const int *axis, int n, int k, int64_t *unit) {
  int64_t step = 1, stride[2] = {unit[0], unit[1]};
  bool lane = k == 0 && d->vec > 1;
  if (lane) step = d->vec, stride[0] *= d->vec, stride[1] *= d->vec;
  for (int i = 0; i < n; i++) {
    mt_axis *a = &d->axis[axis[i]];
    for (int o = 0; o < 2; o++) {
      a->stride[o] = stride[o];
      stride[o] *= a->extent;
      if (pick(8) == 0) stride[o] += between(0, 3) * (int64_t)d->vec;
    }
    a->step[k] = step;
    step *= a->extent;
  }
  d->bound[k] = pick(2) ? between(1, step) : step;
  if (lane) d->lane_step[0] = 1;
  unit[0] = stride[0], unit[1] = stride[1];
}

static void plausible_bounds (mt_desc *d) {
  int n = (int)(d->nthr + d->nval + d->nrest), axis[MT_MAXAXIS], dealt = 0;
  int64_t unit[2] = {1, 1};
  if (d->vec == 1 && pick(4) == 0) unit[pick(2)] = between(1, 3);
  for (int i = 0; i < n; i++) {
    int j = pick(i + 1);
    axis[i] = axis[j];
    axis[j] = i;
  }
  d->nbound = (uint32_t)(1 + pick(3));
  for (uint32_t k = 0; k < d->nbound; k++) {
    int take = k + 1 == d->nbound ? n - dealt : pick(n - dealt + 1);
    mode_digits(d, axis + dealt, take, (int)k, unit);
    dealt += take;
    unit[0] = (unit[0] + d->vec - 1) / d->vec * d->vec;
    unit[1] = (unit[1] + d->vec - 1) / d->vec * d->vec;
  }
}

static void random_flip (mt_launch *l, int o) {
  int bits = 1 + pick(3), base = pick(4), by = bits + pick(3);
  bool down = pick(3) != 0;
  l->desc.swizzle[o].mask = (((int64_t)1 << bits) - 1) << (base + (down ? by : 0));
  l->desc.swizzle[o].shift = down ? by : -by;
  l->origin[o] = between(0, 3) * (pick(3) ? 4 : 1);
  if (pick(4) == 0) {
    l->offset[o] -= 64;
    l->origin[o] += pick(2) ? 64 : between(0, 80);
  }
}

/* Between two types; STRIDED without bounds, DESCRIBED element by element. */
static void random_cast (mt_desc *d) {
  mt_dtype from = (mt_dtype)pick(MT_NDTYPE), to = (mt_dtype)pick(MT_NDTYPE);
  if (from == to) to = (mt_dtype)((from + 1) % MT_NDTYPE);
  d->cast = MT_CAST_ROUNDED(MT_CAST(from, to), pick(2) ? pick(4) : 0);
  d->elem = (uint32_t)mt_dtype_size(from), d->to = (uint32_t)mt_dtype_size(to);
  d->vec = d->algo == MT_ALGO_DESCRIBED || pick(2) ?
               1 :
               16 / (d->elem > d->to ? d->elem : d->to);
}

static void random_trial (trial *x) {
  mt_desc *d = &x->l.desc;
  memset(x, 0, sizeof *x);
  d->algo = pick(4) == 0 ? MT_ALGO_STRIDED : MT_ALGO_DESCRIBED;
  d->elem = 1u << pick(3);
  d->vec = pick(2) ? 1 : 1u << pick(3);
  if (pick(d->algo == MT_ALGO_STRIDED ? 2 : 6) == 0) random_cast(d);
  int64_t room = 300;
  uint32_t n[3] = {(uint32_t)pick(3), (uint32_t)pick(3), (uint32_t)pick(4)};
  if (d->algo == MT_ALGO_STRIDED) n[2] += n[0] + n[1], n[0] = n[1] = 0;
  d->nthr = n[0], d->nval = n[1], d->nrest = n[2];
  for (uint32_t i = 0; i < n[0] + n[1] + n[2]; i++) {
    mt_axis *a = &d->axis[i];
    a->extent = between(1, room < 6 ? room : 6);
    room /= a->extent;
    for (int o = 0; o < 2; o++) {
      a->stride[o] = between(pick(3) ? 0 : -12, 24);
      if (pick(4)) a->stride[o] *= d->vec;
    }
  }
  x->plausible = pick(3) != 0;
  if (d->cast && d->algo == MT_ALGO_STRIDED) x->plausible = true;
  else if (x->plausible) plausible_bounds(d);
  else wild_bounds(d);
  set_sizes(d);
  for (int o = 0; o < 2; o++) {
    int64_t start = between(0, ARENA / 2);
    if (pick(4)) start = start / 16 * 16;
    x->l.base[o] = arena + start * MT_ELEM(d, o);
    x->l.offset[o] = pick(2) ? 0 : between(0, 3) * d->vec;
    x->bytes[o] = (size_t)(ARENA - start) * MT_ELEM(d, o);
    if (pick(4) == 0) x->bytes[o] = (size_t)between(0, (int64_t)x->bytes[o]);
    if (pick(4) == 0) random_flip(&x->l, o);
  }
  if (x->l.desc.swizzle[0].mask && pick(4) == 0) { /* one swizzle of one buffer */
    x->l.base[1] = x->l.base[0], x->bytes[1] = x->bytes[0];
    x->l.desc.swizzle[1] = x->l.desc.swizzle[0], x->l.origin[1] = x->l.origin[0];
  }
}

/* ---------------------------------------- running what was accepted */

static void move (const trial *x, const element *e) {
  const mt_desc *d = &x->l.desc;
  unsigned char *dst = want + ((unsigned char *)x->l.base[MT_DST] - arena) +
                       e->at[MT_DST] * MT_ELEM(d, MT_DST);
  const unsigned char *src = x->l.base[MT_SRC];
  src += e->at[MT_SRC] * d->elem;
  if (d->cast == 0) memcpy(dst, src, d->elem);
  else
    mt_cast_rounded((mt_dtype)MT_CAST_DST(d->cast), dst, (mt_dtype)MT_CAST_SRC(d->cast),
                    src, MT_CAST_ROUNDING(d->cast));
}

/* ---------------------------------------------------------------- what a tile has */

/* Whether a byte is in a footprint, below n axes. */
static bool has_byte (const mt_cpu_footprint *p, int n, int64_t at) {
  if (n == 0) return at >= 0 && at < p->run;
  for (int64_t i = 0; i < p->axis[n - 1].extent; i++)
    if (has_byte(p, n - 1, at - i * p->axis[n - 1].stride)) return true;
  return false;
}

static void move_tile (const mt_cpu_job *job, const mt_cpu_tile *t, int64_t na,
                       int64_t nb) {
  job->move(t, job->src, job->dst, na, nb);
  if (job->row == MT_ROW_cpu_gather) mt_cpu_gather_end(t);
}

/* The first tile of a job, run twice, the second time with other bytes wherever its
** footprints have none: it reads and writes nothing there. */
static void check_footprints (const mt_cpu_job *job) {
  static bool has[2][sizeof arena];
  static unsigned char first[sizeof arena];
  mt_cpu_hand hand;
  mt_cpu_tile tile = job->tile, *t = &tile;
  hand.ask = NULL, hand.line = NULL;
  t->hand = &hand;
  const int64_t na = job->ta < t->a.extent ? job->ta : t->a.extent;
  const int64_t nb = job->tb < t->b.extent ? job->tb : t->b.extent;
  const char *base[] = {job->src, job->dst};
  for (int s = 0; s < 2; s++) {
    mt_cpu_footprint p;
    mt_cpu_footprint_of(&p, job, s, na, nb, 0);
    for (size_t i = 0; i < sizeof arena; i++)
      has[s][i] = has_byte(&p, p.n, (const char *)arena + i - base[s] - p.first);
  }
  memcpy(arena, got, sizeof arena);
  move_tile(job, t, na, nb);
  memcpy(first, arena, sizeof arena);
  for (size_t i = 0; i < sizeof arena; i++)
    arena[i] = has[0][i] || has[1][i] ? got[i] : (unsigned char)(got[i] + 91);
  move_tile(job, t, na, nb);
  bool same = true;
  for (size_t i = 0; i < sizeof arena; i++) {
    const unsigned char other = (unsigned char)(got[i] + 91);
    same &= has[1][i] ? arena[i] == first[i] : has[0][i] || arena[i] == other;
  }
  CHECK(same, "a tile has more than its footprint");
}

/* ---------------------------------------------------------------- both executors */

static void run_accepted (trial *x, const element *e, int n) {
  mt_err err = MT_NOERR;
  mt_refusals why = {0};
  mt_cpu_job job;
  mt_desc *d = &x->l.desc;
  mt_kernel row = {.name = "any",
                   .op = MT_OP_COPY,
                   .algo = (uint8_t)d->algo,
                   .threads = 1,
                   .unroll = (uint16_t)(1 + pick(3))};
  mt_grid grid = {(uint32_t)(1 + pick(4)), 2};
  if (d->algo == MT_ALGO_DESCRIBED) grid.threads = (uint32_t)d->threads;
  for (size_t i = 0; i < sizeof arena; i++) arena[i] = (unsigned char)(i * 37 + (i >> 8));
  memcpy(want, arena, sizeof arena);
  memcpy(got, arena, sizeof arena);
  for (int i = 0; i < n; i++) move(x, &e[i]);
  CHECK(mt_ref_run(&row, grid, &x->l, x->bytes, &err) == MT_OK, "reference: %s",
        err.text);
  CHECK(memcmp(arena, want, sizeof arena) == 0, "the reference differs");
  memcpy(arena, got, sizeof arena);
  mt_cpu_plan(&job, &x->l, 2, &why);
  void *gather = job.row == MT_ROW_cpu_gather ? malloc(mt_cpu_gather_size()) : NULL;
  const bool runs = job.row == MT_ROW_cpu_transpose;
  void *places = runs || job.runs.n[0] > 0 ? malloc(mt_cpu_places_size()) : NULL;
  if (gather) mt_cpu_gather_make(gather, &job);
  if (places) (runs ? mt_cpu_turn_places : mt_cpu_row_places)(places, &job);
  job.tile.gather = gather, job.tile.places = places;
  if (job.move && job.tiles > 0) {
    check_footprints(&job);
    memcpy(arena, got, sizeof arena);
    job.demoted = mt_cpu_demotes() ? (unsigned)pick(4) : 0;
    job.tile.stream ^= pick(2), job.tile.asks ^= pick(2);
    int64_t half = job.tiles / 2;
    mt_worker w = {.op = "copy"}; /* for such small jobs it asks nobody */
    mt_cpu_run(&job, half, job.tiles, &w);
    mt_cpu_run(&job, 0, half, &w);
    CHECK(memcmp(arena, want, sizeof arena) == 0, "the CPU executor differs");
  } else {
    CHECK(n == 0 || job.row == MT_ROW_cpu_literal, "no move");
  }
  free(gather), free(places);
}

static void one (void) {
  static element e[MAXELEMENTS];
  trial x;
  mt_err err = MT_NOERR;
  random_trial(&x);
  mt_status s = mt_check_copy(&x.l, x.bytes, &err);
  int n = enumerate(e, &x.l);
  mt_status t = truth(&x, e, n);
  refused[s]++;
  if (s == MT_OK) {
    accepted++;
    CHECK(t == MT_OK, "accepted, but %s", mt_status_name(t));
    if (t == MT_OK) run_accepted(&x, e, n);
    return;
  }
  CHECK(err.text[0] != 0, "no text");
  if (t != MT_OK) return;
  harsh[s]++;
  harsh_plausible += x.plausible;
  CHECK(strstr(err.text, "proven") || strstr(err.text, "decided") || s == MT_EALIGN,
        "sound, but refused with a claim: %s", err.text);
}

void test_check (void) {
  long n = base_cases * 4;
  for (long i = 0; i < n; i++) {
    begin_case(base_seed + (uint64_t)i);
    one();
  }
  printf("  %ld descriptors:", n);
  for (int s = 0; s < MT_NSTATUS; s++)
    if (refused[s]) printf(" %s %ld", mt_status_name((mt_status)s), refused[s]);
  printf("\n  sound but refused:");
  for (int s = 0; s < MT_NSTATUS; s++)
    if (harsh[s]) printf(" %s %ld", mt_status_name((mt_status)s), harsh[s]);
  printf(" (%ld with bounds as partitions make them)\n", harsh_plausible);
}
