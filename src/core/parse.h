/*
** parse.h - private: what the readers of texts share.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CORE_PARSE_H
#define MT_CORE_PARSE_H

#include "core/build.h"

typedef struct mt_reader {
  const char *text, *p, *end;
  mt_status status; /* the first failure, of a builder too: behind it nothing is read */
  bool built;       /* it was the builder's */
  mt_err *err;
} mt_reader;

/* The character behind blanks; -1: the end. */
static inline int mt_peek (mt_reader *r) {
  while (r->p < r->end && (*r->p == ' ' || (*r->p >= '\t' && *r->p <= '\r'))) r->p++;
  return r->p < r->end ? (unsigned char)*r->p : -1;
}

/* Takes the character, if it is there. */
static inline bool mt_accept (mt_reader *r, int c) {
  if (r->status != MT_OK || mt_peek(r) != c) return false;
  r->p++;
  return true;
}

/* Whether a name of C++ may stand here. */
static inline bool mt_at_letter (mt_reader *r) {
  int c = mt_peek(r);
  if (c == '_') return r->end - r->p > 1 && r->p[1] == 'C';
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- parse.c */

void mt_expect (mt_reader *r, int c, const char *what);
void mt_syntax (mt_reader *r, const char *what);
int64_t mt_integer (mt_reader *r);
void mt_read_value (mt_reader *r, mt_build *b);
/* A scalar or a tuple of such, with nothing else in it: a shape or a stride. */
void mt_read_tuple (mt_reader *r, mt_build *b);
/* The shape is the value from node `at` on: makes a layout of it and of what follows. */
void mt_read_stride (mt_reader *r, mt_build *b, int at);
void mt_read_swizzle (mt_reader *r, mt_build *b, int sep);
/* Behind a layout, at `at`, and the separator: what it is composed with. */
void mt_read_composed (mt_reader *r, mt_build *b, int at, int sep);

/* ---- parse_cute.c */

bool mt_accept_word (mt_reader *r, const char *word);
/* Takes the "{}" behind a value of C++. */
static inline void mt_skip_braces (mt_reader *r) {
  if (mt_peek(r) == '{') mt_accept_word(r, "{}");
}
/* These are asked at a letter.
** A number of C++: "Int<4>{}", "C<4>". */
bool mt_at_constant (mt_reader *r);
int64_t mt_read_constant (mt_reader *r);
/* A basis element: "ScaledBasis<_2,0,1>", "E<0>", "ScaledBasis(2, [0, 1])". */
bool mt_at_basis (mt_reader *r);
bool mt_read_basis (mt_reader *r, mt_node *t);
/* Takes the beginning of a tuple; what ends it, 0: it is none. */
int mt_opening (mt_reader *r);
void mt_closing (mt_reader *r, int end);
/* Whether the name of a layout of C++ or of a pointer stands here. */
bool mt_at_name (mt_reader *r);
bool mt_at_pointer (mt_reader *r);
/* Takes "smem_ptr[16b](unset)": the bits of an element, 0 if they are not said. */
int64_t mt_read_pointer (mt_reader *r);
/* A swizzle <B,M,S> of bytes as one of elements of so many bits. */
void mt_unscale (mt_reader *r, int64_t *v, int64_t bits);
/* Reads a layout of C++, or what CuTe prints of a tensor; false: it is none. */
bool mt_read_cute (mt_reader *r, mt_build *b);

#endif
