/*
** main.c - runs the tests of the CUDA backend on the fake driver.
** SPDX-License-Identifier: MIT
**
** The path of the driver is in MOONTILE_TEST_LIBCUDA.
*/
#include <dlfcn.h>
#include <stdarg.h>

#include "spec.h"

int spec_failures;
const char *fake_path;
void (*fake_count)(fakecuda_live *out);
int (*fake_calls)(const char *name);
void (*fake_restart)(void);
void (*fake_forget)(void);
long spec_host_bytes;

void spec_fail (const char *file, int line, const char *format, ...) {
  va_list ap;
  fprintf(stderr, "%s:%d: ", file, line);
  va_start(ap, format);
  vfprintf(stderr, format, ap);
  va_end(ap);
  fputc('\n', stderr);
  spec_failures++;
}

void fake_set (const char *name, const char *value) {
  if (value != NULL) setenv(name, value, 1);
  else unsetenv(name);
}

static void *counting_alloc (void *ud, void *ptr, size_t osize, size_t nsize) {
  long *bytes = ud;
  *bytes += (long)nsize - (ptr != NULL ? (long)osize : 0);
  if (nsize > 0) return realloc(ptr, nsize);
  free(ptr);
  return NULL;
}

mt_status spec_open (mt_device **out, const char *name, mt_err *err) {
  mt_device_options o = {.size = sizeof(mt_device_options),
                         .alloc = counting_alloc,
                         .alloc_ud = &spec_host_bytes,
                         .libcuda = fake_path,
                         .piece = 1024};
  return mt_device_open(out, name, &o, err);
}

void spec_expect_clean (const char *what) {
  fakecuda_live live;
  fake_count(&live);
  EXPECT(live.allocations == 0 && live.streams == 0 && live.events == 0 &&
             live.libraries == 0 && live.graphs == 0 && live.contexts == 0 &&
             live.current == 0,
         "%s: alive: %d allocations, %d streams, %d events, %d libraries, %d graphs, "
         "%d contexts, %d current",
         what, live.allocations, live.streams, live.events, live.libraries, live.graphs,
         live.contexts, live.current);
  EXPECT(live.pinned == 0, "%s: alive: %d page-locked", what, live.pinned);
  EXPECT(spec_host_bytes == 0, "%s: %ld bytes of host memory", what, spec_host_bytes);
}

/* 16 bytes an access, one axis. Its division is never made: the last axis takes what is
** left. */
void spec_plan (mt_plan *p, mt_device *d, void *dst, void *src, size_t bytes) {
  memset(p, 0, sizeof *p);
  p->device = d;
  for (const mt_kernel *k = mt_cuda_kernels; k < mt_cuda_kernels + mt_ncuda_kernels; k++)
    if (strcmp(k->name, "copy_strided_u128") == 0) p->kernel = k;
  mt_desc *c = &p->launch.desc;
  c->op = MT_OP_COPY, c->algo = MT_ALGO_STRIDED;
  c->elem = 1, c->vec = 16;
  c->nrest = 1, c->threads = 1, c->values = 1, c->rests = (int64_t)(bytes / 16);
  c->axis[0].extent = c->rests;
  c->axis[0].stride[MT_SRC] = c->axis[0].stride[MT_DST] = 16;
  p->launch.base[MT_SRC] = src, p->launch.base[MT_DST] = dst;
  p->bytes[MT_SRC] = p->bytes[MT_DST] = bytes;
  p->grid.threads = p->kernel->threads;
  p->grid.blocks = (uint32_t)((c->rests + p->kernel->threads - 1) / p->kernel->threads);
}

static void *fake_handle;
void *fake_symbol (const char *name) { return dlsym(fake_handle, name); }

static bool load_fake (void) {
  fake_path = getenv("MOONTILE_TEST_LIBCUDA");
  if (fake_path == NULL) fake_path = "libcuda.so.1";
  void *handle = dlopen(fake_path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return false;
  fake_handle = handle;
  *(void **)&fake_count = dlsym(handle, "fakecuda_count");
  *(void **)&fake_calls = dlsym(handle, "fakecuda_calls");
  *(void **)&fake_restart = dlsym(handle, "fakecuda_restart");
  *(void **)&fake_forget = dlsym(handle, "fakecuda_forget");
  return fake_count && fake_calls && fake_restart && fake_forget;
}

int main (void) {
  if (!load_fake()) {
    fprintf(stderr, "%s is not the fake driver; see MOONTILE_TEST_LIBCUDA\n", fake_path);
    return 1;
  }
  spec_refusals();
  spec_devices();
  spec_faults();
  spec_copies();
  spec_graphs();
  spec_lent();
  spec_beside();
  spec_extend();
  spec_choices();
  spec_transfers();
  spec_ended();
  spec_transfer_pairs();
  if (spec_failures == 0) printf("cuda: ok\n");
  return spec_failures != 0;
}
