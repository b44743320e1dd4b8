/*
** moontile_domain.h - shapes as a lattice, sums of layouts, XOR strides, explanations.
** SPDX-License-Identifier: MIT
**
** Included by moontile.h, whose conventions hold here too.
*/
#ifndef MOONTILE_DOMAIN_H
#define MOONTILE_DOMAIN_H

#include "moontile.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
