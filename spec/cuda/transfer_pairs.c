/*
** transfer_pairs.c - copies between the host and the fake driver's device: random pairs of
** layouts and types in small pieces against element by element.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"

enum { MOST = 4096, MODES = 4, CASES = 1500 };

/* ---------------------------------------------------------------- random layouts */

static uint64_t state;

static uint64_t next64 (void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static int pick (int n) { return (int)(next64() >> 33) % n; }

typedef struct side {
  mt_layout layout;
  mt_dtype dtype;
  int64_t offset, size;        /* of the buffer, in elements */
  unsigned char *bytes, *want; /* what is in it; what is to be in it */
} side;

/* Leaves of all modes in a row, `first[k]` the first of mode k. */
typedef struct leaves {
  int n, first[MODES + 1];
  int64_t extent[3 * MODES], stride[3 * MODES];
} leaves;

static void random_leaves (leaves *l, const int *mode, int rank) {
  l->n = 0;
  for (int k = 0; k < rank; k++) {
    int rest = mode[k];
    l->first[k] = l->n;
    for (int f = 2; f <= 3 && rest > 0; f++)
      if (rest > f && rest % f == 0 && pick(3) == 0) l->extent[l->n++] = f, rest /= f;
    l->extent[l->n++] = rest;
  }
  l->first[rank] = l->n;
}

/* Each passes all that the ones before it reach; of a source some repeat. */
static void random_strides (leaves *l, bool source) {
  int order[3 * MODES];
  int64_t at = 1;
  for (int i = 0; i < l->n; i++) order[i] = i;
  for (int i = l->n - 1, how = pick(3); how && i > 0; i--) {
    int j = how == 1 ? 0 : pick(i + 1), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  bool repeat = source && pick(4) == 0;
  for (int i = 0; i < l->n; i++) {
    int64_t *d = &l->stride[order[i]];
    *d = at;
    if (repeat && pick(2)) *d = pick(4) ? 0 : pick(5) - 2;
    else at = at * l->extent[order[i]] + (pick(5) == 0 ? pick(4) : 0);
    if (at == 0) at = 1;
    if (pick(7) == 0) *d = -*d;
  }
}

static size_t put_modes (char *text, size_t at, const leaves *l, int rank,
                         const int64_t *v) {
  at += (size_t)sprintf(text + at, "(");
  for (int k = 0; k < rank; k++) {
    int n = l->first[k + 1] - l->first[k];
    at += (size_t)sprintf(text + at, "%s%s", k ? "," : "", n > 1 ? "(" : "");
    for (int i = l->first[k]; i < l->first[k + 1]; i++)
      at += (size_t)sprintf(text + at, "%s%lld", i > l->first[k] ? "," : "",
                            (long long)v[i]);
    if (n > 1) at += (size_t)sprintf(text + at, ")");
  }
  return at + (size_t)sprintf(text + at, ")");
}

static mt_status random_layout (mt_layout *out, const int *mode, int rank, bool source,
                                mt_err *err) {
  char text[512];
  size_t at = 0;
  leaves l;
  random_leaves(&l, mode, rank);
  random_strides(&l, source);
  if (pick(5) == 0) {
    int b = 1 + pick(3), m = pick(3), s = b + pick(3);
    at = (size_t)sprintf(text, "Sw<%d,%d,%d> o %d o ", b, m, pick(4) ? s : -s,
                         pick(2) ? 0 : pick(60));
  }
  at = put_modes(text, at, &l, rank, l.extent);
  text[at++] = ':';
  at = put_modes(text, at, &l, rank, l.stride);
  return mt_parse(out, text, at, err);
}

/* A buffer of its own around what the layout reaches. */
static mt_status fill_side (side *s, int seed, mt_err *err) {
  int64_t high, low;
  MT_TRY(mt_footprint(&low, &high, s->layout.node, err));
  s->offset = pick(4) - low;
  s->size = high + s->offset + pick(4);
  size_t n = (size_t)s->size * mt_dtype_size(s->dtype) + 1;
  s->bytes = malloc(n);
  s->want = malloc(n);
  for (size_t i = 0; i < n; i++)
    s->want[i] = s->bytes[i] = (unsigned char)((i + (size_t)seed) * 2654435761u >> 22);
  return MT_OK;
}

static mt_status random_pair (side pair[2], mt_err *err) {
  enum { TYPES = 7 };
  static const mt_dtype dtypes[TYPES] = {MT_u8,  MT_bf16, MT_i32, MT_f64,
                                         MT_f32, MT_i16,  MT_e4m3};
  int rank = 1 + pick(MODES), mode[MODES], room = 1 << (4 + pick(9));
  mt_dtype dtype = dtypes[pick(TYPES)], to = pick(2) ? dtype : dtypes[pick(TYPES)];
  for (int k = 0; k < rank; k++) {
    mode[k] = pick(60) == 0 ? 0 : 1 + pick(pick(3) ? 12 : 64);
    if (mode[k] > room) mode[k] = room;
    if (mode[k] > 1) room /= mode[k];
  }
  for (int s = 0; s < 2; s++) {
    memset(&pair[s], 0, sizeof pair[s]);
    pair[s].dtype = s == MT_SRC ? dtype : to;
    MT_TRY(random_layout(&pair[s].layout, mode, rank, s == MT_SRC, err));
    MT_TRY(fill_side(&pair[s], s, err));
  }
  return MT_OK;
}

static mt_status copy_by_hand (side pair[2], mt_err *err) {
  for (int64_t i = 0; i < mt_size(pair[0].layout.node); i++) {
    size_t at[2];
    for (int s = 0; s < 2; s++) {
      int64_t offset;
      MT_TRY(mt_at(&offset, pair[s].layout.node, i, err));
      at[s] = (size_t)(offset + pair[s].offset) * mt_dtype_size(pair[s].dtype);
    }
    mt_cast_element(pair[MT_DST].dtype, pair[MT_DST].want + at[MT_DST],
                    pair[MT_SRC].dtype, pair[MT_SRC].bytes + at[MT_SRC]);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- transfers */

static size_t bytes_of (const side *s) {
  return (size_t)s->size * mt_dtype_size(s->dtype);
}

static mt_tensor tensor_of (const side *s, void *data) {
  return (mt_tensor){s->layout.node, s->dtype, data, bytes_of(s), s->offset, NULL};
}

/* Once or twice: slots and plans are used again. The device's tensor comes and goes. */
static mt_status run (mt_device *gpu, mt_device *cpu, side pair[2], int host,
                      mt_stream *stream, mt_err *err) {
  side *g = &pair[1 - host];
  void *data = NULL;
  mt_plan *p = NULL;
  MT_TRY(mt_malloc(gpu, &data, bytes_of(g), err));
  mt_tensor t[2];
  t[host] = tensor_of(&pair[host], pair[host].bytes);
  t[1 - host] = tensor_of(g, data);
  mt_device *d[2] = {gpu, gpu};
  d[host] = cpu;
  mt_status s = mt_upload(gpu, data, g->bytes, bytes_of(g), err);
  if (s == MT_OK) s = mt_plan_transfer(&p, d[0], &t[0], d[1], &t[1], err);
  for (int i = pick(2); i < 2 && s == MT_OK; i++) s = mt_plan_launch(p, stream, err);
  if (s == MT_OK) s = mt_download(gpu, g->bytes, data, bytes_of(g), err);
  if (s == MT_OK) mt_plan_format((char[2000]){0}, 2000, p);
  mt_plan_free(p);
  mt_free(gpu, data, bytes_of(g));
  return s;
}

/* What a copy on one device cannot do, one between two need not do. */
static bool is_refused (mt_device *cpu, side pair[2], mt_err *err) {
  mt_plan *p = NULL;
  mt_tensor src = tensor_of(&pair[0], pair[0].bytes);
  mt_tensor dst = tensor_of(&pair[1], pair[1].bytes);
  mt_status s = mt_plan_copy(&p, cpu, NULL, &src, &dst, err);
  mt_plan_free(p);
  return s != MT_OK;
}

static int one_pair (mt_device *gpu, mt_device *cpu, mt_stream *stream, int seed) {
  side pair[2];
  char text[2][300];
  mt_err err = MT_NOERR, refused = MT_NOERR;
  int host = pick(2), done = 0;
  EXPECT_STATUS(random_pair(pair, &err), MT_OK, err);
  for (int s = 0; s < 2; s++) mt_format(text[s], sizeof text[s], pair[s].layout.node);
  EXPECT_STATUS(copy_by_hand(pair, &err), MT_OK, err);
  if (!is_refused(cpu, pair, &refused)) {
    done = 1;
    mt_status st = run(gpu, cpu, pair, host, pick(2) ? stream : NULL, &err);
    EXPECT(st == MT_OK, "case %d, %s -> %s: %s", seed, text[0], text[1], err.text);
    for (int s = 0; s < 2 && st == MT_OK; s++)
      EXPECT(memcmp(pair[s].bytes, pair[s].want, bytes_of(&pair[s])) == 0,
             "case %d, host is %s, %s: %s %s -> %s %s differs", seed,
             host ? "dst" : "src", s ? "dst" : "src", mt_dtype_name(pair[0].dtype),
             text[0], mt_dtype_name(pair[1].dtype), text[1]);
  }
  for (int s = 0; s < 2; s++) free(pair[s].bytes), free(pair[s].want);
  return done;
}

void spec_transfer_pairs (void) {
  static const size_t pieces[] = {16, 24, 100, 256, 1000, 0};
  static const char *const hosts[] = {"cpu", "cpu:checked"};
  int done = 0;
  for (int k = 0; k < 12; k++) {
    mt_device *gpu = NULL, *cpu = NULL;
    mt_stream *stream = NULL;
    mt_err err = MT_NOERR;
    mt_device_options two = {.size = sizeof(mt_device_options), .threads = 2};
    EXPECT_STATUS(spec_open_pieces(&gpu, pieces[k % 6], &err), MT_OK, err);
    EXPECT_STATUS(mt_device_open(&cpu, hosts[k / 6], &two, &err), MT_OK, err);
    EXPECT_STATUS(mt_stream_create(gpu, &stream, &err), MT_OK, err);
    for (int i = 0; i < CASES / 12; i++) {
      state = 88172645463325252u + 1000003u * (uint64_t)(1000 * k + i);
      for (int warm = 0; warm < 9; warm++) next64();
      done += one_pair(gpu, cpu, stream, 1000 * k + i);
    }
    mt_stream_destroy(gpu, stream);
    mt_device_close(cpu);
    mt_device_close(gpu);
    spec_expect_clean("pairs");
  }
  EXPECT(done > CASES * 3 / 4, "only %d of %d pairs were copied", done, CASES);
}
