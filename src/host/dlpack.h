/*
** dlpack.h - private: the structs of DLPack, as compilers lay them out.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_HOST_DLPACK_H
#define MT_HOST_DLPACK_H

#include "moontile/dlpack.h"

typedef struct dl_type {
  uint8_t code, bits;
  uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  dl_type dtype;
  int64_t *shape, *strides; /* strides in elements; NULL: of rows */
  uint64_t byte_offset;
} dl_tensor;

struct DLManagedTensor {
  dl_tensor tensor;
  void *manager;
  void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  dl_tensor tensor;
};

enum { DL_READ_ONLY = 1, DL_COPIED = 2 };

#endif
