/*
** config.c - when a configuration is taken, and which.
** SPDX-License-Identifier: MIT
*/
#include "host.h"

/* Opens the library under the configuration at 1; at 2, if there is one, another. */
static int configured (lua_State *L) {
  for (int i = 1; i <= lua_gettop(L); i++) mt_lua_configure(L, lua_touserdata(L, i));
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  return 0;
}

static int opened (lua_State *L) {
  mt_lua_config c = {.size = sizeof c};
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  mt_lua_configure(L, &c);
  return 0;
}

/* The message of `f` in a state of its own with n configurations, "" if there is none. */
static const char *message (lua_CFunction f, int n, mt_lua_config *c) {
  static char text[256];
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, f);
  for (int i = 0; i < n; i++) lua_pushlightuserdata(L, c);
  int failed = lua_pcall(L, n, 0, 0);
  snprintf(text, sizeof text, "%s", failed ? lua_tostring(L, -1) : "");
  lua_close(L);
  return text;
}

static void says (const char *want, lua_CFunction f, int n, mt_lua_config c) {
  const char *got = message(f, n, &c);
  bool same = want[0] ? strstr(got, want) != NULL : got[0] == 0;
  CHECK(same, "wanted \"%s\", got \"%s\"", want, got);
}

void test_config (void) {
  enum { ALL = sizeof(mt_lua_config) };
  struct {
    mt_lua_config c;
    char more[8];
  } longer = {.c = {.size = sizeof longer}};
  says("", configured, 0, (mt_lua_config){.size = 0});
  says("", configured, 1, (mt_lua_config){.size = ALL});
  says("once, before", configured, 2, (mt_lua_config){.size = ALL});
  says("once, before", opened, 0, (mt_lua_config){.size = ALL});
  says("size: sizeof", configured, 1, (mt_lua_config){.size = 0});
  says("none of mt_lua_files", configured, 1, (mt_lua_config){.size = ALL, .files = 7});
  says("root: a folder", configured, 1,
       (mt_lua_config){.size = ALL, .files = MT_LUA_ROOTFILES});
  says("root: a folder", configured, 1, (mt_lua_config){.size = ALL, .root = "/"});
  says("threads: -1", configured, 1, (mt_lua_config){.size = ALL, .threads = -1});
  CHECK(message(configured, 1, &longer.c)[0] == 0, "zeros of the future are refused");
  longer.more[3] = 1;
  CHECK(strstr(message(configured, 1, &longer.c), "does not know all") != NULL,
        "what is set and not known is taken");
}
