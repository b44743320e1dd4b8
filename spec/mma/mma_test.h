/*
** mma_test.h - tests of products: checks, random numbers, tensors from text.
** SPDX-License-Identifier: MIT
*/
#ifndef MMA_TEST_H
#define MMA_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moontile.h"
#include "mt_desc.h"
#include "mt_mma.h"

/* Prints what does not hold, and counts it. */
void failed (const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define CHECK(cond, ...)                                                                 \
  do { if (!(cond)) failed(__FILE__, __LINE__, __VA_ARGS__); } while (0)
/* The call returns OK. */
#define MUST(call)                                                                       \
  do {                                                                                   \
    mt_err must_ = MT_NOERR, *err = &must_;                                              \
    if ((call) != MT_OK) failed(__FILE__, __LINE__, "%s: %s", #call, must_.text);        \
  } while (0)
/* The call returns this status and this text. */
void refused (const char *file, int line, mt_status got, const mt_err *err,
              mt_status want, const char *text);
#define REFUSED(call, status, words)                                                     \
  do {                                                                                   \
    mt_err refused_ = MT_NOERR, *err = &refused_;                                        \
    mt_status got_ = (call);                                                             \
    refused(__FILE__, __LINE__, got_, &refused_, (status), (words));                     \
  } while (0)

void begin_case (uint64_t seed);
uint64_t next64 (void);
int pick (int n);                                   /* 0 .. n-1 */

mt_layout parse (const char *text);
/* Where the element with these ordinates lies, from the descriptor alone. */
int64_t place (const mt_mma_launch *l, int part, int64_t x, int64_t y, int64_t b);

void test_tensors (void);
void test_partition (void);
void test_check (void);
void test_run (void);

#endif
