/*
** function.c - derivations with operands that are more than layouts of strides.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "algebra/composed.h"
#include "explain/explain.h"

/* x0 = what is applied first, x1 = f(offset + x0), ...; returns the last number. */
static int tell_links (mt_derivation *x, const mt_node *a) {
  if (!mt_is_composed(a) && !mt_is_swizzled(a)) {
    mt_tell(x, "x0 = %N of the coordinates", a);
    return 0;
  }
  bool composed = mt_is_composed(a);
  mt_node w = *a, offset = {.tag = MT_INT, .ring = a->ring, .span = 1};
  const mt_node *f = composed ? mt_outer(a) : &w;
  int n = tell_links(x, composed ? mt_under(a) : mt_child(a));
  w.span = 1;
  w.arity = 0;
  w.stride = 0;
  offset.shape = a->stride;
  if (a->stride == 0) mt_tell(x, "x%d = %N of x%d", n + 1, f, n);
  else mt_tell(x, "x%d = %N of %N + x%d", n + 1, f, &offset, n);
  return n + 1;
}

static void tell_chain (mt_derivation *x, const char *name, const mt_node *a) {
  mt_tell(x, "%s is read from the right:", name);
  x->indent += 2;
  tell_links(x, a);
  x->indent -= 2;
}

static const struct law {
  const char *ending, *text;
} laws[] = {
    {"composition", "R(i) = A(B(i)), link by link; what is simpler is made so"},
    {"_divide", "T*: the layout that fills what the values of T leave; "
                "R(x,y) = A(T(x) + T*(y))"},
    {"_product", "C: the complement of what A applies first; B numbers the copies: "
                 "R(x,y) = A(x) + C(B(y))"},
    {"_inverse",
     "what undoes f after A is what undoes A, after what undoes f: the values "
     "are compared"},
};

static const char *law_of (const char *op) {
  size_t n = strlen(op);
  for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
    size_t m = strlen(laws[k].ending);
    if (n >= m && strcmp(op + n - m, laws[k].ending) == 0) return laws[k].text;
  }
  return NULL;
}

bool mt_tell_functions (mt_derivation *x, const char *op, const mt_node *a,
                        const mt_node *b) {
  bool inverse = strstr(op, "_inverse") != NULL, more = b && mt_is_more(b);
  const char *law = law_of(op);
  if (mt_is_composed(a)) tell_chain(x, "A", a);
  if (more && mt_is_composed(b)) tell_chain(x, strstr(op, "_divide") ? "T" : "B", b);
  if (law == NULL || !(more || (inverse && mt_is_composed(a)))) return false;
  mt_tell(x, "%s", law);
  return true;
}
