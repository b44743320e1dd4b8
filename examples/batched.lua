-- batched.lua [device]: batches of products by strides: repeated, interleaved, hierarchical.
-- SPDX-License-Identifier: MIT
--
-- A product is C(m,n,l) = A(m,k,l) B(n,k,l), and each of m, n, k, l may have modes of its own.
-- So a batch needs no array of pointers, a shared factor no copies, and what a transposition
-- would have to move is an order of modes.

local tile = require "moontile"
local layout = tile.layout

local device = assert(tile.device(arg[1]))

local function numbers(A, step)
  local values = {}
  for i = 1, A:size() do values[i] = i * step % 9 - 4 end
  return assert(tile.tensor("f32", A, device)):fill(values)
end

-- C(m,n,l) by its definition, in the order of the coordinates.
local function compare(name, A, B, C)
  tile.gemm(A, B, C)
  device:synchronize()
  local a, b, c = A:to "cpu", B:to "cpu", C:to "cpu"
  local M, N, L = c:layout()[1]:size(), c:layout()[2]:size(), c:layout()[3]:size()
  local K = a:layout()[2]:size()
  for l = 0, L - 1 do
    for n = 0, N - 1 do
      for m = 0, M - 1 do
        local sum = 0
        for k = 0, K - 1 do sum = sum + a(m, k, l) * b(n, k, l) end
        assert(c(m, n, l) == sum, name)
      end
    end
  end
  print(("%s\n  A %s\n  B %s\n  C %s\n  %d products of %dx%dx%d: right"):format(name, A:layout(),
        B:layout(), C:layout(), L, M, N, K))
end

local function zeros(A) return assert(tile.tensor("f32", A, device)) end

local M, N, K, L = 12, 10, 8, 6

-- Matrix after matrix, each row-major: the strided batch of every BLAS.
compare("one after the other", numbers(layout({ M, K, L }, { K, 1, M * K }), 5),
        numbers(layout({ N, K, L }, { K, 1, N * K }), 7),
        zeros(layout({ M, N, L }, { N, 1, M * N })))

-- Matrices interleaved: element by element, the batch runs fastest.
compare("\ninterleaved", numbers(layout({ M, K, L }, { K * L, L, 1 }), 5),
        numbers(layout({ N, K, L }, { K * L, L, 1 }), 7),
        zeros(layout({ M, N, L }, { N * L, L, 1 })))

-- One B for the whole batch: stride 0. Nothing is repeated in memory.
compare("\none B for all", numbers(layout({ M, K, L }, { K, 1, M * K }), 5),
        numbers(layout({ N, K, L }, { K, 1, 0 }), 7),
        zeros(layout({ M, N, L }, { N, 1, M * N })))

-- A batch of 2 x 3: A differs along the first, B along the second; all six are multiplied.
local six = { 2, 3 }
compare("\neach A with each B",
        numbers(layout({ M, K, six }, { K, 1, { M * K, 0 } }), 5),
        numbers(layout({ N, K, six }, { K, 1, { 0, N * K } }), 7),
        zeros(layout({ M, N, six }, { N, 1, { 3 * M * N, M * N } })))

-- Modes in modes: m is 3 tiles of 4 rows, each tile stored as a block; k is 2 halves that lie
-- apart; C comes out tiled in the same way.
compare("\nblocks of rows, halves of k",
        numbers(layout({ { 4, 3 }, { 4, 2 }, L }, { { 1, 32 }, { 4, 16 }, 96 }), 5),
        numbers(layout({ N, { 4, 2 }, L }, { 8, { 1, 4 }, 80 }), 7),
        zeros(layout({ { 4, 3 }, N, L }, { { 1, 40 }, 4, 120 })))

-- The same by a described product, which has the batch as its last mode.
local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 8, 8 } }
local A, B = numbers(layout({ { 4, 3 }, { 4, 2 }, L }, { { 1, 32 }, { 4, 16 }, 96 }), 5),
             numbers(layout({ N, { 4, 2 }, L }, { 8, { 1, 4 }, 80 }), 7)
local C, D = zeros(layout { M, N, L }), zeros(layout { M, N, L })
tile.gemm(A, B, C)
local plan = assert(tile.plan(mma, A, B, D))
plan()
device:synchronize()
local c, d = C:totable(), D:totable()
for i = 1, #c do assert(c[i] == d[i], "element " .. i - 1) end
print("\n" .. tostring(plan))
print(("\ndescribed and chosen products agree on %s"):format(device))
