/*
** tuning.c - what was measured, in files.
** SPDX-License-Identifier: MIT
**
** A line: 16 digits, the device's name, the kernel, the bytes of an access; between them
** tabulators. A line that is none costs itself alone.
*/
#include <errno.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/lmt.h"
#include "binding/plan.h"
#include "binding/host.h"

enum {
  MOST_BYTES = 4 << 20,
  MOST_LINES = 1 << 16, /* of a file */
  MOST_VECTOR = 1024    /* bytes of an access */
};

/* ---------------------------------------------------------------- lines */

/* Parts of a line: not ended, but for their lengths. */
typedef struct line {
  const char *key, *kernel;
  size_t key_size, kernel_size;
  int vector;
} line;

static const char hex[] = "0123456789abcdefABCDEF", digits[] = "0123456789";
static const char word[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* How many of the n bytes at p are of the set. */
static size_t span (const char *p, size_t n, const char *set) {
  size_t i = 0;
  while (i < n && p[i] && strchr(set, p[i])) i++;
  return i;
}

/* Bytes before the next tabulator; 0: there is none. */
static size_t field (const char *p, size_t n) {
  const char *tab = memchr(p, '\t', n);
  return tab ? (size_t)(tab - p) : 0;
}

static bool read_vector (int *out, const char *p, size_t n) {
  *out = 0;
  if (n == 0 || n > 4 || span(p, n, digits) != n) return false;
  for (size_t i = 0; i < n; i++) *out = 10 * *out + (p[i] - '0');
  return *out >= 1 && *out <= MOST_VECTOR;
}

static bool read_line (line *out, const char *p, size_t n) {
  size_t number = field(p, n);
  if (number == 0 || number > 16 || span(p, number, hex) != number) return false;
  size_t name = field(p + number + 1, n - number - 1);
  size_t key = number + 1 + name;
  if (name == 0 || key >= MT_KEY_SIZE) return false;
  size_t kernel = field(p + key + 1, n - key - 1), all = key + 1 + kernel + 1;
  if (kernel == 0 || kernel > 63) return false;
  if (span(p + key + 1, kernel, word) != kernel) return false;
  *out = (line){.key = p, .key_size = key, .kernel = p + key + 1, .kernel_size = kernel};
  return read_vector(&out->vector, p + all, n - all);
}

/* What a text says: its lines that are some, and those that are broken; empty ones are
** neither. */
typedef struct said {
  int lines, broken;
} said;
typedef void each_line (lua_State *L, const line *x, void *arg);

static said for_lines (lua_State *L, const char *text, size_t n, each_line *f,
                       void *arg) {
  said s = {0, 0};
  if (n == 0) return s; /* without a file there is no text */
  for (const char *end = text + n; text < end;) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    line x;
    if (stop == NULL) stop = end;
    size_t size = (size_t)(stop - text);
    if (read_line(&x, text, size)) s.lines++, f(L, &x, arg);
    else s.broken += span(text, size, " \t\r") < size;
    text = stop + 1;
  }
  return s;
}

/* ---------------------------------------------------------------- files */

/* Pushes the text of a file that is open, of *n bytes. NULL: err, nothing pushed. */
static const char *read_text (lua_State *L, FILE *f, size_t *n, mt_err *err) {
  size_t lines = 0;
  long size = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
  if (size < 0 || fseek(f, 0, SEEK_SET))
    return lmt_set(err, MT_EIO, "%s", strerror(errno)), NULL;
  size_t most = (size_t)(size < MOST_BYTES ? size : MOST_BYTES);
  char *text = lua_newuserdatauv(L, most + 1, 0);
  *n = fread(text, 1, (size_t)(size < MOST_BYTES ? size : MOST_BYTES), f);
  for (size_t i = 0; i < *n; i++) lines += text[i] == '\n';
  if (ferror(f)) lmt_set(err, MT_EIO, "%s", strerror(errno));
  else if (size > MOST_BYTES || lines > MOST_LINES)
    lmt_set(err, MT_EFORMAT, "more than %d bytes or %d lines are no file of tuning",
            MOST_BYTES, MOST_LINES);
  if (err->status == MT_OK) return text;
  lua_pop(L, 1);
  return NULL;
}

/* The same of a path: the file is closed. NULL without an error: there is no file, and
** `access` minds that not. */
static const char *read_path (lua_State *L, const char *path, lmt_access access,
                              size_t *n, mt_err *err) {
  lmt_file *box;
  FILE *f = lmt_openfile(L, path, access, &box, err);
  const char *text = f ? read_text(L, f, n, err) : NULL;
  lmt_abandon(box);
  return text;
}

/* ---------------------------------------------------------------- functions */

/* The table of what was measured is at the index `arg`. */
static void remember (lua_State *L, const line *x, void *arg) {
  lua_pushlstring(L, x->key, x->key_size);
  lua_createtable(L, 0, 2);
  lua_pushlstring(L, x->kernel, x->kernel_size);
  lua_setfield(L, -2, "kernel");
  lua_pushinteger(L, x->vector);
  lua_setfield(L, -2, "vector");
  lua_rawset(L, *(int *)arg);
}

static int load (lua_State *L, lmt_access access) {
  size_t n = 0;
  LMT_NOERR(err);
  const char *path = lmt_checkpath(L, 1), *text = read_path(L, path, access, &n, &err);
  if (err.status != MT_OK) return lmt_failfile(L, path, &err);
  lmt_pushtuned(L);
  int memory = lua_gettop(L);
  said s = for_lines(L, text, n, remember, &memory);
  lmt_retuned(L);
  lua_pushinteger(L, s.lines);
  lua_pushinteger(L, s.broken);
  return 2;
}

/* load_tuning(path) -> how many lines were read, how many are broken | nil, message,
** code; later plans take what they say, of a key the last one. */
static int l_load_tuning (lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING)
    return luaL_error(L, "load_tuning: the name of a file expected, got %s",
                      lmt_kindname(L, 1));
  return load(L, LMT_READ);
}

/* recall_tuning(path): the same of a file that need not be there. */
static int l_recall_tuning (lua_State *L) { return load(L, LMT_IFTHERE); }

/* The last kernel and vector that are said of a key. */
typedef struct answer {
  const char *key;
  line found;
} answer;

static void answer_line (lua_State *L, const line *x, void *arg) {
  answer *a = arg;
  (void)L;
  if (strlen(a->key) == x->key_size && memcmp(a->key, x->key, x->key_size) == 0)
    a->found = *x;
}

/* append_tuning(path, key, kernel, vector) -> true | nil, message, code. Nothing is
** written that the file says already. A last line without an end gets one. */
static int l_append_tuning (lua_State *L) {
  LMT_NOERR(err);
  size_t n = 0;
  lmt_file *box;
  const char *path = lmt_checkpath(L, 1), *kernel = luaL_checkstring(L, 3);
  answer a = {.key = luaL_checkstring(L, 2), .found = {.vector = 0}};
  int vector = (int)luaL_checkinteger(L, 4);
  const char *text = read_path(L, path, LMT_IFTHERE, &n, &err);
  if (err.status != MT_OK) return lmt_failfile(L, path, &err);
  for_lines(L, text, n, answer_line, &a);
  if (a.found.vector == vector && strlen(kernel) == a.found.kernel_size &&
      memcmp(kernel, a.found.kernel, a.found.kernel_size) == 0)
    return lua_pushboolean(L, 1), 1;
  bool cut = n > 0 && text[n - 1] != '\n';
  const char *more =
      lua_pushfstring(L, "%s%s\t%s\t%d\n", cut ? "\n" : "", a.key, kernel, vector);
  lmt_openfile(L, path, LMT_APPEND, &box, &err);
  if (err.status == MT_OK) lmt_write(box, more, strlen(more), &err);
  if (err.status == MT_OK) lmt_finish(box, &err);
  lmt_abandon(box);
  if (err.status != MT_OK) return lmt_failfile(L, path, &err);
  lua_pushboolean(L, 1);
  return 1;
}

#define ROWS_TUNING
#include "binding/rows.h"

void lmt_open_tuning (lua_State *L) { lmt_addrows(L, rows); }
