/*
** pack.c - tensors of a product that its kernel takes in another form.
** SPDX-License-Identifier: MIT
*/
#include "plan/pack.h"
#include "core/arith.h"
#include "core/build.h"

enum { ALIGN = 256 }; /* bytes, of what begins in the memory */

static size_t size_of (const mt_plan *p, int part) {
  return mt_dtype_size((mt_dtype)p->gemm.desc.part[part].dtype);
}

/* Whether one launch packs the operand with the other. */
static bool is_packed (const mt_plan *p, int part) {
  return part < MT_C && p->hopper.pack.operand[part].all != 0;
}

static size_t aligned (size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* Bytes of a part as rows; 0: it stays where it is. */
static mt_status part_size (size_t *out, const mt_plan *p, int part, mt_err *err) {
  const mt_gemm_desc *d = &p->gemm.desc;
  int64_t n = p->hopper.pitch[part];
  if (is_packed(p, part)) {
    *out = aligned(mt_pack_bytes(&p->hopper.pack.operand[part]));
    return MT_OK;
  }
  int over = mt_mulo(n, d->size[part == MT_B ? MT_N : MT_M], &n);
  over |= mt_mulo(n, d->size[MT_L], &n);
  over |= mt_mulo(n, (int64_t)size_of(p, part), &n);
  over |= mt_addo(n, ALIGN - 1, &n);
  if (over)
    return mt_fail(err, MT_EOVERFLOW, "gemm: copies of its tensors leave 64 bits");
  *out = p->hopper.pitch[part] ? (size_t)n / ALIGN * ALIGN : 0;
  return MT_OK;
}

/* Bytes of what tf32 leaves out of the operand. */
static mt_status rest_size (size_t *out, const mt_plan *p, int i, mt_err *err) {
  const mt_rest_launch *r = &p->hopper.rest[i];
  int64_t n;
  if (mt_mulo(r->all, r->to_pitch * (int64_t)sizeof(float), &n))
    return mt_fail(err, MT_EOVERFLOW, "gemm: copies of its tensors leave 64 bits");
  *out = aligned((size_t)n);
  return MT_OK;
}

/* Its pieces: parts 0 to 2, and what tf32 leaves out of A and B. */
static mt_status piece_size (size_t *out, const mt_plan *p, int i, mt_err *err) {
  return i < MT_PARTS ? part_size(out, p, i, err) : rest_size(out, p, i - MT_PARTS, err);
}

mt_status mt_pack_size (size_t *out, const mt_plan *p, mt_err *err) {
  *out = 0;
  for (int i = 0; i < MT_PARTS + 2; i++) {
    size_t bytes = 0;
    MT_TRY(piece_size(&bytes, p, i, err));
    if (bytes > SIZE_MAX - *out)
      return mt_fail(err, MT_EOVERFLOW, "gemm: copies of its tensors leave 64 bits");
    *out += bytes;
  }
  return MT_OK;
}

/* The shape of `a`, index by index of its first mode in rows, of its second along them;
** a third is the batch. */
static mt_status rows_of (mt_layout *out, const mt_node *a, const mt_plan *p, int part,
                          mt_err *err) {
  const int64_t pitch = p->hopper.pitch[part];
  const int64_t rows = p->gemm.desc.size[part == MT_B ? MT_N : MT_M];
  const int64_t first[3] = {pitch, 1, pitch * rows};
  mt_copy_value(out, a);
  for (int i = 0; i < mt_rank(out->node); i++) {
    mt_node *m = out->node + (mt_mode(out->node, i) - out->node);
    int64_t stride = first[i];
    for (mt_node *n = m; n < m + m->span; n++) {
      if (mt_is_branch(n)) continue;
      if (n->tag != MT_LEAF)
        return mt_failn(err, MT_EUNSUPPORTED, "gemm: strides of %N are sums", a);
      n->ring = MT_INT;
      n->stride = stride;
      stride *= n->shape;
    }
  }
  return MT_OK;
}

/* The copies between a part and its rows, which begin at `at` in the memory. */
static mt_status plan_copies (mt_plan *p, const mt_tensor *t, int part, size_t at,
                              mt_err *err) {
  mt_layout rows;
  if (is_packed(p, part)) return MT_OK;
  mt_tensor m = {.dtype = t->dtype, .data = p->memory, .bytes = p->memory_bytes};
  MT_TRY(rows_of(&rows, mt_inner(t->layout), p, part, err));
  m.layout = rows.node;
  m.offset = (int64_t)(at / size_of(p, part));
  if (part != MT_C || p->gemm.beta != 0)
    MT_TRY(mt_plan_copy(&p->before[part], p->device, NULL, t, &m, err));
  return part == MT_C ? mt_plan_copy(&p->after, p->device, NULL, &m, t, err) : MT_OK;
}

static void place (mt_hopper *h, int part, char *at) {
  for (int i = 0; i < MT_HOPPER_MAPS; i++)
    if (h->part[i] == part) h->map[i].base = at;
  if (part == MT_C) h->launch.c = at;
  else h->pack.operand[part].to = at;
}

/* What tf32 leaves out of an operand, which has its place. */
static void place_rest (mt_hopper *h, int i, char *at) {
  h->rest[i].from = h->map[i].base;
  h->rest[i].to = (float *)(void *)at;
  h->rest_map[i].base = at;
}

/* What is done with each piece: its number, and where it begins in the memory. */
typedef mt_status do_piece (mt_plan *p, const mt_tensor *const t[MT_PARTS], int i,
                            size_t at, mt_err *err);

static mt_status for_pieces (mt_plan *p, const mt_tensor *const t[MT_PARTS], do_piece *f,
                             mt_err *err) {
  size_t bytes = 0;
  for (size_t i = 0, at = 0; i < MT_PARTS + 2; i++, at += bytes) {
    MT_TRY(piece_size(&bytes, p, (int)i, err));
    if (bytes != 0) MT_TRY(f(p, t, (int)i, at, err));
  }
  return MT_OK;
}

static mt_status plan_piece (mt_plan *p, const mt_tensor *const t[MT_PARTS], int i,
                             size_t at, mt_err *err) {
  return i < MT_PARTS ? plan_copies(p, t[i], i, at, err) : MT_OK;
}

static mt_status place_piece (mt_plan *p, const mt_tensor *const t[MT_PARTS], int i,
                              size_t at, mt_err *err) {
  (void)t;
  (void)err;
  if (i < MT_PARTS) place(&p->hopper, i, (char *)p->memory + at);
  else place_rest(&p->hopper, i - MT_PARTS, (char *)p->memory + at);
  return MT_OK;
}

mt_status mt_pack (mt_plan *p, const mt_tensor *const t[MT_PARTS], mt_err *err) {
  MT_TRY(mt_pack_size(&p->memory_bytes, p, err));
  if (p->memory_bytes == 0) return MT_OK;
  mt_status s = mt_malloc(p->device, &p->memory, p->memory_bytes, err);
  if (s == MT_OK) s = for_pieces(p, t, plan_piece, err);
  if (s == MT_OK) s = mt_pack_place(p, err);
  if (s != MT_OK) mt_unpack(p);
  return s;
}

mt_status mt_pack_place (mt_plan *p, mt_err *err) {
  return for_pieces(p, NULL, place_piece, err);
}

void mt_unpack (mt_plan *p) {
  for (int part = 0; part < MT_PARTS; part++) {
    mt_plan_free(p->before[part]);
    p->before[part] = NULL;
  }
  mt_plan_free(p->after);
  p->after = NULL;
  if (p->memory) mt_recycle(p->device, p->memory, p->memory_bytes);
  p->memory = NULL;
  p->memory_bytes = 0;
}
