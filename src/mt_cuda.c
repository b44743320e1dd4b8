/*
** mt_cuda.c - the backend "cuda": a device is a primary context, a stream and kernels.
** SPDX-License-Identifier: MIT
**
** The host's current context is what it was before, after every call: the device's is
** pushed and popped around each. A device that the driver has lost says so at once from
** then on.
*/
#include <stdio.h>
#include <unistd.h>

#include "mt_cuda.h"

static size_t cuda_size (void) {
  return sizeof(mt_cuda) + mt_ncuda_kernels * sizeof(CUfunction);
}

/* ---------------------------------------------------------------- calling the driver */

mt_status mt_cuda_note (mt_cuda *c, mt_status s, const mt_err *err) {
  if (s == MT_ELOST && c->lost[0] == '\0')
    snprintf(c->lost, sizeof c->lost, "%.*s", (int)sizeof c->lost - 1, err->text);
  return s;
}

static bool forked (const mt_cuda *c) { return c->driver.pid != getpid(); }

static mt_status enter (mt_cuda *c, mt_err *err) {
  if (forked(c))
    return mt_fail(err, MT_EDRIVER,
                   "a CUDA device is of no use in a child of the process that opened it\n"
                   "open the device after fork(), or start the child with exec()");
  if (c->lost[0] != '\0')
    return mt_fail(err, MT_ELOST, "lost since an earlier call: %s", c->lost);
  return CU(c, err, cuCtxPushCurrent, (c->context));
}

/* A context that cannot be popped: what was done is done, and nothing more may be. */
static void leave (mt_cuda *c) {
  mt_err err = MT_NOERR;
  CUcontext popped;
  if (MT_CU(&c->driver, &err, cuCtxPopCurrent, (&popped)) != MT_OK)
    mt_cuda_note(c, MT_ELOST, &err);
}

mt_status mt_cuda_enter (mt_cuda *c, mt_err *err) { return enter(c, err); }
void mt_cuda_leave (mt_cuda *c) { leave(c); }

/* ---------------------------------------------------------------- opening */

static mt_status describe (mt_device *d, mt_cuda *c, int index, mt_err *err) {
  const mt_driver *v = &c->driver;
  char name[128] = "";
  int major = 0, minor = 0, cores = 0, version = 0;
  size_t bytes = 0;
  MT_TRY(MT_CU(v, err, cuDeviceGetName, (name, sizeof name, c->device)));
  MT_TRY(MT_CU(v, err, cuDeviceGetAttribute, (&major, MT_CU_MAJOR, c->device)));
  MT_TRY(MT_CU(v, err, cuDeviceGetAttribute, (&minor, MT_CU_MINOR, c->device)));
  MT_TRY(MT_CU(v, err, cuDeviceGetAttribute, (&cores, MT_CU_MULTIPROCESSORS, c->device)));
  MT_TRY(MT_CU(v, err, cuDeviceTotalMem, (&bytes, c->device)));
  MT_TRY(MT_CU(v, err, cuDriverGetVersion, (&version)));
  d->arch = 10 * major + minor;
  c->version = version;
  snprintf(d->name, sizeof d->name, "cuda:%d", index);
  snprintf(d->about, sizeof d->about, "%.127s, sm_%d%d, %d multiprocessors, %.1f GiB, "
           "driver for CUDA %d.%d", name, major, minor, cores,
           (double)bytes / (1024.0 * 1024 * 1024), version / 1000, version % 1000 / 10);
  return MT_OK;
}

static mt_status find_device (mt_cuda *c, int index, mt_err *err) {
  int n = 0;
  MT_TRY(MT_CU(&c->driver, err, cuDeviceGetCount, (&n)));
  if (n == 0) return mt_driver_check(&c->driver, "cuDeviceGetCount", 100, err);
  if (index < 0 || index >= n)
    return mt_fail(err, MT_ENODEV, "there is no device \"cuda:%d\": this machine has %d, "
                   "\"cuda:0\"%s", index, n, n > 1 ? " and so on" : "");
  return MT_CU(&c->driver, err, cuDeviceGet, (&c->device, index));
}

/* Of more shared memory than launches may ask for otherwise. */
static bool asks_for_much (const mt_kernel *k) {
  return k->op == MT_OP_COPY && k->form == MT_FORM_SKEW;
}

/* The shared memory that a launch asks for; other kernels have what they need. */
static unsigned shared_of (const mt_plan *p) {
  const mt_desc *d = &p->launch.desc;
  if (p->kernel->op != MT_OP_COPY) return 0;
  if (d->form == MT_FORM_BOX) return d->turn.size;
  return d->form == MT_FORM_SKEW ? d->skew.shared : 0;
}

/* The kernels of products are loaded with the first of them. */
static mt_status find_function (mt_cuda *c, size_t i, mt_err *err) {
  char name[64];
  CUkernel kernel = NULL;
  mt_op op = mt_cuda_kernels[i].op;
  if (c->library[op] == NULL)
    MT_TRY(mt_cuda_note(c, mt_driver_image(&c->driver, op, &c->library[op], err), err));
  snprintf(name, sizeof name, "mt_%s", mt_cuda_kernels[i].name);
  MT_TRY(CU(c, err, cuLibraryGetKernel, (&kernel, c->library[op], name)));
  MT_TRY(CU(c, err, cuKernelGetFunction, (&c->function[i], kernel)));
  if (!asks_for_much(&mt_cuda_kernels[i])) return MT_OK;
  return CU(c, err, cuFuncSetAttribute, (c->function[i], MT_CU_MOST_SHARED,
                                         MT_SKEW_SHARED));
}

/* Those of copies; a product's is found when it is chosen. */
static mt_status find_functions (mt_cuda *c, mt_err *err) {
  for (size_t i = 0; i < mt_ncuda_kernels; i++)
    if (mt_cuda_kernels[i].op == MT_OP_COPY) MT_TRY(find_function(c, i, err));
  int binary = 0;
  MT_TRY(CU(c, err, cuFuncGetAttribute, (&binary, MT_CU_BINARY, c->function[0])));
  c->early = binary >= MT_CU_EARLY_BINARY;
  return MT_OK;
}

static mt_status fill_context (mt_cuda *c, mt_err *err) {
  MT_TRY(enter(c, err));
  mt_status s = find_functions(c, err);
  if (s == MT_OK) s = CU(c, err, cuStreamCreate, (&c->stream, MT_CU_NON_BLOCKING));
  leave(c);
  return s;
}

/* The image comes before the context: a library without kernels costs no context. */
static mt_status set_up (mt_device *d, mt_cuda *c, int index, mt_err *err) {
  MT_TRY(find_device(c, index, err));
  MT_TRY(describe(d, c, index, err));
  MT_TRY(mt_driver_image(&c->driver, MT_OP_COPY, &c->library[MT_OP_COPY], err));
  MT_TRY(CU(c, err, cuDevicePrimaryCtxRetain, (&c->context, c->device)));
  return fill_context(c, err);
}

/* Gives back what set_up took, as far as it came. Nobody can be told what fails here. */
static void take_down (mt_cuda *c) {
  const mt_driver *v = &c->driver;
  CUcontext popped;
  bool inside = c->context != NULL && v->cuCtxPushCurrent(c->context) == 0;
  mt_cuda_room_free(c);
  if (c->stream != NULL) v->cuStreamDestroy(c->stream);
  for (int op = 0; op <= MT_OP_MMA; op++)
    if (c->library[op] != NULL) v->cuLibraryUnload(c->library[op]);
  if (inside) v->cuCtxPopCurrent(&popped);
  if (c->context != NULL) v->cuDevicePrimaryCtxRelease(c->device);
}

static void cuda_close (mt_device *d) {
  mt_cuda *c = d->impl;
  if (!forked(c)) take_down(c);
  mt_driver_unload(&c->driver);
  mt_host_free(d, c, cuda_size());
  d->impl = NULL;
}

static mt_status cuda_open (mt_device *d, int index, mt_err *err) {
  mt_cuda *c = mt_host_alloc(d, cuda_size());
  if (c == NULL) return mt_fail(err, MT_ENOMEM, "no host memory for a CUDA device");
  memset(c, 0, cuda_size());
  mt_status s = mt_driver_load(&c->driver, d->options.libcuda, err);
  if (s != MT_OK) {
    mt_host_free(d, c, cuda_size());
    return s;
  }
  d->impl = c;
  s = set_up(d, c, index, err);
  if (s != MT_OK) cuda_close(d);
  return s;
}

/* ---------------------------------------------------------------- memory */

mt_status mt_cuda_clear (mt_cuda *c, CUdeviceptr p, size_t bytes, mt_err *err) {
  MT_TRY(CU(c, err, cuMemsetD8Async, (p, 0, bytes, c->stream)));
  return CU(c, err, cuStreamSynchronize, (c->stream));
}

static mt_status out_of_memory (const mt_device *d, size_t bytes, mt_err *err) {
  mt_err cause = *err;
  return mt_fail(err, MT_ENOMEM, "%s has no %zu bytes of memory left: %s", d->name, bytes,
                 cause.text);
}

static mt_status cuda_alloc (mt_device *d, void **out, size_t bytes, mt_err *err) {
  mt_cuda *c = d->impl;
  CUdeviceptr p = 0;
  *out = NULL;
  if (bytes == 0) return MT_OK;
  MT_TRY(enter(c, err));
  mt_status s = CU(c, err, cuMemAlloc, (&p, bytes));
  if (s == MT_OK) {
    s = mt_cuda_clear(c, p, bytes, err);
    if (s != MT_OK) c->driver.cuMemFree(p);
  }
  leave(c);
  if (s == MT_ENOMEM) return out_of_memory(d, bytes, err);
  if (s == MT_OK) *out = (void *)(uintptr_t)p;
  return s;
}

/* Waits first: a kernel on any stream may still be using the memory. */
static void cuda_free (mt_device *d, void *p, size_t bytes) {
  mt_cuda *c = d->impl;
  mt_err err = MT_NOERR;
  CUcontext popped;
  (void)bytes;
  if (p == NULL || forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  if (c->lost[0] == '\0') (void)CU(c, &err, cuCtxSynchronize, ());
  (void)CU(c, &err, cuMemFree, (to_address(p)));
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

/* After a transfer with status s: when this returns nobody touches the host's memory. */
static mt_status settle (mt_cuda *c, mt_status s, mt_err *err) {
  if (s == MT_OK) s = CU(c, err, cuStreamSynchronize, (c->stream));
  if (s != MT_OK) c->driver.cuCtxSynchronize();
  leave(c);
  return s;
}

static mt_status cuda_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                              mt_err *err) {
  mt_cuda *c = d->impl;
  if (bytes == 0) return MT_OK;
  MT_TRY(enter(c, err));
  mt_status s = CU(c, err, cuMemcpyHtoDAsync, (to_address(dst), host, bytes, c->stream));
  return settle(c, s, err);
}

static mt_status cuda_download (mt_device *d, void *host, const void *src, size_t bytes,
                                mt_err *err) {
  mt_cuda *c = d->impl;
  if (bytes == 0) return MT_OK;
  MT_TRY(enter(c, err));
  mt_status s = CU(c, err, cuMemcpyDtoHAsync, (host, to_address(src), bytes, c->stream));
  return settle(c, s, err);
}

/* ---------------------------------------------------------------- streams */

static mt_status cuda_stream_create (mt_device *d, mt_stream **out, mt_err *err) {
  mt_cuda *c = d->impl;
  CUstream stream = NULL;
  *out = NULL;
  MT_TRY(enter(c, err));
  mt_status s = CU(c, err, cuStreamCreate, (&stream, MT_CU_NON_BLOCKING));
  leave(c);
  if (s == MT_OK) *out = (mt_stream *)(void *)stream;
  return s;
}

static void cuda_stream_destroy (mt_device *d, mt_stream *s) {
  mt_cuda *c = d->impl;
  CUcontext popped;
  if (s == NULL || forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  c->driver.cuStreamDestroy(to_stream(c, s));
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

static mt_status cuda_synchronize (mt_device *d, mt_stream *stream, mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(enter(c, err));
  mt_status s = stream ? CU(c, err, cuStreamSynchronize, (to_stream(c, stream)))
                       : CU(c, err, cuCtxSynchronize, ());
  leave(c);
  return s;
}

/* ---------------------------------------------------------------- launching */

/* A grid goes round; the threads are those of the partition. */
static mt_status cuda_prepare_product (mt_plan *p, mt_err *err) {
  mt_cuda *c = p->device->impl;
  size_t i = (size_t)(p->kernel - mt_cuda_kernels);
  if (c->function[i] != NULL) return MT_OK;
  MT_TRY(enter(c, err));
  mt_status s = find_function(c, i, err);
  leave(c);
  return s;
}

/* In the context; `early`: a copy may come up before the end of what is before it. */
static mt_status start (const mt_plan *p, CUstream stream, bool early, mt_err *err) {
  mt_cuda *c = p->device->impl;
  CUfunction function = c->function[p->kernel - mt_cuda_kernels];
  void *params[] = {(void *)(uintptr_t)&p->launch};    /* or the product: a union */
  CUlaunchAttribute may = {.id = MT_CU_EARLY, .value.allowed = 1};
  CUlaunchConfig config = {.attrs = &may,
                           .numAttrs = early && p->kernel->op == MT_OP_COPY,
                           .gridDimX = p->grid.blocks, .gridDimY = 1, .gridDimZ = 1,
                           .blockDimX = p->grid.threads, .blockDimY = 1, .blockDimZ = 1,
                           .sharedMemBytes = shared_of(p),
                           .hStream = stream};
  if (p->grid.blocks == 0) return MT_OK;
  return CU(c, err, cuLaunchKernelEx, (&config, function, params, NULL));
}

mt_status mt_cuda_start (const mt_plan *p, CUstream stream, mt_err *err) {
  return start(p, stream, ((mt_cuda *)p->device->impl)->early, err);
}

static mt_status cuda_launch (mt_plan *p, mt_stream *stream, mt_err *err) {
  mt_cuda *c = p->device->impl;
  MT_TRY(enter(c, err));
  mt_status s = start(p, to_stream(c, stream), c->early, err);
  leave(c);
  return s;
}

/* ---------------------------------------------------------------- graphs */

/* A capture begins and ends here: no call in between can disturb it. */
static mt_status record (CUgraph *out, mt_graph *g, CUstream stream, bool early,
                         mt_err *err) {
  mt_cuda *c = g->device->impl;
  mt_err end = MT_NOERR;
  mt_status s = MT_OK;
  *out = NULL;
  MT_TRY(CU(c, err, cuStreamBeginCapture, (stream, MT_CU_RELAXED)));
  for (size_t i = 0; s == MT_OK && i < g->n; i++)
    s = start(g->plan[i], stream, early, err);
  mt_status ended = CU(c, &end, cuStreamEndCapture, (stream, out));
  if (s == MT_OK && ended != MT_OK) s = ended, *err = end;
  if (s == MT_OK || *out == NULL) return s;
  c->driver.cuGraphDestroy(*out);
  *out = NULL;
  return s;
}

/* A driver that captures no early launches says so in one way or another. */
static mt_status record_on (CUgraph *out, mt_graph *g, CUstream stream, mt_err *err) {
  const mt_cuda *c = g->device->impl;
  bool early = c->early && c->version >= MT_CU_EARLY_CAPTURE;
  mt_status s = record(out, g, stream, early, err);
  if (!early || s != MT_EDRIVER) return s;
  *err = (mt_err)MT_NOERR;
  return record(out, g, stream, false, err);
}

static mt_status capture (mt_graph *g, mt_err *err) {
  mt_cuda *c = g->device->impl;
  CUstream stream = NULL;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  MT_TRY(CU(c, err, cuStreamCreate, (&stream, MT_CU_NON_BLOCKING)));
  mt_status s = record_on(&graph, g, stream, err);
  if (s == MT_OK) s = CU(c, err, cuGraphInstantiateWithFlags, (&exec, graph, 0));
  if (graph != NULL) c->driver.cuGraphDestroy(graph);
  c->driver.cuStreamDestroy(stream);
  g->own = exec;
  return s;
}

static mt_status cuda_capture (mt_graph *g, mt_err *err) {
  mt_cuda *c = g->device->impl;
  MT_TRY(enter(c, err));
  mt_status s = capture(g, err);
  leave(c);
  return s;
}

static mt_status cuda_replay (mt_graph *g, mt_stream *stream, mt_err *err) {
  mt_cuda *c = g->device->impl;
  MT_TRY(enter(c, err));
  mt_status s = CU(c, err, cuGraphLaunch, (g->own, to_stream(c, stream)));
  leave(c);
  return s;
}

/* Of one that still runs the driver frees what is left when it has run. */
static void cuda_forget (mt_graph *g) {
  mt_cuda *c = g->device->impl;
  CUcontext popped;
  if (forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  c->driver.cuGraphExecDestroy(g->own);
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

/* ---------------------------------------------------------------- time */

/* What the device's own stream needs between the two events. */
static mt_status time_launches (mt_plan *p, int n, CUevent e[2], double *us,
                                mt_err *err) {
  mt_cuda *c = p->device->impl;
  float ms = 0;
  MT_TRY(CU(c, err, cuEventRecord, (e[0], c->stream)));
  for (int i = 0; i < n; i++) MT_TRY(cuda_launch(p, NULL, err));
  MT_TRY(CU(c, err, cuEventRecord, (e[1], c->stream)));
  MT_TRY(CU(c, err, cuStreamSynchronize, (c->stream)));
  MT_TRY(CU(c, err, cuEventElapsedTime, (&ms, e[0], e[1])));
  *us = 1e3 * (double)ms;
  return MT_OK;
}

static mt_status cuda_measure (mt_plan *p, int n, double *us, mt_err *err) {
  mt_cuda *c = p->device->impl;
  CUevent e[2] = {NULL, NULL};
  mt_err late = MT_NOERR;
  MT_TRY(enter(c, err));
  mt_status s = MT_OK;
  for (int i = 0; i < 2 && s == MT_OK; i++) {
    s = CU(c, err, cuEventCreate, (&e[i], 0));
    if (s != MT_OK) e[i] = NULL;
  }
  if (s == MT_OK) s = time_launches(p, n, e, us, err);
  for (int i = 0; i < 2; i++)
    if (e[i] != NULL) (void)CU(c, &late, cuEventDestroy, (e[i]));
  leave(c);
  if (s == MT_OK && late.status != MT_OK) *err = late;
  return s != MT_OK ? s : late.status;
}

const mt_backend mt_backend_cuda = {
  .name = "cuda",
  .kernels = mt_cuda_kernels,
  .nkernels = &mt_ncuda_kernels,
  .host = false,
  .open = cuda_open,
  .close = cuda_close,
  .alloc = cuda_alloc,
  .free = cuda_free,
  .upload = cuda_upload,
  .download = cuda_download,
  .stream_create = cuda_stream_create,
  .stream_destroy = cuda_stream_destroy,
  .synchronize = cuda_synchronize,
  .launch = cuda_launch,
  .measure = cuda_measure,
  .locked = mt_cuda_locked,
  .room = mt_cuda_room,
  .transfer = mt_cuda_transfer,
  .prepare_product = cuda_prepare_product,
  .capture = cuda_capture,
  .replay = cuda_replay,
  .forget = cuda_forget
};
