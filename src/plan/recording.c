/*
** recording.c - the launches of a plan as data.
** SPDX-License-Identifier: MIT
*/
#include "plan/recording.h"

static mt_status refuse (const char *what, const char *way, mt_err *err) {
  return mt_fail(err, MT_EUNSUPPORTED, "export: %s\n%s", what, way);
}

mt_status mt_plan_record (mt_plan *p, mt_recorder *r, mt_err *err) {
  if (p->stage)
    return refuse("a copy between the host and a device goes in pieces, by both",
                  "bring the tensor there, T:to(device), and export the copy on it", err);
  if (p->table || p->gathered)
    return refuse("a composed layout has no strides: its copy goes by a list of offsets",
                  "export a plan of plain or swizzled layouts", err);
  if (p->device->backend->record == NULL)
    return refuse("this plan is of the host, and no launch",
                  "plan it with tensors on a GPU, tile.device \"cuda\"", err);
  bool product = p->launch.desc.op == MT_OP_GEMM;
  if ((product ? p->units : p->launch.desc.rests) == 0) return MT_OK;
  MT_TRY(mt_graph_idle(p->device, "export", err));
  return p->device->backend->record(p, r, err);
}
