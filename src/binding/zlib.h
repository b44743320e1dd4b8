/*
** zlib.h - private to the binding: deflate and inflate, by the zlib that the system has.
** SPDX-License-Identifier: MIT
**
** It is opened where it is needed, and never linked: "libz.so.1", whose binary interface
** has been the same since 1995. Its memory is a part of the block that Lua owns: nothing
** is left behind by an error.
*/
#ifndef LMT_ZLIB_H
#define LMT_ZLIB_H

#include "binding/lmt.h"

#define LMT_ZLIB "moontile.Zlib"
typedef struct lmt_zlib lmt_zlib;

/* Pushes one that is closed at the latest when the function ends that runs; NULL: err. */
lmt_zlib *lmt_openzlib (lua_State *L, mt_err *err);

/* ---- of a member at a time; `raw` deflate, as zip has it. */

mt_status lmt_inflate_begin (lmt_zlib *z, mt_err *err);
/* Inflates to `to`, `*n` bytes at most, from `*from`, `*left` bytes: how many there were,
** and what is left. *done: the data have ended. Errors: MT_EFORMAT, MT_ENOMEM. */
mt_status lmt_inflate (lmt_zlib *z, void *to, size_t *n, const void **from, size_t *left,
                       bool *done, mt_err *err);
mt_status lmt_deflate_begin (lmt_zlib *z, mt_err *err);
/* The other way; last: nothing follows what is there, and *done tells that all is out. */
mt_status lmt_deflate (lmt_zlib *z, void *to, size_t *n, const void **from, size_t *left,
                       bool last, bool *done, mt_err *err);

#endif
