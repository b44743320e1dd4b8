-- prove.lua: what the examples of kernels do with what they describe.
-- SPDX-License-Identifier: MIT
--
-- prove.run{ "name", kernel, size = {M, N, K}, types = {of A and B, of C}, major = "rows" }:
-- the kernel is proven for tensors of small integers, whose sums are exact, executed in two orders
-- of its roles, and compared with a product that nobody described. major: where the elements of a
-- row of A and B lie together, or of a column. Where there is a GPU it multiplies too: by the
-- precompiled kernel that is this one; if none is, literally.

local tile = require "moontile"
local layout = tile.layout
local prove = {}

local function numbers(dtype, A, step)
  local values = {}
  for i = 1, A:size() do values[i] = i * step % 5 - 2 end
  return assert(tile.tensor(dtype, A)):fill(values)
end

local function matrix(rows, depth, major)
  return layout({ rows, depth }, major == "rows" and { depth, 1 } or { 1, rows })
end

local function same(C, D)
  local c, d = C:totable(), D:totable()
  for i = 1, #d do assert(c[i] == d[i], i) end
end

-- What is described; why not, where the GPU has no such instruction.
local function on_gpu(what, A, B, D)
  local gpu = tile.device "cuda"
  if not gpu then return end
  local nearest = what[2]:why()[1]
  local is_row = nearest and #nearest.differs == 0
  local C = assert(tile.tensor(what.types[2], D:layout(), gpu))
  local ok, plan, why = pcall(tile.plan_gemm, what[2], assert(A:to(gpu)), assert(B:to(gpu)), C)
  if not ok or not plan then
    return print(("not on %s: %s"):format(gpu:name(), ok and why or plan))
  end
  plan()
  gpu:synchronize()
  same(C, D)
  print(("on %s by %s, %s: right"):format(gpu:name(), tostring(plan):match "kernel: (%S+)",
        is_row and "which is this kernel" or "literally"))
end

function prove.run(what)
  local name, kernel = what[1], what[2]
  local M, N, K = table.unpack(what.size)
  local A = numbers(what.types[1], matrix(M, K, what.major), 3)
  local B = numbers(what.types[1], matrix(N, K, what.major), 7)
  local C = tile.tensor(what.types[2], layout { M, N })
  local D = tile.tensor(what.types[2], C:layout())
  local proof = tile.verify(kernel, A, B, C)
  print(("\n%s\n%s"):format(name, proof))
  assert(proof.ok)
  tile.gemm(A, B, D)
  for seed = 1, 2 do
    tile.gemm(kernel, A, B, C:fill(0), { seed = seed })
    same(C, D)
  end
  print(("%d x %d x %d executed stage by stage: right"):format(M, N, K))
  on_gpu(what, A, B, D)
end

return prove
