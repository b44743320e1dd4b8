/*
** products.c - random products: a kernel writes what the reference executor writes.
** SPDX-License-Identifier: MIT
**
** The instruction of the emulated kernel is that of the reference; its registers are
** taken apart by the atom's (thread,value) layouts, its matrices in shared memory by the
** canonical layout of wgmma. So registers, matrices, ordinates, reductions and stores are
** the kernel's own; and all results are the same bits.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels_test.h"
#include "plan/device.h"
#include "types/dtype.h"
#include "gemm/gemm.h"
#include "atom/mma_number.h"
#include "pipelines.h"
#include "products.h"

enum { MAX_ATOMS = 4096, MAX_CELLS = 64 * 64 };

static void must (mt_status s, const mt_err *err) {
  if (s == MT_OK) return;
  fprintf(stderr, "%s\n", err->text);
  exit(1);
}

/* ---------------------------------------------------------------- the instruction */

static mt_mma_atom atom; /* that is being executed */

/* An element's dtype: that of the smallest tensor that holds it. */
static mt_dtype holder (mt_element e) {
  mt_dtype d = MT_bool;
  while (!mt_dtype_holds(d, e)) d++;
  return d;
}

/* Value v of a lane: its bits follow those of the values before it. */
static double get_value (mt_element e, const void *registers, int64_t v) {
  const unsigned char *p = registers;
  int64_t bits = mt_element_bits(e), at = v * bits;
  unsigned char small = (unsigned char)(p[at / 8] >> at % 8 & ((1 << bits % 8) - 1));
  return mt_get_number(holder(e), e, bits < 8 ? &small : p + at / 8);
}

/* By the (thread,value) layout of an operand. */
static void from_registers (double *out, mt_element e, const mt_node *tv,
                            const void *const *registers, unsigned lanes) {
  mt_err err = MT_NOERR;
  int64_t i, n = mt_size(mt_mode(tv, 1));
  for (int64_t v = 0; v < n; v++)
    for (unsigned t = 0; t < lanes; t++)
      if (mt_at(&i, tv, t + v * lanes, &err) == MT_OK)
        out[i] = get_value(e, registers[t], v);
}

static void to_registers (void *const *registers, mt_element e, const mt_node *tv,
                          const double *in, unsigned lanes) {
  mt_err err = MT_NOERR;
  int64_t i, n = mt_size(mt_mode(tv, 1)), bytes = mt_element_bits(e) / 8;
  for (int64_t v = 0; v < n; v++)
    for (unsigned t = 0; t < lanes; t++)
      if (mt_at(&i, tv, t + v * lanes, &err) == MT_OK)
        mt_put_number(holder(e), (char *)registers[t] + v * bytes, in[i]);
}

/* A K-major matrix without a swizzle: core matrices of 8 rows of 16 bytes, the leading
** byte offset between those along K, the stride byte offset between those along rows. */
static void from_shared (double *out, mt_element e, const char *shared, uint64_t desc,
                         int64_t rows, int64_t k) {
  int64_t start = (int64_t)(desc & 0x3fff) << 4, bytes = mt_element_bits(e) / 8;
  int64_t leading = (int64_t)(desc >> 16 & 0x3fff) << 4;
  int64_t stride = (int64_t)(desc >> 32 & 0x3fff) << 4;
  for (int64_t i = 0; i < rows * k; i++) {
    int64_t row = i % rows, byte = i / rows * bytes;
    out[i] = mt_get_number(holder(e), e,
                           shared + start + row / 8 * stride + byte / 16 * leading +
                               row % 8 * 16 + byte % 16);
  }
}

static void execute (const char *name, const emulated_lanes *l, const char *shared) {
  static double a[MAX_CELLS], b[MAX_CELLS], c[MAX_CELLS];
  const mt_mma_op *op = &atom.op;
  mt_element ea = mt_mma_op_element(op, MT_OPERAND_A);
  mt_element eb = mt_mma_op_element(op, MT_OPERAND_B);
  mt_element ec = mt_mma_op_element(op, MT_OPERAND_C);
  (void)name;
  if (op->operand[MT_OPERAND_A].source == MT_SMEM_DESC)
    from_shared(a, ea, shared, *(const uint64_t *)l->a[0], op->m, op->k);
  else from_registers(a, ea, atom.a.node, l->a, l->count);
  if (op->operand[MT_OPERAND_B].source == MT_SMEM_DESC)
    from_shared(b, eb, shared, l->b_matrix, op->n, op->k);
  else from_registers(b, eb, atom.b.node, l->b, l->count);
  from_registers(c, ec, atom.c.node, (const void *const *)l->c, l->count);
  mt_mma_op_run(op, a, b, c);
  to_registers(l->c, ec, atom.c.node, c, l->count);
}

/* The atom that one instruction executes: of a wgmma, its 8 columns. */
static void set_atom (const char *name) {
  char narrow[MT_ATOM_NAME];
  mt_err err = MT_NOERR;
  const char *n = strstr(name, "SM90_64x");
  snprintf(narrow, sizeof narrow, "%s", name);
  if (n == name) snprintf(narrow, sizeof narrow, "SM90_64x8%s", strchr(name + 8, 'x'));
  must(mt_mma_atom_find(&atom, narrow, &err), &err);
}

/* ---------------------------------------------------------------- drawing a product */

/* What is there is not drawn: atoms with a permutation, batches. */
typedef struct product {
  const mt_kernel *kernel;
  char atom[MT_ATOM_NAME], atoms[64], permutation[64], layout[MT_PARTS + MT_BESIDES][160];
  int batches;
  bool described; /* by a kernel of the same tiled MMA */
  mt_tiled_mma mma;
  mt_gemm_launch launch;
  size_t bytes[MT_PARTS + MT_BESIDES];
} product;

/* Those with C in registers. */
static int list_atoms (char names[MAX_ATOMS][MT_ATOM_NAME]) {
  mt_atom_cursor cursor = {0};
  mt_mma_op op;
  int n = 0;
  while (n < MAX_ATOMS && mt_mma_atom_next(&op, &cursor))
    if (op.operand[MT_OPERAND_C].source == MT_REG)
      snprintf(names[n++], MT_ATOM_NAME, "%s", op.name);
  return n;
}

/* An atom of the row, each as likely as the others. */
static bool draw_atom (product *p) {
  static char names[MAX_ATOMS][MT_ATOM_NAME];
  static int n;
  int seen = 0;
  if (n == 0) n = list_atoms(names);
  for (int i = 0; i < n; i++)
    if (mt_kernel_executes(p->kernel, names[i], 90) && below(++seen) == 0)
      memcpy(p->atom, names[i], sizeof names[i]);
  return seen > 0;
}

static void draw_tiled (product *p, int threads) {
  int most = threads == 1 ? 6 : 2, n[3], stride = 1, s[3] = {0, 0, 0}, first = below(3);
  int64_t shape[3] = {atom.op.m, atom.op.n, atom.op.k};
  if (strstr(p->atom, "SM90_64x")) shape[1] = atoi(p->atom + 8);
  for (int i = 0; i < 3; i++) n[i] = 1 + below(most);
  for (int i = 0; i < 3; i++) {
    int mode = (first + i) % 3;
    s[mode] = stride, stride *= n[mode];
  }
  snprintf(p->atoms, sizeof p->atoms, "(%d,%d,%d):(%d,%d,%d)", n[0], n[1], n[2], s[0],
           s[1], s[2]);
  for (int i = 0; i < 3; i++) n[i] *= (int)shape[i];
  if (below(3) == 0) snprintf(p->permutation, sizeof p->permutation, "(_,_,_)");
  else if (below(2) == 0)
    snprintf(p->permutation, sizeof p->permutation, "(%d,%d,%d)", n[0] * (1 + below(2)),
             n[1] * (1 + below(2)), n[2] * (1 + below(3)));
  else snprintf(p->permutation, sizeof p->permutation, "(_,(%d,2):(1,%d),_)", n[1], n[1]);
}

/* A mode of extent n as text, hierarchical if it can be; *stride is what follows it. */
static void draw_mode (char *shape, char *strides, size_t size, int64_t n,
                       int64_t *stride) {
  if (n % 2 == 0 && below(2) == 0) {
    snprintf(shape, size, "(2,%d)", (int)(n / 2));
    snprintf(strides, size, "(%d,%d)", (int)(*stride * (n / 2)), (int)*stride);
  } else {
    snprintf(shape, size, "%d", (int)n);
    snprintf(strides, size, "%d", (int)*stride);
  }
  *stride = *stride * n + below(3);
}

/* (X,Y,L), the modes in any order in memory, with holes. */
static int64_t draw_layout (product *p, int part, int64_t x, int64_t y, int64_t l) {
  char shape[3][24], stride[3][24];
  int64_t extent[3] = {x, y, l}, next = 1;
  int first = below(3), way = 1 + below(2);
  for (int i = 0; i < 3; i++) {
    int mode = (first + i * way) % 3;
    draw_mode(shape[mode], stride[mode], sizeof shape[0], extent[mode], &next);
  }
  if (part != MT_C && below(8) == 0)
    snprintf(stride[2], sizeof stride[2], shape[2][0] == '(' ? "(0,0)" : "0");
  snprintf(p->layout[part], sizeof p->layout[part], "(%s,%s,%s):(%s,%s,%s)", shape[0],
           shape[1], shape[2], stride[0], stride[1], stride[2]);
  return next;
}

static mt_dtype draw_dtype (const mt_mma_op *op, int part) {
  static const int operand[MT_PARTS] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C};
  static const mt_dtype floats[] = {MT_f16, MT_bf16, MT_f32, MT_f64, MT_e4m3, MT_e5m2};
  mt_element e = mt_mma_op_element(op, operand[part]);
  mt_dtype d;
  if (part == MT_C && e != MT_ELEMENT_s32 && below(2)) return floats[below(6)];
  do d = (mt_dtype)below(MT_NDTYPE);
  while (!mt_dtype_holds(d, e));
  return d;
}

/* Integers of any bits, floats that are small. */
static void *draw_data (mt_dtype d, int64_t n) {
  size_t size = mt_dtype_size(d);
  char *p = calloc((size_t)n, size);
  if (p == NULL) abort();
  for (int64_t i = 0; i < n; i++)
    if (!mt_is_float_type(d))
      for (size_t j = 0; j < size; j++)
        p[(size_t)i * size + j] = (char)below(d == MT_bool ? 2 : 256);
    else mt_put_number(d, p + (size_t)i * size, (below(33) - 16) / 8.0);
  return p;
}

/* A factor of integers: of any size up to 53 bits. */
static double factor (void) { return ldexp(1 + below(2), below(53)); }

/* Of one product in two, if its C has one; the residual is C now and then. */
static void draw_epilogue (product *p, const mt_tensor t[MT_PARTS], void **data) {
  static const mt_dtype floats[] = {MT_f16, MT_bf16, MT_f32, MT_f64};
  const int64_t *size = p->launch.desc.size;
  const mt_tensor *const all[] = {&t[0], &t[1], &t[2]};
  mt_err err = MT_NOERR;
  mt_layout layout[MT_BESIDES];
  mt_tensor x[MT_BESIDES];
  mt_epilogue e = {.activation = (mt_activation)below(MT_NACTIVATION)};
  if (t[MT_C].dtype < MT_f16 || t[MT_C].dtype > MT_f64 || below(2)) return;
  for (int i = 0; i < MT_BESIDES; i++) {
    char *text = p->layout[MT_PARTS + i];
    const int64_t n = draw_layout(p, MT_PARTS + i, size[0], size[1], size[3]);
    const mt_dtype d = floats[below(4)];
    must(mt_parse(&layout[i], text, strlen(text), &err), &err);
    data[i] = draw_data(d, n);
    p->bytes[MT_PARTS + i] = (size_t)n * mt_dtype_size(d);
    x[i] = (mt_tensor){layout[i].node, d, data[i], p->bytes[MT_PARTS + i], 0, NULL};
  }
  if (below(3)) e.bias = &x[MT_BIAS];
  if (below(3)) e.residual = below(3) ? &x[MT_RESIDUAL] : &t[MT_C];
  if (e.residual == &t[MT_C]) p->bytes[MT_PARTS + MT_RESIDUAL] = p->bytes[MT_C];
  must(mt_gemm_epilogue(&p->launch, all, &e, &err), &err);
}

/* A tiled MMA, tensors and numbers; false if such a product is refused. */
static bool draw (product *p, void *data[MT_PARTS + MT_BESIDES]) {
  static const uint8_t modes[MT_PARTS][2] = {{MT_M, MT_K}, {MT_N, MT_K}, {MT_M, MT_N}};
  mt_err err = MT_NOERR;
  mt_layout layout[MT_PARTS], atoms, permutation;
  mt_tensor t[MT_PARTS];
  mt_tiled_mma mma;
  int64_t size[4];
  if (!draw_atom(p)) return false;
  set_atom(p->atom);
  if (p->atoms[0] == '\0') draw_tiled(p, (int)mt_size(atom.thr_id.node));
  if (mt_parse(&atoms, p->atoms, strlen(p->atoms), &err) ||
      mt_parse(&permutation, p->permutation, strlen(p->permutation), &err) ||
      mt_make_tiled_mma(&mma, p->atom, atoms.node, permutation.node, &err) ||
      mt_tiled_mma_size(&mma) > 512)
    return false;
  for (int i = 0; i < 3; i++) size[i] = 1 + below((int)mma.tile[i] * 3 / 2 + 1);
  if (p->described) size[MT_K] += below(5) * mma.tile[2]; /* a pipeline goes round */
  size[MT_L] = p->batches > 0 ? p->batches : 1 + below(2);
  for (int o = 0; o < MT_PARTS; o++) {
    int64_t n = draw_layout(p, o, size[modes[o][0]], size[modes[o][1]], size[MT_L]);
    mt_dtype d = draw_dtype(&mma.atom.op, o);
    must(mt_parse(&layout[o], p->layout[o], strlen(p->layout[o]), &err), &err);
    data[o] = draw_data(d, n);
    p->bytes[o] = (size_t)n * mt_dtype_size(d);
    t[o] = (mt_tensor){layout[o].node, d, data[o], p->bytes[o], 0, NULL};
  }
  double alpha = below(3) - 1, beta = below(3) - 1;
  if (!mt_is_float_type(t[MT_C].dtype) && below(2)) alpha *= factor(), beta *= factor();
  if (mt_is_float_type(t[MT_C].dtype) && below(2)) alpha /= 4, beta *= 1.5;
  mt_status s = mt_gemm_tensors(&p->launch, &t[0], &t[1], &t[2], alpha, beta, &err);
  if (s == MT_OK) draw_epilogue(p, t, data + MT_PARTS);
  if (s == MT_OK) s = mt_gemm_describe(&p->launch, &mma, &err);
  p->mma = mma;
  if (s != MT_OK) fprintf(stderr, "%s\n", err.text);
  return s == MT_OK;
}

/* ---------------------------------------------------------------- running it */

static bool refer (const product *p) {
  mt_err err = MT_NOERR;
  mt_gemm_ref *r = aligned_alloc(64, mt_mma_ref_size(&p->launch.desc, NULL, 1));
  if (r == NULL) abort();
  mt_status s = mt_mma_ref_make(r, &p->launch.desc, NULL, 1, &err);
  if (s == MT_OK) s = mt_mma_ref_run(r, &p->launch, p->bytes, NULL, &err);
  if (s != MT_OK) fprintf(stderr, "the reference: %s\n", err.text);
  free(r);
  return s == MT_OK;
}

static bool agree (product *p) {
  void *c = p->launch.base[MT_C], *want = malloc(p->bytes[MT_C]);
  if (want == NULL) abort();
  void **residual = &p->launch.beside_base[MT_RESIDUAL], *before = *residual;
  memcpy(want, c, p->bytes[MT_C]);
  p->launch.base[MT_C] = want;
  if (before == c) *residual = want;
  bool same = refer(p);
  p->launch.base[MT_C] = c;
  *residual = before;
  const unsigned blocks = 1 + (unsigned)below(5);
  if (!p->described) emulate_product(p->kernel->name, blocks, &p->launch, execute);
  else if (!one_pipeline(p->kernel->name, blocks, &p->launch, &p->mma, execute))
    memcpy(c, want, p->bytes[MT_C]), p->described = false;
  same = same && memcmp(want, c, p->bytes[MT_C]) == 0;
  free(want);
  return same;
}

static void tell (const product *p) {
  const mt_gemm_desc *d = &p->launch.desc;
  fprintf(stderr,
          "%s: %s as %s %s\n  A %s %s\n  B %s %s\n  C %s %s\n  alpha %g, beta "
          "%g, %d threads along K, %s, bias %s, residual %s\n",
          p->kernel->name, p->atom, p->atoms, p->permutation,
          mt_dtype_name((mt_dtype)d->part[MT_A].dtype), p->layout[MT_A],
          mt_dtype_name((mt_dtype)d->part[MT_B].dtype), p->layout[MT_B],
          mt_dtype_name((mt_dtype)d->part[MT_C].dtype), p->layout[MT_C], p->launch.alpha,
          p->launch.beta, (int)d->kthreads,
          mt_activation_name((mt_activation)p->launch.activation),
          mt_has_beside(&p->launch, MT_BIAS) ? p->layout[MT_PARTS] : "none",
          !mt_has_beside(&p->launch, MT_RESIDUAL) ? "none" :
          p->launch.beside_base[MT_RESIDUAL] == p->launch.base[MT_C] ?
                                                    "C" :
                                                    p->layout[MT_PARTS + 1]);
}

static bool try (product *p, bool *ran) {
  void *data[MT_PARTS + MT_BESIDES] = {NULL};
  const bool described = p->described;
  *ran = draw(p, data);
  bool good = !*ran || agree(p);
  if (!good) tell(p);
  *ran = *ran && p->described == described;
  for (int o = 0; o < MT_PARTS + MT_BESIDES; o++) free(data[o]);
  return good;
}

bool one_product (const mt_kernel *k, bool *ran) {
  product p = {.kernel = k};
  return try(&p, ran);
}

bool described_product (const mt_kernel *k, bool *ran) {
  product p = {.kernel = k, .described = true};
  return try(&p, ran);
}

/* 8 times, as some factors leave C as it is. */
static bool small_block (const mt_kernel *k, const char *atoms) {
  bool ran = true;
  for (int i = 0; i < 8 && ran; i++) {
    product p = {.kernel = k, .permutation = "(_,_,_)", .batches = 2};
    snprintf(p.atoms, sizeof p.atoms, "%s", atoms);
    if (!try(&p, &ran)) return false;
  }
  if (!ran) fprintf(stderr, "%s: no product as %s\n", k->name, atoms);
  return ran;
}

bool small_blocks (void) {
  int rows = 0;
  for (const mt_kernel *k = mt_cuda_kernels; k < mt_cuda_kernels + mt_ncuda_kernels;
       k++) {
    if (k->op != MT_OP_GEMM || strncmp(k->atom, "UniversalFMA", 12) != 0) continue;
    rows++;
    if (!small_block(k, "(1,1,1):(1,1,1)") || !small_block(k, "(1,2,1):(1,1,2)"))
      return false;
  }
  return rows > 0;
}

/* ---------------------------------------------------------------- sums of threads */

enum { PARTIAL = 0x60000000 };

/* An instruction after which each accumulator is PARTIAL. */
static void leave_partial (const char *name, const emulated_lanes *l,
                           const char *shared) {
  (void)name, (void)shared;
  for (unsigned t = 0; t < l->count; t++)
    for (int v = 0; v < 2; v++) ((int32_t *)l->c[t])[v] = PARTIAL;
}

/* Two threads share K: what C becomes. */
static bool sums_to (const char *kernel, const char *name, int64_t want) {
  static unsigned char a[8 * 32], b[8 * 32];
  static int32_t c[8 * 8];
  mt_err err = MT_NOERR;
  mt_layout atoms, in, out;
  mt_tiled_mma mma;
  mt_gemm_launch l;
  must(mt_parse(&atoms, "(1,1,2):(0,0,1)", 15, &err), &err);
  must(mt_parse(&in, "(8,32):(32,1)", 13, &err), &err);
  must(mt_parse(&out, "(8,8):(8,1)", 11, &err), &err);
  must(mt_make_tiled_mma(&mma, name, atoms.node, NULL, &err), &err);
  mt_tensor t[] = {{in.node, MT_i8, a, sizeof a, 0, NULL},
                   {in.node, MT_i8, b, sizeof b, 0, NULL},
                   {out.node, MT_i32, c, sizeof c, 0, NULL}};
  must(mt_gemm_tensors(&l, &t[0], &t[1], &t[2], 1, 0, &err), &err);
  must(mt_gemm_describe(&l, &mma, &err), &err);
  emulate_product(kernel, 1, &l, leave_partial);
  for (int i = 0; i < 64; i++)
    if (c[i] != want) {
      fprintf(stderr, "%s: C is %d, not %lld\n", kernel, (int)c[i], (long long)want);
      return false;
    }
  return true;
}

bool sums_of_threads (void) {
  return sums_to("mma_8x8x16_s8_s8", "SM80_8x8x16_S32S8S8S32_TN",
                 2 * (int64_t)PARTIAL - ((int64_t)1 << 32)) &&
         sums_to("mma_8x8x16_s8_s8_sat", "SM80_8x8x16_S32S8S8S32_TN_SATURATE", INT32_MAX);
}

/* ---------------------------------------------------------------- numbers */

static bool same_number (double a, double b) { return a == b || (a != a && b != b); }

/* The number v as both write it: bits, but of a NaN. */
static bool writes_same (mt_dtype d, double v) {
  uint16_t want = 0, got = 0;
  mt_put_number(d, &want, v);
  emulate_write(d, (char *)&got, 0, v);
  if (v != v) return isnan(emulate_read(d, (const char *)&got, 0));
  if (want != got)
    fprintf(stderr, "%s: %a is 0x%x, not 0x%x\n", mt_dtype_name(d), v, got, want);
  return want == got;
}

/* All codes; between two of them the middle, and what lies beside it. */
static bool all_codes (mt_dtype d) {
  int n = mt_dtype_size(d) == 1 ? 256 : 65536;
  for (int code = 0; code < n; code++) {
    uint16_t bits[2] = {(uint16_t)code, (uint16_t)(code + 1)};
    const void *p = bits, *next = bits + 1;
    double v = mt_load_element(d, p).f, middle = (v + mt_load_element(d, next).f) / 2;
    if (!same_number(v, emulate_read(d, p, 0)) || !writes_same(d, v) ||
        !writes_same(d, middle) || !writes_same(d, nextafter(middle, 1e300)) ||
        !writes_same(d, nextafter(middle, -1e300)))
      return false;
  }
  return true;
}

bool small_floats (void) {
  static const double far[] = {1e-320, 1e-40, 464, 465, 480, 61440, 65520, 1e39, 1e300};
  for (mt_dtype d = MT_f16; d < MT_NDTYPE; d++) {
    if (mt_dtype_size(d) > 2) continue;
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
      if (!writes_same(d, far[i]) || !writes_same(d, -far[i])) return false;
    if (!all_codes(d)) return false;
  }
  return true;
}
