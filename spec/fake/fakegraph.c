/*
** fakegraph.c - captures and graphs of the fake driver: work that a stream is given while
** it captures is kept, and done each time the graph is launched.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "fakecuda.h"

struct CUgraph_st {
  fake_work *work;
};
struct CUgraphExec_st {
  fake_work *work;
};

static int graphs;

static void drop (fake_work *w) {
  while (w != NULL) {
    fake_work *next = w->next;
    fake_drop(w->event);
    free(w);
    w = next;
  }
}

CUresult fake_capture_begin (CUstream s) {
  if (s->capturing) return 1;
  s->capturing = true;
  s->broken = false;
  return 0;
}

/* What a capture does not allow ends it, also where it is refused. */
CUresult fake_capture_break (CUstream s) {
  s->broken = true;
  return 900;
}

void fake_capture_drop (CUstream s) {
  drop(s->captured);
  s->captured = NULL;
  s->capturing = false;
}

CUresult fake_capture_end (CUstream s, CUgraph *out) {
  *out = NULL;
  if (!s->capturing) return 1;
  CUgraph g = s->broken ? NULL : calloc(1, sizeof *g);
  if (g != NULL) {
    g->work = s->captured;
    s->captured = NULL;
    graphs++;
  }
  *out = g;
  fake_capture_drop(s);
  return s->broken ? 901 : g == NULL ? 2 : 0;
}

CUresult fake_graph_exec (CUgraphExec *out, CUgraph g) {
  CUgraphExec x = calloc(1, sizeof *x);
  CUresult r = x == NULL ? 2 : 0;
  for (fake_work *w = g->work; r == 0 && w != NULL; w = w->next)
    r = fake_append(&x->work, w);
  if (x != NULL) graphs++;
  if (r == 0) *out = x;
  else if (x != NULL) fake_exec_free(x);
  return r;
}

CUresult fake_graph_launch (CUgraphExec x, CUstream s) {
  CUresult r = 0;
  for (fake_work *w = x->work; r == 0 && w != NULL; w = w->next) r = fake_enqueue(s, w);
  return r;
}

void fake_graph_free (CUgraph g) {
  drop(g->work);
  free(g);
  graphs--;
}

void fake_exec_free (CUgraphExec x) {
  drop(x->work);
  free(x);
  graphs--;
}

int fake_live_graphs (void) { return graphs; }
