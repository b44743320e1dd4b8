/*
** verify.c - proofs of partitions against counting: tiles, tensors, witnesses, vectors.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"
#include "copy/copy.h"

enum { MOST = 1 << 14 };

static int count[MOST];
static long verdicts[MT_NPROBLEM];

/* ---------------------------------------------------------------- counting */

/* What a partition is, in the words of the test. */
typedef struct claim {
  const mt_node *tv, *tiler, *a;
  bool shared, written, wgmma; /* wgmma reads it from shared memory: not any layout */
  int64_t places, idle;        /* numbers of threads for each that counts */
} claim;

static int64_t place_of (const claim *c, int64_t thread, int64_t value) {
  int64_t at = 0;
  MUST(mt_at(&at, c->tv, thread + value * mt_size(mt_mode(c->tv, 0)), err));
  return at;
}

/* count[p]: owners of place p; whether all are inside, each in threads of their own. */
static bool count_places (const claim *c) {
  int64_t threads = mt_size(mt_mode(c->tv, 0)), values = mt_size(mt_mode(c->tv, 1));
  bool fine = true;
  static int64_t last[MOST];
  memset(count, 0, sizeof count);
  memset(last, -1, sizeof last);
  for (int64_t t = 0; t < threads; t++)
    for (int64_t v = 0; v < values; v++) {
      int64_t p = place_of(c, t, v);
      if (p < 0 || p >= c->places) {
        fine = false;
        continue;
      }
      fine = fine && last[p] != t;
      last[p] = t;
      count[p]++;
    }
  return fine;
}

static bool uniform (const claim *c) {
  for (int64_t p = 1; p < c->places; p++)
    if (count[p] != count[0]) return false;
  return count[0] > 0 && (c->shared || count[0] == 1);
}

static void check_owners (const claim *c, const mt_verdict *v) {
  for (int i = 0; i < v->owners; i++)
    CHECK(place_of(c, v->owner[i].thread, v->owner[i].value) == v->index,
          "%s: value %lld of thread %lld is not at place %lld", text_of(c->tv),
          (long long)v->owner[i].value, (long long)v->owner[i].thread,
          (long long)v->index);
  if (v->owners == 2)
    CHECK(memcmp(&v->owner[0], &v->owner[1], sizeof v->owner[0]) != 0,
          "%s: one owner, twice", text_of(c->tv));
}

/* Law (3). */
static void check_witness (const claim *c, const mt_verdict *v) {
  bool inside = v->index >= 0 && v->index < c->places;
  CHECK(inside == (v->problem != MT_OUTSIDE), "%s: place %lld", text_of(c->tv),
        (long long)v->index);
  CHECK(v->owners == (v->problem == MT_TWICE ? 2 :
                      v->problem == MT_GAP   ? 0 :
                                               1),
        "%s: %d owners", text_of(c->tv), v->owners);
  check_owners(c, v);
  if (!inside) return;
  CHECK(v->problem == MT_GAP ? count[v->index] == 0 : count[v->index] > 1,
        "%s: place %lld has %d owners", text_of(c->tv), (long long)v->index,
        count[v->index]);
  for (int64_t p = 0; p < v->index; p++)
    CHECK(count[p] == v->broadcast, "%s: place %lld is wrong before %lld", text_of(c->tv),
          (long long)p, (long long)v->index);
}

/* Each element of a mode is in one tile. */
static bool tiles_mode (const mt_node *t, int64_t extent) {
  static int seen[MOST];
  mt_layout rest;
  mt_err e = MT_NOERR;
  bool fills = true;
  int64_t at, r;
  if (t->tag == MT_INT || extent == 0) return true;
  if (mt_complement(&rest, &fills, t, extent, &e) != MT_OK) return false;
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i < mt_size(t); i++)
    for (int64_t j = 0; j < mt_size(rest.node); j++) {
      MUST(mt_at(&at, t, i, err));
      MUST(mt_at(&r, rest.node, j, err));
      if (at + r >= 0 && at + r < MOST) seen[at + r]++;
    }
  for (int64_t i = 0; i < mt_size(t) * mt_size(rest.node); i++)
    if (i < MOST && seen[i] != 1) return false;
  return true;
}

/* Laws (4), (5). */
static void check_memory (const claim *c, const mt_verdict *v) {
  int64_t lo = 0, hi = -1, at, other;
  bool once = true;
  static int64_t all[MOST];
  for (int64_t i = 0; i < mt_size(c->a); i++) {
    MUST(mt_at(&all[i], c->a, i, err));
    for (int64_t j = 0; j < i && once; j++) once = all[i] != all[j];
    lo = i == 0 || all[i] < lo ? all[i] : lo;
    hi = i == 0 || all[i] > hi ? all[i] : hi;
  }
  CHECK(v->injective == once, "%s: injective %d", text_of(c->a), v->injective);
  CHECK(v->lowest == lo && v->highest == hi, "%s: %lld .. %lld", text_of(c->a),
        (long long)v->lowest, (long long)v->highest);
  if (v->injective) return;
  MUST(mt_crd2idx(&at, v->x.node, c->a, err));
  MUST(mt_crd2idx(&other, v->y.node, c->a, err));
  CHECK(at == v->offset && other == at && !mt_equal(v->x.node, v->y.node),
        "%s: %s and %s", text_of(c->a), text_of(v->x.node), text_of(v->y.node));
}

static void check (const claim *c, const mt_verdict *v) {
  bool inside = count_places(c), exact = inside && uniform(c);
  bool covers = exact;
  for (int k = 0; k < mt_rank(c->tiler); k++)
    covers = covers && tiles_mode(mt_mode(c->tiler, k), mt_size(mt_mode(c->a, k)));
  CHECK(v->covers == covers, "%s tiler %s of %s: covers %d, not %d", text_of(c->tv),
        text_of(c->tiler), text_of(c->a), v->covers, covers);
  CHECK(exact == (v->problem < MT_TWICE || v->problem > MT_OUTSIDE), "%s: %s",
        text_of(c->tv), mt_problem_text(v->problem));
  if (!exact) check_witness(c, v);
  else
    CHECK(v->broadcast == count[0] / c->idle, "%s: broadcast %lld, not %d",
          text_of(c->tv), (long long)v->broadcast, count[0]);
  CHECK(!covers || v->tiles * v->threads * v->values ==
                       v->broadcast * mt_size(c->a) + v->predicated,
        "%s: law 2", text_of(c->tv));
  bool placed = !c->written || v->injective == 1;
  bool whole = v->asked == 0 || v->elements == 0 || v->vector == v->asked;
  bool read = v->problem != MT_NOT_CANONICAL;
  CHECK(read || (c->wgmma && v->reason[0]), "%s: %s", text_of(c->a), v->reason);
  CHECK((v->problem == MT_PROVEN) == (covers && placed && whole && read),
        "%s tiler %s of %s: covers %d, injective %d, vector %lld of %lld: %s",
        text_of(c->tv), text_of(c->tiler), text_of(c->a), covers, v->injective,
        (long long)v->vector, (long long)v->asked, mt_problem_text(v->problem));
  check_memory(c, v);
  verdicts[v->problem]++;
}

/* ---------------------------------------------------------------- by hand */

/* A partition of up to 64 places, sometimes broken: modes of a compact layout dealt out
** to threads and values. */
static void random_tv (mt_layout *out, int64_t *places) {
  char text[2][256] = {"(1", "(1"}, stride[2][256] = {"(0", "(0"}, all[1100];
  int64_t next = 1;
  bool broken = pick(2) == 0;
  for (int i = pick(6); i > 0; i--) {
    int to = pick(2), n = 1 + pick(4);
    int64_t d = broken && pick(4) == 0 ? between(-2, 9) : next;
    if (next * n > 64) break;
    if (pick(12) == 0) d = 0;
    else next *= n;
    sprintf(text[to] + strlen(text[to]), ",%d", n);
    sprintf(stride[to] + strlen(stride[to]), ",%lld", (long long)d);
  }
  sprintf(all, "(%s),%s)):(%s),%s))", text[0], text[1], stride[0], stride[1]);
  *out = parse(all);
  *places = broken && pick(3) == 0 ? between(1, 64) : next;
}

/* A tile with so many places, in at most three modes, one of them perhaps a layout. */
static void random_tiler (mt_layout *out, int64_t places) {
  static const char *const odd[] = {"2:3", "(2,2):(1,4)", "(2,2):(4,1)", "(2,2):(1,3)",
                                    "4:2", "(2,2):(1,1)", "4:1",         "2:-1"};
  char text[256] = "(";
  int64_t left = places;
  for (int k = pick(3); k > 0; k--) {
    int64_t n = between(1, 5);
    const char *layout = odd[pick(8)];
    mt_layout t = parse(layout);
    if (left % mt_size(t.node) == 0 && pick(4) == 0) {
      sprintf(text + strlen(text), "%s,", layout);
      left /= mt_size(t.node);
    } else if (left % n == 0) {
      sprintf(text + strlen(text), "%lld,", (long long)n);
      left /= n;
    }
  }
  sprintf(text + strlen(text), "%lld)", (long long)left);
  *out = parse(text);
}

/* A tensor under the tile: any extents, with a mode or two more, any strides. */
static void random_tensor (view *out, const mt_node *tiler) {
  int64_t n[MT_MAXNODES], size = 1;
  int rank = mt_rank(tiler) + (pick(4) == 0);
  mt_layout shape;
  for (int k = 0; k < rank; k++) {
    int64_t most = k < mt_rank(tiler) ? 2 * mt_size(mt_mode(tiler, k)) + 1 : 3;
    n[k] = between(pick(20) == 0 ? 0 : 1, most);
    while (size * n[k] > 600) n[k] = (n[k] + 1) / 2 - 1;
    size *= n[k] > 0 ? n[k] : 1;
  }
  MUST(mt_ints(&shape, rank, n, err));
  random_view(out, shape.node, pick(2) == 0);
}

static void check_by_hand (void) {
  mt_layout tv, tiler;
  view x;
  mt_verdict v;
  claim c = {.tv = tv.node, .tiler = tiler.node, .a = x.layout.node, .idle = 1};
  random_tv(&tv, &c.places);
  random_tiler(&tiler, c.places);
  random_tensor(&x, tiler.node);
  c.written = pick(2) == 0;
  c.shared = !c.written;
  mt_tensor t = {.layout = c.a};
  MUST(mt_verify_tv(&v, c.tv, c.tiler, c.written ? MT_COPY_D : MT_COPY_S, &t, err));
  check(&c, &v);
}

/* ---------------------------------------------------------------- copies */

/* Law (6), where no two values of a thread are at one place: the offsets of a thread in a
** tile, sorted, are whole runs. */
static void check_runs (const mt_tiled_copy *copy, const mt_node *a, int64_t n) {
  mt_layout part;
  int64_t o[64], at, threads, values;
  MUST(mt_partition(&part, copy, a, err));
  threads = mt_size(mt_mode(part.node, 0));
  values = mt_size(mt_mode(part.node, 1));
  for (int64_t i = 0; i < threads * mt_size(mt_mode(part.node, 2)); i++) {
    for (int64_t v = 0; v < values; v++) {
      int64_t j = v, index = i % threads + threads * (v + values * (i / threads));
      MUST(mt_at(&at, part.node, index, err));
      for (; j > 0 && o[j - 1] > at; j--) o[j] = o[j - 1];
      o[j] = at;
    }
    for (int64_t v = 0; v < values; v++)
      CHECK(v % n ? o[v] == o[v - 1] + 1 : o[v] % n == 0, "%s: no runs of %lld",
            text_of(part.node), (long long)n);
  }
}

/* As wide as a plan makes it. */
static void check_widest (const mt_tiled_copy *copy, const mt_tensor *t,
                          const mt_verdict *v) {
  mt_launch l;
  mt_vector_limits why;
  int modes[MT_MAXBOUND];
  mt_err e = MT_NOERR;
  if (mt_describe(&l, modes, copy, t, t, &e) != MT_OK) {
    CHECK(v->problem == MT_ONE_PLACE || (v->vector == 1 && v->why[0] && v->reason[0]),
          "%s: %s", text_of(t->layout), e.text);
    return;
  }
  if (v->elements == 0) return;
  bool ok = mt_vectorize(&l, &why, copy, &e) == MT_OK;
  CHECK(ok == (v->asked == 0 || v->vector == v->asked), "%s: %s", text_of(t->layout),
        e.text);
  CHECK(!ok || l.desc.vec == v->vector, "%s: vector %lld, the plan has %d",
        text_of(t->layout), (long long)v->vector, (int)l.desc.vec);
}

static void check_copy (void) {
  static const char *const atoms[] = {"AutoVectorizingCopy", "UniversalCopy<uint64_t>",
                                      "UniversalCopy<uint32_t>"};
  mt_layout thr = parse(pick(2) ? "(4,2):(2,1)" : "(2,3):(1,2)");
  mt_layout val = parse(pick(3) == 0 ? "(2,2):(1,2)" : pick(2) ? "(1,4):(0,1)" : "4:1");
  mt_tiled_copy copy;
  mt_verdict v;
  view x;
  uint64_t room[4];
  MUST(mt_make_tiled_copy(&copy, atoms[pick(3)], 16, thr.node, val.node, err));
  random_tensor(&x, copy.tiler.node);
  if (pick(2)) {
    MUST(mt_shape(&thr, x.layout.node, err));
    MUST(mt_layout_left(&x.layout, thr.node, err));
  }
  claim c = {.tv = copy.layout_tv.node,
             .tiler = copy.tiler.node,
             .a = x.layout.node,
             .written = true,
             .idle = 1,
             .places = mt_size(copy.layout_tv.node)};
  mt_tensor t = {.layout = c.a, .dtype = MT_f16, .data = room, .offset = pick(2) * 2};
  MUST(mt_verify_copy(&v, &copy, MT_COPY_D, &t, err));
  check(&c, &v);
  if (v.vector > 0 && v.injective == 1 && v.predicated == 0 && t.offset == 0)
    check_runs(&copy, c.a, v.vector);
  check_widest(&copy, &t, &v);
}

/* ---------------------------------------------------------------- MMAs */

/* Partitions of more values are proven only, unless `all`. */
static void check_part (const mt_tiled_mma *mma, mt_mma_part x, bool all) {
  static const int axis[3][2] = {{0, 2}, {1, 2}, {0, 1}};
  mt_layout shape, compact, tv;
  mt_verdict v;
  view a;
  const int64_t n[] = {mma->tile[axis[x][0]], mma->tile[axis[x][1]]};
  MUST(mt_ints(&shape, 2, n, err));
  MUST(mt_layout_left(&compact, shape.node, err));
  MUST(mt_mma_tv(&tv, mma, x, compact.node, err));
  random_tensor(&a, shape.node);
  claim c = {.tv = tv.node,
             .tiler = shape.node,
             .a = a.layout.node,
             .shared = true,
             .written = x == MT_PART_C,
             .places = n[0] * n[1]};
  c.idle = mt_size(mt_mode(tv.node, 0)) / mt_tiled_mma_size(mma);
  c.wgmma = strcmp(mma->atom.op.arch, "sm90a") == 0 && x != MT_PART_C &&
            mma->atom.op.operand[x == MT_PART_A ? MT_OPERAND_A : MT_OPERAND_B].source ==
                MT_SMEM_DESC;
  MUST(mt_verify_mma(&v, mma, x, &(mt_tensor){.layout = c.a}, err));
  CHECK(v.covers, "%s %s: %s", mma->atom.op.name, text_of(mma->atoms.node),
        mt_problem_text(v.problem));
  CHECK(v.threads == mt_tiled_mma_size(mma), "%s", mma->atom.op.name);
  if (n[0] * n[1] <= MOST && (all || mt_size(tv.node) <= 1 << 13)) check(&c, &v);
}

/* One atom of 16, from a random one on, over some threads and values more. */
static void check_atoms (void) {
  static const char *const atoms[] = {"(1,1,1):(0,0,0)", "(2,1,1):(1,0,0)",
                                      "(1,2,2):(0,1,2)", "(2,2,1):(2,1,0)",
                                      "(2,1,1):(2,0,0)"};
  mt_atom_cursor at = {0, {0}};
  mt_mma_op op;
  for (int i = 0; mt_mma_atom_next(&op, &at); i++) {
    mt_tiled_mma mma;
    mt_layout a = parse(atoms[i % 5]), twice;
    const mt_node *permutation = i % 2 ? twice.node : NULL;
    mt_err e = MT_NOERR;
    const int64_t tile[] = {op.m * 4, op.n * 2, op.k * 2};
    MUST(mt_ints(&twice, 3, tile, err));
    begin_case(base_seed + (uint64_t)i);
    if ((uint64_t)i % 16 != base_seed % 16) continue;
    if (mt_make_tiled_mma(&mma, op.name, a.node, permutation, &e)) continue;
    for (int x = 0; x < 3; x++) check_part(&mma, (mt_mma_part)x, i % 1024 < 16);
  }
}

/* ---------------------------------------------------------------- */

/* Both sides of each copy atom have each element of a tile, all of them as often. */
static void check_sides (void) {
  char name[MT_ATOM_NAME];
  const char *arch;
  mt_atom_cursor at = {0, {0}};
  mt_layout thr = parse("(16,4):(4,1)"), val = parse("(4,64):(64,1)"), tv;
  while (mt_copy_atom_next(name, &arch, &at))
    for (int bits = 8; bits <= 32; bits *= 2) {
      mt_tiled_copy copy;
      mt_err e = MT_NOERR;
      if (mt_make_tiled_copy(&copy, name, bits, thr.node, val.node, &e)) continue;
      for (int side = 0; side < 2; side++) {
        MUST(mt_copy_tv(&tv, &copy, (mt_copy_side)side, err));
        claim c = {.tv = tv.node, .places = 64 * 256, .shared = true};
        CHECK(count_places(&c) && uniform(&c), "%s, side %d of %d bits: %s", name, side,
              bits, text_of(tv.node));
      }
    }
}

/* A proof over 2^32 elements, and one that overflows. */
static void check_large (void) {
  mt_tiled_mma mma;
  mt_verdict v;
  mt_err e = MT_NOERR;
  mt_layout atoms = parse("(4,2,1):(2,1,0)"), tile = parse("(128,128,64)");
  mt_layout a = parse("(65536,65536):(65536,1)"), tv = parse("(2,2):(1,2)");
  mt_layout four = parse("(4)"), huge = parse("(9223372036854775807):(1)");
  mt_tensor t = {.layout = huge.node};
  const char *name = "SM80_16x8x16_F32F16F16F32_TN";
  MUST(mt_make_tiled_mma(&mma, name, atoms.node, tile.node, err));
  for (int x = 0; x < 3; x++) {
    mt_tensor large = {.layout = a.node};
    MUST(mt_verify_mma(&v, &mma, (mt_mma_part)x, &large, err));
    CHECK(v.problem == MT_PROVEN && v.threads == 256 && v.elements == INT64_C(1) << 32,
          "large: %s", mt_problem_text(v.problem));
  }
  CHECK(mt_verify_tv(&v, tv.node, four.node, MT_COPY_D, &t, &e) == MT_EOVERFLOW, "%s",
        e.text);
}

void test_verify (void) {
  for (long i = 0; i < base_cases; i++) {
    begin_case(base_seed + (uint64_t)i);
    check_by_hand();
    if (i % 4 == 0) check_copy();
  }
  check_atoms();
  check_sides();
  check_large();
  printf("  verdicts:");
  for (int p = 0; p < MT_NPROBLEM; p++)
    printf(" %s %ld", mt_problem_text((mt_problem)p), verdicts[p]);
  printf("\n");
}
