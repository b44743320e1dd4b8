/*
** fakeevent.c - events of the fake driver: recorded in streams, asked and waited for.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "fakecuda.h"

#define MT_CUDA_CALL(name, suffix, args) FAKECUDA_API CUresult name##suffix args;
#include "cuda/driver.def"

static int events;

int fake_live_events (void) { return events; }

FAKE cuEventCreate (CUevent *out, unsigned flags) {
  FAULT(cuEventCreate);
  GUARD;
  TRY(fake_ready());
  NEED(flags == 0 || flags == MT_CU_NO_TIMING, 1);
  CUevent e = calloc(1, sizeof *e);
  NEED(e != NULL, 2);
  e->users = 1;
  events++;
  return *out = e, 0;
}

FAKE cuEventDestroy_v2 (CUevent e) {
  GUARD;
  NEED(e != NULL, 400);
  fake_drop(e);
  events--;
  FAULT(cuEventDestroy);
  return 0;
}

FAKE cuEventRecord (CUevent e, CUstream s) {
  FAULT(cuEventRecord);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(e != NULL && s != NULL && s->context == fake_current(), 400);
  e->last = s;
  e->at = 0;
  fake_work w = {.kind = FAKE_STAMP, .event = e, .ticket = ++e->asked};
  return fake_enqueue(s, &w);
}

FAKE cuEventSynchronize (CUevent e) {
  FAULT(cuEventSynchronize);
  GUARD;
  TRY(fake_ready());
  NEED(e != NULL, 400);
  TRY(fake_reach(e, e->asked));
  return fake_current()->sticky;
}

FAKE cuEventQuery (CUevent e) {
  FAULT(cuEventQuery);
  GUARD;
  TRY(fake_ready());
  NEED(e != NULL, 400);
  NEED(fake_look_for(e, e->asked), MT_CU_NOT_READY);
  return fake_current()->sticky;
}

FAKE cuEventElapsedTime (float *ms, CUevent from, CUevent to) {
  FAULT(cuEventElapsedTime);
  GUARD;
  TRY(fake_ready());
  NEED(from != NULL && to != NULL, 400);
  NEED(from->at > 0 && to->at > 0, 600);
  return *ms = (float)(1e3 * (to->at - from->at)), 0;
}
