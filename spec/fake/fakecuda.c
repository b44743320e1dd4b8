/*
** fakecuda.c - libcuda.so.1 without a GPU: the functions of mt_cuda.def, kernels through
** the reference executor.
** SPDX-License-Identifier: MIT
**
** What is asked of a stream is done when somebody waits for it; what goes wrong in it is
** told then, and kills the context, as on a GPU. An image is a fatbin, which is not
** looked at, or the text of the lists of kernels; its kernels are the rows of these.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fakecuda.h"
#include "plan/device.h"
#include "plan/piped.h"

#define MT_CUDA_CALL(name, suffix, args) FAKECUDA_API CUresult name##suffix args;
#include "cuda/driver.def"
FAKECUDA_API mt_get_proc cuGetProcAddress_v2;

enum { MAXDEVICES = FAKE_MOST_DEVICES, MAXSTACK = 16 };

struct CUlib_st {
  const char *text;
  bool own;
};

static struct CUctx_st contexts[MAXDEVICES];
static int libraries;
static pid_t started; /* the process that called cuInit */
static __thread CUcontext stack[MAXSTACK];
static __thread int depth;
static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

/* Who is in is soon out: it is tried some microseconds before the thread sleeps. */
int fake_enter (void) {
  for (int i = 0; i < 1000; i++)
    if (pthread_mutex_trylock(&inside) == 0) return 0;
  return pthread_mutex_lock(&inside);
}

void fake_leave (const int *entered) {
  (void)entered;
  pthread_mutex_unlock(&inside);
}

void fake_wait (void) { pthread_cond_wait(&moved, &inside); }
void fake_wake (void) { pthread_cond_broadcast(&moved); }

static int device_count (void) {
  long long n = fake_option("FAKECUDA_DEVICES", 1);
  return n < MAXDEVICES ? (int)n : MAXDEVICES;
}

int fake_version (void) { return (int)fake_option("FAKECUDA_VERSION", MT_CUDA_VERSION); }

static bool is_device (CUdevice d) { return d >= 0 && d < device_count(); }
CUcontext fake_current (void) { return depth > 0 ? stack[depth - 1] : NULL; }

/* Every function that works in a context begins so. */
CUresult fake_ready (void) {
  NEED(started == getpid(), 3);
  NEED(fake_current() != NULL && fake_current()->users > 0, 201);
  return fake_current()->sticky;
}

/* ---------------------------------------------------------------- devices */

FAKE cuInit (unsigned flags) {
  FAULT(cuInit);
  GUARD;
  NEED(flags == 0, 1);
  NEED(started == 0 || started == getpid(), 3);
  NEED(device_count() > 0, 100);
  started = getpid();
  return 0;
}

FAKE cuDriverGetVersion (int *out) {
  FAULT(cuDriverGetVersion);
  GUARD;
  return *out = fake_version(), 0;
}

FAKE cuDeviceGetCount (int *out) {
  FAULT(cuDeviceGetCount);
  GUARD;
  NEED(started, 3);
  return *out = device_count(), 0;
}

FAKE cuDeviceGet (CUdevice *out, int index) {
  FAULT(cuDeviceGet);
  GUARD;
  NEED(started, 3);
  NEED(is_device(index), 101);
  return *out = index, 0;
}

FAKE cuDeviceGetName (char *buf, int size, CUdevice d) {
  FAULT(cuDeviceGetName);
  GUARD;
  NEED(is_device(d), 101);
  snprintf(buf, (size_t)size, "Fake GPU %d", d);
  return 0;
}

FAKE cuDeviceGetAttribute (int *out, CUdevice_attribute a, CUdevice d) {
  FAULT(cuDeviceGetAttribute);
  GUARD;
  NEED(is_device(d), 101);
  NEED(a == MT_CU_MAJOR || a == MT_CU_MINOR || a == MT_CU_MULTIPROCESSORS, 1);
  return *out = a == MT_CU_MAJOR ? 9 : a == MT_CU_MINOR ? 0 : 132, 0;
}

FAKE cuDeviceTotalMem_v2 (size_t *out, CUdevice d) {
  FAULT(cuDeviceTotalMem);
  GUARD;
  NEED(is_device(d), 101);
  return *out = fake_memory(), 0;
}

/* ---------------------------------------------------------------- contexts */

/* Which ones are current is a thread's own: no GUARD. */

FAKE cuDevicePrimaryCtxRetain (CUcontext *out, CUdevice d) {
  FAULT(cuDevicePrimaryCtxRetain);
  GUARD;
  NEED(started, 3);
  NEED(is_device(d), 101);
  CUcontext c = &contexts[d];
  if (c->users++ == 0) c->device = d, c->sticky = 0;
  return *out = c, 0;
}

FAKE cuDevicePrimaryCtxRelease_v2 (CUdevice d) {
  GUARD;
  NEED(is_device(d) && contexts[d].users > 0, 201);
  contexts[d].users--;
  FAULT(cuDevicePrimaryCtxRelease);
  return 0;
}

FAKE cuCtxPushCurrent_v2 (CUcontext c) {
  FAULT(cuCtxPushCurrent);
  NEED(c != NULL && depth < MAXSTACK, 201);
  stack[depth++] = c;
  return 0;
}

FAKE cuCtxPopCurrent_v2 (CUcontext *out) {
  NEED(depth > 0, 201);
  *out = stack[--depth];
  FAULT(cuCtxPopCurrent);
  return 0;
}

FAKE cuCtxGetDevice (CUdevice *out) {
  FAULT(cuCtxGetDevice);
  NEED(fake_current() != NULL, 201);
  return *out = fake_current()->device, 0;
}

FAKE cuCtxSynchronize (void) {
  FAULT(cuCtxSynchronize);
  GUARD;
  TRY(fake_ready());
  NEED(!fake_capturing(fake_current()), 900);
  fake_finish_all(fake_current());
  return fake_current()->sticky;
}

/* ---------------------------------------------------------------- kernels */

FAKE cuLibraryLoadData (CUlibrary *out, const void *image, CUjit_option *jit,
                        void **jit_values, unsigned njit, CUlibraryOption *opt,
                        void **opt_values, unsigned nopt) {
  FAULT(cuLibraryLoadData);
  GUARD;
  NEED(started, 3);
  NEED(jit == NULL && jit_values == NULL && njit == 0, 1);
  NEED(opt == NULL && opt_values == NULL && nopt == 0, 1);
  bool code = memcmp(image, "\x50\xed\x55\xba", 4) == 0;
  NEED(code || strstr(image, "_KERNEL(") != NULL, 200);
  CUlibrary l = malloc(sizeof *l);
  NEED(l != NULL, 2);
  l->text = code ? NULL : image;
  l->own = fake_is_own(l->text);
  libraries++;
  return *out = l, 0;
}

FAKE cuLibraryUnload (CUlibrary l) {
  GUARD;
  NEED(l != NULL, 400);
  free(l);
  libraries--;
  FAULT(cuLibraryUnload);
  return 0;
}

/* The image has the kernel of a row, of those that its text spells out. What is found is
** kept: a text is long to search. */
static bool has_kernel (const char *text, size_t row, const char *name) {
  static const char *found[MT_MAXROWS];
  if (strncmp(name, "hopper", 6) == 0 || strncmp(name, "ampere", 6) == 0) return true;
  if (strncmp(name, "pipeline_", 9) == 0) name += 9; /* as its instruction */
  if (found[row] != text && strstr(text, name) != NULL) found[row] = text;
  return found[row] == text;
}

/* The row of a name; those that are asked for follow one another. */
static size_t row_of (const char *name) {
  static size_t last;
  size_t n = mt_ncuda_kernels, i = 0;
  while (i < n && strcmp(mt_cuda_kernels[(last + i) % n].name, name) != 0) i++;
  return i < n ? last = (last + i) % n : n;
}

/* A kernel, and a function, is its row of the table. */
FAKE cuLibraryGetKernel (CUkernel *out, CUlibrary l, const char *name) {
  FAULT(cuLibraryGetKernel);
  GUARD;
  NEED(l != NULL, 400);
  if (l->own) return fake_own_kernel(out, l->text, name);
  const size_t row = strncmp(name, "mt_", 3) == 0 ? row_of(name + 3) : mt_ncuda_kernels;
  NEED(row < mt_ncuda_kernels, 500);
  NEED(l->text == NULL || has_kernel(l->text, row, name + 3), 500);
  return *out = (CUkernel)(void *)(uintptr_t)&mt_cuda_kernels[row], 0;
}

FAKE cuKernelGetFunction (CUfunction *out, CUkernel k) {
  FAULT(cuKernelGetFunction);
  GUARD;
  TRY(fake_ready());
  return *out = (CUfunction)(void *)k, 0;
}

/* Code of the architecture that cuDeviceGetAttribute tells. */
FAKE cuFuncGetAttribute (int *out, CUfunction_attribute a, CUfunction f) {
  FAULT(cuFuncGetAttribute);
  GUARD;
  TRY(fake_ready());
  NEED(f != NULL && a == MT_CU_BINARY, 1);
  return *out = MT_CU_EARLY_BINARY, 0;
}

FAKE cuFuncSetAttribute (CUfunction f, CUfunction_attribute a, int value) {
  FAULT(cuFuncSetAttribute);
  GUARD;
  TRY(fake_ready());
  NEED(f != NULL && a == MT_CU_MOST_SHARED, 1);
  const mt_kernel *k = (const mt_kernel *)(void *)f;
  if (k->op == MT_OP_HOPPER) return value == MT_HOPPER_MOST_SHARED ? 0 : 1;
  if (k->op == MT_OP_PIPELINE) return value == (int)mt_pipeline_most_shared(90) ? 0 : 1;
  if (k->op == MT_OP_AMPERE) return value == (int)fake_ampere_room(k) ? 0 : 1;
  const mt_algo *algo = mt_algo_of(k->algo);
  return value > 0 && value == algo->most_shared ? 0 : 1;
}

/* ---------------------------------------------------------------- memory */

FAKE cuMemAlloc_v2 (CUdeviceptr *out, size_t bytes) {
  FAULT(cuMemAlloc);
  GUARD;
  TRY(fake_ready());
  return fake_alloc(out, fake_current()->device, bytes);
}

FAKE cuMemFree_v2 (CUdeviceptr p) {
  GUARD;
  NEED(started && fake_current() != NULL, 201);
  fake_finish_all(fake_current());
  CUresult r = fake_free(p);
  FAULT(cuMemFree);
  return r != 0 ? r : fake_current()->sticky;
}

FAKE cuMemcpyHtoDAsync_v2 (CUdeviceptr dst, const void *src, size_t bytes, CUstream s) {
  FAULT(cuMemcpyHtoDAsync);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(s != NULL, 400);
  if (s->capturing) return fake_capture_break(s);
  NEED(fake_host(dst, -1, bytes, NULL) != NULL, 1);
  fake_work w = {.kind = FAKE_UP, .device = dst, .from = src, .bytes = bytes};
  return fake_enqueue(s, &w);
}

FAKE cuMemcpyDtoHAsync_v2 (void *dst, CUdeviceptr src, size_t bytes, CUstream s) {
  FAULT(cuMemcpyDtoHAsync);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(s != NULL, 400);
  if (s->capturing) return fake_capture_break(s);
  NEED(fake_host(src, -1, bytes, NULL) != NULL, 1);
  fake_work w = {.kind = FAKE_DOWN, .device = src, .to = dst, .bytes = bytes};
  return fake_enqueue(s, &w);
}

FAKE cuMemHostAlloc (void **out, size_t bytes, unsigned flags) {
  FAULT(cuMemHostAlloc);
  GUARD;
  TRY(fake_ready());
  NEED(flags == 0, 1);
  return fake_lock(out, bytes);
}

FAKE cuMemFreeHost (void *p) {
  GUARD;
  NEED(started && fake_current() != NULL, 201);
  fake_finish_all(fake_current());
  CUresult r = fake_unlock(p);
  FAULT(cuMemFreeHost);
  return r != 0 ? r : fake_current()->sticky;
}

FAKE cuPointerGetAttributes (unsigned count, CUpointer_attribute *a, void **out,
                             CUdeviceptr p) {
  FAULT(cuPointerGetAttributes);
  GUARD;
  TRY(fake_ready());
  NEED(count == 1 && *a == MT_CU_MEMORY_TYPE, 1);
  *(int *)*out = fake_is_locked((const void *)(uintptr_t)p) ? MT_CU_HOST_MEMORY : 0;
  return 0;
}

/* ---------------------------------------------------------------- streams */

FAKE cuStreamCreate (CUstream *out, unsigned flags) {
  FAULT(cuStreamCreate);
  GUARD;
  TRY(fake_ready());
  NEED(flags == MT_CU_NON_BLOCKING, 1);
  return fake_stream_new(out, fake_current());
}

FAKE cuStreamDestroy_v2 (CUstream s) {
  GUARD;
  NEED(s != NULL, 400);
  fake_stream_free(s);
  FAULT(cuStreamDestroy);
  return 0;
}

FAKE cuStreamSynchronize (CUstream s) {
  FAULT(cuStreamSynchronize);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(s != NULL && s->context == fake_current(), 400);
  if (s->capturing) return fake_capture_break(s);
  fake_finish(s);
  return fake_current()->sticky;
}

FAKE cuStreamQuery (CUstream s) {
  FAULT(cuStreamQuery);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(s != NULL && s->context == fake_current(), 400);
  if (s->capturing) return fake_capture_break(s);
  NEED(fake_look(s), MT_CU_NOT_READY);
  return fake_current()->sticky;
}

FAKE cuStreamIsCapturing (CUstream s, CUstreamCaptureStatus *out) {
  FAULT(cuStreamIsCapturing);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(s != NULL && s->context == fake_current(), 400);
  return *out = s->capturing, 0;
}

FAKE cuStreamWaitEvent (CUstream s, CUevent e, unsigned flags) {
  FAULT(cuStreamWaitEvent);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(e != NULL && s != NULL && s->context == fake_current(), 400);
  NEED(flags == 0, 1);
  fake_work w = {.kind = FAKE_AWAIT, .event = e, .ticket = e->asked};
  return e->asked > 0 ? fake_enqueue(s, &w) : 0;
}

/* ---------------------------------------------------------------- graphs */

FAKE cuStreamBeginCapture_v2 (CUstream s, CUstreamCaptureMode mode) {
  FAULT(cuStreamBeginCapture);
  GUARD;
  TRY(fake_ready());
  NEED(s != NULL && s->context == fake_current(), 400);
  NEED(mode >= 0 && mode <= MT_CU_RELAXED, 1);
  return fake_capture_begin(s);
}

FAKE cuStreamEndCapture (CUstream s, CUgraph *out) {
  GUARD;
  NEED(s != NULL, 400);
  CUresult r = fake_capture_end(s, out), told = fake_call(FAKE_cuStreamEndCapture);
  if (told != 0 && *out != NULL) fake_graph_free(*out), *out = NULL;
  return told != 0 ? told : r;
}

FAKE cuGraphInstantiateWithFlags (CUgraphExec *out, CUgraph g, unsigned long long flags) {
  FAULT(cuGraphInstantiateWithFlags);
  GUARD;
  TRY(fake_ready());
  NEED(g != NULL, 400);
  NEED(flags == 0, 1);
  return fake_graph_exec(out, g);
}

FAKE cuGraphLaunch (CUgraphExec g, CUstream s) {
  FAULT(cuGraphLaunch);
  GUARD;
  TRY(fake_ready());
  s = fake_stream_of(s);
  NEED(g != NULL && s != NULL && s->context == fake_current(), 400);
  return fake_graph_launch(g, s);
}

FAKE cuGraphExecDestroy (CUgraphExec g) {
  GUARD;
  NEED(g != NULL, 400);
  fake_exec_free(g);
  FAULT(cuGraphExecDestroy);
  return 0;
}

FAKE cuGraphDestroy (CUgraph g) {
  GUARD;
  NEED(g != NULL, 400);
  fake_graph_free(g);
  FAULT(cuGraphDestroy);
  return 0;
}

/* ---------------------------------------------------------------- finding functions */

typedef struct symbol {
  const char *name;
  void (*address)(void);
} symbol;

static const symbol symbols[] = {
#define MT_CUDA_CALL(name, suffix, args) {#name, (void (*)(void))name##suffix},
#include "cuda/driver.def"
};

FAKE cuGetProcAddress_v2 (const char *name, void **out, int wanted, uint64_t flags,
                          int *found) {
  GUARD;
  const char *missing = getenv("FAKECUDA_MISSING");
  *out = NULL;
  NEED(flags == 0, 1);
  *found = fake_version() < wanted ? 2 : 1;
  NEED(fake_version() >= wanted, 500);
  NEED(missing == NULL || strcmp(missing, name) != 0, 500);
  for (const symbol *s = symbols; s < symbols + FAKE_CALLS; s++)
    if (strcmp(s->name, name) == 0) {
      memcpy(out, &s->address, sizeof s->address);
      return *found = 0, 0;
    }
  return 500;
}

/* ---------------------------------------------------------------- what is alive */

void fakecuda_count (fakecuda_live *out) {
  GUARD;
  memset(out, 0, sizeof *out);
  fake_live_memory(&out->allocations, &out->bytes);
  out->streams = fake_live_streams();
  out->pinned = fake_live_locked();
  out->events = fake_live_events();
  out->libraries = libraries;
  out->graphs = fake_live_graphs();
  out->current = depth;
  for (int i = 0; i < MAXDEVICES; i++) out->contexts += contexts[i].users;
}

static void __attribute__((destructor)) report(void) {
  fakecuda_live live;
  if (!fake_option("FAKECUDA_REPORT", 0)) return;
  fakecuda_count(&live);
  fprintf(stderr,
          "fakecuda: alive: %d allocations of %zu bytes, %d page-locked, %d streams, "
          "%d events, %d libraries, %d graphs, %d contexts, %d of them current\n",
          live.allocations, live.bytes, live.pinned, live.streams, live.events,
          live.libraries, live.graphs, live.contexts, live.current);
}
