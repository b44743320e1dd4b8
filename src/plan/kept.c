/*
** kept.c - tensors as a plan of a product keeps them: in one block, with their nodes.
** SPDX-License-Identifier: MIT
*/
#include "plan/kept.h"

struct mt_kept {
  size_t size; /* bytes of all this */
  mt_tensor tensor[MT_PARTS];
  mt_bounds bounds[MT_PARTS];
  mt_node node[];
};

/* The trees of a tensor, of which some may be NULL. */
enum { TREES = 4 };
static void trees_of (const mt_node *out[TREES], const mt_tensor *t) {
  const mt_bounds *b = t->bounds;
  out[0] = t->layout;
  out[1] = b ? b->coord : NULL;
  out[2] = b ? b->base : NULL;
  out[3] = b ? b->extent : NULL;
}

static size_t count_nodes (const mt_tensor *const t[MT_PARTS]) {
  size_t n = 0;
  for (int part = 0; part < MT_PARTS; part++) {
    const mt_node *tree[TREES];
    trees_of(tree, t[part]);
    for (int i = 0; i < TREES; i++) n += tree[i] ? (size_t)tree[i]->span : 0;
  }
  return n;
}

/* Copies a tree to *at, which goes on. */
static const mt_node *keep (mt_node **at, const mt_node *tree) {
  mt_node *to = *at;
  if (tree == NULL) return NULL;
  memcpy(to, tree, (size_t)tree->span * sizeof *tree);
  *at += tree->span;
  return to;
}

mt_status mt_keep_tensors (mt_plan *p, const mt_tensor *const t[MT_PARTS], mt_err *err) {
  const size_t size = sizeof(struct mt_kept) + count_nodes(t) * sizeof(mt_node);
  struct mt_kept *k = mt_host_alloc(p->device, size);
  if (k == NULL) return mt_fail(err, MT_ENOMEM, "gemm: no host memory for a plan");
  mt_node *at = k->node;
  k->size = size;
  for (int part = 0; part < MT_PARTS; part++) {
    const mt_node *tree[TREES];
    trees_of(tree, t[part]);
    for (int i = 0; i < TREES; i++) tree[i] = keep(&at, tree[i]);
    k->bounds[part] = (mt_bounds){tree[1], tree[2], tree[3]};
    k->tensor[part] = *t[part];
    k->tensor[part].layout = tree[0];
    k->tensor[part].bounds = t[part]->bounds ? &k->bounds[part] : NULL;
  }
  p->kept = k;
  return MT_OK;
}

void mt_kept_tensors (const mt_tensor *out[MT_PARTS], const mt_plan *p) {
  for (int part = 0; part < MT_PARTS; part++) out[part] = &p->kept->tensor[part];
}

void mt_forget_tensors (mt_plan *p) {
  if (p->kept) mt_host_free(p->device, p->kept, p->kept->size);
  p->kept = NULL;
}
