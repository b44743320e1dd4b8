/*
** device.h - devices, their memory, streams.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_DEVICE_H
#define MOONTILE_DEVICE_H

#include "moontile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Same contract as lua_Alloc: nsize 0 frees, else (re)allocates; NULL when there is no
** memory. */
typedef void *(*mt_alloc)(void *ud, void *ptr, size_t osize, size_t nsize);

typedef struct mt_device_options {
  size_t size;    /* sizeof(mt_device_options): later versions have more fields */
  mt_alloc alloc; /* host memory; NULL: realloc and free */
  void *alloc_ud;
  int threads;         /* of the CPU executor; 0: as many as processors are online */
  const char *libcuda; /* path of the driver; NULL: "libcuda.so.1" */
  const char *libblas; /* of "cpu": path of a BLAS, for products of plain matrices of
                           ** f32 or f64; "": none. NULL: "libblas.so.3" where that is an
                           ** OpenBLAS, BLIS or MKL and was measured to be faster */
  size_t piece;        /* of a GPU: bytes of a piece of what is copied between it and
                           ** the host; 0: 4 MiB, less of small copies */
  void *context;       /* of a GPU: a CUcontext of the host's, of this device, which
                       ** outlives it here; NULL: the primary one */
} mt_device_options;

typedef struct mt_device mt_device; /* may be used by one thread at a time */
typedef struct mt_stream mt_stream; /* NULL is a device's own stream */

/* name: "cpu"; "cpu:checked" (each value is copied on its own and each access
** verified: slow, the reference); "cuda", "cuda:N"; NULL: the first GPU if there is
** one with kernels, else "cpu". `options` may be NULL. Errors: MT_ENODEV, MT_EDRIVER,
** MT_ENOMEM. */
MT_API mt_status mt_device_open (mt_device **out, const char *name,
                                 const mt_device_options *options, mt_err *err);
MT_API void mt_device_close (mt_device *d); /* NULL is fine. Free its buffers first. */
MT_API const char *mt_device_name (const mt_device *d); /* "cpu", "cuda:0" */
/* A line for people: the processor's or GPU's name, cores, memory, the driver's
** version. */
MT_API const char *mt_device_about (const mt_device *d);
MT_API bool mt_device_is_host (const mt_device *d); /* the host can read its memory */
/* Threads that it may run on, the caller's among them: those of the options, or all. */
MT_API int mt_device_threads (const mt_device *d);
/* Bytes, of the host and of the device, that copies between them may pass through, and of
** memory that a script or a plan has freed and that stays for the next one. */
MT_API size_t mt_device_staging (const mt_device *d);
/* How many CUDA devices there are; 0 with a reason in `err` if none can be used. */
MT_API int mt_cuda_count (const mt_device_options *options, mt_err *err);

/* Memory of a device, aligned to 256 bytes, zeroed. bytes 0 gives a valid pointer or
** NULL. */
MT_API mt_status mt_malloc (mt_device *d, void **out, size_t bytes, mt_err *err);
MT_API void mt_free (mt_device *d, void *p, size_t bytes);
/* Memory of the host's, zeroed, whose pages the driver of the GPU `d` has locked: copies
** between it and that GPU pass through no other memory of the host's, where the elements
** lie together. To be freed before `d` is closed. MT_EINVAL: `d` is no GPU; MT_ENOMEM. */
MT_API mt_status mt_malloc_locked (mt_device *d, void **out, size_t bytes, mt_err *err);
MT_API void mt_free_locked (mt_device *d, void *p, size_t bytes);
/* Between host and device memory of `d`, in order with its own stream; returns when it
** is done. */
MT_API mt_status mt_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                            mt_err *err);
MT_API mt_status mt_download (mt_device *d, void *host, const void *src, size_t bytes,
                              mt_err *err);

/* What is launched on one stream runs in its order. mt_stream_destroy does not wait: what
** was launched runs all the same; NULL is fine. */
MT_API mt_status mt_stream_create (mt_device *d, mt_stream **out, mt_err *err);
MT_API void mt_stream_destroy (mt_device *d, mt_stream *s);
/* Waits for what was launched; errors of kernels show here. s NULL: for all that was
** launched on `d`, on whatever stream; not for other devices, of the same context either.
** Work on a stream of the host's is best waited for by its name, or by the host: else the
** stream may be gone by then, and the whole context is waited for. */
MT_API mt_status mt_synchronize (mt_device *d, mt_stream *s, mt_err *err);

/* ---------------------------------------------------------------- a host's own GPU
**
** A host that has the driver, or CUDA's runtime, at work hands over what it has: its
** context (in the options above), addresses of its memory as data of tensors, streams
** and events. None of it is closed here. Launches never wait, and after every call the
** context that was current is current. They may be made while the host captures the
** stream: they become a part of its graph, which needs the plan as long as it is used.
** examples/host_stream.c is such a host. */

/* The CUcontext that the device works in; NULL: it is no GPU. */
MT_API void *mt_device_context (const mt_device *d);
/* A CUstream of the host's, of that context, as a stream to launch on; NULL: the legacy
** default stream. Not for mt_stream_destroy. Errors: MT_EINVAL (`d` is no GPU). */
MT_API mt_status mt_stream_of (mt_device *d, mt_stream **out, void *handle, mt_err *err);
/* The CUstream of a stream; s NULL: the device's own. NULL: `d` is no GPU. */
MT_API void *mt_stream_handle (const mt_device *d, mt_stream *s);
/* What is launched on s from now on begins when what was launched on `before` so far is
** done. The host does not wait. NULL is the device's own stream. */
MT_API mt_status mt_stream_wait (mt_device *d, mt_stream *s, mt_stream *before,
                                 mt_err *err);
/* The same by a CUevent of the host's: s records it; s waits for it. Errors: MT_EINVAL
** (`d` is no GPU). */
MT_API mt_status mt_event_record (mt_device *d, void *event, mt_stream *s, mt_err *err);
MT_API mt_status mt_event_wait (mt_device *d, mt_stream *s, void *event, mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
