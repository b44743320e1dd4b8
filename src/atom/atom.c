/*
** atom.c - MMA atoms by name, from the rows of mt_atoms.def.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>

#include "atom/atom.h"
#include "atom/mma_number.h"

#define MT_TV(name, text) static const char name[] = text;
#define MT_MMA(arch, in, threads, name, shape, types, a, b, c)
#include "atom/mma_atoms.def"
#undef MT_TV
#undef MT_MMA

#define MT_TV(name, text)
#define MT_MMA(arch, in, threads, name, shape, types, a, b, c)                           \
  {name, #arch, #in, threads, shape, types, a, b, c},
static const struct mma_row {
  const char *name, *arch, *in, *threads, *shape, *types, *a, *b, *c;
} rows[] = {
#include "atom/mma_atoms.def"
};
#undef MT_TV
#undef MT_MMA

static const char *pattern_of (int row) {
  return row < (int)(sizeof rows / sizeof *rows) ? rows[row].name : NULL;
}

/* ---- elements, sources */

#define MT_ELEMENT_ROW(name, bits, tag, type) {#name, bits, tag, type},
static const struct {
  const char *name;
  int bits;
  const char *tag, *type;
} elements[] = {MT_ELEMENTS(MT_ELEMENT_ROW)};
#undef MT_ELEMENT_ROW

const char *mt_element_name (mt_element e) {
  return (unsigned)e < MT_NELEMENT ? elements[e].name : "?";
}

int mt_element_bits (mt_element e) {
  return (unsigned)e < MT_NELEMENT ? elements[e].bits : 0;
}

static bool is_text (const char *text, size_t len, const char *other) {
  return strlen(other) == len && memcmp(text, other, len) == 0;
}

mt_element mt_spelled_element (const char *text, size_t len) {
  int e = 0;
  while (e < MT_NELEMENT && !is_text(text, len, elements[e].name) &&
         !is_text(text, len, elements[e].tag) && !is_text(text, len, elements[e].type))
    e++;
  return (mt_element)e;
}

mt_status mt_element_find (mt_element *out, const char *name, mt_err *err) {
#define MT_ELEMENT_LIST(type, bits, tag, cpp) #type " "
  MT_CHECK(name, err, "element: a name expected");
  *out = mt_spelled_element(name, strlen(name));
  if (*out < MT_NELEMENT) return MT_OK;
  return mt_fail(err, MT_EINVAL, "unknown element '%.32s'\n  the elements are: %.*s",
                 name, (int)sizeof(MT_ELEMENTS(MT_ELEMENT_LIST)) - 2,
                 MT_ELEMENTS(MT_ELEMENT_LIST));
#undef MT_ELEMENT_LIST
}

const char *mt_source_name (mt_source s) {
  static const char *const names[] = {"reg", "smem_desc", "tmem"};
  return (unsigned)s < sizeof names / sizeof *names ? names[s] : "?";
}

/* ---- layouts */

mt_status mt_atom_layout (mt_layout *out, const char *text, const int64_t values[4],
                          mt_err *err) {
  static const char letters[] = "MNKB";
  char s[160], *end;
  size_t n = 0;
  while (*text && n < sizeof s - 24) {
    const char *letter = strchr(letters, *text);
    if (letter == NULL) {
      s[n++] = *text++;
      continue;
    }
    int64_t v = values[letter - letters];
    if (*++text == '/') {
      v /= strtol(text + 1, &end, 10);
      text = end;
    }
    n += (size_t)snprintf(s + n, sizeof s - n, "%lld", (long long)v);
  }
  return mt_parse(out, s, n, err);
}

/* ---- atoms */

static mt_source source_of (char letter) {
  return letter == 'R' ? MT_REG : letter == 'S' ? MT_SMEM_DESC : MT_TMEM;
}

/* The n-th word of the text. */
static const char *word (const char *text, int n, size_t *len) {
  for (; n > 0; n--) text += strcspn(text, " ") + 1;
  *len = strcspn(text, " ");
  return text;
}

static void read_operand (mt_operand *out, const char *type, size_t len, char in) {
  static const char sparse[] = "sparse2.";
  size_t n = sizeof sparse - 1;
  bool half = len > n && memcmp(type, sparse, n) == 0;
  out->element =
      half ? mt_spelled_element(type + n, len - n) : mt_spelled_element(type, len);
  out->sparse = half ? 2 : 1;
  out->source = source_of(in);
}

static void read_op (mt_mma_op *out, const struct mma_row *r, const mt_choices *c) {
  char text[64], *end = text;
  size_t len;
  memset(out, 0, sizeof *out);
  mt_spell(out->name, sizeof out->name, r->name, c);
  out->arch = r->arch;
  mt_spell(text, sizeof text, r->shape, c);
  out->m = strtol(end, &end, 10);
  out->n = strtol(end, &end, 10);
  out->k = strtol(end, &end, 10);
  mt_spell(text, sizeof text, r->types, c);
  for (int i = 0; i < MT_OPERANDS; i++) {
    const char *type = word(text, i, &len);
    read_operand(&out->operand[i], type, len, r->in[i == MT_OPERAND_D ? 2 : i - 1]);
  }
}

/* The n-th parameter of a name in C++, from 0; "" if there is none. */
static const char *parameter (const char *name, int n, int *len) {
  const char *p = strchr(name, '<');
  for (; p && n > 0; n--) p = strchr(p + 1, ',');
  *len = p ? (int)strcspn(p + 1, ",>") : 0;
  return p ? p + 1 : "";
}

/* UniversalFMA with the parameters that C++ would supply: A = D, B = A, C = D. */
static const char *full_name (char out[MT_ATOM_NAME], const char *name) {
  int n[3], some;
  const char *d = parameter(name, 0, &n[0]), *a = parameter(name, 1, &n[1]);
  const char *b = parameter(name, 2, &n[2]);
  parameter(name, 3, &some);
  if (strstr(name, "UniversalFMA<") == NULL || some > 0) return name;
  if (n[1] == 0) a = d, n[1] = n[0];
  if (n[2] == 0) b = a, n[2] = n[1];
  some = snprintf(out, MT_ATOM_NAME, "UniversalFMA<%.*s,%.*s,%.*s,%.*s>", n[0], d, n[1],
                  a, n[2], b, n[0], d);
  return some < MT_ATOM_NAME ? out : name;
}

static mt_status read_atom (mt_mma_atom *out, const struct mma_row *r,
                            const mt_choices *c, mt_err *err) {
  read_op(&out->op, r, c);
  const int64_t mnk[4] = {out->op.m, out->op.n, out->op.k, 0};
  MT_TRY(mt_atom_layout(&out->thr_id, r->threads, mnk, err));
  MT_TRY(mt_atom_layout(&out->a, r->a, mnk, err));
  MT_TRY(mt_atom_layout(&out->b, r->b, mnk, err));
  return mt_atom_layout(&out->c, r->c, mnk, err);
}

static int row_of (mt_choices *c, const char *name) {
  char full[MT_ATOM_NAME], bare[MT_ATOM_NAME], major[2];
  name = mt_sm90_name(bare, major, full_name(full, name));
  return mt_find_pattern(c, pattern_of, name);
}

bool mt_mma_atom_is (const char *name) {
  mt_choices c;
  return row_of(&c, name) >= 0;
}

static mt_status find_row (int *row, mt_choices *c, const char *name, mt_err *err) {
  MT_CHECK(name, err, "mma_atom: a name expected");
  *row = row_of(c, name);
  if (*row >= 0) return MT_OK;
  if (strncmp(name, "SM90_64x", 8) == 0 && strchr(name, '<'))
    return mt_fail(err, MT_EINVAL,
                   "mma_atom: there is no atom \"%.100s\"\n"
                   "  behind a name of sm_90 stand the majors of A and B: <K,MN>",
                   name);
  return mt_unknown_name(err, "mma_atom", pattern_of, name);
}

mt_status mt_mma_atom_find (mt_mma_atom *out, const char *name, mt_err *err) {
  mt_choices c;
  int row = -1;
  char bare[MT_ATOM_NAME], major[2];
  MT_TRY(find_row(&row, &c, name, err));
  MT_TRY(read_atom(out, &rows[row], &c, err));
  mt_sm90_name(bare, major, name);
  memcpy(out->op.major, major, sizeof major);
  return MT_OK;
}

mt_status mt_mma_atom_number (uint32_t *out, const char *name, mt_err *err) {
  mt_choices c;
  int row = -1;
  MT_TRY(find_row(&row, &c, name, err));
  *out = mt_pattern_number(pattern_of, row, &c);
  return MT_OK;
}

bool mt_mma_atom_by_number (mt_mma_atom *out, uint32_t number) {
  mt_choices c;
  mt_err err = MT_NOERR;
  int row = mt_pattern_by_number(&c, pattern_of, number);
  return row >= 0 && read_atom(out, &rows[row], &c, &err) == MT_OK;
}

bool mt_mma_atom_next (mt_mma_op *out, mt_atom_cursor *c) {
  mt_choices choices;
  int row = mt_next_pattern(&choices, pattern_of, c);
  if (row >= 0) read_op(out, &rows[row], &choices);
  return row >= 0;
}
