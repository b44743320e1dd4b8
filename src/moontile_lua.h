/*
** moontile_lua.h - moontile for a C program that has a Lua 5.4 state of its own.
** SPDX-License-Identifier: MIT
**
** The host opens the library with
**   luaL_requiref(L, "moontile", luaopen_moontile, 0);
** and may lend its memory to scripts as tensors. All memory comes from the allocator of
** the state. Functions here raise Lua errors, as those of lauxlib do: call them in
** protected mode.
*/
#ifndef MOONTILE_LUA_H
#define MOONTILE_LUA_H

#include <lua.h>

#include "moontile.h"

#if LUA_VERSION_NUM != 504
#error "moontile needs Lua 5.4"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The module: returns its table. `require "moontile"` finds it in moontile.so. */
MT_API int luaopen_moontile (lua_State *L);
/* The part of it that is written in C: `require "moontile.core"`. */
MT_API int luaopen_moontile_core (lua_State *L);

/* Pushes a layout (or any other value: a tuple becomes a table, an integer an integer).
** */
MT_API void mt_lua_pushlayout (lua_State *L, const mt_node *t);
/* The layout of the layout or tensor at `index`; an error if there is none. It lives as
** long as that Lua value. */
MT_API const mt_node *mt_lua_tolayout (lua_State *L, int index);

/* Pushes a tensor over `bytes` bytes of host memory at `data`, on the device "cpu":
** element c lies at data + layout(c) * size of the dtype. Nothing outside is ever
** touched; that the layout lies inside is checked here. The host keeps the memory alive
** while scripts can reach the tensor, or revokes it: see mt_lua_revoke. */
MT_API void mt_lua_pushtensor (lua_State *L, mt_dtype dtype, const mt_node *layout,
                               void *data, size_t bytes);
/* Takes back the memory lent through the tensor at `index`: it, its views and the plans
** on it raise an error from now on. For a tensor that owns its memory this is T:free().
** */
MT_API void mt_lua_revoke (lua_State *L, int index);
/* The tensor at `index` as the C API takes it; `out->data` is a device address. */
MT_API void mt_lua_totensor (lua_State *L, int index, mt_tensor *out);

#ifdef __cplusplus
}
#endif
#endif
