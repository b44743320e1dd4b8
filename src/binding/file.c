/*
** file.c - the one door to files: regular ones, where the host permits them.
** SPDX-License-Identifier: MIT
**
** What is replaced is written beside, under a name of its own, and renamed when it is
** complete: who reads the file sees the old one or the new one, and a failure leaves the
** old one. The new one has the permissions of the old one; another name of the old one (a
** hard link) keeps the old data. It is not flushed to the disk.
**
** Below a root each folder of a path is opened by itself, from the one before, and no
** symbolic link is followed: nothing that happens to the tree meanwhile leads outside.
** Hard links and mounts inside the root are the host's concern.
*/
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "binding/lmt.h"
#include "binding/host.h"

/* A file that is written counts as a block at least. */
enum { BLOCK = 4096, TEMPORARY = 32, LONGEST = 4096, LONGEST_NAME = 255 };

/* A file that is open. Names are relative to `dir`. */
typedef struct opened {
  FILE *f;         /* NULL: not open */
  int dir;         /* its folder; AT_FDCWD: nothing that has to be closed */
  size_t size;     /* of this block */
  bool unfinished; /* `temporary` exists */
  const char *temporary, *name;
  char text[];
} opened;

/* ---------------------------------------------------------------- errors */

static mt_status io_error (mt_err *err, const char *otherwise) {
  return lmt_set(err, MT_EIO, "%s", errno ? strerror(errno) : otherwise);
}

static mt_status denied (mt_err *err, const char *why) {
  return lmt_set(err, MT_EDENIED, "%s", why);
}

static mt_status want_regular (const struct stat *st, mt_err *err) {
  const char *is = S_ISFIFO(st->st_mode) ? "a FIFO" :
                   S_ISSOCK(st->st_mode) ? "a socket" :
                   S_ISLNK(st->st_mode)  ? "a symbolic link" :
                                           "a device";
  if (S_ISREG(st->st_mode)) return MT_OK;
  if (S_ISDIR(st->st_mode)) return errno = EISDIR, io_error(err, NULL);
  return lmt_set(err, MT_EIO, "%s: only regular files are read and written", is);
}

/* ---------------------------------------------------------------- closing */

static int close_stream (opened *o) {
  FILE *f = o->f;
  o->f = NULL;
  return f ? fclose(f) : 0;
}

static void close_opened (lmt_resource *r) {
  opened *o = r->p;
  const mt_device_options *options = &r->state->options;
  close_stream(o);
  if (o->unfinished) unlinkat(o->dir, o->temporary, 0);
  if (o->dir != AT_FDCWD) close(o->dir);
  options->alloc(options->alloc_ud, o, o->size, 0);
}

void lmt_abandon (lmt_file *box) {
  if (box->r) lmt_release(box->r->state, &box->r);
}

static int file_gc (lua_State *L) {
  lmt_abandon(luaL_checkudata(L, 1, LMT_FILE));
  return 0;
}

mt_status lmt_finish (lmt_file *box, mt_err *err) {
  opened *o = box->r->p;
  mt_status s = MT_OK;
  errno = 0;
  if (close_stream(o)) s = io_error(err, "cannot be written");
  if (s == MT_OK && o->unfinished) {
    if (renameat(o->dir, o->temporary, o->dir, o->name)) s = io_error(err, NULL);
    else o->unfinished = false;
  }
  lmt_abandon(box);
  return s;
}

/* ---------------------------------------------------------------- where */

/* The next name of a path, of at most LONGEST_NAME bytes; *rest goes on behind it. */
static mt_status next_name (char *name, const char **rest, mt_err *err) {
  const char *at = *rest + strspn(*rest, "/");
  size_t n = strcspn(at, "/");
  if (n > LONGEST_NAME) return errno = ENAMETOOLONG, io_error(err, NULL);
  memcpy(name, at, n);
  name[n] = '\0';
  *rest = at + n + strspn(at + n, "/");
  if (strcmp(name, "..") == 0)
    return denied(err, "\"..\" in a path: the host permits files below its root only");
  return MT_OK;
}

/* Opens the folder of the last name of `path`, which it leaves in `name`. */
static mt_status enter (int *dir, char *name, int root, const char *path, mt_err *err) {
  *dir = root;
  if (*path == '/')
    return denied(err, "an absolute path: the host permits files below its root only");
  for (;;) {
    mt_status s = next_name(name, &path, err);
    if (s == MT_OK && *path == '\0') return MT_OK;
    int inner = s == MT_OK ?
                    openat(*dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) :
                    -1;
    if (s == MT_OK && inner < 0) s = io_error(err, NULL);
    if (*dir != root) close(*dir);
    *dir = inner;
    if (s != MT_OK) return s;
  }
}

/* Lets `o` have the folder and the name; `text` is room for LONGEST bytes. */
static mt_status below_root (opened *o, const lmt_state *state, const char *path,
                             char *text, mt_err *err) {
  int dir;
  mt_status s = enter(&dir, text, state->root, path, err);
  if (s == MT_OK && dir == state->root && (dir = dup(dir)) < 0) s = io_error(err, NULL);
  o->dir = s == MT_OK ? dir : AT_FDCWD;
  return s;
}

/* Anywhere: links are followed, so that what they lead to is replaced, not they. */
static mt_status anywhere (const char *path, bool replace, char *text, mt_err *err) {
  struct stat st;
  char *real = NULL;
  if (replace && lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
    real = realpath(path, NULL);
    if (real == NULL) return io_error(err, NULL);
    path = real;
  }
  bool fits = strlen(path) < LONGEST;
  if (fits) strcpy(text, path);
  free(real);
  if (!fits) errno = ENAMETOOLONG;
  return fits ? MT_OK : io_error(err, NULL);
}

static mt_status locate (opened *o, const lmt_state *state, const char *path,
                         bool replace, mt_err *err) {
  o->name = o->text;
  if (state->config.files == MT_LUA_NOFILES)
    return denied(err, "the host permits no files");
  return state->config.files == MT_LUA_ROOTFILES ?
             below_root(o, state, path, o->text, err) :
             anywhere(path, replace, o->text, err);
}

/* ---------------------------------------------------------------- opening */

static mt_status open_stream (opened *o, const char *name, int flags, mode_t mode,
                              const char *how, mt_err *err) {
  struct stat st;
  int fd = openat(o->dir, name, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
  if (fd < 0) return io_error(err, NULL);
  mt_status s = fstat(fd, &st) ? io_error(err, NULL) : want_regular(&st, err);
  if (s == MT_OK && (o->f = fdopen(fd, how)) == NULL) s = io_error(err, "out of memory");
  if (s != MT_OK) close(fd);
  return s;
}

/* What is no regular file is not even opened. */
static mt_status want_openable (const opened *o, int follow, bool *there, mt_err *err) {
  struct stat st;
  *there = fstatat(o->dir, o->name, &st, follow) == 0;
  if (!*there) return errno == ENOENT ? MT_OK : io_error(err, NULL);
  return want_regular(&st, err);
}

/* A name that nobody else has. */
static void name_temporary (opened *o, char *out) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  const char *slash = strrchr(o->name, '/');
  size_t n = slash ? (size_t)(slash - o->name) + 1 : 0;
  memcpy(out, o->name, n);
  snprintf(out + n, TEMPORARY, ".moontile-%lx-%lx", (long)getpid(),
           (long)(t.tv_sec * 1000000000 + t.tv_nsec));
  o->temporary = out;
}

/* Opens what will take the place of the file. */
static mt_status open_beside (opened *o, char *room, bool there, mt_err *err) {
  struct stat st;
  if (there && (faccessat(o->dir, o->name, W_OK, AT_EACCESS) ||
                fstatat(o->dir, o->name, &st, AT_SYMLINK_NOFOLLOW)))
    return io_error(err, NULL);
  name_temporary(o, room);
  mt_status s = open_stream(o, o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                            there ? 0600 : 0666, "wb", err);
  if (s != MT_OK) return s;
  o->unfinished = true;
  if (there && fchmod(fileno(o->f), st.st_mode & 0777)) return io_error(err, NULL);
  return MT_OK;
}

static mt_status open_file (opened *o, const lmt_state *state, const char *path,
                            lmt_access access, mt_err *err) {
  bool rooted = state->config.files == MT_LUA_ROOTFILES, there;
  int link = rooted ? O_NOFOLLOW : 0;
  int follow = rooted || access == LMT_REPLACE ? AT_SYMLINK_NOFOLLOW : 0;
  mt_status s = locate(o, state, path, access == LMT_REPLACE, err);
  if (s == MT_OK) s = want_openable(o, follow, &there, err);
  if (s != MT_OK || (access == LMT_IFTHERE && !there)) return s;
  if (access == LMT_REPLACE) return open_beside(o, o->text + LONGEST, there, err);
  if (access == LMT_UPDATE) return open_stream(o, o->name, O_RDWR | link, 0, "r+b", err);
  return access == LMT_APPEND ?
             open_stream(o, o->name, O_WRONLY | O_APPEND | O_CREAT | link, 0666, "ab",
                         err) :
             open_stream(o, o->name, O_RDONLY | link, 0, "rb", err);
}

mt_status lmt_permitwritten (lmt_state *state, size_t n, mt_err *err) {
  if (n > state->config.written - state->written)
    return lmt_set(err, MT_ELIMIT,
                   "scripts have written %zu bytes of the %zu that the "
                   "host permits",
                   state->written, state->config.written);
  state->written += n;
  return MT_OK;
}

/* Room for a file; NULL: no memory. */
static opened *new_opened (const lmt_state *state) {
  size_t size = sizeof(opened) + 2 * LONGEST + TEMPORARY;
  opened *o = state->options.alloc(state->options.alloc_ud, NULL, 0, size);
  if (o) *o = (opened){.dir = AT_FDCWD, .size = size};
  return o;
}

FILE *lmt_openfile (lua_State *L, const char *path, lmt_access access, lmt_file **out,
                    mt_err *err) {
  lmt_state *state = lmt_pushstate(L);
  lua_pop(L, 1);
  lmt_file *box = *out = lua_newuserdatauv(L, sizeof *box, 0);
  box->r = NULL;
  luaL_setmetatable(L, LMT_FILE);
  lua_toclose(L, -1); /* an error too abandons it */
  box->r = lmt_reserve(L, close_opened, NULL);
  opened *o = box->r ? new_opened(state) : NULL;
  errno = ENOMEM;
  if (o == NULL) return io_error(err, NULL), NULL;
  box->r->p = o;
  errno = 0;
  bool writes = access == LMT_REPLACE || access == LMT_APPEND;
  mt_status s = writes ? lmt_permitwritten(state, BLOCK, err) : MT_OK;
  if (s == MT_OK && open_file(o, state, path, access, err) == MT_OK) return o->f;
  lmt_abandon(box);
  return NULL;
}

/* ---------------------------------------------------------------- what they are for */

const char *lmt_checkpath (lua_State *L, int i) {
  size_t n;
  const char *path = luaL_checklstring(L, i, &n);
  luaL_argcheck(L, strlen(path) == n, i, "the path has a zero byte in it");
  return path;
}

int lmt_failfile (lua_State *L, const char *path, mt_err *err) {
  int n = lmt_fail(L, err);
  lua_pushfstring(L, "%s: %s", path, lua_tostring(L, -2));
  lua_replace(L, -3);
  return n;
}

mt_status lmt_write (lmt_file *box, const void *data, size_t n, mt_err *err) {
  opened *o = box->r->p;
  mt_status s = lmt_permitwritten(box->r->state, n, err);
  if (s != MT_OK) return s;
  errno = 0;
  return fwrite(data, 1, n, o->f) == n ? MT_OK : io_error(err, "cannot be written");
}

void lmt_open_file (lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", file_gc}, {"__close", file_gc}, {NULL, NULL}};
  lmt_setmeta(L, LMT_FILE, meta);
}
