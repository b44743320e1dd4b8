/*
** lent.c - a host's own context, streams and events on the fake driver: used, left as they
** are, never waited for.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"

enum { BYTES = 4096 };

/* The host: it has the driver of its own. */
typedef struct host {
  mt_driver v;
  CUcontext context[2]; /* retained, of cuda:0 and cuda:1; the second is current */
  mt_device *d;         /* cuda:0, by the first */
  void *src, *mid, *dst;
  mt_plan first, second; /* src -> mid -> dst */
} host;

static void enter (host *x) {
  unsigned char bytes[BYTES];
  mt_err err = MT_NOERR;
  memset(x, 0, sizeof *x);
  fake_set("FAKECUDA_DEVICES", "2");
  EXPECT_STATUS(mt_driver_load(&x->v, fake_path, &err), MT_OK, err);
  for (int i = 0; i < 2; i++) x->v.cuDevicePrimaryCtxRetain(&x->context[i], i);
  x->v.cuCtxPushCurrent(x->context[1]);
  const mt_device_options o = {.size = sizeof o,
                               .libcuda = fake_path,
                               .context = x->context[0]};
  EXPECT_STATUS(mt_device_open(&x->d, "cuda:0", &o, &err), MT_OK, err);
  void **at[] = {&x->src, &x->mid, &x->dst};
  for (int i = 0; i < 3; i++)
    EXPECT_STATUS(mt_malloc(x->d, at[i], BYTES, &err), MT_OK, err);
  for (int i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(i * 41 >> 2);
  EXPECT_STATUS(mt_upload(x->d, x->src, bytes, BYTES, &err), MT_OK, err);
  spec_plan(&x->first, x->d, x->mid, x->src, BYTES);
  spec_plan(&x->second, x->d, x->dst, x->mid, BYTES);
}

/* The host's contexts are as it had them, after the device was closed too. */
static void expect_contexts (const char *what, int users) {
  fakecuda_live live;
  fake_count(&live);
  EXPECT(live.contexts == users && live.current == 1,
         "%s: %d users of contexts, %d current", what, live.contexts, live.current);
}

static void leave (host *x, const char *what) {
  CUcontext popped = NULL;
  expect_contexts(what, 2);
  void *at[] = {x->src, x->mid, x->dst};
  for (int i = 0; i < 3; i++) mt_free(x->d, at[i], BYTES);
  mt_device_close(x->d);
  expect_contexts(what, 2);
  x->v.cuCtxPopCurrent(&popped);
  EXPECT(popped == x->context[1], "%s: another context is current", what);
  for (int i = 0; i < 2; i++) x->v.cuDevicePrimaryCtxRelease(i);
  mt_driver_unload(&x->v);
  fake_set("FAKECUDA_DEVICES", NULL);
  spec_expect_clean(what);
}

static CUstream new_stream (host *x) {
  CUstream s = NULL;
  CUcontext popped;
  x->v.cuCtxPushCurrent(x->context[0]);
  EXPECT(x->v.cuStreamCreate(&s, MT_CU_NON_BLOCKING) == 0, "no stream");
  x->v.cuCtxPopCurrent(&popped);
  return s;
}

static void close_stream (host *x, CUstream s) {
  CUcontext popped;
  x->v.cuCtxPushCurrent(x->context[0]);
  EXPECT(x->v.cuStreamDestroy(s) == 0, "a stream of the host's was closed");
  x->v.cuCtxPopCurrent(&popped);
}

static mt_stream *stream_of (host *x, CUstream s) {
  mt_err err = MT_NOERR;
  mt_stream *out = NULL;
  EXPECT_STATUS(mt_stream_of(x->d, &out, s, &err), MT_OK, err);
  return out;
}

static bool copied (host *x) {
  unsigned char from[BYTES], to[BYTES];
  mt_err err = MT_NOERR;
  EXPECT_STATUS(mt_download(x->d, from, x->src, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_download(x->d, to, x->dst, BYTES, &err), MT_OK, err);
  return memcmp(from, to, BYTES) == 0;
}

/* ---------------------------------------------------------------- contexts */

static void test_context (void) {
  host x;
  mt_err err = MT_NOERR;
  mt_device *other = NULL;
  enter(&x);
  EXPECT(mt_device_context(x.d) == x.context[0], "another context");
  const mt_device_options o = {.size = sizeof o,
                               .libcuda = fake_path,
                               .context = x.context[1]};
  EXPECT_STATUS(mt_device_open(&other, "cuda:0", &o, &err), MT_EINVAL, err);
  EXPECT_TEXT(err, "the context is one of cuda:1, not of cuda:0");
  expect_contexts("after a refusal", 2);
  leave(&x, "context");
}

static void test_options (void) {
  mt_device *d = NULL;
  mt_err err = MT_NOERR;
  const mt_device_options none = {.threads = 1}, large = {.size = 1u << 20};
  const mt_device_options old = {.size = offsetof(mt_device_options, context),
                                 .context = &err};
  EXPECT_STATUS(mt_device_open(&d, "cpu", &none, &err), MT_EINVAL, err);
  EXPECT_TEXT(err, "size = sizeof(mt_device_options)");
  EXPECT_STATUS(mt_device_open(&d, "cpu", &large, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_device_open(&d, "cpu", &old, &err), MT_OK, err);
  EXPECT(mt_device_context(d) == NULL && mt_stream_handle(d, NULL) == NULL,
         "a context of the processor");
  mt_stream *s = NULL;
  EXPECT_STATUS(mt_stream_of(d, &s, NULL, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_stream_wait(d, NULL, NULL, &err), MT_OK, err);
  EXPECT_STATUS(mt_event_record(d, &err, NULL, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_event_wait(d, NULL, NULL, &err), MT_EINVAL, err);
  mt_device_close(d);
}

/* ---------------------------------------------------------------- order */

/* Work of the fake driver is done as late as it may be: without `order` the second copy
** is done before the first. */
static void run_in_order (const char *what, bool right,
                          mt_status (*order)(host *x, mt_stream *s, mt_stream *t,
                                             mt_err *err)) {
  host x;
  mt_err err = MT_NOERR;
  enter(&x);
  CUstream a = new_stream(&x), b = new_stream(&x);
  mt_stream *s = stream_of(&x, a), *t = stream_of(&x, b);
  EXPECT(mt_stream_handle(x.d, s) == a, "another stream");
  EXPECT_STATUS(mt_plan_launch(&x.first, s, &err), MT_OK, err);
  fake_restart();
  EXPECT_STATUS(order(&x, s, t, &err), MT_OK, err);
  EXPECT(fake_calls("cuStreamSynchronize") + fake_calls("cuStreamQuery") +
                 fake_calls("cuEventSynchronize") + fake_calls("cuEventQuery") +
                 fake_calls("cuCtxSynchronize") ==
             0,
         "%s: it waited", what);
  EXPECT_STATUS(mt_plan_launch(&x.second, t, &err), MT_OK, err);
  EXPECT_STATUS(mt_synchronize(x.d, t, &err), MT_OK, err);
  EXPECT(copied(&x) == right, "%s: the copy is %s", what, right ? "wrong" : "right");
  EXPECT_STATUS(mt_synchronize(x.d, s, &err), MT_OK, err);
  close_stream(&x, a);
  close_stream(&x, b);
  leave(&x, what);
}

static mt_status no_order (host *x, mt_stream *s, mt_stream *t, mt_err *err) {
  (void)x, (void)s, (void)t, (void)err;
  return MT_OK;
}

static mt_status by_wait (host *x, mt_stream *s, mt_stream *t, mt_err *err) {
  return mt_stream_wait(x->d, t, s, err);
}

static mt_status by_event (host *x, mt_stream *s, mt_stream *t, mt_err *err) {
  CUevent e = NULL;
  CUcontext popped;
  x->v.cuCtxPushCurrent(x->context[0]);
  x->v.cuEventCreate(&e, MT_CU_NO_TIMING);
  MT_TRY(mt_event_record(x->d, e, s, err));
  MT_TRY(mt_event_wait(x->d, t, e, err));
  x->v.cuEventDestroy(e);
  x->v.cuCtxPopCurrent(&popped);
  return MT_OK;
}

/* By way of the device's own stream, and the legacy one. */
static mt_status by_others (host *x, mt_stream *s, mt_stream *t, mt_err *err) {
  mt_stream *legacy = stream_of(x, NULL);
  MT_TRY(mt_stream_wait(x->d, NULL, s, err));
  MT_TRY(mt_stream_wait(x->d, legacy, NULL, err));
  return mt_stream_wait(x->d, t, legacy, err);
}

/* ---------------------------------------------------------------- captures */

static bool never (void *ud) { return (void)ud, false; }

/* More launches than a stream's queue is bounded by, by one who can be told to end. */
static void test_capture (void) {
  enum { LAUNCHES = 600 };
  host x;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUcontext popped;
  mt_err err = {.stop = never};
  enter(&x);
  CUstream own = new_stream(&x);
  mt_stream *s = stream_of(&x, own);
  fake_set("FAKECUDA_VERSION", "12040");
  for (int i = 0; i < 400; i++) /* an event is under way, of before */
    EXPECT_STATUS(mt_plan_launch(&x.first, s, &err), MT_OK, err);
  x.v.cuCtxPushCurrent(x.context[0]);
  EXPECT(x.v.cuStreamBeginCapture(own, 0) == 0, "no capture");
  x.v.cuCtxPopCurrent(&popped);
  for (int i = 0; i < LAUNCHES; i++)
    EXPECT_STATUS(mt_plan_launch(i % 2 ? &x.second : &x.first, s, &err), MT_OK, err);
  x.v.cuCtxPushCurrent(x.context[0]);
  EXPECT(x.v.cuStreamEndCapture(own, &graph) == 0, "the capture is broken");
  EXPECT(x.v.cuGraphInstantiateWithFlags(&exec, graph, 0) == 0, "no graph");
  EXPECT(!copied(&x), "it ran while it was captured");
  EXPECT(x.v.cuGraphLaunch(exec, own) == 0 && x.v.cuStreamSynchronize(own) == 0,
         "the graph does not run");
  x.v.cuGraphExecDestroy(exec);
  x.v.cuGraphDestroy(graph);
  x.v.cuCtxPopCurrent(&popped);
  EXPECT(copied(&x), "the graph copies wrongly");
  fake_set("FAKECUDA_VERSION", NULL);
  close_stream(&x, own);
  leave(&x, "capture");
}

void spec_lent (void) {
  test_context();
  test_options();
  run_in_order("no order", false, no_order);
  run_in_order("a stream waits", true, by_wait);
  run_in_order("an event", true, by_event);
  run_in_order("by other streams", true, by_others);
  test_capture();
}
