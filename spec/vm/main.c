/*
** main.c - runs the tests of the limited interpreter.
** usage: moontile_vm_test DIR [attack]
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "vm_spec.h"

int checks, failures;

mt_vm *open_vm (const mt_vm_options *o) {
  mt_vm *v;
  mt_err err = MT_NOERR;
  if (mt_vm_open(&v, o, &err) == MT_OK) return v;
  printf("mt_vm_open: %s\n", err.text);
  exit(2);
}

const char *run_vm (mt_vm *v, const char *text) {
  static char out[MT_ERRSIZE + 32];
  mt_err err = MT_NOERR;
  mt_status s = mt_vm_run(v, "script", text, strlen(text), &err);
  snprintf(out, sizeof out, "%s: %s", mt_status_name(s), err.text);
  return s == MT_OK ? "" : out;
}

int main (int argc, char **argv) {
  if (argc < 2) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  test_values();
  test_messages();
  test_options(argv[1]);
  test_patterns();
  test_budgets();
  test_keys();
  test_attacks(argv[1]);
  printf("vm: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
