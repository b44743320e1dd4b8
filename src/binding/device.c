/*
** device.c - devices and buffers in Lua.
** SPDX-License-Identifier: MIT
**
** A device is opened once per state and name and lives as long as the state, so that
** everything on it is freed before it is closed (Lua calls finalizers in reverse order of
** creation).
*/
#include <string.h>

#include "binding/versions.h"
#include "binding/kernel.h"
#include "binding/plan.h"
#include "binding/host.h"
#include "plan/device.h"

/* Bytes of new buffers after which the collector is pressed. */
enum { PRESS = 8 << 20 };

/* ---------------------------------------------------------------- opening */

/* Gives back first what is left on the device: finalizers that could not run have left it
** there. */
static void close_device (lmt_resource *device) {
  mt_device *d = device->p;
  lmt_dismiss(device->state, d);
  lmt_forgetplans(device->state, d);
  for (lmt_resource *r = device->state->resources; r; r = r->next) {
    if ((r->device != d && r->other != d) || r->p == NULL) continue;
    r->close(r);
    r->p = NULL;
  }
  mt_device_close(d);
}

static mt_status no_memory (mt_err *err) {
  return lmt_set(err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM));
}

/* Opens into a new userdata, which it leaves on the stack; NULL: nothing is left. */
static lmt_device *open_device (lua_State *L, const char *name,
                                const mt_device_options *options, mt_err *err) {
  int tries = 0;
  mt_status s;
  lmt_state *state = lmt_pushstate(L);
  lua_pop(L, 1);
  lmt_device *box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = (lmt_device){.state = state};
  luaL_setmetatable(L, LMT_DEVICE);
  do {
    if (box->r == NULL) box->r = lmt_reserve(L, close_device, NULL);
    s = box->r ? mt_device_open(&box->d, name, options, err) : no_memory(err);
  } while (lmt_again(L, s, &tries, err));
  if (s == MT_OK && (s = lmt_admit(box->r->state, box->d, err)) != MT_OK)
    mt_device_close(box->d);
  if (s == MT_OK) return box->r->p = box->d, box;
  box->d = NULL;
  lua_pop(L, 1);
  return NULL;
}

/* The name under which the state keeps a device: the options belong to it. Pushes it. */
static const char *cache_key (lua_State *L, const char *name,
                              const mt_device_options *o) {
  return lua_pushfstring(L, "%s|%d|%s|%s|%I", name ? name : "", o->threads,
                         o->libcuda ? o->libcuda : "", o->libblas ? o->libblas : "?",
                         (LUAI_UACINT)o->piece);
}

/* Replaces the device on the top by the one that the cache, at index `cache`, has under
** its full name, or puts it there. */
static lmt_device *unify (lua_State *L, int cache, lmt_device *box,
                          const mt_device_options *o) {
  cache_key(L, mt_device_name(box->d), o);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, cache) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, cache);
    return box;
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
  box->d = NULL;
  lmt_release(box->state, &box->r);
  return lua_touserdata(L, -1);
}

/* Pushes the device; NULL: nothing pushed. */
static lmt_device *get_device (lua_State *L, const char *name,
                               const mt_device_options *chosen, mt_err *err) {
  int top = lua_gettop(L), cache = top + 2;
  const lmt_state *state = lmt_pushstate(L);
  mt_device_options o = state->options;
  lmt_checkuse(L, state);
  o.threads = chosen->threads;
  o.libcuda = chosen->libcuda;
  o.libblas = chosen->libblas;
  o.piece = chosen->piece;
  lua_getiuservalue(L, -1, LMT_DEVICES);
  cache_key(L, name, &o);
  lua_pushvalue(L, -1);
  lua_rawget(L, cache);
  lmt_device *box = lua_touserdata(L, -1);
  if (box == NULL) {
    lua_pop(L, 1);
    mt_device_options bounded = o;
    lmt_bound(lmt_pushstate(L), &bounded);
    lua_pop(L, 1);
    box = open_device(L, name, &bounded, err);
    if (box == NULL) {
      lua_settop(L, top);
      return NULL;
    }
    box = unify(L, cache, box, &o);
    lua_pushvalue(L, cache + 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, cache);
  }
  if (box->d == NULL) luaL_error(L, "this device is closed");
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return box;
}

lmt_device *lmt_pushdevice (lua_State *L, const char *name, mt_err *err) {
  return get_device(L, name, &(mt_device_options){.size = sizeof(mt_device_options)},
                    err);
}

lmt_device *lmt_todevice (lua_State *L, int i) {
  lmt_device *box = luaL_checkudata(L, i, LMT_DEVICE);
  if (box->d == NULL) luaL_error(L, "this device is closed");
  lmt_checkuse(L, box->state);
  return box;
}

/* The host's, which nobody here closes. */
static void leave_device (lmt_resource *r) { (void)r; }

MT_API void mt_lua_pushdevice (lua_State *L, mt_device *d) {
  lmt_state *state = lmt_pushstate(L);
  lua_getiuservalue(L, -1, LMT_DEVICES);
  cache_key(L, mt_device_name(d), &state->options);
  lmt_device *box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = (lmt_device){.state = state};
  luaL_setmetatable(L, LMT_DEVICE);
  box->r = lmt_reserve(L, leave_device, NULL);
  if (box->r == NULL) luaL_error(L, "device: no memory");
  lua_pushvalue(L, -2);
  if (lua_rawget(L, -4) != LUA_TNIL)
    luaL_error(L, "device: the state has opened %s already", mt_device_name(d));
  lua_pop(L, 1);
  box->r->p = box->d = d;
  lua_pushvalue(L, -2);
  lua_pushvalue(L, -2);
  lua_rawset(L, -5);
  lua_replace(L, -4);
  lua_pop(L, 2);
}

/* What a script names, with its options. */
static lmt_device *open_permitted (lua_State *L, const char *name,
                                   const mt_device_options *o, mt_err *err) {
  const lmt_state *state = lmt_pushstate(L);
  lua_pop(L, 1);
  return lmt_permit(state, &name, o, err) == MT_OK ? get_device(L, name, o, err) : NULL;
}

lmt_device *lmt_optdevice (lua_State *L, int i, mt_err *err) {
  const mt_device_options none = {.size = sizeof(mt_device_options), .threads = 0};
  if (lua_isnoneornil(L, i)) return open_permitted(L, "cpu", &none, err);
  if (lmt_isstring(L, i)) return open_permitted(L, lua_tostring(L, i), &none, err);
  lmt_device *box = lmt_todevice(L, i);
  lua_pushvalue(L, i);
  return box;
}

const char *lmt_devicename (const lmt_device *box) {
  return box->d ? mt_device_name(box->d) : "closed device";
}

static size_t piece_option (lua_State *L, int i) {
  lua_Integer n = luaL_optinteger(L, i, 0);
  if (n != 0 && n < 16) luaL_error(L, "device: piece: at least 16 bytes");
  return (size_t)n;
}

/* Adds to the error which devices there are. */
static LMT_APART void say_devices (lua_State *L, mt_err *err) {
  mt_err none = MT_NOERR;
  int n = mt_cuda_count(&lmt_pushstate(L)->options, &none);
  size_t at = strlen(err->text);
  snprintf(err->text + at, sizeof err->text - at,
           n == 0 ? "\n  here is: cpu" :
           n == 1 ? "\n  here are: cpu, cuda" :
                    "\n  here are: cpu, cuda:0 to cuda:%d",
           n - 1);
}

/* device([name]), device{ name, threads =, libcuda =, libblas =, piece = } -> device |
** nil, message, code */
static int l_device (lua_State *L) {
  static const char *const keys[] = {"1", "threads", "libcuda", "libblas", "piece", NULL};
  LMT_NOERR(err);
  const char *name = NULL;
  mt_device_options o = {.size = sizeof(mt_device_options), .threads = 0};
  lua_settop(L, 1);
  if (lmt_isclass(L, 1, LMT_DEVICE)) return 1;
  if (lmt_istable(L, 1)) {
    lmt_checkkeys(L, 1, "device", keys);
    lua_geti(L, 1, 1);
    lua_getfield(L, 1, "threads");
    lua_getfield(L, 1, "libcuda");
    lua_getfield(L, 1, "libblas");
    lua_getfield(L, 1, "piece");
    lua_Integer threads = luaL_optinteger(L, 3, 0);
    if (threads < 0 || threads > 1024) return luaL_error(L, "device: threads: 0 to 1024");
    o.threads = (int)threads;
    o.libcuda = luaL_optstring(L, 4, NULL);
    o.libblas = luaL_optstring(L, 5, NULL);
    o.piece = piece_option(L, 6);
    name = luaL_optstring(L, 2, NULL);
  } else {
    name = luaL_optstring(L, 1, NULL);
  }
  if (open_permitted(L, name, &o, &err)) return 1;
  if (err.status == MT_ENODEV && name && strncmp(name, "cuda", 4) != 0)
    say_devices(L, &err);
  return lmt_fail(L, &err);
}

/* Adds a name to the sequence on the top, if a script may open it. */
static void add_device (lua_State *L, const lmt_state *state, const char *name) {
  LMT_NOERR(err);
  if (lmt_permit(state, &name, &(mt_device_options){.size = sizeof(mt_device_options)},
                 &err))
    return;
  lua_pushstring(L, name);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* devices() -> the names that device() takes, and why there is no GPU among them. */
static int l_devices (lua_State *L) {
  LMT_NOERR(err);
  const char *libcuda = luaL_optstring(L, 1, NULL);
  const lmt_state *state = lmt_pushstate(L);
  const char *cpu = state->config.devices[0];
  mt_device_options o = state->options;
  o.libcuda = libcuda;
  if (lmt_permit(state, &cpu, &o, &err)) return lmt_raise(L, &err);
  int n = mt_cuda_count(&o, &err);
  lua_createtable(L, n + 1, 0);
  add_device(L, state, "cpu");
  for (int i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", i);
    add_device(L, state, name);
  }
  if (n > 0) return 1;
  lua_pushstring(L, err.text);
  return 2;
}

/* kernels(device) -> the names of the kernels that the library carries for "cpu" or
** "cuda", and devices of these. kernels{ arch = 90 [, A = dtype] } */
static int l_kernels (lua_State *L) {
  if (lmt_istable(L, 1)) return lmt_gemmrows(L);
  const char *device = luaL_checkstring(L, 1), *name;
  const mt_backend *b;
  int index;
  LMT_NOERR(err);
  if (mt_find_backend(&b, &index, device, &err)) return lmt_raise(L, &err);
  lua_newtable(L);
  for (int i = 0; (name = mt_kernel_name(device, i)) != NULL; i++) {
    lua_pushstring(L, name);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* ---------------------------------------------------------------- devices */

static int device_gc (lua_State *L) {
  lmt_device *box = luaL_checkudata(L, 1, LMT_DEVICE);
  box->d = NULL;
  lmt_release(box->state, &box->r);
  return 0;
}

static int device_name (lua_State *L) {
  lmt_device *box = luaL_checkudata(L, 1, LMT_DEVICE);
  lua_pushstring(L, lmt_devicename(box));
  return 1;
}

static int device_about (lua_State *L) {
  lua_pushstring(L, mt_device_about(lmt_todevice(L, 1)->d));
  return 1;
}

/* device:synchronize(): waits for everything on it; raises what a kernel met. */
static int device_synchronize (lua_State *L) {
  LMT_NOERR(err);
  if (mt_synchronize(lmt_todevice(L, 1)->d, NULL, &err)) return lmt_raise(L, &err);
  return 0;
}

/* ---------------------------------------------------------------- buffers */

void lmt_press (lua_State *L, size_t bytes) {
  lmt_state *state = lmt_pushstate(L);
  lua_pop(L, 1);
  state->fresh = bytes < SIZE_MAX - state->fresh ? state->fresh + bytes : SIZE_MAX;
  if (state->fresh < PRESS) return;
  size_t kilobytes = state->fresh >> 10;
  state->fresh = 0;
  if (lua_gc(L, LUA_GCISRUNNING)) lmt_gcstep(L, kilobytes);
}

static void close_buffer (lmt_resource *r) {
  r->state->held -= r->bytes;
  mt_recycle(r->device, r->p, r->bytes);
}

/* The host has its address, and may have work under way there. */
static void close_shared (lmt_resource *r) {
  r->state->held -= r->bytes;
  mt_free(r->device, r->p, r->bytes);
}

static void close_locked (lmt_resource *r) {
  r->state->held -= r->bytes;
  mt_free_locked(r->device, r->p, r->bytes);
}

void lmt_freebuffer (lmt_buffer *b) {
  b->live = false;
  b->data = NULL;
  lmt_release(b->device->state, &b->r);
}

void lmt_sharebuffer (lmt_buffer *b) {
  if (b->r && b->r->close == close_buffer) b->r->close = close_shared;
}

static int buffer_gc (lua_State *L) {
  lmt_freebuffer(luaL_checkudata(L, 1, LMT_BUFFER));
  return 0;
}

static lmt_buffer *push_buffer (lua_State *L, int device, size_t bytes) {
  device = lua_absindex(L, device);
  lmt_buffer *b = lua_newuserdatauv(L, sizeof *b, 2);
  *b = (lmt_buffer){.device = lua_touserdata(L, device), .bytes = bytes};
  luaL_setmetatable(L, LMT_BUFFER);
  lua_pushvalue(L, device);
  lua_setiuservalue(L, -2, 1);
  return b;
}

/* Memory of the device, or of the host's that the GPU at stack index `lock` has locked;
** the buffer on the top holds that one too. */
static mt_status make_memory (lmt_buffer *b, mt_device *lock, mt_err *err) {
  return lock ? mt_malloc_locked(lock, &b->data, b->bytes, err) :
                mt_malloc(b->device->d, &b->data, b->bytes, err);
}

static mt_device *hold_lock (lua_State *L, int lock) {
  if (lock == 0) return NULL;
  lua_pushvalue(L, lock);
  lua_setiuservalue(L, -2, 2);
  return lmt_todevice(L, lock)->d;
}

lmt_buffer *lmt_newbuffer (lua_State *L, int device, int lock, size_t bytes,
                           mt_err *err) {
  int tries = 0;
  mt_status s;
  lmt_buffer *b = push_buffer(L, device, bytes);
  mt_device *locks = hold_lock(L, lock);
  lmt_state *state = lmt_pushstate(L);
  lua_pop(L, 1);
  lmt_press(L, bytes);
  do {
    if (b->r == NULL)
      b->r = locks ? lmt_reserve(L, close_locked, locks) :
                     lmt_reserve(L, close_buffer, b->device->d);
    s = b->r ? lmt_permitbytes(state, bytes, err) : no_memory(err);
    lmt_listen(err, state);
    if (s == MT_OK) s = make_memory(b, locks, err);
  } while (lmt_again(L, s, &tries, err));
  if (s != MT_OK) {
    b->data = NULL;
    lua_pop(L, 1);
    return NULL;
  }
  b->live = true;
  b->r->p = b->data;
  if (b->data) state->held += b->r->bytes = bytes;
  return b;
}

lmt_buffer *lmt_lendbuffer (lua_State *L, int device, void *data, size_t bytes) {
  lmt_buffer *b = push_buffer(L, device, bytes);
  b->data = data;
  b->live = true;
  return b;
}

/* held() -> bytes of the live buffers of this state. */
static int l_held (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)lmt_pushstate(L)->held);
  return 1;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_DEVICE
#include "binding/rows.h"

static const luaL_Reg device_meta[] = {{"__gc", device_gc},
                                       {"__tostring", device_name},
                                       {NULL, NULL}};
static const luaL_Reg buffer_meta[] = {{"__gc", buffer_gc},
                                       {"__close", buffer_gc},
                                       {NULL, NULL}};

void lmt_open_device (lua_State *L) {
  lmt_setmeta(L, LMT_DEVICE, device_meta);
  lmt_setmeta(L, LMT_BUFFER, buffer_meta);
  lmt_addrows(L, rows);
  lmt_open_stream(L);
}
