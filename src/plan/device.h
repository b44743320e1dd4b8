/*
** device.h - private: backends, devices and plans.
** SPDX-License-Identifier: MIT
**
** A backend is reached only through its table, which backends.c names.
*/
#ifndef MT_PLAN_DEVICE_H
#define MT_PLAN_DEVICE_H

#include "moontile/graph.h"
#include "host/alloc.h"
#include "host/pool.h"
#include "core/error.h"
#include "gemm/ampere.h"
#include "gemm/hopper.h"
#include "desc/kernel.h"
#include "gemm/gemm.h"
#include "gemm/pipeline.h"

typedef struct mt_recorder mt_recorder;
typedef struct mt_own_rows mt_own_rows;

/* A loop over 0 .. total - 1 on the threads of a pool; it may be done in any parts.
** few: a few threads are as fast as memory. */
typedef struct mt_loop {
  mt_pool *pool;
  mt_work *work;
  void *arg;
  int64_t total;
  bool few;
} mt_loop;

typedef struct mt_backend {
  const char *name; /* "cpu", "cpu:checked", "cuda" */
  const mt_kernel *kernels;
  const size_t *nkernels;
  bool (*has_code)(void); /* NULL, or: whether the library carries them */
  bool host;              /* its memory is the host's */
  /* Fills d->impl, d->name, d->about. On failure it has released everything. */
  mt_status (*open)(mt_device *d, int index, mt_err *err);
  void (*close)(mt_device *d);
  /* NULL, or: ends the work of its threads, from inside of a call that never goes on. */
  void (*halt)(mt_device *d);
  /* Zeroed; bytes > 0. */
  mt_status (*alloc)(mt_device *d, void **out, size_t bytes, mt_err *err);
  void (*free)(mt_device *d, void *p, size_t bytes);
  /* NULL, or: of memory whose address nobody but this library has; it may be kept. */
  void (*recycle)(mt_device *d, void *p, size_t bytes);
  /* NULL, or, on its own stream. repeat: bytes at p become `unit`,
  ** of 16 bytes, again and again, without a wait; MT_EUNSUPPORTED, and no error is told:
  ** not by what it has. unit: these 16 bytes on the device, until the next call. */
  mt_status (*repeat)(mt_device *d, void *p, const void *unit, size_t bytes, mt_err *err);
  mt_status (*unit)(mt_device *d, void **out, const void *unit, mt_err *err);
  mt_status (*upload)(mt_device *d, void *dst, const void *host, size_t bytes,
                      mt_err *err);
  mt_status (*download)(mt_device *d, void *host, const void *src, size_t bytes,
                        mt_err *err);
  mt_status (*stream_create)(mt_device *d, mt_stream **out, mt_err *err);
  void (*stream_destroy)(mt_device *d, mt_stream *s);
  mt_status (*synchronize)(mt_device *d, mt_stream *s, mt_err *err);
  /* NULL: all is done when a call returns. order: what is launched on s from now on waits
  ** for what `before` has. event: of the host's: s records it, or waits for it. context:
  ** the driver's. stream_of, handle: a stream of the driver's as one of ours, back. */
  mt_status (*order)(mt_device *d, mt_stream *s, mt_stream *before, mt_err *err);
  mt_status (*event)(mt_device *d, mt_stream *s, void *event, bool records, mt_err *err);
  void *(*context)(const mt_device *d);
  mt_stream *(*stream_of)(void *handle);
  void *(*handle)(const mt_device *d, mt_stream *s);
  mt_status (*launch)(mt_plan *p, mt_stream *s, mt_err *err);
  /* NULL, or: what a launch of p, a copy, is; false: it is no loop. */
  bool (*loop)(mt_plan *p, mt_loop *out);
  /* Microseconds of n launches on the device's own stream, one behind the other. */
  mt_status (*measure)(mt_plan *p, int n, double *us, mt_err *err);
  /* NULL, or: chooses kernel and grid of a plan and fills its `own` part of data_bytes
  ** bytes, which is zero. Without it mt_kernel_choose does, and there is no own part. */
  mt_status (*prepare)(mt_plan *p, mt_err *err);
  size_t data_bytes;
  /* Whether it runs a product without a partition. */
  bool own_gemm;
  /* Chooses kernel and grid of a product that was proven. What it took `release` gives
  ** back, NULL: nothing. */
  mt_status (*prepare_gemm)(mt_plan *p, mt_err *err);
  void (*release)(mt_plan *p);
  /* NULL, or: makes g->data of what was recorded, launches it on a stream, gives it back.
  ** Without them a graph is its plans, launched one after another. */
  mt_status (*capture)(mt_graph *g, mt_err *err);
  mt_status (*replay)(mt_graph *g, mt_stream *s, mt_err *err);
  void (*forget)(mt_graph *g);
  /* NULL, or: memory of the host's that is page-locked, zeroed. */
  mt_status (*lock)(mt_device *d, void **out, size_t bytes, mt_err *err);
  void (*unlock)(mt_device *d, void *p, size_t bytes);
  /* Copies between the host and a device with memory of its own (plan/stage.h). locked:
  ** whether the host's memory is page-locked. room: what pieces pass through: its bytes,
  ** and where it is on the host and on the device. transfer: launches p->stage. */
  mt_status (*locked)(mt_device *d, bool *out, const void *p, size_t bytes, mt_err *err);
  mt_status (*room)(mt_device *d, size_t *bytes, void *at[2], mt_err *err);
  mt_status (*transfer)(mt_plan *p, mt_stream *s, mt_err *err);
  /* NULL, or: tells what a launch would be (plan/recording.h); nothing is launched. */
  mt_status (*record)(mt_plan *p, mt_recorder *r, mt_err *err);
  /* NULL, or: fills what is its own in the rows of a host's image, and gives it back. */
  mt_status (*add)(mt_device *d, mt_own_rows *o, const void *image, mt_err *err);
  void (*drop)(mt_device *d, mt_own_rows *o);
} mt_backend;

struct mt_device {
  const mt_backend *backend;
  mt_device_options options; /* alloc is never NULL here */
  char name[32], about[256];
  int threads;          /* that it may run on, the caller's among them */
  size_t staging;       /* bytes that copies may pass through */
  int arch;             /* of a GPU: 90 is sm_90; 0: any atom runs */
  int cores;            /* of a GPU: multiprocessors */
  bool ampere, hopper;  /* has the kernels of the family */
  void *impl;           /* the backend's own */
  struct mt_blas *blas; /* of "cpu"; NULL: none is called */
  mt_graph *recording;  /* NULL, or: launches are added to it */
  size_t units;         /* calls of mt_device_unit so far */
  mt_own_rows *own;     /* kernels that the host has added */
};

struct mt_graph {
  mt_device *device;
  size_t n, room;
  mt_plan **plan; /* of each launch, in order; each is held */
  bool ready;
  void *data; /* the backend's */
};

/* MT_EINVAL while d records: `what` would not see what is recorded. */
mt_status mt_graph_idle (const mt_device *d, const char *what, mt_err *err);
/* The launch of p, whose backend has not been asked yet. */
mt_status mt_graph_add (mt_graph *g, mt_plan *p, const mt_stream *s, mt_err *err);

enum { MT_HEADSIZE = 1024 };

struct mt_plan {
  mt_device *device;
  const mt_kernel *kernel;
  const char *name; /* of what runs; NULL: the kernel's */
  mt_grid grid;
  size_t graphs; /* so many times graphs hold it */
  union {        /* by the operation */
    mt_launch launch;
    mt_gemm_launch gemm;
    mt_pipeline_launch piped; /* its first half is the product */
  };
  /* Sizes of the buffers at launch.base; of a product, behind them of what its epilogue
  ** reads. */
  size_t bytes[MT_PARTS + MT_BESIDES];
  int modes[MT_MAXBOUND]; /* the tensor's mode of each bound, from 1 */
  mt_refusals why;
  char head[MT_HEADSIZE]; /* what is done, in words */
  bool taken;             /* its kernel was asked for, not predicted */
  void *data;             /* the backend's part */
  /* ---- of a copy */
  mt_launch first;        /* as it was proven, by elements, in order */
  unsigned slots;         /* sides, 1u << side, that a GPU has before or after */
  struct mt_stage *stage; /* NULL, or: between the host and it, no kernel */
  struct mt_table *table; /* NULL, or: by a list of offsets, no kernel */
  /* ---- of a product */
  char atom[MT_ATOM_NAME]; /* "": no partition */
  const mt_mma_atom
      *own; /* while it is made: of the caller's tiled MMA; NULL: a table's */
  const mt_pipeline_tables
      *tables;     /* while it is made: of a described kernel; NULL: it is by none */
  int64_t units;   /* of work; 0: nothing is to be done */
  void *workspace; /* host memory: of the reference */
  size_t workspace_bytes;
  struct mt_cpu_gemm *native; /* the processor's own */
  mt_ampere ampere;           /* of the family of its kernel */
  mt_hopper hopper;
  const char *family;   /* that alone may do it; NULL: any */
  struct mt_kept *kept; /* its tensors, if a family does it */
  /* What its kernel takes in another form: device memory, and the copies to and from it,
  ** NULL: none. */
  mt_plan *before[MT_PARTS], *after;
  void *memory;
  size_t memory_bytes;
  void *sums; /* device memory of stream-K, NULL: none */
  size_t sums_bytes;
  struct mt_gathered *gathered; /* NULL, or: of its composed operands */
};

/* Marks the rows of the backend that have an instruction for the product's types. */
enum { MT_MAXROWS = 1024 };
void mt_gemm_rows (bool has[MT_MAXROWS], const mt_plan *p);

/* The first row of the backend's table for an operation. */
static inline const mt_kernel *mt_first_kernel (const mt_backend *b, mt_op op) {
  const mt_kernel *k = b->kernels;
  while (k->op != op) k++;
  return k;
}

static inline const char *mt_plan_name (const mt_plan *p) {
  return p->name ? p->name : p->kernel->name;
}

/* Adds to what is said of a plan "ragged: dst (4,3):(1@0,1@1) + (8,6) < (10,7)", of the
** tensors that are. */
void mt_plan_put_bounds (mt_plan *p, int n, const mt_tensor *const t[],
                         const char *const names[]);
/* Describes the copy of one tensor to the other, which may lie on different devices, and
** proves it: p->launch, of accesses of one element, and what p says of it. */
mt_status mt_plan_prove (mt_plan *p, const mt_tensor *src, const mt_tensor *dst,
                         mt_rounding r, mt_err *err);
/* A cleared plan, or NULL with MT_ENOMEM; mt_plan_free also takes it half made. */
mt_plan *mt_plan_new (mt_device *d, const char *op, mt_err *err);

/* mt_free of memory whose address was given to nobody: it need not be taken from the
** driver of a GPU again. */
void mt_recycle (mt_device *d, void *p, size_t bytes);
/* As the backend has them; of one that has none MT_EUNSUPPORTED, and no error is told. */
mt_status mt_device_repeat (mt_device *d, void *p, const void *unit, size_t bytes,
                            mt_err *err);
mt_status mt_device_unit (mt_device *d, void **out, const void *unit, mt_err *err);
/* Waits for the device's own stream alone. */
mt_status mt_wait_own (mt_device *d, mt_err *err);

/* From inside of a call that will never go on: no thread of the device is at work after
** it. */
void mt_device_halt (mt_device *d);
/* The backend of a device's name, and the number in it: of "cuda:1", "cuda" and 1.
** Errors: MT_ENODEV. */
mt_status mt_find_backend (const mt_backend **out, int *index, const char *name,
                           mt_err *err);
/* The device of this number of a backend; `options` may be NULL. */
mt_status mt_device_make (mt_device **out, const mt_backend *b, int index,
                          const mt_device_options *options, mt_err *err);

/* Host memory through the device's allocator. mt_host_alloc: NULL when there is none. */
static inline void *mt_host_alloc (const mt_device *d, size_t bytes) {
  return mt_take_memory(&d->options, bytes);
}
static inline void mt_host_free (const mt_device *d, void *p, size_t bytes) {
  mt_give_memory(&d->options, p, bytes);
}

#endif
