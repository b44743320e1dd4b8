/*
** lmt_tile.c - tiled copies in Lua: who copies what, and the partitions that follow from
** it.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <string.h>

#include "lmt.h"

typedef struct tiled_copy {
  mt_tiled_copy c;
  char atom[64];
} tiled_copy;

bool lmt_istiledcopy (lua_State *L, int i) { return lmt_isclass(L, i, LMT_TILEDCOPY); }

mt_tiled_copy *lmt_totiledcopy (lua_State *L, int i) {
  return &((tiled_copy *)luaL_checkudata(L, i, LMT_TILEDCOPY))->c;
}

/* ---------------------------------------------------------------- making */

/* Pushes the option `key` of the table at 1. */
static void option (lua_State *L, const char *key) { lua_getfield(L, 1, key); }

static void layout_option (lua_State *L, const char *key, mt_layout *buf) {
  const char *what = lua_pushfstring(L, "tiled_copy: %s", key);
  option(L, key);
  lmt_tovalue(L, -1, LMT_LAYOUTS, what, buf);
}

/* The bits of an element, from `dtype` or `bits`, else those of a copy atom in values. */
static int bits_option (lua_State *L) {
  option(L, "dtype");
  if (!lua_isnil(L, -1)) return 8 * (int)mt_dtype_size(lmt_todtype(L, -1));
  option(L, "bits");
  option(L, "atom");
  if (lua_isnil(L, -2) && lmt_isclass(L, -1, LMT_COPYATOM) &&
      lmt_tocopyatom(L, -1)->bits > 1)
    return lmt_tocopyatom(L, -1)->bits;
  lua_pop(L, 1);
  int isint = 0;
  lua_Integer bits = lua_tointegerx(L, -1, &isint);
  if (!isint || bits < 1 || bits > 1024)
    return luaL_error(L, "tiled_copy: dtype = \"f32\" or bits = 32 expected");
  return (int)bits;
}

/* Pushes the name of the atom: itself a name or a copy atom. */
static void atom_option (lua_State *L) {
  option(L, "atom");
  if (lmt_isclass(L, -1, LMT_COPYATOM)) {
    lua_pushstring(L, lmt_tocopyatom(L, -1)->name);
    lua_remove(L, -2);
  }
  if (!lmt_isstring(L, -1))
    luaL_error(L, "tiled_copy: atom: the name of a copy atom expected");
}

/* tiled_copy{ atom = "UniversalCopy<uint128_t>", dtype = "f32" | bits = 32, thr = layout
** [, val = layout] } */
static int l_tiled_copy (lua_State *L) {
  static const char *const keys[] = { "atom", "dtype", "bits", "thr", "val", NULL };
  mt_layout thr, val = { { { .tag = MT_LEAF, .span = 1, .shape = 1 } } };
  LMT_NOERR(err);
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, "tiled_copy", keys);
  atom_option(L);
  layout_option(L, "thr", &thr);
  option(L, "val");
  if (!lua_isnil(L, -1)) layout_option(L, "val", &val);
  int bits = bits_option(L);
  tiled_copy *t = lua_newuserdatauv(L, sizeof *t, 0);
  snprintf(t->atom, sizeof t->atom, "%s", lua_tostring(L, 2));
  if (mt_make_tiled_copy(&t->c, lua_tostring(L, 2), bits, thr.node, val.node, &err))
    return lmt_raise(L, &err);
  luaL_setmetatable(L, LMT_TILEDCOPY);
  return 1;
}

/* ---------------------------------------------------------------- asking */

static int tc_tiled_layout_TV (lua_State *L) {
  return lmt_pushvalue(L, lmt_totiledcopy(L, 1)->layout_tv.node);
}

static int tc_tiler_MN (lua_State *L) {
  return lmt_pushvalue(L, lmt_totiledcopy(L, 1)->tiler.node);
}

static int tc_size (lua_State *L) {
  lua_pushinteger(L, mt_size(mt_mode(lmt_totiledcopy(L, 1)->layout_tv.node, 0)));
  return 1;
}

/* (Thr,Val,...) -> (Thr,(Access,RestVal),...): a thread's values, access by access. */
static mt_status plain_by_access (mt_layout *out, const mt_tiled_copy *c,
                                  const mt_node *a, mt_err *err) {
  mt_layout val;
  int n = c->atom_bits > c->bits ? c->atom_bits / c->bits : 1;
  const mt_node access = { .tag = MT_LEAF, .span = 1, .shape = n, .stride = 1 };
  const mt_node *modes[] = { mt_mode(a, 0), val.node, mt_mode(a, 2) };
  mt_status s = mt_logical_divide(&val, mt_mode(a, 1), &access, err);
  return s != MT_OK ? s : mt_concat(out, mt_rank(a), modes, err);
}

static mt_status by_access (mt_layout *out, const mt_tiled_copy *c, const mt_node *a,
                            mt_err *err) {
  mt_layout under;
  if (a->tag != MT_SWIZZLE) return plain_by_access(out, c, a, err);
  mt_status s = plain_by_access(&under, c, mt_child(a), err);
  return s != MT_OK ? s : mt_swizzle_over(out, a, under.node, err);
}

/* What one thread moves, in elements of the tile: the same on both sides. */
static int tc_layout (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
  if (by_access(&out, c, c->layout_tv.node, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);                     /* (thr,(access,rest)) */
}

/* copy:partition(A): (Thr,Val,(RestM,RestN,...)) of a layout, or as a view of a tensor.
** */
static int tc_partition (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
  if (mt_partition(&out, c, lmt_tolayout(L, 2), &err)) return lmt_raise(L, &err);
  return lmt_pushlike(L, 2, out.node, 0);
}

/* Text that makes the same tiled copy again. */
static int tc_tostring (lua_State *L) {
  const tiled_copy *t = luaL_checkudata(L, 1, LMT_TILEDCOPY);
  lmt_pushtext(L, t->c.thr.node);
  lmt_pushtext(L, t->c.val.node);
  lua_pushfstring(L, "tile.tiled_copy{ atom = \"%s\", bits = %d, "
                  "thr = tile.layout \"%s\", val = tile.layout \"%s\" }",
                  t->atom, t->c.bits, lua_tostring(L, -2), lua_tostring(L, -1));
  return 1;
}

/* ---------------------------------------------------------------- one thread of it */

typedef struct thr_copy {
  const tiled_copy *copy;          /* its user value 1 */
  int64_t thr;
} thr_copy;

/* copy:get_slice(thr), thr from 0 */
static int tc_get_slice (lua_State *L) {
  const tiled_copy *t = luaL_checkudata(L, 1, LMT_TILEDCOPY);
  lua_Integer thr = luaL_checkinteger(L, 2);
  int64_t n = mt_size(mt_mode(t->c.layout_tv.node, 0));
  if (thr < 0 || thr >= n)
    return luaL_error(L, "get_slice: thread %I of %I: 0 to %I are there",
                      (LUAI_UACINT)thr, (LUAI_UACINT)n, (LUAI_UACINT)(n - 1));
  thr_copy *s = lua_newuserdatauv(L, sizeof *s, 1);
  *s = (thr_copy){ t, thr };
  luaL_setmetatable(L, LMT_THRCOPY);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* (thr,_,(_,_,...)) for a partition with this rest mode; it has room for any. */
static void slice_of_thread (mt_layout *crd, int64_t thr, const mt_node *rest) {
  uint32_t n = rest->tag == MT_MODES ? rest->arity : 0, size = 4 + n;
  memset(crd->node, 0, size * sizeof crd->node[0]);
  for (uint32_t i = 0; i < size; i++) crd->node[i].tag = MT_WILD, crd->node[i].span = 1;
  crd->node[0] = (mt_node){ .tag = MT_TUPLE, .arity = 3, .span = size };
  crd->node[1] = (mt_node){ .tag = MT_INT, .span = 1, .shape = thr };
  if (rest->tag == MT_MODES)
    crd->node[3] = (mt_node){ .tag = MT_TUPLE, .arity = (uint16_t)n, .span = 1 + n };
}

/* slice:partition_S(A) -> ((Access,RestVal),RestM,RestN,...), offset; of a tensor a view.
** */
static int thr_partition (lua_State *L) {
  mt_layout part, split, crd;
  LMT_NOERR(err);
  const thr_copy *s = luaL_checkudata(L, 1, LMT_THRCOPY);
  if (mt_partition(&part, &s->copy->c, lmt_tolayout(L, 2), &err) ||
      by_access(&split, &s->copy->c, part.node, &err))
    return lmt_raise(L, &err);
  const mt_node *in = split.node[0].tag == MT_SWIZZLE ? mt_child(split.node) : split.node;
  const mt_node *rest = mt_mode(in, 2);
  if (rest->arity + 4 > MT_MAXNODES) return luaL_error(L, "partition: too many modes");
  slice_of_thread(&crd, s->thr, rest);
  if (lmt_isclass(L, 2, LMT_TENSOR)) return lmt_slice(L, 2, crd.node, split.node);
  return lmt_pushslice(L, crd.node, split.node);
}

static int thr_tostring (lua_State *L) {
  const thr_copy *s = luaL_checkudata(L, 1, LMT_THRCOPY);
  lua_pushfstring(L, "thread %I of a tiled copy with %s", (LUAI_UACINT)s->thr,
                  s->copy->atom);
  return 1;
}

/* ---------------------------------------------------------------- registration */

static const luaL_Reg functions[] = { { "tiled_copy", l_tiled_copy }, { NULL, NULL } };
static const luaL_Reg meta[] = { { "__tostring", tc_tostring }, { NULL, NULL } };
static const luaL_Reg methods[] = {
  { "tiled_layout_TV", tc_tiled_layout_TV }, { "tiler_MN", tc_tiler_MN },
  { "layout_S_TV", tc_layout }, { "layout_D_TV", tc_layout }, { "size", tc_size },
  { "partition", tc_partition }, { "get_slice", tc_get_slice }, { NULL, NULL }
};
static const luaL_Reg thr_meta[] = { { "__tostring", thr_tostring }, { NULL, NULL } };
static const luaL_Reg thr_methods[] = {
  { "partition_S", thr_partition }, { "partition_D", thr_partition }, { NULL, NULL }
};

void lmt_open_tile (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
  lmt_newclass(L, LMT_TILEDCOPY, meta, methods);
  lua_pop(L, 1);
  lmt_newclass(L, LMT_THRCOPY, thr_meta, thr_methods);
  lua_pop(L, 1);
}
