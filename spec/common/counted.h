/*
** counted.h - what C tests share that count their checks.
** SPDX-License-Identifier: MIT
*/
#ifndef COUNTED_H
#define COUNTED_H

#include <stdio.h>

#include "splitmix64.h"

extern int checks, failures;

#define CHECK(cond, ...)                                                                 \
  do {                                                                                   \
    checks++;                                                                            \
    if (!(cond) && failures++ < 20) {                                                    \
      printf("%s:%d: %s: ", __FILE__, __LINE__, #cond);                                  \
      printf(__VA_ARGS__);                                                               \
      printf("\n");                                                                      \
    }                                                                                    \
  } while (0)

#endif
