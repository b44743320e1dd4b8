/*
** spare.c - memory of a GPU that was given back, kept to be used again.
** SPDX-License-Identifier: MIT
**
** The driver's functions for memory wait for all work of a context, of all threads. So
** the newest pieces stay here, MT_SPARES of them and mt_cuda_most_spare bytes at most,
** which are counted as staging. A piece may still be in use while it is kept: by the
** device's own streams alone. Who takes it begins on the device's own stream, behind what
** is there; while another stream works, nobody gets it.
*/
#include "cuda/cuda.h"

static CUdeviceptr take (mt_cuda *c, unsigned i) {
  CUdeviceptr p = c->spare[i].p;
  c->spare_bytes -= c->spare[i].bytes;
  c->nspares--;
  memmove(&c->spare[i], &c->spare[i + 1], (c->nspares - i) * sizeof *c->spare);
  return p;
}

/* Of the same size: what reads or writes beyond it is beyond the piece. */
CUdeviceptr mt_cuda_take_spare (mt_cuda *c, size_t bytes) {
  unsigned i = c->nspares;
  while (i > 0 && c->spare[i - 1].bytes != bytes) i--;
  return i > 0 && mt_cuda_others_done(c) ? take(c, i - 1) : 0;
}

static bool is_full (const mt_cuda *c, size_t most, size_t bytes) {
  return c->nspares == MT_SPARES || c->spare_bytes > most - bytes;
}

bool mt_cuda_keep_spare (mt_device *d, CUdeviceptr p, size_t bytes, bool instead) {
  mt_cuda *c = d->impl;
  const size_t most = mt_cuda_most_spare(d);
  if (c->lost[0] != '\0' || c->foreign.ever || bytes > most) return false;
  if (!instead && is_full(c, most, bytes)) return false;
  while (is_full(c, most, bytes)) mt_cuda_give_back(d, take(c, 0));
  c->spare[c->nspares++] = (mt_spare){p, bytes};
  c->spare_bytes += bytes;
  return true;
}

bool mt_cuda_drop_spares (mt_cuda *c) {
  bool any = c->nspares > 0;
  while (c->nspares > 0) c->driver.cuMemFree(take(c, c->nspares - 1));
  return any;
}
