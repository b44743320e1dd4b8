/*
** npz.c - .npz files, which are zips of .npy files, to tables of tensors and back.
** SPDX-License-Identifier: MIT
**
** A member is read once, from its beginning to its end: inflated if it is deflated,
** summed, its header, then its elements. It has exactly what its sizes say.
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding/arrays.h"
#include "binding/zlib.h"
#include "types/utf8.h"
#include "types/archive.h"

enum { HEAD = MT_ARCHIVE_LOCAL + 65536, INPUT = 1 << 16 };
static const char suffix[] = ".npy";
enum { SUFFIX = sizeof suffix - 1, UTF8 = 1 << 11 };

static mt_status io_error (mt_err *err, const char *otherwise) {
  return lmt_set(err, MT_EIO, "%s", errno ? strerror(errno) : otherwise);
}

static mt_status read_at (FILE *f, uint64_t at, void *to, size_t n, mt_err *err) {
  errno = 0;
  if (fseek(f, (long)at, SEEK_SET) || fread(to, 1, n, f) != n)
    return io_error(err, "cannot be read");
  return MT_OK;
}

bool lmt_isnpz (FILE *f) {
  char head[4];
  size_t n = fread(head, 1, sizeof head, f);
  rewind(f);
  return n == sizeof head &&
         (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

/* ---------------------------------------------------------------- the directory */

/* A file that is read; its blocks are Lua's. */
typedef struct archive {
  FILE *f;
  mt_archive zip;
  char *directory;
  mt_archive_member *member; /* in the order of the file */
  lmt_zlib *zlib;            /* NULL: nothing is deflated */
  mt_crc *crc;
  char *head, *input;
} archive;

static int before (const void *a, const void *b) {
  const mt_archive_member *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

static mt_status find_directory (lua_State *L, archive *z, mt_err *err) {
  errno = 0;
  long end = fseek(z->f, 0, SEEK_END) ? -1 : ftell(z->f);
  if (end < 0) return io_error(err, "cannot be read");
  size_t n = end < MT_ARCHIVE_TAIL ? (size_t)end : MT_ARCHIVE_TAIL;
  char *tail = lua_newuserdatauv(L, n, 0);
  mt_status s = read_at(z->f, (uint64_t)end - n, tail, n, err);
  if (s == MT_OK) s = mt_archive_find(&z->zip, tail, n, (uint64_t)end, err);
  lua_pop(L, 1);
  return s;
}

/* Pushes what it needs. */
static mt_status open_archive (lua_State *L, archive *z, mt_err *err) {
  mt_status s = find_directory(L, z, err);
  if (s != MT_OK) return s;
  size_t n = (size_t)z->zip.members;
  lmt_checkwork(L, "load", lmt_times(n, LMT_VALUEWORK));
  z->directory = lua_newuserdatauv(L, (size_t)z->zip.bytes + 1, 0);
  z->member = lua_newuserdatauv(L, (n + 1) * sizeof *z->member, 0);
  z->head = lua_newuserdatauv(L, HEAD, 0);
  z->input = lua_newuserdatauv(L, INPUT, 0);
  z->crc = lua_newuserdatauv(L, sizeof *z->crc, 0);
  mt_crc_make(z->crc);
  s = read_at(z->f, z->zip.directory, z->directory, (size_t)z->zip.bytes, err);
  if (s == MT_OK) s = mt_archive_read(z->member, &z->zip, z->directory, err);
  if (s != MT_OK) return s;
  bool deflated = false;
  for (size_t i = 0; i < n; i++) deflated |= z->member[i].method == MT_ARCHIVE_DEFLATED;
  qsort(z->member, n, sizeof *z->member, before);
  if (deflated) z->zlib = lmt_openzlib(L, err);
  return deflated && z->zlib == NULL ? err->status : MT_OK;
}

/* ---------------------------------------------------------------- a member */

typedef struct reading {
  const archive *z;
  bool inflates, ended;  /* the deflated data have ended */
  uint64_t packed, left; /* bytes of it: in the file, to be given */
  const void *from;      /* what was read of the file, and not inflated */
  size_t have;
  uint32_t sum;
  const char *head; /* what was given already, and comes again */
  size_t nhead;
} reading;

static mt_status refill (reading *r, mt_err *err) {
  if (r->have > 0 || r->packed == 0) return MT_OK;
  r->have = r->packed < INPUT ? (size_t)r->packed : INPUT;
  r->packed -= r->have;
  r->from = r->z->input;
  errno = 0;
  if (fread(r->z->input, 1, r->have, r->z->f) == r->have) return MT_OK;
  return io_error(err, "the file ends before its data");
}

static mt_status inflate (reading *r, char *to, size_t n, mt_err *err) {
  while (n > 0) {
    size_t got = n, had;
    mt_status s = refill(r, err);
    had = r->have;
    if (s == MT_OK)
      s = lmt_inflate(r->z->zlib, to, &got, &r->from, &r->have, &r->ended, err);
    if (s != MT_OK) return s;
    to += got;
    n -= got;
    if (n > 0 && (r->ended || (got == 0 && had == r->have)))
      return lmt_set(err, MT_EFORMAT, "it inflates to fewer bytes than it says");
  }
  return MT_OK;
}

static mt_status copy_stored (reading *r, char *to, size_t n, mt_err *err) {
  errno = 0;
  if (fread(to, 1, n, r->z->f) != n)
    return io_error(err, "the file ends before its data");
  r->packed -= n;
  return MT_OK;
}

/* The next n bytes. */
static mt_status give (reading *r, char *to, size_t n, mt_err *err) {
  if (n > r->left) return lmt_set(err, MT_EFORMAT, "it has fewer bytes than it needs");
  mt_status s = r->inflates ? inflate(r, to, n, err) : copy_stored(r, to, n, err);
  r->left -= n;
  if (s == MT_OK) r->sum = mt_crc_add(r->z->crc, r->sum, to, n);
  return s;
}

static mt_status read_member (void *ud, void *to, size_t n, mt_err *err) {
  reading *r = ud;
  size_t again = n < r->nhead ? n : r->nhead;
  memcpy(to, r->head, again);
  r->head += again;
  r->nhead -= again;
  return n > again ? give(r, (char *)to + again, n - again, err) : MT_OK;
}

/* Nothing is left of it, and it was what it says. */
static mt_status end_member (reading *r, const mt_archive_member *x, mt_err *err) {
  char more;
  size_t got = 1;
  mt_status s = MT_OK;
  while (r->inflates && !r->ended && s == MT_OK) {
    size_t had = r->have;
    s = refill(r, err);
    got = 1;
    if (s == MT_OK)
      s = lmt_inflate(r->z->zlib, &more, &got, &r->from, &r->have, &r->ended, err);
    if (s == MT_OK && (got > 0 || (had == r->have && r->packed == 0 && !r->ended)))
      return lmt_set(err, MT_EFORMAT, "it inflates to more bytes than it says");
  }
  if (s != MT_OK) return s;
  if (r->left > 0 || r->packed > 0 || r->have > 0)
    return lmt_set(err, MT_EFORMAT, "there are bytes behind its data");
  if (r->sum == x->crc) return MT_OK;
  return lmt_set(err, MT_EFORMAT, "its checksum is wrong: %08lx, not %08lx",
                 (unsigned long)r->sum, (unsigned long)x->crc);
}

/* The file is where the data of x begin. */
static mt_status begin_member (reading *r, const archive *z, const mt_archive_member *x,
                               uint64_t end, mt_err *err) {
  size_t length;
  *r = (reading){.z = z,
                 .inflates = x->method == MT_ARCHIVE_DEFLATED,
                 .packed = x->packed,
                 .left = x->bytes};
  mt_status s = end - x->at < MT_ARCHIVE_LOCAL ?
                    lmt_set(err, MT_EFORMAT, "zip: members overlap") :
                    read_at(z->f, x->at, z->head, MT_ARCHIVE_LOCAL, err);
  if (s == MT_OK) s = mt_archive_local(&length, z->head, x, end, err);
  if (s == MT_OK)
    s = read_at(z->f, x->at + MT_ARCHIVE_LOCAL, z->head + MT_ARCHIVE_LOCAL, x->name_bytes,
                err);
  if (s == MT_OK) s = mt_archive_same_name(z->head, x, z->directory, err);
  errno = 0;
  if (s == MT_OK && fseek(z->f, (long)(x->at + length), SEEK_SET))
    s = io_error(err, "cannot be read");
  return s == MT_OK && r->inflates ? lmt_inflate_begin(z->zlib, err) : s;
}

/* The header of the array that it is. */
static mt_status read_header (mt_npy *npy, reading *r, const mt_dtype *as, mt_err *err) {
  size_t n = r->left < MT_NPY_HEAD ? (size_t)r->left : MT_NPY_HEAD;
  uint64_t bytes = r->left;
  mt_status s = give(r, r->z->head, n, err);
  if (s != MT_OK) return s;
  s = mt_npy_read_header(npy, r->z->head, n, bytes, err);
  if (s != MT_OK && as) { /* it may not say what its bytes are */
    err->status = MT_OK;
    s = mt_npy_read_header_as(npy, *as, r->z->head, n, bytes, err);
  }
  if (s != MT_OK) return s;
  if (npy->data > n || npy->data_bytes != bytes - npy->data)
    return lmt_set(err, MT_EFORMAT, "there are bytes behind its data");
  r->head = r->z->head + npy->data;
  r->nhead = n - npy->data;
  return MT_OK;
}

/* Pushes the tensor. */
static mt_status load_member (lua_State *L, int device, const mt_dtype *as,
                              const archive *z, const mt_archive_member *x, uint64_t end,
                              char *piece, mt_err *err) {
  mt_npy npy;
  reading r;
  mt_status s = begin_member(&r, z, x, end, err);
  if (s == MT_OK) s = read_header(&npy, &r, as, err);
  lmt_tensor *t =
      s == MT_OK ? lmt_newtensor(L, device, npy.dtype, npy.layout.node, err) : NULL;
  if (t == NULL) return err->status;
  s = lmt_readdata(t, (lmt_source){read_member, &r}, npy.swap, piece, err);
  return s == MT_OK ? end_member(&r, x, err) : s;
}

/* The error is one of this member. */
static mt_status blame (mt_err *err, const char *name, size_t n) {
  char text[1024];
  snprintf(text, sizeof text, "%.900s", err->text);
  return lmt_set(err, err->status, "member \"%.*s\": %s", (int)(n < 80 ? n : 80), name,
                 text);
}

/* Pushes the key of the member; false: it is none. */
static bool push_key (lua_State *L, int table, const char *name, size_t n, mt_err *err) {
  if (n < SUFFIX || memcmp(name + n - SUFFIX, suffix, SUFFIX) != 0) {
    lmt_set(err, MT_EFORMAT, "it is no .npy file");
    return false;
  }
  lua_pushlstring(L, name, n - SUFFIX);
  lua_pushvalue(L, -1);
  bool fresh = lua_rawget(L, table) == LUA_TNIL;
  lua_pop(L, 1);
  if (!fresh) lmt_set(err, MT_EFORMAT, "its name is there twice");
  return fresh;
}

mt_status lmt_loadnpz (lua_State *L, int device, const mt_dtype *as, FILE *f, char *piece,
                       mt_err *err) {
  archive z = {.f = f};
  mt_status s = open_archive(L, &z, err);
  if (s != MT_OK) return s;
  size_t n = (size_t)z.zip.members;
  lua_createtable(L, 0, n < 4096 ? (int)n : 4096);
  int table = lua_gettop(L);
  for (size_t i = 0; i < n; i++) {
    const mt_archive_member *x = &z.member[i];
    const char *name = z.directory + x->name;
    uint64_t end = i + 1 < n ? z.member[i + 1].at : z.zip.directory;
    if (!push_key(L, table, name, x->name_bytes, err) ||
        load_member(L, device, as, &z, x, end, piece, err))
      return blame(err, name, x->name_bytes);
    lua_rawset(L, table);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- save */

typedef struct writing {
  lmt_file *box;
  FILE *f;
  lmt_zlib *zlib; /* NULL: stored */
  mt_crc *crc;
  char *output; /* INPUT bytes */
  uint64_t at;  /* where the file is */
  mt_archive_member x;
} writing;

static mt_status put (writing *w, const void *p, size_t n, mt_err *err) {
  w->at += n;
  return lmt_write(w->box, p, n, err);
}

/* last: nothing follows. */
static mt_status deflate (writing *w, const void *p, size_t n, bool last, mt_err *err) {
  bool done = false;
  mt_status s = MT_OK;
  for (size_t got = INPUT; s == MT_OK && (n > 0 || got == INPUT || (last && !done));) {
    got = INPUT;
    s = lmt_deflate(w->zlib, w->output, &got, &p, &n, last, &done, err);
    if (s == MT_OK) s = put(w, w->output, got, err);
  }
  return s;
}

static mt_status write_member (void *ud, const void *p, size_t n, mt_err *err) {
  writing *w = ud;
  w->x.bytes += n;
  w->x.crc = mt_crc_add(w->crc, w->x.crc, p, n);
  return w->zlib ? deflate(w, p, n, false, err) : put(w, p, n, err);
}

/* The header of the member, or again what is known by now. */
static mt_status put_local (writing *w, const lmt_saved *s, bool wide, mt_err *err) {
  char head[MT_ARCHIVE_LOCAL], more[20];
  mt_status t = put(w, head, mt_archive_write_local(head, &w->x, wide), err);
  if (t == MT_OK) t = put(w, s->name, s->n, err);
  if (t == MT_OK) t = put(w, suffix, SUFFIX, err);
  return t == MT_OK ? put(w, more, mt_archive_write_wide(more, &w->x, wide), err) : t;
}

static mt_status patch_local (writing *w, bool wide, mt_err *err) {
  char head[MT_ARCHIVE_LOCAL], more[20];
  size_t n = mt_archive_write_local(head, &w->x, wide),
         m = mt_archive_write_wide(more, &w->x, wide);
  long behind = (long)(w->x.at + n + w->x.name_bytes);
  errno = 0;
  if (fseek(w->f, (long)w->x.at, SEEK_SET) || fwrite(head, 1, n, w->f) != n ||
      fseek(w->f, behind, SEEK_SET) || fwrite(more, 1, m, w->f) != m ||
      fseek(w->f, (long)w->at, SEEK_SET))
    return io_error(err, "cannot be written");
  return MT_OK;
}

static bool is_ascii (const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)s[i] >= 128) return false;
  return true;
}

/* The name and the header of the array; *wide: its sizes may need 64 bits. */
static mt_status begin_write (lua_State *L, writing *w, const lmt_saved *s, bool *wide,
                              mt_err *err) {
  char head[MT_NPY_HEADER_MAX];
  size_t n;
  mt_layout shape;
  lua_rawgeti(L, 3, 2 * s->i + 2);
  const lmt_tensor *t = lmt_totensor(L, -1);
  lmt_extents(&shape, t->layout);
  uint64_t bytes = (uint64_t)mt_size(t->layout) * s->size;
  mt_dtype dtype = t->dtype;
  lua_pop(L, 1);
  w->x = (mt_archive_member){.at = w->at, .name_bytes = s->n + SUFFIX};
  w->x.method = w->zlib ? MT_ARCHIVE_DEFLATED : MT_ARCHIVE_STORED;
  w->x.flags = is_ascii(s->name, s->n) ? 0 : UTF8;
  *wide = bytes >= 0xf0000000u;
  mt_status r = mt_npy_write_header(head, &n, dtype, shape.node, false, err);
  if (r == MT_OK && w->zlib) r = lmt_deflate_begin(w->zlib, err);
  if (r == MT_OK) r = put_local(w, s, *wide, err);
  return r == MT_OK ? write_member(w, head, n, err) : r;
}

/* As lmt_writesaved. */
static int write_array (lua_State *L, writing *w, const lmt_saved *s, char *piece,
                        mt_err *err) {
  bool wide;
  if (begin_write(L, w, s, &wide, err)) return 0;
  uint64_t begin = w->x.at + MT_ARCHIVE_LOCAL + w->x.name_bytes + (wide ? 20 : 0);
  int wrong = lmt_writesaved(L, (lmt_sink){write_member, w}, s, piece, err);
  if (wrong >= 0) return wrong;
  if (w->zlib && deflate(w, NULL, 0, true, err)) return 0;
  w->x.packed = w->at - begin;
  return patch_local(w, wide, err) == MT_OK ? -1 : 0;
}

static mt_status write_directory (writing *w, const lmt_saved *s, mt_archive_member *x,
                                  int n, mt_err *err) {
  char head[MT_ARCHIVE_HEADER], end[MT_ARCHIVE_END];
  mt_archive zip = {.directory = w->at, .members = (uint64_t)n};
  mt_status r = MT_OK;
  for (int i = 0; r == MT_OK && i < n; i++) {
    r = put(w, head, mt_archive_write_header(head, &x[i]), err);
    if (r == MT_OK) r = put(w, s[i].name, s[i].n, err);
    if (r == MT_OK) r = put(w, suffix, SUFFIX, err);
    if (r == MT_OK) r = put(w, head, mt_archive_write_extra(head, &x[i]), err);
  }
  zip.bytes = w->at - zip.directory;
  return r == MT_OK ? put(w, end, mt_archive_write_end(end, &zip), err) : r;
}

static void check_names (lua_State *L, const lmt_saved *x, int n) {
  for (int i = 0; i < n; i++) {
    if (x[i].n > 65535 - SUFFIX) luaL_error(L, "save: tensors: a name is too long");
    for (size_t j = 0; j < x[i].n; j++)
      if ((unsigned char)x[i].name[j] < 32 || x[i].name[j] == 127)
        luaL_error(L,
                   "save: tensors: a name has the character %d, which a .npz file "
                   "cannot have",
                   x[i].name[j]);
  }
}

int lmt_writenpz (lua_State *L, FILE *f, lmt_file *box, const lmt_saved *x, int n,
                  bool compress, char *piece, mt_err *err) {
  int wrong = -1;
  writing w = {.box = box, .f = f};
  check_names(L, x, n);
  w.crc = lua_newuserdatauv(L, sizeof *w.crc, 0);
  w.output = lua_newuserdatauv(L, INPUT, 0);
  mt_archive_member *member = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *member, 0);
  mt_crc_make(w.crc);
  if (compress && (w.zlib = lmt_openzlib(L, err)) == NULL) return 0;
  for (int i = 0; wrong < 0 && i < n; i++) {
    wrong = write_array(L, &w, &x[i], piece, err);
    member[i] = w.x;
  }
  if (wrong < 0) write_directory(&w, x, member, n, err);
  return wrong;
}
