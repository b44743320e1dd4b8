/*
** hopper_draw.c - random products by TMA and wgmma: sizes, types, factors, launches.
** SPDX-License-Identifier: MIT
*/
#include "core/arith.h"
#include "gemm/matrix.h"
#include "hopper_case.h"
#include "types/dtype.h"

/* The last tile is full, or has a bit of one. */
static int draw_extent (int tile, int most) {
  const int n = tile * (1 + pick(most));
  return pick(4) == 0 ? n : n - pick(tile);
}

static uint32_t draw_activation (int form) {
  uint32_t a = (uint32_t)pick(MT_NACTIVATION);
  while (form != MT_FORM_ANY && mt_form_of(a).form != form)
    a = (uint32_t)pick(MT_NACTIVATION);
  return a;
}

/* Whether a kernel that writes D without its map may do it by words. */
static bool may_go_by_words (const hopper_case *c) {
  return c->direct && MT_HOPPER_STORES(c->row->n) && !c->row->finishes &&
         !c->row->turned && c->beta == 0 &&
         (c->type != MT_f32 || (double)(float)c->alpha == c->alpha);
}

static void draw_epilogue (hopper_case *c) {
  static const double factors[] = {1, 1, 2, -1, 0.5};
  const bool whole = c->row->type[MT_C] == MT_i32;
  static const mt_dtype floats[] = {MT_f32, MT_f16, MT_bf16};
  const bool halves = c->row->side == MT_SIDE_MAP || c->row->turned;
  const bool one_way = MT_HOPPER_ONE_WAY(c->row->n) || c->row->turned;
  c->type =
      c->row->finishes ? floats[halves ? 1 + pick(2) : pick(3)] : c->row->type[MT_C];
  c->activation = c->row->finishes ? draw_activation(c->row->form) : 0;
  c->direct = one_way ? c->row->by_rows : !MT_HOPPER_STORES(c->row->n) || pick(3) == 0;
  c->beta = 0;
  c->alpha = whole ? 1 : factors[pick(5)];
  const bool adds = c->direct || (c->row->finishes && may_read(c->row));
  if (adds && !whole && pick(2)) c->beta = factors[pick(5)];
  if (!whole && !c->row->finishes && pick(4) == 0) c->alpha = NO_FLOAT;
  if (c->row->finishes && !c->direct) c->n += c->n % 2;
  if (may_go_by_words(c) && pick(3)) c->direct = MT_BY_WORDS;
}

/* Slabs a few, or more than the ring has slots; or, as often, enough for the end of a
** tile to go on beside the next. */
static int draw_slabs (const mt_hopper_row *row) {
  enum { ENOUGH = 14 };
  const bool late = MT_HOPPER_ONE_WAY(row->n) && row->finishes;
  if (late && pick(2)) return ENOUGH + pick(8);
  return pick(4) == 0 ? 1 + pick(3) : row->stages + 1 + pick(late ? 18 : 3);
}

/* A few tiles. */
void draw_case (hopper_case *c, const mt_hopper_row *row) {
  const int depth = MT_SLAB / (int)mt_dtype_size(row->type[MT_A]);
  const bool splits = MT_HOPPER_SPLITS(row->n, row->cluster, row->turned);
  *c = (hopper_case){.row = row};
  c->m = draw_extent(MT_TILE_M, row->cluster + (pick(2) ? 1 : 0));
  c->n = draw_extent(row->n, row->n <= 64 ? 3 : 1 + pick(2));
  c->batch = pick(3) == 0 ? 2 : 1;
  c->k = depth * draw_slabs(row);
  if (pick(3)) c->k -= pick(depth);
  if (row->type[MT_A] == MT_f32 && pick(2)) c->terms = 3, c->k = 1 + c->k / 3;
  else c->terms = 1;
  c->parts = splits && pick(2) ? 1 << pick(3) : 1;
  const int slabs = (int)mt_div_up(c->k, depth) * c->terms;
  while (c->parts > slabs) c->parts /= 2;
  draw_epilogue(c);
  c->streams = MT_HOPPER_STREAM_K(row->cluster, row->turned) && pick(3);
  c->clusters = 1 + pick(c->streams ? 9 : 3);
  c->run.timing = (emulated_timing)pick(NTIMING);
  c->run.order = (emulated_order)pick(NORDER);
  c->run.seed = next64();
}

size_t format_case (char *buf, size_t size, const hopper_case *c) {
  static const char *const timing[] = {"earliest", "latest", "between"};
  static const char *const order[] = {"any order", "loader first", "loader last"};
  return (size_t)snprintf(
      buf, size,
      "%d x %d x %d, %d batches, %d terms, %d parts, %d clusters%s, alpha %g, beta %g%s, "
      "%s, %s",
      c->m, c->n, c->k, c->batch, c->terms, c->parts, c->clusters,
      c->streams ? " of stream-K" : "", c->alpha, c->beta,
      c->direct == MT_BY_WORDS ? ", by words" :
      c->direct                ? ", by elements" :
                                 "",
      timing[c->run.timing], order[c->run.order]);
}
