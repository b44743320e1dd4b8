/*
** cuda.h - private to mt_cuda*.c: the driver's types, its functions, its errors.
** SPDX-License-Identifier: MIT
**
** The types are the driver's own names and ABI, declared here: the library needs no CUDA
** header to be built, and no libcuda to be linked or loaded.
*/
#ifndef MT_CUDA_CUDA_H
#define MT_CUDA_CUDA_H

#include <sys/types.h>

#include "plan/recording.h"
#include "plan/stage.h"

typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUpointer_attribute;
typedef int CUfunction_attribute;
typedef int CUjit_option;
typedef int CUlibraryOption;
typedef int CUstreamCaptureMode;
typedef int CUstreamCaptureStatus;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

typedef struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  void *attrs;
  unsigned numAttrs;
} CUlaunchConfig;

/* Of a launch: the id and 64 bytes of value, by the id. */
typedef struct CUlaunchAttribute {
  int id;
  char unused[4];
  union {
    int allowed;
    unsigned cluster[3]; /* blocks of a cluster along x, y, z */
    char bytes[64];
  } value;
} CUlaunchAttribute;

typedef int CUtensorMapDataType;
typedef int CUtensorMapInterleave;
typedef int CUtensorMapSwizzle;
typedef int CUtensorMapL2promotion;
typedef int CUtensorMapFloatOOBfill;
typedef struct CUtensorMap {
  _Alignas(64) unsigned char bytes[128];
} CUtensorMap;

typedef CUresult mt_get_proc (const char *name, void **out, int version, uint64_t flags,
                              int *found);

enum {
  MT_CUDA_VERSION = 12000,     /* of the ABI of every function: CUDA 12.0 */
  MT_CU_CLUSTER = 4,           /* attribute of a launch: the blocks of a cluster */
  MT_CU_EARLY = 6,             /* attribute of a launch: it may come up before the end of
                               ** the one before; its kernel waits for that itself */
  MT_CU_EARLY_BINARY = 90,     /* machine code that can wait so */
  MT_CU_EARLY_CAPTURE = 12030, /* version of drivers that capture such launches */
  MT_CU_BINARY = 6,            /* attribute of a function: 10 major + minor of its code */
  MT_CU_MOST_SHARED = 8,       /* the same: shared memory that launches ask for */
  MT_CU_NON_BLOCKING = 1,      /* of a stream: does not wait for the legacy stream */
  MT_CU_RELAXED = 2,           /* mode of a capture: it forbids no thread anything */
  MT_CU_NO_TIMING = 2,         /* of an event: it tells no time */
  MT_CU_MEMORY_TYPE = 2,       /* attribute of an address: whose memory it is; a value: */
  MT_CU_HOST_MEMORY = 1,       /* the host's, page-locked */
  MT_CU_LEGACY = 1,            /* the handle of the legacy default stream */
  MT_CU_NOT_READY = 600,       /* result of a query: it still works */
  MT_CU_SWIZZLE_32 = 1,        /* of a map: lines of a box of 32 bytes, by 16 bytes */
  MT_CU_SWIZZLE_128 = 3,       /* the same, of 128 bytes */
  MT_CU_PROMOTE_128 = 2,       /* of a map: what the L2 asks memory for, in bytes */
  MT_CU_MULTIPROCESSORS = 16,  /* attributes */
  MT_CU_MAJOR = 75,
  MT_CU_MINOR = 76
};

typedef struct mt_driver {
  void *handle;     /* of dlopen */
  pid_t pid;        /* the process that loaded it: a child may not call it */
  const char *path; /* only while it is being loaded */
#define MT_CUDA_CALL(name, suffix, args) CUresult(*name) args;
#include "cuda/driver.def"
} mt_driver;

/* The rows of copy.def, cast.def and mma.def. */
extern const mt_kernel mt_cuda_kernels[];
extern const size_t mt_ncuda_kernels;

/* The row of a kernel that packs: of pack.def, this one. */
size_t mt_cuda_pack_kernel (size_t row);
/* What ampere.def says of one of its kernels. */
const mt_ampere_row *mt_cuda_ampere_row (const mt_kernel *k);

/* What the kernels of an operation are in: a fatbin, or, when the library was built
** without nvcc, the lists of kernels, which only a driver made for tests accepts. A
** zero byte follows it. */
extern const unsigned char mt_image_copy[], mt_image_mma[], mt_image_ampere[],
    mt_image_hopper[], mt_image_pack[], mt_image_pipeline[];

/* Whether kernels of a family are there wherever those of copies are. */
bool mt_cuda_has_hopper (void);
bool mt_cuda_has_ampere (void);

/* Whether the code of the kernels is in this library: built without nvcc, it is not. */
bool mt_cuda_has_kernels (void);

/* Loads the driver and starts it. On failure nothing is left loaded. */
mt_status mt_driver_load (mt_driver *v, const char *path, mt_err *err);
void mt_driver_unload (mt_driver *v);

/* MT_OK if r is 0; else "call: CUDA_ERROR_NAME (number): description" and the way out. */
mt_status mt_driver_check (const mt_driver *v, const char *call, CUresult r, mt_err *err);
#define MT_CU(v, err, name, args) mt_driver_check((v), #name, (v)->name args, (err))

/* The kernels of an operation: as they are in this library; as a library of the driver:
** MT_ENODEV if it cannot run here. */
const unsigned char *mt_driver_code (mt_op op);
mt_status mt_driver_image (const mt_driver *v, mt_op op, CUlibrary *out, mt_err *err);

/* ---------------------------------------------------------------- a device */

enum { MT_SPARES = 1024 };

/* What pieces of copies between the host and the device pass through (cuda/stage.c).
** */
typedef struct mt_slot {
  void *host; /* page-locked */
  CUdeviceptr device;
  CUevent sent, used;
} mt_slot;

typedef struct mt_room {
  size_t bytes;    /* of each slot, on either side */
  int n;           /* slots */
  CUstream stream; /* of the transfers; NULL: none yet */
  CUevent begun;
  bool left; /* a call was ended while pieces were on their way */
  mt_slot slot[MT_STAGE_SLOTS];
} mt_room;

/* A stream of the host's that is open, or closed while it works; memory that was freed
** while the GPU worked. */
typedef struct mt_cuda_kept {
  struct mt_cuda_kept *next;
  CUstream stream;
  bool closed;
  CUdeviceptr p;
} mt_cuda_kept;

/* Memory that is free, and kept (cuda/spare.c). */
typedef struct mt_spare {
  CUdeviceptr p;
  size_t bytes;
} mt_spare;

/* The host's streams that were launched on and not waited for since: whether the device
** was handed any at all; 0, 1, or 2 for several; the only one, to be compared: it may be
** gone. */
typedef struct mt_foreign {
  bool ever;
  int n;
  CUstream one;
} mt_foreign;

typedef struct mt_cuda {
  mt_driver driver;
  CUdevice device;
  CUcontext context;         /* NULL: none yet */
  bool retained;             /* it is the primary one; else the host's */
  CUlibrary library[MT_NOP]; /* of an operation: NULL, or loaded */
  CUstream stream;           /* NULL, or the device's own */
  bool early;                /* launches may come up before the end of the one before */
  int version;               /* of the driver: 12040 is 12.4 */
  int arch;                  /* 90 is sm_90 */
  char lost[512];            /* why the device is lost; "" while it is not */
  mt_room room;
  mt_cuda_kept *streams, *freed;
  mt_foreign foreign;
  unsigned nspares;
  size_t spare_bytes;
  mt_spare spare[MT_SPARES]; /* from the oldest to the newest */
  CUdeviceptr unit;          /* 16 bytes (cuda/fill.c); 0: none yet */
  CUevent batch[2];          /* behind some of the last launches (mt_cuda_throttle) */
  unsigned launches;
  mt_recorder *recorder; /* NULL, or: launches are told to it, and not made */
  CUfunction function[]; /* of each row of mt_cuda_kernels */
} mt_cuda;

/* Remembers the loss of the device; returns the status that it was given. */
mt_status mt_cuda_note (mt_cuda *c, mt_status s, const mt_err *err);
#define CU(c, err, name, args)                                                           \
  mt_cuda_note((c), MT_CU(&(c)->driver, (err), name, args), (err))
/* The device's context is current from the one to the other. */
mt_status mt_cuda_enter (mt_cuda *c, mt_err *err);
void mt_cuda_leave (mt_cuda *c);
/* In a child of the process that opened it, where the driver is of no use. */
bool mt_cuda_forked (const mt_cuda *c);

/* Addresses of the device travel as pointers, streams as the driver's handles. */
static inline CUdeviceptr to_address (const void *p) { return (CUdeviceptr)(uintptr_t)p; }
static inline CUstream to_stream (const mt_cuda *c, mt_stream *s) {
  return s ? (CUstream)(void *)s : c->stream;
}

/* ---- waiting (cuda/wait.c), in the context. Errors: MT_ESTOPPED alone; an error of
** what is waited for comes from the next call. Without anybody to ask nothing is done. */
mt_status mt_cuda_await (mt_cuda *c, CUstream s, mt_err *err);
/* Between two looks, `waited` seconds after the first: asks if *asked was long ago,
** sleeps if it takes long. */
mt_status mt_cuda_rest (double waited, double now, double *asked, mt_err *err);
mt_status mt_cuda_await_all (mt_cuda *c, mt_err *err); /* all streams of the device */
/* Waits for one of the host's too, or of the device's; for all that the device has under
** way, on whatever stream, and reports the errors of it. */
mt_status mt_cuda_wait (mt_cuda *c, CUstream s, mt_err *err);
mt_status mt_cuda_wait_all (mt_cuda *c, mt_err *err);
/* A launch goes to s, which may be the host's. */
void mt_cuda_notice (mt_cuda *c, CUstream s);
/* Before a launch on s: waits while too many are in the queue. */
mt_status mt_cuda_throttle (mt_cuda *c, CUstream s, mt_err *err);
bool mt_cuda_is_idle (const mt_cuda *c);
/* Whether all streams but the device's own one are known to have nothing to do. */
bool mt_cuda_others_done (const mt_cuda *c);
/* ---- what the host has (cuda/lent.c, cuda/extend.c). */
mt_status mt_cuda_add (mt_device *d, mt_own_rows *o, const void *image, mt_err *err);
void mt_cuda_drop (mt_device *d, mt_own_rows *o);
mt_status mt_cuda_adopt (mt_cuda *c, CUcontext context, mt_err *err);
mt_status mt_cuda_order (mt_device *d, mt_stream *s, mt_stream *before, mt_err *err);
mt_status mt_cuda_event (mt_device *d, mt_stream *s, void *event, bool records,
                         mt_err *err);
void *mt_cuda_context (const mt_device *d);
mt_stream *mt_cuda_stream_of (void *handle);
void *mt_cuda_handle (const mt_device *d, mt_stream *s);
/* Adds to a list; false: there is no memory. */
bool mt_cuda_keep (mt_device *d, mt_cuda_kept **list, mt_cuda_kept what);
/* Closes one of c->streams, at the latest when it is done. */
void mt_cuda_close_stream (mt_device *d, CUstream s);
/* Gives back what can be given back by now. */
void mt_cuda_reap (mt_device *d);
/* Empties the lists; false: the GPU still works, memory is left to the context. */
bool mt_cuda_finish (mt_device *d);

/* Of the backend's table. */
mt_status mt_cuda_alloc (mt_device *d, void **out, size_t bytes, mt_err *err);
void mt_cuda_free (mt_device *d, void *p, size_t bytes);
/* The same of memory whose address nobody else has. */
void mt_cuda_recycle (mt_device *d, void *p, size_t bytes);
/* ---- memory that is kept (cuda/spare.c), in the context: a piece of so many bytes, for
** what comes next on the device's own stream, 0: there is none; takes one, `instead` of
** others where it is full, false: it is not for it; gives back all that there are, false:
** there were none. Without `instead` the driver is not called. */
CUdeviceptr mt_cuda_take_spare (mt_cuda *c, size_t bytes);
bool mt_cuda_keep_spare (mt_device *d, CUdeviceptr p, size_t bytes, bool instead);
bool mt_cuda_drop_spares (mt_cuda *c);
size_t mt_cuda_most_spare (const mt_device *d); /* bytes of all of them together */
/* ---- filling (cuda/fill.c) */
mt_status mt_cuda_repeat (mt_device *d, void *p, const void *unit, size_t bytes,
                          mt_err *err);
mt_status mt_cuda_unit (mt_device *d, void **out, const void *unit, mt_err *err);
mt_status mt_cuda_lock (mt_device *d, void **out, size_t bytes, mt_err *err);
void mt_cuda_unlock (mt_device *d, void *p, size_t bytes);
mt_status mt_cuda_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                          mt_err *err);
mt_status mt_cuda_download (mt_device *d, void *host, const void *src, size_t bytes,
                            mt_err *err);
mt_status mt_cuda_locked (mt_device *d, bool *out, const void *p, size_t bytes,
                          mt_err *err);
/* The most that pieces may take, on both sides, and what is kept besides. */
size_t mt_cuda_staging (const mt_device *d);
mt_status mt_cuda_room (mt_device *d, size_t *bytes, void *at[2], mt_err *err);
mt_status mt_cuda_transfer (mt_plan *p, mt_stream *s, mt_err *err);
/* ---- launching (cuda/launch.c). */
mt_status mt_cuda_prepare_product (mt_plan *p, mt_err *err);
mt_status mt_cuda_launch (mt_plan *p, mt_stream *stream, mt_err *err);
mt_status mt_cuda_measure (mt_plan *p, int n, double *us, mt_err *err);
mt_status mt_cuda_capture (mt_graph *g, mt_err *err);
mt_status mt_cuda_replay (mt_graph *g, mt_stream *stream, mt_err *err);
void mt_cuda_forget (mt_graph *g);
/* The driver's number of a type, for a map of TMA. */
int mt_cuda_map_type (mt_dtype d);
int mt_cuda_map_swizzle (const mt_tma_box *b);
/* In the context, on the device's own stream: all launches of p. */
mt_status mt_cuda_start_all (const mt_plan *p, mt_err *err);
/* ---- as data (cuda/record.c). The second in the context, with a recorder. */
mt_status mt_cuda_record (mt_plan *p, mt_recorder *r, mt_err *err);
mt_status mt_cuda_record_launch (mt_cuda *c, const mt_kernel *k, const void *launch,
                                 const CUlaunchConfig *config, mt_err *err);
/* One of ours, not of the host's. */
bool mt_cuda_is_ours (const mt_kernel *k);
/* Shared memory that a launch of the kernel may ask for; 0: as much as of any. */
int mt_cuda_most_shared (const mt_kernel *k);
/* In the context: of a row of mt_cuda_kernels, with its library where it is the first. */
mt_status mt_cuda_find_function (mt_cuda *c, size_t row, mt_err *err);
/* In the context: one kernel; it may come up early where the device allows that. */
mt_status mt_cuda_start (const mt_plan *p, CUstream stream, mt_err *err);
/* Between the device and the host's `to` or `from`; done when it returns. */
mt_status mt_cuda_move (mt_cuda *c, CUdeviceptr device, void *to, const void *from,
                        size_t bytes, CUstream stream, mt_err *err);
/* Bytes of 0, there when it returns: whole vectors are read of rows that end in one. */
mt_status mt_cuda_clear (mt_cuda *c, CUdeviceptr p, size_t bytes, mt_err *err);
/* In the context: memory that is not cleared; back. */
mt_status mt_cuda_find_memory (mt_device *d, CUdeviceptr *p, size_t bytes, mt_err *err);
void mt_cuda_give_back (mt_device *d, CUdeviceptr p);
void mt_cuda_room_free (mt_cuda *c);

#endif
