/*
** moontile.h - the public C API of moontile, and its manual.
** SPDX-License-Identifier: MIT
**
** A layout is a hierarchical pair shape:stride, a function from coordinates to offsets
** (the algebra of CuTe). A layout is a value: a preorder array of nodes without inner
** pointers. A mode of a layout is a pointer into it, so every function takes
** `const mt_node *` and works on layouts and on modes alike. Nothing here allocates,
** except where a function says so.
**
** Conventions
**   coordinates, offsets, threads, values count from 0; mode numbers in C from 0 too
**     (in Lua, mode numbers count from 1);
**   coordinates are colexicographic: the leftmost mode runs fastest; the last mode has no
**     bound;
**   output arguments come first, `mt_err *err` last, and `err` may not be NULL;
**   a function that can fail returns MT_OK or the status that it also stores in `err`;
**     on failure the output is unspecified and nothing has been leaked;
**   an output may not overlap an input;
**   no function prints, exits, keeps global state, or keeps a pointer to its input.
*/
#ifndef MOONTILE_H
#define MOONTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MT_API
#define MT_API __attribute__((visibility("default")))
#endif

#define MT_VERSION_MAJOR 0
#define MT_VERSION_MINOR 1
#define MT_VERSION_PATCH 0
#define MT_VERSION "0.1.0"

enum {
  MT_MAXNODES = 64,    /* nodes of one layout, tuple or tiler */
  MT_MAXDEPTH = 16,    /* nesting of one layout, tuple or tiler */
  MT_MAXPATH  = 7,     /* indices of one basis element, 1@0@1 has two */
  MT_ERRSIZE  = 2048   /* bytes of an error text, its end included */
};

/* ---------------------------------------------------------------- statuses */

/* name             text */
#define MT_STATUSES(X)                                                                   \
  X(MT_OK,          "no error")                                                          \
  X(MT_EINVAL,      "invalid argument")                                                  \
  X(MT_ESYNTAX,     "syntax error")                                                      \
  X(MT_ERANK,       "ranks do not match")                                                \
  X(MT_ERANGE,      "out of range")                                                      \
  X(MT_EOVERFLOW,   "integer overflow")                                                  \
  X(MT_ETOOBIG,     "too many modes")                                                    \
  X(MT_EINEXACT,    "no exact answer")                                                   \
  X(MT_EINJECTIVE,  "not injective")                                                     \
  X(MT_EALIGN,      "misaligned")                                                        \
  X(MT_EOVERLAP,    "source and destination overlap")                                    \
  X(MT_EUNSUPPORTED,"not supported")                                                     \
  X(MT_EFORMAT,     "bad file")                                                          \
  X(MT_EIO,         "file cannot be read or written")                                    \
  X(MT_ENOMEM,      "out of memory")                                                     \
  X(MT_ENODEV,      "no such device")                                                    \
  X(MT_EDRIVER,     "driver error")                                                      \
  X(MT_ELOST,       "device lost")                                                       \
  X(MT_EDENIED,     "forbidden by the host")                                             \
  X(MT_ELIMIT,      "beyond a limit of the host")                                        \
  X(MT_ESTOPPED,    "stopped by the host")

#define MT_STATUS_NAME(name, text) name,
typedef enum mt_status { MT_STATUSES(MT_STATUS_NAME) MT_NSTATUS } mt_status;
#undef MT_STATUS_NAME

/* Whether the call at hand is to end. A call that takes long asks every few milliseconds,
** on the thread that made it and in the middle of its work: whoever answers may use
** nothing that the call uses, nor free it. */
typedef bool mt_stop (void *ud);

/* What went wrong, and who may stop a call. `text` is one or more lines, without a final
** newline: the operation, its operands, the condition, a witness, a way out.
** Start with `mt_err err = MT_NOERR;`. `stop` is NULL, or asked by the calls that get
** this err: after true they end soon, with MT_ESTOPPED. What such a call writes is then
** written in part; everything can be used again. What a GPU was told to do it does all
** the same. */
typedef struct mt_err {
  mt_status status;
  mt_stop *stop;
  void *stop_ud;
  char text[MT_ERRSIZE];
} mt_err;
#define MT_NOERR { MT_OK, NULL, NULL, { 0 } }

MT_API const char *mt_status_name (mt_status s);   /* "MT_ERANK" */
MT_API const char *mt_status_text (mt_status s);   /* "ranks do not match" */
MT_API const char *mt_version (void);              /* "0.1.0" */

/* ---------------------------------------------------------------- values */

/* The kinds of nodes. A value is one node, followed by its children, in preorder.
**   integer tuples  MT_INT: the integer in `shape`. MT_TUPLE: a tuple of values.
**   layouts         MT_LEAF: extent `shape` >= 0, stride `stride`. MT_MODES: modes;
**                   `shape` is the product of the extents. MT_SUM: a leaf with extent
**                   `shape` whose stride is the sum of its children, MT_INT nodes of
**                   ring MT_BASIS. In a tuple: shape -1.
**   tilers          MT_TILER: by mode; each child a layout, a tiler or the wildcard.
**   wildcard        MT_WILD: `_`, in tuples and tilers.
**   swizzles        MT_SWIZZLE: Sw<B,M,S>; `shape` is B | M << 8 | (S & 255) << 16,
**                   `stride` an offset; its child, if it has one, a layout:
**                   Sw<B,M,S> o offset o layout. */
typedef enum mt_tag {
  MT_INT, MT_TUPLE, MT_LEAF, MT_MODES, MT_SUM, MT_TILER, MT_WILD, MT_SWIZZLE
} mt_tag;

/* The algebra that a stride (of an MT_INT: the value) lives in. MT_BASIS: value@path.
** MT_F2: bits, added by xor (moontile_domain.h). */
typedef enum mt_ring { MT_Z, MT_BASIS, MT_F2 } mt_ring;

typedef struct mt_node {
  uint8_t  tag;       /* mt_tag */
  uint8_t  ring;      /* mt_ring */
  uint16_t arity;     /* children */
  uint32_t span;      /* nodes of this subtree, itself included */
  int64_t  shape;
  int64_t  stride;
  uint8_t  path[8];   /* MT_BASIS: innermost index first, as printed; path[7]: how many */
} mt_node;

typedef struct mt_layout {
  mt_node node[MT_MAXNODES];
} mt_layout;          /* also holds tuples, tilers and swizzles */

/* Walking a value:
**   for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) ... */
static inline const mt_node *mt_child (const mt_node *t) { return t + 1; }
static inline const mt_node *mt_next (const mt_node *t) { return t + t->span; }

/* Copies the value `t` (a whole or a mode) into `out`. Cannot fail. */
MT_API void mt_copy_value (mt_layout *out, const mt_node *t);

/* An integer as a value; a tuple of `n` integers. n <= MT_MAXNODES - 1, else
** MT_ETOOBIG. */
MT_API void mt_int (mt_layout *out, int64_t value);
MT_API mt_status mt_ints (mt_layout *out, int n, const int64_t *values, mt_err *err);

/* ---------------------------------------------------------------- text */

/* Reads `len` bytes of text: integers (4, _4, -1), tuples (4,(2,3)), basis elements
** (2@1@0, 2@0+2@1), layouts ((4,(2,2)):(2,(1,8)), shape:LayoutLeft,
** shape:LayoutRight), tilers ((2:1,(2,4):(1,8)), with _), swizzles (Sw<3,4,3>,
** S<3,4,3>) and swizzled layouts (Sw<3,4,3> o 0 o (8,64):(64,1)). Blanks are allowed
** between tokens. Errors: MT_ESYNTAX with the position, MT_ETOOBIG, MT_EOVERFLOW. A
** tuple of which any member holds a layout is a tiler, and the integers in it mean
** n:1. mt_format is its inverse. */
MT_API mt_status mt_parse (mt_layout *out, const char *text, size_t len, mt_err *err);

/* Writes the text form of any value into `buf`, like snprintf: never more than `size`
** bytes, always ended if size > 0; returns the length of the whole text. */
MT_API size_t mt_format (char *buf, size_t size, const mt_node *t);

/* ---------------------------------------------------------------- building */

/* shape:stride. `stride` congruent with `shape` (or an integer tuple with basis
** elements in it). `stride` NULL: compact, leftmost mode fastest. Errors: MT_ERANK
** (not congruent), MT_EINVAL (negative extent), MT_EOVERFLOW (the size or an offset
** leaves int64). */
MT_API mt_status mt_make_layout (mt_layout *out, const mt_node *shape,
                                 const mt_node *stride, mt_err *err);
/* Compact layouts of a shape: column-major, row-major. Size-1 modes get stride 0, as
** in CuTe. */
MT_API mt_status mt_layout_left (mt_layout *out, const mt_node *shape, mt_err *err);
MT_API mt_status mt_layout_right (mt_layout *out, const mt_node *shape, mt_err *err);
/* (A, B, ...): `n` layouts as the modes of one. */
MT_API mt_status mt_concat (mt_layout *out, int n, const mt_node *const *modes,
                            mt_err *err);
/* The shape with stride 1@k on mode k (1@i@k inside modes): a layout of coordinates. */
MT_API mt_status mt_make_identity_layout (mt_layout *out, const mt_node *shape,
                                          mt_err *err);
/* The layout R with the shape of `a`, compact, in the order of the strides of `a`: (1)
** where a mode has a stride of larger magnitude than another, it has a larger stride
** in R; (2) where the magnitudes are equal, so are the strides; (3) stride 0 stays 0;
** (4) if no two magnitudes are equal, R is a bijection onto 0 .. n-1 of the modes that
** move. */
MT_API mt_status mt_make_layout_like (mt_layout *out, const mt_node *a, mt_err *err);

/* ---------------------------------------------------------------- queries */

MT_API int mt_rank (const mt_node *t);             /* modes; an integer or a leaf has 1 */
MT_API int mt_depth (const mt_node *t);            /* an integer or a leaf has 0 */
MT_API const mt_node *mt_mode (const mt_node *t, int i);   /* NULL: none, or swizzled */
/* A mode is asked as the whole is: mt_size(mt_mode(mt_mode(a, 0), 1)) is size<0,1>(A). */
/* A copy of a nested mode, t[path[0]][path[1]]...; of a swizzled layout under the same
** swizzle. */
MT_API mt_status mt_get (mt_layout *out, const mt_node *t, int n, const int *path,
                         mt_err *err);
MT_API bool mt_equal (const mt_node *a, const mt_node *b);
MT_API bool mt_congruent (const mt_node *a, const mt_node *b);      /* same tree */
MT_API int64_t mt_size (const mt_node *t);        /* product of the extents, checked */
/* The offsets of an integer or swizzled layout: (1) *lo is the least, *end one more than
** the largest; 0 and 0 if there are none. This is what memory for A is sized by: 8:-1
** has -7 and 1. Errors: MT_EINVAL (strides are not integers), MT_EOVERFLOW,
** MT_EUNSUPPORTED (under a swizzle: not found in 2^19 steps). */
MT_API mt_status mt_footprint (int64_t *lo, int64_t *end, const mt_node *a, mt_err *err);
/* How many offsets there are from the least to the largest, and 0 counts as one: without
** negative strides one more than the largest, A(size-1)+1 of a layout without a swizzle;
** else, as in CuTe, the sum of (s-1)*|d| over its s:d, plus 1: 4:-1 has 4. Errors: those
** of mt_footprint. */
MT_API mt_status mt_cosize (int64_t *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_shape (mt_layout *out, const mt_node *a, mt_err *err);  /* a tuple */
MT_API mt_status mt_stride (mt_layout *out, const mt_node *a, mt_err *err);  /* a tuple */

/* ---------------------------------------------------------------- evaluation */

/* out = A(i), i >= 0 a linear index, also beyond size(A). Integer strides, swizzled or
** not. */
MT_API mt_status mt_at (int64_t *out, const mt_node *a, int64_t i, mt_err *err);
/* out = A(c), c an integer or a tuple: 1-D, R-D, hierarchical or mixed; `_` counts as
** 0. `a` may be a shape: out is the index of c. Errors: MT_ERANK, MT_ERANGE (a
** negative coordinate). */
MT_API mt_status mt_crd2idx (int64_t *out, const mt_node *c, const mt_node *a,
                             mt_err *err);
/* The same for any ring: an integer, or a coordinate tuple with its zeros filled in. */
MT_API mt_status mt_eval (mt_layout *out, const mt_node *c, const mt_node *a,
                          mt_err *err);
/* The natural coordinate of index i in a shape (a tuple or a layout); the last mode
** does not wrap. */
MT_API mt_status mt_idx2crd (mt_layout *out, int64_t i, const mt_node *shape,
                             mt_err *err);

/* ---------------------------------------------------------------- structure */

MT_API mt_status mt_flatten (mt_layout *out, const mt_node *t, mt_err *err);
/* Modes [first, last) become one mode. */
MT_API mt_status mt_group (mt_layout *out, const mt_node *t, int first, int last,
                           mt_err *err);
MT_API mt_status mt_select (mt_layout *out, const mt_node *t, int n, const int *modes,
                            mt_err *err);
/* The modes where c has `_`, as a layout; `offset` (may be NULL): where the slice
** begins. A slice of a swizzled layout may be a plain one (mt_swizzle_slice); of a
** coordinate layout the offset is no integer (`offset` 0): mt_eval(c) is where the
** slice begins. */
MT_API mt_status mt_slice (mt_layout *out, int64_t *offset, const mt_node *c,
                           const mt_node *a, mt_err *err);

/* ---------------------------------------------------------------- algebra */

/* R of depth <= 1 with (1) R(i) = A(i) for 0 <= i < size(A), (2) size(R) = size(A),
** (3) no two neighbouring modes that could be one. `profile` (may be NULL): by mode,
** where it has a tuple. */
MT_API mt_status mt_coalesce (mt_layout *out, const mt_node *a, const mt_node *profile,
                              mt_err *err);
/* R = A o B: (1) R(i) = A(B(i)) for 0 <= i < size(B), (2) shape(B) is compatible with
** shape(R). B may run past size(A): the last mode of A has no bound. `b` is a layout,
** or a tiler: by mode; modes of A that the tiler does not reach are dropped. B's
** strides may be basis elements: each then steps in the mode of A that it names. Where
** digits do not meet, an answer is searched for by the definition: at most 2^16 values of
** A are compared, fewer if it has more than 32 digits. Errors: MT_EINEXACT with a
** witness, MT_ERANK. */
MT_API mt_status mt_composition (mt_layout *out, const mt_node *a, const mt_node *b,
                                 mt_err *err);
/* The offsets that A skips: (1) disjoint from A but for 0, (2) ordered, strides
** positive, (3) if it fills, (A, R) has every offset of a range of at least `bound`,
** each once. `fills` (may be NULL): whether it does; it does if A's strides, in order,
** divide. Stride-0 modes are passed over. Errors: MT_EINJECTIVE (two elements of A share
** an offset), MT_EINEXACT (modes of A interleave: nothing fills what it skips; the text
** has the stride at which copies of A do not meet, if that was found within 2^16 steps),
** MT_EINVAL (A is empty). */
MT_API mt_status mt_complement (mt_layout *out, bool *fills, const mt_node *a,
                                int64_t bound, mt_err *err);
/* ((tile), (rest)) per mode: A o (T, complement(T, size(A))). Larger than A only if
** the tile overhangs the end of A's last mode (by mode: of that mode); never smaller.
** `t` is a layout or a tiler; modes that the tiler does not reach are kept. Zipped:
** ((tiles),(rests)); tiled: ((tiles), rest, rest, ...); flat: (tile, ..., rest, ...).
** Errors: MT_EINEXACT, MT_EINJECTIVE, MT_ERANK. */
MT_API mt_status mt_logical_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                    mt_err *err);
MT_API mt_status mt_zipped_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                   mt_err *err);
MT_API mt_status mt_tiled_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                  mt_err *err);
MT_API mt_status mt_flat_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                 mt_err *err);
/* (A, complement(A, size(A) * cosize(B)) o B): copies of A, no two of which meet. */
MT_API mt_status mt_logical_product (mt_layout *out, const mt_node *a, const mt_node *b,
                                     mt_err *err);
/* ((A0,B0),(A1,B1),...); raked: ((B0,A0),(B1,A1),...). */
MT_API mt_status mt_blocked_product (mt_layout *out, const mt_node *a, const mt_node *b,
                                     mt_err *err);
MT_API mt_status mt_raked_product (mt_layout *out, const mt_node *a, const mt_node *b,
                                   mt_err *err);
/* A(R(i)) = i for 0 <= i < size(R), R made of whole modes of A coalesced: those with
** the strides 1, s0, s0*s1, ... in their order. */
MT_API mt_status mt_right_inverse (mt_layout *out, const mt_node *a, mt_err *err);

/* ---------------------------------------------------------------- types and files */

/* Those of moontile_dtypes.def, little endian. Floats are as in IEEE 754, but e4m3
** (float8_e4m3fn elsewhere): it has no infinities, only one NaN of each sign, 0x7f and
** 0xff, and 448 as its largest number; what rounds to more becomes NaN, infinity too, as
** in ml_dtypes. */
typedef enum mt_dtype {
#define MT_DTYPE(name, ...) MT_##name,
#include "moontile_dtypes.def"
  MT_NDTYPE
} mt_dtype;

MT_API const char *mt_dtype_name (mt_dtype d);            /* "f32" */
MT_API size_t mt_dtype_size (mt_dtype d);                 /* bytes of one element */
MT_API mt_status mt_dtype_find (mt_dtype *out, const char *name, mt_err *err);

/* A number as Lua has it: an integer or a double. */
typedef struct mt_number { bool isint; int64_t i; double f; } mt_number;
/* One element, little endian. Reading is exact, NaN payloads included (u64 beyond 2^63
** wraps to a negative integer, and writing it gives it back). Writing rounds to
** nearest even; an integer type takes integral values in its range only (MT_ERANGE
** otherwise); a float type takes any. */
MT_API mt_number mt_load_element (mt_dtype d, const void *p);
MT_API mt_status mt_store_element (mt_dtype d, void *p, mt_number v, mt_err *err);
/* One element as a copy converts it: the nearest, ties to even. (1) Floats out of range
** become infinity, or NaN where there is none; a NaN keeps its sign and what fits of its
** payload. (2) Integers out of range become the end of it, NaN 0. (3) As a bool all but
** 0 is 1, NaN too. Between equal types: the same bytes. */
MT_API void mt_cast_element (mt_dtype to, void *dst, mt_dtype from, const void *src);

/* The header of a .npy file (format 1.0 to 3.0): type, layout and where the data
** begin. `bytes` is how much of the file's beginning is in `head`; MT_EFORMAT says
** what is wrong with it, and needs at most 64 KiB. `file_size` is the size of the
** whole file: the data must be all there; what follows them is ignored, as NumPy does.
** C order gives row-major strides, Fortran order column-major ones; big-endian types
** have `swap` set. An array of one dimension is n:1; one without dimensions is ():(),
** of size 1. bf16 is '<V2' (as ml_dtypes writes it) or 'bfloat16'; e4m3 'float8_e4m3fn',
** e5m2 'float8_e5m2' or '<f1'. Both are written as '<V1', which NumPy reads: the file
** then does not say which of them it is. NumPy's names ('float32') are read too. */
typedef struct mt_npy {
  mt_dtype dtype;
  bool swap;
  size_t data;          /* offset of the first byte of the data in the file */
  size_t data_bytes;
  mt_layout layout;
} mt_npy;
enum { MT_NPY_HEAD = 65536 };
MT_API mt_status mt_npy_read_header (mt_npy *out, const void *head, size_t bytes,
                                     uint64_t file_size, mt_err *err);
/* The same for elements that are known to be `as`: the file has it, or raw bytes ('V') or
** unsigned integers of its size. */
MT_API mt_status mt_npy_read_header_as (mt_npy *out, mt_dtype as, const void *head,
                                        size_t bytes, uint64_t file_size, mt_err *err);
/* Writes the header (version 1.0, data 64-byte aligned, byte for byte as NumPy) for a
** compact array into `buf`; `size` receives its length. The integers of `shape` at any
** depth are the extents; an integer n is (n,). */
enum { MT_NPY_HEADER_MAX = 2048 };
MT_API mt_status mt_npy_write_header (void *buf, size_t *size, mt_dtype d,
                                      const mt_node *shape,
                                      bool fortran_order, mt_err *err);

/* ---------------------------------------------------------------- devices and memory */

/* Same contract as lua_Alloc: nsize 0 frees, else (re)allocates; NULL when there is no
** memory. */
typedef void *(*mt_alloc) (void *ud, void *ptr, size_t osize, size_t nsize);

typedef struct mt_device_options {
  mt_alloc alloc;          /* host memory; NULL: realloc and free */
  void *alloc_ud;
  int threads;             /* of the CPU executor; 0: as many as processors are online */
  const char *libcuda;     /* path of the driver; NULL: "libcuda.so.1" */
  const char *libblas;     /* of "cpu": path of a BLAS, for products of plain matrices of
                           ** f32 or f64; "": none. NULL: "libblas.so.3" where that is an
                           ** OpenBLAS, BLIS or MKL and was measured to be faster */
  size_t piece;            /* of a GPU: bytes of a piece of what is copied between it and
                           ** the host; 0: 4 MiB */
} mt_device_options;

typedef struct mt_device mt_device;    /* may be used by one thread at a time */
typedef struct mt_stream mt_stream;    /* NULL is a device's own stream */

/* name: "cpu"; "cpu:checked" (each value is copied on its own and each access
** verified: slow, the reference); "cuda", "cuda:N"; NULL: the first GPU if there is
** one with kernels, else "cpu". `options` may be NULL. Errors: MT_ENODEV, MT_EDRIVER,
** MT_ENOMEM. */
MT_API mt_status mt_device_open (mt_device **out, const char *name,
                                 const mt_device_options *options, mt_err *err);
MT_API void mt_device_close (mt_device *d);    /* NULL is fine. Free its buffers first. */
MT_API const char *mt_device_name (const mt_device *d);      /* "cpu", "cuda:0" */
/* A line for people: the processor's or GPU's name, cores, memory, the driver's
** version. */
MT_API const char *mt_device_about (const mt_device *d);
MT_API bool mt_device_is_host (const mt_device *d);   /* the host can read its memory */
/* Threads that it may run on, the caller's among them: those of the options, or all. */
MT_API int mt_device_threads (const mt_device *d);
/* Bytes, of the host and of the device, that copies between them may pass through. */
MT_API size_t mt_device_staging (const mt_device *d);
/* How many CUDA devices there are; 0 with a reason in `err` if none can be used. */
MT_API int mt_cuda_count (const mt_device_options *options, mt_err *err);

/* Memory of a device, aligned to 256 bytes, zeroed. bytes 0 gives a valid pointer or
** NULL. */
MT_API mt_status mt_malloc (mt_device *d, void **out, size_t bytes, mt_err *err);
MT_API void mt_free (mt_device *d, void *p, size_t bytes);
/* Between host and device memory of `d`, in order with its own stream; returns when it
** is done. */
MT_API mt_status mt_upload (mt_device *d, void *dst, const void *host, size_t bytes,
                            mt_err *err);
MT_API mt_status mt_download (mt_device *d, void *host, const void *src, size_t bytes,
                              mt_err *err);

MT_API mt_status mt_stream_create (mt_device *d, mt_stream **out, mt_err *err);
MT_API void mt_stream_destroy (mt_device *d, mt_stream *s);
/* Waits for what was launched; errors of kernels show here. s NULL: for everything on
** the device. */
MT_API mt_status mt_synchronize (mt_device *d, mt_stream *s, mt_err *err);

#include "moontile_tensor.h"
#include "moontile_atom.h"
#include "moontile_tile.h"

/* ---------------------------------------------------------------- plans */

/* A copy that was proven legal for its two tensors and given a kernel. Remembers their
** addresses, not their layouts. mt_plan_copy allocates it (host memory of the device).
** copy NULL: any partition. src and dst lie on the device, have congruent or equal
** shapes, any strides, swizzled or not; what is real on both sides is copied. To another
** dtype each element is converted (mt_cast_element), by a tiled copy one at a time,
** whatever its width. Errors: MT_ERANK, MT_ERANGE, MT_EALIGN, MT_EINJECTIVE, MT_EOVERLAP,
** MT_EINEXACT, MT_EUNSUPPORTED. */
typedef struct mt_plan mt_plan;
MT_API mt_status mt_plan_copy (mt_plan **out, mt_device *d, const mt_tiled_copy *copy,
                               const mt_tensor *src, const mt_tensor *dst, mt_err *err);
/* C = alpha A B + beta C, proven legal and given a kernel: A (M,K), B (N,K), C (M,N),
** each with an optional last mode L for the batch; any modes, any strides, swizzled or
** not. Each of the modes has one size in the operands that have it. mma NULL: one is
** chosen, or the processor's own product. Laws:
** (1) each element of C is written once, and C lies apart from A and B;
** (2) beta 0: C is not read; alpha 0: A and B are not, nor without any K: C is beta C,
**     as in BLAS, whatever is in A and B, a NaN too;
** (3) A and B are what the instruction makes of them, C has the type of its accumulators,
**     or both are floats; alpha and beta are integral where C is of integers;
** (4) what C cannot hold is as mt_cast_element has it: floats become infinity, or NaN
**     where there is none, integers the end of the range; floats are rounded once;
** (5) the accumulators are the instruction's own: those of integers (s32) wrap modulo
**     2^32 by definition, but those of a name with SATURATE, whose sums stop at the ends;
**     without mma a GPU and "cpu:checked" choose these, and on "cpu" the sums of integers
**     are exact whatever their size;
** (6) where the partition splits K over threads, their sums are added in order, as
**     accumulators;
** (7) what is not real of A and B adds nothing, what is not real of C is not stored. Real
**     is the beginning of each mode.
** Errors: MT_EINVAL, MT_ERANK, MT_ERANGE, MT_EALIGN, MT_EINJECTIVE, MT_EOVERLAP,
** MT_EUNSUPPORTED (types; an atom that this device has not, with the list of those that
** it has), MT_EOVERFLOW, MT_ETOOBIG, MT_ENOMEM. */
MT_API mt_status mt_plan_gemm (mt_plan **out, mt_device *d, const mt_tiled_mma *mma,
                               const mt_tensor *a, const mt_tensor *b,
                               const mt_tensor *c, double alpha, double beta,
                               mt_err *err);
/* Starts it; on a GPU it returns at once. Allocates nothing. */
MT_API mt_status mt_plan_launch (mt_plan *p, mt_stream *s, mt_err *err);
/* The plan for people: kernel, grid, vector width, axes of both sides, what was
** refused and why. Like snprintf. */
MT_API size_t mt_plan_format (char *buf, size_t size, const mt_plan *p);
MT_API void mt_plan_free (mt_plan *p);

/* Names of the kernels that this library carries for "cpu" or "cuda", one a call; NULL
** at the end. Without nvcc at build time the library has no CUDA kernels. */
MT_API const char *mt_kernel_name (const char *backend, int i);

#ifdef __cplusplus
}
#endif

#include "moontile_tuple.h"
#include "moontile_algebra.h"
#include "moontile_swizzle.h"
#include "moontile_domain.h"
#include "moontile_analysis.h"
#include "moontile_verify.h"
#include "moontile_graph.h"
#include "moontile_tune.h"
#include "moontile_transfer.h"
#endif
