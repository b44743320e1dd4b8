/*
** emulate_hopper_mutants.cpp - the mutants of hopper.cuh on the host, each in a namespace.
** SPDX-License-Identifier: MIT
*/
#include "sm90.h"

#define MT_MUTANT_BEGIN(name)                                                            \
  namespace mutant_##name {                                                              \
    using namespace mt;                                                                  \
    char memory[1];                                                                      \
  }
#define MT_MUTANT_END(name, kernel)                                                      \
  static void run_##name(const mt_hopper_launch &p) {                                    \
    mutant_##name::run_hopper<mutant_##name::row_##kernel>(p);                           \
  }
#define MT_MUTANT(name, kernel, told) {#name, #kernel, told, run_##name},
#include "mutants.inc"

static const emulated_mutant table[] = {MT_MUTANTS};
const emulated_mutant *const emulated_mutants = table;
const size_t emulated_nmutants = sizeof table / sizeof table[0];

bool emulate_mutant (const emulated_mutant *m, const mt_hopper_launch *l,
                     emulated_run *r) {
  emulated::how = r;
  return emulated::run(m->run, *l);
}
