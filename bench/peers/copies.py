# copies.py: the permutations of copy.lua in PyTorch, eager and compiled.
# SPDX-License-Identifier: MIT
#
# usage: copies.py [eager|compile ...]; a line per case and way: name, way, microseconds.
# Rotating buffers, random data, medians of CUDA events over batches.

import statistics
import sys

import torch

CASES = [
    ("T f32 8192^2", "f32", (8192, 8192), (1, 0)),
    ("T f16 8192^2", "f16", (8192, 8192), (1, 0)),
    ("T u8 8192^2", "u8", (8192, 8192), (1, 0)),
    ("T f64 8192^2", "f64", (8192, 8192), (1, 0)),
    ("T f32 8191x4099", "f32", (8191, 4099), (1, 0)),
    ("T f16 8191x4099", "f16", (8191, 4099), (1, 0)),
    ("T u8 8191x4099", "u8", (8191, 4099), (1, 0)),
    ("NCHW->NHWC f16 64,256,56,56", "f16", (64, 256, 56, 56), (0, 2, 3, 1)),
    ("NHWC->NCHW f16 64,56,56,256", "f16", (64, 56, 56, 256), (0, 3, 1, 2)),
    ("NCHW->NHWC u8 256,3,224,224", "u8", (256, 3, 224, 224), (0, 2, 3, 1)),
    ("NHWC->NCHW f32 256,224,224,3", "f32", (256, 224, 224, 3), (0, 3, 1, 2)),
    ("NCHW->NCHW8c f16 64,32,8,56,56", "f16", (64, 32, 8, 56, 56), (0, 1, 3, 4, 2)),
    ("NCHW->NCHW16c u8 64,16,16,112,112", "u8", (64, 16, 16, 112, 112), (0, 1, 3, 4, 2)),
    ("attention f16 32,2048,32,128", "f16", (32, 2048, 32, 128), (0, 2, 1, 3)),
    ("3-D f32 512,384,256 (2,1,0)", "f32", (512, 384, 256), (2, 1, 0)),
    ("3-D f16 512,768,512 (2,0,1)", "f16", (512, 768, 512), (2, 0, 1)),
    ("3-D f32 511,383,257 (2,1,0)", "f32", (511, 383, 257), (2, 1, 0)),
    ("4-D f32 64,96,128,80 reversed", "f32", (64, 96, 128, 80), (3, 2, 1, 0)),
    ("5-D f32 24,48,32,40,36", "f32", (24, 48, 32, 40, 36), (4, 2, 0, 3, 1)),
    ("5-D f16 32,64,32,48,32", "f16", (32, 64, 32, 48, 32), (1, 4, 0, 3, 2)),
    ("6-D f32 16,20,24,28,12,16", "f32", (16, 20, 24, 28, 12, 16), (5, 2, 4, 0, 3, 1)),
    ("6-D f16 16,24,20,16,28,24", "f16", (16, 24, 20, 16, 28, 24), (3, 1, 5, 0, 2, 4)),
    ("T f32 512^2", "f32", (512, 512), (1, 0)),
    ("T f32 1024^2", "f32", (1024, 1024), (1, 0)),
    ("T f32 2048^2", "f32", (2048, 2048), (1, 0)),
]
TYPES = {"f32": torch.float32, "f16": torch.float16, "f64": torch.float64, "u8": torch.uint8}
BATCH = 20


def tensors(dtype, shape):
    """Inputs beyond 128 MiB in all."""
    n = TYPES[dtype].itemsize
    for extent in shape:
        n *= extent
    count = max(2, min(24, -(-(128 << 20) // n)))
    if dtype == "u8":
        return [torch.randint(0, 255, shape, device="cuda", dtype=torch.uint8) for _ in range(count)]
    return [torch.randn(shape, device="cuda").to(TYPES[dtype]) for _ in range(count)]


def microseconds(f, xs):
    for x in xs[:2]:
        f(x)
    times = []
    for _ in range(9):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for i in range(BATCH):
            f(xs[i % len(xs)])
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / BATCH * 1000)
    return statistics.median(times)


def main():
    ways = sys.argv[1:] or ["eager", "compile"]
    for name, dtype, shape, order in CASES:
        xs = tensors(dtype, shape)

        def permute(x, order=order):
            return x.permute(order).clone(memory_format=torch.contiguous_format)

        for way in ways:
            torch._dynamo.reset()
            f = permute if way == "eager" else torch.compile(permute, dynamic=False)
            print(f"{name}\t{way}\t{microseconds(f, xs):.1f}", flush=True)


main()
