/*
** launch_peer.c - the launches of a plan by the driver alone: what the plan gives to
** cuLaunchKernelEx is noted once, and given again in a loop of C.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "cuda_peer.h"
#include "cuda/cuda.h"

#define BARE "moontile.bench.Bare"

enum { TENSORS = 3, MOST = 4 };

/* What is launched: with its parameter, which stays in the plan. */
typedef struct noted {
  CUlaunchConfig config;
  CUlaunchAttribute attrs[2];
  CUfunction f;
  void *param;
} noted;

typedef struct bare {
  mt_device *device;
  mt_plan *plan;
  void *memory[TENSORS];
  size_t bytes[TENSORS];
  int n;
  noted launch[MOST];
} bare;

static bare *noting; /* whose launches are noted now */

static CUresult note (const CUlaunchConfig *config, CUfunction f, void **params,
                      void **extra) {
  const mt_cuda *c = noting->device->impl;
  noted *x = &noting->launch[noting->n];
  if (noting->n++ >= MOST) return 1;
  x->config = *config;
  memcpy(x->attrs, config->attrs, config->numAttrs * sizeof *x->attrs);
  x->config.attrs = x->attrs;
  x->f = f;
  x->param = params[0];
  return c->stream && extra == NULL ? 0 : 1;
}

/* The plan's launches go to note(), once. */
static mt_status note_launches (bare *b, mt_err *err) {
  mt_cuda *c = b->device->impl;
  CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **) =
      c->driver.cuLaunchKernelEx;
  noting = b;
  c->driver.cuLaunchKernelEx = note;
  mt_status s = mt_plan_launch(b->plan, NULL, err);
  c->driver.cuLaunchKernelEx = launch;
  return s;
}

/* ---------------------------------------------------------------- plans */

/* A layout of each tensor, of the type: two of a copy, three of a product. */
static const struct kind {
  mt_dtype dtype;
  const char *layout[TENSORS];
} kinds[] = {
    {MT_f32, {"(32,32):(32,1)", "(32,32):(32,1)", NULL}},
    {MT_bf16, {"(128,64):(64,1)", "(64,64):(64,1)", "(128,64):(64,1)"}},
    {MT_bf16, {"(128,63):(63,1)", "(64,63):(63,1)", "(128,64):(64,1)"}},
};
static const char *const names[] = {"copy", "gemm", "packed", NULL};

static mt_status make_tensor (bare *b, mt_tensor *t, mt_layout *room,
                              const struct kind *k, int i, mt_err *err) {
  int64_t n;
  MT_TRY(mt_parse(room, k->layout[i], strlen(k->layout[i]), err));
  MT_TRY(mt_cosize(&n, room->node, err));
  b->bytes[i] = (size_t)n * mt_dtype_size(k->dtype);
  MT_TRY(mt_malloc(b->device, &b->memory[i], b->bytes[i], err));
  *t = (mt_tensor){room->node, k->dtype, b->memory[i], b->bytes[i], 0, NULL};
  return MT_OK;
}

static mt_status make (bare *b, const struct kind *k, mt_err *err) {
  mt_tensor t[TENSORS];
  mt_layout room[TENSORS];
  MT_TRY(mt_device_open(&b->device, "cuda", NULL, err));
  for (int i = 0; i < TENSORS && k->layout[i]; i++)
    MT_TRY(make_tensor(b, &t[i], &room[i], k, i, err));
  mt_gemm_options o = {.size = sizeof o, .alpha = 1, .family = "hopper"};
  MT_TRY(k->layout[2] ?
             mt_plan_gemm(&b->plan, b->device, NULL, &t[0], &t[1], &t[2], &o, err) :
             mt_plan_copy(&b->plan, b->device, NULL, &t[0], &t[1], err));
  return note_launches(b, err);
}

/* ---------------------------------------------------------------- in Lua */

static int bare_gc (lua_State *L) {
  bare *b = luaL_checkudata(L, 1, BARE);
  mt_plan_free(b->plan);
  for (int i = 0; i < TENSORS && b->device; i++)
    if (b->memory[i]) mt_free(b->device, b->memory[i], b->bytes[i]);
  mt_device_close(b->device);
  memset(b, 0, sizeof *b);
  return 0;
}

static bare *check (lua_State *L) {
  bare *b = luaL_checkudata(L, 1, BARE);
  if (b->device == NULL) luaL_error(L, "bare: closed");
  return b;
}

/* bare(kind) -> the launches of a "copy" of 4 KiB, of a "gemm" of 128 x 64 x 64, of one
** of 128 x 64 x 63, "packed"; with the tensors' layouts behind. */
static int bare_new (lua_State *L) {
  const struct kind *k = &kinds[luaL_checkoption(L, 1, "copy", names)];
  mt_err err = MT_NOERR;
  bare *b = lua_newuserdatauv(L, sizeof *b, 0);
  memset(b, 0, sizeof *b);
  luaL_setmetatable(L, BARE);
  if (make(b, k, &err) != MT_OK) return luaL_error(L, "%s", err.text);
  for (int i = 0; i < TENSORS; i++) lua_pushstring(L, k->layout[i]);
  return 1 + TENSORS;
}

static CUresult launch_all (const bare *b, const mt_cuda *c) {
  CUresult r = 0;
  for (int i = 0; i < b->n && r == 0; i++) {
    const noted *x = &b->launch[i];
    void *params[] = {x->param};
    r = c->driver.cuLaunchKernelEx(&x->config, x->f, params, NULL);
  }
  return r;
}

/* bare(n) -> seconds that n times its launches took by the driver alone, not waiting. */
static int bare_call (lua_State *L) {
  const bare *b = check(L);
  const mt_cuda *c = b->device->impl;
  CUcontext old;
  CUresult r = 0;
  lua_Integer n = luaL_checkinteger(L, 2);
  c->driver.cuCtxPushCurrent(c->context);
  double t = peer_now();
  while (n-- > 0 && r == 0) r = launch_all(b, c);
  t = peer_now() - t;
  c->driver.cuCtxPopCurrent(&old);
  if (r != 0) return luaL_error(L, "cuLaunchKernelEx: error %d", r);
  lua_pushnumber(L, t);
  return 1;
}

/* bare:library(n) -> the same by the library's C API. */
static int bare_library (lua_State *L) {
  const bare *b = check(L);
  mt_err err = MT_NOERR;
  mt_status s = MT_OK;
  lua_Integer n = luaL_checkinteger(L, 2);
  double t = peer_now();
  while (n-- > 0 && s == MT_OK) s = mt_plan_launch(b->plan, NULL, &err);
  t = peer_now() - t;
  if (s != MT_OK) return luaL_error(L, "%s", err.text);
  lua_pushnumber(L, t);
  return 1;
}

static int bare_synchronize (lua_State *L) {
  mt_err err = MT_NOERR;
  if (mt_synchronize(check(L)->device, NULL, &err) != MT_OK)
    return luaL_error(L, "%s", err.text);
  return 0;
}

/* bare:launches() -> how many there are. */
static int bare_launches (lua_State *L) {
  lua_pushinteger(L, check(L)->n);
  return 1;
}

void peer_open_bare (lua_State *L) {
  static const luaL_Reg functions[] = {{"__gc", bare_gc},
                                       {"__close", bare_gc},
                                       {"__call", bare_call},
                                       {"library", bare_library},
                                       {"launches", bare_launches},
                                       {"synchronize", bare_synchronize},
                                       {NULL, NULL}};
  peer_new_class(L, BARE, functions);
  lua_pushcfunction(L, bare_new);
  lua_setfield(L, -2, "bare");
}
