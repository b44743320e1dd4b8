/*
** stream.c - streams in Lua: the device's, and those that a host lends.
** SPDX-License-Identifier: MIT
*/
#include "binding/lmt.h"

typedef struct stream {
  lmt_device *device; /* its user value 1 */
  lmt_resource *r;    /* NULL: closed */
} stream;

static void close_stream (lmt_resource *r) { mt_stream_destroy(r->device, r->p); }

static int stream_gc (lua_State *L) {
  stream *box = luaL_checkudata(L, 1, LMT_STREAM);
  lmt_release(box->device->state, &box->r);
  return 0;
}

/* stream:close(), and what <close> does. */
static int stream_close (lua_State *L) {
  stream *box = luaL_checkudata(L, 1, LMT_STREAM);
  lmt_checkasking(L, box->device->state);
  return stream_gc(L);
}

static stream *push_stream (lua_State *L, int device) {
  device = lua_absindex(L, device);
  stream *box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = (stream){lua_touserdata(L, device), NULL};
  luaL_setmetatable(L, LMT_STREAM);
  lua_pushvalue(L, device);
  lua_setiuservalue(L, -2, 1);
  return box;
}

/* device:stream() -> stream | nil, message, code */
static int device_stream (lua_State *L) {
  int tries = 0;
  mt_status s;
  LMT_NOERR(err);
  mt_stream *made = NULL;
  lmt_device *device = lmt_todevice(L, 1);
  stream *box = push_stream(L, 1);
  do {
    if (box->r == NULL) box->r = lmt_reserve(L, close_stream, device->d);
    s = box->r ? mt_stream_create(device->d, &made, &err) :
                 lmt_set(&err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM));
  } while (lmt_again(L, s, &tries, &err));
  if (s != MT_OK) return lmt_fail(L, &err);
  box->r->p = made;
  return 1;
}

/* The host's own, which nobody here closes. */
static void leave_stream (lmt_resource *r) { (void)r; }

MT_API void mt_lua_pushstream (lua_State *L, const char *name, void *handle) {
  LMT_NOERR(err);
  mt_stream *lent = NULL;
  if (lmt_pushdevice(L, name, &err) == NULL) lmt_raise(L, &err);
  stream *box = push_stream(L, -1);
  box->r = lmt_reserve(L, leave_stream, box->device->d);
  if (box->r == NULL) luaL_error(L, "stream: no memory");
  if (mt_stream_of(box->device->d, &lent, handle, &err)) lmt_raise(L, &err);
  box->r->p = lent;
  lua_remove(L, -2);
}

static stream *checkstream (lua_State *L, int i) {
  stream *box = lmt_checkmarked(L, i, LMT_STREAMS, LMT_STREAM);
  lmt_checkuse(L, box->device->state);
  if (box->device->d == NULL || box->r == NULL || box->r->p == NULL)
    luaL_error(L, "this stream is closed");
  return box;
}

mt_stream *lmt_optstream (lua_State *L, int i, const lmt_device *d) {
  if (lua_isnoneornil(L, i)) return NULL;
  stream *box = checkstream(L, i);
  if (box->device != d) luaL_error(L, "this stream is one of another device");
  return box->r->p;
}

static int stream_synchronize (lua_State *L) {
  LMT_NOERR(err);
  stream *box = checkstream(L, 1);
  if (mt_synchronize(box->device->d, box->r->p, &err)) return lmt_raise(L, &err);
  return 0;
}

/* The stream at i, or the own one of the device there; both must be of `d`. */
static mt_stream *stream_or_device (lua_State *L, int i, const lmt_device *d) {
  if (!lmt_isclass(L, i, LMT_DEVICE)) return lmt_optstream(L, i, d);
  if (lmt_todevice(L, i) != d) luaL_error(L, "this is another device");
  return NULL;
}

/* stream:wait([other]): what is launched from now on begins when what `other` has is
** done: a stream, or a device's own. */
static int stream_wait (lua_State *L) {
  LMT_NOERR(err);
  stream *box = checkstream(L, 1);
  mt_stream *s = box->r->p, *before = stream_or_device(L, 2, box->device);
  if (mt_stream_wait(box->device->d, s, before, &err)) return lmt_raise(L, &err);
  return 0;
}

/* device:wait(stream): the same of the device's own. */
static int device_wait (lua_State *L) {
  LMT_NOERR(err);
  lmt_device *box = lmt_todevice(L, 1);
  luaL_checkany(L, 2);
  if (mt_stream_wait(box->d, NULL, stream_or_device(L, 2, box), &err))
    return lmt_raise(L, &err);
  return 0;
}

static int stream_tostring (lua_State *L) {
  stream *box = luaL_checkudata(L, 1, LMT_STREAM);
  if (box->device->d == NULL || box->r == NULL) lua_pushliteral(L, "closed stream");
  else lua_pushfstring(L, "stream of %s", mt_device_name(box->device->d));
  return 1;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_STREAM
#include "binding/rows.h"

static const luaL_Reg meta[] = {{"__gc", stream_gc},
                                {"__close", stream_close},
                                {"__tostring", stream_tostring},
                                {NULL, NULL}};

void lmt_open_stream (lua_State *L) {
  lmt_setmeta(L, LMT_STREAM, meta);
  lmt_addrows(L, rows);
}
