/*
** epilogue.c - the names of activations.
** SPDX-License-Identifier: MIT
*/
#include "moontile/epilogue.h"

const char *mt_activation_name (mt_activation a) {
  static const char *const names[] = {"none", "relu",    "gelu", "gelu_tanh",
                                      "silu", "sigmoid", "tanh"};
  return (unsigned)a < MT_NACTIVATION ? names[a] : NULL;
}
