/*
** safetensors.c - .safetensors files to tables of tensors and back; what is saved.
** SPDX-License-Identifier: MIT
**
** A dimension of the file is a mode of the layout, by rows. A hierarchical mode is one
** dimension, its coordinates colexicographic.
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/lmt.h"
#include "binding/arrays.h"
#include "types/utf8.h"

static mt_status io_error (mt_err *err, const char *otherwise) {
  return lmt_set(err, MT_EIO, "%s", errno ? strerror(errno) : otherwise);
}

/* ---------------------------------------------------------------- load */

enum { LENGTH = 8 };

bool lmt_istensors (FILE *f) {
  char head[LENGTH + 1];
  size_t n = fread(head, 1, sizeof head, f);
  rewind(f);
  return n == sizeof head && head[LENGTH] == '{' && memcmp(head, "\x93NUMPY", 6) != 0;
}

/* Pushes a block with the header; NULL: err. */
static char *read_head (lua_State *L, FILE *f, size_t *bytes, uint64_t *size,
                        mt_err *err) {
  char begin[LENGTH];
  errno = 0;
  long end = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
  if (end < 0 || fseek(f, 0, SEEK_SET) || fread(begin, 1, LENGTH, f) != LENGTH)
    return io_error(err, "cannot be read"), NULL;
  *size = (uint64_t)end;
  if (mt_safetensors_header(bytes, begin, *size, err)) return NULL;
  char *head = lua_newuserdatauv(L, *bytes, 0);
  memcpy(head, begin, LENGTH);
  errno = 0;
  if (fread(head + LENGTH, 1, *bytes - LENGTH, f) == *bytes - LENGTH) return head;
  return io_error(err, "cannot be read"), NULL;
}

/* Pushes a block with what the header says of the tensors; NULL: err. */
static mt_safetensor *read_items (lua_State *L, const char *head, size_t bytes,
                                  uint64_t size, size_t *n, mt_err *err) {
  if (mt_safetensors_read(n, NULL, 0, head, bytes, size, err)) return NULL;
  mt_safetensor *items = lua_newuserdatauv(L, (*n + 1) * sizeof *items, 0);
  return mt_safetensors_read(n, items, *n + 1, head, bytes, size, err) ? NULL : items;
}

void lmt_pushtensorname (lua_State *L, const char *head, const mt_safetensor *x) {
  luaL_Buffer b;
  char *p = luaL_buffinitsize(L, &b, x->name_bytes);
  luaL_pushresultsize(&b, mt_safetensors_name(p, head, x));
}

/* Adds the tensor to the table on the top. */
static mt_status load_tensor (lua_State *L, int device, FILE *f, char *piece,
                              const char *head, size_t bytes, const mt_safetensor *x,
                              mt_err *err) {
  mt_layout a;
  lmt_pushtensorname(L, head, x);
  mt_status s = mt_safetensors_layout(&a, head, bytes, x, err);
  lmt_tensor *t = s == MT_OK ? lmt_newtensor(L, device, x->dtype, a.node, err) : NULL;
  if (t == NULL) return err->status;
  errno = 0;
  if (fseek(f, (long)x->data, SEEK_SET)) return io_error(err, "cannot be read");
  s = lmt_readdata(t, lmt_fromfile(f), false, piece, err);
  if (s == MT_OK) lua_rawset(L, -3);
  return s;
}

mt_safetensor *lmt_readtensors (lua_State *L, FILE *f, const char **head, size_t *bytes,
                                size_t *n, mt_err *err) {
  uint64_t size;
  *head = read_head(L, f, bytes, &size, err);
  return *head ? read_items(L, *head, *bytes, size, n, err) : NULL;
}

mt_status lmt_loadtensors (lua_State *L, int device, const mt_dtype *as, FILE *f,
                           char *piece, mt_err *err) {
  size_t bytes, n;
  const char *head;
  if (as) luaL_error(L, "load: dtype: a .safetensors file says itself what it has");
  mt_safetensor *items = lmt_readtensors(L, f, &head, &bytes, &n, err);
  if (items == NULL) return err->status;
  lmt_checkwork(L, "load", lmt_times(n, LMT_VALUEWORK));
  lua_createtable(L, 0, n < 4096 ? (int)n : 4096);
  for (size_t i = 0; i < n; i++)
    if (load_tensor(L, device, f, piece, head, bytes, &items[i], err)) return err->status;
  return MT_OK;
}

/* ---------------------------------------------------------------- save */

enum { MOST = 1 << 20 }; /* tensors of a file */

/* What has the larger elements first, so that all are aligned; then by their names. */
static int before (const void *a, const void *b) {
  const lmt_saved *x = a, *y = b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  int c = memcmp(x->name, y->name, x->n < y->n ? x->n : y->n);
  return c ? c : (x->n > y->n) - (x->n < y->n);
}

/* The name below the top. */
static void check_name (lua_State *L) {
  size_t n;
  const char *name = lua_tolstring(L, -2, &n);
  if (strcmp(name, "__metadata__") == 0)
    luaL_error(L, "save: tensors: \"__metadata__\" is no name of a tensor");
  if (!mt_is_utf8((const unsigned char *)name, n))
    luaL_error(L, "save: tensors: a name that is no UTF-8");
}

/* Pushes a sequence of the names and the tensors in the table at 2, which a script may
** change meanwhile. */
static int push_pairs (lua_State *L) {
  int n = 0;
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, 2); n++) {
    if (lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L,
                 "save: tensors: names that are strings expected, got one that is a %s",
                 luaL_typename(L, -2));
    check_name(L);
    if (n == MOST) luaL_error(L, "save: more than %d tensors", (int)MOST);
    if (lmt_tensorat(L, -1) == NULL)
      luaL_error(L, "save: tensors[\"%s\"]: a tensor expected, got %s",
                 lua_tostring(L, -2), luaL_typename(L, -1));
    lmt_checksaved(L, -1, "save");
    lua_rawseti(L, 3, 2 * n + 2);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 3, 2 * n + 1);
  }
  return n;
}

/* Pushes a block of what is in the sequence at 3, in the order of the file. */
static lmt_saved *push_order (lua_State *L, int n) {
  lmt_saved *x = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *x, 0);
  for (int i = 0; i < n; i++, lua_pop(L, 2)) {
    lua_rawgeti(L, 3, 2 * i + 1);
    lua_rawgeti(L, 3, 2 * i + 2);
    x[i].i = i;
    x[i].name = lua_tolstring(L, -2, &x[i].n);
    x[i].size = mt_dtype_size(lmt_totensor(L, -1)->dtype);
  }
  qsort(x, (size_t)n, sizeof *x, before);
  return x;
}

/* Adds the member of one to the buffer, whose data begin at *at. */
static void add_member (lua_State *L, luaL_Buffer *b, const lmt_saved *x, bool first,
                        uint64_t *at) {
  mt_layout shape;
  lua_rawgeti(L, 3, 2 * x->i + 2);
  const lmt_tensor *t = lmt_totensor(L, -1);
  mt_dtype d = t->dtype;
  lmt_extents(&shape, t->layout);
  uint64_t end = *at + (uint64_t)mt_size(t->layout) * x->size;
  lua_pop(L, 1);
  size_t n = mt_safetensors_format(NULL, 0, x->name, x->n, d, shape.node, *at, end);
  luaL_addchar(b, first ? '{' : ',');
  char *p = luaL_prepbuffsize(b, n + 1);
  mt_safetensors_format(p, n + 1, x->name, x->n, d, shape.node, *at, end);
  luaL_addsize(b, n);
  *at = end;
}

/* Pushes the header, with the 8 bytes before it. */
static const char *push_head (lua_State *L, const lmt_saved *x, int n, size_t *bytes) {
  luaL_Buffer b;
  uint64_t at = 0;
  luaL_buffinit(L, &b);
  luaL_addlstring(&b, "\0\0\0\0\0\0\0", LENGTH);
  if (n == 0) luaL_addchar(&b, '{');
  for (int i = 0; i < n; i++) add_member(L, &b, &x[i], i == 0, &at);
  luaL_addchar(&b, '}');
  while (luaL_bufflen(&b) % LENGTH) luaL_addchar(&b, ' ');
  luaL_pushresult(&b);
  *bytes = lua_rawlen(L, -1);
  if (*bytes - LENGTH > MT_SAFETENSORS_MOST)
    luaL_error(L, "save: the header is too long");
  return lua_tostring(L, -1);
}

static mt_status write_head (lmt_file *box, const char *head, size_t bytes, mt_err *err) {
  unsigned char length[LENGTH];
  for (int i = 0; i < LENGTH; i++) length[i] = (unsigned char)((bytes - LENGTH) >> 8 * i);
  mt_status s = lmt_write(box, length, LENGTH, err);
  return s ? s : lmt_write(box, head + LENGTH, bytes - LENGTH, err);
}

int lmt_writesaved (lua_State *L, lmt_sink to, const lmt_saved *x, char *piece,
                    mt_err *err) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, lmt_byrows);
  lua_rawgeti(L, 3, 2 * x->i + 2);
  lua_call(L, 1, 3);
  if (lua_isnil(L, top + 1)) return 3;
  lua_rawgeti(L, 3, 2 * x->i + 2);
  bool copy = !lua_rawequal(L, -1, top + 1);
  mt_status s = lmt_writedata(lmt_totensor(L, top + 1), to, piece, err);
  if (copy) lmt_freebuffer(lmt_totensor(L, top + 1)->buffer);
  lua_settop(L, top);
  return s == MT_OK ? -1 : 0;
}

/* The same of all: -1, or as lmt_writesaved. */
static int write_tensors (lua_State *L, lmt_file *box, const lmt_saved *x, int n,
                          char *piece, mt_err *err) {
  size_t bytes;
  int wrong = -1;
  const char *head = push_head(L, x, n, &bytes);
  if (write_head(box, head, bytes, err)) return 0;
  for (int i = 0; wrong < 0 && i < n; i++)
    wrong = lmt_writesaved(L, lmt_tofile(box), &x[i], piece, err);
  return wrong;
}

static bool ends_with (const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

/* Option `compress` of the table at 3, which is forgotten. */
static bool compress_option (lua_State *L, bool npz) {
  static const char *const keys[] = {"compress", NULL};
  bool compress = false;
  if (!lua_isnoneornil(L, 3)) {
    if (!lmt_istable(L, 3)) luaL_error(L, "save: options: a table expected");
    lmt_checkkeys(L, 3, "save", keys);
    lua_getfield(L, 3, "compress");
    compress = lua_toboolean(L, -1);
  }
  if (compress && !npz)
    luaL_error(L, "save: compress: a .safetensors file is never compressed: save to a "
                  "path that ends with .npz");
  lua_settop(L, 2);
  return compress;
}

/* save(path, { name = tensor, ... } [, { compress = }]) -> true | nil, message, code. The
** file is written beside and takes the place of the file when it is complete. */
static int l_save (lua_State *L) {
  LMT_NOERR(err);
  const char *path = lmt_checkpath(L, 1);
  bool npz = ends_with(path, ".npz");
  if (!lmt_istable(L, 2))
    return luaL_error(L,
                      "save: tensors: a table { name = tensor, ... } expected, got %s\n"
                      "of one tensor T:save(path) writes a .npy file",
                      lmt_kindname(L, 2));
  bool compress = compress_option(L, npz);
  int n = push_pairs(L);
  lmt_saved *x = push_order(L, n);
  char *piece = lua_newuserdatauv(L, LMT_PIECE, 0);
  lmt_file *box;
  FILE *f = lmt_openfile(L, path, LMT_REPLACE, &box, &err);
  if (f == NULL) return lmt_failfile(L, path, &err);
  int wrong = npz ? lmt_writenpz(L, f, box, x, n, compress, piece, &err) :
                    write_tensors(L, box, x, n, piece, &err);
  if (wrong > 0) return wrong;
  if (err.status == MT_OK) lmt_finish(box, &err);
  else lmt_abandon(box);
  if (err.status != MT_OK) return lmt_failfile(L, path, &err);
  lua_pushboolean(L, 1);
  return 1;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_TENSORS
#include "binding/rows.h"

void lmt_open_tensors (lua_State *L) { lmt_addrows(L, rows); }
