/*
** host_kernel.c - a host adds a kernel of its own, and a script uses it as one of ours.
** SPDX-License-Identifier: MIT
**
** usage: host_kernel FATBIN [LIBCUDA]: own_kernel.cu, compiled. The atom says what the
** instruction does; the library proves each product by it, describes and launches it.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "moontile/lua.h"

static const char script[] =
    "local A, B = tile.tensor('f32', tile.layout{70, 33}, 'cuda:0'),\n"
    "             tile.tensor('f32', tile.layout{45, 33}, 'cuda:0')\n"
    "local C = tile.tensor('f32', tile.layout{70, 45}, 'cuda:0')\n"
    "local values = {}\n"
    "for i = 1, 70 * 33 do values[i] = i * 7 % 11 - 5 end\n"
    "A:fill(values)\n"
    "B:fill{ table.unpack(values, 1, 45 * 33) }\n"
    "local mma = tile.tiled_mma{ atom = 'mine_2x2x1', atoms = tile.layout{16, 8} }\n"
    "local plan = tile.plan_gemm(mma, A, B, C)\n"
    "print(plan)\n"
    "assert(tostring(plan):find('kernel: my_product', 1, true))\n"
    "plan()\n"
    "local want = tile.tensor('f32', C:layout())\n"
    "tile.gemm(A:to 'cpu', B:to 'cpu', want)\n"
    "local got, sums = C:totable(), want:totable()\n"
    "for i = 1, #sums do assert(got[i] == sums[i], i) end\n"
    "print('every sum is right')\n";

static void must (mt_status s, const mt_err *err) {
  if (s == MT_OK) return;
  fprintf(stderr, "%s: %s\n", mt_status_name(s), err->text);
  exit(EXIT_FAILURE);
}

/* Four sums of one thread, as own_kernel.cu has them. */
static void make_atom (mt_mma_atom *out) {
  mt_mma_op op = {.name = "mine_2x2x1", .m = 2, .n = 2, .k = 1};
  mt_layout two, four;
  mt_err err = MT_NOERR;
  for (int i = 0; i < MT_OPERANDS; i++)
    op.operand[i] = (mt_operand){MT_ELEMENT_f32, 1, MT_REG};
  must(mt_parse(&two, "(1,2):(0,1)", 11, &err), &err);
  must(mt_parse(&four, "(1,4):(0,1)", 11, &err), &err);
  must(mt_mma_atom_make(out, &op, NULL, two.node, two.node, four.node, &err), &err);
}

static void *read_file (const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL || fseek(f, 0, SEEK_END)) return perror(path), exit(EXIT_FAILURE), NULL;
  size_t n = (size_t)ftell(f);
  char *image = calloc(1, n + 1);
  rewind(f);
  if (image == NULL || fread(image, 1, n, f) != n) exit(EXIT_FAILURE);
  fclose(f);
  return image;
}

static void run (mt_device *d) {
  mt_mma_atom atom;
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  make_atom(&atom);
  mt_lua_addmmaatom(L, &atom);
  mt_lua_pushdevice(L, d);
  lua_pop(L, 1);
  bool failed = luaL_dostring(L, script);
  if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  if (failed) exit(EXIT_FAILURE);
}

int main (int argc, char **argv) {
  static const mt_kernel_row rows[] = {
      {.name = "my_product", .atom = "mine_2x2x1", .arch = 80}};
  mt_device_options o = {.size = sizeof o, .libcuda = argc > 2 ? argv[2] : NULL};
  mt_device *d;
  mt_err err = MT_NOERR;
  if (argc < 2) return fprintf(stderr, "usage: host_kernel FATBIN\n"), EXIT_FAILURE;
  if (mt_device_open(&d, "cuda:0", &o, &err))
    return printf("no GPU: nothing is done: %s\n", err.text), EXIT_SUCCESS;
  void *image = read_file(argv[1]);
  must(mt_device_add_kernels(d, MT_LAUNCH_ABI, image, rows, 1, &err), &err);
  free(image);
  run(d);
  mt_device_close(d);
  return EXIT_SUCCESS;
}
