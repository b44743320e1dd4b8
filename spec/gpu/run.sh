#!/bin/sh
# run.sh MOONTILE BUSTED: the specs and the NumPy comparison on this machine's GPU, the sanitizers.
# SPDX-License-Identifier: MIT
#
# MOONTILE   the program; moontile.so lies beside it
# BUSTED     the busted script, run by the program itself
# UNSAFE     (environment) a moontile built with -DMT_UNSAFE_NO_CHECK: its planted error must be found
set -u
moontile=$1 busted=$2 failed=0
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
check "device specs" "$moontile" "$busted" -o TAP spec/device_spec.lua
check "copy specs" "$moontile" "$busted" -o TAP spec/copy_spec.lua
check "tensor specs" "$moontile" "$busted" -o TAP spec/tensor_spec.lua
check "NumPy" python3 spec/numpy/transpose.py "$moontile" --big cpu cuda
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    for spec in copy tensor; do
      check "$tool, $spec specs" sanitized $tool "$moontile" "$busted" -o TAP spec/${spec}_spec.lua
    done
  done
  if [ -n "${UNSAFE:-}" ]; then
    if sanitized memcheck "$UNSAFE" spec/gpu/planted.lua >/dev/null 2>&1
    then echo "FAIL  memcheck did not find the planted error"; failed=1
    else echo "ok    memcheck finds the planted error"; fi
  fi
fi
exit $failed
