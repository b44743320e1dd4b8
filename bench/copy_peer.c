/*
** copy_peer.c - the CUDA driver alone: the peer of copies on a GPU, and its bare launch.
** SPDX-License-Identifier: MIT
**
** moontile_bench.cuda() opens libcuda.so.1 as the library does, in the same process and
** the same primary context, without a header or a link to CUDA.
*/
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "desc/copy_desc.h"
#include "cuda_peer.h"

#define CLASS "moontile.bench.Cuda"
#define PAIRS "moontile.bench.Pairs"

/* Copies of `bytes` between buffers that take turns, so that no cache holds them. */
typedef struct pairs {
  cuda_peer *cuda; /* its user value 1 */
  size_t bytes;
  int n, next;
  uint64_t buffer[]; /* n sources, n destinations */
} pairs;

/* A kernel that does nothing, with the parameter of moontile's kernels. */
static const char empty_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry empty (.param .align 8 .b8 launch[%d]) { ret; }\n"
    ".visible .entry small (.param .align 8 .b8 launch[64]) { ret; }\n";

/* ---------------------------------------------------------------- calls */

void peer_check (lua_State *L, const cuda_peer *c, int code, const char *call) {
  const char *name = "?";
  if (!code) return;
  c->error_name(code, &name);
  luaL_error(L, "%s: %s", call, name);
}

cuda_peer *peer_tocuda (lua_State *L) {
  cuda_peer *c = luaL_checkudata(L, 1, CLASS);
  if (!c->context) luaL_error(L, "cuda: closed");
  return c;
}

static int cuda_gc (lua_State *L) {
  cuda_peer *c = luaL_checkudata(L, 1, CLASS);
  handle old;
  if (c->context) {
    c->push(c->context);
    if (c->module) c->module_unload(c->module);
    if (c->stream) c->stream_destroy(c->stream);
    c->pop(&old);
    c->release(c->device);
    c->context = NULL;
  }
  return 0; /* the driver stays loaded */
}

static void load_empty (lua_State *L, cuda_peer *c) {
  lua_pushfstring(L, empty_ptx, (int)sizeof(mt_launch));
  CALL(L, c, module_load, (&c->module, lua_tostring(L, -1)));
  CALL(L, c, get_function, (&c->empty, c->module, "empty"));
  CALL(L, c, get_function, (&c->small, c->module, "small"));
  lua_pop(L, 1);
}

/* cuda ([ordinal [, libcuda]]) -> the driver; nil and why if there is none. */
static int cuda_new (lua_State *L) {
  int ordinal = (int)luaL_optinteger(L, 1, 0);
  const char *path = luaL_optstring(L, 2, "libcuda.so.1");
  cuda_peer *c = lua_newuserdatauv(L, sizeof *c, 0);
  memset(c, 0, sizeof *c);
  luaL_setmetatable(L, CLASS);
  const char *missing = NULL;
  c->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!c->lib) missing = dlerror();
#define DRIVER_LOAD(name, field, parameters)                                             \
  if (!missing) {                                                                        \
    *(void **)&c->field = dlsym(c->lib, name);                                           \
    if (!c->field) missing = name " is missing";                                         \
  }
  DRIVER(DRIVER_LOAD)
#undef DRIVER_LOAD
  if (missing || c->init(0) || c->device_get(&c->device, ordinal)) {
    lua_pushnil(L);
    lua_pushstring(L, missing ? missing : "no such CUDA device");
    return 2;
  }
  peer_check(L, c, c->retain(&c->context, c->device), "cuDevicePrimaryCtxRetain");
  CALL(L, c, stream_create, (&c->stream, 1));
  load_empty(L, c);
  return 1;
}

static int cuda_synchronize (lua_State *L) {
  cuda_peer *c = peer_tocuda(L);
  CALL(L, c, synchronize, (c->stream));
  return 0;
}

int peer_launch_empty (const cuda_peer *c, handle f, lua_Integer n) {
  static const mt_launch zero;
  void *parameters[] = {(void *)(uintptr_t)&zero};
  int code = 0;
  while (n-- > 0 && !code)
    code = c->launch(f, 1, 1, 1, 32, 1, 1, 0, c->stream, parameters, NULL);
  return code;
}

/* c:launch(n) -> seconds that n launches of the empty kernel took, not waiting for them.
** */
static int cuda_launch (lua_State *L) {
  cuda_peer *c = peer_tocuda(L);
  lua_Integer n = luaL_checkinteger(L, 2);
  handle old;
  peer_check(L, c, c->push(c->context), "cuCtxPushCurrent");
  double t = peer_now();
  int code = peer_launch_empty(c, c->empty, n);
  t = peer_now() - t;
  c->pop(&old);
  peer_check(L, c, code, "cuLaunchKernel");
  lua_pushnumber(L, t);
  return 1;
}

/* ---------------------------------------------------------------- pairs of buffers */

static int pairs_gc (lua_State *L) {
  pairs *p = luaL_checkudata(L, 1, PAIRS);
  for (int i = 0; i < 2 * p->n && p->cuda->context; i++)
    if (p->buffer[i]) CALL(L, p->cuda, free, (p->buffer[i]));
  p->n = 0;
  return 0;
}

static void fill_random (lua_State *L, pairs *p) {
  enum { CHUNK = 1 << 22 };
  uint64_t x = 88172645463325252u, *words = lua_newuserdatauv(L, CHUNK, 0);
  for (int i = 0; i < CHUNK / 8; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    words[i] = x;
  }
  for (int i = 0; i < 2 * p->n; i++)
    for (size_t at = 0; at < p->bytes; at += CHUNK) {
      size_t n = p->bytes - at < CHUNK ? p->bytes - at : CHUNK;
      CALL(L, p->cuda, upload, (p->buffer[i] + at, words, n));
    }
  lua_pop(L, 1);
}

/* c:pairs(bytes, n) */
static int cuda_pairs (lua_State *L) {
  cuda_peer *c = peer_tocuda(L);
  lua_Integer bytes = luaL_checkinteger(L, 2), n = luaL_checkinteger(L, 3);
  luaL_argcheck(L, bytes > 0, 2, "positive number of bytes expected");
  luaL_argcheck(L, n > 0 && n <= 4096, 3, "1 to 4096 pairs expected");
  size_t size = sizeof(pairs) + 2 * (size_t)n * sizeof(uint64_t);
  pairs *p = lua_newuserdatauv(L, size, 1);
  memset(p, 0, size);
  p->cuda = c;
  p->bytes = (size_t)bytes;
  p->n = (int)n;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, PAIRS);
  for (int i = 0; i < 2 * p->n; i++) CALL(L, c, alloc, (&p->buffer[i], p->bytes));
  fill_random(L, p);
  return 1;
}

/* pairs (): starts a copy, of the next pair. */
static int pairs_call (lua_State *L) {
  pairs *p = luaL_checkudata(L, 1, PAIRS);
  int i = p->next;
  if (!p->n) return luaL_error(L, "pairs: closed");
  p->next = (i + 1) % p->n;
  CALL(L, p->cuda, copy, (p->buffer[p->n + i], p->buffer[i], p->bytes, p->cuda->stream));
  return 0;
}

/* ---------------------------------------------------------------- the module */

void peer_new_class (lua_State *L, const char *name, const luaL_Reg *functions) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, functions, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

void peer_open_cuda (lua_State *L) {
  static const luaL_Reg cuda[] =
      {{"__gc", cuda_gc},       {"__close", cuda_gc},  {"synchronize", cuda_synchronize},
       {"launch", cuda_launch}, {"pairs", cuda_pairs}, {"graph", peer_graph},
       {"run", peer_run},       {"gemm", peer_gemm},   {NULL, NULL}};
  static const luaL_Reg two[] = {{"__gc", pairs_gc},
                                 {"__close", pairs_gc},
                                 {"__call", pairs_call},
                                 {NULL, NULL}};
  peer_new_class(L, CLASS, cuda);
  peer_new_class(L, PAIRS, two);
  peer_open_graph(L);
  peer_open_run(L);
  peer_open_gemm(L);
  peer_open_bare(L);
  lua_pushcfunction(L, cuda_new);
  lua_setfield(L, -2, "cuda");
}

static int now (lua_State *L) {
  lua_pushnumber(L, peer_now());
  return 1;
}

int luaopen_moontile_bench (lua_State *L);
__attribute__((visibility("default"))) int luaopen_moontile_bench (lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, now);
  lua_setfield(L, -2, "now");
  peer_open_memcpy(L);
  peer_open_plan(L);
  peer_open_model(L);
  peer_open_core(L);
  peer_open_cuda(L);
  return 1;
}
