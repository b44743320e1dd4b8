/*
** stub.c - the backend "stub": a toy that has no device.
** SPDX-License-Identifier: MIT
*/
#include "plan/device.h"

static mt_status stub_open (mt_device *d, int index, mt_err *err) {
  (void)d;
  return mt_fail(err, MT_ENODEV, "stub:%d: there is no device", index);
}

static const size_t none = 0;

const mt_backend mt_backend_stub = {.name = "stub", .kernels = NULL, .nkernels = &none,
                                    .open = stub_open};
