/*
** plan_cache.c - the plans of the last copies on a device, found again by all that they
** were made of.
** SPDX-License-Identifier: MIT
**
** A plan is a function of its key: layouts, type, offsets, addresses and sizes of both
** buffers, devices, partition. It keeps no buffer alive: it is only launched for tensors
** that are alive and have this key, and then it is the plan that would be made for them,
** whoever had that memory before.
*/
#include <stddef.h>
#include <string.h>

#include "binding/listed.h"
#include "binding/lmt.h"
#include "binding/plan.h"
#include "binding/view.h"

enum { PLANS = 16 };

typedef struct cached {
  mt_plan *p;    /* NULL: none */
  uint64_t used; /* when; the clock counts uses */
  lmt_plankey key;
} cached;

typedef struct memory {
  uint64_t clock;
  lua_Integer hits, misses;
  cached plan[PLANS];
} memory;

/* ---------------------------------------------------------------- keys */

/* Bounds lie behind the layout: all of them are one block. */
static bool add_side (lmt_plankey *k, int side, const lmt_tensor *t, size_t *nodes) {
  /* Another list may come to lie where one was. */
  if (lmt_haslist(t->layout) || (t->bounded && lmt_haslist(lmt_boundsof(t)->coord)))
    return false;
  size_t n = t->layout->span, m = t->bounded ? t->bounded - n : 0;
  n += m;
  if (n > LMT_KEYNODES - *nodes) return false;
  k->side[side] = (lmt_keyside){.device = t->buffer->device->d,
                                .data = t->buffer->data,
                                .bytes = t->buffer->bytes,
                                .offset = t->offset,
                                .dtype = (uint32_t)t->dtype,
                                .nodes = (uint16_t)n,
                                .bounds = (uint16_t)m};
  memcpy(k->node + *nodes, t->layout, n * sizeof *t->layout);
  *nodes += n;
  return true;
}

static uint64_t hash_of (const lmt_plankey *k) {
  uint64_t h = k->size, word;
  const unsigned char *p = (const unsigned char *)k->side;
  for (size_t i = 0; i < k->size; i += sizeof word) {
    memcpy(&word, p + i, sizeof word);
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
  }
  return h;
}

/* What counts lies together, from `side` on. */
bool lmt_makekey (lua_State *L, lmt_plankey *k, int src, uint64_t copy) {
  size_t nodes = 0;
  k->copy = copy;
  for (int i = 0; i < 2; i++)
    if (!add_side(k, i, lmt_totensor(L, src + i), &nodes)) return false;
  k->size = offsetof(lmt_plankey, node) - offsetof(lmt_plankey, side) +
            nodes * sizeof k->node[0];
  k->hash = hash_of(k);
  return true;
}

static bool same_key (const lmt_plankey *a, const lmt_plankey *b) {
  return a->hash == b->hash && a->size == b->size &&
         memcmp(a->side, b->side, a->size) == 0;
}

/* ---------------------------------------------------------------- remembering */

static memory *memory_of (const lmt_device *d) { return d->plans ? d->plans->p : NULL; }

static void forget (cached *r) {
  mt_plan_free(r->p);
  r->p = NULL;
}

static void close_memory (lmt_resource *r) {
  memory *m = r->p;
  const mt_device_options *o = &r->state->options;
  for (int i = 0; i < PLANS; i++) forget(&m->plan[i]);
  o->alloc(o->alloc_ud, m, sizeof *m, 0);
}

static bool is_of (const lmt_plankey *k, const mt_device *d) {
  return d == NULL || k->side[0].device == d || k->side[1].device == d;
}

void lmt_forgetplans (lmt_state *state, const mt_device *d) {
  for (lmt_resource *r = state->resources; r; r = r->next) {
    memory *m = r->close == close_memory ? r->p : NULL;
    for (cached *x = m ? m->plan : NULL; m && x < m->plan + PLANS; x++)
      if (x->p && is_of(&x->key, d)) forget(x);
  }
}

/* Makes the device's memory, if it has none. Without it nothing is remembered. */
static memory *need_memory (lua_State *L, lmt_device *d) {
  if (d->plans == NULL) d->plans = lmt_reserve(L, close_memory, d->d);
  if (d->plans == NULL || d->plans->p) return memory_of(d);
  const mt_device_options *o = &d->plans->state->options;
  memory *m = o->alloc(o->alloc_ud, NULL, 0, sizeof *m);
  if (m) memset(m, 0, sizeof *m);
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
  if (m == NULL) return false;
  cached *r = oldest_of(m);
  forget(r);
  r->p = p;
  r->used = ++m->clock;
  memcpy(&r->key, k, offsetof(lmt_plankey, side) + k->size);
  return true;
}

/* device:plans() -> how many copies found their plan, how many did not, how many plans
** are remembered now. */
int lmt_deviceplans (lua_State *L) {
  const memory *m = memory_of(lmt_todevice(L, 1));
  int n = 0;
  for (int i = 0; m && i < PLANS; i++) n += m->plan[i].p != NULL;
  lua_pushinteger(L, m ? m->hits : 0);
  lua_pushinteger(L, m ? m->misses : 0);
  lua_pushinteger(L, n);
  return 3;
}
