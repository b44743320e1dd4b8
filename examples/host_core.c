/*
** host_core.c - the core of moontile in a C program: no Lua, no GPU needed.
** SPDX-License-Identifier: MIT
**
** A row-major matrix is repacked into 8x8 tiles, each tile contiguous. A layout says
** where each element goes; the plan proves the copy legal and runs it.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moontile.h"

enum { ROWS = 32, COLUMNS = 24, TILE = 8 };

static void must (mt_status s, const mt_err *err) {
  if (s == MT_OK) return;
  fprintf(stderr, "%s: %s\n", mt_status_name(s), err->text);
  exit(EXIT_FAILURE);
}

static void show (const char *title, const mt_node *t) {
  char text[512];
  mt_format(text, sizeof text, t);
  printf("%-32s %s\n", title, text);
}

static void parse (mt_layout *out, const char *text) {
  mt_err err = MT_NOERR;
  must(mt_parse(out, text, strlen(text), &err), &err);
}

/* The algebra: a composition and a divide of the literature. */
static void algebra (void) {
  mt_layout a, b, r;
  mt_err err = MT_NOERR;
  parse(&a, "20:2");
  parse(&b, "(4,5):(1,4)");
  must(mt_composition(&r, a.node, b.node, &err), &err);
  show("20:2 o (4,5):(1,4)", r.node);
  parse(&a, "24:2");
  parse(&b, "4:2");
  must(mt_logical_divide(&r, a.node, b.node, &err), &err);
  show("24:2 / 4:2", r.node);
}

/* dst((i,j)) = src((i,j)) where the two layouts put one and the same element (i,j). */
static void copy (mt_device *d, const mt_tensor *src, const mt_tensor *dst) {
  mt_err err = MT_NOERR;
  mt_plan *plan;
  char text[2048];
  must(mt_plan_copy(&plan, d, NULL, src, dst, &err), &err);
  mt_plan_format(text, sizeof text, plan);
  printf("%s\n", text);
  mt_status s = mt_plan_launch(plan, NULL, &err);
  if (s == MT_OK) s = mt_synchronize(d, NULL, &err);
  mt_plan_free(plan);
  must(s, &err);
}

/* Whether element (i,j) of the matrix stands where the tiled order wants it. */
static int verify (const float *tiled) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      int tile = i / TILE + j / TILE * (ROWS / TILE);
      int at = tile * TILE * TILE + i % TILE + j % TILE * TILE;
      if (tiled[at] != (float)(i * COLUMNS + j)) return 0;
    }
  return 1;
}

int main (void) {
  static float matrix[ROWS * COLUMNS], tiled[ROWS * COLUMNS];
  mt_layout rows, tiles;
  mt_device *d;
  mt_err err = MT_NOERR;
  for (int i = 0; i < ROWS * COLUMNS; i++) matrix[i] = (float)i;
  printf("moontile %s\n", mt_version());
  algebra();
  parse(&rows, "((8,4),(8,3)):((24,192),(1,8))"); /* ((TileM,RestM),(TileN,RestN)) */
  parse(&tiles, "((8,4),(8,3)):((1,64),(8,256))");
  must(mt_device_open(&d, "cpu", NULL, &err), &err);
  mt_tensor src = {rows.node, MT_f32, matrix, sizeof matrix, 0, NULL};
  mt_tensor dst = {tiles.node, MT_f32, tiled, sizeof tiled, 0, NULL};
  copy(d, &src, &dst);
  mt_device_close(d);
  printf("%s\n", verify(tiled) ? "every element is in its place" : "WRONG");
  return verify(tiled) ? EXIT_SUCCESS : EXIT_FAILURE;
}
