/*
** wide.h - functions for the widest vectors that the machine has.
** SPDX-License-Identifier: MIT
**
** Without the checks of a sanitizer, which look at each element.
*/
#ifndef WIDE_H
#define WIDE_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE_VECTORS                                                                     \
  __attribute__((target_clones("avx2", "default"), no_sanitize("alignment")))
#else
#define WIDE_VECTORS
#endif

#endif
