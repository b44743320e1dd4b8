"""arrays.py - NumPy's arrays, and torch's where it is installed, copied, multiplied and drawn.

usage: PYTHONPATH=build/python python3 examples/arrays.py        SPDX-License-Identifier: MIT
"""
import moontile as mt
import numpy as np

# A layout is a function; the algebra is Lua's.
A = mt.Layout((4, 8), (8, 1))
print(A / (2, 4))                                # ((2,2),(4,2)):((8,16),(1,4))
assert A(1, 2) == 10 and A * mt.Layout(4) == mt.Layout("4:8")

# Any strides to any others, in the arrays' own memory.
image = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
planes = np.zeros((3, 6, 8), np.uint8)
mt.copy(image.transpose(2, 0, 1), planes)
assert (planes == image.transpose(2, 0, 1)).all()

# A contraction: nothing is permuted in memory.
Q, K = np.random.rand(2, 16, 4, 8).astype("f"), np.random.rand(2, 16, 4, 8).astype("f")
scores = np.asarray(mt.einsum("bqhd,bkhd->bhqk", Q, K))
assert np.allclose(scores, np.einsum("bqhd,bkhd->bhqk", Q, K), rtol=1e-4)

# A script in Lua, on arrays of Python.
cut = mt.run("return tile.zipped_divide(x, { 2, 4 })(tile._, 1)", x=np.arange(32.0).reshape(4, 8))
print(cut.layout, list(cut))                     # ((2,4)):((8,1)), the second tile

# Proven before it runs.
print(mt.verify({"tv": mt.Layout((8, 4), (4, 1)), "tiler": (4, 8)}, mt.Layout((8, 16))))
assert mt.Layout((4, 8))._repr_svg_().startswith("<svg")

try:
    import torch
except ImportError:
    torch = None
if torch:                                        # on a GPU on torch's current stream
    device = "cuda" if torch.cuda.is_available() else "cpu"
    X, W = torch.rand(64, 32, device=device), torch.rand(48, 32, device=device)
    Y = torch.from_dlpack(mt.einsum("ij,kj->ik", X, W))
    assert torch.allclose(Y, X @ W.T, rtol=1e-2)
    print("torch:", Y.device)
