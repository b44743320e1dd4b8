/*
** mt_device.c - devices by name, their memory, streams; the doors to the backends.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "mt_device.h"

#define MT_BACKEND_ADDRESS(name) &mt_backend_##name,
static const mt_backend *const backends[] = {MT_BACKENDS(MT_BACKEND_ADDRESS)};
#undef MT_BACKEND_ADDRESS
enum { MT_NBACKENDS = sizeof backends / sizeof backends[0] };

/* ---------------------------------------------------------------- host memory */

static void *libc_alloc (void *ud, void *ptr, size_t osize, size_t nsize) {
  (void)ud, (void)osize;
  if (nsize > 0) return realloc(ptr, nsize);
  free(ptr);
  return NULL;
}

void *mt_host_alloc (const mt_device *d, size_t bytes) {
  return d->options.alloc(d->options.alloc_ud, NULL, 0, bytes);
}

void mt_host_free (const mt_device *d, void *p, size_t bytes) {
  if (p) d->options.alloc(d->options.alloc_ud, p, bytes, 0);
}

/* ---------------------------------------------------------------- opening */

/* The number behind "NAME:"; 0 for "NAME" itself; -1 if `name` is no such name. */
static int index_of (const char *name, const char *backend) {
  size_t n = strlen(backend);
  int index = 0;
  if (strncmp(name, backend, n) != 0) return -1;
  if (name[n] == 0) return 0;
  if (name[n] != ':' || name[n + 1] == 0) return -1;
  for (const char *p = name + n + 1; *p; p++) {
    if (*p < '0' || *p > '9' || index > 100000) return -1;
    index = index * 10 + (*p - '0');
  }
  return index;
}

static const mt_backend *find_backend (int *index, const char *name) {
  for (int i = 0; i < MT_NBACKENDS; i++) {
    *index = index_of(name, backends[i]->name);
    if (*index == 0 || (*index > 0 && !backends[i]->host)) return backends[i];
  }
  return NULL;
}

static mt_status open_backend (mt_device **out, const mt_backend *b, int index,
                               const mt_device_options *options, mt_err *err) {
  mt_device *d = options->alloc(options->alloc_ud, NULL, 0, sizeof *d);
  if (d == NULL) return mt_fail(err, MT_ENOMEM, "no host memory for a device");
  memset(d, 0, sizeof *d);
  d->backend = b;
  d->options = *options;
  mt_status s = b->open(d, index, err);
  if (s != MT_OK) {
    mt_host_free(d, d, sizeof *d);
    return s;
  }
  *out = d;
  return MT_OK;
}

static mt_status open_best (mt_device **out, const mt_device_options *options,
                            mt_err *err) {
  int index;
  mt_err gone = MT_NOERR;
  if (open_backend(out, &mt_backend_cuda, 0, options, &gone) == MT_OK) return MT_OK;
  return open_backend(out, find_backend(&index, "cpu"), 0, options, err);
}

mt_status mt_device_open (mt_device **out, const char *name,
                          const mt_device_options *options, mt_err *err) {
  mt_device_options o = {0};
  int index;
  *out = NULL;
  if (options) o = *options;
  if (o.alloc == NULL) o.alloc = libc_alloc;
  MT_CHECK(o.threads >= 0, err, "device: %d threads", o.threads);
  MT_CHECK(o.piece == 0 || (o.piece >= 16 && o.piece <= PTRDIFF_MAX), err,
           "device: pieces of %zu bytes: at least 16", o.piece);
  if (name == NULL) return open_best(out, &o, err);
  const mt_backend *b = find_backend(&index, name);
  if (b == NULL)
    return mt_fail(err, MT_ENODEV, "there is no device \"%.64s\": \"cpu\", "
                   "\"cpu:checked\", \"cuda\" and \"cuda:N\" are names of devices", name);
  return open_backend(out, b, index, &o, err);
}

void mt_device_close (mt_device *d) {
  if (d == NULL) return;
  d->backend->close(d);
  mt_host_free(d, d, sizeof *d);
}

const char *mt_device_name (const mt_device *d) { return d->name; }
const char *mt_device_about (const mt_device *d) { return d->about; }
bool mt_device_is_host (const mt_device *d) { return d->backend->host; }

/* ---------------------------------------------------------------- memory and streams */

mt_status mt_malloc (mt_device *d, void **out, size_t bytes, mt_err *err) {
  *out = NULL;
  return bytes == 0 ? MT_OK : d->backend->alloc(d, out, bytes, err);
}

void mt_free (mt_device *d, void *p, size_t bytes) {
  if (p) d->backend->free(d, p, bytes);
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

mt_status mt_synchronize (mt_device *d, mt_stream *s, mt_err *err) {
  MT_TRY(mt_graph_idle(d, "synchronize", err));
  return d->backend->synchronize(d, s, err);
}

const char *mt_kernel_name (const char *backend, int i) {
  for (int b = 0; b < MT_NBACKENDS; b++) {
    if (strcmp(backend, backends[b]->name) != 0) continue;
    if (i < 0 || (size_t)i >= *backends[b]->nkernels) return NULL;
    bool here = backends[b]->host || mt_cuda_has_kernels();
    return here ? backends[b]->kernels[i].name : NULL;
  }
  return NULL;
}
