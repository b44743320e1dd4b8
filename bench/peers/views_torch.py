# views_torch.py: the views of ../views.lua by torch.compile, and both beside one another.
# SPDX-License-Identifier: MIT
#
# usage: views_torch.py LIST warm PART PARTS    compiles each PARTS-th view, from PART on
#        views_torch.py LIST time               prints name and microseconds
#        views_torch.py LIST beside TABLE       the same, beside what views.lua printed
#
# LIST is of `moontile views.lua list=LIST ...`. What was compiled before is found in the cache of
# inductor, so that several processes may warm it. Buffers take turns, medians of batches between
# CUDA events. A reversed axis is a flip, as torch has no negative strides.

import glob
import math
import os
import statistics
import sys

import torch

TYPES = {"f32": torch.float32, "f16": torch.float16, "f64": torch.float64, "u8": torch.uint8}
BATCH, ROUNDS, BEYOND = 20, 7, 384 << 20


def numbers(text):
    return [int(word) for word in text.split(",")]


def read(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            name, dtype, extents, src, dst = line.rstrip("\n").split("\t")
            yield name, TYPES[dtype], numbers(extents), numbers(src), numbers(dst)


def span(extents, strides):
    return 1 + sum((e - 1) * abs(s) for e, s in zip(extents, strides))


def buffer(dtype, n):
    if dtype == torch.uint8:
        return torch.randint(0, 255, (n,), device="cuda", dtype=dtype)
    return torch.rand(n, device="cuda", dtype=torch.float32).to(dtype)


def copier(extents, src, dst):
    shape, strides = extents[::-1], [abs(s) for s in src[::-1]]
    turned = [k for k, s in enumerate(src[::-1]) if s < 0]
    to = dst[::-1]

    def copy(x, y):
        seen = x.as_strided(shape, strides, 0)
        y.as_strided(shape, to, 0).copy_(torch.flip(seen, turned) if turned else seen)

    return copy


def compiled(extents, src, dst):
    torch._dynamo.reset()
    return torch.compile(copier(extents, src, dst), dynamic=False, fullgraph=True)


def pairs_of(dtype, extents, src, dst):
    n, m = span(extents, src), span(extents, dst)
    count = max(1, math.ceil(BEYOND / ((n + m) * dtype.itemsize)))
    return [(buffer(dtype, n), torch.zeros(m, device="cuda", dtype=dtype)) for _ in range(count)]


def microseconds(f, pairs):
    for _ in range(3):
        f(*pairs[0])
    times = []
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for i in range(BATCH):
            f(*pairs[i % len(pairs)])
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / BATCH * 1000)
    return statistics.median(times)


def warm(views, part, parts):
    for name, dtype, extents, src, dst in views[part::parts]:
        try:
            compiled(extents, src, dst)(*pairs_of(dtype, extents, src, dst)[0])
        except RuntimeError as error:
            print(name, error, file=sys.stderr)
    torch.cuda.synchronize()


def forget_tuning():
    """Kernels stay, which of their configurations is the best is found anew, alone on the GPU."""
    for path in glob.glob(os.environ.get("TORCHINDUCTOR_CACHE_DIR", "/nowhere") +
                          "/**/*.best_config", recursive=True):
        os.remove(path)


def measured(views):
    forget_tuning()
    for name, dtype, extents, src, dst in views:
        try:
            f, pairs = compiled(extents, src, dst), pairs_of(dtype, extents, src, dst)
            yield name, microseconds(f, pairs)
        except RuntimeError as error:
            print(name, error, file=sys.stderr)


def ours_of(path):
    """name -> microseconds of the table that views.lua printed."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if len(cells) > 5 and cells[3].replace(".", "").isdigit():
                found[cells[0] + " " + cells[1]] = float(cells[3])
    return found


def beside(views, path):
    ours, ratios = ours_of(path), []
    for name, them in measured(views):
        if name.strip() in ours:
            ratios.append((them / ours[name.strip()], name))
            print(f"{name}\t{ours[name.strip()]:.1f}\t{them:.1f}\t{ratios[-1][0]:.3f}", flush=True)
    mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
    behind = sorted(ratio for ratio in ratios if ratio[0] < 1 / 1.05)
    print(f"{len(ratios)} views, torch.compile / ours: geometric mean {mean:.3f}; "
          f"behind by more than 5 % on {len(behind)}")
    for ratio, name in behind:
        print(f"  {ratio:.3f} {name}")


def main():
    views = list(read(sys.argv[1]))
    if sys.argv[2] == "warm":
        warm(views, int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[2] == "beside":
        beside(views, sys.argv[3])
    else:
        for name, time in measured(views):
            print(f"{name}\t{time:.1f}", flush=True)


main()
