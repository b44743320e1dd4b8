#!/bin/sh
# run.sh: the gates of a release. Each prints one line, with its figure; its log is in OUT.
# SPDX-License-Identifier: MIT
#
# usage: run.sh BUILD OUT [GATE...]      BUILD: a build folder of the preset "default"
#   MOONTILE_GATE_CASES      random cases of the algebra: 1000000000
#   MOONTILE_GATE_MINUTES    of fuzzing, for each target: 120
#   MOONTILE_GATE_OPERATIONS of 8 threads under ThreadSanitizer: 1000000
#   MOONTILE_GATE_SLICES     of growth, of which the best counts: 40
#   MOONTILE_GATE_BUILDS     compilers luas aarch64: some of these
#   MOONTILE_GATE_HARD       HARDSTACKTESTS HARDMEMTESTS EMERGENCYGCTESTS: some of these
#   MOONTILE_ABI_REF         the commit whose library is compared: the last tag
#   MOONTILE_LUA_SOURCES     folders lua-5.4.4 ... with Lua's repository at that tag; what is not
#                            there is cloned
# Exit status 1: a gate failed. What a machine lacks (a compiler, qemu, a tag) is a word in the line.
# shellcheck disable=SC2317   # gates are called by their names
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
. "$root/spec/gate/builds.sh"

all='properties escape allocations collections driver hygiene abi trap threads growth builds hardlua
static coverage fuzz'
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2086
  set -- $all
fi

# ---- figures

# figure TEXT...: what the line of the gate says.
figure() { printf '%s\n' "$*" >"$out/figure"; }

have() { command -v "$1" >/dev/null 2>&1; }

# The fake driver of a build folder, for what it runs.
with_driver() {
  dir=$1
  shift
  MOONTILE_TEST_LIBCUDA=$dir/fake/libcuda.so.1 LD_LIBRARY_PATH=$dir/fake "$@"
}

# ---- gates

gate_properties() {
  "$build/moontile_algebra_test" --cases "${MOONTILE_GATE_CASES:-1000000000}" --jobs 0 || return 1
  figure "$(tail -n 1 "$log")"
}

gate_escape() {
  mkdir -p "$out/vm"
  MOONTILE_STRICT=1 with_driver "$build" "$build/moontile_vm_test" "$out/vm" || return 1
  figure "$(grep 'ms over at most' "$log")"
}

gate_allocations() {
  MOONTILE_AGAIN=1 with_driver "$build" "$build/moontile_sweep" "$root/spec/alloc/script.lua" \
    "$out/sweep.npy" "$build/fake/libcuda.so.1" || return 1
  figure "$(sed -n 's/^sweep: //p' "$log" | tail -n 1)"
  [ "$(sed -n 's/^sweep: \([0-9]*\) runs.*/\1/p' "$log")" -ge 10000 ]
}

# An object is freed at each collection, and a collection comes at each allocation.
gate_collections() {
  mkdir -p "$out/live"
  for device in cpu checked cuda; do
    (cd "$root" && with_driver "$build" "$build/moontile" spec/live/sweep.lua "$out/live" "$device" \
      "$build/fake/libcuda.so.1") || return 1
  done
  for device in cpu cuda; do
    (cd "$root" && with_driver "$build" "$build/moontile_refuse" spec/live/sweep.lua "$out/live" \
      "$device" "$build/fake/libcuda.so.1") || return 1
  done
  figure "$(awk '/ places/ { for (i = 2; i <= NF; i++) if ($i ~ /^places/) n += $(i - 1) } END { print n }' "$log")" \
    'places, 0 crashes'
}

gate_driver() {
  MOONTILE_ALL_CODES=1 with_driver "$build" "$build/moontile_cuda_test" || return 1
  figure "$(sed -n 's/^cuda: \([0-9]* runs\)/\1/p' "$log"), fork after init refused"
}

gate_hygiene() {
  ctest --test-dir "$build" --output-on-failure --no-tests=error -R '^(walls|loads)$' -V || return 1
  figure "$(grep -c 'times: .* bytes before' "$log") libraries loaded 1000 times, 0 walls broken"
}

gate_abi() {
  sh "$root/spec/abi/check.sh" "$build/libmoontile.so" nm --exact || return 1
  figure "$(tail -n 1 "$log")"
  ref=${MOONTILE_ABI_REF:-$(git -C "$root" describe --tags --abbrev=0 2>/dev/null)}
  if [ -z "$ref" ]; then
    figure "$(tail -n 1 "$log"); no tag to compare with"
    return 0
  fi
  have abidiff || { figure "no abidiff (Debian: abigail-tools)"; return 1; }
  rm -rf "$out/abi"
  git -C "$root" worktree prune
  git -C "$root" worktree add -f --detach "$out/abi/source" "$ref" || return 1
  configure "$out/abi/source" "$out/abi/build" && make "$out/abi/build" moontile_shared
  made=$?
  git -C "$root" worktree remove --force "$out/abi/source"
  [ "$made" = 0 ] || return 1
  before=$(tail -n 1 "$log")
  # 4: something changed; 8: something that breaks programs.
  abidiff --no-added-syms "$out/abi/build/libmoontile.so" "$build/libmoontile.so"
  [ $? -lt 8 ] && figure "${before#* }nothing of $ref is gone or other"
}

# Overflow of signed integers ends the program.
gate_trap() {
  configure "$root" "$out/trap" "-DCMAKE_C_FLAGS=-ftrapv" || return 1
  make "$out/trap" moontile_algebra_test moontile_core_test moontile_types_test || return 1
  for room in core types; do "$out/trap/moontile_${room}_test" || return 1; done
  "$out/trap/moontile_algebra_test" --cases 2000000 --jobs 0 || return 1
  figure "$(tail -n 1 "$log")"
}

gate_threads() {
  configure "$root" "$out/tsan" -DMOONTILE_TSAN=ON || return 1
  make "$out/tsan" moontile_threads_test moontile_vm_test moontile_fake || return 1
  for device in cpu cuda; do
    with_driver "$out/tsan" "$out/tsan/moontile_threads_test" "$root/spec/threads/work.lua" "$device" \
      "${MOONTILE_GATE_OPERATIONS:-1000000}" 8 || return 1
  done
  mkdir -p "$out/tsan.vm"
  # Without attacks: they have one thread, and recursion deeper than what TSan can write down.
  MOONTILE_ATTACK=none with_driver "$out/tsan" "$out/tsan/moontile_vm_test" "$out/tsan.vm" || return 1
  figure "$(grep -c 'WARNING: ThreadSanitizer' "$log") reports in" \
    "$(awk '/ operations, / { n += $4 } END { print n }' "$log") operations of 8 threads, and in the VM's tests"
  ! grep -q 'WARNING: ThreadSanitizer' "$log"
}

# grow SCRIPT DEVICE OPERATIONS: 1, 2, 4 ... threads, each in its best of many short slices, so that
# other work of the machine spoils few of them.
grow() {
  counts=1 n=2
  while [ "$n" -le "$jobs" ] && [ "$n" -le 64 ]; do counts="$counts $n" n=$((2 * n)); done
  echo "grow: $1"
  # shellcheck disable=SC2086
  MOONTILE_SLICES=${MOONTILE_GATE_SLICES:-40} with_driver "$build" "$build/moontile_threads_test" \
    "$root/spec/threads/$1.lua" "$2" "$3" $counts
}

# How many times the operations a second of one thread 2, 4 ... threads do.
gate_growth() {
  grow work cpu 5000 && grow served cpu 50000 && grow work cuda 5000 && grow served cuda 1500 || return 1
  figure "$(awk '/^grow: / { name = $2 } / best of / && $5 > 1 {
    printf "%s%s on %s, %d threads: %s", s, name, $1, $5, $10; s = ", " }' "$log") times one thread's"
}

gate_static() {
  (cd "$root" && ./dev check) || return 1
  configure "$root" "$out/static" -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS=-Wconversion \
    -DMOONTILE_TESTS=OFF || return 1
  make "$out/static" moontile_shared moontile_lua || return 1
  figure "./dev check is clean, $(grep -c 'warning: ' "$log") warnings with -Wconversion"
}

# Lines and branches of the algebra and of what stands before each launch, by the tests in C.
gate_coverage() {
  configure "$root" "$out/coverage" -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS=--coverage -O0" || return 1
  tests='core algebra tuple types copy gemm'
  for room in $tests; do
    [ -d "$root/spec/$room" ] || continue
    make "$out/coverage" "moontile_${room}_test" || return 1
    MOONTILE_TIMES=0.1 "$out/coverage/moontile_${room}_test" || return 1
  done
  objects=$out/coverage/CMakeFiles/moontile_core.dir/src
  figure "$(for dir in core tuple algebra copy/check gemm/check; do
    (cd "$out/coverage" && gcov -b -n "$objects/$dir"*.gcda "$objects/$dir"/*.gcda 2>/dev/null) |
      covered "$root/src/$dir" "$dir"
  done | paste -sd, - | sed 's/,/, /g')"
}

# covered PREFIX NAME: what gcov says of the files that begin so, as "NAME 99.1 % of 500 lines ...".
covered() {
  awk -v prefix="$1" -v name="$2" '
    function share(text) { split(text, a, /:|%| of /); n = a[4]; return a[2] / 100 * n }
    /^File / { ours = index($0, prefix) > 0; next }
    ours && /^Lines executed/ { l += share($0); lines += n }
    ours && /^Taken at least once/ { b += share($0); branches += n }
    END { printf "%s %.1f %% of %d lines, %.1f %% of %d branches\n", name, 100 * l / lines, lines,
          100 * b / branches, branches }'
}

gate_fuzz() {
  configure "$root" "$out/fuzz" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-g -O1" -DMOONTILE_SANITIZE=ON \
    -DMOONTILE_FUZZ=ON || return 1
  make "$out/fuzz" all || return 1
  sh "$root/spec/fuzz/run.sh" "$out/fuzz" "$out/fuzzed" "${MOONTILE_GATE_MINUTES:-120}" || return 1
  figure "$(awk '/ CPU min / { n += $2 } END { print n }' "$log") minutes of a processor, nothing found"
}

# ---- all of them

status=0
for gate; do
  log=$out/$gate.log
  rm -f "$out/figure"
  begin=$(date +%s)
  if ("gate_$gate") >"$log" 2>&1; then verdict=ok; else verdict=FAILED status=1; fi
  [ $verdict = ok ] || [ -s "$out/figure" ] || figure "see $log"
  printf '%-12s %-6s %6d s  %s\n' "$gate" $verdict $(($(date +%s) - begin)) "$(cat "$out/figure")"
done
exit $status
