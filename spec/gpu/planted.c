/*
** planted.c - a copy that leaves its destination: the validator refuses it, and where a
** test build has none (MT_UNSAFE_NO_CHECK), compute-sanitizer or the fake driver must find it.
** SPDX-License-Identifier: MIT
**
** usage: planted [libcuda]
** exit status: 0 ran, 1 no device, 3 refused, 4 found by the driver
*/
#include <stdio.h>

#include "moontile.h"

enum { RAN = 0, NODEVICE = 1, REFUSED = 3, FOUND = 4, N = 1 << 20 };

static int said (int status, const mt_err *err) {
  printf("%s: %s\n", mt_status_name(err->status), err->text);
  return status;
}

/* The destination's layout reaches 16 bytes beyond its buffer. */
static int copy (mt_device *d, void *from, void *to, mt_err *err) {
  mt_layout inside, outside;
  mt_plan *plan;
  int64_t n = N, offset = 4;
  if (mt_ints(&inside, 1, &n, err) || mt_layout_left(&outside, inside.node, err))
    return said(REFUSED, err);
  mt_tensor src = {outside.node, MT_f32, from, N * sizeof(float), 0, NULL};
  mt_tensor dst = {outside.node, MT_f32, to, N * sizeof(float), offset, NULL};
  if (mt_plan_copy(&plan, d, NULL, &src, &dst, err)) return said(REFUSED, err);
  mt_status s = mt_plan_launch(plan, NULL, err);
  if (s == MT_OK) s = mt_synchronize(d, NULL, err);
  mt_plan_free(plan);
  return s == MT_OK ? RAN : said(FOUND, err);
}

int main (int argc, char **argv) {
  mt_device_options options = {.size = sizeof(mt_device_options),
                               .libcuda = argc > 1 ? argv[1] : NULL};
  mt_device *d;
  mt_err err = MT_NOERR;
  void *from = NULL, *to = NULL;
  int status = NODEVICE;
  if (mt_device_open(&d, "cuda", &options, &err)) return said(NODEVICE, &err);
  if (mt_malloc(d, &from, N * sizeof(float), &err) == MT_OK &&
      mt_malloc(d, &to, N * sizeof(float), &err) == MT_OK)
    status = copy(d, from, to, &err);
  else said(NODEVICE, &err);
  mt_free(d, from, N * sizeof(float));
  mt_free(d, to, N * sizeof(float));
  mt_device_close(d);
  return status;
}
