/*
** main.c - the library, and the module for Lua, are loaded, used and unloaded again and
** again: nothing stays.
** usage: moontile_loads_test libmoontile.so moontile.so TIMES
** SPDX-License-Identifier: MIT
*/
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "counted.h"
#include "moontile.h"

int checks, failures;

/* ---------------------------------------------------------------- what stays */

typedef struct stays {
  size_t bytes;
  int mappings, threads;
} stays;

static int lines (const char *path, const char *with) {
  char line[4096];
  int n = 0;
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) n += strstr(line, with) != NULL;
  if (f) fclose(f);
  return n;
}

static stays measure (void) {
  struct mallinfo2 m = mallinfo2();
  return (stays){m.uordblks + m.hblkhd, lines("/proc/self/maps", ""),
                 lines("/proc/self/status", "Threads:\t1\n")};
}

static void compare (const char *what, stays before, stays after, int times) {
  printf("%s: %d times: %zu bytes before, %zu after; %d mappings before, %d after\n",
         what, times, before.bytes, after.bytes, before.mappings, after.mappings);
  CHECK(after.bytes <= before.bytes + 1024, "%s: bytes are left", what);
  CHECK(after.mappings <= before.mappings + 2, "%s: mappings are left", what);
  CHECK(after.threads == 1, "%s: threads are left", what);
}

/* ---------------------------------------------------------------- the library */

/* The functions that are used, by their names in the library. */
#define FUNCTIONS(X)                                                                     \
  X(mt_parse)                                                                            \
  X(mt_device_open)                                                                      \
  X(mt_device_close) X(mt_plan_copy) X(mt_plan_launch) X(mt_plan_free) X(mt_synchronize)

typedef struct library {
  void *handle;
#define POINTER(name) __typeof__(name) *name;
  FUNCTIONS(POINTER)
} library;

static bool open_library (library *l, const char *path) {
  l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (l->handle == NULL) return false;
#define FIND(name) *(void **)&l->name = dlsym(l->handle, #name);
  FUNCTIONS(FIND)
  return l->mt_parse && l->mt_plan_launch;
}

/* A matrix is transposed on two threads. */
static bool use (const library *l) {
  enum { N = 512 };
  static float from[N * N], to[N * N];
  mt_layout a, b;
  mt_device *d;
  mt_plan *p;
  mt_err err = MT_NOERR;
  const mt_device_options o = {.size = sizeof(mt_device_options), .threads = 2};
  if (l->mt_parse(&a, "(512,512):(1,512)", 17, &err)) return false;
  if (l->mt_parse(&b, "(512,512):(512,1)", 17, &err)) return false;
  const mt_tensor src = {.layout = a.node, MT_f32, from, sizeof from, 0, NULL};
  const mt_tensor dst = {.layout = b.node, MT_f32, to, sizeof to, 0, NULL};
  from[N + 2] = 7;
  if (l->mt_device_open(&d, "cpu", &o, &err)) return false;
  bool ok = l->mt_plan_copy(&p, d, NULL, &src, &dst, &err) == MT_OK;
  if (ok) {
    ok = l->mt_plan_launch(p, NULL, &err) == MT_OK &&
         l->mt_synchronize(d, NULL, &err) == MT_OK;
    l->mt_plan_free(p);
  }
  l->mt_device_close(d);
  return ok && to[2 * N + 1] == 7;
}

static void load_library (const char *path) {
  library l;
  bool opened = open_library(&l, path);
  CHECK(opened && use(&l), "%s", opened ? path : dlerror());
  if (l.handle) dlclose(l.handle);
  CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL, "%s stays loaded", path);
}

/* ---------------------------------------------------------------- the module */

static void load_module (const char *path) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushstring(L, path);
  lua_setglobal(L, "path");
  int status =
      luaL_dostring(L,
                    "local tile = assert(package.loadlib(path, 'luaopen_moontile'))()\n"
                    "local A = tile.tensor('f32', tile.layout { 64, 64 }):fill(2)\n"
                    "local B = tile.tensor('f32', tile.layout { 64, 64 })\n"
                    "tile.gemm(A, A, B) assert(B(3, 4) == 256)\n"
                    "assert(tostring(tile.layout(24, 2) / 4) == '(4,6):(2,8)')");
  CHECK(status == LUA_OK, "%s", lua_tostring(L, -1));
  lua_close(L);
  CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL, "%s stays loaded", path);
}

static void repeat (const char *what, void (*load)(const char *), const char *path,
                    int times) {
  enum { FIRST = 100 };
  for (int i = 0; i < FIRST; i++) load(path);
  measure(); /* stdio keeps some memory */
  stays before = measure();
  for (int i = 0; i < times; i++) load(path);
  compare(what, before, measure(), times);
}

int main (int argc, char **argv) {
  if (argc < 4) return 2;
  repeat("libmoontile.so", load_library, argv[1], atoi(argv[3]));
  repeat("moontile.so", load_module, argv[2], atoi(argv[3]));
  return failures != 0;
}
