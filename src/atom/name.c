/*
** name.c - the names of atoms: what a pattern spells, what a name means.
** SPDX-License-Identifier: MIT
*/
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "atom/atom.h"

/* ---- groups: p is behind their '{' */

static const char *group_end (const char *p) { return p + strcspn(p, "}") + 1; }

/* lo..hi/step; false if the alternative is a text. */
static bool read_range (const char *p, long *lo, long *hi, long *step) {
  char *end;
  *lo = strtol(p, &end, 10);
  if (end == p || strncmp(end, "..", 2) != 0) return false;
  *hi = strtol(end + 2, &end, 10);
  *step = strtol(end + 1, NULL, 10);
  return true;
}

/* The i-th alternative of the group; false if it has fewer. */
static bool alternative (char out[24], const char *p, long i) {
  for (;;) {
    long lo, hi, step;
    size_t n = strcspn(p, "|}");
    if (read_range(p, &lo, &hi, &step)) {
      if (lo + i * step <= hi) return snprintf(out, 24, "%ld", lo + i * step) > 0;
      i -= (hi - lo) / step + 1;
    } else if (i-- == 0) {
      return snprintf(out, 24, "%.*s", (int)n, p) >= 0;
    }
    if (p[n] == '}') return false;
    p += n + 1;
  }
}

/* ---- one name */

void mt_spell (char *out, size_t size, const char *pattern, const mt_choices *c) {
  size_t n = 0;
  int group = 0;
  for (const char *p = pattern; *p;) {
    const char *s = NULL;
    if (*p == '{') {
      s = c->text[group++];
      p = group_end(p + 1);
    } else if (*p == '$') {
      s = c->text[p[1] - '1'];
      p += 2;
    } else if (n + 1 < size) {
      out[n++] = *p++;
    } else {
      break;
    }
    for (; s && *s && n + 1 < size; s++) out[n++] = *s;
  }
  out[n] = 0;
}

static bool match (mt_choices *c, const char *p, const char *s) {
  while (*p && *p != '{') {
    if (*p == '$') {
      const char *again = c->text[p[1] - '1'];
      size_t n = strlen(again);
      if (strncmp(s, again, n) != 0) return false;
      s += n;
      p += 2;
    } else if (*p++ != *s++) {
      return false;
    }
  }
  if (*p == 0) return *s == 0;
  int group = c->n;
  char *text = c->text[group];
  for (long i = 0; alternative(text, p + 1, i); i++) {
    size_t n = strlen(text);
    c->n = group + 1;
    if (strncmp(s, text, n) == 0 && match(c, group_end(p + 1), s + n)) return true;
  }
  return false;
}

/* Drops what does not count. Names that do not fit are none. */
static bool plain_name (char out[MT_ATOM_NAME], const char *name) {
  static const char *const dropped[] = {" ",      "\t",        "\n",
                                        "cute::", "cutlass::", "UMMA::Major::"};
  size_t n = 0;
  while (*name) {
    size_t skip = 0;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped && skip == 0; i++)
      if (strncmp(name, dropped[i], strlen(dropped[i])) == 0) skip = strlen(dropped[i]);
    if (skip == 0 && n + 1 == MT_ATOM_NAME) return false;
    if (skip == 0) out[n++] = *name++;
    name += skip;
  }
  out[n] = 0;
  return true;
}

int mt_find_pattern (mt_choices *out, mt_patterns of, const char *name) {
  char plain[MT_ATOM_NAME];
  if (!plain_name(plain, name)) return -1;
  for (int row = 0; of(row); row++) {
    out->n = 0;
    if (match(out, of(row), plain)) return row;
  }
  return -1;
}

/* ---- all names */

/* Reads the chosen alternatives; the first group that has no such alternative, or the
** number of groups. */
static int choose (mt_choices *out, const char *pattern, const int *choice) {
  out->n = 0;
  for (const char *p = strchr(pattern, '{'); p; p = strchr(p, '{')) {
    if (!alternative(out->text[out->n], ++p, choice[out->n])) return out->n;
    out->n++;
  }
  return out->n;
}

static int count_groups (const char *p) {
  int n = 0;
  for (; *p; p++) n += *p == '{';
  return n;
}

int mt_next_pattern (mt_choices *out, mt_patterns of, mt_atom_cursor *c) {
  const char *pattern;
  while ((pattern = of(c->row))) {
    int groups = count_groups(pattern), at = choose(out, pattern, c->choice);
    int *last = &c->choice[groups ? groups - 1 : 0];
    if (at == groups && (groups || *last == 0)) {
      ++*last;
      return c->row;
    }
    c->choice[at] = 0;
    if (at > 0) c->choice[at - 1]++;
    else c->row++;
  }
  return -1;
}

/* ---- numbers of names: the groups are digits, the last runs fastest */

/* How many alternatives the group has. */
static uint32_t count_alternatives (const char *p) {
  uint32_t count = 0;
  for (;; p++) {
    long lo, hi, step;
    count += read_range(p, &lo, &hi, &step) ? (uint32_t)((hi - lo) / step) + 1 : 1;
    p += strcspn(p, "|}");
    if (*p == '}') return count;
  }
}

/* Which of them the text is. */
static uint32_t index_of (const char *p, const char *text) {
  char other[24];
  uint32_t i = 0;
  while (alternative(other, p, i) && strcmp(other, text) != 0) i++;
  return i;
}

static uint32_t count_names (const char *pattern) {
  uint32_t count = 1;
  for (const char *p = strchr(pattern, '{'); p; p = strchr(p, '{'))
    count *= count_alternatives(++p);
  return count;
}

uint32_t mt_pattern_number (mt_patterns of, int row, const mt_choices *c) {
  uint32_t before = 0, number = 0;
  int group = 0;
  for (int r = 0; r < row; r++) before += count_names(of(r));
  for (const char *p = strchr(of(row), '{'); p; p = strchr(p, '{'), group++) {
    number *= count_alternatives(++p);
    number += index_of(p, c->text[group]);
  }
  return before + number;
}

int mt_pattern_by_number (mt_choices *out, mt_patterns of, uint32_t number) {
  for (int row = 0; of(row); row++) {
    uint32_t count = count_names(of(row));
    if (number >= count) {
      number -= count;
      continue;
    }
    out->n = 0;
    for (const char *p = strchr(of(row), '{'); p; p = strchr(p, '{')) {
      count /= count_alternatives(++p);
      alternative(out->text[out->n++], p, number / count);
      number %= count;
    }
    return row;
  }
  return -1;
}

/* ---- names that are near */

static int least (int a, int b) { return a < b ? a : b; }

/* Levenshtein's distance of two names; `bound` if it is not below. */
static int distance (const char *a, const char *b, int bound) {
  int row[MT_ATOM_NAME], n = (int)strlen(b), m = (int)strlen(a);
  if (abs(m - n) >= bound) return bound;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 0; i < m; i++) {
    int diagonal = row[0], lowest = row[0] = i + 1;
    for (int j = 0; j < n; j++) {
      int up = row[j + 1];
      row[j + 1] = least(diagonal + (a[i] != b[j]), 1 + least(up, row[j]));
      diagonal = up;
      lowest = least(lowest, row[j + 1]);
    }
    if (lowest >= bound) return bound;
  }
  return least(row[n], bound);
}

enum { NEAR = 3 };
typedef struct near_names {
  int distance[NEAR];
  char name[NEAR][MT_ATOM_NAME];
} near_names;

/* The nearest first; of equal distance the first in the table. */
static void consider (near_names *near, const char *name, int d) {
  int i = NEAR - 1;
  for (; i > 0 && d < near->distance[i - 1]; i--) {
    near->distance[i] = near->distance[i - 1];
    memcpy(near->name[i], near->name[i - 1], MT_ATOM_NAME);
  }
  near->distance[i] = d;
  snprintf(near->name[i], MT_ATOM_NAME, "%s", name);
}

/* Whether the name has the part in it, in capitals or not. */
static bool has_part (const char *name, const char *part) {
  for (; *name; name++) {
    size_t n = 0;
    while (part[n] && tolower((unsigned char)name[n]) == tolower((unsigned char)part[n]))
      n++;
    if (part[n] == '\0') return true;
  }
  return false;
}

/* Those that are not far by their letters. */
static void find_near (near_names *near, mt_patterns of, const char *plain) {
  char other[MT_ATOM_NAME];
  mt_choices choices;
  mt_atom_cursor c = {0};
  memset(near, 0, sizeof *near);
  for (int i = 0; i < NEAR; i++) near->distance[i] = 2 + (int)strlen(plain) / 4;
  for (int row; (row = mt_next_pattern(&choices, of, &c)) >= 0;) {
    mt_spell(other, sizeof other, of(row), &choices);
    int d = distance(plain, other, near->distance[NEAR - 1]);
    if (d < near->distance[NEAR - 1]) consider(near, other, d);
  }
}

/* The first that have the part; returns how many have. */
static int find_parts (near_names *found, mt_patterns of, const char *part) {
  char other[MT_ATOM_NAME];
  mt_choices choices;
  mt_atom_cursor c = {0};
  int n = 0;
  memset(found, 0, sizeof *found);
  for (int row; (row = mt_next_pattern(&choices, of, &c)) >= 0;) {
    mt_spell(other, sizeof other, of(row), &choices);
    if (!has_part(other, part)) continue;
    if (n < NEAR) memcpy(found->name[n], other, sizeof other);
    n++;
  }
  return n;
}

static void put_names (mt_err *err, const near_names *x, const char *before) {
  for (int i = 0; i < NEAR && x->name[i][0]; i++)
    mt_explain(err, "%s%s", i ? ", " : before, x->name[i]);
}

static void put_first (mt_err *err, mt_patterns of) {
  char first[MT_ATOM_NAME];
  mt_choices choices;
  mt_atom_cursor c = {0};
  mt_spell(first, sizeof first, of(mt_next_pattern(&choices, of, &c)), &choices);
  mt_explain(err, "\n  names are CuTe's, as %s", first);
}

mt_status mt_unknown_name (mt_err *err, const char *op, mt_patterns of,
                           const char *name) {
  char plain[MT_ATOM_NAME];
  near_names near;
  mt_fail(err, MT_EINVAL, "%s: there is no atom \"%.100s\"", op, name);
  if (!plain_name(plain, name)) return MT_EINVAL;
  if (strstr(plain, "TMA"))
    return mt_explain(err, "\n  TMA is described by its tensor: tile.tma{ ... }"),
           MT_EINVAL;
  int m, n_, k;
  if (sscanf(plain, "m%dn%dk%d", &m, &n_, &k) == 3) /* PTX's name of a shape */
    snprintf(plain, sizeof plain, "%dx%dx%d_", m, n_, k);
  find_near(&near, of, plain);
  put_names(err, &near, "\n  near it: ");
  if (near.name[0][0]) return MT_EINVAL;
  int n = plain[0] ? find_parts(&near, of, plain) : 0;
  if (n == 0) return put_first(err, of), MT_EINVAL;
  put_names(err, &near, "\n  of those that have this in their name: ");
  if (n > NEAR) mt_explain(err, ", and %d more", n - NEAR);
  return MT_EINVAL;
}
