"""Tensors, and arrays of others as tensors: by DLPack, without a copy.

SPDX-License-Identifier: MIT
"""
import ctypes
import sys

from . import _library as lib
from ._layout import Layout
from ._library import Object, call, single

CPU, CUDA = 1, 2


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


# NumPy's type strings, by DLPack's codes.
_KINDS = {0: "<i", 1: "<u", 2: "<f", 6: "|b"}

# Where an array without elements lies: NumPy takes no NULL.
_nothing = ctypes.create_string_buffer(8)
_NOWHERE = ctypes.addressof(_nothing)


def _torch():
    """torch, where the process has it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") else None


def _is_plain(torch, x):
    """A tensor of torch itself that its own function exports as it is: quicker than __dlpack__,
    which is Python, and would do no more on torch's current stream."""
    return (type(x) is torch.Tensor and not x.requires_grad and x.layout is torch.strided
            and not x.is_conj() and x.device.type in ("cpu", "cuda"))


def _device_of_array(x):
    """A pair as of __dlpack_device__."""
    torch = _torch()
    if torch and type(x) is torch.Tensor and x.device.type in ("cpu", "cuda"):
        i = x.get_device()                  # -1: on the CPU
        return (CPU, 0) if i < 0 else (CUDA, i)
    return x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else (CPU, 0)


def _capsule(array):
    """A capsule of the array; from a GPU in order with torch's current stream."""
    flags = getattr(array, "flags", None)
    if getattr(flags, "writeable", True) is False:
        raise lib.Error("Tensor: the array is read-only, tensors are not: "
                        "Tensor(array, copy=True), or array.copy()")
    torch = _torch()
    if torch and isinstance(array, torch.Tensor) and array.is_neg():
        raise lib.Error("Tensor: the memory of this view has the other sign, which DLPack cannot "
                        "say: array.resolve_neg()")
    if torch and _is_plain(torch, array):
        return torch.utils.dlpack.to_dlpack(array)
    device = array.__dlpack_device__()[0] if hasattr(array, "__dlpack_device__") else CPU
    options = {}
    if device == CUDA:
        options["stream"] = current_stream("cuda:%d" % array.__dlpack_device__()[1]) or 1
    try:
        return array.__dlpack__(max_version=(1, 1), **options)
    except TypeError:                       # from before there were versions
        return array.__dlpack__(**options)


def current_stream(device):
    """torch's current stream on a device such as "cuda:0", as a handle of the driver; None where
    torch is not at work."""
    torch = sys.modules.get("torch")
    if torch is None or not device.startswith("cuda:") or not torch.cuda.is_initialized():
        return None
    raw = getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", None)
    if raw:                                 # what the line below asks, without an object
        return raw(int(device[5:]))
    return torch.cuda.current_stream(int(device[5:])).cuda_stream


class Tensor(Object):
    """A tensor over an array's memory: Tensor(array), of NumPy, torch and whatever else has
    __dlpack__; without a copy. An array that is read-only is refused, copy=True copies any.
    moontile.tensor(dtype, layout[, device]) makes one of zeros.

    T(i, j) is an element, T[i, j] = v sets it, numpy.asarray(T) and torch.from_dlpack(T) are
    arrays over its memory. All operations of the library on tensors are methods.
    """
    __slots__ = ("_held", "_where")

    def __init__(self, array, copy=False):
        if copy:
            array = array.clone() if hasattr(array, "clone") else array.copy()
        if not hasattr(array, "__dlpack__"):
            raise TypeError("moontile: %s has no __dlpack__: numpy.asarray makes an array that has"
                            % type(array).__name__)
        made = call(lib.VALUES, None, array)[0]
        self._ref, self._class = made._ref, "Tensor"
        made._ref = None

    @property
    def layout(self):
        return call(lib.METHOD, b"layout", self)[0]

    @property
    def shape(self):
        return self.layout.shape

    @property
    def dtype(self):
        return call(lib.METHOD, b"dtype", self)[0]

    @property
    def device(self):
        try:
            return self._where
        except AttributeError:
            self._where = repr(call(lib.METHOD, b"device", self)[0])
            return self._where

    def __len__(self):
        return call(lib.LENGTH, None, self)[0]

    def __getitem__(self, at):
        return self(*at) if isinstance(at, tuple) else self(at)

    def __setitem__(self, at, value):
        at = at if isinstance(at, tuple) else (at,)
        call(lib.METHOD, b"set", self, value, *at)

    def __iter__(self):
        return iter(call(lib.METHOD, b"totable", self)[0])

    def __truediv__(self, other):
        return single(call(lib.DIVIDE, None, self, other))

    def numpy(self):
        """A NumPy array over the tensor's memory."""
        import numpy
        self._interface()                   # says what is wrong, if anything is
        return numpy.asarray(self)

    # ------------------------------------------------------------ for others

    def __dlpack_device__(self):
        name = self.device
        return (CUDA, int(name[5:])) if name.startswith("cuda:") else (CPU, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError("moontile: the tensor lies on %s; T.to(device) copies" % self.device)
        tensor = self.to(self.device) if copy else self
        if self.__dlpack_device__()[0] == CUDA:
            self._settle(stream)
        versioned = max_version is not None and max_version[0] >= 1
        return lib.make_capsule(tensor, lib.VERSIONED if versioned else lib.OLD)

    def _settle(self, stream):
        """What is launched on the stream of who takes the memory is behind what the device's own
        stream has; nothing waits. What is launched on torch's is in order with torch by itself."""
        if stream != -1:
            device = call(lib.METHOD, b"device", self)[0]
            lib.stream_of(self.device, stream or 1).wait(device)        # 1: the legacy stream

    @property
    def __array_interface__(self):
        try:
            return self._interface()
        except lib.Error as e:
            raise AttributeError(str(e)) from None

    def _interface(self):
        if self.__dlpack_device__()[0] != CPU:
            raise lib.Error("numpy: the tensor lies on %s: T.to('cpu') copies it" % self.device)
        held = getattr(self, "_held", None)
        if held is None:                    # the memory is pinned as long as this object lives
            held = self._held = lib.make_capsule(self, lib.OLD)
        t = _DLTensor.from_address(lib.capsule_pointer(held, lib.OLD))
        if t.code not in _KINDS:
            raise lib.Error("numpy: NumPy has no type for %s: copy it into a tensor of another, or "
                            "torch.from_dlpack(T)" % self.dtype)
        size = t.bits // 8
        return {"version": 3, "typestr": "%s%d" % (_KINDS[t.code], size),
                "shape": tuple(t.shape[:t.ndim]), "data": (t.data or _NOWHERE, False),
                "strides": tuple(size * d for d in t.strides[:t.ndim])}

    def _repr_svg_(self):
        return call(lib.FUNCTION, b"svg", self)[0]


lib.classes["moontile.Tensor"] = Tensor
lib.capsule_of = _capsule


# ---------------------------------------------------------------- work, on streams

def stream_for(device, stream):
    """What `stream` means: an Object, or None for the device's own. A handle of the driver's, or
    what has one as .cuda_stream; None: torch's current one, where torch works on that device."""
    if isinstance(stream, Object):
        return stream
    if stream is None:
        stream = current_stream(device)
    else:
        stream = getattr(stream, "cuda_stream", stream)
    return None if stream is None else lib.stream_of(device, stream)


def device_of(things):
    """The GPU that some of the tensors lie on, else "cpu"."""
    for x in things:
        kind, n = _device_of_array(x)
        if kind == CUDA:
            return "cuda:%d" % n
    return "cpu"


class Plan(Object):
    """A copy or a product, proven and prepared: plan() runs it, on torch's current stream where
    torch works on its device, on a stream that is given, else on the device's own."""
    __slots__ = ("_where",)

    def __call__(self, stream=None):
        try:
            device = self._where
        except AttributeError:              # a call of Lua's, once
            device = self._where = repr(call(lib.METHOD, b"device", self)[0])
        if not device.startswith("cuda"):
            lib.launch(self._ref)
            return
        found = stream_for(device, stream)
        lib.launch(self._ref, found._ref if found else 0, 1)


class Graph(Plan):
    """What was launched while it was recorded: graph() runs it, on the stream that a plan of its
    device would run on."""
    __slots__ = ()


lib.classes["moontile.Plan"] = Plan
lib.classes["moontile.Graph"] = Graph

plan = lib.function("plan")
plan_gemm = lib.function("plan_gemm")


def copy(*arguments, stream=None, **options):
    """copy([tiled_copy,] src, dst): on torch's current stream where the tensors are torch's."""
    found = stream_for(device_of(arguments), stream)
    more = (found,) if found else ()
    lead = (options,) if options else ()
    call(lib.FUNCTION, b"copy", *lead, *arguments, *more)


def _worker(name):
    def f(*arguments, stream=None, **options):
        found = stream_for(device_of(arguments), stream)
        if found:
            options["stream"] = found
        given = arguments + (options,) if options else arguments
        return single(call(lib.FUNCTION, name.encode(), *given))
    f.__name__ = f.__qualname__ = name
    f.__doc__ = "%s(%s): on torch's current stream where the tensors are torch's." % (
        name, lib.operations["tile"][name])
    return f


gemm = _worker("gemm")
einsum = _worker("einsum")


def from_dlpack(array):
    """Tensor(array)."""
    return array if isinstance(array, Tensor) else Tensor(array)


__all__ = ["Tensor", "Plan", "Graph", "Layout", "plan", "plan_gemm", "copy", "gemm", "einsum", "from_dlpack"]
