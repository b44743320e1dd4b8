/*
** device.c - memory and streams of a GPU that the host has: used where they are, and never
** closed here; what is pinned is not freed.
** SPDX-License-Identifier: MIT
*/
#include "host.h"
#include "moontile/dlpack.h"

enum { N = 64 };

typedef struct gpu {
  mt_device *d;
  mt_stream *stream;
  float *memory; /* of the device */
  int released;
} gpu;

static const mt_node line = {.tag = MT_LEAF, .span = 1, .shape = N, .stride = 1};

static void release (void *owner) { ++*(int *)owner; }

static struct DLManagedTensorVersioned *lend (gpu *g, int id) {
  struct DLManagedTensorVersioned *m = NULL;
  mt_err err = MT_NOERR;
  const mt_dlpack about = {MT_DLPACK_CUDA, id, false, false};
  const mt_tensor t = {.layout = &line,
                       .dtype = MT_f32,
                       .data = g->memory,
                       .bytes = N * sizeof(float)};
  CHECK(!mt_tensor_to_dlpack(&m, &t, &about, release, &g->released, NULL, &err), "%s",
        err.text);
  return m;
}

static void pin (lua_State *L) {
  static const char code[] = "local ok, why = pcall(T.free, T) "
                             "assert(not ok and why:match 'the host uses', why) "
                             "local v = T(tile._) v:free() assert(T(1) == 3)";
  lua_getglobal(L, "T");
  mt_lua_pin(L, -1);
  if (luaL_dostring(L, code)) lua_error(L);
  mt_lua_unpin(L, -1);
  lua_pop(L, 1);
}

static int in_lua (lua_State *L) {
  static const char code[] = "assert(tostring(legacy) == 'stream of cuda:0') "
                             "local U = tile.tensor('f32', T:layout(), 'cuda:0') "
                             "T:fill(3) tile.copy(T, U, stream) stream:synchronize() "
                             "assert(tostring(T:device()) == 'cuda:0') "
                             "local p = tile.plan(T, U) T:fill(4) p(stream) "
                             "stream:synchronize() T:fill(3) "
                             "local D = T:device() assert(D == device) "
                             "assert(tile.device{ 'cuda:0' }:name() == 'cuda:0') "
                             "D:wait(stream) stream:wait() stream:wait(D) "
                             "D:stream():wait(stream) "
                             "assert(not pcall(D.wait, D)) "
                             "assert(not pcall(stream.wait, stream, tile.device 'cpu')) "
                             "assert(W:layout() == T:layout() and W:device() == D) "
                             "assert(W(7) == 3) "
                             "stream:close() return tostring(U(5))";
  gpu *g = lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  mt_lua_pushdevice(L, g->d);
  lua_setglobal(L, "device");
  mt_lua_pushdlpack(L, lend(g, 0));
  lua_setglobal(L, "T");
  mt_lua_pushdevicetensor(L, "cuda:0", MT_f32, &line, g->memory, N * sizeof(float));
  lua_setglobal(L, "W");
  mt_lua_pushstream(L, "cuda:0", g->stream);
  lua_setglobal(L, "stream");
  mt_lua_pushstream(L, "cuda:0", NULL);
  lua_setglobal(L, "legacy");
  if (luaL_dostring(L, code)) return lua_error(L);
  pin(L);
  return 1;
}

static int twice (lua_State *L) {
  gpu *g = lua_touserdata(L, 1);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  mt_lua_pushdevice(L, g->d);
  mt_lua_pushdevice(L, g->d);
  return 0;
}

/* ---- atoms of the host's, by their names */

static void parse (mt_layout *out, const char *text) {
  mt_err err = MT_NOERR;
  CHECK(!mt_parse(out, text, strlen(text), &err), "%s", err.text);
}

static void add_atoms (lua_State *L) {
  mt_mma_op op = {.name = "mine", .m = 2, .n = 2, .k = 1};
  mt_mma_atom mma;
  mt_copy_atom copy;
  mt_layout two, four;
  mt_err err = MT_NOERR;
  for (int i = 0; i < MT_OPERANDS; i++)
    op.operand[i] = (mt_operand){MT_ELEMENT_f32, 1, MT_REG};
  parse(&two, "(1,2):(0,1)");
  parse(&four, "(1,4):(0,1)");
  CHECK(!mt_mma_atom_make(&mma, &op, NULL, two.node, two.node, four.node, &err), "%s",
        err.text);
  CHECK(!mt_copy_atom_make(&copy, "mine", 32, NULL, two.node, two.node, NULL, &err), "%s",
        err.text);
  mt_lua_addmmaatom(L, &mma);
  mt_lua_addcopyatom(L, &copy);
  if (lua_toboolean(L, 2)) mt_lua_addmmaatom(L, &mma);
}

static int use_atoms (lua_State *L) {
  static const char code[] =
      "assert(tile.mma_atom 'mine'.arch == 'own') "
      "assert(not pcall(tile.mma_atom, 'yours')) "
      "assert(tile.copy_atom 'mine'.bits == 32 and tile.copy_atom('mine', 16).bits == 16) "
      "local m = tile.tiled_mma{ atom = 'mine', atoms = tile.layout{4, 4} } "
      "local A, C = tile.tensor('f32', tile.layout{8, 4}), "
      "tile.tensor('f32', tile.layout{8, 8}) A:fill(2) tile.gemm(m, A, A, C) "
      "return tostring(C(7, 7))";
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  add_atoms(L);
  if (luaL_dostring(L, code)) return lua_error(L);
  return 1;
}

static int refused (lua_State *L) {
  gpu *g = lua_touserdata(L, 1);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  if (lua_toboolean(L, 2)) mt_lua_pushdlpack(L, lend(g, 7));
  mt_lua_pushstream(L, "cpu", g->stream);
  return 0;
}

static void call (gpu *g, lua_CFunction f, bool option, const char *want) {
  lua_State *L = luaL_newstate();
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, g);
  lua_pushboolean(L, option);
  lua_pcall(L, 2, 1, 0);
  const char *got = lua_tostring(L, -1);
  CHECK(got && strstr(got, want), "\"%s\", not \"%s\"", got ? got : "", want);
  lua_close(L);
}

void test_device (const char *libcuda) {
  gpu g = {.d = NULL};
  void *memory = NULL;
  mt_err err = MT_NOERR;
  mt_device_options o = {.size = sizeof o, .libcuda = libcuda};
  CHECK(!mt_device_open(&g.d, "cuda:0", &o, &err) &&
            !mt_malloc(g.d, &memory, N * sizeof(float), &err) &&
            !mt_stream_create(g.d, &g.stream, &err),
        "%s", err.text);
  g.memory = memory;
  call(&g, in_lua, false, "4.0");
  CHECK(g.released == 1, "released %d times", g.released);
  call(&g, use_atoms, false, "16.0");
  call(&g, use_atoms, true, "atom: mine is there already");
  call(&g, twice, false, "the state has opened cuda:0 already");
  call(&g, refused, false, "cpu has no streams of others");
  call(&g, refused, true, "cuda:7");
  CHECK(g.released == 2, "released %d times", g.released);
  CHECK(!mt_synchronize(g.d, g.stream, &err), "%s", err.text); /* it is open */
  mt_stream_destroy(g.d, g.stream);
  mt_free(g.d, memory, N * sizeof(float));
  mt_device_close(g.d);
}
