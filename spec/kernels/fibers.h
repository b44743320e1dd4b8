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
  bool done[MOST];
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
      : done(), stacks(), places(), waits(), current(number) {}

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

  /* Round after round until all are done; each begins `shift` threads farther on. */
  void run (unsigned threads, void (*start)(), unsigned shift) {
    unsigned left = threads;
    if (stacks == NULL) stacks = (char *)malloc((size_t)MOST * STACK);
    for (unsigned t = 0; t < threads; t++) make(t, start);
    for (unsigned round = 0; left > 0; round++)
      for (unsigned i = 0; i < threads; i++) {
        const unsigned t = (i + round * shift) % threads;
        if (done[t] || is_waiting(t)) continue;
        *current = t;
        swapcontext(&scheduler, &contexts[t]);
        left -= done[t];
      }
  }
};

#endif
