/*
** say.h - private: texts for people, piece by piece, into a buffer that may be small.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CORE_SAY_H
#define MT_CORE_SAY_H

#include <stdio.h>

#include "core/error.h"

typedef struct mt_text {
  char *buf;
  size_t size, length;             /* `length` of the whole text, also beyond `size` */
} mt_text;

static inline void say (mt_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void say (mt_text *t, const char *format, ...) {
  va_list ap;
  bool room = t->length < t->size;
  va_start(ap, format);
  int n = vsnprintf(room ? t->buf + t->length : NULL, room ? t->size - t->length : 0,
                    format, ap);
  va_end(ap);
  if (n > 0) t->length += (size_t)n;
}

#endif
