/*
** launch.c - launches on a GPU: of products and copies, of graphs, with the time taken.
** SPDX-License-Identifier: MIT
*/
#include "copy/algo.h"
#include "cuda/cuda.h"
#include "plan/extend.h"

/* ---------------------------------------------------------------- maps of tensors */

/* The driver's number of a type: TMA moves it, and reads zeros outside. */
int mt_cuda_map_type (mt_dtype d) {
  switch (d) {
    case MT_f16: return 6;
    case MT_f32: return 7;
    case MT_bf16: return 9;
    case MT_i32: return 3;
    default: return 0; /* bytes */
  }
}

int mt_cuda_map_swizzle (const mt_tma_box *b) {
  return mt_tma_line(b) == MT_SLAB ? MT_CU_SWIZZLE_128 : MT_CU_SWIZZLE_32;
}

static mt_status encode (mt_cuda *c, mt_tma_map *out, const mt_tma_box *b, mt_err *err) {
  static const unsigned step[3] = {1, 1, 1};
  CUtensorMap map;
  MT_TRY(CU(c, err, cuTensorMapEncodeTiled,
            (&map, mt_cuda_map_type(b->dtype), 3, b->base, b->extent, b->stride, b->box,
             step, 0, mt_cuda_map_swizzle(b), MT_CU_PROMOTE_128, 0)));
  memcpy(out, &map, sizeof *out);
  return MT_OK;
}

static mt_status make_maps (mt_plan *p, mt_err *err) {
  mt_cuda *c = p->device->impl;
  mt_hopper *h = &p->hopper;
  if (p->kernel->op != MT_OP_HOPPER) return MT_OK;
  MT_TRY(encode(c, &h->launch.a, &h->map[MT_A], err));
  MT_TRY(encode(c, &h->launch.b, &h->map[MT_B], err));
  for (int i = 0; i < 2; i++) {
    const mt_tma_box edge = mt_hopper_edge(h, i);
    if (h->launch.edge[i] != 0) MT_TRY(encode(c, &h->launch.edge_map[i], &edge, err));
  }
  if (h->launch.terms == 3) {
    MT_TRY(encode(c, &h->launch.a_rest, &h->rest_map[MT_A], err));
    MT_TRY(encode(c, &h->launch.b_rest, &h->rest_map[MT_B], err));
  }
  if (mt_hopper_has_side(h)) MT_TRY(encode(c, &h->launch.side, &h->side_map, err));
  return h->launch.direct ? MT_OK : encode(c, &h->launch.d, &h->map[MT_C], err);
}

/* ---------------------------------------------------------------- products */

/* The kernel of what tf32 leaves out: the row behind those of products. */
static size_t rest_kernel (void) { return mt_ncuda_kernels - 1; }

static mt_status find_kernel (mt_cuda *c, size_t i, mt_err *err) {
  return c->function[i] ? MT_OK : mt_cuda_find_function(c, i, err);
}

/* Those that run before it. */
static mt_status find_first (mt_plan *p, mt_err *err) {
  mt_cuda *c = p->device->impl;
  const mt_hopper *h = &p->hopper;
  if (p->kernel->op != MT_OP_HOPPER) return MT_OK;
  if (mt_packs(&h->pack)) MT_TRY(find_kernel(c, mt_cuda_pack_kernel(h->pack_row), err));
  return h->launch.terms == 1 ? MT_OK : find_kernel(c, rest_kernel(), err);
}

/* A grid goes round; the threads are those of the partition. Maps need the context. */
mt_status mt_cuda_prepare_product (mt_plan *p, mt_err *err) {
  mt_cuda *c = p->device->impl;
  if (!mt_cuda_is_ours(p->kernel)) return MT_OK;
  size_t i = (size_t)(p->kernel - mt_cuda_kernels);
  if (c->function[i] != NULL && p->kernel->op != MT_OP_HOPPER) return MT_OK;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = find_kernel(c, i, err);
  if (s == MT_OK) s = find_first(p, err);
  if (s == MT_OK) s = make_maps(p, err);
  mt_cuda_leave(c);
  return s;
}

/* ---------------------------------------------------------------- launches */

/* The shared memory that a launch asks for; other kernels have what they need. */
static unsigned shared_of (const mt_plan *p) {
  const mt_desc *d = &p->launch.desc;
  if (p->kernel->op == MT_OP_AMPERE) return p->ampere.shared;
  if (p->kernel->op == MT_OP_HOPPER) return p->hopper.shared;
  if (p->kernel->op == MT_OP_PIPELINE) return p->piped.pipe.shared;
  const mt_algo *a = p->kernel->op == MT_OP_COPY ? mt_algo_of(d->algo) : NULL;
  return a && a->shared ? a->shared(d) : 0;
}

/* Whether its kernels wait for what went before, and so may come up before its end: those
** of a host may not. */
static bool may_be_early (const mt_plan *p) {
  return (p->kernel->op == MT_OP_COPY || p->kernel->op == MT_OP_HOPPER) &&
         mt_cuda_is_ours(p->kernel);
}

/* Blocks of a cluster. */
static unsigned cluster_of (const mt_plan *p) {
  if (p->kernel->op == MT_OP_AMPERE) return (unsigned)p->ampere.launch.parts;
  return p->kernel->op == MT_OP_HOPPER ? p->hopper.cluster : 1;
}

/* What a launch is told besides: at most two attributes. */
static unsigned attributes (CUlaunchAttribute out[2], const mt_plan *p, bool early) {
  unsigned n = 0;
  if (early && may_be_early(p))
    out[n++] = (CUlaunchAttribute){.id = MT_CU_EARLY, .value.allowed = 1};
  if (cluster_of(p) > 1)
    out[n++] =
        (CUlaunchAttribute){.id = MT_CU_CLUSTER, .value.cluster = {cluster_of(p), 1, 1}};
  return n;
}

static CUfunction function_of (const mt_cuda *c, const mt_kernel *k) {
  return mt_cuda_is_ours(k) ? c->function[k - mt_cuda_kernels] :
                              ((const mt_own_row *)(const void *)k)->function;
}

/* In the context; `config` lacks what all launches have. */
static mt_status start_kernel (mt_cuda *c, const mt_kernel *k, const void *launch,
                               CUlaunchConfig config, mt_err *err) {
  void *params[] = {(void *)(uintptr_t)launch};
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  if (config.gridDimX == 0) return MT_OK;
  if (c->recorder) return mt_cuda_record_launch(c, k, launch, &config, err);
  return CU(c, err, cuLaunchKernelEx, (&config, function_of(c, k), params, NULL));
}

/* `early`: it may come up before the end of what is before it. */
static mt_status start (const mt_plan *p, CUstream stream, bool early, mt_err *err) {
  const void *launch = p->kernel->op == MT_OP_HOPPER ? (const void *)&p->hopper.launch :
                       p->kernel->op == MT_OP_AMPERE ? (const void *)&p->ampere.launch :
                                                       &p->launch; /* or the product */
  CUlaunchAttribute attrs[2];
  const CUlaunchConfig config = {.attrs = attrs,
                                 .numAttrs = attributes(attrs, p, early),
                                 .gridDimX = p->grid.blocks,
                                 .blockDimX = p->grid.threads,
                                 .sharedMemBytes = shared_of(p),
                                 .hStream = stream};
  return start_kernel(p->device->impl, p->kernel, launch, config, err);
}

/* A kernel before that of the product. */
static mt_status start_first (const mt_plan *p, size_t kernel, const void *launch,
                              mt_grid grid, CUstream stream, bool early, mt_err *err) {
  CUlaunchAttribute may = {.id = MT_CU_EARLY, .value.allowed = 1};
  const CUlaunchConfig config = {.attrs = &may,
                                 .numAttrs = early,
                                 .gridDimX = grid.blocks,
                                 .blockDimX = grid.threads,
                                 .hStream = stream};
  return start_kernel(p->device->impl, &mt_cuda_kernels[kernel], launch, config, err);
}

/* Both operands, as far as they have rows. */
static mt_status start_pack (const mt_plan *p, CUstream stream, bool early, mt_err *err) {
  const mt_pack_launch *l = &p->hopper.pack;
  const mt_grid grid = {l->operand[0].blocks + l->operand[1].blocks, MT_PACK_THREADS};
  return start_first(p, mt_cuda_pack_kernel(p->hopper.pack_row), l, grid, stream, early,
                     err);
}

/* What tf32 leaves out of an operand. */
static mt_status start_rest (const mt_plan *p, int i, CUstream stream, bool early,
                             mt_err *err) {
  const mt_rest_launch *r = &p->hopper.rest[i];
  return start_first(p, rest_kernel(), r, (mt_grid){r->all, MT_REST_THREADS}, stream,
                     early, err);
}

/* With the copies of its tensors before, and of its result after. */
static mt_status start_packed (const mt_plan *p, CUstream stream, bool early,
                               mt_err *err) {
  for (int part = 0; part < MT_PARTS; part++)
    if (p->before[part]) MT_TRY(start(p->before[part], stream, early, err));
  MT_TRY(start_pack(p, stream, early, err));
  for (int i = 0; p->hopper.launch.terms == 3 && i < 2; i++)
    MT_TRY(start_rest(p, i, stream, early, err));
  MT_TRY(start(p, stream, early, err));
  return p->after ? start(p->after, stream, early, err) : MT_OK;
}

static mt_status start_all (const mt_plan *p, CUstream stream, bool early, mt_err *err) {
  return p->kernel->op == MT_OP_HOPPER ? start_packed(p, stream, early, err) :
                                         start(p, stream, early, err);
}

mt_status mt_cuda_start_all (const mt_plan *p, mt_err *err) {
  const mt_cuda *c = p->device->impl;
  return start_all(p, c->stream, c->early, err);
}

mt_status mt_cuda_start (const mt_plan *p, CUstream stream, mt_err *err) {
  return start(p, stream, ((mt_cuda *)p->device->impl)->early, err);
}

mt_status mt_cuda_launch (mt_plan *p, mt_stream *stream, mt_err *err) {
  mt_cuda *c = p->device->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = mt_cuda_throttle(c, to_stream(c, stream), err);
  mt_cuda_notice(c, to_stream(c, stream));
  if (s == MT_OK) s = start_all(p, to_stream(c, stream), c->early, err);
  mt_cuda_leave(c);
  return s;
}

/* ---------------------------------------------------------------- graphs */

/* A capture begins and ends here: no call in between can disturb it. */
static mt_status record (CUgraph *out, mt_graph *g, CUstream stream, bool early,
                         mt_err *err) {
  mt_cuda *c = g->device->impl;
  mt_err end = MT_NOERR;
  mt_status s = MT_OK;
  *out = NULL;
  MT_TRY(CU(c, err, cuStreamBeginCapture, (stream, MT_CU_RELAXED)));
  for (size_t i = 0; s == MT_OK && i < g->n; i++)
    s = start_all(g->plan[i], stream, early, err);
  mt_status ended = CU(c, &end, cuStreamEndCapture, (stream, out));
  if (s == MT_OK && ended != MT_OK) s = ended, *err = end;
  if (s == MT_OK || *out == NULL) return s;
  c->driver.cuGraphDestroy(*out);
  *out = NULL;
  return s;
}

/* A driver that captures no early launches says so in one way or another. */
static mt_status record_on (CUgraph *out, mt_graph *g, CUstream stream, mt_err *err) {
  const mt_cuda *c = g->device->impl;
  bool early = c->early && c->version >= MT_CU_EARLY_CAPTURE;
  mt_status s = record(out, g, stream, early, err);
  if (!early || s != MT_EDRIVER) return s;
  mt_forgive(err);
  return record(out, g, stream, false, err);
}

static mt_status capture (mt_graph *g, mt_err *err) {
  mt_cuda *c = g->device->impl;
  CUstream stream = NULL;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  MT_TRY(CU(c, err, cuStreamCreate, (&stream, MT_CU_NON_BLOCKING)));
  mt_status s = record_on(&graph, g, stream, err);
  if (s == MT_OK) s = CU(c, err, cuGraphInstantiateWithFlags, (&exec, graph, 0));
  if (graph != NULL) c->driver.cuGraphDestroy(graph);
  c->driver.cuStreamDestroy(stream);
  g->data = exec;
  return s;
}

mt_status mt_cuda_capture (mt_graph *g, mt_err *err) {
  mt_cuda *c = g->device->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = capture(g, err);
  mt_cuda_leave(c);
  return s;
}

mt_status mt_cuda_replay (mt_graph *g, mt_stream *stream, mt_err *err) {
  mt_cuda *c = g->device->impl;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = mt_cuda_throttle(c, to_stream(c, stream), err);
  mt_cuda_notice(c, to_stream(c, stream));
  if (s == MT_OK) s = CU(c, err, cuGraphLaunch, (g->data, to_stream(c, stream)));
  mt_cuda_leave(c);
  return s;
}

/* Of one that still runs the driver frees what is left when it has run. */
void mt_cuda_forget (mt_graph *g) {
  mt_cuda *c = g->device->impl;
  CUcontext popped;
  if (mt_cuda_forked(c)) return;
  bool inside = c->driver.cuCtxPushCurrent(c->context) == 0;
  c->driver.cuGraphExecDestroy(g->data);
  if (inside) c->driver.cuCtxPopCurrent(&popped);
}

/* ---------------------------------------------------------------- time */

enum { MT_ATATIME = 64 }; /* launches between two questions whether to end */

/* What the device's own stream needs between the two events. */
static mt_status time_launches (mt_plan *p, int n, CUevent e[2], double *us,
                                mt_err *err) {
  mt_cuda *c = p->device->impl;
  float ms = 0;
  MT_TRY(CU(c, err, cuEventRecord, (e[0], c->stream)));
  for (int i = 0; i < n; i++) {
    MT_TRY(mt_cuda_launch(p, NULL, err));
    if (i % MT_ATATIME == 0 && mt_stopped(err, "measure")) return MT_ESTOPPED;
  }
  MT_TRY(CU(c, err, cuEventRecord, (e[1], c->stream)));
  MT_TRY(mt_cuda_await(c, c->stream, err));
  MT_TRY(CU(c, err, cuStreamSynchronize, (c->stream)));
  MT_TRY(CU(c, err, cuEventElapsedTime, (&ms, e[0], e[1])));
  *us = 1e3 * (double)ms;
  return MT_OK;
}

mt_status mt_cuda_measure (mt_plan *p, int n, double *us, mt_err *err) {
  mt_cuda *c = p->device->impl;
  CUevent e[2] = {NULL, NULL};
  mt_err late = MT_NOERR;
  MT_TRY(mt_cuda_enter(c, err));
  mt_status s = MT_OK;
  for (int i = 0; i < 2 && s == MT_OK; i++) {
    s = CU(c, err, cuEventCreate, (&e[i], 0));
    if (s != MT_OK) e[i] = NULL;
  }
  if (s == MT_OK) s = time_launches(p, n, e, us, err);
  for (int i = 0; i < 2; i++)
    if (e[i] != NULL) (void)CU(c, &late, cuEventDestroy, (e[i]));
  mt_cuda_leave(c);
  if (s == MT_OK && late.status != MT_OK) *err = late;
  return s != MT_OK ? s : late.status;
}
