"""The C library: one Lua state for the process, called by one thread at a time.

SPDX-License-Identifier: MIT

A call hands over an array of values in preorder and reads an array of results. Everything that
a result refers to in Lua is an Object here; which class, `classes` says.
"""
import ctypes
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p

HERE = os.path.dirname(os.path.abspath(__file__))

(NIL, BOOLEAN, INTEGER, NUMBER, STRING, SEQUENCE, TABLE, REF, WILDCARD, DLPACK, ERROR,
 BUSY) = range(12)
(FUNCTION, METHOD, CALL, MULTIPLY, DIVIDE, EQUAL, LENGTH, INDEX, TEXT, RUN, VALUES) = range(11)


class Error(Exception):
    """What the library says. `code` is that of a condition of the world ("ENOMEM", "EIO",
    "ENODEVICE", ...), None of a fault of the program."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


class Value(ctypes.Structure):
    _fields_ = [("kind", c_int64), ("i", c_int64), ("n", c_int64), ("d", c_double), ("s", c_char_p)]


class Result(ctypes.Structure):
    _fields_ = [("kind", c_int64), ("i", c_int64), ("n", c_int64), ("d", c_double), ("s", c_void_p)]


def declare(lib, name, result, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments
    return function


_file = os.path.join(HERE, "libmoontile_python.so")
lib = ctypes.CDLL(_file)
_holding = ctypes.PyDLL(_file)      # calls that hold Python's lock
_open = declare(lib, "mtpy_open", c_void_p)
_free = declare(_holding, "mtpy_free", None, POINTER(Result))
_call = declare(lib, "mtpy_call", POINTER(Result), c_void_p, c_int, c_char_p, c_int,
                POINTER(Value), c_int64)
_launch = declare(lib, "mtpy_launch", POINTER(Result), c_void_p, c_int64, c_int64, c_int)
_unref = declare(lib, "mtpy_unref", None, c_void_p, c_int64)
_export = declare(lib, "mtpy_export", POINTER(Result), c_void_p, c_int64, c_int,
                  POINTER(c_void_p))
_stream = declare(lib, "mtpy_stream", POINTER(Result), c_void_p, c_char_p, c_uint64)
_take = declare(_holding, "mtpy_take", c_uint64, ctypes.py_object)
_delete = declare(lib, "mtpy_delete", None, c_uint64)
_interrupted = declare(lib, "mtpy_interrupted", c_int)
_forked = declare(lib, "mtpy_forked", None, c_void_p)
_main_thread = declare(lib, "mtpy_main_thread", None, c_uint64)
_operation = declare(lib, "mtpy_operation", c_int, c_int, POINTER(c_char_p), POINTER(c_char_p),
                     POINTER(c_char_p))
_act_on_signals = ctypes.pythonapi.PyErr_CheckSignals       # raises what a handler raises

state = _open()
if not state:
    raise MemoryError("moontile: there is no memory for a Lua state")
_main_thread(threading.main_thread().ident)


def _after_fork():
    _forked(state)
    _main_thread(threading.get_ident())         # it goes on alone


os.register_at_fork(after_in_child=_after_fork)


def _fail(answer):
    """Raises what an answer says; None: the call is to be made again, another thread is in the
    middle of one."""
    v = answer[0]
    if v.kind == BUSY:
        _act_on_signals()
        return
    text = ctypes.string_at(v.s, v.n).decode("utf-8", "replace")
    _free(answer)
    if _interrupted() and threading.current_thread() is threading.main_thread():
        _act_on_signals()                       # KeyboardInterrupt
    raise Error(text)


# ---------------------------------------------------------------- values there

class _Wildcard:
    """A mode that stays: L(_, 3). L(:, 3) cannot be written in Python, L(slice(None), 3) can."""

    def __repr__(self):
        return "_"


wildcard = _Wildcard()
capsule_of = None           # of an array, set by the package


def _put_integer(x, out, keep):
    if not -1 << 63 <= x < 1 << 63:
        raise OverflowError("moontile: %d leaves 64 bits" % x)
    out.append((INTEGER, x, 0, 0.0, None))


def _put_text(x, out, keep):
    text = x.encode("utf-8") if isinstance(x, str) else bytes(x)
    out.append((STRING, 0, len(text), 0.0, text))


def _put_sequence(x, out, keep):
    out.append((SEQUENCE, 0, len(x), 0.0, None))
    for item in x:
        put(item, out, keep)


def _put_table(x, out, keep):
    out.append((TABLE, 0, len(x), 0.0, None))
    for key, item in x.items():
        put(key, out, keep)
        put(item, out, keep)


def _put_object(x, out, keep):
    out.append((REF, x._ref, 0, 0.0, None))


def _put_array(x, out, keep):
    capsule = capsule_of(x)
    try:
        managed = _take(capsule)
    except ctypes.ArgumentError:
        managed = 0
    if not managed:
        raise TypeError("moontile: __dlpack__ gave no DLPack capsule, or one that was used")
    out.append((DLPACK, managed, 0, 0.0, None))


def _put_slice(x, out, keep):
    if isinstance(x, slice) and x != slice(None):
        raise TypeError("moontile: of slices only : itself, a mode that stays")
    out.append((WILDCARD, 0, 0, 0.0, None))


_PUT = {
    type(None): lambda x, out, keep: out.append((NIL, 0, 0, 0.0, None)),
    bool: lambda x, out, keep: out.append((BOOLEAN, int(x), 0, 0.0, None)),
    int: _put_integer,
    float: lambda x, out, keep: out.append((NUMBER, 0, 0, x, None)),
    str: _put_text, bytes: _put_text,
    tuple: _put_sequence, list: _put_sequence, dict: _put_table,
    slice: _put_slice, _Wildcard: _put_slice,
}


def put(x, out, keep):
    """Appends the value to `out`; what has to live until the call is over to `keep`."""
    way = _PUT.get(type(x))
    if way is not None:
        way(x, out, keep)
    elif isinstance(x, Object):
        _put_object(x, out, keep)
    elif hasattr(x, "__dlpack__"):
        _put_array(x, out, keep)
    elif hasattr(x, "__index__"):
        _put_integer(x.__index__(), out, keep)
    elif hasattr(x, "__float__"):
        out.append((NUMBER, 0, 0, float(x), None))
    else:
        raise TypeError("moontile: %s is no value of Lua: numbers, texts, tuples, layouts, tensors "
                        "and arrays with __dlpack__ (NumPy, torch) are" % type(x).__name__)


# ---------------------------------------------------------------- values back

def _read(list_, at):
    """The value that begins there, and where it ends."""
    v = list_[at]
    kind = v.kind
    at += 1
    if kind == INTEGER:
        return v.i, at
    if kind == NUMBER:
        return v.d, at
    if kind == STRING:
        return ctypes.string_at(v.s, v.n).decode("utf-8", "surrogateescape"), at
    if kind == SEQUENCE:
        items = []
        for _ in range(v.n):
            item, at = _read(list_, at)
            items.append(item)
        return tuple(items), at
    if kind == TABLE:
        table = {}
        for _ in range(v.n):
            key, at = _read(list_, at)
            table[key], at = _read(list_, at)
        return table, at
    if kind == REF:
        name = ctypes.string_at(v.s).decode()
        thing = object.__new__(classes.get(name, Object))
        thing._ref, thing._class = v.i, name.rpartition(".")[2]
        return thing, at
    return (None if kind == NIL else v.i != 0), at


def _read_answer(answer):
    if answer[0].kind >= ERROR:
        return _fail(answer)
    results = _read(answer, 0)[0]
    _free(answer)
    return results


def _values(arguments):
    """All arguments as an array of values, and how many these are."""
    out, keep = [], []
    try:
        for x in arguments:
            put(x, out, keep)
    except BaseException:
        for v in out:
            if v[0] == DLPACK:
                _delete(v[1])
        raise
    return (Value * len(out))(*out), len(out)


def call(what, name, *arguments):
    """The results, as a tuple; an Error."""
    values, n = _values(arguments)
    while True:
        results = _read_answer(_call(state, what, name, len(arguments), values, n))
        if results is not None:
            return results


def single(results):
    """Of no result None, of one that, of several all; nil, message, code raises."""
    if len(results) == 3 and results[0] is None and isinstance(results[2], str):
        raise Error(results[1], results[2])
    return results[0] if len(results) == 1 else results or None


def launch(plan, stream=0, quick=0):
    answer = _launch(state, plan, stream, quick)
    while answer:
        _fail(answer)
        answer = _launch(state, plan, stream, quick)


# ---------------------------------------------------------------- memory for others

_python = ctypes.pythonapi
_new = declare(_python, "PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
_pointer = declare(_python, "PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
declare(lib, "mtpy_python", None, c_void_p, c_void_p, c_void_p)(
    *(ctypes.cast(getattr(_python, "PyCapsule_" + name), c_void_p)
      for name in ("IsValid", "GetPointer", "SetName")))
_drop = ctypes.cast(lib.mtpy_drop, c_void_p)

OLD, VERSIONED = b"dltensor", b"dltensor_versioned"     # they live as long as the capsules


def make_capsule(tensor, name):
    pointer = c_void_p()
    answer = _export(state, tensor._ref, name is VERSIONED, byref(pointer))
    while answer:
        _fail(answer)
        answer = _export(state, tensor._ref, name is VERSIONED, byref(pointer))
    return _new(pointer, name, _drop)


def capsule_pointer(capsule, name):
    return _pointer(capsule, name)


_streams = {}


def stream_of(device, handle):
    """A stream of the driver's, of a device such as "cuda:0"."""
    found = _streams.get((device, handle))
    while found is None:
        results = _read_answer(_stream(state, device.encode(), handle))
        if results is not None:
            found = _streams[device, handle] = results[0]
    return found


# ---------------------------------------------------------------- what there is

def _operations():
    where, name, takes = c_char_p(), c_char_p(), c_char_p()
    found, i = {}, 0
    while _operation(i, byref(where), byref(name), byref(takes)):
        of = found.setdefault(where.value.decode(), {})
        of[name.value.decode()] = takes.value.decode()
        i += 1
    return found


operations = _operations()      # operations["Layout"]["coalesce"] is what it takes
classes = {}                    # by the name of the class in Lua


class Object:
    """A value of Lua: its methods are those of the library, its text is the library's."""
    __slots__ = ("_ref", "_class", "__weakref__")

    def __init__(self, *_):
        raise TypeError("moontile: a %s is made by a function of the module" % type(self).__name__)

    def __del__(self, unref=_unref, state=state):       # this module may be gone when it is called
        try:
            ref = self._ref
        except AttributeError:                          # it was never made
            return
        if ref is not None:
            unref(state, ref)

    def __repr__(self):
        return call(TEXT, None, self)[0]

    def __eq__(self, other):
        if not isinstance(other, Object):
            return NotImplemented
        return call(EQUAL, None, self, other)[0]

    def __hash__(self):
        return hash(repr(self))

    def __call__(self, *arguments):
        return single(call(CALL, None, self, *arguments))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        takes = operations.get(self._class, {}).get(name)
        if takes is None:
            return self._field(name)
        return bound(self, name, takes)

    def _field(self, name):
        try:
            found = call(INDEX, None, self, name)[0]
        except Error as e:                          # the nearest that it has
            raise AttributeError(str(e)) from None
        if found is None:
            raise AttributeError("%s has no %s" % (self._class, name))
        return found

    def __dir__(self):
        names = [n for n in operations.get(self._class, {}) if not n.startswith("__")]
        return sorted(set(super().__dir__()) | set(names))


def bound(thing, name, takes):
    def method(*arguments, **options):
        given = arguments + (options,) if options else arguments
        return single(call(METHOD, name.encode(), thing, *given))
    method.__name__ = method.__qualname__ = name
    method.__doc__ = "%s(%s)" % (name, takes)
    return method


def function(name):
    """A function of the module; named arguments are its table of options, the last one."""
    def f(*arguments, **options):
        given = arguments + (options,) if options else arguments
        return single(call(FUNCTION, name.encode(), *given))
    f.__name__ = f.__qualname__ = name
    f.__doc__ = "%s(%s)" % (name, operations["tile"][name])
    return f
