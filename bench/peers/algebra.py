# algebra.py FILE: the time of each case of FILE in the Python libraries that are installed.
# SPDX-License-Identifier: MIT
#
# A line of FILE is an operation and its operands in text form, split by tabs. Answers lines
# "library number seconds"; a case that a library refuses has no line.

import sys
from time import perf_counter

BATCH = 2e-3


def tree(text):
    """(4,(2,2)) as nested tuples; a parenthesis always makes a tuple."""
    text = text.replace("(", "[").replace(")", "]")

    def tuples(v):
        return tuple(tuples(x) for x in v) if isinstance(v, list) else v

    return tuples(eval(text, {"__builtins__": {}}))


def layout(library, text):
    shape, stride = text.split(":")
    return library.Layout(tree(shape), tree(stride))


def parts(text):
    """A tiler (2:1,3:4) as its parts."""
    depth, part, out = 0, "", []
    for c in text[1:-1]:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            out.append(part)
            part = ""
        else:
            part += c
    return out + [part]


def value(library, text):
    if text.count(":") > 1:
        return tuple(value(library, p) for p in parts(text))
    return layout(library, text) if ":" in text else tree(text)


def seconds(f, *args):
    n, t = 1, 0.0
    while t < BATCH:
        n *= 2
        start = perf_counter()
        for _ in range(n):
            f(*args)
        t = perf_counter() - start
    return t / n


def measure(name, library, operations, lines):
    for k, (op, *texts) in enumerate(lines):
        args = [value(library, t) for t in texts]
        f = args.pop(0) if op == "evaluation" else operations[op]
        try:
            f(*args)
        except Exception:
            continue
        print(name, k + 1, seconds(f, *args))


def main():
    lines = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
    try:
        import pycute
    except ImportError:
        pycute = None
    try:
        import tensor_layouts
    except ImportError:
        tensor_layouts = None
    names = ["composition", "complement", "logical_divide", "coalesce"]
    if pycute:
        measure("pycute", pycute, {n: getattr(pycute, n) for n in names}, lines)
    if tensor_layouts:
        own = dict(composition="compose")
        measure("tensor-layouts", tensor_layouts,
                {n: getattr(tensor_layouts, own.get(n, n)) for n in names}, lines)


main()
