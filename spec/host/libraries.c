/*
** libraries.c - the module under hosts that opened some of Lua's libraries, all subsets.
** SPDX-License-Identifier: MIT
*/
#include "host.h"

static const luaL_Reg all[] =
    {{LUA_GNAME, luaopen_base},          {LUA_STRLIBNAME, luaopen_string},
     {LUA_TABLIBNAME, luaopen_table},    {LUA_MATHLIBNAME, luaopen_math},
     {LUA_COLIBNAME, luaopen_coroutine}, {LUA_UTF8LIBNAME, luaopen_utf8},
     {LUA_IOLIBNAME, luaopen_io},        {LUA_OSLIBNAME, luaopen_os},
     {LUA_DBLIBNAME, luaopen_debug},     {LUA_LOADLIBNAME, luaopen_package}};
enum { LIBRARIES = sizeof all / sizeof all[0] };

/* What is written in Lua, by no library of the script's own: returns what is wrong. */
static const char script[] =
    "local tile, file = ...\n"
    "local A = tile.layout(4, 2)\n"
    "if tile.print_layout(A) ~= A:print_layout() then return 'print_layout' end\n"
    "local a, b, c = tile.tensor('f32', tile.layout{3, 4}), tile.tensor('f32',\n"
    "  tile.layout{5, 4}), tile.tensor('f32', tile.layout{3, 5})\n"
    "a:fill(2) b:fill(3)\n"
    "tile.einsum('mk, nk -> mn', a, b, c)\n"
    "if c(2, 4) ~= 24 then return 'einsum' end\n"
    "local plan = tile.plan(a, tile.tensor('f32', tile.layout{3, 4}))\n"
    "local tuned, ways = tile.tune(plan, { rounds = 1, file = file })\n"
    "if tuned ~= plan or #ways < 1 then return 'tune' end\n"
    "if not tile.load_tuning(file) then return 'load_tuning' end\n"
    "if tile.info().devices[1].name ~= 'cpu' then return 'info' end\n"
    "if not tile.layout{2,5,5,3}:im2col(3) then return 'im2col' end\n"
    "return ''\n";

/* The globals and the strings' metatable as a number of their fields. */
static int fields (lua_State *L) {
  int n = 0;
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) n++;
  lua_pushliteral(L, "");
  if (lua_getmetatable(L, -1)) n += 1000, lua_pop(L, 1);
  lua_pop(L, 2);
  return n;
}

static void open_some (lua_State *L, int set) {
  for (int i = 0; i < LIBRARIES; i++)
    if (set >> i & 1) luaL_requiref(L, all[i].name, all[i].func, 1);
  lua_settop(L, 0);
}

/* (set, file) -> what is wrong */
static int under_some (lua_State *L) {
  const char *file = lua_touserdata(L, 2);
  open_some(L, (int)lua_tointeger(L, 1));
  int before = fields(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  if (fields(L) != before) return lua_pushliteral(L, "the host's globals changed"), 1;
  if (luaL_loadbufferx(L, script, sizeof script - 1, "=script", "t")) lua_error(L);
  lua_insert(L, -2);
  lua_pushstring(L, file);
  lua_call(L, 2, 1);
  return 1;
}

static const char *name_of (int set) {
  static char text[128];
  size_t n = 0;
  text[0] = '\0';
  for (int i = 0; i < LIBRARIES; i++)
    if (set >> i & 1)
      n += (size_t)snprintf(text + n, sizeof text - n, " %s", all[i].name);
  return text;
}

void test_libraries (const char *dir) {
  char file[1024];
  snprintf(file, sizeof file, "%s/tuning", dir);
  for (int set = 0; set < 1 << LIBRARIES; set++) {
    lua_State *L = luaL_newstate();
    lua_pushcfunction(L, under_some);
    lua_pushinteger(L, set);
    lua_pushlightuserdata(L, file);
    bool ok = lua_pcall(L, 2, 1, 0) == LUA_OK && lua_tostring(L, -1)[0] == '\0';
    CHECK(ok, "with%s: %s", name_of(set), lua_tostring(L, -1));
    lua_close(L);
  }
}
