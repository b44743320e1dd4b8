/*
** fakeset.c - memory of the fake driver, set: words of 1, 2 or 4 bytes again and again.
** SPDX-License-Identifier: MIT
*/
#include "fakecuda.h"

#define MT_CUDA_CALL(name, suffix, args) FAKECUDA_API CUresult name##suffix args;
#include "cuda/driver.def"

/* In the context: n words at p, which has their alignment. */
static CUresult set (CUdeviceptr p, unsigned value, size_t word, size_t n, CUstream s) {
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(s != NULL, 400);
  if (s->capturing) return fake_capture_break(s);
  NEED(p % word == 0 && n <= SIZE_MAX / word, 1);
  NEED(fake_host(p, -1, n * word, NULL) != NULL, 1);
  fake_work w = {.kind = FAKE_SET,
                 .device = p,
                 .bytes = n * word,
                 .value = value,
                 .word = word};
  return fake_enqueue(s, &w);
}

FAKE cuMemsetD8Async (CUdeviceptr p, unsigned char value, size_t bytes, CUstream s) {
  FAULT(cuMemsetD8Async);
  GUARD;
  return set(p, value, 1, bytes, s);
}

FAKE cuMemsetD16Async (CUdeviceptr p, unsigned short value, size_t n, CUstream s) {
  FAULT(cuMemsetD16Async);
  GUARD;
  return set(p, value, 2, n, s);
}

FAKE cuMemsetD32Async (CUdeviceptr p, unsigned value, size_t n, CUstream s) {
  FAULT(cuMemsetD32Async);
  GUARD;
  return set(p, value, 4, n, s);
}

/* The first bytes of a value are its lowest. */
void fake_set_words (char *to, const fake_work *w) {
  for (size_t i = 0; i < w->bytes; i++) to[i] = (char)(w->value >> (i % w->word * 8));
}
