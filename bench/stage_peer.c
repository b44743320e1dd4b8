/*
** stage_peer.c - the driver's own copies between the host and a GPU: of runs of bytes,
** from page-locked memory or from any.
** SPDX-License-Identifier: MIT
*/
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_peer.h"

#define RUN "moontile.bench.Run"

typedef struct run {
  cuda_peer *cuda; /* its user value 1 */
  size_t bytes;
  bool locked;
  void *host; /* NULL: freed */
  uint64_t device;
} run;

static int run_gc (lua_State *L) {
  run *r = luaL_checkudata(L, 1, RUN);
  cuda_peer *c = r->cuda;
  if (c->context && r->device) CALL(L, c, free, (r->device));
  if (c->context && r->host && r->locked) CALL(L, c, host_free, (r->host));
  if (r->host && !r->locked) free(r->host);
  r->host = NULL;
  r->device = 0;
  return 0;
}

/* c:run(bytes, locked) */
int peer_run (lua_State *L) {
  cuda_peer *c = peer_tocuda(L);
  lua_Integer bytes = luaL_checkinteger(L, 2);
  luaL_argcheck(L, bytes > 0, 2, "positive number of bytes expected");
  run *r = lua_newuserdatauv(L, sizeof *r, 1);
  *r = (run){c, (size_t)bytes, lua_toboolean(L, 3), NULL, 0};
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, RUN);
  if (r->locked) CALL(L, c, host_alloc, (&r->host, r->bytes, 0));
  else r->host = malloc(r->bytes);
  if (r->host == NULL) return luaL_error(L, "run: no memory");
  memset(r->host, 7, r->bytes);
  CALL(L, c, alloc, (&r->device, r->bytes));
  return 1;
}

static run *check_run (lua_State *L) {
  run *r = luaL_checkudata(L, 1, RUN);
  if (r->host == NULL || !r->cuda->context) luaL_error(L, "run: freed");
  return r;
}

/* run:up(), run:down(): begins a copy to the device or back, and waits for it. */
static int run_up (lua_State *L) {
  run *r = check_run(L);
  CALL(L, r->cuda, send, (r->device, r->host, r->bytes, r->cuda->stream));
  CALL(L, r->cuda, synchronize, (r->cuda->stream));
  return 0;
}

static int run_down (lua_State *L) {
  run *r = check_run(L);
  CALL(L, r->cuda, fetch, (r->host, r->device, r->bytes, r->cuda->stream));
  CALL(L, r->cuda, synchronize, (r->cuda->stream));
  return 0;
}

void peer_open_run (lua_State *L) {
  static const luaL_Reg functions[] = {{"__gc", run_gc},
                                       {"__close", run_gc},
                                       {"up", run_up},
                                       {"down", run_down},
                                       {NULL, NULL}};
  peer_new_class(L, RUN, functions);
}
