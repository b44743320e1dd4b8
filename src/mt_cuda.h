/*
** mt_cuda.h - private to mt_cuda*.c: the driver's types, its functions, its errors.
** SPDX-License-Identifier: MIT
**
** The types are the driver's own names and ABI, declared here: the library needs no CUDA
** header to be built, and no libcuda to be linked or loaded.
*/
#ifndef MT_CUDA_H
#define MT_CUDA_H

#include <sys/types.h>

#include "mt_device.h"

typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUjit_option;
typedef int CUlibraryOption;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

typedef struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  void *attrs;
  unsigned numAttrs;
} CUlaunchConfig;

/* Of a launch: the id and 64 bytes of value, of which an int is used here. */
typedef struct CUlaunchAttribute {
  int id;
  char unused[4];
  union { int allowed; char bytes[64]; } value;
} CUlaunchAttribute;

typedef CUresult mt_get_proc (const char *name, void **out, int version, uint64_t flags,
                              int *found);

enum {
  MT_CUDA_VERSION = 12000,     /* of the ABI of every function: CUDA 12.0 */
  MT_CU_EARLY = 6,             /* attribute of a launch: it may come up before the end of
                               ** the one before; its kernel waits for that itself */
  MT_CU_EARLY_BINARY = 90,     /* machine code that can wait so */
  MT_CU_BINARY = 6,            /* attribute of a function: 10 major + minor of its code */
  MT_CU_NON_BLOCKING = 1,      /* of a stream: does not wait for the legacy stream */
  MT_CU_MULTIPROCESSORS = 16,  /* attributes */
  MT_CU_MAJOR = 75,
  MT_CU_MINOR = 76
};

typedef struct mt_driver {
  void *handle;                /* of dlopen */
  pid_t pid;                   /* the process that loaded it: a child may not call it */
  const char *path;            /* only while it is being loaded */
#define MT_CUDA_CALL(name, suffix, args) CUresult (*name) args;
#include "mt_cuda.def"
} mt_driver;

/* What the kernels of an operation are in: a fatbin, or, when the library was built
** without nvcc, the text of kernels.def, which only a driver made for tests accepts. A
** zero byte follows it. */
extern const unsigned char mt_image_copy[], mt_image_mma[];

/* Loads the driver and starts it. On failure nothing is left loaded. */
mt_status mt_driver_load (mt_driver *v, const char *path, mt_err *err);
void mt_driver_unload (mt_driver *v);

/* MT_OK if r is 0; else "call: CUDA_ERROR_NAME (number): description" and the way out. */
mt_status mt_driver_check (const mt_driver *v, const char *call, CUresult r, mt_err *err);
#define MT_CU(v, err, name, args) mt_driver_check((v), #name, (v)->name args, (err))

/* The kernels of an operation as a library of the driver: MT_ENODEV if it cannot run
** here. */
mt_status mt_driver_image (const mt_driver *v, mt_op op, CUlibrary *out, mt_err *err);

#endif
