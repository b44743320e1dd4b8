/*
** table.h - private: copies of composed layouts, by a table of offsets.
** SPDX-License-Identifier: MIT
**
** The descriptor has no form for f o offset o A. The offsets of all elements are listed
** when the plan is made, and proven one by one. They are copied by the host: of a device
** with memory of its own, what is reached of both tensors comes to the host, and what is
** written goes back.
*/
#ifndef MT_PLAN_TABLE_H
#define MT_PLAN_TABLE_H

#include "plan/device.h"

typedef struct mt_table {
  int64_t n;
  int64_t *element; /* of value i, -1: it is none; NULL: value i is element i */
  mt_device *device[2];
  mt_dtype dtype[2];
  void *data[2];          /* of the buffers */
  int64_t low[2], end[2]; /* the elements of them that are reached */
  size_t bytes;           /* of this table */
  int64_t *at[2];         /* of value i of each side; of src -1: it is not real */
} mt_table;

/* Whether the copy needs one for its threads and values: where they are a function that
** does not have each place of the tile once. If it has, `*copy` becomes NULL: all is
** copied, whoever does it. */
bool mt_table_by (const mt_tiled_copy **copy);
/* Whether it needs one for its tensors. */
bool mt_needs_table (const mt_tensor *src, const mt_tensor *dst);
/* p->table and p->launch of tensors on these devices. Errors: those of a copy,
** MT_ENOMEM. */
mt_status mt_table_make (mt_plan *p, const mt_tiled_copy *copy,
                         mt_device *const device[2], const mt_tensor *src,
                         const mt_tensor *dst, mt_err *err);
/* The same, and what p says (plan.c). */
mt_status mt_plan_table (mt_plan *p, const mt_tiled_copy *copy,
                         mt_device *const device[2], const mt_tensor *src,
                         const mt_tensor *dst, mt_rounding r, mt_err *err);
mt_status mt_table_launch (mt_plan *p, mt_stream *s, mt_err *err);
void mt_table_free (mt_plan *p);

#endif
