-- CuTe's documentation, page 0x, and its tutorial sgemm_1, thread by thread, of any sizes:
--   moontile examples/cute/sgemm_1.lua [M N K]
-- SPDX-License-Identifier: MIT
--
-- What overhangs the matrices is not copied, and is 0 in shared memory.

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")
local M, N, K = tonumber(arg[1]) or 150, tonumber(arg[2]) or 133, tonumber(arg[3]) or 19

local function matrix(A)
  local T, numbers = tile.tensor("f32", A), {}
  for i = 1, A:size() do numbers[i] = i * 7 % 5 - 2 end
  return T:fill(numbers)
end

-- ------------------------------------------------ sgemm_1: preconditions, local_tile

local shape_MNK, cta_tiler = { 512, 384, 64 }, { 128, 128, 8 }
for _, row in ipairs {                            -- BLAS, which mode of A and of B is contiguous
  { "NT", "M", "N", { 1, 512 }, { 1, 384 } }, { "TN", "K", "K", { 64, 1 }, { 64, 1 } },
  { "NN", "M", "K", { 1, 512 }, { 64, 1 } }, { "TT", "K", "N", { 64, 1 }, { 1, 384 } },
} do
  local function major(names, stride) return stride[1] == 1 and names[1] or names[2] end
  check(row[1] .. ": A is M or K-major, B is N or K-major", row[2] .. " + " .. row[3],
        major({ "M", "K" }, row[4]), major({ "N", "K" }, row[5]))
  assert(tile.congruent(tile.select(shape_MNK, 1, 3), row[4]))
  assert(tile.congruent(tile.select(shape_MNK, 2, 3), row[5]))
end
local mA = layout(tile.select(shape_MNK, 1, 3), { 1, 512 })
local cta = { 2, 1, _ }                            -- blockIdx.x, blockIdx.y
local by_projection = table.pack(tile.local_tile(mA, cta_tiler, cta, { 1, _, 1 }))
check("gA: (BLK_M,BLK_K,k)", "(128,8,8):(1,512,4096) + 256", table.unpack(by_projection))
check("by select<0,2>", "(128,8,8):(1,512,4096) + 256",
      tile.local_tile(mA, tile.select(cta_tiler, 1, 3), { cta[1], cta[3] }))
local gA_mk = tile.zipped_divide(mA, tile.select(cta_tiler, 1, 3))
check("by zipped_divide: ((BLK_M,BLK_K),(m,k))", "((128,8),(4,8))", gA_mk:shape())
check("and its slice", "(128,8,8):(1,512,4096) + 256",
      gA_mk:slice_and_offset { { _, _ }, { cta[1], cta[3] } })
local padded = layout({ 128, 8 }, { 1, 129 })
for _, A in ipairs { layout { 128, 8 }, layout({ 128, 8 }, "right"), padded } do
  for _, tA in ipairs { layout { 32, 8 }, layout({ 32, 8 }, "right") } do
    local part = tile.local_partition(A, tA, 0)   -- THR_M, THR_K
    assert(tile.size(A, 1) == 128 and tile.size(A, 2) == 8)
    check(("of %s by %s"):format(A, tA), "(4,1)", tile.product_each(part:shape()))
  end
end
check("cosize: how much shared memory", "1024 + 1024 + 1031", tile.cosize(layout { 128, 8 }),
      tile.cosize(layout({ 128, 8 }, "right")), tile.cosize(padded))

-- name: of what fills shared memory and in which order; nt: by columns, tn: by rows
local function gemm(name, order)
  local A, B = matrix(layout({ M, K }, order)), matrix(layout({ N, K }, order))
  local C, want = tile.tensor("f32", layout { M, N }), tile.tensor("f32", layout { M, N })
  local tiler = { 128, 128, 8 }
  local tA, tB = layout({ 32, 8 }, order), layout({ 32, 8 }, order)
  local tC = layout { 16, 16 }
  local sA = tile.tensor("f32", layout({ 128, 8 }, order))
  local sB = tile.tensor("f32", layout({ 128, 8 }, order))
  local fma = tile.make_tiled_mma "UniversalFMA<float>":get_slice(0)
  local blocks = tile.ceil_div({ M, N }, { 128, 128 })

  local function block(m, n)
    local at = { m, n, _ }
    local gA = A:local_tile(tiler, at, { 1, _, 1 })         -- (BLK_M,BLK_K,k)
    local gB = B:local_tile(tiler, at, { _, 1, 1 })         -- (BLK_N,BLK_K,k)
    local gC = C:local_tile(tiler, at, { 1, 1, _ })         -- (BLK_M,BLK_N)
    local tCrC = {}                                         -- what each thread keeps
    for t = 0, tC:size() - 1 do
      tCrC[t] = tile.tensor("f32", gC:local_partition(tC, t):layout():make_layout_like())
    end
    for k = 0, tile.size(gA, 3) - 1 do
      sA:fill(0)
      sB:fill(0)
      for t = 0, tA:size() - 1 do
        tile.copy(gA(_, _, k):local_partition(tA, t), sA:local_partition(tA, t))
        tile.copy(gB(_, _, k):local_partition(tB, t), sB:local_partition(tB, t))
      end
      for t = 0, tC:size() - 1 do
        -- (THR_M,BLK_K) x (THR_N,BLK_K) => (THR_M,THR_N)
        tile.gemm(fma, sA:local_partition(tC, t, { 1, _ }), sB:local_partition(tC, t, { _, 1 }),
                  tCrC[t])
      end
    end
    for t = 0, tC:size() - 1 do tile.copy(tCrC[t], gC:local_partition(tC, t)) end
    return gA, gC, tCrC[0]
  end

  local gA, gC, rC
  for m = 0, blocks[1] - 1 do
    for n = 0, blocks[2] - 1 do gA, gC, rC = block(m, n) end
  end
  check(name .. ": gA", ("(128,8,%d)"):format((K + 7) // 8), tile.shape(gA))
  check(name .. ": tAgA of a thread", ("(4,1,%d)"):format((K + 7) // 8),
        tile.product_each(tile.shape(gA:local_partition(tA, 0))))
  check(name .. ": tCsA, by the rows of tC", "(8,8)",
        tile.product_each(tile.shape(sA:local_partition(tC, 0, { 1, _ }))))
  check(name .. ": tCgC", "(8,8)", tile.product_each(tile.shape(gC:local_partition(tC, 0))))
  check(name .. ": tCrC", "(8,8)", tile.product_each(tile.shape(rC)))
  tile.gemm(A, B, want)
  local c, d = C:totable(), want:totable()
  for i = 1, M * N do assert(c[i] == d[i], i) end
end
gemm("nt", "left")
gemm("tn", "right")

-- ------------------------------------------------ sgemm_2: tiled copies, tiled MMAs

local copy = tile.make_tiled_copy("UniversalCopy<uint128_t>", layout { 32, 8 }, layout { 4, 1 },
                                  "f32")
local thread = copy:get_slice(0)
check("its tile and threads", "(128,8) + 256", copy:tiler_MN(), copy:size())
check("CPY of partition_S", "4", tile.size(thread:partition_S(layout { 128, 8 }), 1))
check("(CPY,CPY_M,CPY_K,k)", "(4,1,1,8)", tile.product_each(tile.shape((thread:partition_S(
      (tile.local_tile(mA, { 128, 8 }, { 0, _ })))))))
local tAsA = thread:partition_D(layout { 128, 8 })
check("registers like it", "(4,1,1)", tile.product_each(tile.make_fragment_like(tAsA):shape()))
check("by rows there are no 4 f32 for 128 bits", "false",
      (pcall(tile.copy, copy, tile.tensor("f32", layout({ 128, 8 }, "right")),
             tile.tensor("f32", layout { 128, 8 }))))
local mma = tile.make_tiled_mma("UniversalFMA<float>", layout { 16, 16, 1 })
check("tile of 16 x 16 x 1 FMAs", "(16,16,1) + 256", mma:tile_shape(), mma:size())
check("MMA of partition_A", "1", tile.size(mma:get_slice(0):partition_A(layout { 128, 8 }), 1))
local thr_mma = mma:get_slice(37)
check("(MMA,MMA_M,MMA_K)", "(1,8,8)",
      tile.product_each(tile.shape((thr_mma:partition_A(layout { 128, 8 })))))
check("(MMA,MMA_N,MMA_K)", "(1,8,8)",
      tile.product_each(tile.shape((thr_mma:partition_B(layout { 128, 8 })))))
check("(MMA,MMA_M,MMA_N)", "(1,8,8)",
      tile.product_each(tile.shape((thr_mma:partition_C(layout { 128, 128 })))))
check("make_fragment_C: as large", "64",
      tile.size(thr_mma:make_fragment_C((thr_mma:partition_C(layout { 128, 128 })))))
-- gemm_tn pads columns: eight lanes along K meet in a few banks
local function wavefronts(pitch)                  -- (lane,value) -> element
  return tile.bank_conflicts(layout({ { 8, 4 }, 1 }, { { pitch, 1 }, 0 }), "f32").wavefronts
end
check("wavefronts of a warp, columns of 128 and of 129", "8 + 4", wavefronts(128), wavefronts(129))

-- ---------------------------------------------------------------- a contraction with two modes M

local m0, m1, n, k = 70, 3, 40, 9
local A = matrix(layout({ { m0, m1 }, k }, { { 1, m0 }, m0 * m1 }))
local B, C = matrix(layout { n, k }), tile.tensor("f32", layout { { m0, m1 }, n })
check("A by tiles of ((64,2),8)", "((64,2),8)",
      tile.shape(tile.get(tile.zipped_divide(A:layout(), { { 64, 2 }, 8 }), 1)))
tile.gemm(mma, A, B, C)
local flat = tile.tensor("f32", layout { m0 * m1, n })
tile.gemm(A:view(layout { m0 * m1, k }), B, flat)
local x, y = C:totable(), flat:totable()
for i = 1, #x do assert(x[i] == y[i], i) end
print(("%d results; %d x %d x %d, thread by thread: right"):format(check.count, M, N, K))
