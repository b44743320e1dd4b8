/*
** safetensors.c - fuzz target: bytes as a .safetensors file.
** SPDX-License-Identifier: MIT
**
** With libFuzzer: clang -fsanitize=fuzzer,address,undefined safetensors.c and the core.
** Otherwise with replay.c, over spec/fuzz/corpus/safetensors.
*/
#include <stdlib.h>

#include "moontile.h"

#define MUST(cond)                                                                       \
  do {                                                                                   \
    if (!(cond)) abort();                                                                \
  } while (0)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* What is accepted fills the file; each tensor, written again, reads as the same. */
static void check (const mt_safetensor *x, size_t n, const uint8_t *data, size_t bytes,
                   size_t size) {
  uint64_t at = bytes;
  for (size_t i = 0; i < n; at += x[i++].bytes) {
    mt_layout a;
    mt_err err = MT_NOERR;
    MUST(x[i].data == at && x[i].bytes <= size - at);
    MUST(mt_safetensors_layout(&a, data, bytes, &x[i], &err) == MT_OK);
    MUST((uint64_t)mt_size(a.node) * mt_dtype_size(x[i].dtype) == x[i].bytes);
    char *name = malloc(x[i].name_bytes + 1);
    MUST(name && mt_safetensors_name(name, data, &x[i]) <= x[i].name_bytes);
    free(name);
  }
  MUST(at == size);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  size_t bytes, n, again;
  mt_err err = MT_NOERR;
  mt_status s = mt_safetensors_header(&bytes, data, size, &err);
  if (s == MT_OK) s = mt_safetensors_read(&n, NULL, 0, data, bytes, size, &err);
  if (s == MT_OK && n > 0) {
    mt_safetensor *x = malloc(n * sizeof *x);
    MUST(x);
    s = mt_safetensors_read(&again, x, n, data, bytes, size, &err);
    MUST(again == n || s != MT_OK);
    if (s == MT_OK) check(x, n, data, bytes, size);
    free(x);
  }
  MUST(s == MT_OK || (s == MT_EFORMAT && err.text[0]));
  return 0;
}
