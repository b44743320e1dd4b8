/*
** arrays.h - private to the binding: elements of tensors to files and back.
** SPDX-License-Identifier: MIT
*/
#ifndef LMT_ARRAYS_H
#define LMT_ARRAYS_H

#include "binding/host.h"

enum { LMT_PIECE = 1 << 20 }; /* bytes that go between a file and a device at a time */

/* Where bytes come from: reads all n of them, or fails. */
typedef struct lmt_source {
  mt_status (*read)(void *ud, void *to, size_t n, mt_err *err);
  void *ud;
} lmt_source;
lmt_source lmt_fromfile (FILE *f); /* from where it is */
/* The elements of t, which is compact, from where they come, or to a file; `piece` is
** room for LMT_PIECE bytes. */
mt_status lmt_readdata (const lmt_tensor *t, lmt_source from, bool swap, char *piece,
                        mt_err *err);
/* Where bytes go. */
typedef struct lmt_sink {
  mt_status (*write)(void *ud, const void *p, size_t n, mt_err *err);
  void *ud;
} lmt_sink;
lmt_sink lmt_tofile (lmt_file *box);
mt_status lmt_writedata (const lmt_tensor *t, lmt_sink to, char *piece, mt_err *err);
/* The extents of the modes as a tuple. */
void lmt_extents (mt_layout *out, const mt_node *a);
/* The tensor at i; raises if its elements cannot go to a file. */
const lmt_tensor *lmt_checksaved (lua_State *L, int i, const char *who);
/* A function of Lua: T -> T, or a copy, whose elements are compact by rows | nil,
** message, code. */
int lmt_byrows (lua_State *L);

/* A tensor that is saved; its name and itself are at 2 i + 1 and 2 i + 2 of the table at
** 3. */
typedef struct lmt_saved {
  const char *name;
  size_t n, size; /* of the name; of an element */
  int i;
} lmt_saved;
/* Its elements by rows. Pushes nothing; -1: they were written, else how many results say
** what is wrong; 0: err (binding/safetensors.c). */
int lmt_writesaved (lua_State *L, lmt_sink to, const lmt_saved *x, char *piece,
                    mt_err *err);

/* ----------------------------------------------------------- .npz (binding/npz.c) */

bool lmt_isnpz (FILE *f);
/* Pushes the table of its tensors, on the device at `device`; `as` of all of them. */
mt_status lmt_loadnpz (lua_State *L, int device, const mt_dtype *as, FILE *f, char *piece,
                       mt_err *err);
/* All of x, to the file f of `box`, as lmt_writesaved does each. */
int lmt_writenpz (lua_State *L, FILE *f, lmt_file *box, const lmt_saved *x, int n,
                  bool compress, char *piece, mt_err *err);

/* ------------------------------------------- .safetensors (binding/safetensors.c) */

/* Pushes two blocks: the header, with the 8 bytes before it, and what it says of the
** tensors; NULL: err. */
mt_safetensor *lmt_readtensors (lua_State *L, FILE *f, const char **head, size_t *bytes,
                                size_t *n, mt_err *err);
void lmt_pushtensorname (lua_State *L, const char *head, const mt_safetensor *x);
/* Whether the file begins as one; it is then where it was. */
bool lmt_istensors (FILE *f);
/* Pushes the table of its tensors, on the device at `device`. */
mt_status lmt_loadtensors (lua_State *L, int device, const mt_dtype *as, FILE *f,
                           char *piece, mt_err *err);

#endif
