"""Transposes real NumPy files with examples/transpose.lua and compares with NumPy, bit by bit.

usage: transpose.py MOONTILE [--big] DEVICE...     SPDX-License-Identifier: MIT

On several devices the plan must read the same, but for the lines kernel:, grid: and refused:.
Exit status 77 where NumPy is not installed (ctest: skipped).
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "..", "..", "examples", "transpose.lua")
DEVICE_LINES = ("kernel:", "grid:", "refused:")


def cases(big):
    rng = np.random.default_rng(20260101)
    n = 4096 if big else 512
    yield "f32 square", rng.standard_normal((n, n), dtype=np.float32)
    rows, cols = (8191, 4099) if big else (819, 409)
    yield "u8 odd", rng.integers(0, 256, (rows, cols), dtype=np.uint8)
    shape = (96, 250, 130) if big else (12, 50, 26)
    yield "f16 3-D permuted", rng.standard_normal(shape).astype(np.float16).transpose(2, 0, 1)
    yield "f16 3-D in C order", rng.standard_normal(shape).astype(np.float16)
    yield "f64 Fortran order", np.asfortranarray(rng.standard_normal((33, 70)))


def plan_text(output):
    lines, inside = [], False
    for line in output.splitlines():
        inside = inside or line.startswith("plan:")
        if inside and not line.strip():
            break
        if inside and not line.strip().startswith(DEVICE_LINES):
            lines.append(line)
    return lines


def main(moontile, devices, big):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, a in cases(big):
            source, plans = os.path.join(folder, "in.npy"), {}
            np.save(source, a)
            for device in devices:
                target = os.path.join(folder, "out.npy")
                if os.path.exists(target):
                    os.remove(target)
                run = subprocess.run([moontile, SCRIPT, source, target, device],
                                     capture_output=True, text=True)
                ok = run.returncode == 0
                if ok:
                    b = np.load(target)
                    ok = b.dtype == a.dtype and b.shape == a.T.shape and \
                        np.ascontiguousarray(a.T).tobytes() == np.ascontiguousarray(b).tobytes()
                plans[device] = plan_text(run.stdout)
                same = plans[device] == plans[devices[0]] and plans[device] != []
                print(f"{name:20s} {device:12s} {'equal to NumPy' if ok else 'WRONG'}"
                      f"{'' if same else ', PLAN DIFFERS'}")
                if not (ok and same):
                    failed += 1
                    print(run.stdout[-3000:], run.stderr[-3000:])
    print(f"{failed} failed" if failed else "all equal")
    return failed != 0


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if w != "--big"]
    sys.exit(main(words[0], words[1:] or ["cpu"], "--big" in sys.argv))
