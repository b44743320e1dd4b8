/*
** device.c - devices, their memory, streams: the doors to the backends.
** SPDX-License-Identifier: MIT
*/
#include "plan/device.h"
#include "plan/extend.h"

/* ---------------------------------------------------------------- opening */

/* Of an earlier version's caller the first fields. */
static mt_status read_options (mt_device_options *out, const mt_device_options *in,
                               mt_err *err) {
  MT_CHECK(in->size >= offsetof(mt_device_options, context) && in->size < 4096, err,
           "device: options of %zu bytes\nsize = sizeof(mt_device_options)", in->size);
  memcpy(out, in, in->size < sizeof *out ? in->size : sizeof *out);
  out->size = sizeof *out;
  return MT_OK;
}

mt_status mt_device_make (mt_device **out, const mt_backend *b, int index,
                          const mt_device_options *options, mt_err *err) {
  mt_device_options o = {.size = sizeof o};
  if (options) MT_TRY(read_options(&o, options, err));
  if (o.alloc == NULL) o.alloc = mt_libc_alloc;
  MT_CHECK(o.threads >= 0, err, "device: %d threads", o.threads);
  MT_CHECK(o.piece == 0 || (o.piece >= 16 && o.piece <= PTRDIFF_MAX), err,
           "device: pieces of %zu bytes: at least 16", o.piece);
  mt_device *d = mt_take_memory(&o, sizeof *d);
  if (d == NULL) return mt_fail(err, MT_ENOMEM, "no host memory for a device");
  memset(d, 0, sizeof *d);
  d->backend = b;
  d->threads = 1;
  d->options = o;
  mt_status s = b->open(d, index, err);
  if (s != MT_OK) {
    mt_host_free(d, d, sizeof *d);
    return s;
  }
  *out = d;
  return MT_OK;
}

void mt_device_halt (mt_device *d) {
  if (d->backend->halt) d->backend->halt(d);
}

void mt_device_close (mt_device *d) {
  if (d == NULL) return;
  mt_drop_kernels(d);
  d->backend->close(d);
  mt_host_free(d, d, sizeof *d);
}

const char *mt_device_name (const mt_device *d) { return d->name; }
const char *mt_device_about (const mt_device *d) { return d->about; }
bool mt_device_is_host (const mt_device *d) { return d->backend->host; }
int mt_device_threads (const mt_device *d) { return d->threads; }
size_t mt_device_staging (const mt_device *d) { return d->staging; }

/* ---------------------------------------------------------------- memory and streams */

mt_status mt_malloc (mt_device *d, void **out, size_t bytes, mt_err *err) {
  *out = NULL;
  return bytes == 0 ? MT_OK : d->backend->alloc(d, out, bytes, err);
}

void mt_free (mt_device *d, void *p, size_t bytes) {
  if (p) d->backend->free(d, p, bytes);
}

void mt_recycle (mt_device *d, void *p, size_t bytes) {
  if (p == NULL) return;
  if (d->backend->recycle) d->backend->recycle(d, p, bytes);
  else d->backend->free(d, p, bytes);
}

mt_status mt_device_repeat (mt_device *d, void *p, const void *unit, size_t bytes,
                            mt_err *err) {
  return d->backend->repeat ? d->backend->repeat(d, p, unit, bytes, err) :
                              MT_EUNSUPPORTED;
}

mt_status mt_device_unit (mt_device *d, void **out, const void *unit, mt_err *err) {
  *out = NULL;
  d->units++;
  return d->backend->unit ? d->backend->unit(d, out, unit, err) : MT_EUNSUPPORTED;
}

mt_status mt_malloc_locked (mt_device *d, void **out, size_t bytes, mt_err *err) {
  *out = NULL;
  MT_CHECK(d->backend->lock != NULL, err,
           "locked: %s locks no pages of the host: a GPU's driver does, as of \"cuda\"",
           d->name);
  return bytes == 0 ? MT_OK : d->backend->lock(d, out, bytes, err);
}

void mt_free_locked (mt_device *d, void *p, size_t bytes) {
  if (p) d->backend->unlock(d, p, bytes);
}

mt_status mt_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                     mt_err *err) {
  MT_TRY(mt_graph_idle(d, "upload", err));
  return mt_graph_upload(d, dst, host, bytes, err);
}

mt_status mt_graph_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                           mt_err *err) {
  return bytes == 0 ? MT_OK : d->backend->upload(d, dst, host, bytes, err);
}

mt_status mt_download (mt_device *d, void *host, const void *src, size_t bytes,
                       mt_err *err) {
  MT_TRY(mt_graph_idle(d, "download", err));
  return bytes == 0 ? MT_OK : d->backend->download(d, host, src, bytes, err);
}

mt_status mt_stream_create (mt_device *d, mt_stream **out, mt_err *err) {
  *out = NULL;
  return d->backend->stream_create(d, out, err);
}

void mt_stream_destroy (mt_device *d, mt_stream *s) {
  if (s) d->backend->stream_destroy(d, s);
}

/* ---------------------------------------------------------------- the host's own */

void *mt_device_context (const mt_device *d) {
  return d->backend->context ? d->backend->context(d) : NULL;
}

void *mt_stream_handle (const mt_device *d, mt_stream *s) {
  return d->backend->handle ? d->backend->handle(d, s) : NULL;
}

mt_status mt_stream_of (mt_device *d, mt_stream **out, void *handle, mt_err *err) {
  *out = NULL;
  MT_CHECK(d->backend->stream_of, err, "stream: %s has no streams of others", d->name);
  *out = d->backend->stream_of(handle);
  return MT_OK;
}

mt_status mt_stream_wait (mt_device *d, mt_stream *s, mt_stream *before, mt_err *err) {
  MT_TRY(mt_graph_idle(d, "wait", err));
  return d->backend->order ? d->backend->order(d, s, before, err) : MT_OK;
}

static mt_status use_event (mt_device *d, mt_stream *s, void *event, bool records,
                            mt_err *err) {
  MT_CHECK(d->backend->event, err, "event: %s has no events of others", d->name);
  MT_CHECK(event != NULL, err, "event: a CUevent expected, got NULL");
  MT_TRY(mt_graph_idle(d, "event", err));
  return d->backend->event(d, s, event, records, err);
}

mt_status mt_event_record (mt_device *d, void *event, mt_stream *s, mt_err *err) {
  return use_event(d, s, event, true, err);
}

mt_status mt_event_wait (mt_device *d, mt_stream *s, void *event, mt_err *err) {
  return use_event(d, s, event, false, err);
}

/* ---------------------------------------------------------------- waiting */

mt_status mt_wait_own (mt_device *d, mt_err *err) {
  MT_TRY(mt_graph_idle(d, "synchronize", err));
  return d->backend->synchronize(d, mt_stream_handle(d, NULL), err);
}

mt_status mt_synchronize (mt_device *d, mt_stream *s, mt_err *err) {
  MT_TRY(mt_graph_idle(d, "synchronize", err));
  return d->backend->synchronize(d, s, err);
}
