/*
** sweep.c - runs each part of a script with an allocator that fails from the n-th
** allocation on, for every n.
** SPDX-License-Identifier: MIT
**
** usage: sweep SCRIPT FILE [LIBCUDA]. The script gets the number of a part, FILE, LIBCUDA
** and a function that counts allocations; it returns the number of parts. Part 0 is what
** all parts begin with: the others start where it ended. Every run ends in an error or in
** success. Then the same state has memory again and runs the whole part once more, rightly:
** after one failure of five, or as many as MOONTILE_AGAIN in the environment says, of which
** 1 is all.
** It gives all memory back and leaves no file open. The first run that succeeds without a
** failure is the last of its part.
*/
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "moontile/lua.h"
#include "binding/versions.h"

enum { PLENTY = 1000000000 }; /* allocations */

typedef struct heap {
  long left;  /* allocations that may still succeed */
  long asked; /* how many were asked for */
  long blocks;
  size_t bytes;
  int failed;
} heap;

static void *allocate (void *ud, void *p, size_t osize, size_t nsize) {
  heap *h = ud;
  if (p == NULL) osize = 0;
  if (nsize == 0) {
    if (p) h->blocks--, h->bytes -= osize;
    free(p);
    return NULL;
  }
  h->asked += nsize > osize;
  if (nsize > osize && h->left-- <= 0) {
    h->left = 0;
    h->failed = 1;
    return NULL;
  }
  void *q = realloc(p, nsize);
  if (q == NULL) return nsize <= osize ? p : NULL;
  h->bytes += nsize - osize;
  if (p == NULL) h->blocks++;
  return q;
}

static const char *const *arguments;
static long part, parts, every = 5;

/* allocations() -> how many were asked for so far */
static int allocations (lua_State *L) {
  void *h;
  lua_getallocf(L, &h);
  lua_pushinteger(L, ((heap *)h)->asked);
  return 1;
}

/* The script, compiled once: that Lua compiles it is not what is tried. */
static struct {
  char *p;
  size_t size;
} script;

static int keep (lua_State *L, const void *p, size_t size, void *ud) {
  (void)L, (void)ud;
  script.p = realloc(script.p, script.size + size);
  if (script.p == NULL) return 1;
  memcpy(script.p + script.size, p, size);
  script.size += size;
  return 0;
}

static void compile (const char *name) {
  lua_State *L = luaL_newstate();
  if (L == NULL || luaL_loadfile(L, name) || lua_dump(L, keep, NULL, 0)) {
    fprintf(stderr, "sweep: %s\n", L ? lua_tostring(L, -1) : "no state");
    exit(EXIT_FAILURE);
  }
  lua_close(L);
}

static int run (lua_State *L) {
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_settop(L, 0);
  if (luaL_loadbufferx(L, script.p, script.size, arguments[1], "b")) return lua_error(L);
  lua_pushinteger(L, part);
  lua_pushstring(L, arguments[2]);
  if (arguments[3] && *arguments[3]) lua_pushstring(L, arguments[3]);
  else lua_pushnil(L);
  lua_pushcfunction(L, allocations);
  lua_call(L, 4, 1);
  parts = lua_tointeger(L, -1);
  return 0;
}

static int panicked (lua_State *L) {
  fprintf(stderr, "sweep: panic: %s\n", lua_tostring(L, -1));
  abort();
}

static int open_files (void) {
  int n = 0;
  DIR *d = opendir("/proc/self/fd");
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n;
}

/* The script in a state that it may have used before; the text of its error. */
static int play (lua_State *L, char *text, size_t size) {
  lua_settop(L, 0);
  lua_pushcfunction(L, run);
  int status = lua_pcall(L, 0, 0, 0);
  text[0] = '\0';
  if (status != LUA_OK)
    snprintf(text, size, "%s",
             lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error");
  return status == LUA_OK;
}

typedef struct counts {
  long runs, again, wrong;
} counts;

/* What a state does after a failure. */
static void play_again (lua_State *L, heap *h, long n, counts *c) {
  char text[200];
  h->left = PLENTY;
  c->again++;
  if (play(L, text, sizeof text)) return;
  if (c->wrong++ < 10)
    fprintf(stderr, "sweep: part %ld, n = %ld: used once more: %s\n", part, n, text);
}

/* One run with `n` allocations; returns whether the script came to its end undisturbed. */
static int once (long n, counts *c) {
  heap h = {.left = n};
  int files = open_files(), done = 0;
  char text[200] = "no state";
  lua_State *L = lmt_newstate(allocate, &h);
  if (L) {
    lua_atpanic(L, panicked);
    int ok = play(L, text, sizeof text);
    done = ok && !h.failed;
    if (!ok && !h.failed) {
      fprintf(stderr, "sweep: the script itself fails: %s\n", text);
      exit(EXIT_FAILURE);
    }
    if (h.failed && n % every == 0) play_again(L, &h, n, c);
    lua_close(L);
  }
  if (h.bytes == 0 && h.blocks == 0 && open_files() <= files) return done;
  if (c->wrong++ < 10)
    fprintf(stderr,
            "sweep: part %ld, n = %ld: %zu bytes in %ld blocks lost, %d files "
            "open before, %d after; %s\n",
            part, n, h.bytes, h.blocks, files, open_files(), text);
  return done;
}

int main (int argc, char **argv) {
  counts c = {0, 0, 0};
  long loaded = 0;
  if (argc < 3) return fprintf(stderr, "usage: sweep SCRIPT FILE [LIBCUDA]\n"), 2;
  arguments = (const char *const *)argv;
  const char *often = getenv("MOONTILE_AGAIN");
  if (often && atol(often) > 0) every = atol(often);
  compile(argv[1]);
  for (part = 0; part <= parts; part++) {
    long n = loaded;
    once(PLENTY, &c); /* what stays loaded for good is loaded now */
    for (; !once(n, &c); n++) c.runs++;
    if (part == 0) loaded = n;
  }
  printf("sweep: %ld runs of %ld parts with a failure, %ld states used once more, "
         "%ld wrong\n",
         c.runs, parts, c.again, c.wrong);
  remove(argv[2]);
  free(script.p);
  return c.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
