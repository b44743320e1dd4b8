/*
** safetensors.h - the headers of .safetensors files.
** SPDX-License-Identifier: MIT
**
** Such a file is 8 bytes, a number N (little endian); N bytes of JSON, the header; data:
**   { "name": { "dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24] }, ...,
**     "__metadata__": { "key": "text", ... } }
** Tensors are by rows; their offsets count from the first byte of the data. What is
** accepted: each tensor has its three keys once and no other; its bytes are those of its
** type and shape; the tensors fill the data without a gap or an overlap; no name is there
** twice; the header is of at most MT_SAFETENSORS_MOST bytes and begins with '{'.
*/
#ifndef MOONTILE_SAFETENSORS_H
#define MOONTILE_SAFETENSORS_H

#include "moontile/layout.h"
#include "moontile/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MT_SAFETENSORS_MOST = 100000000 };

/* A tensor of the file. */
typedef struct mt_safetensor {
  mt_dtype dtype;
  size_t name, name_bytes; /* of its name, in the header: JSON, without the quotes */
  size_t shape;            /* of its shape, in the header */
  uint64_t data, bytes;    /* of its elements, in the file */
} mt_safetensor;

/* How many bytes the header has, with the 8 before it, from the first 8 bytes of a file
** of this size. Errors: MT_EFORMAT. */
MT_API mt_status mt_safetensors_header (size_t *bytes, const void *begin,
                                        uint64_t file_size, mt_err *err);
/* The tensors, in the order of their data. `head` is the header with the 8 bytes before
** it. *n is how many there are; if `room` is less nothing but that is known yet, and only
** the JSON was read: call it again with room for them. Errors: MT_EFORMAT says what is
** wrong, and where. */
MT_API mt_status mt_safetensors_read (size_t *n, mt_safetensor *items, size_t room,
                                      const void *head, size_t bytes, uint64_t file_size,
                                      mt_err *err);
/* The layout of one of them, by rows: n:1 of one dimension, ():() of none. Errors: those
** that mt_safetensors_read has found. */
MT_API mt_status mt_safetensors_layout (mt_layout *out, const void *head, size_t bytes,
                                        const mt_safetensor *x, mt_err *err);
/* Its name in UTF-8, without escapes: at most x->name_bytes bytes, no zero behind them;
** returns how many. */
MT_API size_t mt_safetensors_name (char *out, const void *head, const mt_safetensor *x);

/* A member of a header, to be written: "name":{...}. Like snprintf. The integers of
** `shape` at any depth are the extents. */
MT_API size_t mt_safetensors_format (char *out, size_t size, const char *name,
                                     size_t name_bytes, mt_dtype d, const mt_node *shape,
                                     uint64_t begin, uint64_t end);

#ifdef __cplusplus
}
#endif

#endif
