#!/bin/sh
# surface.sh: runs surface.lua for long: N processes beside each other, each in turns of a minute
# with new seeds and a driver that has much memory or little, or fails. Findings are shrunk, kept.
# SPDX-License-Identifier: MIT
#
# usage: surface.sh PROGRAM FOLDER [SECONDS [PROCESSES [SEED]]]
#   PROGRAM   moontile, with its whole path, best built with the sanitizers
#   FOLDER    for logs, files and findings; it is made. A finding is FOLDER/PROCESS/finding.SEED.log
#             (its lines), .out (what was said) and .small (shrunk); none is ever removed.
#             FOLDER/findings has all of them, with their texts, as soon as they are found.
#   SECONDS   15, or MOONTILE_TIMES as many
# MOONTILE_TEST_LIBCUDA names the driver of the device `gpu`. Exit status 1: something was found.
set -u

mkdir -p "$2"
program=$1 folder=$(cd "$2" && pwd) processes=${4:-1} seed=${5:-1}
seconds=${3:-$(awk "BEGIN { print int(15 * ${MOONTILE_TIMES:-1}) }")}
here=$(cd "$(dirname "$0")" && pwd)
turn=60                         # seconds of a turn, and what one more may take
grace=120
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1:max_allocation_size_mb=1024
export ASAN_OPTIONS

# What an exit status says, in words.
meaning() {
  case $1 in
    1) echo 'a law is broken, or a sanitizer spoke' ;;
    124 | 134 | 137) echo "ended by a signal, or $((turn + grace)) s were over" ;;
    *) echo 'it crashed' ;;
  esac
}

# Keeps what the turn in $1 failed with as $1/finding.SEED, and shrinks it afterwards: what ends this
# script takes no finding with it.
found() {
  one=$1/finding.$2
  cp "$1/log" "$one.log"
  cp "$1/out" "$one.out"
  {
    echo "surface.sh: seed $2, exit status $3 ($(meaning "$3")): $one.log"
    grep -v 'AddressSanitizer failed to allocate' "$1/out" | tail -n 60
  } >"$one.text"
  cat "$one.text" >>"$folder/findings"
  cat "$one.text"
  timeout -s KILL 600 "$program" "$here/surface.lua" --shrink "$one.log" --scratch . >"$one.shrunk" 2>&1
  tail -n 20 "$one.shrunk" | tee -a "$folder/findings"
}

# One process: turn after turn until the time is over. $1: its folder, $2: its first seed.
worker() {
  mkdir -p "$1/files"
  cd "$1/files" || return 1
  end=$(($(date +%s) + seconds)) next=$2 status=0
  while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
    if [ "$left" -gt "$turn" ]; then left=$turn; fi
    export FAKECUDA_MEMORY=1073741824 FAKECUDA_FAIL=
    case $((next / 100000 % 6)) in
      1) export FAKECUDA_MEMORY=100000 ;;
      2) export FAKECUDA_FAIL=cuMemAlloc:2:30,cuMemAlloc:2:99,cuStreamCreate:2:5+ ;;
      3) export FAKECUDA_FAIL=cuLaunchKernelEx:1:60,cuMemcpyDtoHAsync:1:80,cuMemFree:1:90 ;;
      4) export FAKECUDA_FAIL=cuStreamEndCapture:1:3,cuGraphInstantiateWithFlags:2:4,cuGraphLaunch:1:5+ ;;
      5) export FAKECUDA_MEMORY=4000000 FAKECUDA_FAIL=cuStreamSynchronize:700:99 ;;
    esac
    timeout -s ABRT $((left + grace)) "$program" "$here/surface.lua" --seed "$next" \
      --seconds "$left" --log "$1/log" --scratch . >"$1/out" 2>&1
    code=$?
    grep '^surface: seed' "$1/out"
    if [ "$code" != 0 ]; then found "$1" "$next" "$code"; status=1; fi
    next=$((next + 100000))
  done
  return $status
}

k=0 pids=
while [ "$k" -lt "$processes" ]; do
  worker "$folder/$k" $((seed + k * 100000000)) &
  pids="$pids $!" k=$((k + 1))
done
status=0
for pid in $pids; do wait "$pid" || status=1; done
if [ $status != 0 ]; then
  echo "surface.sh: found, now or before, in $folder/findings:"
  grep -h '^surface.sh: seed' "$folder/findings"
fi
exit $status
