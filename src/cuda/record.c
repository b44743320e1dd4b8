/*
** record.c - launches of a plan as data: where their parameters have addresses and maps.
** SPDX-License-Identifier: MIT
*/
#include "cuda/cuda.h"
#include "plan/stream_k.h"

/* The kernel of what tf32 leaves out is among those of its family, with a parameter of
** its own. */
enum { OF_REST = MT_NOP, KINDS };

typedef struct place {
  int kind;
  size_t at;
  bool end;
} place;

#define AT(op, type, field) {op, offsetof(type, field), false},
#define ENDS(op, type, field) {op, offsetof(type, field), true},
/* clang-format off */
static const place places[] = {
  AT(MT_OP_COPY, mt_launch, base[MT_SRC])
  AT(MT_OP_COPY, mt_launch, base[MT_DST])
  AT(MT_OP_GEMM, mt_gemm_launch, base[MT_A])
  AT(MT_OP_GEMM, mt_gemm_launch, base[MT_B])
  AT(MT_OP_GEMM, mt_gemm_launch, base[MT_C])
  AT(MT_OP_GEMM, mt_gemm_launch, beside_base[MT_BIAS])
  AT(MT_OP_GEMM, mt_gemm_launch, beside_base[MT_RESIDUAL])
  AT(MT_OP_AMPERE, mt_ampere_launch, operand[0].base)
  AT(MT_OP_AMPERE, mt_ampere_launch, operand[0].low)
  ENDS(MT_OP_AMPERE, mt_ampere_launch, operand[0].high)
  AT(MT_OP_AMPERE, mt_ampere_launch, operand[1].base)
  AT(MT_OP_AMPERE, mt_ampere_launch, operand[1].low)
  ENDS(MT_OP_AMPERE, mt_ampere_launch, operand[1].high)
  AT(MT_OP_AMPERE, mt_ampere_launch, c)
  AT(MT_OP_AMPERE, mt_ampere_launch, finish.side[MT_BIAS].base)
  AT(MT_OP_AMPERE, mt_ampere_launch, finish.side[MT_RESIDUAL].base)
  AT(MT_OP_HOPPER, mt_hopper_launch, c)
  AT(MT_OP_HOPPER, mt_hopper_launch, finish.side[MT_BIAS].base)
  AT(MT_OP_HOPPER, mt_hopper_launch, finish.side[MT_RESIDUAL].base)
  AT(OF_REST, mt_rest_launch, from)
  AT(OF_REST, mt_rest_launch, to)
  AT(MT_OP_PACK, mt_pack_launch, operand[0].from)
  AT(MT_OP_PACK, mt_pack_launch, operand[0].low)
  ENDS(MT_OP_PACK, mt_pack_launch, operand[0].high)
  AT(MT_OP_PACK, mt_pack_launch, operand[0].to)
  AT(MT_OP_PACK, mt_pack_launch, operand[1].from)
  AT(MT_OP_PACK, mt_pack_launch, operand[1].low)
  ENDS(MT_OP_PACK, mt_pack_launch, operand[1].high)
  AT(MT_OP_PACK, mt_pack_launch, operand[1].to)
};
/* clang-format on */

static const size_t sizes[KINDS] =
    {[MT_OP_COPY] = sizeof(mt_launch),          [MT_OP_GEMM] = sizeof(mt_gemm_launch),
     [MT_OP_AMPERE] = sizeof(mt_ampere_launch), [MT_OP_HOPPER] = sizeof(mt_hopper_launch),
     [MT_OP_PACK] = sizeof(mt_pack_launch),     [OF_REST] = sizeof(mt_rest_launch)};

static int kind_of (size_t kernel) {
  return kernel == mt_ncuda_kernels - 1 ? OF_REST : (int)mt_cuda_kernels[kernel].op;
}

static void put_addresses (mt_recorded *x, int kind) {
  for (const place *p = places; p < places + sizeof places / sizeof *places; p++) {
    mt_recorded_address a = {.at = p->at, .end = p->end};
    if (p->kind != kind) continue;
    memcpy(&a.value, (const char *)x->launch + p->at, sizeof a.value);
    x->address[x->addresses++] = a;
  }
}

static void put_map (mt_recorded *x, size_t at, const mt_tma_box *b) {
  x->map[x->maps++] = (mt_recorded_map){.at = at,
                                        .type = mt_cuda_map_type(b->dtype),
                                        .swizzle = mt_cuda_map_swizzle(b),
                                        .box = *b};
}

static void put_maps (mt_recorded *x, const mt_hopper *h) {
  put_map(x, offsetof(mt_hopper_launch, a), &h->map[MT_A]);
  put_map(x, offsetof(mt_hopper_launch, b), &h->map[MT_B]);
  for (size_t i = 0; i < 2; i++) {
    const mt_tma_box edge = mt_hopper_edge(h, (int)i);
    const size_t at = offsetof(mt_hopper_launch, edge_map) + i * sizeof(mt_tma_map);
    if (h->launch.edge[i] != 0) put_map(x, at, &edge);
  }
  if (h->launch.terms == 3) {
    put_map(x, offsetof(mt_hopper_launch, a_rest), &h->rest_map[MT_A]);
    put_map(x, offsetof(mt_hopper_launch, b_rest), &h->rest_map[MT_B]);
  }
  if (mt_hopper_has_side(h)) put_map(x, offsetof(mt_hopper_launch, side), &h->side_map);
  if (!h->launch.direct) put_map(x, offsetof(mt_hopper_launch, d), &h->map[MT_C]);
}

static void put_attributes (mt_recorded *x, const CUlaunchConfig *config) {
  const CUlaunchAttribute *a = config->attrs;
  for (unsigned i = 0; i < config->numAttrs; i++) {
    if (a[i].id == MT_CU_EARLY) x->early = true;
    else x->cluster = a[i].value.cluster[0];
  }
}

mt_status mt_cuda_record_launch (mt_cuda *c, const mt_kernel *k, const void *launch,
                                 const CUlaunchConfig *config, mt_err *err) {
  const size_t kernel = (size_t)(k - mt_cuda_kernels);
  const int kind = kind_of(kernel);
  mt_recorded x = {.kernel = k->name,
                   .op = k->op,
                   .image = mt_driver_code(k->op),
                   .launch = launch,
                   .bytes = sizes[kind],
                   .grid = {config->gridDimX, config->blockDimX},
                   .shared = config->sharedMemBytes,
                   .most_shared = (uint32_t)mt_cuda_most_shared(k)};
  put_addresses(&x, kind);
  if (kind == MT_OP_HOPPER)
    put_maps(&x, (const mt_hopper *)(const void *)((const char *)launch -
                                                   offsetof(mt_hopper, launch)));
  put_attributes(&x, config);
  MT_TRY(CU(c, err, cuFuncGetAttribute, (&x.binary, MT_CU_BINARY, c->function[kernel])));
  return c->recorder->add(c->recorder, &x, err);
}

/* Stream-K has flags that are zero at first, which no record says of memory. */
mt_status mt_cuda_record (mt_plan *p, mt_recorder *r, mt_err *err) {
  mt_cuda *c = p->device->impl;
  if (p->kernel->op == MT_OP_PIPELINE)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "plan: %s has tables in the memory of %s, which no record holds\n"
                   "take a kernel that is precompiled: kernel:why() says what differs",
                   p->kernel->name, p->device->name);
  if (!mt_cuda_is_ours(p->kernel))
    return mt_fail(err, MT_EUNSUPPORTED,
                   "plan: %s is a kernel of the host's, whose code no record holds",
                   p->kernel->name);
  MT_TRY(mt_cuda_enter(c, err));
  c->recorder = r;
  const mt_ampere held = p->ampere;
  const mt_hopper held_hopper = p->hopper;
  const mt_grid grid = p->grid;
  if (p->kernel->op == MT_OP_AMPERE || p->kernel->op == MT_OP_HOPPER)
    mt_stream_k_leave(p);
  mt_status s = mt_cuda_start_all(p, err);
  p->ampere = held;
  p->hopper = held_hopper;
  p->grid = grid;
  c->recorder = NULL;
  mt_cuda_leave(c);
  return s;
}
