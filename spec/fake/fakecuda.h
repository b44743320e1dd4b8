/*
** fakecuda.h - a CUDA driver without a GPU: what its files share, what tests may ask it.
** SPDX-License-Identifier: MIT
**
** Environment, read at every call
**   FAKECUDA_DEVICES   how many devices there are; 1
**   FAKECUDA_VERSION   of the driver, as 12040; 12000. Below 12000 it has no functions
**   FAKECUDA_MEMORY    bytes of a device's memory; 1 GiB
**   FAKECUDA_FAIL      "NAME:ERROR:N": the N-th call of that function answers with that
**                      error; "NAME:ERROR:N+": each from the N-th on. Commas between
**                      several. Calls count from the start, or from fakecuda_restart
**   FAKECUDA_MISSING   name of a function that the driver does not have
**   FAKECUDA_REPORT    at exit, what is still alive goes to stderr
** A function that gives something back does so also when it is told to fail: as the real
** ones do when they report the error of an earlier launch.
*/
#ifndef FAKECUDA_H
#define FAKECUDA_H

#include "mt_cuda.h"

#define FAKECUDA_API __attribute__((visibility("default")))

/* What is alive. `current`: contexts pushed on the calling thread. */
typedef struct fakecuda_live {
  int allocations, streams, libraries, contexts, current;
  size_t bytes;
} fakecuda_live;

FAKECUDA_API void fakecuda_count (fakecuda_live *out);
FAKECUDA_API int fakecuda_calls (const char *name);   /* since fakecuda_restart */
FAKECUDA_API void fakecuda_restart (void);     /* counts calls from 0 again */
FAKECUDA_API void fakecuda_forget (void);      /* frees all memory of the devices */

/* ---- the core of it: faults */

/* Each function of the driver, by number. */
enum {
#define MT_CUDA_CALL(name, suffix, args) FAKE_##name,
#include "mt_cuda.def"
  FAKE_CALLS
};

/* Counts a call; the error that it was told to answer with, or 0. */
CUresult fake_call (int number);
long long fake_option (const char *name, long long otherwise);

/* ---- memory */

/* Addresses of the device are those of the host with a bit that the host faults on. */
#define FAKE_TAG ((uint64_t)1 << 62)

CUresult fake_alloc (CUdeviceptr *out, int device, size_t bytes);
CUresult fake_free (CUdeviceptr p);
/* The host's address of [p, p + bytes), and the bytes from p to the end; NULL: it is not
** in one allocation, or not on this device (-1: on any). */
void *fake_host (CUdeviceptr p, int device, size_t bytes, size_t *room);
void fake_live_memory (int *allocations, size_t *bytes);
size_t fake_memory (void);

/* ---- streams */

struct CUctx_st { int device, users; CUresult sticky; };

typedef enum fake_kind { FAKE_LAUNCH, FAKE_SET, FAKE_UP, FAKE_DOWN } fake_kind;

/* What a stream has yet to do. */
typedef struct fake_work {
  struct fake_work *next;
  fake_kind kind;
  const mt_kernel *kernel;
  mt_grid grid;
  union {                          /* by the kernel's operation */
    mt_launch launch;
    mt_mma_launch product;
  };
  CUdeviceptr device;
  const void *from;
  void *to;
  size_t bytes;
  int value;
} fake_work;

struct CUstream_st {
  CUcontext context;
  CUstream next;
  fake_work *work;
};

CUresult fake_stream_new (CUstream *out, CUcontext c);
void fake_stream_free (CUstream s);                          /* finishes its work first */
CUresult fake_enqueue (CUstream s, const fake_work *w);      /* a copy of w */
void fake_finish (CUstream s);
void fake_finish_all (CUcontext c);
int fake_live_streams (void);

#endif
