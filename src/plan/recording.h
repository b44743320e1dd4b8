/*
** recording.h - private: the launches of a plan as data, for programs without us.
** SPDX-License-Identifier: MIT
**
** What a driver would be given is told instead: each kernel with its parameter, in which
** addresses and maps of TMA stand for themselves, to be put there anew.
*/
#ifndef MT_PLAN_RECORDING_H
#define MT_PLAN_RECORDING_H

#include "plan/device.h"

/* An address in the parameter, `at` bytes from its beginning; NULL where it has none.
** end: it is the first byte behind what it is of. */
typedef struct mt_recorded_address {
  size_t at;
  const void *value;
  bool end;
} mt_recorded_address;

/* A map of TMA at this place; `type` and `swizzle` are the driver's numbers. */
typedef struct mt_recorded_map {
  size_t at;
  int type, swizzle;
  mt_tma_box box;
} mt_recorded_map;

enum { MT_RECORDED_MOST = 16 }; /* addresses of a parameter */

typedef struct mt_recorded {
  const char *kernel; /* its name, without mt_ */
  mt_op op;           /* whose image has it */
  const unsigned char *image;
  int binary;         /* 10 major + minor of its code */
  const void *launch; /* the parameter */
  size_t bytes;
  mt_grid grid;
  uint32_t shared, most_shared, cluster; /* cluster: 0, or blocks */
  bool early;
  int addresses, maps;
  mt_recorded_address address[MT_RECORDED_MOST];
  mt_recorded_map map[MT_HOPPER_MAPS + 3];
} mt_recorded;

/* Is told each launch, in order. */
struct mt_recorder {
  mt_status (*add)(struct mt_recorder *r, const mt_recorded *x, mt_err *err);
};

/* Tells r what mt_plan_launch would launch; nothing is. Errors: MT_EUNSUPPORTED: a plan
** of more than launches, or of a backend without any. */
mt_status mt_plan_record (mt_plan *p, mt_recorder *r, mt_err *err);

#endif
