/*
** devices.c - memory, streams, several devices, lost ones, and the host's own context.
** SPDX-License-Identifier: MIT
*/
#include <dlfcn.h>

#include "spec.h"

enum { BYTES = 1 << 16 };

static mt_device *open_or_die (const char *name) {
  mt_device *d = NULL;
  mt_err err = MT_NOERR;
  if (spec_open(&d, name, &err) == MT_OK) return d;
  fprintf(stderr, "%s: %s\n", name, err.text);
  exit(1);
}

static void fill (unsigned char *p, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) p[i] = (unsigned char)((seed + i) * 2654435761u >> 24);
}

static void test_about (void) {
  mt_device *d = open_or_die("cuda");
  EXPECT(strcmp(mt_device_name(d), "cuda:0") == 0, "%s", mt_device_name(d));
  const char *about = mt_device_about(d);
  EXPECT(strcmp(about, "Fake GPU 0, sm_90, 132 multiprocessors, 1.0 GiB, "
                       "driver for CUDA 12.0") == 0,
         "%s", about);
  EXPECT(!mt_device_is_host(d), "it is no host");
  mt_device_close(d);
  spec_expect_clean("about");
}

/* Zeroed, aligned, of size 0 too; NULL may be freed. */
static void test_memory (void) {
  mt_device *d = open_or_die("cuda");
  mt_err err = MT_NOERR;
  static unsigned char host[1000], zero[1000];
  void *p = NULL, *q = host;
  fill(host, sizeof host, 1);
  EXPECT_STATUS(mt_malloc(d, &p, sizeof host, &err), MT_OK, err);
  EXPECT((uintptr_t)p % 256 == 0, "%p", p);
  EXPECT_STATUS(mt_download(d, host, p, sizeof host, &err), MT_OK, err);
  EXPECT(memcmp(host, zero, sizeof host) == 0, "new memory is not zero");
  EXPECT_STATUS(mt_malloc(d, &q, 0, &err), MT_OK, err);
  EXPECT_STATUS(mt_upload(d, q, NULL, 0, &err), MT_OK, err);
  EXPECT_STATUS(mt_download(d, NULL, q, 0, &err), MT_OK, err);
  mt_free(d, q, 0);
  mt_free(d, NULL, 0);
  mt_free(d, p, sizeof host);
  mt_stream_destroy(d, NULL);
  mt_device_close(d);
  mt_device_close(NULL);
  spec_expect_clean("memory");
}

static void test_exhausted (void) {
  mt_device *d = open_or_die("cuda");
  mt_err err = MT_NOERR;
  void *p = NULL, *q = NULL;
  fakecuda_live live;
  fake_set("FAKECUDA_MEMORY", "1000000");
  EXPECT_STATUS(mt_malloc(d, &p, 600000, &err), MT_OK, err);
  for (int i = 0; i < 100; i++) {
    err = (mt_err)MT_NOERR;
    EXPECT_STATUS(mt_malloc(d, &q, 600000, &err), MT_ENOMEM, err);
    EXPECT(q == NULL, "memory came out");
    EXPECT_TEXT(err, "cuda:0 has no 600000 bytes of memory left: cuMemAlloc: CUDA_");
  }
  fake_count(&live);
  EXPECT(live.allocations == 1 && live.bytes == 600000, "%zu bytes", live.bytes);
  EXPECT_STATUS(mt_malloc(d, &q, 400000, &err), MT_OK, err);
  mt_free(d, q, 400000);
  mt_free(d, p, 600000);
  fake_set("FAKECUDA_MEMORY", NULL);
  mt_device_close(d);
  spec_expect_clean("exhausted");
}

/* The bytes of `seed` go to d, are copied there, and come back. */
static void copy_on (mt_device *d, mt_stream *stream, unsigned seed) {
  static unsigned char host[BYTES], back[BYTES];
  mt_err err = MT_NOERR;
  void *src = NULL, *dst = NULL;
  mt_plan p;
  fill(host, BYTES, seed);
  EXPECT_STATUS(mt_malloc(d, &src, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(d, &dst, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_upload(d, src, host, BYTES, &err), MT_OK, err);
  spec_plan(&p, d, dst, src, BYTES);
  EXPECT_STATUS(d->backend->launch(&p, stream, &err), MT_OK, err);
  EXPECT_STATUS(mt_synchronize(d, stream, &err), MT_OK, err);
  EXPECT_STATUS(mt_download(d, back, dst, BYTES, &err), MT_OK, err);
  EXPECT(memcmp(host, back, BYTES) == 0, "%s: copied wrongly", mt_device_name(d));
  mt_free(d, src, BYTES);
  mt_free(d, dst, BYTES);
}

static void test_streams (void) {
  mt_device *d = open_or_die("cuda:0");
  mt_err err = MT_NOERR;
  mt_stream *s = NULL, *t = NULL;
  EXPECT_STATUS(mt_stream_create(d, &s, &err), MT_OK, err);
  EXPECT_STATUS(mt_stream_create(d, &t, &err), MT_OK, err);
  EXPECT(s != NULL && t != NULL && s != t, "streams are not two");
  copy_on(d, NULL, 1);
  copy_on(d, s, 2);
  copy_on(d, t, 3);
  mt_stream_destroy(d, t);
  mt_stream_destroy(d, s);
  mt_device_close(d);
  spec_expect_clean("streams");
}

/* Each has its own context; a pointer of the other's is an error of the launch. */
static void test_two (void) {
  fake_set("FAKECUDA_DEVICES", "2");
  mt_device *a = open_or_die("cuda:0"), *b = open_or_die("cuda:1");
  mt_err err = MT_NOERR;
  void *p = NULL, *q = NULL;
  mt_plan plan;
  EXPECT(strcmp(mt_device_name(b), "cuda:1") == 0, "%s", mt_device_name(b));
  EXPECT_STATUS(mt_malloc(a, &p, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(b, &q, BYTES, &err), MT_OK, err);
  copy_on(a, NULL, 4);
  copy_on(b, NULL, 5);
  spec_plan(&plan, b, q, p, BYTES);
  EXPECT_STATUS(b->backend->launch(&plan, NULL, &err), MT_OK, err);
  EXPECT_STATUS(mt_synchronize(b, NULL, &err), MT_ELOST, err);
  copy_on(a, NULL, 6);
  mt_free(b, q, BYTES);
  mt_free(a, p, BYTES);
  mt_device_close(a);
  mt_device_close(b);
  fake_set("FAKECUDA_DEVICES", NULL);
  spec_expect_clean("two devices");
}

/* After an access out of bounds every call says so, without a call of the driver. */
static void expect_lost (mt_device *d, void *p, mt_plan *plan) {
  mt_err err = MT_NOERR;
  mt_stream *s = NULL;
  void *q = NULL;
  char byte = 0;
  fake_restart();
  EXPECT_STATUS(mt_synchronize(d, NULL, &err), MT_ELOST, err);
  EXPECT_TEXT(err, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_STATUS(mt_malloc(d, &q, 16, &err), MT_ELOST, err);
  EXPECT_STATUS(mt_upload(d, p, &byte, 1, &err), MT_ELOST, err);
  EXPECT_STATUS(mt_download(d, &byte, p, 1, &err), MT_ELOST, err);
  EXPECT_STATUS(mt_stream_create(d, &s, &err), MT_ELOST, err);
  EXPECT_STATUS(d->backend->launch(plan, NULL, &err), MT_ELOST, err);
  EXPECT(fake_calls("cuCtxPushCurrent_v2") == 0, "the driver was called");
}

static void test_lost (void) {
  mt_device *d = open_or_die("cuda");
  mt_err err = MT_NOERR;
  void *p = NULL;
  mt_plan plan;
  EXPECT_STATUS(mt_malloc(d, &p, BYTES, &err), MT_OK, err);
  spec_plan(&plan, d, p, p, BYTES);
  plan.launch.offset[MT_DST] = 16;
  EXPECT_STATUS(d->backend->launch(&plan, NULL, &err), MT_OK, err);
  EXPECT_STATUS(mt_synchronize(d, NULL, &err), MT_ELOST, err);
  EXPECT_TEXT(err, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  expect_lost(d, p, &plan);
  mt_free(d, p, BYTES);
  mt_device_close(d);
  spec_expect_clean("lost");
  d = open_or_die("cuda");
  copy_on(d, NULL, 7);
  mt_device_close(d);
  spec_expect_clean("opened again");
}

/* A host with a context of its own keeps it current. */
static void test_context (void) {
  void *handle = dlopen(fake_path, RTLD_NOW | RTLD_LOCAL);
  CUresult (*retain)(CUcontext * out, CUdevice d);
  CUresult (*release)(CUdevice d);
  CUresult (*push)(CUcontext c);
  CUresult (*pop)(CUcontext * out);
  CUcontext own = NULL, popped = NULL;
  *(void **)&retain = dlsym(handle, "cuDevicePrimaryCtxRetain");
  *(void **)&release = dlsym(handle, "cuDevicePrimaryCtxRelease_v2");
  *(void **)&push = dlsym(handle, "cuCtxPushCurrent_v2");
  *(void **)&pop = dlsym(handle, "cuCtxPopCurrent_v2");
  fake_set("FAKECUDA_DEVICES", "2");
  mt_device *d = open_or_die("cuda:0");
  EXPECT(retain(&own, 1) == 0 && push(own) == 0, "no context");
  copy_on(d, NULL, 8);
  mt_device_close(d);
  EXPECT(pop(&popped) == 0 && popped == own, "the host's context is another");
  release(1);
  dlclose(handle);
  fake_set("FAKECUDA_DEVICES", NULL);
  spec_expect_clean("the host's context");
}

void spec_devices (void) {
  test_about();
  test_memory();
  test_exhausted();
  test_streams();
  test_two();
  test_lost();
  test_context();
}
