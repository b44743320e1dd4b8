/*
** counted.h - what C tests share that count their checks: CHECK, random numbers.
** SPDX-License-Identifier: MIT
*/
#ifndef COUNTED_H
#define COUNTED_H

#include <stdint.h>
#include <stdio.h>

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

/* splitmix64 */
static inline uint64_t random64 (uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif
