/*
** bank_conflicts.c - the wavefronts that the accesses of warps take in shared memory.
** SPDX-License-Identifier: MIT
*/
#include "analysis/warp_access.h"

/* ---------------------------------------------------------------- one phase */

/* A phase: the words that it wants of each bank, with a thread for each. */
typedef struct phase {
  int n[MT_BANKS];
  int64_t word[MT_BANKS][MT_WARP];
  int lane[MT_BANKS][MT_WARP];
} phase;

/* floor(x / n); n is a power of two. */
static int64_t floor_div (int64_t x, int64_t n) {
  return x >= 0 ? x / n : -((n - 1 - x) / n);
}

static void want (phase *p, int64_t word, int lane) {
  int bank = (int)(word - floor_div(word, MT_BANKS) * MT_BANKS), i = 0;
  while (i < p->n[bank] && p->word[bank][i] != word) i++;
  if (i < p->n[bank]) return;
  p->word[bank][i] = word;
  p->lane[bank][i] = lane;
  p->n[bank]++;
}

/* The phase of lanes [from, to) with these addresses; returns the bank with the most
** ways. */
static int make_phase (phase *p, const int64_t *address, int from, int to, int bytes) {
  int most = 0;
  memset(p->n, 0, sizeof p->n);
  for (int i = from; i < to; i++)
    for (int b = 0; b < bytes; b += MT_BANKBYTES)
      want(p, floor_div(address[i] + b, MT_BANKBYTES), i);
  for (int b = 1; b < MT_BANKS; b++)
    if (p->n[b] > p->n[most]) most = b;
  return most;
}

/* ---------------------------------------------------------------- one access */

static bool paired (const int64_t *address, int n, int by) {
  for (int i = 0; i < n; i++)
    if ((i ^ by) < n && address[i ^ by] != address[i]) return false;
  return true;
}

/* Threads of a phase. A read of 8 or 16 bytes in which threads 2i and 2i+1 always want
** the same address, or threads 4i+j and 4i+j+2, is served for twice as many at once. */
static int phase_of (const mt_warp_access *how, const int64_t *address, int n) {
  int threads = how->bytes == 16 ? 8 : how->bytes == 8 ? 16 : MT_WARP;
  if (how->kind == MT_READ && how->bytes >= 8 &&
      (paired(address, n, 1) || paired(address, n, 2)))
    threads *= 2;
  return threads;
}

/* The worst phase of an access. */
typedef struct access {
  int64_t wavefronts, ideal;
  int ways, bank;
  int n, lane[MT_WARP]; /* a thread for each word of the bank */
} access;

static MT_APART void count (access *x, const mt_warp_access *how, const int64_t *address,
                            int n) {
  phase p;
  int each = phase_of(how, address, n);
  x->wavefronts = x->ideal = x->ways = 0;
  for (int from = 0; from < n; from += each) {
    int to = from + each < n ? from + each : n;
    int bank = make_phase(&p, address, from, to, how->bytes), ways = p.n[bank];
    x->wavefronts += ways;
    x->ideal++;
    if (ways <= x->ways) continue;
    x->ways = ways;
    x->bank = bank;
    x->n = ways;
    memcpy(x->lane, p.lane[bank], (size_t)ways * sizeof x->lane[0]);
  }
}

/* ---------------------------------------------------------------- all */

/* Whether x comes before the worst so far; `i` is its first access. */
static bool is_worse (const mt_banks *out, const access *x, int64_t warp, int64_t i,
                      int64_t width) {
  int64_t excess = x->wavefronts - x->ideal, worst = out->worst - out->worst_ideal;
  if (out->accesses == 0 || excess != worst) return out->accesses == 0 || excess > worst;
  return warp == out->warp && i * width < out->value;
}

static void keep_worst (mt_banks *out, const access *x, const mt_warps *w, int64_t warp,
                        int64_t i, const int64_t *start) {
  int64_t step = mt_warp_step(w, i);
  out->warp = warp;
  out->value = i * w->width;
  out->worst = x->wavefronts;
  out->worst_ideal = x->ideal;
  out->bank = x->bank;
  out->ways = x->ways;
  for (int k = 0; k < x->n; k++) {
    int64_t e = mt_warp_element(w, start[x->lane[k]] + step), word = e * w->elem;
    out->thread[k] = warp * MT_WARP + x->lane[k];
    /* the element of the access that lies in the bank */
    while (floor_div(word, MT_BANKBYTES) - floor_div(word, MT_LINEBYTES) * MT_BANKS !=
           x->bank)
      word += w->elem < MT_BANKBYTES ? w->elem : MT_BANKBYTES;
    out->at[k] = floor_div(word, w->elem);
  }
}

static mt_status add_access (mt_banks *out, const access *x, int64_t times, mt_err *err) {
  int64_t n, ideal;
  out->accesses += times;
  if (x->ways > out->degree) out->degree = x->ways;
  if (mt_mulo(x->wavefronts, times, &n) || mt_addo(out->wavefronts, n, &out->wavefronts))
    return mt_fail(err, MT_EOVERFLOW, "bank_conflicts: the wavefronts leave 64 bits");
  ideal = x->ideal * times; /* not more than the wavefronts */
  out->ideal += ideal;
  out->conflicts = out->wavefronts - out->ideal;
  return MT_OK;
}

static mt_status count_warps (mt_banks *out, const mt_warps *w, mt_stint *stint,
                              mt_err *err) {
  access x;
  int64_t start[MT_WARP], address[MT_WARP], spent = 0;
  for (int64_t warp = 0; warp < w->warps; warp++, stint->done++) {
    int n = mt_warp_threads(start, w, warp);
    for (int k = 0; k < w->places; k++) {
      mt_place p = mt_warp_place(w, k);
      if (p.count == 0) continue;
      for (int i = 0; i < n; i++)
        address[i] = mt_warp_element(w, start[i] + p.step) * w->elem;
      count(&x, &w->how, address, n);
      if (is_worse(out, &x, warp, p.first, w->width))
        keep_worst(out, &x, w, warp, p.first, start);
      MT_TRY(add_access(out, &x, p.count, err));
      if (mt_stopped_after(&spent, MT_ACCESSNS, err, "bank_conflicts"))
        return MT_ESTOPPED;
    }
  }
  return MT_OK;
}

mt_status mt_bank_conflicts (mt_banks *out, const mt_node *a, const mt_warp_access *how,
                             mt_err *err) {
  mt_warps w;
  mt_stint stint;
  MT_TRY(mt_warps_of(&w, "bank_conflicts", a, how, err));
  memset(out, 0, sizeof *out);
  out->how = w.how;
  out->warps = w.warps;
  mt_stint_begin(&stint, "bank_conflicts", "warps", (double)w.warps, err);
  mt_status s = count_warps(out, &w, &stint, err);
  mt_stint_end(&stint, err);
  return s;
}
