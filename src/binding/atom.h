/*
** atom.h - private: atoms of one's own in Lua, and the text of any atom.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_ATOM_H
#define MT_BINDING_ATOM_H

#include "binding/lmt.h"

/* From the table at 1. */
int lmt_ownmma (lua_State *L);
int lmt_owncopy (lua_State *L);
/* Text that makes an atom again: its name in quotes, of one's own the whole description.
** with_bits: of the tables, copy_atom("NAME", bits). */
int lmt_pushmmaatom (lua_State *L, const mt_mma_atom *a);
int lmt_pushcopyatom (lua_State *L, const mt_copy_atom *a, bool with_bits);
/* What lua/moontile/read.lua reads of the text at 1 is pushed; false: nothing. */
bool lmt_readtiled (lua_State *L, const char *text);

/* Pushes the atom that the host has added under this name; false: nothing
** (binding/host_atom.c). class: LMT_MMAATOM, LMT_COPYATOM. */
bool lmt_pushhostatom (lua_State *L, const char *name, const char *class);

#endif
