/*
** cases.h - what C tests share that go by random cases: checks, seeds, random numbers.
** SPDX-License-Identifier: MIT
*/
#ifndef CASES_H
#define CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moontile.h"
#include "times.h"

/* Prints what does not hold, with the case's seed, and counts it. */
void failed (const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
extern int failures;
#define CHECK(cond, ...)                                                                 \
  do {                                                                                   \
    if (!(cond)) failed(__FILE__, __LINE__, __VA_ARGS__);                                \
  } while (0)
/* The call returns OK. */
#define MUST(call)                                                                       \
  do {                                                                                   \
    mt_err must_ = MT_NOERR, *err = &must_;                                              \
    if ((call) != MT_OK) failed(__FILE__, __LINE__, "%s: %s", #call, must_.text);        \
  } while (0)

/* Random numbers; each case starts from a seed of its own, which failures print. */
void begin_case (uint64_t seed);
uint64_t next64 (void);
int pick (int n); /* 0 .. n-1 */
int64_t between (int64_t lo, int64_t hi);

mt_layout parse (const char *text);

#endif
