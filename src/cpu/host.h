/*
** host.h - private: what the backends in host memory have in common.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_HOST_H
#define MT_CPU_HOST_H

#include "plan/device.h"

mt_status mt_host_malloc (mt_device *d, void **out, size_t bytes, mt_err *err);
void mt_host_release (mt_device *d, void *p, size_t bytes);
mt_status mt_host_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                          mt_err *err);
mt_status mt_host_download (mt_device *d, void *host, const void *src, size_t bytes,
                            mt_err *err);
mt_status mt_host_stream_create (mt_device *d, mt_stream **out, mt_err *err);
void mt_host_stream_destroy (mt_device *d, mt_stream *s);
mt_status mt_host_synchronize (mt_device *d, mt_stream *s, mt_err *err);

/* Seconds of a clock that only goes on. */
double mt_host_now (void);
mt_status mt_host_measure (mt_plan *p, int n, double *us, mt_err *err);

/* Processors that are online, at least 1; a line about them, of at most `size` bytes. */
int mt_host_processors (void);
void mt_host_about (char *buf, size_t size, int threads);

/* In the table of a backend: what follows from memory that is the host's. */
#define MT_HOST_MEMORY                                                                   \
  .host = true, .alloc = mt_host_malloc, .free = mt_host_release,                        \
  .upload = mt_host_upload, .download = mt_host_download,                                \
  .stream_create = mt_host_stream_create, .stream_destroy = mt_host_stream_destroy,      \
  .synchronize = mt_host_synchronize, .measure = mt_host_measure

#endif
