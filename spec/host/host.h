/*
** host.h - tests of a host that says what its scripts may do.
** SPDX-License-Identifier: MIT
*/
#ifndef HOST_H
#define HOST_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <string.h>

#include "counted.h"
#include "moontile/lua.h"

/* In a state of its own, configured (NULL: not), with all of Lua's libraries and the global
** `tile`: what the text `begin` and then `code` give, or their error, as text. */
const char *run (const mt_lua_config *c, const char *begin, const char *code);

/* Scripts of `run` have the text as a global. */
void global_text (const char *name, const char *text);

void test_config (void);
void test_limits (const char *libcuda);
void test_files (const char *dir);
void test_attacks (const char *dir);
void test_lend (void);
void test_dlpack (void);
void test_device (const char *libcuda);
void test_libraries (const char *dir); /* a folder that may be written */

#endif
