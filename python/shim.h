/*
** shim.h - what the Python package calls: one Lua state, values as arrays of structs.
** SPDX-License-Identifier: MIT
**
** A call is an array of arguments in preorder and gives an array of results, read before
** the next call. No error leaves a function here: each returns a status and leaves its
** text. One thread at a time, which the Python side sees to; mtpy_unref and the deleters
** of exports may be called by any thread at any time: they note what is to be done, and
** the next call does it.
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
  MTPY_WILDCARD
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
  MTPY_TEXT, /* tostring */
  MTPY_RUN   /* the text of Lua `name`; the first: its globals */
} mtpy_what;

typedef struct mtpy_state mtpy_state;

/* NULL: there is no memory. */
MT_API mtpy_state *mtpy_open (void);
/* Why the last call failed, and how many results the last one had, with what is inside
** of them. */
MT_API const char *mtpy_error (const mtpy_state *s);
MT_API const mtpy_value *mtpy_results (const mtpy_state *s, int64_t *n);
/* 0, or the call raised. `count`: of the arguments, `n` of the values that they are. */
MT_API int mtpy_call (mtpy_state *s, int what, const char *name, int count,
                      const mtpy_value *args, int64_t n);
/* Launches the plan on its device's own stream, or on `stream`, a reference. */
MT_API int mtpy_launch (mtpy_state *s, int64_t plan, int64_t stream);
/* The reference is needed no more. */
MT_API void mtpy_unref (mtpy_state *s, int64_t ref);
/* A tensor over the memory of a DLManagedTensor(Versioned), which it takes: one result. */
MT_API int mtpy_import (mtpy_state *s, void *managed, int versioned);
/* The other way: *out holds the tensor, pinned, until its deleter is called. */
MT_API int mtpy_export (mtpy_state *s, int64_t tensor, int versioned, void **out);
/* A stream of the host's: one result. */
MT_API int mtpy_stream (mtpy_state *s, const char *device, uint64_t handle);
/* The destructor of a capsule that holds an export nobody took; needs the two functions
** of Python. */
MT_API void mtpy_python (int (*is_valid)(void *, const char *),
                         void *(*get_pointer)(void *, const char *));
MT_API void mtpy_drop (void *capsule);
/* What scripts can call: number i; 0: there are no more. */
MT_API int mtpy_operation (int i, const char **where, const char **name,
                           const char **takes);

#endif
