/*
** error.h - private to the core: failing; checked arithmetic.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CORE_ERROR_H
#define MT_CORE_ERROR_H

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "moontile/base.h"
#include "core/arith.h"

/* An error that has not happened, nobody asked; its text is not cleared as a whole: it is
** long. */
#define MT_NEWERR(err)                                                                   \
  mt_err err;                                                                            \
  err.status = MT_OK, err.stop = NULL, err.stop_ud = NULL, err.watch = NULL;             \
  err.text[0] = '\0'
/* The same, asking whom `of` asks: for what a call tries, or says in another way. */
#define MT_TRYERR(err, of)                                                               \
  MT_NEWERR(err);                                                                        \
  err.stop = (of)->stop, err.stop_ud = (of)->stop_ud, err.watch = (of)->watch

/* What a caller of the C API must not do. */
#define MT_CHECK(cond, err, ...)                                                         \
  do {                                                                                   \
    if (!(cond)) return mt_fail((err), MT_EINVAL, __VA_ARGS__);                          \
  } while (0)
/* A function whose frame is not to be a part of its caller's: it is large, and what the
** caller calls next is deep. */
#define MT_APART __attribute__((noinline))
/* A function that is to be a part of each caller: what is common is short in it. */
#define MT_INLINE __attribute__((always_inline))
#define MT_TRY(call)                                                                     \
  do {                                                                                   \
    mt_status try_ = (call);                                                             \
    if (try_ != MT_OK) return try_;                                                      \
  } while (0)

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

/* Forgets a failure. */
void mt_forgive (mt_err *err);
/* Tells how far the call is, asks whether it is to end; if so, err says that:
** MT_ESTOPPED. */
bool mt_stopped (mt_err *err, const char *op);
/* The same in a loop whose steps take about so many nanoseconds: asks at the first of
** them, and then about every millisecond. `spent` is 0 at first. */
static inline bool mt_stopped_after (int64_t *spent, int64_t ns, mt_err *err,
                                     const char *op) {
  *spent += ns;
  if (*spent < 1000000 && *spent != ns) return false;
  *spent = 1;
  return mt_stopped(err, op);
}

#endif
