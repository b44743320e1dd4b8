/*
** fakelaunch.c - launches of the fake driver: what a driver refuses of them.
** SPDX-License-Identifier: MIT
*/
#include "fakecuda.h"

FAKECUDA_API CUresult cuLaunchKernelEx (const CUlaunchConfig *c, CUfunction f,
                                        void **params, void **extra);

typedef struct attributes {
  bool early;
  int cluster; /* blocks */
} attributes;

static CUresult read_attributes (attributes *out, const CUlaunchConfig *c) {
  const CUlaunchAttribute *a = c->attrs;
  for (unsigned i = 0; i < c->numAttrs; i++)
    if (a[i].id == MT_CU_EARLY) out->early = true;
    else {
      const unsigned *x = a[i].value.cluster;
      NEED(a[i].id == MT_CU_CLUSTER && x[0] > 0 && x[0] <= 8, 1);
      NEED(x[1] == 1 && x[2] == 1 && c->gridDimX % x[0] == 0, 1);
      out->cluster = (int)x[0];
    }
  return 0;
}

FAKE cuLaunchKernelEx (const CUlaunchConfig *c, CUfunction f, void **params,
                       void **extra) {
  FAULT(cuLaunchKernelEx);
  GUARD;
  TRY(fake_ready());
  const mt_kernel *k = (const mt_kernel *)(const void *)f;
  const CUstream s = fake_stream_of(c->hStream);
  NEED(f != NULL && s != NULL && s->context == fake_current(), 400);
  NEED(params != NULL && extra == NULL, 1);
  NEED(c->sharedMemBytes == fake_room(k, params[0]), 1);
  attributes a = {false, 1};
  TRY(read_attributes(&a, c));
  NEED(c->gridDimX > 0 && c->gridDimX <= 0x7fffffff && c->blockDimX > 0, 1);
  NEED(c->gridDimY == 1 && c->gridDimZ == 1 && c->blockDimY == 1 && c->blockDimZ == 1, 1);
  NEED(c->blockDimX <= k->threads, 701);
  if (s->capturing && a.early && fake_version() < MT_CU_EARLY_CAPTURE)
    return fake_capture_break(s);
  fake_work w = {.kind = FAKE_LAUNCH,
                 .kernel = k,
                 .grid = {c->gridDimX, c->blockDimX},
                 .cluster = a.cluster};
  if (k->op == MT_OP_PIPELINE) memcpy(&w.piped, params[0], sizeof w.piped);
  else if (k->op == MT_OP_GEMM) memcpy(&w.gemm, params[0], sizeof w.gemm);
  else if (fake_is_rest(k)) memcpy(&w.rest, params[0], sizeof w.rest);
  else if (k->op == MT_OP_AMPERE) memcpy(&w.ampere, params[0], sizeof w.ampere);
  else if (k->op == MT_OP_HOPPER) memcpy(&w.hopper, params[0], sizeof w.hopper);
  else if (k->op == MT_OP_PACK) memcpy(&w.pack, params[0], sizeof w.pack);
  else memcpy(&w.launch, params[0], sizeof w.launch);
  return fake_enqueue(s, &w);
}
