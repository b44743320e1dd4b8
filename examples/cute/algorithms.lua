-- CuTe's documentation, page 04: copy, copy_if, gemm by the modes of its tensors, axpby, fill and
-- clear, each against its definition:
--   moontile examples/cute/algorithms.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

local function numbers(shape, order)
  local T, list = tile.tensor("f32", layout(shape, order)), {}
  for i = 1, T:size() do list[i] = i * 7 % 5 - 2 end
  return T:fill(list)
end
local function zeros(shape) return tile.tensor("f32", layout(shape)):fill(0) end
local function all(n, holds)
  for i = 0, n - 1 do
    if not holds(i) then return "no: " .. i end
  end
  return "all"
end

-- ---------------------------------------------------------------- copy, copy_if

local src, dst = numbers({ 4, { 2, 3 } }, "right"), zeros { { 2, 2 }, 6 }
tile.copy(src, dst)
check("copy: dst(i) = src(i) for every i", "all",
      all(dst:size(), function(i) return dst(i) == src(i) end))

-- With an atom; four accesses of 32 bits become one of 128, where that is proven.
local atom = tile.copy_atom("UniversalCopy<uint128_t>", "f32")
local copy = tile.make_tiled_copy(atom, layout(32), layout(4))
local line, same = numbers(256), zeros(256)
tile.copy(copy, line, same)
check("copy by an atom", "all", all(256, function(i) return same(i) == line(i) end))
check("elements of one access", "4", tile.verify(copy, line).vector)
check("and where they are not beside each other", "false", (pcall(tile.copy, copy,
      tile.tensor("f32", layout(256, 2)), same)))

local pred, some, from = tile.tensor("bool", layout { 4, 6 }), zeros { 4, 6 }, numbers { 4, 6 }
for i = 0, 23 do pred:set(i % 3 == 0, i) end
tile.copy_if(pred, from, some)
check("copy_if: where pred(i)", "all", all(24, function(i)
  return some(i) == (i % 3 == 0 and from(i) or 0)
end))

-- ---------------------------------------------------------------- gemm, by the modes

local M, N, K = 3, 2, 4
local fma = tile.make_tiled_mma "UniversalFMA<float,float,float,float>":get_slice(0)
local A, B = numbers { M, K }, numbers({ N, K }, "right")

-- Whether C(m,n) is the sum of A(m,k) B(n,k) over the first of k.
local function is_product(C, k)
  return all(M * N, function(i)
    local sum = 0
    for j = 0, k - 1 do sum = sum + A(i % M, j) * B(i // M, j) end
    return C(i) == sum
  end)
end

-- The same elements with a mode V = 1 before the others.
local function with_v(T) return T:view(tile.make_layout(layout(1, 0), T:layout())) end
local function with_v2(T)
  return T:view(tile.make_layout(layout(1, 0), tile.get(T:layout(), 1), tile.get(T:layout(), 2)))
end

local a, b, c = numbers(5), numbers(5), zeros(5)
for i = 0, 4 do tile.gemm(fma, a:view(layout(1), i), b:view(layout(1), i), c:view(layout(1), i)) end
check("element by element: C(v) += A(v) B(v)", "all",
      all(5, function(i) return c(i) == a(i) * b(i) end))
local vector, outer, batched = zeros { M, N }, zeros { M, N }, zeros { M, N }
for n = 0, N - 1 do
  for m = 0, M - 1 do                             -- one element each
    tile.gemm(fma, A:view(layout(1), m), B:view(layout(1), n * K),
              vector:view(layout(1), m + M * n))
  end
end
check("(V) x (V) => (V)", "all", is_product(vector, 1))
tile.gemm(fma, A(_, 0), B(_, 0), outer)
check("(M) x (N) => (M,N)", "all", is_product(outer, 1))
tile.gemm(fma, with_v(A(_, 0)), with_v(B(_, 0)), with_v2(batched))
check("(V,M) x (V,N) => (V,M,N)", "all", is_product(batched, 1))
local C, D = zeros { M, N }, zeros { M, N }
tile.gemm(fma, A, B, C)
check("(M,K) x (N,K) => (M,N)", "all", is_product(C, K))
tile.gemm(fma, with_v2(A), with_v2(B), with_v2(D))
check("(V,M,K) x (V,N,K) => (V,M,N)", "all", is_product(D, K))
local E = zeros { M, N }                          -- without an instruction: the same product
tile.gemm(A, B, E)
check("gemm(A, B, C)", "all", is_product(E, K))
tile.gemm(fma, A, B, D)
check("once more: C is added to", "all", all(M * N, function(i) return D(i) == 2 * C(i) end))

-- ---------------------------------------------------------------- axpby, fill, clear

local x, y, one = numbers { 6, 1 }, numbers({ 6, 1 }), zeros { 1, 1 }
y:fill { 1, 2, 3, 4, 5, 6 }
tile.gemm(x, one:fill(1), y, { alpha = 2, beta = 3 })
check("axpby: y = alpha x + beta y", "all",
      all(6, function(i) return y(i) == 2 * x(i) + 3 * (i + 1) end))
check("fill", "all", all(6, function(i) return y:fill(4)(i) == 4 end))
check("clear", "all", all(6, function(i) return y:fill(0)(i) == 0 end))
print(check.count .. " algorithms do what the documentation says")
