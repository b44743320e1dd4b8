/*
** main.c - the property test: moontile_algebra_test [--cases N] [--seed S] [--only NAME]
** [--jobs N] [--had 1].
** SPDX-License-Identifier: MIT
**
** Without arguments: 1.5 million cases (MOONTILE_TIMES as many), a seed from the clock, one
** process. Jobs are processes that share the cases of each property (0: as many
** as there are processors); the cases are the same for any number of them.
*/
#define _DEFAULT_SOURCE

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "property.h"
#include "times.h"

enum { MAXJOBS = 256 };

static int64_t wrong, had;
static bool verbose; /* show refusals of what has an answer */

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
** number. Job j runs those of its residue. */
static void run_job (count *c, int k, uint64_t seed, int64_t cases, int j, int jobs) {
  static ctx x;
  for (int64_t i = j; i < cases; i += jobs) {
    x.state = seed ^ ((uint64_t)k << 56) ^ ((uint64_t)i * 0x2545f4914f6cdd1du);
    x.why = NULL;
    x.err.status = MT_OK;
    x.err.text[0] = 0;
    report(&x, properties[k].f(&x), c);
  }
  fflush(stdout);
}

/* Each job in a process of its own; what they counted lies in memory that they share. A
** job that did not end well counts as a wrong case. */
static void run_jobs (count *shared, int k, uint64_t seed, int64_t cases, int jobs) {
  pid_t child[MAXJOBS];
  for (int j = 0; j < jobs; j++) {
    memset(&shared[j], 0, sizeof shared[j]);
    child[j] = fork();
    if (child[j] == 0) {
      run_job(&shared[j], k, seed, cases, j, jobs);
      _exit(0);
    }
  }
  for (int j = 0; j < jobs; j++) {
    int status = 1;
    if (child[j] < 0 || waitpid(child[j], &status, 0) < 0 || status != 0)
      shared[j].cases[WRONG]++;
  }
}

static void print_row (const char *name, const count *c, double seconds) {
  int64_t n = c->cases[RIGHT] + c->cases[REFUSED] + c->cases[HAD] + c->cases[WRONG];
  printf("%-20s %10lld %10lld %10lld %6lld %9.2f us\n", name, (long long)n,
         (long long)(c->cases[REFUSED] + c->cases[HAD]), (long long)c->cases[HAD],
         (long long)c->cases[WRONG], n ? seconds * 1e6 / (double)n : 0);
  fflush(stdout);
}

static void add_count (count *sum, const count *c) {
  for (int o = 0; o <= WRONG; o++) sum->cases[o] += c->cases[o];
}

static void run (count *sum, count *shared, int k, uint64_t seed, int64_t cases,
                 int jobs) {
  count c = {properties[k].name, {0}, 0};
  double start = now();
  if (jobs == 1) {
    run_job(&c, k, seed, cases, 0, 1);
  } else {
    run_jobs(shared, k, seed, cases, jobs);
    for (int j = 0; j < jobs; j++) add_count(&c, &shared[j]);
  }
  print_row(c.name, &c, now() - start);
  add_count(sum, &c);
}

static const char *option (int argc, char **argv, const char *name,
                           const char *otherwise) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  return otherwise;
}

static int processors (const char *jobs) {
  int n = atoi(jobs) > 0 ? atoi(jobs) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n < MAXJOBS ? n : MAXJOBS;
}

int main (int argc, char **argv) {
  static ctx x;
  const char *only = option(argc, argv, "--only", NULL);
  const char *seed_text = option(argc, argv, "--seed", NULL);
  const char *cases_text = option(argc, argv, "--cases", NULL);
  int64_t cases = cases_text ? atoll(cases_text) : cases_of(1500000);
  int jobs = processors(option(argc, argv, "--jobs", "1"));
  uint64_t seed = seed_text ? strtoull(seed_text, NULL, 0) : (uint64_t)time(NULL);
  int64_t shares = 0, tiny = 0;
  count sum = {"all", {0}, 0};
  count *shared = mmap(NULL, MAXJOBS * sizeof *shared, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  verbose = atoi(option(argc, argv, "--had", "0"));
  double start = now();
  printf("seed %llu, %lld cases\n", (unsigned long long)seed, (long long)cases);
  printf("%-20s %10s %10s %10s %6s\n", "property", "cases", "refused", "had", "wrong");
  fflush(stdout);
  for (int k = 0; k < N; k++)
    if (!only || strcmp(only, properties[k].name) == 0) shares += properties[k].share;
  for (int k = 0; k < N; k++)
    if (!only || strcmp(only, properties[k].name) == 0)
      run(&sum, shared, k, seed, (cases * properties[k].share + shares - 1) / shares,
          jobs);
  double seconds = now() - start;
  print_row("all", &sum, seconds);
  x.state = seed;
  if (!only && cases >= 1000000) tiny = run_exhaustive(&x);
  printf("%lld cases, %lld wrong, %.1f s\n",
         (long long)(sum.cases[RIGHT] + sum.cases[REFUSED] + sum.cases[HAD] +
                     sum.cases[WRONG] + tiny),
         (long long)(jobs == 1 ? wrong : sum.cases[WRONG] + wrong), now() - start);
  return sum.cases[WRONG] > 0 || wrong > 0;
}
