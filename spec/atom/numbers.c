/*
** numbers.c - the number of an atom: its place in the list of all, and back.
** SPDX-License-Identifier: MIT
*/
#include "num_test.h"

static void check_atom (const mt_mma_op *op, uint32_t n) {
  mt_mma_atom by_number, by_name;
  mt_err err = MT_NOERR;
  uint32_t number = 0;
  mt_status s = mt_mma_atom_number(&number, op->name, &err);
  CHECK(s == MT_OK && number == n, "%s: %u, not %u", op->name, number, n);
  if (n % 17) return;
  memset(&by_number, 0, sizeof by_number);
  CHECK(mt_mma_atom_by_number(&by_number, n), "%u", n);
  CHECK(strcmp(by_number.op.name, op->name) == 0, "%u: %s, not %s", n, by_number.op.name,
        op->name);
  mt_mma_atom_find(&by_name, op->name, &err);
  CHECK(memcmp(&by_number.op, &by_name.op, sizeof by_name.op) == 0 &&
            mt_equal(by_number.c.node, by_name.c.node),
        "%s", op->name);
}

void test_numbers (void) {
  mt_mma_op op;
  mt_mma_atom atom;
  mt_err err = MT_NOERR;
  mt_atom_cursor c = {0};
  uint32_t n = 0;
  for (; mt_mma_atom_next(&op, &c); n++) check_atom(&op, n);
  CHECK(!mt_mma_atom_by_number(&atom, n), "%u is beyond the last", n);
  CHECK(!mt_mma_atom_by_number(&atom, UINT32_MAX), "beyond the last");
  CHECK(mt_mma_atom_number(&n, "SM80_8x8x4_F64F64F64F64_NN", &err) == MT_EINVAL, "%s",
        err.text);
  CHECK(mt_mma_atom_number(&n, NULL, &err) == MT_EINVAL, "NULL");
}
