/*
** main.c - the property test of the core: moontile_property [--cases N] [--seed S]
** [--only NAME] [--had 1]. SPDX-License-Identifier: MIT
**
** Without arguments: MOONTILE_CASES from the environment or 5 million, a seed from the
** clock.
*/
#include <stdlib.h>
#include <time.h>

#include "property.h"

static int64_t wrong, had;
static bool verbose;      /* show refusals of what has an answer */

void report (const ctx *x, outcome o, count *c) {
  char s[4096];
  c->cases[o]++;
  if (o == HAD && had++ >= 10) return;
  if (o == WRONG && wrong++ >= 10) return;
  if (o != WRONG && (o != HAD || !verbose)) return;
  printf("%s %s", o == WRONG ? "WRONG" : "HAD", x->op);
  for (int i = 0; i < x->n; i++) {
    mt_format(s, sizeof s, x->operand[i].node);
    printf("%s %s", i ? "," : "", s);
  }
  printf("\n  broken: %s\n  error: %s\n", x->why ? x->why : "", x->err.text);
}

static const struct {
  const char *name;
  int share;
  outcome (*f)(ctx *x);
} properties[] = {
#define PROPERTY(name, share) {#name, share, property_##name},
    PROPERTIES(PROPERTY)
#undef PROPERTY
};
enum { N = sizeof properties / sizeof *properties };

static double now (void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Cases are numbered: each has its own state, made of the seed, the property and its
** number. */
static int64_t run (int k, uint64_t seed, int64_t cases) {
  static ctx x;
  count c = {properties[k].name, {0}, 0};
  double start = now();
  for (int64_t i = 0; i < cases; i++) {
    x.state = seed ^ ((uint64_t)k << 56) ^ ((uint64_t)i * 0x2545f4914f6cdd1du);
    x.why = NULL;
    x.err.status = MT_OK;
    x.err.text[0] = 0;
    report(&x, properties[k].f(&x), &c);
  }
  printf("%-20s %9lld %9lld %9lld %6lld %9.2f us\n", c.name, (long long)cases,
         (long long)(c.cases[REFUSED] + c.cases[HAD]), (long long)c.cases[HAD],
         (long long)c.cases[WRONG], cases ? (now() - start) * 1e6 / (double)cases : 0);
  fflush(stdout);
  return cases;
}

int main (int argc, char **argv) {
  const char *only = NULL, *env = getenv("MOONTILE_CASES");
  int64_t cases = env && *env ? atoll(env) : 5000000, total = 0, shares = 0;
  uint64_t seed = (uint64_t)time(NULL);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--cases") == 0) cases = atoll(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 0);
    if (strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (strcmp(argv[i], "--had") == 0) verbose = atoi(argv[i + 1]);
  }
  double start = now();
  printf("seed %llu, %lld cases\n", (unsigned long long)seed, (long long)cases);
  printf("%-20s %9s %9s %9s %6s\n", "property", "cases", "refused", "had", "wrong");
  for (int k = 0; k < N; k++)
    if (!only || strcmp(only, properties[k].name) == 0) shares += properties[k].share;
  for (int k = 0; k < N && shares > 0; k++)
    if (!only || strcmp(only, properties[k].name) == 0)
      total += run(k, seed, (cases * properties[k].share + shares - 1) / shares);
  static ctx x;
  x.state = seed;
  if (!only && cases >= 1000000) total += run_exhaustive(&x);
  printf("%lld cases, %lld wrong, %.1f s\n", (long long)total, (long long)wrong,
         now() - start);
  return wrong > 0;
}
