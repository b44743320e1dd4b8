/*
** pen.h - values written node by node.
** SPDX-License-Identifier: MIT
*/
#ifndef PEN_H
#define PEN_H

#include <string.h>

#include "moontile.h"

typedef struct pen {
  mt_layout *out;
  int n;
} pen;

static inline mt_node *pen_push (pen *p, mt_tag tag) {
  mt_node *t = &p->out->node[p->n++];
  memset(t, 0, sizeof *t);
  t->tag = (uint8_t)tag;
  t->span = 1;
  return t;
}

#endif
