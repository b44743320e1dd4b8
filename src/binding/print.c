/*
** print.c - layouts as text pictures: the library itself never prints.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <string.h>

#include "binding/host.h"

enum { MOSTVALUES = 1 << 18, CELL = 2048 }; /* values of a picture; bytes of one */

/* What is shown: row m of column n is the value of index m + rows * n. */
typedef struct picture {
  lua_State *L;
  const mt_node *a;
  int64_t rows, columns;
  int width;       /* of a cell */
  int64_t done;    /* values that were asked for */
  char text[CELL]; /* of the value at hand */
} picture;

/* ---------------------------------------------------------------- values */

/* The text of value i, which lies in p; returns its length. */
static int value (picture *p, int64_t i) {
  mt_layout index, at;
  lua_State *L = p->L;
  LMT_NOERR(err);
  mt_int(&index, i);
  if (mt_eval(&at, index.node, p->a, &err) || LMT_ENDS(p->done++, &err, "print_layout"))
    lmt_raise(L, &err);
  size_t n = mt_format(p->text, sizeof p->text, at.node);
  return (int)(n < sizeof p->text ? n : sizeof p->text - 1);
}

/* CuTe takes as many digits as the cosize has; values that need more (negative ones,
** coordinates) widen the cells. */
static void find_width (picture *p) {
  mt_err err = MT_NOERR;
  int64_t n, lo;
  p->width = 1;
  if (mt_footprint(&lo, &n, p->a, &err) == MT_OK)
    p->width = snprintf(p->text, sizeof p->text, "%lld", (long long)n);
  for (int64_t i = 0; i < p->rows * p->columns; i++) {
    int length = value(p, i);
    if (length > p->width) p->width = length;
  }
}

/* ---------------------------------------------------------------- pictures */

static void add_spaces (luaL_Buffer *b, int n, char c) {
  for (; n > 0; n--) luaL_addchar(b, c);
}

/* In at least `width` places, as %*lld. */
static void add_number (luaL_Buffer *b, int width, int64_t n) {
  char text[32];
  int length = snprintf(text, sizeof text, "%lld", (long long)n);
  add_spaces(b, width - length, ' ');
  luaL_addlstring(b, text, (size_t)length);
}

static void add_rule (luaL_Buffer *b, const picture *p) {
  luaL_addstring(b, "\n    ");
  for (int64_t n = 0; n < p->columns; n++) {
    luaL_addchar(b, '+');
    add_spaces(b, p->width + 2, '-');
  }
  luaL_addchar(b, '+');
}

static void add_row (luaL_Buffer *b, picture *p, int64_t m) {
  luaL_addchar(b, '\n');
  add_number(b, 2, m);
  luaL_addstring(b, "  ");
  for (int64_t n = 0; n < p->columns; n++) {
    int length = value(p, m + n * p->rows);
    luaL_addstring(b, "| ");
    add_spaces(b, p->width - length, ' ');
    luaL_addlstring(b, p->text, (size_t)length);
    luaL_addchar(b, ' ');
  }
  luaL_addchar(b, '|');
}

/* The table that CuTe prints: row and column indices and the values. */
static void add_grid (luaL_Buffer *b, picture *p) {
  luaL_addstring(b, "\n    ");
  for (int64_t n = 0; n < p->columns; n++) {
    luaL_addstring(b, "  ");
    add_number(b, p->width, n);
    luaL_addchar(b, ' ');
  }
  for (int64_t m = 0; m < p->rows; m++) {
    add_rule(b, p);
    add_row(b, p, m);
  }
  add_rule(b, p);
}

/* A line for each coordinate. */
static void add_list (luaL_Buffer *b, picture *p, int64_t size) {
  mt_layout c;
  lua_State *L = p->L;
  LMT_NOERR(err);
  for (int64_t i = 0; i < size; i++) {
    if (mt_idx2crd(&c, i, p->a, &err)) lmt_raise(L, &err);
    luaL_addchar(b, '\n');
    size_t n = mt_format(p->text, sizeof p->text, c.node);
    luaL_addlstring(b, p->text, n < sizeof p->text ? n : sizeof p->text - 1);
    luaL_addstring(b, "  ");
    luaL_addlstring(b, p->text, (size_t)value(p, i));
  }
}

static int64_t mode_size (lua_State *L, const mt_node *a, int mode) {
  mt_layout m;
  LMT_NOERR(err);
  if (mt_get(&m, a, 1, &mode, &err)) lmt_raise(L, &err);
  return mt_size(m.node);
}

/* print_layout(A) -> text: of rank 2 CuTe's table, of rank 1 a column, else a list. */
static int l_print_layout (lua_State *L) {
  picture p = {.L = L, .a = lmt_tocomposed(L, 1), .rows = 0, .columns = 1};
  luaL_Buffer b;
  int64_t size = mt_size(p.a);
  int rank = mt_rank(p.a);
  lmt_checkwork(L, "print_layout", lmt_times((uint64_t)size, LMT_TEXTWORK));
  lmt_pushtext(L, p.a);
  if (size > MOSTVALUES)
    return luaL_error(L,
                      "print_layout: %s has %I values, at most %d are shown\n"
                      "show a part of it: a slice, or a tile",
                      lua_tostring(L, -1), (LUAI_UACINT)size, (int)MOSTVALUES);
  bool grid = (rank == 1 || rank == 2) && size > 0;
  if (grid) p.rows = mode_size(L, p.a, 0);
  if (grid && rank == 2) p.columns = mode_size(L, p.a, 1);
  if (grid) find_width(&p);
  luaL_buffinit(L, &b);
  lua_pushvalue(L, 2);
  luaL_addvalue(&b);
  if (grid) add_grid(&b, &p);
  else add_list(&b, &p, size);
  luaL_pushresult(&b);
  return 1;
}

#define ROWS_PRINT
#include "binding/rows.h"

void lmt_open_print (lua_State *L) { lmt_addrows(L, rows); }
