/*
** smem_atom.c - the shared-memory layout atoms by name.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "moontile/atom.h"
#include "algebra/swizzle.h"

typedef enum major { MN, K } major;

typedef struct atom {
  const char *name;
  major major;
  int b, m, s;   /* the swizzle, on byte addresses */
  int run, rows; /* bits that lie together; runs */
} atom;

static const atom atoms[] = {
#define MT_SMEM_ATOM(name, major, b, m, s, run, rows) {name, major, b, m, s, run, rows},
#include "atom/smem_atoms.def"
#undef MT_SMEM_ATOM
};
enum { ATOMS = sizeof atoms / sizeof *atoms, BYTE = 3 };

const char *mt_smem_atom_name (int i) {
  return i >= 0 && i < ATOMS ? atoms[i].name : NULL;
}

static mt_status unknown (const char *name, mt_err *err) {
  mt_fail(err, MT_EINVAL, "smem_atom: unknown atom \"%.64s\"; there are", name);
  for (int i = 0; i < ATOMS; i++) mt_explain(err, "\n  %s", atoms[i].name);
  return err->status;
}

/* "GMMA::Layout_K_SW128_Atom", or without the room. */
static bool is_named (const atom *x, const char *name) {
  const char *room = strstr(x->name, "::");
  return strcmp(x->name, name) == 0 || (room && strcmp(room + 2, name) == 0);
}

mt_status mt_smem_atom (mt_layout *out, const char *name, int bits, mt_err *err) {
  const atom *x = atoms;
  mt_layout pair;
  mt_build b;
  while (x < atoms + ATOMS && !is_named(x, name)) x++;
  if (x == atoms + ATOMS) return unknown(name, err);
  if (bits < 1 || bits > 128 || (bits & (bits - 1)) != 0)
    return mt_fail(err, MT_EINVAL,
                   "smem_atom: elements of %d bits: a power of two from 1 to 128 "
                   "expected",
                   bits);
  int run = x->run / bits, base = x->m + BYTE - __builtin_ctz((unsigned)bits);
  mt_begin(&b, &pair, "smem_atom", err);
  mt_open(&b, MT_MODES);
  mt_add_leaf(&b, x->major == MN ? run : x->rows, x->major == MN ? 1 : run);
  mt_add_leaf(&b, x->major == MN ? x->rows : run, x->major == MN ? run : 1);
  MT_TRY(mt_end(&b));
  return mt_swizzled(out, "smem_atom", (mt_swizzle){x->b, base, x->s}, 0, pair.node, err);
}
