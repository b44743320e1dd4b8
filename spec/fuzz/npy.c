/*
** npy.c - fuzz target: bytes as the beginning of a .npy file.
** SPDX-License-Identifier: MIT
**
** With libFuzzer: clang -fsanitize=fuzzer,address,undefined npy.c and the core.
** Otherwise with replay.c, over spec/fuzz/corpus/npy.
*/
#include <stdlib.h>

#include "moontile.h"

#define MUST(cond)                                                                       \
  do {                                                                                   \
    if (!(cond)) abort();                                                                \
  } while (0)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* What is accepted lies in the file, and its header written again reads as the same
** array. */
static void check (const mt_npy *npy, size_t size) {
  mt_err err = MT_NOERR;
  mt_npy again;
  mt_layout shape, other;
  unsigned char buf[MT_NPY_HEADER_MAX];
  size_t n, bytes = mt_dtype_size(npy->dtype);
  MUST(npy->data <= size && npy->data_bytes <= size - npy->data);
  MUST(mt_size(npy->layout.node) * (int64_t)bytes == (int64_t)npy->data_bytes);
  MUST(mt_shape(&shape, npy->layout.node, &err) == MT_OK);
  MUST(mt_npy_write_header(buf, &n, npy->dtype, shape.node, false, &err) == MT_OK);
  MUST(mt_npy_read_header_as(&again, npy->dtype, buf, n, n + npy->data_bytes, &err) ==
       MT_OK);
  MUST(mt_shape(&other, again.layout.node, &err) == MT_OK);
  MUST(again.dtype == npy->dtype && mt_equal(shape.node, other.node));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  size_t head = size < MT_NPY_HEAD ? size : MT_NPY_HEAD;
  mt_status s = mt_npy_read_header(&npy, data, head, size, &err);
  MUST(s == MT_OK || s == MT_EFORMAT);
  MUST(s == MT_OK || (err.status == s && err.text[0]));
  if (s == MT_OK) check(&npy, size);
  return 0;
}
