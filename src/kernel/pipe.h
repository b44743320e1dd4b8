/*
** pipe.h - private: who fills and who uses the stages of a kernel, as programs of roles.
** SPDX-License-Identifier: MIT
**
** A role is a program of abstract actions on k-tiles; tile t lies in stage t mod stages.
** A fill is issued by one action and lands later, in order, whenever it likes; what
** threads store themselves lands at once. The proof of the order walks through all
** interleavings of these programs, the execution through one.
*/
#ifndef MT_KERNEL_PIPE_H
#define MT_KERNEL_PIPE_H

#include "moontile/kernel.h"

enum { MT_MAXROLES = 3 };

/* pass      nothing
** issue     fills are begun
** own       waits until the role's own fills of the tile have landed
** sync      waits for all roles at the same barrier
** full      waits until all fills of the tile have landed
** freed     waits until all its users have left the tile
** use       reads and multiplies
** free      leaves the tile */
typedef enum mt_action {
  MT_DO_PASS,
  MT_DO_ISSUE,
  MT_DO_OWN,
  MT_DO_SYNC,
  MT_DO_FULL,
  MT_DO_FREED,
  MT_DO_USE,
  MT_DO_FREE,
  MT_DO_END,
  MT_DO_LAND /* of no program */
} mt_action;

typedef struct mt_pipe {
  mt_schedule schedule;
  int64_t stages, ahead, tiles; /* tiles: k-tiles, of each of `works` */
  int works;                    /* tiles of C that are computed in turn: pingpong has 2 */
  int roles, fillers;           /* the first of them fill */
  bool async;
} mt_pipe;

/* How far each role is: actions done; fills of each that have landed. */
typedef struct mt_pipe_state {
  int64_t at[MT_MAXROLES], landed[MT_MAXROLES];
} mt_pipe_state;

typedef struct mt_step_done {
  mt_action action;
  int role;
  int64_t tile;
} mt_step_done;

/* The pipe of a kernel whose users are in `users` groups, for so many k-tiles. */
mt_pipe mt_pipe_of (const mt_gemm_spec *k, int users, int64_t tiles);
mt_step_done mt_pipe_next (const mt_pipe *p, const mt_pipe_state *s, int role);
bool mt_pipe_ended (const mt_pipe *p, const mt_pipe_state *s);
/* Choices 0 .. 2 * MT_MAXROLES - 1: the next action of a role, then landings. Whether one
** can be made now, and which it is. */
bool mt_pipe_can (mt_step_done *out, const mt_pipe *p, const mt_pipe_state *s,
                  int choice);
void mt_pipe_do (const mt_pipe *p, mt_pipe_state *s, int choice);
/* Whether all of the tile has landed. */
bool mt_pipe_landed (const mt_pipe *p, const mt_pipe_state *s, int64_t tile);
/* Whether a role uses the tile; whether it has left it, or used it. */
bool mt_pipe_uses (const mt_pipe *p, int role, int64_t tile);
bool mt_pipe_used (const mt_pipe *p, const mt_pipe_state *s, int role, int64_t tile);
/* "the producer", "consumer 1", "the warps 0". */
const char *mt_pipe_role (const mt_pipe *p, int role);

#endif
