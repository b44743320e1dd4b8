/*
** plan.c - plans and copies in Lua.
** SPDX-License-Identifier: MIT
**
** A plan keeps the buffers of its tensors alive; to launch it on one that was freed is an
** error. A plan launches on the stream given, or on the device's own; on a GPU it returns
** at once.
*/
#include "binding/kernel.h"
#include "binding/lmt.h"
#include "binding/plan.h"
#include "binding/host.h"
#include "plan/device.h"

typedef struct plan {
  mt_plan *p;         /* NULL: freed */
  lmt_device *device; /* of streams; `between`: the one that is not the host */
  bool between;
  uint64_t work;
  lmt_resource *r;
  int n;
  const char *const *names;            /* of the tensors */
  lmt_buffer *buffer[LMT_PLANTENSORS]; /* its user values, from 1 on */
} plan;

static void close_plan (lmt_resource *r) {
  r->state->held -= r->bytes;
  mt_plan_free(r->p);
}

static void free_plan (plan *box) {
  box->p = NULL;
  lmt_release(box->device->state, &box->r);
}

bool lmt_isbetween (lua_State *L, int i, lmt_device **other) {
  lmt_device *a = lmt_totensor(L, i)->buffer->device;
  lmt_device *b = lmt_totensor(L, i + 1)->buffer->device;
  bool host = mt_device_is_host(a->d);
  *other = host ? b : a;
  return host != mt_device_is_host(b->d);
}

/* The device that the tensors from `first` on have in common, or that is not the host. */
static lmt_device *common_device (lua_State *L, int first, const lmt_planner *how) {
  lmt_device *d;
  if (how->between && lmt_isbetween(L, first, &d)) return d;
  d = lmt_totensor(L, first)->buffer->device;
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
  lmt_device *device = common_device(L, first, how), *other;
  plan *box = lua_newuserdatauv(L, sizeof *box, how->n);
  *box = (plan){.device = device, .n = how->n, .names = how->names};
  box->between = how->between && lmt_isbetween(L, first, &other);
  luaL_setmetatable(L, LMT_PLAN);
  for (int i = 0; i < how->n; i++) {
    box->buffer[i] = lmt_totensor(L, first + i)->buffer;
    lua_getiuservalue(L, first + i, 1);
    lua_setiuservalue(L, -2, i + 1);
  }
  return box;
}

/* The host, of a plan between two devices. */
static mt_device *host_of (const plan *box) {
  bool first = box->buffer[0]->device != box->device;
  return box->buffer[first ? 0 : 1]->device->d;
}

bool lmt_pushplan (lua_State *L, int first, const lmt_planner *how, const void *what,
                   mt_err *err) {
  int tries = 0;
  mt_status st;
  mt_tensor t[LMT_PLANTENSORS];
  plan *box = push_box(L, first, how);
  mt_device *device = box->device->d;
  for (int i = 0; i < how->n; i++) t[i] = lmt_ctensor(lmt_totensor(L, first + i));
  box->work = how->work(t);
  lmt_checkwork(L, how->op, box->work);
  do {
    for (int i = 0; i < how->n; i++) t[i] = lmt_ctensor(lmt_totensor(L, first + i));
    if (box->r == NULL) box->r = lmt_reserve(L, close_plan, device);
    st = box->r ? how->plan(&box->p, device, what, t, err) :
                  lmt_set(err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM));
  } while (lmt_again(L, st, &tries, err));
  if (st != MT_OK) return box->p = NULL, false;
  box->r->p = box->p;
  box->r->state->held += box->r->bytes = mt_plan_memory(box->p);
  if (box->between) box->r->other = host_of(box);
  return true;
}

/* Raises unless the plan and all its tensors are there. */
static void check_live (lua_State *L, const plan *box) {
  lmt_checkuse(L, box->device->state);
  if (box->p == NULL) luaL_error(L, "this plan was freed");
  for (int k = 0; k < box->n; k++)
    if (!box->buffer[k]->live || !box->buffer[k]->device->d)
      luaL_error(L, "plan: the tensor %s was freed", box->names[k]);
}

mt_status lmt_launchplan (mt_plan *p, const lmt_device *device, mt_stream *s,
                          mt_err *err) {
  mt_status status = lmt_permitlaunches(device->state, 1, err);
  return status == MT_OK ? mt_plan_launch(p, s, err) : status;
}

/* Launches the plan at i, which is box, on the stream at `stream`; 0: the device's. */
static mt_status launch (lua_State *L, plan *box, int i, int stream, mt_err *err) {
  check_live(L, box);
  if (box->device->recording && !box->between) {
    lmt_keep(L, i, box->n, box->names);
    box->device->recorded = lmt_plus(box->device->recorded, box->work);
    lmt_checkwork(L, "graph", box->device->recorded);
    check_live(L, box);
  }
  mt_stream *s = stream ? lmt_optstream(L, stream, box->device) : NULL;
  lmt_listen(err, box->device->state);
  return lmt_launchplan(box->p, box->device, s, err);
}

mt_status lmt_runplan (lua_State *L, int stream, mt_err *err) {
  mt_status s = launch(L, lua_touserdata(L, -1), -1, stream, err);
  free_plan(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return s;
}

mt_plan *lmt_keepplan (lua_State *L, const lmt_device *d, const lmt_plankey *k) {
  plan *box = lua_touserdata(L, -1);
  check_live(L, box);
  mt_plan *p = box->p;
  const size_t bytes = box->r->bytes;
  box->r->state->held -= bytes;
  box->r->bytes = 0;
  if (!lmt_cacheplan(d, k, p)) {
    box->r->state->held += box->r->bytes = bytes;
    return NULL;
  }
  box->r->p = NULL;
  free_plan(box);
  lua_pop(L, 1);
  return p;
}

/* ---------------------------------------------------------------- copies */

/* What a copy is besides its tensors. */
typedef struct manner {
  const mt_tiled_copy *copy; /* NULL: any partition */
  mt_rounding rounding;
  mt_device *way[2]; /* of a transfer */
} manner;

static mt_status plan_copy (mt_plan **out, mt_device *d, const void *what,
                            const mt_tensor *t, mt_err *err) {
  const manner *how = what;
  return mt_plan_copy_rounded(out, d, how->copy, &t[0], &t[1], how->rounding, err);
}

/* From the one device to the other. */
static mt_status plan_transfer (mt_plan **out, mt_device *d, const void *what,
                                const mt_tensor *t, mt_err *err) {
  const manner *how = what;
  (void)d;
  return mt_plan_transfer_rounded(out, how->way[0], &t[0], how->way[1], &t[1],
                                  how->rounding, err);
}

static uint64_t copy_work (const mt_tensor *t) {
  int64_t n = mt_size(t[0].layout), m = mt_size(t[1].layout);
  return (uint64_t)(n > m ? n : m);
}

static const char *const copy_names[] = {"src", "dst"};
static const lmt_planner copies = {"copy", false, 2, copy_names, plan_copy, copy_work};
static const lmt_planner transfers = {"copy",     true,          2,
                                      copy_names, plan_transfer, copy_work};

/* The tensors at src and src + 1. A partition is of one device. */
static plan *new_plan (lua_State *L, const mt_tiled_copy *copy, mt_rounding rounding,
                       int src, mt_err *err) {
  manner how = {.copy = copy, .rounding = rounding};
  lmt_device *other;
  bool between = copy == NULL && lmt_isbetween(L, src, &other);
  for (int i = 0; i < 2; i++) how.way[i] = lmt_totensor(L, src + i)->buffer->device->d;
  if (!lmt_pushplan(L, src, between ? &transfers : &copies, &how, err)) return NULL;
  plan *box = lua_touserdata(L, -1);
  if (copy == NULL && !box->between) lmt_cached(L);
  return box;
}

mt_status lmt_copynow (lua_State *L, int src, int dst, mt_err *err) {
  lua_pushvalue(L, src);
  lua_pushvalue(L, dst);
  plan *box = new_plan(L, NULL, MT_ROUND_NEAREST, lua_gettop(L) - 1, err);
  mt_status s = err->status;
  if (box) {
    bool wait = !box->device->recording && !box->between;
    s = launch(L, box, -1, 0, err);
    if (s == MT_OK && wait) s = mt_wait_own(box->device->d, err);
    free_plan(box);
  }
  lua_pop(L, 3);
  return s;
}

/* Where src lies among the arguments: behind a tiled copy, if there is one. */
static int first_tensor (lua_State *L, const char *expected) {
  if (lmt_istiledcopy(L, 1)) return 2;
  if (!lmt_marked(L, 1, LMT_TENSORS)) luaL_typeerror(L, 1, expected);
  return 1;
}

static const mt_tiled_copy *described (lua_State *L) {
  return lmt_istiledcopy(L, 1) ? lmt_totiledcopy(L, 1) : NULL;
}

/* plan{ [copy =,] src =, dst = [, rounding =] }: the arguments are on the stack. */
static mt_rounding plan_options (lua_State *L) {
  mt_rounding rounding;
  lmt_copyoptions(L, "plan", &rounding);
  return rounding;
}

/* plan([tiled_copy,] src, dst), plan(tiled_mma, A, B, C [, options]) -> a plan | nil,
** message, code */
int lmt_plan (lua_State *L) {
  LMT_NOERR(err);
  if (lmt_istiledmma(L, 1) || lmt_iskernel(L, 1)) return lmt_plangemm(L);
  mt_rounding rounding = lmt_istable(L, 1) ? plan_options(L) : MT_ROUND_NEAREST;
  int src = first_tensor(L, "tiled copy, tiled MMA or tensor");
  if (!lua_isnoneornil(L, src + 2))
    luaL_error(L, "plan: a copy has two tensors, src and dst, got a third argument\n"
                  "plan(tiled_mma, A, B, C) and plan_gemm(A, B, C) plan a product");
  LMT_COUNT(L, src + 1, "plan", src == 2 ? "tiled_copy, src, dst" : "src, dst");
  if (new_plan(L, described(L), rounding, src, &err) == NULL) return lmt_fail(L, &err);
  return 1;
}

/* The stream is behind the tensors. */
static mt_status copy_anew (lua_State *L, int src, mt_rounding rounding, mt_err *err) {
  if (new_plan(L, described(L), rounding, src, err) == NULL) return err->status;
  return lmt_runplan(L, src + 2, err);
}

/* By the plan that is remembered, without a userdata or any memory; else that is made,
** and remembered. */
static mt_status copy_again (lua_State *L, lmt_device *device, int src,
                             mt_rounding rounding, mt_err *err) {
  lmt_plankey key;
  const uint64_t copy = src == 2 ? lmt_copynumber(L, 1) : 0;
  const uint64_t how[] = {LMT_KEYCOPY, copy << 2 | rounding};
  if (!lmt_makekey(L, &key, src, 2, how, sizeof how))
    return copy_anew(L, src, rounding, err);
  mt_plan *p = lmt_cachedplan(L, device, &key);
  lmt_listen(err, device->state);
  if (p) return lmt_launchplan(p, device, lmt_optstream(L, src + 2, device), err);
  if (new_plan(L, described(L), rounding, src, err) == NULL) return err->status;
  p = lmt_keepplan(L, device, &key);
  if (p == NULL) return lmt_runplan(L, src + 2, err);
  return lmt_launchplan(p, device, lmt_optstream(L, src + 2, device), err);
}

/* copy([tiled_copy,] src, dst [, stream]): on a GPU it may still run when this returns;
** between the host and a GPU it is done. */
static int l_copy (lua_State *L) {
  LMT_NOERR(err);
  mt_rounding rounding = MT_ROUND_NEAREST;
  if (lmt_istable(L, 1) && lmt_copyoptions(L, "copy", &rounding)) return lmt_copyif(L);
  int src = first_tensor(L, "tiled copy or tensor");
  lmt_device *device;
  LMT_COUNT(L, src + 2, "copy",
            src == 2 ? "tiled_copy, src, dst [, stream]" : "src, dst [, stream]");
  lua_settop(L, src + 2);
  if (lmt_istable(L, src + 2))
    return luaL_error(L, "copy: options stand beside the tensors in one table: "
                         "tile.copy{ src = S, dst = D, rounding = \"down\" }");
  lmt_isbetween(L, src, &device);
  mt_status s = device->recording ? copy_anew(L, src, rounding, &err) :
                                    copy_again(L, device, src, rounding, &err);
  return s == MT_OK ? 0 : lmt_raise(L, &err);
}

static bool is_open (const plan *box) {
  for (int i = 0; i < box->n; i++)
    if (!box->buffer[i]->device->d) return false;
  return true;
}

mt_plan *lmt_toplan (lua_State *L, int i, bool live) {
  plan *box = lmt_checkmarked(L, i, LMT_PLANS, LMT_PLAN);
  lmt_checkuse(L, box->device->state);
  if (live) check_live(L, box);
  else if (box->p == NULL || !is_open(box)) luaL_error(L, "this plan was freed");
  return box->p;
}

mt_status lmt_takeway (lua_State *L, int i, const char *kernel, int how, mt_err *err) {
  mt_plan *p = lmt_toplan(L, i, true);
  const plan *box = lua_touserdata(L, i);
  lmt_state *state = box->r->state;
  const size_t left = lmt_bytesleft(state);
  mt_status s = mt_plan_take(p, kernel, how, left > 0 ? left : 1, err);
  state->held -= box->r->bytes;
  state->held += box->r->bytes = mt_plan_memory(p);
  return s;
}

uint64_t lmt_planwork (lua_State *L, int i) {
  const plan *box = luaL_checkudata(L, i, LMT_PLAN);
  return box->work;
}

int lmt_plannames (lua_State *L, int i, const char *const **names) {
  const plan *box = luaL_checkudata(L, i, LMT_PLAN);
  *names = box->names;
  return box->n;
}

const lmt_buffer *lmt_planbuffer (lua_State *L, int i, int k) {
  const plan *box = luaL_checkudata(L, i, LMT_PLAN);
  return box->buffer[k];
}

/* plan([stream]): nothing is allocated here. */
static int plan_call (lua_State *L) {
  LMT_NOERR(err);
  plan *box = lmt_checkmarked(L, 1, LMT_PLANS, LMT_PLAN);
  return launch(L, box, 1, 2, &err) == MT_OK ? 0 : lmt_raise(L, &err);
}

static int plan_gc (lua_State *L) {
  free_plan(luaL_checkudata(L, 1, LMT_PLAN));
  return 0;
}

void lmt_freeplan (lua_State *L, int i) { free_plan(luaL_checkudata(L, i, LMT_PLAN)); }

/* plan:free(), and what <close> does. */
/* plan:device(): where it runs; of a copy between two, the one that is not the host. */
static int plan_device (lua_State *L) {
  const plan *box = luaL_checkudata(L, 1, LMT_PLAN);
  int k = 0;
  check_live(L, box);
  while (box->buffer[k]->device != box->device) k++;
  lua_getiuservalue(L, 1, k + 1);
  lua_getiuservalue(L, -1, 1);
  return 1;
}

static int plan_free (lua_State *L) {
  const plan *box = luaL_checkudata(L, 1, LMT_PLAN);
  lmt_checkasking(L, box->device->state);
  return plan_gc(L);
}

static int plan_tostring (lua_State *L) {
  luaL_Buffer b;
  const plan *box = luaL_checkudata(L, 1, LMT_PLAN);
  if (box->p == NULL || !is_open(box)) return lua_pushliteral(L, "freed plan"), 1;
  size_t n = mt_plan_format(NULL, 0, box->p);
  char *text = luaL_buffinitsize(L, &b, n + 1);
  size_t now = mt_plan_format(text, n + 1, lmt_toplan(L, 1, false));
  luaL_pushresultsize(&b, now < n ? now : n);
  return 1;
}

#define ROWS_PLAN
#include "binding/rows.h"

static const luaL_Reg meta[] = {{"__gc", plan_gc},
                                {"__close", plan_free},
                                {"__tostring", plan_tostring},
                                {NULL, NULL}};

void lmt_open_plan (lua_State *L) {
  lmt_setmeta(L, LMT_PLAN, meta);
  lmt_addrows(L, rows);
}
