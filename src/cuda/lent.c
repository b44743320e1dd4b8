/*
** lent.c - a host's own context, streams and events.
** SPDX-License-Identifier: MIT
**
** None of it is ever closed here, nothing here waits, and the host's current context is
** what it was.
*/
#include "cuda/cuda.h"

/* Of another device kernels and memory would not be those that are meant. */
static mt_status check_device (const mt_cuda *c, mt_err *err) {
  CUdevice device = 0;
  MT_TRY(MT_CU(&c->driver, err, cuCtxGetDevice, (&device)));
  if (device == c->device) return MT_OK;
  return mt_fail(err, MT_EINVAL,
                 "device: the context is one of cuda:%d, not of cuda:%d\n"
                 "open \"cuda:%d\" with it",
                 device, c->device, device);
}

mt_status mt_cuda_adopt (mt_cuda *c, CUcontext context, mt_err *err) {
  CUcontext popped;
  MT_TRY(MT_CU(&c->driver, err, cuCtxPushCurrent, (context)));
  mt_status s = check_device(c, err);
  mt_status left = MT_CU(&c->driver, err, cuCtxPopCurrent, (&popped));
  if (s == MT_OK) s = left;
  if (s == MT_OK) c->context = context;
  return s;
}

void *mt_cuda_context (const mt_device *d) { return ((const mt_cuda *)d->impl)->context; }

mt_stream *mt_cuda_stream_of (void *handle) {
  return handle ? handle : (void *)(uintptr_t)MT_CU_LEGACY;
}

void *mt_cuda_handle (const mt_device *d, mt_stream *s) { return to_stream(d->impl, s); }

/* ---------------------------------------------------------------- order */

mt_status mt_cuda_event (mt_device *d, mt_stream *stream, void *event, bool records,
                         mt_err *err) {
  mt_cuda *c = d->impl;
  CUstream s = to_stream(c, stream);
  MT_TRY(mt_cuda_enter(c, err));
  mt_status status = records ? CU(c, err, cuEventRecord, (event, s)) :
                               CU(c, err, cuStreamWaitEvent, (s, event, 0));
  mt_cuda_leave(c);
  return status;
}

/* The event may be destroyed before it has come. */
static mt_status order (mt_cuda *c, CUstream s, CUstream before, mt_err *err) {
  CUevent e = NULL;
  mt_err late = MT_NOERR;
  MT_TRY(CU(c, err, cuEventCreate, (&e, MT_CU_NO_TIMING)));
  mt_status status = CU(c, err, cuEventRecord, (e, before));
  if (status == MT_OK) status = CU(c, err, cuStreamWaitEvent, (s, e, 0));
  mt_status last = CU(c, &late, cuEventDestroy, (e));
  if (status == MT_OK && last != MT_OK) *err = late;
  return status != MT_OK ? status : last;
}

mt_status mt_cuda_order (mt_device *d, mt_stream *s, mt_stream *before, mt_err *err) {
  mt_cuda *c = d->impl;
  if (to_stream(c, s) == to_stream(c, before)) return MT_OK;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status status = order(c, to_stream(c, s), to_stream(c, before), err);
  mt_cuda_leave(c);
  return status;
}
