/*
** graph.c - graphs: launches that were recorded, to be replayed in order.
** SPDX-License-Identifier: MIT
**
** A device records on the host: each launch adds its plan to a list, and nothing reaches
** the backend before the end. Whatever else happens in between cannot disturb it.
*/
#include "plan/device.h"

enum { MT_ATATIME = 64 }; /* launches between two questions whether to end */

mt_status mt_graph_idle (const mt_device *d, const char *what, mt_err *err) {
  if (d->recording == NULL) return MT_OK;
  return mt_fail(err, MT_EINVAL,
                 "%s: %s is recording a graph, and what it records runs "
                 "when the graph is launched\ndo this before the recording, or after a "
                 "launch of the graph",
                 what, d->name);
}

/* ---------------------------------------------------------------- recording */

mt_status mt_graph_begin (mt_graph **out, mt_device *d, mt_err *err) {
  *out = NULL;
  if (d->recording)
    return mt_fail(err, MT_EINVAL,
                   "graph: %s is recording a graph already\nend that one "
                   "first: what it records can be several graphs, one after another",
                   d->name);
  mt_graph *g = mt_host_alloc(d, sizeof *g);
  if (g == NULL) return mt_fail(err, MT_ENOMEM, "graph: no host memory for a graph");
  *g = (mt_graph){.device = d};
  *out = d->recording = g;
  return MT_OK;
}

static mt_status grow (mt_graph *g, mt_err *err) {
  const mt_device_options *o = &g->device->options;
  size_t room = g->room ? 2 * g->room : 16, each = sizeof *g->plan;
  void *plan = o->alloc(o->alloc_ud, g->plan, g->room * each, room * each);
  if (plan == NULL)
    return mt_fail(err, MT_ENOMEM, "graph: no host memory for %zu launches", room);
  g->plan = plan;
  g->room = room;
  return MT_OK;
}

mt_status mt_graph_add (mt_graph *g, mt_plan *p, const mt_stream *s, mt_err *err) {
  if (s != NULL)
    return mt_fail(err, MT_EINVAL,
                   "graph: a launch on a stream of its own cannot be "
                   "recorded: a graph is one sequence\nleave the stream out, and give it "
                   "to the launch of the graph");
  if (g->n == g->room) MT_TRY(grow(g, err));
  p->graphs++;
  g->plan[g->n++] = p;
  return MT_OK;
}

mt_status mt_graph_end (mt_graph *g, mt_err *err) {
  mt_device *d = g->device;
  MT_CHECK(d->recording == g, err, "graph: this one is not being recorded");
  d->recording = NULL;
  MT_TRY(d->backend->capture && g->n > 0 ? d->backend->capture(g, err) : MT_OK);
  g->ready = true;
  return MT_OK;
}

/* ---------------------------------------------------------------- using */

size_t mt_graph_size (const mt_graph *g) { return g->n; }

size_t mt_graph_memory (const mt_graph *g) {
  size_t bytes = 0;
  for (size_t i = 0; i < g->n; i++) bytes += mt_plan_memory(g->plan[i]);
  return bytes;
}

static mt_status launch_all (mt_graph *g, mt_stream *s, mt_stint *stint, mt_err *err) {
  for (size_t i = 0; i < g->n; i++) {
    MT_TRY(g->device->backend->launch(g->plan[i], s, err));
    stint->done++;
    if (i % MT_ATATIME == MT_ATATIME - 1 && mt_stopped(err, "graph")) return MT_ESTOPPED;
  }
  return MT_OK;
}

mt_status mt_graph_launch (mt_graph *g, mt_stream *s, mt_err *err) {
  mt_device *d = g->device;
  MT_TRY(mt_graph_idle(d, "launch a graph", err));
  MT_CHECK(g->ready, err, "graph: its recording has not ended well");
  if (d->backend->replay) return g->n > 0 ? d->backend->replay(g, s, err) : MT_OK;
  mt_stint stint;
  mt_stint_begin(&stint, "graph", "launches", (double)g->n, err);
  stint.step = 1;
  mt_status status = launch_all(g, s, &stint, err);
  mt_stint_end(&stint, err);
  return status;
}

void mt_graph_free (mt_graph *g) {
  if (g == NULL) return;
  mt_device *d = g->device;
  if (d->recording == g) d->recording = NULL;
  if (g->data) d->backend->forget(g);
  while (g->n > 0) mt_plan_free(g->plan[--g->n]);
  mt_host_free(d, g->plan, g->room * sizeof *g->plan);
  mt_host_free(d, g, sizeof *g);
}
