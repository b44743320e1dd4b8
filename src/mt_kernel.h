/*
** mt_kernel.h - private: the tables of kernels, one per backend, and the choice among
** their rows.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_KERNEL_H
#define MT_KERNEL_H

#include "moontile.h"
#include "mt_desc.h"

/* The type that stands for any, in a conversion of a row. */
enum { MT_any = 255 };
#define MT_CAST_ANY MT_CAST(MT_any, MT_any)
#define MT_CAST_ALL MT_CAST(MT_any, 0)

typedef struct mt_kernel {
  const char *name;        /* of the function in the image too: mt_NAME */
  uint8_t op, form;        /* mt_op, mt_form */
  uint8_t bytes;           /* of one access; 0: any */
  uint16_t threads;        /* TV: the most a block may have; FLAT: of every block */
  uint16_t unroll;         /* FLAT: accesses per thread; TV: accesses in flight at most */
  /* Of a product: an atom's name, `*` is any text, and the GPU as kernels.def has it. */
  uint16_t arch;
  const char *atom;
  bool swizzled;           /* of swizzled sides, others of plain ones; bytes 0: of both */
  uint32_t cast;           /* as in mt_desc; MT_CAST_ANY: any but 0; MT_CAST_ALL: any */
} mt_kernel;

typedef struct mt_grid { uint32_t blocks, threads; } mt_grid;

/* Rows of kernels/kernels.def, and those of the CPU executor. */
extern const mt_kernel mt_cuda_kernels[], mt_cpu_kernels[];
extern const size_t mt_ncuda_kernels, mt_ncpu_kernels;

/* Whether the code of the CUDA kernels is in this library: built without nvcc, it is
** not. */
bool mt_cuda_has_kernels (void);

/* Reasons why better rows were refused: lines "NAME: reason". */
typedef struct mt_why { char text[1024]; size_t length; } mt_why;
void mt_why_add (mt_why *w, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a kernel of CUDA does the descriptor's conversion in this form; own: one that
** is for these two types. */
bool mt_kernel_casts (const mt_desc *d, uint32_t form, bool own);

/* The first row that fits the descriptor, and its grid; NULL if none does. */
const mt_kernel *mt_kernel_choose (const mt_kernel *rows, size_t n, const mt_desc *d,
                                   mt_grid *grid, mt_why *why);

/* Whether the row executes the atom on this GPU: 90 is sm_90. */
bool mt_kernel_executes (const mt_kernel *k, const char *atom, int arch);

#endif
