/*
** copy_atom.c - copy atoms by name, from the rows of mt_copy_atoms.def, in values.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "atom/atom.h"
#include "core/build.h"

#define MT_TV(name, text) static const char name[] = text;
#define MT_COPY(arch, threads, name, src, dst, ref)
#include "atom/copy_atoms.def"
#undef MT_TV
#undef MT_COPY

#define MT_TV(name, text)
#define MT_COPY(arch, threads, name, src, dst, ref) {name, #arch, threads, src, dst, ref},
static const struct copy_row {
  const char *name, *arch, *threads, *src, *dst, *ref;
} rows[] = {
#include "atom/copy_atoms.def"
};
#undef MT_TV
#undef MT_COPY

static const char *pattern_of (int row) {
  return row < (int)(sizeof rows / sizeof *rows) ? rows[row].name : NULL;
}

/* ---- from bits to values */

/* In values of so many bits: false if that parts a value, or puts threads together. What
** moves any number of bits stays as it is. */
static bool layout_of_values (mt_layout *out, const mt_node *bit_layout, int bits) {
  MT_NEWERR(err);
  if (mt_size(bit_layout) == 1) return mt_copy_value(out, bit_layout), true;
  return mt_recast_layout(out, 1, bits, bit_layout, &err) == MT_OK &&
         mt_size(mt_mode(out->node, 0)) == mt_size(mt_mode(bit_layout, 0)) &&
         mt_size(out->node) * bits == mt_size(bit_layout);
}

/* The most bits that stay together in the layouts of the atom. */
static int most_bits (const mt_copy_atom *a) {
  const mt_node *const layouts[] = {a->src.node, a->dst.node, a->ref.node};
  mt_layout out;
  int most = 1;
  for (int bits = 2; bits <= 256; bits *= 2) {
    for (int i = 0; i < 3; i++)
      if (!layout_of_values(&out, layouts[i], bits)) return most;
    most = bits;
  }
  return most;
}

static mt_status in_values (mt_copy_atom *a, int bits, mt_err *err) {
  static const char *const names[] = {"source", "destination", "reference"};
  mt_layout *const layouts[] = {&a->src, &a->dst, &a->ref};
  mt_layout values[3];
  for (int i = 0; i < 3; i++)
    if (!layout_of_values(&values[i], layouts[i]->node, bits))
      return mt_failn(err, MT_EINEXACT,
                      "copy_atom: %s has no values of %d bits: its %s "
                      "layout in bits is %N\n  it keeps %d bits together",
                      a->name, bits, names[i], layouts[i]->node, most_bits(a));
  for (int i = 0; i < 3; i++) mt_copy_value(layouts[i], values[i].node);
  a->bits = bits;
  return MT_OK;
}

/* ---- atoms */

/* The bits of the type in the name; 0 if there is none. */
static int64_t bits_of (const mt_choices *c) {
  mt_element e = MT_NELEMENT;
  if (c->n > 0) e = mt_spelled_element(c->text[c->n - 1], strlen(c->text[c->n - 1]));
  return mt_element_bits(e);
}

bool mt_copy_atom_is (const char *name) {
  mt_choices c;
  return mt_find_pattern(&c, pattern_of, name) >= 0;
}

mt_status mt_copy_atom_find (mt_copy_atom *out, const char *name, int bits, mt_err *err) {
  mt_choices c;
  MT_CHECK(name, err, "copy_atom: a name expected");
  MT_CHECK(bits >= 1 && bits <= 1024, err,
           "copy_atom: values of %d bits; 1 to 1024 are "
           "possible",
           bits);
  int row = mt_find_pattern(&c, pattern_of, name);
  if (row < 0) return mt_unknown_name(err, "copy_atom", pattern_of, name);
  const struct copy_row *r = &rows[row];
  const int64_t values[4] = {0, 0, 0, bits_of(&c)};
  mt_spell(out->name, sizeof out->name, r->name, &c);
  out->arch = r->arch;
  out->own = false;
  MT_TRY(mt_atom_layout(&out->thr_id, r->threads, values, err));
  MT_TRY(mt_atom_layout(&out->src, r->src, values, err));
  MT_TRY(mt_atom_layout(&out->dst, r->dst, values, err));
  MT_TRY(mt_atom_layout(&out->ref, r->ref, values, err));
  return in_values(out, bits, err);
}

bool mt_copy_atom_next (char name[MT_ATOM_NAME], const char **arch, mt_atom_cursor *c) {
  mt_choices choices;
  int row = mt_next_pattern(&choices, pattern_of, c);
  if (row < 0) return false;
  mt_spell(name, MT_ATOM_NAME, pattern_of(row), &choices);
  *arch = rows[row].arch;
  return true;
}
