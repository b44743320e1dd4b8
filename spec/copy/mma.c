/*
** mma.c - tiled MMAs against CuTe's (spec/golden/mma_tiled.tsv), and the law of atoms
** along K.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"

static mt_tiled_mma made (char **f) {
  mt_tiled_mma mma;
  mt_layout atoms = parse(f[2]), permutation = parse(f[3]);
  MUST(mt_make_tiled_mma(&mma, f[1], atoms.node, permutation.node, err));
  return mma;
}

/* The thread-value layout of the compact layout of the operand's tile. */
static mt_layout tile_tv (const mt_tiled_mma *mma, mt_mma_part x) {
  static const int axis[3][2] = {{0, 2}, {1, 2}, {0, 1}};
  mt_layout shape, compact, out;
  const int64_t n[] = {mma->tile[axis[x][0]], mma->tile[axis[x][1]]};
  MUST(mt_ints(&shape, 2, n, err));
  MUST(mt_make_layout(&compact, shape.node, NULL, err));
  MUST(mt_mma_tv(&out, mma, x, compact.node, err));
  return out;
}

static void check_made (char **f) {
  mt_tiled_mma mma = made(f);
  mt_layout vmnk = parse(f[4]), tile = parse(f[5]), is;
  MUST(mt_ints(&is, 3, mma.tile, err));
  CHECK(same_form(mma.thr_vmnk.node, vmnk.node), "%s %s: threads %s, not %s", f[1], f[2],
        text_of(mma.thr_vmnk.node), f[4]);
  CHECK(mt_equal(is.node, tile.node), "%s %s %s: tile %s, not %s", f[1], f[2], f[3],
        text_of(is.node), f[5]);
  CHECK(mt_tiled_mma_size(&mma) == atoll(f[6]), "%s %s: %s threads", f[1], f[2], f[6]);
  for (int x = 0; x < 3; x++) {
    mt_layout want = parse(f[7 + x]), tv = tile_tv(&mma, (mt_mma_part)x);
    CHECK(same_form(tv.node, want.node), "%s %s %s: layout_%c_TV %s, not %s", f[1], f[2],
          f[3], "ABC"[x], text_of(tv.node), f[7 + x]);
  }
}

static void check_partition (char **f) {
  mt_tiled_mma mma = made(f);
  mt_layout a = parse(f[4]), want = parse(f[6]), start = parse(f[7]), is, at;
  mt_mma_part x = (mt_mma_part)(f[0][strlen("partition_")] - 'A');
  MUST(mt_mma_partition(&is, &at, &mma, x, a.node, atoll(f[5]), err));
  CHECK(same_form(is.node, want.node) && mt_equal(at.node, start.node),
        "%s %s %s %s %s, thread %s: %s at %s, not %s at %s", f[0], f[1], f[2], f[3], f[4],
        f[5], text_of(is.node), text_of(at.node), f[6], f[7]);
}

static int each_row (const char *path, const char *op, void (*check)(char **)) {
  char line[4096], *f[16];
  int rows = 0;
  FILE *in = fopen(path, "r");
  CHECK(in != NULL, "no golden table");
  while (in && fgets(line, sizeof line, in)) {
    int n = 0;
    if (line[0] == '#' || strncmp(line, op, strlen(op)) != 0) continue;
    line[strcspn(line, "\n")] = 0;
    for (char *p = line; p && n < 16; p = strchr(p, '\t')) {
      if (n > 0) *p++ = 0;
      f[n++] = p;
    }
    check(f);
    rows++;
  }
  if (in) fclose(in);
  return rows;
}

/* Atoms along K: each thread's C is inside the tile, and all have it as often as there
** are atoms along K. */
static void check_quirk (char **f) {
  mt_tiled_mma mma = made(f);
  mt_layout tv = tile_tv(&mma, MT_PART_C);
  int64_t n = mma.tile[0] * mma.tile[1], at, many = mt_size(tv.node) / n;
  int *seen = calloc((size_t)n, sizeof *seen);
  for (int64_t i = 0; i < mt_size(tv.node); i++) {
    MUST(mt_at(&at, tv.node, i, err));
    if (at >= 0 && at < n) seen[at]++;
    else CHECK(0, "%s %s: layout_C_TV %s leaves the tile", f[1], f[2], text_of(tv.node));
  }
  for (int64_t i = 0; i < n; i++)
    CHECK(seen[i] == many, "%s %s: %s has %lld %d times, not %lld", f[1], f[2],
          text_of(tv.node), (long long)i, seen[i], (long long)many);
  free(seen);
}

void test_mma (void) {
  int made_rows = each_row(MOONTILE_SPEC_DIR "/golden/mma_tiled.tsv", "make", check_made);
  int parts = 0, quirks;
  static const char *const ops[] = {"partition_A", "partition_B", "partition_C"};
  for (int i = 0; i < 3; i++)
    parts += each_row(MOONTILE_SPEC_DIR "/golden/mma_tiled.tsv", ops[i], check_partition);
  quirks =
      each_row(MOONTILE_SPEC_DIR "/golden/quirks.tsv", "make_tiled_mma", check_quirk);
  CHECK(made_rows == 97 && parts == 120 && quirks == 11, "golden rows: %d, %d, %d",
        made_rows, parts, quirks);
}
