/*
** vm.c - the limited interpreter: opened, run, asked, closed.
** SPDX-License-Identifier: MIT
*/
#include <errno.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding/boxes.h"
#include "binding/lmt.h"
#include "binding/versions.h"
#include "vm/vm.h"

enum { MOST_RESULTS = 16 };

/* What is done in protected mode. */
typedef struct task {
  mt_vm *v;
  const char *name, *text; /* of a chunk, a function or a global */
  size_t size;
  const mt_vm_value *values;
  int n;
  mt_status status; /* of an error that is none of a script */
} task;

static const char lent; /* what the registry has the tensors under */

/* ---------------------------------------------------------------- options */

static void *plain_alloc (void *ud, void *p, size_t old, size_t size) {
  (void)ud, (void)old;
  if (size > 0) return realloc(p, size);
  free(p);
  return NULL;
}

static void set_defaults (mt_vm_options *o) {
  if (o->alloc == NULL) o->alloc = plain_alloc;
  if (o->libraries == 0) o->libraries = MT_VM_USUAL;
  if (o->memory == 0) o->memory = 64 << 20;
  if (o->text == 0) o->text = o->memory / 4;
  if (o->milliseconds == 0) o->milliseconds = 1000;
  if (o->instructions == 0) o->instructions = UINT64_MAX;
  if (o->bytes == 0) o->bytes = o->memory;
  if (o->threads == 0) o->threads = 1;
  if (o->written == 0) o->written = 64 << 20;
  if (o->stack == 0) o->stack = 512 << 10;
}

/* A host may know fewer fields than this library; of more of them none may be set. */
static mt_status take_options (mt_vm_options *o, const mt_vm_options *from, mt_err *err) {
  memset(o, 0, sizeof *o);
  if (from && from->size < offsetof(mt_vm_options, memory))
    return lmt_set(err, MT_EINVAL, "mt_vm_open: size: sizeof(mt_vm_options) expected");
  for (size_t i = sizeof *o; from && i < from->size; i++)
    if (((const char *)from)[i] != 0)
      return lmt_set(err, MT_EINVAL,
                     "mt_vm_open: this library does not know all that is set");
  if (from) memcpy(o, from, from->size < sizeof *o ? from->size : sizeof *o);
  if (o->milliseconds < -1 || o->threads < 0)
    return lmt_set(err, MT_EINVAL, "mt_vm_open: %s: %d",
                   o->threads < 0 ? "threads" : "milliseconds",
                   o->threads < 0 ? o->threads : o->milliseconds);
  if (o->stack > 0 && o->stack < VM_LEAST_STACK)
    return lmt_set(err, MT_EINVAL, "mt_vm_open: stack: %zu bytes: %d is the least",
                   o->stack, VM_LEAST_STACK);
  if (o->libraries >= MT_VM_LOAD << 1)
    return lmt_set(err, MT_EINVAL, "mt_vm_open: libraries: 0x%x has what is none",
                   o->libraries);
  set_defaults(o);
  return MT_OK;
}

/* ---------------------------------------------------------------- opening */

static void open_moontile (lua_State *L, mt_vm *v) {
  const mt_vm_options *o = &v->o;
  const mt_lua_config config = {.size = sizeof config,
                                .files = o->root ? MT_LUA_ROOTFILES : MT_LUA_NOFILES,
                                .root = o->root,
                                .devices = o->devices,
                                .threads = o->threads,
                                .bytes = o->bytes,
                                .written = o->written,
                                .work = o->work,
                                .stop = &v->stop,
                                .launches = o->launches};
  mt_lua_configure(L, &config);
  lmt_state *s = lmt_pushstate(L);
  s->options.alloc = vm_allocate_data;
  v->state = s;
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  lua_pop(L, 1);
}

static int do_open (lua_State *L) {
  static const char *const math[] = {"abs",        "acos",       "asin", "atan",
                                     "ceil",       "cos",        "deg",  "exp",
                                     "floor",      "fmod",       "huge", "log",
                                     "max",        "maxinteger", "min",  "mininteger",
                                     "modf",       "pi",         "rad",  "random",
                                     "randomseed", "sin",        "sqrt", "tan",
                                     "tointeger",  "type",       "ult",  NULL};
  const task *t = lua_touserdata(L, 1);
  unsigned what = t->v->o.libraries;
  luaL_checkversion(L);
  vm_learn(L);
  lmt_openboxes(L);
  for (int over = VM_INSTRUCTIONS; over < VM_OVERS; over++) {
    const char *reason = vm_reason((vm_over)over);
    lua_pushstring(L, reason);
    lua_rawsetp(L, LUA_REGISTRYINDEX, reason);
  }
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &lent);
  vm_openbase(L);
  if (what & MT_VM_TABLE) vm_opentable(L);
  if (what & MT_VM_STRING) vm_openstring(L);
  if (what & MT_VM_MATH) vm_require(L, LUA_MATHLIBNAME, luaopen_math, math);
  if (what & MT_VM_UTF8) vm_openutf8(L);
  if (what & MT_VM_COROUTINE) vm_opencoroutine(L);
  if (what & MT_VM_MOONTILE) open_moontile(L, t->v);
  return 0;
}

/* The status that a protected call ended with. */
static mt_status status_of (mt_vm *v, const task *t, int lua_status) {
  if (lua_status == LUA_OK) return MT_OK;
  if (v->over == VM_STOPPED) return MT_ESTOPPED;
  if (v->over != VM_RUNS) return MT_ELIMIT;
  if (lua_status == LUA_ERRMEM) return v->full ? MT_ELIMIT : MT_ENOMEM;
  return t->status != MT_OK ? t->status : MT_ESCRIPT;
}

static mt_status fail (mt_vm *v, const task *t, int lua_status, mt_err *err) {
  mt_status s = status_of(v, t, lua_status);
  bool memory = v->over == VM_RUNS && lua_status == LUA_ERRMEM;
  if (memory && v->colliding)
    return lmt_set(err, s,
                   "%s: a table with keys that collide was not to grow to %zu entries: "
                   "other keys spread",
                   t->name, v->colliding);
  if (memory && v->full) vm_explain_memory(v, t->name ? t->name : "mt_vm_open");
  if (v->message[0] == '\0')
    return lmt_set(err, s, "%s", v->over ? vm_reason(v->over) : mt_status_text(s));
  return lmt_set(err, s, "%s", v->message);
}

/* f in protected mode, with the task at 1; as a call of a script: within its budgets, its
** results stay on the stack. */
static mt_status protect (lua_CFunction f, task *t, bool script, mt_err *err) {
  mt_vm *v = t->v;
  v->results = 0;
  v->message[0] = '\0';
  v->seen_in = NULL;
  v->over = VM_RUNS;
  v->full = false;
  v->colliding = 0;
  lua_settop(v->L, 0);
  lua_pushcfunction(v->L, vm_explain);
  lua_pushcfunction(v->L, f);
  lua_pushlightuserdata(v->L, t);
  if (script) vm_start(v);
  int status = lua_pcall(v->L, 1, LUA_MULTRET, 1);
  if (script) vm_finish(v);
  if (script && status != LUA_OK && v->over == VM_RUNS && vm_told(v))
    v->over = VM_STOPPED;
  mt_status s = status == LUA_OK ? MT_OK : fail(v, t, status, err);
  lua_remove(v->L, 1);
  if (s != MT_OK || !script) lua_settop(v->L, 0);
  else v->results = lua_gettop(v->L) / 2;
  return s;
}

mt_status mt_vm_open (mt_vm **out, const mt_vm_options *options, mt_err *err) {
  mt_vm_options o;
  *out = NULL;
  if (take_options(&o, options, err)) return err->status;
  mt_vm *v = o.alloc(o.alloc_ud, NULL, 0, sizeof *v);
  if (v == NULL) return lmt_set(err, MT_ENOMEM, "%s", mt_status_text(MT_ENOMEM));
  memset(v, 0, sizeof *v);
  v->o = o;
  v->L = lmt_newstate(vm_allocate, v);
  task t = {.v = v, .status = MT_EINVAL};
  mt_status s = v->L ? protect(do_open, &t, false, err) :
                       lmt_set(err, v->full ? MT_ELIMIT : MT_ENOMEM,
                               "mt_vm_open: no memory for a state of Lua");
  if (s != MT_OK) mt_vm_close(v);
  else *out = v;
  return s;
}

void mt_vm_close (mt_vm *v) {
  if (v == NULL) return;
  v->closing = true;
  v->running = NULL;
  if (v->L) lua_close(v->L);
  vm_forget(v);
  vm_forget_parts(v);
  v->o.alloc(v->o.alloc_ud, v, sizeof *v, 0);
}

/* ---------------------------------------------------------------- values */

static void push_tensor (lua_State *L, const mt_tensor *x) {
  mt_lua_pushtensor(L, x->dtype, x->layout, x->data, x->bytes);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &lent);
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

static void push (lua_State *L, const task *t, const mt_vm_value *x) {
  if (x->kind == MT_VM_NIL) lua_pushnil(L);
  else if (x->kind == MT_VM_BOOLEAN) lua_pushboolean(L, x->integer != 0);
  else if (x->kind == MT_VM_INTEGER) lua_pushinteger(L, x->integer);
  else if (x->kind == MT_VM_NUMBER) lua_pushnumber(L, x->number);
  else if (x->kind == MT_VM_TEXT) lua_pushlstring(L, x->text, x->size);
  else if (x->kind == MT_VM_TENSOR && x->tensor && t->v->state) push_tensor(L, x->tensor);
  else
    luaL_error(L, "%s: a value of kind %d is none that a VM can have", t->name,
               (int)x->kind);
}

/* Behind the results their texts, where they are neither numbers nor texts. */
static int keep_results (lua_State *L, int first) {
  int n = lua_gettop(L) - first + 1;
  if (n > MOST_RESULTS) lua_settop(L, first - 1 + (n = MOST_RESULTS));
  luaL_checkstack(L, n + 4, NULL);
  for (int i = 0; i < n; i++) {
    int type = lua_type(L, first + i);
    if (type == LUA_TSTRING || type == LUA_TNUMBER) lua_pushnil(L);
    else luaL_tolstring(L, first + i, NULL);
  }
  return 2 * n;
}

int mt_vm_results (const mt_vm *v) { return v->results; }

mt_vm_value mt_vm_result (const mt_vm *v, int i) {
  mt_vm_value x = {.kind = MT_VM_NIL};
  lua_State *L = v->L;
  if (i < 0 || i >= v->results) return x;
  int type = lua_type(L, i + 1), text = type == LUA_TSTRING ? i + 1 : i + 1 + v->results;
  if (type == LUA_TNIL) return x;
  x.kind = type == LUA_TSTRING     ? MT_VM_TEXT :
           type == LUA_TBOOLEAN    ? MT_VM_BOOLEAN :
           type != LUA_TNUMBER     ? MT_VM_OTHER :
           lua_isinteger(L, i + 1) ? MT_VM_INTEGER :
                                     MT_VM_NUMBER;
  if (type != LUA_TNUMBER) x.text = lua_tolstring(L, text, &x.size);
  x.integer = type == LUA_TBOOLEAN ? lua_toboolean(L, i + 1) : 0;
  if (type == LUA_TNUMBER) x.number = lua_tonumber(L, i + 1);
  if (x.kind == MT_VM_INTEGER) x.integer = lua_tointeger(L, i + 1);
  return x;
}

static int do_set (lua_State *L) {
  const task *t = lua_touserdata(L, 1);
  push(L, t, t->values);
  lua_setglobal(L, t->name);
  return 0;
}

mt_status mt_vm_set (mt_vm *v, const char *name, const mt_vm_value *value, mt_err *err) {
  task t = {.v = v, .name = name, .values = value, .n = 1, .status = MT_EINVAL};
  return protect(do_set, &t, false, err);
}

static int do_revoke (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &lent);
  for (lua_Integer i = (lua_Integer)lua_rawlen(L, -1); i > 0; i--) {
    lua_rawgeti(L, -1, i);
    mt_lua_revoke(L, -1);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, -2, i);
  }
  return 0;
}

void mt_vm_revoke (mt_vm *v) {
  mt_err err = MT_NOERR;
  task t = {.v = v, .name = "mt_vm_revoke"};
  v->closing = true;
  protect(do_revoke, &t, false, &err);
  v->closing = false;
}

/* ---------------------------------------------------------------- running */

static int do_run (lua_State *L) {
  task *t = lua_touserdata(L, 1);
  lua_pushfstring(L, "=%s", t->name);
  t->status = MT_ESYNTAX;
  if (vm_load(L, t->text, t->size, lua_tostring(L, 2))) return lua_error(L);
  t->status = MT_OK;
  if (t->v->state) { /* what failed in another script explains nothing in this one */
    lmt_pushstate(L);
    lua_pushnil(L);
    lua_setiuservalue(L, -2, LMT_FAILED);
    lua_pop(L, 1);
  }
  lua_call(L, 0, LUA_MULTRET);
  return keep_results(L, 3);
}

static mt_status refuse_stopped (mt_vm *v, const char *name, mt_err *err) {
  if (!vm_told(v)) return MT_OK;
  v->results = 0;
  return lmt_set(err, MT_ESTOPPED, "%s: %s", name, mt_status_text(MT_ESTOPPED));
}

mt_status mt_vm_run (mt_vm *v, const char *name, const char *text, size_t size,
                     mt_err *err) {
  enum { MOST = LUA_IDSIZE - 2 }; /* characters that Lua shows of a name: the last ones */
  char known[MOST + 1];
  size_t length = strlen(name);
  if (refuse_stopped(v, name, err)) return MT_ESTOPPED;
  snprintf(known, sizeof known, "%s%s", length > MOST ? "..." : "",
           length > MOST ? name + length - (MOST - 3) : name);
  task t = {.v = v, .name = known, .text = text, .size = size};
  if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) t.text += 3, t.size -= 3;
  if (t.size > 0 && *t.text == '#') /* as the first line of a program has it */
    while (t.size > 0 && *t.text != '\n') t.text++, t.size--;
  vm_remember(v, known, text, size);
  return protect(do_run, &t, true, err);
}

typedef struct file_text {
  char *text;
  size_t size, room;
} file_text;

static mt_status no_memory (mt_vm *v, const char *path, mt_err *err) {
  if (v->full) return lmt_set(err, MT_ELIMIT, "%s: a script that is too long", path);
  return lmt_set(err, MT_ENOMEM, "%s: %s", path, mt_status_text(MT_ENOMEM));
}

static mt_status read_all (file_text *t, FILE *f, mt_vm *v, const char *path,
                           mt_err *err) {
  for (;;) {
    if (t->size == t->room) {
      size_t room = t->room ? 2 * t->room : 1 << 14;
      char *more = vm_allocate(v, t->text, t->room, room);
      if (more == NULL) return no_memory(v, path, err);
      t->text = more, t->room = room;
    }
    size_t n = fread(t->text + t->size, 1, t->room - t->size, f);
    if (n == 0) break;
    t->size += n;
  }
  if (ferror(f)) return lmt_set(err, MT_EIO, "%s: %s", path, strerror(errno));
  return MT_OK;
}

mt_status mt_vm_run_file (mt_vm *v, const char *path, mt_err *err) {
  file_text t = {NULL, 0, 0};
  v->results = 0;
  v->full = false;
  FILE *f = fopen(path, "rb");
  if (f == NULL) return lmt_set(err, MT_EIO, "%s: %s", path, strerror(errno));
  mt_status s = read_all(&t, f, v, path, err);
  fclose(f);
  if (s == MT_OK) s = mt_vm_run(v, path, t.text, t.size, err);
  vm_allocate(v, t.text, t.room, 0);
  return s;
}

/* Of what is at the top, which is no function. */
static int no_function (lua_State *L, const char *name) {
  const char *near = vm_nearest(L, name, true);
  if (!lua_isnil(L, -1))
    return luaL_error(L, "%s: the script has a %s of this name, and no function", name,
                      luaL_typename(L, -1));
  return luaL_error(L, "%s: the script has no such function%s%s%s", name,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int do_call (lua_State *L) {
  task *t = lua_touserdata(L, 1);
  t->status = MT_EINVAL;
  if (lua_getglobal(L, t->name) != LUA_TFUNCTION) return no_function(L, t->name);
  luaL_checkstack(L, t->n, "too many arguments");
  for (int i = 0; i < t->n; i++) push(L, t, &t->values[i]);
  t->status = MT_OK;
  lua_call(L, t->n, LUA_MULTRET);
  return keep_results(L, 2);
}

mt_status mt_vm_call (mt_vm *v, const char *name, const mt_vm_value *args, int n,
                      mt_err *err) {
  if (refuse_stopped(v, name, err)) return MT_ESTOPPED;
  task t = {.v = v, .name = name, .values = args, .n = n};
  return protect(do_call, &t, true, err);
}

void mt_vm_stop (mt_vm *v, bool stop) {
  __atomic_store_n(&v->stop, stop, __ATOMIC_RELAXED);
}

void mt_vm_used (mt_vm_usage *out, const mt_vm *v) {
  *out = (mt_vm_usage){.memory = v->bytes,
                       .peak = v->peak,
                       .instructions = v->spent,
                       .launches = v->state ? v->state->launches : 0,
                       .milliseconds = vm_milliseconds(v)};
}
