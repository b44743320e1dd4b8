/*
** main.c - how much of a thread's stack the library takes: runs a script of Lua in a thread
** that has 64 KiB, besides what the C library keeps of it, and looks how far down it went.
** usage: moontile_stack SCRIPT [args]
** SPDX-License-Identifier: MIT
*/
#define _DEFAULT_SOURCE
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "moontile/lua.h"

enum { MOST = 64 << 10, PAINT = 0xA5 };

typedef struct job {
  char **arg;          /* of the script; NULL ends them */
  char *stack, *begin; /* its lowest byte; where the thread's function begins */
  bool fine;
} job;

/* How many bytes were written since, below where the thread began. */
static size_t used (const job *j) {
  const char *p = j->stack;
  while (*p == (char)PAINT) p++;
  return (size_t)(j->begin - p);
}

static int traceback (lua_State *L) {
  luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
  return 1;
}

static void push_arg (lua_State *L, char **arg) {
  lua_newtable(L);
  for (int i = 0; arg[i]; i++) {
    lua_pushstring(L, arg[i]);
    lua_rawseti(L, -2, i);
  }
  lua_setglobal(L, "arg");
}

static bool run (lua_State *L, char **arg) {
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  push_arg(L, arg);
  lua_settop(L, 0);
  lua_pushcfunction(L, traceback);
  int failed = luaL_loadfile(L, arg[0]);
  if (failed == LUA_OK) failed = lua_pcall(L, 0, 0, 1);
  if (failed == LUA_OK) return true;
  printf("%s\n", lua_tostring(L, -1));
  return false;
}

static void *begin (void *arg) {
  job *j = arg;
  char here;
  j->begin = &here;
  lua_State *L = luaL_newstate();
  j->fine = L && run(L, j->arg);
  if (L) lua_close(L);
  return NULL;
}

int main (int argc, char **argv) {
  job j = {.arg = argv + 1};
  pthread_attr_t attr;
  pthread_t thread;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t size = MOST + (size_t)sysconf(_SC_THREAD_STACK_MIN);
  if (argc < 2) return 2;
  size = (size + page - 1) / page * page;
  char *guard =
      mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (guard == MAP_FAILED || mprotect(guard, page, PROT_NONE) != 0) return 2;
  j.stack = memset(guard + page, PAINT, size);
  if (pthread_attr_init(&attr) || pthread_attr_setstack(&attr, j.stack, size) ||
      pthread_create(&thread, &attr, begin, &j) || pthread_join(thread, NULL))
    return 2;
  printf("%s: %zu bytes of the stack\n", argv[argc - 1], used(&j));
  return j.fine && used(&j) <= MOST ? 0 : 1;
}
