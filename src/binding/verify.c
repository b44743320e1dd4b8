/*
** verify.c - proofs of partitions in Lua: a verdict is a table that prints itself.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/field.h"
#include "binding/instead.h"
#include "binding/kernel.h"
#include "binding/plan.h"

static const char key_of_text[] = "text";

/* ---------------------------------------------------------------- fields */

/* A coordinate; that of a single mode is a number. */
static void push_coordinate (lua_State *L, const mt_node *c) {
  lmt_pushvalue(L, c->tag == MT_TUPLE && c->arity == 1 ? mt_child(c) : c);
}

/* tile = (32,32); bounds = { { mode =, extent =, tile =, tiles =, last = }, ... } */
static void set_modes (lua_State *L, const mt_verdict *v) {
  mt_layout tile;
  LMT_NOERR(err);
  int64_t n[MT_MAXNODES];
  for (int k = 0; k < v->modes; k++) n[k] = v->mode[k].tile;
  if (mt_ints(&tile, v->modes, n, &err)) lmt_raise(L, &err);
  lmt_pushvalue(L, tile.node);
  lua_setfield(L, -2, "tile");
  lua_newtable(L);
  for (int k = 0; k < v->modes; k++) {
    const mt_tiled_mode *m = &v->mode[k];
    if (m->reach == m->extent) continue;
    lua_createtable(L, 0, 6);
    lmt_setint(L, "mode", k + 1);
    lmt_setint(L, "extent", m->extent);
    lmt_setint(L, "tile", m->tile);
    lmt_setint(L, "tiles", m->tiles);
    if (m->last >= 0) lmt_setint(L, "last", m->last);
    lua_rawseti(L, -2, luaL_len(L, -2) + 1);
  }
  lua_setfield(L, -2, "bounds");
}

static void set_owners (lua_State *L, const mt_verdict *v) {
  lua_createtable(L, v->owners, 0);
  for (int i = 0; i < v->owners; i++) {
    lua_pushinteger(L, v->owner[i].thread);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "threads");
  lua_createtable(L, v->owners, 0);
  for (int i = 0; i < v->owners; i++) {
    lua_pushinteger(L, v->owner[i].value);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "values");
}

/* witness = { index =, at =, threads = {...}, values = {...} } of a place of the tile, or
** { offset =, at = { x, y } } of two coordinates at one place in memory; of a ragged
** tensor the reason says where. */
static void set_witness (lua_State *L, const mt_verdict *v) {
  bool place = v->problem == MT_TWICE || v->problem == MT_GAP;
  if (!place && v->problem != MT_OUTSIDE && v->problem != MT_ONE_PLACE) return;
  if (v->problem == MT_ONE_PLACE && v->real != v->elements) return;
  lua_createtable(L, 0, 4);
  if (v->problem == MT_ONE_PLACE) {
    lmt_setint(L, "offset", v->offset);
    lua_createtable(L, 2, 0);
    push_coordinate(L, v->x.node);
    lua_rawseti(L, -2, 1);
    push_coordinate(L, v->y.node);
    lua_rawseti(L, -2, 2);
    lua_setfield(L, -2, "at");
  } else {
    lmt_setint(L, "index", v->index);
    if (place) push_coordinate(L, v->at.node);
    else lua_pushnil(L);
    lua_setfield(L, -2, "at");
    set_owners(L, v);
  }
  lua_setfield(L, -2, "witness");
}

static void set_memory (lua_State *L, const mt_verdict *v) {
  lmt_setint(L, "lowest", v->lowest);
  lmt_setint(L, "highest", v->highest);
  if (v->injective >= 0) lmt_setbool(L, "injective", v->injective > 0);
  if (v->vector == 0) return;
  lmt_setint(L, "vector", v->vector);
  if (v->bits) lmt_setint(L, "bits", v->vector * v->bits);
  if (v->why[0]) lmt_settext(L, "why", v->why);
}

/* wgmma = { mode =, major =, lbo =, sbo = } */
static void set_wgmma (lua_State *L, const mt_gmma_desc *d) {
  if (d->bits == 0) return;
  lua_createtable(L, 0, 4);
  lmt_settext(L, "mode", mt_gmma_mode_name(d->mode));
  lmt_settext(L, "major", mt_gmma_major_name(d->major));
  lmt_setint(L, "lbo", d->lbo);
  lmt_setint(L, "sbo", d->sbo);
  lua_setfield(L, -2, "wgmma");
}

static void set_printed (lua_State *L, const mt_verdict *v) {
  luaL_Buffer b;
  size_t n = mt_verdict_format(NULL, 0, v);
  char *text = luaL_buffinitsize(L, &b, n + 1);
  mt_verdict_format(text, n + 1, v);
  luaL_pushresultsize(&b, n);
  lua_setfield(L, -2, key_of_text);
}

static int push_verdict (lua_State *L, const mt_verdict *v) {
  lua_createtable(L, 0, 20);
  lmt_setbool(L, "ok", v->problem == MT_PROVEN);
  if (v->problem != MT_PROVEN) lmt_settext(L, "problem", mt_problem_text(v->problem));
  if (v->reason[0]) lmt_settext(L, "reason", v->reason);
  lmt_setbool(L, "covers", v->covers);
  lmt_setint(L, "threads", v->threads);
  lmt_setint(L, "values", v->values);
  lmt_setint(L, "broadcast", v->broadcast);
  lmt_setint(L, "tiles", v->tiles);
  lmt_setint(L, "predicated", v->predicated);
  lmt_setint(L, "real", v->real);
  set_modes(L, v);
  set_witness(L, v);
  set_memory(L, v);
  set_wgmma(L, &v->wgmma);
  set_printed(L, v);
  luaL_setmetatable(L, LMT_VERDICT);
  return 1;
}

static int verdict_tostring (lua_State *L) {
  lua_getfield(L, 1, key_of_text);
  return 1;
}

/* Those of a kernel's too. */
static const char *const verdict_fields[] =
    {"ok",        "problem", "reason",  "covers",    "threads",    "values",
     "broadcast", "tiles",   "tile",    "real",      "predicated", "bounds",
     "witness",   "lowest",  "highest", "injective", "vector",     "bits",
     "why",       "wgmma",   "laws",    "shared",    "limit",      "states",
     "registers", "writes",  "reads",   "sectors",   "text",       NULL};

static const luaL_Reg verdict_meta[] = {{"__tostring", verdict_tostring}, {NULL, NULL}};

/* ---------------------------------------------------------------- verify */

/* The tensor at `i`, or a layout alone. */
static mt_tensor tensor_at (lua_State *L, int i) {
  if (lmt_isclass(L, i, LMT_TENSOR)) return lmt_ctensor(lmt_totensor(L, i));
  return (mt_tensor){.layout = lmt_tocomposed(L, i)};
}

/* A layout that begins at the offset at 3, which is taken away, as one value at 2. What
** is proven of it but its lowest and highest offset does not depend on that. */
static void take_offset (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  if (lmt_isclass(L, 2, LMT_TENSOR))
    luaL_argerror(L, 2, "a tensor knows where it begins: no offset beside it");
  if (mt_with_offset(&out, lmt_tocomposed(L, 2), lua_tointeger(L, 3), &err))
    lmt_raiseas(L, "with_offset", "verify", &err);
  lmt_pushvalue(L, out.node);
  lua_replace(L, 2);
  lua_remove(L, 3);
}

/* Which of the letters of `parts`, 0 for the first, is at `i`; the last if none is. */
static int part_at (lua_State *L, int i, const char *parts, const char *what) {
  if (lua_isnoneornil(L, i)) return (int)strlen(parts) - 1;
  const char *s = lmt_isstring(L, i) ? lua_tostring(L, i) : "";
  const char *p = strlen(s) == 1 ? strchr(parts, *s) : NULL;
  if (p == NULL)
    luaL_error(L, "verify: %s expected, got %s", what, luaL_tolstring(L, i, NULL));
  return (int)(p - parts);
}

/* "S" reads the tensor, "D" writes it. */
static mt_copy_side side_at (lua_State *L, int i) {
  return part_at(L, i, "SD", "\"S\" or \"D\", the side of the copy,") == 0 ? MT_COPY_S :
                                                                             MT_COPY_D;
}

static int of_copy (lua_State *L, mt_verdict *v) {
  LMT_NOERR(err);
  mt_copy_side side = side_at(L, 3);
  mt_tensor t = tensor_at(L, 2);
  if (mt_verify_copy(v, lmt_totiledcopy(L, 1), side, &t, &err)) return lmt_raise(L, &err);
  return push_verdict(L, v);
}

static int of_mma (lua_State *L, mt_verdict *v) {
  static const mt_mma_part part[] = {MT_PART_A, MT_PART_B, MT_PART_C};
  LMT_NOERR(err);
  int i = part_at(L, 3, "ABC", "\"A\", \"B\" or \"C\", the operand of the MMA,");
  mt_tensor t = tensor_at(L, 2);
  if (mt_verify_mma(v, lmt_totiledmma(L, 1), part[i], &t, &err))
    return lmt_raise(L, &err);
  return push_verdict(L, v);
}

/* { tv = layout, tiler = shape } */
static int of_layout (lua_State *L, mt_verdict *v) {
  static const char *const keys[] = {"tv", "tiler", NULL};
  LMT_NOERR(err);
  lmt_checkkeys(L, 1, "verify", keys);
  mt_layout *arg = lua_newuserdatauv(L, 2 * sizeof *arg, 0);
  lua_getfield(L, 1, "tv");
  const mt_node *tv =
      lmt_tovalue(L, -1, LMT_LAYOUTS | LMT_COMPOSED, "verify: tv", &arg[0]);
  lua_getfield(L, 1, "tiler");
  const mt_node *tiler =
      lmt_tovalue(L, -1, LMT_SHAPE | LMT_LAYOUTS, "verify: tiler", &arg[1]);
  mt_copy_side side = side_at(L, 3);
  mt_tensor t = tensor_at(L, 2);
  if (mt_verify_tv(v, tv, tiler, side, &t, &err)) return lmt_raise(L, &err);
  return push_verdict(L, v);
}

/* verify(partition, A [, offset] [, part]) -> what was proven, or the witness; part: "S"
** or "D" (or nothing), of an MMA "A", "B" or "C" (or nothing). verify(kernel [, A, B,
** C]). */
int lmt_verify (lua_State *L) {
  if (lmt_iskernel(L, 1)) return lmt_verifykernel(L);
  LMT_COUNT(L, 4, "verify", "partition, A [, offset] [, part]");
  lua_settop(L, 4);
  if (lua_isinteger(L, 3)) take_offset(L);
  lua_settop(L, 3);
  mt_verdict *v = lua_newuserdatauv(L, sizeof *v, 0); /* large for a thread's stack */
  if (lmt_istiledcopy(L, 1)) return of_copy(L, v);
  if (lmt_istiledmma(L, 1)) return of_mma(L, v);
  if (lmt_istable(L, 1)) return of_layout(L, v);
  return luaL_typeerror(L, 1, "tiled copy, tiled MMA or { tv =, tiler = }");
}

#define ROWS_VERIFY
#include "binding/rows.h"

void lmt_open_verify (lua_State *L) {
  lmt_addrows(L, rows);
  lmt_setmeta(L, LMT_VERDICT, verdict_meta);
  lmt_setfields(L, LMT_VERDICT, verdict_fields);
}
