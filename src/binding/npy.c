/*
** npy.c - .npy files to tensors and back.
** SPDX-License-Identifier: MIT
**
** An axis of the file is a mode of the layout: C order is row-major, Fortran order
** column-major. A hierarchical mode is one axis, its coordinates colexicographic.
*/
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "binding/lmt.h"
#include "binding/view.h"
#include "binding/plan.h"
#include "binding/host.h"
#include "binding/arrays.h"

static mt_status io_error (mt_err *err, const char *otherwise) {
  return lmt_set(err, MT_EIO, "%s", errno ? strerror(errno) : otherwise);
}

/* ---------------------------------------------------------------- load */

/* Size of the file, its beginning and what that says. */
static mt_status read_header (mt_npy *npy, const mt_dtype *as, FILE *f, void *head,
                              mt_err *err) {
  static const char unseekable[] = "not a file that can be read twice";
  errno = 0;
  if (fseek(f, 0, SEEK_END)) return io_error(err, unseekable);
  long size = ftell(f);
  if (size < 0 || fseek(f, 0, SEEK_SET)) return io_error(err, unseekable);
  size_t n = fread(head, 1, MT_NPY_HEAD, f);
  if (ferror(f)) return io_error(err, "cannot be read");
  mt_status s = as ? mt_npy_read_header_as(npy, *as, head, n, (uint64_t)size, err) :
                     mt_npy_read_header(npy, head, n, (uint64_t)size, err);
  if (s == MT_OK && (npy->data > (size_t)size || fseek(f, (long)npy->data, SEEK_SET)))
    return io_error(err, "cannot be read");
  return s;
}

static mt_status read_file (void *ud, void *to, size_t n, mt_err *err) {
  errno = 0;
  return fread(to, 1, n, ud) == n ? MT_OK :
                                    io_error(err, "the file ends before its data");
}

lmt_source lmt_fromfile (FILE *f) { return (lmt_source){read_file, f}; }

static void swap_bytes (char *p, size_t bytes, size_t size) {
  for (char *end = p + bytes; p < end; p += size)
    for (size_t i = 0; i < size / 2; i++) {
      char c = p[i];
      p[i] = p[size - 1 - i];
      p[size - 1 - i] = c;
    }
}

/* Reads the elements of t, through `piece` if t is not in host memory. */
static mt_status read_pieces (const lmt_tensor *t, lmt_source from, bool swap,
                              char *piece, mt_stint *stint, mt_err *err) {
  mt_device *d = t->buffer->device->d;
  bool host = mt_device_is_host(d);
  char *to = lmt_address(t, 0);
  mt_status s = MT_OK;
  for (size_t left = t->buffer->bytes, n; s == MT_OK && left > 0; left -= n, to += n) {
    n = left < LMT_PIECE ? left : LMT_PIECE;
    char *p = host ? to : piece;
    s = from.read(from.ud, p, n, err);
    if (s != MT_OK) return s;
    if (swap) swap_bytes(p, n, mt_dtype_size(t->dtype));
    if (!host) s = mt_graph_upload(d, to, p, n, err);
    stint->done += (double)n;
    if (lmt_ends(err, "load")) return MT_ESTOPPED;
  }
  return s;
}

mt_status lmt_readdata (const lmt_tensor *t, lmt_source from, bool swap, char *piece,
                        mt_err *err) {
  mt_stint stint;
  lmt_listen(err, t->buffer->device->state);
  mt_stint_begin(&stint, "load", "bytes", (double)t->buffer->bytes, err);
  mt_status s = read_pieces(t, from, swap, piece, &stint, err);
  mt_stint_end(&stint, err);
  return s;
}

/* The array of a .npy file, on the device at 3. */
static mt_status load_array (lua_State *L, const mt_dtype *as, FILE *f, char *piece,
                             mt_err *err) {
  mt_npy npy;
  mt_status s = read_header(&npy, as, f, piece, err);
  lmt_tensor *t =
      s == MT_OK ? lmt_newtensor(L, 3, npy.dtype, npy.layout.node, err) : NULL;
  return t ? lmt_readdata(t, lmt_fromfile(f), npy.swap, piece, err) : err->status;
}

/* load(path [, device [, dtype]]) -> a tensor, or a table of them | nil, message, code */
static int l_load (lua_State *L) {
  mt_dtype as = MT_NDTYPE, *known = NULL;
  if (!lua_isnoneornil(L, 3)) as = lmt_todtype(L, 3), known = &as;
  LMT_NOERR(err);
  const char *path = lmt_checkpath(L, 1);
  lmt_file *box;
  lua_settop(L, 2);
  if (lmt_optdevice(L, 2, &err) == NULL) return lmt_fail(L, &err); /* at 3 */
  char *piece = lua_newuserdatauv(L, LMT_PIECE, 0);
  FILE *f = lmt_openfile(L, path, LMT_READ, &box, &err);
  mt_status s = f == NULL        ? err.status :
                lmt_isnpz(f)     ? lmt_loadnpz(L, 3, known, f, piece, &err) :
                lmt_istensors(f) ? lmt_loadtensors(L, 3, known, f, piece, &err) :
                                   load_array(L, known, f, piece, &err);
  lmt_abandon(box);
  return s == MT_OK ? 1 : lmt_failfile(L, path, &err);
}

/* ---------------------------------------------------------------- save */

void lmt_extents (mt_layout *out, const mt_node *a) {
  int n = 0;
  a = lmt_base(a);
  const mt_node *c = a->tag == MT_MODES ? mt_child(a) : a;
  for (; c < mt_next(a); c = mt_next(c))
    out->node[++n] = (mt_node){.tag = MT_INT, .span = 1, .shape = mt_size(c)};
  out->node[0] =
      (mt_node){.tag = MT_TUPLE, .arity = (uint16_t)n, .span = 1u + (uint32_t)n};
}

/* Offsets 0, 1, 2, ... in colexicographic order. */
static bool is_contiguous (const mt_node *a) {
  mt_layout flat;
  mt_err err = MT_NOERR;
  if (mt_size(a) <= 1) return true;
  return mt_coalesce(&flat, a, NULL, &err) == MT_OK && flat.node->tag == MT_LEAF &&
         flat.node->stride == 1;
}

/* The same with the last mode fastest. */
static bool is_row_major (const mt_node *a) {
  mt_layout reversed;
  mt_err err = MT_NOERR;
  int n = a->tag == MT_MODES ? a->arity : 1, modes[MT_MAXNODES];
  if (mt_size(a) <= 1) return true;
  for (int i = 0; i < n; i++) modes[i] = n - 1 - i;
  return !lmt_isrooted(a) && mt_select(&reversed, a, n, modes, &err) == MT_OK &&
         is_contiguous(reversed.node);
}

/* The compact layout of the shape of a whose last mode is the fastest. */
static void row_major (mt_layout *out, const mt_node *a) {
  mt_node *mode[MT_MAXNODES];
  int n = 0;
  int64_t step = 1;
  mt_copy_value(out, lmt_base(a));
  mt_node *root = out->node, *m = root->tag == MT_MODES ? root + 1 : root;
  for (; m < root + root->span; m += m->span) mode[n++] = m;
  while (n-- > 0)
    for (mt_node *p = mode[n]; p < mode[n] + mode[n]->span; p++)
      if (p->tag == MT_LEAF) p->stride = step, step *= p->shape;
}

/* Copies the tensor at 1 element by element to the one on the top, which lies in host
** memory. */
static mt_status gather (lua_State *L, mt_err *err) {
  int64_t lo, hi, from, to;
  mt_status s = MT_OK;
  lmt_range(L, lmt_totensor(L, 1), &lo, &hi);
  const char *base = lmt_onhost(L, 1, lo, hi);
  const lmt_tensor *t = lmt_totensor(L, 1), *packed = lmt_totensor(L, -2);
  int64_t n = mt_size(t->layout), size = (int64_t)mt_dtype_size(t->dtype);
  mt_stint stint;
  lua_pop(L, 1);
  lmt_listen(err, t->buffer->device->state);
  mt_stint_begin(&stint, "save", "elements", (double)n, err);
  for (int64_t i = 0; s == MT_OK && i < n; i++) {
    s = mt_at(&from, t->layout, i, err);
    if (s == MT_OK) s = mt_at(&to, packed->layout, i, err);
    if (s != MT_OK || LMT_ENDS(i, err, "T:save")) break;
    memcpy(lmt_address(packed, to), base + (from - lo) * size, (size_t)size);
    stint.done++;
  }
  mt_stint_end(&stint, err);
  return err->status;
}

/* Pushes a compact tensor with the elements of the one at 1, its last mode fastest: on
** its own device, but on the host under a swizzle, which no copy takes. */
static bool pack (lua_State *L, mt_err *err) {
  mt_layout to;
  const lmt_tensor *t = lmt_totensor(L, 1);
  bool swizzled = lmt_isrooted(t->layout);
  row_major(&to, t->layout);
  lua_getiuservalue(L, 1, 1);
  if (!swizzled) lua_getiuservalue(L, -1, 1);
  else if (lmt_pushdevice(L, "cpu", err) == NULL) return false;
  if (lmt_newtensor(L, -1, t->dtype, to.node, err) == NULL) return false;
  return (swizzled ? gather(L, err) : lmt_copynow(L, 1, lua_gettop(L), err)) == MT_OK;
}

static mt_status write_file (void *ud, const void *p, size_t n, mt_err *err) {
  return lmt_write(ud, p, n, err);
}

lmt_sink lmt_tofile (lmt_file *box) { return (lmt_sink){write_file, box}; }

static mt_status write_pieces (const lmt_tensor *t, lmt_sink to, size_t left, char *piece,
                               mt_stint *stint, mt_err *err) {
  mt_device *d = t->buffer->device->d;
  bool host = mt_device_is_host(d);
  char *from = lmt_address(t, 0);
  mt_status s = MT_OK;
  for (size_t n; s == MT_OK && left > 0; left -= n, from += n) {
    n = left < LMT_PIECE ? left : LMT_PIECE;
    if (!host) s = mt_download(d, piece, from, n, err);
    if (s == MT_OK) s = to.write(to.ud, host ? from : piece, n, err);
    stint->done += (double)n;
    if (s == MT_OK && lmt_ends(err, "T:save")) s = MT_ESTOPPED;
  }
  return s;
}

mt_status lmt_writedata (const lmt_tensor *t, lmt_sink to, char *piece, mt_err *err) {
  mt_stint stint;
  size_t bytes = (size_t)mt_size(t->layout) * mt_dtype_size(t->dtype);
  lmt_listen(err, t->buffer->device->state);
  mt_stint_begin(&stint, "save", "bytes", (double)bytes, err);
  mt_status s = write_pieces(t, to, bytes, piece, &stint, err);
  mt_stint_end(&stint, err);
  return s;
}

/* The tensor at `i`. */
static mt_status write_array (lua_State *L, const char *path, int i, bool fortran,
                              mt_err *err) {
  char head[MT_NPY_HEADER_MAX];
  size_t n;
  mt_layout shape;
  lmt_file *box;
  const lmt_tensor *t = lmt_totensor(L, i);
  lmt_extents(&shape, t->layout);
  mt_status s = mt_npy_write_header(head, &n, t->dtype, shape.node, fortran, err);
  if (s != MT_OK) return s;
  char *piece = lua_newuserdatauv(L, LMT_PIECE, 0);
  if (lmt_openfile(L, path, LMT_REPLACE, &box, err) == NULL) return err->status;
  s = lmt_write(box, head, n, err);
  if (s == MT_OK) s = lmt_writedata(lmt_totensor(L, i), lmt_tofile(box), piece, err);
  if (s == MT_OK) return lmt_finish(box, err);
  lmt_abandon(box);
  return s;
}

const lmt_tensor *lmt_checksaved (lua_State *L, int i, const char *who) {
  const lmt_tensor *t = lmt_totensor(L, i);
  lmt_checkidle(L, t->buffer->device, who);
  if (t->bounded)
    luaL_error(L, "save: the tensor is ragged, a file has no elements that are "
                  "not real\ncopy it into one of zeros: tile.copy(T, "
                  "tile.tensor(T:dtype(), tile.layout(T:shape()))), and save that");
  return t;
}

int lmt_byrows (lua_State *L) {
  int64_t lo, hi;
  LMT_NOERR(err);
  lua_settop(L, 1);
  const lmt_tensor *t = lmt_checksaved(L, 1, "save");
  lmt_range(L, t, &lo, &hi);
  if (is_row_major(t->layout) || pack(L, &err)) return 1;
  return lmt_fail(L, &err);
}

/* T:save(path) -> true | nil, message, code. In C order; in Fortran order if the elements
** lie so. It is written beside and takes the place of the file when it is complete. */
static int tensor_save (lua_State *L) {
  int64_t lo, hi;
  int i = 1;
  LMT_NOERR(err);
  const char *path = lmt_checkpath(L, 2);
  const lmt_tensor *t = lmt_checksaved(L, 1, "T:save");
  bool rows = is_row_major(t->layout), fortran = !rows && is_contiguous(t->layout);
  lmt_range(L, t, &lo, &hi);
  if (!rows && !fortran) {
    if (!pack(L, &err)) return lmt_fail(L, &err);
    i = lua_gettop(L);
  }
  mt_status s = write_array(L, path, i, fortran, &err);
  if (i != 1) lmt_freebuffer(lmt_totensor(L, i)->buffer);
  if (s != MT_OK) return lmt_failfile(L, path, &err);
  lua_pushboolean(L, 1);
  return 1;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_NPY
#include "binding/rows.h"

void lmt_open_npy (lua_State *L) {
  lmt_addrows(L, rows);
  lmt_open_map(L);
}
