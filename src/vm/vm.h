/*
** vm.h - private to the limited interpreter: its state, its budgets, its libraries.
** SPDX-License-Identifier: MIT
**
** Whatever takes long passes by a place where the budgets are checked: instructions by
** the count hook, allocations by the allocator, loops in C by vm_tick. Once a budget is
** spent each of them ends the call: the hook raises at every instruction, pcall and
** resume raise again, the allocator gives nothing.
*/
#ifndef VM_VM_H
#define VM_VM_H

#include <lauxlib.h>
#include <lua.h>

#include "moontile/lua.h"
#include "moontile/vm.h"

enum { VM_LEAST_STACK = 128 << 10 };

/* The nodes of a table. */
typedef struct vm_part {
  const void *at;
  size_t nodes;
} vm_part;

/* Why a call is over before its end. */
typedef enum vm_over { VM_RUNS, VM_INSTRUCTIONS, VM_TIME, VM_STOPPED, VM_OVERS } vm_over;

struct mt_vm {
  mt_vm_options o;    /* complete: no 0 stands for anything */
  lua_State *L;       /* its stack holds the results of the last call, and their texts */
  lua_State *running; /* the thread that runs; NULL: none */
  volatile int stop;  /* another thread set it */
  vm_over over;
  bool full;          /* an allocation was refused since the call began */
  bool closing;       /* nothing is refused any more */
  size_t bytes, peak; /* of memory */
  size_t fresh;       /* bytes that were asked for since the clock was looked at */
  size_t largest;     /* block that one instruction may go through */
  size_t colliding;   /* nodes of a table that was not to grow so far; 0: none */
  vm_part *part;      /* those of tables that are large */
  size_t parts, part_room;
  int part_head;      /* bytes before the nodes; -1: this Lua has others */
  const void *newest; /* block that may be a table's nodes */
  size_t newest_size;
  uint64_t spent; /* instructions of this call */
  uint64_t steps; /* of those, in C since the budgets were checked */
  unsigned touched;
  int period;                        /* instructions between two calls of the hook */
  int64_t begin, end, seen, tripped; /* nanoseconds: of the call, of the last check */
  uintptr_t base;                    /* of the thread's stack, as the call began */
  int results;
  const struct lmt_state *state; /* of the library; NULL: it is not open */
  struct vm_chunk *chunks;       /* the newest first */
  const char *seen_in;           /* chunk in which the hook last met it; NULL: in none */
  int seen_line;
  char message[MT_ERRSIZE]; /* that the call ends with */
};

mt_vm *vm_of (lua_State *L);
static inline bool vm_told (const mt_vm *v) {
  return __atomic_load_n(&v->stop, __ATOMIC_RELAXED) != 0;
}

/* ---------------------------------------------------------------- vm/budget.c */

void *vm_allocate (void *ud, void *p, size_t old, size_t now);
/* The same for what no instruction of Lua goes through: elements of tensors. */
void *vm_allocate_data (void *ud, void *p, size_t old, size_t now);
void vm_start (mt_vm *v); /* a call begins; it installs the hook */
void vm_finish (mt_vm *v);
double vm_milliseconds (const mt_vm *v);
/* Raises if the call is over. */
void vm_end (lua_State *L, mt_vm *v);
/* Looks at the clock, and at the flag; raises if the call is over. */
void vm_look (lua_State *L, mt_vm *v);
/* n steps of a loop in C, each about an instruction's worth. */
static inline void vm_tick (lua_State *L, mt_vm *v, uint64_t n) {
  enum { OFTEN = 1 << 14 };
  if ((v->steps += n) >= OFTEN) vm_look(L, v);
}
/* Before what takes up to some milliseconds each time. */
static inline void vm_touch (lua_State *L, mt_vm *v) {
  if (++v->touched % 8 == 0) vm_look(L, v);
}
/* What the call ends with, for people. */
const char *vm_reason (vm_over over);

/* ---------------------------------------------------------------- vm/keys.c */

void vm_learn (lua_State *L); /* how the nodes of this Lua's tables look */
/* Whether a table may have nodes of so many bytes. false: v->full is set where it is the
** script's fault, v->colliding where its keys collide. */
bool vm_admits (mt_vm *v, size_t size);
/* A block that may be a table's nodes is there, is given back. false: no memory. */
bool vm_add_part (mt_vm *v, const void *p, size_t size);
void vm_drop_part (mt_vm *v, const void *p, size_t size);
void vm_forget_parts (mt_vm *v);

/* ---------------------------------------------------------------- libraries */

void vm_openbase (lua_State *L); /* vm/base.c; they set globals */
/* As luaL_loadbufferx of a text, within the budgets. */
int vm_load (lua_State *L, const char *text, size_t size, const char *name);
void vm_opencoroutine (lua_State *L);
void vm_opentable (lua_State *L);  /* vm/table.c */
void vm_openstring (lua_State *L); /* vm/text.c */
void vm_openutf8 (lua_State *L);
/* vm/pattern.c: functions for the table on the top */
void vm_addpatterns (lua_State *L);
/* Removes from the table on the top what is not in the list, which ends with NULL. */
void vm_keep (lua_State *L, const char *const *list);
/* What the library `name` opens, reduced to the list, is on the top, and a global. */
void vm_require (lua_State *L, const char *name, lua_CFunction open,
                 const char *const *list);

/* ---------------------------------------------------------------- vm/message.c */

/* Remembers the text of a chunk, to show lines of it; without memory it does not. */
void vm_remember (mt_vm *v, const char *name, const char *text, size_t size);
void vm_forget (mt_vm *v);
/* (error) -> (error): a handler of lua_pcall. v->message says what happened, shows the
** line, and who called. It needs no memory of Lua, where the error is a text. */
int vm_explain (lua_State *L);
/* Notes which line of a known chunk runs: of an error of memory nobody is asked. */
void vm_notice (lua_State *L, mt_vm *v);
/* v->message says that the budget of memory is spent, and near which line. */
void vm_explain_memory (mt_vm *v, const char *name);
/* The global whose name is nearest to this one, or, called, such a function of the
** script's; NULL: none is near. */
const char *vm_nearest (lua_State *L, const char *name, bool called);

/* ---------------------------------------------------------------- vm/words.c */

/* What is written otherwise here: a name of another language, or of the module (`tile`:
** there is one); a line, of which Lua's parser said this. NULL: nothing is known. */
const char *vm_word (const char *name, bool tile);
const char *vm_writing (const char *said, const char *line);

#endif
