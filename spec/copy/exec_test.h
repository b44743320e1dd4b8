/*
** exec_test.h - tests from partition to execution: naive evaluation, memory.
** SPDX-License-Identifier: MIT
*/
#ifndef EXEC_TEST_H
#define EXEC_TEST_H

#include "cases.h"
#include "desc/copy_desc.h"

const char *text_of (const mt_node *t); /* one of four buffers */
/* The same layout in the same form; the stride of a size-1 leaf does not count. */
bool same_form (const mt_node *a, const mt_node *b);

/* How many cases a test does, from a base number for the whole suite. */
extern long base_cases;
extern uint64_t base_seed;

/* A random layout with a given shape (a tuple), its smallest offset made 0 by `offset`,
** and one more than the largest offset. Kinds: injective (permuted, padded, signs), or
** any at all. */
typedef struct view {
  mt_layout layout;
  int64_t offset, size;
} view;
void random_shape (mt_layout *out, int64_t size);
void random_view (view *out, const mt_node *shape, bool injective);

/* Memory of exactly this size, so that a sanitizer sees each step outside. */
typedef struct memory {
  unsigned char *p;
  size_t bytes;
} memory;
memory exact_memory (size_t bytes, size_t align);
void random_bytes (memory m);
void free_memory (memory m);

void test_tile (void);
void test_copy (void);
void test_check (void);
void test_desc (void);
void test_moves (void);
void test_plan (void);
void test_choice (void);
void test_order (void);
void test_pool (void);
void test_device (void);
void test_cast (void);
void test_mma (void);
void test_verify (void);
void test_stop (void);
void test_ragged (void);
void test_direct (void);
void test_loops (void);

#endif
