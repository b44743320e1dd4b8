/*
** wait.c - waiting for a GPU so that the call can be told to end, and giving back
** what it may still be using.
** SPDX-License-Identifier: MIT
**
** Calls of the driver that wait for a kernel cannot be ended. So it is looked first
** whether they would have to wait, again and again, and asked in between; without anybody
** to ask the driver waits. Memory that is freed and streams that are closed while the GPU
** is at work are given back later.
*/
#include <time.h>

#include "cuda/cuda.h"
#include "cpu/host.h"

#define MT_ASK 1e-3   /* seconds between two questions; the longest rest */
#define MT_SPIN 20e-3 /* seconds without a rest, as the driver waits */
#define MT_LEAVE 0.5  /* seconds that closing waits */

/* ---------------------------------------------------------------- waiting */

/* A rest of one part in 200 of what was waited so far: no wait becomes longer by more. */
static void rest (double waited) {
  double s = waited / 200 < MT_ASK ? waited / 200 : MT_ASK;
  struct timespec t = {0, (long)(s * 1e9)};
  if (waited > MT_SPIN) nanosleep(&t, NULL);
}

mt_status mt_cuda_rest (double waited, double now, double *asked, mt_err *err) {
  if (now - *asked >= MT_ASK) {
    *asked = now;
    if (mt_stopped(err, "waiting for the GPU")) return MT_ESTOPPED;
  }
  rest(waited);
  return MT_OK;
}

/* Either of the two; MT_OK if the driver would answer at once, with an error too. *answer
** is what it said last. */
static mt_status await (mt_cuda *c, CUstream s, CUevent e, CUresult *answer,
                        mt_err *err) {
  double begin = mt_host_now(), now = begin, asked = begin;
  while ((*answer = e ? c->driver.cuEventQuery(e) : c->driver.cuStreamQuery(s)) ==
         MT_CU_NOT_READY) {
    now = mt_host_now();
    MT_TRY(mt_cuda_rest(now - begin, now, &asked, err));
  }
  return MT_OK;
}

mt_status mt_cuda_await (mt_cuda *c, CUstream s, mt_err *err) {
  CUresult answer;
  return err->stop ? await(c, s, NULL, &answer, err) : MT_OK;
}

static mt_status await_event (mt_cuda *c, CUevent e, mt_err *err) {
  CUresult answer;
  return err->stop ? await(c, NULL, e, &answer, err) : MT_OK;
}

mt_status mt_cuda_await_all (mt_cuda *c, mt_err *err) {
  if (err->stop == NULL) return MT_OK;
  MT_TRY(mt_cuda_await(c, c->stream, err));
  if (c->room.stream) MT_TRY(mt_cuda_await(c, c->room.stream, err));
  for (mt_cuda_kept *k = c->streams; k; k = k->next)
    MT_TRY(mt_cuda_await(c, k->stream, err));
  return MT_OK;
}

/* ---------------------------------------------------------------- all of it */

static bool is_own (const mt_cuda *c, CUstream s) {
  const mt_cuda_kept *k = c->streams;
  while (k && k->stream != s) k = k->next;
  return k || s == c->stream || s == c->room.stream;
}

void mt_cuda_notice (mt_cuda *c, CUstream s) {
  mt_foreign *f = &c->foreign;
  if (is_own(c, s)) return;
  f->n = f->n == 0 || (f->n == 1 && f->one == s) ? 1 : 2;
  f->one = s;
  f->ever = true;
}

/* Who was asked, and said that all is done, need not be waited for. */
static mt_status finish (mt_cuda *c, CUstream s, mt_err *err) {
  CUresult answer = MT_CU_NOT_READY;
  if (err->stop) MT_TRY(await(c, s, NULL, &answer, err));
  return answer == 0 ? MT_OK : CU(c, err, cuStreamSynchronize, (s));
}

mt_status mt_cuda_wait (mt_cuda *c, CUstream s, mt_err *err) {
  MT_TRY(finish(c, s, err));
  if (c->foreign.n == 1 && c->foreign.one == s) c->foreign.n = 0;
  return MT_OK;
}

static mt_status wait_for_context (mt_cuda *c, mt_err *err) {
  MT_TRY(mt_cuda_await_all(c, err));
  MT_TRY(CU(c, err, cuCtxSynchronize, ()));
  return c->foreign.n = 0, MT_OK;
}

/* Other devices of the same context are not waited for, unless work was launched on
** streams of the host's: these may be gone by now, the context knows what they had. */
mt_status mt_cuda_wait_all (mt_cuda *c, mt_err *err) {
  if (c->foreign.n > 0) return wait_for_context(c, err);
  MT_TRY(finish(c, c->stream, err));
  if (c->room.stream) MT_TRY(finish(c, c->room.stream, err));
  for (mt_cuda_kept *k = c->streams; k; k = k->next) MT_TRY(finish(c, k->stream, err));
  return MT_OK;
}

/* ---------------------------------------------------------------- full queues */

/* A capture of the host's takes launches alone; a stream that does not say is left
** alone, too. */
static bool may_capture (const mt_cuda *c, CUstream s) {
  CUstreamCaptureStatus status = 0;
  return c->driver.cuStreamIsCapturing(s, &status) != 0 || status != 0;
}

/* The queue of a stream is bounded: behind a full one a launch waits. So many launches
** after an event was recorded that is awaited before there are as many again. */
mt_status mt_cuda_throttle (mt_cuda *c, CUstream s, mt_err *err) {
  enum { MT_BATCH = 256 };
  if (err->stop == NULL || ++c->launches % MT_BATCH != 0) return MT_OK;
  if (may_capture(c, s)) return MT_OK;
  CUevent *e = &c->batch[c->launches / MT_BATCH % 2];
  if (*e) MT_TRY(await_event(c, *e, err));
  else if (c->driver.cuEventCreate(e, MT_CU_NO_TIMING) != 0) return *e = NULL, MT_OK;
  return CU(c, err, cuEventRecord, (*e, s));
}

/* ---------------------------------------------------------------- later */

static bool is_idle (const mt_cuda *c, CUstream s) {
  return s == NULL || c->driver.cuStreamQuery(s) != MT_CU_NOT_READY;
}

bool mt_cuda_is_idle (const mt_cuda *c) {
  bool idle = c->lost[0] != 0 || (is_idle(c, c->stream) && is_idle(c, c->room.stream));
  for (const mt_cuda_kept *k = c->streams; idle && k; k = k->next)
    idle = is_idle(c, k->stream);
  return idle;
}

static bool is_done (const mt_cuda *c, CUstream s) {
  return s == NULL || c->driver.cuStreamQuery(s) == 0;
}

bool mt_cuda_others_done (const mt_cuda *c) {
  bool done = is_done(c, c->room.stream);
  for (const mt_cuda_kept *k = c->streams; done && k; k = k->next)
    done = is_done(c, k->stream);
  return done;
}

bool mt_cuda_keep (mt_device *d, mt_cuda_kept **list, mt_cuda_kept what) {
  mt_cuda_kept *k = mt_host_alloc(d, sizeof *k);
  if (k == NULL) return false;
  *k = what;
  k->next = *list;
  *list = k;
  return true;
}

/* Takes the first one out of the list. */
static mt_cuda_kept take (mt_device *d, mt_cuda_kept **list) {
  mt_cuda_kept *k = *list, what = *k;
  *list = k->next;
  mt_host_free(d, k, sizeof *k);
  return what;
}

void mt_cuda_close_stream (mt_device *d, CUstream s) {
  mt_cuda *c = d->impl;
  mt_cuda_kept **k = &c->streams;
  while (*k && (*k)->stream != s) k = &(*k)->next;
  if (*k && !is_idle(c, s)) (*k)->closed = true;
  else if (*k) take(d, k), c->driver.cuStreamDestroy(s);
}

void mt_cuda_reap (mt_device *d) {
  mt_cuda *c = d->impl;
  for (mt_cuda_kept **k = &c->streams; *k;) {
    CUstream s = (*k)->stream;
    if ((*k)->closed && is_idle(c, s)) take(d, k), c->driver.cuStreamDestroy(s);
    else k = &(*k)->next;
  }
  if (c->freed == NULL || !mt_cuda_is_idle(c)) return;
  while (c->freed) c->driver.cuMemFree(take(d, &c->freed).p);
}

bool mt_cuda_finish (mt_device *d) {
  mt_cuda *c = d->impl;
  double begin = mt_host_now();
  bool idle = false;
  while (!(idle = mt_cuda_is_idle(c)) && mt_host_now() - begin < MT_LEAVE)
    rest(mt_host_now() - begin);
  for (int i = 0; i < 2; i++)
    if (c->batch[i]) c->driver.cuEventDestroy(c->batch[i]), c->batch[i] = NULL;
  while (c->streams) c->driver.cuStreamDestroy(take(d, &c->streams).stream);
  if (idle) mt_cuda_drop_spares(c);
  if (idle && c->unit) c->driver.cuMemFree(c->unit);
  while (c->freed) {
    CUdeviceptr p = take(d, &c->freed).p;
    if (idle) c->driver.cuMemFree(p);
  }
  return idle;
}
