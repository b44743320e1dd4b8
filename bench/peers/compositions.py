# compositions.py FILE: judges compositions, ours and those of others, by brute force.
# SPDX-License-Identifier: MIT
#
# A line of FILE is A, B and our answer ("none": refused), split by tabs. An answer R is right
# if size(R) = size(B) and R(i) = A(B(i)) for all i below size(B); A's last mode has no bound.
# Exit status 1 if an answer of ours is wrong, or refused where another's is right.

import sys


def tree(text):
    """(4,(2,2)) as nested tuples; a parenthesis always makes a tuple."""
    text = text.replace("(", "[").replace(")", "]")

    def tuples(v):
        return tuple(tuples(x) for x in v) if isinstance(v, list) else v

    return tuples(eval(text, {"__builtins__": {}}))


def flat(v):
    return [x for t in v for x in flat(t)] if isinstance(v, tuple) else [v]


def modes(shape, stride):
    return list(zip(flat(shape), flat(stride)))


def read(text):
    shape, stride = text.split(":")
    return tree(shape), tree(stride)


def value(m, i):
    total = 0
    for s, d in m[:-1]:
        total += i % s * d
        i //= s
    return total + i * m[-1][1] if m else 0


def size(m):
    n = 1
    for s, _ in m:
        n *= s
    return n


# ---- the rules of CuTe and of its paper, on one mode s:d of B


class Refused(Exception):
    pass


def extended(a):
    """Coalesced on the extended domain: a last mode of extent 1 stays."""
    out = []
    for k, (s, d) in enumerate(a):
        if s == 1 and k < len(a) - 1:
            continue
        if out and out[-1][0] * out[-1][1] == d:
            out[-1] = (out[-1][0] * s, out[-1][1])
        else:
            out.append((s, d))
    return out or [(1, 0)]


def weak_rule(a, s, d):
    """CuTe: the stride divides on or stays below, ceilings go on."""
    if d == 0:
        return [(s, 0)]
    out = []
    for n, e in a[:-1]:
        if d % n != 0 and d >= n:
            raise Refused
        more = -(-n // abs(d))
        step = -(-abs(d) // n) * (1 if d > 0 else -1)
        if more > 1 and s > 1:
            take = min(more, s)
            if s % take != 0:
                raise Refused
            out.append((take, d * e))
            s //= take
        d = step
    if s > 1 or not out:
        out.append((s, d * a[-1][1]))
    return out


def strict_rule(a, s, d):
    """The paper: strides and shapes divide, but for a head that holds the whole mode."""
    if d == 0:
        return [(s, 0)]
    a = list(a)
    while len(a) > 1 and d % a[0][0] == 0:
        d //= a.pop(0)[0]
    n, e = a[0]
    if len(a) > 1 and n % d != 0:
        if n // d < s - 1:
            raise Refused
        return [(s, d * e)]
    a[0] = (n // d if len(a) > 1 else n, d * e)
    out = []
    for n, e in a[:-1]:
        if s % n != 0:
            if s // n != 0:
                raise Refused
            out.append((s, e))
            return out
        out.append((n, e))
        s //= n
        if s == 1:
            return out
    out.append((s, a[-1][1]))
    return out


def by_rule(rule):
    def compose(a, b):
        a = extended(modes(*a))
        return [m for s, d in modes(*b) for m in rule(a, s, d)]

    return compose


def by_library(compose, layout):
    def f(a, b):
        r = compose(layout(*a), layout(*b))
        return modes(r.shape, r.stride)

    return f


def contestants():
    found = {"CuTe's rule": by_rule(weak_rule), "the paper's rule": by_rule(strict_rule)}
    try:
        import pycute

        found["pycute"] = by_library(pycute.composition, pycute.Layout)
    except ImportError:
        pass
    try:
        import tensor_layouts

        found["tensor-layouts"] = by_library(tensor_layouts.compose, tensor_layouts.Layout)
    except ImportError:
        pass
    return found


def right(r, want):
    return size(r) == len(want) and all(value(r, i) == v for i, v in enumerate(want))


def answer(f, a, b, want):
    try:
        return "right" if right(f(a, b), want) else "wrong"
    except Exception:
        return "refused"


def main():
    found = contestants()
    counts = {name: dict(right=0, wrong=0, refused=0) for name in ["moontile", *found]}
    only = {name: 0 for name in found}
    bad = []
    for line in open(sys.argv[1]):
        a, b, r = line.rstrip("\n").split("\t")
        x, y = read(a), read(b)
        f, g = modes(*x), modes(*y)
        want = [value(f, value(g, i)) for i in range(size(g))]
        ours = "refused" if r == "none" else "right" if right(modes(*read(r)), want) else "wrong"
        counts["moontile"][ours] += 1
        if ours == "wrong":
            bad.append(("wrong: " + r, a, b))
        for name, compose in found.items():
            theirs = answer(compose, x, y, want)
            counts[name][theirs] += 1
            if theirs == "right" and ours != "right":
                only[name] += 1
                bad.append(("right in " + name, a, b))
    print("%-18s %9s %9s %9s  %s" % ("", "right", "wrong", "refused", "right only there"))
    for name, c in counts.items():
        print("%-18s %9d %9d %9d  %s"
              % (name, c["right"], c["wrong"], c["refused"], only.get(name, "")))
    for why, a, b in bad[:20]:
        print("%s: %s o %s" % (why, a, b))
    return 1 if bad else 0


sys.exit(main())
