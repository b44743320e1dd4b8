/*
** alloc.h - private: host memory by the allocator that a device was opened with.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_HOST_ALLOC_H
#define MT_HOST_ALLOC_H

#include "moontile/device.h"

/* realloc and free. */
void *mt_libc_alloc (void *ud, void *ptr, size_t osize, size_t nsize);

/* NULL when there is none; NULL is freed too. o->alloc is not NULL. */
void *mt_take_memory (const mt_device_options *o, size_t bytes);
void mt_give_memory (const mt_device_options *o, void *p, size_t bytes);

#endif
