/*
** npy.h - the headers of .npy files.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_NPY_H
#define MOONTILE_NPY_H

#include "moontile/layout.h"
#include "moontile/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The header of a .npy file (format 1.0 to 3.0): type, layout and where the data
** begin. `bytes` is how much of the file's beginning is in `head`; MT_EFORMAT says
** what is wrong with it, and needs at most 64 KiB. `file_size` is the size of the
** whole file: the data must be all there; what follows them is ignored, as NumPy does.
** C order gives row-major strides, Fortran order column-major ones; big-endian types
** have `swap` set. An array of one dimension is n:1; one without dimensions is ():(),
** of size 1. bf16 is '<V2' (as ml_dtypes writes it) or 'bfloat16'; e4m3 'float8_e4m3fn',
** e5m2 'float8_e5m2' or '<f1'. Both are written as '<V1', which NumPy reads: the file
** then does not say which of them it is. NumPy's names ('float32') are read too. */
typedef struct mt_npy {
  mt_dtype dtype;
  bool swap;
  size_t data; /* offset of the first byte of the data in the file */
  size_t data_bytes;
  mt_layout layout;
} mt_npy;
enum { MT_NPY_HEAD = 65536 };
MT_API mt_status mt_npy_read_header (mt_npy *out, const void *head, size_t bytes,
                                     uint64_t file_size, mt_err *err);
/* The same for elements that are known to be `as`: the file has it, or raw bytes ('V') or
** unsigned integers of its size. */
MT_API mt_status mt_npy_read_header_as (mt_npy *out, mt_dtype as, const void *head,
                                        size_t bytes, uint64_t file_size, mt_err *err);
/* Writes the header (version 1.0, data 64-byte aligned, byte for byte as NumPy) for a
** compact array into `buf`; `size` receives its length. The integers of `shape` at any
** depth are the extents; an integer n is (n,). */
enum { MT_NPY_HEADER_MAX = 2048 };
MT_API mt_status mt_npy_write_header (void *buf, size_t *size, mt_dtype d,
                                      const mt_node *shape, bool fortran_order,
                                      mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
