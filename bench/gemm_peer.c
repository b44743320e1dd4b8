/*
** gemm_peer.c - cuBLASLt, the peer of products on a GPU: opened at run time, without a
** header. SPDX-License-Identifier: MIT
**
** c:gemm(A, B, C): the product of tensors of the same device, (M,K), (N,K) and (M,N),
** each with an optional batch; one mode of each is contiguous, of C it is N. The library
** sees the transposes: its C' = B A'.
*/
#include <dlfcn.h>
#include <string.h>

#include "cuda_peer.h"
#include "moontile.h"
#include "moontile/lua.h"

#define CLASS "moontile.bench.Gemm"

enum {
  MAXALGOS = 8,
  WORKSPACE = 64 << 20,
  LT_ROWS_BATCH = 5,
  LT_BATCH_OFFSET = 6, /* attributes of a layout */
  LT_TRANS_A = 3,
  LT_TRANS_B = 4,
  LT_SCALE_A = 17,
  LT_SCALE_B = 18,
  LT_FAST = 25,
  LT_WORKSPACE = 1 /* of a preference */
};

typedef struct algo {
  uint64_t data[8];
} algo;
typedef struct found {
  algo algo;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} found;

/* name                             field       parameters */
#define LIBRARY(X)                                                                       \
  X("cublasLtCreate", create, (handle *))                                                \
  X("cublasLtMatmulDescCreate", desc, (handle *, int, int))                              \
  X("cublasLtMatmulDescSetAttribute", set, (handle, int, const void *, size_t))          \
  X("cublasLtMatrixLayoutCreate", layout, (handle *, int, uint64_t, uint64_t, int64_t))  \
  X("cublasLtMatrixLayoutSetAttribute", set_layout, (handle, int, const void *, size_t)) \
  X("cublasLtMatmulPreferenceCreate", preference, (handle *))                            \
  X("cublasLtMatmulPreferenceSetAttribute", prefer, (handle, int, const void *, size_t)) \
  X("cublasLtMatmulAlgoGetHeuristic", heuristic,                                         \
    (handle, handle, handle, handle, handle, handle, handle, int, found *, int *))       \
  X("cublasLtMatmul", matmul,                                                            \
    (handle, handle, const void *, const void *, handle, const void *, handle,           \
     const void *, const void *, handle, void *, handle, const algo *, void *, size_t,   \
     handle))

typedef struct library {
#define LIBRARY_FIELD(name, field, parameters) int(*field) parameters;
  LIBRARY(LIBRARY_FIELD)
#undef LIBRARY_FIELD
  handle lt;
} library;

typedef struct product {
  cuda_peer *cuda; /* its user value 1; 2 to 4: the tensors */
  library lib;
  handle desc, a, b, c;
  void *pa, *pb, *pc;
  uint64_t workspace, one;
  int scale, n, chosen;
  found found[MAXALGOS];
} product;

/* What the library calls our types: data, sums, scale. */
static const struct type {
  mt_dtype dtype;
  int data, sums, scale;
} types[] = {{MT_bf16, 14, 68, 0}, {MT_f16, 2, 68, 0},   {MT_f32, 0, 68, 0},
             {MT_f64, 1, 70, 1},   {MT_e4m3, 28, 68, 0}, {MT_e5m2, 29, 68, 0},
             {MT_i8, 3, 72, 10},   {MT_i32, 10, 72, 10}};

static const struct type *type_of (lua_State *L, mt_dtype d) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].dtype == d) return &types[i];
  luaL_error(L, "gemm: the library has no %s", mt_dtype_name(d));
  return NULL;
}

static void need (lua_State *L, int code, const char *call) {
  if (code) luaL_error(L, "%s: status %d of cuBLASLt", call, code);
}

/* A layout of the library, whose columns are contiguous; *transposed: the first mode is
** not the contiguous one. */
static handle make_layout (lua_State *L, const library *lib, const mt_tensor *t,
                           int *transposed) {
  const mt_node *x = t->layout;
  const mt_node *r = mt_mode(x, 0), *c = mt_mode(x, 1);
  int64_t batch = mt_rank(x) == 3 ? mt_size(mt_mode(x, 2)) : 1;
  handle out;
  if (r->tag != MT_LEAF || c->tag != MT_LEAF)
    luaL_error(L, "gemm: plain matrices expected");
  *transposed = r->stride != 1;
  const mt_node *inner = *transposed ? c : r, *outer = *transposed ? r : c;
  need(L,
       lib->layout(&out, type_of(L, t->dtype)->data, (uint64_t)inner->shape,
                   (uint64_t)outer->shape, outer->stride),
       "cublasLtMatrixLayoutCreate");
  if (batch == 1) return out;
  int32_t count = (int32_t)batch;
  need(L, lib->set_layout(out, LT_ROWS_BATCH, &count, sizeof count), "batch");
  need(L, lib->set_layout(out, LT_BATCH_OFFSET, &mt_mode(x, 2)->stride, sizeof(int64_t)),
       "batch");
  return out;
}

static bool load (library *lib) {
  void *so = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
  if (!so) so = dlopen("libcublasLt.so.12", RTLD_NOW | RTLD_LOCAL);
#define LIBRARY_LOAD(name, field, parameters)                                            \
  if (so) *(void **)&lib->field = dlsym(so, name);                                       \
  if (!so || !lib->field) return false;
  LIBRARY(LIBRARY_LOAD)
#undef LIBRARY_LOAD
  return true;
}

static void describe (lua_State *L, product *p, const mt_tensor t[3], bool tf32) {
  const library *lib = &p->lib;
  const struct type *type = type_of(L, t[0].dtype);
  int transposed[3];
  int8_t fast = 1;
  p->scale = type->scale;
  need(L, p->lib.desc(&p->desc, tf32 ? 77 : type->sums, type->scale),
       "cublasLtMatmulDescCreate");
  p->b = make_layout(L, lib, &t[0], &transposed[0]);
  p->a = make_layout(L, lib, &t[1], &transposed[1]);
  p->c = make_layout(L, lib, &t[2], &transposed[2]);
  if (!transposed[2]) luaL_error(L, "gemm: N of C is to be contiguous");
  /* C' is N x M: its left operand is B, N x K, where K contiguous is the transpose. */
  int32_t ta = transposed[1], tb = !transposed[0];
  need(L, lib->set(p->desc, LT_TRANS_A, &ta, sizeof ta), "transpose");
  need(L, lib->set(p->desc, LT_TRANS_B, &tb, sizeof tb), "transpose");
  if (t[0].dtype != MT_e4m3 && t[0].dtype != MT_e5m2) return;
  need(L, lib->set(p->desc, LT_FAST, &fast, sizeof fast), "fast accumulation");
  need(L, lib->set(p->desc, LT_SCALE_A, &p->one, sizeof p->one), "scale");
  need(L, lib->set(p->desc, LT_SCALE_B, &p->one, sizeof p->one), "scale");
}

static void find (lua_State *L, product *p) {
  handle preference;
  size_t bytes = WORKSPACE;
  need(L, p->lib.preference(&preference), "preference");
  need(L, p->lib.prefer(preference, LT_WORKSPACE, &bytes, sizeof bytes), "workspace");
  p->lib.heuristic(p->lib.lt, p->desc, p->a, p->b, p->c, p->c, preference, MAXALGOS,
                   p->found, &p->n);
}

static const float float_one = 1;

/* c:gemm(A, B, C [, tf32]) -> the product, whose n() are the heuristics; nil: no library.
** */
int peer_gemm (lua_State *L) {
  cuda_peer *c = peer_tocuda(L);
  mt_tensor t[3];
  handle old;
  bool tf32 = lua_toboolean(L, 5);
  product *p = lua_newuserdatauv(L, sizeof *p, 4);
  memset(p, 0, sizeof *p);
  p->cuda = c;
  for (int i = 1; i <= 4; i++) {
    lua_pushvalue(L, i);
    lua_setiuservalue(L, -2, i);
  }
  luaL_setmetatable(L, CLASS);
  for (int i = 0; i < 3; i++) mt_lua_totensor(L, 2 + i, &t[i]);
  if (!load(&p->lib)) return lua_pushnil(L), 1;
  peer_check(L, c, c->push(c->context), "push");
  need(L, p->lib.create(&p->lib.lt), "cublasLtCreate");
  peer_check(L, c, c->alloc(&p->workspace, WORKSPACE), "workspace");
  peer_check(L, c, c->alloc(&p->one, sizeof float_one), "scale");
  peer_check(L, c, c->upload(p->one, &float_one, sizeof float_one), "scale");
  void **at[3] = {&p->pb, &p->pa, &p->pc};
  for (int i = 0; i < 3; i++)
    *at[i] = (char *)t[i].data + t[i].offset * (int64_t)mt_dtype_size(t[i].dtype);
  describe(L, p, t, tf32);
  find(L, p);
  c->pop(&old);
  return 1;
}

static int run (product *p) {
  static const float f[2] = {1, 0};
  static const double d[2] = {1, 0};
  static const int32_t n[2] = {1, 0};
  const void *alpha = p->scale == 10 ? (const void *)&n[0] :
                      p->scale == 1  ? (const void *)&d[0] :
                                       &f[0];
  const void *beta = p->scale == 10 ? (const void *)&n[1] :
                     p->scale == 1  ? (const void *)&d[1] :
                                      &f[1];
  return p->lib.matmul(p->lib.lt, p->desc, alpha, p->pa, p->a, p->pb, p->b, beta, p->pc,
                       p->c, p->pc, p->c, &p->found[p->chosen].algo,
                       (void *)(uintptr_t)p->workspace, WORKSPACE, p->cuda->stream);
}

/* p(): starts it. */
static int product_call (lua_State *L) {
  product *p = luaL_checkudata(L, 1, CLASS);
  handle old;
  peer_check(L, p->cuda, p->cuda->push(p->cuda->context), "push");
  int code = run(p);
  p->cuda->pop(&old);
  need(L, code, "cublasLtMatmul");
  return 0;
}

/* p:choose(i): the heuristic i from now on, from 1. p:n(): how many there are. */
static int product_choose (lua_State *L) {
  product *p = luaL_checkudata(L, 1, CLASS);
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i >= 1 && i <= p->n, 2, "no such heuristic");
  p->chosen = (int)i - 1;
  return 0;
}

static int product_n (lua_State *L) {
  product *p = luaL_checkudata(L, 1, CLASS);
  lua_pushinteger(L, p->n);
  return 1;
}

static int product_gc (lua_State *L) {
  product *p = luaL_checkudata(L, 1, CLASS);
  handle old;
  if (p->cuda == NULL || !p->cuda->context || !p->workspace) return 0;
  p->cuda->push(p->cuda->context);
  p->cuda->free(p->workspace);
  p->cuda->free(p->one);
  p->cuda->pop(&old);
  p->workspace = 0;
  return 0;
}

void peer_open_gemm (lua_State *L) {
  static const luaL_Reg functions[] = {{"__call", product_call},
                                       {"__gc", product_gc},
                                       {"choose", product_choose},
                                       {"n", product_n},
                                       {NULL, NULL}};
  peer_new_class(L, CLASS, functions);
}
