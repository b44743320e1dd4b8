/*
** moontile_tuple.h - integer tuples, and what tuples and layouts have in common.
** SPDX-License-Identifier: MIT
**
** Included by moontile.h, whose conventions hold here too.
*/
#ifndef MOONTILE_TUPLE_H
#define MOONTILE_TUPLE_H

#include "moontile.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
