/*
** budget.c - what a call may take: instructions, time, memory; and who ends it.
** SPDX-License-Identifier: MIT
**
** The hook is called at each call, where it looks how deep the thread's stack is, and
** every v->period instructions: 1000, or fewer where there are large blocks, since one
** instruction may copy or compare all of one. Who allocates looks at the clock, too. No
** thread and no signal is needed.
*/
#include <stdlib.h>
#include <time.h>

#include "vm/vm.h"

enum { MOST_PERIOD = 1000, FRESH = 1 << 18 };
enum {
  ONE_CALL = VM_LEAST_STACK / 2
};                         /* bytes of the stack, of one that calls no other */
enum { LARGE = 1 << 26 };  /* bytes that all instructions of a period may go through */
enum { GRACE = 10000000 }; /* nanoseconds from the end to allocations being refused */
enum { LONG_PERIOD = 5000000 }; /* nanoseconds: then the next one is to be shorter */

mt_vm *vm_of (lua_State *L) {
  void *v;
  lua_getallocf(L, &v);
  return v;
}

static int64_t now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double vm_milliseconds (const mt_vm *v) {
  int64_t end = v->running ? now() : v->seen;
  return 1e-6 * (double)(end - v->begin);
}

const char *vm_reason (vm_over over) {
  static const char *const reasons[VM_OVERS] =
      {"", "the script was stopped: it took more instructions than it may",
       "the script was stopped: it took longer than it may",
       "the script was stopped by its host"};
  return reasons[over];
}

/* ---------------------------------------------------------------- looking */

static void look (mt_vm *v) {
  v->seen = now();
  v->spent += v->steps;
  v->steps = 0;
  if (v->over != VM_RUNS) return;
  if (vm_told(v)) v->over = VM_STOPPED;
  else if (v->spent > v->o.instructions) v->over = VM_INSTRUCTIONS;
  else if (v->seen > v->end) v->over = VM_TIME;
  if (v->over != VM_RUNS) v->tripped = v->seen;
}

void vm_end (lua_State *L, mt_vm *v) {
  if (v->over == VM_RUNS) return;
  luaL_checkstack(L, 1, NULL);
  lua_rawgetp(L, LUA_REGISTRYINDEX,
              vm_reason(v->over)); /* made before: no memory is needed */
  lua_error(L);
}

static void on_hook (lua_State *L, lua_Debug *where);

static void hook (lua_State *L, int period) {
  if (lua_gethook(L) == on_hook && lua_gethookcount(L) == period) return;
  lua_sethook(L, on_hook, LUA_MASKCOUNT | LUA_MASKCALL, period);
}

void vm_look (lua_State *L, mt_vm *v) {
  look(v);
  if (v->over != VM_RUNS) hook(L, 1);
  vm_end(L, v);
}

/* How many instructions pass until the hook is called again, if the last ones took so
** long. */
static int next_period (const mt_vm *v, int64_t took) {
  size_t most = v->largest > LARGE / MOST_PERIOD ? LARGE / v->largest : MOST_PERIOD;
  int period = took > LONG_PERIOD ? v->period / 8 : 2 * v->period;
  uint64_t left = v->o.instructions - v->spent;
  if (period > (int)most) period = (int)most;
  if ((uint64_t)period > left) period = (int)left;
  return period < 1 ? 1 : period;
}

/* Each instruction raises once the call is over. */
static void on_count (lua_State *L, mt_vm *v) {
  int64_t before = v->seen;
  v->spent += (uint64_t)lua_gethookcount(L);
  look(v);
  v->period = v->over == VM_RUNS ? next_period(v, v->seen - before) : 1;
  if (v->over == VM_RUNS) vm_notice(L, v);
  hook(L, v->period);
  vm_end(L, v);
}

/* Recursion through C ends before the thread's stack does: Lua itself counts 200 calls of
** C, of which some take 10 KiB. */
static void on_call (lua_State *L, mt_vm *v) {
  uintptr_t a = (uintptr_t)__builtin_frame_address(0), b = v->base;
  vm_end(L, v);
  if ((a < b ? b - a : a - b) > v->o.stack - ONE_CALL)
    luaL_error(L,
               "stack overflow: calls in calls take more than the %I bytes that they may",
               (LUAI_UACINT)v->o.stack);
}

static void on_hook (lua_State *L, lua_Debug *where) {
  mt_vm *v = vm_of(L);
  if (where->event == LUA_HOOKCOUNT) on_count(L, v);
  else on_call(L, v);
}

void vm_start (mt_vm *v) {
  v->base = (uintptr_t)__builtin_frame_address(0);
  v->over = VM_RUNS;
  v->full = false;
  v->colliding = 0;
  v->fresh = v->largest = 0;
  v->spent = v->steps = 0;
  v->begin = v->seen = now();
  v->end =
      v->o.milliseconds < 0 ? INT64_MAX : v->begin + (int64_t)v->o.milliseconds * 1000000;
  v->period = next_period(v, 0);
  v->running = v->L;
  hook(v->L, v->period);
}

void vm_finish (mt_vm *v) {
  v->spent += v->steps;
  v->steps = 0;
  v->seen = now();
  v->running = NULL;
  lua_sethook(v->L, NULL, 0, 0);
}

/* ---------------------------------------------------------------- memory */

/* The budgets are checked before the next instruction. */
static void *refuse (mt_vm *v) {
  v->full = true;
  v->colliding = 0;
  if (v->running) hook(v->running, 1);
  return NULL;
}

/* Whether so many bytes more may be had. A call that is over, and goes on all the same,
** gets none: whatever allocates in a long loop of C ends so. */
static bool permits (mt_vm *v, size_t more, bool is_text, size_t size) {
  if (more > v->o.memory - v->bytes || (is_text && size > v->o.text + 64)) return false;
  if (v->running == NULL || (v->fresh += more) < FRESH) return true;
  v->fresh = 0;
  look(v);
  if (v->over != VM_RUNS) hook(v->running, 1);
  return v->over == VM_RUNS || v->seen - v->tripped < GRACE;
}

/* One instruction may go through a text, a stack or a part of a table: what is none of
** Lua's objects, or a text. */
static void note_large (mt_vm *v, size_t size) {
  if (size <= v->largest) return;
  v->largest = size;
  if (v->running && size > LARGE / MOST_PERIOD) hook(v->running, 1);
}

/* The type of a new object stands in the place of the old size: 0 for what is none. */
void *vm_allocate (void *ud, void *p, size_t old, size_t size) {
  mt_vm *v = ud;
  bool is_text = p == NULL && old == LUA_TSTRING;
  bool is_part = p == NULL && old == 0 && size > 0;
  if (p == NULL) old = 0;
  if (size > old && !v->closing && !permits(v, size - old, is_text, size))
    return refuse(v);
  if (is_part && !vm_admits(v, size)) return NULL;
  void *q = v->o.alloc(v->o.alloc_ud, p, old, size);
  if (size > 0 && q == NULL) return NULL;
  if (p) vm_drop_part(v, p, old);
  else if (is_part && !vm_add_part(v, q, size))
    return v->o.alloc(v->o.alloc_ud, q, size, 0), NULL;
  v->bytes = v->bytes - old + size;
  if (v->bytes > v->peak) v->peak = v->bytes;
  if (is_text || is_part || (p && size > old)) note_large(v, size);
  return q;
}

void *vm_allocate_data (void *ud, void *p, size_t old, size_t size) {
  return vm_allocate(ud, p, p ? old : LUA_TUSERDATA, size);
}
