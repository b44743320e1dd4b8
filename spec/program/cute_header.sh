#!/bin/sh
# cute_header.sh: what tile.cute writes is compiled by a C++ compiler with CuTe's headers.
# SPDX-License-Identifier: MIT
#
# usage: cute_header.sh PROGRAM SCRATCH FOLDER...   the folders of CuTe's and CUDA's headers
set -eu

program=$1 header=$2/cute_header.cpp here=$(cd "$(dirname "$0")" && pwd)
shift 2
mkdir -p "$(dirname "$header")"
"$program" "$here/cute_header.lua" >"$header"
for folder; do set -- "$@" "-I$folder"; shift; done
"${CXX:-c++}" -std=c++17 -fsyntax-only "$@" "$header"
