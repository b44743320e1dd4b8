/*
** lmt_plan.c - plans and copies in Lua.
** SPDX-License-Identifier: MIT
**
** A plan keeps the buffers of both sides alive; to launch it on one that was freed is an
** error. A plan launches on the stream given, or on the device's own; on a GPU it returns
** at once.
*/
#include "lmt.h"

typedef struct plan {
  mt_plan *p;                   /* NULL: freed */
  lmt_resource *r;
  lmt_buffer *src, *dst;        /* its user values 1 and 2 */
} plan;

static void close_plan (lmt_resource *r) { mt_plan_free(r->p); }

static void free_plan (plan *box) {
  box->p = NULL;
  lmt_release(&box->r);
}

/* Pushes a plan for the tensors at src and dst, whose device is the same; NULL: `err`. */
static plan *new_plan (lua_State *L, const mt_tiled_copy *copy, int src, int dst,
                       mt_err *err) {
  int tries = 0;
  mt_status st;
  const lmt_tensor *s = lmt_totensor(L, src), *d = lmt_totensor(L, dst);
  if (s->buffer->device != d->buffer->device) {
    luaL_error(L, "copy: src is on %s, dst is on %s; T:to(device) moves a tensor",
               lmt_devicename(s->buffer->device), lmt_devicename(d->buffer->device));
  }
  plan *box = lua_newuserdatauv(L, sizeof *box, 2);
  *box = (plan){ NULL, NULL, s->buffer, d->buffer };
  luaL_setmetatable(L, LMT_PLAN);
  lua_getiuservalue(L, src, 1);
  lua_setiuservalue(L, -2, 1);
  lua_getiuservalue(L, dst, 1);
  lua_setiuservalue(L, -2, 2);
  mt_tensor a = lmt_ctensor(s), b = lmt_ctensor(d);
  do {
    if (box->r == NULL) box->r = lmt_reserve(L, close_plan, s->buffer->device->d);
    st = box->r ? mt_plan_copy(&box->p, s->buffer->device->d, copy, &a, &b, err)
                : lmt_set(err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM));
  } while (lmt_again(L, st, &tries, err));
  if (st != MT_OK) return box->p = NULL, NULL;
  box->r->p = box->p;
  return box;
}

mt_status lmt_copynow (lua_State *L, int src, int dst, mt_err *err) {
  plan *box = new_plan(L, NULL, src, dst, err);
  if (box == NULL) {
    lua_pop(L, 1);
    return err->status;
  }
  mt_status s = mt_plan_launch(box->p, NULL, err);
  if (s == MT_OK) s = mt_synchronize(box->src->device->d, NULL, err);
  free_plan(box);
  lua_pop(L, 1);
  return s;
}

/* Where src lies among the arguments: behind a tiled copy, if there is one. */
static int first_tensor (lua_State *L) { return lmt_istiledcopy(L, 1) ? 2 : 1; }

static const mt_tiled_copy *described (lua_State *L) {
  return lmt_istiledcopy(L, 1) ? lmt_totiledcopy(L, 1) : NULL;
}

/* plan([tiled_copy,] src, dst) -> a plan | nil, message, code */
static int l_plan (lua_State *L) {
  LMT_NOERR(err);
  int src = first_tensor(L);
  if (new_plan(L, described(L), src, src + 1, &err) == NULL) return lmt_fail(L, &err);
  return 1;
}

/* copy([tiled_copy,] src, dst [, stream]): on a GPU it may still run when this returns.
** */
static int l_copy (lua_State *L) {
  LMT_NOERR(err);
  int src = first_tensor(L);
  lua_settop(L, src + 2);
  mt_stream *stream = lmt_optstream(L, src + 2, lmt_totensor(L, src)->buffer->device);
  plan *box = new_plan(L, described(L), src, src + 1, &err);
  if (box == NULL) return lmt_raise(L, &err);
  mt_status s = mt_plan_launch(box->p, stream, &err);
  free_plan(box);
  return s == MT_OK ? 0 : lmt_raise(L, &err);
}

/* plan([stream]): nothing is allocated here. */
static int plan_call (lua_State *L) {
  mt_err err;
  plan *box = luaL_checkudata(L, 1, LMT_PLAN);
  err.status = MT_OK;
  err.text[0] = '\0';
  if (box->p == NULL) return luaL_error(L, "this plan was freed");
  if (!box->src->live || !box->src->device->d)
    return luaL_error(L, "plan: the tensor src was freed");
  if (!box->dst->live) return luaL_error(L, "plan: the tensor dst was freed");
  mt_stream *stream = lmt_optstream(L, 2, box->src->device);
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
  if (box->p == NULL || !box->src->device->d) return lua_pushliteral(L, "freed plan"), 1;
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
