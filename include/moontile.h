/*
** moontile.h - the public C API of moontile, and its manual.
** SPDX-License-Identifier: MIT
**
** A layout is a hierarchical pair shape:stride, a function from coordinates to offsets
** (the algebra of CuTe). A layout is a value: a preorder array of nodes without inner
** pointers. A mode of a layout is a pointer into it, so every function takes
** `const mt_node *` and works on layouts and on modes alike. Nothing here allocates,
** except where a function says so.
**
** Conventions
**   coordinates, offsets, threads, values count from 0; mode numbers in C from 0 too
**     (in Lua, mode numbers count from 1);
**   coordinates are colexicographic: the leftmost mode runs fastest; the last mode has no
**     bound;
**   output arguments come first, `mt_err *err` last, and `err` may not be NULL;
**   a function that can fail returns MT_OK or the status that it also stores in `err`;
**     on failure the output is unspecified and nothing has been leaked;
**   an output may not overlap an input;
**   no function prints, exits, keeps global state, or keeps a pointer to its input;
**   what takes no device is pure: any number of threads may call it at once, on the same
**     inputs, too. A device belongs to one thread at a time, with its memory, streams,
**     events, plans and graphs; a state of Lua likewise, with all devices that it opened.
**     Different devices share nothing that they write, also where they are one GPU;
**   64 KiB of a thread's stack are enough for any call of optimised code, also from Lua
**     and with what Lua takes; what a driver or a BLAS takes comes on top. (Measured on
**     x86-64: a script that goes to the ends of the library takes 55 KiB.)
*/
#ifndef MOONTILE_H
#define MOONTILE_H

#include "moontile/base.h"
#include "moontile/layout.h"
#include "moontile/types.h"
#include "moontile/npy.h"
#include "moontile/safetensors.h"
#include "moontile/tuple.h"
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "moontile/lattice.h"
#include "moontile/explain.h"
#include "moontile/partition.h"
#include "moontile/atom.h"
#include "moontile/tile.h"
#include "moontile/tensor.h"
#include "moontile/epilogue.h"
#include "moontile/analysis.h"
#include "moontile/gmma.h"
#include "moontile/tma.h"
#include "moontile/device.h"
#include "moontile/dlpack.h"
#include "moontile/plan.h"
#include "moontile/transfer.h"
#include "moontile/graph.h"
#include "moontile/extend.h"
#include "moontile/tune.h"
#include "moontile/verify.h"
#include "moontile/kernel.h"

#endif
