/*
** attacks.c - scripts that try to break out of a guarded state, or to take it all: each is
** stopped, and takes no more time, memory, threads or files than it may.
** SPDX-License-Identifier: MIT
**
** The host is examples/guarded.c. Times are printed and not judged, but for a minute.
*/
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define GUARDED_LIBRARY
#include "../../examples/guarded.c"
#include "host.h"

enum { TIME = 50, MOST = 64 << 20, TENSORS = 16 << 20, THREADS = 2, WRITTEN = 1 << 20 };

/* What ends it: a refusal, the watch, or the limit of memory; `want`, or one of several
** with | between them, is in its message. */
typedef struct attack {
  const char *name, *want, *code;
} attack;

#define STOPPED "stopped"
#define NO_MEMORY "not enough memory|stopped"
#define WIDE                                                                             \
  "local a = tile.tensor('f32', tile.layout({4, 1 << 40}, {1, 0}))\n"                    \
  "local c = tile.tensor('f32', tile.layout{4, 4})\n"
/* Takes what it is refused as an answer, and goes on. */
#define STUBBORN "function again(f, ...) while true do pcall(f, ...) end end\n"

/* Under a limit of work. */
static const attack refused[] = {
    {"a fill of 2^40 elements", "host permits",
     "local t = tile.tensor('f32', tile.layout(4))\n"
     "t:view(tile.layout(1 << 40, 0)):fill(1)"},
    {"a fill from a table of 2^40", "host permits",
     "local t = tile.tensor('f32', tile.layout(4)):view(tile.layout(1 << 40, 0))\n"
     "t:fill(setmetatable({}, { __len = function() return 1 << 40 end }))"},
    {"a product of 2^40 steps", "host permits", WIDE "tile.gemm(a, a, c)"},
    {"an einsum of 2^40 steps", "host permits", WIDE "tile.einsum('mk,nk->mn', a, a, c)"},
    {"a copy of 2^40 elements", "host permits", WIDE "tile.copy(a, a)"},
    {"2^31 launches measured", "host permits",
     "local t = tile.tensor('f32', tile.layout(1 << 20))\n"
     "tile.plan(t, tile.tensor('f32', tile.layout(1 << 20))):measure((1 << 31) - 1)"},
    {"a table of 2^40 elements", "host permits", WIDE "return a:totable()"},
    {"a picture of 2000 x 2000", "at most",
     "return tile.print_layout(tile.layout{2000, 2000})"},
    {"a graph of endless launches", "host permits|stopped by the host",
     "local t = tile.tensor('u8', tile.layout(1 << 22))\n"
     "local u = tile.tensor('u8', tile.layout(1 << 22))\n"
     "tile.device():graph(function() while true do tile.copy(t, u) end end)"},
    {"a tensor of 2^62 bytes", "host permits",
     "return select(2, tile.tensor('u8', tile.layout(1 << 62)))"},
    {"tensors without end", "host permits|stopped by the host",
     "local t = {} while true do t[#t + 1] = assert(tile.tensor('u8', tile.layout(1 << 20)))"
     " end"},
    {"1024 threads", "host permits",
     "return select(2, tile.device{ 'cpu', threads = 1024 })"},
    {"threads on a thousand devices", "host permits",
     "for i = 1, 1000 do local d, why = tile.device{ 'cpu', threads = 2, piece = 15 + i }\n"
     "  if not d then return why end\n"
     "  local t = tile.tensor('f32', tile.layout(1 << 18), d):fill(1) end"},
    {"another device", "does not permit", "return select(2, tile.device 'cuda')"},
    {"a driver of its own", "no libraries",
     "return select(2, tile.device{ 'cpu', libcuda = '/tmp/evil.so' })"},
    {"a BLAS of its own", "no libraries",
     "return select(2, tile.device{ 'cpu', libblas = '/tmp/evil.so' })"},
    {"a driver by devices()", "no libraries", "tile.devices '/tmp/evil.so'"},
    {"a driver by info()", "no libraries", "tile.info '/tmp/evil.so'"},
    {"a file of the system", "absolute path",
     "return select(2, tile.load '/etc/passwd')"},
    {"a file above the root", "\"..\" in a path",
     "return select(2, tile.tensor('u8', tile.layout(4)):save '../escaped.npy')"},
    {"a file behind a link", "Not a directory",
     "return select(2, tile.tensor('u8', tile.layout(4)):save 'link/escaped.npy')"},
    {"a FIFO", "a FIFO", "return select(2, tile.load 'fifo')"},
    {"a zero byte in a path", "zero byte", "tile.load 'own.npy\\0/etc/passwd'"},
    {"machine code as tuning", "0 lines, 3 broken",
     "local n, broken = tile.load_tuning 'chunk' return n .. ' lines, ' .. broken .. "
     "' broken'"},
    {"a full disk", "host permits|stopped by the host",
     "local t = tile.tensor('u8', tile.layout(1000))\n"
     "for i = 1, 1e6 do assert(t:save(i .. '.npy')) end"},
    {"a finalizer without end", "no finalizers",
     "setmetatable({}, { __gc = function() while true do end end })"},
    {"a __close without end", "no finalizers",
     "coroutine.wrap(function()\n"
     "  local x <close> = setmetatable({}, { __close = function() while true do end end })\n"
     "  while true do end end)()"},
    {"a handler without end", "attempt to call",
     "xpcall(error, function() while true do end end)"},
    {"finalizers of the library", "attempt to",
     "local t = tile.tensor('u8', tile.layout(4)) getmetatable(t).__gc(t)"},
    {"other methods for tensors", "attempt to",
     "getmetatable(tile.tensor('u8', tile.layout(4))).__index.fill = error"},
    {"other methods for texts", "attempt to", "getmetatable('').__index.rep = error"},
    {"what the library keeps", "no such", "return tile._methods or tile._tuned"},
    {"freeing in the middle of a fill", "freed",
     "local t = tile.tensor('f32', tile.layout(2))\n"
     "t:fill(setmetatable({}, { __len = function() return 2 end,\n"
     "  __index = function(_, i) if i == 2 then t:free() end return i end }))"},
    {"a table that is its own mode", "nested deeper",
     "local t = {} t[1] = t tile.layout(t)"},
    {"a text of a million parentheses", "nested deeper",
     "return tile.layout(('('):rep(400000))"},
    {"loading code", "attempt to call", "load 'while true do end' ()"},
    {"reading through Lua", "attempt to index", "return io.open '/etc/passwd'"},
    {"a text of 2^40 bytes", "million bytes", "return ('x'):rep(1 << 40)"},
    {"2^60 empty texts", "million bytes", "return (''):rep(1 << 60)"}};

/* Without a limit of work: only the watch, or the memory, ends them. */
static const attack stopped[] = {
    {"an endless loop", STOPPED, "while true do end"},
    {"a loop that catches errors", STOPPED, STUBBORN "again(again, error)"},
    {"the same in a coroutine", STOPPED,
     STUBBORN "while true do coroutine.wrap(pcall)(again, error) end"},
    {"tables without end", NO_MEMORY, "local t = {} while true do t = { t, {} } end"},
    {"a text that doubles", NO_MEMORY, "local s = 'x' while true do s = s .. s end"},
    {"a product of 2^40 steps", STOPPED, WIDE "tile.gemm(a, a, c)"},
    {"such products again and again", STOPPED, STUBBORN WIDE "again(tile.gemm, a, a, c)"},
    {"the same on cpu:checked", STOPPED,
     STUBBORN
     "local a = tile.tensor('f32', tile.layout({4, 1 << 40}, {1, 0}), 'cpu:checked')\n"
     "local c = tile.tensor('f32', tile.layout{4, 4}, 'cpu:checked')\n"
     "again(tile.gemm, a, a, c)"},
    {"an einsum of 2^40 steps", STOPPED, WIDE "tile.einsum('mk,nk->mn', a, a, c)"},
    {"2^31 launches measured", STOPPED,
     "local t = tile.tensor('f32', tile.layout(1 << 20))\n"
     "tile.plan(t, tile.tensor('f32', tile.layout(1 << 20))):measure((1 << 31) - 1)"},
    {"tuning in 10,000 rounds", STOPPED,
     "local t = tile.tensor('f32', tile.layout(1 << 20))\n"
     "tile.tune(tile.plan(t, tile.tensor('f32', tile.layout(1 << 20))),"
     " { rounds = 10000 })"},
    {"copies without end", STOPPED,
     "local t = tile.tensor('f32', tile.layout{512, 512})\n"
     "local u = tile.tensor('f32', tile.layout({512, 512}, {512, 1}))\n"
     "while true do tile.copy(t, u) end"},
    {"a graph without end", STOPPED,
     "local t = tile.tensor('f32', tile.layout(1 << 16))\n"
     "local u = tile.tensor('f32', tile.layout(1 << 16))\n"
     "local g = tile.device():graph(function() for i = 1, 500 do tile.copy(t, u) end end)\n"
     "while true do g() end"},
    {"tables of 2^22 elements", NO_MEMORY,
     "local t = tile.tensor('u8', tile.layout(4)):view(tile.layout(1 << 22, 0))\n"
     "while true do t:totable() end"},
    {"values from a table without end", STOPPED,
     "local t = tile.tensor('u8', tile.layout(1 << 24))\n"
     "while true do t:fill(setmetatable({}, { __len = function() return 1 << 24 end,\n"
     "  __index = function() return 1 end })) end"},
    {"pictures without end", STOPPED,
     STUBBORN "again(tile.print_layout, tile.layout{500, 500})"},
    {"swizzles searched without end", STOPPED,
     STUBBORN
     "again(tile.find_swizzle, { smem = tile.layout{64, 64}, bits = 16,\n"
     "  write = tile.layout({32, 128}, {128, 1}), read = tile.layout({32, 128}, {1, 32}) })"},
    {"banks counted without end", STOPPED,
     STUBBORN "again(tile.bank_conflicts, tile.layout({1 << 15, 32}, {32, 1}), 32)"},
    {"devices without end", NO_MEMORY,
     "local i = 16 while true do assert(tile.device{ 'cpu', threads = 1, piece = i })"
     " i = i + 1 end"},
    {"plans without end", STOPPED,
     "local t = tile.tensor('f32', tile.layout(64)) local all = {}\n"
     "while true do all[#all + 1] = tile.plan(t:view(tile.layout(32)),"
     " t:view(tile.layout(32), 32)) if #all > 1000 then all = {} end end"},
    {"what calls itself", "overflow",
     "local t = tile.tensor('f32', tile.layout(1))\n"
     "local x = setmetatable({}, { __len = function() return 1 end }) "
     "getmetatable(x).__index = function() t:fill(x) end t:fill(x)"}};

/* ---------------------------------------------------------------- counting */

static int entries (const char *dir) {
  int n = 0;
  DIR *d = opendir(dir);
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n;
}

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* The threads, when no more than `most` are left: one that was joined is listed a little
** longer. */
static int threads_left (int most) {
  const struct timespec pause = {0, 1000000};
  int n = entries("/proc/self/task");
  for (double end = now() + 5e3; n > most && now() < end; n = entries("/proc/self/task"))
    nanosleep(&pause, NULL);
  return n;
}

/* The most threads that were seen, and whether to go on looking. */
typedef struct census {
  volatile int most, over;
} census;

static void *count_threads (void *arg) {
  census *c = arg;
  const struct timespec pause = {0, 2000000};
  while (!c->over) {
    int n = entries("/proc/self/task") - 2;
    if (n > c->most) c->most = n;
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* ---------------------------------------------------------------- attacking */

static bool is_one_of (const char *out, const char *want) {
  char word[64];
  for (size_t n; *want; want += n + (want[n] == '|')) {
    n = strcspn(want, "|");
    snprintf(word, sizeof word, "%.*s", (int)n, want);
    if (strstr(out, word)) return true;
  }
  return false;
}

static void attack_once (const attack *a, const char *root, uint64_t work, int ms,
                         char out[4096]) {
  out[0] = '\0';
  pthread_t counter;
  census c = {0, 0};
  guard g = {.config = {.size = sizeof g.config,
                        .files = MT_LUA_ROOTFILES,
                        .root = root,
                        .devices = (const char *const[]){"cpu", "cpu:checked", NULL},
                        .threads = THREADS,
                        .bytes = TENSORS,
                        .written = WRITTEN,
                        .work = work},
             .most = MOST,
             .milliseconds = ms,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};
  int files = entries("/proc/self/fd"), before = entries("/proc/self/task");
  pthread_create(&counter, NULL, count_threads, &c);
  double begin = now();
  run_guarded(&g, a->code, strlen(a->code), out, 4096);
  double took = now() - begin;
  c.over = 1;
  pthread_join(counter, NULL);
  printf("  %7.1f ms %6zu KiB %d threads  %s\n", took, g.peak >> 10, c.most, a->name);
  CHECK(took < 60e3, "%s: %.0f ms", a->name, took);
  CHECK(g.peak <= MOST && g.bytes == 0, "%s: %zu bytes, %zu left", a->name, g.peak,
        g.bytes);
  CHECK(c.most <= THREADS + 2, "%s: %d threads", a->name, c.most);
  CHECK(entries("/proc/self/fd") == files, "%s: files are open", a->name);
  CHECK(threads_left(before) == before, "%s: threads are left", a->name);
}

/* Where a machine has no time for it, the watch may end what was about to be refused. */
static void check_attack (const attack *a, const char *root, uint64_t work) {
  char out[4096] = "";
  attack_once(a, root, work, TIME, out);
  if (!is_one_of(out, a->want) && is_one_of(out, STOPPED))
    attack_once(a, root, work, 100 * TIME, out);
  CHECK(is_one_of(out, a->want), "%s: wanted \"%s\", got \"%s\"", a->name, a->want, out);
}

static void prepare (char *root, size_t size, const char *dir) {
  char command[4096];
  snprintf(root, size, "%s/attacked", dir);
  snprintf(command, sizeof command,
           "rm -rf '%s' && mkdir -p '%s' && cd '%s' && "
           "ln -s .. link && mkfifo fifo && printf '\\033Lua\\124\\0\\031\\223\\r\\n\\032"
           "\\n\\004' > chunk",
           root, root, root);
  CHECK(system(command) == 0, "%s", command);
}

void test_attacks (const char *dir) {
  char root[1024];
  prepare(root, sizeof root, dir);
  int outside = entries(dir);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    check_attack(&refused[i], root, 0);
  for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++)
    check_attack(&stopped[i], root, UINT64_MAX);
  CHECK(entries(root) - 5 <= WRITTEN >> 12, "%d files", entries(root) - 5);
  CHECK(entries(dir) == outside, "files outside of the root");
  printf("%zu attacks\n",
         sizeof refused / sizeof *refused + sizeof stopped / sizeof *stopped);
}
