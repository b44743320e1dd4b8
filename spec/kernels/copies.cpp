/*
** copies.cpp - shared memory of emulated blocks: barriers, words, the copy engine.
** SPDX-License-Identifier: MIT
*/
#include "cluster.h"

namespace emulated {

enum { MOST_LOADS = 1 << 16, POISON = 0xFF };

struct load {
  const emulated_map *map; /* NULL: these words are sent */
  unsigned from, block;    /* which loads, and where to */
  uint32_t to;
  int x, y, z;
  barrier *tells;
  uint32_t words[4];
};
static load loads[MOST_LOADS];
static unsigned nloads;

unsigned loads_on_their_way () { return nloads; }

void reset_block (block &b) {
  memset(b.memory, POISON, sizeof b.memory);
  for (word &w : b.words) w = {NOBODY, NOBODY, 0, 0};
  for (chunk &c : b.chunks) c = {{0, 0, 0}, 0, 0, -1, -1, false};
  b.nbarriers = 0;
  memset((void *)&b.all, 0, sizeof b.all);
  memset((void *)b.warp, 0, sizeof b.warp);
  memset(b.turn, 0, sizeof b.turn);
  memset((void *)&b.ended, 0, sizeof b.ended);
  memset(b.reached, 0, sizeof b.reached);
  nloads = 0;
}

/* ------------------------------------------------------------------ places */

static void need_inside (uint32_t at, uint32_t bytes) {
  if (at < memory_base || at + bytes > memory_base + how->shared)
    fail("shared memory %u to %u is outside of %u to %u", at, at + bytes, memory_base,
         (unsigned)(memory_base + how->shared));
}

chunk &chunk_at (block &b, uint32_t at) {
  need_inside(at / 16 * 16, 16);
  return b.chunks[at / 16];
}

/* A block that this thread reaches for has to be there until then. */
static block &reach (unsigned rank) {
  need(rank < nblocks, "a block that the cluster does not have");
  block &b = *blocks[rank];
  need(b.alive > 0, "it reaches for a block that has ended");
  if (rank != me->block) b.reached[number()] = my_time();
  return b;
}

void need_loaded (unsigned rank, const chunk &c) {
  if (c.load >= 0 && me->knows.of[rank].barrier[c.load] <= c.phase)
    fail("it did not wait for the load that ends phase %d of barrier %d", c.phase,
         c.load);
}

void need_unread (unsigned rank, const chunk &c) {
  const knowledge &k = me->knows.of[rank];
  for (int g = 0; g < GROUPS; g++)
    if (k.products[g] < c.products[g])
      fail("it overwrites what warpgroup %d of block %u may still multiply", g, rank);
  if (c.storer >= 0 && k.stores[c.storer] < c.store)
    fail("it overwrites what a store of warp %d may still read", c.storer);
  need(!c.barrier, "it overwrites a barrier");
}

/* ------------------------------------------------------------------ words */

static bool knows_of (unsigned who, int16_t when) {
  return me->knows.of[who / THREADS].thread[who % THREADS] >= when;
}

static word &word_at (block &b, uint32_t at) {
  need_inside(at, 4);
  need(at % 4 == 0, "an access that is not aligned");
  return b.words[at / 4];
}

void write_word (uint32_t at, uint32_t x) {
  block &b = mine();
  word &w = word_at(b, at);
  const chunk &c = b.chunks[at / 16];
  need_loaded(me->block, c);
  need_unread(me->block, c);
  need(w.writer == NOBODY || knows_of(me->block * THREADS + w.writer, w.written),
       "it overwrites what another thread may be about to write");
  need(w.reader == NOBODY || knows_of(w.reader, w.read),
       "it overwrites what another thread may still read");
  w.writer = (uint16_t)me->id, w.written = my_time();
  memcpy(b.memory + at, &x, 4);
}

uint32_t read_word (uint32_t at, unsigned rank) {
  block &b = reach(rank);
  word &w = word_at(b, at);
  uint32_t x;
  const chunk &c = b.chunks[at / 16];
  need(w.writer != NOBODY || c.load >= 0, "it reads what nobody wrote");
  if (w.writer == NOBODY) need_loaded(rank, c);
  else
    need(knows_of(rank * THREADS + w.writer, w.written),
         "it reads what another thread may not have written yet");
  w.reader = (uint16_t)number(), w.read = my_time();
  memcpy(&x, b.memory + at, 4);
  return x;
}

void fence_writes () {
  me->knows.of[me->block].fenced[me->id] = my_time();
  tick();
}

/* ------------------------------------------------------------------ barriers */

static barrier &find (block &b, uint32_t at) {
  for (int i = 0; i < b.nbarriers; i++)
    if (b.barriers[i].at == at) return b.barriers[i];
  fail("there is no barrier at %u", at);
}

void init_barrier (uint32_t at, unsigned arrivals) {
  block &b = mine();
  need(at % 8 == 0 && arrivals > 0 && arrivals < 1 << 20, "a barrier that cannot be");
  need(b.nbarriers < BARRIERS, "more barriers than the test has");
  chunk_at(b, at).barrier = true;
  barrier &n = b.barriers[b.nbarriers++];
  memset((void *)&n, 0, sizeof n);
  n.at = at;
  n.count = n.pending = (int)arrivals;
  n.maker = me->id, n.made = my_time();
}

void fence_barriers () {
  block &b = mine();
  for (int i = 0; i < b.nbarriers; i++)
    if (b.barriers[i].maker == me->id) b.barriers[i].fenced = true;
  tick();
}

/* What the copy engine or another block is to see of it. */
static barrier &find_fenced (unsigned rank, uint32_t at) {
  barrier &n = find(reach(rank), at);
  need(n.fenced, "a barrier that no fence has shown to the cluster and to copies");
  need(knows_of(rank * THREADS + n.maker, n.made), "a barrier that may not be there yet");
  return n;
}

static void end_phase (unsigned rank, barrier &n) {
  if (n.pending > 0 || n.bytes != 0) return;
  join(n.near_done, n.near, true);
  join(n.far_done, n.far, true);
  memset((void *)&n.near, 0, sizeof n.near);
  memset((void *)&n.far, 0, sizeof n.far);
  n.phase++;
  n.pending = n.count;
  need(n.phase < INT16_MAX, "the test is too long for its clocks");
  wake(rank, 0, THREADS, &n);
}

void arrive (uint32_t at, unsigned rank, bool tells_all, unsigned bytes) {
  const bool here = rank == me->block;
  barrier &n = here ? find(mine(), at) : find_fenced(rank, at);
  need(knows_of(rank * THREADS + n.maker, n.made), "a barrier that may not be there yet");
  need(n.pending > 0, "more arrivals than the barrier counts");
  join(n.near, me->knows, here);
  if (tells_all) join(n.far, me->knows, true);
  n.bytes += (int)bytes;
  n.pending--;
  tick();
  end_phase(rank, n);
}

void wait_for (uint32_t at, uint32_t parity, bool hears_all) {
  barrier &n = find(mine(), at);
  need(knows_of(me->block * THREADS + n.maker, n.made),
       "a barrier that may not be there yet");
  while ((n.phase & 1) == (int)parity) wait_on(&n, "barrier", parity);
  join(me->knows, n.near_done, true);
  if (hears_all) join(me->knows, n.far_done, true);
  me->knows.of[me->block].barrier[&n - mine().barriers] = (int16_t)n.phase;
}

/* ------------------------------------------------------------------ boxes */

/* A box in global and shared memory, line by line. */
struct lines {
  const emulated_map *map;
  int x, y, z;
  uint32_t at;

  uint32_t count () const { return map->box[1] * map->box[2]; }
  uint32_t width () const { return map->box[0] * map->size; }
  uint32_t bytes () const { return count() * width(); }
  /* The bytes of line i in global memory: how many are real, from which on. */
  char *global (uint32_t i, uint32_t *first, uint32_t *bytes) const {
    const int64_t v = y + (int64_t)(i % map->box[1]), w = z + (int64_t)(i / map->box[1]);
    int64_t low = x < 0 ? -(int64_t)x : 0, high = (int64_t)map->extent[0] - x;
    if (high > map->box[0]) high = map->box[0];
    if (v < 0 || w < 0 || v >= (int64_t)map->extent[1] || w >= (int64_t)map->extent[2])
      high = 0;
    if (low > high) low = high;
    *first = (uint32_t)low * map->size;
    *bytes = (uint32_t)(high > low ? high - low : 0) * map->size;
    return map->base + (v * (int64_t)map->stride[0] + w * (int64_t)map->stride[1] +
                        (x + low) * map->size);
  }
  /* Its chunk c in shared memory. */
  uint32_t shared (uint32_t i, uint32_t c) const {
    const uint32_t a = at + i * width() + c * 16;
    return a ^ (a >> 3 & (width() - 16));
  }
};

static const emulated_map *open_map (const mt_tma_map *map) {
  const emulated_map *m = (const emulated_map *)(const void *)map->bytes;
  const uint32_t line = m->box[0] * m->size;
  need(m->size > 0 && (line == MT_SLAB || line == 32), "a map that nobody made");
  return m;
}

static void need_box (const lines &l) {
  need(me->launched, "a copy before what went before the launch is done");
  need(l.at % (8 * l.width()) == 0, "a box that does not begin where its swizzle does");
  need_inside(l.at, l.bytes());
}

/* ------------------------------------------------------------------ loads */

static void perform_sent (const load &l) {
  memcpy(blocks[l.block]->memory + l.to, l.words, sizeof l.words);
  l.tells->bytes -= (int)sizeof l.words;
  end_phase(l.block, *l.tells);
}

static void perform (const load &l) {
  if (l.map == NULL) return perform_sent(l);
  block &b = *blocks[l.block];
  const lines box = {l.map, l.x, l.y, l.z, l.to};
  for (uint32_t i = 0; i < box.count(); i++) {
    char line[MT_SLAB] = {0};
    uint32_t first, bytes;
    const char *from = box.global(i, &first, &bytes);
    if (bytes > 0) memcpy(line + first, from, bytes);
    for (uint32_t c = 0; c < box.width() / 16; c++)
      memcpy(b.memory + box.shared(i, c), line + 16 * c, 16);
  }
  l.tells->bytes -= (int)box.bytes();
  end_phase(l.block, *l.tells);
}

/* The copy engine may write where threads wrote and read: it is told of the one by a
** fence, as for a store, and of the other by any synchronisation. */
static void need_left (unsigned block, word &w) {
  need(w.writer == NOBODY || me->knows.of[block].fenced[w.writer] >= w.written,
       "it loads over what threads wrote");
  need(w.reader == NOBODY || knows_of(w.reader, w.read),
       "it loads over what another thread may still read");
  w.writer = w.reader = NOBODY;
}

/* Until the bytes come there is no number. */
static void announce (const load &l, uint32_t bytes) {
  block &b = *blocks[l.block];
  for (uint32_t at = l.to; at < l.to + bytes; at += 16) {
    chunk &c = b.chunks[at / 16];
    need_loaded(l.block, c);
    need_unread(l.block, c);
    for (word *w = &b.words[at / 4]; w < &b.words[at / 4 + 4]; w++)
      need_left(l.block, *w);
    c.load = (int8_t)(l.tells - b.barriers);
    c.phase = (int16_t)l.tells->phase;
  }
  memset(b.memory + l.to, POISON, bytes);
  need(nloads < MOST_LOADS, "more loads than the test has");
  if (how->timing == EARLIEST) perform(l);
  else loads[nloads++] = l;
}

void load_box (uint32_t to, const mt_tma_map *map, uint32_t at, int x, int y, int z,
               unsigned to_blocks) {
  need(to_blocks != 0 && to_blocks >> nblocks == 0,
       "a load to blocks that are not there");
  for (unsigned rank = 0; rank < nblocks; rank++) {
    if ((to_blocks >> rank & 1) == 0) continue;
    const load l = {open_map(map),          me->block, rank, to, x, y, z,
                    &find_fenced(rank, at), {0}};
    const lines box = {l.map, x, y, z, to};
    need_box(box);
    announce(l, box.bytes());
  }
}

void send_words (uint32_t to, unsigned rank, uint32_t at, const uint32_t words[4]) {
  load l = {NULL, me->block, rank, to, 0, 0, 0, &find_fenced(rank, at), {0}};
  memcpy(l.words, words, sizeof l.words);
  need(to % 16 == 0, "words that are sent to no multiple of 16 bytes");
  need_inside(to, sizeof l.words);
  announce(l, sizeof l.words);
}

bool land_one () {
  if (nloads == 0) return false;
  const unsigned i = dice(nloads);
  const load l = loads[i];
  loads[i] = loads[--nloads];
  perform(l);
  return true;
}

/* ------------------------------------------------------------------ stores */

static void perform (const store &s) {
  const block &b = mine();
  const lines box = {s.map, s.x, s.y, s.z, s.from};
  for (uint32_t i = 0; i < box.count(); i++) {
    char line[MT_SLAB];
    uint32_t first, bytes;
    char *to = box.global(i, &first, &bytes);
    for (uint32_t c = 0; c < box.width() / 16; c++)
      memcpy(line + 16 * c, b.memory + box.shared(i, c), 16);
    if (bytes > 0) memcpy(to, line + first, bytes);
  }
}

/* All groups up to this one. */
static void perform_stores (int group) {
  int left = 0;
  for (int i = 0; i < me->nstores; i++)
    if (me->stores[i].group <= group) perform(me->stores[i]);
    else me->stores[left++] = me->stores[i];
  me->nstores = left;
}

static void need_written (uint32_t at) {
  const block &b = mine();
  for (const word *w = &b.words[at / 4]; w < &b.words[at / 4 + 4]; w++) {
    need(w->writer != NOBODY, "it stores what nobody wrote");
    if (me->knows.of[me->block].fenced[w->writer] < w->written)
      fail("it stores what thread %d wrote, without a fence for copies and a "
           "synchronisation between",
           w->writer);
  }
}

void store_box (const mt_tma_map *map, uint32_t from, int x, int y, int z) {
  const store s = {open_map(map), from, x, y, z, me->store_groups + 1};
  const lines box = {s.map, x, y, z, from};
  need(me->id % 32 == 0, "the test wants the first lane of a warp to store");
  need_box(box);
  need(me->nstores < 16, "more stores than the test has");
  for (uint32_t at = from; at < from + box.bytes(); at += 16) {
    chunk &c = mine().chunks[at / 16];
    need_written(at);
    c.storer = (int8_t)(me->id / 32);
    c.store = (int16_t)s.group;
  }
  me->stores[me->nstores++] = s;
}

void commit_stores () {
  me->store_groups++;
  if (at_once()) perform_stores(me->store_groups);
}

void wait_stores (int n) {
  const int group = me->store_groups - n;
  int16_t &known = me->knows.of[me->block].stores[me->id / 32];
  perform_stores(group);
  if (group > known) known = (int16_t)group;
}

void end_of_stores () {
  need(me->nstores == 0 || me->stores[me->nstores - 1].group <= me->store_groups,
       "it ends with stores in no group");
  if (me->id % 32 == 0)
    need(me->knows.of[me->block].stores[me->id / 32] >= me->store_groups,
         "it ends while its stores may still read");
}

} // namespace emulated
