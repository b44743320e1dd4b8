/*
** vm_spec.h - tests of the limited interpreter.
** SPDX-License-Identifier: MIT
*/
#ifndef VM_SPEC_H
#define VM_SPEC_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "counted.h"
#include "moontile.h"
#include "moontile/vm.h"

/* Opens a VM, or ends the program. */
mt_vm *open_vm (const mt_vm_options *o);
/* Runs the text under the name "script": "" or its error, with the status' name first. */
const char *run_vm (mt_vm *v, const char *text);

void test_values (void);
void test_messages (void);
void test_options (const char *dir);
void test_patterns (void);
void test_budgets (void);
void test_keys (void);
void test_attacks (const char *dir);

#endif
