/*
** fakefault.c - calls of the fake driver: counted, and failing on demand.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>

#include "fakecuda.h"

static const char *const names[] = {
#define MT_CUDA_CALL(name, suffix, args) #name #suffix,
#include "mt_cuda.def"
};

static int calls[FAKE_CALLS];

long long fake_option (const char *name, long long otherwise) {
  const char *text = getenv(name);
  return text != NULL && *text != '\0' ? strtoll(text, NULL, 10) : otherwise;
}

int fakecuda_calls (const char *name) {
  for (int i = 0; i < FAKE_CALLS; i++)
    if (strcmp(names[i], name) == 0) return calls[i];
  return -1;
}

void fakecuda_restart (void) { memset(calls, 0, sizeof calls); }

/* Whether an order of FAKECUDA_FAIL is about call number n of this function; its error.
** */
static bool matches (const char *text, const char *name, int n, int *error) {
  size_t length = strlen(name);
  int when = 0;
  char more = '\0';
  if (strncmp(text, name, length) != 0 || text[length] != ':') return false;
  if (sscanf(text + length, ":%d:%d%c", error, &when, &more) < 2) return false;
  return more == '+' ? n >= when : n == when;
}

CUresult fake_call (int number) {
  const char *text = getenv("FAKECUDA_FAIL");
  int n = __atomic_add_fetch(&calls[number], 1, __ATOMIC_RELAXED), error = 0;
  while (text != NULL && !matches(text, names[number], n, &error)) {
    text = strchr(text, ',');
    if (text != NULL) text++;
  }
  return text != NULL ? error : 0;
}
