/*
** stage.c - copies between the host and a GPU: the slots that pieces are in,
** and when they do.
** SPDX-License-Identifier: MIT
**
** Piece i passes through slot i mod n: page-locked memory, and as much of the device's.
** Two streams: the one of transfers, and the launch's, on which the kernels run. In each
** slot `sent` comes behind the transfer of its last piece, `used` behind its kernel.
*/
#include "cuda/cuda.h"
#include "plan/stage.h"

/* ---------------------------------------------------------------- slots */

static void free_slot (mt_cuda *c, mt_slot *s) {
  const mt_driver *v = &c->driver;
  if (s->sent != NULL) v->cuEventDestroy(s->sent);
  if (s->used != NULL) v->cuEventDestroy(s->used);
  if (s->device != 0) v->cuMemFree(s->device);
  if (s->host != NULL) v->cuMemFreeHost(s->host);
  *s = (mt_slot){NULL, 0, NULL, NULL};
}

void mt_cuda_room_free (mt_cuda *c) {
  mt_room *r = &c->room;
  while (r->n > 0) free_slot(c, &r->slot[--r->n]);
  if (r->begun != NULL) c->driver.cuEventDestroy(r->begun);
  if (r->stream != NULL) c->driver.cuStreamDestroy(r->stream);
  *r = (mt_room){.n = 0};
}

/* A function that fails leaves its result alone. What would be waited for has ended when
** there is something to give back, which waits for it too. */
static mt_status fill_slot (mt_cuda *c, mt_slot *s, size_t bytes, mt_err *err) {
  MT_TRY(mt_cuda_await(c, c->stream, err));
  MT_TRY(CU(c, err, cuMemHostAlloc, (&s->host, bytes, 0)));
  MT_TRY(CU(c, err, cuMemAlloc, (&s->device, bytes)));
  MT_TRY(mt_cuda_clear(c, s->device, bytes, err));
  MT_TRY(CU(c, err, cuEventCreate, (&s->sent, MT_CU_NO_TIMING)));
  return CU(c, err, cuEventCreate, (&s->used, MT_CU_NO_TIMING));
}

/* What is kept makes room. */
static mt_status add_slot (mt_cuda *c, size_t bytes, mt_err *err) {
  mt_slot *s = &c->room.slot[c->room.n];
  mt_status st = fill_slot(c, s, bytes, err);
  if (st == MT_ENOMEM && mt_cuda_drop_spares(c)) {
    free_slot(c, s);
    mt_forgive(err);
    st = fill_slot(c, s, bytes, err);
  }
  if (st == MT_OK) c->room.n++;
  else free_slot(c, s);
  return st;
}

static mt_status make_streams (mt_cuda *c, mt_err *err) {
  mt_room *r = &c->room;
  if (r->stream == NULL)
    MT_TRY(CU(c, err, cuStreamCreate, (&r->stream, MT_CU_NON_BLOCKING)));
  if (r->begun == NULL) MT_TRY(CU(c, err, cuEventCreate, (&r->begun, MT_CU_NO_TIMING)));
  return MT_OK;
}

static size_t piece_of (const mt_device *d) {
  return d->options.piece ? d->options.piece : MT_STAGE_PIECE;
}

size_t mt_cuda_most_spare (const mt_device *d) { return piece_of(d); }

size_t mt_cuda_staging (const mt_device *d) {
  size_t all, spare = mt_cuda_most_spare(d);
  if (__builtin_mul_overflow(piece_of(d), (size_t)2 * MT_SLOTS, &all) ||
      __builtin_add_overflow(all, spare, &all))
    return SIZE_MAX;
  return all;
}

/* The first slot, of what there is memory for. */
static mt_status first_slot (mt_device *d, mt_err *err) {
  mt_cuda *c = d->impl;
  mt_room *r = &c->room;
  size_t bytes = piece_of(d);
  MT_TRY(make_streams(c, err));
  if (r->n > 0) return MT_OK;
  mt_status s = add_slot(c, bytes, err);
  for (; s == MT_ENOMEM && bytes / 2 >= MT_STAGE_LEAST; s = add_slot(c, bytes, err)) {
    bytes /= 2;
    mt_forgive(err);
  }
  r->bytes = bytes;
  if (s != MT_ENOMEM) return s;
  mt_err cause = *err;
  return mt_fail(err, MT_ENOMEM,
                 "copy: between the host and %s it needs %zu bytes of "
                 "page-locked memory, and as many of the device's: %s",
                 d->name, bytes, cause.text);
}

mt_status mt_cuda_room (mt_device *d, size_t *bytes, void *at[2], mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = first_slot(d, err);
  mt_cuda_leave(c);
  if (s != MT_OK) return s;
  *bytes = c->room.bytes;
  at[0] = c->room.slot[0].host;
  at[1] = (void *)(uintptr_t)c->room.slot[0].device;
  return MT_OK;
}

/* What the driver knows nothing of has no kind, and is not page-locked. */
static bool is_locked (const mt_cuda *c, const void *p) {
  CUpointer_attribute a = MT_CU_MEMORY_TYPE;
  int kind = 0;
  void *out = &kind;
  return c->driver.cuPointerGetAttributes(1, &a, &out, to_address(p)) == 0 &&
         kind == MT_CU_HOST_MEMORY;
}

mt_status mt_cuda_locked (mt_device *d, bool *out, const void *p, size_t bytes,
                          mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(mt_cuda_enter(c, err));
  *out = is_locked(c, p) && is_locked(c, (const char *)p + bytes - 1);
  mt_cuda_leave(c);
  return MT_OK;
}

/* ---------------------------------------------------------------- transfers */

/* One launch of a transfer. */
typedef struct mt_trip {
  mt_cuda *c;
  mt_stage *g;
  CUstream stream; /* of the launch, and so of the kernels */
  mt_err *err;
  bool begun; /* pieces may be on their way */
  mt_stint stint;
} mt_trip;

#define TRY_CU(w, name, args) MT_TRY(CU((w)->c, (w)->err, name, args))

/* More slots, if there are more pieces; without memory those that there are must do. */
static mt_status more_slots (mt_trip *w) {
  mt_room *r = &w->c->room;
  while (r->n < MT_SLOTS && r->n < w->g->pieces) {
    MT_TRYERR(err, w->err);
    mt_status s = add_slot(w->c, r->bytes, &err);
    if (s == MT_ENOMEM) break;
    if (s != MT_OK) return *w->err = err, s;
  }
  return MT_OK;
}

static mt_slot *slot_of (const mt_trip *w, int64_t i) {
  return &w->c->room.slot[i % w->c->room.n];
}

/* After a call that was ended: its pieces have left the slots. */
static mt_status clear_slots (mt_trip *w) {
  mt_room *r = &w->c->room;
  MT_TRY(mt_cuda_await_all(w->c, w->err));
  if (w->err->stop == NULL) TRY_CU(w, cuCtxSynchronize, ());
  r->left = false;
  return MT_OK;
}

/* Transfers come behind what was on the launch's stream before. Where the host's own
** memory takes part that has ended: so what is on its way then is over soon. */
static mt_status begin (mt_trip *w) {
  mt_room *r = &w->c->room;
  if (r->left) MT_TRY(clear_slots(w));
  if (w->g->locked) MT_TRY(mt_cuda_await(w->c, w->stream, w->err));
  MT_TRY(more_slots(w));
  TRY_CU(w, cuEventRecord, (r->begun, w->stream));
  TRY_CU(w, cuStreamWaitEvent, (r->stream, r->begun, 0));
  w->begun = true;
  return MT_OK;
}

/* Where a piece is on the host while it travels, and on the device. */
static void *host_place (const mt_trip *w, const mt_piece *p, mt_slot *s) {
  return p->raw && w->g->locked ? mt_piece_host(w->g, p) : s->host;
}

static CUdeviceptr device_place (const mt_trip *w, const mt_piece *p, const mt_slot *s) {
  return p->direct ? to_address(mt_piece_device(w->g, p)) : s->device;
}

/* The kernel between a slot and the device's tensor, unless the piece lies there just as
** it travels. */
static mt_status place (mt_trip *w, const mt_piece *p, mt_slot *s) {
  MT_TRY(mt_stage_leg(&w->g->place, w->g, p, (void *)(uintptr_t)s->device, w->err));
  MT_TRY(mt_cuda_start(w->g->place.p, w->stream, w->err));
  TRY_CU(w, cuEventRecord, (s->used, w->stream));
  return MT_OK;
}

/* Between a slot and the host's tensor, by the threads of the host; at once. */
static mt_status pack (mt_trip *w, const mt_piece *p, mt_slot *s) {
  if (p->raw && w->g->locked) return MT_OK;
  MT_TRY(mt_stage_leg(&w->g->pack, w->g, p, s->host, w->err));
  return mt_plan_launch(w->g->pack.p, NULL, w->err);
}

/* Whether the slot's last transfer is over. */
static mt_status arrived (mt_trip *w, const mt_slot *s) {
  MT_TRY(mt_cuda_await_event(w->c, s->sent, w->err));
  TRY_CU(w, cuEventSynchronize, (s->sent));
  return MT_OK;
}

/* A slot's host memory is free when its last piece was sent, the device's when its last
** kernel has run. */
static mt_status send (mt_trip *w, int64_t i) {
  const CUstream transfers = w->c->room.stream;
  mt_slot *s = slot_of(w, i);
  bool again = i >= w->c->room.n;
  mt_piece p;
  mt_stage_piece(&p, w->g, i);
  if (again) MT_TRY(arrived(w, s));
  MT_TRY(pack(w, &p, s));
  if (again && !p.direct) TRY_CU(w, cuStreamWaitEvent, (transfers, s->used, 0));
  TRY_CU(w, cuMemcpyHtoDAsync,
         (device_place(w, &p, s), host_place(w, &p, s), p.bytes, transfers));
  TRY_CU(w, cuEventRecord, (s->sent, transfers));
  if (p.direct) return MT_OK;
  TRY_CU(w, cuStreamWaitEvent, (w->stream, s->sent, 0));
  return place(w, &p, s);
}

/* The slot is free: what it held has arrived. */
static mt_status fetch (mt_trip *w, int64_t i) {
  const CUstream transfers = w->c->room.stream;
  mt_slot *s = slot_of(w, i);
  mt_piece p;
  mt_stage_piece(&p, w->g, i);
  if (!p.direct) {
    MT_TRY(place(w, &p, s));
    TRY_CU(w, cuStreamWaitEvent, (transfers, s->used, 0));
  }
  TRY_CU(w, cuMemcpyDtoHAsync,
         (host_place(w, &p, s), device_place(w, &p, s), p.bytes, transfers));
  TRY_CU(w, cuEventRecord, (s->sent, transfers));
  return MT_OK;
}

static mt_status arrive (mt_trip *w, int64_t i) {
  mt_slot *s = slot_of(w, i);
  mt_piece p;
  mt_stage_piece(&p, w->g, i);
  MT_TRY(arrived(w, s));
  return pack(w, &p, s);
}

static mt_status up (mt_trip *w) {
  for (int64_t i = 0; i < w->g->pieces; i++) {
    MT_TRY(send(w, i));
    w->stint.done++;
  }
  MT_TRY(mt_cuda_await(w->c, w->stream, w->err));
  MT_TRY(mt_cuda_await(w->c, w->c->room.stream, w->err));
  TRY_CU(w, cuStreamSynchronize, (w->stream));
  TRY_CU(w, cuStreamSynchronize, (w->c->room.stream));
  return MT_OK;
}

static mt_status down (mt_trip *w) {
  const int64_t n = w->c->room.n, all = w->g->pieces;
  for (int64_t i = 0; i < all + n; i++) {
    if (i >= n && i - n < all) {
      MT_TRY(arrive(w, i - n));
      w->stint.done++;
    }
    if (i < all) MT_TRY(fetch(w, i));
  }
  return MT_OK;
}

/* All as one run, without a slot. */
static mt_status whole (mt_trip *w) {
  mt_piece p;
  mt_stage_piece(&p, w->g, 0);
  void *host = mt_piece_host(w->g, &p);
  CUdeviceptr device = to_address(mt_piece_device(w->g, &p));
  bool up = w->g->host == MT_SRC;
  return mt_cuda_move(w->c, device, up ? NULL : host, up ? host : NULL, p.bytes,
                      w->stream, w->err);
}

/* The packing of a piece is a step. */
static mt_status staged (mt_trip *w) {
  MT_TRY(begin(w));
  mt_stint_begin(&w->stint, "copy", "pieces", (double)w->g->pieces, w->err);
  mt_status s = w->g->host == MT_SRC ? up(w) : down(w);
  mt_stint_end(&w->stint, w->err);
  return s;
}

/* After an error, too, nobody touches the host's memory when this returns. Of a call that
** was ended pieces may still be on their way between the slots and the device. */
mt_status mt_cuda_transfer (mt_plan *p, mt_stream *s, mt_err *err) {
  mt_cuda *c = p->device->impl;
  mt_trip w = {.c = c, .g = p->stage, .stream = to_stream(c, s), .err = err};
  MT_TRY(mt_cuda_enter(c, err));
  mt_cuda_notice(c, w.stream);
  mt_status st = w.g->staged ? staged(&w) : whole(&w);
  bool ended = st == MT_ESTOPPED, here = w.begun && w.g->locked;
  if (st != MT_OK && (!ended || here)) c->driver.cuCtxSynchronize();
  if (ended && w.begun) c->room.left = true;
  mt_cuda_leave(c);
  return st;
}
