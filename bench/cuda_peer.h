/*
** cuda_peer.h - the CUDA driver alone, as the parts of moontile_bench share it.
** SPDX-License-Identifier: MIT
*/
#ifndef CUDA_PEER_H
#define CUDA_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "peer.h"

typedef void *handle;

/* name                         field         parameters */
#define DRIVER(X)                                                                        \
  X("cuInit", init, (unsigned))                                                          \
  X("cuGetErrorName", error_name, (int, const char **))                                  \
  X("cuDeviceGet", device_get, (int *, int))                                             \
  X("cuDevicePrimaryCtxRetain", retain, (handle *, int))                                 \
  X("cuDevicePrimaryCtxRelease_v2", release, (int))                                      \
  X("cuCtxPushCurrent_v2", push, (handle))                                               \
  X("cuCtxPopCurrent_v2", pop, (handle *))                                               \
  X("cuMemAlloc_v2", alloc, (uint64_t *, size_t))                                        \
  X("cuMemFree_v2", free, (uint64_t))                                                    \
  X("cuMemcpyHtoD_v2", upload, (uint64_t, const void *, size_t))                         \
  X("cuMemcpyHtoDAsync_v2", send, (uint64_t, const void *, size_t, handle))              \
  X("cuMemcpyDtoHAsync_v2", fetch, (void *, uint64_t, size_t, handle))                   \
  X("cuMemHostAlloc", host_alloc, (void **, size_t, unsigned))                           \
  X("cuMemFreeHost", host_free, (void *))                                                \
  X("cuMemcpyDtoDAsync_v2", copy, (uint64_t, uint64_t, size_t, handle))                  \
  X("cuStreamCreate", stream_create, (handle *, unsigned))                               \
  X("cuStreamDestroy_v2", stream_destroy, (handle))                                      \
  X("cuStreamSynchronize", synchronize, (handle))                                        \
  X("cuModuleLoadData", module_load, (handle *, const void *))                           \
  X("cuModuleUnload", module_unload, (handle))                                           \
  X("cuModuleGetFunction", get_function, (handle *, handle, const char *))               \
  X("cuLaunchKernel", launch,                                                            \
    (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
     handle, void **, void **))                                                          \
  X("cuStreamBeginCapture_v2", begin, (handle, int))                                     \
  X("cuStreamEndCapture", end, (handle, handle *))                                       \
  X("cuGraphInstantiateWithFlags", instantiate, (handle *, handle, unsigned long long))  \
  X("cuGraphLaunch", replay, (handle, handle))                                           \
  X("cuGraphExecDestroy", exec_destroy, (handle))                                        \
  X("cuGraphDestroy", graph_destroy, (handle))

typedef struct cuda_peer {
#define DRIVER_FIELD(name, field, parameters) int(*field) parameters;
  DRIVER(DRIVER_FIELD)
#undef DRIVER_FIELD
  void *lib;
  int device;
  handle context, stream, module, empty, small;
} cuda_peer;

/* The driver at stack index 1, not closed. */
cuda_peer *peer_tocuda (lua_State *L);
/* Raises unless code is 0. */
void peer_check (lua_State *L, const cuda_peer *c, int code, const char *call);
/* n launches of an empty kernel on the driver's stream, in the context. */
int peer_launch_empty (const cuda_peer *c, handle f, lua_Integer n);

/* A driver call in the context, which is pushed for just this call. */
#define CALL(L, c, field, args)                                                          \
  do {                                                                                   \
    handle old_;                                                                         \
    peer_check(L, c, (c)->push((c)->context), "push");                                   \
    int code_ = (c)->field args;                                                         \
    (c)->pop(&old_);                                                                     \
    peer_check(L, c, code_, #field);                                                     \
  } while (0)

/* Methods of the driver: c:graph(n [, kind]) (graph_peer.c), c:run(bytes, locked)
** (stage_peer.c). */
int peer_graph (lua_State *L);
int peer_run (lua_State *L);
int peer_gemm (lua_State *L); /* gemm_peer.c */
/* Puts bare(kind) into the table on the top (launch_peer.c). */
void peer_open_bare (lua_State *L);
void peer_open_graph (lua_State *L);
void peer_open_run (lua_State *L);
void peer_open_gemm (lua_State *L);

#endif
