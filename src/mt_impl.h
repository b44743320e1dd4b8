/*
** mt_impl.h - private to the core: failing, checked arithmetic, the node builder.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_IMPL_H
#define MT_IMPL_H

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "moontile.h"

/* What a caller of the C API must not do. */
#define MT_CHECK(cond, err, ...)                                                         \
  do { if (!(cond)) return mt_fail((err), MT_EINVAL, __VA_ARGS__); } while (0)
#define MT_TRY(call)                                                                     \
  do { mt_status try_ = (call); if (try_ != MT_OK) return try_; } while (0)

/* Stores status and text in err, returns the status. Formats: %d %s %lld %zu as in
** printf. */
mt_status mt_fail (mt_err *err, mt_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a value's text form: "%N" stands for a const mt_node *, the rest as
** above (own small formatter: %N %d %s %lld %zu %%). Long values are cut with "...". */
mt_status mt_failn (mt_err *err, mt_status s, const char *format, ...);
/* Appends to the text of a failure; directives as in mt_failn. */
void mt_explain (mt_err *err, const char *format, ...);
/* Passes s on; a failure of another operation begins with the name of this one. */
mt_status mt_renamed (const char *op, mt_status s, mt_err *err);
/* What the three are made of: writes from err->text + at on. */
mt_status mt_vfailn (mt_err *err, mt_status s, size_t at, const char *format, va_list ap);

/* Checked arithmetic: true on overflow, like the builtins. */
#define mt_addo(a, b, out) __builtin_add_overflow((int64_t)(a), (int64_t)(b), (out))
#define mt_subo(a, b, out) __builtin_sub_overflow((int64_t)(a), (int64_t)(b), (out))
#define mt_mulo(a, b, out) __builtin_mul_overflow((int64_t)(a), (int64_t)(b), (out))

#endif
