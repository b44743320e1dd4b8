/*
** dlpack.c - tensors to and from DLPack: each element where it was, deleters called once.
** SPDX-License-Identifier: MIT
*/
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "host.h"
#include "moontile.h"
#include "moontile/dlpack.h"
#include "binding/versions.h"
#include "times.h"

/* As DLPack's header declares them. */
typedef struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct DLTensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
typedef struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

static int pick (uint64_t *x, int n) { return (int)(splitmix64(x) % (uint64_t)n); }

static int released;
static void release (void *owner) { ++*(int *)owner; }

/* ---------------------------------------------------------------- there and back */

enum { ELEMENTS = 4096 };
static float memory[ELEMENTS];

typedef struct sample {
  mt_layout layout;
  mt_tensor t;
} sample;

/* A layout of up to 3 modes, some of them nested, somewhere in the memory. */
static void random_sample (sample *s, uint64_t *x) {
  static const char *const texts[] = {"()",
                                      "()",
                                      "5:3",
                                      "4:-2",
                                      "(3):(1)",
                                      "(4,3):(1,4)",
                                      "(4,3):(3,1)",
                                      "(4,0,3):(3,1,1)",
                                      "0:7",
                                      "(4,1):(-9,77)",
                                      "((2,3),4):((1,2),6)",
                                      "((2,3),4):((1,9),2)",
                                      "(5,(2,2)):(0,(-1,8))",
                                      "((2,2),(3,2)):((1,2),(-4,50))",
                                      "(1,(1,1)):(5,(6,7))",
                                      "(3,4,2,2):(100,-7,0,1)"};
  mt_layout text;
  mt_err err = MT_NOERR;
  const char *chosen = texts[pick(x, sizeof texts / sizeof *texts)];
  int64_t lo, end;
  mt_parse(&text, chosen, strlen(chosen), &err);
  if (text.node[0].tag == MT_TUPLE) mt_layout_left(&s->layout, text.node, &err);
  else s->layout = text;
  CHECK(mt_footprint(&lo, &end, s->layout.node, &err) == MT_OK, "%s: %s", chosen,
        err.text);
  s->t = (mt_tensor){.layout = s->layout.node,
                     .dtype = MT_f32,
                     .data = memory,
                     .bytes = sizeof memory,
                     .offset = -lo + pick(x, 1000)};
}

static const char *place (const mt_tensor *t, int64_t i) {
  int64_t at = 0;
  mt_err err = MT_NOERR;
  mt_at(&at, t->layout, i, &err);
  return (const char *)t->data + (t->offset + at) * (int64_t)sizeof(float);
}

/* The element of this number, the first dimension fastest. */
static const char *place_in (const DLTensor *t, int64_t i) {
  const char *p = (const char *)t->data + t->byte_offset;
  for (int k = 0; k < t->ndim; k++) {
    p += i % t->shape[k] * t->strides[k] * (int64_t)sizeof(float);
    i /= t->shape[k];
  }
  return p;
}

static void check_places (const sample *s, const DLTensor *d, const mt_tensor *back) {
  int64_t n = mt_size(s->layout.node), size = 1;
  for (int k = 0; k < d->ndim; k++) size *= d->shape[k];
  CHECK(size == n && mt_size(back->layout) == n, "%lld elements", (long long)size);
  CHECK(back->dtype == MT_f32, "dtype %d", (int)back->dtype);
  CHECK(n == 0 || ((char *)back->data >= (char *)memory &&
                   (char *)back->data + back->bytes <= (char *)(memory + ELEMENTS)),
        "more than the memory");
  for (int64_t i = 0; i < n; i++) {
    CHECK(place_in(d, i) == place(&s->t, i), "element %lld", (long long)i);
    CHECK(place(back, i) == place(&s->t, i), "element %lld back", (long long)i);
  }
}

static void test_back (uint64_t *x) {
  sample s;
  mt_layout layout;
  mt_tensor back;
  mt_err err = MT_NOERR;
  DLManagedTensorVersioned *m;
  DLManagedTensor *old;
  random_sample(&s, x);
  released = 0;
  CHECK(!mt_tensor_to_dlpack(&m, &s.t, NULL, release, &released, NULL, &err), "%s",
        err.text);
  CHECK(!mt_tensor_from_dlpack(&back, &layout, NULL, m, &err), "%s", err.text);
  CHECK(m->major == 1 && m->flags == 0, "version %u", m->major);
  check_places(&s, &m->dl_tensor, &back);
  CHECK(released == 0, "released too early");
  mt_dlpack_delete(m);
  CHECK(released == 1, "released %d times", released);
  CHECK(!mt_tensor_to_unversioned(&old, &s.t, NULL, release, &released, NULL, &err), "%s",
        err.text);
  CHECK(!mt_tensor_from_unversioned(&back, &layout, NULL, old, &err), "%s", err.text);
  check_places(&s, &old->dl_tensor, &back);
  mt_unversioned_delete(old);
  CHECK(released == 2, "released %d times", released);
}

/* ---------------------------------------------------------------- what others make */

static int64_t shape[80] = {2, 3}, strides[80] = {3, 1};

static DLManagedTensorVersioned other (void) {
  return (DLManagedTensorVersioned){.major = 1,
                                    .minor = 3,
                                    .dl_tensor =
                                        {memory, 1, 0, 2, {2, 32, 1}, shape, strides, 0}};
}

static void reads (DLManagedTensorVersioned m, const char *layout, int64_t first) {
  mt_layout buf;
  mt_tensor t;
  mt_err err = MT_NOERR;
  char text[256];
  CHECK(mt_tensor_from_dlpack(&t, &buf, NULL, &m, &err) == MT_OK, "%s", err.text);
  mt_format(text, sizeof text, t.layout);
  CHECK(strcmp(text, layout) == 0, "%s, not %s", text, layout);
  if (mt_size(t.layout) > 0)
    CHECK((char *)t.data + t.offset * 4 == (char *)(memory + first), "begins elsewhere");
}

static void test_reads (void) {
  DLManagedTensorVersioned m = other();
  reads(m, "(2,3):(3,1)", 0);
  m.dl_tensor.strides = NULL;
  reads(m, "(2,3):(3,1)", 0);
  m.dl_tensor.byte_offset = 400;
  reads(m, "(2,3):(3,1)", 100);
  m.dl_tensor.strides = (int64_t[]){-3, -1};
  reads(m, "(2,3):(-3,-1)", 100);
  m.dl_tensor.shape = (int64_t[]){1, 3};
  m.dl_tensor.strides = (int64_t[]){INT64_MIN, 2};
  reads(m, "(1,3):(0,2)", 100);
  m.dl_tensor.shape = (int64_t[]){0, 3};
  m.dl_tensor.strides = (int64_t[]){INT64_MIN, INT64_MAX};
  m.dl_tensor.data = NULL;
  reads(m, "(0,3):(3,1)", 0);
  m.dl_tensor.shape = (int64_t[]){INT64_MAX, 0};
  reads(m, "(9223372036854775807,0):(1,1)", 0);
  m = other();
  m.dl_tensor.ndim = 1;
  reads(m, "2:3", 0);
  m.dl_tensor.ndim = 0;
  m.dl_tensor.shape = m.dl_tensor.strides = NULL;
  reads(m, "():()", 0);
}

static void refuses (DLManagedTensorVersioned m, const char *part) {
  mt_layout buf;
  mt_tensor t;
  mt_err err = MT_NOERR;
  CHECK(mt_tensor_from_dlpack(&t, &buf, NULL, &m, &err) != MT_OK, "taken: %s", part);
  CHECK(strstr(err.text, part) != NULL, "\"%s\", not \"%s\"", err.text, part);
}

#define REFUSES(part, ...)                                                               \
  do {                                                                                   \
    DLManagedTensorVersioned m = other();                                                \
    __VA_ARGS__;                                                                         \
    refuses(m, part);                                                                    \
  } while (0)

static void test_refuses (void) {
  REFUSES("version 2.0: 1.x expected", m.major = 2, m.minor = 0);
  REFUSES("vectors of 4", m.dl_tensor.dtype.lanes = 4);
  REFUSES("type code 5 of 64 bits", m.dl_tensor.dtype = (DLDataType){5, 64, 1});
  REFUSES("type code 17 of 4 bits", m.dl_tensor.dtype = (DLDataType){17, 4, 1});
  REFUSES("-1 dimensions", m.dl_tensor.ndim = -1);
  REFUSES("2 dimensions, and no shape", m.dl_tensor.shape = NULL);
  REFUSES("64 dimensions: at most 63", m.dl_tensor.ndim = 64);
  REFUSES("dimension 1 has the extent -3", m.dl_tensor.shape = ((int64_t[]){2, -3}));
  REFUSES("data is NULL", m.dl_tensor.data = NULL);
  REFUSES("begin at no multiple", m.dl_tensor.byte_offset = 2);
  REFUSES("leaves 64 bits", m.dl_tensor.shape = ((int64_t[]){INT64_MAX, 3}));
  REFUSES("64 bits", m.dl_tensor.strides = ((int64_t[]){INT64_MAX, INT64_MAX}));
  REFUSES("64 bits", m.dl_tensor.strides = ((int64_t[]){INT64_MAX / 2, 1}));
  REFUSES("leave 64 bits", m.dl_tensor.shape = ((int64_t[]){2, 2}),
          m.dl_tensor.strides = ((int64_t[]){INT64_C(1) << 62, 1 - (INT64_C(1) << 62)}));
  REFUSES("the memory is read-only", m.flags = 1);
  REFUSES("device 2:1: host memory expected", m.dl_tensor.device_type = 2,
          m.dl_tensor.device_id = 1);
}

static void *no_alloc (void *ud, void *p, size_t osize, size_t nsize) {
  (void)ud, (void)p, (void)osize, (void)nsize;
  return NULL;
}

static void test_export_refused (void) {
  static const char *const rows[] = {"Sw<2,0,2> o 0 o (4,4):(4,1)", "(4,4):(1@0,1@1)",
                                     "(2,2):(F1,F2)", "5000:1", "8:-1"};
  mt_device_options options = {.size = sizeof(mt_device_options), .alloc = no_alloc};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    DLManagedTensorVersioned *m = NULL;
    mt_layout layout;
    mt_err err = MT_NOERR;
    mt_parse(&layout, rows[i], strlen(rows[i]), &err);
    const mt_tensor t = {.layout = layout.node,
                         .dtype = MT_f32,
                         .data = memory,
                         .bytes = sizeof memory};
    released = 0;
    mt_status s = mt_tensor_to_dlpack(&m, &t, NULL, release, &released, NULL, &err);
    CHECK(s == (i < 3 ? MT_EUNSUPPORTED : MT_ERANGE) && released == 0, "%s: %d", rows[i],
          (int)s);
  }
  DLManagedTensorVersioned *m;
  mt_layout layout;
  mt_err err = MT_NOERR;
  mt_parse(&layout, "4:1", 3, &err);
  const mt_tensor t = {.layout = layout.node,
                       .dtype = MT_f32,
                       .data = memory,
                       .bytes = sizeof memory};
  CHECK(mt_tensor_to_dlpack(&m, &t, NULL, release, &released, &options, &err) ==
                MT_ENOMEM &&
            released == 0,
        "memory of nowhere");
  mt_dlpack about = {MT_DLPACK_CUDA, 3, true, true};
  mt_dlpack_delete(NULL);
  CHECK(mt_tensor_to_dlpack(&m, &t, &about, NULL, NULL, NULL, &err) == MT_OK, "%s",
        err.text);
  CHECK(m->flags == 3 && m->dl_tensor.device_type == 2 && m->dl_tensor.device_id == 3,
        "flags %d", (int)m->flags);
  mt_dlpack_delete(m);
}

/* ---------------------------------------------------------------- in Lua */

static void count_versioned (DLManagedTensorVersioned *m) { ++*(int *)m->manager_ctx; }
static void count_old (DLManagedTensor *m) { ++*(int *)m->manager_ctx; }

typedef struct script {
  const char *code, *want;
  bool read_only, old;
} script;

static const script scripts[] = {
    {"T:fill(3) return T(1, 2)", "3.0", false, false},
    {"T[{1, 2}] = 7 return tostring(T)", "tensor f32 (2,3):(3,1) cpu", false, true},
    {"local v = T:view(tile.layout(3)) T = nil collectgarbage() return deleted()", "0",
     false, false},
    {"T = nil collectgarbage() collectgarbage() return deleted()", "1", false, true},
    {"T:free() return deleted()", "1", false, false},
    {"T:free() T = nil collectgarbage() return deleted()", "1", false, true},
    {"return tile.copy(T, tile.tensor('f32', tile.layout{2, 3})) and deleted() or deleted()",
     "0", false, false},
    {"return 1", "dlpack: the memory is read-only, tensors here are not: copy it", true,
     false}};

static int deleted (lua_State *L) {
  lua_pushinteger(L, *(int *)lua_touserdata(L, lua_upvalueindex(1)));
  return 1;
}

static int in_lua (lua_State *L) {
  const script *x = lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  lua_pushlightuserdata(L, &released);
  lua_pushcclosure(L, deleted, 1);
  lua_setglobal(L, "deleted");
  if (x->old) mt_lua_pushunversioned(L, lua_touserdata(L, 3));
  else mt_lua_pushdlpack(L, lua_touserdata(L, 2));
  lua_setglobal(L, "T");
  if (luaL_dostring(L, x->code)) return lua_error(L);
  return 1;
}

/* In a state with this allocator. */
static void run_script (const script *x, lua_State *L, bool any) {
  DLManagedTensorVersioned m = other();
  DLManagedTensor old = {m.dl_tensor, &released, count_old};
  m.manager_ctx = &released;
  m.deleter = count_versioned;
  if (x->read_only) m.flags = 1;
  released = 0;
  lua_pushcfunction(L, in_lua);
  lua_pushlightuserdata(L, (void *)(uintptr_t)x);
  lua_pushlightuserdata(L, &m);
  lua_pushlightuserdata(L, &old);
  lua_pcall(L, 3, 1, 0);
  const char *got = lua_tostring(L, -1);
  if (!any)
    CHECK(got && strcmp(got, x->want) == 0, "%s: \"%s\"", x->code, got ? got : "");
  lua_close(L);
}

typedef struct failing {
  long left;  /* allocations until one fails */
  bool taken; /* whether it did */
} failing;

static void *failing_alloc (void *ud, void *p, size_t osize, size_t nsize) {
  failing *f = ud;
  (void)osize;
  if (nsize == 0) return free(p), NULL;
  if (p == NULL && f->left-- == 0) return f->taken = true, NULL;
  return realloc(p, nsize);
}

static void test_lua (void) {
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
    run_script(&scripts[i], luaL_newstate(), false);
    CHECK(released == 1, "%s: deleted %d times", scripts[i].code, released);
  }
}

/* Where an allocation fails, it is deleted once if it was handed over, else not at all. */
static void test_failing (void) {
  for (long n = 40;; n += 7) {
    failing f = {n, false};
    lua_State *L = lmt_newstate(failing_alloc, &f);
    if (L == NULL) continue;
    run_script(&scripts[0], L, true);
    CHECK(released <= 1, "deleted %d times", released);
    if (!f.taken) break;
  }
  CHECK(released == 1, "deleted %d times", released);
}

void test_dlpack (void) {
  uint64_t x = 20261123;
  CHECK(sizeof(DLTensor) == 48 && sizeof(DLManagedTensorVersioned) == 80, "the ABI");
  for (long n = cases_of(2000); n > 0; n--) test_back(&x);
  test_reads();
  test_refuses();
  test_export_refused();
  test_lua();
  test_failing();
}
