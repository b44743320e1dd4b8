/*
** vm.h - a limited interpreter for a C program that runs scripts of others.
** SPDX-License-Identifier: MIT
**
** The program needs no header of Lua and knows nothing of GPUs: it opens an interpreter
** with its limits, runs texts in it, and gets values or an error whose text can be shown
** to who wrote the script.
**   mt_vm_options o = { .size = sizeof o, .milliseconds = 200 };
**   mt_vm *v;
**   mt_err err = MT_NOERR;
**   if (mt_vm_open(&v, &o, &err) || mt_vm_run_file(v, "tiles.lua", &err)) puts(err.text);
**   mt_vm_close(v);
** Lua's own instructions are counted: they take about four times as long as elsewhere.
** Opening a VM takes about a millisecond.
** These functions are in the library of the binding (moontile::lua, moontile-lua.pc).
**
** Threads: a VM belongs to one thread at a time. Only mt_vm_stop may be called on any
** thread, while another one runs the VM. VMs share nothing: each has its devices.
**
** What it protects from: scripts that loop, eat memory, catch every error, or try to
** reach files, devices or code that they were not given. They end within 100 ms after
** the end of a budget, but for what docs/limits.md names. What it does not protect from:
** faults of Lua itself. Scripts of people that you do not trust at all belong in a
** process of their own besides (limits, seccomp), without the driver of a GPU.
*/
#ifndef MOONTILE_VM_H
#define MOONTILE_VM_H

#include "moontile/device.h"
#include "moontile/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mt_vm mt_vm;

/* ---------------------------------------------------------------- what scripts may do */

/* Of Lua's libraries; what runs for ever in them, or where no limit reaches, was replaced
** or is not there. The basic functions are always there but for dofile, loadfile and
** load; `print` and `warn` go to the log; `require` finds what is allowed here. There is
** no io, os, debug, package, and no string.dump, pack, unpack. A metatable has no
** __gc. */
typedef enum mt_vm_libraries {
  MT_VM_TABLE = 1 << 0,
  MT_VM_STRING = 1 << 1, /* find, match, gmatch, gsub, too */
  MT_VM_MATH = 1 << 2,
  MT_VM_UTF8 = 1 << 3,
  MT_VM_COROUTINE = 1 << 4,
  MT_VM_MOONTILE = 1 << 5, /* `require "moontile"`, also the global `tile` */
  MT_VM_LOAD = 1 << 6,     /* load: of texts, never of binary chunks */
  MT_VM_USUAL = (1 << 6) - 1
} mt_vm_libraries;

/* What a script says: by print, by warn. `text` has no newline at its end and ends with a
** zero. It is called on the thread that runs the VM and may not use the VM. */
typedef enum mt_vm_level { MT_VM_PRINT, MT_VM_WARN } mt_vm_level;
typedef void mt_vm_log (void *ud, mt_vm_level level, const char *text, size_t size);

/* What is 0 has the value that is said. The texts need to live until mt_vm_open has
** returned. */
typedef struct mt_vm_options {
  size_t size;    /* sizeof(mt_vm_options): later versions have more fields */
  mt_alloc alloc; /* all memory of the VM; NULL: realloc and free */
  void *alloc_ud;
  mt_vm_log *log; /* NULL: what scripts say is dropped */
  void *log_ud;
  unsigned libraries;         /* of mt_vm_libraries; 0: MT_VM_USUAL */
  size_t memory;              /* bytes of Lua and of tensors on "cpu"; 0: 64 MiB */
  size_t text;                /* bytes of one string; 0: a quarter of `memory` */
  int milliseconds;           /* of one call, by the clock; 0: 1000; -1: no bound */
  uint64_t instructions;      /* of one call, of Lua's machine; steps of what replaces its
                             ** libraries count, too; 0: no bound */
  uint64_t launches;          /* of plans, in all; 0: no bound */
  uint64_t work;              /* of one call of the library: see mt_lua_config; 0: 2^32 */
  size_t bytes;               /* of all tensors on all devices together; 0: `memory` */
  int threads;                /* of all devices, the caller's included; 0: 1 */
  const char *const *devices; /* names that scripts may open, NULL behind the last, as in
                               ** mt_lua_config; NULL: "cpu" alone */
  const char *root; /* the folder whose files scripts may load and save; NULL: no
                             ** files at all */
  size_t written;   /* bytes, to files, in all; 0: 64 MiB */
  size_t stack;     /* bytes of the thread's stack that a call may take, 128 KiB
                               ** at least; drivers take theirs on top; 0: 512 KiB */
} mt_vm_options;

/* ---------------------------------------------------------------- a VM */

/* Errors: MT_EINVAL (an option; `root` is no folder), MT_ENOMEM, MT_ELIMIT (`memory` is
** too little for the libraries: they take about 200 KiB). *out is then NULL. `options`
** may be NULL. */
MT_API mt_status mt_vm_open (mt_vm **out, const mt_vm_options *options, mt_err *err);
MT_API void mt_vm_close (mt_vm *v); /* NULL is fine */

/* Runs a script, `size` bytes of text; `name` is what errors call it. Its results can be
** asked for until the next call. Globals stay from call to call. Errors: MT_ESYNTAX,
** MT_ESCRIPT (it raised an error), MT_ELIMIT (a budget is spent; err.text says which),
** MT_ENOMEM, MT_ESTOPPED, MT_EIO (run_file). After any of them the VM can be used. The
** text says where, shows the line, and who called; `stop` and `watch` of `err` are not
** asked. */
MT_API mt_status mt_vm_run (mt_vm *v, const char *name, const char *text, size_t size,
                            mt_err *err);
/* The same of a file, which may have `text` bytes at most. */
MT_API mt_status mt_vm_run_file (mt_vm *v, const char *path, mt_err *err);

/* Ends the call at hand, and all that follow until it is taken back (stop false): with
** MT_ESTOPPED. From any thread, not from a signal's handler that may interrupt
** mt_vm_close. A GPU does what it was told to do. */
MT_API void mt_vm_stop (mt_vm *v, bool stop);

/* ---------------------------------------------------------------- values */

typedef enum mt_vm_kind {
  MT_VM_NIL,
  MT_VM_BOOLEAN, /* integer: 0 or 1 */
  MT_VM_INTEGER,
  MT_VM_NUMBER,
  MT_VM_TEXT,   /* text, size: of a result until the next call; it ends with a zero */
  MT_VM_TENSOR, /* tensor: host memory that is lent, see mt_vm_revoke. Only to a VM */
  MT_VM_OTHER   /* text: how tostring writes it. Only from a VM */
} mt_vm_kind;
typedef struct mt_vm_value {
  mt_vm_kind kind;
  int64_t integer;
  double number;
  const char *text;
  size_t size;
  const mt_tensor *tensor;
} mt_vm_value;

/* Sets a global. The host keeps the memory of a tensor until it has revoked it, or closed
** the VM. Errors: MT_EINVAL, and those of memory. */
MT_API mt_status mt_vm_set (mt_vm *v, const char *name, const mt_vm_value *value,
                            mt_err *err);
/* Takes back the memory of all tensors that were lent: they, their views and the plans on
** them raise an error from now on. */
MT_API void mt_vm_revoke (mt_vm *v);
/* Calls the global function `name` with n values. Errors: as mt_vm_run; MT_EINVAL: there
** is no such function. */
MT_API mt_status mt_vm_call (mt_vm *v, const char *name, const mt_vm_value *args, int n,
                             mt_err *err);
/* How many values the last call returned, 16 at most; value i of them, from 0 on (nil, if
** there is none). */
MT_API int mt_vm_results (const mt_vm *v);
MT_API mt_vm_value mt_vm_result (const mt_vm *v, int i);

/* What was used: memory now and at most (bytes), instructions of the last call, its
** milliseconds, launches in all. */
typedef struct mt_vm_usage {
  size_t memory, peak;
  uint64_t instructions, launches;
  double milliseconds;
} mt_vm_usage;
MT_API void mt_vm_used (mt_vm_usage *out, const mt_vm *v);

#ifdef __cplusplus
}
#endif

#endif
