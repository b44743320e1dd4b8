/*
** moves.c - the CPU executor's inner loops, one tile at a time: all units, odd addresses
** and pitches,
** SPDX-License-Identifier: MIT
** with and without streaming, in memory of exact size.
*/
#include "exec_test.h"
#include "cpu/copy.h"

/* A tile whose a runs along the destination and whose b runs along the source, or
** neither. */
typedef struct tile {
  mt_cpu_tile t;
  mt_cpu_move *move;
  int64_t na, nb;
} tile;

static size_t reach (const mt_cpu_axis *a, const mt_cpu_axis *b, bool dst,
                     const tile *x) {
  int64_t d = dst ? a->dst : a->src, e = dst ? b->dst : b->src;
  return (size_t)((x->na - 1) * d + (x->nb - 1) * e + x->t.unit);
}

static void check_tile (const tile *x, const char *what) {
  const mt_cpu_axis *a = &x->t.a, *b = &x->t.b;
  size_t unaligned[] = {(size_t)pick(2) * (size_t)pick(64),
                        (size_t)pick(2) * (size_t)pick(64)};
  memory src = exact_memory(reach(a, b, false, x) + unaligned[0], 0);
  memory dst = exact_memory(reach(a, b, true, x) + unaligned[1], 0);
  memory want = exact_memory(dst.bytes, 0);
  random_bytes(src);
  random_bytes(dst);
  memcpy(want.p, dst.p, dst.bytes);
  for (int64_t i = 0; i < x->na; i++)
    for (int64_t j = 0; j < x->nb; j++)
      memcpy(want.p + unaligned[1] + i * a->dst + j * b->dst,
             src.p + unaligned[0] + i * a->src + j * b->src, (size_t)x->t.unit);
  x->move(&x->t, (const char *)src.p + unaligned[0], (char *)dst.p + unaligned[1], x->na,
          x->nb);
  CHECK(memcmp(dst.p, want.p, dst.bytes) == 0, "%s: units of %lld, %lld by %lld", what,
        (long long)x->t.unit, (long long)x->na, (long long)x->nb);
  free_memory(src);
  free_memory(dst);
  free_memory(want);
}

static void set_axis (mt_cpu_axis *a, int64_t extent, int64_t src, int64_t dst) {
  mt_cpu_axis x = {extent, src, dst};
  *a = x;
}

static void transpose (int64_t unit) {
  tile x = {.t = {.unit = unit, .stream = pick(3) != 0}};
  int64_t ta, tb, pad = pick(2) ? 64 : unit;
  x.move = mt_cpu_turner(unit, pad, between(1, 600), between(1, 600), &ta, &tb);
  if (x.move == NULL) return;
  x.na = pick(3) ? between(1, ta) : ta;
  x.nb = pick(3) ? between(1, tb) : tb;
  int64_t from = (x.nb * unit + pick(3) * pad + 63) / pad * pad;
  int64_t to = (x.na * unit + pick(3) * pad + 63) / pad * pad;
  set_axis(&x.t.a, x.na, from, unit);
  set_axis(&x.t.b, x.nb, unit, to);
  check_tile(&x, "transpose");
}

static void move_any (int64_t unit) {
  tile x = {.t = {.unit = unit}, .na = between(1, 40), .nb = between(1, 40)};
  x.move = mt_cpu_mover(unit);
  set_axis(&x.t.a, x.na, between(0, 80), unit + pick(3));
  set_axis(&x.t.b, x.nb, between(0, 80), x.na * (unit + 2) + pick(9));
  check_tile(&x, "move");
}

static void move_rows (void) {
  tile x = {.t = {.unit = 1}, .na = between(1, 300), .nb = between(1, 20)};
  x.move = mt_cpu_row_mover(x.na, 1, pick(2) ? 100 : MT_LONGROW);
  x.t.asks = pick(2), x.t.stream = pick(2);
  set_axis(&x.t.a, x.na, 1, 1);
  set_axis(&x.t.b, x.nb, between(0, 400), x.na + pick(9));
  check_tile(&x, "rows");
}

static void fill (int64_t unit) {
  tile x = {.t = {.unit = unit, .stream = pick(2)}, .na = between(1, 1500)};
  x.nb = between(1, 8);
  x.move = mt_cpu_filler(unit);
  set_axis(&x.t.a, x.na, 0, unit);
  set_axis(&x.t.b, x.nb, between(0, 40), x.na * unit + pick(9));
  check_tile(&x, "fill");
}

void test_moves (void) {
  for (long i = 0; i < base_cases / 10 + 100; i++) {
    begin_case(base_seed + (uint64_t)i);
    transpose((int64_t)1 << pick(5));
    move_any(between(1, 31));
    move_rows();
    fill((int64_t)1 << pick(5));
  }
}
