/*
** copy_mutants.c - kernels that copy with a mistake each: all are found.
** SPDX-License-Identifier: MIT
**
** usage: moontile_copy_mutants_test [MUTANT]
**
** A mutant runs in a process of its own: what it does may end one, or never end.
*/
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels_test.h"

enum { TRIES = 3000, SECONDS = 60 };

typedef struct copy_mutant {
  const char *name, *kernel;
  emulated *run;
} copy_mutant;
extern const copy_mutant copy_mutants[];
extern const size_t ncopy_mutants;

static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

int below (int n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (int)(state % (uint64_t)n);
}

uint64_t seed_now (void) { return state; }

static int row_of (const char *name) {
  int row = 0;
  while (strcmp(mt_cuda_kernels[row].name, name) != 0) row++;
  return row;
}

/* Random copies until one is wrong: the child's status is 0 if none is. */
static void run_mutant (const copy_mutant *m) {
  const int row = row_of(m->kernel);
  if (freopen("/dev/null", "w", stderr) == NULL) _exit(0);
  alarm(SECONDS);
  for (int i = 0; i < TRIES; i++)
    if (!one_copy(row, &m->run, 1)) _exit(1);
  _exit(0);
}

static bool is_found (const copy_mutant *m) {
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) run_mutant(m);
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  const bool found = status != 0 && !late;
  printf("%-32s %s\n", m->name,
         !found              ? "is not found" :
         WIFSIGNALED(status) ? "ends the process" :
                               "is wrong");
  return found;
}

int main (int argc, char **argv) {
  int left = 0, all = 0;
  for (size_t i = 0; i < ncopy_mutants; i++) {
    if (argc > 1 && strcmp(argv[1], copy_mutants[i].name) != 0) continue;
    left += !is_found(&copy_mutants[i]);
    all++;
  }
  printf("%d mutants, %d not found\n", all, left);
  return left > 0 || all == 0;
}
