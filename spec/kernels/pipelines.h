/*
** pipelines.h - described kernels, emulated.
** SPDX-License-Identifier: MIT
*/
#ifndef PIPELINES_H
#define PIPELINES_H

#include <stdbool.h>

#include "gemm/gemm.h"
#include "products.h"

/* Runs the product by a random kernel of this tiled MMA; false if none was proven. */
bool one_pipeline (const char *name, unsigned blocks, const mt_gemm_launch *l,
                   const mt_tiled_mma *mma, emulated_instruction *how);

#endif
