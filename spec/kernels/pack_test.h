/*
** pack_test.h - the emulated kernels that pack.
** SPDX-License-Identifier: MIT
*/
#ifndef PACK_TEST_H
#define PACK_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include "gemm/pack_desc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Row `row` of pack.def; false: a thread read outside of what it may read, did not wait for
** the launch before, or wrote what emulate_pack_write does not like. */
bool emulate_pack (size_t row, const mt_pack_launch *l);
bool emulate_pack_write (void *p, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
