/*
** lmt.c - the module: its state, its classes, its errors, and the Lua sources inside it.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lmt.h"

/* The Lua files of the module; a NULL name ends the list. The build makes it. */
extern const struct mt_embedded {
  const char *name;              /* "moontile.show" */
  const unsigned char *text;
  size_t size;
} mt_embedded[];

/* ---------------------------------------------------------------- errors */

int lmt_raise (lua_State *L, const mt_err *err) {
  luaL_where(L, 1);
  lua_pushstring(L, err->text[0] ? err->text : mt_status_text(err->status));
  lua_concat(L, 2);
  return lua_error(L);
}

mt_status lmt_set (mt_err *err, mt_status s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return err->status = s;
}

static bool of_the_world (mt_status s) {
  return s == MT_ENOMEM || s == MT_ENODEV || s == MT_EDRIVER || s == MT_ELOST ||
         s == MT_EFORMAT || s == MT_EIO;
}

int lmt_fail (lua_State *L, const mt_err *err) {
  if (!of_the_world(err->status)) return lmt_raise(L, err);
  luaL_pushfail(L);
  lua_pushstring(L, err->text[0] ? err->text : mt_status_text(err->status));
  lua_pushstring(L, mt_status_name(err->status) + strlen("MT_"));
  return 3;
}

bool lmt_again (lua_State *L, mt_status s, int *tries, mt_err *err) {
  if (s != MT_ENOMEM || (*tries)++ > 0) return false;
  lua_gc(L, LUA_GCCOLLECT);
  *err = (mt_err)MT_NOERR;
  return true;
}

/* ---------------------------------------------------------------- unknown fields */

static int least (int a, int b) { return a < b ? a : b; }

/* Levenshtein's distance of two names; long ones are far from each other. */
static int distance (const char *a, const char *b) {
  enum { LONGEST = 31 };
  int row[LONGEST + 1], n = (int)strlen(b);
  if (n > LONGEST || strlen(a) > LONGEST) return LONGEST;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 0; a[i]; i++) {
    int diagonal = row[0];
    row[0] = i + 1;
    for (int j = 0; j < n; j++) {
      int up = row[j + 1];
      row[j + 1] = least(diagonal + (a[i] != b[j]), 1 + least(up, row[j]));
      diagonal = up;
    }
  }
  return row[n];
}

/* The name in the table of methods nearest to `key`; NULL if none is near. */
static const char *nearest (lua_State *L, int methods, const char *key) {
  const char *best = NULL;
  int within = (int)strlen(key) > 3 ? 3 : 2;       /* closer than this */
  for (lua_pushnil(L); lua_next(L, methods); lua_pop(L, 1)) {
    const char *name = lua_tostring(L, -2);
    int d = distance(key, name);
    if (d > within || (d == within && (best == NULL || strcmp(name, best) > 0))) continue;
    within = d;
    best = name;
  }
  return best;
}

int lmt_nosuch (lua_State *L, const char *what, int methods, const char *class) {
  const char *key = luaL_tolstring(L, 2, NULL), *near = nearest(L, methods, key);
  return luaL_error(L, "%s.%s: no such %s%s%s%s", class, key, what,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Upvalues: the table of methods, the name of the class. Integer keys are modes of
** layouts. */
static int l_index (lua_State *L) {
  if (lmt_isstring(L, 2)) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    return lmt_nosuch(L, "method", lua_upvalueindex(1),
                      lua_tostring(L, lua_upvalueindex(2)));
  }
  if (lmt_isclass(L, 1, LMT_LAYOUT)) {
    mt_layout out;
    LMT_NOERR(err);
    const mt_node *a = lmt_tolayout(L, 1);
    lua_Integer i = luaL_checkinteger(L, 2);
    if (i < 1 || i > mt_rank(a)) return lua_pushnil(L), 1;
    if (mt_get(&out, a, 1, &(int){ (int)i - 1 }, &err)) return lmt_raise(L, &err);
    return lmt_pushvalue(L, out.node);
  }
  if (lmt_isclass(L, 1, LMT_TENSOR))
    return luaL_error(L, "tensor[i]: elements are read by T(i, j), modes by T:get(i)");
  return luaL_error(L, "%s has no element [%s]", lua_tostring(L, lua_upvalueindex(2)),
                    luaL_tolstring(L, 2, NULL));
}

/* ---------------------------------------------------------------- classes */

void lmt_newclass (lua_State *L, const char *name, const luaL_Reg *meta,
                   const luaL_Reg *methods) {
  const char *word = strchr(name, '.') + 1;
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, meta, 0);
  lua_pushstring(L, name);
  lua_setfield(L, -2, "__metatable");
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_pushstring(L, word);
  lua_pushcclosure(L, l_index, 2);
  lua_setfield(L, -3, "__index");
  lua_getfield(L, -3, "_methods");
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, word);
  lua_pop(L, 1);
  lua_remove(L, -2);
}

/* ---------------------------------------------------------------- texts, numbers */

int lmt_pushnumber (lua_State *L, mt_dtype d, mt_number v) {
  if (d == MT_bool) lua_pushboolean(L, v.i != 0);
  else if (v.isint) lua_pushinteger(L, v.i);
  else lua_pushnumber(L, v.f);
  return 1;
}

mt_dtype lmt_todtype (lua_State *L, int i) {
  mt_dtype d;
  LMT_NOERR(err);
  if (mt_dtype_find(&d, luaL_checkstring(L, i), &err)) lmt_raise(L, &err);
  return d;
}

int lmt_pushtext (lua_State *L, const mt_node *t) {
  luaL_Buffer b;
  size_t n = mt_format(NULL, 0, t);
  char *p = luaL_buffinitsize(L, &b, n + 1);
  mt_format(p, n + 1, t);
  luaL_pushresultsize(&b, n);
  return 1;
}

/* ---------------------------------------------------------------- the state */

lmt_state *lmt_pushstate (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, mt_embedded);
  return lua_touserdata(L, -1);
}

lmt_resource *lmt_reserve (lua_State *L, void (*close) (lmt_resource *r),
                           mt_device *device) {
  lmt_state *s = lmt_pushstate(L);
  lua_pop(L, 1);
  lmt_resource *r = NULL;
  if (!s->closed) r = s->options.alloc(s->options.alloc_ud, NULL, 0, sizeof *r);
  if (r == NULL) return NULL;
  *r = (lmt_resource){ .next = s->resources, .link = &s->resources, .state = s,
                       .close = close, .device = device };
  if (r->next) r->next->link = &r->next;
  return s->resources = r;
}

void lmt_release (lmt_resource **box) {
  lmt_resource *r = *box;
  *box = NULL;
  if (r == NULL) return;
  *r->link = r->next;
  if (r->next) r->next->link = r->link;
  if (r->p) r->close(r);
  r->state->options.alloc(r->state->options.alloc_ud, r, sizeof *r, 0);
}

/* The last finalizer of the module: from now on nothing can be reserved. */
static int state_gc (lua_State *L) {
  lmt_state *s = luaL_checkudata(L, 1, LMT_STATE);
  s->closed = true;
  while (s->resources) {
    lmt_resource *r = s->resources;
    lmt_release(&r);
  }
  return 0;
}

static void new_state (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, mt_embedded) == LUA_TNIL) {
    lmt_state *s = lua_newuserdatauv(L, sizeof *s, LMT_STATEVALUES);
    memset(s, 0, sizeof *s);
    s->options.alloc = lua_getallocf(L, &s->options.alloc_ud);
    lua_newtable(L);
    lua_setiuservalue(L, -2, LMT_DEVICES);
    luaL_newmetatable(L, LMT_STATE);
    lua_pushcfunction(L, state_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, mt_embedded);
  }
  lua_pop(L, 1);
}

MT_API int luaopen_moontile_core (lua_State *L) {
  luaL_checkversion(L);
  new_state(L);
  lua_newtable(L);
  lua_pushliteral(L, MT_VERSION);
  lua_setfield(L, -2, "_VERSION");
  lua_newtable(L);       /* class name -> its methods: for completion, for Lua code */
  lua_setfield(L, -2, "_methods");
  lmt_open_layout(L);
  lmt_open_tuple(L);
  lmt_open_algebra(L);
  lmt_open_swizzle(L);
  lmt_open_domain(L);
  lmt_open_device(L);
  lmt_open_tensor(L);
  lmt_open_atom(L);
  lmt_open_tile(L);
  lmt_open_mma(L);
  lmt_open_plan(L);
  lmt_open_tune(L);
  lmt_open_gemm(L);
  lmt_open_graph(L);
  lmt_open_analysis(L);
  lmt_open_verify(L);
  lmt_open_npy(L);
  return 1;
}

/* ---------------------------------------------------------------- the sources inside */

/* Pushes the function of a source: "moontile.show" has the chunk name
** "@moontile/show.lua". */
static void push_chunk (lua_State *L, const struct mt_embedded *e) {
  const char *path = luaL_gsub(L, e->name, ".", "/");
  const char *tail = strchr(e->name, '.') ? ".lua" : "/init.lua";
  const char *chunk = lua_pushfstring(L, "@%s%s", path, tail);
  if (luaL_loadbufferx(L, (const char *)e->text, e->size, chunk, "t")) lua_error(L);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static int l_loader (lua_State *L) {
  push_chunk(L, lua_touserdata(L, lua_upvalueindex(1)));
  lua_pushstring(L, luaL_checkstring(L, 1));
  lua_call(L, 1, 1);
  return 1;
}

MT_API int luaopen_moontile (lua_State *L) {
  const struct mt_embedded *init = NULL;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_moontile_core);
  lua_setfield(L, -2, "moontile.core");
  for (const struct mt_embedded *e = mt_embedded; e->name; e++) {
    if (strcmp(e->name, "moontile") == 0) { init = e; continue; }
    lua_pushlightuserdata(L, (void *)(uintptr_t)e);
    lua_pushcclosure(L, l_loader, 1);
    lua_setfield(L, -2, e->name);
  }
  if (init == NULL) return luaL_error(L, "moontile: built without its Lua files");
  push_chunk(L, init);
  lua_pushliteral(L, "moontile");
  lua_call(L, 1, 1);
  return 1;
}
