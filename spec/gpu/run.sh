#!/bin/sh
# run.sh MOONTILE BUSTED: the specs and the NumPy comparison on this machine's GPU, the sanitizers.
# SPDX-License-Identifier: MIT
#
# MOONTILE   the program; moontile.so lies beside it
# BUSTED     the busted script, run by the program itself
# moontile_planted, moontile_planted_unsafe   beside it: an access outside a buffer, which the
#            validator refuses; without a validator memcheck must find it
set -u
moontile=$1 busted=$2 failed=0
MOONTILE_TIMES=${MOONTILE_TIMES:-4}              # random cases: four times as many as usual
export MOONTILE_TIMES
cd "$(dirname "$0")/../.." || exit 1

check() {                                   # a title, then a command
  title=$1; shift
  if out=$("$@" 2>&1); then echo "ok    $title: $(printf '%s\n' "$out" | tail -n 1)"
  else echo "FAIL  $title"; printf '%s\n' "$out" | tail -n 30; failed=1; fi
}

sanitized() {                               # a tool, then a command
  tool=$1; shift
  compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 3 "$@"
}

"$moontile" --info
for spec in copy copy_error pairs transfer remember tune graph tensor memory npy error \
            gemm gemm_error einsum combinations
do
  [ -f spec/${spec}_spec.lua ] || continue
  check "$spec specs" "$moontile" "$busted" --ignore-lua -o TAP spec/${spec}_spec.lua
done
for file in examples/*.lua; do
  check "$file" "$moontile" "$file"
done
check "NumPy" python3 spec/numpy/transpose.py "$moontile" --big cpu cuda
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    for spec in copy pairs transfer graph tensor gemm; do
      check "$tool, $spec specs" sanitized $tool "$moontile" "$busted" \
        --ignore-lua -o TAP spec/${spec}_spec.lua
    done
    check "$tool, combinations" env MOONTILE_COMBINATIONS=40 compute-sanitizer --tool $tool \
      --error-exitcode 9 --print-limit 3 "$moontile" "$busted" \
      --ignore-lua -o TAP spec/combinations_spec.lua
  done
  sanitized memcheck "${moontile}_planted_unsafe" >planted.log 2>&1
  if [ $? = 9 ] && grep -q 'Invalid __global__ write' planted.log
  then echo "ok    memcheck finds the planted access: $(grep -m1 Invalid planted.log)"
  else echo "FAIL  memcheck did not find the planted access"; tail -n 20 planted.log; failed=1; fi
  rm -f planted.log
fi
"${moontile}_planted" >/dev/null
if [ $? = 3 ]; then echo "ok    the validator refuses the planted access"
else echo "FAIL  the validator let the planted access through"; failed=1; fi
exit $failed
