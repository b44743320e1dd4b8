/*
** fakepiped.c - described kernels without a GPU: their product is that of their tiled MMA; their
** tables are looked at.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "fakecuda.h"

/* The words of a table, on the host. */
static const uint32_t *table (const uint32_t *at, size_t n, int device) {
  return fake_host((CUdeviceptr)(uintptr_t)at, device, n * sizeof *at, NULL);
}

static bool once (unsigned char *seen, uint32_t i, size_t n) {
  if (i >= n || seen[i]) return false;
  return seen[i] = 1, true;
}

static bool places (const mt_pipeline *p, const mt_pipeline_side *s, const uint32_t *line,
                    const uint32_t *step, unsigned char *seen) {
  for (uint32_t stage = 0; stage < p->stages; stage++)
    for (uint32_t e = 0; e < s->elements; e++) {
      const uint32_t o = line[e] + step[stage], moved = o & s->swizzle;
      const uint32_t at = o ^ (s->shift < 0 ? moved << -s->shift : moved >> s->shift);
      if (!once(seen, at * s->size + s->first, p->scratch)) return false;
    }
  return true;
}

static bool side (const mt_pipeline *p, const mt_pipeline_side *s, unsigned char *seen,
                  unsigned char *brought, int device) {
  const uint32_t *line = table(s->line, s->elements, device);
  const uint32_t *step = table(s->step, p->stages, device);
  const uint32_t *bring = table(s->bring, s->elements, device);
  if (!line || !step || !bring || s->fills * s->wide != s->elements) return false;
  for (uint32_t i = 0; i < s->elements; i++)
    if (!once(brought, bring[i], s->elements)) return false;
  return places(p, s, line, step, seen);
}

bool fake_piped (const mt_pipeline *p, int device) {
  if (p->ahead >= p->stages || p->scratch > p->shared || p->shared > 1 << 20)
    return false;
  unsigned char *seen = calloc(p->scratch + 1, 1);
  bool good = seen != NULL;
  for (int x = 0; x < 2 && good; x++) {
    unsigned char *brought = calloc(p->side[x].elements + 1, 1);
    good = brought && side(p, &p->side[x], seen, brought, device);
    free(brought);
  }
  free(seen);
  return good;
}
