/*
** signals.c - Ctrl-C ends a call that the main thread of Python has made.
** SPDX-License-Identifier: MIT
**
** Python notes a signal, and acts when its own code goes on: behind the call. So while a
** call runs SIGINT is told to Python as before, and raises an error in what runs; Python
** then raises what its handler says. The handler is Python's own again when the call is
** over. Where the program ignores SIGINT, or dies of it, nothing is added.
*/
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "console/running.h"
#include "state.h"

static uint64_t main_thread;               /* 0: none */
static struct sigaction before;            /* what SIGINT did */
static volatile sig_atomic_t known, early; /* `before` is there; it came sooner */
static bool listening;

static uint64_t self (void) { return (uint64_t)pthread_self(); }

void mtpy_main_thread (uint64_t thread) { main_thread = thread; }
int mtpy_interrupted (void) { return run_interrupted(); }

/* What it would have done. */
static void do_before (int number, siginfo_t *info, void *context) {
  if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, info, context);
  else if (before.sa_handler == SIG_DFL) {
    sigaction(number, &before, NULL);
    pthread_kill(pthread_self(), number); /* when this handler has returned */
  } else if (before.sa_handler != SIG_IGN) before.sa_handler(number);
}

static bool handled (void) {
  return before.sa_flags & SA_SIGINFO ||
         (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
}

static void on_sigint (int number, siginfo_t *info, void *context) {
  int kept = errno;
  if (self() != main_thread) pthread_kill((pthread_t)main_thread, number);
  else if (!known) early = 1;
  else {
    do_before(number, info, context);
    if (handled()) run_interrupt();
  }
  errno = kept;
}

void mtpy_listen (lua_State *L) {
  struct sigaction ours;
  if (self() != main_thread) return;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = on_sigint;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  run_begin(L, false);
  known = early = 0;
  listening = sigaction(SIGINT, &ours, &before) == 0;
  known = listening;
  if (early) pthread_kill(pthread_self(), SIGINT);
}

/* Somebody else's handler that was set meanwhile stays. */
void mtpy_unlisten (lua_State *L) {
  struct sigaction now;
  if (!listening) return;
  if (sigaction(SIGINT, &before, &now) == 0 &&
      (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_sigint))
    sigaction(SIGINT, &now, NULL);
  listening = false;
  run_end(L);
}
