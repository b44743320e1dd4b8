/*
** run.c - products at random, on "cpu" and "cpu:checked": atoms, their layouts,
** permutations, shapes, types, layouts of operands; each element against a sum of
** integers, which every type here holds.
** SPDX-License-Identifier: MIT
*/
#include "mma_test.h"
#include "own_atoms.h"
#include "text.h"

#include "atom/mma_number.h"

/* A tensor in memory of exactly its size. */
typedef struct operand {
  mt_layout layout;
  mt_tensor t;
  int64_t lo, cosize;
} operand;

/* ---------------------------------------------------------------- layouts */

enum { MAXLEAF = 16 };

/* Extents of modes, each cut in two or three now and then. */
typedef struct leaves {
  int n, mode[MAXLEAF];
  int64_t s[MAXLEAF], d[MAXLEAF];
} leaves;

static void cut (leaves *q, int mode, int64_t size) {
  for (int64_t f = 2; f < size && pick(3) == 0; f++) {
    if (size % f != 0 || q->n > 9) continue;
    q->s[q->n] = f, q->mode[q->n++] = mode;
    size /= f;
  }
  q->s[q->n] = size, q->mode[q->n++] = mode;
}

/* Strides in a random order, with gaps, signs and, if `repeats`, zeros. */
static void stride (leaves *q, bool repeats) {
  bool done[MAXLEAF] = {false};
  int64_t d = 1;
  for (int i = 0; i < q->n; i++) {
    int j = pick(q->n);
    while (done[j]) j = (j + 1) % q->n;
    done[j] = true;
    q->d[j] = pick(8) ? d : -d;
    if (repeats && pick(8) == 0) q->d[j] = 0;
    else d *= q->s[j] > 0 ? q->s[j] : 1;
    if (pick(5) == 0) d += pick(4);
  }
}

static void write_leaves (text *t, const leaves *q, const int64_t *v, int modes) {
  put(t, "(");
  for (int m = 0; m < modes; m++) {
    put(t, m ? ",(" : "(");
    for (int i = 0, first = 1; i < q->n; i++) {
      if (q->mode[i] != m) continue;
      if (!first) put(t, ",");
      put_int(t, v[i]);
      first = 0;
    }
    put(t, ")");
  }
  put(t, ")");
}

static mt_layout random_layout (const int64_t *size, int modes, bool repeats) {
  leaves q = {.n = 0};
  text t = {"", 0};
  for (int m = 0; m < modes; m++) cut(&q, m, size[m]);
  stride(&q, repeats);
  if (pick(4) == 0) /* far from 0, where signs could lead below it */
    put(&t, pick(2) ? "Sw<2,1,3> o 65536 o " : "Sw<3,0,-3> o 65536 o ");
  write_leaves(&t, &q, q.s, modes);
  put(&t, ":");
  write_leaves(&t, &q, q.d, modes);
  return parse(t.s);
}

/* ---------------------------------------------------------------- operands */

static void fill (operand *x, mt_device *d, bool with_sign) {
  void *data = NULL;
  size_t size = mt_dtype_size(x->t.dtype);
  MUST(mt_footprint(&x->lo, &x->cosize, x->layout.node, err));
  if (x->layout.node->tag == MT_SWIZZLE) x->lo = 0; /* it begins inside */
  x->t.layout = x->layout.node;
  x->t.offset = -x->lo;
  x->t.bytes = (size_t)(x->cosize - x->lo) * size;
  MUST(mt_malloc(d, &data, x->t.bytes, err));
  x->t.data = data;
  for (int64_t i = 0; i < x->cosize - x->lo; i++)
    mt_put_number(x->t.dtype, (char *)data + i * (int64_t)size,
                  with_sign ? pick(5) - 2 : pick(2));
}

static double value (const operand *x, int64_t i) {
  int64_t at = 0;
  MUST(mt_at(&at, x->layout.node, i, err));
  mt_number v =
      mt_load_element(x->t.dtype, (char *)x->t.data +
                                      (at - x->lo) * (int64_t)mt_dtype_size(x->t.dtype));
  return v.isint ? (double)v.i : v.f;
}

/* ---------------------------------------------------------------- partitions */

static const struct {
  const char *atom;
  mt_dtype a, b, c;
  int with_sign;
} kinds[] = {
    {"UniversalFMA<float,float,float,float>", MT_f32, MT_f32, MT_f32, 1},
    {"UniversalFMA<double,float,float,double>", MT_f32, MT_f32, MT_f64, 1},
    {"UniversalFMA<int32_t,int8_t,uint8_t,int32_t>", MT_i8, MT_u8, MT_i32, 0},
    {"SM61_DP4A", MT_i8, MT_i8, MT_i32, 1},
    {"SM70_8x8x4_F32F16F16F32_TN", MT_f16, MT_f16, MT_f32, 1},
    {"SM70_8x8x4_F16F16F16F16_NN", MT_f16, MT_f16, MT_f16, 1},
    {"SM75_16x8x8_F32F16F16F32_TN", MT_f16, MT_f16, MT_f16, 1},
    {"SM80_16x8x16_F32F16F16F32_TN", MT_f16, MT_f16, MT_f32, 1},
    {"SM80_16x8x8_F32TF32TF32F32_TN", MT_f32, MT_f32, MT_f32, 1},
    {"SM80_16x8x16_F32BF16BF16F32_TN", MT_bf16, MT_bf16, MT_f64, 1},
    {"SM80_8x8x4_F64F64F64F64_TN", MT_f64, MT_f64, MT_f64, 1},
    {"SM80_16x8x32_S32S8U8S32_TN", MT_i8, MT_u8, MT_i32, 0},
    {"SM80_8x8x32_S32S4U4S32_TN", MT_i8, MT_u8, MT_i32, 0},
    {"SM90_16x8x8_F64F64F64F64_TN", MT_f64, MT_f64, MT_f32, 1},
    {"SM90_64x24x16_F32F16F16_SS", MT_f16, MT_f16, MT_f32, 1},
    {"SM90_64x8x16_F16F16F16_RS", MT_f16, MT_f16, MT_f16, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Up to 4 atoms along each mode, their numbers in any order, sometimes with gaps. */
static mt_layout random_atoms (void) {
  leaves q = {.n = 0};
  text t = {"", 0};
  for (int m = 0; m < 3; m++) q.s[q.n] = 1 + pick(m == 2 ? 2 : 3), q.mode[q.n++] = m;
  bool done[3] = {false};
  int64_t d = 1;
  for (int i = 0; i < 3; i++) {
    int j = pick(3);
    while (done[j]) j = (j + 1) % 3;
    done[j] = true;
    q.d[j] = d;
    d *= q.s[j];
    if (pick(8) == 0) d *= 2;
  }
  write_leaves(&t, &q, q.s, 3);
  put(&t, ":");
  write_leaves(&t, &q, q.d, 3);
  return parse(t.s);
}

static mt_layout random_permutation (const mt_tiled_mma *plain) {
  const mt_mma_op *op = &plain->atom.op;
  const int64_t atom[] = {op->m, op->n, op->k};
  text t = {"(", 1};
  for (int m = 0; m < 3; m++) {
    int64_t n = plain->tile[m];
    if (m) put(&t, ",");
    int how = pick(4);
    if (how == 1) put_int(&t, n * (1 + pick(3)));
    else if (how == 2 && n % 2 == 0 && (atom[m] == 1 || atom[m] % 2 == 0)) {
      /* halves of the tile side by side */
      put(&t, "(2,");
      put_int(&t, n / 2);
      put(&t, "):(");
      put_int(&t, n / 2);
      put(&t, ",1)");
    } else put(&t, "_");
  }
  put(&t, ")");
  return parse(t.s);
}

/* ---------------------------------------------------------------- one product */

typedef struct product {
  int64_t size[4];
  bool batch[MT_PARTS];
  operand x[MT_PARTS];
  double alpha, beta;
} product;

static const uint8_t modes[MT_PARTS][3] = {{0, 2, 3}, {1, 2, 3}, {0, 1, 3}};

/* Element (m,n,l) of an exact product. */
static double exact (const product *p, const double *a, const double *b, double old,
                     int64_t m, int64_t n, int64_t l) {
  const int64_t *s = p->size;
  double sum = 0;
  for (int64_t k = 0; k < s[2]; k++)
    sum += a[m + s[0] * (k + s[2] * (p->batch[MT_A] ? l : 0))] *
           b[n + s[1] * (k + s[2] * (p->batch[MT_B] ? l : 0))];
  return p->alpha * sum + p->beta * old;
}

static double *values (const operand *x) {
  int64_t n = mt_size(x->layout.node);
  double *v = malloc((size_t)(n + 1) * sizeof *v);
  if (v == NULL) abort();
  for (int64_t i = 0; i < n; i++) v[i] = value(x, i);
  return v;
}

static void compare (const product *p, const double *old, const char *name) {
  double *a = values(&p->x[MT_A]), *b = values(&p->x[MT_B]);
  double *c = values(&p->x[MT_C]);
  for (int64_t i = 0; i < mt_size(p->x[MT_C].layout.node); i++) {
    int64_t m = i % p->size[0], n = i / p->size[0] % p->size[1];
    int64_t l = i / p->size[0] / p->size[1];
    double want = exact(p, a, b, old[i], m, n, l);
    if (c[i] == want) continue;
    CHECK(false, "%s: C(%d,%d,%d) = %g, not %g", name, (int)m, (int)n, (int)l, c[i],
          want);
    break;
  }
  free(a), free(b), free(c);
}

static void make_operands (product *p, mt_device *d, int kind) {
  const mt_dtype types[] = {kinds[kind].a, kinds[kind].b, kinds[kind].c};
  for (int part = 0; part < MT_PARTS; part++) {
    int64_t s[3];
    for (int i = 0; i < 3; i++) s[i] = p->size[modes[part][i]];
    p->x[part].layout = random_layout(s, p->batch[part] ? 3 : 2, part != MT_C);
    p->x[part].t.dtype = types[part];
    fill(&p->x[part], d, kinds[kind].with_sign);
  }
}

static void run (mt_device *d, const mt_tiled_mma *mma, product *p, const char *name) {
  mt_plan *plan = NULL;
  mt_err err = MT_NOERR;
  double *old = values(&p->x[MT_C]);
  const mt_gemm_options o = {.size = sizeof o, .alpha = p->alpha, .beta = p->beta};
  mt_status s = mt_plan_gemm(&plan, d, mma, &p->x[0].t, &p->x[1].t, &p->x[2].t, &o, &err);
  if (s == MT_OK) s = mt_plan_launch(plan, NULL, &err);
  CHECK(s == MT_OK || strstr(err.text, "a block has at most 1024"), "%s: %s", name,
        err.text);
  if (s == MT_OK) compare(p, old, name);
  mt_plan_free(plan);
  free(old);
}

/* A user's atom of the types of a kind. */
static void draw_own (mt_mma_atom *out, int kind) {
  own_mma a;
  mt_layout tv[3];
  uint64_t seed = next64();
  mt_mma_op op;
  MUST(mt_mma_atom_find(out, kinds[kind].atom, err));
  op = out->op;
  own_draw(&a, &seed);
  op.name[0] = 0;
  op.m = a.m, op.n = a.n, op.k = a.k;
  for (int i = 0; i < 3; i++) tv[i] = parse(a.text[i].s);
  MUST(mt_mma_atom_make(out, &op, NULL, tv[0].node, tv[1].node, tv[2].node, err));
}

static void test_one (mt_device *d, uint64_t seed, bool own) {
  product p = {.alpha = 1};
  static mt_mma_atom atom;
  mt_tiled_mma mma;
  char name[512];
  size_t n;
  begin_case(seed);
  int kind = pick(KINDS);
  mt_err no = MT_NOERR; /* 3 quadpairs, 2 of them in a warp */
  if (own) draw_own(&atom, kind);
  else MUST(mt_mma_atom_find(&atom, kinds[kind].atom, err));
  mt_layout atoms = random_atoms();
  if (mt_make_tiled_mma_of(&mma, &atom, atoms.node, NULL, &no)) return;
  mt_layout permutation = random_permutation(&mma);
  MUST(mt_make_tiled_mma_of(&mma, &atom, atoms.node, permutation.node, err));
  for (int i = 0; i < 3; i++) p.size[i] = pick(20) ? 1 + pick(pick(2) ? 20 : 70) : 0;
  p.size[3] = 1 + pick(3);
  p.batch[MT_C] = p.size[3] > 1;
  for (int i = 0; i < 2; i++) p.batch[i] = p.batch[MT_C] && pick(2);
  if (pick(3) == 0) p.alpha = pick(5) - 2, p.beta = pick(3) - 1;
  make_operands(&p, d, kind);
  n = (size_t)snprintf(name, sizeof name, "%s: %s ", mt_device_name(d), atom.op.name);
  n += mt_format(name + n, 128, atoms.node);
  name[n++] = ' ';
  n += mt_format(name + n, 128, permutation.node);
  snprintf(name + n, sizeof name - n, " of %d x %d x %d x %d, %g, %g", (int)p.size[0],
           (int)p.size[1], (int)p.size[2], (int)p.size[3], p.alpha, p.beta);
  run(d, &mma, &p, name);
  for (int i = 0; i < MT_PARTS; i++) mt_free(d, p.x[i].t.data, p.x[i].t.bytes);
}

void test_run (void) {
  static const char *const names[] = {"cpu", "cpu:checked"};
  long n = cases_of(100), own = cases_of(1000);
  for (int i = 0; i < 2; i++) {
    mt_device *d = NULL;
    MUST(mt_device_open(&d, names[i], NULL, err));
    for (long seed = 1; seed <= n; seed++)
      test_one(d, (uint64_t)seed * 7919 + (uint64_t)i, false);
    for (long seed = 1; seed <= own; seed++)
      test_one(d, (uint64_t)seed * 104729 + (uint64_t)i, true);
    mt_device_close(d);
  }
}
