/*
** config.c - what the host permits to the scripts of a state.
** SPDX-License-Identifier: MIT
*/
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "binding/lmt.h"
#include "binding/host.h"
#include "plan/stage.h"

enum { MOST_THREADS = 4096 }; /* of all devices of a state, if nothing is said */

static const char *const only_cpu[] = {"cpu", NULL};
static const char *const any_device[] = {"*", NULL};

void lmt_unrestricted (mt_lua_config *config) {
  *config = (mt_lua_config){.size = sizeof *config,
                            .files = MT_LUA_ANYFILES,
                            .libraries = true,
                            .devices = any_device,
                            .threads = MOST_THREADS,
                            .bytes = SIZE_MAX,
                            .written = SIZE_MAX,
                            .work = UINT64_MAX,
                            .launches = UINT64_MAX};
}

/* ---------------------------------------------------------------- reading */

/* A host may know fewer fields than this library; of more of them none may be set. */
static mt_lua_config take (lua_State *L, const mt_lua_config *from) {
  mt_lua_config c;
  memset(&c, 0, sizeof c);
  if (from->size < offsetof(mt_lua_config, root))
    luaL_error(L, "mt_lua_configure: size: sizeof(mt_lua_config) expected");
  for (size_t i = sizeof c; i < from->size; i++)
    if (((const char *)from)[i] != 0)
      luaL_error(L, "mt_lua_configure: this library does not know all that is set");
  memcpy(&c, from, from->size < sizeof c ? from->size : sizeof c);
  return c;
}

static void check (lua_State *L, const mt_lua_config *c) {
  if (c->files < MT_LUA_NOFILES || c->files > MT_LUA_ANYFILES)
    luaL_error(L, "mt_lua_configure: files: %d is none of mt_lua_files", (int)c->files);
  if ((c->files == MT_LUA_ROOTFILES) != (c->root != NULL))
    luaL_error(L, "mt_lua_configure: root: a folder, with MT_LUA_ROOTFILES only");
  if (c->threads < 0) luaL_error(L, "mt_lua_configure: threads: %d", c->threads);
}

static void set_defaults (mt_lua_config *c) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  if (c->devices == NULL) c->devices = only_cpu;
  if (c->threads == 0) c->threads = n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
  if (c->bytes == 0) c->bytes = MT_LUA_BYTES;
  if (c->written == 0) c->written = MT_LUA_BYTES;
  if (c->work == 0) c->work = MT_LUA_WORK;
  if (c->launches == 0) c->launches = UINT64_MAX;
}

static int open_root (lua_State *L, const char *root) {
  if (root == NULL) return -1;
  int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) luaL_error(L, "mt_lua_configure: root: %s: %s", root, strerror(errno));
  return dir;
}

/* Puts a copy of the text into the table on the top, which keeps it. */
static const char *keep (lua_State *L, const char *text) {
  if (text == NULL) return NULL;
  text = lua_pushstring(L, text);
  luaL_ref(L, -2);
  return text;
}

static void keep_texts (lua_State *L, mt_lua_config *c) {
  int n = 0;
  while (c->devices[n]) n++;
  const char **names = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *names, 0);
  luaL_ref(L, -2);
  for (int i = 0; i < n; i++) names[i] = keep(L, c->devices[i]);
  names[n] = NULL;
  c->devices = names;
  c->root = keep(L, c->root);
}

/* ---------------------------------------------------------------- devices */

static bool same_device (const char *a, const char *b) {
  if (strcmp(a, "cuda") == 0) a = "cuda:0";
  if (strcmp(b, "cuda") == 0) b = "cuda:0";
  return strcmp(a, b) == 0;
}

static mt_status refuse_device (const char *name, const char *const *permitted,
                                mt_err *err) {
  size_t n;
  lmt_set(err, MT_EDENIED,
          "the host does not permit the device \"%.64s\"; it permits:", name);
  for (; *permitted; permitted++)
    if ((n = strlen(err->text)) < sizeof err->text)
      snprintf(err->text + n, sizeof err->text - n, " %.64s", *permitted);
  return err->status;
}

mt_status lmt_permit (const lmt_state *s, const char **name, const mt_device_options *o,
                      mt_err *err) {
  const char *const *d = s->config.devices;
  if (!s->config.libraries && (o->libcuda || (o->libblas && *o->libblas)))
    return lmt_set(err, MT_EDENIED, "device: %s: the host permits no libraries by name",
                   o->libcuda ? "libcuda" : "libblas");
  if (*d && strcmp(*d, "*") == 0) return MT_OK;
  if (*name == NULL) *name = *d ? *d : "";
  while (*d && !same_device(*d, *name)) d++;
  return *d ? MT_OK : refuse_device(*name, s->config.devices, err);
}

/* Of a GPU at most half of what is left goes to copies: by smaller pieces, if they are
** still worth it. */
static void bound_piece (const lmt_state *s, mt_device_options *o) {
  const size_t most = lmt_bytesleft(s) / 2 / MT_STAGE_KEPT;
  if (o->piece == 0 && most < MT_STAGE_PIECE && most >= MT_STAGE_LEAST)
    o->piece = most & -(size_t)4096;
}

/* A library of products has threads of its own, and no one stops it. */
void lmt_bound (const lmt_state *s, mt_device_options *o) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  int left = s->config.threads - s->threads;
  if (!s->config.libraries && o->libblas == NULL) o->libblas = "";
  if (o->threads == 0 && left < online) o->threads = left < 1 ? 1 : left;
  bound_piece(s, o);
}

mt_status lmt_admit (lmt_state *s, const mt_device *d, mt_err *err) {
  int more = mt_device_threads(d) - 1, left = s->config.threads - 1 - s->threads;
  size_t staging = mt_device_staging(d);
  if (more > left)
    return lmt_set(err, MT_ELIMIT,
                   "device: %d threads: the host permits %d in all, of "
                   "which %d are left",
                   more + 1, s->config.threads, left + 1);
  mt_status status = lmt_permitbytes(s, staging, err);
  if (status != MT_OK) return status;
  s->threads += more;
  s->staging += staging;
  return MT_OK;
}

void lmt_dismiss (lmt_state *s, const mt_device *d) {
  s->threads -= mt_device_threads(d) - 1;
  s->staging -= mt_device_staging(d);
}

/* ---------------------------------------------------------------- bytes, work */

size_t lmt_bytesleft (const lmt_state *s) {
  const size_t unstaged = s->config.bytes - s->staging;
  return s->held < unstaged ? unstaged - s->held : 0;
}

mt_status lmt_permitbytes (const lmt_state *s, size_t bytes, mt_err *err) {
  const size_t left = lmt_bytesleft(s);
  if (bytes <= left) return MT_OK;
  return lmt_set(err, MT_ELIMIT,
                 "%zu bytes: the host permits %zu in all, of which %zu "
                 "are left",
                 bytes, s->config.bytes, left);
}

uint64_t lmt_times (uint64_t a, uint64_t b) {
  uint64_t n;
  return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

uint64_t lmt_plus (uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void lmt_checkwork (lua_State *L, const char *what, uint64_t n) {
  uint64_t most = lmt_pushstate(L)->config.work;
  lua_pop(L, 1);
  if (n <= most) return;
  char text[160];
  snprintf(text, sizeof text,
           "%s: the work of %llu elements: the host permits %llu in a "
           "call",
           what, (unsigned long long)n, (unsigned long long)most);
  luaL_error(L, "%s", text);
}

mt_status lmt_refuselaunches (const lmt_state *s, mt_err *err) {
  return lmt_set(err, MT_ELIMIT,
                 "launch: the host permits %llu in all, of which %llu are left",
                 (unsigned long long)s->config.launches,
                 (unsigned long long)(s->config.launches - s->launches));
}

/* ---------------------------------------------------------------- configuring */

MT_API void mt_lua_configure (lua_State *L, const mt_lua_config *config) {
  mt_lua_config c = take(L, config);
  lmt_state *s = lmt_needstate(L);
  if (s->opened || lua_getiuservalue(L, -1, LMT_CONFIG) != LUA_TNIL)
    luaL_error(L, "mt_lua_configure: once, before the library is opened");
  check(L, &c);
  set_defaults(&c);
  lua_newtable(L);
  keep_texts(L, &c);
  s->root = open_root(L, c.root);
  lua_setiuservalue(L, -3, LMT_CONFIG);
  s->config = c;
  lua_pop(L, 2);
}
