/*
** shim.c - the Python package's Lua state, and its doors.
** SPDX-License-Identifier: MIT
**
** Everything that can raise runs in a function called in protected mode, which finds its
** arguments in the state's block.
*/
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lualib.h>

#include "console/running.h"
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

/* ---------------------------------------------------------------- one at a time */

static const mtpy_value busy = {.kind = MTPY_BUSY};
static const mtpy_value no_memory = {.kind = MTPY_ERROR,
                                     .n = 17,
                                     .s = "not enough memory"};

void mtpy_free (mtpy_value *answer) {
  if (answer != &busy && answer != &no_memory) free(answer);
}

static mtpy_value *or_no_memory (mtpy_value *answer) {
  return answer ? answer : (mtpy_value *)(uintptr_t)&no_memory;
}

static mtpy_value *refuse (const char *text) {
  return or_no_memory(mtpy_fail(text, strlen(text)));
}

static uint64_t self (void) { return (uint64_t)pthread_self(); }

/* So long that Python sees signals in time. */
static bool wait_for (pthread_mutex_t *lock) {
  enum { WAIT = 50000000, SECOND = 1000000000 };
  struct timespec t;
  if (pthread_mutex_trylock(lock) == 0) return true;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += WAIT;
  if (t.tv_nsec >= SECOND) t.tv_sec++, t.tv_nsec -= SECOND;
  return pthread_mutex_timedlock(lock, &t) == 0;
}

/* NULL: the call of this thread is the one at hand. */
static mtpy_value *enter (mtpy_state *s) {
  if (s->lost)
    return refuse("moontile: the process forked in the middle of a call of another "
                  "thread: this child cannot use the library");
  if (atomic_load(&s->caller) == self())
    return refuse("moontile: this thread is in the middle of a call");
  if (!wait_for(&s->lock)) return (mtpy_value *)(uintptr_t)&busy;
  atomic_store(&s->caller, self());
  return NULL;
}

static void leave (mtpy_state *s) {
  atomic_store(&s->caller, 0);
  pthread_mutex_unlock(&s->lock);
}

/* The lock of another thread is held for ever. */
void mtpy_forked (mtpy_state *s) {
  uint64_t caller = atomic_load(&s->caller);
  if (caller == self()) return;
  if (caller != 0) s->lost = true;
  else pthread_mutex_init(&s->lock, NULL);
}

/* ---------------------------------------------------------------- calls */

/* Of a call that failed in its middle: nobody sees these. */
static void forget_results (lua_State *L, mtpy_state *s) {
  for (int64_t i = 0; i < s->count; i++)
    if (s->list[i].kind == MTPY_REF) luaL_unref(L, LUA_REGISTRYINDEX, (int)s->list[i].i);
  s->count = 0;
}

static int text_of (lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* The error on the top. */
static mtpy_value *read_error (lua_State *L) {
  size_t n;
  if (lua_type(L, -1) != LUA_TSTRING) { /* tostring may raise */
    lua_pushcfunction(L, text_of);
    lua_insert(L, -2);
    lua_pcall(L, 1, 1, 0);
  }
  const char *text = lua_tolstring(L, -1, &n);
  mtpy_value *answer =
      text ? or_no_memory(mtpy_fail(text, n)) : refuse("an error that has no text");
  lua_settop(L, 0);
  return answer;
}

/* f(s) in protected mode, to be ended from where it calls mtpy_listen: its results, NULL if it has read none. */
static mtpy_value *protect (mtpy_state *s, lua_CFunction f) {
  lua_State *L = s->L;
  s->count = 0;
  lua_settop(L, 0);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, s);
  int status = lua_pcall(L, 1, 0, 0);
  mtpy_unlisten(L);
  mtpy_value *answer = NULL;
  if (status == LUA_OK && s->count == 0) return NULL;
  if (status == LUA_OK) answer = mtpy_pack(s);
  if (answer == NULL) forget_results(L, s);
  return status == LUA_OK ? or_no_memory(answer) : read_error(L);
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

/* Whether it may take long; two calls of the system cost as much as a short one. */
static bool is_long (lua_State *L, const mtpy_state *s) {
  return s->what == MTPY_FUNCTION || s->what == MTPY_METHOD || s->what == MTPY_RUN ||
         (s->what == MTPY_CALL && lua_isfunction(L, 1));
}

static int call (lua_State *L) {
  mtpy_state *s = begin(L);
  mtpy_begin_answer(L, s);
  for (int i = 0; i < s->given; i++) mtpy_push(L, s);
  if (is_long(L, s)) mtpy_listen(L);
  if (s->what == MTPY_FUNCTION || s->what == MTPY_METHOD) insert_function(L, s);
  else if (s->what == MTPY_RUN) insert_chunk(L, s);
  if (s->what >= MTPY_MULTIPLY && s->what <= MTPY_TEXT) operate(L, s);
  else if (s->what != MTPY_VALUES) lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  mtpy_read_results(L, s, 1);
  return 0;
}

/* What a call was given and has not come to. */
static void delete_rest (const mtpy_value *at, const mtpy_value *end) {
  for (; at < end; at++)
    if (at->kind == MTPY_DLPACK) mtpy_delete((uint64_t)at->i);
}

mtpy_value *mtpy_call (mtpy_state *s, int what, const char *name, int count,
                       const mtpy_value *args, int64_t n) {
  mtpy_value *answer = enter(s);
  if (answer == &busy) return answer;
  if (answer) return delete_rest(args, args + n), answer;
  s->what = what;
  s->name = name;
  s->given = count;
  s->at = args;
  s->end = args + n;
  answer = protect(s, call);
  const mtpy_value *rest = s->at;
  leave(s);
  delete_rest(rest, args + n);
  return answer;
}

static int launch (lua_State *L) {
  const mtpy_state *s = begin(L);
  if (!s->quick) mtpy_listen(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->ref);
  if (s->stream) lua_rawgeti(L, LUA_REGISTRYINDEX, s->stream);
  lua_call(L, s->stream ? 1 : 0, 0);
  return 0;
}

mtpy_value *mtpy_launch (mtpy_state *s, int64_t plan, int64_t stream, int quick) {
  mtpy_value *answer = enter(s);
  if (answer) return answer;
  s->quick = quick != 0;
  s->ref = plan;
  s->stream = stream;
  answer = protect(s, launch);
  leave(s);
  return answer;
}

/* ---------------------------------------------------------------- memory for others */

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

mtpy_value *mtpy_export (mtpy_state *s, int64_t tensor, int versioned, void **out) {
  note *x = malloc(sizeof *x);
  if (x == NULL) return or_no_memory(NULL);
  mtpy_value *answer = enter(s);
  if (answer) return free(x), answer;
  *x = (note){.state = s, .ref = LUA_NOREF};
  s->managed = x;
  s->ref = tensor;
  s->versioned = versioned != 0;
  answer = protect(s, export_tensor);
  if (answer) leave_note(s, x);
  else *out = s->managed;
  leave(s);
  return answer;
}

static int stream (lua_State *L) {
  mtpy_state *s = begin(L);
  mtpy_begin_answer(L, s);
  mt_lua_pushstream(L, s->name, s->managed);
  mtpy_read_results(L, s, 1);
  return 0;
}

mtpy_value *mtpy_stream (mtpy_state *s, const char *device, uint64_t handle) {
  mtpy_value *answer = enter(s);
  if (answer) return answer;
  s->name = device;
  s->managed = (void *)(uintptr_t)handle;
  answer = protect(s, stream);
  leave(s);
  return answer;
}

/* ---------------------------------------------------------------- capsules */

static int (*is_valid)(void *, const char *);
static void *(*get_pointer)(void *, const char *);
static int (*set_name)(void *, const char *);

/* The names live as long as the capsules. */
static const char versioned[] = "dltensor_versioned", old[] = "dltensor";
static const char used_versioned[] = "used_dltensor_versioned",
                  used_old[] = "used_dltensor";

void mtpy_python (int (*valid)(void *, const char *),
                  void *(*pointer)(void *, const char *),
                  int (*name)(void *, const char *)) {
  is_valid = valid;
  get_pointer = pointer;
  set_name = name;
}

uint64_t mtpy_take (void *capsule) {
  bool is_versioned = is_valid(capsule, versioned);
  if (!is_versioned && !is_valid(capsule, old)) return 0;
  void *m = get_pointer(capsule, is_versioned ? versioned : old);
  set_name(capsule, is_versioned ? used_versioned : used_old);
  return (uint64_t)(uintptr_t)m | is_versioned;
}

void mtpy_delete (uint64_t managed) {
  void *m = (void *)(uintptr_t)(managed & ~(uint64_t)1);
  if (managed & 1) mt_dlpack_delete(m);
  else mt_unversioned_delete(m);
}

void mtpy_drop (void *capsule) {
  if (is_valid(capsule, versioned)) mt_dlpack_delete(get_pointer(capsule, versioned));
  else if (is_valid(capsule, old)) mt_unversioned_delete(get_pointer(capsule, old));
}

/* ---------------------------------------------------------------- the state */

static int open (lua_State *L) {
  mtpy_state *s = lua_touserdata(L, 1);
  luaL_openlibs(L);
  run_open_coroutines(L);
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
  pthread_mutex_init(&s->lock, NULL);
  mtpy_value *failed = s->L ? protect(s, open) : NULL;
  if (s->L && failed == NULL) return s;
  if (s->L) lua_close(s->L);
  mtpy_free(failed);
  free(s);
  return NULL;
}

int mtpy_operation (int i, const char **at, const char **name, const char **takes) {
  mt_lua_operation o;
  if (!mt_lua_operation_at(&o, i)) return 0;
  *at = o.where;
  *name = o.name;
  *takes = o.takes;
  return 1;
}
