/*
** lmt.h - private to the binding: how Lua values become C values, and back.
** SPDX-License-Identifier: MIT
**
** A binding function is: convert in, call, push out. Only binding/value.c looks at Lua
** types. A resource belongs to a userdata before the next call that can raise; __gc and
** __close of its class are the same idempotent function.
**
** Any call that may allocate in Lua may run a finalizer, any that may run a metamethod a
** function of a script, and those may free tensors, plans, graphs and streams. So after
** the last such call it is looked again whether they live (lmt_totensor, lmt_toplan,
** ...), and then they are used: no address, plan, graph or stream is held across one. The
** objects themselves stay, as long as they are on the stack. spec/walls/live.lua polices
** this.
**
** Who raises and who returns: a fault of the program raises at the caller's line.
** Functions that acquire something (device, tensor, load, save, to, stream, plan) return
** nil, message, code for a condition of the world. Functions that act (copy, plan(),
** fill, set, synchronize) raise for both: nobody looks at what they return.
*/
#ifndef LMT_H
#define LMT_H

#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>

#include "moontile.h"
#include "moontile/lua.h"

/* ---------------------------------------------------------- classes (binding/state.c) */

#define LMT_LAYOUT "moontile.Layout"
#define LMT_VALUE "moontile.Value" /* basis elements, swizzles, the wildcard */
#define LMT_TUPLE "moontile.Tuple" /* metatable of tables */
#define LMT_TENSOR "moontile.Tensor"
#define LMT_BUFFER "moontile.Buffer"
#define LMT_DEVICE "moontile.Device"
#define LMT_STREAM "moontile.Stream"
#define LMT_PLAN "moontile.Plan"
#define LMT_GRAPH "moontile.Graph"
#define LMT_MMAATOM "moontile.MmaAtom"
#define LMT_COPYATOM "moontile.CopyAtom"
#define LMT_TILEDCOPY "moontile.TiledCopy"
#define LMT_THRCOPY "moontile.ThrCopy"
#define LMT_TILEDMMA "moontile.TiledMMA"
#define LMT_THRMMA "moontile.ThrMMA"
#define LMT_KERNEL "moontile.Kernel"
#define LMT_VERDICT "moontile.Verdict"   /* metatable of tables, as is the next */
#define LMT_ANALYSIS "moontile.Analysis" /* they print their field `text` */
#define LMT_FILE "moontile.File"
#define LMT_STATE "moontile.State"

/* Values are told apart by a mark in their metatable, faster than by its name. A class is
** marked before it is made: so the mark lies in the array part of the table. */
typedef enum lmt_class {
  LMT_UNMARKED,
  LMT_FUNCTIONS,
  LMT_VALUES,
  LMT_TUPLES,
  LMT_TENSORS, /* of one node */
  LMT_PLANS,
  LMT_COPIES,
  LMT_STREAMS,
  LMT_GRAPHS,
  LMT_MARKS
} lmt_class;
void lmt_mark (lua_State *L, lmt_class class, const char *name);
/* The block at `i`, if it is marked so; else NULL. */
void *lmt_marked (lua_State *L, int i, lmt_class class);
/* The same; raises that a `name` was expected. */
void *lmt_checkmarked (lua_State *L, int i, lmt_class class, const char *name);

/* Something that has to be given back. It is a block of its own, listed in the state:
** what a userdata could not give back, since Lua had no memory left to call its
** finalizer, is given back when the state closes, the newest first. */
typedef struct lmt_resource {
  struct lmt_resource *next, **link;
  struct lmt_state *state;
  void (*close)(struct lmt_resource *r); /* is called if p is not NULL */
  mt_device *device, *other;             /* other: NULL, or it needs that too */
  void *p;
  size_t bytes;
  bool left; /* released while a hook runs */
} lmt_resource;
/* NULL if there is no memory. */
lmt_resource *lmt_reserve (lua_State *L, void (*close)(lmt_resource *r),
                           mt_device *device);
/* Gives back, once: *r becomes NULL. A state that is closed has given back everything:
** finalizers older than the module run after that, and what they made while the state was
** being closed has none of its own. While a hook runs in the middle of a call it is left
** to lmt_releaseleft: if it closes the state, that call's threads have it still. */
void lmt_release (const struct lmt_state *s, lmt_resource **r);
void lmt_releaseleft (struct lmt_state *s);

/* What one Lua state has: in the registry, finalized after every other object. */
typedef struct lmt_state {
  mt_device_options options; /* the state's own allocator */
  mt_lua_config config;      /* what scripts may do: no 0 stands for a default here */
  int root;                  /* -1, or the folder config.root */
  size_t written, launches;  /* bytes, to files; of plans */
  int threads;               /* that devices may have started besides the caller's */
  size_t staging;            /* bytes that copies to devices may pass through */
  lmt_resource *resources;
  bool closed;
  bool opened;     /* the module was: too late for a configuration */
  bool complete;   /* its Lua files have run */
  bool asking;     /* a hook runs in the middle of a call */
  bool left;       /* some resources are */
  bool raised;     /* its error waits for that call to end */
  int64_t asked;   /* when the hook was called last: in milliseconds */
  size_t held;     /* bytes of live buffers */
  size_t fresh;    /* bytes made since the collector last felt it */
  uint64_t copies; /* tiled copies so far */
  mt_watch watch;  /* report NULL: nobody wants to know how far calls are */
  mt_stint *stint; /* the innermost of Lua that is open */
} lmt_state;
lmt_state *lmt_pushstate (lua_State *L);
lmt_state *lmt_needstate (lua_State *L); /* the same; makes it if there is none */
/* Its user values. */
enum {
  LMT_DEVICES = 1,
  LMT_WILDCARD,
  LMT_TUNED,
  LMT_CONFIG,
  LMT_INNER,
  LMT_MODULE,
  LMT_FAILED, /* the text of the last condition of the world */
  LMT_RAISED,
  LMT_STATEVALUES = LMT_RAISED + 2 /* and two of binding/listed.c */
};

/* The Lua files of the module; a NULL name ends the list. The build makes it. */
extern const struct mt_embedded {
  const char *name; /* "moontile.show" */
  const unsigned char *text;
  size_t size;
} mt_embedded[];
/* Replaces the module on the top by what its Lua files return for scripts to call. */
void lmt_runsources (lua_State *L);
/* require "moontile.console": the console, as lua/moontile/console.lua returns it. */
int lmt_openconsole (lua_State *L);

/* What a class has besides its methods; makes its metatable if it is not there. */
void lmt_setmeta (lua_State *L, const char *name, const luaL_Reg *meta);
/* Of some names the one nearest to a key; NULL: none is near. */
typedef struct lmt_near {
  const char *name;
  int distance;
} lmt_near;
void lmt_nearer (lmt_near *near, const char *key, const char *name);
/* Raises that `class` has no `what` with the key at 2, and names the nearest of those in
** the table at stack index `names`. */
int lmt_nosuch (lua_State *L, const char *what, int names, const char *class);

/* ----------------------------------- what scripts can call (binding/operations.c) */

/* Where operations are: in the module, among the methods of a class, or (OF_INNER) where
** only our own Lua files see them. */
enum {
  OF_TILE = 1 << 0,
  OF_LAYOUT = 1 << 1,
  OF_TENSOR = 1 << 2,
  OF_VALUE = 1 << 3,
  OF_DEVICE = 1 << 4,
  OF_STREAM = 1 << 5,
  OF_PLAN = 1 << 6,
  OF_GRAPH = 1 << 7,
  OF_TILEDCOPY = 1 << 8,
  OF_THRCOPY = 1 << 9,
  OF_TILEDMMA = 1 << 10,
  OF_THRMMA = 1 << 11,
  OF_INNER = 1 << 12,
  OF_KERNEL = 1 << 13,
  OF_BOTH = OF_TILE | OF_LAYOUT,
  OF_ALL = OF_BOTH | OF_TENSOR
};
/* A row of binding/operations.def. */
typedef struct lmt_operation {
  const char *name;
  lua_CFunction f;
  int of, most;
  const char *takes;
} lmt_operation;
enum {
  MANY = 1 << 20, /* more arguments than Lua's stack has room for */
  MOST_I_V = 1,
  MOST_I_VV = 2,
  MOST_I_VI = 2,
  MOST_V_V = 1,
  MOST_V_VV = 2,
  MOST_V_VVV = 3,
  MOST_V_VI = 2,
  MOST_V_VM = 2,
  MOST_V_VMV = 3,
  MOST_V_T = 1,
  MOST_V_VT = 2,
  MOST_B_V = 1,
  MOST_B_VV = 2
};

/* All rows; the name of the last is NULL. f is not set. */
extern const lmt_operation lmt_operations[];
/* Arguments behind the first `most` that are nil are forgotten; any other raises. */
#define LMT_COUNT(L, most, name, takes)                                                  \
  do {                                                                                   \
    if ((most) < MANY && lua_gettop(L) > (most)) lmt_surplus(L, most, name, takes);      \
  } while (0)
void lmt_surplus (lua_State *L, int most, const char *name, const char *takes)
    __attribute__((cold));
/* Puts the function on the top where the row says, and pops it; the module is below. */
void lmt_addrow (lua_State *L, const lmt_operation *row); /* `self`: its upvalue */
void lmt_addserved (lua_State *L, const lmt_operation *row, const void *self);
void lmt_pushinner (lua_State *L);
void lmt_addrows (lua_State *L, const lmt_operation *rows);
/* The same for rows of LMT_LUA, whose functions are in the table on the top. */
void lmt_addlua (lua_State *L);
void lmt_openclasses (lua_State *L);
void lmt_open_operations (lua_State *L);
const char *lmt_where (int of); /* OF_TILE: "tile"; a class: "Layout"; else NULL */
/* () -> the rows, once a place: { where =, name =, takes =, most = }. */
int lmt_listoperations (lua_State *L);
/* Sets the function on the top in the classes `of`. */
void lmt_addmethod (lua_State *L, int of, const char *name);

void lmt_open_layout (lua_State *L); /* each adds to the module, on the top */
void lmt_open_query (lua_State *L);
void lmt_open_tuple (lua_State *L);
void lmt_open_algebra (lua_State *L);
void lmt_open_swizzle (lua_State *L);
void lmt_open_domain (lua_State *L);
void lmt_open_device (lua_State *L), lmt_open_stream(lua_State *L);
void lmt_open_tensor (lua_State *L);
void lmt_open_file (lua_State *L);
void lmt_open_npy (lua_State *L), lmt_open_map(lua_State *L);
void lmt_open_tensors (lua_State *L);
void lmt_open_atom (lua_State *L);
void lmt_open_tile (lua_State *L);
void lmt_open_mma (lua_State *L);
void lmt_open_plan (lua_State *L);
void lmt_open_copyif (lua_State *L);
void lmt_open_tune (lua_State *L), lmt_open_recording(lua_State *L);
void lmt_open_tuning (lua_State *L);
void lmt_open_progress (lua_State *L);
void lmt_open_gemm (lua_State *L);
void lmt_open_graph (lua_State *L);
void lmt_open_analysis (lua_State *L);
void lmt_open_hardware (lua_State *L);
void lmt_open_kernel (lua_State *L);
void lmt_open_kernel_text (lua_State *L);
void lmt_open_verify (lua_State *L);
void lmt_open_print (lua_State *L);
void lmt_open_move (lua_State *L);
int lmt_method_slice (lua_State *L);   /* x:slice(c) */
int lmt_slicetuple (lua_State *L);     /* slice(c, t) of a tuple */
extern const luaL_Reg lmt_operators[]; /* what layouts and tensors have */

/* A function whose large frame is not to be a part of its caller's, which goes deep. */
#define LMT_APART __attribute__((noinline))

/* An error that has not happened, in a function of L, which may end what it does; the
** text is not cleared as a whole: it is long. */
#define LMT_NOERR(err)                                                                   \
  mt_err err;                                                                            \
  err.status = MT_OK, err.stop = lmt_stop, err.stop_ud = L, err.watch = NULL;            \
  err.text[0] = '\0'
/* Raises err's text at the caller's line. */
int lmt_raise (lua_State *L, const mt_err *err);
/* The same; a text that begins with `from` and a colon begins with `op` instead, with
** neither if that is NULL: what was called has no name. */
int lmt_raiseas (lua_State *L, const char *from, const char *op, const mt_err *err);
mt_status lmt_set (mt_err *err, mt_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* nil, text, code for a condition of the world; raises for a fault of the program. */
int lmt_fail (lua_State *L, const mt_err *err);

/* ---------------------------------------------------------- stopping (binding/stop.c) */

/* An mt_stop for the thread `L`: whether the host's flag is set, or a count hook raises
** an error. It may run a hook: an object that only C knows may be gone after it. */
bool lmt_stop (void *L);
/* Whether the call with this err is to end; then err says that `op` was stopped. In loops
** over elements, i of which are done, it is asked now and then. */
bool lmt_ends (mt_err *err, const char *op);
#define LMT_ENDS(i, err, op) (((i)&1023) == 1023 && lmt_ends((err), (op)))
/* Pushes what the hook raised, if it did, else nil; forgets it. */
bool lmt_pushraised (lua_State *L);
/* Whether the host's flag is set. */
static inline bool lmt_told (const lmt_state *s) {
  return s->config.stop && __atomic_load_n(s->config.stop, __ATOMIC_RELAXED) != 0;
}
/* What lies on devices is out of reach of a hook that a call waits for: this raises
** there, where something would be given back; and where it would be used, the flag of
** the host too. */
void lmt_checkasking (lua_State *L, const lmt_state *s);
void lmt_refuse (lua_State *L, const lmt_state *s) __attribute__((cold));
static inline void lmt_checkuse (lua_State *L, const lmt_state *s) {
  if (s->asking || lmt_told(s)) lmt_refuse(L, s);
}

/* ------------------------------------------------------ progress (binding/progress.c) */

/* The call with this err may take long: the host is told how far it is, if it wants to
** know. Between mt_stint_begin and mt_stint_end nothing is called that can raise. */
static inline void lmt_listen (mt_err *err, lmt_state *s) {
  if (s->watch.report == NULL || err->watch != NULL || s->asking) return;
  s->watch.stint = s->stint;
  err->watch = &s->watch;
}
void lmt_listenhere (lua_State *L, mt_err *err);

/* ----------------------------------------------------------- values (binding/value.c) */

enum {
  LMT_INT = 1,
  LMT_BASIS = 2,
  LMT_WILD = 4,
  LMT_TABLE = 8,
  LMT_LAYOUTS = 16,
  LMT_SWIZZLES = 32,
  LMT_F2 = 64,
  LMT_COMPOSED = 128, /* beside LMT_LAYOUTS */
  LMT_SHAPE = LMT_INT | LMT_TABLE,
  LMT_STRIDE = LMT_INT | LMT_TABLE | LMT_BASIS,
  LMT_COORD = LMT_INT | LMT_TABLE | LMT_WILD,
  LMT_ANY = LMT_COORD | LMT_BASIS | LMT_LAYOUTS | LMT_SWIZZLES | LMT_COMPOSED
};
/* The value at `i`, of one of `kinds`; `what` begins the message if it is none:
** "shape[1][3]: integer expected, got string". The result lies in `buf` or in a userdata
** on the stack. */
const mt_node *lmt_tovalue (lua_State *L, int i, int kinds, const char *what,
                            mt_layout *buf);
/* The node of a layout, a tensor or another userdata of the algebra; NULL: it is none. */
const mt_node *lmt_nodeat (lua_State *L, int i);
/* A layout, or the layout of a tensor, which for the second may be composed. */
const mt_node *lmt_tolayout (lua_State *L, int i);
const mt_node *lmt_tocomposed (lua_State *L, int i);
/* What composes on the left: a layout, the layout of a tensor, a swizzle, `_`, or a
** tiler, which stands for its coordinates. */
const mt_node *lmt_tofunction (lua_State *L, int i, mt_layout *buf);
/* By mode (a table, its integers n meaning n:1) or one function (a layout; an integer n
** is n:1). */
const mt_node *lmt_totiler (lua_State *L, int i, mt_layout *buf);
/* A shape, or a text that holds one, or a text that holds a layout. */
const mt_node *lmt_toshape (lua_State *L, int i, mt_layout *buf);
/* A stride argument: LMT_LEFT also if it is absent. LMT_GIVEN: *stride is set. */
typedef enum lmt_order { LMT_LEFT, LMT_RIGHT, LMT_GIVEN } lmt_order;
lmt_order lmt_toorder (lua_State *L, int i, mt_layout *buf, const mt_node **stride);
/* A layout, or a shape, which stands for its compact layout; `what` as above. */
const mt_node *lmt_toshaped (lua_State *L, int i, const char *what, mt_layout *buf);
/* The block, at 1, or the tiler of a product: a layout, a shape or an integer; op: who is
** called (binding/layout.c). */
const mt_node *lmt_toblock (lua_State *L, int i, const char *op, mt_layout *buf);
/* The layouts at first .. top, or in the table at `first`: at most MT_MAXNODES; returns
** how many. */
int lmt_tolayouts (lua_State *L, int first, const mt_node **modes);
/* The coordinate in `a` that arguments first .. top stand for: several are the modes; one
** table is the whole if it fits, else, for rank 1, mode 1. tocoord1: of one argument. */
const mt_node *lmt_tocoord (lua_State *L, int first, const mt_node *a, mt_layout *buf);
const mt_node *lmt_tocoord1 (lua_State *L, int i, const mt_node *a, mt_layout *buf);
/* Mode numbers (from 1) at first .. top, or in one table, as those of C (from 0). */
int lmt_tomodes (lua_State *L, int first, int *modes);
/* A layout, not a tuple, tiler, ... */
static inline bool lmt_islayout (const mt_node *t) {
  if (t->tag == MT_LEAF || t->tag == MT_MODES || t->tag == MT_COMPOSED) return true;
  return (t->tag == MT_SUM || t->tag == MT_SWIZZLE) && t->shape >= 0 && t->arity > 0;
}
bool lmt_haswild (const mt_node *t); /* has a `_` in it */
/* Raises unless every part of coordinate c lies inside the domain of a. */
void lmt_checkinside (lua_State *L, const mt_node *c, const mt_node *a);

int lmt_pushvalue (lua_State *L, const mt_node *t); /* anything; returns 1 */
int lmt_pushtext (lua_State *L, const mt_node *t);  /* its text form; returns 1 */
/* A value computed from the one at `i`: a layout becomes a view if that is a tensor. */
int lmt_pushlike (lua_State *L, int i, const mt_node *t, int64_t offset);
/* Pushes t as a layout like the one at `i`, whose node is `a`; false: that is none. */
bool lmt_pushedas (lua_State *L, int i, const mt_node *a, const mt_node *t);
/* The same at offset 0, and a value that is never a view; `a` is the node that was read
** at `i`: if it is that of a layout, this is quicker. Both return 1. */
int lmt_pushfrom (lua_State *L, int i, const mt_node *a, const mt_node *t);
int lmt_pushnew (lua_State *L, int i, const mt_node *a, const mt_node *t);
/* The slice at c of the value at `i`, whose layout is `a`; of a tensor a view. Returns 1.
** op: who is called, or NULL. */
int lmt_slice (lua_State *L, int i, const char *op, const mt_node *c, const mt_node *a);
/* The layout of the slice of `a` at c, and the offset where it begins (of a coordinate
** layout: the coordinate); returns 2. */
int lmt_pushslice (lua_State *L, const char *op, const mt_node *c, const mt_node *a);

bool lmt_isclass (lua_State *L, int i, const char *name);
bool lmt_isplain (lua_State *L, int i); /* a layout, a table, a basis element, ... */
bool lmt_isstring (lua_State *L, int i);
bool lmt_istable (lua_State *L, int i);
void lmt_checkfunction (lua_State *L, int i);
mt_number lmt_tonumber (lua_State *L, int i); /* also booleans: 0 and 1 */
int lmt_pushnumber (lua_State *L, mt_dtype d, mt_number v);
mt_dtype lmt_todtype (lua_State *L, int i);

/* Bits of an element at `i`: a number, 0 if no element has so many, or those of a dtype;
** `what` begins the message if it is none, NULL: the argument (binding/options.c). */
int lmt_tobits (lua_State *L, int i, const char *what);

/* Options by name in the table at `i`, a field of an argument if i < 0: an unknown key is
** an error that lists `keys` (binding/options.c). */
void lmt_checkkeys (lua_State *L, int i, const char *what, const char *const *keys);

/* --------------------------------------------------------- devices (binding/device.c) */

typedef struct lmt_device {
  mt_device *d; /* NULL: closed */
  lmt_state *state;
  lmt_resource *r;
  mt_graph *recording; /* NULL, or what it records; then it has a user value */
  uint64_t recorded;   /* the work of that */
  lmt_resource *plans; /* NULL, or what binding/plan_cache.c has of it */
} lmt_device;
lmt_device *lmt_todevice (lua_State *L, int i); /* not closed, else an error */

/* Whether the tensors at i and i + 1 are on two devices of which one is the host; then
** *other is the other one. Of one device *other is that. */
bool lmt_isbetween (lua_State *L, int i, lmt_device **other);
/* The device at `i`: an object, a name, or the default "cpu" if absent; pushes it. NULL:
** `err`. */
lmt_device *lmt_optdevice (lua_State *L, int i, mt_err *err);
lmt_device *lmt_pushdevice (lua_State *L, const char *name, mt_err *err);
const char *lmt_devicename (const lmt_device *box);
/* The stream at `i`, which must be one of `d`; NULL if absent. */
mt_stream *lmt_optstream (lua_State *L, int i, const lmt_device *d);

/* A piece of device memory; `data` is NULL once it was freed, or if it has no byte. */
typedef struct lmt_buffer {
  lmt_device *device; /* its user value 1; 2: what locked its pages */
  void *data;
  size_t bytes;
  bool live;
  unsigned pins;   /* of the host: T:free() raises while there are any */
  lmt_resource *r; /* NULL too if the memory was lent by the host */
} lmt_buffer;
/* Pushes a zeroed buffer, on the device at stack index `device`; NULL: nothing, `err`.
** lock: 0, or that of the GPU whose driver locks the pages. */
lmt_buffer *lmt_newbuffer (lua_State *L, int device, int lock, size_t bytes, mt_err *err);
lmt_buffer *lmt_lendbuffer (lua_State *L, int device, void *data, size_t bytes);
void lmt_freebuffer (lmt_buffer *b);
void lmt_sharebuffer (lmt_buffer *b); /* the host gets its address */
/* After a call that had no memory: collects everything, once, and says to call again. Use
** as int tries = 0; do s = call(..., err); while (lmt_again(L, s, &tries, err)); */
bool lmt_again (lua_State *L, mt_status s, int *tries, mt_err *err);

/* --------------------------------------------------------- tensors (binding/tensor.c) */

typedef struct lmt_tensor {
  lmt_buffer *buffer; /* its user value 1 */
  int64_t offset;     /* in elements */
  mt_dtype dtype;
  bool view, freed;
  uint16_t bounded; /* nodes of layout and bounds, which mt_bounds lies behind; 0:
                           ** all elements are real */
  mt_node layout[];
} lmt_tensor;
lmt_tensor *lmt_totensor (lua_State *L, int i);           /* not freed, else an error */
lmt_tensor *lmt_tensorat (lua_State *L, int i);           /* the same; NULL: it is none */
lmt_tensor *lmt_livetensor (lua_State *L, lmt_tensor *t); /* the same of t */
/* A view of the buffer at stack index `buffer`. */
lmt_tensor *lmt_pushtensor (lua_State *L, int buffer, mt_dtype dtype,
                            const mt_node *layout, int64_t offset);
/* A view of the tensor at `i`; `offset` is counted from the tensor's own. All elements
** are real, or those within `bounds`, if it is not NULL. */
lmt_tensor *lmt_pushview (lua_State *L, int i, const mt_node *layout, int64_t offset);
lmt_tensor *lmt_pushbounded (lua_State *L, int i, const mt_node *layout, int64_t offset,
                             const mt_bounds *bounds);
/* A new tensor on the device at stack index `device`; NULL: nothing pushed, `err`. */
lmt_tensor *lmt_newtensor (lua_State *L, int device, mt_dtype dtype,
                           const mt_node *layout, mt_err *err);
mt_tensor lmt_ctensor (const lmt_tensor *t);
/* T(c): the element at c, or with `_` a view. */
int lmt_element (lua_State *L);
/* The address of an element, counted from the tensor's offset. */
void *lmt_address (const lmt_tensor *t, int64_t element);
/* Elements [lo, hi) that t reaches, relative to its offset; raises if they leave the
** buffer. */
void lmt_range (lua_State *L, const lmt_tensor *t, int64_t *lo, int64_t *hi);
/* The elements [lo, hi) of the tensor at `i` in host memory: its own, or a copy in a
** userdata, which it pushes (else nil). The result is the address of element lo. */
char *lmt_onhost (lua_State *L, int i, int64_t lo, int64_t hi);

/* ------------------------------------------------------------- atoms (binding/atom.c) */

mt_mma_atom *lmt_tommaatom (lua_State *L, int i);
mt_copy_atom *lmt_tocopyatom (lua_State *L, int i);

/* ----------------------------- partitions (binding/tiled_copy.c, binding/tiled_mma.c) */

const mt_tiled_mma *lmt_totiledmma (lua_State *L, int i);
bool lmt_istiledmma (lua_State *L, int i);
/* The text that makes the MMA again; returns 1. */
int lmt_pushmmatext (lua_State *L, const mt_tiled_mma *mma);
/* Ends the text on the top with the extents of a tuple: "128x128x16"; returns 1. */
int lmt_endextents (lua_State *L, const mt_node *tuple);

#endif
