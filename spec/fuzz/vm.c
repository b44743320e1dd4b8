/*
** vm.c - fuzz target: bytes as a script in a VM with small budgets.
** SPDX-License-Identifier: MIT
**
** With libFuzzer: clang -fsanitize=fuzzer,address,undefined vm.c, the VM and the rest.
** Otherwise with replay.c, over spec/fuzz/corpus/vm.
*/
#include <stdlib.h>

#include "moontile.h"
#include "moontile/vm.h"

#define MUST(cond)                                                                       \
  do {                                                                                   \
    if (!(cond)) abort();                                                                \
  } while (0)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { INSTRUCTIONS = 20000, SLACK = 1 << 17, MEMORY = 2 << 20 };

static size_t held;

static void *count (void *ud, void *p, size_t old, size_t size) {
  (void)ud;
  if (p == NULL) old = 0;
  void *q = size ? realloc(p, size) : NULL;
  if (size == 0) free(p);
  if (size == 0 || q) held += size - old;
  return q;
}

/* A script ends within its budgets, and the next one runs. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  mt_vm *v;
  mt_vm_usage u;
  mt_err err = MT_NOERR;
  const mt_vm_options o = {.size = sizeof o,
                           .alloc = count,
                           .libraries = MT_VM_USUAL | MT_VM_LOAD,
                           .memory = MEMORY,
                           .milliseconds = 2000,
                           .instructions = INSTRUCTIONS,
                           .work = 1 << 16,
                           .launches = 100};
  MUST(mt_vm_open(&v, &o, &err) == MT_OK);
  mt_status s = mt_vm_run(v, "fuzz", (const char *)data, size, &err);
  MUST(s == MT_OK || (err.status == s && err.text[0]));
  mt_vm_used(&u, v);
  MUST(u.instructions <= INSTRUCTIONS + SLACK && u.peak <= MEMORY);
  for (int i = 0; i < mt_vm_results(v); i++) mt_vm_result(v, i);
  s = mt_vm_run(v, "next", "return 1", 8, &err);
  MUST((s == MT_OK && mt_vm_result(v, 0).integer == 1) || s == MT_ELIMIT);
  mt_vm_close(v);
  MUST(held == 0);
  return 0;
}
