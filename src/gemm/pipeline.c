/*
** pipeline.c - a described kernel that no row is: what follows from its tensors.
** SPDX-License-Identifier: MIT
*/
#include "gemm/pipeline.h"

/* Whether neighbours along the mode are neighbours in memory. */
static bool is_contiguous (const mt_part *p, int mode) {
  const mt_digit *g = p->digit + (mode ? p->ndigit[0] : 0);
  return p->swizzle == 0 && p->ndigit[mode] == 1 && g->stride == 1;
}

static mt_status check_sums (const mt_gemm_desc *d, const mt_pipeline_tables *t,
                             mt_err *err) {
  int64_t values = d->part[MT_C].values;
  for (int i = 0; i < 2; i++) values *= (int64_t)d->inner[i] * t->tile[i] / d->tile[i];
  const int64_t words = values * t->sum_bits / 32;
  if (words <= MT_PIPELINE_WORDS) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "gemm: a thread has %lld words of sums, a kernel that is not "
                 "precompiled %d at most\ntake a smaller tile than %lldx%lld, or more "
                 "threads",
                 (long long)words, (int)MT_PIPELINE_WORDS, (long long)t->tile[0],
                 (long long)t->tile[1]);
}

mt_status mt_gemm_pipeline (mt_pipeline_launch *l, const mt_pipeline_tables *t,
                            mt_err *err) {
  const mt_gemm_desc *d = &l->gemm.desc;
  MT_TRY(check_sums(d, t, err));
  l->pipe = t->pipe;
  for (int i = 0; i < 3; i++) {
    l->pipe.repeat[i] = t->tile[i] / d->tile[i];
    l->pipe.tiles[i] = (d->size[i] + t->tile[i] - 1) / t->tile[i];
  }
  for (int x = 0; x < 2; x++)
    if (t->along[x] >= 0 && !is_contiguous(&d->part[x], t->along[x]))
      l->pipe.side[x].async = 0;
  return MT_OK;
}

void mt_pipeline_move (mt_pipeline *pipe, const uint32_t *from, const uint32_t *to) {
  for (int x = 0; x < 2; x++) {
    mt_pipeline_side *s = &pipe->side[x];
    s->line = to + (s->line - from);
    s->step = to + (s->step - from);
    s->bring = to + (s->bring - from);
  }
}
