/*
** zlib.c - deflate and inflate, by the zlib that the system has.
** SPDX-License-Identifier: MIT
*/
#include <dlfcn.h>
#include <string.h>

#include "binding/zlib.h"

/* As zlib.h has it. */
typedef struct z_stream {
  const unsigned char *next_in;
  unsigned avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *msg;
  void *state;
  void *(*zalloc)(void *, unsigned, unsigned);
  void (*zfree)(void *, void *);
  void *opaque;
  int data_type;
  unsigned long adler, reserved;
} z_stream;

enum {
  RAW = -15, /* window of 32 KiB, no header */
  LEVEL = 6,
  DEFLATED = 8,
  MEMORY = 8,
  NO_FLUSH = 0,
  FINISH = 4,
  OK = 0,
  STREAM_END = 1,
  MEM_ERROR = -4,
  BUF_ERROR = -5,
  ALIGNED = 64,
  ROOM = 1 << 20, /* deflate takes 268 KB of zlib's own, forks of it some more */
  MOST = 1 << 30  /* bytes of one call */
};

struct lmt_zlib {
  void *library; /* NULL: closed */
  int (*inflate_init)(z_stream *, int bits, const char *version, int size);
  int (*inflate)(z_stream *, int flush);
  int (*deflate_init)(z_stream *, int level, int method, int bits, int memory,
                      int strategy, const char *version, int size);
  int (*deflate)(z_stream *, int flush);
  z_stream stream;
  size_t used;
  unsigned char room[ROOM]; /* aligned as Lua aligns */
};

/* ---------------------------------------------------------------- memory */

static void *take (void *ud, unsigned n, unsigned size) {
  lmt_zlib *z = ud;
  size_t bytes;
  if (__builtin_mul_overflow((size_t)n, (size_t)size, &bytes)) return NULL;
  size_t skip = -(uintptr_t)(z->room + z->used) % ALIGNED;
  if (bytes > ROOM - ALIGNED || skip + bytes > ROOM - z->used) return NULL;
  void *p = z->room + z->used + skip;
  z->used += skip + bytes;
  return p;
}

/* The room is free again when the next member begins. */
static void leave (void *ud, void *p) { (void)ud, (void)p; }

static void begin (lmt_zlib *z) {
  z->used = 0;
  z->stream = (z_stream){.zalloc = take, .zfree = leave, .opaque = z};
}

/* ---------------------------------------------------------------- the library */

static int zlib_gc (lua_State *L) {
  lmt_zlib *z = luaL_checkudata(L, 1, LMT_ZLIB);
  if (z->library) dlclose(z->library);
  z->library = NULL;
  return 0;
}

static bool find (lmt_zlib *z) {
  *(void **)&z->inflate_init = dlsym(z->library, "inflateInit2_");
  *(void **)&z->inflate = dlsym(z->library, "inflate");
  *(void **)&z->deflate_init = dlsym(z->library, "deflateInit2_");
  *(void **)&z->deflate = dlsym(z->library, "deflate");
  return z->inflate_init && z->inflate && z->deflate_init && z->deflate;
}

lmt_zlib *lmt_openzlib (lua_State *L, mt_err *err) {
  static const luaL_Reg meta[] = {{"__gc", zlib_gc}, {"__close", zlib_gc}, {NULL, NULL}};
  lmt_zlib *z = lua_newuserdatauv(L, sizeof *z, 0);
  z->library = NULL;
  lmt_setmeta(L, LMT_ZLIB, meta);
  luaL_setmetatable(L, LMT_ZLIB);
  lua_toclose(L, -1);
  z->library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (z->library != NULL && find(z)) return z;
  lmt_set(err, MT_EIO,
          "compressed members are read and written by zlib, and there is no libz.so.1\n"
          "install it (Debian: apt-get install zlib1g), or save without compression");
  return NULL;
}

/* ---------------------------------------------------------------- members */

static mt_status tell (const lmt_zlib *z, int result, mt_err *err) {
  if (result == MEM_ERROR) return lmt_set(err, MT_ENOMEM, "zlib: it wants more memory");
  return lmt_set(err, MT_EFORMAT, "zlib: %s",
                 z->stream.msg ? z->stream.msg : "the data are no deflate");
}

mt_status lmt_inflate_begin (lmt_zlib *z, mt_err *err) {
  begin(z);
  int r = z->inflate_init(&z->stream, RAW, "1", (int)sizeof z->stream);
  return r == OK ? MT_OK : tell(z, r, err);
}

mt_status lmt_deflate_begin (lmt_zlib *z, mt_err *err) {
  begin(z);
  int r = z->deflate_init(&z->stream, LEVEL, DEFLATED, RAW, MEMORY, 0, "1",
                          (int)sizeof z->stream);
  return r == OK ? MT_OK : tell(z, r, err);
}

static mt_status step (lmt_zlib *z, int (*f)(z_stream *, int), int flush, void *to,
                       size_t *n, const void **from, size_t *left, bool *done,
                       mt_err *err) {
  z->stream.next_in = *from;
  z->stream.avail_in = (unsigned)(*left < MOST ? *left : MOST);
  z->stream.next_out = to;
  z->stream.avail_out = (unsigned)(*n < MOST ? *n : MOST);
  int r = f(&z->stream, flush);
  *left -= (size_t)(z->stream.next_in - (const unsigned char *)*from);
  *from = z->stream.next_in;
  *n = (size_t)(z->stream.next_out - (unsigned char *)to);
  *done = r == STREAM_END;
  return r == OK || r == STREAM_END || r == BUF_ERROR ? MT_OK : tell(z, r, err);
}

mt_status lmt_inflate (lmt_zlib *z, void *to, size_t *n, const void **from, size_t *left,
                       bool *done, mt_err *err) {
  return step(z, z->inflate, NO_FLUSH, to, n, from, left, done, err);
}

mt_status lmt_deflate (lmt_zlib *z, void *to, size_t *n, const void **from, size_t *left,
                       bool last, bool *done, mt_err *err) {
  return step(z, z->deflate, last ? FINISH : NO_FLUSH, to, n, from, left, done, err);
}
