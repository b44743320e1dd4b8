/*
** tma.c - boxes of TMA against the elements that they bring to shared memory.
** SPDX-License-Identifier: MIT
**
** A box is walked as the hardware does: its first dimension fastest, element after element
** of shared memory. What lies there has to be what the layout in shared memory says.
*/
#include <string.h>

#include "hardware_test.h"
#include "times.h"

typedef struct random_tile {
  int64_t size[2], tile[2];
  bool right; /* the tensor is row-major */
  int bits, mode;
  mt_layout tensor, smem;
} random_tile;

static bool make (random_tile *t, uint64_t *x) {
  static const char *const names[] = {"INTER", "SW32", "SW64", "SW128"};
  mt_layout atom, shape;
  mt_err err = MT_NOERR;
  char name[64];
  t->bits = 8 << pick(x, 3);
  t->mode = pick(x, 4);
  t->right = pick(x, 2) == 0;
  int64_t run = (128 << t->mode) / t->bits;
  for (int i = 0; i < 2; i++) {
    bool along = i == (t->right ? 1 : 0);
    t->tile[i] = along ? run * (1 + pick(x, 2)) : 8 * (1 + pick(x, 4));
    t->size[i] = t->tile[i] * (1 + pick(x, 3)) + (along ? 0 : pick(x, 5));
  }
  snprintf(name, sizeof name, "GMMA::Layout_%s_%s_Atom", t->right ? "K" : "MN",
           names[t->mode]);
  if (mt_smem_atom(&atom, name, t->bits, &err)) return false;
  mt_ints(&shape, 2, t->tile, &err);
  if (mt_tile_to_shape(&t->smem, atom.node, shape.node, NULL, &err)) return false;
  mt_ints(&shape, 2, t->size, &err);
  return (t->right ? mt_layout_right : mt_layout_left)(&t->tensor, shape.node, &err) ==
         MT_OK;
}

/* Element e of the boxes, one behind the other, as a coordinate of the tile: boxes follow
** first along what the box runs along. */
static void check_boxes (const random_tile *t, const mt_tma *m) {
  int inner = t->right ? 1 : 0, outer = 1 - inner;
  int64_t wide = t->tile[inner] / m->box[0], n = m->box[0] * m->box[1];
  mt_layout plain;
  mt_err err = MT_NOERR;
  mt_get_nonswizzle_portion(&plain, t->smem.node, &err);
  CHECK(m->boxes == t->tile[0] * t->tile[1] / n, "%lld boxes", (long long)m->boxes);
  for (int64_t b = 0; b < m->boxes; b++) {
    int64_t first[2] = {0, 0}, start, at;
    /* the box that lies at element b n of shared memory */
    bool found = false;
    for (int64_t i = 0; i < m->boxes && !found; i++) {
      first[inner] = i % wide * m->box[0];
      first[outer] = i / wide * m->box[1];
      mt_at(&start, plain.node, first[0] + t->tile[0] * first[1], &err);
      found = start == b * n;
    }
    CHECK(found, "no box at %lld", (long long)(b * n));
    for (int64_t e = 0; e < n && found; e++) {
      int64_t c[2] = {first[0], first[1]};
      c[inner] += e % m->box[0];
      c[outer] += e / m->box[0];
      mt_at(&at, plain.node, c[0] + t->tile[0] * c[1], &err);
      CHECK(at == start + e, "element %lld of box %lld", (long long)e, (long long)b);
    }
  }
}

/* The rules, as the manual of the driver has them. */
static bool allowed (const random_tile *t, const mt_tma *m) {
  int64_t size = t->bits / 8, pitch = t->size[t->right ? 1 : 0] * size;
  int64_t inner = m->box[0] * size, n = inner * m->box[1];
  return pitch % 16 == 0 && inner % 16 == 0 && m->box[0] <= 256 && m->box[1] <= 256 &&
         (t->mode == 0 || inner <= 16 << t->mode) &&
         ((m->boxes == 1 && m->multicast == 1) || n % 128 == 0);
}

/* Dimension 0 is what runs in shared memory. */
static void check_coords (const random_tile *t, const mt_tma *m) {
  mt_layout coords;
  mt_err err = MT_NOERR;
  char text[64], want[64];
  CHECK(mt_tma_coords(&coords, m, t->tensor.node, &err) == MT_OK, "%s", err.text);
  mt_format(text, sizeof text, coords.node);
  snprintf(want, sizeof want, "(%lld,%lld):(1@%d,1@%d)", (long long)t->size[0],
           (long long)t->size[1], t->right, !t->right);
  CHECK(strcmp(text, want) == 0, "%s, not %s", text, want);
}

void test_tma (uint64_t seed) {
  uint64_t x = seed;
  for (long n = cases_of(400); n > 0; n--) {
    random_tile t;
    mt_tma m;
    mt_err err = MT_NOERR;
    CHECK(make(&t, &x), "no tile");
    const mt_tensor tensor = {.layout = t.tensor.node};
    mt_status s = mt_make_tma(&m, &tensor, t.bits, t.smem.node, NULL, 1, &err);
    CHECK(s == MT_OK, "%s", err.text);
    if (s != MT_OK) continue;
    CHECK(m.swizzle == t.mode, "swizzle %d of %d", m.swizzle, t.mode);
    CHECK(m.dim[0] == t.size[t.right ? 1 : 0], "dim 0 is %lld", (long long)m.dim[0]);
    CHECK((m.why[0] == 0) == allowed(&t, &m), "%s", m.why);
    check_boxes(&t, &m);
    check_coords(&t, &m);
  }
}
