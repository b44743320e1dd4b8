/*
** limits.c - devices, libraries, threads, bytes and work that a host permits.
** SPDX-License-Identifier: MIT
*/
#include <limits.h>
#include <stdlib.h>

#include "host.h"

static const char begin[] =
    "layout, tensor, device = tile.layout, tile.tensor, tile.device\n"
    "function try(...) local ok, message, code = ...\n"
    "  return ok and tostring(ok) or code .. ': ' .. message end\n"
    "function raised(f, ...) local ok, message = pcall(f, ...)\n"
    "  return ok and 'done' or (message:gsub('^code:%d+: ', '')) end\n";

typedef struct row {
  const char *code, *want;
} row;

static void check_rows (const mt_lua_config *c, const row *rows, int n) {
  for (int i = 0; i < n; i++) {
    const char *got = run(c, begin, rows[i].code);
    CHECK(strcmp(got, rows[i].want) == 0, "%s\n  wanted \"%s\"\n  got    \"%s\"",
          rows[i].code, rows[i].want, got);
  }
}
#define ROWS(c, rows) check_rows(&(c), rows, (int)(sizeof rows / sizeof rows[0]))

static void test_devices (const char *libcuda) {
  static const row few[] =
      {{"return try(device())", "cpu"},
       {"return try(device 'cpu')", "cpu"},
       {"return try(device 'cpu:checked')",
        "EDENIED: the host does not permit the device \"cpu:checked\"; it permits: cpu"},
       {"return try(device { 'cuda', piece = 64 })",
        "EDENIED: the host does not permit the device \"cuda\"; it permits: cpu"},
       {"return try(tensor('f32', layout(4), 'cuda:0'))",
        "EDENIED: the host does not permit the device \"cuda:0\"; it permits: cpu"},
       {"return try(tensor('f32', layout(4)):to 'cuda')",
        "EDENIED: the host does not permit the device \"cuda\"; it permits: cpu"},
       {"return try(tensor('f32', layout(4)))", "tensor f32 4:1 cpu"},
       {"return table.concat(tile.devices(), ' ')", "cpu"},
       {"return #tile.info().devices", "1"}};
  static const row no_libraries[] =
      {{"return try(device { 'cuda', libcuda = '/x.so' })",
        "EDENIED: device: libcuda: the host permits no libraries by name"},
       {"return try(device { 'cpu', libblas = '/x.so' })",
        "EDENIED: device: libblas: the host permits no libraries by name"},
       {"return try(device { 'cpu', libblas = '' })", "cpu"},
       {"return raised(tile.devices, '/x.so')",
        "device: libcuda: the host permits no libraries by name"},
       {"return raised(tile.info, '/x.so')",
        "device: libcuda: the host permits no libraries by name"},
       {"return try(device 'cpu:checked')", "cpu:checked"}};
  static const row last_gpu[] =
      {{"return try(device 'cpu')",
        "EDENIED: the host does not permit the device \"cpu\"; it permits: cuda:0"},
       {"return try(device { 'cuda', libcuda = LIBCUDA })", "cuda:0"},
       {"return try(device { 'cuda:0', libcuda = LIBCUDA })", "cuda:0"},
       {"return try(device { libcuda = LIBCUDA })", "cuda:0"},
       {"return table.concat(tile.devices(LIBCUDA), ' ')", "cuda:0"},
       {"return try(device { 'cuda', libcuda = LIBCUDA, piece = 1 << 40 })",
        "ELIMIT: 18691697672192 bytes: the host permits 1073741824 in all, of which "
        "1073741824"
        " are left"}};
  mt_lua_config c = {.size = sizeof c};
  ROWS(c, few);
  c.devices = (const char *const[]){"*", NULL};
  ROWS(c, no_libraries);
  c.devices = (const char *const[]){"cuda:0", NULL};
  c.libraries = true;
  global_text("LIBCUDA", libcuda);
  ROWS(c, last_gpu);
}

static void test_threads (void) {
  static const row rows[] =
      {{"return try(device { 'cpu', threads = 4 })", "cpu"},
       {"return try(device { 'cpu', threads = 5 })",
        "ELIMIT: device: 5 threads: the host permits 4 in all, of which 4 are left"},
       {"device { 'cpu', threads = 3 } "
        "return try(device { 'cpu', threads = 3, piece = 16 })",
        "ELIMIT: device: 3 threads: the host permits 4 in all, of which 2 are left"},
       {"device { 'cpu', threads = 4 } return try(device 'cpu')", "cpu"},
       {"device { 'cpu', threads = 4 } return try(device { 'cpu', threads = 1 })", "cpu"},
       {"local n = 0 for i = 1, 40 do\n"
        "  if device { 'cpu', threads = 2, piece = 15 + i } then n = n + 1 end end "
        "return n",
        "3"}};
  static const row open[] = {
      {"local n = 0 for i = 1, 40 do\n"
       "  if device { 'cpu', threads = 1024, piece = 15 + i } then n = n + 1 end end\n"
       "return n",
       "4"}};
  mt_lua_config c = {.size = sizeof c, .threads = 4};
  ROWS(c, rows);
  check_rows(NULL, open, 1);
}

static void test_bytes (void) {
  static const row rows[] =
      {{"return try(tensor('u8', layout(1001)))",
        "ELIMIT: 1001 bytes: the host permits 1000 in all, of which 1000 are left"},
       {"a = tensor('u8', layout(600)) return try(tensor('u8', layout(401)))",
        "ELIMIT: 401 bytes: the host permits 1000 in all, of which 400 are left"},
       {"for i = 1, 100 do assert(tensor('u8', layout(1000))) end return 'collected'",
        "collected"},
       {"a = tensor('u8', layout(600)) a:free() return try(tensor('u8', layout(1000)))",
        "tensor u8 1000:1 cpu"},
       {"a = tensor('u8', layout(600)) return try(a:to(device 'cpu:checked'))",
        "ELIMIT: 600 bytes: the host permits 1000 in all, of which 400 are left"},
       {"local t = {} for i = 1, 100 do t[i] = tensor('u8', layout(100)) end return #t",
        "10"}};
  mt_lua_config c = {.size = sizeof c,
                     .bytes = 1000,
                     .devices = (const char *const[]){"cpu", "cpu:checked", NULL}};
  ROWS(c, rows);
}

/* What a product packs counts, each time that a graph holds its plan, and is taken only
** where it is left: also if a metamethod has taken it in the middle of the call. */
static void test_packing (const char *libcuda) {
  static const row rows[] = {
      {"local plan = product()\n"
       "local g = D:graph(function() for i = 1, 15 do plan() end end)\n"
       "return try(tensor('u8', layout(1 << 20), D)):match '^ELIMIT.* 0 are left'",
       "ELIMIT: 1048576 bytes: the host permits 33554432 in all, of which 0 are left"},
      {"local plan = product(setmetatable({}, { __index = function(_, key)\n"
       "  while key == 'beta' and tensor('u8', layout(1 << 20), D) do end end }))\n"
       "return tostring(plan):match 'refused: hopper: it takes %d+ bytes'",
       "refused: hopper: it takes 4194304 bytes"},
      {"local plan, way = product(), {}\n"
       "for _, w in ipairs(plan:why()) do "
       "if w.possible then way[w.algorithm] = w end end\n"
       "plan:take(way.ampere.kernel, way.ampere.parts)\n"
       "while tensor('u8', layout(1 << 20), D) do end\n"
       "local ok, message = pcall(plan.take, plan, way.hopper.kernel, way.hopper.parts)\n"
       "return message:match 'it takes %d+ bytes, of which '",
       "it takes 4194304 bytes, of which "}};
  char all[4096];
  mt_lua_config c = {.size = sizeof c,
                     .bytes = 32 << 20,
                     .libraries = true,
                     .devices = (const char *const[]){"cuda:0", NULL}};
  global_text("LIBCUDA", libcuda);
  snprintf(all, sizeof all, "%s%s", begin,
           "D = assert(device { 'cuda', libcuda = LIBCUDA, piece = 1 << 16 }) kept = {}\n"
           "local new = tensor\n"
           "function tensor(...) local t, message, code = new(...) kept[#kept + 1] = t\n"
           "  return t, message, code end\n"
           "local A = tensor('bf16', layout({ 2048, 1023 }, 'right'), D)\n"
           "local B = tensor('bf16', layout({ 16, 1023 }, { 1024, 1 }), D)\n"
           "local C = tensor('bf16', layout({ 2048, 16 }, 'right'), D)\n"
           "function product(o) return tile.plan_gemm(A, B, C, o) end\n");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *got = run(&c, all, rows[i].code);
    CHECK(strcmp(got, rows[i].want) == 0, "%s\n  wanted \"%s\"\n  got    \"%s\"",
          rows[i].code, rows[i].want, got);
  }
}

/* Copies to a GPU pass through half of what a host permits at most. */
static void test_pieces (const char *libcuda) {
  static const struct {
    size_t bytes;
    const char *copied, *want;
  } rows[] = {
      {1 << 30, "16777216", "8 pieces of at most 2097152 bytes"},
      {64 << 20, "16777216", "9 pieces of at most 1970176 bytes"},
      {8 << 20, "1048576", "5 pieces of at most 245760 bytes"},
      {2 << 20, "1",
       "ELIMIT: 71303168 bytes: the host permits 2097152 in all, of which 2097152 "
       "are left"},
  };
  global_text("LIBCUDA", libcuda);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char code[512];
    mt_lua_config c = {.size = sizeof c,
                       .bytes = rows[i].bytes,
                       .libraries = true,
                       .devices = (const char *const[]){"cuda:0", "cpu", NULL}};
    snprintf(code, sizeof code,
             "local d, why, code = device { 'cuda', libcuda = LIBCUDA }\n"
             "if not d then return code .. ': ' .. why:match '^%%C+' end\n"
             "local a, b = tensor('u8', layout(%s), 'cpu'), tensor('u8', layout(%s), d)\n"
             "return tostring(tile.plan(a, b)):match '%%d+ pieces%%C*'",
             rows[i].copied, rows[i].copied);
    const char *got = run(&c, begin, code);
    CHECK(strcmp(got, rows[i].want) == 0, "wanted \"%s\"\n  got    \"%s\"", rows[i].want,
          got);
  }
}

#define WORK(what, n) what ": the work of " n " elements: the host permits 1000 in a call"

static void test_work (void) {
  static const row rows[] =
      {{"return raised(T.fill, B, 1)", WORK("copy", "1099511627776")},
       {"return raised(T.fill, T, 1)", "done"},
       {"return raised(T.totable, T)", WORK("totable", "1600")},
       {"return raised(T.totable, B)", WORK("totable", "17592186044416")},
       {"return raised(T.fill, B, "
        "setmetatable({}, { __len = function() return 1 << 40 end }))",
        WORK("fill", "17592186044416")},
       {"return raised(tile.copy, B, B)", WORK("copy", "1099511627776")},
       {"return raised(tile.plan, B, B)", WORK("copy", "1099511627776")},
       {"return raised(tile.gemm, T:view(layout({10, 1 << 40}, {0, 0})),\n"
        "  T:view(layout({10, 1 << 40}, {0, 0})), U)",
        WORK("gemm", "109951162777600")},
       {"local W = T:view(layout({1 << 32, 1 << 30}, {0, 0})) "
        "return raised(tile.gemm, W, W, U)",
        WORK("gemm", "18446744073709551615")},
       {"return raised(tile.einsum, 'mk,nk->mn', T:view(layout({10, 1 << 40}, {0, 0})),\n"
        "  T:view(layout({10, 1 << 40}, {0, 0})), U)",
        WORK("gemm", "109951162777600")},
       {"local p = tile.plan(T, S) return raised(p.measure, p, 10)", "done"},
       {"local p = tile.plan(T, S) return raised(p.measure, p, 1 << 30)",
        WORK("measure", "107374182400")},
       {"local p = tile.plan(T, S) return raised(tile.tune, p, { rounds = 10000 })\n"
        "  :match 'tune: the work of'",
        "tune: the work of"},
       {"return raised(tile.print_layout, layout { 2, 2 })",
        WORK("print_layout", "1024")},
       {"return raised(tile.print_layout, layout { 2000, 2000 })",
        WORK("print_layout", "1024000000")},
       {"return raised(D.graph, D, function() for i = 1, 9 do tile.copy(T, S) end end)",
        "done"},
       {"return raised(D.graph, D, function() for i = 1, 11 do tile.copy(T, S) end end)",
        WORK("graph", "1100")}};
  char all[4096];
  mt_lua_config c = {.size = sizeof c, .work = 1000};
  snprintf(all, sizeof all, "%s%s", begin,
           "D = device() T = tensor('f32', layout(100)) S = tensor('f32', layout(100))\n"
           "U = tensor('f32', layout { 10, 10 }) B = T:view(layout(1 << 40, 0))\n");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *got = run(&c, all, rows[i].code);
    CHECK(strcmp(got, rows[i].want) == 0, "%s\n  wanted \"%s\"\n  got    \"%s\"",
          rows[i].code, rows[i].want, got);
  }
}

void test_limits (const char *libcuda) {
  test_devices(libcuda);
  test_threads();
  test_bytes();
  test_packing(libcuda);
  test_pieces(libcuda);
  test_work();
}
