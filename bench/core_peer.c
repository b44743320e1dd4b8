/*
** core_peer.c - the operations of the core in a loop of C: what a C program sees.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "moontile.h"
#include "peer.h"

typedef struct job {
  mt_status (*run)(const struct job *j, mt_layout *out, mt_err *err);
  mt_layout a, b;
} job;

static mt_status composition (const job *j, mt_layout *out, mt_err *err) {
  return mt_composition(out, j->a.node, j->b.node, err);
}
static mt_status complement (const job *j, mt_layout *out, mt_err *err) {
  return mt_complement(out, NULL, j->a.node, j->b.node->shape, err);
}
static mt_status logical_divide (const job *j, mt_layout *out, mt_err *err) {
  return mt_logical_divide(out, j->a.node, j->b.node, err);
}
static mt_status coalesce (const job *j, mt_layout *out, mt_err *err) {
  return mt_coalesce(out, j->a.node, NULL, err);
}
static mt_status evaluation (const job *j, mt_layout *out, mt_err *err) {
  return mt_at(&out->node->shape, j->a.node, j->b.node->shape, err);
}

#define ROW(f)                                                                           \
  { #f, f }
static const struct {
  const char *name;
  mt_status (*run)(const job *, mt_layout *, mt_err *);
} operations[] = {ROW(composition), ROW(complement), ROW(logical_divide), ROW(coalesce),
                  ROW(evaluation)};
enum { N = sizeof operations / sizeof *operations };

/* run (n): the operation n times. */
static int run (lua_State *L) {
  const job *j = lua_touserdata(L, lua_upvalueindex(1));
  mt_layout out;
  mt_err err = MT_NOERR;
  for (lua_Integer n = luaL_checkinteger(L, 1); n > 0; n--)
    if (j->run(j, &out, &err) != MT_OK) return luaL_error(L, "%s", err.text);
  return 0;
}

static void operand (lua_State *L, int i, mt_layout *out) {
  size_t n;
  mt_err err = MT_NOERR;
  const char *text = luaL_optlstring(L, i, "0", &n);
  if (mt_parse(out, text, n, &err) != MT_OK) luaL_error(L, "%s", err.text);
}

/* core (operation, a [, b]), texts -> run (n) */
static int core (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  lua_settop(L, 3);
  job *j = lua_newuserdatauv(L, sizeof *j, 0);
  j->run = NULL;
  for (int k = 0; k < N; k++)
    if (strcmp(operations[k].name, name) == 0) j->run = operations[k].run;
  if (j->run == NULL) return luaL_error(L, "core: no operation '%s'", name);
  operand(L, 2, &j->a);
  operand(L, 3, &j->b);
  lua_pushcclosure(L, run, 1);
  return 1;
}

void peer_open_core (lua_State *L) {
  static const luaL_Reg functions[] = {{"core", core}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
