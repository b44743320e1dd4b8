-- hardware_spec.lua: what wgmma and TMA take, as answers: what is printed, what is refused.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local refused = dofile "spec/refused.lua"
local layout, parse = tile.layout, tile.parse

-- layout, dtype, major, mode, LBO, SBO
local DESCRIPTORS = {
  { "Sw<3,3,3> o 0 o (64,16):(64,1)", "bf16", nil, "B128", 1, 64 },
  { "Sw<2,3,3> o 0 o (64,16):(32,1)", "f16", "K", "B64", 1, 32 },
  { "Sw<3,3,3> o 0 o ((64,2),(8,2)):((1,1024),(64,512))", "f16", nil, "B128", 128, 64 },
  { "((8,8),(8,2)):((8,64),(1,512))", "f16", "K", "INTERLEAVE", 64, 8 },
  { "Sw<3,2,3> o 0 o (64,8):(32,1)", "f32", "K", "B128", 1, 64 },
  { "Sw<3,4,3> o 0 o (64,32):(128,1)", "e4m3", "K", "B128", 1, 64 },
}

describe("descriptors of wgmma", function()
  for _, row in ipairs(DESCRIPTORS) do
    local text, dtype, major, mode, lbo, sbo = table.unpack(row, 1, 6)
    it("of " .. text, function()
      local d = tile.make_gmma_desc(parse(text), dtype, major)
      assert.same({ mode, lbo, sbo }, { d.mode, d.lbo, d.sbo })
      assert.matches("mode " .. mode, tostring(d))
    end)
  end
end)

local PADDED = "tile.tile_to_shape(tile.smem_atom(\"GMMA::Layout_K_SW128_Atom\", 16), shape) is " ..
  "one that it reads, if a row has 128 bytes; else SW64, SW32, INTER"
describe("refused descriptors", function()
  refused(it, {
    { 'tile.make_gmma_desc(layout "(64,16):(72,1)", 16)',
      "make_gmma_desc: (64,16):(72,1) is not canonical in mode INTERLEAVE, major K, of 16 bits: " ..
      "element (1,0) lies at 72, wgmma reads it at 8\n" .. PADDED },
    { 'tile.make_gmma_desc(tile.parse "Sw<3,3,3> o 0 o (64,16):(72,1)", 16)',
      "make_gmma_desc: Sw<3,3,3> o 0 o (64,16):(72,1) is not canonical in mode B128, major K, " ..
      "of 16 bits: element (1,0) lies at 72, wgmma reads it at 64, both under the swizzle\n" ..
      PADDED },
    { 'tile.make_gmma_desc(tile.parse "Sw<2,4,3> o 0 o (64,16):(64,1)", 16)',
      "make_gmma_desc: Sw<2,4,3> o 0 o (64,16):(64,1): Sw<2,4,3> is no swizzle of wgmma, " ..
      "which for elements of 16 bits has Sw<1,3,3>, Sw<2,3,3> and Sw<3,3,3>\n" .. PADDED },
    { 'tile.make_gmma_desc(layout "(64,64):(64,1)", 16)',
      "make_gmma_desc: (64,64):(64,1): its mode 2, K, has 64 elements of 16 bits: an " ..
      "instruction reads 16, 32 bytes\ntake a tile of K: zipped_divide" },
    { 'tile.make_gmma_desc(layout "(1,4611686018427387904):(0,1)", 16)',
      "make_gmma_desc: (1,4611686018427387904):(0,1): its mode 2, K, has 4611686018427387904 " ..
      "elements of 16 bits: an instruction reads 16, 32 bytes\ntake a tile of K: zipped_divide" },
    { 'tile.make_gmma_desc(layout "(60,16):(16,1)", 16)',
      "make_gmma_desc: (60,16):(16,1): its mode 1 has 60 elements, no multiple of 8" },
    { 'tile.make_gmma_desc(layout(64), 16)',
      "make_gmma_desc: a layout (MN,K) -> element, not empty, expected, got 64:1" },
    { 'tile.make_gmma_desc(layout "(64,16):(64,1)", 64)',
      "make_gmma_desc: elements of 64 bits: wgmma reads 8, 16 and 32" },
    { 'tile.gmma_desc(layout "(64,16):(64,1)", 0)',
      "gmma_desc: elements of 0 bits: wgmma reads 8, 16 and 32\nif this is an offset that "
      .. "local_tile returned, gmma_desc((local_tile(...)), 16) leaves it out" },
    { 'tile.make_gmma_desc(layout "(64,16):(64,1)", 16, "M")',
      'make_gmma_desc: "K" or "MN", the major, expected, got M' },
    { 'tile.make_gmma_desc(layout "(64,16):(64,1)", {})',
      "make_gmma_desc: bits of an element, or a dtype, expected, got table" },
  }, { tile = tile, layout = layout })
end)

describe("partitions of what wgmma reads from shared memory", function()
  local mma = tile.tiled_mma { atom = "SM90_64x128x16_F32F16F16_SS" }

  it("have a canonical layout", function()
    local atom = tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16)
    local v = tile.verify(mma, tile.tile_to_shape(atom, { 128, 64, 3 }), "A")
    assert.is_true(v.ok, tostring(v))
    assert.same({ mode = "B128", major = "K", lbo = 1, sbo = 64 }, v.wgmma)
    assert.matches("\nwgmma: mode B128, major K, LBO 1, SBO 64$", tostring(v))
  end)

  it("are refused otherwise", function()
    for _, A in ipairs { layout({ 64, 64 }, "right"), layout({ 64, 64 }, { 72, 1 }),
                         parse "Sw<2,3,3> o 0 o (64,64):(64,1)" } do
      local v = tile.verify(mma, A, "A")
      assert.same({ false, true, "canonical" }, { v.ok, v.covers, v.problem })
      assert.matches("element %(%d+,%d+%) lies at %d+, wgmma reads it at %d+", v.reason)
    end
    assert.is_true(tile.verify(mma, layout({ 64, 128 }, "right"), "C").ok)
  end)

  it("of 8 and 32 bits run along K", function()
    local tf32 = tile.tiled_mma { atom = "SM90_64x64x8_F32TF32TF32_SS_TN" }
    local MN = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_MN_SW128_Atom", 32), { 64, 32 })
    local K = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_K_SW128_Atom", 32), { 64, 32 })
    assert.equal("canonical", tile.verify(tf32, MN, "A").problem)
    assert.is_true(tile.verify(tf32, K, "B").ok)
  end)
end)

describe("boxes of TMA", function()
  local atom = tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16)
  local smem = tile.tile_to_shape(atom, { 128, 64 })

  it("print what the driver is given", function()
    local t = tile.tma { tensor = layout({ 1000, 256 }, "right"), dtype = "bf16", smem = smem }
    assert.is_true(t.ok)
    assert.equal("tensor map: dims (256,1000), byte strides (512), box (64,128), " ..
                 "element strides (1,1), swizzle 128B\n" ..
                 "boxes: 1 of 16384 bytes; shared memory aligned to 1024 bytes", tostring(t))
  end)

  it("are divided among the CTAs of a multicast", function()
    local t = tile.tma { tensor = layout({ 1000, 256 }, "right"), dtype = "bf16", smem = smem,
                         multicast = 4 }
    assert.equal("(64,32)", tostring(t.box))
    assert.same({ 1, 4096, 4 }, { t.boxes, t.bytes, t.multicast })
  end)

  it("say why not", function()
    local T = tile.tensor("bf16", layout { 4096 })
    local function why(tensor, tile_)
      return tile.tma { tensor = tensor, dtype = "bf16", smem = tile_ or smem }.why
    end
    assert.equal("dimension 1 has a stride of 500 bytes: TMA takes multiples of 16, above 0, " ..
                 "below 2^40; pad the rows", why(layout({ 1000, 250 }, "right")))
    assert.equal("the tensor begins 2 bytes past a multiple of 16",
                 why(T:view(layout({ 16, 64 }, "right"), 1)))
    assert.equal("the box has 512 elements along dimension 1: at most 256; cut it",
                 why(layout({ 1024, 64 }, "right"), tile.tile_to_shape(atom, { 512, 64 })))
    assert.equal("the box is 128 bytes wide, the swizzle 32B has 32",
                 why(layout({ 64, 64 }, "right"), parse "Sw<1,3,3> o 0 o (64,64):(64,1)"))
    assert.equal("what runs in shared memory has a stride of 128 bytes in the tensor: it is to " ..
                 "be contiguous there", why(layout({ 64, 64 }, "right"), layout { 64, 64 }))
    assert.equal("shared memory has Sw<3,4,3>: TMA has Sw<1,3,3>, Sw<2,3,3> and Sw<3,3,3> for " ..
                 "elements of 16 bits",
                 why(layout({ 64, 64 }, "right"), parse "Sw<3,4,3> o 0 o (64,64):(64,1)"))
  end)

  refused(it, {
    { 'tile.tma { tensor = A, smem = A }',
      "tma: dtype: bits of an element, or a dtype, expected, got nil" },
    { 'tile.tma { tensor = A, smem = A, dtype = 16, multicast = 99 }',
      "tma: multicast is 99: 1 to 16 CTAs" },
    { 'tile.tma { tensor = T, smem = A, dtype = "f32" }',
      "tma: dtype: elements of 32 bits, the tensor has 16" },
    { 'tile.tma { tensor = A, smem = layout(8), dtype = 16, box = { 16 } }',
      "tma: the tile (16:1) has 16 elements, smem 8:1 has 8" },
    { 'tile.tma { tensor = A, smem = layout(8), dtyp = 16 }',
      "tma: unknown option 'dtyp'; did you mean dtype? there are: tensor, smem, box, multicast, " ..
      "dtype" },
  }, { tile = tile, layout = layout, A = layout { 64, 64 },
       T = tile.tensor("bf16", layout { 64, 64 }) })
end)
