/*
** driver.c - the CUDA driver: found at run time, started, its errors in words.
** SPDX-License-Identifier: MIT
*/
#define _GNU_SOURCE /* RTLD_NODELETE */
#include <dlfcn.h>
#include <unistd.h>

#include "cuda/cuda.h"

/* ---------------------------------------------------------------- errors */

typedef struct error_row {
  CUresult number;
  mt_status status;
  const char *name, *advice; /* NULL: none */
} error_row;

static const error_row error_rows[] = {
#define MT_CUDA_ERROR(name, number, status, advice)                                      \
  {number, status, "CUDA_ERROR_" #name, advice},
#include "cuda/driver.def"
    {0, MT_EDRIVER, NULL, NULL}};

static const error_row *error_find (CUresult r) {
  const error_row *row = error_rows;
  while (row->number != 0 && row->number != r) row++;
  return row;
}

mt_status mt_driver_check (const mt_driver *v, const char *call, CUresult r,
                           mt_err *err) {
  if (r == 0) return MT_OK;
  const error_row *row = error_find(r);
  const char *name = NULL, *text = NULL;
  if (v->cuGetErrorName == NULL || v->cuGetErrorName(r, &name) != 0 || name == NULL)
    name = row->name ? row->name : "an error unknown to this driver";
  if (v->cuGetErrorString == NULL || v->cuGetErrorString(r, &text) != 0 || text == NULL)
    text = mt_status_text(row->status);
  return mt_fail(err, row->status, "%s: %s (%d): %s%s%s", call, name, r, text,
                 row->advice ? "\n" : "", row->advice ? row->advice : "");
}

/* ---------------------------------------------------------------- loading */

/* Also of a driver too old for the rest of its functions; 0: not known. */
static int driver_version (const mt_driver *v) {
  CUresult (*get)(int *out) = NULL;
  int version = 0;
  void *p = dlsym(v->handle, "cuDriverGetVersion");
  if (p == NULL) return 0;
  memcpy(&get, &p, sizeof get);
  return get(&version) == 0 ? version : 0;
}

static mt_status lacks (const mt_driver *v, const char *name, mt_err *err) {
  int n = driver_version(v);
  if (n > 0 && n < MT_CUDA_VERSION)
    return mt_fail(err, MT_ENODEV,
                   "%s: the driver is for CUDA %d.%d, too old: it has no %s\n"
                   "update the NVIDIA driver (525 or newer, for CUDA 12.0)",
                   v->path, n / 1000, n % 1000 / 10, name);
  return mt_fail(err, MT_ENODEV,
                 "%s: has no function %s\n"
                 "reinstall the NVIDIA driver, or name its libcuda.so.1",
                 v->path, name);
}

static mt_status resolve (const mt_driver *v, mt_get_proc *get, const char *name,
                          void *out, mt_err *err) {
  void *p = NULL;
  int found = 0;
  if (get(name, &p, MT_CUDA_VERSION, 0, &found) != 0 || p == NULL)
    return lacks(v, name, err);
  memcpy(out, &p, sizeof p);
  return MT_OK;
}

static mt_status resolve_all (mt_driver *v, mt_err *err) {
  static const char entry[] = "cuGetProcAddress_v2";
  mt_get_proc *get = NULL;
  void *p = dlsym(v->handle, entry);
  if (p == NULL) return lacks(v, entry, err);
  memcpy(&get, &p, sizeof get);
#define MT_CUDA_CALL(name, suffix, args) MT_TRY(resolve(v, get, #name, &v->name, err));
#include "cuda/driver.def"
  return MT_OK;
}

/* A driver is never unmapped: its threads and exit handlers outlive the last dlclose. */
static mt_status open_library (mt_driver *v, mt_err *err) {
  v->handle = dlopen(v->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (v->handle != NULL) return MT_OK;
  const char *why = dlerror();
  return mt_fail(err, MT_ENODEV,
                 "no CUDA driver: %s\n"
                 "install the NVIDIA driver, or use the device \"cpu\"",
                 why ? why : v->path);
}

static mt_status start (mt_driver *v, mt_err *err) {
  MT_TRY(resolve_all(v, err));
  return MT_CU(v, err, cuInit, (0));
}

mt_status mt_driver_load (mt_driver *v, const char *path, mt_err *err) {
  memset(v, 0, sizeof *v);
  v->path = path ? path : "libcuda.so.1";
  v->pid = getpid();
  MT_TRY(open_library(v, err));
  mt_status s = start(v, err);
  v->path = NULL;
  if (s != MT_OK) mt_driver_unload(v);
  return s;
}

void mt_driver_unload (mt_driver *v) {
  if (v->handle != NULL) dlclose(v->handle);
  v->handle = NULL;
}

/* ---------------------------------------------------------------- the images */

/* A list of kernels begins with a comment, a fatbin with its magic number. */
static bool is_code (const unsigned char *image) {
  return memcmp(image, "\x50\xed\x55\xba", 4) == 0;
}

bool mt_cuda_has_kernels (void) { return is_code(mt_image_copy); }

/* Of kernels that some builds lack. */
static bool is_there (const unsigned char *image) {
  return is_code(image) || !is_code(mt_image_copy);
}
bool mt_cuda_has_hopper (void) { return is_there(mt_image_hopper); }
bool mt_cuda_has_ampere (void) { return is_there(mt_image_ampere); }

const unsigned char *mt_driver_code (mt_op op) {
  static const unsigned char *const images[MT_NOP] =
      {[MT_OP_COPY] = mt_image_copy,     [MT_OP_GEMM] = mt_image_mma,
       [MT_OP_AMPERE] = mt_image_ampere, [MT_OP_HOPPER] = mt_image_hopper,
       [MT_OP_PACK] = mt_image_pack,     [MT_OP_PIPELINE] = mt_image_pipeline};
  return images[op];
}

mt_status mt_driver_image (const mt_driver *v, mt_op op, CUlibrary *out, mt_err *err) {
  const unsigned char *image = mt_driver_code(op);
  CUresult r = v->cuLibraryLoadData(out, image, NULL, NULL, 0, NULL, NULL, 0);
  if (r == 0) return MT_OK;
  mt_status s = mt_driver_check(v, "cuLibraryLoadData", r, err);
  if (s != MT_ENODEV || mt_cuda_has_kernels()) return s;
  return mt_fail(err, MT_ENODEV,
                 "this build of moontile has no CUDA kernels\n"
                 "build it with nvcc (12.0 or newer) on the PATH, or use \"cpu\"");
}

/* ---------------------------------------------------------------- counting */

/* A library without kernels can use no device. */
static mt_status count (const mt_driver *v, int *out, mt_err *err) {
  MT_TRY(MT_CU(v, err, cuDeviceGetCount, (out)));
  if (*out == 0) return mt_driver_check(v, "cuDeviceGetCount", 100, err);
  if (mt_cuda_has_kernels()) return MT_OK;
  CUlibrary library = NULL;
  MT_TRY(mt_driver_image(v, MT_OP_COPY, &library, err));
  return MT_CU(v, err, cuLibraryUnload, (library));
}

int mt_cuda_count (const mt_device_options *options, mt_err *err) {
  mt_driver driver;
  int n = 0;
  if (mt_driver_load(&driver, options ? options->libcuda : NULL, err) != MT_OK) return 0;
  mt_status s = count(&driver, &n, err);
  mt_driver_unload(&driver);
  return s == MT_OK ? n : 0;
}
