/*
** fill.c - one value again and again in memory of a GPU, on the device's own stream.
** SPDX-License-Identifier: MIT
*/
#include "cuda/cuda.h"

enum { UNIT = 16 };

/* Whether the bytes of the unit come again after n. */
static bool repeats (const unsigned char *unit, size_t n) {
  return memcmp(unit, unit + n, UNIT - n) == 0;
}

/* The widest word that the driver can fill these bytes with; 0: none. */
static size_t word_of (CUdeviceptr p, const unsigned char *unit, size_t bytes) {
  for (size_t n = 4; n > 0; n /= 2)
    if (p % n == 0 && bytes % n == 0 && repeats(unit, n)) return n;
  return 0;
}

static mt_status set (mt_cuda *c, CUdeviceptr p, const void *unit, size_t word,
                      size_t bytes, mt_err *err) {
  uint8_t by1;
  uint16_t by2;
  uint32_t by4;
  memcpy(&by1, unit, sizeof by1);
  memcpy(&by2, unit, sizeof by2);
  memcpy(&by4, unit, sizeof by4);
  if (word == 1) return CU(c, err, cuMemsetD8Async, (p, by1, bytes, c->stream));
  if (word == 2) return CU(c, err, cuMemsetD16Async, (p, by2, bytes / 2, c->stream));
  return CU(c, err, cuMemsetD32Async, (p, by4, bytes / 4, c->stream));
}

mt_status mt_cuda_repeat (mt_device *d, void *p, const void *unit, size_t bytes,
                          mt_err *err) {
  mt_cuda *c = d->impl;
  const size_t word = word_of(to_address(p), unit, bytes);
  if (word == 0) return MT_EUNSUPPORTED;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = mt_cuda_throttle(c, c->stream, err);
  if (s == MT_OK) s = set(c, to_address(p), unit, word, bytes, err);
  mt_cuda_leave(c);
  return s;
}

/* What used the unit before is on the same stream. */
static mt_status place (mt_device *d, const void *unit, mt_err *err) {
  mt_cuda *c = d->impl;
  CUdeviceptr p = c->unit;
  if (p == 0) MT_TRY(mt_cuda_find_memory(d, &p, UNIT, err));
  c->unit = p;
  return mt_cuda_move(c, c->unit, NULL, unit, UNIT, c->stream, err);
}

mt_status mt_cuda_unit (mt_device *d, void **out, const void *unit, mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = place(d, unit, err);
  mt_cuda_leave(c);
  *out = (void *)(uintptr_t)c->unit;
  return s;
}
