/*
** recording.c - plans as data in Lua: what moontile.export writes as C.
** SPDX-License-Identifier: MIT
*/
#include "binding/plan.h"
#include "binding/host.h"
#include "plan/recording.h"

/* As many as a product has: its tensors before, packing, two rests, itself, C after. */
enum { MOST = MT_PARTS + 1 + 2 + 1 + 1, PARAMETER = 4096 };

typedef struct listing {
  mt_recorder r;
  int n;
  struct {
    mt_recorded x;
    unsigned char parameter[PARAMETER];
  } launch[MOST];
} listing;

/* Nothing of Lua is called from inside a backend. */
static mt_status add (mt_recorder *r, const mt_recorded *x, mt_err *err) {
  listing *l = (listing *)(void *)r;
  if (l->n == MOST || x->bytes > PARAMETER)
    return mt_fail(err, MT_ETOOBIG, "export: more than %d launches", (int)MOST);
  l->launch[l->n].x = *x;
  memcpy(l->launch[l->n].parameter, x->launch, x->bytes);
  l->n++;
  return MT_OK;
}

/* ---------------------------------------------------------------- tables */

static void set_integer (lua_State *L, const char *key, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, key);
}

static void set_address (lua_State *L, const char *key, const void *p) {
  set_integer(L, key, (lua_Integer)(uintptr_t)p);
}

static void push_map (lua_State *L, const mt_recorded_map *m) {
  lua_createtable(L, 8, 4);
  set_integer(L, "at", (lua_Integer)m->at);
  set_integer(L, "type", m->type);
  set_integer(L, "swizzle", m->swizzle);
  set_address(L, "value", m->box.base);
  lua_Integer of[] = {(lua_Integer)m->box.extent[0],
                      (lua_Integer)m->box.extent[1],
                      (lua_Integer)m->box.extent[2],
                      (lua_Integer)m->box.stride[0],
                      (lua_Integer)m->box.stride[1],
                      m->box.box[0],
                      m->box.box[1],
                      m->box.box[2]};
  for (int i = 0; i < 8; i++) {
    lua_pushinteger(L, of[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

static void push_address (lua_State *L, const mt_recorded_address *a) {
  lua_createtable(L, 0, 3);
  set_integer(L, "at", (lua_Integer)a->at);
  set_address(L, "value", a->value);
  lua_pushboolean(L, a->end);
  lua_setfield(L, -2, "ends");
}

static const char *const image_names[MT_NOP] = {[MT_OP_COPY] = "copy",
                                                [MT_OP_GEMM] = "mma",
                                                [MT_OP_AMPERE] = "ampere",
                                                [MT_OP_HOPPER] = "hopper",
                                                [MT_OP_PACK] = "pack"};

/* A fatbin says its size behind its magic number; a list of kernels ends in a zero. */
static size_t image_size (const unsigned char *image) {
  uint16_t head;
  uint64_t rest;
  if (memcmp(image, "\x50\xed\x55\xba", 4) != 0) return strlen((const char *)image);
  memcpy(&head, image + 6, sizeof head);
  memcpy(&rest, image + 8, sizeof rest);
  return head + (size_t)rest;
}

static void push_numbers (lua_State *L, const mt_recorded *x) {
  set_integer(L, "blocks", x->grid.blocks);
  set_integer(L, "threads", x->grid.threads);
  set_integer(L, "shared", x->shared);
  set_integer(L, "most_shared", x->most_shared);
  set_integer(L, "cluster", x->cluster);
  set_integer(L, "binary", x->binary);
  lua_pushboolean(L, x->early);
  lua_setfield(L, -2, "early");
}

/* The images lie at `images`, by name. */
static void push_launch (lua_State *L, const mt_recorded *x, const void *parameter,
                         int images) {
  lua_createtable(L, 0, 12);
  lua_pushfstring(L, "mt_%s", x->kernel);
  lua_setfield(L, -2, "kernel");
  lua_pushstring(L, image_names[x->op]);
  lua_setfield(L, -2, "image");
  lua_pushlstring(L, (const char *)x->image, image_size(x->image));
  lua_setfield(L, images, image_names[x->op]);
  lua_pushlstring(L, parameter, x->bytes);
  lua_setfield(L, -2, "parameter");
  push_numbers(L, x);
  lua_createtable(L, x->addresses, 0);
  for (int i = 0; i < x->addresses; i++) {
    push_address(L, &x->address[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "addresses");
  lua_createtable(L, x->maps, 0);
  for (int i = 0; i < x->maps; i++) {
    push_map(L, &x->map[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "maps");
}

/* Bytes from the buffer's beginning to the tensor's element at coordinate 0. */
static lua_Integer element_of (const mt_plan *p, int i, const char *name,
                               const lmt_buffer *b) {
  const mt_gemm_launch *g = &p->gemm;
  const bool copy = p->launch.desc.op == MT_OP_COPY, part = i < MT_PARTS;
  const int k = part ? i : strcmp(name, "residual") == 0 ? MT_RESIDUAL : MT_BIAS;
  const uint32_t dtype = part ? g->desc.part[k].dtype : g->beside[k].dtype;
  if (copy)
    return (p->launch.offset[i] + p->launch.origin[i]) * MT_ELEM(&p->launch.desc, i);
  const char *base = part ? g->base[k] : g->beside_base[k];
  return base - (const char *)b->data +
         (part ? g->offset[k] : g->beside_offset[k]) *
             (lua_Integer)mt_dtype_size((mt_dtype)dtype);
}

/* Whose addresses there can be: tensors, then the plan's own. */
typedef struct owner {
  const char *name;
  const void *address;
  size_t bytes;
  lua_Integer element; /* -1: it has none */
} owner;

typedef struct owners {
  int n, result;
  owner of[LMT_PLANTENSORS + 1];
} owners;

static void find_owners (owners *out, lua_State *L, const mt_plan *p) {
  const char *const *names;
  *out = (owners){.n = lmt_plannames(L, 1, &names)};
  out->result = p->launch.desc.op == MT_OP_COPY ? 2 : 3;
  for (int i = 0; i < out->n; i++) {
    const lmt_buffer *b = lmt_planbuffer(L, 1, i);
    out->of[i] = (owner){names[i], b->data, b->bytes, element_of(p, i, names[i], b)};
  }
  if (p->memory_bytes > 0)
    out->of[out->n++] = (owner){"workspace", p->memory, p->memory_bytes, -1};
}

static void push_owners (lua_State *L, const owners *x) {
  lua_createtable(L, x->n, 1);
  for (int i = 0; i < x->n; i++) {
    const owner *o = &x->of[i];
    lua_createtable(L, 0, 4);
    lua_pushstring(L, o->name);
    lua_setfield(L, -2, "name");
    set_address(L, "address", o->address);
    set_integer(L, "bytes", (lua_Integer)o->bytes);
    if (o->element >= 0) set_integer(L, "element", o->element);
    lua_rawseti(L, -2, i + 1);
  }
  set_integer(L, "result", x->result);
}

static void push_listing (lua_State *L, const listing *l, const owners *x) {
  lua_createtable(L, 0, 3);
  push_owners(L, x);
  lua_setfield(L, 3, "tensors");
  lua_newtable(L);
  lua_createtable(L, l->n, 0);
  for (int i = 0; i < l->n; i++) {
    push_launch(L, &l->launch[i].x, l->launch[i].parameter, 4);
    lua_rawseti(L, 5, i + 1);
  }
  lua_setfield(L, 3, "launches");
  lua_setfield(L, 3, "images");
}

/* plan_launches(plan) -> { tensors =, images =, launches = } */
static int plan_launches (lua_State *L) {
  LMT_NOERR(err);
  owners x;
  lua_settop(L, 1);
  listing *l = lua_newuserdatauv(L, sizeof *l, 0);
  l->r.add = add;
  l->n = 0;
  mt_plan *p = lmt_toplan(L, 1, true);
  find_owners(&x, L, p);
  if (mt_plan_record(p, &l->r, &err) != MT_OK) return lmt_raise(L, &err);
  push_listing(L, l, &x);
  return 1;
}

/* ---------------------------------------------------------------- loops */

/* { extent, stride of src, of dst, steps... } */
static void push_axis (lua_State *L, const mt_axis *a, uint32_t nbound) {
  lua_createtable(L, 3 + (int)nbound, 0);
  const int64_t of[] = {a->extent, a->stride[MT_SRC], a->stride[MT_DST]};
  for (int i = 0; i < 3 + (int)nbound; i++) {
    lua_pushinteger(L, i < 3 ? of[i] : a->step[i - 3]);
    lua_rawseti(L, -2, i + 1);
  }
}

static void push_side (lua_State *L, const mt_launch *l, int side) {
  lua_createtable(L, 0, 4);
  set_integer(L, "offset", l->offset[side]);
  set_integer(L, "origin", l->origin[side]);
  set_integer(L, "mask", l->desc.swizzle[side].mask);
  set_integer(L, "shift", l->desc.swizzle[side].shift);
  lua_rawseti(L, -2, side + 1);
}

/* The plan at 1, a copy as it was proven: by elements. */
static void find_loops (lua_State *L, mt_launch *out, owners *x) {
  const mt_plan *p = lmt_toplan(L, 1, true);
  if (p->launch.desc.op != MT_OP_COPY)
    luaL_error(L,
               "export: a product on %s is no loop that one would want as C\nplan it "
               "with tensors on a GPU, tile.device \"cuda\", or link the library",
               mt_device_name(p->device));
  if (p->table || p->stage || p->first.desc.vec > 1)
    luaL_error(L, "export: a copy by a list of offsets, or in pieces, is no loop\nexport "
                  "a copy of plain or swizzled layouts on one device");
  if (p->first.desc.cast)
    luaL_error(L, "export: a copy that converts is no loop of the host's\nexport one to "
                  "the same type, or plan it with tensors on a GPU");
  *out = p->first;
  if (p->launch.desc.rests == 0) out->desc.rests = 0;
  find_owners(x, L, p);
}

static void push_axes (lua_State *L, const mt_desc *d) {
  const int n = (int)(d->nthr + d->nval + d->nrest);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    push_axis(L, &d->axis[i], d->nbound);
    lua_rawseti(L, -2, i + 1);
  }
}

/* plan_loops(plan) -> { elem =, axes =, bounds =, tensors =, [1] = src, [2] = dst },
** empty = 1 where there is nothing to do */
static int plan_loops (lua_State *L) {
  mt_launch l;
  owners x;
  find_loops(L, &l, &x);
  lua_createtable(L, 2, 5);
  set_integer(L, "elem", l.desc.elem);
  set_integer(L, "empty", l.desc.rests == 0);
  for (int side = 0; side < 2; side++) push_side(L, &l, side);
  push_axes(L, &l.desc);
  lua_setfield(L, -2, "axes");
  lua_createtable(L, (int)l.desc.nbound, 0);
  for (uint32_t i = 0; i < l.desc.nbound; i++) {
    lua_pushinteger(L, l.desc.bound[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "bounds");
  push_owners(L, &x);
  lua_setfield(L, -2, "tensors");
  return 1;
}

static int plan_is_host (lua_State *L) {
  lua_pushboolean(L, mt_device_is_host(lmt_toplan(L, 1, true)->device));
  return 1;
}

/* write_file(path, text) -> true | nil, message, code */
static int l_write_file (lua_State *L) {
  LMT_NOERR(err);
  size_t n;
  lmt_file *box;
  const char *path = lmt_checkpath(L, 1), *text = luaL_checklstring(L, 2, &n);
  if (lmt_openfile(L, path, LMT_REPLACE, &box, &err) == NULL)
    return lmt_failfile(L, path, &err);
  mt_status s = lmt_write(box, text, n, &err);
  if (s == MT_OK) s = lmt_finish(box, &err);
  else lmt_abandon(box);
  if (s != MT_OK) return lmt_failfile(L, path, &err);
  lua_pushboolean(L, 1);
  return 1;
}

#define ROWS_RECORDING
#include "binding/rows.h"

void lmt_open_recording (lua_State *L) { lmt_addrows(L, rows); }
