/*
** source.c - the Lua files inside the module, and the environment that they run in.
** SPDX-License-Identifier: MIT
**
** The environment has base, string, table and math of its own: the host need not open
** them, and what scripts do to theirs changes nothing here. That of the console has the
** host's io, os, debug, coroutine and utf8 besides.
*/
#include <string.h>

#include <lualib.h>

#include "binding/lmt.h"

/* ---------------------------------------------------------------- the libraries */

/* Fills the globals, which are the environment at 1 now. */
static int l_fill (lua_State *L) {
  static const luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                       {LUA_STRLIBNAME, luaopen_string},
                                       {LUA_TABLIBNAME, luaopen_table},
                                       {LUA_MATHLIBNAME, luaopen_math}};
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    lua_pushcfunction(L, libraries[i].func);
    lua_pushstring(L, libraries[i].name);
    lua_call(L, 1, 1);
    lua_setfield(L, 1, libraries[i].name);
  }
  return 0;
}

/* Pushes the environment. Libraries set globals and the metatable of strings: the
** environment takes the place of the globals meanwhile, and the metatable comes back. No
** finalizer sees them so. */
static void push_environment (lua_State *L) {
  int running = lua_gc(L, LUA_GCISRUNNING), env = lua_gettop(L) + 1;
  lua_newtable(L);
  lua_pushliteral(L, "");
  if (!lua_getmetatable(L, -1)) lua_pushnil(L);
  lua_pushglobaltable(L);
  lua_pushcfunction(L, l_fill);
  lua_pushvalue(L, env);
  lua_gc(L, LUA_GCSTOP);
  lua_pushvalue(L, env);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  int status = lua_pcall(L, 1, 1, 0);
  lua_insert(L, env + 1);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_setmetatable(L, -2);
  if (running) lua_gc(L, LUA_GCRESTART);
  lua_settop(L, env + 1);
  if (status != LUA_OK) lua_error(L);
  lua_settop(L, env);
}

/* ---------------------------------------------------------------- the files */

static const struct mt_embedded *find_source (lua_State *L, const char *name) {
  const struct mt_embedded *e = mt_embedded;
  while (e->name && strcmp(e->name, name) != 0) e++;
  if (e->name == NULL) luaL_error(L, "moontile: built without %s", name);
  return e;
}

/* Pushes the function of a source: "moontile.einsum" has the chunk name
** "@moontile/einsum.lua". */
static void push_chunk (lua_State *L, const char *name) {
  const struct mt_embedded *e = find_source(L, name);
  const char *path = luaL_gsub(L, e->name, ".", "/");
  const char *tail = strchr(e->name, '.') ? ".lua" : "/init.lua";
  const char *chunk = lua_pushfstring(L, "@%s%s", path, tail);
  if (luaL_loadbufferx(L, (const char *)e->text, e->size, chunk, "t")) lua_error(L);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

/* need(name): what the source "moontile.NAME" returns, which is run once; "core" is what
** is written in C. Each source gets this function, scripts do not: what they do to the
** module changes nothing in here. Upvalues: what was run, the environment. */
static int l_need (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  if (lua_getfield(L, lua_upvalueindex(1), name) != LUA_TNIL) return 1;
  push_chunk(L, *name ? lua_pushfstring(L, "moontile.%s", name) : "moontile");
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_setupvalue(L, -2, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushcclosure(L, l_need, 2);
  lua_call(L, 1, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, lua_upvalueindex(1), name);
  return 1;
}

/* Copies the fields of the table at `from` to the one on the top. */
static void copy_fields (lua_State *L, int from) {
  for (lua_pushnil(L); lua_next(L, from);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
}

/* "core" is what C has and no script can reach. */
void lmt_runsources (lua_State *L) {
  int core = lua_gettop(L);
  lua_newtable(L);
  lmt_pushinner(L);
  copy_fields(L, core);
  lua_setfield(L, -2, "core");
  push_environment(L);
  lua_pushcclosure(L, l_need, 2);
  lua_pushliteral(L, "");
  lua_call(L, 1, 1);
  lua_replace(L, core);
}

/* source(name): the text of the source "moontile.NAME". */
static int l_source (lua_State *L) {
  const char *name = lua_pushfstring(L, "moontile.%s", luaL_checkstring(L, 1));
  const struct mt_embedded *e = find_source(L, name);
  lua_pushlstring(L, (const char *)e->text, e->size);
  return 1;
}

/* The environment on the top has these libraries of the host too, if it opened them. */
static void lend_libraries (lua_State *L) {
  static const char *const names[] = {LUA_IOLIBNAME, LUA_OSLIBNAME, LUA_DBLIBNAME,
                                      LUA_COLIBNAME, LUA_UTF8LIBNAME};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    lua_getglobal(L, names[i]);
    lua_setfield(L, -2, names[i]);
  }
}

/* The sources of the console see the module as scripts do, as "tile"; what is global to
** scripts, as "globals"; the rows of operations.def, as what "operations" returns; and
** the text of each source. */
int lmt_openconsole (lua_State *L) {
  lua_newtable(L);
  lmt_pushstate(L);
  lua_getiuservalue(L, -1, LMT_MODULE);
  lua_setfield(L, -3, "tile");
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "globals");
  lua_pushcfunction(L, lmt_listoperations);
  lua_setfield(L, -2, "operations");
  lua_pushcfunction(L, l_source);
  lua_setfield(L, -2, "source");
  push_environment(L);
  lend_libraries(L);
  lua_pushcclosure(L, l_need, 2);
  lua_pushliteral(L, "console");
  lua_call(L, 1, 1);
  return 1;
}
