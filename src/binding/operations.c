/*
** operations.c - what scripts can call, from the rows of operations.def: where it is
** found, how many arguments it takes, and what is said of more.
** SPDX-License-Identifier: MIT
*/
#include <ctype.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/listed.h"

#define ROWS_ALL
#define LMT_OP(name, f, of, most, takes) {#name, NULL, of, most, takes},
#define LMT_LUA(name, of, most, takes) {#name, NULL, of, most, takes},
#define LMT_TUPLEOP(name, f, signature, of, takes, ...)                                  \
  {#name, NULL, of, MOST_##signature, takes},
#define LMT_LAYOUTOP(name, signature, of, result, takes, ...)                            \
  {#name, NULL, of, MOST_##signature, takes},
const lmt_operation lmt_operations[] = {
#include "binding/operations.def"
    {NULL, NULL, 0, 0, NULL}};
#undef LMT_OP
#undef LMT_TUPLEOP
#undef LMT_LAYOUTOP
#undef LMT_LUA
#undef ROWS_ALL

/* ---------------------------------------------------------------- surplus arguments */

static bool is_word (char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip (const char *s, bool words) {
  while (*s && is_word(*s) == words) s++;
  return s;
}

/* What a method takes behind self; an optional argument may come before self. */
static const char *behind_self (const char *takes) {
  if (*takes == '[') takes = strchr(takes, ']') + 1;
  const char *comma = strchr(takes, ',');
  return comma == NULL ? "" : comma[-1] == '[' ? comma - 1 : comma + 2;
}

/* How the function at hand was called: "A:size", "plan" (a plan, called), "size". */
static const char *push_name (lua_State *L, const char *name, const char *takes,
                              bool *method) {
  lua_Debug at;
  bool called = strcmp(name, "__call") == 0;
  const char *self = *takes == '[' ? strchr(takes, ']') + 2 : takes;
  *method = called || (lua_getstack(L, 0, &at) && lua_getinfo(L, "n", &at) &&
                       strcmp(at.namewhat, "method") == 0);
  if (!*method) return lua_pushstring(L, name);
  lua_pushlstring(L, self, (size_t)(skip(self, true) - self));
  return called ? lua_tostring(L, -1) :
                  lua_pushfstring(L, "%s:%s", lua_tostring(L, -1), name);
}

/* The row that was called by this name. */
static const lmt_operation *row_of (const char *name, bool method) {
  for (const lmt_operation *row = lmt_operations; row->name; row++)
    if (strcmp(row->name, name) == 0 && row->takes[0] &&
        (row->of & OF_TILE ? !method : method))
      return row;
  return NULL;
}

const char *lmt_takes (lua_State *L) {
  lua_Debug at;
  if (!lua_getstack(L, 0, &at) || !lua_getinfo(L, "n", &at) || at.name == NULL) return "";
  bool method = strcmp(at.namewhat, "method") == 0;
  const lmt_operation *row = row_of(at.name, method);
  if (row == NULL && method) row = row_of(at.name, false);
  const char *takes = row == NULL ? "" : method ? behind_self(row->takes) : row->takes;
  if (*takes == '\0') return "";
  return lua_pushfstring(L, "; %s takes %s", at.name, takes);
}

/* Pushes "at most 2 arguments (A, tiler)". */
static const char *push_takes (lua_State *L, int most, const char *takes) {
  const char *open = "";
  if (most == 0) return lua_pushliteral(L, "takes no arguments");
  if (takes[0] == '[' && takes[1] == ',') open = "[", takes += 3;
  return lua_pushfstring(L, "at most %d argument%s (%s%s)", most, most == 1 ? "" : "s",
                         open, takes);
}

/* The name of the argument i, from 1, as a word of `takes`: where it is and how long. */
static const char *word_at (const char *takes, int i, size_t *n) {
  while (--i > 0 && takes) takes = strchr(takes, ','), takes = takes ? takes + 1 : NULL;
  const char *word = takes ? skip(takes, false) : "";
  *n = (size_t)(skip(word, true) - word);
  return word;
}

/* Whether an argument of this name has a value for each mode. */
static bool is_by_mode (const char *word, size_t n) {
  static const char *const names[] = {"tiler", "shape", "coordinate", "profile", "order"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == n && strncmp(names[i], word, n) == 0) return true;
  return false;
}

/* Pushes a way out: where one table was meant, all arguments from there on are integers.
** */
static const char *push_advice (lua_State *L, int most, const char *takes) {
  size_t n;
  int top = lua_gettop(L), first = top + 1;
  while (first > 1 && lua_isinteger(L, first - 1)) first--;
  if (first > most || top - first > 8) return lua_pushliteral(L, "");
  const char *word = word_at(takes, first, &n);
  if (!is_by_mode(word, n)) return lua_pushliteral(L, "");
  lua_pushlstring(L, word, n);
  lua_pushfstring(L, "\na %s of several modes is one table: {", lua_tostring(L, -1));
  for (int i = first; i <= top; i++)
    lua_pushfstring(L, "%s%s%I", lua_tostring(L, -1), i > first ? ", " : "",
                    (LUAI_UACINT)lua_tointeger(L, i));
  return lua_pushfstring(L, "%s}", lua_tostring(L, -1));
}

void lmt_surplus (lua_State *L, int most, const char *name, const char *takes) {
  bool method;
  int n = lua_gettop(L);
  while (n > most && lua_isnil(L, n)) n--;
  lua_settop(L, n);
  if (n <= most) return;
  luaL_checkstack(L, 32, NULL);
  const char *advice = push_advice(L, most, takes);
  const char *what = push_name(L, name, takes, &method);
  takes = push_takes(L, most - method, method ? behind_self(takes) : takes);
  luaL_error(L, "%s: %s, got %d%s", what, takes, n - method, advice);
}

/* ---------------------------------------------------------------- registration */

void lmt_addrow (lua_State *L, const lmt_operation *row) {
  lmt_addmethod(L, row->of, row->name);
  if (row->of & OF_INNER) {
    lmt_pushinner(L);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, row->name);
    lua_pop(L, 1);
  }
  if (row->of & OF_TILE) lua_setfield(L, -2, row->name);
  else lua_pop(L, 1);
}

void lmt_addserved (lua_State *L, const lmt_operation *row, const void *self) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)self);
  lua_pushcclosure(L, row->f, 1);
  lmt_addrow(L, row);
}

void lmt_addrows (lua_State *L, const lmt_operation *rows) {
  for (const lmt_operation *row = rows; row->name; row++) {
    lua_pushcfunction(L, row->f);
    lmt_addrow(L, row);
  }
}

/* ---------------------------------------------------------------- written in Lua */

static const lmt_operation lua_rows[] = {
#define LMT_LUA(name, of, most, takes) {#name, NULL, of, most, takes},
#define ROWS_LUA
#include "binding/operations.def"
#undef ROWS_LUA
    {NULL, NULL, 0, 0, NULL}};

/* The text of an error without the position in one of our own files. */
static const char *without_position (const char *s) {
  if (strncmp(s, "moontile/", 9) != 0) return s;
  const char *p = strstr(s, ".lua:");
  if (p == NULL || p[5] == '\0') return s;
  p += 5 + strspn(p + 5, "0123456789");
  return strncmp(p, ": ", 2) == 0 ? p + 2 : s;
}

/* What the function returned, or what it raised, at the caller's line. */
static int end_lua (lua_State *L, int status, lua_KContext context) {
  (void)context;
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L);
  if (lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_pushstring(L, without_position(lua_tostring(L, -2)));
    lua_concat(L, 2);
  }
  return lua_error(L);
}

void lmt_callplaced (lua_State *L, int n) {
  if (lua_pcall(L, n, 1, 0) != LUA_OK) end_lua(L, LUA_ERRRUN, 0);
}

/* Upvalues: the function, its row. */
static int call_lua (lua_State *L) {
  const lmt_operation *row = lua_touserdata(L, lua_upvalueindex(2));
  LMT_COUNT(L, row->most, row->name, row->takes);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  int status = lua_pcallk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, 0, end_lua);
  return end_lua(L, status, 0);
}

/* check_options(what, options, keys...): no other keys are in the table. */
static int l_check_options (lua_State *L) {
  enum { MOST = 16 };
  const char *keys[MOST + 1] = {NULL};
  int n = lua_gettop(L) - 2;
  if (n > MOST) return luaL_error(L, "check_options: too many keys");
  for (int i = 0; i < n; i++) keys[i] = luaL_checkstring(L, i + 3);
  lmt_checkkeys(L, 2, luaL_checkstring(L, 1), keys);
  return 0;
}

#define ROWS_OPERATIONS
#include "binding/rows.h"

void lmt_open_operations (lua_State *L) { lmt_addrows(L, rows); }

void lmt_addlua (lua_State *L) {
  for (const lmt_operation *row = lua_rows; row->name; row++) {
    lua_pushvalue(L, -2);
    if (lua_getfield(L, -2, row->name) != LUA_TFUNCTION)
      luaL_error(L, "moontile: %s is not there", row->name);
    lua_pushlightuserdata(L, (void *)(uintptr_t)row);
    lua_pushcclosure(L, call_lua, 2);
    lmt_addrow(L, row);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------- for completion */

MT_API bool mt_lua_operation_at (mt_lua_operation *out, int i) {
  for (const lmt_operation *row = lmt_operations; row->name; row++) {
    for (int of = OF_TILE; of < OF_INNER; of <<= 1) {
      if (!(row->of & of) || i-- != 0) continue;
      *out = (mt_lua_operation){lmt_where(of), row->name, row->takes,
                                row->most < MANY ? row->most : -1};
      return true;
    }
  }
  return false;
}

int lmt_listoperations (lua_State *L) {
  mt_lua_operation o;
  lua_newtable(L);
  for (int i = 0; mt_lua_operation_at(&o, i); i++) {
    lua_createtable(L, 0, 4);
    lua_pushstring(L, o.where);
    lua_setfield(L, -2, "where");
    lua_pushstring(L, o.name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, o.takes);
    lua_setfield(L, -2, "takes");
    lua_pushinteger(L, o.most);
    lua_setfield(L, -2, "most");
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}
