/*
** core_test.h - the little that the tests of the core share.
** SPDX-License-Identifier: MIT
*/
#ifndef CORE_TEST_H
#define CORE_TEST_H

#include <string.h>

#include "counted.h"
#include "moontile.h"

enum { TEXT = 8192 };

/* An operation in text: args[] are values, the result is text; false with the error's
** text. */
typedef struct call {
  int n;
  mt_layout arg[4];
  char out[2][TEXT];
  mt_err err;
} call;
typedef mt_status (*operation)(call *c);
operation find_operation (const char *name, int *args);

/* Text in normal form: no blanks, and stride 0 for every leaf of extent 1. */
void normal (char *out, const char *text);

void test_golden (const char *dir);
void test_cases (void);
void test_errors (void);

#endif
