#!/bin/sh
# run.sh - predicts, counts and compares the accesses of cases.lua, on a machine with ncu.
# usage: run.sh MOONTILE ACCESS [FOLDER]
# SPDX-License-Identifier: MIT
#
# ACCESS is access.cu, compiled where nvcc is; it needs nothing but the driver to run:
#   nvcc -O2 -std=c++17 -cudart static -gencode arch=compute_80,code=[sm_80,compute_80] \
#        -gencode arch=compute_90,code=sm_90 -o access bench/ncu/access.cu
# FOLDER keeps cases.txt, ncu.csv and compare.txt.
set -eu
here=$(dirname "$0") moontile=$1 access=$2 out=${3:-.}
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared
conflicts=l1tex__data_bank_conflicts_pipe_lsu_mem_shared
sectors=l1tex__t_sectors_pipe_lsu_mem_global
requests=l1tex__t_requests_pipe_lsu_mem_global
metrics=$shared.sum
for name in "$shared" "$conflicts" "$sectors" "$requests"; do
  metrics=$metrics,${name}_op_ld.sum,${name}_op_st.sum
done

"$moontile" "$here/cases.lua" > "$out/cases.txt"
"$access" "$out/cases.txt"
ncu --clock-control none --csv --page raw --metrics "$metrics" --log-file "$out/ncu.csv" \
    "$access" "$out/cases.txt"
"$moontile" "$here/compare.lua" "$out/cases.txt" "$out/ncu.csv" > "$out/compare.txt" && s=0 || s=$?
cat "$out/compare.txt"
exit "$s"
