/*
** mt_skew.h - private: how a box turns whose rows begin anywhere.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_SKEW_H
#define MT_SKEW_H

#include "mt_impl.h"
#include "mt_desc.h"

/* Everything that follows from the axes, the bounds and order, pitch and ahead: false if
** they do not go together. The rest of `skew` must be 0. */
bool mt_skew_build (mt_desc *d);

/* From axes, bounds and order all of `skew`: pitches with few bank conflicts; ahead, if
** it is wanted and a bound counts along the row. False if the box has no room in shared
** memory or is none. */
bool mt_skew_choose (mt_desc *d, bool ahead);

/* `skew` is what mt_skew_build makes of it. */
mt_status mt_skew_check (const mt_desc *d, mt_err *err);

#endif
