/*
** coroutine.h - a stack of its own, on which a function goes on where it gave way.
** SPDX-License-Identifier: MIT
**
** ucontext.h begins it. Its switches ask the system to save the signals each time, so that
** setjmp.h does all the others. Whoever enters one is `home`.
*/
#ifndef COROUTINE_H
#define COROUTINE_H

#include <setjmp.h>
#include <stddef.h>
#include <ucontext.h>

class coroutine {
  ucontext_t first;
  jmp_buf here;
  bool begun;

public:
  /* `start` does not return: it leaves, for good. */
  void make (char *stack, size_t size, void (*start)()) {
    getcontext(&first);
    first.uc_stack.ss_sp = stack;
    first.uc_stack.ss_size = size;
    first.uc_link = NULL;
    makecontext(&first, start, 0);
    begun = false;
  }
  /* Returns when it has left. */
  void enter (jmp_buf home) {
    if (_setjmp(home) != 0) return;
    if (begun) _longjmp(here, 1);
    begun = true;
    setcontext(&first);
  }
  /* Returns when it is entered again. */
  void leave (jmp_buf home) {
    if (_setjmp(here) == 0) _longjmp(home, 1);
  }
};

#endif
