# views.py: one view of ../views_cpu.lua by NumPy's copyto.
# SPDX-License-Identifier: MIT
#
# usage: views.py DTYPE TO EXTENTS SRC DST; the first axis is the fastest of the destination,
# strides are in elements. Prints the seconds of the shortest of several.

import sys
import time

import numpy
from numpy.lib.stride_tricks import as_strided

NAMES = {"u8": "u1", "u16": "u2", "i8": "i1", "i32": "i4", "i64": "i8", "f16": "f2", "f32": "f4",
         "f64": "f8"}


def view(dtype, extents, strides, fill):
    low = sum((e - 1) * s for e, s in zip(extents, strides) if s < 0)
    high = sum((e - 1) * s for e, s in zip(extents, strides) if s > 0)
    size = numpy.dtype(dtype).itemsize
    flat = numpy.full(high - low + 1, fill, dtype)
    return as_strided(flat[-low:], extents[::-1], [s * size for s in strides[::-1]])


def main():
    dtype, to = (NAMES[name] for name in sys.argv[1:3])
    extents, src, dst = ([int(word) for word in text.split(",")] for text in sys.argv[3:6])
    x, y = view(dtype, extents, src, 3), view(to, extents, dst, 0)
    best, spent, n = 1e9, 0, 0
    while n < 3 or (spent < 0.4 and n < 50):
        start = time.perf_counter()
        numpy.copyto(y, x, casting="unsafe")
        took = time.perf_counter() - start
        best, spent, n = min(best, took), spent + took, n + 1
    print(best)


main()
