/*
** base.h - what every other header needs: versions, limits, errors.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_BASE_H
#define MOONTILE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MT_API
#define MT_API __attribute__((visibility("default")))
#endif

#define MT_VERSION_MAJOR 0
#define MT_VERSION_MINOR 2
#define MT_VERSION_PATCH 0
#define MT_VERSION "0.2.0"

enum {
  MT_MAXNODES = 64, /* nodes of one layout, tuple or tiler */
  MT_MAXDEPTH = 16, /* nesting of one layout, tuple or tiler */
  MT_MAXPATH = 7,   /* indices of one basis element, 1@0@1 has two */
  MT_ERRSIZE = 2048 /* bytes of an error text, its end included */
};

/* ---------------------------------------------------------------- statuses */

/* name             text */
#define MT_STATUSES(X)                                                                   \
  X(MT_OK, "no error")                                                                   \
  X(MT_EINVAL, "invalid argument")                                                       \
  X(MT_ESYNTAX, "syntax error")                                                          \
  X(MT_ERANK, "ranks do not match")                                                      \
  X(MT_ERANGE, "out of range")                                                           \
  X(MT_EOVERFLOW, "integer overflow")                                                    \
  X(MT_ETOOBIG, "too many modes")                                                        \
  X(MT_EINEXACT, "no exact answer")                                                      \
  X(MT_EINJECTIVE, "not injective")                                                      \
  X(MT_EALIGN, "misaligned")                                                             \
  X(MT_EOVERLAP, "source and destination overlap")                                       \
  X(MT_EUNSUPPORTED, "not supported")                                                    \
  X(MT_EFORMAT, "bad file")                                                              \
  X(MT_EIO, "file cannot be read or written")                                            \
  X(MT_ENOMEM, "out of memory")                                                          \
  X(MT_ENODEV, "no such device")                                                         \
  X(MT_EDRIVER, "driver error")                                                          \
  X(MT_ELOST, "device lost")                                                             \
  X(MT_EDENIED, "forbidden by the host")                                                 \
  X(MT_ELIMIT, "beyond a limit of the host")                                             \
  X(MT_ESTOPPED, "stopped by the host")                                                  \
  X(MT_ESCRIPT, "error in a script")

#define MT_STATUS_NAME(name, text) name,
typedef enum mt_status { MT_STATUSES(MT_STATUS_NAME) MT_NSTATUS } mt_status;
#undef MT_STATUS_NAME

/* Whether the call at hand is to end. A call that takes long asks every few milliseconds,
** on the thread that made it and in the middle of its work: whoever answers may use
** nothing that the call uses, nor free it. */
typedef bool mt_stop (void *ud);

/* How far a call has come: what it does, and how much of it is done, in bytes,
** operations, launches, ... */
typedef struct mt_progress {
  const char *op, *unit;
  double done, total;
} mt_progress;
/* Told every few milliseconds, as mt_stop is asked and under the same rule. NULL: the
** call that was told of is over, however it ended. */
typedef void mt_report (void *ud, const mt_progress *p);

/* Who is told. It may serve many calls, one after the other. */
typedef struct mt_watch {
  mt_report *report;
  void *ud;
  struct mt_stint *stint; /* the library's: NULL at first */
  bool told;              /* the library's: false at first */
} mt_watch;

/* What went wrong, and who may stop a call. `text` is one or more lines, without a final
** newline: the operation, its operands, the condition, a witness, a way out.
** Start with `mt_err err = MT_NOERR;`: one serves many calls, and none of them takes NULL
** for it. `stop` is NULL, or asked by the calls that get this err: after true they end
** soon, with MT_ESTOPPED. What such a call writes is then written in part; everything can
** be used again. What a GPU was told to do it does all the same. `watch` is NULL, or says
** who is told how far they are. */
typedef struct mt_err {
  mt_status status;
  mt_stop *stop;
  void *stop_ud;
  mt_watch *watch;
  char text[MT_ERRSIZE];
} mt_err;
#define MT_NOERR                                                                         \
  {                                                                                      \
    MT_OK, NULL, NULL, NULL, { 0 }                                                       \
  }

/* A part of a call, of `total` units, of which `done` are done. What is being done now is
** worth `step` units; a stint inside may know more of it. For a host whose own work is
** made of calls: between begin and end, on one thread, they are told of as one. Who
** begins ends, before the frame of the stint is left. */
typedef struct mt_stint {
  struct mt_stint *outer;
  const char *op, *unit;
  double total, done, step;
} mt_stint;
MT_API void mt_stint_begin (mt_stint *s, const char *op, const char *unit, double total,
                            mt_err *err);
MT_API void mt_stint_end (const mt_stint *s, mt_err *err);
/* Tells err's watch how far the call is; nobody, if there is none. */
MT_API void mt_stint_tell (const mt_err *err);

MT_API const char *mt_status_name (mt_status s); /* "MT_ERANK" */
MT_API const char *mt_status_text (mt_status s); /* "ranks do not match" */
MT_API const char *mt_strerror (mt_status s);    /* the same */
MT_API const char *mt_version (void);            /* "0.2.0" */

#ifdef __cplusplus
}
#endif

#endif
