#!/bin/sh
# latex.sh: what tile.latex writes compiles, to one page each.
# usage: sh spec/browser/latex.sh MOONTILE PDFLATEX FOLDER
# SPDX-License-Identifier: MIT
set -eu

rm -rf "$3"
mkdir -p "$3"
"$1" spec/browser/pictures.lua "$3" latex
cd "$3"
documents=0
for file in *.tex; do
  name=${file%.tex}
  if ! "$2" -interaction=batchmode -halt-on-error "$file" >/dev/null 2>&1; then
    grep -A 4 '^!' "$name.log" >&2 || true
    echo "latex: $file does not compile" >&2
    exit 1
  fi
  grep -q "Output written on $name.pdf (1 page" "$name.log" || {
    echo "latex: $file is not one page" >&2
    exit 1
  }
  documents=$((documents + 1))
done
echo "latex: $documents documents of one page each"
