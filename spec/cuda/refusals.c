/*
** refusals.c - no driver, a wrong, an old one, one without devices: each says what to do.
** SPDX-License-Identifier: MIT
*/
#include <sys/wait.h>
#include <unistd.h>

#include "spec.h"

/* A row: what is set, the status of opening "cuda", and what its text holds. */
typedef struct refusal {
  const char *variable, *value;
  mt_status status;
  const char *text, *advice;
} refusal;

static const refusal refusals[] = {
    {"FAKECUDA_DEVICES", "0", MT_ENODEV, "cuInit: CUDA_ERROR_NO_DEVICE (100)",
     "nvidia-smi"},
    {"FAKECUDA_VERSION", "11080", MT_ENODEV, "for CUDA 11.8, too old",
     "update the NVIDIA"},
    {"FAKECUDA_MISSING", "cuLaunchKernelEx", MT_ENODEV,
     "has no function cuLaunchKernelEx", "reinstall"},
    {"FAKECUDA_MISSING", "cuGetErrorName", MT_ENODEV, "cuGetErrorName", "reinstall"},
    {"FAKECUDA_FAIL", "cuInit:999:1", MT_EDRIVER, "cuInit: CUDA_ERROR_UNKNOWN (999)", ""},
    {"FAKECUDA_FAIL", "cuInit:804:1", MT_ENODEV, "CUDA_ERROR_COMPAT", "LD_LIBRARY_PATH"},
    {"FAKECUDA_FAIL", "cuInit:12345:1", MT_EDRIVER, "unknown to this driver (12345)", ""},
    {"FAKECUDA_FAIL", "cuInit:2:1,cuGetErrorName:1:1,cuGetErrorString:1:1", MT_ENOMEM,
     "cuInit: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", ""},
    {"FAKECUDA_FAIL", "cuLibraryLoadData:200:1", MT_ENODEV, "", "build"},
    {"FAKECUDA_FAIL", "cuLibraryLoadData:209:1", MT_ENODEV, "", "build"},
    {"FAKECUDA_FAIL", "cuLibraryGetKernel:500:3", MT_ENODEV,
     "cuLibraryGetKernel: CUDA_ERR", "MOONTILE_CUDA_ARCHS"},
    {"FAKECUDA_FAIL", "cuDevicePrimaryCtxRetain:2:1", MT_ENOMEM,
     "cuDevicePrimaryCtxRetain", "free"},
    {"FAKECUDA_FAIL", "cuDevicePrimaryCtxRetain:46:1", MT_ENODEV, "DEVICE_UNAVAILABLE",
     "compute mode"},
};

static void test_refusal (const refusal *r) {
  mt_device *d = NULL;
  mt_err err = MT_NOERR;
  fake_restart();
  fake_set(r->variable, r->value);
  mt_status s = spec_open(&d, "cuda", &err);
  fake_set(r->variable, NULL);
  EXPECT_STATUS(s, r->status, err);
  EXPECT_TEXT(err, r->text);
  EXPECT_TEXT(err, r->advice);
  EXPECT(d == NULL, "%s: a device came out", r->value);
  spec_expect_clean(r->value);
}

static void test_library (const char *path, const char *text) {
  mt_device_options o = {.size = sizeof o, .libcuda = path};
  mt_device *d = NULL;
  mt_err err = MT_NOERR;
  EXPECT_STATUS(mt_device_open(&d, "cuda", &o, &err), MT_ENODEV, err);
  EXPECT_TEXT(err, text);
  err = (mt_err)MT_NOERR;
  EXPECT(mt_cuda_count(&o, &err) == 0, "%s has devices", path);
  EXPECT_TEXT(err, text);
}

static void test_index (const char *name) {
  mt_device *d = NULL;
  mt_err err = MT_NOERR;
  EXPECT_STATUS(spec_open(&d, name, &err), MT_ENODEV, err);
  EXPECT_TEXT(err, name);
  spec_expect_clean(name);
}

static void test_count (void) {
  mt_device_options o = {.size = sizeof o, .libcuda = fake_path};
  mt_err err = MT_NOERR;
  fake_set("FAKECUDA_DEVICES", "3");
  EXPECT(mt_cuda_count(&o, &err) == 3, "%s", err.text);
  fake_restart();
  fake_set("FAKECUDA_FAIL", "cuDeviceGetCount:999:1");
  EXPECT(mt_cuda_count(&o, &err) == 0, "counted");
  EXPECT_STATUS(err.status, MT_EDRIVER, err);
  fake_set("FAKECUDA_FAIL", NULL);
  fake_set("FAKECUDA_DEVICES", NULL);
  spec_expect_clean("count");
}

/* No memory of the host: the first allocation is the device, the second the backend's. */
static void *poor_alloc (void *ud, void *ptr, size_t osize, size_t nsize) {
  int *left = ud;
  (void)osize;
  if (nsize > 0) return (*left)-- > 0 ? realloc(ptr, nsize) : NULL;
  free(ptr);
  return NULL;
}

static void test_host_memory (void) {
  for (int n = 0; n < 2; n++) {
    int left = n;
    mt_device_options o = {.size = sizeof o,
                           .alloc = poor_alloc,
                           .alloc_ud = &left,
                           .libcuda = fake_path};
    mt_device *d = NULL;
    mt_err err = MT_NOERR;
    EXPECT_STATUS(mt_device_open(&d, "cuda", &o, &err), MT_ENOMEM, err);
    spec_expect_clean("no host memory");
  }
}

/* In a child the parent's device answers with an error, and no call reaches the driver.
** */
static int child (mt_device *d, void *p) {
  mt_device *other = NULL;
  mt_stream *stream = NULL;
  mt_err err = MT_NOERR;
  char byte = 0;
  fake_restart();
  if (mt_upload(d, p, &byte, 1, &err) != MT_EDRIVER) return 1;
  if (strstr(err.text, "fork") == NULL) return 2;
  if (mt_synchronize(d, NULL, &err) != MT_EDRIVER) return 3;
  if (mt_stream_create(d, &stream, &err) != MT_EDRIVER) return 4;
  mt_free(d, p, 16);
  mt_device_close(d);
  if (fake_calls("cuCtxPushCurrent_v2") != 0 || fake_calls("cuMemFree_v2") != 0) return 5;
  if (spec_open(&other, "cuda", &err) != MT_ENODEV) return 6;
  return strstr(err.text, "CUDA_ERROR_NOT_INITIALIZED") != NULL ? 0 : 7;
}

static void test_fork (void) {
  mt_device *d = NULL;
  mt_err err = MT_NOERR;
  void *p = NULL;
  int status = 0;
  EXPECT_STATUS(spec_open(&d, "cuda", &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(d, &p, 16, &err), MT_OK, err);
  pid_t pid = fork();
  if (pid == 0) _exit(child(d, p));
  waitpid(pid, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child: %d", status);
  EXPECT_STATUS(mt_synchronize(d, NULL, &err), MT_OK, err);
  mt_free(d, p, 16);
  mt_device_close(d);
  spec_expect_clean("fork");
}

void spec_refusals (void) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
    test_refusal(&refusals[i]);
  test_library("/nonexistent/libcuda.so.1", "no CUDA driver: /nonexistent/libcuda.so.1");
  test_library("libm.so.6", "libm.so.6: has no function cuGetProcAddress_v2");
  test_index("cuda:1");
  test_index("cuda:77");
  test_count();
  test_host_memory();
  test_fork();
}
