/*
** extend.c - kernels of a host's own image.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "copy/algo.h"
#include "cuda/cuda.h"
#include "plan/extend.h"

/* What the driver says of an image that is not ours, without the way out of ours. */
static mt_status blame (mt_status s, const char *what, mt_err *err) {
  char text[512];
  if (s != MT_ENODEV && s != MT_EDRIVER) return s;
  snprintf(text, sizeof text, "%.*s", (int)strcspn(err->text, "\n"), err->text);
  return mt_fail(err, MT_EINVAL, "kernels: %s cannot be used here: %s", what, text);
}

static mt_status find (mt_cuda *c, CUlibrary l, mt_own_row *r, mt_err *err) {
  CUkernel kernel = NULL;
  CUfunction f = NULL;
  mt_status s = CU(c, err, cuLibraryGetKernel, (&kernel, l, r->name));
  if (s != MT_OK) return blame(s, r->name, err);
  MT_TRY(CU(c, err, cuKernelGetFunction, (&f, kernel)));
  r->function = f;
  int most = r->kernel.op == MT_OP_COPY ? mt_algo_of(r->kernel.algo)->most_shared : 0;
  return most ? CU(c, err, cuFuncSetAttribute, (f, MT_CU_MOST_SHARED, most)) : MT_OK;
}

static mt_status load (mt_cuda *c, mt_own_rows *o, const void *image, mt_err *err) {
  CUlibrary l = NULL;
  mt_status s = CU(c, err, cuLibraryLoadData, (&l, image, NULL, NULL, 0, NULL, NULL, 0));
  if (s != MT_OK) return blame(s, "the image", err);
  for (size_t i = 0; s == MT_OK && i < o->n; i++) s = find(c, l, &o->row[i], err);
  if (s == MT_OK) o->library = l;
  else c->driver.cuLibraryUnload(l);
  return s;
}

mt_status mt_cuda_add (mt_device *d, mt_own_rows *o, const void *image, mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = load(c, o, image, err);
  mt_cuda_leave(c);
  return s;
}

/* What a GPU that works on and on may be using is left to the context. */
void mt_cuda_drop (mt_device *d, mt_own_rows *o) {
  mt_cuda *c = d->impl;
  CUcontext popped;
  if (mt_cuda_forked(c) || c->driver.cuCtxPushCurrent(c->context) != 0) return;
  if (mt_cuda_finish(d)) c->driver.cuLibraryUnload(o->library);
  c->driver.cuCtxPopCurrent(&popped);
}
