/*
** state.c - the part of the module that is written in C: its state and its errors.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "binding/boxes.h"
#include "binding/instead.h"
#include "binding/listed.h"
#include "binding/lmt.h"
#include "binding/plan.h"
#include "binding/host.h"
#include "plan/device.h"

/* ---------------------------------------------------------------- errors */

int lmt_raise (lua_State *L, const mt_err *err) {
  if (err->status == MT_ESTOPPED && lmt_pushraised(L)) return lua_error(L);
  luaL_where(L, 1);
  lua_pushstring(L, err->text[0] ? err->text : mt_status_text(err->status));
  lua_concat(L, 2);
  return lua_error(L);
}

int lmt_raiseas (lua_State *L, const char *from, const char *op, const mt_err *err) {
  size_t n = strlen(from);
  if (strncmp(err->text, from, n) != 0 || err->text[n] != ':') return lmt_raise(L, err);
  luaL_where(L, 1);
  lua_pushstring(L, op ? op : "");
  lua_pushstring(L, err->text + n + (op ? 0 : 2));
  lua_concat(L, 3);
  return lua_error(L);
}

mt_status lmt_set (mt_err *err, mt_status s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return err->status = s;
}

static bool of_the_world (mt_status s) {
  return s == MT_ENOMEM || s == MT_ENODEV || s == MT_EDRIVER || s == MT_ELOST ||
         s == MT_EFORMAT || s == MT_EIO || s == MT_EDENIED || s == MT_ELIMIT;
}

int lmt_fail (lua_State *L, const mt_err *err) {
  if (!of_the_world(err->status)) return lmt_raise(L, err);
  luaL_pushfail(L);
  lua_pushstring(L, err->text[0] ? err->text : mt_status_text(err->status));
  lua_pushstring(L, mt_status_name(err->status) + strlen("MT_"));
  lmt_pushstate(L);
  lua_pushvalue(L, -3);
  lua_setiuservalue(L, -2, LMT_FAILED);
  lua_pop(L, 1);
  return 3;
}

bool lmt_again (lua_State *L, mt_status s, int *tries, mt_err *err) {
  if ((s != MT_ENOMEM && s != MT_ELIMIT) || (*tries)++ > 0) return false;
  lua_gc(L, LUA_GCCOLLECT);
  lmt_forgetplans(lmt_pushstate(L), NULL);
  lua_pop(L, 1);
  err->status = MT_OK;
  err->text[0] = '\0';
  return true;
}

/* ---------------------------------------------------------------- texts, numbers */

int lmt_pushnumber (lua_State *L, mt_dtype d, mt_number v) {
  if (d == MT_bool) lua_pushboolean(L, v.i != 0);
  else if (v.isint) lua_pushinteger(L, v.i);
  else lua_pushnumber(L, v.f);
  return 1;
}

mt_dtype lmt_todtype (lua_State *L, int i) {
  mt_dtype d;
  LMT_NOERR(err);
  if (lua_type(L, i) != LUA_TSTRING) lmt_nodtype(L, i);
  if (mt_dtype_find(&d, lua_tostring(L, i), &err)) lmt_raise(L, &err);
  return d;
}

int lmt_pushtext (lua_State *L, const mt_node *t) {
  luaL_Buffer b;
  size_t n = mt_format(NULL, 0, t);
  char *p = luaL_buffinitsize(L, &b, n + 1);
  mt_format(p, n + 1, t);
  luaL_pushresultsize(&b, n);
  return 1;
}

/* ---------------------------------------------------------------- the state */

lmt_state *lmt_pushstate (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, mt_embedded);
  return lua_touserdata(L, -1);
}

lmt_resource *lmt_reserve (lua_State *L, void (*close)(lmt_resource *r),
                           mt_device *device) {
  lmt_state *s = lmt_pushstate(L);
  lua_pop(L, 1);
  lmt_resource *r = NULL;
  if (!s->closed) r = s->options.alloc(s->options.alloc_ud, NULL, 0, sizeof *r);
  if (r == NULL) return NULL;
  *r = (lmt_resource){.next = s->resources,
                      .link = &s->resources,
                      .state = s,
                      .close = close,
                      .device = device};
  if (r->next) r->next->link = &r->next;
  return s->resources = r;
}

static void give_back (const lmt_state *s, lmt_resource *r) {
  *r->link = r->next;
  if (r->next) r->next->link = r->link;
  if (r->p) r->close(r);
  s->options.alloc(s->options.alloc_ud, r, sizeof *r, 0);
}

void lmt_release (const lmt_state *s, lmt_resource **box) {
  lmt_resource *r = *box;
  *box = NULL;
  if (r == NULL || s->closed) return;
  if (s->asking) r->left = r->state->left = true;
  else give_back(s, r);
}

void lmt_releaseleft (lmt_state *s) {
  for (lmt_resource *r = s->left ? s->resources : NULL, *next; r; r = next) {
    next = r->next;
    if (r->left) give_back(s, r);
  }
  s->left = false;
}

/* All devices are closed for those who still have them; so is what lies on them. */
static void close_devices (lua_State *L) {
  lua_getiuservalue(L, 1, LMT_DEVICES);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    lmt_device *box = lua_touserdata(L, -1);
    box->d = NULL;
    box->r = box->plans = NULL;
  }
  lua_pop(L, 1);
}

/* A hook closes the state, os.exit(code, true), in the middle of a call: threads that are
** at work for it have to be done before anything is given back. */
static void halt_devices (const lmt_state *s) {
  for (lmt_resource *r = s->resources; r; r = r->next)
    if (r->p && r->device) mt_device_halt(r->device);
}

/* The last finalizer of the module: from now on nothing can be reserved. */
static int state_gc (lua_State *L) {
  lmt_state *s = luaL_checkudata(L, 1, LMT_STATE);
  s->closed = true;
  if (s->asking) halt_devices(s);
  close_devices(L);
  while (s->resources) give_back(s, s->resources);
  if (s->root >= 0) close(s->root);
  s->root = -1;
  return 0;
}

lmt_state *lmt_needstate (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, mt_embedded) == LUA_TNIL) {
    lmt_state *s = lua_newuserdatauv(L, sizeof *s, LMT_STATEVALUES);
    memset(s, 0, sizeof *s);
    s->options.size = sizeof s->options;
    s->options.alloc = lua_getallocf(L, &s->options.alloc_ud);
    lmt_unrestricted(&s->config);
    s->root = -1;
    lua_newtable(L);
    lua_setiuservalue(L, -2, LMT_DEVICES);
    luaL_newmetatable(L, LMT_STATE);
    lua_pushcfunction(L, state_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_replace(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, mt_embedded);
  }
  return lua_touserdata(L, -1);
}

void lmt_pushinner (lua_State *L) {
  lmt_pushstate(L);
  lua_getiuservalue(L, -1, LMT_INNER);
  lua_remove(L, -2);
}

/* Upvalue 1: the module. A name that it does not have; what begins with __ is asked for
** by libraries, to find out what a table is. */
static int l_absent (lua_State *L) {
  const char *name = lmt_isstring(L, 2) ? lua_tostring(L, 2) : "__";
  if (strncmp(name, "__", 2) == 0) return 0;
  return lmt_nosuch(L, "function", lua_upvalueindex(1), "tile");
}

/* The module on the top says so if it has no such field. */
static void refuse_absent (lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, l_absent, 1);
  lua_setfield(L, -2, "__index");
  lua_pushliteral(L, "moontile");
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "__name");
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}

/* Pushes the table of the module; the state lies below. */
static void open_core (lua_State *L) {
  lua_newtable(L);
  lua_setiuservalue(L, -2, LMT_INNER);
  lua_newtable(L);
  lua_pushliteral(L, MT_VERSION);
  lua_setfield(L, -2, "_VERSION");
  lmt_openclasses(L);
  lmt_open_operations(L);
  lmt_open_layout(L);
  lmt_open_query(L);
  lmt_open_tuple(L);
  lmt_open_algebra(L);
  lmt_open_swizzle(L);
  lmt_open_listed(L);
  lmt_open_domain(L);
  lmt_open_device(L);
  lmt_open_tensor(L);
  lmt_open_move(L);
  lmt_open_atom(L);
  lmt_open_tile(L);
  lmt_open_mma(L);
  lmt_open_plan(L);
  lmt_open_copyif(L);
  lmt_open_tune(L);
  lmt_open_recording(L);
  lmt_open_tuning(L);
  lmt_open_progress(L);
  lmt_open_gemm(L);
  lmt_open_graph(L);
  lmt_open_analysis(L);
  lmt_open_hardware(L);
  lmt_open_kernel(L);
  lmt_open_kernel_text(L);
  lmt_open_verify(L);
  lmt_open_print(L);
  lmt_open_file(L);
  lmt_open_npy(L);
  lmt_open_tensors(L);
  refuse_absent(L);
}

/* Opened again, it is the same. */
MT_API int luaopen_moontile_core (lua_State *L) {
  luaL_checkversion(L);
  lmt_needstate(L)->opened = true;
  if (lua_getiuservalue(L, -1, LMT_MODULE) == LUA_TNIL) {
    lua_pop(L, 1);
    open_core(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, -3, LMT_MODULE);
  }
  lua_replace(L, -2);
  return 1;
}

MT_API int luaopen_moontile (lua_State *L) {
  lmt_openboxes(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_moontile_core);
  lua_setfield(L, -2, "moontile.core");
  lua_pushcfunction(L, lmt_openconsole);
  lua_setfield(L, -2, "moontile.console");
  luaopen_moontile_core(L);
  lmt_state *s = lmt_pushstate(L);
  lua_pop(L, 1);
  if (s->complete) return 1;
  lua_pushvalue(L, -1);
  lmt_runsources(L);
  lmt_addlua(L);
  s->complete = true;
  return 1;
}
