/*
** moontile_swizzle.h - swizzles, swizzled layouts, the shared-memory atoms.
** SPDX-License-Identifier: MIT
**
** Included by moontile.h, whose conventions hold here too.
*/
#ifndef MOONTILE_SWIZZLE_H
#define MOONTILE_SWIZZLE_H

#include "moontile.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
