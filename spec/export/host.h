/*
** host.h - a host of exported plans that knows neither Lua nor moontile: memory of the
** device by the driver alone, tensors from .npy files.
** SPDX-License-Identifier: MIT
*/
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                                                                       \
  do {                                                                                   \
    int must_ = (call);                                                                  \
    if (must_ != 0) {                                                                    \
      fprintf(stderr, "%s: %d\n", #call, must_);                                         \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

static const char *libcuda;
static void *stream;
static int compared;
static struct {
  int (*cuInit)(unsigned);
  int (*cuDeviceGet)(int *, int);
  int (*cuDevicePrimaryCtxRetain)(void **, int);
  int (*cuDevicePrimaryCtxRelease_v2)(int);
  int (*cuCtxPushCurrent_v2)(void *);
  int (*cuMemAlloc_v2)(unsigned long long *, size_t);
  int (*cuMemFree_v2)(unsigned long long);
  int (*cuMemsetD8Async)(unsigned long long, unsigned char, size_t, void *);
  int (*cuMemcpyHtoDAsync_v2)(unsigned long long, const void *, size_t, void *);
  int (*cuMemcpyDtoHAsync_v2)(void *, unsigned long long, size_t, void *);
  int (*cuStreamCreate)(void **, unsigned);
  int (*cuStreamSynchronize)(void *);
  int (*cuStreamDestroy_v2)(void *);
} cu;

static void find_in (void *handle, const char *name, void *out) {
  void *p = dlsym(handle, name);
  if (p == NULL) MUST(-1);
  memcpy(out, &p, sizeof p);
}
#define FIND(name) find_in(handle, #name, &cu.name)

static void begin (int n, char **argv) {
  void *context;
  int device;
  libcuda = n > 1 ? argv[1] : NULL;
  void *handle = dlopen(libcuda ? libcuda : "libcuda.so.1", RTLD_NOW);
  if (handle == NULL) MUST(-2);
  FIND(cuInit), FIND(cuDeviceGet), FIND(cuDevicePrimaryCtxRetain);
  FIND(cuDevicePrimaryCtxRelease_v2), FIND(cuCtxPushCurrent_v2), FIND(cuMemAlloc_v2);
  FIND(cuMemFree_v2), FIND(cuMemcpyHtoDAsync_v2), FIND(cuMemcpyDtoHAsync_v2);
  FIND(cuMemsetD8Async), FIND(cuStreamCreate), FIND(cuStreamSynchronize),
      FIND(cuStreamDestroy_v2);
  MUST(cu.cuInit(0));
  MUST(cu.cuDeviceGet(&device, 0));
  MUST(cu.cuDevicePrimaryCtxRetain(&context, device));
  MUST(cu.cuCtxPushCurrent_v2(context));
  MUST(cu.cuStreamCreate(&stream, 1));
}

static int end (void) {
  MUST(cu.cuStreamDestroy_v2(stream));
  MUST(cu.cuDevicePrimaryCtxRelease_v2(0));
  printf("%d plans compared\n", compared);
  return 0;
}

static void *read_npy (const char *name, size_t *bytes) {
  FILE *f = fopen(name, "rb");
  unsigned char head[10];
  if (f == NULL || fread(head, 1, 10, f) != 10) MUST(-3);
  const long first = 10 + head[8] + 256L * head[9];
  fseek(f, 0, SEEK_END);
  *bytes = (size_t)(ftell(f) - first);
  fseek(f, first, SEEK_SET);
  void *data = malloc(*bytes);
  if (data == NULL || fread(data, 1, *bytes, f) != *bytes) MUST(-4);
  fclose(f);
  return data;
}

static uint64_t to_device (const void *data, size_t bytes) {
  unsigned long long p = 0;
  MUST(cu.cuMemAlloc_v2(&p, bytes));
  MUST(cu.cuMemsetD8Async(p, 0, bytes, stream));
  MUST(cu.cuMemcpyHtoDAsync_v2(p, data, bytes, stream));
  MUST(cu.cuStreamSynchronize(stream));
  return p;
}

/* A tensor in memory of its own, of the device or the host. */
static uint64_t bring (const char *name, bool host) {
  size_t bytes;
  void *data = read_npy(name, &bytes);
  if (host) return (uintptr_t)data;
  uint64_t p = to_device(data, bytes);
  free(data);
  return p;
}

/* Memory of the device in which is anything. */
static uint64_t room (size_t bytes) {
  unsigned char *rubbish = malloc(bytes);
  memset(rubbish, 0xff, bytes);
  uint64_t p = to_device(rubbish, bytes);
  free(rubbish);
  return p;
}

static void equal (const char *plan, const char *name, uint64_t at, bool host) {
  size_t bytes;
  unsigned char *want = read_npy(name, &bytes), *got = (void *)(uintptr_t)at;
  if (!host) {
    got = malloc(bytes);
    MUST(cu.cuMemcpyDtoHAsync_v2(got, at, bytes, stream));
    MUST(cu.cuStreamSynchronize(stream));
  }
  for (size_t i = 0; i < bytes; i++)
    if (want[i] != got[i]) {
      fprintf(stderr, "%s: byte %zu is %d, not %d\n", plan, i, got[i], want[i]);
      exit(1);
    }
  free(want);
  free(got);
  compared++;
}
