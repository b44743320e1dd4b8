/*
** ended.c - a copy to the fake driver's device that is told to end: what it has written by
** then is right, of what it had in hand nothing arrives.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"

enum { BYTES = 16 << 20, PIECE = 16 << 20, TIMES = 40 };

static bool stops_later (void *ud) { return --*(int *)ud < 0; }

typedef struct ended {
  mt_device *gpu, *cpu;
  unsigned char *host;
  void *data;
  mt_plan *up;
  mt_err err;
} ended;

static void fill (ended *x, int value) {
  memset(x->host, value, 2 * BYTES);
  EXPECT_STATUS(mt_plan_launch(x->up, NULL, &x->err), MT_OK, x->err);
}

/* Bytes on the device that are neither. */
static long others (ended *x, int a, int b) {
  long n = 0;
  EXPECT_STATUS(mt_download(x->gpu, x->host, x->data, BYTES, &x->err), MT_OK, x->err);
  for (long i = 0; i < BYTES; i++) n += x->host[i] != a && x->host[i] != b;
  return n;
}

/* The slots hold 3s, the device 1s; a copy of 2s ends at some question. */
static bool end_at (ended *x, int question) {
  mt_err err = MT_NOERR;
  fill(x, 3);
  memset(x->host, 1, BYTES);
  EXPECT_STATUS(mt_upload(x->gpu, x->data, x->host, BYTES, &x->err), MT_OK, x->err);
  memset(x->host, 2, 2 * BYTES);
  err.stop = stops_later;
  err.stop_ud = &question;
  mt_status s = mt_plan_launch(x->up, NULL, &err);
  EXPECT(s == MT_OK || s == MT_ESTOPPED, "%s: %s", mt_status_name(s), err.text);
  long wrong = others(x, 1, 2);
  EXPECT(wrong == 0, "ended: %ld bytes of another copy arrive", wrong);
  return s == MT_ESTOPPED;
}

void spec_ended (void) {
  ended x = {.err = MT_NOERR};
  mt_layout a, b;
  mt_device_options o = {.size = sizeof o, .threads = 2};
  int stopped = 0;
  x.host = malloc(2 * BYTES);
  EXPECT_STATUS(spec_open_pieces(&x.gpu, PIECE, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_device_open(&x.cpu, "cpu", &o, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_parse(&a, "16777216:2", 10, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_parse(&b, "16777216:1", 10, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_malloc(x.gpu, &x.data, BYTES, &x.err), MT_OK, x.err);
  mt_tensor from = {a.node, MT_u8, x.host, 2 * BYTES, 0, NULL};
  mt_tensor to = {b.node, MT_u8, x.data, BYTES, 0, NULL};
  EXPECT_STATUS(mt_plan_transfer(&x.up, x.cpu, &from, x.gpu, &to, &x.err), MT_OK, x.err);
  for (int i = 0; i < TIMES; i++) stopped += end_at(&x, i % 4);
  EXPECT(stopped > 0, "no copy was ended");
  mt_plan_free(x.up);
  mt_free(x.gpu, x.data, BYTES);
  mt_device_close(x.gpu);
  mt_device_close(x.cpu);
  free(x.host);
  spec_expect_clean("ended");
}
