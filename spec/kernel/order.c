/*
** order.c - the proof of the order against what is known of it, for every schedule.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "kernel/order.h"
#include "kernel_test.h"

static uint64_t seen[MT_ORDER_STATES];

static mt_status prove (const mt_gemm_spec *k, int64_t *states, mt_err *err) {
  *states = 0;
  return mt_order_prove(k, seen, states, err);
}

/* A stage may be filled as long as nobody reads it: all threads, which read one, have
** stages - 1 others; a producer has all, and fills at least one. */
static bool is_right (const mt_gemm_spec *k) {
  if (k->schedule == MT_MULTISTAGE) return k->ahead <= k->stages - 1;
  return k->ahead >= 1 && k->ahead <= k->stages;
}

void test_order (void) {
  static mt_gemm_spec k;
  for (int schedule = 0; schedule < MT_NSCHEDULE; schedule++)
    for (int fill = 0; fill < MT_NFILL; fill++)
      for (int64_t stages = 1; stages <= 12; stages++)
        for (int64_t ahead = 0; ahead <= stages + 2; ahead++) {
          mt_err err = MT_NOERR;
          int64_t states;
          if (schedule != MT_MULTISTAGE && fill != MT_FILL_TMA) continue;
          memset(&k, 0, sizeof k);
          k.schedule = (mt_schedule)schedule;
          k.way[0].fill = k.way[1].fill = (mt_fill)fill;
          k.stages = stages;
          k.ahead = ahead;
          mt_status s = prove(&k, &states, &err);
          CHECK((s == MT_OK) == is_right(&k), "%s by %s, %lld stages, %lld ahead: %s",
                mt_schedule_name(k.schedule), mt_fill_name(k.way[0].fill),
                (long long)stages, (long long)ahead, err.text);
          CHECK(s == MT_OK || s == MT_EINEXACT, "status %d: %s", s, err.text);
          CHECK(s == MT_OK || strstr(err.text, "the last steps:") ||
                    strstr(err.text, "goes on:"),
                "%s", err.text);
        }
}
