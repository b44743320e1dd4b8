/*
** backends.c - devices by name. No other file names a backend.
** SPDX-License-Identifier: MIT
*/
#include "plan/device.h"

/* The first GPU that opens is the best device, then the first of these. */
#define MT_BACKENDS(X) X(cpu) X(checked) X(cuda)

#define MT_BACKEND_EXTERN(name) extern const mt_backend mt_backend_##name;
MT_BACKENDS(MT_BACKEND_EXTERN)
#define MT_BACKEND_ADDRESS(name) &mt_backend_##name,
static const mt_backend *const backends[] = {MT_BACKENDS(MT_BACKEND_ADDRESS)};
enum { MT_NBACKENDS = sizeof backends / sizeof backends[0] };

/* The number behind "NAME:"; 0 for "NAME" itself; -1 if `name` is no such name. */
static int index_of (const char *name, const char *backend) {
  size_t n = strlen(backend);
  int index = 0;
  if (strncmp(name, backend, n) != 0) return -1;
  if (name[n] == 0) return 0;
  if (name[n] != ':' || name[n + 1] == 0) return -1;
  for (const char *p = name + n + 1; *p; p++) {
    if (*p < '0' || *p > '9' || index > 100000) return -1;
    index = index * 10 + (*p - '0');
  }
  return index;
}

mt_status mt_find_backend (const mt_backend **out, int *index, const char *name,
                           mt_err *err) {
  for (int i = 0; i < MT_NBACKENDS; i++) {
    *out = backends[i];
    *index = index_of(name, backends[i]->name);
    if (*index == 0 || (*index > 0 && !backends[i]->host)) return MT_OK;
  }
  return mt_fail(err, MT_ENODEV,
                 "there is no device \"%.64s\": \"cpu\", "
                 "\"cpu:checked\", \"cuda\" and \"cuda:N\" are names of devices",
                 name);
}

static mt_status open_best (mt_device **out, const mt_device_options *options,
                            mt_err *err) {
  for (int i = 0; i < MT_NBACKENDS; i++) {
    const mt_backend *b = backends[i];
    mt_err gone = MT_NOERR;
    if (!b->host && mt_device_make(out, b, 0, options, &gone) == MT_OK) return MT_OK;
  }
  return mt_device_make(out, backends[0], 0, options, err);
}

mt_status mt_device_open (mt_device **out, const char *name,
                          const mt_device_options *options, mt_err *err) {
  int index;
  const mt_backend *b;
  *out = NULL;
  if (name == NULL) return open_best(out, options, err);
  MT_TRY(mt_find_backend(&b, &index, name, err));
  return mt_device_make(out, b, index, options, err);
}

const char *mt_kernel_name (const char *device, int i) {
  const mt_backend *b;
  int index;
  mt_err err = MT_NOERR;
  if (mt_find_backend(&b, &index, device, &err) != MT_OK) return NULL;
  if (i < 0 || (size_t)i >= *b->nkernels) return NULL;
  return b->has_code == NULL || b->has_code() ? b->kernels[i].name : NULL;
}
