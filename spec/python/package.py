"""Tests of the Python package beside NumPy.

usage: package.py FOLDER LIBCUDA [--times N]       SPDX-License-Identifier: MIT

FOLDER has the package, LIBCUDA is a driver, the fake one where there is no GPU. Exit status 77
where NumPy is not installed (ctest: skipped).
"""
import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import weakref
import zipfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

sys.path.insert(0, sys.argv[1])
import moontile as mt  # noqa: E402
from moontile import _library as lib  # noqa: E402

LIBCUDA = sys.argv[2]
SEED = int(time.time() * 1000) % (1 << 32)
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def collect():
    gc.collect()
    mt.run("collectgarbage() collectgarbage()")


class Layouts(unittest.TestCase):
    def test_construction(self):
        for made in (mt.Layout("(4,8):(8,1)"), mt.Layout((4, 8), (8, 1)), mt.Layout([4, 8], [8, 1]),
                     mt.Layout((4, 8), "right"), mt.layout((4, 8), "right")):
            self.assertEqual(repr(made), "(4,8):(8,1)")
            self.assertEqual(made, mt.Layout("(4,8):(8,1)"))
        self.assertEqual(repr(mt.Layout(8)), "8:1")
        self.assertEqual(repr(mt.Layout((4, (2, 3)))), "(4,(2,3)):(1,(4,8))")
        self.assertEqual(mt.Layout((4, (2, 3))).shape, (4, (2, 3)))
        self.assertEqual(mt.Layout(np.int32(8)).stride, 1)

    def test_algebra(self):
        A = mt.Layout((4, 8), (8, 1))
        self.assertEqual(repr(A / (2, 4)), "((2,2),(4,2)):((8,16),(1,4))")
        self.assertEqual(A / (2, 4), mt.logical_divide(A, (2, 4)))
        self.assertEqual(A * mt.Layout(4), A.composition(mt.Layout(4)))
        self.assertNotEqual(A, A.coalesce() / 2)
        self.assertEqual(len({A, mt.Layout("(4,8):(8,1)")}), 1)
        self.assertEqual((len(A), repr(A[0]), repr(A[-1])), (2, "4:8", "8:1"))
        self.assertEqual([repr(m) for m in A], ["4:8", "8:1"])
        self.assertRaises(IndexError, lambda: A[2])

    def test_offsets(self):
        A = mt.Layout((4, 8), (8, 1))
        self.assertEqual(A.offsets(), [i * 8 + j for j in range(8) for i in range(4)])
        self.assertEqual((A(1, 2), A((1, 2)), A(9), A(mt._, 2)), (10, 10, 10, A(slice(None), 2)))

    def test_errors(self):
        with self.assertRaises(mt.Error) as e:
            mt.Layout((4, 8), (1,))
        self.assertIn("stride (1) is not congruent with shape (4,8)", str(e.exception))
        self.assertIsNone(e.exception.code)
        with self.assertRaisesRegex(mt.Error, "value expected at character 4"):
            mt.Layout("(4,x)")
        self.assertRaises(mt.Error, mt.Layout, "8")
        self.assertRaises(OverflowError, mt.Layout, 1 << 63)
        self.assertRaises(TypeError, mt.Layout, object())
        with self.assertRaisesRegex(AttributeError, "Layout.colaesce: .*; did you mean coalesce?"):
            mt.Layout(4).colaesce
        with self.assertRaisesRegex(AttributeError, "^moontile.layuot: .*; did you mean layout?"):
            mt.layuot
        self.assertRaises(AttributeError, lambda: mt.no_such_function)
        self.assertRaises(AttributeError, lambda: mt._no_such_function)
        self.assertFalse(hasattr(mt.Layout(4), "dtype"))
        self.assertRaisesRegex(TypeError, "numpy.asarray", mt.Tensor, [1, 2])
        self.assertRaises(TypeError, lib.Object)
        deep = 1
        for _ in range(100):
            deep = (deep,)
        self.assertRaisesRegex(mt.Error, "deeper", mt.Layout, deep)
        with self.assertRaises(mt.Error) as e:
            mt.load("/nowhere/a.npy")
        self.assertEqual(e.exception.code, "EIO")

    def test_everything_has_a_name(self):
        for name in lib.operations["tile"]:
            if not name.startswith("__"):
                self.assertTrue(callable(getattr(mt, name)), name)
                self.assertIn(name, dir(mt))
        self.assertIn("coalesce", dir(mt.Layout(4)))
        self.assertIn("complement(", mt.Layout(4).complement.__doc__)

    def test_pictures(self):
        for thing in (mt.Layout((4, 8)), mt.tensor("f32", mt.Layout((4, 8)))):
            self.assertTrue(thing._repr_svg_().startswith("<svg"))


class Arrays(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(SEED)

    def random(self):
        """A view somewhere: transposed, reversed, of every other element; of any type."""
        rank = int(self.rng.integers(0, 5))
        shape = tuple(self.rng.integers(0 if self.rng.random() < 0.1 else 1, 6, rank))
        a = self.rng.integers(0, 100, shape).astype("<" + str(self.rng.choice(DTYPES)))
        if rank:
            a = a.transpose(self.rng.permutation(rank))
            a = a[tuple(slice(None, None, int(self.rng.choice([1, -1, 2]))) for _ in range(rank))]
        return a

    def test_there_and_back(self):
        for _ in range(300):
            a = self.random()
            T = mt.Tensor(a)
            b = np.asarray(T)
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
            self.assertTrue((a == b).all())
            if a.size:
                self.assertEqual(a.__array_interface__["data"], b.__array_interface__["data"])
                b[...] = 3
                self.assertTrue((a == 3).all())
                self.assertEqual(T[(0,) * a.ndim] if a.ndim else T(0), 3)
            self.assertTrue((np.from_dlpack(T) == a).all())

    def test_copy(self):
        for _ in range(100):
            a = self.random()
            if a.size == 0:
                continue
            b = np.zeros(a.shape, a.dtype, order=str(self.rng.choice(["C", "F"])))
            mt.copy(a, b)
            self.assertTrue((a == b).all())

    def test_products(self):
        for n, k, m in self.rng.integers(1, 70, (20, 3)):
            A, B = self.rng.random((m, k), "f"), self.rng.random((n, k), "f")
            C = np.zeros((m, n), "f")
            mt.gemm(A, B, C)
            np.testing.assert_allclose(C, A @ B.T, rtol=1e-4)
            mt.gemm(A, B, C, alpha=2, beta=1)
            np.testing.assert_allclose(C, 3 * (A @ B.T), rtol=1e-4)
            D = mt.einsum("ij,kj->ik", A, B)
            np.testing.assert_allclose(np.asarray(D), A @ B.T, rtol=1e-4)
            p = mt.plan_gemm(A, B, C, beta=0)
            C[:] = 7
            p()
            np.testing.assert_allclose(C, A @ B.T, rtol=1e-4)

    def test_einsum(self):
        sizes = dict(zip("abcde", self.rng.integers(1, 7, 5)))
        for text in ("abc,cd->abd", "ab,b->a", "abc->cab", "ab,cd->abcd", "bac,dac->dbc", "ab->b"):
            sides = text.split("->")[0].split(",")
            arrays = [self.rng.random([sizes[c] for c in s]).astype("d") for s in sides]
            got = np.asarray(mt.einsum(text, *arrays))
            np.testing.assert_allclose(got, np.einsum(text, *arrays), rtol=1e-10, err_msg=text)

    def test_refused(self):
        a = np.zeros(4)
        a.flags.writeable = False
        with self.assertRaisesRegex(mt.Error, "read-only"):
            mt.Tensor(a)
        with self.assertRaisesRegex(mt.Error, "read-only"):
            mt.copy(a, np.zeros(4))
        T = mt.Tensor(a, copy=True)
        T[0] = 5
        self.assertEqual((a[0], T[0]), (0, 5))
        self.assertRaises((mt.Error, BufferError, TypeError), mt.Tensor, np.zeros(2, "c16"))
        self.assertRaises(TypeError, mt.Tensor, "text")
        with self.assertRaisesRegex(mt.Error, "no type for bf16"):
            mt.tensor("bf16", mt.Layout(3)).numpy()
        self.assertFalse(hasattr(mt.tensor("bf16", mt.Layout(3)), "__array_interface__"))
        with self.assertRaises(BufferError):
            mt.tensor("f32", mt.Layout(3)).__dlpack__(dl_device=(2, 0))
        with self.assertRaises(mt.Error) as e:
            mt.tensor("f32", mt.Layout(1 << 50))
        self.assertEqual(e.exception.code, "ENOMEM")

    def test_safetensors(self):
        arrays = {"a": self.rng.random((3, 4)), 'q"\u00e9': self.rng.integers(0, 9, 5).astype("i2")}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            mt.save(path, arrays)
            with open(path, "rb") as f:
                header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
                data = f.read()
            for name, a in arrays.items():
                begin, end = header[name]["data_offsets"]
                got = np.frombuffer(data[begin:end], a.dtype).reshape(header[name]["shape"])
                self.assertTrue((got == a).all())
                self.assertTrue((np.asarray(mt.load(path)[name]) == a).all())

    def test_npz(self):
        arrays = {"a": self.rng.random((300, 40)), "\u00e9": self.rng.integers(0, 9, 5).astype("i2"),
                  "big": self.rng.random((3, 4)).astype(">f4"), "none": np.zeros((0, 3)),
                  "fortran": np.asfortranarray(self.rng.random((200, 50))), "scalar": np.array(3, "f4"),
                  "zeros": np.zeros((1000, 300), "f4")}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npz")
            for save in (np.savez, np.savez_compressed):            # theirs
                save(path, **arrays)
                got = mt.load(path)
                self.assertEqual(set(got), set(arrays))
                for name, a in arrays.items():
                    self.assertTrue((np.asarray(got[name]) == a).all(), name)
            for options in ({}, {"compress": True}):                # ours
                given = {k: v.astype(v.dtype.newbyteorder("=")) for k, v in arrays.items()}
                mt.save(path, given, options)
                with zipfile.ZipFile(path) as z:
                    self.assertIsNone(z.testzip())
                got = np.load(path)
                self.assertEqual(set(got.files), set(arrays))
                for name, a in given.items():
                    self.assertEqual((got[name].dtype, got[name].shape), (a.dtype, a.shape))
                    self.assertTrue((got[name] == a).all(), name)
            self.assertLess(os.path.getsize(path), 400000)

    def test_verify(self):
        v = mt.verify({"tv": mt.Layout((4, 2), (1, 0)), "tiler": (4,)}, mt.Layout(8))
        self.assertEqual((v.ok, v.problem), (False, "twice"))
        self.assertRaises(AttributeError, lambda: v.no_such_field)
        self.assertRaisesRegex(AttributeError, "did you mean problem", lambda: v.problen)
        self.assertFalse(hasattr(v, "why"))

    def test_run(self):
        a, b = self.rng.random((3, 4)), np.zeros((4, 3))
        mt.run("tile.copy(src, dst:select(2, 1))", src=a, dst=b)
        self.assertTrue((b.T == a).all())
        self.assertEqual(mt.run("return x, y, { z = { 1, 2 } }, nil", x=1, y="\0\xe9"),
                         (1, "\0\xe9", {"z": (1, 2)}, None))
        self.assertIsNone(mt.run("return"))
        self.assertEqual(mt.run("return tile.layout(3)"), mt.Layout(3))
        with self.assertRaisesRegex(mt.Error, "lua:2: oh"):
            mt.run("\nerror('oh')")
        with self.assertRaises(mt.Error):
            mt.run("error(setmetatable({}, { __tostring = function() error({}) end }))")
        with self.assertRaises(mt.Error):
            mt.run("local t = {} t[1] = t return t")
        self.assertRaises(mt.Error, mt.run, "\x1bLua")
        add = mt.run("return function(a, b) return a + b end")
        self.assertEqual(add(1, 2.5), 3.5)
        self.assertEqual(mt.run("return x", x=None), None)


class Lifetimes(unittest.TestCase):
    def test_an_array_is_let_go_of(self):
        a = np.zeros((4, 4))
        seen = weakref.ref(a)
        T = mt.Tensor(a)
        V, p = T(mt._, 1), mt.plan(T, mt.tensor("f64", T.layout))
        del a, T
        collect()
        self.assertIsNotNone(seen())
        del V
        collect()
        self.assertIsNotNone(seen())
        del p
        collect()
        self.assertIsNone(seen())

    def test_arrays_are_let_go_of_as_they_come(self):
        alive = []
        for _ in range(200):
            a = np.zeros(1 << 18)
            alive.append(weakref.ref(a))
            mt.copy(a, a.copy())
        self.assertLess(sum(r() is not None for r in alive), 60)

    def test_a_tensor_lives_for_its_arrays(self):
        T = mt.tensor("f32", mt.Layout(1000)).fill(7)
        arrays = [np.asarray(T), np.from_dlpack(T), T.numpy()]
        with self.assertRaisesRegex(mt.Error, "the host uses the memory"):
            T.free()
        del T
        for _ in range(3):
            collect()
            mt.tensor("f32", mt.Layout(1000)).fill(1)
        for a in arrays:
            self.assertTrue((a == 7).all())

    def test_free(self):
        T = mt.tensor("f32", mt.Layout(8))
        a = np.asarray(T)
        del a
        b = np.from_dlpack(T)
        del b
        U = mt.tensor("f32", mt.Layout(8))
        U.__dlpack__()                          # a capsule that nobody takes
        gc.collect()
        U.free()
        self.assertRaisesRegex(mt.Error, "freed", lambda: U(0))

    def test_a_capsule_is_used_once(self):
        class Again:
            def __init__(self, capsule):
                self.capsule = capsule

            def __dlpack__(self, **_):
                return self.capsule
        x = Again(np.zeros(3).__dlpack__())
        mt.Tensor(x)
        with self.assertRaisesRegex(TypeError, "was used"):
            mt.Tensor(x)
        with self.assertRaises(TypeError):
            mt.Tensor(Again("no capsule"))

    def test_threads(self):
        wrong = []

        def work(seed):
            rng = np.random.default_rng(seed)
            for _ in range(200):
                a = rng.integers(0, 100, tuple(rng.integers(1, 9, 2))).astype("f")
                b = np.zeros_like(a.T)
                mt.copy(a.T, b)
                if not (b == a.T).all() or mt.Layout((int(rng.integers(2, 9)), 3)).rank() != 2:
                    wrong.append(seed)
        threads = [threading.Thread(target=work, args=(SEED + i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def child(self):
        """What a child of this process says of a product."""
        A, C = np.ones((64, 64), "f"), np.zeros((64, 64), "f")
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                mt.gemm(A, A, C)
                said = "right" if (C == 64).all() else "wrong"
            except mt.Error as e:
                said = str(e)
            os.write(write, said.encode())
            os._exit(0)
        os.close(write)
        os.waitpid(pid, 0)
        with os.fdopen(read) as f:
            return f.read()

    def test_the_end(self):
        code = ("import sys; sys.path.insert(0, %r); import moontile as mt; T = mt.tensor('f32', "
                "mt.Layout(4)); A = T.__dlpack__(); mt._library.kept = [T, mt.Layout(3), T(mt._)]")
        done = subprocess.run([sys.executable, "-c", code % sys.argv[1]], capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_fork(self):
        mt.gemm(np.ones((64, 64), "f"), np.ones((64, 64), "f"), np.zeros((64, 64), "f"))
        self.assertEqual(self.child(), "right")
        ready, go_on = threading.Event(), threading.Event()

        class Late(np.ndarray):             # its thread is in the middle of a call
            def __del__(self):
                ready.set()
                go_on.wait(60)

        def collect_one():
            mt.Tensor(np.zeros(4).view(Late))
            collect()
        thread = threading.Thread(target=collect_one)
        thread.start()
        ready.wait(60)
        try:
            said = self.child()
        finally:
            go_on.set()
            thread.join()
        self.assertIn("the process forked in the middle", said)
        self.assertEqual(self.child(), "right")

    def test_a_call_in_a_call(self):
        said = []

        class Late(np.ndarray):
            def __del__(self):
                try:
                    mt.Layout(4)
                except mt.Error as e:
                    said.append(str(e))
        mt.Tensor(np.zeros(4).view(Late))
        collect()
        self.assertEqual(said, ["moontile: this thread is in the middle of a call"])


LOOPS = {
    "an endless loop": "while true do end",
    "what catches errors": "while true do pcall(function() while true do end end) end",
    "a coroutine": "coroutine.wrap(function() while true do end end)()",
    "coroutines without an end": """while true do
         coroutine.resume(coroutine.create(function() while true do end end)) end""",
    "a search": "while true do tile.parse '(4,8):(8,1)' end",
    "a product": """local A = tile.tensor('f64', tile.layout{1 << 12, 1 << 12})
         for i = 1, 1 << 30 do tile.gemm(A, A, A2) end""",
}
CHILD = """
import sys, threading, signal, time
sys.path.insert(0, sys.argv[1])
import moontile as mt
def work(text):
    mt.run("print 'ready' io.flush() " + text, A2=mt.tensor('f64', mt.Layout((1 << 12, 1 << 12))))
def told(f, *arguments):
    try:
        f(*arguments)
        print('it ended')
    except BaseException as e:
        print(type(e).__name__, str(e).split(chr(10))[0])
    print(mt.Layout(4).size(), signal.getsignal(signal.SIGINT) is handler, flush=True)
handler = signal.getsignal(signal.SIGINT)
"""


class Interrupts(unittest.TestCase):
    """Ctrl-C: a child is sent SIGINT in the middle of a call."""

    def child(self, code, text="", errors=subprocess.STDOUT):
        started = subprocess.Popen([sys.executable, "-c", CHILD + code, sys.argv[1], text],
                                   stdout=subprocess.PIPE, stderr=errors, text=True)
        self.assertEqual(started.stdout.readline(), "ready\n")
        time.sleep(0.1)
        started.send_signal(signal.SIGINT)
        begin = time.time()
        try:
            return started.communicate(timeout=60)[0].splitlines(), time.time() - begin
        finally:
            started.kill()

    def test_calls_end(self):
        for what, text in LOOPS.items():
            said, took = self.child("told(work, sys.argv[2])", text)
            self.assertEqual(said, ["KeyboardInterrupt ", "4 True"], what)
            print("Ctrl-C in %s: %.2f s until the end of the process" % (what, took))

    def test_a_handler_of_the_program(self):
        code = """
class Mine(Exception): pass
def handler(number, frame): raise Mine('mine')
signal.signal(signal.SIGINT, handler)
told(work, sys.argv[2])
"""
        self.assertEqual(self.child(code, "while true do end")[0], ["Mine mine", "4 True"])
        said, _ = self.child(code.replace("raise Mine('mine')", "print('seen')"),
                             "while true do end")
        self.assertEqual(said[:1] + said[2:], ["seen", "4 True"])
        self.assertRegex(said[1], "Error .*interrupted!")

    def test_it_is_ignored(self):
        code = """
handler = signal.SIG_IGN
signal.signal(signal.SIGINT, handler)
told(work, sys.argv[2])
"""
        said, _ = self.child(code, "local t = os.time() while os.time() < t + 3 do end")
        self.assertEqual(said, ["it ended", "4 True"])

    def test_another_thread_has_the_call(self):
        code = """
threading.Thread(target=mt.run, args=('while true do end',), daemon=True).start()
try:
    print('ready', flush=True)
    while True:
        mt.Layout(4)
except KeyboardInterrupt:
    print('KeyboardInterrupt', flush=True)
import os
os._exit(0)
"""
        self.assertEqual(self.child(code)[0], ["KeyboardInterrupt"])

    def test_at_any_time(self):
        """However short the calls are, and whenever it comes, the next one works."""
        code = """
signal.signal(signal.SIGINT, signal.SIG_IGN)    # the first one, of `child`
print('ready', flush=True)
time.sleep(0.3)
def handler(number, frame):                     # in the package, wherever that is
    if 'moontile' in frame.f_code.co_filename: raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
ends, A = 0, mt.tensor('f32', mt.Layout(8))
p = mt.plan(A, mt.tensor('f32', mt.Layout(8)))
def pester():
    for _ in range(400):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.0005)
pest = threading.Thread(target=pester)
pest.start()
while pest.is_alive():
    try:
        while pest.is_alive():
            p(); mt.Layout((4, 8))(3); mt.Tensor(A)
    except KeyboardInterrupt:
        ends += 1
print(ends > 0, mt.Layout((4, 8))(3), flush=True)
"""
        said, _ = self.child(code, errors=subprocess.DEVNULL)   # ignored in a finalizer
        self.assertEqual(said, ["True 3"])


class Gpu:
    """An array of a GPU, as torch has them."""

    def __init__(self, T):
        self.T = T
        self.streams = []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.T.__dlpack__(stream=-1)


def make_stream(driver):
    context, stream, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    for status in (driver.cuDeviceGet(ctypes.byref(device), 0),
                   driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
                   driver.cuCtxPushCurrent_v2(context),
                   driver.cuStreamCreate(ctypes.byref(stream), 1),
                   driver.cuCtxPopCurrent_v2(ctypes.byref(context))):
        assert status == 0, status
    return stream.value


class OnTheGpu(unittest.TestCase):
    def setUp(self):
        mt.device({1: "cuda:0", "libcuda": LIBCUDA})
        self.x = np.arange(64, dtype="f").reshape(8, 8)
        self.T = mt.Tensor(self.x).to("cuda:0")
        self.asked = []
        stream = make_stream(ctypes.CDLL(LIBCUDA))

        def current(i):
            self.asked.append(i)
            return types.SimpleNamespace(cuda_stream=stream)
        sys.modules["torch"] = types.SimpleNamespace(
            cuda=types.SimpleNamespace(is_initialized=lambda: True, current_stream=current))
        self.stream = stream

    def tearDown(self):
        del sys.modules["torch"]

    def test_torch_stream(self):
        array, U = Gpu(self.T), mt.tensor("f32", mt.Layout((8, 8), "right"), "cuda:0")
        A = mt.Tensor(array)
        self.assertEqual((A.device, A.__dlpack_device__(), repr(A.layout)),
                         ("cuda:0", (2, 0), "(8,8):(8,1)"))
        self.assertEqual(array.streams, [self.stream])
        mt.copy(A.select(2, 1), U)
        mt.gemm(A, A, U, beta=1)
        p = mt.plan_gemm(array, array, U, beta=1)
        p()
        p(stream=self.stream)
        mt.einsum("ij,kj->ik", A, A, U, beta=1)
        self.assertGreater(len(self.asked), 4)
        got = mt.Tensor(np.zeros((8, 8), "f"))
        mt.run("U:device():synchronize()", U=U)
        mt.copy(U, got)
        np.testing.assert_allclose(np.asarray(got), self.x.T + 4 * (self.x @ self.x.T))

    def test_plans_and_graphs_of_lua(self):
        U = mt.tensor("f32", mt.Layout((8, 8), "right"), "cuda:0")
        V = mt.tensor("f32", mt.Layout((8, 8), "right"), "cuda:0")
        p, g = mt.run("""return tile.plan(T, U), T:device():graph(function()
                           tile.copy(U, V) end)""", T=self.T, U=U, V=V)
        p()                                     # on torch's stream, wherever it was made
        g()
        self.assertEqual(self.asked, [0, 0])
        g(stream=self.stream)
        mt.run("V:device():synchronize()", V=V)
        self.assertEqual(list(V), self.x.T.ravel().tolist())
        self.assertEqual((repr(p.device()), repr(g.device())), ("cuda:0", "cuda:0"))
        up = mt.plan(mt.Tensor(self.x), U)
        up()
        self.assertEqual((repr(up.device()), len(self.asked)), ("cuda:0", 3))
        self.assertEqual(mt.run("return tile.plan(x, y)", x=self.x, y=self.x.copy())(), None)
        self.assertEqual(len(self.asked), 3)

    def test_numpy_has_none_of_it(self):
        self.assertFalse(hasattr(self.T, "__array_interface__"))
        with self.assertRaisesRegex(mt.Error, "lies on cuda:0: T.to"):
            self.T.numpy()
        with self.assertRaises(mt.Error):
            mt.copy(mt.tensor("f32", mt.Layout(4)), mt.tensor("f32", mt.Layout(4)), stream=self.T)


if __name__ == "__main__":
    print("seed", SEED)
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
