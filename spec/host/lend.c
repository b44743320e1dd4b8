/*
** lend.c - memory that the host lends: what is refused, and that it is not touched after
** the host has taken it back, in the middle of a call too.
** SPDX-License-Identifier: MIT
*/
#include "host.h"

enum { N = 8 };

static const mt_node line = {.tag = MT_LEAF, .span = 1, .shape = N, .stride = 1};
static const mt_node empty = {.tag = MT_LEAF, .span = 1, .shape = 0, .stride = 1};
static const mt_node negative = {.tag = MT_LEAF, .span = 1, .shape = -N, .stride = 1};
static const mt_node number = {.tag = MT_INT, .span = 1, .shape = N};

/* ---------------------------------------------------------------- what is refused */

typedef struct lent {
  int dtype;
  const mt_node *layout;
  bool null;
  size_t bytes;
  const char *want; /* in the message; "" if it is taken */
} lent;

static const lent rows[] = {{MT_f32, &line, false, 4 * N, ""},
                            {MT_f32, &empty, false, 0, ""},
                            {MT_f32, &empty, true, 0, ""},
                            {MT_NDTYPE, &line, false, 4 * N, "is no dtype"},
                            {-1, &line, false, 4 * N, "is no dtype"},
                            {1 << 20, &line, false, 4 * N, "is no dtype"},
                            {MT_f32, &line, true, 4 * N, "data is NULL"},
                            {MT_f32, &line, true, 0, "of a buffer of 0 elements"},
                            {MT_f32, NULL, false, 4 * N, "layout is NULL"},
                            {MT_f32, &negative, false, 4 * N, "is negative"},
                            {MT_f32, &number, false, 4 * N, "a layout expected"},
                            {MT_f32, &line, false, 4 * N - 1,
                             "of a buffer of 7 elements"},
                            {MT_f64, &line, false, 4 * N, "of a buffer of 4 elements"}};

static int lend (lua_State *L) {
  const lent *x = lua_touserdata(L, 1);
  float data[N] = {0};
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  mt_lua_pushtensor(L, (mt_dtype)x->dtype, x->layout, x->null ? NULL : data, x->bytes);
  mt_lua_revoke(L, -1);
  return 0;
}

static void test_row (const lent *x) {
  lua_State *L = luaL_newstate();
  lua_pushcfunction(L, lend);
  lua_pushlightuserdata(L, (void *)(uintptr_t)x);
  const char *got = lua_pcall(L, 1, 0, 0) ? lua_tostring(L, -1) : "";
  CHECK(x->want[0] ? strstr(got, x->want) != NULL : got[0] == '\0',
        "wanted \"%s\", got \"%s\"", x->want, got);
  lua_close(L);
}

/* ---------------------------------------------------------------- what is taken back */

/* With T, lent, and revoke(): each ends in an error. */
static const char *const scripts[] = {
    "revoke() return T:totable()",
    "revoke() T:fill(1)",
    "T:fill(hooked(4))",
    "T:fill(hooked(8))",
    "local V = T:view(tile.layout(4), 2) revoke() V:fill(1)",
    "local p = tile.plan(T, tile.tensor('f32', tile.layout(8))) revoke() p()",
    "tile.copy(tile.tensor('f32', tile.layout(8)), T) revoke()"
    " tile.copy(tile.tensor('f32', tile.layout(8)), T)",
    "local U = tile.tensor('f32', tile.layout(8))"
    " local g = U:device():graph(function() tile.copy(U, T) end) revoke() g()",
};

static const char hooked[] =
    "function hooked(k)\n"
    "  return setmetatable({}, { __len = function() return 8 end,\n"
    "    __index = function(_, i) if i == k then revoke() end return i end })\n"
    "end\n";

/* Upvalue 1: the tensor; upvalue 2: its memory, which is of another now. */
static int revoke (lua_State *L) {
  mt_lua_revoke(L, lua_upvalueindex(1));
  float *data = lua_touserdata(L, lua_upvalueindex(2));
  for (int i = 0; i < N; i++) data[i] = -1;
  return 0;
}

static int revoked (lua_State *L) {
  float *data = lua_touserdata(L, 1);
  const char *script = lua_touserdata(L, 2);
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  mt_lua_pushtensor(L, MT_f32, &line, data, sizeof(float) * N);
  lua_pushvalue(L, -1);
  lua_setglobal(L, "T");
  lua_pushlightuserdata(L, data);
  lua_pushcclosure(L, revoke, 2);
  lua_setglobal(L, "revoke");
  if (luaL_dostring(L, hooked) || luaL_loadstring(L, script)) return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

static void test_script (const char *script) {
  float data[N] = {0};
  lua_State *L = luaL_newstate();
  lua_pushcfunction(L, revoked);
  lua_pushlightuserdata(L, data);
  lua_pushlightuserdata(L, (void *)(uintptr_t)script);
  const char *got = lua_pcall(L, 2, 0, 0) ? lua_tostring(L, -1) : "";
  CHECK(strstr(got, "was freed") != NULL, "%s: \"%s\"", script, got);
  for (int i = 0; i < N; i++) CHECK(data[i] == -1, "%s: writes element %d", script, i);
  lua_close(L);
}

void test_lend (void) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) test_row(&rows[i]);
  for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) test_script(scripts[i]);
}
