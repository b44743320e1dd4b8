/*
** ref.h - private: the reference executor of copies.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_REF_H
#define MT_COPY_REF_H

#include "core/error.h"
#include "desc/copy_desc.h"
#include "desc/kernel.h"

/* Runs a launch as a GPU would, block by block, thread by
** thread, access by access, each offset computed from the descriptor alone. With `bytes`
** (sizes of the buffers) each access is verified before it is made: MT_ERANGE or
** MT_EALIGN with block, thread and value. */
mt_status mt_ref_run (const mt_kernel *k, mt_grid grid, const mt_launch *l,
                      const size_t *bytes, mt_err *err);

#endif
