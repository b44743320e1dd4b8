#!/bin/sh
# run.sh: random plans as C, compiled without the library and run: the results are the library's.
# SPDX-License-Identifier: MIT
#
# usage: run.sh PROGRAM CC SCRATCH LIBCUDA COUNT     from the root of the sources
set -eu

program=$1 cc=$2 out=$3 libcuda=$4 count=$5 here=$(cd "$(dirname "$0")" && pwd)
seed=${MOONTILE_SEED:-$(date +%s)}
echo "MOONTILE_SEED=$seed"
rm -rf "$out"
mkdir -p "$out"
"$program" "$here/plans.lua" "$out" "$libcuda" "$seed" "$count"
cd "$out"
# shellcheck disable=SC2086 # CC may have arguments
printf '%s\n' p*.c bad.c | xargs -n 1 -P "$(nproc)" \
  $cc -std=c11 -O1 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -c
$cc -std=c11 -O1 -Wall -Wextra -I"$here" main.c p*.o bad.o -ldl -o host
if ldd host | grep -qi moontile; then echo "host needs the library"; exit 1; fi
./host ${libcuda:+"$libcuda"}
