/*
** copy_rows.h - the rows of copy.def as structs: for mutants, each in its namespace.
** Threads of blocks that have words of pixels meet too.
** SPDX-License-Identifier: MIT
*/
namespace mt {
#define MT_COPY_KERNEL(name, algo, bytes, threads, unroll)                               \
  struct row_##name {                                                                    \
    enum {                                                                               \
      ALGO = MT_ALGO_##algo,                                                             \
      BYTES = bytes,                                                                     \
      UNROLL = unroll,                                                                   \
      TOGETHER = (MT_IS_##algo & MT_TILED) != 0 ||                                       \
                 (MT_ALGO_##algo == MT_ALGO_STRIDED && (bytes) == 1)                     \
    };                                                                                   \
  };
#include "kernels/copy/copy.def"
} // namespace mt
