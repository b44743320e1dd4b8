"""Tests of the Python package beside torch: on a GPU, in torch's memory and on torch's streams;
what needs no GPU also where torch has none.

usage: torch_arrays.py FOLDER [TEST...]       SPDX-License-Identifier: MIT

FOLDER has the package. Exit status 77 where torch is not installed (ctest: skipped).
"""
import ctypes
import gc
import sys
import threading
import time
import unittest

try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)

sys.path.insert(0, sys.argv[1])
import moontile as mt  # noqa: E402

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda:0" if HAS_GPU else "cpu"
SEED = int(time.time() * 1000) % (1 << 32)
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8",
          "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8"}
FLOAT8 = {name: theirs for name, theirs in (("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2"))
          if hasattr(torch, theirs)}      # not before torch 2.1


def collect():
    gc.collect()
    mt.run("collectgarbage() collectgarbage()")
    gc.collect()


def late(stream, seconds=0.2):
    """Something on the stream that takes so long that what comes too early is seen."""
    with torch.cuda.stream(stream):
        torch.cuda._sleep(int(seconds * 1.5e9))


class Arrays(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def random(self):
        """A view somewhere: permuted, sliced, of every other element, with modes of extent 1 and 0."""
        rank = int(torch.randint(0, 5, ()))
        low = 0 if torch.rand(()) < 0.1 else 1
        shape = [int(n) for n in torch.randint(low, 7, (rank,))]
        name = list(DTYPES)[int(torch.randint(0, len(DTYPES), ()))]
        a = torch.randint(0, 100, shape, device=DEVICE).to(getattr(torch, DTYPES[name]))
        a = a.permute(*torch.randperm(rank).tolist()) if rank else a
        return name, a[tuple(slice(int(torch.randint(0, 2, ())), None, int(torch.randint(1, 3, ())))
                             for _ in range(rank))]

    def test_there_and_back(self):
        for _ in range(300):
            name, a = self.random()
            T = mt.Tensor(a)
            b = torch.from_dlpack(T)
            self.assertEqual((T.dtype, T.device), (name, DEVICE))
            self.assertEqual((a.dtype, a.shape, a.device), (b.dtype, b.shape, b.device))
            self.assertTrue(torch.equal(a, b))
            if a.numel():
                self.assertEqual(a.data_ptr(), b.data_ptr())
                b.fill_(3)
                self.assertTrue(bool((a == 3).all()))

    def test_copy(self):
        for _ in range(100):
            _, a = self.random()
            if a.numel() == 0:
                continue
            b = torch.zeros_like(a, memory_format=torch.contiguous_format)
            mt.copy(a, b)
            self.assertTrue(torch.equal(a, b))

    def test_types(self):
        for name, theirs in FLOAT8.items():
            a = torch.arange(8, device=DEVICE).to(getattr(torch, theirs))
            try:
                T = mt.Tensor(a)
            except (BufferError, RuntimeError) as e:    # torch does not give it away
                print("torch:", theirs, e)
                continue
            self.assertEqual(T.dtype, name)
            F = mt.tensor("f32", mt.Layout(8), DEVICE)
            mt.copy(T, F)
            self.assertEqual(torch.from_dlpack(F).tolist(), a.float().tolist())
        with self.assertRaises((mt.Error, BufferError)):
            mt.Tensor(torch.zeros(3, dtype=torch.complex64, device=DEVICE))
        for odd in (torch.zeros(3, device=DEVICE, requires_grad=True),
                    torch.nn.Parameter(torch.zeros(3, device=DEVICE)),
                    torch.zeros(3, device=DEVICE).to_sparse(), torch.zeros(3, device="meta"),
                    torch.zeros(3, dtype=torch.complex64, device=DEVICE).conj(),
                    torch.zeros(3, dtype=torch.complex64, device=DEVICE).conj().imag):
            with self.assertRaises((mt.Error, BufferError, RuntimeError, ValueError, TypeError),
                                   msg=repr(odd)):
                mt.Tensor(odd)

    def test_a_permuted_contraction(self):
        for dtype in (torch.float32, torch.bfloat16):
            Q = torch.rand(2, 48, 5, 33, device=DEVICE).to(dtype).permute(0, 2, 1, 3)
            K = torch.rand(5, 2, 33, 64, device=DEVICE).to(dtype)
            made = mt.einsum("bhqd,hbdk->bhqk", Q, K, dtype="f32")
            got = torch.from_dlpack(made)
            want = torch.einsum("bhqd,hbdk->bhqk", Q.double(), K.double())
            self.assertEqual(got.device, Q.device)
            torch.testing.assert_close(got.double(), want, rtol=2e-2, atol=1e-2)

    def test_a_plan_of_lua(self):
        A, B = torch.rand(33, 40, device=DEVICE), torch.rand(40, 29, device=DEVICE)
        C = torch.zeros(29, 33, device=DEVICE)
        p = mt.run("return tile.plan_gemm(A, B:select(2, 1), C:select(2, 1))", A=A, B=B, C=C)
        p()
        torch.testing.assert_close(C.t(), A @ B, rtol=1e-2, atol=1e-2)


class Lifetimes(unittest.TestCase):
    @unittest.skipUnless(HAS_GPU, "no GPU")
    def test_memory_goes_back(self):
        collect()
        before = torch.cuda.memory_allocated()
        a = torch.zeros(1 << 20, device=DEVICE)
        T = mt.Tensor(a)
        b = torch.from_dlpack(T)
        p = mt.plan(T, mt.tensor("f32", T.layout, DEVICE))
        del a
        collect()
        self.assertEqual(torch.cuda.memory_allocated() - before, 4 << 20)
        del T, p
        collect()
        self.assertEqual(torch.cuda.memory_allocated() - before, 4 << 20)
        b.fill_(1)
        del b
        collect()
        self.assertEqual(torch.cuda.memory_allocated(), before)

    @unittest.skipUnless(HAS_GPU, "no GPU")
    def test_arrays_are_let_go_of_as_they_come(self):
        collect()
        before, most = torch.cuda.memory_allocated(), 0
        for _ in range(300):
            a = torch.zeros(1 << 23, device=DEVICE)
            mt.copy(a, a.clone())
            most = max(most, torch.cuda.memory_allocated() - before)
        del a
        self.assertLess(most, 4 << 30)
        collect()
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_a_tensor_lives_for_torch(self):
        T = mt.tensor("f32", mt.Layout(1000), DEVICE).fill(7)
        a = torch.from_dlpack(T)
        with self.assertRaisesRegex(mt.Error, "the host uses the memory"):
            T.free()
        del T
        for _ in range(3):
            collect()
            mt.tensor("f32", mt.Layout(1000), DEVICE).fill(1)
        self.assertTrue(bool((a == 7).all()))

    def test_deleters_run_once(self):
        a = torch.zeros(8, device=DEVICE)
        calls = []
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                       ctypes.c_void_p]

        class Old(ctypes.Structure):
            _fields_ = mt._tensor._DLTensor._fields_ + [("context", ctypes.c_void_p),
                                                       ("deleter", kind)]
        shape = (ctypes.c_int64 * 1)(8)
        m = Old(a.data_ptr(), 2 if HAS_GPU else 1, 0, 1, 2, 32, 1, shape, None, 0, None,
                kind(lambda p: calls.append(p)))

        class Theirs:
            def __dlpack_device__(self):
                return (2 if HAS_GPU else 1), 0

            def __dlpack__(self, **_):
                return new(ctypes.addressof(m), b"dltensor", None)
        T = mt.Tensor(Theirs())
        U = T(mt._)
        T.fill(3)
        del T
        collect()
        self.assertEqual(calls, [])
        self.assertEqual(U(7), 3)
        del U
        collect()
        self.assertEqual(calls, [ctypes.addressof(m)])


@unittest.skipUnless(HAS_GPU, "no GPU")
class Streams(unittest.TestCase):
    def setUp(self):
        torch.cuda.synchronize()
        self.a = torch.zeros(1 << 20, device=DEVICE)
        self.b = torch.zeros(1 << 20, device=DEVICE)

    def test_in_order_with_what_is_under_way(self):
        for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                self.a.zero_(), self.b.zero_()
                p = mt.plan(self.a, self.b)
                for k, work in enumerate((lambda: mt.copy(self.a, self.b), p), 1):
                    late(stream)
                    self.a.fill_(k)
                    work()
                    c = self.b + 1                      # torch's, behind it
                    self.assertFalse(stream.query())    # nothing has waited
                    self.assertEqual(float(c.min()), k + 1)
                    self.assertEqual(float(c.max()), k + 1)

    def test_results_are_not_waited_for(self):
        """A product waits for nothing; what is handed to torch is in order."""
        s = torch.cuda.Stream()
        A, C = torch.rand(64, 64, device=DEVICE), torch.zeros(64, 64, device=DEVICE)
        T = mt.Tensor(C)
        mt.gemm(A, A, C)
        torch.cuda.synchronize()
        with torch.cuda.stream(s):
            late(s)
            A.mul_(2)
            mt.gemm(A, A, T)
            self.assertFalse(s.query())
            D = torch.from_dlpack(T) + 0
            E = torch.from_dlpack(mt.einsum("ij,kj->ik", A, A)) + 0
        s.synchronize()
        torch.testing.assert_close(D, A @ A.T, rtol=1e-2, atol=1e-2)
        torch.testing.assert_close(E, A @ A.T, rtol=1e-2, atol=1e-2)

    def test_what_is_handed_over_is_not_waited_for(self):
        """torch's stream waits for the device's own; nothing else waits."""
        s = torch.cuda.Stream()
        T, U = mt.tensor("f32", mt.Layout(1 << 22), DEVICE), mt.tensor("f32", mt.Layout(1 << 22), DEVICE)
        T.fill(1)
        with torch.cuda.stream(s):
            late(s)
            mt.run("""for _ = 1, 200 do tile.copy(T, U) end""", T=T, U=U)     # the device's own
            a = torch.from_dlpack(U)
            self.assertFalse(s.query())
            b = a + 1
        s.synchronize()
        self.assertEqual((float(b.min()), float(b.max())), (2, 2))

    def test_events(self):
        s, t = torch.cuda.Stream(), torch.cuda.Stream()
        ready = torch.cuda.Event()
        with torch.cuda.stream(s):
            late(s)
            self.a.fill_(5)
            ready.record()
        t.wait_event(ready)
        p = mt.plan(self.a, self.b)
        p(stream=t)
        mt.copy(self.b, self.a, stream=t.cuda_stream)
        t.synchronize()
        self.assertEqual(float(self.b.min()), 5)

    def test_results_that_go_while_they_are_used(self):
        s = torch.cuda.Stream()
        with torch.cuda.stream(s):
            for k in range(20):
                late(s, 0.01)
                A = torch.full((256, 256), float(k), device=DEVICE)
                C = torch.from_dlpack(mt.einsum("ij,kj->ik", A, A)).clone()
                collect()
                mt.tensor("f32", mt.Layout((256, 256)), DEVICE).fill(-1)
                self.assertEqual(float(C.min()), 256.0 * k * k)

    def test_capture(self):
        A, B = torch.rand(64, 32, device=DEVICE), torch.rand(48, 32, device=DEVICE)
        C = torch.zeros(64, 48, device=DEVICE)
        p = mt.plan_gemm(A, B, C)
        p()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            A.add_(1)
            p()
            mt.copy(self.a, self.b)
            mt.gemm(A, B, C, beta=1)
        self.a.fill_(9)
        for _ in range(3):
            graph.replay()
            torch.testing.assert_close(C, 2 * (A @ B.T), rtol=1e-2, atol=1e-2)
        self.assertEqual(float(self.b.min()), 9)

    def test_threads_have_streams_of_their_own(self):
        wrong = []

        def work(k):
            s = torch.cuda.Stream()
            with torch.cuda.stream(s):
                a, b = torch.zeros(1 << 16, device=DEVICE), torch.zeros(1 << 16, device=DEVICE)
                for i in range(50):
                    a.fill_(k * 100 + i)
                    mt.copy(a, b)
                    if float(b.max()) != k * 100 + i or float(b.min()) != k * 100 + i:
                        wrong.append((k, i))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    print("seed", SEED, "torch", torch.__version__, DEVICE)
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
