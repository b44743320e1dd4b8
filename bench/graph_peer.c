/*
** graph_peer.c - graphs captured with the driver alone: of empty kernels, of its own
** copies, of the launches of moontile's kernel without moontile's graphs.
** SPDX-License-Identifier: MIT
*/
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_peer.h"
#include "cuda/cuda.h"

#define GRAPH "moontile.bench.Graph"

enum { BYTES = 4096 }; /* of each copy */

typedef enum kind { EMPTY, SMALL, MEMCPY, KERNEL, EARLY } kind;
static const char *const kinds[] = {"empty", "small", "memcpy", "kernel", "early", NULL};

typedef struct graph {
  cuda_peer *cuda;    /* its user value 1 */
  handle graph, exec; /* NULL: destroyed */
  mt_device *device;  /* NULL, or: where src, dst and plan are */
  void *src, *dst;
  mt_plan *plan;
} graph;

/* ---------------------------------------------------------------- what is captured */

static mt_status make_plan (graph *g, mt_err *err) {
  mt_layout a;
  MT_TRY(mt_device_open(&g->device, "cuda", NULL, err));
  MT_TRY(mt_malloc(g->device, &g->src, BYTES, err));
  MT_TRY(mt_malloc(g->device, &g->dst, BYTES, err));
  MT_TRY(mt_parse(&a, "(32,32):(32,1)", 14, err));
  const mt_tensor src = {a.node, MT_f32, g->src, BYTES, 0, NULL};
  const mt_tensor dst = {a.node, MT_f32, g->dst, BYTES, 0, NULL};
  MT_TRY(mt_plan_copy(&g->plan, g->device, NULL, &src, &dst, err));
  return mt_plan_launch(g->plan, NULL, err); /* which loads the kernel */
}

static void drop_plan (graph *g) {
  mt_plan_free(g->plan);
  if (g->device) {
    mt_free(g->device, g->src, BYTES);
    mt_free(g->device, g->dst, BYTES);
  }
  mt_device_close(g->device);
  g->plan = NULL;
  g->device = NULL;
}

/* The program's plans may come from its own table, which has the same rows. */
static size_t row_of (const mt_kernel *k) {
  size_t i = 0;
  while (strcmp(mt_cuda_kernels[i].name, k->name) != 0) i++;
  return i;
}

static int launch_plan (const graph *g, bool early) {
  const mt_plan *p = g->plan;
  const mt_cuda *c = g->device->impl;
  void *params[] = {(void *)(uintptr_t)&p->launch};
  CUlaunchAttribute may = {.id = MT_CU_EARLY, .value.allowed = 1};
  CUlaunchConfig config = {.gridDimX = p->grid.blocks,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = p->grid.threads,
                           .blockDimY = 1,
                           .blockDimZ = 1,
                           .hStream = g->cuda->stream,
                           .attrs = &may,
                           .numAttrs = early};
  CUfunction f = c->function[row_of(p->kernel)];
  return c->driver.cuLaunchKernelEx(&config, f, params, NULL);
}

static int record (const graph *g, kind k, lua_Integer n) {
  const cuda_peer *c = g->cuda;
  int code = 0;
  if (k <= SMALL) return peer_launch_empty(c, k == EMPTY ? c->empty : c->small, n);
  for (; n > 0 && !code; n--)
    code = k != MEMCPY ? launch_plan(g, k == EARLY) :
                         c->copy((uintptr_t)g->dst, (uintptr_t)g->src, BYTES, c->stream);
  return code;
}

static int capture (graph *g, kind k, lua_Integer n) {
  const cuda_peer *c = g->cuda;
  int code = c->begin(c->stream, MT_CU_RELAXED), ended;
  if (code) return code;
  code = record(g, k, n);
  ended = c->end(c->stream, &g->graph);
  if (!code) code = ended;
  return code ? code : c->instantiate(&g->exec, g->graph, 0);
}

/* ---------------------------------------------------------------- in Lua */

static int graph_gc (lua_State *L) {
  graph *g = luaL_checkudata(L, 1, GRAPH);
  if (g->exec && g->cuda->context) CALL(L, g->cuda, exec_destroy, (g->exec));
  if (g->graph && g->cuda->context) CALL(L, g->cuda, graph_destroy, (g->graph));
  g->exec = g->graph = NULL;
  drop_plan(g);
  return 0;
}

/* c:graph(n [, kind]) -> a graph of n launches of the empty kernel ("empty"), of one with
** a parameter of 64 bytes ("small"), of copies of 4 KiB by the driver ("memcpy"), of
** launches of moontile's kernel for that ("kernel"), and of launches that may come up
** early ("early"). */
int peer_graph (lua_State *L) {
  cuda_peer *c = peer_tocuda(L);
  lua_Integer n = luaL_checkinteger(L, 2);
  kind k = (kind)luaL_checkoption(L, 3, "empty", kinds);
  mt_err err = MT_NOERR;
  handle old;
  graph *g = lua_newuserdatauv(L, sizeof *g, 1);
  memset(g, 0, sizeof *g);
  g->cuda = c;
  luaL_setmetatable(L, GRAPH);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  if (k > SMALL && make_plan(g, &err) != MT_OK) return luaL_error(L, "%s", err.text);
  peer_check(L, c, c->push(c->context), "cuCtxPushCurrent");
  int code = capture(g, k, n);
  c->pop(&old);
  peer_check(L, c, code, "a capture");
  return 1;
}

/* graph(n) -> seconds that n launches of the graph took, not waiting for them. */
static int graph_call (lua_State *L) {
  graph *g = luaL_checkudata(L, 1, GRAPH);
  lua_Integer n = luaL_optinteger(L, 2, 1);
  handle old;
  int code = 0;
  if (!g->exec || !g->cuda->context) return luaL_error(L, "graph: destroyed");
  peer_check(L, g->cuda, g->cuda->push(g->cuda->context), "cuCtxPushCurrent");
  double t = peer_now();
  while (n-- > 0 && !code) code = g->cuda->replay(g->exec, g->cuda->stream);
  t = peer_now() - t;
  g->cuda->pop(&old);
  peer_check(L, g->cuda, code, "cuGraphLaunch");
  lua_pushnumber(L, t);
  return 1;
}

/* What cuGraphGetEdges_v2 of drivers for CUDA 12.3 and later says of an edge. */
typedef struct edge {
  unsigned char from, to, type, rest[5];
} edge;
typedef int get_edges (handle g, handle *from, handle *to, edge *e, size_t *n);

/* graph:edges() -> how many edges are programmatic, of how many; nil: not known. */
static int graph_edges (lua_State *L) {
  enum { MOST = 4096 };
  static edge e[MOST];
  static handle from[MOST], to[MOST];
  const graph *g = luaL_checkudata(L, 1, GRAPH);
  get_edges *get = NULL;
  size_t n = MOST;
  lua_Integer early = 0;
  *(void **)&get = dlsym(g->cuda->lib, "cuGraphGetEdges_v2");
  if (!get || !g->graph || get(g->graph, from, to, e, &n) != 0 || n > MOST) return 0;
  for (size_t i = 0; i < n; i++) early += e[i].type == 1;
  lua_pushinteger(L, early);
  lua_pushinteger(L, (lua_Integer)n);
  return 2;
}

void peer_open_graph (lua_State *L) {
  static const luaL_Reg functions[] = {{"__gc", graph_gc},
                                       {"__close", graph_gc},
                                       {"__call", graph_call},
                                       {"edges", graph_edges},
                                       {NULL, NULL}};
  peer_new_class(L, GRAPH, functions);
}
