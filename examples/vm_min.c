/*
** vm_min.c - the smallest host of scripts: it knows neither Lua nor GPUs.
** SPDX-License-Identifier: MIT
**
** vm_min SCRIPT [NUMBER]: runs the script, then its function `main`, if it is given a
** number, within the usual limits; shows what they return, or what is wrong.
*/
#include <stdio.h>
#include <stdlib.h>

#include "moontile/vm.h"

static void show (void *ud, mt_vm_level level, const char *text, size_t size) {
  (void)ud, (void)level, (void)size;
  puts(text);
}

int main (int argc, char **argv) {
  mt_vm *v;
  mt_err err = MT_NOERR;
  mt_vm_options o = {.size = sizeof o, .log = show};
  mt_vm_value x = {.kind = MT_VM_NUMBER, .number = argc > 2 ? atof(argv[2]) : 0};
  if (argc < 2) return fputs("vm_min SCRIPT [NUMBER]\n", stderr), EXIT_FAILURE;
  mt_status s = mt_vm_open(&v, &o, &err);
  if (s == MT_OK) s = mt_vm_run_file(v, argv[1], &err);
  if (s == MT_OK && argc > 2) s = mt_vm_call(v, "main", &x, 1, &err);
  if (s != MT_OK) fprintf(stderr, "%s\n", err.text);
  else if (mt_vm_result(v, 0).kind == MT_VM_NUMBER)
    printf("%g\n", mt_vm_result(v, 0).number);
  else if (mt_vm_results(v) > 0 && mt_vm_result(v, 0).text) puts(mt_vm_result(v, 0).text);
  mt_vm_close(v);
  return s == MT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
