/*
** kernel_run.c - kernels in Lua: their proofs, as tables that print themselves, and their
** execution.
** SPDX-License-Identifier: MIT
*/
#include "binding/instead.h"
#include "binding/kernel.h"
#include "binding/view.h"
#include "binding/field.h"
#include "binding/host.h"
#include "binding/plan.h"

static const char *const side[] = {"A", "B"};

/* ---------------------------------------------------------------- proofs */

/* key = { A =, B = }, { A_ideal =, B_ideal = }; nothing where nothing was counted. */
static void set_cost (lua_State *L, const char *key, const mt_access_cost c[2]) {
  static const char *const ideal[] = {"A_ideal", "B_ideal"};
  lua_createtable(L, 0, 4);
  for (int x = 0; x < 2; x++) {
    if (c[x].n == 0) continue;
    lmt_setint(L, side[x], c[x].n);
    lmt_setint(L, ideal[x], c[x].ideal);
  }
  lua_setfield(L, -2, key);
}

static void set_laws (lua_State *L, const mt_gemm_proof *p) {
  lua_createtable(L, 0, MT_NLAW);
  for (int law = 0; law < MT_NLAW && (p->ok || law < (int)p->broken); law++) {
    lua_pushstring(L, p->said[law]);
    lua_setfield(L, -2, mt_law_name((mt_law)law));
  }
  lua_setfield(L, -2, "laws");
}

static int push_proof (lua_State *L, const mt_gemm_proof *p, const mt_gemm_spec *k) {
  luaL_Buffer b;
  lua_createtable(L, 0, 14);
  lua_pushboolean(L, p->ok);
  lua_setfield(L, -2, "ok");
  if (!p->ok) {
    lua_pushstring(L, mt_law_name(p->broken));
    lua_setfield(L, -2, "problem");
    lua_pushstring(L, p->reason);
    lua_setfield(L, -2, "reason");
  }
  set_laws(L, p);
  if (p->ok) {
    lmt_setint(L, "threads", p->threads);
    lmt_setint(L, "shared", p->shared);
    lmt_setint(L, "limit", p->limit);
    lmt_setint(L, "registers", p->registers);
    lmt_setint(L, "states", p->states);
    set_cost(L, "writes", p->write);
    set_cost(L, "reads", p->read);
    set_cost(L, "sectors", p->sectors);
  }
  size_t n = mt_gemm_proof_format(NULL, 0, p, k);
  char *text = luaL_buffinitsize(L, &b, n + 1);
  mt_gemm_proof_format(text, n + 1, p, k);
  luaL_pushresultsize(&b, n);
  lua_setfield(L, -2, "text");
  luaL_setmetatable(L, LMT_VERDICT);
  return 1;
}

/* The tensors of a kernel: A, B, C, bias, residual; NULL: there is none. */
typedef struct tensors {
  mt_tensor t[MT_KERNEL_TENSORS];
  const mt_tensor *all[MT_KERNEL_TENSORS];
} tensors;

/* Those that lie from `first` on; nothing that may run a finalizer comes between this and
** their use. */
static void take_tensors (lua_State *L, tensors *x, int first,
                          const lmt_ending_options *o) {
  const bool has[] = {true, true, true, o->bias, o->residual};
  for (int i = 0; i < MT_KERNEL_TENSORS; i++) {
    x->all[i] = has[i] ? &x->t[i] : NULL;
    if (has[i]) x->t[i] = lmt_ctensor(lmt_totensor(L, first++));
  }
}

/* What the options at 5, or none, say besides `keys`; where A lies behind that. */
static int read_ending (lua_State *L, const char *what, const char *const *keys,
                        bool whole, lmt_ending_options *o) {
  int first = 2;
  lua_settop(L, 5);
  if (lua_isnil(L, 5)) lua_newtable(L), lua_replace(L, 5);
  lmt_checkkeys(L, 5, what, keys);
  lmt_kernelending(L, 5, whole, o, &first);
  return first;
}

/* verify(kernel [, A, B, C [, { bias =, residual = }]]) */
int lmt_verifykernel (lua_State *L) {
  static const char *const keys[] = {"bias", "residual", NULL};
  tensors x;
  lmt_ending_options o = {.bias = false};
  bool given = false;
  int first = 2;
  LMT_NOERR(err);
  LMT_COUNT(L, 5, "verify", "kernel [, A, B, C [, options]]");
  lua_settop(L, 5);
  for (int i = 2; i <= 5; i++) given = given || !lua_isnil(L, i);
  for (int i = 0; given && i < 3; i++) lmt_totensor(L, 2 + i);
  if (given) first = read_ending(L, "verify", keys, false, &o);
  mt_gemm_proof *p = lua_newuserdatauv(L, sizeof *p, 0);
  const mt_gemm_spec *k = lmt_tokernel(L, 1);
  if (given) take_tensors(L, &x, first, &o);
  if (mt_verify_gemm(p, k, given ? x.all : NULL, &err)) return lmt_raise(L, &err);
  return push_proof(L, p, k);
}

/* ---------------------------------------------------------------- execution */

/* The host's device that the tensors from `first` on share. */
static mt_device *kernel_host (lua_State *L, int first, const lmt_ending_options *o) {
  const char *const names[] = {"A", "B", "C", o->bias ? "bias" : "residual", "residual"};
  lmt_device *d = lmt_totensor(L, first)->buffer->device;
  for (int i = 0; i < 3 + o->bias + o->residual; i++) {
    lmt_device *other = lmt_totensor(L, first + i)->buffer->device;
    if (other != d || !mt_device_is_host(d->d))
      luaL_error(L,
                 "gemm: %s is on %s: a described kernel is executed on the host, its "
                 "tensors on one device there",
                 names[i], lmt_devicename(other));
  }
  lmt_checkidle(L, d, "gemm by a described kernel");
  return d->d;
}

static uint64_t seed_option (lua_State *L) {
  int64_t seed = 1;
  lua_getfield(L, 5, "seed");
  if (!lua_isnil(L, -1)) {
    int isint;
    seed = lua_tointegerx(L, -1, &isint);
    if (!isint)
      luaL_error(L, "gemm: seed: integer expected, got %s", lmt_kindname(L, -1));
  }
  lua_pop(L, 1);
  return (uint64_t)seed;
}

/* The extent of mode i of the tensor at `at`, in whole tiles. */
static uint64_t in_tiles (lua_State *L, int at, int i, int64_t tile) {
  const mt_node *a = lmt_totensor(L, at)->layout;
  a = lmt_base(a);
  const mt_node *mode = mt_mode(a, i);
  uint64_t n = mode ? (uint64_t)mt_size(mode) : 1, t = (uint64_t)tile;
  return lmt_times(n / t + (n % t != 0), t);
}

/* Whole tiles are multiplied, whatever of them is real. */
static uint64_t work_of (lua_State *L, const mt_gemm_spec *k) {
  uint64_t mn = lmt_times(in_tiles(L, 2, 0, k->tile[0]), in_tiles(L, 3, 0, k->tile[1]));
  return lmt_times(lmt_times(mn, in_tiles(L, 2, 1, k->tile[2])), in_tiles(L, 4, 2, 1));
}

int lmt_gemmkernel (lua_State *L) {
  static const char *const keys[] = {"bias", "residual", "seed", NULL};
  tensors x;
  lmt_ending_options o = {.bias = false};
  LMT_NOERR(err);
  LMT_COUNT(L, 5, "gemm", "kernel, A, B, C [, options]");
  const int first = read_ending(L, "gemm", keys, true, &o);
  const mt_gemm_spec *k = lmt_tokernel(L, 1);
  uint64_t seed = seed_option(L);
  lmt_checkwork(L, "gemm", work_of(L, k));
  mt_gemm_proof *p = lua_newuserdatauv(L, sizeof *p, 0);
  kernel_host(L, first, &o);
  take_tensors(L, &x, first, &o);
  if (mt_verify_gemm(p, k, x.all, &err)) return lmt_raise(L, &err);
  if (!p->ok)
    return luaL_error(L, "gemm: the kernel breaks a law, %s: %s", mt_law_name(p->broken),
                      p->reason);
  char *room = lua_newuserdatauv(L, mt_gemm_room_for(k) + 64, 0);
  room += 64 - (uintptr_t)room % 64;
  const size_t left = lmt_bytesleft(lmt_pushstate(L));
  lua_pop(L, 1);
  mt_device *d = kernel_host(L, first, &o);
  take_tensors(L, &x, first, &o);
  lmt_listenhere(L, &err);
  return mt_run_gemm_on(d, k, x.all, seed, room, left ? left : 1, &err) == MT_OK ?
             0 :
             lmt_raise(L, &err);
}
