/*
** shim.h - what the Python package calls: one Lua state, values as arrays of structs.
** SPDX-License-Identifier: MIT
**
** A call takes an array of arguments in preorder and returns an answer: an array of
** results in preorder, whose first says whether it is one; MTPY_BUSY: another thread is
** in the middle of a call, and this one has waited for some time; call again. Answers are
** given back by mtpy_free. No error leaves a function here. Calls may be made by any
** thread; mtpy_unref and the deleters of exports note what is to be done, and the next
** call does it.
*/
#ifndef MOONTILE_SHIM_H
#define MOONTILE_SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "moontile/base.h"

typedef enum mtpy_kind {
  MTPY_NIL,
  MTPY_BOOLEAN,
  MTPY_INTEGER,
  MTPY_NUMBER,
  MTPY_STRING,   /* s, n bytes */
  MTPY_SEQUENCE, /* the n values that follow, in preorder */
  MTPY_TABLE,    /* the n pairs that follow */
  MTPY_REF,      /* i: a value of Lua; of a result s is its class */
  MTPY_WILDCARD,
  MTPY_DLPACK, /* of arguments: as mtpy_take returns it, which the call takes */
  MTPY_ERROR,  /* of answers: s, n bytes */
  MTPY_BUSY
} mtpy_kind;

typedef struct mtpy_value {
  int64_t kind, i, n;
  double d;
  const char *s;
} mtpy_value;

/* What is called with the arguments. */
typedef enum mtpy_what {
  MTPY_FUNCTION, /* of the module: `name` */
  MTPY_METHOD,   /* of the first: `name` */
  MTPY_CALL,     /* the first */
  MTPY_MULTIPLY,
  MTPY_DIVIDE,
  MTPY_EQUAL,
  MTPY_LENGTH,
  MTPY_INDEX,
  MTPY_TEXT,  /* tostring */
  MTPY_RUN,   /* the text of Lua `name`; the first: its globals */
  MTPY_VALUES /* nothing: the results are the arguments */
} mtpy_what;

typedef struct mtpy_state mtpy_state;

/* NULL: there is no memory. */
MT_API mtpy_state *mtpy_open (void);
MT_API void mtpy_free (mtpy_value *answer);
/* `count`: of the arguments, `n` of the values that they are. */
MT_API mtpy_value *mtpy_call (mtpy_state *s, int what, const char *name, int count,
                              const mtpy_value *args, int64_t n);
/* Launches the plan on its device's own stream, or on `stream`, a reference. NULL: it was
** launched. quick: it waits for nothing, Ctrl-C need not end it. */
MT_API mtpy_value *mtpy_launch (mtpy_state *s, int64_t plan, int64_t stream, int quick);
/* The reference is needed no more. */
MT_API void mtpy_unref (mtpy_state *s, int64_t ref);
/* *out holds the tensor as DLPack, pinned, until its deleter is called. NULL: it does. */
MT_API mtpy_value *mtpy_export (mtpy_state *s, int64_t tensor, int versioned, void **out);
/* A stream of the host's: one result. */
MT_API mtpy_value *mtpy_stream (mtpy_state *s, const char *device, uint64_t handle);
/* In a child of fork(), before anything else. */
MT_API void mtpy_forked (mtpy_state *s);
/* The thread whose calls Ctrl-C ends, as pthread_self has it (signals.c). */
MT_API void mtpy_main_thread (uint64_t thread);
/* Whether it ended the last of them. */
MT_API int mtpy_interrupted (void);

/* ---- capsules; these need functions of Python, and who calls holds its lock. */
MT_API void mtpy_python (int (*is_valid)(void *, const char *),
                         void *(*get_pointer)(void *, const char *),
                         int (*set_name)(void *, const char *));
/* What a capsule of DLPack holds, which it does not any more; odd: of version 1 or later.
** 0: it is none, or was used. */
MT_API uint64_t mtpy_take (void *capsule);
/* What mtpy_take returned is needed no more. */
MT_API void mtpy_delete (uint64_t managed);
/* The destructor of a capsule that holds an export nobody took. */
MT_API void mtpy_drop (void *capsule);
/* What scripts can call: number i; 0: there are no more. */
MT_API int mtpy_operation (int i, const char **where, const char **name,
                           const char **takes);

#endif
