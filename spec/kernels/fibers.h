/*
** fibers.h - threads of a block as contexts of the host: each goes on until it waits for others.
** SPDX-License-Identifier: MIT
*/
#ifndef FIBERS_H
#define FIBERS_H

#include <stdlib.h>

#include "coroutine.h"

/* At most MOST threads, which meet at PLACES places. `current` is the number of the one that
** runs. */
template <int MOST, int PLACES> class fibers {
  enum { STACK = 128 << 10 };
  coroutine threads[MOST];
  jmp_buf scheduler;
  bool done[MOST], given_up;
  char *stacks;
  struct {
    unsigned here, turn;
  } places[PLACES];
  struct {
    unsigned where, turn;
  } waits[MOST];
  unsigned *current;

  void step_aside () { threads[*current].leave(scheduler); }
  bool is_waiting (unsigned t) const {
    return places[waits[t].where].turn == waits[t].turn;
  }
  void make (unsigned t, void (*start)()) {
    threads[t].make(stacks + (size_t)t * STACK, STACK, start);
    done[t] = false;
    waits[t] = {0, places[0].turn - 1};
  }

public:
  explicit fibers(unsigned *number)
      : threads(), done(), given_up(), stacks(), places(), waits(), current(number) {}

  /* True of the last of `count` threads at the place: it lets the others go on. The others
  ** return when it has. */
  bool meet (unsigned where, unsigned count) {
    if (++places[where].here == count) return true;
    waits[*current] = {where, places[where].turn};
    step_aside();
    return false;
  }
  void go_on (unsigned where) { places[where].here = 0, places[where].turn++; }

  /* The end of a thread. */
  void end () {
    done[*current] = true;
    step_aside();
  }

  /* The end of all of them. */
  void abandon () {
    given_up = true;
    step_aside();
  }

  /* Until all are done: the first that can go on from after(who went before) on. False:
  ** none can, or they were abandoned. */
  bool run (unsigned count, void (*start)(), unsigned (*after)(unsigned last)) {
    if (stacks == NULL) stacks = (char *)malloc((size_t)MOST * STACK);
    given_up = false;
    for (auto &p : places) p = {};
    for (unsigned t = 0; t < count; t++) make(t, start);
    for (unsigned left = count, t = count - 1; left > 0; left -= done[t]) {
      t = after(t) % count;
      for (unsigned tries = 0; done[t] || is_waiting(t); t = (t + 1) % count)
        if (++tries == count) return false;
      *current = t;
      threads[t].enter(scheduler);
      if (given_up) return false;
    }
    return true;
  }
};

#endif
