/*
** ended.c - a copy to the fake driver's device that is told to end: what it has written by
** then is right, of what it had in hand nothing arrives.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"

/* Questions come with time: a copy that ends before the first is tried with twice as many
** bytes. */
enum { LEAST = 16 << 20, MOST = 512 << 20, PIECE = 16 << 20, TIMES = 40 };

static bool stops_later (void *ud) { return --*(int *)ud < 0; }

typedef struct ended {
  mt_device *gpu, *cpu;
  size_t bytes;
  unsigned char *host;
  void *data;
  mt_plan *up;
  mt_err err;
} ended;

static void fill (ended *x, int value) {
  memset(x->host, value, 2 * x->bytes);
  EXPECT_STATUS(mt_plan_launch(x->up, NULL, &x->err), MT_OK, x->err);
}

/* Bytes on the device that are neither. */
static long others (ended *x, int a, int b) {
  long n = 0;
  EXPECT_STATUS(mt_download(x->gpu, x->host, x->data, x->bytes, &x->err), MT_OK, x->err);
  for (size_t i = 0; i < x->bytes; i++) n += x->host[i] != a && x->host[i] != b;
  return n;
}

/* The slots hold 3s, the device 1s; a copy of 2s ends at some question. */
static bool end_at (ended *x, int question) {
  mt_err err = MT_NOERR;
  fill(x, 3);
  memset(x->host, 1, x->bytes);
  EXPECT_STATUS(mt_upload(x->gpu, x->data, x->host, x->bytes, &x->err), MT_OK, x->err);
  memset(x->host, 2, 2 * x->bytes);
  err.stop = stops_later;
  err.stop_ud = &question;
  mt_status s = mt_plan_launch(x->up, NULL, &err);
  EXPECT(s == MT_OK || s == MT_ESTOPPED, "%s: %s", mt_status_name(s), err.text);
  long wrong = others(x, 1, 2);
  EXPECT(wrong == 0, "ended: %ld bytes of another copy arrive", wrong);
  return s == MT_ESTOPPED;
}

/* The layout of as many bytes, so many apart. */
static mt_layout apart (ended *x, int step) {
  mt_layout a;
  char text[40];
  int n = snprintf(text, sizeof text, "%zu:%d", x->bytes, step);
  EXPECT_STATUS(mt_parse(&a, text, (size_t)n, &x->err), MT_OK, x->err);
  return a;
}

/* How many of the copies of so many bytes were ended. */
static int try_all (ended *x) {
  const size_t bytes = x->bytes;
  int stopped = 0;
  x->host = malloc(2 * bytes);
  EXPECT_STATUS(spec_open_pieces(&x->gpu, PIECE, &x->err), MT_OK, x->err);
  EXPECT_STATUS(mt_malloc(x->gpu, &x->data, bytes, &x->err), MT_OK, x->err);
  mt_layout a = apart(x, 2), b = apart(x, 1);
  mt_tensor from = {a.node, MT_u8, x->host, 2 * bytes, 0, NULL};
  mt_tensor to = {b.node, MT_u8, x->data, bytes, 0, NULL};
  EXPECT_STATUS(mt_plan_transfer(&x->up, x->cpu, &from, x->gpu, &to, &x->err), MT_OK,
                x->err);
  for (int i = 0; i < TIMES; i++) stopped += end_at(x, i % 4);
  mt_plan_free(x->up);
  mt_free(x->gpu, x->data, bytes);
  mt_device_close(x->gpu);
  free(x->host);
  return stopped;
}

void spec_ended (void) {
  ended x = {.bytes = LEAST, .err = MT_NOERR};
  mt_device_options o = {.size = sizeof o, .threads = 2};
  EXPECT_STATUS(mt_device_open(&x.cpu, "cpu", &o, &x.err), MT_OK, x.err);
  while (try_all(&x) == 0 && x.bytes <= MOST) x.bytes *= 2;
  EXPECT(x.bytes <= MOST, "no copy was ended");
  mt_device_close(x.cpu);
  spec_expect_clean("ended");
}
