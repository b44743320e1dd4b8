/*
** lua.h - moontile for a C program that has a state of Lua 5.4 or 5.5 of its own.
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

#if LUA_VERSION_NUM != 504 && LUA_VERSION_NUM != 505
#error "moontile needs Lua 5.4 or 5.5"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- what scripts may do
**
** Without a configuration scripts may do what the program that runs them may do, but
** start 4096 threads at most. With one they may do what it names: what it leaves zero is
** forbidden, or has the limit that is said below. It belongs to one state: no other sees
** it.
**   mt_lua_config c = { .size = sizeof c };
**   c.files = MT_LUA_ROOTFILES; c.root = "/srv/tiles"; c.stop = &flag;
**   mt_lua_configure(L, &c);
**   luaL_requiref(L, "moontile", luaopen_moontile, 0);
** What is forbidden has the code "EDENIED", what is beyond a limit "ELIMIT": functions
** that acquire something (device, tensor, load, save, to) return nil, message, code for
** it; a call that is too much work raises an error before it starts.
**
** Files are regular ones, always: no folders, FIFOs, devices. Below a root a path is
** walked folder by folder from the one that was open when the state was configured;
** absolute paths, ".." and symbolic links are refused, so that nothing that happens to
** the tree meanwhile leads outside. Hard links and mounts inside are the host's concern.
** What is saved is written beside, as .moontile-*, and renamed: what a killed process
** leaves of that is the host's to remove.
**
** Not bounded here: memory of Lua and of the library itself, which comes from the state's
** allocator (a lua_Alloc that counts bounds it; the memory of tensors on "cpu" comes from
** there too); time between two calls of the library (lua_sethook).
**
** No call is endless. One that takes long looks at *stop every few milliseconds, and
** calls the count hook of its thread, or else of the main thread (lua_sethook,
** LUA_MASKCOUNT), about every 10 ms, whatever its count: what the hook raises ends the
** call. In the middle of a call the hook cannot yield, and cannot use tensors, plans,
** graphs, streams or devices: that raises an error. A call that was ended has written a
** part of what it would have written, and nothing else; a GPU does what it was told to
** do. With or without a configuration; sending a signal whose handler sets a hook ends
** any script.
**
** Lua itself calls no hook in finalizers, in __close of a coroutine that died by one, and
** in a handler of xpcall that runs because a hook raised an error: a host of scripts that
** it does not trust lets them have none of these. examples/guarded.c is such a host. */
typedef enum mt_lua_files {
  MT_LUA_NOFILES,
  MT_LUA_ROOTFILES,
  MT_LUA_ANYFILES
} mt_lua_files;

typedef struct mt_lua_config {
  size_t size;                /* sizeof(mt_lua_config): later versions have more fields */
  mt_lua_files files;         /* that load, save, load_tuning and tune may open */
  const char *root;           /* of MT_LUA_ROOTFILES: the folder that they lie below */
  bool libraries;             /* libcuda =, libblas =, devices(path) name any library. If
                             ** not, no BLAS is called: it has threads of its own */
  const char *const *devices; /* names that device() takes, NULL behind the last; the
                                  ** first is that of device(); NULL: "cpu" alone; "*":
                                  ** any */
  int threads;                /* of all devices together, with the caller's; 0: as many as
                             ** processors are online. A device that is not told how many
                             ** takes what is left */
  size_t bytes;             /* of all tensors together, on all devices, and of the memory
                             ** that copies to a GPU pass through (16 pieces), and
                             ** that stays of what was freed there (one); 0:
                             ** MT_LUA_BYTES */
  size_t written;           /* bytes, to files, a file counting as 4 KiB at least; 0:
                             ** MT_LUA_BYTES */
  uint64_t work;            /* of one call, in elements or multiply-adds, 16 for one that
                             ** becomes a Lua value, 256 for one that becomes text, all
                             ** launches of a graph together; 0: MT_LUA_WORK */
  const volatile int *stop; /* NULL, or: not 0 ends the call at hand, and all that use
                             ** tensors or devices then; another thread may set it */
  uint64_t launches;        /* of plans, by whatever function, in all; those of a graph
                             ** count each; 0: any number */
} mt_lua_config;
#define MT_LUA_BYTES ((size_t)1 << 30)
#define MT_LUA_WORK ((uint64_t)1 << 32)

/* Call it before the library is opened, once; the texts are copied. */
MT_API void mt_lua_configure (lua_State *L, const mt_lua_config *config);

/* How far calls that take long have come: products, copies, searches, measurements,
** files. `report` is told with `ud`, on the thread of the call and in its middle: it may
** not use the state. At any time; NULL: nobody is told, as at first. */
MT_API void mt_lua_report (lua_State *L, mt_report *report, void *ud);

/* ---------------------------------------------------------------- the module */

/* The module: returns its table. `require "moontile"` finds it in moontile.so. */
MT_API int luaopen_moontile (lua_State *L);
/* The part of it that is written in C: `require "moontile.core"`. */
MT_API int luaopen_moontile_core (lua_State *L);

/* ---------------------------------------------------------------- values */

/* Pushes a layout (or any other value: a tuple becomes a table, an integer an integer).
** */
MT_API void mt_lua_pushlayout (lua_State *L, const mt_node *t);
/* The layout of the layout or tensor at `index`; an error if there is none. It lives as
** long as that Lua value. */
MT_API const mt_node *mt_lua_tolayout (lua_State *L, int index);

/* Pushes a tensor over `bytes` bytes of host memory at `data`, on the device "cpu":
** element c lies at data + layout(c) * size of the dtype. Nothing outside is ever
** touched; that the layout lies inside is checked here, and that there is one, a dtype
** and, unless `bytes` is 0, memory. The host keeps the memory alive
** while scripts can reach the tensor, or revokes it: see mt_lua_revoke. */
MT_API void mt_lua_pushtensor (lua_State *L, mt_dtype dtype, const mt_node *layout,
                               void *data, size_t bytes);
/* The same over memory of a device, "cuda:0": `data` is its address there, a CUdeviceptr.
** What the host has launched on it must be in order with what scripts launch:
** mt_lua_pushstream. */
MT_API void mt_lua_pushdevicetensor (lua_State *L, const char *device, mt_dtype dtype,
                                     const mt_node *layout, void *data, size_t bytes);
/* Takes back the memory lent through the tensor at `index`: it, its views and the plans
** on it raise an error from now on. For a tensor that owns its memory this is T:free().
** */
MT_API void mt_lua_revoke (lua_State *L, int index);
/* The host uses the memory of the tensor at `index` by itself: T:free() and T's __close
** raise an error until it is unpinned as often as it was pinned. That scripts do not
** lose the tensor is the host's to see to: it keeps the value in the registry. */
MT_API void mt_lua_pin (lua_State *L, int index);
MT_API void mt_lua_unpin (lua_State *L, int index);
/* Pushes the device as scripts have it, and makes it the one that this state has under
** its name: of a host that opened it with options of its own, a context for one. It is
** not closed here, and closed by the host behind lua_close. An error if a script has
** opened one of this name before. */
MT_API void mt_lua_pushdevice (lua_State *L, mt_device *d);
/* Pushes a stream that the host made with the driver, a CUstream, of the device with this
** name ("cuda:0"), for plan(stream), tile.copy(src, dst, stream) and gemm's option
** `stream`; NULL: the legacy default stream. It is never closed here: the host keeps it
** open while scripts can reach it and while what it launched is at work, and what is
** launched is in order with what the host launches. The handle is one of the device's
** context, the primary one if the host did not say another. An error for a device that is
** no GPU. */
MT_API void mt_lua_pushstream (lua_State *L, const char *device, void *handle);
/* Pushes a tensor over memory of DLPack (moontile/dlpack.h), and takes `m`: its
** deleter is called once, when no script reaches the memory any more (collected, freed,
** revoked, the state closed), or before an error of this function is raised. It runs in
** the collector: it may not use L. Memory of CUDA device n, in the device's context,
** lies on the device "cuda:n". Read-only memory is refused, and that of other devices.
** What its owner has launched on it must be in order with what scripts launch:
** mt_lua_pushstream. The other way: mt_lua_totensor, then mt_tensor_to_dlpack with a
** `release` that lets go of the Lua value, which the host keeps in the registry until
** then. */
struct DLManagedTensorVersioned;
struct DLManagedTensor;
MT_API void mt_lua_pushdlpack (lua_State *L, struct DLManagedTensorVersioned *m);
MT_API void mt_lua_pushunversioned (lua_State *L, struct DLManagedTensor *m);
/* Adds an atom of the host's own (mt_mma_atom_make, mt_copy_atom_make) to the state:
** scripts have it by its name, in tile.mma_atom, tile.copy_atom and tiled_mma's `atom`.
** Where it runs on a GPU mt_device_add_kernels says. It is copied. */
MT_API void mt_lua_addmmaatom (lua_State *L, const mt_mma_atom *atom);
MT_API void mt_lua_addcopyatom (lua_State *L, const mt_copy_atom *atom);
/* The tensor at `index` as the C API takes it; `out->data` is a device address. */
MT_API void mt_lua_totensor (lua_State *L, int index, mt_tensor *out);

/* What scripts can call, for completion and fuzzing: number i, from 0 on; false: there
** are no more. where: "tile" (a function of the module), or whose method it is: "Layout",
** "Tensor", ... takes: the names of its arguments, of a method with self first; what may
** be absent stands in brackets. most: how many there are at most; -1: any number. */
typedef struct mt_lua_operation {
  const char *where, *name, *takes;
  int most;
} mt_lua_operation;
MT_API bool mt_lua_operation_at (mt_lua_operation *out, int i);

#ifdef __cplusplus
}
#endif
#endif
