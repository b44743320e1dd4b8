/*
** main.c - runs the tests of a host that says what its scripts may do.
** SPDX-License-Identifier: MIT
*/
#include "host.h"

int checks, failures;

static const char *text_name, *text_value;

void global_text (const char *name, const char *text) {
  text_name = name;
  text_value = text;
}

typedef struct task {
  const mt_lua_config *c;
  const char *begin, *code;
} task;

static int do_task (lua_State *L) {
  const task *t = lua_touserdata(L, 1);
  luaL_openlibs(L);
  if (t->c) mt_lua_configure(L, t->c);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  if (text_name) lua_pushstring(L, text_value), lua_setglobal(L, text_name);
  lua_pushfstring(L, "%s%s", t->begin, t->code);
  if (luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1), "=code", "t") ||
      lua_pcall(L, 0, 1, 0))
    return lua_error(L);
  return 1;
}

const char *run (const mt_lua_config *c, const char *begin, const char *code) {
  static char text[4096];
  task t = {c, begin, code};
  lua_State *L = luaL_newstate();
  lua_pushcfunction(L, do_task);
  lua_pushlightuserdata(L, &t);
  lua_pcall(L, 1, 1, 0);
  snprintf(text, sizeof text, "%s", luaL_tolstring(L, -1, NULL));
  lua_close(L);
  return text;
}

/* main DIR LIBCUDA */
int main (int argc, char **argv) {
  if (argc < 3) return 2;
  test_config();
  test_lend();
  test_dlpack();
  test_device(argv[2]);
  test_libraries(argv[1]);
  test_files(argv[1]);
  test_limits(argv[2]);
  test_attacks(argv[1]);
  printf("host: %d checks, %d failed\n", checks, failures);
  return failures ? 1 : 0;
}
