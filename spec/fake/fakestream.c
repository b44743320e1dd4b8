/*
** fakestream.c - streams of the fake driver: work in order, done when somebody waits.
** SPDX-License-Identifier: MIT
**
** A missing wait shows: host memory that was to be read is another's by then, memory that
** was to be written is not. Whoever waits does the work, alone in the driver (GUARD) but
** for kernels, which threads run beside each other.
*/
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fakecuda.h"
#include "copy/ref.h"

static CUstream streams;

/* Whether another thread does work of it. */
static bool is_taken (const struct CUstream_st *s) {
  return s->busy > 0 && !pthread_equal(s->thread, pthread_self());
}

CUresult fake_stream_new (CUstream *out, CUcontext c) {
  CUstream s = calloc(1, sizeof *s);
  if (s == NULL) return 2;
  s->context = c;
  s->next = streams;
  streams = s;
  return *out = s, 0;
}

void fake_drop (CUevent e) {
  if (e != NULL && --e->users == 0) free(e);
}

static void drop_work (fake_work *w) {
  fake_drop(w->event);
  free(w);
}

/* What a slow kernel holds up never comes to pass. */
static void forget_work (CUstream s) {
  while (s->work != NULL) {
    fake_work *w = s->work;
    s->work = w->next;
    if (w->kind == FAKE_STAMP) w->event->come = w->ticket;
    drop_work(w);
  }
}

void fake_stream_free (CUstream s) {
  CUstream *p = &streams;
  while (is_taken(s)) fake_wait();
  if (fake_look(s)) fake_finish(s);
  else forget_work(s);
  fake_capture_drop(s);
  while (*p != s) p = &(*p)->next;
  *p = s->next;
  free(s);
}

/* The legacy default stream of the current context, which nobody makes or destroys. */
CUstream fake_stream_of (CUstream s) {
  static struct CUstream_st legacy[FAKE_MOST_DEVICES];
  if (s != (CUstream)(void *)(uintptr_t)MT_CU_LEGACY) return s;
  CUcontext c = fake_current();
  CUstream own = &legacy[c->device];
  if (own->context == NULL) {
    own->context = c;
    own->legacy = true;
    own->next = streams;
    streams = own;
  }
  return own;
}

int fake_live_streams (void) {
  int n = 0;
  for (CUstream s = streams; s != NULL; s = s->next) n += !s->legacy;
  return n;
}

CUresult fake_append (fake_work **list, const fake_work *w) {
  fake_work *copy = malloc(sizeof *copy);
  if (copy == NULL) return 2;
  *copy = *w;
  copy->next = NULL;
  if (copy->event != NULL) copy->event->users++;
  while (*list != NULL) list = &(*list)->next;
  *list = copy;
  return 0;
}

CUresult fake_enqueue (CUstream s, const fake_work *w) {
  return fake_append(s->capturing ? &s->captured : &s->work, w);
}

bool fake_capturing (CUcontext c) {
  bool any = false;
  for (CUstream s = streams; s != NULL; s = s->next)
    if (s->context == c && s->capturing) any = s->broken = true;
  return any;
}

/* ---------------------------------------------------------------- doing it */

uint32_t fake_room (const mt_kernel *k, const mt_launch *l) {
  if (k->op == MT_OP_HOPPER) return fake_hopper_room(k);
  if (k->op == MT_OP_AMPERE) return fake_ampere_room(k);
  if (k->op == MT_OP_PIPELINE)
    return ((const mt_pipeline_launch *)(const void *)l)->pipe.shared;
  const mt_algo *a = k->op == MT_OP_COPY ? mt_algo_of(k->algo) : NULL;
  return a && a->shared ? a->shared(&l->desc) : 0;
}

/* The bases as the host's addresses; false where a buffer is not the device's. */
static bool translate (void **base, int n, int device, size_t *bytes) {
  for (int i = 0; i < n; i++) {
    bytes[i] = 0;
    if (base[i] == NULL) continue;
    base[i] = fake_host((CUdeviceptr)(uintptr_t)base[i], device, 0, &bytes[i]);
    if (base[i] == NULL) return false;
  }
  return true;
}

static mt_status copy (fake_work *w, int device, mt_err *err) {
  size_t bytes[MT_MAXBASE];
  if (!translate(w->launch.base, MT_MAXBASE, device, bytes) ||
      w->launch.base[MT_SRC] == NULL || w->launch.base[MT_DST] == NULL)
    return MT_ERANGE;
  return mt_ref_run(w->kernel, w->grid, &w->launch, bytes, err);
}

static mt_status multiply (fake_work *w, int device, mt_err *err) {
  size_t bytes[MT_PARTS + MT_BESIDES],
      room = mt_mma_ref_size(&w->gemm.desc, fake_atom, 1);
  if (!translate(w->gemm.base, MT_PARTS, device, bytes) || w->gemm.base[MT_C] == NULL ||
      !translate(w->gemm.beside_base, MT_BESIDES, device, bytes + MT_PARTS) ||
      w->grid.threads != w->gemm.desc.threads)
    return MT_ERANGE;
  mt_gemm_ref *ref = aligned_alloc(64, room);
  if (ref == NULL) return MT_ENOMEM;
  mt_status s = mt_mma_ref_make(ref, &w->gemm.desc, fake_atom, 1, err);
  if (s == MT_OK) s = mt_mma_ref_run(ref, &w->gemm, bytes, NULL, err);
  free(ref);
  return s;
}

static CUresult launch (fake_work *w, int device) {
  mt_err err = MT_NOERR;
  const bool piped = w->kernel->op == MT_OP_PIPELINE;
  const bool product = piped || w->kernel->op == MT_OP_GEMM;
  if (piped && !fake_piped(&w->piped.pipe, device)) return 700;
  if (fake_is_rest(w->kernel))
    return fake_rest(w->grid, &w->rest, device) == MT_OK ? 0 : 700;
  if (w->kernel->op == MT_OP_HOPPER)
    return fake_hopper(w->kernel, w->grid, w->cluster, &w->hopper, device) == MT_OK ? 0 :
                                                                                      700;
  if (w->kernel->op == MT_OP_PACK)
    return fake_pack(w->kernel, w->grid, &w->pack, device) == MT_OK ? 0 : 700;
  if (w->kernel->op == MT_OP_AMPERE)
    return fake_ampere(w->kernel, w->grid, &w->ampere, device) == MT_OK ? 0 : 700;
  mt_status s = product ? multiply(w, device, &err) : copy(w, device, &err);
  if (s != MT_OK && fake_option("FAKECUDA_REPORT", 0))
    fprintf(stderr, "fakecuda: %s\n", err.text);
  return s == MT_OK ? 0 : s == MT_EALIGN ? 716 : 700;
}

static void perform_next (CUstream s);
static bool pends (CUstream s) { return s->work != NULL || is_taken(s); }

CUresult fake_reach (CUevent e, int ticket) {
  while (e->come < ticket && pends(e->last)) perform_next(e->last);
  return e->come < ticket ? 400 : 0;
}

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static CUresult stamp (CUevent e, int ticket) {
  e->come = ticket;
  e->at = now();
  return 0;
}

static CUresult launch_outside (fake_work *w, int device) {
  fake_leave(NULL);
  CUresult r = launch(w, device);
  fake_enter();
  return r;
}

static CUresult perform (fake_work *w, int device) {
  if (w->kind == FAKE_STAMP) return stamp(w->event, w->ticket);
  if (w->kind == FAKE_AWAIT) return fake_reach(w->event, w->ticket);
  if (w->kind == FAKE_LAUNCH) return launch_outside(w, device);
  void *p = fake_host(w->device, -1, w->bytes, NULL);
  if (p == NULL) return 700;
  if (w->kind == FAKE_SET) fake_set_words(p, w), fake_fill(w->device, w->bytes);
  if (w->kind == FAKE_UP) memcpy(p, w->from, w->bytes), fake_fill(w->device, w->bytes);
  if (w->kind == FAKE_DOWN) memcpy(w->to, p, w->bytes);
  return 0;
}

/* Whether the first work of a stream can be done now. */
static bool is_due (fake_work *w) {
  if (w->kind == FAKE_AWAIT) return fake_look_for(w->event, w->ticket);
  if (w->kind != FAKE_LAUNCH) return true;
  double t = now(), slow = 1e-3 * (double)fake_option("FAKECUDA_SLOW", 0);
  if (w->end == 0) w->end = t + slow;
  return t >= w->end || slow == 0;
}

bool fake_look (CUstream s) {
  while (!is_taken(s) && s->work != NULL && is_due(s->work)) perform_next(s);
  return !pends(s);
}

bool fake_look_for (CUevent e, int ticket) {
  CUstream s = e->last;
  while (e->come < ticket && !is_taken(s) && s->work != NULL && is_due(s->work))
    perform_next(s);
  return e->come >= ticket || !pends(s);
}

/* The next work of a stream, or what another thread does of it. Of a context that is lost
** only events come to pass. */
static void perform_next (CUstream s) {
  if (is_taken(s)) {
    fake_wait();
    return;
  }
  fake_work *w = s->work;
  while (w->kind == FAKE_LAUNCH && !is_due(w))
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  s->work = w->next;
  s->thread = pthread_self();
  s->busy++;
  CUresult r = s->context->sticky;
  if (r == 0 || w->kind == FAKE_STAMP) r = perform(w, s->context->device);
  if (s->context->sticky == 0) s->context->sticky = r;
  s->busy--;
  fake_wake();
  drop_work(w);
}

void fake_finish (CUstream s) {
  while (pends(s)) perform_next(s);
}

/* From the beginning again after each piece: streams may be gone since. */
void fake_finish_all (CUcontext c) {
  for (CUstream s = streams; s != NULL;)
    if (s->context == c && pends(s)) perform_next(s), s = streams;
    else s = s->next;
}
