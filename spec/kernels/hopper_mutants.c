/*
** hopper_mutants.c - kernels of TMA and wgmma with a mistake each: the emulation finds all.
** SPDX-License-Identifier: MIT
**
** usage: moontile_hopper_mutants_test [MUTANT]
*/
#include "hopper_case.h"

enum { TRIES = 60 };

#define MT_HOPPER_KERNEL(name, ...) #name,
static const char *const names[] = {
#include "kernels/gemm/hopper.def"
};

static const mt_hopper_row *row_of (const char *kernel) {
  for (size_t i = 0; i < mt_nhopper_rows; i++)
    if (strcmp(names[i], kernel) == 0) return &mt_hopper_rows[i];
  return NULL;
}

static bool run (void *mutant, const mt_hopper_launch *l, emulated_run *r) {
  return emulate_mutant(mutant, l, r);
}

/* Random products until one is told as it should be. */
static bool is_found (const emulated_mutant *m) {
  const mt_hopper_row *row = row_of(m->kernel);
  emulated_mutant mutant = *m;
  hopper_case c = {.row = NULL};
  for (int i = 1; row && i <= TRIES; i++) {
    begin_case((uint64_t)i);
    draw_case(&c, row);
    if (one_case(&c, run, &mutant) || !strstr(c.run.report, m->told)) continue;
    printf("%-32s %2d  %.*s\n", m->name, i, (int)strcspn(c.run.report, "\n"),
           c.run.report);
    return true;
  }
  printf("%s is not found: %s\n", m->name, c.run.report);
  return false;
}

int main (int argc, char **argv) {
  int left = 0, all = 0;
  for (size_t i = 0; i < emulated_nmutants; i++) {
    if (argc > 1 && strcmp(argv[1], emulated_mutants[i].name) != 0) continue;
    left += !is_found(&emulated_mutants[i]);
    all++;
  }
  printf("%d mutants, %d not found\n", all, left);
  return left > 0 || all == 0;
}
