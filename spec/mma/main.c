/*
** main.c - runs the tests of products.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>

#include "mma_test.h"

static uint64_t state, case_seed;
static int failures;

void failed (const char *file, int line, const char *format, ...) {
  va_list ap;
  const char *name = strrchr(file, '/');
  if (++failures > 20) return;
  printf("%s:%d: seed %llu: ", name ? name + 1 : file, line,
         (unsigned long long)case_seed);
  va_start(ap, format);
  vprintf(format, ap);
  va_end(ap);
  printf("\n");
}

void refused (const char *file, int line, mt_status got, const mt_err *err,
              mt_status want, const char *text) {
  if (got != want)
    failed(file, line, "%s expected, got %s: %s", mt_status_name(want),
           mt_status_name(got), err->text);
  else if (strcmp(err->text, text) != 0)
    failed(file, line, "other words:\n%s\n-- expected\n%s", err->text, text);
}

void begin_case (uint64_t seed) { state = case_seed = seed; }

uint64_t next64 (void) {
  uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

int pick (int n) { return (int)(next64() % (uint64_t)n); }

mt_layout parse (const char *text) {
  mt_layout out;
  MUST(mt_parse(&out, text, strlen(text), err));
  return out;
}

static int64_t walk (const mt_digit *d, uint32_t n, int64_t x) {
  int64_t o = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t q = i + 1 == n ? 0 : d[i].mul == 0 ? x / d[i].extent :
        (int64_t)(((uint64_t)x * d[i].mul >> 32) >> d[i].shift);
    o += (x - q * d[i].extent) * d[i].stride;
    x = q;
  }
  return o;
}

int64_t place (const mt_mma_launch *l, int part, int64_t x, int64_t y, int64_t b) {
  const mt_part *p = &l->desc.part[part];
  const mt_digit *d = p->digit;
  int64_t o = l->offset[part] + walk(d, p->ndigit[0], x);
  o += walk(d + p->ndigit[0], p->ndigit[1], y);
  o += walk(d + p->ndigit[0] + p->ndigit[1], p->ndigit[2], b);
  int64_t bits = o & p->swizzle;
  return o ^ (p->shift >= 0 ? bits >> p->shift : bits << -p->shift);
}

int main (void) {
  static const struct { const char *name; void (*run) (void); } tests[] = {
    {"tensors", test_tensors}, {"partition", test_partition},
    {"check", test_check}, {"run", test_run},
  };
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    begin_case(i);
    tests[i].run();
    printf("%s: done, %d failures so far\n", tests[i].name, failures);
    fflush(stdout);
  }
  return failures != 0;
}
