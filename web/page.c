/*
** page.c - moontile in a web page: a state of Lua behind two functions of JavaScript.
** SPDX-License-Identifier: MIT
**
** web/build.sh compiles it with the core, the binding and Lua; web/page.lua is its part
** in Lua.
*/
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "binding/lmt.h"
#include "moontile/lua.h"

/* The kernels of CUDA: a page has no GPU. */
const unsigned char mt_image_copy[1], mt_image_mma[1], mt_image_ampere[1],
    mt_image_hopper[1];

static lua_State *L;

/* The text on the top is the answer: it stays until the next call. */
static const char *answer (void) {
  lua_replace(L, 1);
  lua_settop(L, 1);
  const char *text = lua_tostring(L, 1);
  return text ? text : "an error that is no text";
}

static void configure (void) {
  static const char *const devices[] = {"cpu", "cpu:checked", NULL};
  mt_lua_config config = {.size = sizeof config,
                          .files = MT_LUA_NOFILES,
                          .devices = devices,
                          .threads = 1,
                          .work = (uint64_t)1 << 30};
  mt_lua_configure(L, &config);
}

/* `text` is web/page.lua, which gives the function that runs what is typed. Returns "",
** or an error. */
__attribute__((used)) const char *page_open (const char *text) {
  L = luaL_newstate();
  if (L == NULL) return "not enough memory";
  luaL_openlibs(L);
  lua_settop(L, 0);
  lua_pushnil(L); /* the place of answers */
  configure();
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_pop(L, 1);
  if (luaL_loadbufferx(L, text, strlen(text), "=page", "t") != LUA_OK) return answer();
  lua_pushcfunction(L, lmt_openconsole);
  if (lua_pcall(L, 0, 1, 0) != LUA_OK || lua_pcall(L, 1, 1, 0) != LUA_OK) return answer();
  lua_setfield(L, LUA_REGISTRYINDEX, "page");
  return "";
}

/* Runs what is typed: JSON of what came of it. */
__attribute__((used)) const char *page_run (const char *code) {
  lua_settop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "page");
  lua_pushstring(L, code);
  lua_pcall(L, 1, 1, 0);
  return answer();
}
