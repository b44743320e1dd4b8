"""moontile - CuTe's layouts as values: composed, divided, proven; copies and products that they
describe, on CPUs and GPUs.

    >>> import moontile as mt, numpy as np
    >>> mt.Layout("(4,8):(8,1)") / (2, 4)
    ((2,2),(4,2)):((8,16),(1,4))

All functions of the library are here under their names in Lua, moontile.logical_divide(A, B);
named arguments are the table of options. Errors are moontile.Error with the library's own text.
Coordinates and offsets count from 0; arguments that are mode numbers from 1, as in Lua.

SPDX-License-Identifier: MIT
"""
from . import _library as _lib
from ._layout import Layout
from ._library import Error, wildcard as _
from ._tensor import Graph, Plan, Tensor, copy, einsum, from_dlpack, gemm, plan, plan_gemm

__version__ = _lib.call(_lib.FUNCTION, b"info")[0]["version"]


def run(text, **values):
    """Runs a text of Lua. Its globals are the values, arrays among them as tensors over their
    memory, `tile` and Lua's own. Returns what it returns: one value, or several as a tuple.

        run("tile.copy(src, dst)", src=a, dst=b)
    """
    return _lib.single(_lib.call(_lib.RUN, text.encode("utf-8"), values))


def _unknown(name):
    """What the library says of a name that it has not: the nearest, or what does it here."""
    try:
        _lib.call(_lib.RUN, b"return tile[name]", {"name": name})
    except Error as e:
        return str(e).replace("lua:1: tile.", "moontile.", 1)
    return "moontile has no function %r" % name


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError("moontile has no function %r" % name)
    if name not in _lib.operations["tile"]:
        raise AttributeError(_unknown(name))
    made = globals()[name] = _lib.function(name)
    return made


def __dir__():
    names = [n for n in _lib.operations["tile"] if not n.startswith("__")]
    return sorted(set(globals()) | set(names))
