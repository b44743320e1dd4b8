/*
** plan.h - private to the binding: plans, the cache of plans, graphs, products.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_PLAN_H
#define MT_BINDING_PLAN_H

#include "binding/lmt.h"

/* ------------------------------------------------------------ copies (binding/plan.c) */

/* Copies src to dst and waits for it, unless the device records: two tensors at stack
** indices, of one device, or one of them in the host's memory. */
mt_status lmt_copynow (lua_State *L, int src, int dst, mt_err *err);

/* plan(...), what scripts call; frees the plan at `i`. */
int lmt_plan (lua_State *L);
void lmt_freeplan (lua_State *L, int i);
/* copy_if(...), and the options of a copy (binding/copy_if.c). */
int lmt_copyif (lua_State *L);
bool lmt_copyoptions (lua_State *L, const char *op, mt_rounding *rounding);

/* How a plan is made for `n` tensors of one device: what is planned, their names. */
enum { LMT_PLANTENSORS = 5 };
typedef struct lmt_planner {
  const char *op;
  bool between; /* also of two tensors of which one is in the host's memory */
  int n;
  const char *const *names;
  mt_status (*plan)(mt_plan **out, mt_device *d, const void *what, const mt_tensor *t,
                    mt_err *err);
  uint64_t (*work)(const mt_tensor *t); /* elements or multiply-adds */
} lmt_planner;
/* Pushes a plan for the tensors from stack index `first` on, which keeps their buffers
** alive. False: `err`, and what was pushed is no plan. */
bool lmt_pushplan (lua_State *L, int first, const lmt_planner *how, const void *what,
                   mt_err *err);
/* Launches the plan on the top on the stream at `stream` (0: none), frees, pops it. */
mt_status lmt_runplan (lua_State *L, int stream, mt_err *err);
/* Launches the plan if the state may launch once more. */
mt_status lmt_launchplan (mt_plan *p, const lmt_device *d, mt_stream *s, mt_err *err);
/* The plan at `i`, not freed; `live`: nor are its tensors. */
mt_plan *lmt_toplan (lua_State *L, int i, bool live);
uint64_t lmt_planwork (lua_State *L, int i);
/* Of the live plan at i: how many tensors, their names; the buffer of the k-th. */
int lmt_plannames (lua_State *L, int i, const char *const **names);
const lmt_buffer *lmt_planbuffer (lua_State *L, int i, int k);
/* mt_plan_take for the live plan at `i`, within the bytes that are left. */
mt_status lmt_takeway (lua_State *L, int i, const char *kernel, int how, mt_err *err);
/* The plan on the top takes the kernel that was measured to be the fastest, if there is
** one. */
void lmt_cached (lua_State *L);
void lmt_pushtuned (lua_State *L); /* what was measured: a table */
void lmt_retuned (lua_State *L);   /* it is another now */
mt_tiled_copy *lmt_totiledcopy (lua_State *L, int i);
/* Of each tiled copy another one, from 1 on: it never changes. */
uint64_t lmt_copynumber (lua_State *L, int i);
bool lmt_istiledcopy (lua_State *L, int i);

/* ---------------------------------------- remembered plans (binding/plan_cache.c) */

/* All that a plan is made of: what it does, its tensors, how. */
enum { LMT_KEYWORDS = 256, LMT_KEYCOPY = 0, LMT_KEYGEMM = 1 };
typedef struct lmt_plankey {
  uint64_t hash;
  const mt_device *device[2]; /* of the first tensors */
  size_t size;                /* bytes of `word` that count */
  uint64_t word[LMT_KEYWORDS];
} lmt_plankey;

/* The key of n tensors from stack index `first` on, of which `bytes` bytes at `how` say
** more, a multiple of 8 without padding, another number for each operation first; false:
** that is too much. */
bool lmt_makekey (lua_State *L, lmt_plankey *k, int first, int n, const void *how,
                  size_t bytes);
/* The plan that the device remembers, NULL: none. The collector does not run. */
mt_plan *lmt_cachedplan (lua_State *L, lmt_device *d, const lmt_plankey *k);
/* After a recall that found none: the device keeps it; false: it is the caller's, as is
** one that holds much of the device's memory. */
bool lmt_cacheplan (const lmt_device *d, const lmt_plankey *k, mt_plan *p);
/* The same of the plan on the top, which is popped and returned; NULL: it stays there.
** Raises where a tensor of it was freed. */
mt_plan *lmt_keepplan (lua_State *L, const lmt_device *d, const lmt_plankey *k);
/* Forgets plans of d's tensors, or between it and another device; NULL: all. */
void lmt_forgetplans (lmt_state *state, const mt_device *d);
int lmt_deviceplans (lua_State *L); /* device:plans(), a lua_CFunction */

/* ----------------------------------------------------------- graphs (binding/graph.c) */

int lmt_devicegraph (lua_State *L); /* device:graph(f), a lua_CFunction */
/* Raises while d records: `what` would not see what is recorded. */
void lmt_checkidle (lua_State *L, const lmt_device *d, const char *what);
/* Lets the graph that is recorded keep the buffers of a plan: its user values 1 .. n. */
void lmt_keep (lua_State *L, int plan, int n, const char *const *names);

/* ---------------------------------------------------------- products (binding/gemm.c) */

/* The options of an epilogue; whether there are a bias and a residual. */
typedef struct lmt_ending_options {
  mt_epilogue epilogue; /* but bias and residual */
  bool bias, residual;
} lmt_ending_options;
/* Those in the table at `options`, the top; pushes A, B and C, which lie at *first, bias
** and residual: *first is where (binding/epilogue.c). */
void lmt_epilogue (lua_State *L, int options, lmt_ending_options *x, int *first);

/* The same for the kernel at 1, whose ending says what there is: A, B and C lie at 2.
** whole: all that it reads is needed. */
void lmt_kernelending (lua_State *L, int options, bool whole, lmt_ending_options *x,
                       int *first);

/* plan_gemm([tiled_mma,] A, B, C [, options]), a lua_CFunction. */
int lmt_plangemm (lua_State *L);

#endif
