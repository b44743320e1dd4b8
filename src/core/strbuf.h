/*
** strbuf.h - private: the string buffer: a text that is cut where its memory ends.
** SPDX-License-Identifier: MIT
**
** `n` counts the whole text, also what has no room, as snprintf does. mt_putf ends the
** text with a zero byte, mt_put leaves that to mt_put_end.
*/
#ifndef MT_CORE_STRBUF_H
#define MT_CORE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct mt_strbuf {
  char *p;
  size_t size, n;
} mt_strbuf;

static inline void mt_put (mt_strbuf *b, const char *s) {
  for (; *s; s++, b->n++)
    if (b->n + 1 < b->size) b->p[b->n] = *s;
}

/* The length of the whole text. */
static inline size_t mt_put_end (mt_strbuf *b) {
  if (b->size > 0) b->p[b->n < b->size ? b->n : b->size - 1] = 0;
  return b->n;
}

static inline void mt_putf (mt_strbuf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void mt_putf (mt_strbuf *b, const char *format, ...) {
  bool room = b->n < b->size;
  va_list ap;
  va_start(ap, format);
  int n = vsnprintf(room ? b->p + b->n : NULL, room ? b->size - b->n : 0, format, ap);
  va_end(ap);
  if (n > 0) b->n += (size_t)n;
}

#endif
