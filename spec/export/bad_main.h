/*
** bad_main.h - what an exported copy of 64 floats says of arguments that are wrong.
** SPDX-License-Identifier: MIT
*/
static void says (int result, int want) {
  if (result == want && strlen(bad_error(result)) > 3) return;
  fprintf(stderr, "%d (%s), not %d\n", result, bad_error(result), want);
  exit(1);
}

static void wrong (void) {
  bad *x = NULL;
  uint64_t a = room(512), b = room(512);
  says(bad_open(&x, "/there/is/none.so"), bad_NO_DRIVER);
  if (x != NULL) exit(2);
  says(bad_open(&x, "libm.so.6"), bad_OLD_DRIVER);
  says(bad_launch(NULL, stream, a, b), bad_NULL);
  MUST(bad_open(&x, libcuda));
  says(bad_launch(x, stream, 0, b), bad_NULL);
  says(bad_launch(x, stream, a, UINT64_MAX - 15), bad_NULL);
  says(bad_launch(x, stream, a + 4, b), bad_UNALIGNED);
  says(bad_launch(x, stream, a, a), bad_OVERLAP);
  says(bad_launch(x, stream, a, a + 240), bad_OVERLAP);
  says(bad_launch(x, stream, a, a + 256), bad_OK);
  says(bad_launch(x, stream, a, b), bad_OK);
  MUST(cu.cuStreamSynchronize(stream));
  bad_close(x);
  bad_close(NULL);
  says(bad_CUDA + 209, 1209);
  MUST(cu.cuMemFree_v2(a));
  MUST(cu.cuMemFree_v2(b));
}
