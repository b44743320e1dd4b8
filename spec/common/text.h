/*
** text.h - a text that grows: the plainest way to make values.
** SPDX-License-Identifier: MIT
*/
#ifndef TEXT_H
#define TEXT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
  char s[2048];
  size_t n;
} text;

static inline void put (text *t, const char *s) {
  size_t n = strlen(s);
  if (t->n + n + 1 > sizeof t->s) abort();
  memcpy(t->s + t->n, s, n + 1);
  t->n += n;
}

static inline void put_int (text *t, int64_t v) {
  char s[32];
  snprintf(s, sizeof s, "%" PRId64, v);
  put(t, s);
}

#endif
