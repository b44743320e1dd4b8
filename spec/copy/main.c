/*
** main.c - runs the tests from partition to execution, or the one that is named.
** MOONTILE_TIMES and MOONTILE_SEED choose how many random cases, and which.
** SPDX-License-Identifier: MIT
*/
#include <time.h>

#include "exec_test.h"

long base_cases;
uint64_t base_seed;

const char *text_of (const mt_node *t) {
  static char buf[4][1024];
  static int n;
  n = (n + 1) % 4;
  mt_format(buf[n], sizeof buf[n], t);
  return buf[n];
}

bool same_form (const mt_node *a, const mt_node *b) {
  if (a->span != b->span) return false;
  for (uint32_t i = 0; i < a->span; i++) {
    if (a[i].tag != b[i].tag || a[i].arity != b[i].arity || a[i].shape != b[i].shape)
      return false;
    if (a[i].tag != MT_LEAF || a[i].shape == 1) continue;
    if (a[i].ring != b[i].ring || a[i].stride != b[i].stride ||
        memcmp(a[i].path, b[i].path, sizeof a[i].path) != 0)
      return false;
  }
  return true;
}

memory exact_memory (size_t bytes, size_t align) {
  memory m = {NULL, bytes};
  m.p = malloc(bytes + align); /* `align` 0, or the block ends late */
  if (m.p == NULL) abort();
  return m;
}

void random_bytes (memory m) {
  for (size_t i = 0; i < m.bytes; i++) m.p[i] = (unsigned char)(next64() >> 40);
}

void free_memory (memory m) { free(m.p); }

int main (int argc, char **argv) {
  const char *seed = getenv("MOONTILE_SEED");
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {
      {"tile", test_tile},     {"desc", test_desc},     {"check", test_check},
      {"moves", test_moves},   {"copy", test_copy},     {"plan", test_plan},
      {"pool", test_pool},     {"device", test_device}, {"cast", test_cast},
      {"mma", test_mma},       {"verify", test_verify}, {"stop", test_stop},
      {"ragged", test_ragged}, {"choice", test_choice}, {"order", test_order},
      {"direct", test_direct}, {"loops", test_loops},
  };
  base_cases = cases_of(10000);
  base_seed = seed && *seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003;
  printf("seed %llu, %ld cases\n", (unsigned long long)base_seed, base_cases);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    if (argc > 1 && strcmp(argv[1], tests[i].name) != 0) continue;
    begin_case(0);
    tests[i].run();
    printf("%s: done, %d failures so far\n", tests[i].name, failures);
    fflush(stdout);
  }
  return failures != 0;
}
