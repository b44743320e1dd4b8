/*
** ragged.c - copies of tiles that the shape is no multiple of, against counting by hand:
** what is real arrives, all else stays what it was.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"

enum { MODES = 3 };

static mt_device *device[2];
static long copies, no_box, refused[MT_NSTATUS];

/* A tile of extents t at c (-1: `_`) in a shape with modes of size n. */
typedef struct tile {
  int rank;
  int64_t n[MODES], t[MODES], c[MODES];
  mt_layout tiler, coord, extent;
} tile;

/* One tensor's tile; all real: a tensor of the tile's own shape. */
typedef struct side {
  view whole;
  mt_layout layout, crd, base;
  mt_bounds bounds;
  mt_tensor t;
  bool own;
} side;

static void random_tile (tile *x, const mt_node *shape) {
  char tiler[128] = "(", coord[128] = "(";
  x->rank = mt_rank(shape);
  for (int i = 0; i < x->rank; i++) {
    x->n[i] = mt_size(mt_mode(shape, i));
    x->t[i] = between(1, x->n[i] + 2);
    int64_t tiles = (x->n[i] - 1) / x->t[i] + 1;
    x->c[i] = pick(3) == 0 ? -1 : pick(3) ? tiles - 1 : between(0, tiles - 1);
    const char *end = i + 1 < x->rank ? "," : ")";
    snprintf(tiler + strlen(tiler), 40, "%lld%s", (long long)x->t[i], end);
    if (x->c[i] < 0) snprintf(coord + strlen(coord), 40, "_%s", end);
    else snprintf(coord + strlen(coord), 40, "%lld%s", (long long)x->c[i], end);
  }
  x->tiler = parse(tiler);
  x->coord = parse(coord);
  MUST(mt_ints(&x->extent, x->rank, x->n, err));
}

static bool is_real (const tile *x, int64_t i) {
  int64_t at[MODES];
  for (int m = 0; m < x->rank; i /= x->t[m++])
    at[m] = i % x->t[m] + (x->c[m] < 0 ? 0 : x->c[m] * x->t[m]);
  for (int m = 0; m < x->rank; m++) {
    if (x->c[m] >= 0) continue;
    int64_t tiles = (x->n[m] - 1) / x->t[m] + 1;
    at[m] += i % tiles * x->t[m];
    i /= tiles;
  }
  for (int m = 0; m < x->rank; m++)
    if (at[m] >= x->n[m]) return false;
  return true;
}

/* False: the layout has no such tile. */
static bool cut (side *s, const tile *x) {
  mt_layout identity, offset;
  mt_err why = MT_NOERR;
  if (mt_local_tile(&s->layout, &offset, s->whole.layout.node, x->tiler.node,
                    x->coord.node, NULL, &why) != MT_OK)
    return false;
  MUST(mt_make_identity_layout(&identity, x->extent.node, err));
  MUST(mt_local_tile(&s->crd, &s->base, identity.node, x->tiler.node, x->coord.node, NULL,
                     err));
  s->bounds = (mt_bounds){s->crd.node, s->base.node, x->extent.node};
  s->t.layout = s->layout.node;
  s->t.offset = s->whole.offset + offset.node[0].shape;
  s->t.bounds = &s->bounds;
  s->own = false;
  return true;
}

static void own_tensor (side *s, const mt_node *layout, bool injective) {
  mt_layout shape;
  MUST(mt_shape(&shape, layout, err));
  random_view(&s->whole, shape.node, injective);
  s->t.layout = s->whole.layout.node;
  s->t.offset = s->whole.offset;
  s->own = true;
}

static void random_swizzle (side *s) {
  mt_layout w, out;
  mt_err why = MT_NOERR;
  char text[64];
  int b = 1 + pick(2);
  snprintf(text, sizeof text, "Sw<%d,%d,%d>", b, pick(3), b + pick(2));
  w = parse(text);
  if (s->whole.layout.node->tag == MT_SWIZZLE) return;
  if (mt_composition(&out, w.node, s->whole.layout.node, &why) != MT_OK) return;
  s->whole.layout = out;
  s->whole.size = (s->whole.size + 63) / 64 * 64 + 64;
  s->whole.offset = (s->whole.offset + 63) / 64 * 64;
}

static void expect (memory want, const side s[2], const tile *x, memory from,
                    size_t elem) {
  int64_t at[2], n = mt_size(s[MT_DST].t.layout);
  for (int64_t i = 0; i < n; i++) {
    if ((!s[0].own || !s[1].own) && !is_real(x, i)) continue;
    for (int o = 0; o < 2; o++) {
      MUST(mt_at(&at[o], s[o].t.layout, i, err));
      at[o] += s[o].t.offset;
    }
    memcpy(want.p + (size_t)at[MT_DST] * elem, from.p + (size_t)at[MT_SRC] * elem, elem);
  }
}

static void run_on (mt_device *d, side s[2], const mt_tiled_copy *copy, memory before,
                    memory want) {
  mt_plan *p;
  mt_err why = MT_NOERR;
  char text[4096], bounds[2][512] = {"", ""};
  memory got = exact_memory(before.bytes, 0);
  memcpy(got.p, before.p, before.bytes);
  s[MT_DST].t.data = got.p;
  mt_status st = mt_plan_copy(&p, d, copy, &s[MT_SRC].t, &s[MT_DST].t, &why);
  for (int o = 0; o < 2; o++)
    if (s[o].t.bounds) mt_bounds_format(bounds[o], sizeof bounds[o], s[o].t.bounds);
  refused[st]++;
  if (st == MT_OK) {
    mt_plan_format(text, sizeof text, p);
    no_box += strstr(text, "\nbounds:") != NULL && !copy;
    CHECK((strstr(text, "\nragged: ") != NULL) == (*bounds[0] || *bounds[1]), "%s", text);
    CHECK(mt_plan_launch(p, NULL, &why) == MT_OK, "%s", why.text);
    mt_plan_free(p);
    CHECK(memcmp(got.p, want.p, want.bytes) == 0, "%s: %s %s -> %s %s: %s",
          mt_device_name(d), text_of(s[0].t.layout), bounds[0], text_of(s[1].t.layout),
          bounds[1], text);
    copies++;
  } else {
    CHECK(copy || st == MT_EINEXACT || (st == MT_EOVERLAP && !copy), "%s %s -> %s %s: %s",
          text_of(s[0].t.layout), bounds[0], text_of(s[1].t.layout), bounds[1], why.text);
  }
  free_memory(got);
}

/* What a proof says of memory: of what is real. */
static void verify (const side *s, const tile *x) {
  mt_verdict v;
  int64_t real = 0, low = 0, high = -1, at, one[MODES + 1] = {1, 1, 1, 1};
  mt_layout tv = parse("(1,1):(0,0)"), tiler;
  mt_tensor t = s->t;
  t.data = NULL;
  for (int64_t i = 0; i < mt_size(t.layout); i++) {
    if (!is_real(x, i)) continue;
    MUST(mt_at(&at, t.layout, i, err));
    if (real == 0 || at < low) low = at;
    if (real == 0 || at > high) high = at;
    real++;
  }
  MUST(mt_ints(&tiler,
               mt_rank(t.layout->tag == MT_SWIZZLE ? mt_child(t.layout) : t.layout), one,
               err));
  MUST(mt_verify_tv(&v, tv.node, tiler.node, MT_COPY_D, &t, err));
  CHECK(v.real == -1 || (v.real == real && v.lowest == low && v.highest == high),
        "verify %s: %lld, %lld to %lld, not %lld, %lld to %lld", text_of(t.layout),
        (long long)v.real, (long long)v.lowest, (long long)v.highest, (long long)real,
        (long long)low, (long long)high);
  CHECK(v.injective == 1, "verify %s: %s", text_of(t.layout), v.reason);
}

static bool random_copy (mt_tiled_copy *out, int rank, size_t elem) {
  char thr[64] = "(", val[64] = "(";
  mt_err why = MT_NOERR;
  for (int i = 0; i < rank; i++) {
    const char *end = i + 1 < rank ? "," : ")";
    snprintf(thr + strlen(thr), 20, "%d%s", 1 << pick(3), end);
    snprintf(val + strlen(val), 20, "%d%s", 1 << pick(2), end);
  }
  mt_layout t, v, a = parse(thr), b = parse(val);
  MUST(mt_layout_left(&t, a.node, err));
  MUST(mt_layout_left(&v, b.node, err));
  return mt_make_tiled_copy(out, "AutoVectorizingCopy", (int)elem * 8, t.node, v.node,
                            &why) == MT_OK;
}

static void one (void) {
  static const mt_dtype types[] = {MT_u8, MT_f16, MT_f32, MT_f64};
  mt_dtype type = types[pick(4)];
  size_t elem = mt_dtype_size(type);
  mt_layout shape;
  side s[2] = {0};
  tile x;
  memory m[3];
  mt_tiled_copy copy;
  random_shape(&shape, 300);
  if (mt_rank(shape.node) > MODES) return;
  random_tile(&x, shape.node);
  for (int o = 0; o < 2; o++) random_view(&s[o].whole, shape.node, o == MT_DST);
  for (int o = 0; o < 2; o++)
    if (pick(6) == 0) random_swizzle(&s[o]);
  if (!cut(&s[0], &x) || !cut(&s[1], &x)) return;
  if (mt_rank(s[0].layout.node) > 4) return;
  verify(&s[MT_DST], &x);
  int whose = pick(3);
  if (whose < 2) own_tensor(&s[whose], s[1 - whose].layout.node, whose == MT_DST);
  for (int o = 0; o < 2; o++) {
    m[o] = exact_memory((size_t)s[o].whole.size * elem, 0);
    random_bytes(m[o]);
    s[o].t.dtype = type;
    s[o].t.data = m[o].p;
    s[o].t.bytes = m[o].bytes;
    if (s[o].own) s[o].t.bounds = NULL;
  }
  m[2] = exact_memory(m[1].bytes, 0);
  memcpy(m[2].p, m[1].p, m[1].bytes);
  expect(m[2], s, &x, m[0], elem);
  bool tiled = pick(3) == 0 && random_copy(&copy, mt_rank(s[0].t.layout), elem);
  for (int d = 0; d < 2; d++) run_on(device[d], s, tiled ? &copy : NULL, m[1], m[2]);
  for (int i = 0; i < 3; i++) free_memory(m[i]);
}

void test_ragged (void) {
  mt_err why = MT_NOERR;
  static const char *const names[] = {"cpu", "cpu:checked"};
  mt_device_options options = {.size = sizeof(mt_device_options), .threads = 2};
  for (int d = 0; d < 2; d++)
    CHECK(mt_device_open(&device[d], names[d], &options, &why) == MT_OK, "%s", why.text);
  for (long i = 0; i < base_cases / 2; i++) {
    begin_case(base_seed + (uint64_t)i);
    one();
  }
  for (int d = 0; d < 2; d++) mt_device_close(device[d]);
  printf("  %ld copies, %ld of no box:", copies, no_box);
  for (int s = 0; s < MT_NSTATUS; s++)
    if (refused[s]) printf(" %s %ld", mt_status_name((mt_status)s), refused[s]);
  printf("\n");
}
