/*
** plan_cache.c - the plans of the last copies and products on a device, found again by
** all that they were made of.
** SPDX-License-Identifier: MIT
**
** A plan is a function of its key: layouts, types, offsets, addresses and sizes of the
** buffers, devices, partition, options. It keeps no buffer alive: it is only launched for
** tensors that are alive and have this key, and then it is the plan that would be made
** for them, whoever had that memory before. Memory of the device that a plan has itself
** counts as any other.
*/
#include <stddef.h>
#include <string.h>

#include "binding/host.h"
#include "binding/listed.h"
#include "binding/lmt.h"
#include "binding/plan.h"
#include "binding/view.h"

enum {
  PLANS = 16,
  MOST_MEMORY = 256 << 20, /* bytes of the device that one may hold */
  SHARE = 64               /* of what is left: so small a part of it at most */
};

typedef struct cached {
  mt_plan *p;    /* NULL: none */
  uint64_t used; /* when; the clock counts uses */
  size_t bytes;  /* of the device that it holds */
  lmt_plankey key;
} cached;

typedef struct memory {
  lmt_state *state;
  uint64_t clock;
  lua_Integer hits, misses;
  cached plan[PLANS];
} memory;

/* ---------------------------------------------------------------- keys */

typedef struct side {
  const mt_device *device;
  const void *data;
  size_t bytes;
  int64_t offset;
  uint32_t dtype;
  uint16_t nodes, bounds; /* of layout and bounds; of these alone */
} side;

/* Whole words; the hash is of all so far. It only spares comparisons: keys that differ in
** one word have two hashes, and those of one hash are compared. */
static inline bool add (lmt_plankey *k, const void *what, size_t bytes) {
  if (bytes > sizeof k->word - k->size) return false;
  uint64_t h = k->hash, *to = k->word + k->size / sizeof *to;
#pragma GCC unroll 4
  for (size_t i = 0; i < bytes / sizeof *to; i++) {
    memcpy(to + i, (const char *)what + i * sizeof *to, sizeof *to);
    h = (h ^ to[i]) * UINT64_C(0x9e3779b97f4a7c15);
  }
  k->hash = h;
  k->size += bytes;
  return true;
}

/* Bounds lie behind the layout: all of them are one block. */
static bool add_tensor (lmt_plankey *k, const lmt_tensor *t) {
  /* Another list may come to lie where one was. */
  if (lmt_haslist(t->layout) || (t->bounded && lmt_haslist(lmt_boundsof(t)->coord)))
    return false;
  const size_t n = t->layout->span, m = t->bounded ? t->bounded - n : 0;
  const side s = {.device = t->buffer->device->d,
                  .data = t->buffer->data,
                  .bytes = t->buffer->bytes,
                  .offset = t->offset,
                  .dtype = (uint32_t)t->dtype,
                  .nodes = (uint16_t)(n + m),
                  .bounds = (uint16_t)m};
  return add(k, &s, sizeof s) && add(k, t->layout, (n + m) * sizeof *t->layout);
}

bool lmt_makekey (lua_State *L, lmt_plankey *k, int first, int n, const void *how,
                  size_t bytes) {
  _Static_assert(sizeof(side) % 8 == 0 && sizeof(mt_node) % 8 == 0, "whole words");
  k->size = k->hash = 0;
  if (!add(k, how, bytes)) return false;
  for (int i = 0; i < n; i++) {
    const lmt_tensor *t = lmt_totensor(L, first + i);
    if (i < 2) k->device[i] = t->buffer->device->d;
    if (!add_tensor(k, t)) return false;
  }
  return true;
}

static bool same_key (const lmt_plankey *a, const lmt_plankey *b) {
  return a->hash == b->hash && a->size == b->size &&
         memcmp(a->word, b->word, a->size) == 0;
}

/* ---------------------------------------------------------------- remembering */

static memory *memory_of (const lmt_device *d) { return d->plans ? d->plans->p : NULL; }

static void forget (memory *m, cached *r) {
  mt_plan_free(r->p);
  m->state->held -= r->bytes;
  r->p = NULL;
  r->bytes = 0;
}

static void close_memory (lmt_resource *r) {
  memory *m = r->p;
  const mt_device_options *o = &r->state->options;
  for (int i = 0; i < PLANS; i++) forget(m, &m->plan[i]);
  o->alloc(o->alloc_ud, m, sizeof *m, 0);
}

static bool is_of (const lmt_plankey *k, const mt_device *d) {
  return d == NULL || k->device[0] == d || k->device[1] == d;
}

void lmt_forgetplans (lmt_state *state, const mt_device *d) {
  for (lmt_resource *r = state->resources; r; r = r->next) {
    memory *m = r->close == close_memory ? r->p : NULL;
    for (cached *x = m ? m->plan : NULL; m && x < m->plan + PLANS; x++)
      if (x->p && is_of(&x->key, d)) forget(m, x);
  }
}

/* Makes the device's memory, if it has none. Without it nothing is remembered. */
static memory *need_memory (lua_State *L, lmt_device *d) {
  if (d->plans == NULL) d->plans = lmt_reserve(L, close_memory, d->d);
  if (d->plans == NULL || d->plans->p) return memory_of(d);
  const mt_device_options *o = &d->plans->state->options;
  memory *m = o->alloc(o->alloc_ud, NULL, 0, sizeof *m);
  if (m) *m = (memory){.state = d->plans->state};
  return d->plans->p = m;
}

mt_plan *lmt_cachedplan (lua_State *L, lmt_device *d, const lmt_plankey *k) {
  memory *m = need_memory(L, d);
  if (m == NULL) return NULL;
  for (cached *r = m->plan; r < m->plan + PLANS; r++) {
    if (r->p == NULL || !same_key(&r->key, k)) continue;
    r->used = ++m->clock;
    m->hits++;
    return r->p;
  }
  m->misses++;
  return NULL;
}

/* A free place, else that of the plan that was not used for longest. */
static cached *oldest_of (memory *m) {
  cached *oldest = m->plan;
  for (cached *r = m->plan; r < m->plan + PLANS; r++) {
    if (r->p == NULL) return r;
    if (r->used < oldest->used) oldest = r;
  }
  return oldest;
}

bool lmt_cacheplan (const lmt_device *d, const lmt_plankey *k, mt_plan *p) {
  memory *m = memory_of(d);
  const size_t bytes = mt_plan_memory(p);
  if (m == NULL || bytes > MOST_MEMORY || bytes > lmt_bytesleft(m->state) / SHARE)
    return false;
  cached *r = oldest_of(m);
  forget(m, r);
  r->p = p;
  r->used = ++m->clock;
  m->state->held += r->bytes = bytes;
  memcpy(&r->key, k, offsetof(lmt_plankey, word) + k->size);
  return true;
}

/* device:plans() -> how many copies and products found their plan, how many did not, how
** many plans are remembered now. */
int lmt_deviceplans (lua_State *L) {
  const memory *m = memory_of(lmt_todevice(L, 1));
  int n = 0;
  for (int i = 0; m && i < PLANS; i++) n += m->plan[i].p != NULL;
  lua_pushinteger(L, m ? m->hits : 0);
  lua_pushinteger(L, m ? m->misses : 0);
  lua_pushinteger(L, n);
  return 3;
}
