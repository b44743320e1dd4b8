/*
** stage.c - copies between the host and a GPU: the slots that pieces are in,
** and when they do.
** SPDX-License-Identifier: MIT
**
** Piece i passes through slot i mod n: page-locked memory, and as much of the device's.
** Two streams: the one of transfers, and the launch's, on which the kernels run. In each
** slot `sent` comes behind the transfer of its last piece, `used` behind its kernel.
*/
#include <stdatomic.h>

#include "cpu/host.h"
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
  size_t all;
  return __builtin_mul_overflow(piece_of(d), (size_t)MT_STAGE_KEPT, &all) ? SIZE_MAX :
                                                                            all;
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

/* A piece is packed, or unpacked, in so many shares; if it has so many bytes. */
enum { MT_SHARES = 32, MT_SHARED = 128 << 10 };

/* One launch of a transfer. Its pieces are shared by the threads of the host's pool,
** which go from one to the next, while the caller talks to the driver, and helps. */
typedef struct mt_trip {
  mt_cuda *c;
  mt_stage *g;
  CUstream stream; /* of the launch, and so of the kernels */
  mt_err *err;
  bool begun; /* pieces may be on their way */
  mt_stint stint;
  double idle, asked; /* since when there is nothing to do, and when it was asked last */
  mt_piece piece[MT_STAGE_SLOTS];
  /* ---- what is shared: the piece in each slot, how much of it is done, and the slots in
  ** the order in which they were given out */
  bool shares;
  mt_worker self;
  mt_loop loop[MT_STAGE_SLOTS];
  atomic_int packed[MT_STAGE_SLOTS];
  int64_t given;
  int slot[MT_STAGE_SLOTS];
} mt_trip;

#define TRY_CU(w, name, args) MT_TRY(CU((w)->c, (w)->err, name, args))

/* More slots, if there are more pieces; without memory those that there are must do. */
static mt_status more_slots (mt_trip *w) {
  mt_room *r = &w->c->room;
  while (r->n < MT_STAGE_SLOTS && r->n < w->g->pieces) {
    MT_TRYERR(err, w->err);
    mt_status s = add_slot(w->c, r->bytes, &err);
    if (s == MT_ENOMEM) break;
    if (s != MT_OK) return *w->err = err, s;
  }
  return MT_OK;
}

static int slot_of (const mt_trip *w, int64_t i) { return (int)(i % w->c->room.n); }

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

/* Shares first .. last - 1 of what was given out. An mt_work. */
static void pack_shares (void *arg, int64_t first, int64_t last, mt_worker *worker) {
  mt_trip *w = arg;
  for (; first < last; first++) {
    const int slot = w->slot[first / MT_SHARES % MT_STAGE_SLOTS];
    const mt_loop *l = &w->loop[slot];
    const int64_t n = first % MT_SHARES;
    const int64_t begin = n * l->total / MT_SHARES, end = (n + 1) * l->total / MT_SHARES;
    if (begin < end) l->work(l->arg, begin, end, worker);
    atomic_fetch_add(&w->packed[slot], 1);
  }
}

/* Memory serves the GPU as well: what is as fast as memory is with a few threads goes up
** slower with more. */
static int threads_of (const mt_trip *w, int slot) {
  const mt_loop *l = &w->loop[slot];
  const int all = mt_pool_threads(l->pool);
  return w->g->host == MT_SRC && l->few && all > MT_STAGE_FEW ? MT_STAGE_FEW : all;
}

static void give_out (mt_trip *w, int slot) {
  atomic_store(&w->packed[slot], 0);
  if (!w->shares)
    mt_pool_open(&w->self, w->loop[slot].pool, "copy", 1, threads_of(w, slot),
                 pack_shares, w, w->err);
  w->shares = true;
  w->slot[w->given++ % MT_STAGE_SLOTS] = slot;
  mt_pool_more(&w->self, MT_SHARES);
}

/* Begins to move the piece between its slot and the host's tensor; what no threads share
** is moved when this returns. */
static mt_status pack (mt_trip *w, int slot) {
  const mt_piece *p = &w->piece[slot];
  mt_leg *leg = &w->g->pack[slot];
  const mt_backend *host = leg->device->backend;
  w->idle = 0;
  atomic_store(&w->packed[slot], MT_SHARES);
  if (p->raw && w->g->locked) return MT_OK;
  MT_TRY(mt_stage_pack(w->g, slot, p, w->c->room.slot[slot].host, w->err));
  const bool shares = w->shares || p->bytes >= MT_SHARED;
  if (!shares || !host->loop || !host->loop(leg->p, &w->loop[slot]))
    return mt_plan_launch(leg->p, NULL, w->err);
  return give_out(w, slot), MT_OK;
}

/* A loop that was told to end leaves shares half done. */
static bool is_packed (mt_trip *w, int slot) {
  return atomic_load(&w->packed[slot]) == MT_SHARES &&
         !(w->shares && mt_pool_ended(&w->self));
}

/* Whether the slot's last transfer is over. */
static mt_status arrived (mt_trip *w, int slot, bool *out) {
  const CUresult r = w->c->driver.cuEventQuery(w->c->room.slot[slot].sent);
  *out = r == 0;
  if (r == 0 || r == MT_CU_NOT_READY) return MT_OK;
  mt_status s = mt_driver_check(&w->c->driver, "cuEventQuery", r, w->err);
  return mt_cuda_note(w->c, s, w->err);
}

/* Where nothing can begin: helps, or waits. */
static mt_status rest (mt_trip *w) {
  if (w->shares && mt_pool_help(&w->self)) return w->idle = 0, MT_OK;
  if (w->shares && mt_pool_ended(&w->self)) return w->err->status;
  const double now = mt_host_now();
  if (w->idle == 0) w->idle = w->asked = now;
  return mt_cuda_rest(now - w->idle, now, &w->asked, w->err);
}

static mt_status send (mt_trip *w, int slot, bool again) {
  w->idle = 0;
  const CUstream transfers = w->c->room.stream;
  const mt_piece *p = &w->piece[slot];
  mt_slot *s = &w->c->room.slot[slot];
  if (again && !p->direct) TRY_CU(w, cuStreamWaitEvent, (transfers, s->used, 0));
  TRY_CU(w, cuMemcpyHtoDAsync,
         (device_place(w, p, s), host_place(w, p, s), p->bytes, transfers));
  TRY_CU(w, cuEventRecord, (s->sent, transfers));
  if (p->direct) return MT_OK;
  TRY_CU(w, cuStreamWaitEvent, (w->stream, s->sent, 0));
  return place(w, p, s);
}

static mt_status fetch (mt_trip *w, int slot) {
  const CUstream transfers = w->c->room.stream;
  const mt_piece *p = &w->piece[slot];
  mt_slot *s = &w->c->room.slot[slot];
  if (!p->direct) {
    MT_TRY(place(w, p, s));
    TRY_CU(w, cuStreamWaitEvent, (transfers, s->used, 0));
  }
  TRY_CU(w, cuMemcpyDtoHAsync,
         (host_place(w, p, s), device_place(w, p, s), p->bytes, transfers));
  TRY_CU(w, cuEventRecord, (s->sent, transfers));
  return MT_OK;
}

/* Piece i is packed into its slot, when the piece before has left that, and sent. A
** slot's host memory is free when its last piece was sent, the device's when its last
** kernel has run. */
static mt_status send_all (mt_trip *w) {
  const int64_t n = w->c->room.n, all = w->g->pieces;
  for (int64_t opened = 0, sent = 0; sent < all;) {
    bool goes = opened < all && opened - sent < n;
    if (goes && opened >= n) MT_TRY(arrived(w, slot_of(w, opened), &goes));
    if (goes) {
      mt_stage_piece(&w->piece[slot_of(w, opened)], w->g, opened);
      MT_TRY(pack(w, slot_of(w, opened++)));
    }
    if (sent < opened && is_packed(w, slot_of(w, sent))) {
      MT_TRY(send(w, slot_of(w, sent), sent >= n));
      w->stint.done = (double)++sent;
    } else if (!goes) MT_TRY(rest(w));
  }
  return MT_OK;
}

static mt_status up (mt_trip *w) {
  MT_TRY(send_all(w));
  MT_TRY(mt_cuda_await(w->c, w->stream, w->err));
  MT_TRY(mt_cuda_await(w->c, w->c->room.stream, w->err));
  TRY_CU(w, cuStreamSynchronize, (w->stream));
  TRY_CU(w, cuStreamSynchronize, (w->c->room.stream));
  return MT_OK;
}

/* Piece i is fetched into its slot, when the one before is out of that, and unpacked. */
static mt_status down (mt_trip *w) {
  const int64_t n = w->c->room.n, all = w->g->pieces;
  for (int64_t fetched = 0, opened = 0, done = 0; done < all;) {
    bool here = false, goes = fetched < all && fetched - done < n;
    if (goes) {
      mt_stage_piece(&w->piece[slot_of(w, fetched)], w->g, fetched);
      MT_TRY(fetch(w, slot_of(w, fetched++)));
    }
    if (opened < fetched) MT_TRY(arrived(w, slot_of(w, opened), &here));
    if (here) MT_TRY(pack(w, slot_of(w, opened++)));
    if (done < opened && is_packed(w, slot_of(w, done))) w->stint.done = (double)++done;
    else if (!goes && !here) MT_TRY(rest(w));
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

/* A piece is a step. */
static mt_status staged (mt_trip *w) {
  MT_TRY(begin(w));
  mt_stint_begin(&w->stint, "copy", "pieces", (double)w->g->pieces, w->err);
  mt_status s = w->g->host == MT_SRC ? up(w) : down(w);
  if (w->shares && s != MT_OK) mt_pool_end(&w->self);
  if (w->shares) mt_pool_close(&w->self);
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
