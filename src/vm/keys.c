/*
** keys.c - tables whose keys were chosen to collide.
** SPDX-License-Identifier: MIT
**
** A table has its keys in a part of 2^k nodes. It grows by one instruction, which looks
** each key up in the new part: n keys of one bucket take n^2 / 2 steps. Lua asks for the
** new part before that, with the old one still whole. So the allocator remembers the
** parts, and before it gives a larger one it counts, for each part that there is, the
** keys by their buckets in the new one.
**
**   node, 24 bytes:  value 8, its type 1, the key's type 1, next 4 (from byte 12), key 8
**   bucket:          integers and addresses mod (2^k - 1), floats by 31 bits of them
**
** Nothing that a node points to is read: an array of 1.5 * 2^k elements asks for as many
** bytes, and is taken for a part. Texts count as spread, since their hash has a seed that
** scripts do not know. Whether this Lua has such nodes is tried when a VM is opened;
** where it has not, parts of 2^14 nodes are refused.
*/
#include <limits.h>
#include <math.h>
#include <string.h>

#include "vm/vm.h"

enum { LEAST = 1 << 13 };      /* nodes of a part that is remembered */
enum { MOST_STEPS = 1 << 24 }; /* of one growth; one takes 1 to 3 nanoseconds */
enum { TRIED = 16 };           /* nodes of the tables that are tried */

typedef struct node {
  uint64_t value;
  uint8_t type, key_type;
  int32_t next;
  union {
    uint64_t bits;
    double number;
  } key;
} node;

/* The nodes of a part of so many bytes; 0: it is none. Where we do not know what stands
** before them, it may be up to 16 bytes. */
static size_t nodes_of (const mt_vm *v, size_t size) {
  enum { MOST_HEAD = 16 };
  size_t n = size / sizeof(node), head = size % sizeof(node);
  bool fits = v->part_head < 0 ? head <= MOST_HEAD : head == (size_t)v->part_head;
  return fits && (n & (n - 1)) == 0 ? n : 0;
}

static uint32_t hash_float (double x) {
  int e;
  double m = frexp(x, &e) * 2147483648.0;
  if (!(m >= -9e18 && m < 9e18)) return 0;
  uint32_t u = (uint32_t)e + (uint32_t)(int64_t)m;
  return u <= INT_MAX ? u : ~u;
}

/* What a node's key is: -1 for texts and booleans, -2 where it can be no key. */
static int64_t bucket (const node *n, size_t size) {
  uint32_t odd = (uint32_t)(size - 1) | 1;
  int type = n->key_type & 15;
  if (type == LUA_TNIL || type > LUA_TTHREAD) return -2;
  if (type == LUA_TSTRING || type == LUA_TBOOLEAN) return -1;
  if (type != LUA_TNUMBER) return (uint32_t)n->key.bits % odd;
  if (n->key_type & 16) return hash_float(n->key.number) % odd;
  return (int64_t)(n->key.bits % odd);
}

static node node_at (const mt_vm *v, const char *part, size_t i) {
  node n;
  memcpy(&n, part + v->part_head + i * sizeof n, sizeof n);
  return n;
}

static bool is_live (const node *n) { return (n->type & 15) != LUA_TNIL; }

/* ---------------------------------------------------------------- the parts */

static bool make_room (mt_vm *v) {
  if (v->parts < v->part_room) return true;
  size_t room = v->part_room ? 2 * v->part_room : 16;
  vm_part *more = v->o.alloc(v->o.alloc_ud, v->part, v->part_room * sizeof *more,
                             room * sizeof *more);
  if (more == NULL) return false;
  v->part = more, v->part_room = room;
  return true;
}

bool vm_add_part (mt_vm *v, const void *p, size_t size) {
  size_t n = nodes_of(v, size);
  v->newest = p, v->newest_size = size;
  if (n < LEAST || v->part_head < 0) return true;
  if (!make_room(v)) return false;
  v->part[v->parts++] = (vm_part){p, n};
  return true;
}

void vm_drop_part (mt_vm *v, const void *p, size_t size) {
  if (v->parts == 0 || nodes_of(v, size) < LEAST) return;
  for (size_t i = v->parts; i-- > 0;)
    if (v->part[i].at == p) {
      v->part[i] = v->part[--v->parts];
      return;
    }
}

void vm_forget_parts (mt_vm *v) {
  v->o.alloc(v->o.alloc_ud, v->part, v->part_room * sizeof *v->part, 0);
  v->part = NULL;
  v->parts = v->part_room = 0;
}

/* ---------------------------------------------------------------- before one is given */

/* Whether the keys of a part would take too many steps among `size` nodes; `count` has a
** number for each of them, all 0. */
static bool collide (const mt_vm *v, const vm_part *part, size_t size, uint16_t *count) {
  uint64_t steps = 0;
  for (size_t i = 0; i < part->nodes; i++) {
    node n = node_at(v, part->at, i);
    if (!is_live(&n)) continue;
    int64_t b = bucket(&n, size);
    if (b == -2) return false; /* an array */
    if (b >= 0) steps += count[b]++;
    if (steps > MOST_STEPS) return true;
  }
  return false;
}

static bool refuse (mt_vm *v, size_t nodes) {
  v->full = true;
  v->colliding = nodes;
  return false;
}

bool vm_admits (mt_vm *v, size_t size) {
  size_t n = nodes_of(v, size), bytes = n * sizeof(uint16_t);
  bool bad = false;
  if (n < 2 * LEAST || v->closing) return true;
  if (v->part_head < 0) return refuse(v, n);
  if (v->parts == 0) return true;
  if (size + bytes > v->o.memory - v->bytes) return refuse(v, 0);
  uint16_t *count = v->o.alloc(v->o.alloc_ud, NULL, 0, bytes);
  if (count == NULL) return false;
  for (size_t i = 0; i < v->parts && !bad; i++) {
    memset(count, 0, bytes);
    bad = collide(v, &v->part[i], n, count);
  }
  v->o.alloc(v->o.alloc_ud, count, bytes, 0);
  return !bad || refuse(v, n);
}

/* ---------------------------------------------------------------- this Lua's nodes */

/* (key) -> (): whether the only key of a table of TRIED nodes lies where we think. */
static bool is_found (lua_State *L, mt_vm *v) {
  size_t live = 0;
  bool found = false;
  lua_createtable(L, 0, TRIED);
  const void *part = v->newest;
  size_t head = v->newest_size - TRIED * sizeof(node);
  lua_insert(L, -2);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  if (part == NULL || head > 16) return lua_pop(L, 1), false;
  v->part_head = (int)head;
  for (size_t i = 0; i < TRIED; i++) {
    node n = node_at(v, part, i);
    if (!is_live(&n)) continue;
    int64_t b = bucket(&n, TRIED);
    live++;
    found = b == (int64_t)i || b == -1;
  }
  lua_pop(L, 1);
  return found && live == 1;
}

static void push_key (lua_State *L, int i) {
  static const double numbers[] = {0.37, -1e300, 1.5, 0x1.8p-1000, -0.125};
  static const lua_Integer integers[] = {7, -5, 1LL << 40 | 12345, LUA_MININTEGER};
  enum { FLOATS = sizeof numbers / sizeof *numbers, MOST = 3 };
  if (i < FLOATS) lua_pushnumber(L, numbers[i]);
  else if (i < FLOATS + 4) lua_pushinteger(L, integers[i - FLOATS]);
  else if (i == FLOATS + 4) lua_pushlightuserdata(L, (void *)&numbers[MOST]);
  else if (i == FLOATS + 5) lua_pushliteral(L, "a text");
  else lua_newtable(L);
}

void vm_learn (lua_State *L) {
  mt_vm *v = vm_of(L);
  bool ok = sizeof(lua_Integer) == 8 && sizeof(lua_Number) == 8;
  for (int i = 0; i < 12 && ok; i++) {
    push_key(L, i);
    ok = is_found(L, v);
  }
  if (!ok) v->part_head = -1;
}
