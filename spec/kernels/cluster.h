/*
** cluster.h - a cluster of blocks of sm_90 on the host: threads, what they know, memory.
** SPDX-License-Identifier: MIT
**
** Each thread is a context of the host. What goes on by itself (loads, stores, products)
** is done at a time that the run chooses; until then what it writes holds no number.
**
** A clock is what a thread knows of the others: it is joined where they synchronise. Who
** reads or writes without knowing that what went before has ended is told, whatever the
** order in which they happened to run.
*/
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coroutine.h"
#include "hopper_test.h"

struct index3 {
  unsigned x;
};
extern index3 threadIdx, blockIdx, gridDim, blockDim;

namespace emulated {

enum {
  BLOCKS = 8,
  THREADS = MT_HOPPER_THREADS,
  WARPS = THREADS / 32,
  GROUPS = THREADS / 128,
  BARRIERS = 40,
  MEMORY = 256 << 10,
  NOBODY = 0xFFFF
};

/* ------------------------------------------------------------------ clocks */

/* What is known of a block. Times of a thread go on when it tells others. */
struct knowledge {
  int16_t barrier[BARRIERS]; /* phases that ended */
  int16_t products[4];       /* of a warpgroup: groups that ended */
  int16_t stores[WARPS];     /* of a warp: groups that were read */
  int16_t thread[THREADS];   /* up to which time */
  int16_t fenced[THREADS];   /* up to which time its writes are there for copies */
};
/* What goes on by itself: known however a thread is told. */
enum { OWN_WAYS = BARRIERS + 4 + WARPS, ALL = OWN_WAYS + 2 * THREADS };

struct clock {
  knowledge of[BLOCKS];
};

/* ------------------------------------------------------------------ shared memory */

struct word {              /* 4 bytes, as threads access them */
  uint16_t writer, reader; /* of the block; of the cluster */
  int16_t written, read;   /* when */
};
struct chunk {              /* 16 bytes, as copies and products access them */
  int16_t products[GROUPS]; /* of each warpgroup the last group that reads them */
  int16_t phase;            /* that their load ends, of barrier `load` */
  int16_t store;            /* the last group of stores, of warp `storer` */
  int8_t load, storer;      /* -1: none */
  bool barrier;
};

struct barrier {
  uint32_t at;
  int count, pending, bytes, phase;
  unsigned maker;
  int16_t made;
  bool fenced;
  clock near, far, near_done, far_done; /* told in this block; in all of the cluster */
};

/* ------------------------------------------------------------------ threads */

enum state { READY, WAITS, DONE };

struct store {
  const emulated_map *map;
  uint32_t from;
  int x, y, z, group;
};

struct thread {
  coroutine stack;
  state is;
  unsigned block, id; /* id in its block */
  const char *why;    /* it waits, and for what */
  const void *on;
  uint32_t parity;
  unsigned left, waited; /* arrivals at the barrier of the cluster, waits for it */
  bool launched;         /* it waited for what went before the launch */
  int registers;
  clock knows;
  /* wgmma: its sums while they are the instructions', what it issued and committed */
  void *sums;
  int nsums, issued, committed;
  bool fenced;
  /* stores by the copy engine */
  store stores[16];
  int nstores, store_groups;
};

/* Threads that meet. */
struct place {
  unsigned here;
  bool tells; /* they tell each other what they know */
  clock told;
};

struct warpgroup;

struct block {
  char memory[MEMORY];
  word words[MEMORY / 4];
  chunk chunks[MEMORY / 16];
  barrier barriers[BARRIERS];
  int nbarriers, alive, free_registers;
  place all, warp[WARPS];
  uint32_t row_of_lane[2][THREADS]; /* of store_matrices, in turns */
  unsigned turn[THREADS];
  warpgroup *group[GROUPS];
  clock ended;                       /* what its threads knew at their end */
  int16_t reached[BLOCKS * THREADS]; /* when a thread of another block last did */
};

extern block *blocks[BLOCKS];
extern thread *me;
extern emulated_run *how;
extern unsigned nblocks;     /* of the cluster */
extern uint32_t memory_base; /* where shared memory begins */

inline block &mine () { return *blocks[me->block]; }
inline unsigned number () { return me->block * THREADS + me->id; }
inline int16_t &my_time () { return me->knows.of[me->block].thread[me->id]; }

/* Says what is wrong, and ends the run. */
[[noreturn]] void fail (const char *format, ...);
inline void need (bool fine, const char *what) {
  if (__builtin_expect(!fine, 0)) fail("%s", what);
}

unsigned dice (unsigned n); /* 0 .. n-1 */
/* Whether what goes on by itself is done now, where the program has not waited for it. */
bool at_once ();

void join (clock &to, const clock &from, bool all);
void tick ();

void sync_warp ();
void sync_threads ();
void arrive_cluster ();
void wait_cluster ();
void warp_is_here (); /* which tells nobody anything */
void give_registers (int n);
void take_registers (int n);
void wait_on (const void *what, const char *why, uint32_t parity);
void wake (unsigned block, unsigned first, unsigned count, const void *what);

bool run (void (*kernel)(const mt_hopper_launch &p), const mt_hopper_launch &l);

/* copies.cpp: barriers, threads' own accesses, the copy engine. Addresses are of shared
** memory, `rank` is of a block of the cluster. */
void init_barrier (uint32_t at, unsigned arrivals);
void fence_barriers ();
void arrive (uint32_t at, unsigned rank, bool tells_all, unsigned bytes);
void wait_for (uint32_t at, uint32_t parity, bool hears_all);
void write_word (uint32_t at, uint32_t x);
uint32_t read_word (uint32_t at, unsigned rank);
void fence_writes ();
void load_box (uint32_t to, const mt_tma_map *map, uint32_t at, int x, int y, int z,
               unsigned to_blocks);
void send_words (uint32_t to, unsigned rank, uint32_t at, const uint32_t words[4]);
void store_box (const mt_tma_map *map, uint32_t from, int x, int y, int z);
void commit_stores ();
void wait_stores (int n);
void reset_block (block &b);
bool land_one (); /* of the loads on their way; false: there are none */
unsigned loads_on_their_way ();
void end_of_stores ();
chunk &chunk_at (block &b, uint32_t at);
/* What this thread knows of a chunk: the load has ended; all who read it have. */
void need_loaded (unsigned block, const chunk &c);
void need_unread (unsigned block, const chunk &c);

/* warpgroup.cpp: wgmma. */
enum kind { BF16, F16, TF32, E4M3, E5M2, S8, U8 };
void product (kind type, int n, bool a_mn, bool b_mn, void *c, uint64_t a, uint64_t b,
              bool keep);
void fence_products ();
void commit_products ();
void wait_products (int n);
void reset_groups (block &b);
void end_of_products ();

} // namespace emulated
#endif
