/*
** lmt_plan.c - plans and copies in Lua.
** SPDX-License-Identifier: MIT
**
** A plan keeps the buffers of its tensors alive; to launch it on one that was freed is an
** error. A plan launches on the stream given, or on the device's own; on a GPU it returns
** at once.
*/
#include "lmt.h"

typedef struct plan {
  mt_plan *p;                   /* NULL: freed */
  lmt_resource *r;
  int n;
  const char *const *names;     /* of the tensors */
  lmt_buffer *buffer[LMT_PLANTENSORS];    /* its user values, from 1 on */
} plan;

static void close_plan (lmt_resource *r) { mt_plan_free(r->p); }

static void free_plan (plan *box) {
  box->p = NULL;
  lmt_release(&box->r);
}

/* The device that the tensors from `first` on have in common. */
static lmt_device *common_device (lua_State *L, int first, const lmt_planner *how) {
  lmt_device *d = lmt_totensor(L, first)->buffer->device;
  for (int i = 1; i < how->n; i++) {
    lmt_device *other = lmt_totensor(L, first + i)->buffer->device;
    if (d == other) continue;
    luaL_error(L, "%s: %s is on %s, %s is on %s; T:to(device) moves a tensor", how->op,
               how->names[0], lmt_devicename(d), how->names[i], lmt_devicename(other));
  }
  return d;
}

/* Pushes a plan that has no mt_plan yet, of the tensors from `first` on. */
static plan *push_box (lua_State *L, int first, const lmt_planner *how) {
  plan *box = lua_newuserdatauv(L, sizeof *box, how->n);
  *box = (plan){ .n = how->n, .names = how->names };
  luaL_setmetatable(L, LMT_PLAN);
  for (int i = 0; i < how->n; i++) {
    box->buffer[i] = lmt_totensor(L, first + i)->buffer;
    lua_getiuservalue(L, first + i, 1);
    lua_setiuservalue(L, -2, i + 1);
  }
  return box;
}

bool lmt_pushplan (lua_State *L, int first, const lmt_planner *how, const void *what,
                   mt_err *err) {
  int tries = 0;
  mt_status st;
  mt_tensor t[LMT_PLANTENSORS];
  lmt_device *device = common_device(L, first, how);
  plan *box = push_box(L, first, how);
  for (int i = 0; i < how->n; i++) t[i] = lmt_ctensor(lmt_totensor(L, first + i));
  do {
    if (box->r == NULL) box->r = lmt_reserve(L, close_plan, device->d);
    st = box->r ? how->plan(&box->p, device->d, what, t, err)
                : lmt_set(err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM));
  } while (lmt_again(L, st, &tries, err));
  if (st != MT_OK) return box->p = NULL, false;
  box->r->p = box->p;
  return true;
}

mt_status lmt_runplan (lua_State *L, mt_stream *stream, mt_err *err) {
  plan *box = lua_touserdata(L, -1);
  mt_status s = mt_plan_launch(box->p, stream, err);
  free_plan(box);
  lua_pop(L, 1);
  return s;
}

/* ---------------------------------------------------------------- copies */

static mt_status plan_copy (mt_plan **out, mt_device *d, const void *copy,
                            const mt_tensor *t, mt_err *err) {
  return mt_plan_copy(out, d, copy, &t[0], &t[1], err);
}

static const char *const copy_names[] = { "src", "dst" };
static const lmt_planner copies = { "copy", 2, copy_names, plan_copy };

/* The tensors at src and src + 1. */
static plan *new_plan (lua_State *L, const mt_tiled_copy *copy, int src, mt_err *err) {
  return lmt_pushplan(L, src, &copies, copy, err) ? lua_touserdata(L, -1) : NULL;
}

mt_status lmt_copynow (lua_State *L, int src, int dst, mt_err *err) {
  lua_pushvalue(L, src);
  lua_pushvalue(L, dst);
  plan *box = new_plan(L, NULL, lua_gettop(L) - 1, err);
  mt_status s = err->status;
  if (box) {
    s = mt_plan_launch(box->p, NULL, err);
    if (s == MT_OK) s = mt_synchronize(box->buffer[0]->device->d, NULL, err);
    free_plan(box);
  }
  lua_pop(L, 3);
  return s;
}

/* Where src lies among the arguments: behind a tiled copy, if there is one. */
static int first_tensor (lua_State *L) { return lmt_istiledcopy(L, 1) ? 2 : 1; }

static const mt_tiled_copy *described (lua_State *L) {
  return lmt_istiledcopy(L, 1) ? lmt_totiledcopy(L, 1) : NULL;
}

/* plan([tiled_copy,] src, dst), plan(tiled_mma, A, B, C [, options]) -> a plan | nil,
** message, code */
static int l_plan (lua_State *L) {
  LMT_NOERR(err);
  if (lmt_istiledmma(L, 1)) return lmt_plangemm(L);
  if (new_plan(L, described(L), first_tensor(L), &err) == NULL) return lmt_fail(L, &err);
  return 1;
}

/* copy([tiled_copy,] src, dst [, stream]): on a GPU it may still run when this returns.
** */
static int l_copy (lua_State *L) {
  LMT_NOERR(err);
  int src = first_tensor(L);
  lua_settop(L, src + 2);
  mt_stream *stream = lmt_optstream(L, src + 2, lmt_totensor(L, src)->buffer->device);
  if (new_plan(L, described(L), src, &err) == NULL) return lmt_raise(L, &err);
  return lmt_runplan(L, stream, &err) == MT_OK ? 0 : lmt_raise(L, &err);
}

/* plan([stream]): nothing is allocated here. */
static int plan_call (lua_State *L) {
  mt_err err;
  plan *box = luaL_checkudata(L, 1, LMT_PLAN);
  err.status = MT_OK;
  err.text[0] = '\0';
  if (box->p == NULL) return luaL_error(L, "this plan was freed");
  for (int i = 0; i < box->n; i++)
    if (!box->buffer[i]->live || !box->buffer[i]->device->d)
      return luaL_error(L, "plan: the tensor %s was freed", box->names[i]);
  mt_stream *stream = lmt_optstream(L, 2, box->buffer[0]->device);
  if (mt_plan_launch(box->p, stream, &err)) return lmt_raise(L, &err);
  return 0;
}

static int plan_gc (lua_State *L) {
  free_plan(luaL_checkudata(L, 1, LMT_PLAN));
  return 0;
}

static int plan_tostring (lua_State *L) {
  luaL_Buffer b;
  const plan *box = luaL_checkudata(L, 1, LMT_PLAN);
  if (box->p == NULL || !box->buffer[0]->device->d)
    return lua_pushliteral(L, "freed plan"), 1;
  size_t n = mt_plan_format(NULL, 0, box->p);
  char *text = luaL_buffinitsize(L, &b, n + 1);
  mt_plan_format(text, n + 1, box->p);
  luaL_pushresultsize(&b, n);
  return 1;
}

static const luaL_Reg functions[] = {
  { "plan", l_plan }, { "copy", l_copy }, { NULL, NULL }
};
static const luaL_Reg meta[] = {
  { "__call", plan_call }, { "__gc", plan_gc }, { "__close", plan_gc },
  { "__tostring", plan_tostring }, { NULL, NULL }
};
static const luaL_Reg methods[] = { { "free", plan_gc }, { NULL, NULL } };

void lmt_open_plan (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
  lmt_newclass(L, LMT_PLAN, meta, methods);
  lua_pop(L, 1);
}
