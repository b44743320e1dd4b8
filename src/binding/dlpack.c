/*
** dlpack.c - tensors of DLPack in Lua.
** SPDX-License-Identifier: MIT
**
** Whose deleter has to be called is noted in the state, as all that has to be given back:
** from then on the buffer's finalizer does it, or the end of the state.
*/
#include "binding/lmt.h"
#include "binding/host.h"
#include "moontile/dlpack.h"

typedef struct lent {
  void *m;
  bool versioned, taken;
} lent;

static void drop (const lent *x) {
  if (x->versioned) mt_dlpack_delete(x->m);
  else mt_unversioned_delete(x->m);
}

static void close_versioned (lmt_resource *r) { mt_dlpack_delete(r->p); }
static void close_unversioned (lmt_resource *r) { mt_unversioned_delete(r->p); }

/* The device that the memory lies on, if it may be written. */
static mt_status push_device (lua_State *L, const mt_dlpack *about, mt_err *err) {
  char name[32] = "cpu";
  if (about->read_only)
    return lmt_set(err, MT_EUNSUPPORTED,
                   "dlpack: the memory is read-only, tensors here are not: copy it");
  if (about->device == MT_DLPACK_CUDA) snprintf(name, sizeof name, "cuda:%d", about->id);
  else if (about->device != MT_DLPACK_CPU && about->device != MT_DLPACK_CUDA_HOST)
    return lmt_set(err, MT_EUNSUPPORTED,
                   "dlpack: device %d:%d: host memory, or a CUDA device's, expected",
                   about->device, about->id);
  return lmt_pushdevice(L, name, err) ? MT_OK : err->status;
}

/* In a call of its own, so that nothing is lost where it raises. */
static int push (lua_State *L) {
  lent *x = lua_touserdata(L, 1);
  mt_layout layout;
  mt_tensor t;
  mt_dlpack about;
  LMT_NOERR(err);
  mt_status s = x->versioned ?
                    mt_tensor_from_dlpack(&t, &layout, &about, x->m, &err) :
                    mt_tensor_from_unversioned(&t, &layout, &about, x->m, &err);
  if (s || push_device(L, &about, &err)) return lmt_raise(L, &err);
  lmt_press(L, t.bytes);
  lmt_buffer *b = lmt_lendbuffer(L, -1, t.data, t.bytes);
  b->r = lmt_reserve(L, x->versioned ? close_versioned : close_unversioned, b->device->d);
  if (b->r == NULL) return luaL_error(L, "dlpack: no memory");
  b->r->p = x->m;
  x->taken = true;
  lmt_pushtensor(L, -1, t.dtype, t.layout, t.offset);
  return 1;
}

static void push_lent (lua_State *L, lent *x) {
  if (!lua_checkstack(L, 4)) {
    drop(x);
    luaL_error(L, "dlpack: stack overflow");
  }
  lua_pushcfunction(L, push);
  lua_pushlightuserdata(L, x);
  if (lua_pcall(L, 1, 1, 0) == LUA_OK) return;
  if (!x->taken) drop(x);
  lua_error(L);
}

MT_API void mt_lua_pushdlpack (lua_State *L, struct DLManagedTensorVersioned *m) {
  push_lent(L, &(lent){.m = m, .versioned = true});
}
MT_API void mt_lua_pushunversioned (lua_State *L, struct DLManagedTensor *m) {
  push_lent(L, &(lent){.m = m});
}
