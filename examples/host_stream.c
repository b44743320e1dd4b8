/*
** host_stream.c - a host that has a GPU at work: a context, memory, a stream of its own.
** SPDX-License-Identifier: MIT
**
** A matrix is turned by a script of Lua, in the host's memory and on the host's stream,
** between the host's own copies up and down: in order, and nothing waits but the host at
** its end. It takes the driver that it is told, or libcuda.so.1.
*/
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "moontile/lua.h"

enum { ROWS = 96, COLUMNS = 40, BYTES = ROWS * COLUMNS * (int)sizeof(float) };

/* What the host calls of the driver; one that is compiled with cuda.h has it there. */
#define DRIVER(X)                                                                        \
  X(cuInit, cuInit, unsigned)                                                            \
  X(cuDeviceGet, cuDeviceGet, int *, int)                                                \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, void **, int)                    \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, int)                        \
  X(cuCtxPushCurrent, cuCtxPushCurrent_v2, void *)                                       \
  X(cuMemAlloc, cuMemAlloc_v2, unsigned long long *, size_t)                             \
  X(cuMemFree, cuMemFree_v2, unsigned long long)                                         \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, unsigned long long, const void *, size_t,   \
    void *)                                                                              \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, void *, unsigned long long, size_t, void *) \
  X(cuStreamCreate, cuStreamCreate, void **, unsigned)                                   \
  X(cuStreamDestroy, cuStreamDestroy_v2, void *)                                         \
  X(cuStreamSynchronize, cuStreamSynchronize, void *)

static struct {
#define MEMBER(name, symbol, ...) int (*name)(__VA_ARGS__);
  DRIVER(MEMBER)
} driver;

static void must (int result, const char *what) {
  if (result == 0) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(EXIT_FAILURE);
}
#define CALL(name, ...) must(driver.name(__VA_ARGS__), #name)

static int load_driver (const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return printf("there is no %s\n", path), 0;
#define LOAD(name, symbol, ...) *(void **)&driver.name = dlsym(library, #symbol);
  DRIVER(LOAD)
  return driver.cuInit != NULL && driver.cuInit(0) == 0;
}

/* Lua: turns `src` into `dst` on `stream`. */
static const char script[] = "local src, dst, stream = ...\n"
                             "local plan = tile.plan(src, dst:select(2, 1))\n"
                             "print(plan)\n"
                             "plan(stream)\n";

typedef struct lent {
  mt_device *d;
  void *stream;
  unsigned long long src, dst;
} lent;

/* Memory of the device, as the device's tensors are: it stays the host's. */
static void push_matrix (lua_State *L, const lent *x, unsigned long long at, int rows,
                         int columns) {
  mt_layout a;
  mt_err err = MT_NOERR;
  char text[64];
  int n = snprintf(text, sizeof text, "(%d,%d):(%d,1)", rows, columns, columns);
  must(mt_parse(&a, text, (size_t)n, &err), err.text);
  mt_lua_pushdevicetensor(L, mt_device_name(x->d), MT_f32, a.node, (void *)(uintptr_t)at,
                          BYTES);
}

static int guest (lua_State *L) {
  const lent *x = lua_touserdata(L, 1);
  mt_lua_pushdevice(L, x->d);
  if (luaL_loadstring(L, script)) return lua_error(L);
  push_matrix(L, x, x->src, ROWS, COLUMNS);
  push_matrix(L, x, x->dst, COLUMNS, ROWS);
  mt_lua_pushstream(L, mt_device_name(x->d), x->stream);
  lua_call(L, 3, 0);
  return 0;
}

static void run_script (lent *x) {
  lua_State *L = luaL_newstate();
  luaL_requiref(L, "_G", luaopen_base, 1);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  lua_pushcfunction(L, guest);
  lua_pushlightuserdata(L, x);
  if (lua_pcall(L, 1, 0, 0)) must(1, lua_tostring(L, -1));
  lua_close(L);
}

int main (int argc, char **argv) {
  static float up[ROWS * COLUMNS], down[ROWS * COLUMNS];
  const char *path = argc > 1 ? argv[1] : "libcuda.so.1";
  mt_err err = MT_NOERR;
  lent x = {.d = NULL};
  void *context;
  int device, wrong = 0;
  if (!load_driver(path)) return printf("no GPU: nothing is done\n"), EXIT_SUCCESS;
  CALL(cuDeviceGet, &device, 0);
  CALL(cuDevicePrimaryCtxRetain, &context, device);
  CALL(cuCtxPushCurrent, context);
  CALL(cuStreamCreate, &x.stream, 1);
  CALL(cuMemAlloc, &x.src, BYTES);
  CALL(cuMemAlloc, &x.dst, BYTES);
  const mt_device_options o = {.size = sizeof o, .libcuda = path, .context = context};
  must(mt_device_open(&x.d, "cuda:0", &o, &err), err.text);
  for (int i = 0; i < ROWS * COLUMNS; i++) up[i] = (float)i;
  CALL(cuMemcpyHtoDAsync, x.src, up, BYTES, x.stream);
  CALL(cuMemcpyHtoDAsync, x.dst, down, BYTES, x.stream); /* zeros */
  run_script(&x);
  CALL(cuMemcpyDtoHAsync, down, x.dst, BYTES, x.stream);
  CALL(cuStreamSynchronize, x.stream);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) wrong += down[j * ROWS + i] != up[i * COLUMNS + j];
  mt_device_close(x.d);
  CALL(cuMemFree, x.dst);
  CALL(cuMemFree, x.src);
  CALL(cuStreamDestroy, x.stream);
  CALL(cuDevicePrimaryCtxRelease, device);
  printf("%s\n", wrong ? "WRONG" : "every element is in its place");
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
