"""What a call from Python costs beside the same from Lua: microseconds, the least of five rounds.

usage: PYTHONPATH=build/python python3 bench/calls.py [DEVICE [N]]      SPDX-License-Identifier: MIT
"""
import sys
import time

import moontile as mt

device, n = (sys.argv[1:] + ["cpu"])[0], int((sys.argv[2:] + ["20000"])[0])
L = mt.Layout((4, 8), (8, 1))
S, D = mt.tensor("f32", mt.Layout(1), device), mt.tensor("f32", mt.Layout(1), device)
p = mt.plan(S, D)
wait = mt.run("return function() tile.device(D):synchronize() end", D=device)


def from_python(f):
    for _ in range(n):
        f()


def least(work):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        work()
        wait()
        times.append(time.perf_counter() - begin)
    return min(times) / n * 1e6


rows = [("a plan", p, "p()"), ("an offset", lambda: L(1, 2), "local x = L(1, 2)"),
        ("a division", lambda: L / (2, 4), "local x = L / { 2, 4 }"),
        ("a copy", lambda: mt.copy(S, D), "tile.copy(S, D)")]
print("%-12s %8s %8s   us on %s" % ("", "Python", "Lua", device))
for name, f, text in rows:
    loop = mt.run("return function() for _ = 1, n do %s end end" % text, n=n, p=p, L=L, S=S, D=D)
    print("%-12s %8.2f %8.2f" % (name, least(lambda: from_python(f)), least(loop)))
