/*
** values.c - values of Python as those of Lua, and back: arrays of structs, in preorder.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <string.h>

#include "moontile/lua.h"
#include "state.h"

enum { DEEPEST = 32 };

/* ---------------------------------------------------------------- arguments */

static void push_value (lua_State *L, mtpy_state *s, int depth);

static void push_sequence (lua_State *L, mtpy_state *s, int64_t n, int depth) {
  lua_createtable(L, n < 64 ? (int)n : 64, 0);
  for (int64_t i = 1; i <= n; i++) {
    push_value(L, s, depth);
    lua_rawseti(L, -2, i);
  }
}

static void push_table (lua_State *L, mtpy_state *s, int64_t n, int depth) {
  lua_newtable(L);
  for (int64_t i = 0; i < n; i++) {
    push_value(L, s, depth);
    push_value(L, s, depth);
    lua_rawset(L, -3);
  }
}

static void push_wildcard (lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "moontile");
  lua_getfield(L, -1, "_");
  lua_replace(L, -3);
  lua_pop(L, 1);
}

/* A tensor over memory of DLPack, which is taken, by an error too. */
static void push_managed (lua_State *L, uint64_t managed) {
  void *m = (void *)(uintptr_t)(managed & ~(uint64_t)1);
  if (managed & 1) mt_lua_pushdlpack(L, m);
  else mt_lua_pushunversioned(L, m);
}

static void push_value (lua_State *L, mtpy_state *s, int depth) {
  if (depth > DEEPEST) luaL_error(L, "python: arguments nested deeper than %d", DEEPEST);
  if (s->at == s->end) luaL_error(L, "python: an argument is missing");
  luaL_checkstack(L, 8, "python");
  const mtpy_value *v = s->at++;
  switch (v->kind) {
    case MTPY_BOOLEAN: lua_pushboolean(L, v->i != 0); break;
    case MTPY_INTEGER: lua_pushinteger(L, v->i); break;
    case MTPY_NUMBER: lua_pushnumber(L, v->d); break;
    case MTPY_STRING: lua_pushlstring(L, v->s, (size_t)v->n); break;
    case MTPY_SEQUENCE: push_sequence(L, s, v->n, depth + 1); break;
    case MTPY_TABLE: push_table(L, s, v->n, depth + 1); break;
    case MTPY_REF: lua_rawgeti(L, LUA_REGISTRYINDEX, v->i); break;
    case MTPY_WILDCARD: push_wildcard(L); break;
    case MTPY_DLPACK: push_managed(L, (uint64_t)v->i); break;
    default: lua_pushnil(L);
  }
}

void mtpy_push (lua_State *L, mtpy_state *s) { push_value(L, s, 0); }

/* ---------------------------------------------------------------- results */

static mtpy_value *add (lua_State *L, mtpy_state *s) {
  if (s->count == s->room) {
    int64_t room = s->room ? 2 * s->room : 64;
    void *p = realloc(s->list, (size_t)room * sizeof *s->list);
    if (p == NULL) luaL_error(L, "python: no memory for the results");
    s->list = p;
    s->room = room;
  }
  s->list[s->count] = (mtpy_value){.kind = MTPY_NIL};
  return &s->list[s->count++];
}

static void read_value (lua_State *L, mtpy_state *s, int depth);

/* Keeps the string on the top alive until the next call; pops it. */
static const char *keep (lua_State *L, mtpy_state *s, size_t *n) {
  const char *text = lua_tolstring(L, -1, n);
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->answer);
  lua_insert(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
  return text;
}

/* The class of the value on the top, as its metatable has it, else its type. */
static const char *class_of (lua_State *L, mtpy_state *s) {
  int type = luaL_getmetafield(L, -1, "__name");
  if (type == LUA_TSTRING) return keep(L, s, NULL);
  if (type != LUA_TNIL) lua_pop(L, 1);
  return luaL_typename(L, -1);
}

static void read_ref (lua_State *L, mtpy_state *s) {
  const char *class = class_of(L, s);
  int64_t at = s->count;
  *add(L, s) = (mtpy_value){.kind = MTPY_NIL, .s = class};
  lua_pushvalue(L, -1);
  s->list[at].i = luaL_ref(L, LUA_REGISTRYINDEX);
  s->list[at].kind = MTPY_REF;
}

static int64_t pairs_of (lua_State *L) {
  int64_t n = 0;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) n++;
  return n;
}

static void read_table (lua_State *L, mtpy_state *s, int depth) {
  int64_t n = (int64_t)lua_rawlen(L, -1), pairs = pairs_of(L);
  bool is_sequence = n == pairs;
  *add(L, s) = (mtpy_value){.kind = is_sequence ? MTPY_SEQUENCE : MTPY_TABLE, .n = pairs};
  for (int64_t i = 1; is_sequence && i <= n; i++, lua_pop(L, 1)) {
    lua_rawgeti(L, -1, i);
    read_value(L, s, depth);
  }
  if (is_sequence) return;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    read_value(L, s, depth);
    lua_pop(L, 1);
    read_value(L, s, depth);
  }
}

/* A table without a class, or a tuple. */
static bool is_plain (lua_State *L) {
  if (lua_type(L, -1) != LUA_TTABLE) return false;
  int type = luaL_getmetafield(L, -1, "__name");
  if (type == LUA_TNIL) return true;
  bool tuple = type == LUA_TSTRING && strcmp(lua_tostring(L, -1), "moontile.Tuple") == 0;
  lua_pop(L, 1);
  return tuple;
}

/* The value on the top, which stays. */
static void read_value (lua_State *L, mtpy_state *s, int depth) {
  if (depth > DEEPEST) luaL_error(L, "python: results nested deeper than %d", DEEPEST);
  luaL_checkstack(L, 8, "python");
  size_t n = 0;
  mtpy_value v = {.kind = MTPY_NIL};
  switch (lua_type(L, -1)) {
    case LUA_TNIL: break;
    case LUA_TBOOLEAN: v.kind = MTPY_BOOLEAN, v.i = lua_toboolean(L, -1); break;
    case LUA_TNUMBER:
      v.kind = lua_isinteger(L, -1) ? MTPY_INTEGER : MTPY_NUMBER;
      v.i = lua_tointeger(L, -1), v.d = lua_tonumber(L, -1);
      break;
    case LUA_TSTRING:
      lua_pushvalue(L, -1);
      v.s = keep(L, s, &n);
      v.kind = MTPY_STRING, v.n = (int64_t)n;
      break;
    default:
      if (is_plain(L)) read_table(L, s, depth + 1);
      else read_ref(L, s);
      return;
  }
  *add(L, s) = v;
}

void mtpy_begin_answer (lua_State *L, mtpy_state *s) {
  lua_newtable(L);
  lua_rawseti(L, LUA_REGISTRYINDEX, s->answer);
}

void mtpy_read_results (lua_State *L, mtpy_state *s, int first) {
  int n = lua_gettop(L) - first + 1;
  *add(L, s) = (mtpy_value){.kind = MTPY_SEQUENCE, .n = n};
  for (int i = 0; i < n; i++) {
    lua_pushvalue(L, first + i);
    read_value(L, s, 0);
    lua_pop(L, 1);
  }
}

/* ---------------------------------------------------------------- answers */

static size_t text_bytes (const mtpy_value *v) {
  if (v->s == NULL) return 0;
  return (v->kind == MTPY_STRING ? (size_t)v->n : strlen(v->s)) + 1;
}

mtpy_value *mtpy_pack (const mtpy_state *s) {
  size_t n = (size_t)s->count, bytes = n * sizeof *s->list;
  for (size_t i = 0; i < n; i++) bytes += text_bytes(&s->list[i]);
  mtpy_value *out = malloc(bytes);
  if (out == NULL) return NULL;
  char *text = (char *)(out + n);
  memcpy(out, s->list, n * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    bytes = text_bytes(&out[i]);
    if (bytes == 0) continue;
    memcpy(text, out[i].s, bytes);
    out[i].s = text;
    text += bytes;
  }
  return out;
}

mtpy_value *mtpy_fail (const char *text, size_t n) {
  mtpy_value *out = malloc(sizeof *out + n + 1);
  if (out == NULL) return NULL;
  char *to = (char *)(out + 1);
  memcpy(to, text, n);
  to[n] = '\0';
  *out = (mtpy_value){.kind = MTPY_ERROR, .n = (int64_t)n, .s = to};
  return out;
}
