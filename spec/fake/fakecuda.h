/*
** fakecuda.h - a CUDA driver without a GPU: what its files share, what tests may ask it.
** SPDX-License-Identifier: MIT
**
** Environment, read at every call
**   FAKECUDA_DEVICES   how many devices there are; 1
**   FAKECUDA_VERSION   of the driver, as 12040; 12000. Below 12000 it has no functions
**   FAKECUDA_MEMORY    bytes of a device's memory; 1 GiB
**   FAKECUDA_LOCKED    bytes of page-locked memory; 1 GiB
**   FAKECUDA_FAIL      "NAME:ERROR:N": the N-th call of that function answers with that
**                      error; "NAME:ERROR:N+": each from the N-th on. Commas between
**                      several. Calls count from the start, or from fakecuda_restart
**   FAKECUDA_SLOW      milliseconds that a kernel takes at least, since it was looked at
**                      or waited for; 0. While one works, cuStreamDestroy forgets what is
**                      behind it
**   FAKECUDA_MISSING   name of a function that the driver does not have
**   FAKECUDA_REPORT    at exit, what is still alive goes to stderr
** A function that gives something back does so also when it is told to fail: as the real
** ones do when they report the error of an earlier launch.
*/
#ifndef FAKECUDA_H
#define FAKECUDA_H

#include <pthread.h>

#include "copy/algo.h"
#include "cuda/cuda.h"

#define FAKECUDA_API __attribute__((visibility("default")))

/* What is alive. `current`: contexts pushed on the calling thread. */
typedef struct fakecuda_live {
  int allocations, pinned, streams, events, libraries, contexts, graphs, current;
  size_t bytes;
} fakecuda_live;

FAKECUDA_API void fakecuda_count (fakecuda_live *out);
FAKECUDA_API int fakecuda_calls (const char *name); /* since fakecuda_restart */
FAKECUDA_API void fakecuda_restart (void);          /* counts calls from 0 again */
FAKECUDA_API void fakecuda_forget (void);           /* frees all memory of the devices */

/* The atom of a host's own kernels; NULL: one of the tables. A host's image is text here:
** OWN_KERNEL(name, like) for each of its functions, like: the name of a row of ours. */
FAKECUDA_API void fakecuda_atom (const mt_mma_atom *own);
extern const mt_mma_atom *fake_atom;
bool fake_is_own (const char *text); /* NULL: it is not */
CUresult fake_own_kernel (CUkernel *out, const char *text, const char *name);

/* ---- the core of it: faults */

/* Each function of the driver, by number. */
enum {
#define MT_CUDA_CALL(name, suffix, args) FAKE_##name,
#include "cuda/driver.def"
  FAKE_CALLS
};

/* Counts a call; the error that it was told to answer with, or 0. */
CUresult fake_call (int number);
long long fake_option (const char *name, long long otherwise);

CUcontext fake_current (void); /* NULL: none */
int fake_version (void);       /* of the driver, as CUDA counts */

/* One thread at a time is in the driver, but while it runs a kernel: then the stream is
** that thread's, and others wait for it. */
int fake_enter (void);
void fake_leave (const int *entered);
void fake_wait (void); /* until some thread has done some work; others are in meanwhile */
void fake_wake (void);

/* Every function of the driver is declared by FAKE, and begins with these. */
#define FAKE FAKECUDA_API CUresult
#define GUARD int entered __attribute__((cleanup(fake_leave), unused)) = fake_enter()
#define TRY(call)                                                                        \
  do {                                                                                   \
    CUresult try_ = (call);                                                              \
    if (try_ != 0) return try_;                                                          \
  } while (0)
#define FAULT(name) TRY(fake_call(FAKE_##name))
#define NEED(cond, error)                                                                \
  do {                                                                                   \
    if (!(cond)) return (error);                                                         \
  } while (0)

/* ---- memory */

/* Addresses of the device are those of the host with a bit that the host faults on. */
#define FAKE_TAG ((uint64_t)1 << 62)

CUresult fake_alloc (CUdeviceptr *out, int device, size_t bytes);
CUresult fake_free (CUdeviceptr p);
/* The host's address of [p, p + bytes), and the bytes from p to the end; NULL: it is not
** in one allocation; or, for a kernel of this device (-1: for none), not on that device
** or never set as a whole: kernels also read beside what they move. */
void *fake_host (CUdeviceptr p, int device, size_t bytes, size_t *room);
void fake_fill (CUdeviceptr p, size_t bytes); /* these bytes have been */
struct fake_work;
void fake_set_words (char *to, const struct fake_work *w);
void fake_live_memory (int *allocations, size_t *bytes);
size_t fake_memory (void);
/* Page-locked memory of the host. */
CUresult fake_lock (void **out, size_t bytes);
CUresult fake_unlock (void *p);
bool fake_is_locked (const void *p);
int fake_live_locked (void);

/* ---- maps of TMA */

/* 0, or the error of every function that works in a context. */
CUresult fake_ready (void);

/* What the bytes of a CUtensorMap are here. */
typedef struct fake_map {
  int type;
  unsigned box[3];
  CUdeviceptr base;
  uint64_t extent[3], stride[2];
} fake_map;
size_t fake_map_size (int type); /* bytes of an element */
mt_status fake_rest (mt_grid grid, const mt_rest_launch *l, int device);
bool fake_is_rest (const mt_kernel *k);
/* Runs a launch of a row of pack.def on the device; MT_ERANGE: outside. */
mt_status fake_pack (const mt_kernel *k, mt_grid grid, const mt_pack_launch *l,
                     int device);
uint32_t fake_hopper_room (const mt_kernel *k);
/* Runs a launch of a row of hopper.def on the device, by tiles; MT_ERANGE: outside. */
mt_status fake_hopper (const mt_kernel *k, mt_grid grid, int cluster,
                       const mt_hopper_launch *l, int device);

/* ---- products by cp.async */

uint32_t fake_ampere_room (const mt_kernel *k);
/* What an epilogue makes of v = alpha A B + beta C at (m,n,l); *bad: what it reads is not
** the device's. */
double fake_ending (const mt_finishing *f, mt_dtype c, double v, const int64_t at[3],
                    int device, bool *bad);
/* Runs a launch of a row of ampere.def on the device, by tiles; MT_ERANGE: outside. */
mt_status fake_ampere (const mt_kernel *k, mt_grid grid, const mt_ampere_launch *l,
                       int device);

/* ---- streams */

struct CUctx_st {
  int device, users;
  CUresult sticky;
};

typedef enum fake_kind {
  FAKE_LAUNCH,
  FAKE_SET,
  FAKE_UP,
  FAKE_DOWN,
  FAKE_STAMP,
  FAKE_AWAIT
} fake_kind;

/* Records of it are numbered from 1: how many were asked for, of which stream the last,
** and which one the streams have come to; `at`: seconds of a clock, then; 0: it has not
** come yet. users: its owner, and work that needs it. */
struct CUevent_st {
  int asked, come, users;
  double at;
  CUstream last;
};

/* What a stream has yet to do. */
typedef struct fake_work {
  struct fake_work *next;
  fake_kind kind;
  const mt_kernel *kernel;
  mt_grid grid;
  int cluster; /* blocks of one */
  union {      /* by the kernel's operation */
    mt_launch launch;
    mt_gemm_launch gemm;
    mt_pipeline_launch piped;
    mt_ampere_launch ampere;
    mt_hopper_launch hopper;
    mt_rest_launch rest;
    mt_pack_launch pack;
  };
  CUevent event;
  int ticket; /* number of a record of it */
  CUdeviceptr device;
  const void *from;
  void *to;
  size_t bytes, word; /* word: bytes of one that is set */
  unsigned value;
  double end; /* of a slow kernel; 0: it has not begun */
} fake_work;

struct CUstream_st {
  CUcontext context;
  CUstream next;
  fake_work *work;
  int busy; /* how many pieces of work are under way, one in another, on the thread: */
  pthread_t thread;
  bool legacy;
  bool capturing, broken; /* broken: its capture can only end in an error */
  fake_work *captured;
};

enum { FAKE_MOST_DEVICES = 16 };
CUresult fake_stream_new (CUstream *out, CUcontext c);
CUstream fake_stream_of (CUstream s); /* what a handle stands for; in a context */
void fake_stream_free (CUstream s);   /* finishes its work first */
CUresult fake_append (fake_work **list, const fake_work *w); /* a copy of w */
CUresult fake_enqueue (CUstream s, const fake_work *w);
bool fake_capturing (CUcontext c); /* any stream; its capture breaks */
void fake_finish (CUstream s);
void fake_finish_all (CUcontext c);
int fake_live_streams (void);
int fake_live_events (void);
/* Does what comes before a record of the event, in the stream that records it. */
CUresult fake_reach (CUevent e, int ticket);
/* The same without waiting for slow kernels: whether all is done. */
bool fake_look (CUstream s);
bool fake_look_for (CUevent e, int ticket);
void fake_drop (CUevent e); /* one user less */

/* Whether the tables of a described kernel are whole, on the device: each element of a
** stage is brought once, to a place inside of shared memory that no other has. */
bool fake_piped (const mt_pipeline *p, int device);

/* The shared memory that a launch asks for, `l` where it is of a copy. */
uint32_t fake_room (const mt_kernel *k, const mt_launch *l);

/* ---- graphs */

CUresult fake_capture_begin (CUstream s);
CUresult fake_capture_break (CUstream s);
CUresult fake_capture_end (CUstream s, CUgraph *out);
void fake_capture_drop (CUstream s);
CUresult fake_graph_exec (CUgraphExec *out, CUgraph g);
CUresult fake_graph_launch (CUgraphExec x, CUstream s);
void fake_graph_free (CUgraph g);
void fake_exec_free (CUgraphExec x);
int fake_live_graphs (void);

#endif
