/*
** sm90_name.c - the names of wgmma in C++, which have parameters.
** SPDX-License-Identifier: MIT
**
**   name      = [ "cute::" ] ( "SM90_" | "SM90::GMMA::MMA_" ) rest [ "<" parameters ">" ]
**   parameter = { space "::" } ( "K" | "MN" | "One" ), or, of compilers, "(Major)0"
** The two majors say how A and B lie in shared memory; which thread has what does not
** depend on them. The scales of A and B, One, may stand behind; others are no atom.
*/
#include <stdio.h>

#include "atom/atom.h"

/* Behind the spaces of a name, or its type: "Major::K" is "K", "(Major)0" is "0". */
static const char *last_part (const char *p, size_t n) {
  size_t at = strspn(p, " ");
  for (size_t i = at; i + 1 < n; i++)
    if (p[i] == ')' || (p[i] == ':' && p[i + 1] == ':')) at = i + (p[i] == ':' ? 2 : 1);
  return p + at;
}

static bool is_word (const char *p, const char *end, const char *word) {
  size_t n = strlen(word);
  return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 &&
         p + n + strspn(p + n, " ") == end;
}

/* Takes a parameter, the first two of which are majors; false: it is no such. */
static bool take_parameter (char major[2], int *count, const char *p, size_t n) {
  const char *word = last_part(p, n), *end = p + n;
  if (*count == 2 || is_word(word, end, "One"))
    return is_word(word, end, "One") || is_word(word, end, "1");
  bool k = is_word(word, end, "K") || is_word(word, end, "0");
  if (!k && !is_word(word, end, "MN") && !is_word(word, end, "1")) return false;
  major[(*count)++] = k ? 'K' : 'M';
  return true;
}

/* "<...>" at the end of a name. */
static bool take_parameters (char major[2], const char *p) {
  int count = 0;
  if (strcmp(p, "<>") == 0) return true;
  do {
    size_t n = strcspn(++p, ",>");
    if (!take_parameter(major, &count, p, n)) return false;
    p += n;
  } while (*p == ',');
  return *p == '>' && p[1 + strspn(p + 1, " ")] == '\0';
}

const char *mt_sm90_name (char out[MT_ATOM_NAME], char major[2], const char *name) {
  static const char *const heads[] = {"SM90_", "SM90::GMMA::MMA_"};
  const char *from = NULL, *p = strchr(name, '<');
  char said[2] = {0};
  memset(major, 0, 2);
  name += strncmp(name, "cute::", 6) == 0 ? 6 : 0;
  for (int i = 0; i < 2; i++)
    if (strncmp(name, heads[i], strlen(heads[i])) == 0) from = name + strlen(heads[i]);
  if (from == NULL || (p && !take_parameters(said, p))) return name;
  int n = snprintf(out, MT_ATOM_NAME, "SM90_%.*s", (int)(p ? p - from : 100), from);
  if (n >= MT_ATOM_NAME) return name;
  memcpy(major, said, 2);
  return out;
}

const char *mt_mma_op_name (char out[MT_ATOM_NAME], const mt_mma_op *op) {
  static const char *const names[] = {"K", "MN"};
  if (op->major[0] == 0) return op->name;
  const char *a = names[op->major[0] == 'M'], *b = names[op->major[1] == 'M'];
  int n =
      snprintf(out, MT_ATOM_NAME, op->major[1] ? "%s<%s,%s>" : "%s<%s>", op->name, a, b);
  return n < MT_ATOM_NAME ? out : op->name;
}
