/*
** dlpack.h - tensors to and from DLPack, without a copy.
** SPDX-License-Identifier: MIT
**
** DLPack's own header has the two structs below; this one does not need it. Who is handed
** one calls its deleter, once, when he needs the memory no more.
*/
#ifndef MOONTILE_DLPACK_H
#define MOONTILE_DLPACK_H

#include "moontile/device.h"
#include "moontile/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensorVersioned; /* 1.x */
struct DLManagedTensor;          /* before 1.0 */

/* Where the memory is, as DLPack counts devices, and what may be done with it. */
enum { MT_DLPACK_CPU = 1, MT_DLPACK_CUDA = 2, MT_DLPACK_CUDA_HOST = 3 };
typedef struct mt_dlpack {
  int device, id;
  bool read_only, copied;
} mt_dlpack;

/* The tensor that `m` is a view of; `m` is as alive as it was: call its deleter when
** `out` is needed no more, after an error too. A mode for each dimension, in their order:
** (1) element c lies where DLPack has it; (2) out->data and out->bytes are what the
** strides reach, below the first element too if some are negative; (3) a dimension of
** extent 1 has stride 0, strides that are NULL are those of rows, one dimension is n:d,
** none is ():(). about NULL: only what is host memory and may be written is taken.
** Errors: MT_EINVAL, MT_EUNSUPPORTED (another version, a type that is none here, vectors;
** what about NULL rules out), MT_ETOOBIG (more than MT_MAXNODES - 1 dimensions),
** MT_EOVERFLOW. */
MT_API mt_status mt_tensor_from_dlpack (mt_tensor *out, mt_layout *layout,
                                        mt_dlpack *about,
                                        const struct DLManagedTensorVersioned *m,
                                        mt_err *err);
MT_API mt_status mt_tensor_from_unversioned (mt_tensor *out, mt_layout *layout,
                                             mt_dlpack *about,
                                             const struct DLManagedTensor *m,
                                             mt_err *err);

/* The same memory for others. A dimension for each mode that coalesces to one, else for
** each leaf of what it coalesces to: (1) DLPack has element c where `t` has it; data is
** where element 0 lies, byte_offset is 0, and strides are never NULL. The deleter frees
** *out, then calls release(owner), unless release is NULL: `t` needs to live until then,
** its layout does not. about NULL: host memory. options: the allocator; NULL: realloc and
** free; it may be called by whoever calls the deleter. Errors: MT_EINVAL,
** MT_EUNSUPPORTED (swizzled or composed, strides that are no integers, a tile that
** overhangs), MT_ERANGE (outside of its buffer), MT_ENOMEM. */
MT_API mt_status mt_tensor_to_dlpack (struct DLManagedTensorVersioned **out,
                                      const mt_tensor *t, const mt_dlpack *about,
                                      void (*release)(void *owner), void *owner,
                                      const mt_device_options *options, mt_err *err);
MT_API mt_status mt_tensor_to_unversioned (struct DLManagedTensor **out,
                                           const mt_tensor *t, const mt_dlpack *about,
                                           void (*release)(void *owner), void *owner,
                                           const mt_device_options *options, mt_err *err);

/* Calls the deleter, if there is one. NULL is fine. */
MT_API void mt_dlpack_delete (struct DLManagedTensorVersioned *m);
MT_API void mt_unversioned_delete (struct DLManagedTensor *m);

#ifdef __cplusplus
}
#endif

#endif
