/*
** base.c - the basic functions, and coroutines: no error and no coroutine outlasts a
** budget.
** SPDX-License-Identifier: MIT
*/
#include <lualib.h>
#include <string.h>

#include "binding/coroutine.h"
#include "binding/lmt.h"
#include "binding/versions.h"
#include "vm/vm.h"

/* ---------------------------------------------------------------- what is let in */

static bool is_listed (const char *const *list, const char *name) {
  while (*list && strcmp(*list, name) != 0) list++;
  return *list != NULL;
}

void vm_keep (lua_State *L, const char *const *list) {
  for (lua_pushnil(L); lua_next(L, -2);) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING && is_listed(list, lua_tostring(L, -1))) continue;
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, -4);
  }
}

void vm_require (lua_State *L, const char *name, lua_CFunction open,
                 const char *const *list) {
  luaL_requiref(L, name, open, 1);
  vm_keep(L, list);
}

/* ---------------------------------------------------------------- errors */

/* What lua_pcallk left: true and the results, or false and the error. A call that is over
** raises again. */
static int finish_pcall (lua_State *L, int status, lua_KContext extra) {
  vm_end(L, vm_of(L));
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - (int)extra;
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

static int l_pcall (lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_pcall);
  return finish_pcall(L, status, 0);
}

static int finish_handler (lua_State *L, int status, lua_KContext extra) {
  (void)status;
  (void)extra;
  lua_pushboolean(L, 0);
  lua_replace(L, 1);
  return lua_gettop(L);
}

/* The handler runs when the call has ended: hooks are off in Lua's own. */
static int finish_xpcall (lua_State *L, int status, lua_KContext extra) {
  vm_end(L, vm_of(L));
  if (status == LUA_OK || status == LUA_YIELD) {
    lua_pushboolean(L, 1);
    lua_replace(L, 2);
    return lua_gettop(L) - 1;
  }
  lua_pushvalue(L, 1);
  lua_replace(L, 2); /* handler, handler, error */
  lua_callk(L, 1, 1, extra, finish_handler);
  return finish_handler(L, LUA_OK, extra);
}

/* xpcall(f, handler, ...): on the stack handler, f, f, ... */
static int l_xpcall (lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  lua_insert(L, 1);
  lua_pushvalue(L, 2);
  lua_replace(L, 3);
  int n = lua_gettop(L) - 3;
  int status = lua_pcallk(L, n, LUA_MULTRET, 0, 0, finish_xpcall);
  return finish_xpcall(L, status, 0);
}

/* ---------------------------------------------------------------- values */

/* No hook is called in a finalizer. */
static int l_setmetatable (lua_State *L) {
  int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
    return luaL_error(L, "cannot change a protected metatable");
  lua_settop(L, 2);
  if (type == LUA_TTABLE) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL)
      return luaL_error(L, "setmetatable: a script may have no finalizers (__gc)");
  }
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

/* A table that was emptied takes long to go through. */
static int l_next (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  vm_touch(L, vm_of(L));
  lua_settop(L, 2);
  if (lua_next(L, 1)) return 2;
  return lua_pushnil(L), 1;
}

static int after_pairs (lua_State *L, int status, lua_KContext extra) {
  (void)L, (void)status, (void)extra;
  return 3;
}

static int l_pairs (lua_State *L) {
  luaL_checkany(L, 1);
  if (luaL_getmetafield(L, 1, "__pairs") == LUA_TNIL) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushnil(L);
  } else {
    lua_pushvalue(L, 1);
    lua_callk(L, 1, 3, 0, after_pairs);
  }
  return 3;
}

/* Upvalue 1: Lua's own, in this call, on texts that are no longer than numbers are. */
static int l_tonumber (lua_State *L) {
  enum { LONGEST = 1 << 12 };
  if (lua_type(L, 1) == LUA_TSTRING && lua_rawlen(L, 1) > LONGEST)
    return luaL_pushfail(L), 1;
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* collectgarbage("count"), collectgarbage(["collect"]), collectgarbage("step") */
static int l_collectgarbage (lua_State *L) {
  mt_vm *v = vm_of(L);
  static const char *const options[] = {"collect", "count", "step", NULL};
  int i = luaL_checkoption(L, 1, "collect", options);
  if (i == 1) return lua_pushnumber(L, (lua_Number)v->bytes / 1024), 1;
  lua_pushinteger(L, i == 0 ? lua_gc(L, LUA_GCCOLLECT) : lmt_gcstep(L, 0));
  vm_look(L, v);
  return 1;
}

/* ---------------------------------------------------------------- texts */

/* What the arguments say, with tabs between them, is told to the host. */
static int say (lua_State *L, mt_vm_level level) {
  mt_vm *v = vm_of(L);
  luaL_Buffer b;
  int n = lua_gettop(L);
  luaL_buffinit(L, &b);
  for (int i = 1; i <= n; i++) {
    if (i > 1 && level == MT_VM_PRINT) luaL_addchar(&b, '\t');
    luaL_tolstring(L, i, NULL);
    luaL_addvalue(&b);
    vm_tick(L, v, 16);
  }
  luaL_pushresult(&b);
  size_t size;
  const char *text = lua_tolstring(L, -1, &size);
  if (v->o.log) v->o.log(v->o.log_ud, level, text, size);
  vm_tick(L, v, 64);
  return 0;
}

static int l_print (lua_State *L) { return say(L, MT_VM_PRINT); }

static int l_warn (lua_State *L) {
  luaL_checkstring(L, 1);
  return say(L, MT_VM_WARN);
}

typedef struct pieces {
  const char *text;
  size_t left;
} pieces;

/* A piece of a text at a time: between them the budgets are checked. */
static const char *next_piece (lua_State *L, void *ud, size_t *size) {
  enum { PIECE = 1 << 14 };
  pieces *p = ud;
  const char *at = p->text;
  vm_look(L, vm_of(L));
  *size = p->left < PIECE ? p->left : PIECE;
  p->text += *size;
  p->left -= *size;
  return at;
}

int vm_load (lua_State *L, const char *text, size_t size, const char *name) {
  pieces p = {text, size};
  if (size > 0 && *text == *LUA_SIGNATURE) {
    lua_pushfstring(L, "%s: attempt to load a binary chunk: a script is a text",
                    name + (*name == '='));
    return LUA_ERRSYNTAX;
  }
  return lua_load(L, next_piece, &p, name, "t");
}

/* load(text [, name [, mode [, env]]]): a text, whatever mode says. */
static int l_load (lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  const char *name = luaL_optstring(L, 2, "load");
  lua_settop(L, 4);
  lua_pushfstring(L, "=%s", *name == '=' || *name == '@' ? name + 1 : name);
  if (vm_load(L, text, size, lua_tostring(L, 5))) {
    vm_look(L, vm_of(L));
    luaL_pushfail(L);
    lua_insert(L, -2);
    return 2;
  }
  if (!lua_isnil(L, 4)) {
    lua_pushvalue(L, 4);
    lua_setupvalue(L, -2, 1);
  }
  return 1;
}

/* What is loaded is all that there is. */
static int l_require (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, 2, name) != LUA_TNIL) return 1;
  lmt_near near = {NULL, 3};
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) lmt_nearer(&near, name, lua_tostring(L, -2));
  return luaL_error(L, "require: there is no \"%s\" for scripts of this program%s%s%s",
                    name, near.name ? "; did you mean " : "", near.name ? near.name : "",
                    near.name ? "?" : "");
}

/* The function `f` with what the global `name` is as upvalue 1 takes its place. */
static void wrap (lua_State *L, const char *name, lua_CFunction f) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, f, 1);
  lua_setfield(L, -2, name);
}

void vm_openbase (lua_State *L) {
  static const char *const kept[] = {"assert", "error",    "getmetatable", "ipairs",
                                     "next",   "rawequal", "rawget",       "rawlen",
                                     "rawset", "select",   "tonumber",     "tostring",
                                     "type",   "_VERSION", "_G",           NULL};
  static const luaL_Reg own[] = {{"pcall", l_pcall},
                                 {"xpcall", l_xpcall},
                                 {"setmetatable", l_setmetatable},
                                 {"next", l_next},
                                 {"collectgarbage", l_collectgarbage},
                                 {"print", l_print},
                                 {"warn", l_warn},
                                 {"require", l_require},
                                 {NULL, NULL}};
  vm_require(L, LUA_GNAME, luaopen_base, kept);
  luaL_setfuncs(L, own, 0);
  wrap(L, "tonumber", l_tonumber);
  lua_getfield(L, -1, "next");
  lua_pushcclosure(L, l_pairs, 1);
  lua_setfield(L, -2, "pairs");
  if (vm_of(L)->o.libraries & MT_VM_LOAD) {
    lua_pushcfunction(L, l_load);
    lua_setfield(L, -2, "load");
  }
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------- coroutines */

/* Resumes `co` with the n values on the top of L: how many results are on the top of L
** then, or -1: the error. A call that is over raises again. */
static int resume (lua_State *L, lua_State *co, int n) {
  mt_vm *v = vm_of(L);
  lua_State *before = v->running;
  int results = 0;
  if (!lua_checkstack(co, n)) luaL_error(L, "too many arguments to resume");
  lua_xmove(L, co, n);
  v->running = co;
  int status = lua_resume(co, L, n, &results);
  v->running = before;
  vm_end(L, v);
  if (status != LUA_OK && status != LUA_YIELD) return lua_xmove(co, L, 1), -1;
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(co, results);
    return luaL_error(L, "too many results to resume");
  }
  lua_xmove(co, L, results);
  vm_tick(L, v, 16 + (uint64_t)results);
  return results;
}

static lua_State *to_coroutine (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "coroutine");
  return co;
}

static int l_resume (lua_State *L) {
  lua_State *co = to_coroutine(L);
  int n = resume(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, n >= 0);
  lua_insert(L, n < 0 ? -2 : -(n + 1));
  return n < 0 ? 2 : n + 1;
}

/* Closes the variables of a coroutine that is suspended or dead; its __close run as `co`.
** Not when the call is over: hooks are off there. */
static int reset (lua_State *L, lua_State *co) {
  mt_vm *v = vm_of(L);
  lua_State *before = v->running;
  vm_end(L, v);
  v->running = co;
  int status = lmt_closethread(L, co);
  v->running = before;
  vm_end(L, v);
  return status;
}

static int call_wrapped (lua_State *L) { return lmt_callwrapped(L, resume, reset); }
static int l_wrap (lua_State *L) { return lmt_wrap(L, call_wrapped); }

/* Upvalue 1: coroutine.status. */
static int l_close (lua_State *L) {
  lua_State *co = to_coroutine(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  const char *status = lua_tostring(L, -1);
  if (strcmp(status, "suspended") != 0 && strcmp(status, "dead") != 0)
    return luaL_error(L, "cannot close a %s coroutine", status);
  if (reset(L, co) == LUA_OK) return lua_pushboolean(L, 1), 1;
  lua_pushboolean(L, 0);
  lua_xmove(co, L, 1);
  return 2;
}

void vm_opencoroutine (lua_State *L) {
  static const char *const kept[] = {"close",  "create", "isyieldable", "running",
                                     "status", "yield",  NULL};
  static const luaL_Reg own[] = {{"resume", l_resume}, {"wrap", l_wrap}, {NULL, NULL}};
  vm_require(L, LUA_COLIBNAME, luaopen_coroutine, kept);
  luaL_setfuncs(L, own, 0);
  lua_getfield(L, -1, "status");
  lua_pushcclosure(L, l_close, 1);
  lua_setfield(L, -2, "close");
  lua_pop(L, 1);
}
