/*
** kernel.c - a row of a table of kernels: which atoms it executes, why it was refused.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <stdio.h>

#include "desc/kernel.h"

void mt_refusals_add (mt_refusals *w, const char *name, const char *format, ...) {
  size_t room = sizeof w->text - w->length;
  va_list ap;
  va_start(ap, format);
  int n = vsnprintf(w->text + w->length, room, format, ap);
  va_end(ap);
  if (n < 0 || (size_t)n >= room || w->n == MT_MAXREFUSED) return;
  w->name[w->n] = name;
  w->reason[w->n++] = w->length;
  w->length = (uint16_t)(w->length + n + 1);
}

/* Whether the pattern is the text; after a `*` the rest of it may begin anywhere. */
static bool matches (const char *pattern, const char *text) {
  const char *star = NULL, *from = NULL;
  while (*text) {
    if (*pattern == '*') star = ++pattern, from = text;
    else if (*pattern == *text) pattern++, text++;
    else if (star) pattern = star, text = ++from;
    else return false;
  }
  while (*pattern == '*') pattern++;
  return *pattern == 0;
}

enum { MT_ONLY = 900 }; /* above: of this architecture alone */

int mt_kernel_arch (const mt_kernel *k) {
  return k->arch >= MT_ONLY ? k->arch / 10 : k->arch;
}

bool mt_kernel_executes (const mt_kernel *k, const char *atom, int arch) {
  bool here = k->arch >= MT_ONLY ? k->arch / 10 == arch : k->arch <= arch;
  return k->op == MT_OP_GEMM && here && matches(k->atom, atom);
}
