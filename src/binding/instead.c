/*
** instead.c - what is said where a value of another kind was expected: what it is, and
** what of it may have been meant.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/said.h"

/* What has the layouts of such a value; what it is called for, if it cannot be. */
static const struct {
  const char *class, *has, *call;
} kinds[] =
    {{LMT_TILEDMMA,
      "mma:tile_shape() is its tile, mma:thr_layout_VMNK() its threads, "
      "mma:layout_C_TV() which thread has what",
      "mma:get_slice(t) is the part of thread t"},
     {LMT_TILEDCOPY,
      "copy:tiler_MN() is its tile, copy:tiled_layout_TV() which thread has what of it",
      "copy:get_slice(t) is the part of thread t"},
     {LMT_THRMMA, "thr:partition_C(T) is what a thread has of a tensor or layout T",
      "thr:partition_A(T), partition_B, partition_C are its parts of T"},
     {LMT_THRCOPY, "thr:partition_S(T) is what a thread has of a tensor or layout T",
      "thr:partition_S(T), partition_D are its parts of T"},
     {LMT_MMAATOM,
      "atom.shape_MNK is its tile, atom.layout_A, layout_B, layout_C which thread has "
      "what",
      "tile.tiled_mma{ atom = atom } makes a tiled MMA of it"},
     {LMT_COPYATOM, "atom.layout_src, atom.layout_dst are which thread has what",
      "tile.tiled_copy{ atom = atom, thr =, val = } makes a tiled copy of it"},
     {LMT_KERNEL, NULL, "tile.gemm(kernel, A, B, C) runs it"},
     {LMT_DEVICE, NULL, "tile.tensor(dtype, layout, device) is a tensor on it"},
     {LMT_STREAM, NULL, "plan(stream), tile.copy(src, dst, stream) go on it"}};

const char *lmt_kindname (lua_State *L, int i) {
  return luaL_getmetafield(L, i, "__name") == LUA_TSTRING ? lua_tostring(L, -1) :
                                                            luaL_typename(L, i);
}

const char *lmt_instead (lua_State *L, int i, bool called) {
  const char *found = NULL;
  if (luaL_getmetafield(L, i, "__name") == LUA_TNIL) return NULL;
  const char *name = lua_tostring(L, -1);
  for (size_t k = 0; name && k < sizeof kinds / sizeof *kinds; k++)
    if (strcmp(name, kinds[k].class) == 0) found = called ? kinds[k].call : kinds[k].has;
  lua_pop(L, 1);
  return found;
}

/* A text of these is read as a layout; this one is none. */
static const char *of_text (lua_State *L, int i) {
  char text[40];
  snprintf(text, sizeof text, "%s", lua_tostring(L, i));
  return lua_pushfstring(L, "; \"%s\" is the text of no layout, \"(4,2):(1,4)\" is one",
                         text);
}

const char *lmt_hint (lua_State *L, int i, bool layouts) {
  const char *has = lmt_instead(L, i, false);
  if (has) return lua_pushfstring(L, "; %s", has);
  return layouts && lua_type(L, i) == LUA_TSTRING ? of_text(L, i) : "";
}

const char *lmt_pushwhere (lua_State *L) {
  lua_Debug ar;
  for (int level = 1; lua_getstack(L, level, &ar); level++) {
    if (!lua_getinfo(L, "Sl", &ar) || ar.currentline < 1) continue;
    return lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
  }
  return lua_pushliteral(L, "");
}

/* f(text, x), f itself is at 3. */
static int of_layout (lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, 3);
  lua_settop(L, 2);
  if (lmt_saidlayout(L, 1, LMT_LAYOUTS | LMT_COMPOSED | LMT_SWIZZLES) == NULL)
    luaL_error(L, "A: layout expected, got string%s", lmt_hint(L, 1, true));
  return f(L);
}

int lmt_oftext (lua_State *L, lua_CFunction f) {
  lua_settop(L, 2);
  lua_pushcfunction(L, of_layout);
  lua_insert(L, 1);
  lua_pushcfunction(L, f);
  int status = lua_pcall(L, 3, 1, 0);
  if (status == LUA_OK) return 1;
  if (status != LUA_ERRRUN || !lmt_isstring(L, -1)) return lua_error(L);
  lmt_pushwhere(L);
  lua_insert(L, -2);
  lua_concat(L, 2);
  return lua_error(L);
}

int lmt_nomodes (lua_State *L, const char *op, const mt_node *t, lua_Integer i,
                 lua_Integer j) {
  LUAI_UACINT from = (LUAI_UACINT)i, to = (LUAI_UACINT)j;
  lmt_pushtext(L, t);
  lua_pushfstring(L, "%s: modes %I to %I, both included, of %s: ", op, from, to,
                  lua_tostring(L, -1));
  if (i >= 1 && j < i && j >= 0) lua_pushliteral(L, "there are none");
  else lua_pushfstring(L, "it has the modes 1 to %d", mt_rank(t));
  lua_concat(L, 2);
  if (i != 0 || j < 1 || j > mt_rank(t)) return luaL_error(L, "%s", lua_tostring(L, -1));
  return luaL_error(L,
                    "%s\n  modes are counted from 1: CuTe's <0,%I>, without its end, is "
                    "1, %I here",
                    lua_tostring(L, -1), to, to);
}

int lmt_nolayout (lua_State *L, int i) {
  const char *got = lmt_kindname(L, i);
  const char *hint = lua_isnoneornil(L, i) ? lmt_takes(L) :
                     lua_isinteger(L, i)   ? "; tile.layout(n) is one of n elements" :
                                             lmt_hint(L, i, true);
  return luaL_argerror(L, i, lua_pushfstring(L, "layout expected, got %s%s", got, hint));
}

/* What stands before tensors, and what makes one. */
static const struct {
  const char *class, *way;
} before[] = {{LMT_TILEDCOPY, "; a tiled copy stands before the tensors"},
              {LMT_TILEDMMA, "; a tiled MMA stands before the tensors"},
              {LMT_KERNEL, "; a kernel stands before the tensors"},
              {LMT_LAYOUT, "; tile.tensor(dtype, layout) is one"}};

int lmt_notensor (lua_State *L, int i) {
  const char *got = lmt_kindname(L, i), *way = "";
  if (lua_isnoneornil(L, i)) way = lmt_takes(L);
  for (size_t k = 0; k < sizeof before / sizeof *before; k++)
    if (lmt_isclass(L, i, before[k].class)) way = before[k].way;
  return luaL_argerror(L, i,
                       lua_pushfstring(L, "%s expected, got %s%s", LMT_TENSOR, got, way));
}

int lmt_nodtype (lua_State *L, int i) {
  const char *way = lmt_nodeat(L, i) && lua_type(L, i + 1) == LUA_TSTRING ?
                        "; it stands before the layout" :
                        "; \"f32\" is one, tile.dtypes() has all";
  return luaL_argerror(L, i,
                       lua_pushfstring(L, "name of a dtype expected, got %s%s",
                                       lmt_kindname(L, i), way));
}
