/*
** host_atom.c - atoms that a host adds to a state: scripts have them by their names.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/atom.h"

static const char key[] = "moontile.HostAtoms"; /* its address is that of the table */

/* Pushes the table of them, by "class name". */
static void push_table (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

bool lmt_pushhostatom (lua_State *L, const char *name, const char *class) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TTABLE) return lua_pop(L, 1), false;
  lua_pushfstring(L, "%s %s", class, name);
  bool found = lua_rawget(L, -2) == LUA_TUSERDATA;
  if (found) lua_remove(L, -2);
  else lua_pop(L, 2);
  return found;
}

static void add (lua_State *L, const void *atom, size_t size, const char *name, bool own,
                 const char *class) {
  if (!own || name[0] == '\0')
    luaL_error(L, "atom: one of the host's own expected, which has a name");
  if (lmt_pushhostatom(L, name, class)) luaL_error(L, "atom: %s is there already", name);
  push_table(L);
  lua_pushfstring(L, "%s %s", class, name);
  memcpy(lua_newuserdatauv(L, size, 0), atom, size);
  luaL_setmetatable(L, class);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

MT_API void mt_lua_addmmaatom (lua_State *L, const mt_mma_atom *atom) {
  add(L, atom, sizeof *atom, atom->op.name, atom->op.own, LMT_MMAATOM);
}

MT_API void mt_lua_addcopyatom (lua_State *L, const mt_copy_atom *atom) {
  add(L, atom, sizeof *atom, atom->name, atom->own, LMT_COPYATOM);
}
