-- charts.lua: the sections of docs/performance.md: their words, and which columns of which table of
-- bench/RESULTS.md become a chart.
-- SPDX-License-Identifier: MIT
--
-- A chart: name (of its file), title, table (how the first cell of its header begins), columns
-- (whose cells are the bars), over (a column that they are divided by), series (names of several
-- bars of a row), pick (which rows), ratio (a line at 1), log.

local function is_cast(label) return label:find " -> " ~= nil end
local function is_plain(label) return not is_cast(label) end
local function of_types(...)
  local types = { ... }
  return function(label)
    for _, t in ipairs(types) do if label:match "^%w+" == t then return true end end
    return false
  end
end

local OPENING = [[
All numbers and plots on this page are read from the tables of
[bench/RESULTS.md](../bench/RESULTS.md) when the page is made; that file has the machines, the
commits, the spreads, and what was tried without success. A ratio above 1 is faster than the peer.
Contestants run in turn in one process. Where a ratio is far above 1 the peer is not at its best;
the file says why. `./dev bench` measures again, on your machine.
]]

local copies = {
  title = "Copies on a GPU", section = "Copies on a GPU",
  words = [[
One H200. The peer is `cuMemcpyDtoDAsync` of the same bytes, which knows nothing of layouts: 1 is
a copy that costs nothing more for its transpose, its permutation, its odd sizes or its
conversion. Batches of launches and one synchronization for both alike, random data, buffers in
turn beyond the L2, medians of 15 rounds. "Described" copies are those of a tiled copy, done as it
says, thread by thread.
]],
  { name = "copies", title = "copies and permutations: times as fast as memcpy, H200",
    table = "copy", columns = { "ratio" }, pick = is_plain, ratio = true },
  { name = "casts",
    title = "copies that convert: times as fast as memcpy of half of what is moved, H200",
    table = "copy", columns = { "ratio" }, pick = is_cast, ratio = true },
  { name = "torch", title = "how many times as long torch.compile takes, H200",
    table = "copy", columns = { "torch.compile us" }, over = "us", ratio = true },
}

local products = {
  title = "Products on a GPU", section = "Products on a GPU (`moontile bench/gemm.lua`",
  words = [[
One H200. The peer is cuBLASLt 13, the best of its first five heuristics; both in one process, in
turn, rested. The ratio is its time by ours, packing counted. A name has the types, M x N x K, and
how A and B lie (T: K is contiguous in A, N: in B). 3xtf32 is three products, beside one of the
library.
]],
  { name = "products_16", title = "products of bf16 and f16: times as fast as cuBLASLt, H200",
    table = "product", columns = { "ratio" }, pick = of_types("bf16", "f16"), ratio = true },
  { name = "products_8", title = "products of e4m3 and i8: times as fast as cuBLASLt, H200",
    table = "product", columns = { "ratio" }, pick = of_types("e4m3", "i8"), ratio = true },
  { name = "products_tf32", title = "products of f32 by tf32: times as fast as cuBLASLt, H200",
    table = "product", columns = { "ratio" }, pick = of_types("tf32", "3xtf32"), ratio = true },
  { name = "products_32", title = "products of f32 and f64: times as fast as cuBLASLt, H200",
    table = "product", columns = { "ratio" }, pick = of_types("f32", "f64"), ratio = true },
}

local cpu_copies = {
  title = "Copies on a CPU", section = "Copies on a CPU",
  words = [[
The peer is `memcpy` of the same bytes by the same number of threads. Small copies of 16 threads
pay for starting them, and bytes whose rows are odd for their transposes.
]],
  { name = "cpu_copies", title = "copies: times as fast as memcpy by as many threads, CPU",
    columns = { "ratio" }, ratio = true,
    parts = { { table = "copy, 2 threads", prefix = "2 threads, " },
              { table = "copy, 16 threads", prefix = "16 threads, " } } },
}

local cpu_products = {
  title = "Products on a CPU", section = "Products on a CPU",
  words = [[
GFLOP/s, medians. OpenBLAS has as many threads as ours beside it.
]],
  { name = "cpu_products", title = "products: GFLOP/s, 2 processors of an Intel Xeon",
    table = "product",
    columns = { "1 thread", "OpenBLAS, 1 thread", "2 threads", "OpenBLAS, 2 threads" },
    series = { "moontile, 1 thread", "OpenBLAS, 1 thread", "moontile, 2 threads",
               "OpenBLAS, 2 threads" } },
}

local permutations = {
  title = "Random permutations", section = "Copies on a GPU",
  words = [[
100 random permutations of rank 3 to 6, 1 to 8 bytes, 128 MiB, extents of any kind, against
`cuMemcpyDtoDAsync`, by the form of the kernel: geometric means, and of how many.
]], command = "moontile bench/permutations.lua 50 SEED",
  { name = "permutations", title = "random permutations: times as fast as memcpy, H200",
    table = "form",
    columns = { "u8", "f16", "f32", "f64" }, series = { "u8", "f16", "f32", "f64" }, ratio = true },
}

local staging = {
  title = "Between host and GPU", section = "Copies on a GPU",
  words = [[
GB/s from and to pageable memory of any layout: moontile's threads fill page-locked pieces while
others are on their way. The driver copies the same bytes as one run, which has no layout.
]],
  { name = "staging", title = "between host and GPU: GB/s, H200", table = "host and GPU",
    columns = { { "GB/s up, down", 1 }, { "GB/s up, down", 2 }, { "driver, any memory", 1 },
                { "driver, any memory", 2 } },
    series = { "moontile, up", "down", "driver, any memory, up", "down" } },
}

local launches = {
  title = "Launches", section = "Copies on a GPU",
  words = [[
What a launch costs the host, beside a bare launch through the driver, whose kernel is empty.
]],
  { name = "launches", title = "a launch: us, H200", table = "a launch",
    columns = { "moontile us", "driver us" }, series = { "moontile", "driver" } },
}

local algebra = {
  title = "The algebra", section = "The algebra",
  words = [[
Geometric means over 21 operations beside CUTLASS's pycute and tensor-layouts under Python, on a
scale of powers of ten; from Lua the userdata of the result is included.
]],
  { name = "algebra", title = "the algebra: times as fast as pycute and tensor-layouts", log = true,
    table = "operation",
    columns = { "C / pycute", "Lua / pycute", "C / tensor-layouts", "Lua / tensor-layouts" },
    series = { "C / pycute", "Lua", "C / tensor-layouts", "Lua" } },
}

local proofs = {
  title = "Proofs", section = "Proofs of partitions",
  words = [[
One `tile.verify` from Lua. The size of the tensor does not matter: 65536 x 65536 takes no longer
than one tile.
]],
  { name = "proofs", title = "a proof: us", table = "partition", columns = { "us" },
    label = { 1, 2, 3 }, series = { "us" } },
}

local contractions = {
  title = "What is slow: contractions by literal kernels", section = "Contractions on a GPU",
  words = [[
Contractions that no fast kernel takes run literally: each element is read through its descriptor.
How many times as long as torch they take, on a scale of powers of ten: the reference on the GPU,
not a way to compute.
]],
  { name = "contractions", title = "contractions: times as long as torch, H200", table = "einsum",
    columns = { "us" }, over = "torch us", form = "%.0f", log = true },
}

return { { copies, permutations, staging, launches, products, cpu_copies, cpu_products, algebra,
           proofs, contractions }, OPENING }
