-- moontile.export_text - exported plans: the C that all have, $NAME the plan's name.
-- SPDX-License-Identifier: MIT

local text = {}

text.header = [[
/*
** $NAME.h - a plan of moontile $VERSION, for programs without it.
**
$ABOUT
**
** Arguments: where each tensor's buffer begins.
$ARGUMENTS
*/
#ifndef $NAME_H
#define $NAME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

$SIZES

/* What functions return: 0, or one of these; of CUDA's errors 1000 and the CUresult. */
enum {
  $NAME_OK,
  $NAME_NO_MEMORY,  /* of the host */
  $NAME_NO_DRIVER,  /* libcuda is not there */
  $NAME_OLD_DRIVER, /* it lacks a function: CUDA 12.0 or newer is needed */
  $NAME_NULL,       /* an argument is NULL */
  $NAME_UNALIGNED,  /* an address is not as the comment above wants it */
  $NAME_SHARED,     /* arguments of one buffer differ */
  $NAME_OVERLAP,    /* what is written overlaps another buffer */
  $NAME_CUDA = 1000
};
/* In words. */
const char *$NAME_error (int result);

$FUNCTIONS

#ifdef __cplusplus
}
#endif

#endif
]]

text.of_launches = [[
typedef struct $NAME $NAME;

/* Loads the driver ("libcuda.so.1" for NULL) and the kernels, for the context that is
** current, which stays so. One thread at a time uses it. */
int $NAME_open ($NAME **out, const char *libcuda);
/* Launches on the stream, a CUstream of the same context, which must be current; returns
** at once. Nothing is allocated. $MEMORY */
int $NAME_launch ($NAME *x, void *stream, $PARAMETERS);
/* When all launches have ended. */
void $NAME_close ($NAME *x);]]

text.of_loops = [[
/* Copies. */
int $NAME_run ($PARAMETERS);]]

text.words = [[
const char *$NAME_error (int result) {
  static const char *const words[] = {
      "no error", "no host memory", "libcuda cannot be loaded",
      "the driver lacks a function: CUDA 12.0 or newer is needed", "an argument is NULL",
      "an address is not aligned as the plan's was", "arguments of one buffer differ",
      "what is written overlaps another buffer"};
  if (result >= 0 && result <= $NAME_OVERLAP) return words[result];
  switch (result - $NAME_CUDA) {
    case 1: return "CUDA_ERROR_INVALID_VALUE: a stream or an argument is none";
    case 2: return "CUDA_ERROR_OUT_OF_MEMORY";
    case 3: return "CUDA_ERROR_NOT_INITIALIZED: call cuInit first";
    case 200: return "CUDA_ERROR_INVALID_IMAGE: this file's kernels are no code";
    case 201: return "CUDA_ERROR_INVALID_CONTEXT: no context is current";
    case 209: return "CUDA_ERROR_NO_BINARY_FOR_GPU: exported for another GPU";
    case 400: return "CUDA_ERROR_INVALID_HANDLE: no stream of the current context";
    case 700: return "CUDA_ERROR_ILLEGAL_ADDRESS: a buffer is smaller than it must be";
    default: return "an error of the driver: 1000 and its CUresult";
  }
}
]]

text.check = [[
typedef struct tensor {
  uint64_t bytes, residue; /* its address modulo $ALIGN */
  int group, written;      /* the first tensor of its buffer */
} tensor;

enum { TENSORS = $TENSORS };
static const tensor tensors[TENSORS] = {
$ROWS
};

static int check_pair (const uint64_t *at, int i, int j) {
  const tensor *a = &tensors[i], *b = &tensors[j];
  if (a->group == b->group) return at[i] == at[j] ? 0 : $NAME_SHARED;
  if (!a->written && !b->written) return 0;
  return at[i] >= at[j] + b->bytes || at[j] >= at[i] + a->bytes ? 0 : $NAME_OVERLAP;
}

static int check (const uint64_t *at) {
  for (int i = 0; i < TENSORS; i++) {
    int r = at[i] == 0 || at[i] > UINT64_MAX - tensors[i].bytes ? $NAME_NULL :
            at[i] % $ALIGN != tensors[i].residue ? $NAME_UNALIGNED : 0;
    for (int j = 0; r == 0 && j < i; j++) r = check_pair(at, i, j);
    if (r != 0) return r;
  }
  return 0;
}
]]

text.launches = [[
/* $NAME.c - made by moontile $VERSION: see $NAME.h. */
#include "$NAME.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "kernels and their parameters are little endian"
#endif

/* ---------------------------------------------------------------- the plan */

/* Addresses in a parameter: `delta` bytes behind where a tensor begins. */
typedef struct place {
  size_t at;
  int tensor;
  uint64_t delta;
} place;

/* A map of TMA in a parameter. */
typedef struct map {
  size_t at;
  int tensor;
  uint64_t delta;
  int type, swizzle;
  uint64_t extent[3], stride[2];
  uint32_t box[3];
} map;

typedef struct launch {
  const char *kernel;
  int image;
  const uint64_t *parameter;
  size_t bytes;
  unsigned blocks, threads, shared, cluster, early;
  int most_shared;
  const place *places;
  int nplaces;
  const map *maps;
  int nmaps;
} launch;

$DATA
enum { IMAGES = $NIMAGES, LAUNCHES = $NLAUNCHES, MOST = 4096 };
static const uint64_t *const images[IMAGES] = {$IMAGES};
static const launch launches[LAUNCHES] = {
$LAUNCHROWS
};

$CHECK
/* ---------------------------------------------------------------- the driver */

typedef struct config {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned n;
} config;

typedef struct attribute {
  int id;
  char unused[4];
  union {
    int allowed;
    unsigned cluster[3];
    char bytes[64];
  } value;
} attribute;

typedef struct driver {
  int (*load)(void **, const void *, void *, void *, unsigned, void *, void *, unsigned);
  int (*unload)(void *);
  int (*get_kernel)(void **, void *, const char *);
  int (*get_function)(void **, void *);
  int (*set)(void *, int, int);
  int (*start)(const config *, void *, void **, void **);
  int (*encode)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                const uint32_t *, const uint32_t *, int, int, int, int);
} driver;

struct $NAME {
  _Alignas(128) unsigned char parameter[LAUNCHES][MOST];
  driver cu;
  void *handle, *library[IMAGES], *function[LAUNCHES];
  uint64_t bound[TENSORS];
};

static int find (void *handle, const char *name, void *out) {
  void *p = dlsym(handle, name);
  memcpy(out, &p, sizeof p);
  return p != NULL;
}

static int find_all (driver *v, void *h) {
  return find(h, "cuLibraryLoadData", &v->load) &&
         find(h, "cuLibraryUnload", &v->unload) &&
         find(h, "cuLibraryGetKernel", &v->get_kernel) &&
         find(h, "cuKernelGetFunction", &v->get_function) &&
         find(h, "cuFuncSetAttribute", &v->set) &&
         find(h, "cuLaunchKernelEx", &v->start) &&
         find(h, "cuTensorMapEncodeTiled", &v->encode);
}

/* ---------------------------------------------------------------- opening */

static int load_kernel ($NAME *x, int i) {
  enum { MOST_SHARED = 8 };
  const launch *l = &launches[i];
  void *kernel = NULL;
  int r = x->cu.get_kernel(&kernel, x->library[l->image], l->kernel);
  if (r == 0) r = x->cu.get_function(&x->function[i], kernel);
  if (r == 0 && l->most_shared > 0)
    r = x->cu.set(x->function[i], MOST_SHARED, l->most_shared);
  return r;
}

static int load ($NAME *x) {
  int r = 0;
  for (int i = 0; r == 0 && i < IMAGES; i++) {
    r = x->cu.load(&x->library[i], images[i], NULL, NULL, 0, NULL, NULL, 0);
    if (r != 0) x->library[i] = NULL;
  }
  for (int i = 0; r == 0 && i < LAUNCHES; i++) r = load_kernel(x, i);
  return r == 0 ? 0 : $NAME_CUDA + r;
}

int $NAME_open ($NAME **out, const char *libcuda) {
  $NAME *x = aligned_alloc(128, sizeof *x);
  *out = NULL;
  if (x == NULL) return $NAME_NO_MEMORY;
  memset(x, 0, sizeof *x);
  x->handle = dlopen(libcuda ? libcuda : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int r = x->handle == NULL ? $NAME_NO_DRIVER :
          !find_all(&x->cu, x->handle) ? $NAME_OLD_DRIVER : load(x);
  if (r == 0) *out = x;
  else $NAME_close(x);
  return r;
}

void $NAME_close ($NAME *x) {
  if (x == NULL) return;
  for (int i = 0; i < IMAGES; i++)
    if (x->library[i] != NULL) x->cu.unload(x->library[i]);
  if (x->handle != NULL) dlclose(x->handle);
  free(x);
}

/* ---------------------------------------------------------------- launching */

static int encode ($NAME *x, const map *m, unsigned char *out, uint64_t at) {
  enum { PROMOTE_128 = 2 };
  static const uint32_t step[3] = {1, 1, 1};
  int r = x->cu.encode(out + m->at, m->type, 3, (void *)(uintptr_t)(at + m->delta),
                       m->extent, m->stride, m->box, step, 0, m->swizzle, PROMOTE_128, 0);
  return r == 0 ? 0 : $NAME_CUDA + r;
}

/* The parameters for these addresses. */
static int bind ($NAME *x, const uint64_t *at) {
  int r = check(at);
  memset(x->bound, 0, sizeof x->bound);
  for (int i = 0; r == 0 && i < LAUNCHES; i++) {
    const launch *l = &launches[i];
    unsigned char *out = x->parameter[i];
    memcpy(out, l->parameter, l->bytes);
    for (const place *p = l->places; p < l->places + l->nplaces; p++) {
      const uint64_t address = at[p->tensor] + p->delta;
      memcpy(out + p->at, &address, sizeof address);
    }
    for (const map *m = l->maps; r == 0 && m < l->maps + l->nmaps; m++)
      r = encode(x, m, out, at[m->tensor]);
  }
  if (r == 0) memcpy(x->bound, at, sizeof x->bound);
  return r;
}

static int start ($NAME *x, int i, void *stream) {
  enum { CLUSTER = 4, EARLY = 6 };
  const launch *l = &launches[i];
  attribute a[2];
  config c = {{l->blocks, 1, 1}, {l->threads, 1, 1}, l->shared, stream, a, 0};
  void *parameters[1];
  parameters[0] = x->parameter[i];
  memset(a, 0, sizeof a);
  if (l->early) {
    a[c.n].id = EARLY;
    a[c.n++].value.allowed = 1;
  }
  if (l->cluster > 1) {
    a[c.n].id = CLUSTER;
    a[c.n].value.cluster[1] = a[c.n].value.cluster[2] = 1;
    a[c.n++].value.cluster[0] = l->cluster;
  }
  int r = x->cu.start(&c, x->function[i], parameters, NULL);
  return r == 0 ? 0 : $NAME_CUDA + r;
}

int $NAME_launch ($NAME *x, void *stream, $PARAMETERS) {
  const uint64_t at[TENSORS] = {$NAMES};
  if (x == NULL) return $NAME_NULL;
  int r = memcmp(at, x->bound, sizeof at) == 0 ? 0 : bind(x, at);
  for (int i = 0; r == 0 && i < LAUNCHES; i++) r = start(x, i, stream);
  return r;
}

]]

text.loops = [[
/* $NAME.c - made by moontile $VERSION: see $NAME.h. */
#include "$NAME.h"

#include <string.h>

$CHECK
int $NAME_run ($PARAMETERS) {
  const uint64_t where[TENSORS] = {(uintptr_t)src, (uintptr_t)dst};
  int r = check(where);
  if (r != 0) return r;
$LOOPS
  return 0;
}

]]

return text
