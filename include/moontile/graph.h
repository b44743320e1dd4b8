/*
** graph.h - graphs: launches that are recorded once and replayed as one.
** SPDX-License-Identifier: MIT
**
** The conventions of moontile.h hold here too.
*/
#ifndef MOONTILE_GRAPH_H
#define MOONTILE_GRAPH_H

#include "moontile/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sequence of launches that is recorded once and launched as one, again and again: on a
** GPU a CUDA graph, elsewhere the list of its plans. From mt_graph_begin to mt_graph_end
** each mt_plan_launch on the device is recorded and does not run. Laws:
** (1) launching the graph does what launching its plans in their order on one stream
**     does, bit for bit;
** (2) it keeps what it needs of its plans: they may be freed. The memory of their tensors
**     is the caller's, and must live as long as the graph is launched and runs;
** (3) while a device records, what would wait for it or see its memory is an error:
**     mt_synchronize, mt_upload, mt_download, the launch of a graph, one on a stream;
**     mt_malloc and mt_free act at once;
** (4) a launch of nothing (a size of 0) is no part of the graph.
** mt_graph_begin: the graph, which records; free it in any case. Errors: MT_EINVAL (the
** device is recording already), MT_ENOMEM.
** mt_graph_end: after an error the graph can only be freed. Errors: those of the driver.
** mt_graph_launch: like mt_plan_launch; allocates nothing. Errors: MT_EINVAL (a recording
** is under way, or was never ended well).
** mt_graph_free: ends also a recording, which is dropped. Before the device is closed. */
typedef struct mt_graph mt_graph;
MT_API mt_status mt_graph_begin (mt_graph **out, mt_device *d, mt_err *err);
MT_API mt_status mt_graph_end (mt_graph *g, mt_err *err);
MT_API size_t mt_graph_size (const mt_graph *g); /* launches */
/* Bytes of the device's memory that its plans hold, a plan as often as it is launched. */
MT_API size_t mt_graph_memory (const mt_graph *g);
MT_API mt_status mt_graph_launch (mt_graph *g, mt_stream *s, mt_err *err);
MT_API void mt_graph_free (mt_graph *g); /* NULL is fine */
/* Like mt_upload, at once also while d records: into memory that only what is recorded
** will read, a constant of the graph. */
MT_API mt_status mt_graph_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                                  mt_err *err);

#ifdef __cplusplus
}
#endif
#endif
