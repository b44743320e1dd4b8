/*
** emulate_ampere_mutants.cpp - the mutants of ampere.cuh on the host, each in a namespace.
** SPDX-License-Identifier: MIT
*/
#include "sm80.h"

#define MT_MUTANT_BEGIN(name)                                                            \
  namespace mutant_##name {                                                              \
    using namespace mt;                                                                  \
  }
#define MT_MUTANT_END(name, kernel)                                                      \
  static void run_##name (const mt_ampere_launch &p, char *at) {                         \
    mutant_##name::run_ampere<mutant_##name::row_##kernel>(p, at);                       \
  }
#define MT_MUTANT(name, kernel, told) {#name, #kernel, told},
#include "mutants.inc"

const ampere_mutant ampere_mutants[] = {MT_MUTANTS};
const size_t nampere_mutants = sizeof ampere_mutants / sizeof ampere_mutants[0];

#undef MT_MUTANT
#define MT_MUTANT(name, kernel, told) run_##name,
static block_kernel *const kernels[] = {MT_MUTANTS};

bool emulate_ampere_mutant (size_t mutant, const mt_ampere_launch *l, emulated_block *b) {
  return run_blocks(kernels[mutant], l, b);
}
