/*
** main.c - runs the tests of the core: moontile_core_test [folder of the golden tables].
** SPDX-License-Identifier: MIT
*/
#include "core_test.h"

#ifndef MOONTILE_SPEC_DIR
#define MOONTILE_SPEC_DIR "spec"
#endif

int checks, failures;

int main (int argc, char **argv) {
  test_cases();
  test_errors();
  test_golden(argc > 1 ? argv[1] : MOONTILE_SPEC_DIR "/golden");
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
