/*
** ampere_mutants.c - kernels of cp.async and mma.sync with a mistake each: all are found.
** SPDX-License-Identifier: MIT
**
** usage: moontile_ampere_mutants_test [MUTANT]
*/
#include "cases.h"
#include "kernels_test.h"

enum { TRIES = 30, MOST_DRAWN = 1000 };

int below (int n) { return pick(n); }
uint64_t seed_now (void) { return next64(); }

#define MT_AMPERE_KERNEL(name, ...) #name,
#define MT_AMPERE_EPILOGUE MT_AMPERE_KERNEL
static const char *const names[] = {
#include "kernels/gemm/ampere.def"
};

static const mt_ampere_row *row_of (const char *kernel) {
  for (size_t i = 0; i < mt_nampere_rows; i++)
    if (strcmp(names[i], kernel) == 0) return &mt_ampere_rows[i];
  return NULL;
}

/* Random products until one is told as it should be. */
static bool is_found (size_t mutant) {
  const ampere_mutant *m = &ampere_mutants[mutant];
  const mt_ampere_row *row = row_of(m->kernel);
  emulated_block b = {.report = ""};
  for (int i = 1, tries = 0; row && tries < TRIES && i < MOST_DRAWN; i++) {
    bool ran;
    begin_case((uint64_t)i);
    const bool good = one_ampere(row, emulate_ampere_mutant, mutant, &ran, &b);
    tries += ran;
    if (good || strstr(b.report, m->told) == NULL) continue;
    printf("%-32s %2d  %s\n", m->name, tries, b.report);
    return true;
  }
  printf("%s is not found: %s\n", m->name, b.report);
  return false;
}

int main (int argc, char **argv) {
  int left = 0, all = 0;
  for (size_t i = 0; i < nampere_mutants; i++) {
    if (argc > 1 && strcmp(argv[1], ampere_mutants[i].name) != 0) continue;
    left += !is_found(i);
    all++;
  }
  printf("%d mutants, %d not found\n", all, left);
  return left > 0 || all == 0;
}
