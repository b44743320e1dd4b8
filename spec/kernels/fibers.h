/*
** fibers.h - threads of a block as contexts of the host: each goes on until it waits for others.
** SPDX-License-Identifier: MIT
*/
#ifndef FIBERS_H
#define FIBERS_H

#include <stdlib.h>
#include <ucontext.h>

/* At most MOST threads, which meet at PLACES places. `current` is the number of the one that
** runs. */
template <int MOST, int PLACES> class fibers {
  enum { STACK = 128 << 10 };
  ucontext_t contexts[MOST], scheduler;
  bool done[MOST], given_up;
  char *stacks;
  struct {
    unsigned here, turn;
  } places[PLACES];
  struct {
    unsigned where, turn;
  } waits[MOST];
  unsigned *current;

  void step_aside () { swapcontext(&contexts[*current], &scheduler); }
  bool is_waiting (unsigned t) const {
    return places[waits[t].where].turn == waits[t].turn;
  }
  void make (unsigned t, void (*start)()) {
    getcontext(&contexts[t]);
    contexts[t].uc_stack.ss_sp = stacks + (size_t)t * STACK;
    contexts[t].uc_stack.ss_size = STACK;
    contexts[t].uc_link = NULL;
    makecontext(&contexts[t], start, 0);
    done[t] = false;
    waits[t] = {0, places[0].turn - 1};
  }

public:
  explicit fibers(unsigned *number)
      : done(), given_up(), stacks(), places(), waits(), current(number) {}

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
  bool run (unsigned threads, void (*start)(), unsigned (*after)(unsigned last)) {
    if (stacks == NULL) stacks = (char *)malloc((size_t)MOST * STACK);
    given_up = false;
    for (auto &p : places) p = {};
    for (unsigned t = 0; t < threads; t++) make(t, start);
    for (unsigned left = threads, t = threads - 1; left > 0; left -= done[t]) {
      t = after(t) % threads;
      for (unsigned tries = 0; done[t] || is_waiting(t); t = (t + 1) % threads)
        if (++tries == threads) return false;
      *current = t;
      swapcontext(&scheduler, &contexts[t]);
      if (given_up) return false;
    }
    return true;
  }
};

#endif
