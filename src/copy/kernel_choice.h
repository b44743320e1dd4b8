/*
** kernel_choice.h - private: the choice among the rows of a table of kernels for a copy.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_KERNEL_CHOICE_H
#define MT_COPY_KERNEL_CHOICE_H

#include "desc/copy_desc.h"
#include "desc/kernel.h"

/* Whether a CUDA kernel does the descriptor's conversion in this algorithm; own: one that
** is for these two types. */
bool mt_kernel_casts (const mt_desc *d, uint32_t algo, bool own);

/* The first row that fits the descriptor, and its grid; NULL if none does. */
const mt_kernel *mt_kernel_choose (const mt_kernel *rows, size_t n, const mt_desc *d,
                                   mt_grid *grid, mt_refusals *why);

#endif
