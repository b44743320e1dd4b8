/*
** host.h - private to the binding: what the host permits; files.
** SPDX-License-Identifier: MIT
*/
#ifndef LMT_HOST_H
#define LMT_HOST_H

#include "binding/lmt.h"

/* ------------------------------------- what the host permits (binding/config.c) */

void lmt_unrestricted (mt_lua_config *config);
/* Whether a script may open the device *name; NULL becomes the first that it may. */
mt_status lmt_permit (const lmt_state *s, const char **name, const mt_device_options *o,
                      mt_err *err);
/* Options that keep to what is left of the threads. */
void lmt_bound (const lmt_state *s, mt_device_options *o);
/* Whether a device that was opened fits in; what it needs is counted until it is closed.
** */
mt_status lmt_admit (lmt_state *s, const mt_device *d, mt_err *err);
void lmt_dismiss (lmt_state *s, const mt_device *d);
/* Bytes that are permitted and not taken yet. Graphs count what plans hold once more, so
** that more may be counted than is permitted: then none are left. */
size_t lmt_bytesleft (const lmt_state *s);
/* Whether so many bytes more are permitted. */
mt_status lmt_permitbytes (const lmt_state *s, size_t bytes, mt_err *err);
/* Whether n launches more are permitted; then they are counted. */
mt_status lmt_refuselaunches (const lmt_state *s, mt_err *err);
static inline mt_status lmt_permitlaunches (lmt_state *s, uint64_t n, mt_err *err) {
  if (n > s->config.launches - s->launches) return lmt_refuselaunches(s, err);
  s->launches += n;
  return MT_OK;
}
/* Raises if a call does more work than permitted: n elements or multiply-adds; `what` is
** the function. */
void lmt_checkwork (lua_State *L, const char *what, uint64_t n);
/* What becomes a Lua value, or a part of a text, counts as so many elements. */
enum { LMT_VALUEWORK = 16, LMT_TEXTWORK = 256 };
uint64_t lmt_times (uint64_t a, uint64_t b); /* at most UINT64_MAX, both */
uint64_t lmt_plus (uint64_t a, uint64_t b);

/* ------------------------------------------------------------- files (binding/file.c) */

typedef struct lmt_file {
  lmt_resource *r;
} lmt_file; /* NULL: closed */
/* LMT_IFTHERE: to be read; if there is no file: NULL, and `err` is MT_OK. LMT_REPLACE:
** what is written takes the place of the file when it is finished. */
typedef enum lmt_access {
  LMT_READ,
  LMT_IFTHERE,
  LMT_REPLACE,
  LMT_APPEND,
  LMT_UPDATE /* what is there is written over */
} lmt_access;
/* A path without a zero byte. */
const char *lmt_checkpath (lua_State *L, int i);
/* Pushes the box of a regular file that is open, and stores it in *out. NULL: err. It is
** closed at the latest when the function ends that runs, by an error too. */
FILE *lmt_openfile (lua_State *L, const char *path, lmt_access access, lmt_file **out,
                    mt_err *err);
/* Whether n bytes more may be written; then they are counted. */
mt_status lmt_permitwritten (lmt_state *state, size_t n, mt_err *err);
mt_status lmt_write (lmt_file *box, const void *data, size_t n, mt_err *err);
/* Closes the file, which is then as it was written, or as it was before. */
mt_status lmt_finish (lmt_file *box, mt_err *err);
void lmt_abandon (lmt_file *box);
/* nil, "path: message", code */
int lmt_failfile (lua_State *L, const char *path, mt_err *err);

/* Lets the collector feel `bytes` more, as if Lua itself had allocated them. */
void lmt_press (lua_State *L, size_t bytes);

#endif
