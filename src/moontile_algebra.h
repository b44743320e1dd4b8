/*
** moontile_algebra.h - the rest of the algebra of layouts: inverses, products, recasts.
** SPDX-License-Identifier: MIT
**
** Included by moontile.h, whose conventions hold here too.
*/
#ifndef MOONTILE_ALGEBRA_H
#define MOONTILE_ALGEBRA_H

#include "moontile.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
