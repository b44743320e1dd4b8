/*
** main.c - runs the tests of products.
** SPDX-License-Identifier: MIT
*/
#include "mma_test.h"

void refused (const char *file, int line, mt_status got, const mt_err *err,
              mt_status want, const char *text) {
  if (got != want)
    failed(file, line, "%s expected, got %s: %s", mt_status_name(want),
           mt_status_name(got), err->text);
  else if (strcmp(err->text, text) != 0)
    failed(file, line, "other words:\n%s\n-- expected\n%s", err->text, text);
}

static int64_t walk (const mt_digit *d, uint32_t n, int64_t x) {
  int64_t o = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t q = i + 1 == n    ? 0 :
                d[i].mul == 0 ? x / d[i].extent :
                                (int64_t)(((uint64_t)x * d[i].mul >> 32) >> d[i].shift);
    o += (x - q * d[i].extent) * d[i].stride;
    x = q;
  }
  return o;
}

int64_t place (const mt_gemm_launch *l, int part, int64_t x, int64_t y, int64_t b) {
  const mt_part *p = &l->desc.part[part];
  const mt_digit *d = p->digit;
  int64_t o = l->offset[part] + walk(d, p->ndigit[0], x);
  o += walk(d + p->ndigit[0], p->ndigit[1], y);
  o += walk(d + p->ndigit[0] + p->ndigit[1], p->ndigit[2], b);
  int64_t bits = o & p->swizzle;
  return o ^ (p->shift >= 0 ? bits >> p->shift : bits << -p->shift);
}

int main (void) {
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {
      {"tensors", test_tensors},
      {"partition", test_partition},
      {"check", test_check},
      {"run", test_run},
  };
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    begin_case(i);
    tests[i].run();
    printf("%s: done, %d failures so far\n", tests[i].name, failures);
    fflush(stdout);
  }
  return failures != 0;
}
