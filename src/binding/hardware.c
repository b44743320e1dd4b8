/*
** hardware.c - what units of the hardware take, in Lua: wgmma, TMA.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/instead.h"
#include "binding/field.h"
#include "binding/lmt.h"

/* ---------------------------------------------------------------- pieces */

static void set_tuple (lua_State *L, const char *key, const int64_t *v, int n) {
  mt_layout t;
  LMT_NOERR(err);
  if (mt_ints(&t, n, v, &err)) lmt_raise(L, &err);
  lmt_pushvalue(L, t.node);
  lua_setfield(L, -2, key);
}

/* ---------------------------------------------------------------- wgmma */

static mt_gmma_major to_major (lua_State *L, int i, const char *name, const mt_node *a) {
  if (lua_isnoneornil(L, i)) return mt_gmma_major_of(a);
  const char *s = lmt_isstring(L, i) ? lua_tostring(L, i) : "", *space = strrchr(s, ':');
  if (space) s = space + 1; /* GMMA::Major::K */
  if (strcmp(s, "K") == 0) return MT_GMMA_K;
  if (strcmp(s, "MN") == 0) return MT_GMMA_MN;
  return (mt_gmma_major)luaL_error(L, "%s: \"K\" or \"MN\", the major, expected, got %s",
                                   name, luaL_tolstring(L, i, NULL));
}

static int push_desc (lua_State *L, const mt_gmma_desc *d) {
  const char *mode = mt_gmma_mode_name(d->mode), *major = mt_gmma_major_name(d->major);
  lua_createtable(L, 0, 6);
  lmt_settext(L, "mode", mode);
  lmt_settext(L, "major", major);
  lmt_setint(L, "bits", d->bits);
  lmt_setint(L, "lbo", d->lbo);
  lmt_setint(L, "sbo", d->sbo);
  lua_pushfstring(
      L, "wgmma reads it: mode %s, major %s, %d bits, LBO %I, SBO %I (times 16 bytes)",
      mode, major, d->bits, (LUAI_UACINT)d->lbo, (LUAI_UACINT)d->sbo);
  lua_setfield(L, -2, "text");
  luaL_setmetatable(L, LMT_ANALYSIS);
  return 1;
}

/* The bits at 2. What is none of an element may be the offset of a tile. */
static int bits_at (lua_State *L, const char *name) {
  int bits = lua_isnoneornil(L, 2) ? 16 : lmt_tobits(L, 2, name);
  if (bits < 1 || bits > 128)
    luaL_error(L,
               "%s: elements of %d bits: wgmma reads 8, 16 and 32\n"
               "if this is an offset that local_tile returned, %s((local_tile(...)), 16) "
               "leaves it out",
               name, bits, name);
  return bits;
}

/* make_gmma_desc(A [, bits | dtype] [, major]) -> { mode =, major =, lbo =, sbo = };
** raises which rule is broken. */
static int gmma_desc (lua_State *L, const char *name) {
  mt_gmma_desc d;
  LMT_NOERR(err);
  const mt_node *a = lmt_tolayout(L, 1);
  int bits = bits_at(L, name);
  mt_gmma_major major = to_major(L, 3, name, a);
  if (mt_make_gmma_desc(&d, a, bits, major, &err))
    return lmt_raiseas(L, "make_gmma_desc", name, &err);
  return push_desc(L, &d);
}
static int l_make_gmma_desc (lua_State *L) { return gmma_desc(L, "make_gmma_desc"); }
static int l_gmma_desc (lua_State *L) { return gmma_desc(L, "gmma_desc"); }

/* ---------------------------------------------------------------- TMA */

static void set_coords (lua_State *L, const mt_tma *t, const mt_node *g) {
  mt_layout coords;
  LMT_NOERR(err);
  if (mt_tma_coords(&coords, t, g, &err)) lmt_raise(L, &err);
  lmt_pushvalue(L, coords.node);
  lua_setfield(L, -2, "coords");
}

static int push_tma (lua_State *L, const mt_tma *t, const mt_node *g) {
  static const int64_t ones[MT_TMA_DIMS] = {1, 1, 1, 1, 1};
  char text[1024];
  mt_tma_format(text, sizeof text, t);
  lua_createtable(L, 0, 15);
  set_coords(L, t, g);
  lmt_setint(L, "elements", t->bytes / (t->bits / 8) * t->multicast);
  lua_pushboolean(L, t->why[0] == 0);
  lua_setfield(L, -2, "ok");
  if (t->why[0]) lmt_settext(L, "why", t->why);
  lmt_setint(L, "rank", t->rank);
  set_tuple(L, "dims", t->dim, t->rank);
  set_tuple(L, "strides", t->stride + 1, t->rank - 1);
  set_tuple(L, "box", t->box, t->rank);
  set_tuple(L, "steps", ones, t->rank);
  lmt_settext(L, "swizzle", mt_tma_swizzle_name(t->swizzle));
  lmt_setint(L, "boxes", t->boxes);
  lmt_setint(L, "bytes", t->bytes);
  lmt_setint(L, "multicast", t->multicast);
  lmt_setint(L, "align", t->align);
  lmt_settext(L, "text", text);
  luaL_setmetatable(L, LMT_ANALYSIS);
  return 1;
}

static lua_Integer multicast_option (lua_State *L) {
  int isint = 1;
  lua_getfield(L, 1, "multicast");
  lua_Integer n = lua_isnil(L, -1) ? 1 : lua_tointegerx(L, -1, &isint);
  if (!isint || lmt_isstring(L, -1))
    luaL_error(L, "tma: multicast: integer expected, got %s", lmt_kindname(L, -1));
  return n;
}

/* The layouts in the options smem and box; *box NULL: there is none. */
static const mt_node *tile_options (lua_State *L, const mt_node **box, mt_layout *arg) {
  lua_getfield(L, 1, "smem");
  const mt_node *smem = lmt_tovalue(L, -1, LMT_LAYOUTS, "tma: smem", &arg[0]);
  lua_getfield(L, 1, "box");
  *box = lua_isnil(L, -1) ? NULL : lmt_totiler(L, -1, &arg[1]);
  return smem;
}

/* The bits in the option dtype; those of the tensor, if there is one, are the same. */
static int bits_option (lua_State *L, bool tensor, int bits) {
  lua_getfield(L, 1, "dtype");
  if (lua_isnil(L, -1) && tensor) return bits;
  int given = lmt_tobits(L, lua_gettop(L), "tma: dtype");
  if (tensor && given != bits)
    luaL_error(L, "tma: dtype: elements of %d bits, the tensor has %d", given, bits);
  return given;
}

/* tma{ tensor = tensor | layout, smem = layout [, dtype =] [, box = tiler]
** [, multicast =] } -> { ok =, why =, dims =, strides =, box =, swizzle =, ... } */
static int l_tma (lua_State *L) {
  static const char *const keys[] = {"tensor", "smem", "box", "multicast", "dtype", NULL};
  mt_tma out;
  const mt_node *box;
  LMT_NOERR(err);
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, "tma", keys);
  mt_layout *arg = lua_newuserdatauv(L, 2 * sizeof *arg, 0);
  const mt_node *smem = tile_options(L, &box, arg);
  lua_Integer multicast = multicast_option(L);
  lua_getfield(L, 1, "tensor");
  int at = lua_gettop(L);
  bool tensor = lmt_isclass(L, at, LMT_TENSOR);
  int bits = tensor ? 8 * (int)mt_dtype_size(lmt_totensor(L, at)->dtype) : 0;
  bits = bits_option(L, tensor, bits);
  mt_tensor t = {.layout = lmt_tolayout(L, at)};
  if (tensor) t = lmt_ctensor(lmt_totensor(L, at));
  if (mt_make_tma(&out, &t, bits, smem, box, multicast, &err)) return lmt_raise(L, &err);
  return push_tma(L, &out, t.layout);
}

#define ROWS_HARDWARE
#include "binding/rows.h"

void lmt_open_hardware (lua_State *L) { lmt_addrows(L, rows); }
