/*
** emulate_copy_mutants.cpp - the mutants of the kernels that copy on the host, each in a
** namespace.
** SPDX-License-Identifier: MIT
*/
#define MT_PLANTED
#include "emulate.cpp"

#define MT_MUTANT_BEGIN(name)
#define MT_MUTANT_END(name, kernel)                                                      \
  static void body_##name (const mt_launch &l) {                                         \
    typedef mutant_##name::row_##kernel row;                                             \
    mutant_##name::copy<row::ALGO, row::BYTES, row::UNROLL>(l);                          \
  }                                                                                      \
  static MT_RUN(name, mutant_##name::row_##kernel::TOGETHER)
#define MT_MUTANT(name, kernel, told) {#name, #kernel, run_##name},
#include "mutants.inc"

extern "C" {
extern const copy_mutant copy_mutants[];
extern const size_t ncopy_mutants;
const copy_mutant copy_mutants[] = {MT_MUTANTS};
const size_t ncopy_mutants = sizeof copy_mutants / sizeof copy_mutants[0];
}
