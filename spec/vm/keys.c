/*
** keys.c - large tables: what scripts have for good reasons grows, keys that collide do
** not.
** SPDX-License-Identifier: MIT
*/
#include "vm/vm.h"
#include "vm_spec.h"

enum { MEMORY = 64 << 20 };

/* Each makes 150,000 keys or more: with the free part they have 2^18 nodes. */
static const char *const good[] = {
    "local t, x = {}, 1 for i = 1, 2e5 do x = x * 69069 % 262139 t[x] = i end",
    "local t = {} for i = 1, 2e5 do t[i << 20] = i end",
    "local t = {} for i = 1, 2e5 do t[-i] = i end",
    "local t = {} for i = 0, 399 do for j = 0, 399 do t[i * 65537 + j * 512] = i end end",
    "local t = {} for i = 1, 2e5 do t[i / 1000] = i end",
    "local t = {} for i = 1, 2e5 do t[math.sqrt(i)] = i end",
    "local t = {} for i = 1, 2e5 do t['key ' .. i] = i end",
    "local t = {} for i = 1, 150000 do t[{}] = i end",
    ("local t = {} for i = 1, 2e5 do t[i] = i end for i = 1, 2e5, 2 do t[i] = nil end\n"
     "for i = 1, 2e5 do t[i + 0.5] = i end"),
    /* as many bytes as 2^13 nodes have, and then a table that grows */
    "local a = {" /* 12288 elements: see below */};

static const char *const bad[] =
    {"local t = {} for i = 1, 8193 do t[1 + i * 2^-52] = i end",
     "local t = {} for i = 1, 16385 do t[i * 32767] = i end",
     ("local t = {} for i = 1, 16384 do t[i * 32767] = i end\n"
      "for i = 1, 9000 do t[-i] = 1 end")};

static const char *array (void) {
  static char text[1 << 17];
  size_t n = (size_t)sprintf(text, "%s", "local a = { ");
  for (int i = 0; i < 12288; i++)
    n += (size_t)sprintf(text + n, "%d,", i % 7 == 0 ? 0x4404 + i : 0);
  sprintf(text + n, " } local t = {} for i = 1, 1e5 do t[-i] = a[i %% 12288 + 1] end");
  return text;
}

static void test_good (mt_vm *v) {
  const size_t n = sizeof good / sizeof *good;
  for (size_t i = 0; i < n; i++) {
    const char *text = i + 1 < n ? good[i] : array(), *got = run_vm(v, text);
    CHECK(*got == '\0', "%.80s: %s", text, got);
  }
}

static void test_bad (mt_vm *v) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *got = run_vm(v, bad[i]);
    CHECK(strstr(got, "MT_ELIMIT") && strstr(got, "not to grow"), "%s: %s", bad[i], got);
    CHECK(run_vm(v, "local t = {} for i = 1, 8000 do t[-i] = i end")[0] == '\0', "after");
  }
}

void test_keys (void) {
  const mt_vm_options o = {.size = sizeof o, .memory = MEMORY, .milliseconds = -1};
  mt_vm *v = open_vm(&o);
  CHECK(v->part_head >= 0, "the nodes of this Lua are others");
  test_good(v);
  test_bad(v);
  CHECK(strstr(run_vm(v, "local t = {} while true do t[#t + 1] = {} end"), "more memory"),
        "memory is another matter");
  v->part_head = -1; /* as where Lua has other nodes */
  CHECK(run_vm(v, "local t = {} for i = 1, 8192 do t[-i] = i end")[0] == '\0', "few");
  test_bad(v);
  CHECK(run_vm(v, "local t = {} for i = 1, 1e6 do t[i] = i end")[0] == '\0', "an array");
  mt_vm_close(v);
}
