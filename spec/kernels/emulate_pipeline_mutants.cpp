/*
** emulate_pipeline_mutants.cpp - the mutants of pipeline.cuh on the host, each in a namespace.
** SPDX-License-Identifier: MIT
*/
#define MT_PLANTED
#include "emulate_mma.cpp"
