/*
** alloc.c - host memory by the allocator that a device was opened with.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "host/alloc.h"

void *mt_libc_alloc (void *ud, void *ptr, size_t osize, size_t nsize) {
  (void)ud, (void)osize;
  if (nsize > 0) return realloc(ptr, nsize);
  free(ptr);
  return NULL;
}

void *mt_take_memory (const mt_device_options *o, size_t bytes) {
  return o->alloc(o->alloc_ud, NULL, 0, bytes);
}

void mt_give_memory (const mt_device_options *o, void *p, size_t bytes) {
  if (p) o->alloc(o->alloc_ud, p, bytes, 0);
}
