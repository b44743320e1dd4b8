/*
** cuda.c - the backend "cuda": a device is a primary context, a stream and kernels.
** SPDX-License-Identifier: MIT
**
** The host's current context is what it was before, after every call: the device's is
** pushed and popped around each. A device that the driver has lost says so at once from
** then on.
*/
#include <stdio.h>
#include <unistd.h>

#include "copy/algo.h"
#include "cuda/cuda.h"

static size_t cuda_size (void) {
  return sizeof(mt_cuda) + mt_ncuda_kernels * sizeof(CUfunction);
}

/* ---------------------------------------------------------------- calling the driver */

mt_status mt_cuda_note (mt_cuda *c, mt_status s, const mt_err *err) {
  if (s == MT_ELOST && c->lost[0] == '\0')
    snprintf(c->lost, sizeof c->lost, "%.*s", (int)sizeof c->lost - 1, err->text);
  return s;
}

bool mt_cuda_forked (const mt_cuda *c) { return c->driver.pid != getpid(); }

static mt_status enter (mt_cuda *c, mt_err *err) {
  if (mt_cuda_forked(c))
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
  d->cores = cores;
  d->ampere = d->arch >= 80 && mt_cuda_has_ampere();
  d->hopper = d->arch == 90 && mt_cuda_has_hopper();
  snprintf(d->name, sizeof d->name, "cuda:%d", index);
  snprintf(d->about, sizeof d->about,
           "%.127s, sm_%d%d, %d multiprocessors, %.1f GiB, "
           "driver for CUDA %d.%d",
           name, major, minor, cores, (double)bytes / (1024.0 * 1024 * 1024),
           version / 1000, version % 1000 / 10);
  return MT_OK;
}

static mt_status find_device (mt_cuda *c, int index, mt_err *err) {
  int n = 0;
  MT_TRY(MT_CU(&c->driver, err, cuDeviceGetCount, (&n)));
  if (n == 0) return mt_driver_check(&c->driver, "cuDeviceGetCount", 100, err);
  if (index < 0 || index >= n)
    return mt_fail(err, MT_ENODEV,
                   "there is no device \"cuda:%d\": this machine has %d, "
                   "\"cuda:0\"%s",
                   index, n, n > 1 ? " and so on" : "");
  return MT_CU(&c->driver, err, cuDeviceGet, (&c->device, index));
}

/* Shared memory that a launch of the kernel may ask for; 0: as much as of any. */
static int most_shared (const mt_kernel *k) {
  if (k->op == MT_OP_AMPERE) return (int)mt_ampere_shared(mt_cuda_ampere_row(k));
  if (k->op == MT_OP_HOPPER) return MT_HOPPER_MOST_SHARED;
  return k->op == MT_OP_COPY ? mt_algo_of(k->algo)->most_shared : 0;
}

/* The shared memory that a launch asks for; other kernels have what they need. */
static unsigned shared_of (const mt_plan *p) {
  const mt_desc *d = &p->launch.desc;
  if (p->kernel->op == MT_OP_AMPERE) return p->ampere.shared;
  if (p->kernel->op == MT_OP_HOPPER) return p->hopper.shared;
  const mt_algo *a = p->kernel->op == MT_OP_COPY ? mt_algo_of(d->algo) : NULL;
  return a && a->shared ? a->shared(d) : 0;
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
  int most = most_shared(&mt_cuda_kernels[i]);
  if (most == 0) return MT_OK;
  return CU(c, err, cuFuncSetAttribute, (c->function[i], MT_CU_MOST_SHARED, most));
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

/* Gives back what set_up took, as far as it came. Nobody can be told what fails here.
** What a GPU that works on and on may be using is left to the context. */
static void take_down (mt_device *d) {
  mt_cuda *c = d->impl;
  const mt_driver *v = &c->driver;
  CUcontext popped;
  bool inside = c->context != NULL && v->cuCtxPushCurrent(c->context) == 0;
  bool idle = mt_cuda_finish(d);
  if (idle) mt_cuda_room_free(c);
  if (c->stream != NULL) v->cuStreamDestroy(c->stream);
  for (int op = 0; op < MT_NOP; op++)
    if (idle && c->library[op] != NULL) v->cuLibraryUnload(c->library[op]);
  if (inside) v->cuCtxPopCurrent(&popped);
  if (c->context != NULL) v->cuDevicePrimaryCtxRelease(c->device);
}

static void cuda_close (mt_device *d) {
  mt_cuda *c = d->impl;
  if (!mt_cuda_forked(c)) take_down(d);
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
  d->staging = mt_cuda_staging(d);
  s = set_up(d, c, index, err);
  if (s != MT_OK) cuda_close(d);
  return s;
}

/* ---------------------------------------------------------------- streams */

static mt_status cuda_stream_create (mt_device *d, mt_stream **out, mt_err *err) {
  mt_cuda *c = d->impl;
  CUstream stream = NULL;
  *out = NULL;
  MT_TRY(enter(c, err));
  mt_cuda_reap(d);
  mt_status s = CU(c, err, cuStreamCreate, (&stream, MT_CU_NON_BLOCKING));
  if (s == MT_OK && !mt_cuda_keep(d, &c->streams, (mt_kept){.stream = stream})) {
    c->driver.cuStreamDestroy(stream);
    s = mt_fail(err, MT_ENOMEM, "no host memory for a stream");
  }
  leave(c);
  if (s == MT_OK) *out = (mt_stream *)(void *)stream;
  return s;
}

static void cuda_stream_destroy (mt_device *d, mt_stream *s) {
  mt_cuda *c = d->impl;
  CUcontext popped;
  if (s == NULL || mt_cuda_forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  mt_cuda_close_stream(d, to_stream(c, s));
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

static mt_status cuda_synchronize (mt_device *d, mt_stream *stream, mt_err *err) {
  mt_cuda *c = d->impl;
  MT_TRY(enter(c, err));
  mt_status s =
      stream ? mt_cuda_await(c, to_stream(c, stream), err) : mt_cuda_await_all(c, err);
  if (s == MT_OK)
    s = stream ? CU(c, err, cuStreamSynchronize, (to_stream(c, stream))) :
                 CU(c, err, cuCtxSynchronize, ());
  leave(c);
  return s;
}

/* ---------------------------------------------------------------- launching */

/* The driver's number of a type: TMA moves it, and reads zeros outside. */
static int map_type (mt_dtype d) {
  switch (d) {
    case MT_f16: return 6;
    case MT_f32: return 7;
    case MT_bf16: return 9;
    case MT_i32: return 3;
    default: return 0; /* bytes */
  }
}

static mt_status encode (mt_cuda *c, mt_tma_map *out, const mt_tma_box *b, mt_err *err) {
  static const unsigned step[3] = {1, 1, 1};
  CUtensorMap map;
  MT_TRY(CU(c, err, cuTensorMapEncodeTiled,
            (&map, map_type(b->dtype), 3, b->base, b->extent, b->stride, b->box, step, 0,
             MT_CU_SWIZZLE_128, MT_CU_PROMOTE_128, 0)));
  memcpy(out, &map, sizeof *out);
  return MT_OK;
}

static mt_status make_maps (mt_plan *p, mt_err *err) {
  mt_cuda *c = p->device->impl;
  mt_hopper *h = &p->hopper;
  if (p->kernel->op != MT_OP_HOPPER) return MT_OK;
  MT_TRY(encode(c, &h->launch.a, &h->map[MT_A], err));
  MT_TRY(encode(c, &h->launch.b, &h->map[MT_B], err));
  if (h->launch.terms == 3) {
    MT_TRY(encode(c, &h->launch.a_rest, &h->rest_map[MT_A], err));
    MT_TRY(encode(c, &h->launch.b_rest, &h->rest_map[MT_B], err));
  }
  return h->launch.direct ? MT_OK : encode(c, &h->launch.d, &h->map[MT_C], err);
}

/* The kernel of what tf32 leaves out: the row behind those of products. */
static size_t rest_kernel (void) { return mt_ncuda_kernels - 1; }

static mt_status find_rest (mt_plan *p, mt_err *err) {
  mt_cuda *c = p->device->impl;
  const size_t i = rest_kernel();
  const bool known = p->kernel->op != MT_OP_HOPPER || p->hopper.launch.terms == 1;
  return known || c->function[i] ? MT_OK : find_function(c, i, err);
}

/* A grid goes round; the threads are those of the partition. Maps need the context. */
static mt_status cuda_prepare_product (mt_plan *p, mt_err *err) {
  mt_cuda *c = p->device->impl;
  size_t i = (size_t)(p->kernel - mt_cuda_kernels);
  if (c->function[i] != NULL && p->kernel->op != MT_OP_HOPPER) return MT_OK;
  MT_TRY(enter(c, err));
  mt_status s = c->function[i] ? MT_OK : find_function(c, i, err);
  if (s == MT_OK) s = find_rest(p, err);
  if (s == MT_OK) s = make_maps(p, err);
  leave(c);
  return s;
}

/* Whether its kernels wait for what went before, and so may come up before its end. */
static bool may_be_early (const mt_plan *p) {
  return p->kernel->op == MT_OP_COPY || p->kernel->op == MT_OP_HOPPER;
}

/* What a launch is told besides: at most two attributes. */
static unsigned attributes (CUlaunchAttribute out[2], const mt_plan *p, bool early) {
  unsigned n = 0;
  if (early && may_be_early(p))
    out[n++] = (CUlaunchAttribute){.id = MT_CU_EARLY, .value.allowed = 1};
  if (p->kernel->op == MT_OP_HOPPER && p->hopper.cluster > 1)
    out[n++] = (CUlaunchAttribute){.id = MT_CU_CLUSTER,
                                   .value.cluster = {p->hopper.cluster, 1, 1}};
  return n;
}

/* In the context; `config` lacks what all launches have. */
static mt_status start_kernel (mt_cuda *c, size_t kernel, const void *launch,
                               CUlaunchConfig config, mt_err *err) {
  void *params[] = {(void *)(uintptr_t)launch};
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  if (config.gridDimX == 0) return MT_OK;
  return CU(c, err, cuLaunchKernelEx, (&config, c->function[kernel], params, NULL));
}

/* `early`: it may come up before the end of what is before it. */
static mt_status start (const mt_plan *p, CUstream stream, bool early, mt_err *err) {
  const void *launch = p->kernel->op == MT_OP_HOPPER ? (const void *)&p->hopper.launch :
                       p->kernel->op == MT_OP_AMPERE ? (const void *)&p->ampere.launch :
                                                       &p->launch; /* or the product */
  CUlaunchAttribute attrs[2];
  const CUlaunchConfig config = {.attrs = attrs,
                                 .numAttrs = attributes(attrs, p, early),
                                 .gridDimX = p->grid.blocks,
                                 .blockDimX = p->grid.threads,
                                 .sharedMemBytes = shared_of(p),
                                 .hStream = stream};
  return start_kernel(p->device->impl, (size_t)(p->kernel - mt_cuda_kernels), launch,
                      config, err);
}

/* What tf32 leaves out of an operand. */
static mt_status start_rest (const mt_plan *p, int i, CUstream stream, bool early,
                             mt_err *err) {
  const mt_rest_launch *r = &p->hopper.rest[i];
  CUlaunchAttribute may = {.id = MT_CU_EARLY, .value.allowed = 1};
  const CUlaunchConfig config = {.attrs = &may,
                                 .numAttrs = early,
                                 .gridDimX = r->all,
                                 .blockDimX = MT_REST_THREADS,
                                 .hStream = stream};
  return start_kernel(p->device->impl, rest_kernel(), r, config, err);
}

/* The copies of its tensors, itself, the copy of its result. */
static mt_status start_all (const mt_plan *p, CUstream stream, bool early, mt_err *err) {
  const bool rest = p->kernel->op == MT_OP_HOPPER && p->hopper.launch.terms == 3;
  for (int part = 0; part < MT_PARTS; part++)
    if (p->before[part]) MT_TRY(start(p->before[part], stream, early, err));
  for (int i = 0; rest && i < 2; i++) MT_TRY(start_rest(p, i, stream, early, err));
  MT_TRY(start(p, stream, early, err));
  return p->after ? start(p->after, stream, early, err) : MT_OK;
}

mt_status mt_cuda_start (const mt_plan *p, CUstream stream, mt_err *err) {
  return start(p, stream, ((mt_cuda *)p->device->impl)->early, err);
}

static mt_status cuda_launch (mt_plan *p, mt_stream *stream, mt_err *err) {
  mt_cuda *c = p->device->impl;
  MT_TRY(enter(c, err));
  mt_status s = mt_cuda_throttle(c, to_stream(c, stream), err);
  if (s == MT_OK) s = start_all(p, to_stream(c, stream), c->early, err);
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
    s = start_all(g->plan[i], stream, early, err);
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
  mt_forgive(err);
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
  g->data = exec;
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
  mt_status s = mt_cuda_throttle(c, to_stream(c, stream), err);
  if (s == MT_OK) s = CU(c, err, cuGraphLaunch, (g->data, to_stream(c, stream)));
  leave(c);
  return s;
}

/* Of one that still runs the driver frees what is left when it has run. */
static void cuda_forget (mt_graph *g) {
  mt_cuda *c = g->device->impl;
  CUcontext popped;
  if (mt_cuda_forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  c->driver.cuGraphExecDestroy(g->data);
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

/* ---------------------------------------------------------------- time */

enum { MT_ATATIME = 64 }; /* launches between two questions whether to end */

/* What the device's own stream needs between the two events. */
static mt_status time_launches (mt_plan *p, int n, CUevent e[2], double *us,
                                mt_err *err) {
  mt_cuda *c = p->device->impl;
  float ms = 0;
  MT_TRY(CU(c, err, cuEventRecord, (e[0], c->stream)));
  for (int i = 0; i < n; i++) {
    MT_TRY(cuda_launch(p, NULL, err));
    if (i % MT_ATATIME == 0 && mt_stopped(err, "measure")) return MT_ESTOPPED;
  }
  MT_TRY(CU(c, err, cuEventRecord, (e[1], c->stream)));
  MT_TRY(mt_cuda_await(c, c->stream, err));
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

const mt_backend mt_backend_cuda = {.name = "cuda",
                                    .kernels = mt_cuda_kernels,
                                    .nkernels = &mt_ncuda_kernels,
                                    .has_code = mt_cuda_has_kernels,
                                    .host = false,
                                    .open = cuda_open,
                                    .close = cuda_close,
                                    .alloc = mt_cuda_alloc,
                                    .free = mt_cuda_free,
                                    .upload = mt_cuda_upload,
                                    .download = mt_cuda_download,
                                    .stream_create = cuda_stream_create,
                                    .stream_destroy = cuda_stream_destroy,
                                    .synchronize = cuda_synchronize,
                                    .launch = cuda_launch,
                                    .measure = cuda_measure,
                                    .locked = mt_cuda_locked,
                                    .room = mt_cuda_room,
                                    .transfer = mt_cuda_transfer,
                                    .prepare_gemm = cuda_prepare_product,
                                    .capture = cuda_capture,
                                    .replay = cuda_replay,
                                    .forget = cuda_forget};
