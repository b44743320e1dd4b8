/*
** host.c - host memory as a device's memory; streams that are always done.
** SPDX-License-Identifier: MIT
*/
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cpu/host.h"

enum { MT_ALIGN = 256, MT_ATONCE = 4 << 20 /* bytes */, MT_HUGE = 4 << 20 };

/* Large memory is better in pages of 2 MiB, where the system has them: a view that steps
** far finds its pages at once. A hint to the system, whoever has allocated it: only whole
** pages, and nothing depends on it. */
static void want_huge_pages (char *p, size_t bytes) {
#ifdef MADV_HUGEPAGE
  const size_t page = 4096, skip = (size_t)(-(uintptr_t)p & (page - 1));
  if (bytes < MT_HUGE) return;
  madvise(p + skip, (bytes - skip) & ~(page - 1), MADV_HUGEPAGE);
#else
  (void)p, (void)bytes;
#endif
}

/* Whether the bytes are zero now: where there are many, it is asked in between. */
static bool clear (mt_device *d, char *p, size_t bytes, mt_err *err) {
  mt_stint stint;
  bool ends = false;
  mt_stint_begin(&stint, "tensor", "bytes", (double)bytes, err);
  for (; !ends && bytes > MT_ATONCE; p += MT_ATONCE, bytes -= MT_ATONCE) {
    memset(p, 0, MT_ATONCE);
    stint.done += MT_ATONCE;
    ends = mt_stopped(err, d->name);
  }
  mt_stint_end(&stint, err);
  if (!ends) memset(p, 0, bytes);
  return !ends;
}

/* The byte before a block says how far it lies from its allocation, less one. */
mt_status mt_host_malloc (mt_device *d, void **out, size_t bytes, mt_err *err) {
  unsigned char *raw = NULL;
  *out = NULL;
  if (bytes <= PTRDIFF_MAX - MT_ALIGN) raw = mt_host_alloc(d, bytes + MT_ALIGN);
  if (raw == NULL)
    return mt_fail(err, MT_ENOMEM, "%s has no %zu bytes of memory left", d->name, bytes);
  want_huge_pages((char *)raw, bytes + MT_ALIGN);
  size_t skip = MT_ALIGN - (uintptr_t)raw % MT_ALIGN;
  raw[skip - 1] = (unsigned char)(skip - 1);
  if (clear(d, (char *)raw + skip, bytes, err)) return *out = raw + skip, MT_OK;
  mt_host_free(d, raw, bytes + MT_ALIGN);
  return MT_ESTOPPED;
}

void mt_host_release (mt_device *d, void *p, size_t bytes) {
  unsigned char *block = p;
  if (p) mt_host_free(d, block - (size_t)block[-1] - 1, bytes + MT_ALIGN);
}

static mt_status move (mt_device *d, void *dst, const void *host, size_t bytes,
                       mt_stint *stint, mt_err *err) {
  bool up = (uintptr_t)dst > (uintptr_t)host; /* they may overlap: from the end on */
  for (size_t n; bytes > 0; bytes -= n) {
    n = bytes < MT_ATONCE ? bytes : MT_ATONCE;
    size_t at = up ? bytes - n : 0;
    memmove((char *)dst + at, (const char *)host + at, n);
    if (!up) dst = (char *)dst + n, host = (const char *)host + n;
    stint->done += (double)n;
    if (bytes > n && mt_stopped(err, d->name)) return MT_ESTOPPED;
  }
  return MT_OK;
}

mt_status mt_host_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                          mt_err *err) {
  mt_stint stint;
  mt_stint_begin(&stint, "copy", "bytes", (double)bytes, err);
  mt_status s = move(d, dst, host, bytes, &stint, err);
  mt_stint_end(&stint, err);
  return s;
}

mt_status mt_host_download (mt_device *d, void *host, const void *src, size_t bytes,
                            mt_err *err) {
  return mt_host_upload(d, host, src, bytes, err);
}

/* Launches end before they return: a stream is only a name. */
mt_status mt_host_stream_create (mt_device *d, mt_stream **out, mt_err *err) {
  (void)err;
  *out = (mt_stream *)(void *)d;
  return MT_OK;
}

void mt_host_stream_destroy (mt_device *d, mt_stream *s) { (void)d, (void)s; }

mt_status mt_host_synchronize (mt_device *d, mt_stream *s, mt_err *err) {
  (void)d, (void)s, (void)err;
  return MT_OK;
}

double mt_host_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static mt_status launch_again (mt_plan *p, int n, mt_stint *stint, mt_err *err) {
  enum { MT_ATATIME = 64 }; /* short launches are not asked for */
  for (int i = 0; i < n; i++) {
    MT_TRY(p->device->backend->launch(p, NULL, err));
    stint->done++;
    if (i % MT_ATATIME == 0 && mt_stopped(err, "measure")) return MT_ESTOPPED;
  }
  return MT_OK;
}

mt_status mt_host_measure (mt_plan *p, int n, double *us, mt_err *err) {
  mt_stint stint;
  double begin = mt_host_now();
  mt_stint_begin(&stint, "measure", "launches", n, err);
  stint.step = 1;
  mt_status s = launch_again(p, n, &stint, err);
  mt_stint_end(&stint, err);
  *us = 1e6 * (mt_host_now() - begin);
  return s;
}

int mt_host_processors (void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > 1024 ? 1024 : (int)n;
}

/* The value of the first line of /proc/cpuinfo with the key, or NULL. */
static const char *cpuinfo (char *text, size_t size, const char *key) {
  int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  ssize_t n = file < 0 ? 0 : read(file, text, size - 1);
  if (file >= 0) close(file);
  text[n > 0 ? n : 0] = 0;
  char *at = strstr(text, key), *end;
  if (at == NULL || (at = strchr(at, ':')) == NULL) return NULL;
  at += strspn(at, ": \t");
  if ((end = strchr(at, '\n')) != NULL) *end = 0;
  return at;
}

void mt_host_about (char *buf, size_t size, int threads) {
  char text[2048];
  const char *name = cpuinfo(text, sizeof text, "model name");
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  double gib = pages > 0 && page > 0 ? (double)pages * (double)page / (1 << 30) : 0;
  snprintf(buf, size, "%.120s, %d thread%s, %.1f GiB", name ? name : "processor", threads,
           threads == 1 ? "" : "s", gib);
}
