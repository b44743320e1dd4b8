/*
** utf8.h - private: strings of JSON, and UTF-8.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_TYPES_UTF8_H
#define MT_TYPES_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* 0 to 15, or -1. */
int mt_hex_digit (unsigned char c);
/* Shortest forms of 0 to 10FFFF, no surrogates. */
bool mt_is_utf8 (const unsigned char *s, size_t n);
/* The inside of a string of JSON, whose escapes are right, in UTF-8: at most n bytes;
** returns how many. Half of a pair of surrogates becomes U+FFFD. */
size_t mt_json_to_utf8 (char *out, const unsigned char *s, size_t n);
/* Less than, equal to, greater than 0: as the bytes of what they become. */
int mt_compare_json (const unsigned char *a, size_t n, const unsigned char *b, size_t m);

#endif
