/*
** fakefault.c - calls of the fake driver: counted, failing on demand; names of errors.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>

#include "fakecuda.h"

#define MT_CUDA_CALL(name, suffix, args) FAKECUDA_API CUresult name##suffix args;
#include "cuda/driver.def"

static const char *const names[] = {
#define MT_CUDA_CALL(name, suffix, args) #name #suffix,
#include "cuda/driver.def"
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

/* ---------------------------------------------------------------- errors */

static const struct {
  CUresult number;
  const char *name;
} errors[] = {
#define MT_CUDA_ERROR(name, number, status, advice) {number, "CUDA_ERROR_" #name},
#include "cuda/driver.def"
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {999, "CUDA_ERROR_UNKNOWN"}};

FAKECUDA_API CUresult cuGetErrorName (CUresult r, const char **out) {
  CUresult told = fake_call(FAKE_cuGetErrorName);
  if (told != 0) return told;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    if (errors[i].number == r) return *out = errors[i].name, 0;
  return *out = NULL, 1;
}

FAKECUDA_API CUresult cuGetErrorString (CUresult r, const char **out) {
  CUresult told = fake_call(FAKE_cuGetErrorString);
  if (told != 0) return told;
  (void)r;
  return *out = "the fake driver says so", 0;
}
