/*
** kernel.h - private: a row of a table of kernels. Each backend has such a table.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_KERNEL_H
#define MT_DESC_KERNEL_H

#include "desc/algo_desc.h"
#include "desc/cast_desc.h"

/* Types of a row's conversion that stand for many: any; any to another number than the
** nearest; those of 1, 2, 4 or 8 bytes. */
enum { MT_any1 = 248, MT_any2, MT_any4, MT_any8, MT_rounded = 254, MT_any };
#define MT_CAST_ANY MT_CAST(MT_any, MT_any)
#define MT_CAST_ROUNDS MT_CAST(MT_any, MT_rounded)
#define MT_CAST_ALL MT_CAST(MT_any, 0)
static inline bool mt_cast_is_any (uint32_t cast) {
  return MT_CAST_SRC(cast) == MT_any && cast != MT_CAST_ALL;
}

typedef struct mt_kernel {
  const char *name; /* of the function in the image too: mt_NAME */
  uint8_t op, algo; /* mt_op, mt_algorithm */
  uint8_t bytes;    /* of one access; 0: any */
  uint16_t threads; /* DESCRIBED: the most a block may have; STRIDED: of every block */
  uint16_t
      unroll; /* STRIDED: accesses per thread; DESCRIBED: accesses in flight at most */
  /* Of a product: an atom's name, `*` is any text, and the GPU as mma.def has it. */
  uint16_t arch;
  const char *atom;
  bool swizzled; /* of swizzled sides, others of plain ones; bytes 0: of both */
  uint32_t cast; /* as in mt_desc; MT_CAST_ANY: any but 0; MT_CAST_ALL: any */
} mt_kernel;

typedef struct mt_grid {
  uint32_t blocks, threads;
} mt_grid;

/* Reasons why better rows were refused, in their order; what has no room is dropped. */
enum { MT_MAXREFUSED = 12 };
typedef struct mt_refusals {
  int n;
  const char *name[MT_MAXREFUSED]; /* of a row, or of a family: "copy_transpose" */
  uint16_t reason[MT_MAXREFUSED];  /* where it begins in text */
  uint16_t length;
  char text[1024];
} mt_refusals;
static inline const char *mt_refusals_reason (const mt_refusals *w, int i) {
  return w->text + w->reason[i];
}
void mt_refusals_add (mt_refusals *w, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The oldest GPU that runs the row: 90 is sm_90. */
int mt_kernel_arch (const mt_kernel *k);
/* Whether the row executes the atom on this GPU. */
bool mt_kernel_executes (const mt_kernel *k, const char *atom, int arch);

#endif
