/*
** files.c - which files the scripts of a host reach.
** SPDX-License-Identifier: MIT
*/
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

/* T: 1000 bytes; try(f, ...) -> what f gives, its code, as text. */
static const char begin[] =
    "T = tile.tensor('u8', tile.layout(1000)):fill(7)\n"
    "plan = tile.plan(T, tile.tensor('u8', tile.layout(1000)))\n"
    "function try(...) local ok, message, code = ...\n"
    "  return ok and 'done' or code .. ': ' .. message end\n"
    "function save(path) return try(T:save(path)) end\n"
    "function load(path) return try(tile.load(path)) end\n"
    "function tuning(path) return try(tile.load_tuning(path)) end\n"
    "function tune(path) return try(tile.tune(plan, { rounds = 1, file = path })) end\n";

static void says (const mt_lua_config *c, const char *code, const char *want) {
  const char *got = run(c, begin, code);
  CHECK(strcmp(got, want) == 0, "%s: wanted \"%s\", got \"%s\"", code, want, got);
}

static void make (const char *dir, const char *command) {
  char text[2048];
  snprintf(text, sizeof text, "cd '%s' && %s", dir, command);
  CHECK(system(text) == 0, "%s", text);
}

/* ---------------------------------------------------------------- none, below a root */

static void test_none (void) {
  mt_lua_config c = {.size = sizeof c};
#define NONE "EDENIED: x: the host permits no files"
  says(&c, "return save 'x'", NONE);
  says(&c, "return load 'x'", NONE);
  says(&c, "return tuning 'x'", NONE);
  says(&c, "return tune 'x'", NONE);
}

#define ABSOLUTE "an absolute path: the host permits files below its root only"
#define DOTS "\"..\" in a path: the host permits files below its root only"

static void test_root (const char *dir) {
  static const char *const rows[][2] =
      {{"return save 'own.npy'", "done"},
       {"return load 'own.npy'", "done"},
       {"return save 'inner/own.npy'", "done"},
       {"return save './inner//own.npy'", "done"},
       {"return load 'inner/own.npy'", "done"},
       {"return tune 'inner/tuning'", "done"},
       {"return tuning 'inner/tuning'", "done"},
       {"return save '/tmp/x'", "EDENIED: /tmp/x: " ABSOLUTE},
       {"return load '/etc/passwd'", "EDENIED: /etc/passwd: " ABSOLUTE},
       {"return tuning '/etc/passwd'", "EDENIED: /etc/passwd: " ABSOLUTE},
       {"return tune '/etc/passwd'", "EDENIED: /etc/passwd: " ABSOLUTE},
       {"return load '../outside/file.npy'", "EDENIED: ../outside/file.npy: " DOTS},
       {"return load 'inner/../../outside/x'", "EDENIED: inner/../../outside/x: " DOTS},
       {"return load 'inner/..'", "EDENIED: inner/..: " DOTS},
       {"return load '..'", "EDENIED: ..: " DOTS},
       {"return save 'link/x.npy'", "EIO: link/x.npy: Not a directory"},
       {"return load 'link/file.npy'", "EIO: link/file.npy: Not a directory"},
       {"return load 'file.npy'",
        "EIO: file.npy: a symbolic link: only regular files are read and written"},
       {"return save 'file.npy'",
        "EIO: file.npy: a symbolic link: only regular files are read and written"},
       {"return tune 'file.npy'",
        "EIO: file.npy: a symbolic link: only regular files are read and written"},
       {"return load 'fifo'",
        "EIO: fifo: a FIFO: only regular files are read and written"},
       {"return load 'inner'", "EIO: inner: Is a directory"},
       {"return load '.'", "EIO: .: Is a directory"},
       {"return load ''", "EIO: : No such file or directory"},
       {"return save ''", "EIO: : No such file or directory"},
       {"return load 'none/x'", "EIO: none/x: No such file or directory"},
       {"return tuning 'none'", "EIO: none: No such file or directory"},
       {"return load(('x'):rep(300)):match '%u+'", "EIO"},
       {"return load(('x/'):rep(5000)):match '%u+'", "EIO"}};
  mt_lua_config c = {.size = sizeof c, .files = MT_LUA_ROOTFILES};
  char root[1024];
  snprintf(root, sizeof root, "%s/root", dir);
  c.root = root;
  make(dir, "rm -rf root outside && mkdir -p root/inner outside && touch outside/file.npy"
            " && ln -s ../outside root/link && ln -s ../outside/file.npy root/file.npy"
            " && mkfifo root/fifo");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    says(&c, rows[i][0], rows[i][1]);
  make(dir, "test $(ls outside | wc -l) = 1 && ! test -s outside/file.npy");
  make(dir, "test $(ls -A root | wc -l) = 5 && test $(ls -A root/inner | wc -l) = 2");
  c.root = "/nonexistent";
  CHECK(strstr(run(&c, "", ""), "root: /nonexistent: No such file") != NULL, "no root");
}

/* ---------------------------------------------------------------- races */

typedef struct swapping {
  const char *dir;
  const volatile int *stop;
} swapping;

/* A folder and a link that leads outside take turns under one name. */
static void *swap (void *arg) {
  swapping *s = arg;
  char name[1024], folder[1024], link[1024];
  snprintf(name, sizeof name, "%s/root/turn", s->dir);
  snprintf(folder, sizeof folder, "%s/root/turn.folder", s->dir);
  snprintf(link, sizeof link, "%s/root/turn.link", s->dir);
  while (!*s->stop) {
    rename(name, folder), rename(link, name);
    rename(name, link), rename(folder, name);
  }
  return NULL;
}

static void test_race (const char *dir) {
  volatile int stop = 0;
  swapping s = {dir, &stop};
  pthread_t thread;
  char root[1024];
  snprintf(root, sizeof root, "%s/root", dir);
  mt_lua_config c = {.size = sizeof c, .files = MT_LUA_ROOTFILES, .root = root};
  make(dir, "mkdir -p root/turn && ln -s ../outside root/turn.link");
  pthread_create(&thread, NULL, swap, &s);
  says(&c, "for i = 1, 1000 do save 'turn/x.npy' end return 'done'", "done");
  stop = 1;
  pthread_join(thread, NULL);
  make(dir, "test $(ls -A outside | wc -l) = 1");
}

/* ---------------------------------------------------------------- full disks, budgets */

static void test_failed_save (const char *dir) {
  char code[2048];
  struct rlimit old, small;
  mt_lua_config c = {.size = sizeof c, .files = MT_LUA_ANYFILES};
  make(dir, "rm -rf full && mkdir full && echo old > full/x.npy");
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 500;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  snprintf(code, sizeof code, "return (save '%s/full/x.npy'):match '[^:]*$'", dir);
  says(&c, code, " File too large");
  setrlimit(RLIMIT_FSIZE, &old);
  make(dir, "test $(cat full/x.npy) = old && test $(ls -A full | wc -l) = 1");
}

static void test_written (const char *dir) {
  char root[1024];
  snprintf(root, sizeof root, "%s/budget", dir);
  mt_lua_config c = {.size = sizeof c,
                     .files = MT_LUA_ROOTFILES,
                     .root = root,
                     .written = 20000};
  make(dir, "rm -rf budget && mkdir budget");
  says(
      &c, "for i = 1, 3 do assert(save(i .. '.npy') == 'done') end return save '4.npy'",
      "ELIMIT: 4.npy: scripts have written 19896 bytes of the 20000 that the host permits");
  make(dir, "test $(ls -A budget | wc -l) = 3");
}

void test_files (const char *dir) {
  test_none();
  test_root(dir);
  test_race(dir);
  test_failed_save(dir);
  test_written(dir);
}
