-- wgmma_sm90.lua: CuTe's tutorial of wgmma as a kernel: cp.async into three stages that wgmma
-- reads through descriptors.
-- SPDX-License-Identifier: MIT
--
-- No fragments of A and B: the instruction makes the addresses itself. So the layouts of the stages
-- have to be canonical, and the proof says in which mode, or which element lies elsewhere.

local tile = require "moontile"
local layout = tile.layout

local M, N, K = 200, 136, 136

-- ---- the description

local mma = tile.tiled_mma { atom = "SM90_64x64x16_F16F16F16_SS" }

local function kernel(name, thr, val)
  local atom = tile.smem_atom(name, 16)
  local smem = tile.tile_to_shape(atom, { 128, 64, 3 })
  local async = tile.tiled_copy { atom = "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>", dtype = "f16",
                                  thr = layout(thr), val = layout(val) }
  print(tile.verify(mma, smem, "A").text:match "wgmma:[^\n]*")
  return tile.kernel { mma = mma, tile = { 128, 128, 64 }, stages = 3,
                       smem = { A = smem, B = smem }, g2s = { A = async, B = async } }
end
local tn = kernel("GMMA::Layout_K_SW128_Atom", "(16,8):(8,1)", { 1, 8 })
local nt = kernel("GMMA::Layout_MN_SW128_Atom", "(16,8):(1,16)", { 8, 1 })

local padded = tile.kernel { mma = mma, tile = { 128, 128, 64 },
                             smem = { A = layout({ 128, 64 }, { 72, 1 }) } }
print(("\nrows padded by 16 bytes\n%s"):format(tile.verify(padded)))
assert(tile.verify(padded).problem == "hardware")

-- ---- data: small integers, whose sums are exact

local function numbers(dtype, A, step)
  local values = {}
  for i = 1, A:size() do values[i] = i * step % 5 - 2 end
  return assert(tile.tensor(dtype, A)):fill(values)
end

-- Proven for these tensors, executed in two orders of its roles, compared with a product that
-- nobody described.
local function prove_and_run(name, described, strides)
  local A = numbers("f16", layout({ M, K }, strides(M, K)), 3)
  local B = numbers("f16", layout({ N, K }, strides(N, K)), 7)
  local C, D = tile.tensor("f16", layout { M, N }), tile.tensor("f16", layout { M, N })
  local proof = tile.verify(described, A, B, C)
  print(("\n%s\n%s"):format(name, proof))
  assert(proof.ok)
  tile.gemm(A, B, D)
  for seed = 1, 2 do
    tile.gemm(described, A, B, C:fill(0), { seed = seed })
    local c, d = C:totable(), D:totable()
    for i = 1, #d do assert(c[i] == d[i], i) end
  end
  print(("%d x %d x %d executed stage by stage: right"):format(M, N, K))
end

local function columns(n) return { 1, n } end
local function rows(_, depth) return { depth, 1 } end

prove_and_run("tn: A and B by rows", tn, rows)
prove_and_run("nt: A and B by columns", nt, columns)
