/*
** transfer.h - copies between the host and a device with memory of its own.
** SPDX-License-Identifier: MIT
**
** The conventions of moontile.h hold here too.
*/
#ifndef MOONTILE_TRANSFER_H
#define MOONTILE_TRANSFER_H

#include "moontile/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A copy from a tensor on `from` to one on `to`, of which one is in the host's memory and
** the other is not: any layouts, as in mt_plan_copy, with its errors, and MT_EINVAL (both
** devices are the host, or neither is). Laws:
** (1) it does what mt_plan_copy would do, were both on one device, bit for bit;
** (2) mt_plan_launch is in order with the stream that it is given, which is one of the
**     device that is not the host, and returns when the copy is done;
** (3) the elements travel in the order in which the host holds them, once where the
**     source repeats them, in pieces of mt_device_options.piece bytes, without it of 512
**     KiB to 4 MiB, eight at least of what is large: the device puts them into their
**     places, the threads of the host's device gather or scatter them where the host's
**     side is no run. Packing, transfer and kernel of different pieces overlap;
** (4) they pass through page-locked memory, and as much of the device's own: eight
**     pieces, made for the first plan that needs them, kept until the device is closed.
**     Less memory means smaller and fewer pieces. A run that is short, or was page-locked
**     when the plan was made, needs none; any run does without where there is none;
** (5) to another dtype they travel in the shorter one, in the host's if both are as
**     short: then the device converts;
** (6) neither device may record a graph when it is launched (MT_EINVAL).
** Free the plan before either device is closed. */
MT_API mt_status mt_plan_transfer (mt_plan **out, mt_device *from, const mt_tensor *src,
                                   mt_device *to, const mt_tensor *dst, mt_err *err);
/* The same as mt_plan_copy_rounded. */
MT_API mt_status mt_plan_transfer_rounded (mt_plan **out, mt_device *from,
                                           const mt_tensor *src, mt_device *to,
                                           const mt_tensor *dst, mt_rounding r,
                                           mt_err *err);

#ifdef __cplusplus
}
#endif
#endif
