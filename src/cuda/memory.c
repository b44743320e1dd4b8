/*
** memory.c - memory of a GPU, and what goes between it and the host's.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "cuda/cuda.h"

mt_status mt_cuda_clear (mt_cuda *c, CUdeviceptr p, size_t bytes, mt_err *err) {
  MT_TRY(CU(c, err, cuMemsetD8Async, (p, 0, bytes, c->stream)));
  return mt_cuda_wait(c, c->stream, err);
}

static mt_status out_of_memory (const mt_device *d, size_t bytes, mt_err *err) {
  mt_err cause = *err;
  return mt_fail(err, MT_ENOMEM, "%s has no %zu bytes of memory left: %s", d->name, bytes,
                 cause.text);
}

/* What is kept comes first. Waits for what was freed and is still in use, if there is no
** other memory. */
mt_status mt_cuda_find_memory (mt_device *d, CUdeviceptr *p, size_t bytes, mt_err *err) {
  mt_cuda *c = d->impl;
  mt_cuda_reap(d);
  *p = mt_cuda_take_spare(c, bytes);
  if (*p != 0) return MT_OK;
  mt_status s = CU(c, err, cuMemAlloc, (p, bytes));
  if (s != MT_ENOMEM || (c->freed == NULL && c->nspares == 0)) return s;
  mt_forgive(err);
  MT_TRY(mt_cuda_wait_all(c, err));
  mt_cuda_drop_spares(c);
  mt_cuda_reap(d);
  return CU(c, err, cuMemAlloc, (p, bytes));
}

void mt_cuda_give_back (mt_device *d, CUdeviceptr p) {
  mt_cuda *c = d->impl;
  mt_err err = MT_NOERR;
  mt_cuda_reap(d);
  if (!mt_cuda_is_idle(c) && mt_cuda_keep(d, &c->freed, (mt_cuda_kept){.p = p})) return;
  if (c->lost[0] == '\0') (void)CU(c, &err, cuCtxSynchronize, ());
  (void)CU(c, &err, cuMemFree, (p));
}

mt_status mt_cuda_alloc (mt_device *d, void **out, size_t bytes, mt_err *err) {
  mt_cuda *c = d->impl;
  CUdeviceptr p = 0;
  *out = NULL;
  if (bytes == 0) return MT_OK;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = mt_cuda_find_memory(d, &p, bytes, err);
  if (s == MT_OK) {
    s = mt_cuda_clear(c, p, bytes, err);
    if (s != MT_OK) mt_cuda_give_back(d, p);
  }
  mt_cuda_leave(c);
  if (s == MT_ENOMEM) return out_of_memory(d, bytes, err);
  if (s == MT_OK) *out = (void *)(uintptr_t)p;
  return s;
}

/* A kernel on any stream may still be using the memory: then it is freed later. */
void mt_cuda_free (mt_device *d, void *p, size_t bytes) {
  mt_cuda *c = d->impl;
  CUcontext popped;
  (void)bytes;
  if (p == NULL || mt_cuda_forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  mt_cuda_give_back(d, to_address(p));
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

/* Only the device's own streams can have used it. */
void mt_cuda_recycle (mt_device *d, void *p, size_t bytes) {
  mt_cuda *c = d->impl;
  CUcontext popped;
  if (p == NULL || mt_cuda_forked(c)) return;
  if (mt_cuda_keep_spare(d, to_address(p), bytes, false)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  if (!mt_cuda_keep_spare(d, to_address(p), bytes, true))
    mt_cuda_give_back(d, to_address(p));
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

/* ---------------------------------------------------------------- the host's */

mt_status mt_cuda_lock (mt_device *d, void **out, size_t bytes, mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRYERR(cause, err);
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = CU(c, &cause, cuMemHostAlloc, (out, bytes, 0));
  mt_cuda_leave(c);
  if (s == MT_OK) memset(*out, 0, bytes);
  if (s == MT_ENOMEM)
    return mt_fail(err, s, "%s: the driver locks no %zu bytes of the host's memory: %s",
                   d->name, bytes, cause.text);
  if (s != MT_OK) *out = NULL, *err = cause;
  return s;
}

/* No copy is under way: each ends before its call returns. */
void mt_cuda_unlock (mt_device *d, void *p, size_t bytes) {
  mt_cuda *c = d->impl;
  CUcontext popped;
  (void)bytes;
  if (mt_cuda_forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  c->driver.cuMemFreeHost(p);
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

/* ---------------------------------------------------------------- moving */

/* Of `left` bytes as many as are moved at once: all if nobody is asked in between. */
static size_t at_once (size_t left, const mt_err *err) {
  enum { MT_ATONCE = 128 << 20 };
  return (err->stop || err->watch) && left > MT_ATONCE ? MT_ATONCE : left;
}

/* On a stream that is done: when this returns nobody touches the host's memory. */
mt_status mt_cuda_move (mt_cuda *c, CUdeviceptr device, void *to, const void *from,
                        size_t bytes, CUstream stream, mt_err *err) {
  mt_status s = MT_OK;
  mt_stint stint;
  MT_TRY(mt_cuda_await(c, stream, err));
  mt_stint_begin(&stint, "copy", "bytes", (double)bytes, err);
  for (size_t at = 0, n; s == MT_OK && at < bytes; at += n) {
    n = at_once(bytes - at, err);
    stint.done = (double)at;
    if (at > 0 && mt_stopped(err, "copy")) {
      s = MT_ESTOPPED;
      break;
    }
    CUdeviceptr there = device + at;
    if (to) s = CU(c, err, cuMemcpyDtoHAsync, ((char *)to + at, there, n, stream));
    else s = CU(c, err, cuMemcpyHtoDAsync, (there, (const char *)from + at, n, stream));
    if (s == MT_OK) s = CU(c, err, cuStreamSynchronize, (stream));
  }
  mt_stint_end(&stint, err);
  if (s != MT_OK && s != MT_ESTOPPED) c->driver.cuCtxSynchronize();
  return s;
}

mt_status mt_cuda_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                          mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = mt_cuda_move(c, to_address(dst), NULL, host, bytes, c->stream, err);
  mt_cuda_leave(c);
  return s;
}

mt_status mt_cuda_download (mt_device *d, void *host, const void *src, size_t bytes,
                            mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = mt_cuda_move(c, to_address(src), host, NULL, bytes, c->stream, err);
  mt_cuda_leave(c);
  return s;
}
