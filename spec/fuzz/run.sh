#!/bin/sh
# run.sh: every fuzz target in turn, each for some minutes. A row for each of them says the CPU's
# minutes, what was executed, how much was covered and how many findings there were.
# SPDX-License-Identifier: MIT
#
# usage: run.sh BUILD OUT [MINUTES [TARGET...]]
#   BUILD     a build folder of the preset "fuzz"
#   OUT       for corpora, logs and findings; it is made, and goes on where it ended
#   MINUTES   for each target: 1, unless it is told otherwise
#   TARGET    vm safetensors npy archive ops parse surface api: all of them
# Exit status 1: something was found.
set -u

mkdir -p "$2"
build=$(cd "$1" && pwd) out=$(cd "$2" && pwd) minutes=${3:-1}
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -gt 3 ]; then shift 3; else set -- vm safetensors npy archive ops parse surface api; fi
export MOONTILE_TEST_LIBCUDA="$build/fake/libcuda.so.1"
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1
seconds=$(awk "BEGIN { print int(60 * $minutes) }")

# One of libFuzzer's: what is new is kept in OUT, what is in the repository is only read. A finding
# ends a run; the next one begins with what is left of the time.
libfuzzer() {
  mkdir -p "$out/corpus/$1" "$out/findings/$1"
  "$build/moontile_fuzz_$1" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 \
    -print_final_stats=1 -use_value_profile=1 -artifact_prefix="$out/findings/$1/" \
    "$out/corpus/$1" "$here/corpus/$1"
}

scripts_surface() {
  mkdir -p "$out/findings/surface"
  sh "$here/surface.sh" "$build/moontile" "$out/surface" "$seconds" 1 "$(date +%s)"
}

# Its calls take about as long as they are many: seed after seed until the time is over.
scripts_api() {
  end=$(($(date +%s) + seconds)) seed=$(date +%s) bad=0
  while [ "$(date +%s)" -lt "$end" ]; do
    "$build/moontile" "$here/api.lua" "$seed" 20000 || { echo "api: seed $seed"; bad=1; }
    seed=$((seed + 1))
  done
  return "$bad"
}

# What a log of the target says: executions, and what was covered.
executions() {
  case $1 in
    surface) awk '/^surface: seed/ { n += $6 } END { print n + 0 }' "$2" ;;
    api) awk '/^api: .* calls/ { n += $2 } END { print n + 0 }' "$2" ;;
    *) awk '/stat::number_of_executed_units/ { n = $2 } END { print n + 0 }' "$2" ;;
  esac
}

covered() { sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$1" | tail -n 1; }

# The CPU's seconds of this shell's children so far, in `cpu`.
count_cpu() {
  times >"$out/times"
  cpu=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/)
                       print 60 * (u[1] + s[1]) + u[2] + s[2] }' "$out/times")
}

status=0
for target; do
  log=$out/$target.log
  count_cpu
  before=$cpu
  case $target in
    surface) scripts_surface >"$log" 2>&1 ;;
    api) scripts_api >"$log" 2>&1 ;;
    *) libfuzzer "$target" >"$log" 2>&1 ;;
  esac
  result=$?
  verdict='nothing found'
  if [ $result != 0 ]; then status=1 verdict="FOUND: $log"; fi
  count_cpu
  printf '%-12s %6.1f CPU min  %12d executions  %6s edges  %s\n' "$target" \
    "$(awk "BEGIN { print ($cpu - $before) / 60 }")" "$(executions "$target" "$log")" \
    "$(covered "$log")" "$verdict" | tee -a "$out/table"
done
exit $status
