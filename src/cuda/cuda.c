/*
** cuda.c - the backend "cuda": a device is a context, a stream and kernels.
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
#include "plan/piped.h"

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

mt_status mt_cuda_enter (mt_cuda *c, mt_err *err) {
  if (mt_cuda_forked(c))
    return mt_fail(err, MT_EDRIVER,
                   "a CUDA device is of no use in a child of the process that opened it\n"
                   "open the device after fork(), or start the child with exec()");
  if (c->lost[0] != '\0')
    return mt_fail(err, MT_ELOST, "lost since an earlier call: %s", c->lost);
  return CU(c, err, cuCtxPushCurrent, (c->context));
}

/* A context that cannot be popped: what was done is done, and nothing more may be. */
void mt_cuda_leave (mt_cuda *c) {
  mt_err err = MT_NOERR;
  CUcontext popped;
  if (MT_CU(&c->driver, &err, cuCtxPopCurrent, (&popped)) != MT_OK)
    mt_cuda_note(c, MT_ELOST, &err);
}

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
  c->arch = d->arch;
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

bool mt_cuda_is_ours (const mt_kernel *k) {
  const uintptr_t at = (uintptr_t)k, first = (uintptr_t)mt_cuda_kernels;
  return at >= first && at < first + mt_ncuda_kernels * sizeof *k;
}

int mt_cuda_most_shared (const mt_kernel *k) {
  if (k->op == MT_OP_AMPERE) return (int)mt_ampere_shared(mt_cuda_ampere_row(k));
  if (k->op == MT_OP_HOPPER) return MT_HOPPER_MOST_SHARED;
  return k->op == MT_OP_COPY ? mt_algo_of(k->algo)->most_shared : 0;
}

/* The kernels of products are loaded with the first of them. */
mt_status mt_cuda_find_function (mt_cuda *c, size_t i, mt_err *err) {
  char name[64];
  CUkernel kernel = NULL;
  mt_op op = mt_cuda_kernels[i].op;
  if (c->library[op] == NULL)
    MT_TRY(mt_cuda_note(c, mt_driver_image(&c->driver, op, &c->library[op], err), err));
  snprintf(name, sizeof name, "mt_%s", mt_cuda_kernels[i].name);
  MT_TRY(CU(c, err, cuLibraryGetKernel, (&kernel, c->library[op], name)));
  MT_TRY(CU(c, err, cuKernelGetFunction, (&c->function[i], kernel)));
  int most = mt_cuda_most_shared(&mt_cuda_kernels[i]);
  if (op == MT_OP_PIPELINE) most = (int)mt_pipeline_most_shared(c->arch);
  if (most == 0) return MT_OK;
  return CU(c, err, cuFuncSetAttribute, (c->function[i], MT_CU_MOST_SHARED, most));
}

/* Those of copies; a product's is found when it is chosen. */
static mt_status find_functions (mt_cuda *c, mt_err *err) {
  for (size_t i = 0; i < mt_ncuda_kernels; i++)
    if (mt_cuda_kernels[i].op == MT_OP_COPY) MT_TRY(mt_cuda_find_function(c, i, err));
  int binary = 0;
  MT_TRY(CU(c, err, cuFuncGetAttribute, (&binary, MT_CU_BINARY, c->function[0])));
  c->early = binary >= MT_CU_EARLY_BINARY;
  return MT_OK;
}

static mt_status fill_context (mt_cuda *c, mt_err *err) {
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = find_functions(c, err);
  if (s == MT_OK) s = CU(c, err, cuStreamCreate, (&c->stream, MT_CU_NON_BLOCKING));
  mt_cuda_leave(c);
  return s;
}

/* The image comes before the context: a library without kernels costs no context. */
static mt_status set_up (mt_device *d, mt_cuda *c, int index, mt_err *err) {
  MT_TRY(find_device(c, index, err));
  MT_TRY(describe(d, c, index, err));
  MT_TRY(mt_driver_image(&c->driver, MT_OP_COPY, &c->library[MT_OP_COPY], err));
  if (d->options.context) MT_TRY(mt_cuda_adopt(c, d->options.context, err));
  else MT_TRY(CU(c, err, cuDevicePrimaryCtxRetain, (&c->context, c->device)));
  c->retained = d->options.context == NULL;
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
  if (c->context != NULL && c->retained) v->cuDevicePrimaryCtxRelease(c->device);
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
  MT_TRY(mt_cuda_enter(c, err));
  mt_cuda_reap(d);
  mt_status s = CU(c, err, cuStreamCreate, (&stream, MT_CU_NON_BLOCKING));
  if (s == MT_OK && !mt_cuda_keep(d, &c->streams, (mt_cuda_kept){.stream = stream})) {
    c->driver.cuStreamDestroy(stream);
    s = mt_fail(err, MT_ENOMEM, "no host memory for a stream");
  }
  mt_cuda_leave(c);
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
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s =
      stream ? mt_cuda_wait(c, to_stream(c, stream), err) : mt_cuda_wait_all(c, err);
  mt_cuda_leave(c);
  return s;
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
                                    .recycle = mt_cuda_recycle,
                                    .repeat = mt_cuda_repeat,
                                    .unit = mt_cuda_unit,
                                    .upload = mt_cuda_upload,
                                    .download = mt_cuda_download,
                                    .stream_create = cuda_stream_create,
                                    .stream_destroy = cuda_stream_destroy,
                                    .synchronize = cuda_synchronize,
                                    .order = mt_cuda_order,
                                    .event = mt_cuda_event,
                                    .context = mt_cuda_context,
                                    .stream_of = mt_cuda_stream_of,
                                    .handle = mt_cuda_handle,
                                    .launch = mt_cuda_launch,
                                    .measure = mt_cuda_measure,
                                    .lock = mt_cuda_lock,
                                    .unlock = mt_cuda_unlock,
                                    .locked = mt_cuda_locked,
                                    .room = mt_cuda_room,
                                    .transfer = mt_cuda_transfer,
                                    .prepare_gemm = mt_cuda_prepare_product,
                                    .capture = mt_cuda_capture,
                                    .replay = mt_cuda_replay,
                                    .forget = mt_cuda_forget,
                                    .record = mt_cuda_record,
                                    .add = mt_cuda_add,
                                    .drop = mt_cuda_drop};
