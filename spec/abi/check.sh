#!/bin/sh
# check.sh: the functions that the library exports, beside the list of them that is kept.
# SPDX-License-Identifier: MIT
#
# usage: check.sh LIBRARY NM [--exact | --write]
# What is in the list stays until the binary interface changes (the version's second number). What
# is new may lack in it, but for --exact; --write writes it.
set -eu
list=$(dirname "$0")/symbols.txt
now=$("$2" -D --defined-only "$1" | sed -n 's/^[0-9a-f]* T \([^@]*\).*/\1/p' | LC_ALL=C sort)
if [ "${3:-}" = --write ]; then printf '%s\n' "$now" >"$list"; fi
differ=$(printf '%s\n' "$now" | diff "$list" - |
  sed -n 's/^< \(.*\)/\1 is gone/p; s/^> \(.*\)/\1 is new: check.sh --write/p')
[ -z "$differ" ] || printf '%s\n' "$differ"
case $differ in
  *' is gone'*) exit 1 ;;
  *' is new'*) [ "${3:-}" != --exact ] || exit 1 ;;
esac
printf '%s functions, as they are listed\n' "$(wc -l <"$list" | tr -d ' ')"
