/*
** graphs.c - recordings on the fake driver: what they forbid, early launches in captures,
** what is left of them.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"

enum { BYTES = 4096 };

typedef struct place {
  mt_device *d;
  void *src, *mid, *dst;
  mt_plan first, second; /* src -> mid -> dst */
  mt_graph *g;
} place;

static void enter (place *x) {
  unsigned char host[BYTES];
  mt_err err = MT_NOERR;
  memset(x, 0, sizeof *x);
  for (int i = 0; i < BYTES; i++) host[i] = (unsigned char)(i * 37 >> 2);
  EXPECT_STATUS(spec_open(&x->d, "cuda", &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(x->d, &x->src, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(x->d, &x->mid, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_malloc(x->d, &x->dst, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_upload(x->d, x->src, host, BYTES, &err), MT_OK, err);
  spec_plan(&x->first, x->d, x->mid, x->src, BYTES);
  spec_plan(&x->second, x->d, x->dst, x->mid, BYTES);
}

static void leave (place *x, const char *what) {
  mt_graph_free(x->g);
  mt_free(x->d, x->src, BYTES);
  mt_free(x->d, x->mid, BYTES);
  mt_free(x->d, x->dst, BYTES);
  mt_device_close(x->d);
  spec_expect_clean(what);
}

static mt_status record (place *x, mt_err *err) {
  MT_TRY(mt_graph_begin(&x->g, x->d, err));
  MT_TRY(mt_plan_launch(&x->first, NULL, err));
  MT_TRY(mt_plan_launch(&x->second, NULL, err));
  return mt_graph_end(x->g, err);
}

static bool copied (place *x) {
  unsigned char from[BYTES], to[BYTES];
  mt_err err = MT_NOERR;
  EXPECT_STATUS(mt_download(x->d, from, x->src, BYTES, &err), MT_OK, err);
  EXPECT_STATUS(mt_download(x->d, to, x->dst, BYTES, &err), MT_OK, err);
  return memcmp(from, to, BYTES) == 0;
}

/* Nothing runs before the launch; the plans need not outlive the recording's end. */
static void test_order (void) {
  place x;
  mt_err err = MT_NOERR;
  enter(&x);
  EXPECT_STATUS(record(&x, &err), MT_OK, err);
  EXPECT(mt_graph_size(x.g) == 2, "%zu launches", mt_graph_size(x.g));
  EXPECT_STATUS(mt_synchronize(x.d, NULL, &err), MT_OK, err);
  EXPECT(!copied(&x), "it ran while it was recorded");
  fake_restart();
  EXPECT_STATUS(mt_graph_launch(x.g, NULL, &err), MT_OK, err);
  EXPECT_STATUS(mt_synchronize(x.d, NULL, &err), MT_OK, err);
  EXPECT(fake_calls("cuGraphLaunch") == 1 && fake_calls("cuLaunchKernelEx") == 0,
         "launched one by one");
  EXPECT(copied(&x), "copied wrongly");
  leave(&x, "graphs: order");
}

/* Driver, faults, launches asked of it, the outcome. */
static void test_early (void) {
  static const struct row {
    const char *version, *fail;
    int launches;
    mt_status status;
  } rows[] = {
      {"12020", NULL, 2, MT_OK}, /* never tried */
      {"12030", NULL, 2, MT_OK},
      {"12040", "cuLaunchKernelEx:801:1", 3, MT_OK}, /* once more without */
      {"12040", "cuLaunchKernelEx:900:2", 4, MT_OK},
      {"12040", "cuStreamEndCapture:901:1", 4, MT_OK},
      {"12040", "cuLaunchKernelEx:801:1+", 2, MT_EDRIVER},
      {"12040", "cuLaunchKernelEx:2:1", 1, MT_ENOMEM},
      {"12020", "cuLaunchKernelEx:801:1", 1, MT_EDRIVER},
  };
  for (const struct row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++) {
    place x;
    mt_err err = MT_NOERR;
    fake_set("FAKECUDA_VERSION", r->version);
    enter(&x);
    fake_restart();
    fake_set("FAKECUDA_FAIL", r->fail);
    EXPECT_STATUS(record(&x, &err), r->status, err);
    fake_set("FAKECUDA_FAIL", NULL);
    EXPECT(fake_calls("cuLaunchKernelEx") == r->launches, "%s, %s: %d launches",
           r->version, r->fail ? r->fail : "no fault", fake_calls("cuLaunchKernelEx"));
    if (r->status == MT_OK) {
      EXPECT(err.status == MT_OK, "%s", err.text);
      EXPECT_STATUS(mt_graph_launch(x.g, NULL, &err), MT_OK, err);
      EXPECT(copied(&x), "copied wrongly");
    }
    leave(&x, "graphs: early");
    fake_set("FAKECUDA_VERSION", NULL);
  }
}

static void test_forbidden (void) {
  place x;
  mt_graph *other = NULL;
  mt_stream *s = NULL;
  mt_err err = MT_NOERR;
  char byte = 7;
  void *constant = NULL;
  enter(&x);
  EXPECT_STATUS(mt_stream_create(x.d, &s, &err), MT_OK, err);
  EXPECT_STATUS(mt_graph_begin(&x.g, x.d, &err), MT_OK, err);
  EXPECT_STATUS(mt_graph_begin(&other, x.d, &err), MT_EINVAL, err);
  EXPECT(other == NULL, "two recordings");
  EXPECT_STATUS(mt_synchronize(x.d, NULL, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_upload(x.d, x.src, &byte, 1, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_download(x.d, &byte, x.src, 1, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_plan_launch(&x.first, s, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_graph_launch(x.g, NULL, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_malloc(x.d, &constant, 1, &err), MT_OK, err);
  EXPECT_STATUS(mt_graph_upload(x.d, constant, &byte, 1, &err), MT_OK, err);
  mt_free(x.d, constant, 1);
  EXPECT_STATUS(mt_graph_end(x.g, &err), MT_OK, err);
  EXPECT_STATUS(mt_graph_end(x.g, &err), MT_EINVAL, err);
  EXPECT(mt_graph_size(x.g) == 0, "%zu launches", mt_graph_size(x.g));
  EXPECT_STATUS(mt_graph_launch(x.g, s, &err), MT_OK, err);
  mt_stream_destroy(x.d, s);
  leave(&x, "graphs: forbidden");
}

/* A recording that is freed ends; one whose end failed is of no use. */
static void test_ends (void) {
  place x;
  mt_err err = MT_NOERR;
  enter(&x);
  EXPECT_STATUS(mt_graph_begin(&x.g, x.d, &err), MT_OK, err);
  EXPECT_STATUS(mt_plan_launch(&x.first, NULL, &err), MT_OK, err);
  mt_graph_free(x.g);
  mt_graph_free(NULL);
  EXPECT_STATUS(mt_synchronize(x.d, NULL, &err), MT_OK, err);
  fake_restart();
  fake_set("FAKECUDA_FAIL", "cuGraphInstantiateWithFlags:2:1");
  EXPECT_STATUS(record(&x, &err), MT_ENOMEM, err);
  fake_set("FAKECUDA_FAIL", NULL);
  EXPECT_STATUS(mt_graph_launch(x.g, NULL, &err), MT_EINVAL, err);
  EXPECT_STATUS(mt_plan_launch(&x.first, NULL, &err), MT_OK, err);
  leave(&x, "graphs: ends");
}

void spec_graphs (void) {
  test_order();
  test_early();
  test_forbidden();
  test_ends();
}
