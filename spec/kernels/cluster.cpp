/*
** cluster.cpp - threads of a cluster on the host: who runs, who waits, what they know.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <stdio.h>

#include "cluster.h"
#include "spec/common/splitmix64.h"
#include "spec/common/wide.h"

index3 threadIdx, blockIdx, gridDim, blockDim;

namespace emulated {

block *blocks[BLOCKS];
thread *me;
emulated_run *how;
unsigned nblocks;
uint32_t memory_base;

enum { STACK = 64 << 10 };

static thread *threads[BLOCKS * THREADS];
static char *stacks[BLOCKS];
static thread *ready[2][BLOCKS * THREADS]; /* of the loading warpgroup, and the others */
static unsigned nready[2], alive;
static jmp_buf scheduler, out;
static bool failed;
static struct {
  place in;
  unsigned phase; /* how often all have come */
  clock known;    /* what they knew then */
} everyone;
static void (*kernel)(const mt_hopper_launch &p);
static const mt_hopper_launch *parameter;
static uint64_t state_of_dice;

/* ------------------------------------------------------------------ reports */

void fail (const char *format, ...) {
  size_t n = 0, size = sizeof how->report;
  va_list list;
  if (me != NULL)
    n = (size_t)snprintf(how->report, size, "block %u, thread %u: ", me->block, me->id);
  va_start(list, format);
  vsnprintf(how->report + n, size - n, format, list);
  va_end(list);
  failed = true;
  if (me != NULL) me->stack.leave(scheduler);
  longjmp(out, 1);
}

/* Who waits for what: threads that follow each other and wait for the same in one line. */
static void tell_deadlock () {
  size_t n = (size_t)snprintf(how->report, sizeof how->report, "all wait:");
  for (unsigned i = 0, end; i < nblocks * THREADS; i = end) {
    const thread *t = threads[i];
    for (end = i + 1; end < nblocks * THREADS; end++) {
      const thread *u = threads[end];
      if (u->block != t->block || u->is != t->is || u->why != t->why || u->on != t->on ||
          u->parity != t->parity)
        break;
    }
    if (t->is == DONE || n + 120 > sizeof how->report) continue;
    n += (size_t)snprintf(how->report + n, sizeof how->report - n,
                          "\n  block %u, threads %u to %u: %s", t->block, t->id,
                          t->id + end - i - 1, t->why);
    const block &b = *blocks[t->block];
    const barrier *on = (const barrier *)t->on;
    if (on < b.barriers || on >= b.barriers + BARRIERS) continue;
    n += (size_t)snprintf(how->report + n, sizeof how->report - n,
                          " %d, parity %u; it is in phase %d, without %d arrivals and %d "
                          "bytes",
                          (int)(on - b.barriers), t->parity, on->phase, on->pending,
                          on->bytes);
  }
}

/* ------------------------------------------------------------------ chance */

unsigned dice (unsigned n) { return (unsigned)(splitmix64(&state_of_dice) % n); }

bool at_once () {
  return how->timing == EARLIEST || (how->timing == BETWEEN && dice(2) == 0);
}

/* ------------------------------------------------------------------ clocks */

WIDE_VECTORS void join (clock &to, const clock &from, bool all) {
  const int n = all ? ALL : OWN_WAYS;
  for (unsigned b = 0; b < nblocks; b++) {
    int16_t *x = to.of[b].barrier;
    const int16_t *y = from.of[b].barrier;
    for (int i = 0; i < n; i++) x[i] = x[i] > y[i] ? x[i] : y[i];
  }
}

/* All that `from` knows, and nothing else; nothing. */
static void learn (clock &to, const clock &from) {
  memcpy((void *)&to, &from, nblocks * sizeof from.of[0]);
}
static void forget (clock &c) { memset((void *)&c, 0, nblocks * sizeof c.of[0]); }

void tick () { need(++my_time() < INT16_MAX, "the test is too long for its clocks"); }

/* ------------------------------------------------------------------ waiting */

static void make_ready (thread *t) {
  const unsigned which = t->id >= 128;
  t->is = READY;
  ready[which][nready[which]++] = t;
}

void wait_on (const void *what, const char *why, uint32_t parity) {
  me->is = WAITS;
  me->on = what, me->why = why, me->parity = parity;
  me->stack.leave(scheduler);
}

void wake (unsigned b, unsigned first, unsigned count, const void *what) {
  thread **t = threads + b * THREADS + first;
  for (unsigned i = 0; i < count; i++)
    if (t[i]->is == WAITS && t[i]->on == what) make_ready(t[i]);
}

/* The last of the threads from `first` on lets them go; tells: they know then what each
** of them knew. */
static void meet (place &p, unsigned first, unsigned count, bool tells, const char *why) {
  need(p.here == 0 || p.tells == tells, "threads meet at different instructions");
  p.tells = tells;
  if (tells) join(p.told, me->knows, true);
  if (++p.here < count) return wait_on(&p, why, 0);
  p.here = 0;
  for (unsigned i = first; tells && i < first + count; i++)
    learn(threads[i]->knows, p.told);
  if (tells) forget(p.told);
  for (unsigned i = first; i < first + count; i++)
    if (threads[i]->is == WAITS && threads[i]->on == &p) make_ready(threads[i]);
}

static void meet_warp (bool tells) {
  const unsigned warp = me->id / 32;
  meet(mine().warp[warp], me->block * THREADS + warp * 32, 32, tells,
       "__syncwarp, or an instruction of the warp");
  if (tells) tick();
}

void sync_warp () { meet_warp(true); }
void warp_is_here () { meet_warp(false); }
void sync_threads () {
  meet(mine().all, me->block * THREADS, THREADS, true, "__syncthreads");
  tick();
}

/* The barrier of the cluster in two steps. Its next phase is for who left this one, with
** all of its block: a GPU hung where the warp that loads waited long after the others. */
void arrive_cluster () {
  const unsigned all = nblocks * THREADS;
  for (unsigned i = 0; i < THREADS; i++)
    need(threads[me->block * THREADS + i]->waited >= me->left,
         "cluster_arrive again before all of the block did cluster_wait");
  join(everyone.in.told, me->knows, true);
  me->left++;
  if (++everyone.in.here < all) return;
  learn(everyone.known, everyone.in.told);
  everyone.in.here = 0;
  forget(everyone.in.told);
  everyone.phase++;
  wake(0, 0, all, &everyone);
}
void wait_cluster () {
  need(me->waited < me->left, "cluster_wait without cluster_arrive");
  me->waited++;
  while (everyone.phase < me->left) wait_on(&everyone, "the cluster", 0);
  join(me->knows, everyone.known, true);
  tick();
}

/* ------------------------------------------------------------------ registers */

enum { AT_LAUNCH = 65536 / THREADS / 8 * 8 };

static void need_count (int n) {
  need(n >= 24 && n <= 256 && n % 8 == 0, "setmaxnreg takes 24 to 256, multiples of 8");
}
void give_registers (int n) {
  need_count(n);
  need(n <= me->registers, "setmaxnreg.dec to more registers than there are");
  mine().free_registers += me->registers - n;
  me->registers = n;
  wake(me->block, 0, THREADS, &mine().free_registers);
}
void take_registers (int n) {
  need_count(n);
  need(n >= me->registers, "setmaxnreg.inc to fewer registers than there are");
  while (mine().free_registers < n - me->registers)
    wait_on(&mine().free_registers, "registers", 0);
  mine().free_registers -= n - me->registers;
  me->registers = n;
}

/* ------------------------------------------------------------------ a cluster */

static void end_thread () {
  end_of_products();
  end_of_stores();
  need(me->launched, "it never waited for what went before the launch");
  join(mine().ended, me->knows, true);
  mine().alive--;
  alive--;
  me->is = DONE;
  me->stack.leave(scheduler);
}

static void start () {
  kernel(*parameter);
  end_thread();
}

static void make_thread (unsigned b, unsigned id) {
  thread *&t = threads[b * THREADS + id];
  if (t == NULL) t = (thread *)malloc(sizeof *t);
  memset((void *)t, 0, sizeof *t);
  t->block = b, t->id = id;
  t->registers = AT_LAUNCH;
  t->knows.of[b].thread[id] = 1;
  t->stack.make(stacks[b] + (size_t)id * STACK, STACK, start);
  make_ready(t);
}

static void make_block (unsigned b) {
  if (blocks[b] == NULL) blocks[b] = (block *)calloc(1, sizeof(block));
  if (stacks[b] == NULL) stacks[b] = (char *)malloc((size_t)STACK * THREADS);
  reset_block(*blocks[b]);
  reset_groups(*blocks[b]);
  blocks[b]->alive = THREADS;
  blocks[b]->free_registers = 0;
  for (unsigned id = 0; id < THREADS; id++) make_thread(b, id);
}

static thread *take (unsigned which, unsigned i) {
  thread *t = ready[which][i];
  ready[which][i] = ready[which][--nready[which]];
  return t;
}

/* Any thread; or one of those that go first; of these any, or the one that was woken last,
** which so gets as far as it can. */
static thread *pick () {
  const unsigned all = nready[0] + nready[1];
  if (all == 0) return NULL;
  unsigned which = how->order == LOADER_LAST;
  if (how->order == ANY_ORDER) which = dice(all) >= nready[0];
  if (nready[which] == 0) which = 1 - which;
  return take(which, how->seed % 2 ? nready[which] - 1 : dice(nready[which]));
}

static void go_on (thread *t) {
  me = t;
  threadIdx.x = t->id;
  blockIdx.x = blockIdx.x / nblocks * nblocks + t->block;
  t->stack.enter(scheduler);
  me = NULL;
}

/* Threads, and loads when they may come: the latest ones when nobody can go on. */
static bool run_threads () {
  if (setjmp(out)) return false;
  while (alive > 0) {
    if (how->timing == BETWEEN && loads_on_their_way() > 0 && dice(8) == 0) land_one();
    thread *t = pick();
    if (t != NULL) go_on(t);
    else if (!land_one()) return tell_deadlock(), false;
    if (failed) return false;
  }
  return true;
}

/* Nobody reaches for a block that may be gone. */
static bool ended_well () {
  if (loads_on_their_way() > 0)
    return snprintf(how->report, sizeof how->report, "loads that nobody waited for"),
           false;
  for (unsigned b = 0; b < nblocks; b++)
    for (unsigned t = 0; t < nblocks * THREADS; t++)
      if (blocks[b]->reached[t] > blocks[b]->ended.of[t / THREADS].thread[t % THREADS]) {
        snprintf(how->report, sizeof how->report,
                 "block %u may have ended before thread %u of block %u reached for it", b,
                 t % THREADS, t / THREADS);
        return false;
      }
  return true;
}

static bool run_cluster () {
  nready[0] = nready[1] = 0;
  me = NULL, failed = false;
  memset((void *)&everyone, 0, sizeof everyone);
  memory_base = 1024 + 16 * dice(64);
  for (unsigned b = 0; b < nblocks; b++) make_block(b);
  alive = nblocks * THREADS;
  return run_threads() && ended_well();
}

bool run (void (*k)(const mt_hopper_launch &p), const mt_hopper_launch &l) {
  kernel = k, parameter = &l;
  nblocks = how->cluster;
  state_of_dice = how->seed;
  gridDim.x = how->blocks, blockDim.x = how->threads;
  how->report[0] = '\0';
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x += nblocks) {
    const unsigned first = blockIdx.x;
    if (!run_cluster()) return false;
    blockIdx.x = first;
  }
  return true;
}

} // namespace emulated
