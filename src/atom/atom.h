/*
** atom.h - private: the names and layouts of atoms, which the tables write as rules.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ATOM_ATOM_H
#define MT_ATOM_ATOM_H

#include "moontile/atom.h"
#include "core/error.h"

/* What was chosen in each group of a pattern: {a|b} or {8..256/8}. */
typedef struct mt_choices {
  int n;
  char text[MT_ATOM_GROUPS][24];
} mt_choices;

/* The pattern of a row; NULL at the end. */
typedef const char *(*mt_patterns)(int row);

/* Writes the text with its groups and its $1, $2, ... replaced; never more than `size`
** bytes, always ended. */
void mt_spell (char *out, size_t size, const char *pattern, const mt_choices *c);
/* The row and the choices that make `name`; -1 if there is none. */
int mt_find_pattern (mt_choices *out, mt_patterns of, const char *name);
/* The row and the choices of the next name; -1 at the end. */
int mt_next_pattern (mt_choices *out, mt_patterns of, mt_atom_cursor *c);
/* The place of a name in the order of mt_next_pattern, from 0, and the row and choices
** that are there; -1 at the end. */
uint32_t mt_pattern_number (mt_patterns of, int row, const mt_choices *c);
int mt_pattern_by_number (mt_choices *out, mt_patterns of, uint32_t number);
/* Fails: there is no such name, these are near. */
mt_status mt_unknown_name (mt_err *err, const char *op, mt_patterns of, const char *name);

/* Whether the tables have an MMA atom, a copy atom of this name. */
bool mt_mma_atom_is (const char *name);
bool mt_copy_atom_is (const char *name);

/* The element that is spelled like this; MT_NELEMENT if none is. */
mt_element mt_spelled_element (const char *text, size_t len);

/* The layout that the text stands for, M, N, K and B (bits) replaced by values[0..3]. */
mt_status mt_atom_layout (mt_layout *out, const char *text, const int64_t values[4],
                          mt_err *err);

/* An instruction of sm_90 as the tables have it: "SM90_64x64x16_F32F16F16_SS" of
** "SM90::GMMA::MMA_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::MN>", whose majors
** 'K', 'M' or, not said, 0 are taken; any other name as it is. */
const char *mt_sm90_name (char out[MT_ATOM_NAME], char major[2], const char *name);

#endif
