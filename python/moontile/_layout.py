"""Layouts.

SPDX-License-Identifier: MIT
"""
from . import _library as lib
from ._library import Object, call, single


class Layout(Object):
    """A layout: Layout("(4,8):(8,1)"), Layout((4, 8), (8, 1)), Layout((4, 8), "right"), Layout(8).

    A * B is composition, A / B logical_divide; L(i, j) an offset, L(i, slice(None)) a slice;
    len(L) is the rank, L[0] the first mode. All operations of the library on layouts are methods
    as they are in Lua: where they take mode numbers, these count from 1.
    """
    __slots__ = ()

    def __init__(self, shape, stride=None):
        made = call(lib.FUNCTION, b"parse" if isinstance(shape, str) and stride is None else
                    b"layout", shape, *(() if stride is None else (stride,)))[0]
        if not isinstance(made, Layout):
            raise lib.Error("Layout: %r is no layout" % (shape,))
        self._ref, self._class = made._ref, "Layout"
        made._ref = None

    @property
    def shape(self):
        return call(lib.METHOD, b"shape", self)[0]

    @property
    def stride(self):
        return call(lib.METHOD, b"stride", self)[0]

    def __len__(self):
        return call(lib.LENGTH, None, self)[0]

    def __getitem__(self, i):
        n = len(self)
        i = i.__index__()
        if not -n <= i < n:
            raise IndexError("mode %d of a layout of rank %d" % (i, n))
        return call(lib.INDEX, None, self, i % n + 1)[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __mul__(self, other):
        return single(call(lib.MULTIPLY, None, self, other))

    def __truediv__(self, other):
        return single(call(lib.DIVIDE, None, self, other))

    def offsets(self):
        """The offsets of all coordinates, the first mode fastest."""
        return [self(i) for i in range(self.size())]

    def _repr_svg_(self):
        return call(lib.FUNCTION, b"svg", self)[0]


lib.classes["moontile.Layout"] = Layout
