/*
** shim.c - the Python package's Lua state, and its doors.
** SPDX-License-Identifier: MIT
**
** Everything that can raise runs in a function called in protected mode, which finds its
** arguments in the state's block.
*/
#include <stdlib.h>
#include <string.h>

#include <lualib.h>

#include "moontile/dlpack.h"
#include "moontile/lua.h"
#include "state.h"

/* ---------------------------------------------------------------- notes */

static void leave_note (mtpy_state *s, note *x) {
  x->next = atomic_load(&s->notes);
  while (!atomic_compare_exchange_weak(&s->notes, &x->next, x)) {}
}

void mtpy_unref (mtpy_state *s, int64_t ref) {
  note *x = malloc(sizeof *x);
  if (x == NULL) return; /* the value lives as long as the state */
  *x = (note){.state = s, .ref = ref};
  leave_note(s, x);
}

static void release (void *owner) {
  note *x = owner;
  leave_note(x->state, x);
}

/* Nothing in here allocates. */
static void do_notes (lua_State *L, mtpy_state *s) {
  for (note *x = atomic_exchange(&s->notes, NULL), *next; x; x = next) {
    next = x->next;
    if (x->pinned && lua_rawgeti(L, LUA_REGISTRYINDEX, x->ref) == LUA_TUSERDATA)
      mt_lua_unpin(L, -1);
    if (x->pinned) lua_pop(L, 1);
    luaL_unref(L, LUA_REGISTRYINDEX, (int)x->ref);
    free(x);
  }
}

/* ---------------------------------------------------------------- calls */

/* Of a call that failed in its middle: nobody sees these. */
static void forget_results (lua_State *L, mtpy_state *s) {
  for (int64_t i = 0; i < s->count; i++)
    if (s->list[i].kind == MTPY_REF) luaL_unref(L, LUA_REGISTRYINDEX, (int)s->list[i].i);
  s->count = 0;
}

/* The text on the top. */
static int keep_error (mtpy_state *s) {
  size_t n;
  const char *text = lua_tolstring(s->L, -1, &n);
  if (text == NULL) text = "an error that has no text", n = strlen(text);
  free(s->error);
  s->error = malloc(n + 1);
  if (s->error) memcpy(s->error, text, n + 1);
  lua_settop(s->L, 0);
  return 1;
}

static int text_of (lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* f(s) in protected mode. */
static int protect (mtpy_state *s, lua_CFunction f) {
  lua_State *L = s->L;
  s->count = 0;
  lua_settop(L, 0);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, s);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return 0;
  forget_results(L, s);
  if (lua_type(L, -1) != LUA_TSTRING) { /* tostring may raise */
    lua_pushcfunction(L, text_of);
    lua_insert(L, -2);
    lua_pcall(L, 1, 1, 0);
  }
  return keep_error(s);
}

static mtpy_state *begin (lua_State *L) {
  mtpy_state *s = lua_touserdata(L, 1);
  do_notes(L, s);
  lua_settop(L, 0);
  return s;
}

/* The function of the module or the method is put below the arguments. */
static void insert_function (lua_State *L, const mtpy_state *s) {
  if (s->what == MTPY_METHOD) luaL_checkany(L, 1);
  if (s->what == MTPY_FUNCTION) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "moontile");
    lua_remove(L, -2);
  } else lua_pushvalue(L, 1);
  lua_getfield(L, -1, s->name);
  lua_remove(L, -2);
  lua_insert(L, 1);
}

/* The text becomes a function of nothing, whose globals are those at 1, then Lua's. */
static void insert_chunk (lua_State *L, const mtpy_state *s) {
  lua_createtable(L, 0, 1);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, 1);
  if (luaL_loadbufferx(L, s->name, strlen(s->name), "=lua", "t") != LUA_OK) lua_error(L);
  lua_insert(L, 1);
  lua_pushvalue(L, 2);
  lua_setupvalue(L, 1, 1);
  lua_settop(L, 1);
}

static void operate (lua_State *L, const mtpy_state *s) {
  luaL_checkstack(L, LUA_MINSTACK, "python");
  switch (s->what) {
    case MTPY_MULTIPLY: lua_arith(L, LUA_OPMUL); break;
    case MTPY_DIVIDE: lua_arith(L, LUA_OPDIV); break;
    case MTPY_EQUAL: lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPEQ)); break;
    case MTPY_LENGTH: lua_len(L, 1); break;
    case MTPY_INDEX: lua_gettable(L, 1); break;
    default: luaL_tolstring(L, 1, NULL);
  }
  lua_insert(L, 1);
  lua_settop(L, 1);
}

static int call (lua_State *L) {
  mtpy_state *s = begin(L);
  mtpy_begin_answer(L, s);
  for (int i = 0; i < s->given; i++) mtpy_push(L, s);
  if (s->what == MTPY_FUNCTION || s->what == MTPY_METHOD) insert_function(L, s);
  else if (s->what == MTPY_RUN) insert_chunk(L, s);
  if (s->what >= MTPY_MULTIPLY && s->what <= MTPY_TEXT) operate(L, s);
  else lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  mtpy_read_results(L, s, 1);
  return 0;
}

int mtpy_call (mtpy_state *s, int what, const char *name, int count,
               const mtpy_value *args, int64_t n) {
  s->what = what;
  s->name = name;
  s->given = count;
  s->at = args;
  s->end = args + n;
  return protect(s, call);
}

static int launch (lua_State *L) {
  const mtpy_state *s = begin(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->ref);
  if (s->stream) lua_rawgeti(L, LUA_REGISTRYINDEX, s->stream);
  lua_call(L, s->stream ? 1 : 0, 0);
  return 0;
}

int mtpy_launch (mtpy_state *s, int64_t plan, int64_t stream) {
  s->ref = plan;
  s->stream = stream;
  return protect(s, launch);
}

/* ---------------------------------------------------------------- memory of others */

static int import (lua_State *L) {
  mtpy_state *s = begin(L);
  void *m = s->managed;
  mtpy_begin_answer(L, s);
  s->managed = NULL;
  if (s->versioned) mt_lua_pushdlpack(L, m);
  else mt_lua_pushunversioned(L, m);
  mtpy_read_results(L, s, 1);
  return 0;
}

int mtpy_import (mtpy_state *s, void *managed, int versioned) {
  s->managed = managed;
  s->versioned = versioned != 0;
  int status = protect(s, import);
  if (s->managed == NULL) return status; /* it was taken, or deleted */
  if (versioned) mt_dlpack_delete(s->managed);
  else mt_unversioned_delete(s->managed);
  return status;
}

/* Where the tensor at 1 lies, as DLPack counts devices. */
static mt_dlpack where (lua_State *L) {
  mt_dlpack about = {MT_DLPACK_CPU, 0, false, false};
  lua_getfield(L, 1, "device");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  const char *name = luaL_tolstring(L, -1, NULL);
  if (strncmp(name, "cuda:", 5) == 0)
    about.device = MT_DLPACK_CUDA, about.id = atoi(name + 5);
  lua_pop(L, 2);
  return about;
}

/* The note is this tensor's: it travels with the export and comes back to the state. */
static int export_tensor (lua_State *L) {
  mtpy_state *s = begin(L);
  note *x = s->managed;
  mt_tensor t;
  mt_err err = MT_NOERR;
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->ref);
  const mt_dlpack about = where(L);
  lua_pushvalue(L, 1);
  x->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  mt_lua_totensor(L, 1, &t);
  struct DLManagedTensorVersioned *m;
  struct DLManagedTensor *old;
  mt_status status =
      s->versioned ? mt_tensor_to_dlpack(&m, &t, &about, release, x, NULL, &err) :
                     mt_tensor_to_unversioned(&old, &t, &about, release, x, NULL, &err);
  if (status != MT_OK) return luaL_error(L, "%s", err.text);
  mt_lua_pin(L, 1);
  x->pinned = true;
  s->managed = s->versioned ? (void *)m : (void *)old;
  return 0;
}

int mtpy_export (mtpy_state *s, int64_t tensor, int versioned, void **out) {
  note *x = malloc(sizeof *x);
  if (x == NULL) return free(s->error), s->error = NULL, 1;
  *x = (note){.state = s, .ref = LUA_NOREF};
  s->managed = x;
  s->ref = tensor;
  s->versioned = versioned != 0;
  if (protect(s, export_tensor)) return leave_note(s, x), 1;
  *out = s->managed;
  return 0;
}

static int stream (lua_State *L) {
  mtpy_state *s = begin(L);
  mtpy_begin_answer(L, s);
  mt_lua_pushstream(L, s->name, s->managed);
  mtpy_read_results(L, s, 1);
  return 0;
}

int mtpy_stream (mtpy_state *s, const char *device, uint64_t handle) {
  s->name = device;
  s->managed = (void *)(uintptr_t)handle;
  return protect(s, stream);
}

/* ---------------------------------------------------------------- capsules */

static int (*is_valid)(void *, const char *);
static void *(*get_pointer)(void *, const char *);

void mtpy_python (int (*valid)(void *, const char *),
                  void *(*pointer)(void *, const char *)) {
  is_valid = valid;
  get_pointer = pointer;
}

void mtpy_drop (void *capsule) {
  static const char versioned[] = "dltensor_versioned", old[] = "dltensor";
  if (is_valid(capsule, versioned)) mt_dlpack_delete(get_pointer(capsule, versioned));
  else if (is_valid(capsule, old)) mt_unversioned_delete(get_pointer(capsule, old));
}

/* ---------------------------------------------------------------- the state */

static int open (lua_State *L) {
  mtpy_state *s = lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  lua_newtable(L);
  s->answer = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

mtpy_state *mtpy_open (void) {
  mtpy_state *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->L = luaL_newstate();
  if (s->L && protect(s, open) == 0) return s;
  if (s->L) lua_close(s->L);
  free(s->error);
  free(s);
  return NULL;
}

const char *mtpy_error (const mtpy_state *s) {
  return s->error ? s->error : "not enough memory";
}

const mtpy_value *mtpy_results (const mtpy_state *s, int64_t *n) {
  *n = s->count;
  return s->list;
}

int mtpy_operation (int i, const char **at, const char **name, const char **takes) {
  mt_lua_operation o;
  if (!mt_lua_operation_at(&o, i)) return 0;
  *at = o.where;
  *name = o.name;
  *takes = o.takes;
  return 1;
}
