/*
** attacks.c - scripts that try to break out of a VM, or to outlast their budgets.
** SPDX-License-Identifier: MIT
**
** Each has 50 ms and 32 MiB. How long it goes on after that is printed, as time of the
** processor; more than 100 ms fails where MOONTILE_STRICT is set, more than 2 s always: a
** machine may be busy, or checked by sanitizers.
*/
#include <dirent.h>
#include <stdlib.h>
#include <time.h>

#include "vm_spec.h"

enum { TIME = 50, LONG_TIME = 2000, MEMORY = 32 << 20 };

typedef struct attack {
  const char *name, *want, *code; /* want: one of several, with | between them */
} attack;

#define LATE "took longer"
#define FULL "more memory|took longer"
#define COLLIDE "not to grow to|took longer"
#define STUBBORN "local function again(f, ...) while true do pcall(f, ...) end end\n"

/* Those of the review that the VM was made after. */
static const attack known[] = {
    {"a precompiled chunk", "attempt to load a binary chunk", "\033Lua\124\0"},
    {"string.dump", "no such|nil value", "string.dump(print)"},
    {"load", "nil value", "load('while true do end')()"},
    {"loadfile, dofile", "nil value", "(loadfile or dofile)('/etc/passwd')"},
    {"an endless loop", LATE, "while true do end"},
    {"a loop that catches errors", LATE, STUBBORN "again(again, error)"},
    {"nested pcall", LATE, "local function f() pcall(f) while true do end end f()"},
    {"the same by xpcall", LATE,
     "local function f() xpcall(function() while true do end end, f) end f()"},
    {"the same in coroutines", LATE,
     STUBBORN "while true do coroutine.wrap(pcall)(again, error) end"},
    {"debug.sethook", "nil value", "debug.sethook()"},
    {"an exponential pattern", LATE,
     "local n = 25 (('a'):rep(n)):find(('a-'):rep(n) .. 'b')"},
    {"a finalizer", "no finalizers",
     "setmetatable({}, { __gc = function() while true do end end })"},
    {"a finalizer that comes later", "no finalizers",
     "local m = { __gc = true } setmetatable({}, m) m.__gc = function() while true do end end"},
    {"another rep for texts", "attempt to index",
     "getmetatable('').__index.rep = function() end"},
    {"rep by a text's method", "nil value", "string.rep = nil return ('x'):rep(1 << 40)"},
    {"a memory bomb", FULL, "local t = {} while true do t = { t, {} } end"},
    {"a text that doubles", FULL, "local s = 'x' while true do s = s .. s end"},
    {"__gc of the library", "attempt to",
     "local t = tile.tensor('u8', tile.layout(4)) getmetatable(t).__gc(t)"},
    {"methods after close", "freed",
     "local t = tile.tensor('u8', tile.layout(4)) t:free() t:free() t:fill(1)"},
    {"require of a library", "there is no", "require 'socket.core'"},
    {"package.loadlib", "nil value", "package.loadlib('/lib/libc.so.6', 'system')"}};

/* And others. */
static const attack further[] = {
    {"sort by a function in C", LATE,
     "local t = {} for i = 1, 2e5 do t[i] = i end\n"
     "while true do table.sort(t, rawequal) end"},
    {"sort of long texts", LATE,
     "local t, s = {}, ('x'):rep(1 << 20) for i = 1, 1000 do t[i] = s end\n"
     "while true do table.sort(t) end"},
    {"sort that contradicts itself", LATE,
     "local t = {} for i = 1, 1e4 do t[i] = i end\n"
     "while true do table.sort(t, function() return true end) end"},
    {"insert in the middle of 2^60", LATE,
     "local t = setmetatable({}, { __len = function() return 1 << 60 end,\n"
     "  __index = rawlen, __newindex = rawequal })\n"
     "table.insert(t, 1, 0)"},
    {"move of 2^62 elements", LATE, "table.move({}, 1, 1 << 62, 2)"},
    {"concat of 2^60 elements", FULL,
     "table.concat(setmetatable({}, { __index = type }), '', 1, 1 << 60)"},
    {"rep of nothing 2^62 times", "", "return (''):rep(1 << 62)"},
    {"texts compared", LATE,
     "local a, b = ('x'):rep(7e6) .. 'a', ('x'):rep(7e6) .. 'b'\n"
     "while true do local c = a < b or a == b end"},
    {"texts appended to each other", LATE,
     "local a = ('x'):rep(7e6) while true do local b = a .. 'y' end"},
    {"texts as numbers", LATE,
     "local a = (' '):rep(7e6) .. '1' while true do local b = a + 1 end"},
    {"texts made again and again", LATE, STUBBORN "again(string.rep, 'x', 7e6)"},
    {"memory asked for again and again", LATE,
     "local t = {} for i = 1, 1e5 do t[i] = { i } end\n"
     "while true do pcall(string.rep, 'x', 1 << 23) pcall(tile.tensor, 'u8',"
     " tile.layout(1 << 24)) end"},
    {"an emptied table gone through", LATE,
     "local t = {} for i = 1, 3e5 do t[i] = true end for i = 1, 3e5 do t[i] = nil end\n"
     "while true do next(t) end"},
    {"arguments that grow", "took longer|more memory|stack overflow|too many",
     "local function f(...) return f(1, 2, 3, 4, 5, 6, 7, 8, ...) end f()"},
    {"recursion that is caught", LATE,
     "local function f() f() end while true do pcall(f) end"},
    {"recursion in C", LATE,
     "local function f() return (pcall(string.gsub, 'a', 'a', f)) end while true do f() end"},
    {"__close in a coroutine that dies", LATE,
     "local m = {} local o = setmetatable({}, m)\n"
     "m.__close = function() while true do end end\n"
     "coroutine.wrap(function() local x <close> = o while true do end end)()"},
    {"coroutine.close of such a one", LATE,
     "local m = { __close = function() while true do end end }\n"
     "local co = coroutine.create(function()\n"
     "  local x <close> = setmetatable({}, m) coroutine.yield() end)\n"
     "coroutine.resume(co) while true do pcall(coroutine.close, co) end"},
    {"coroutines without end", FULL,
     "local t = {} while true do t[#t + 1] = coroutine.create(print)\n"
     "  coroutine.resume(t[#t]) end"},
    {"coroutines in coroutines", "took longer|C stack overflow",
     "local function f() return coroutine.wrap(f)() end while true do pcall(f) end"},
    {"gsub by an endless function", LATE,
     "('x'):rep(1e6):gsub('x', function() pcall(error) end) while true do end"},
    {"gmatch over and over", LATE,
     "while true do for a in ('ab'):rep(1e5):gmatch '(a-)(b-)(.-)$' do end end"},
    {"captures without end", "took longer|too complex|pattern capture",
     "while true do pcall(string.find, ('a'):rep(100), ('(a-'):rep(32)) end"},
    {"a set of a million letters", LATE,
     "local p = '[' .. ('a'):rep(1e6) .. ']*b' while true do ('x'):rep(1e6):find(p) end"},
    {"frontiers", LATE,
     "local p = ('%f[' .. ('b'):rep(1e6) .. ']')\n"
     "while true do ('x'):rep(1e5):find(p) end"},
    {"UTF-8 without end", LATE,
     "local s = ('\\x80'):rep(7e6) while true do pcall(utf8.codes, s) pcall(utf8.len, s)\n"
     "  pcall(utf8.offset, s, 3) end"},
    {"collections without end", LATE,
     "local t = {} for i = 1, 1e5 do t[i] = { {} } end while true do collectgarbage() end"},
    {"print without end", LATE, "while true do print(('x'):rep(1000)) end"},
    {"print of what prints", LATE,
     "local x x = setmetatable({}, { __tostring = function() print(x) return '' end })\n"
     "while true do pcall(print, x) end"},
    {"an index that is its own", "loop|took longer",
     "local t = {} setmetatable(t, { __index = t }) while true do local x = t.y end"},
    {"metamethods that call each other", "took longer|overflow",
     "local m = {} m.__index = function(t, k) return t[k .. 'x'] end\n"
     "while true do pcall(function() return setmetatable({}, m).a end) end"},
    {"einsum of a long text", "",
     "tile.einsum(('a'):rep(7e6) .. '->a', tile.tensor('f32', tile.layout(4)))"},
    {"layouts of long texts", LATE, STUBBORN "again(tile.layout, ('(4,'):rep(1e6))"},
    {"a product of 2^40 steps", LATE,
     "local a = tile.tensor('f32', tile.layout({4, 1 << 40}, {1, 0}))\n"
     "tile.gemm(a, a, (tile.tensor('f32', tile.layout{4, 4})))"},
    {"elements by a function in C", FULL,
     "local t = tile.tensor('u8', tile.layout(1 << 24))\n"
     "while true do t:fill(setmetatable({}, { __len = function() return 1 << 24 end,\n"
     "  __index = rawlen })) end"},
    {"verify without end", LATE,
     STUBBORN
     "again(tile.verify, { tv = tile.layout({ 1 << 10, 1 << 10 }, { 1, 1 << 10 }),\n"
     "  tiler = { 1 << 20 } }, tile.layout(1 << 20))"},
    {"swizzles searched", LATE,
     STUBBORN
     "again(tile.find_swizzle, { smem = tile.layout{64, 64}, bits = 16,\n"
     "  write = tile.layout({32, 128}, {128, 1}), read = tile.layout({32, 128}, {1, 32})"
     " })"},
    {"another device", "does not permit", "local d, why = tile.device 'cuda' error(why)"},
    {"files", "permit", "local t, why = tile.load '/etc/passwd' error(why)"},
    {"threads", "permits 1",
     "local d, why = tile.device{ 'cpu', threads = 2 } error(why)"},
    {"the registry", "nil value", "return debug.getregistry()"},
    {"an error that is the VM's", "", "return error == nil or getmetatable(print)"},
    {"chains of weak keys", FULL,
     "local m, first = { __mode = 'k' }, {}\n"
     "local k, all = first, {}\n"
     "while true do local n, w = {}, setmetatable({}, m) w[k] = n all[#all + 1] = w k = n end"},
    {"keys that collide, again and again", LATE,
     "local t = {} for i = 1, 1 << 12 do t[1 + i * 2^-52] = 1 end\n"
     "for i = 1, 1 << 12 do t[1 + i * 2^-52] = nil end\n" STUBBORN
     "again(function() for i = 1, 1 << 13 do t[1 + i * 2^-52] = 1 end end)"},
    {"those that collide looked up", LATE,
     "local t, x = {}, 1 + 2^-30 for i = 1, 1 << 12 do t[1 + i * 2^-52] = 1 end\n"
     "while true do local y = t[x] end"},
    {"those that collide gone through", LATE,
     "local t = {} for i = 1, 1 << 12 do t[1 + i * 2^-52] = 1 end\n"
     "while true do for k in pairs(t) do end end"},
    {"tables that collide by their addresses", FULL "|not to grow",
     "local all, t = {}, {} for i = 1, 1e5 do\n"
     "  local x = {} all[i] = x t[x] = tonumber(tostring(x):match '0x%x+') end\n"
     "while true do local u = {} for k, a in pairs(t) do if a % 16383 < 64 then u[k] = a end end end"},
    {"an array counted at each new key", LATE,
     "local t = {} for i = 1, 1e6 do t[i] = i end\n"
     "while true do for i = 1, 1e4 do t[-i] = 1 t[-i] = nil end end"},
    {"a sum of twenty tensors", LATE "|labels|operands",
     "local t, w = {}, {} for i = 1, 20 do t[i] = tile.tensor('f32', tile.layout{2, 2})\n"
     "  w[i] = string.char(96 + i, 97 + i) end\n"
     "while true do pcall(tile.einsum, table.concat(w, ',') .. '->au', table.unpack(t)) end"},
    {"a function of 65536 coordinates", LATE,
     STUBBORN "again(tile.function_layout, 1 << 16, function(i)\n"
              "  return i == 65535 and 1 << 61 or 0 end)"},
    {"elements as wide as can be", LATE,
     STUBBORN "again(tile.upcast, tile.make_composed_layout(tile.swizzle(2, 0, 3),\n"
              "  math.mininteger, tile.layout 'Sw<1,0,4> o 32768:1'), math.maxinteger)"},
    {"CTAs of a mode of stride 0", LATE,
     STUBBORN
     "again(tile.create_tma_multicast_mask, tile.layout(math.maxinteger, 0), tile._)"},
    {"pictures of a large layout", LATE,
     STUBBORN "again(tile.svg, tile.layout{512, 512})"},
    {"texts of a large layout", LATE,
     STUBBORN "again(tile.print_layout, tile.layout{512, 512})"},
    {"a tensor as a table", FULL,
     "local t = tile.tensor('u8', tile.layout(1 << 19)) while true do t:totable() end"},
    {"the order of a permutation", LATE,
     STUBBORN "again(tile.order, tile.layout('(1024,1024):(1024,1)'))"},
    {"ten thousand rounds of tuning", LATE "|one way",
     "local a, b = tile.tensor('f32', tile.layout{512, 512}), tile.tensor('f32',\n"
     "  tile.layout({512, 512}, 'right'))\n"
     "while true do pcall(tile.tune, tile.plan(a, b), { rounds = 10000 }) end"},
    {"a measurement of 2^22 launches", LATE "|expected",
     "local a, b = tile.tensor('f32', tile.layout(64)), tile.tensor('f32', tile.layout(64))\n"
     "while true do pcall(function() return tile.plan(a, b):measure(1 << 22) end) end"},
    {"a file of tuned kernels", "permit",
     "local a, b = tile.tensor('f32', tile.layout(64)), tile.tensor('f32', tile.layout(64))\n"
     "local ok, why = tile.tune(tile.plan(a, b), { file = 'tuned.txt' }) error(why)"},
    {"a plan as a file", "permit",
     "local a, b = tile.tensor('f32', tile.layout(64)), tile.tensor('f32', tile.layout(64))\n"
     "local ok, why = tile.export(tile.plan(a, b), '.') error(why)"},
    {"a mapped file", "permit", "local t, why = tile.map('/etc/passwd') error(why)"},
    {"a tensor as a file", "permit",
     "local t, why = tile.tensor('f32', tile.layout(64)):save 'x.npy' error(why)"},
    {"graphs in graphs", "",
     "local d = tile.device 'cpu' local function f() return d:graph(f) end\n"
     "while true do pcall(f) end"},
    {"an error of 8 MB", "", "error(('x'):rep(7e6))"},
    {"an error that was passed on a million times", "",
     "error(('script:1: '):rep(3e5), 0)"},
    {"an error that has no text", LATE,
     "error(setmetatable({}, { __tostring = function() while true do end end }))"},
    {"a name that has no end", LATE "|'__name'|a string",
     "local m = {} m.__name = ('x'):rep(1e6) local t = setmetatable({}, m)\n"
     "while true do pcall(tile.layout, t) pcall(tostring, t) pcall(math.abs, t) end"},
    {"a million values on the stack", LATE "|too many|overflow",
     "local t = {} for i = 1, 1e6 do t[i] = i end\n"
     "while true do pcall(select, '#', table.unpack(t)) pcall(math.max, table.unpack(t, 1, 9e5)) end"},
    {"bytes of a long text", LATE "|too long|overflow",
     "local s = ('x'):rep(7e6) while true do pcall(string.byte, s, 1, -1) end"},
    {"formats of a million digits", LATE "|invalid|too",
     "while true do pcall(string.format, '%99.99f', 1e308) pcall(string.format, ('%s'):rep(1e5)) end"},
    {"separators of a megabyte", LATE "|memory",
     "local s = ('x'):rep(1 << 20) while true do pcall(string.rep, '', 1 << 30, s)\n"
     "  pcall(table.concat, { 1, 2, 3, 4, 5, 6, 7, 8 }, s) end"},
    {"compared by what compares", LATE,
     "local m = {} m.__eq = function(a, b) return setmetatable({}, m) == setmetatable({}, m) end\n"
     "while true do pcall(function() return setmetatable({}, m) == setmetatable({}, m) end) end"},
    {"tables that are weak and swept", FULL,
     "local t = setmetatable({}, { __mode = 'kv' })\n"
     "while true do for i = 1, 1e5 do t[{}] = {} end collectgarbage 'step' end"},
    {"tensors made and dropped", LATE,
     "while true do for i = 1, 1e4 do tile.tensor('u8', tile.layout(1)) end end"},
    {"parts of parts of a layout", "",
     "local A = tile.layout{64, 64} while true do A = tile.make_layout(A, A) end"},
    {"slices that nest", LATE "|nodes|too deep|overflow|levels",
     "local t = {} for i = 1, 1e5 do t = { t } end while true do pcall(tile.layout, t)\n"
     "  pcall(tile.flatten, t) pcall(tile.idx2crd, 1, t) pcall(tile.depth, t) end"},
    {"tuples of ten million", FULL "|elements|nodes",
     "local t = {} for i = 1, 5e5 do t[i] = 1 end while true do pcall(tile.layout, t)\n"
     "  pcall(tile.product_each, t) pcall(tile.make_shape, t) end"},
    {"a host's texts in a loop", LATE,
     "local t = tile.tensor('f32', tile.layout{256, 256})\n"
     "while true do pcall(tostring, t) pcall(tile.print_tensor, t) end"},
    {"copies that a mask decides", LATE "|expected",
     "local a, b = tile.tensor('f32', tile.layout(1 << 20)), tile.tensor('f32', tile.layout(1 << 20))\n"
     "while true do pcall(tile.copy_if, function() return true end, a, b) end"},
    {"shared memory with every conflict", LATE,
     STUBBORN
     "again(tile.bank_conflicts, tile.layout({ 1 << 10, 1 << 10 }, { 32, 1 }), 32)"},
    {"warnings", LATE, "warn '@on' while true do warn(('x'):rep(1e5)) end"},
    {"a coroutine that wraps its own", "",
     "local f f = coroutine.wrap(function() return f() end) f()"},
    {"a yield out of everything", "",
     "coroutine.yield() local t = setmetatable({}, { __index = coroutine.yield }) return t.x"},
    {"a source of 7 MB", "took longer|too many|memory|syntax", "load"}};

/* They need longer until they harm: two seconds. */
static const attack slow[] =
    {{"integers that collide in a larger table", COLLIDE,
      "local t = {} for i = 1, 1 << 18 do t[i * ((1 << 18) - 1)] = 1 end t[0] = 1\n"
      "while true do end"},
     {"integers that collide in any table", COLLIDE,
      "local t, m = {}, ((1 << 14) - 1) * ((1 << 15) - 1) * ((1 << 16) - 1)\n"
      "for i = 1, 1 << 17 do t[i * m] = 1 end while true do end"},
     {"numbers that collide", COLLIDE,
      "local t = {} for i = 1, 1 << 17 do t[1 + i * 2^-52] = 1 end while true do end"}};

/* On a GPU whose kernels take three seconds each. */
#define TENSORS                                                                          \
  "local d = tile.device 'cuda' local a = tile.tensor('f32', tile.layout(64), d)\n"      \
  "local b = tile.tensor('f32', tile.layout(64), d)\n"
static const attack on_gpu[] =
    {{"waiting for a GPU", LATE, TENSORS "tile.copy(a, b) d:synchronize()"},
     {"waiting for it again and again", LATE,
      TENSORS "while true do pcall(tile.copy, a, b) pcall(d.synchronize, d)\n"
              "  pcall(a.totable, a) end"},
     {"launches without end", LATE,
      TENSORS "local s = d:stream() while true do pcall(tile.copy, a, b, s) end"},
     {"a graph without end", LATE,
      TENSORS "local g = d:graph(function() for i = 1, 50 do tile.copy(a, b) end end)\n"
              "while true do g() end"},
     {"memory of a GPU without end", "host permits",
      "local t = {} while true do\n"
      "  t[#t + 1] = assert(tile.tensor('f32', tile.layout(1 << 20), 'cuda')) end"}};

static double processor (void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static bool is_one_of (const char *out, const char *want) {
  char word[64];
  if (*want == '\0' || strstr(out, LATE)) return true; /* a busy machine */
  for (size_t n; *want; want += n + (want[n] == '|')) {
    n = strcspn(want, "|");
    snprintf(word, sizeof word, "%.*s", (int)n, want);
    if (strstr(out, word)) return true;
  }
  return false;
}

static int entries (const char *dir) {
  int n = 0;
  DIR *d = opendir(dir);
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n;
}

/* Counts what is not given back. */
static size_t held;

static void *count (void *ud, void *p, size_t old, size_t size) {
  (void)ud;
  if (p == NULL) old = 0;
  void *q = size ? realloc(p, size) : (free(p), NULL);
  if (size == 0 || q) held += size - old;
  return q;
}

static void drop (void *ud, mt_vm_level level, const char *text, size_t size) {
  (void)ud, (void)level, (void)text, (void)size;
}

/* "load": a text of 7 MB that is one expression. */
static const char *source_of (const attack *a) {
  static char *text;
  enum { SIZE = 7000000 };
  if (strcmp(a->code, "load") != 0) return a->code;
  if (text == NULL && (text = malloc(SIZE + 1)) != NULL) {
    for (int i = 0; i < SIZE; i++) text[i] = "{1},"[i % 4];
    memcpy(text, "x={ ", 4);
    text[SIZE] = '\0';
  }
  return text ? text : "";
}

static double attack_vm (const attack *a, int time, const char *device, const char *dir) {
  mt_vm_usage u;
  const char *const devices[] = {device, NULL};
  const mt_vm_options o = {.size = sizeof o,
                           .alloc = count,
                           .memory = MEMORY,
                           .milliseconds = time,
                           .work = UINT64_MAX,
                           .devices = devices,
                           .log = drop};
  int files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  int in_dir = entries(dir);
  held = 0;
  mt_vm *v = open_vm(&o);
  if (strcmp(device, "cuda") == 0) setenv("FAKECUDA_SLOW", "3000", 1);
  double begin = processor();
  const char *got = run_vm(v, source_of(a));
  double over = processor() - begin - time;
  mt_vm_used(&u, v);
  unsetenv("FAKECUDA_SLOW"); /* while a kernel works its code stays loaded */
  CHECK(is_one_of(got, a->want), "%s: wanted \"%s\", got \"%s\"", a->name, a->want, got);
  const char *after = run_vm(v, "return 1");
  CHECK(after[0] == 0 || strstr(got, "memory"), "after %s: %s", a->name, after);
  mt_vm_close(v);
  printf("  %7.1f ms over %7zu KiB  %s\n", over < 0 ? 0 : over, u.peak >> 10, a->name);
  CHECK(u.peak <= MEMORY && held == 0, "%s: %zu bytes, %zu left", a->name, u.peak, held);
  CHECK(over < (getenv("MOONTILE_STRICT") ? 100 : 2000), "%s: %.0f ms", a->name, over);
  CHECK(strcmp(device, "cuda") != 0 || u.milliseconds < 2500, "%s: waits for %.0f ms",
        a->name, u.milliseconds);
  CHECK(entries("/proc/self/fd") == files, "%s: files are open", a->name);
  CHECK(entries("/proc/self/task") == threads, "%s: threads are left", a->name);
  CHECK(entries(dir) == in_dir, "%s: files were made", a->name);
  return over;
}

/* They need the driver of the tests, where the loader finds it. */
static void test_gpu (const char *dir) {
  if (getenv("MOONTILE_TEST_LIBCUDA") == NULL) return;
  mt_err err = MT_NOERR;
  if (mt_cuda_count(NULL, &err) == 0) return;
  attack_vm(&(attack){"the driver", "", "tile.device 'cuda'"}, TIME, "cuda", dir);
  for (size_t i = 0; i < sizeof on_gpu / sizeof *on_gpu; i++)
    attack_vm(&on_gpu[i], TIME, "cuda", dir);
}

/* The attacks of a list; how long one went on at most. */
static double run_all (const attack *list, size_t n, int time, const char *dir) {
  const char *only = getenv("MOONTILE_ATTACK");
  double worst = 0;
  for (const attack *a = list; a < list + n; a++) {
    if (only && strstr(a->name, only) == NULL) continue;
    double over = attack_vm(a, time, "cpu", dir);
    if (over > worst) worst = over;
  }
  return worst;
}

#define COUNT(list) (sizeof list / sizeof *list)

void test_attacks (const char *dir) {
  double a = run_all(known, COUNT(known), TIME, dir);
  double b = run_all(further, COUNT(further), TIME, dir);
  double c = run_all(slow, COUNT(slow), LONG_TIME, dir);
  printf("%zu attacks and %zu further ones: %.1f ms over at most\n", COUNT(known),
         COUNT(further) + COUNT(slow), a > b ? (a > c ? a : c) : (b > c ? b : c));
  test_gpu(dir);
}
