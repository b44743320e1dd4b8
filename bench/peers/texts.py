# texts.py FILE: judges what moontile writes for pycute.
# SPDX-License-Identifier: MIT
#
# A line of FILE is a text for pycute and the values that it has here, split by a tab. The text is
# evaluated as pycute reads it, asked for its values, and printed. A shift by 0 does not end in
# pycute: such values are counted by themselves. Exit status 1 if one differs; 3 if there is no
# pycute.

import sys

try:
    import pycute
    from pycute import Layout, Swizzle
    from pycute.swizzle import ComposedLayout
except ImportError:
    sys.exit(3)

right = wrong = endless = 0
for line in open(sys.argv[1]):
    text, values = line.rstrip("\n").split("\t")
    value = eval(text, {"Layout": Layout, "Swizzle": Swizzle, "ComposedLayout": ComposedLayout})
    want = [int(v) for v in values.split()]
    try:
        got = [value(i) for i in range(len(want))]
    except RecursionError:
        endless += 1
        continue
    if got == want:
        right += 1
    else:
        wrong += 1
        print(f"{text}: {got[:16]}, not {want[:16]}", file=sys.stderr)
print(f"pycute: {right} values are what they are here, {wrong} are not, {endless} shift by 0")
sys.exit(wrong > 0)
