/*
** fragment_gemm.c - products of fragments in Lua: gemm of a thread's, or of all threads'.
** SPDX-License-Identifier: MIT
**
** All fragments are read, then it is computed, then the sums are written: an error leaves
** them as they were.
*/
#include <stdlib.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/fragment.h"
#include "binding/host.h"
#include "binding/plan.h"
#include "binding/thread.h"
#include "binding/view.h"

enum { A, B, C, D, PARTS };
static const char *const part_name[] = {"A", "B", "C", "D"};

/* What is multiplied. */
typedef struct product {
  const mt_tiled_mma *mma;
  int64_t thread;    /* the one whose fragments these are; -1: those of all, in tables */
  int64_t threads;   /* so many have some */
  bool own;          /* D is not C */
  int at[PARTS];     /* where they are on the stack */
  int64_t mnk[3];    /* instructions along M, N, K */
  int64_t n[PARTS];  /* elements of a thread */
  double *number[D]; /* of a thread after another */
  double *cells;
} product;

static mt_mma_part part_of (int x) { return x == D ? MT_PART_C : (mt_mma_part)x; }

/* ---------------------------------------------------------------- fragments */

/* The number of the thread at place j of thr_vmnk. */
static int64_t thread_at (lua_State *L, const product *p, int64_t j) {
  int64_t t;
  LMT_NOERR(err);
  if (p->thread >= 0) return p->thread;
  if (mt_at(&t, p->mma->thr_vmnk.node, j, &err)) lmt_raise(L, &err);
  return t;
}

/* Pushes the fragment that the thread at place j has of x. */
static const lmt_tensor *push_fragment (lua_State *L, const product *p, int x,
                                        int64_t j) {
  int64_t t = thread_at(L, p, j);
  if (p->thread >= 0) lua_pushvalue(L, p->at[x]);
  else lua_rawgeti(L, p->at[x], t + 1);
  if (!lmt_isclass(L, -1, LMT_TENSOR))
    luaL_error(L,
               "gemm: %s[%I]: the fragment of thread %I expected, got %s\n"
               "%s has %I threads: %s[t + 1] is a tensor of what thread t has",
               part_name[x], (LUAI_UACINT)(t + 1), (LUAI_UACINT)t, lmt_kindname(L, -1),
               p->mma->atom.op.name, (LUAI_UACINT)mt_tiled_mma_size(p->mma),
               part_name[x]);
  return lmt_totensor(L, -1);
}

/* ---------------------------------------------------------------- CuTe's dispatch */

/* By the ranks of A, B and C; outer: of single values, a mode V of 1 stands before. */
typedef struct dispatch {
  int rank[3];
  bool outer;
} dispatch;
static const dispatch dispatches[] = {
    {{1, 1, 1}, false}, /* (V) x (V) => (V) */
    {{1, 1, 2}, true},  /* (M) x (N) => (M,N) */
    {{2, 2, 2}, true},  /* (M,K) x (N,K) => (M,N) */
    {{2, 2, 3}, false}, /* (V,M) x (V,N) => (V,M,N) */
    {{3, 3, 3}, false}, /* (V,M,K) x (V,N,K) => (V,M,N) */
};
enum { DISPATCHES = sizeof dispatches / sizeof *dispatches };

/* Text of the layout of a fragment, which stays on the stack. */
static const char *text_of (lua_State *L, const mt_node *a) {
  lmt_pushtext(L, a);
  return lua_tostring(L, -1);
}

static const dispatch *dispatch_of (lua_State *L, const mt_node *const a[PARTS]) {
  for (int i = 0; i < DISPATCHES; i++) {
    const dispatch *d = &dispatches[i];
    if (mt_rank(a[A]) == d->rank[A] && mt_rank(a[B]) == d->rank[B] &&
        mt_rank(a[C]) == d->rank[C])
      return d;
  }
  luaL_error(L,
             "gemm: fragments are (V), (V,M) and (V,N) with (V,M,N), or (V,M,K), (V,N,K) "
             "and (V,M,N); single values (M), (N) or (M,K), (N,K) with (M,N)\n"
             "A is %s, B is %s, C is %s",
             text_of(L, a[A]), text_of(L, a[B]), text_of(L, a[C]));
  return NULL;
}

/* The extent of mode i of a fragment, 1 where there is none. */
static int64_t extent (const mt_node *a, int i) {
  const mt_node *m = mt_mode(lmt_base(a), i);
  if (i == 0 && mt_rank(a) == 1) return mt_size(a);
  return m != NULL && i < mt_rank(a) ? mt_size(m) : 1;
}

/* Of as many modes. */
static bool same_extents (const mt_node *a, const mt_node *b) {
  bool same = mt_rank(a) == mt_rank(b);
  for (int i = 0; same && i < mt_rank(a); i++) same = extent(a, i) == extent(b, i);
  return same;
}

static void check_values (lua_State *L, const product *p, int x, const mt_node *a,
                          bool outer) {
  const char *name = p->mma->atom.op.name;
  int64_t want = mt_fragment_values(p->mma, part_of(x)), have = outer ? 1 : extent(a, 0);
  if (have == want) return;
  if (outer)
    luaL_error(L,
               "gemm: %s %s is of single values, a thread of %s has %I of %s\n"
               "its fragments have the modes (V,M), (V,N) and (V,M,N), or one more for K",
               part_name[x], text_of(L, a), name, (LUAI_UACINT)want, part_name[x]);
  bool descriptor = x < C && mt_mma_by_descriptor(p->mma, part_of(x));
  luaL_error(L, "gemm: mode 1 of %s %s has %I values, a thread of %s has %I of %s%s",
             part_name[x], text_of(L, a), (LUAI_UACINT)have, name, (LUAI_UACINT)want,
             part_name[x],
             descriptor ? "\nit reads shared memory through a descriptor: give "
                          "partition_A or _B of that tensor, not a fragment" :
                          "");
}

static void disagree (lua_State *L, const char *mode, int x, int i, const mt_node *a,
                      int y, int j, const mt_node *b) {
  luaL_error(L,
             "gemm: %s is mode %d of %s and mode %d of %s: %I and %I\n"
             "%s is %s\n%s is %s",
             mode, i + 1, part_name[x], j + 1, part_name[y], (LUAI_UACINT)extent(a, i),
             (LUAI_UACINT)extent(b, j), part_name[x], text_of(L, a), part_name[y],
             text_of(L, b));
}

/* Finds the instructions of the fragments of one thread. */
static void match (lua_State *L, product *p, const mt_node *const a[PARTS]) {
  const dispatch *d = dispatch_of(L, a);
  int first = d->outer ? 0 : 1; /* of the modes M, N */
  for (int x = A; x < PARTS; x++) {
    check_values(L, p, x, a[x], d->outer);
    p->n[x] = mt_size(a[x]);
  }
  if (extent(a[A], first) != extent(a[C], first))
    disagree(L, "M", A, first, a[A], C, first, a[C]);
  if (extent(a[B], first) != extent(a[C], first + 1))
    disagree(L, "N", B, first, a[B], C, first + 1, a[C]);
  if (extent(a[A], first + 1) != extent(a[B], first + 1))
    disagree(L, "K", A, first + 1, a[A], B, first + 1, a[B]);
  p->mnk[0] = extent(a[A], first);
  p->mnk[1] = extent(a[B], first);
  p->mnk[2] = extent(a[A], first + 1);
}

/* Those of the first thread say what all have. */
static void find_shape (lua_State *L, product *p) {
  const mt_node *a[PARTS];
  LMT_NOERR(err);
  luaL_checkstack(L, 3 * PARTS, NULL);
  for (int x = A; x < PARTS; x++) {
    const lmt_tensor *t = push_fragment(L, p, x, 0);
    if (mt_fragment_check(p->mma, part_of(x), t->dtype, &err)) lmt_raise(L, &err);
    a[x] = t->layout;
  }
  match(L, p, a);
  if (!same_extents(a[C], a[D]))
    luaL_error(L, "gemm: D is %s, C is %s: they have one shape", text_of(L, a[D]),
               text_of(L, a[C]));
  lua_settop(L, p->at[D]);
}

/* ---------------------------------------------------------------- reading, writing */

/* All others have as many modes of the same extents. */
static void check_alike (lua_State *L, const product *p, int x, int64_t j,
                         const mt_node *a) {
  const lmt_tensor *t = push_fragment(L, p, x, 0);
  if (!same_extents(a, t->layout))
    luaL_error(L, "gemm: %s[%I] is %s, %s[%I] is %s: all threads have one shape",
               part_name[x], (LUAI_UACINT)(thread_at(L, p, j) + 1), text_of(L, a),
               part_name[x], (LUAI_UACINT)(thread_at(L, p, 0) + 1),
               text_of(L, t->layout));
  lua_pop(L, 1);
}

/* The numbers of the fragment of x that the thread at place j has; what is not real
** counts 0. */
static void load (lua_State *L, const product *p, int x, int64_t j) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  const lmt_tensor *t = push_fragment(L, p, x, j);
  int i = lua_gettop(L);
  double *out = p->number[x] + j * p->n[x];
  check_alike(L, p, x, j, t->layout);
  if (mt_fragment_check(p->mma, part_of(x), t->dtype, &err)) lmt_raise(L, &err);
  lmt_range(L, t, &lo, &hi);
  const lmt_real *real = lmt_pushreal(L, i);
  const char *base = lmt_onhost(L, i, lo, hi);
  t = lmt_totensor(L, i);
  size_t size = mt_dtype_size(t->dtype);
  for (int64_t k = 0; k < p->n[x]; k++) {
    out[k] = 0;
    if ((at = lmt_placeof(L, t, real, k, lo, hi, &err)) < 0) continue;
    out[k] = mt_fragment_load(p->mma, part_of(x), t->dtype, base + at * (int64_t)size);
  }
  lua_settop(L, i - 1);
}

/* Writes what the thread at place j has summed. */
static void store (lua_State *L, const product *p, int64_t j) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  const lmt_tensor *t = push_fragment(L, p, D, j);
  int i = lua_gettop(L);
  const double *from = p->number[C] + j * p->n[D];
  lmt_range(L, t, &lo, &hi);
  const lmt_real *real = lmt_pushreal(L, i);
  char *base = lmt_onhost(L, i, lo, hi);
  t = lmt_totensor(L, i);
  int64_t size = (int64_t)mt_dtype_size(t->dtype);
  for (int64_t k = 0; k < p->n[D]; k++)
    if ((at = lmt_placeof(L, t, real, k, lo, hi, &err)) >= 0)
      mt_fragment_store(t->dtype, base + at * size, from[k]);
  mt_device *device = t->buffer->device->d;
  if (!mt_device_is_host(device) && hi > lo &&
      mt_upload(device, lmt_address(t, lo), base, (size_t)((hi - lo) * size), &err))
    lmt_raise(L, &err);
  lua_settop(L, i - 1);
}

/* ---------------------------------------------------------------- one place, one sum */

/* An element of D, and what is to be written there. */
typedef struct place {
  uintptr_t address;
  int64_t index; /* of its number */
} place;

static int by_address (const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->address != y->address) return x->address < y->address ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* The places of the fragment of D that the thread at place j has; returns their end. */
static place *list_places (lua_State *L, const product *p, int64_t j, place *out) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  const lmt_tensor *t = push_fragment(L, p, D, j);
  int i = lua_gettop(L);
  lmt_range(L, t, &lo, &hi);
  const lmt_real *real = lmt_pushreal(L, i);
  t = lmt_totensor(L, i);
  for (int64_t k = 0; k < p->n[D]; k++)
    if ((at = lmt_placeof(L, t, real, k, lo, hi, &err)) >= 0)
      *out++ = (place){(uintptr_t)lmt_address(t, lo + at), j * p->n[D] + k};
  lua_settop(L, i - 1);
  return out;
}

/* Raises if two different sums have one place in memory. */
static void check_places (lua_State *L, const product *p) {
  place *list = lua_newuserdatauv(L, (size_t)(p->threads * p->n[D]) * sizeof *list, 0);
  place *end = list;
  for (int64_t j = 0; j < p->threads; j++) end = list_places(L, p, j, end);
  qsort(list, (size_t)(end - list), sizeof *list, by_address);
  for (const place *a = list; end - a > 1; a++) {
    const double *x = &p->number[C][a[0].index], *y = &p->number[C][a[1].index];
    if (a[0].address != a[1].address || memcmp(x, y, sizeof *x) == 0) continue;
    luaL_error(
        L,
        "gemm: value %I of thread %I and value %I of thread %I of %s are one place in "
        "memory, and their sums differ\ngive each thread a fragment of its own",
        (LUAI_UACINT)(a[0].index % p->n[D]),
        (LUAI_UACINT)thread_at(L, p, a[0].index / p->n[D]),
        (LUAI_UACINT)(a[1].index % p->n[D]),
        (LUAI_UACINT)thread_at(L, p, a[1].index / p->n[D]), p->own ? "D" : "C");
  }
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------- gemm */

/* A block for all numbers, which stays on the stack. */
static void push_numbers (lua_State *L, product *p) {
  uint64_t n = 0, cells = (uint64_t)mt_fragment_cells(p->mma), bytes;
  uint64_t work = lmt_times((uint64_t)p->threads, (uint64_t)p->mma->atom.op.k);
  for (int x = A; x <= C; x++)
    n = lmt_plus(n, lmt_times((uint64_t)p->threads, (uint64_t)p->n[x]));
  lmt_checkwork(L, "gemm", lmt_plus(n, lmt_times(work, (uint64_t)(p->n[C] * p->mnk[2]))));
  bytes = lmt_times(lmt_plus(n, cells), sizeof(double));
  if (bytes > SIZE_MAX / 2) luaL_error(L, "gemm: these fragments need too much memory");
  double *block = lua_newuserdatauv(L, (size_t)bytes, 0);
  p->cells = block;
  block += cells;
  for (int x = A; x <= C; x++) {
    p->number[x] = block;
    block += p->threads * p->n[x];
  }
}

static int multiply (lua_State *L, product *p) {
  LMT_NOERR(err);
  find_shape(L, p);
  push_numbers(L, p);
  for (int x = A; x <= C; x++)
    for (int64_t j = 0; j < p->threads; j++) load(L, p, x, j);
  if (mt_gemm_fragments(p->mma, p->threads, p->mnk, p->number[A], p->number[B],
                        p->number[C], p->cells, &err))
    return lmt_raise(L, &err);
  check_places(L, p);
  for (int64_t j = 0; j < p->threads; j++) store(L, p, j);
  return 0;
}

/* Options that plain products have: these have none. */
static void refuse_options (lua_State *L, int i) {
  static const char *const keys[] = {"alpha", "beta", "stream", "family", "precision"};
  if (!lmt_istable(L, i)) return;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    lua_pushstring(L, keys[k]);
    if (lua_rawget(L, i) != LUA_TNIL)
      luaL_error(L, "gemm: fragments are multiplied without options, as C = A B + C: %s",
                 keys[k]);
    lua_pop(L, 1);
  }
}

/* The places of [D,] A, B, C behind the first argument. */
static void find_places (lua_State *L, product *p) {
  int top = lua_gettop(L);
  refuse_options(L, 5);
  p->own = top == 5 && !lua_isnil(L, 5);
  lua_settop(L, p->own ? 5 : 4);
  for (int x = A; x <= C; x++) p->at[x] = x + (p->own ? 3 : 2);
  lua_pushvalue(L, p->own ? 2 : 4);
  p->at[D] = lua_gettop(L);
}

static void check_tables (lua_State *L, const product *p) {
  for (int x = A; x < PARTS; x++)
    if (!lmt_istable(L, p->at[x]))
      luaL_error(L, "gemm: %s: a table with a fragment of each thread expected, got %s",
                 part_name[x], lmt_kindname(L, p->at[x]));
}

/* gemm(slice, [D,] A, B, C): D = A B + C for fragments of one thread */
static int gemm_thread (lua_State *L) {
  const lmt_thread *t = lmt_tothread(L, LMT_THRMMA);
  product p = {.mma = t->tiled, .thread = t->thr, .threads = 1};
  int64_t n = mt_size(p.mma->atom.thr_id.node);
  if (n != 1)
    return luaL_error(L,
                      "gemm: %s is an instruction of %I threads, this is one of them\n"
                      "gemm(mma, {...}, {...}, {...}) takes the fragments of all, that "
                      "of thread t at t + 1",
                      p.mma->atom.op.name, (LUAI_UACINT)n);
  find_places(L, &p);
  for (int x = A; x < PARTS; x++)
    if (!lmt_isclass(L, p.at[x], LMT_TENSOR))
      return luaL_error(L, "gemm: %s: a tensor expected, got %s", part_name[x],
                        lmt_kindname(L, p.at[x]));
  return multiply(L, &p);
}

/* gemm(mma, [D,] A, B, C) of tables: the fragments of all threads */
int lmt_gemmfragments (lua_State *L) {
  if (lmt_isclass(L, 1, LMT_THRMMA)) return gemm_thread(L);
  product p = {.mma = lmt_totiledmma(L, 1), .thread = -1};
  p.threads = mt_tiled_mma_size(p.mma);
  find_places(L, &p);
  check_tables(L, &p);
  return multiply(L, &p);
}

bool lmt_hasfragments (lua_State *L) {
  return lmt_isclass(L, 1, LMT_THRMMA) || (lmt_istiledmma(L, 1) && lmt_istable(L, 2));
}
