/*
** by_mode.h - private: tilers by mode that have functions in them: composed or swizzled
** layouts, or such over F2.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_BY_MODE_H
#define MT_ALGEBRA_BY_MODE_H

#include "algebra/zip.h"

/* t is a tiler by mode, and a mode of it such a function. */
bool mt_has_functions (const mt_node *t);

/* What is made of a mode by the function there: A o (T, T*); A o T; the copies of the
** block A at the values of T. */
typedef enum mt_mode_op { MT_BY_DIVIDE, MT_BY_COMPOSITION, MT_BY_PRODUCT } mt_mode_op;
typedef mt_status mt_mode_rule (mt_layout *out, const mt_node *a, const mt_node *t,
                                mt_err *err);
/* `rule` by what else there is in t, then each function in its mode. The result is in
** logical form. Errors: those of mt_tile_of_function, of mt_composition and of rule. */
mt_status mt_by_functions (mt_layout *out, const char *op, mt_mode_op how,
                           mt_mode_rule *rule, const mt_node *a, const mt_node *t,
                           mt_err *err);

#endif
