"""What a call costs from Python with torch's tensors on torch's current stream, beside the same
from Lua on the same stream, and torch's own operation: microseconds until a call returns, medians
of rounds of 100 calls.

usage: PYTHONPATH=build/python python3 bench/torch_calls.py      SPDX-License-Identifier: MIT

The launch from C alone: moontile bench/launch.lua bare.
"""
import statistics
import time

import torch

import moontile as mt

CALLS, ROUNDS = 100, 101
A = torch.rand(5, 16, 32, device="cuda:0").permute(1, 0, 2)
B = torch.rand(32, 5, 24, device="cuda:0")
C, S, D = (torch.zeros(n, device="cuda:0") for n in ((16, 24), (64,), (64,)))
W, O = torch.zeros(24, 8, device="cuda:0"), torch.zeros(16, 8, device="cuda:0")
contraction = mt.run("return tile.plan_gemm(A:group(2, 3), B:select(3, 2, 1):group(2, 3), C)",
                     A=A, B=B, C=C)
contraction()
torch.testing.assert_close(C, torch.einsum("mhk,khn->mn", A, B), rtol=1e-2, atol=1e-2)
print(contraction)
copying = mt.plan(S, D)
TS, TD = mt.Tensor(S), mt.Tensor(D)


def from_python(f):
    def loop():
        for _ in range(CALLS):
            f()
    return loop


def from_lua(text, **things):
    return mt.run("return function() for _ = 1, %d do %s end end" % (CALLS, text), **things)


def median(loop):
    times = []
    for i in range(ROUNDS + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        loop()
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    return statistics.median(times[1:])


torch.cuda.init()
for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
    with torch.cuda.stream(stream):
        handle = mt._tensor.stream_for("cuda:0", None)
        print("on stream %#x: %26s %8s %8s" % (stream.cuda_stream, "Python", "Lua", "torch"))
        rows = [
            ("a contraction's plan", contraction, "p(s)", dict(p=contraction, s=handle),
             lambda: torch.matmul(C, W, out=O)),
            ("a copy's plan", copying, "p(s)", dict(p=copying, s=handle), lambda: D.copy_(S)),
            ("copy(Tensor, Tensor)", lambda: mt.copy(TS, TD), "tile.copy(S, D, s)",
             dict(S=TS, D=TD, s=handle), lambda: D.copy_(S)),
            ("copy(torch's, torch's)", lambda: mt.copy(S, D), "", {}, lambda: D.copy_(S)),
            ("torch's stream alone", lambda: mt._tensor.stream_for("cuda:0", None), "", {},
             lambda: None)]
        for name, f, text, things, torchs in rows:
            lua = "%8.2f" % median(from_lua(text, **things)) if text else "       -"
            print("%-28s %12.2f %s %8.2f" % (name, median(from_python(f)), lua,
                                            median(from_python(torchs))))
