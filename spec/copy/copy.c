/*
** copy.c - random copies, plain and by partitions, on "cpu" and "cpu:checked", against
** evaluation element by element.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"

static const mt_dtype types[] = {MT_u8, MT_f16,  MT_f32, MT_f64,
                                 MT_i8, MT_bf16, MT_u32, MT_i64};
static mt_device *cpu, *checked;
static long planned, boxes, refused[MT_NSTATUS];

typedef struct trial {
  mt_dtype type;
  size_t elem;
  view src, dst;
  memory from, to, want, got;
  mt_tensor s, d;
  mt_tiled_copy copy;
  bool tiled, must; /* by a partition; has to be accepted */
} trial;

static mt_tensor tensor (const view *v, mt_dtype type, memory m) {
  mt_tensor t = {v->layout.node, type, m.p, m.bytes, v->offset, NULL};
  return t;
}

static void naive (const trial *x) {
  int64_t n = mt_size(x->src.layout.node), a, b;
  memcpy(x->want.p, x->to.p, x->to.bytes);
  for (int64_t i = 0; i < n; i++) {
    MUST(mt_at(&a, x->src.layout.node, i, err));
    MUST(mt_at(&b, x->dst.layout.node, i, err));
    memcpy(x->want.p + (size_t)(x->dst.offset + b) * x->elem,
           x->from.p + (size_t)(x->src.offset + a) * x->elem, x->elem);
  }
}

static void describe (const trial *x, const char *what, const char *why) {
  CHECK(false, "%s: %s -> %s, thr %s, val %s: %s", what, text_of(x->src.layout.node),
        text_of(x->dst.layout.node), x->tiled ? text_of(x->copy.thr.node) : "-",
        x->tiled ? text_of(x->copy.val.node) : "-", why);
}

static mt_status run_on (mt_device *dev, trial *x, char *text, size_t size) {
  mt_plan *p;
  mt_err err = MT_NOERR;
  x->d.data = x->got.p;
  memcpy(x->got.p, x->to.p, x->to.bytes);
  mt_status s = mt_plan_copy(&p, dev, x->tiled ? &x->copy : NULL, &x->s, &x->d, &err);
  if (s != MT_OK) {
    CHECK(err.text[0] != 0 && err.status == s, "a text");
    if (x->must) describe(x, "refused", err.text);
    return s;
  }
  mt_plan_format(text, size, p);
  for (int i = 0; i < 2; i++)
    if (mt_plan_launch(p, NULL, &err) != MT_OK) describe(x, "launch", err.text);
  mt_plan_free(p);
  if (memcmp(x->got.p, x->want.p, x->want.bytes) != 0)
    describe(x, mt_device_name(dev), text);
  return s;
}

/* The texts of both but for the lines that speak of the device. */
static void same_text (const trial *x, const char *a, const char *b) {
  while (*a || *b) {
    size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
    static const char *const free[] = {"kernel:", "grid:", "refused:"};
    bool skip = false;
    for (int i = 0; i < 3 && !skip; i++) {
      size_t length = strlen(free[i]);
      if (strncmp(a, free[i], length) == 0) a += n + (a[n] == '\n'), skip = true;
      else if (strncmp(b, free[i], length) == 0) b += m + (b[m] == '\n'), skip = true;
    }
    if (skip) continue;
    if (n != m || memcmp(a, b, n) != 0) {
      describe(x, "texts differ", b);
      return;
    }
    a += n + (a[n] == '\n'), b += m + (b[m] == '\n');
  }
}

static void run (trial *x) {
  char a[8192], b[8192];
  x->from = exact_memory((size_t)x->src.size * x->elem, 0);
  x->to = exact_memory((size_t)x->dst.size * x->elem, 0);
  x->want = exact_memory(x->to.bytes, 0);
  x->got = exact_memory(x->to.bytes, 0);
  random_bytes(x->from);
  random_bytes(x->to);
  x->s = tensor(&x->src, x->type, x->from);
  x->d = tensor(&x->dst, x->type, x->got);
  naive(x);
  mt_status s = run_on(cpu, x, a, sizeof a);
  mt_status t = run_on(checked, x, b, sizeof b);
  CHECK(s == t, "one decides %s, the other %s", mt_status_name(s), mt_status_name(t));
  if (s == MT_OK && t == MT_OK) same_text(x, a, b);
  refused[s]++;
  planned++;
  boxes += s == MT_OK && strstr(a, "\nbox: ") != NULL;
  free_memory(x->from);
  free_memory(x->to);
  free_memory(x->want);
  free_memory(x->got);
}

/* ---------------------------------------------------------------- trials */

static void choose_type (trial *x) {
  x->type = types[pick(sizeof types / sizeof types[0])];
  x->elem = mt_dtype_size(x->type);
}

static void plain_trial (int64_t size) {
  trial x = {.must = true};
  mt_layout shape;
  choose_type(&x);
  random_shape(&shape, size);
  random_view(&x.src, shape.node, false);
  random_view(&x.dst, shape.node, true);
  run(&x);
}

/* A compact layout of a random tile in a random order. */
static mt_layout random_part (int rank, int64_t size) {
  int64_t s[4];
  mt_layout shape, out;
  for (int i = 0; i < rank; i++) {
    s[i] = (int64_t)1 << pick(4);
    if (pick(5) == 0) s[i] = 1 + pick(6);
    if (s[i] > size) s[i] = 1;
    size /= s[i];
  }
  MUST(mt_ints(&shape, rank, s, err));
  if (pick(2)) MUST(mt_layout_left(&out, shape.node, err));
  else MUST(mt_layout_right(&out, shape.node, err));
  return out;
}

static bool is_flat (const mt_node *t) {
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (c->arity > 0) return false;
  return true;
}

static void tiled_trial (int64_t size) {
  static const char *const atoms[] =
      {"AutoVectorizingCopy",     "AutoVectorizingCopy",     "AutoVectorizingCopy",
       "UniversalCopy<uint8_t>",  "UniversalCopy<uint16_t>", "UniversalCopy<uint32_t>",
       "UniversalCopy<uint64_t>", "UniversalCopy<uint128_t>"};
  trial x = {.tiled = true};
  mt_layout shape, thr, val;
  mt_err err = MT_NOERR;
  choose_type(&x);
  random_shape(&shape, size);
  random_view(&x.src, shape.node, false);
  random_view(&x.dst, shape.node, true);
  int rank = 1 + pick(mt_rank(shape.node)), atom = pick(8);
  thr = random_part(rank, 64);
  val = random_part(rank, 16);
  if (mt_make_tiled_copy(&x.copy, atoms[atom], (int)x.elem * 8, thr.node, val.node,
                         &err) != MT_OK) {
    if (atom < 3) describe(&x, "tiled copy", err.text);
    return;
  }
  x.must = atom < 3 && is_flat(shape.node);
  run(&x);
}

/* A row-major tensor of short modes, and one with these modes in another order: boxes. */
static void permuted_trial (void) {
  static const int extents[] = {2, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 5};
  trial x = {.must = true};
  char shape[128], stride[2][128];
  int n = 3 + pick(4), e[6], order[6], d[6], size = 1;
  for (int i = 0; i < n; i++) {
    e[i] = size < 20000 ? extents[pick(12)] : 2;
    size *= e[i], order[i] = i;
  }
  for (int i = n - 1; i > 0; i--) {
    int j = pick(i + 1), t = order[i];
    order[i] = order[j], order[j] = t;
  }
  for (int i = 0, at = 1; i < n; i++) d[order[i]] = at, at *= e[order[i]];
  for (int i = 0, at = 1, s = 0, a = 0, b = 0; i < n; at *= e[i++]) {
    const char *comma = i ? "," : "(";
    s += sprintf(shape + s, "%s%d", comma, e[i]);
    a += sprintf(stride[0] + a, "%s%d", comma, at);
    b += sprintf(stride[1] + b, "%s%d", comma, d[i]);
  }
  choose_type(&x);
  view *side[] = {&x.src, &x.dst};
  for (int i = 0; i < 2; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s):%s)", shape, stride[i]);
    side[i]->layout = parse(text);
    side[i]->size = size;
  }
  run(&x);
}

/* Tiles with edges, threads, streams past the caches. */
static void large_trial (void) {
  trial x = {.must = true};
  int64_t m = between(200, 900), n = between(200, 900);
  char text[128];
  choose_type(&x);
  if (pick(2)) m = m / 64 * 64, n = n / 64 * 64;
  snprintf(text, sizeof text, "(%lld,%d,%lld)", (long long)m, 1 + pick(4), (long long)n);
  mt_layout shape = parse(text);
  random_view(&x.src, shape.node, pick(4) != 0);
  random_view(&x.dst, shape.node, true);
  run(&x);
}

void test_copy (void) {
  mt_device_options options = {.size = sizeof(mt_device_options), .threads = 3};
  MUST(mt_device_open(&cpu, "cpu", &options, err));
  MUST(mt_device_open(&checked, "cpu:checked", NULL, err));
  for (long i = 0; i < base_cases; i++) {
    begin_case(base_seed + (uint64_t)i);
    if (i % 2) plain_trial(1 + pick(pick(8) ? 600 : 20000));
    else tiled_trial(1 + pick(pick(8) ? 600 : 20000));
  }
  for (long i = 0; i < base_cases / 5000 + 4; i++) {
    begin_case(base_seed + (uint64_t)i);
    large_trial();
  }
  for (long i = 0; i < base_cases / 100 + 40; i++) {
    begin_case(base_seed + (uint64_t)i);
    permuted_trial();
  }
  CHECK(boxes > 10, "%ld copies by boxes", boxes);
  printf("  %ld copies, %ld by boxes:", planned, boxes);
  for (int s = 0; s < MT_NSTATUS; s++)
    if (refused[s]) printf(" %s %ld", mt_status_name((mt_status)s), refused[s]);
  printf("\n");
  mt_device_close(cpu);
  mt_device_close(checked);
}
