-- attention.lua [device]: attention as two contractions over the tensors as they lie.
-- SPDX-License-Identifier: MIT
--
-- Queries, keys and values are (batch, position, head, channel), as a projection leaves them;
-- scores are (batch, head, query, key). Other libraries permute the heads forward before they
-- multiply. Here the labels become the modes of one batched product, by strides alone.

local tile = require "moontile"
local layout = tile.layout

local batch, queries, keys, heads, channels = 2, 20, 28, 4, 16
local device = assert(tile.device(arg[1]))

local function random(dtype, ...)
  local shape, values = { ... }, {}
  for i = 1, tile.size(shape) do values[i] = math.random() * 2 - 1 end
  return assert(tile.tensor(dtype, layout(shape, "right"), device)):fill(values)
end

math.randomseed(20)
local Q = random("f16", batch, queries, heads, channels)        -- (b,q,h,d)
local K = random("f16", batch, keys, heads, channels)           -- (b,k,h,d)
local V = random("f16", batch, keys, heads, channels)           -- (b,k,h,d)

-- ---- scores

local scores = tile.einsum("bqhd,bkhd->bhqk", Q, K, { alpha = channels ^ -0.5, dtype = "f32" })
print("queries  " .. tostring(Q))
print("keys     " .. tostring(K))
print("scores   " .. tostring(scores))

-- What einsum multiplied: (M,K,L) by (N,K,L), views of the same memory.
local a, b, c = tile.einsum_fold("bqhd,bkhd->bhqk", Q, K, scores)
print("\nas a product: M queries, N keys, K channels, L batches and heads")
print("  A  " .. tostring(a:layout()))
print("  B  " .. tostring(b:layout()))
print("  C  " .. tostring(c:layout()))
print("\n" .. tostring(assert(tile.plan_gemm(a, b, c))))

-- ---- softmax over the keys, on the host

device:synchronize()
local S = assert(scores:to "cpu")
local weights = assert(tile.tensor("f16", S:layout()))          -- (b,h,q,k)
for i = 0, batch * heads * queries - 1 do
  local at = tile.idx2crd(i, { batch, heads, queries })
  local row = S(at[1], at[2], at[3], tile._)
  local sum, e = 0, row:totable()
  for k = 1, keys do e[k] = math.exp(e[k]); sum = sum + e[k] end
  for k = 1, keys do e[k] = e[k] / sum end
  weights(at[1], at[2], at[3], tile._):fill(e)
end

-- ---- the mean of the values, back in the order of the queries

local P = assert(weights:to(device))
local out = tile.einsum("bhqk,bkhd->bqhd", P, V, { dtype = "f32" })
device:synchronize()
print("\noutput   " .. tostring(out))

-- ---- the definition, element by element

local q, k, v = Q:to "cpu", K:to "cpu", V:to "cpu"
local got, worst = out:to "cpu", 0
for i = 0, 99 do
  local x, h = i % batch, i % heads
  local m, d = i % queries, i % channels
  local dot, sum, mean = {}, 0, 0
  for n = 0, keys - 1 do
    dot[n] = 0
    for ch = 0, channels - 1 do dot[n] = dot[n] + q(x, m, h, ch) * k(x, n, h, ch) end
    dot[n] = math.exp(dot[n] * channels ^ -0.5)
    sum = sum + dot[n]
  end
  for n = 0, keys - 1 do mean = mean + dot[n] / sum * v(x, n, h, d) end
  worst = math.max(worst, math.abs(mean - got(x, m, h, d)))
end
assert(worst < 1e-3, worst)
print(("100 elements on %s: within %.0e of the definition"):format(device, 1e-3))
