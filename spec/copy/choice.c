/*
** choice.c - the cheapest algorithm of a copy: what is left out could not have been it.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "exec_test.h"
#include "copy/algo.h"
#include "copy/check.h"
#include "copy/choice.h"
#include "copy/gather.h"

enum {
  RANK = 8,
  MOST = 1 << 29,
  SHORT = 7 /* microseconds of a copy whose tiles are searched for a short time */
};
static const double PASSED = 1.5; /* times as long as the best, by such a search */

/* Axes of both sides in elements, the first fastest. */
typedef struct axes {
  int n;
  int64_t extent[RANK], stride[2][RANK];
  mt_dtype type, to; /* of both sides; mostly the same */
  int64_t more;      /* elements that both sides begin behind a multiple of 256 bytes */
} axes;

static const mt_dtype types[] = {MT_u8, MT_f16, MT_f32, MT_f64};

/* Extents of models, of people, any. */
static int64_t random_extent (int64_t *room) {
  static const int likely[] = {2, 3, 4, 5, 7, 8, 16, 17, 32, 64, 96, 128, 224, 256, 1024};
  int64_t n = likely[pick(sizeof likely / sizeof likely[0])];
  if (pick(4) == 0) n = between(2, 300);
  if (pick(12) == 0) n = between(2, 100000);
  if (n > *room) n = *room;
  *room /= n;
  return n;
}

/* One of the shapes of views: permuted, padded, reversed, windowed, broadcast. */
static void random_source (axes *a) {
  int order[RANK];
  int64_t at = 1;
  for (int i = 0; i < a->n; i++) order[i] = i;
  for (int i = a->n - 1, mixed = pick(3); i > 0 && mixed; i--) {
    const int j = pick(i + 1), k = order[i];
    order[i] = order[j], order[j] = k;
  }
  for (int k = 0; k < a->n; k++) {
    const int i = order[k];
    const bool last = k + 1 == a->n;
    a->stride[MT_SRC][i] = at;
    if (pick(12) == 0 && !last) a->stride[MT_SRC][i] = 0;
    else if (pick(12) || last) at *= a->extent[i] * (pick(12) ? 1 : 2);
    if (pick(8) == 0) at += between(0, 16);
    if (pick(7) == 0) a->stride[MT_SRC][i] *= -1;
    if (pick(40) == 0) a->stride[MT_SRC][i] = between(-9, 9);
  }
}

static axes random_axes (void) {
  axes a = {.n = 1 + pick(RANK), .type = types[pick(4)], .more = pick(5) ? 0 : pick(9)};
  int64_t room = between(1, (int64_t)1 << between(4, 26)), at = 1;
  a.to = pick(5) ? a.type : types[pick(4)];
  for (int i = 0; i < a.n; i++) {
    a.extent[i] = random_extent(&room);
    a.stride[MT_DST][i] = at;
    at *= a.extent[i];
    if (i == 0 && pick(8) == 0) at += between(0, 16);
  }
  random_source(&a);
  return a;
}

/* ---------------------------------------------------------------- copies of them */

static void put_list (char *text, size_t size, const int64_t *list, int n) {
  size_t at = strlen(text);
  for (int i = 0; i < n && at < size; i++)
    at += (size_t)snprintf(text + at, size - at, "%s%lld", i ? "," : "(",
                           (long long)list[i]);
  if (at < size) snprintf(text + at, size - at, ")");
}

static mt_layout layout_of (const axes *a, int side) {
  char text[512] = "";
  put_list(text, sizeof text, a->extent, a->n);
  strcat(text, ":");
  put_list(text, sizeof text, a->stride[side], a->n);
  return parse(text);
}

/* The flat copy by the widest accesses. False: it is none, or too large. Memory is not
** there: nothing is copied. */
static bool flat_copy (mt_launch *l, mt_vector_limits *why, const axes *a) {
  mt_layout room[2];
  mt_tensor t[2];
  mt_err why_not = MT_NOERR;
  size_t bytes[2];
  int modes[MT_MAXBOUND];
  for (int side = 0; side < 2; side++) {
    int64_t low, high;
    room[side] = layout_of(a, side);
    MUST(mt_footprint(&low, &high, room[side].node, err));
    if (high - low > MOST) return false;
    const mt_dtype type = side ? a->to : a->type;
    bytes[side] = (size_t)(high - low + 1 + a->more) * mt_dtype_size(type);
    t[side] =
        (mt_tensor){room[side].node, type,          (void *)((uintptr_t)(side + 1) << 36),
                    bytes[side],     a->more - low, NULL};
  }
  return mt_describe(l, modes, NULL, &t[0], &t[1], &why_not) == MT_OK &&
         l->desc.rests > 0 && mt_check_copy(l, bytes, &why_not) == MT_OK &&
         mt_vectorize(l, why, NULL, &why_not) == MT_OK;
}

/* ---------------------------------------------------------------- laws */

static const char *text_of_axes (const axes *a) {
  static char text[512];
  snprintf(text, sizeof text, "%s to %s ", mt_dtype_name(a->type), mt_dtype_name(a->to));
  put_list(text, sizeof text, a->extent, a->n);
  for (int side = 0; side < 2; side++) {
    strcat(text, side ? " -> " : ":");
    put_list(text, sizeof text, a->stride[side], a->n);
  }
  return text;
}

/* No algorithm takes less than it was said to take at least, before its tiles were
** found. */
static void check_least (const axes *a, const mt_launch *flat) {
  const mt_search all = {.us = INFINITY, .all = true};
  for (int algo = 0; algo < MT_NALGO; algo++) {
    char reason[MT_REASON];
    mt_launch l = *flat;
    mt_cost cost;
    if (algo != MT_ALGO_STRIDED && (mt_algo_of((uint32_t)algo)->make == NULL ||
                                    !mt_algo_make(&l, (mt_algorithm)algo, &all, reason)))
      continue;
    mt_cost_apart(&cost, &l, NULL);
    const double least = mt_algo_least(flat, (mt_algorithm)algo);
    CHECK(!mt_is_above(least, cost.us), "%s by %s: %.4f us, at least %.4f",
          text_of_axes(a), mt_algo_of((uint32_t)algo)->name, cost.us, least);
  }
}

static double us_of (const mt_launch *l) {
  mt_cost cost;
  mt_cost_apart(&cost, l, NULL);
  return cost.us;
}

/* What is chosen is what is chosen of all, or takes hardly longer: by what no search was
** made for; of short copies by tiles that a short search passes over. */
static void check_choice (const axes *a, const mt_launch *flat,
                          const mt_vector_limits *why) {
  mt_launch some = *flat, all = *flat;
  mt_vector_limits of_some = *why, of_all = *why;
  mt_cheapest(&some, &of_some);
  mt_cheapest_of(&all, &of_all, true);
  const double us = us_of(&some), least = us_of(&all);
  const double passed = least < SHORT ? us / PASSED : us;
  CHECK(fmin(passed, mt_worth(us)) <= least, "%s: %.4f us by %s, but %.4f by %s",
        text_of_axes(a), us, mt_algo_of(some.desc.algo)->name, least,
        mt_algo_of(all.desc.algo)->name);
  if (us != least || some.desc.algo != all.desc.algo) return;
  CHECK(memcmp(&some, &all, sizeof all) == 0, "%s: by %s, but of all by %s",
        text_of_axes(a), mt_algo_of(some.desc.algo)->name,
        mt_algo_of(all.desc.algo)->name);
  CHECK(strcmp(of_some.tile, of_all.tile) == 0, "%s: \"%s\", but of all \"%s\"",
        text_of_axes(a), of_some.tile, of_all.tile);
}

static bool check (const axes *a) {
  mt_launch flat;
  mt_vector_limits why;
  if (!flat_copy(&flat, &why, a)) return false;
  check_least(a, &flat);
  check_choice(a, &flat, &why);
  return true;
}

/* Views whose choice was once wrong, or nearly so. */
static const axes some[] = {
    {8,
     {9, 3, 3, 4, 72, 16, 4, 45},
     {{2255054, 24, 2, 87, -15660, 20295486, 6, 348},
      {1, 9, 27, 81, 324, 23328, 373248, 1492992}},
     MT_u8,
     MT_u8,
     0},
    {4,
     {56, 121, 5, 248},
     {{150040, 1, 30008, 121}, {1, 56, 6776, 33880}},
     MT_f64,
     MT_f64,
     0},
    {2, {17, 31}, {{31, 1}, {1, 17}}, MT_f64, MT_f64, 0},
    {4, {64, 8, 16, 5}, {{1, 128, 1024, 1024}, {1, 64, 512, 8192}}, MT_f32, MT_f32, 0},
    {2, {8191, 4099}, {{4099, 1}, {1, 8191}}, MT_f32, MT_i32, 0},
    {2, {2560, 3333}, {{3333, 1}, {1, 2560}}, MT_f64, MT_f32, 0},
    {4,
     {64, 2, 256, 107},
     {{512, 32768, 1, 32768}, {1, 64, 128, 32768}},
     MT_f64,
     MT_f64,
     0},
};

/* ---------------------------------------------------------------- lines in part */

/* Short rows with gaps: their lines are asked for before, unless they are whole sectors. */
static void check_gaps (mt_dtype type, int64_t row, int64_t pitch, bool asks) {
  const mt_search any = {.us = INFINITY};
  const axes a = {2,          {row, 100000}, {{100000, 1}, {1, pitch}}, .type = type,
                  .to = type, .more = 0};
  char reason[MT_REASON];
  mt_launch l;
  mt_vector_limits why;
  CHECK(flat_copy(&l, &why, &a) && mt_algo_make(&l, MT_ALGO_STAGED, &any, reason) &&
            (l.desc.staged.gaps != 0) == asks,
        "rows of %lld at %lld", (long long)row, (long long)pitch);
}

static void test_gaps (void) {
  check_gaps(MT_f32, 8, 24, false);
  check_gaps(MT_f32, 16, 24, false);
  check_gaps(MT_f64, 4, 8, false);
  check_gaps(MT_u8, 32, 64, false);
  check_gaps(MT_f32, 8, 12, true);
  check_gaps(MT_f32, 12, 16, true);
  check_gaps(MT_u8, 3, 4, true);
}

/* Tiles whose lines others have parts of come one behind the other, where all tiles
** between them are more than caches hold; else as they lie. */
static void test_first (void) {
  const mt_search any = {.us = INFINITY};
  for (int far = 0; far < 2; far++) {
    const int64_t n = far ? 233017 : 2330;
    const axes a = {3,      {n, 3, 24}, {{360, 1, 15}, {1, n, 3 * n}},
                    MT_f32, MT_f32,     .more = 0};
    char reason[MT_REASON];
    mt_launch l;
    mt_vector_limits why;
    CHECK(flat_copy(&l, &why, &a) && mt_algo_make(&l, MT_ALGO_STAGED, &any, reason) &&
              l.desc.staged.tile.first.extent == (far ? 24 : 1),
          "%lld rows", (long long)n);
  }
}

/* What STAGED makes of a copy by itself. */
static mt_staged staged_of (const axes *a, mt_launch *l) {
  const mt_search any = {.us = INFINITY};
  mt_vector_limits why;
  char reason[MT_REASON];
  CHECK(flat_copy(l, &why, a) && mt_algo_make(l, MT_ALGO_STAGED, &any, reason), "%s",
        text_of_axes(a));
  return l->desc.staged;
}

/* Pieces are numbered by multiplying: as by dividing, for all that a tile may have. */
static void check_levels (const mt_staged *s) {
  for (uint32_t i = 0; i < s->levels; i++)
    for (uint32_t n = 0; n < MT_STAGED_PIECES; n++)
      CHECK(n * s->level[i].mul >> MT_STAGED_LEVELSHIFT == n / s->level[i].extent,
            "piece %u of %u", n, s->level[i].extent);
}

/* Words of rows that begin with sectors are whole ones apart, where that is near; columns
** of all extents that are pieces. */
static void test_steps (void) {
  for (int64_t n = 2; n <= 1024; n += n < 64 ? 1 : 41) {
    const axes a = {3,      {n, 5000, 20}, {{100000, 1, 5000}, {1, n, 5000 * n}},
                    MT_f32, MT_f32,        .more = 0};
    mt_launch l;
    const mt_staged s = staged_of(&a, &l);
    check_levels(&s);
    CHECK(n != 34 || s.step.extent % 8 == 0, "a step of %u words", s.step.extent);
  }
}

/* Small matrices of bytes, one after another, whose columns meet few banks: words are
** rotated; those of others are not. */
static void test_rotation (void) {
  const axes a = {3,     {118, 40, 28575}, {{40, 1, 4720}, {1, 118, 4720}}, MT_u8,
                  MT_u8, .more = 0};
  mt_launch l;
  mt_err err;
  const mt_staged s = staged_of(&a, &l);
  mt_desc *d = &l.desc;
  CHECK(s.rotate_log == 2, "columns of 40 bytes: %u", s.rotate_log);
  const double rotated = mt_staged_rotate(d);
  d->staged.rotate_log = 40;
  CHECK(mt_algo_of(MT_ALGO_STAGED)->check(&l, &err) != MT_OK, "words rotated by nothing");
  d->staged.stride[0] = 33;
  CHECK(mt_staged_rotate(d) < rotated && d->staged.rotate_log == MT_STAGED_STRAIGHT,
        "columns of 33 bytes meet all banks");
}

/* Rows of bytes that begin within words are as long as others; runs end with an axis where
** the table of units is shorter then. */
static void test_long_rows (void) {
  const axes odd = {5,
                    {9, 14, 61, 21, 871},
                    {{61, 11529, 1, 549, 161406}, {1, 9, 126, 7686, 161406}},
                    MT_u8,
                    MT_u8,
                    .more = 0};
  const axes matrices = {3,      {140, 29, 16709}, {{29, 1, 4060}, {1, 140, 4060}},
                         MT_f16, MT_f16,           .more = 0};
  mt_launch l;
  mt_staged s = staged_of(&odd, &l);
  CHECK(s.tile.units == 7686, "rows of 7686 bytes: %u", s.tile.units);
  s = staged_of(&matrices, &l);
  CHECK(s.tile.units == 4060 && s.step.extent < 2030, "%u units, a step of %u words",
        s.tile.units, s.step.extent);
}

/* Sectors of pieces that overlap: each once, as counted one by one. */
static void test_windows (void) {
  for (int k = 0; k < 1000; k++) {
    const int n = (int)between(1, 4);
    int64_t stride = 64, reach = 1;
    static uint8_t seen[1 << 20];
    mt_launch l = {.desc = {.elem = 4, .vec = 1, .nthr = (uint32_t)n}};
    memset(seen, 0, sizeof seen);
    seen[0] = 1;
    for (int i = 0; i < n; i++) {
      const int64_t e = between(2, 12);
      mt_axis *a = &l.desc.axis[i];
      a->extent = e, a->stride[MT_SRC] = pick(2) ? stride : -stride;
      for (int64_t at = reach - 1; at >= 0; at--)
        for (int64_t j = 1; seen[at] && j < e; j++) seen[at + j * (stride / 64)] = 1;
      reach += (e - 1) * (stride / 64);
      stride *= between(1, 14);
    }
    double sectors = 0;
    for (int64_t i = 0; i < reach; i++) sectors += seen[i];
    CHECK(mt_source_bytes(&l.desc) == 32 * sectors, "%d axes: %g bytes of %g sectors", n,
          mt_source_bytes(&l.desc), sectors);
  }
}

void test_choice (void) {
  const long n = base_cases / 4;
  test_gaps();
  test_first();
  test_steps();
  test_rotation();
  test_long_rows();
  test_windows();
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
    CHECK(check(&some[i]), "%s is no copy", text_of_axes(&some[i]));
  for (long k = 0, done = 0; done < n && k < 4 * n; k++) {
    begin_case(base_seed + (uint64_t)k);
    const axes a = random_axes();
    done += check(&a);
  }
}
