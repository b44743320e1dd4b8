-- broken_spec.lua: kernels that break a law: which one, the witness, a way out.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, parse = tile.layout, tile.parse

local function tensor(dtype, shape, stride)
  local A = layout(shape, stride or "right")
  return tile.tensor(dtype, layout(math.max(1, tile.cosize(A)))):view(A)
end

local warps = tile.tiled_mma { atom = "SM80_16x8x16_F32BF16BF16F32_TN", atoms = layout { 2, 2 },
                               permutation = { tile._, 32 } }
local others = tile.tiled_mma { atom = "SM80_16x8x16_F32BF16BF16F32_TN", atoms = layout { 4, 1 } }
local groups = tile.tiled_mma { atom = "SM90_64x128x16_F32BF16BF16_SS", atoms = layout { 2, 1 } }
local tf32 = tile.tiled_mma { atom = "SM90_64x64x8_F32TF32TF32_SS_TN" }

local function copy(atom, bits, thr, val)
  return tile.tiled_copy { atom = atom, bits = bits, thr = layout(thr), val = layout(val) }
end
local ASYNC = "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>"

-- A kernel of mma.sync, one of wgmma, with these fields.
local function of(mma, shape, fields)
  local k = { mma = mma, tile = shape, stages = 3 }
  for key, v in pairs(fields) do k[key] = v end
  return k
end
local function sync(fields) return of(warps, { 128, 128, 64 }, fields) end
local function wgmma(fields) return of(groups, { 128, 128, 64 }, fields) end
local function canonical(name, bits, shape)
  return tile.tile_to_shape(tile.smem_atom(name, bits), shape)
end

local A, B = tensor("bf16", { 256, 256 }), tensor("bf16", { 128, 256 })
local C = tensor("f32", { 256, 128 })
local odd = tensor("bf16", { 256, 250 })
local odd_b = tensor("bf16", { 128, 250 })
local column = tensor("bf16", { 256, 256 }, "left")
local half = tensor("f16", { 256, 256 })
local short = tensor("bf16", { 128, 128 })
local shared = tensor("f32", { 256, 128 }, { 1, 0 })

-- what is wrong, the kernel, the law, a part of the witness, a part of the way out, tensors
local BROKEN = {
  { "a stage too few", sync { ahead = 3 }, "order",
    "fill stage 0 with k-tile 3 before the first warps read k-tile 0 there",
    "ahead = 2 is as far as it goes" },
  { "a producer that is further ahead than there are stages",
    wgmma { schedule = "cooperative", ahead = 4 }, "order",
    "the producer fills stage 0 with k-tile 3 before consumer 1 reads k-tile 0 there",
    "or take a stage more" },
  { "a producer that waits for what it has not filled",
    wgmma { schedule = "pingpong", ahead = 0 }, "order",
    "with 1 k-tile nothing goes on: the producer waits until others leave k-tile 0",
    "ahead = 3 fits" },
  { "a producer that is no warp", wgmma { schedule = "cooperative", g2s = { B = "cp.async" } },
    "order", "B is filled by all threads", "schedule = \"multistage\"" },
  { "rows padded, which wgmma cannot read", wgmma { smem = { A = layout({ 128, 64 }, { 72, 1 }) } },
    "hardware", "element (1,0) lies at 72, wgmma reads it at 8", "tile.tile_to_shape" },
  { "a swizzle narrower than the rows of wgmma",
    wgmma { smem = { A = parse "Sw<2,3,3> o 0 o (128,64):(64,1)" } }, "hardware",
    "element (1,0) lies at 64, wgmma reads it at 32", "SW64" },
  { "a swizzle that wgmma does not have",
    wgmma { smem = { B = parse "Sw<3,4,3> o 0 o (128,64):(64,1)" } }, "hardware",
    "Sw<3,4,3> is no swizzle of wgmma", "Sw<3,3,3>" },
  { "32-bit elements that run along M for wgmma",
    of(tf32, { 64, 64, 32 }, { smem = { A = canonical("GMMA::Layout_MN_SW128_Atom", 32,
                                                      { 64, 32 }) } }), "hardware",
    "major K", "Layout_K_SW128_Atom" },
  { "a box wider than its swizzle",
    sync { g2s = { A = "tma" }, smem = { A = parse "Sw<1,3,3> o 0 o (128,64):(64,1)" } },
    "hardware", "the box is 128 bytes wide, the swizzle 32B has 32", "\"cp.async\"" },
  { "a box of more than 256 rows",
    of(tile.tiled_mma { atom = "SM90_64x64x16_F32BF16BF16_SS", atoms = layout { 4, 1 } },
       { 512, 64, 64 }, { stages = 2 }), "hardware",
    "the box has 512 elements along dimension 1: at most 256", "\"cp.async\"" },
  { "rows of global memory that TMA cannot step over", wgmma {}, "hardware",
    "dimension 1 has a stride of 500 bytes", "pad the rows", odd, odd_b, C },
  { "a copy that runs past its stage",
    sync { g2s = { A = copy(ASYNC, 16, "(12,8):(8,1)", "(1,8):(0,1)") } }, "in",
    "element 128 would be written outside", "make thr and val smaller" },
  { "a copy of other elements",
    sync { g2s = { A = copy(ASYNC, 32, "(32,4):(4,1)", "(1,4):(0,1)") } }, "in",
    "g2s.A moves elements of 32 bits, A has 16", "bits = 16" },
  { "a copy by more threads than there are",
    sync { g2s = { A = copy(ASYNC, 16, "(32,8):(8,1)", "(1,8):(0,1)") } }, "hardware",
    "g2s.A has 256 threads, the MMA has 128", "more atoms" },
  { "shared memory a little too large", sync { stages = 6 }, "room",
    "29696 more than the 166912 that a block has on sm_80", "fewer stages than 6" },
  { "stages that overlap", sync { smem = { A = layout({ 128, 64, 3 }, { 64, 1, 8128 }) } }, "room",
    "element (127,0) of stage 0 and element (0,0) of stage 1 lie at one place",
    "over all that a stage reaches" },
  { "rows that overlap", sync { smem = { B = layout({ 128, 64 }, { 63, 1 }) } }, "room",
    "element (1,0) of stage 0 and element (0,63) of stage 0 lie at one place",
    "make the strides larger" },
  { "a mode that goes nowhere", sync { smem = { A = layout({ 128, 64 }, { 64, 0 }) } }, "room",
    "element (0,0) of stage 0 and element (0,1) of stage 0", "make the strides larger" },
  { "elements of C at one place on their way out",
    sync { stages = 2, smem = { D = layout({ 128, 128 }, { 120, 1 }) } }, "room",
    "smem.D: in (128,128):(120,1) element (1,0) and element (0,120) lie at one place",
    "make the strides larger" },
  { "fragments for another MMA",
    sync { s2r = { A = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", others) } }, "fit",
    "s2r.A brings tiles of (64,16), the MMA takes (32,16)", "tile.make_tiled_copy_A" },
  { "fragments of B for A",
    sync { s2r = { A = tile.make_tiled_copy_B("SM75_U32x4_LDSM_N", warps) } }, "fit",
    "the MMA wants element", "tile.make_tiled_copy_A" },
  { "rows of ldmatrix that are not aligned",
    sync { g2s = { A = copy("UniversalCopy<uint16_t>", 16, "(16,8):(8,1)", "(1,8):(0,1)") },
           smem = { A = layout({ 128, 64 }, { 65, 1 }) }, s2r = { A = "SM75_U32x4_LDSM_N" } },
    "hardware", "accesses of 8 elements, as the atom has them, are not whole",
    "a layout that keeps them together" },
  { "cp.async into a column",
    sync { g2s = { A = copy(ASYNC, 16, "(16,8):(8,1)", "(1,8):(0,1)") },
           smem = { A = layout { 128, 64 } } },
    "hardware", "g2s.A into shared memory: accesses of 8 elements", "take a narrower atom" },
  { "cp.async from a column", sync {}, "hardware", "g2s.A from A: accesses of 8 elements",
    "take a narrower atom", column, B, C },
  { "a tile that the MMA does not divide", sync { tile = { 128, 120, 64 } }, "once",
    "120 along N is no multiple of the MMA's 32", "take 128" },
  { "an instruction that is not there yet", wgmma { arch = 80 }, "hardware",
    "arch is 80, an instruction of the kernel came with sm_90", "arch = 90" },
  { "a cluster of 16", wgmma { cluster = { 4, 4 } }, "hardware", "4x4 CTAs: at most 8",
    "cluster = { 2, 1 } shares B" },
  { "accumulators that no thread has room for", sync { tile = { 256, 256, 32 }, stages = 2 },
    "hardware", "registers a thread: 255 is the most", "a smaller tile" },
  { "a block of 2048 threads",
    of(tile.tiled_mma { atom = "SM80_16x8x16_F32BF16BF16F32_TN", atoms = layout { 8, 8 } },
       { 256, 256, 64 }, { stages = 2 }), "hardware", "2048 threads: a block has 1024",
    "take fewer atoms" },
  { "elements of C at one place", sync {}, "out", "are both at offset", "a place of its own",
    A, B, shared },
  { "a tile of C that is not the tile", sync { smem = { D = layout { 64, 128 } } }, "out",
    "smem.D: a layout of (128,128) expected", "layout({128, 128}) is one" },
  { "tensors of another type", sync {}, "cover", "A is f16", "convert it", half, B, C },
  { "tensors of other sizes", sync {}, "cover", "256 and 128", "A (M,K), B (N,K)", A, short,
    C },
}

describe("a kernel with", function()
  it("one of many mistakes", function() assert.is_true(#BROKEN >= 24) end)

  for _, row in ipairs(BROKEN) do
    local name, options, law, witness, way = table.unpack(row, 1, 5)
    it(name, function()
      local proof = tile.verify(tile.kernel(options), table.unpack(row, 6))
      assert.is_false(proof.ok)
      assert.equal(law, proof.problem, proof.reason)
      assert.truthy(proof.reason:find(witness, 1, true), proof.reason)
      assert.is_true(#way > 0 and #witness > 0)
      assert.truthy(proof.reason:find(way, 1, true), proof.reason)
      assert.truthy(tostring(proof):find("no proof, " .. law .. ": ", 1, true))
    end)
  end

  it("any of them is not executed", function()
    for _, row in ipairs(BROKEN) do
      local a, b, c = row[6] or A, row[7] or B, row[8] or C
      local ok, message = pcall(tile.gemm, tile.kernel(row[2]), a, b, c)
      assert.is_false(ok)
      assert.matches("gemm: the kernel breaks a law, %l+: ", message)
    end
  end)
end)
