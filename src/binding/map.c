/*
** map.c - files as memory: tensors over .npy, .safetensors and raw files.
** SPDX-License-Identifier: MIT
**
** The whole file is one buffer, mapped once; a tensor is a window on it, checked to lie
** inside. Without `write` what is written stays in memory: pages of this process alone.
** Who cuts the file off while it is mapped ends the process that reads behind its end
** (SIGBUS): where the host permits some files only, none are mapped.
*/
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "binding/arrays.h"
#include "moontile/npy.h"
#include "moontile/safetensors.h"

static mt_status io_error (mt_err *err) {
  return lmt_set(err, MT_EIO, "%s", strerror(errno));
}

/* ---------------------------------------------------------------- the buffer */

static void unmap (lmt_resource *r) {
  r->state->held -= r->bytes;
  munmap(r->p, r->bytes);
}

/* What the host permits of so many bytes. */
static mt_status permit (lmt_state *state, size_t bytes, bool write, mt_err *err) {
  if (state->config.files != MT_LUA_ANYFILES)
    return lmt_set(err, MT_EDENIED,
                   "the host permits no mapped files: tile.load reads them");
  mt_status s = lmt_permitbytes(state, bytes, err);
  return s == MT_OK && write ? lmt_permitwritten(state, bytes, err) : s;
}

static mt_status map_file (lmt_buffer *b, FILE *f, bool write, mt_err *err) {
  struct stat st;
  if (fstat(fileno(f), &st)) return io_error(err);
  size_t bytes = (size_t)st.st_size;
  mt_status s = permit(b->device->state, bytes, write, err);
  if (s != MT_OK || bytes == 0) return s;
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, write ? MAP_SHARED : MAP_PRIVATE,
                 fileno(f), 0);
  if (p == MAP_FAILED) return io_error(err);
  b->data = b->r->p = p;
  b->bytes = b->r->bytes = bytes;
  b->device->state->held += bytes;
  return MT_OK;
}

/* Pushes the whole file as a buffer of the device "cpu"; NULL: err. */
static lmt_buffer *push_file (lua_State *L, FILE *f, bool write, mt_err *err) {
  if (lmt_pushdevice(L, "cpu", err) == NULL) return NULL;
  lmt_buffer *b = lmt_lendbuffer(L, -1, NULL, 0);
  b->r = lmt_reserve(L, unmap, b->device->d);
  if (b->r == NULL) return lmt_set(err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM)), NULL;
  return map_file(b, f, write, err) == MT_OK ? b : NULL;
}

/* Pushes a tensor whose coordinate 0 is at byte `at` of the buffer at stack index
** `buffer`; false: err. */
static bool push_window (lua_State *L, int buffer, mt_dtype dtype, const mt_node *layout,
                         uint64_t at, bool whole, mt_err *err) {
  size_t size = mt_dtype_size(dtype);
  int64_t lo, hi;
  if (at % size != 0 || at > INT64_MAX) {
    lmt_set(
        err, MT_EFORMAT,
        "elements of %zu bytes from byte %llu on are not aligned: tile.load reads them",
        size, (unsigned long long)at);
    return false;
  }
  lmt_tensor *t = lmt_pushtensor(L, buffer, dtype, layout, (int64_t)(at / size));
  t->view = !whole;
  lmt_range(L, t, &lo, &hi);
  return true;
}

/* ---------------------------------------------------------------- what files say */

static bool push_array (lua_State *L, lmt_buffer *b, int buffer, mt_err *err) {
  mt_npy npy;
  size_t n = b->bytes < MT_NPY_HEAD ? b->bytes : MT_NPY_HEAD;
  if (mt_npy_read_header(&npy, b->data, n, b->bytes, err)) return false;
  if (npy.swap) {
    lmt_set(err, MT_EFORMAT, "its elements are big-endian: tile.load reads them");
    return false;
  }
  return push_window(L, buffer, npy.dtype, npy.layout.node, npy.data, true, err);
}

static bool push_tensors (lua_State *L, FILE *f, const lmt_buffer *b, int buffer,
                          mt_err *err) {
  size_t bytes, n;
  const char *head;
  const mt_safetensor *x = lmt_readtensors(L, f, &head, &bytes, &n, err);
  if (x == NULL) return false;
  lmt_checkwork(L, "map", lmt_times(n, LMT_VALUEWORK));
  lua_createtable(L, 0, n < 4096 ? (int)n : 4096);
  for (size_t i = 0; i < n; i++, x++) {
    mt_layout a;
    if (x->data > b->bytes || x->bytes > b->bytes - x->data) {
      lmt_set(err, MT_EFORMAT, "the file became shorter");
      return false;
    }
    lmt_pushtensorname(L, head, x);
    if (mt_safetensors_layout(&a, head, bytes, x, err) ||
        !push_window(L, buffer, x->dtype, a.node, x->data, false, err))
      return false;
    lua_rawset(L, -3);
  }
  return true;
}

static bool push_what_it_says (lua_State *L, FILE *f, lmt_buffer *b, int buffer,
                               mt_err *err) {
  if (lmt_isnpz(f)) {
    lmt_set(err, MT_EFORMAT,
            "members of .npz files are not mapped: tile.load reads "
            "them");
    return false;
  }
  bool one = !lmt_istensors(f);
  if (one) return push_array(L, b, buffer, err);
  return push_tensors(L, f, b, buffer, err);
}

/* ---------------------------------------------------------------- map */

typedef struct options {
  bool write;
  lua_Integer offset;
} options;

/* Those of the table at i, if there is one. */
static options read_options (lua_State *L, int i, bool raw) {
  static const char *const keys[] = {"write", "offset", NULL};
  options o = {false, 0};
  if (lua_isnoneornil(L, i)) return o;
  if (!lmt_istable(L, i)) luaL_error(L, "map: options: a table expected");
  lmt_checkkeys(L, i, "map", keys);
  lua_getfield(L, i, "write");
  lua_getfield(L, i, "offset");
  o.write = lua_toboolean(L, -2);
  o.offset = luaL_optinteger(L, -1, 0);
  if (o.offset < 0 || (o.offset > 0 && !raw))
    luaL_error(L, raw ?
                      "map: offset: bytes from 0 on" :
                      "map: offset: with a dtype and a layout only: the file says itself "
                      "where its data begin");
  lua_pop(L, 2);
  return o;
}

static void check_offset (lua_State *L, mt_dtype dtype, lua_Integer offset) {
  size_t size = mt_dtype_size(dtype);
  if ((uint64_t)offset % size != 0)
    luaL_error(L, "map: offset: %I bytes are no whole number of elements of %d bytes",
               (LUAI_UACINT)offset, (int)size);
}

/* map(path [, dtype, layout] [, { write =, offset = }]) -> a tensor, or a table of them |
** nil, message, code */
static int l_map (lua_State *L) {
  LMT_NOERR(err);
  const char *path = lmt_checkpath(L, 1);
  bool raw = lua_type(L, 2) == LUA_TSTRING;
  mt_dtype dtype = raw ? lmt_todtype(L, 2) : MT_NDTYPE;
  const mt_node *layout = raw ? lmt_tocomposed(L, 3) : NULL;
  options o = read_options(L, raw ? 4 : 2, raw);
  if (raw) check_offset(L, dtype, o.offset);
  lmt_file *box;
  FILE *f = lmt_openfile(L, path, o.write ? LMT_UPDATE : LMT_READ, &box, &err);
  lmt_buffer *b = f ? push_file(L, f, o.write, &err) : NULL;
  int buffer = lua_gettop(L);
  bool done =
      b && (raw ? push_window(L, buffer, dtype, layout, (uint64_t)o.offset, true, &err) :
                  push_what_it_says(L, f, b, buffer, &err));
  if (done) return lmt_abandon(box), 1;
  if (b) lmt_freebuffer(b);
  lmt_abandon(box);
  return lmt_failfile(L, path, &err);
}

/* ---------------------------------------------------------------- registration */

#define ROWS_MAP
#include "binding/rows.h"

void lmt_open_map (lua_State *L) { lmt_addrows(L, rows); }
