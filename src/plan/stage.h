/*
** stage.h - private: what travels between the host and a device, piece by piece.
** SPDX-License-Identifier: MIT
**
** The elements are a box of axes, in the order of the host's strides, behind the axes
** along which the source repeats itself. A piece is a part of that box: whole axes, some
** indices of the axis that is cut, one index of each axis behind it. Its elements travel
** as one run: as the host holds them where they are a run there ("raw"), else packed in
** the order of the axes. Where the device holds them just so ("direct") nothing has to be
** put into place. Of a copy that converts elements travel in the shorter type, in the
** host's if both are as short: the end of the other type converts, so that a piece is raw
** only in the host's type, direct only in the device's.
*/
#ifndef MT_PLAN_STAGE_H
#define MT_PLAN_STAGE_H

#include "core/build.h"
#include "plan/device.h"

enum {
  MT_STAGE_SLOTS = 8,                     /* pieces that are on their way at most */
  MT_STAGE_KEPT = 2 * MT_STAGE_SLOTS + 1, /* on both sides, and one that was freed */
  MT_STAGE_PIECE = 4 << 20,   /* bytes of a piece at most, where the options do not say */
  MT_STAGE_SHORT = 512 << 10, /* at least, of a copy that is small */
  MT_STAGE_LEAST = 64 << 10,  /* fewer are no piece, but for options that say so */
  MT_UNSTAGED = 64 << 10,     /* bytes of a run that goes without staging */
  MT_STAGE_FEW = 8            /* threads that are as fast as memory */
};

/* Half of the way, between a tensor and what travels. `p` is a plan for pieces of this
** extent: others differ by offsets that are multiples of 16 bytes, or get a new one. */
typedef struct mt_leg {
  mt_device *device;
  int side; /* of the tensor, MT_SRC or MT_DST; what travels: other */
  mt_plan *p;
  int64_t extent, offset; /* offset: of the tensor's side, in units of that plan */
} mt_leg;

typedef struct mt_stage {
  int host;                   /* side in the host's memory: MT_SRC, MT_DST */
  mt_dtype dtype[2], travels; /* of the sides, on the way */
  mt_rounding rounding;       /* by the end that converts */
  void *data[2];
  size_t bytes[2]; /* of the buffers */
  int64_t offset[2], origin[2];
  mt_node swizzle[2]; /* of a side; else its arity is 0 */
  int n;
  int64_t extent[MT_MAXAXIS], stride[2][MT_MAXAXIS];
  bool locked; /* the host's memory is page-locked */
  /* ---- the cut */
  bool staged;
  size_t room; /* bytes of a piece at most, and of what it is kept in */
  int cut;
  int64_t piece;                      /* indices of a piece */
  int64_t across, pieces;             /* pieces along that axis, in all */
  mt_leg pack[MT_STAGE_SLOTS], place; /* on the host, of each slot; on the device */
} mt_stage;

typedef struct mt_piece {
  int64_t extent;    /* of the axis that is cut */
  int64_t offset[2]; /* of coordinate 0, as in mt_launch */
  bool raw, direct;
  int64_t stride[MT_MAXAXIS]; /* of what travels */
  int64_t zero;               /* where coordinate 0 travels; raw: without the swizzle */
  int64_t low;                /* raw: the element of the host's buffer where it begins */
  size_t bytes;               /* that travel */
} mt_piece;

/* Piece i of 0 .. pieces - 1. */
void mt_stage_piece (mt_piece *out, const mt_stage *g, int64_t i);
/* Where a raw piece lies on the host, a direct one on the device. */
void *mt_piece_host (const mt_stage *g, const mt_piece *p);
void *mt_piece_device (const mt_stage *g, const mt_piece *p);
/* Makes leg->p the plan for this piece, which travels through g->room bytes at `room`. */
mt_status mt_stage_leg (mt_leg *leg, const mt_stage *g, const mt_piece *p, void *room,
                        mt_err *err);

/* The same for g->pack[slot], behind the first piece. */
mt_status mt_stage_pack (mt_stage *g, int slot, const mt_piece *p, void *room,
                         mt_err *err);

mt_status mt_stage_launch (mt_plan *p, mt_stream *s, mt_err *err);
void mt_stage_free (mt_plan *p);
/* What mt_plan_format says of it. */
struct mt_strbuf;
void mt_stage_put (struct mt_strbuf *t, const mt_plan *p);

#endif
