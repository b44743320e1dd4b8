/*
** archive.c - fuzz target: bytes as a .zip file, its directory and headers.
** SPDX-License-Identifier: MIT
**
** With libFuzzer: clang -fsanitize=fuzzer,address,undefined archive.c and the core.
** Otherwise with replay.c, over spec/fuzz/corpus/archive.
*/
#include <stdlib.h>
#include <string.h>

#include "moontile.h"
#include "types/archive.h"

#define MUST(cond)                                                                       \
  do {                                                                                   \
    if (!(cond)) abort();                                                                \
  } while (0)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* What is accepted lies inside; a header that is written again reads as the same. */
static mt_status check (const mt_archive_member *x, const uint8_t *data,
                        const mt_archive *z, mt_err *err) {
  size_t length;
  MUST(x->at < z->directory && x->packed <= z->directory - x->at);
  MUST(x->name + x->name_bytes <= z->bytes);
  if (z->directory - x->at < MT_ARCHIVE_LOCAL) return MT_OK;
  mt_status s = mt_archive_local(&length, data + x->at, x, z->directory, err);
  if (s != MT_OK) return s;
  MUST(x->at + length + x->packed <= z->directory);
  return mt_archive_same_name(data + x->at, x, data + z->directory, err);
}

static void write_again (const mt_archive_member *x) {
  uint8_t file[MT_ARCHIVE_HEADER + 28 + MT_ARCHIVE_END + 1] = {0};
  mt_archive_member y = *x, back;
  mt_err err = MT_NOERR;
  y.name_bytes = 0;
  size_t n = mt_archive_write_header(file, &y);
  n += mt_archive_write_extra(file + n, &y);
  mt_archive z = {.directory = UINT64_MAX / 2, .bytes = n, .members = 1};
  MUST(mt_archive_read(&back, &z, file, &err) == MT_OK);
  MUST(back.at == y.at && back.packed == y.packed && back.bytes == y.bytes &&
       back.crc == y.crc && back.method == y.method);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  mt_archive z;
  mt_err err = MT_NOERR;
  size_t tail = size < MT_ARCHIVE_TAIL ? size : MT_ARCHIVE_TAIL;
  mt_status s = mt_archive_find(&z, data + size - tail, tail, size, &err);
  if (s == MT_OK && z.members > 0) {
    mt_archive_member *x = malloc(z.members * sizeof *x);
    MUST(x && z.directory <= size && z.bytes <= size - z.directory);
    s = mt_archive_read(x, &z, data + z.directory, &err);
    for (uint64_t i = 0; s == MT_OK && i < z.members; i++) {
      write_again(&x[i]);
      s = check(&x[i], data, &z, &err);
    }
    free(x);
  }
  MUST(s == MT_OK || (s == MT_EFORMAT && err.text[0]));
  return 0;
}
