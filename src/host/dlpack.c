/*
** dlpack.c - tensors to and from DLPack.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "moontile/algebra.h"
#include "core/build.h"
#include "host/alloc.h"
#include "host/dlpack.h"

enum {
  DL_INT,
  DL_UINT,
  DL_FLOAT,
  DL_BFLOAT = 4,
  DL_BOOL = 6,
  DL_E4M3FN = 10,
  DL_E5M2 = 12
};

static const struct {
  uint8_t code, bits;
  mt_dtype d;
} types[] = {{DL_BOOL, 8, MT_bool},    {DL_INT, 8, MT_i8},      {DL_INT, 16, MT_i16},
             {DL_INT, 32, MT_i32},     {DL_INT, 64, MT_i64},    {DL_UINT, 8, MT_u8},
             {DL_UINT, 16, MT_u16},    {DL_UINT, 32, MT_u32},   {DL_UINT, 64, MT_u64},
             {DL_FLOAT, 16, MT_f16},   {DL_FLOAT, 32, MT_f32},  {DL_FLOAT, 64, MT_f64},
             {DL_BFLOAT, 16, MT_bf16}, {DL_E4M3FN, 8, MT_e4m3}, {DL_E5M2, 8, MT_e5m2}};
enum { TYPES = sizeof types / sizeof *types };

/* ---------------------------------------------------------------- from DLPack */

static mt_status read_type (mt_dtype *out, dl_type t, mt_err *err) {
  if (t.lanes != 1)
    return mt_fail(err, MT_EUNSUPPORTED, "dlpack: elements that are vectors of %d",
                   t.lanes);
  for (int i = 0; i < TYPES; i++)
    if (types[i].code == t.code && types[i].bits == t.bits)
      return *out = types[i].d, MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "dlpack: type code %d of %d bits is no type of elements here", t.code,
                 t.bits);
}

static mt_status check_dims (const dl_tensor *t, mt_err *err) {
  if (t->ndim < 0 || (t->ndim > 0 && t->shape == NULL))
    return mt_fail(err, MT_EINVAL, "dlpack: %d dimensions%s", t->ndim,
                   t->ndim < 0 ? "" : ", and no shape");
  if (t->ndim > MT_MAXNODES - 1)
    return mt_fail(err, MT_ETOOBIG, "dlpack: %d dimensions: at most %d are possible",
                   t->ndim, MT_MAXNODES - 1);
  for (int i = 0; i < t->ndim; i++)
    if (t->shape[i] < 0)
      return mt_fail(err, MT_EINVAL, "dlpack: dimension %d has the extent %lld", i,
                     (long long)t->shape[i]);
  return MT_OK;
}

static bool is_empty (const dl_tensor *t) {
  for (int i = 0; i < t->ndim; i++)
    if (t->shape[i] == 0) return true;
  return false;
}

/* Those of rows, where the tensor has none, or none that matter. */
static mt_status read_strides (int64_t *d, const dl_tensor *t, bool empty, mt_err *err) {
  int64_t run = 1;
  for (int i = t->ndim; i-- > 0;) {
    d[i] = t->strides && !empty ? t->strides[i] : run;
    if (t->shape[i] == 1) d[i] = 0;
    if (!mt_mulo(run, t->shape[i] ? t->shape[i] : 1, &run)) continue;
    if (!empty)
      return mt_fail(err, MT_EOVERFLOW, "dlpack: the number of elements leaves 64 bits");
    run = 0;
  }
  return MT_OK;
}

static mt_status read_layout (mt_layout *out, const dl_tensor *t, mt_err *err) {
  int64_t d[MT_MAXNODES];
  mt_build b;
  MT_TRY(check_dims(t, err));
  MT_TRY(read_strides(d, t, is_empty(t), err));
  mt_begin(&b, out, "dlpack", err);
  if (t->ndim != 1) mt_open(&b, MT_MODES);
  for (int i = 0; i < t->ndim; i++) mt_add_leaf(&b, t->shape[i], d[i]);
  if (t->ndim != 1) mt_close(&b);
  return mt_end(&b);
}

/* The memory that the layout reaches. */
static mt_status read_memory (mt_tensor *out, const dl_tensor *t, mt_err *err) {
  int64_t lo, end, size = (int64_t)mt_dtype_size(out->dtype), first, n, bytes;
  MT_TRY(mt_footprint(&lo, &end, out->layout, err));
  if (lo == end) return MT_OK;
  if (t->data == NULL)
    return mt_fail(err, MT_EINVAL, "dlpack: data is NULL, and there are elements");
  if (mt_mulo(lo, size, &first) || mt_subo(end, lo, &n) || mt_mulo(n, size, &bytes))
    return mt_fail(err, MT_EOVERFLOW,
                   "dlpack: the bytes from element %lld to %lld leave 64 bits",
                   (long long)lo, (long long)(end - 1));
  uintptr_t at = (uintptr_t)t->data + (uintptr_t)t->byte_offset;
  if (at % (uintptr_t)size != 0)
    return mt_fail(err, MT_EINVAL, "dlpack: elements of %d bytes begin at no multiple",
                   (int)size);
  out->data = (char *)t->data + ((int64_t)t->byte_offset + first);
  out->bytes = (size_t)bytes;
  out->offset = -lo;
  return MT_OK;
}

/* What `about` says; without it nobody would know of these. */
static mt_status check_about (const mt_dlpack *about, mt_err *err) {
  bool host = about->device == MT_DLPACK_CPU || about->device == MT_DLPACK_CUDA_HOST;
  if (!host)
    return mt_fail(err, MT_EUNSUPPORTED, "dlpack: device %d:%d: host memory expected",
                   about->device, about->id);
  if (about->read_only)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "dlpack: the memory is read-only, tensors here are not: copy it");
  return MT_OK;
}

static mt_status read_tensor (mt_tensor *out, mt_layout *layout, mt_dlpack *about,
                              const dl_tensor *t, uint64_t flags, mt_err *err) {
  mt_dlpack found = {t->device_type, t->device_id, (flags & DL_READ_ONLY) != 0,
                     (flags & DL_COPIED) != 0};
  if (about) *about = found;
  else MT_TRY(check_about(&found, err));
  *out = (mt_tensor){.layout = layout->node};
  MT_TRY(read_type(&out->dtype, t->dtype, err));
  MT_TRY(read_layout(layout, t, err));
  return read_memory(out, t, err);
}

mt_status mt_tensor_from_dlpack (mt_tensor *out, mt_layout *layout, mt_dlpack *about,
                                 const struct DLManagedTensorVersioned *m, mt_err *err) {
  if (m == NULL) return mt_fail(err, MT_EINVAL, "dlpack: the tensor is NULL");
  if (m->major != 1)
    return mt_fail(err, MT_EUNSUPPORTED, "dlpack: version %u.%u: 1.x expected",
                   (unsigned)m->major, (unsigned)m->minor);
  return read_tensor(out, layout, about, &m->tensor, m->flags, err);
}

mt_status mt_tensor_from_unversioned (mt_tensor *out, mt_layout *layout, mt_dlpack *about,
                                      const struct DLManagedTensor *m, mt_err *err) {
  if (m == NULL) return mt_fail(err, MT_EINVAL, "dlpack: the tensor is NULL");
  return read_tensor(out, layout, about, &m->tensor, 0, err);
}

/* ---------------------------------------------------------------- to DLPack */

/* One block: what is handed out, its dimensions, what its deleter has to do. */
typedef struct export {
  union {
    struct DLManagedTensorVersioned versioned;
    struct DLManagedTensor old;
  } m;
  mt_device_options memory;
  size_t bytes; /* of this block */
  void (*release)(void *owner);
  void *owner;
  int64_t dims[]; /* extents, strides */
}
export;

static void end_export (export *x) {
  void (*release)(void *) = x->release;
  void *owner = x->owner;
  mt_device_options memory = x->memory;
  mt_give_memory(&memory, x, x->bytes);
  if (release) release(owner);
}
static void delete_versioned (struct DLManagedTensorVersioned *m) {
  end_export(m->manager);
}
static void delete_old (struct DLManagedTensor *m) { end_export(m->manager); }

static mt_status check_tensor (const mt_tensor *t, mt_err *err) {
  int64_t lo, end;
  if (t->bounds)
    return mt_fail(err, MT_EUNSUPPORTED, "dlpack: a tile that overhangs has no shape");
  if (!mt_is_layout(t->layout) || mt_is_swizzled(t->layout) || !mt_is_integral(t->layout))
    return mt_failn(err, MT_EUNSUPPORTED,
                    "dlpack: %N: a layout of integers, without a swizzle, expected",
                    t->layout);
  if ((unsigned)t->dtype >= MT_NDTYPE) return mt_fail(err, MT_EINVAL, "dlpack: no dtype");
  MT_TRY(mt_footprint(&lo, &end, t->layout, err));
  int64_t have = (int64_t)(t->bytes / mt_dtype_size(t->dtype));
  if (lo == end || (t->offset >= 0 && t->offset <= have && -lo <= t->offset &&
                    end <= have - t->offset))
    return MT_OK;
  return mt_failn(err, MT_ERANGE, "dlpack: %N leaves its buffer", t->layout);
}

/* The modes, each coalesced: the leaves of this are the dimensions. */
static mt_status by_mode (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_layout profile;
  mt_build b;
  if (!mt_is_branch(a)) return mt_coalesce(out, a, NULL, err);
  mt_begin(&b, &profile, "dlpack", err);
  mt_open(&b, MT_TUPLE);
  for (int i = 0; i < mt_rank(a); i++) mt_add_int(&b, 1);
  mt_close(&b);
  MT_TRY(mt_end(&b));
  return mt_coalesce(out, a, profile.node, err);
}

static void put_tensor (dl_tensor *out, const mt_tensor *t, const mt_dlpack *about, int n,
                        const mt_node *const *leaf, int64_t *dims) {
  int64_t size = (int64_t)mt_dtype_size(t->dtype);
  bool some = t->data && mt_size(t->layout) > 0;
  *out = (dl_tensor){.data = some ? (char *)t->data + t->offset * size : t->data,
                     .device_type = about ? about->device : MT_DLPACK_CPU,
                     .device_id = about ? about->id : 0,
                     .ndim = n,
                     .shape = dims,
                     .strides = dims + n};
  for (int i = 0; i < n; i++) {
    dims[i] = leaf[i]->shape;
    dims[n + i] = leaf[i]->shape == 1 ? 1 : leaf[i]->stride;
  }
  for (int i = 0; i < TYPES; i++)
    if (types[i].d == t->dtype) out->dtype = (dl_type){types[i].code, types[i].bits, 1};
}

static mt_status make_export (export **out, bool versioned, const mt_tensor *t,
                              const mt_dlpack *about, const mt_device_options *options,
                              mt_err *err) {
  mt_layout flat;
  const mt_node *leaf[MT_MAXNODES];
  mt_device_options memory = {.size = sizeof(mt_device_options), .alloc = mt_libc_alloc};
  if (options && options->alloc) memory = *options;
  MT_TRY(check_tensor(t, err));
  MT_TRY(by_mode(&flat, t->layout, err));
  int n = mt_leaves(leaf, flat.node);
  size_t bytes = sizeof(export) + 2 * (size_t)n * sizeof(int64_t);
  export *x = mt_take_memory(&memory, bytes);
  if (x == NULL) return mt_fail(err, MT_ENOMEM, "dlpack: no memory");
  memset(x, 0, bytes);
  x->memory = memory;
  x->bytes = bytes;
  put_tensor(versioned ? &x->m.versioned.tensor : &x->m.old.tensor, t, about, n, leaf,
             x->dims);
  *out = x;
  return MT_OK;
}

mt_status mt_tensor_to_dlpack (struct DLManagedTensorVersioned **out, const mt_tensor *t,
                               const mt_dlpack *about, void (*release)(void *owner),
                               void *owner, const mt_device_options *options,
                               mt_err *err) {
  export *x;
  MT_TRY(make_export(&x, true, t, about, options, err));
  x->release = release;
  x->owner = owner;
  x->m.versioned.major = x->m.versioned.minor = 1;
  x->m.versioned.manager = x;
  x->m.versioned.deleter = delete_versioned;
  if (about && about->read_only) x->m.versioned.flags |= DL_READ_ONLY;
  if (about && about->copied) x->m.versioned.flags |= DL_COPIED;
  *out = &x->m.versioned;
  return MT_OK;
}

mt_status mt_tensor_to_unversioned (struct DLManagedTensor **out, const mt_tensor *t,
                                    const mt_dlpack *about, void (*release)(void *owner),
                                    void *owner, const mt_device_options *options,
                                    mt_err *err) {
  export *x;
  if (about && about->read_only)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "dlpack: before 1.0 nothing says that memory is read-only");
  MT_TRY(make_export(&x, false, t, about, options, err));
  x->release = release;
  x->owner = owner;
  x->m.old.manager = x;
  x->m.old.deleter = delete_old;
  *out = &x->m.old;
  return MT_OK;
}

void mt_dlpack_delete (struct DLManagedTensorVersioned *m) {
  if (m && m->deleter) m->deleter(m);
}
void mt_unversioned_delete (struct DLManagedTensor *m) {
  if (m && m->deleter) m->deleter(m);
}
