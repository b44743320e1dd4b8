/*
** rows.h - the rows of operations.def that a file serves, as its table `rows`.
** SPDX-License-Identifier: MIT
**
** The file defines ROWS_ and its name, includes this where its functions end, and adds
** the rows by lmt_addrows. A function is called through one that counts its arguments
** first. Rows of LMT_TUPLEOP and LMT_LAYOUTOP are the file's own to make something of.
*/

#define LMT_LAYOUTOP(...)
#define LMT_TUPLEOP(...)

#define LMT_OP(name, f, of, most, takes)                                                 \
  static int f##_as_##name(lua_State *L) {                                               \
    LMT_COUNT(L, most, #name, takes);                                                    \
    return f(L);                                                                         \
  }
#include "binding/operations.def"
#undef LMT_OP

#define LMT_OP(name, f, of, most, takes) {#name, f##_as_##name, of, most, takes},
static const lmt_operation rows[] = {
#include "binding/operations.def"
    {NULL, NULL, 0, 0, NULL}};
#undef LMT_OP
#undef LMT_LAYOUTOP
#undef LMT_TUPLEOP
