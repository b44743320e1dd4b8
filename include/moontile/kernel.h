/*
** kernel.h - a kernel of a product as a value: described, proven, executed by stages.
** SPDX-License-Identifier: MIT
**
** A block computes a tile (bM,bN) of C. For each step of bK it fills a stage of shared
** memory with a tile (bM,bK) of A and one (bN,bK) of B, brings what the instruction wants
** in registers there, and multiplies; then it writes the tile out. The description says
** who brings what by which instruction, and how far ahead; nothing of the problem.
*/
#ifndef MOONTILE_KERNEL_H
#define MOONTILE_KERNEL_H

#include "moontile/analysis.h"
#include "moontile/device.h"
#include "moontile/epilogue.h"
#include "moontile/gmma.h"
#include "moontile/plan.h"
#include "moontile/tile.h"
#include "moontile/tma.h"
#include "moontile/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- the value */

/* How a stage is filled: through registers; by cp.async; by TMA. */
#define MT_FILLS(X)                                                                      \
  X(MT_FILL_THREADS, "threads")                                                          \
  X(MT_FILL_CP_ASYNC, "cp.async")                                                        \
  X(MT_FILL_TMA, "tma")

/* Who works: all threads fill and multiply; a warp fills, the others multiply one tile
** together, or two tiles in turn. */
#define MT_SCHEDULES(X)                                                                  \
  X(MT_MULTISTAGE, "multistage")                                                         \
  X(MT_COOPERATIVE, "cooperative")                                                       \
  X(MT_PINGPONG, "pingpong")

#define MT_KERNEL_NAME(value, name) value,
typedef enum mt_fill { MT_FILLS(MT_KERNEL_NAME) MT_NFILL } mt_fill;
typedef enum mt_schedule { MT_SCHEDULES(MT_KERNEL_NAME) MT_NSCHEDULE } mt_schedule;
#undef MT_KERNEL_NAME
MT_API const char *mt_fill_name (mt_fill f);         /* "cp.async" */
MT_API const char *mt_schedule_name (mt_schedule s); /* "pingpong" */

/* What a description says; the rest is found. */
enum {
  MT_GIVEN_TILE = 1 << 0,
  MT_GIVEN_STAGES = 1 << 1,
  MT_GIVEN_AHEAD = 1 << 2,
  MT_GIVEN_ARCH = 1 << 3,
  MT_GIVEN_C = 1 << 4,
  /* of an operand */
  MT_GIVEN_SMEM = 1 << 0,
  MT_GIVEN_FILL = 1 << 1,
  MT_GIVEN_COPY = 1 << 2,
  MT_GIVEN_S2R = 1 << 3
};

/* The way of A or B. smem: (bM,bK,stages) or (bN,bK,stages) -> element. copy: who fills
** what, unless TMA does. s2r: how registers are filled; none if `s2r.bits` is 0: as the
** MMA has them, or the instruction reads shared memory. multicast: CTAs of the cluster
** that share what TMA brings. */
typedef struct mt_operand_way {
  unsigned given;
  mt_layout smem;
  mt_fill fill;
  mt_tiled_copy copy, s2r;
  int64_t multicast;
} mt_operand_way;

/* What becomes of a tile: C = activation(alpha A B + beta C + bias) + residual, as
** moontile/epilogue.h says. bias: a vector with an element for each column of C
** (MT_ALONG_ROW), or for each row; MT_ALONG_AUTO: there is none. type: that of C, if
** MT_GIVEN_C. */
typedef struct mt_gemm_ending {
  double alpha, beta;
  mt_along bias;
  mt_activation activation;
  bool residual;
  mt_dtype type;
} mt_gemm_ending;

/* Plain data. ahead: how many steps a stage is filled before it is used. cluster: CTAs
** along M and N. d: the tile of C on its way out through shared memory, (bM,bN); empty
** (all 0): it goes from registers to memory. raster: 0: tiles of M first, 1: of N. */
typedef struct mt_gemm_spec {
  unsigned given;
  mt_tiled_mma mma;
  mt_dtype type[2];
  int64_t tile[3];
  int64_t stages, ahead;
  mt_operand_way way[2];
  mt_layout d;
  bool staged; /* d is one */
  int64_t cluster[2];
  int raster, arch;
  mt_schedule schedule;
  mt_gemm_ending ending;
} mt_gemm_spec;
/* More than alpha A B + beta C. */
MT_API bool mt_gemm_finishes (const mt_gemm_spec *k);

/* Finds what is not given: the tile is that of the MMA, 128 bytes deep; stages as many as
** fit, 4 at most; filled by accesses as wide as can be; laid out for wgmma as it reads
** them, else by mt_find_swizzle; fragments by ldmatrix where it fits. list: room for the
** search. A `smem` of two modes is given to all stages. Errors: MT_EINVAL (the
** description contradicts itself), MT_EINEXACT (something was not found), with what to
** say. */
MT_API mt_status mt_complete_gemm (mt_gemm_spec *k, mt_candidate list[MT_MAXCANDIDATES],
                                   mt_err *err);
/* Threads of a block, with its producer. */
MT_API int64_t mt_gemm_threads (const mt_gemm_spec *k);

/* The precompiled kernels, each as the value that it is, for tensors that it takes
** without another way: its name, NULL at the end; 90 for TMA and wgmma, 80 for cp.async
** and mma.sync, 0 where no value says what it is; whether it ends as k does, with an
** epilogue or without (mt_gemm_finishes), and reads C or a residual if k does; whether it
** is as a row before it, but for D that has no map; the type of A, B (0, 1); the kernel,
** whose ending is alpha 1. */
MT_API const char *mt_gemm_row_name (int i);
MT_API int mt_gemm_row_arch (int i);
MT_API bool mt_gemm_row_ends (int i, const mt_gemm_spec *k);
MT_API bool mt_gemm_row_is_twin (int i);
MT_API mt_dtype mt_gemm_row_type (int i, int part);
MT_API mt_status mt_gemm_row (mt_gemm_spec *k, int i, mt_candidate list[MT_MAXCANDIDATES],
                              mt_err *err);

/* What a description may say, by the names that tile.kernel has for it. */
#define MT_KERNEL_FIELDS(X)                                                              \
  X(MT_FIELD_MMA, "mma")                                                                 \
  X(MT_FIELD_TILE, "tile")                                                               \
  X(MT_FIELD_STAGES, "stages")                                                           \
  X(MT_FIELD_AHEAD, "ahead")                                                             \
  X(MT_FIELD_SMEM_A, "smem.A")                                                           \
  X(MT_FIELD_SMEM_B, "smem.B")                                                           \
  X(MT_FIELD_SMEM_D, "smem.D")                                                           \
  X(MT_FIELD_G2S_A, "g2s.A")                                                             \
  X(MT_FIELD_G2S_B, "g2s.B")                                                             \
  X(MT_FIELD_S2R_A, "s2r.A")                                                             \
  X(MT_FIELD_S2R_B, "s2r.B")                                                             \
  X(MT_FIELD_SCHEDULE, "schedule")                                                       \
  X(MT_FIELD_RASTER, "raster")                                                           \
  X(MT_FIELD_CLUSTER, "cluster")

#define MT_KERNEL_NAME(field, name) field,
typedef enum mt_kernel_field {
  MT_KERNEL_FIELDS(MT_KERNEL_NAME) MT_NFIELD
} mt_kernel_field;
#undef MT_KERNEL_NAME
MT_API const char *mt_kernel_field_name (mt_kernel_field f); /* "smem.A" */

/* What two complete kernels for the same types differ in: the sum of 1 << field.
** (1) 0: both do the same, in the same order. Layouts are compared as functions. What
** follows from the tile (smem, g2s, s2r) is not compared where tiles differ, nor what is
** brought `ahead` where it is so many stages less than there are. The ending is not
** compared. */
MT_API unsigned mt_gemm_differs (const mt_gemm_spec *a, const mt_gemm_spec *b);

/* A precompiled kernel beside a described one: its number (mt_gemm_row_name), what it
** differs in, and how far its tile and its stages are from those (doublings). */
typedef struct mt_near_row {
  int row;
  unsigned differs;
  double far;
} mt_near_row;

/* Of the precompiled kernels that read the types of k, and finish if k does, the nearest
** `room`, the nearest first: of the fewest differences, then the least far, then the
** first of the list. Returns how many. scratch: a kernel and a list that are
** overwritten. Rows that differ in nothing are k; more than one differ in the type of
** C. */
MT_API int mt_gemm_near (mt_near_row *out, int room, const mt_gemm_spec *k,
                         mt_gemm_spec *scratch, mt_candidate list[MT_MAXCANDIDATES]);

/* ---------------------------------------------------------------- proofs */

/* law              name        what it says
**   cover     tiles cover (M,N,K,L), what is outside is predicated
**   in        each element of a stage is brought once
**   room      shared memory: each element at a place of its own, stages apart, within the
**             limit of the architecture
**   fit       each thread gets in registers what the MMA wants there
**   once      every (m,n,k) of a tile is multiplied once
**   out       each element of C is written once
**   order     no stage is filled before its last reader, or read before it is filled; no
**             deadlock: of all interleavings
**   hardware  what instructions want: alignment, boxes, descriptors, registers */
#define MT_LAWS(X)                                                                       \
  X(MT_LAW_COVER, "cover")                                                               \
  X(MT_LAW_IN, "in")                                                                     \
  X(MT_LAW_ROOM, "room")                                                                 \
  X(MT_LAW_FIT, "fit")                                                                   \
  X(MT_LAW_ONCE, "once")                                                                 \
  X(MT_LAW_OUT, "out")                                                                   \
  X(MT_LAW_ORDER, "order")                                                               \
  X(MT_LAW_HARDWARE, "hardware")

#define MT_LAW_NAME(law, name) law,
typedef enum mt_law { MT_LAWS(MT_LAW_NAME) MT_NLAW } mt_law;
#undef MT_LAW_NAME
MT_API const char *mt_law_name (mt_law l); /* "cover" */

/* What an access costs in wavefronts of shared memory, or in sectors: `ideal` is the
** least that its bytes need. 0, 0: it was not counted. */
typedef struct mt_access_cost {
  int64_t n, ideal;
} mt_access_cost;

/* The tensors of a kernel: A (M,K), B (N,K), C (M,N), each with or without a batch; bias
** and residual, as moontile/epilogue.h has them. */
enum { MT_KERNEL_BIAS = 3, MT_KERNEL_RESIDUAL, MT_KERNEL_TENSORS };

/* A proof, or the first law that does not hold and why. said: of each law that holds a
** line. Figures of a kernel of which no law is broken: of A and of B `write` and `read`
** of a stage in wavefronts, `sectors` of the tile in global memory, if there were
** tensors. It is large, for its search: no local variable. */
enum { MT_ORDER_STATES = 1 << 14 };
typedef struct mt_gemm_proof {
  bool ok;
  mt_law broken;
  char reason[MT_ERRSIZE];
  char said[MT_NLAW][256];
  int64_t threads, shared, limit, registers, most_registers;
  mt_access_cost write[2], read[2], sectors[2];
  int64_t states;
  /* the search; compact tensors in the place of composed ones */
  mt_verdict verdict;
  uint64_t seen[MT_ORDER_STATES];
  const mt_tensor *in[MT_KERNEL_TENSORS];
  mt_tensor stand_in[MT_KERNEL_TENSORS];
  mt_layout compact[MT_KERNEL_TENSORS];
} mt_gemm_proof;

/* Proves the kernel for these tensors, of which some may be composed: it is that of
** compact ones then, and C is proven as it was given. bias, residual
** NULL: for any that fit; t NULL: for any that are aligned as the kernel wants. MT_OK:
** there is an answer. Errors: those of a call that is stopped. */
MT_API mt_status mt_verify_gemm (mt_gemm_proof *out, const mt_gemm_spec *k,
                                 const mt_tensor *const t[MT_KERNEL_TENSORS],
                                 mt_err *err);
/* For people, like snprintf. */
MT_API size_t mt_gemm_proof_format (char *buf, size_t size, const mt_gemm_proof *p,
                                    const mt_gemm_spec *k);

/* ---------------------------------------------------------------- execution */

/* The `columns` of mt_gemm_options that suit it: A, B as they lie in shared memory. */
MT_API unsigned mt_kernel_columns (const mt_gemm_spec *k);

/* C = activation(alpha A B + beta C + bias) + residual as the kernel is described, stage
** by stage: shared memory of exactly its size, what is not filled poisoned, roles in a
** random order that their barriers allow, by `seed`. `room`: mt_gemm_room_for bytes,
** aligned to 64. The kernel has been proven for these tensors. Errors: MT_EINVAL (a bias
** or a residual that the ending has is not there), MT_EUNSUPPORTED (the instruction is
** not known to the processor), those of products. */
MT_API size_t mt_gemm_room_for (const mt_gemm_spec *k);
MT_API mt_status mt_run_gemm (const mt_gemm_spec *k,
                              const mt_tensor *const t[MT_KERNEL_TENSORS], uint64_t seed,
                              void *room, mt_err *err);
/* The same with operands that may be composed, on a device of the host: they are copied
** by lists of offsets into memory of d before, at most so many bytes of it (0: any), C
** back after. Errors: those of copies, too. */
MT_API mt_status mt_run_gemm_on (mt_device *d, const mt_gemm_spec *k,
                                 const mt_tensor *const t[MT_KERNEL_TENSORS],
                                 uint64_t seed, void *room, size_t memory, mt_err *err);

/* A plan of it on a GPU by a kernel for any description over one instruction, for where
** no precompiled kernel is it: stages, copies and atoms as described. Not as described:
** what TMA would bring comes by plain copies, roles of warps are all threads in turn,
** wgmma reads its operands moved out of their stage, the tile of C goes out from
** registers. memory: as mt_gemm_options has it; near: NULL, or what the plan says why it
** is this one. Errors: MT_EINVAL (a law is broken), MT_EUNSUPPORTED (a device of the
** host; an instruction that it has not; shared memory, sums), those of mt_plan_gemm. */
MT_API mt_status mt_plan_kernel (mt_plan **out, mt_device *d, const mt_gemm_spec *k,
                                 const mt_tensor *const t[MT_KERNEL_TENSORS],
                                 size_t memory, const mt_near_row *near, mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
