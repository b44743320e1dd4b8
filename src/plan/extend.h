/*
** extend.h - private: kernels that a host has added to a device.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_EXTEND_H
#define MT_PLAN_EXTEND_H

#include "moontile/extend.h"
#include "plan/device.h"

enum { MT_ROW_NAME = 128 };

/* A row of ours, with what it points to. */
typedef struct mt_own_row {
  mt_kernel kernel; /* first */
  void *function;   /* the backend's */
  char name[MT_ROW_NAME], atom[MT_ROW_NAME];
} mt_own_row;

/* One image. */
struct mt_own_rows {
  struct mt_own_rows *next;
  void *library; /* the backend's */
  size_t n, size;
  mt_own_row row[];
};

/* The first of the host's rows that executes the atom; that does the copy, with its grid.
** NULL: there is none. */
const mt_kernel *mt_own_product (const mt_device *d, const char *atom);
const mt_kernel *mt_own_copy (const mt_device *d, const mt_desc *desc, mt_grid *grid,
                              mt_refusals *why);
/* The row that a plan's kernel is; NULL: it is one of ours. */
const mt_own_row *mt_own_row_of (const mt_device *d, const mt_kernel *k);
/* Before the device is closed. */
void mt_drop_kernels (mt_device *d);

#endif
