#!/bin/sh
# cute_header.sh: what tile.cute writes is compiled by a C++ compiler with CuTe's headers; what CuTe
# prints of random tiled MMAs and tiled copies is what tile.cute(x, "print") says.
# SPDX-License-Identifier: MIT
#
# usage: cute_header.sh PROGRAM SCRATCH FOLDER...   the folders of CuTe's and CUDA's headers
set -eu

program=$1 header=$2/cute_header.cpp print=$2/cute_print declared=$2/cute_declared
here=$(cd "$(dirname "$0")" && pwd)
shift 2
mkdir -p "$(dirname "$header")"
for folder; do
  [ -d "$folder/cute" ] || continue
  grep -rhoE '(struct|using) +[A-Za-z_][A-Za-z_0-9:]*' "$folder/cute" | sed 's/.*[ :]//' | sort -u
  awk '/define CUTLASS_(MAJOR|MINOR|PATCH)/ { printf "%s", $3 } END { print "" }' \
    "$folder/cutlass/version.h"
done >"$declared"
"$program" "$here/cute_header.lua" "$declared" >"$header"
for folder; do set -- "$@" "-I$folder"; shift; done
"${CXX:-c++}" -std=c++17 -fsyntax-only "$@" "$header"

seed=${MOONTILE_SEED:-1}
"$program" "$here/cute_print.lua" "$declared" "$seed" >"$print.cpp"
"$program" "$here/cute_print.lua" "$declared" "$seed" want >"$print.want"
"${CXX:-c++}" -std=c++17 -w "$@" "$print.cpp" -o "$print"
"$print" | grep -v '^$' >"$print.got"
diff "$print.want" "$print.got"
