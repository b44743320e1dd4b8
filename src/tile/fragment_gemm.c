/*
** fragment_gemm.c - products of fragments: what the threads of a tiled MMA compute.
** SPDX-License-Identifier: MIT
**
** A cell is an element of an operand of an atom, which one or several of its threads
** have.
*/
#include "moontile/tile.h"
#include "atom/mma_number.h"
#include "core/error.h"

static const int operand_of[] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C};
static const char *const part_name[] = {"A", "B", "C"};

static const mt_node *layout_of (const mt_tiled_mma *mma, mt_mma_part x) {
  const mt_layout *const tv[] = {&mma->atom.a, &mma->atom.b, &mma->atom.c};
  return tv[x]->node;
}

int64_t mt_fragment_values (const mt_tiled_mma *mma, mt_mma_part x) {
  return mt_size(mt_mode(layout_of(mma, x), 1));
}

/* ---------------------------------------------------------------- numbers */

mt_status mt_fragment_check (const mt_tiled_mma *mma, mt_mma_part x, mt_dtype d,
                             mt_err *err) {
  const mt_mma_op *op = &mma->atom.op;
  mt_element e = mt_mma_op_element(op, operand_of[x]);
  MT_TRY(mt_mma_op_check(op, err));
  if (mt_dtype_holds(d, e)) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "gemm: %s is %s, but %s has %s there: fragments of %s hold it",
                 part_name[x], mt_dtype_name(d), op->name, mt_element_name(e),
                 mt_dtypes_of(e));
}

double mt_fragment_load (const mt_tiled_mma *mma, mt_mma_part x, mt_dtype d,
                         const void *p) {
  return mt_get_number(d, mt_mma_op_element(&mma->atom.op, operand_of[x]), p);
}

void mt_fragment_store (mt_dtype d, void *p, double v) { mt_put_number(d, p, v); }

/* ---------------------------------------------------------------- products */

/* Where the fragments of an operand are: those of atom number `group`, its instruction
** number `rest` of so many. */
typedef struct mt_frags {
  double *number;
  int64_t values, threads, rests;
} mt_frags;

/* The numbers of the values to their cells, or back. */
static mt_status each_cell (const mt_node *tv, const mt_frags *f, int64_t group,
                            int64_t rest, double *cell, bool back, mt_err *err) {
  int64_t at;
  for (int64_t i = 0; i < f->threads; i++) {
    double *own = f->number + f->values * (rest + f->rests * (i + f->threads * group));
    for (int64_t v = 0; v < f->values; v++) {
      MT_TRY(mt_at(&at, tv, i + f->threads * v, err));
      if (back) own[v] = cell[at];
      else cell[at] = own[v];
    }
  }
  return MT_OK;
}

/* One atom: its instructions, in order of K for each element of C. */
static mt_status run_group (const mt_tiled_mma *mma, const mt_frags f[3],
                            const int64_t mnk[3], int64_t group, double *const cell[3],
                            int64_t *spent, mt_err *err) {
  const mt_mma_op *op = &mma->atom.op;
  const mt_node *tv[] = {mma->atom.a.node, mma->atom.b.node, mma->atom.c.node};
  int64_t ns = op->m * op->n * op->k + 20 * (op->m + op->n) * op->k;
  for (int64_t mn = 0; mn < mnk[0] * mnk[1]; mn++) {
    int64_t m = mn % mnk[0], n = mn / mnk[0];
    MT_TRY(each_cell(tv[2], &f[2], group, mn, cell[2], false, err));
    for (int64_t k = 0; k < mnk[2]; k++) {
      if (mt_stopped_after(spent, ns, err, "gemm")) return MT_ESTOPPED;
      MT_TRY(each_cell(tv[0], &f[0], group, m + mnk[0] * k, cell[0], false, err));
      MT_TRY(each_cell(tv[1], &f[1], group, n + mnk[1] * k, cell[1], false, err));
      mt_mma_op_run(op, cell[0], cell[1], cell[2]);
    }
    MT_TRY(each_cell(tv[2], &f[2], group, mn, cell[2], true, err));
  }
  return MT_OK;
}

int64_t mt_fragment_cells (const mt_tiled_mma *mma) {
  const mt_mma_op *op = &mma->atom.op;
  return op->m * op->k + op->n * op->k + op->m * op->n;
}

mt_status mt_gemm_fragments (const mt_tiled_mma *mma, int64_t have, const int64_t mnk[3],
                             double *a, double *b, double *c, double *cells,
                             mt_err *err) {
  const mt_mma_op *op = &mma->atom.op;
  int64_t threads = mt_size(mma->atom.thr_id.node), spent = 0;
  double *const number[] = {a, b, c};
  double *const cell[] = {cells, cells + op->m * op->k,
                          cells + op->m * op->k + op->n * op->k};
  const int64_t rests[] = {mnk[0] * mnk[2], mnk[1] * mnk[2], mnk[0] * mnk[1]};
  mt_frags f[3];
  MT_TRY(mt_mma_op_check(op, err));
  MT_CHECK(have % threads == 0, err, "gemm: %lld threads are no atoms of %s",
           (long long)have, op->name);
  for (int x = 0; x < 3; x++)
    f[x] =
        (mt_frags){number[x], mt_fragment_values(mma, (mt_mma_part)x), threads, rests[x]};
  for (int64_t group = 0; group < have / threads; group++)
    MT_TRY(run_group(mma, f, mnk, group, cell, &spent, err));
  return MT_OK;
}
