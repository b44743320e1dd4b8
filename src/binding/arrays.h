/*
** arrays.h - private to the binding: elements of tensors to files and back.
** SPDX-License-Identifier: MIT
*/
#ifndef LMT_ARRAYS_H
#define LMT_ARRAYS_H

#include "binding/host.h"

enum { LMT_PIECE = 1 << 20 }; /* bytes that go between a file and a device at a time */

/* The elements of t, which is compact, from the file where it is, or to it; `piece` is
** room for LMT_PIECE bytes. */
mt_status lmt_readdata (const lmt_tensor *t, FILE *f, bool swap, char *piece,
                        mt_err *err);
mt_status lmt_writedata (const lmt_tensor *t, lmt_file *box, char *piece, mt_err *err);
/* The extents of the modes as a tuple. */
void lmt_extents (mt_layout *out, const mt_node *a);
/* The tensor at i; raises if its elements cannot go to a file. */
const lmt_tensor *lmt_checksaved (lua_State *L, int i, const char *who);
/* A function of Lua: T -> T, or a copy, whose elements are compact by rows | nil,
** message, code. */
int lmt_byrows (lua_State *L);

/* ------------------------------------------- .safetensors (binding/safetensors.c) */

/* Whether the file begins as one; it is then where it was. */
bool lmt_istensors (FILE *f);
/* Pushes the table of its tensors, on the device at `device`. */
mt_status lmt_loadtensors (lua_State *L, int device, const mt_dtype *as, FILE *f,
                           char *piece, mt_err *err);

#endif
