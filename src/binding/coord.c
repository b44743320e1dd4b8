/*
** coord.c - coordinates in Lua: which tuples of a layout they meet, whether they lie
** inside.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/lmt.h"
#include "binding/view.h"

/* Whether each tuple of c meets a tuple of as many modes in a. */
static bool fits (const mt_node *c, const mt_node *a) {
  if (c->tag != MT_TUPLE) return true;
  if ((a->tag != MT_MODES && a->tag != MT_TUPLE) || c->arity != a->arity) return false;
  const mt_node *m = mt_child(a);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
    if (!fits(k, m)) return false;
  return true;
}

/* The coordinate in buf as the tuple of one. */
static void wrap (mt_layout *buf) {
  uint32_t n = buf->node->span;
  memmove(&buf->node[1], &buf->node[0], n * sizeof buf->node[0]);
  buf->node[0] = (mt_node){.tag = MT_TUPLE, .arity = 1, .span = n + 1};
}

const mt_node *lmt_tocoord1 (lua_State *L, int i, const mt_node *a, mt_layout *buf) {
  const mt_node *c = lmt_tovalue(L, i, LMT_COORD | LMT_F2, "coordinate", buf);
  a = lmt_base(a);
  if (c->tag != MT_TUPLE || fits(c, a) || mt_rank(a) != 1) return c;
  if (a->tag == MT_LEAF || a->tag == MT_SUM) return c->arity == 1 ? mt_child(c) : c;
  if (fits(c, mt_child(a)) && c->span < MT_MAXNODES) wrap(buf);
  return c;
}

/* The first integer of c that is outside of its mode, whose extent goes to *extent. */
static const mt_node *outside (int64_t *extent, const mt_node *c, const mt_node *a) {
  a = lmt_base(a);
  *extent = mt_size(a);
  if (c->tag == MT_INT) return c->shape < 0 || c->shape >= *extent ? c : NULL;
  if (c->tag != MT_TUPLE || !fits(c, a)) return NULL; /* an error later */
  const mt_node *k = mt_child(c), *m = mt_child(a), *found = NULL;
  for (; k < mt_next(c) && !found; k = mt_next(k), m = mt_next(m))
    found = outside(extent, k, m);
  return found;
}

void lmt_checkinside (lua_State *L, const mt_node *c, const mt_node *a) {
  int64_t extent;
  const mt_node *p = outside(&extent, c, a);
  if (p == NULL) return;
  const char *why = "negative";
  if (p->shape >= 0) why = lua_pushfstring(L, "not below %I", (LUAI_UACINT)extent);
  lmt_pushtext(L, c);
  lmt_pushtext(L, a);
  luaL_error(L, "coordinate %s is outside of %s: %I is %s", lua_tostring(L, -2),
             lua_tostring(L, -1), (LUAI_UACINT)p->shape, why);
}
