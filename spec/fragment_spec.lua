-- fragment_spec.lua: what a thread keeps of an operand: registers, descriptors, tensors.
-- SPDX-License-Identifier: MIT
-- What CuTe answers is in golden/fragments.tsv.
local tile = require "moontile"
local layout = tile.layout

describe("a fragment", function()
  local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2, 1 } }

  it("has a register for each value of the part", function()
    for _, x in ipairs { "A", "B", "C" } do
      local slice = mma:get_thread_slice(37)
      local part = slice["partition_" .. x](slice, layout({ 64, 64 }, "right"))
      local f = slice["partition_fragment_" .. x](slice, layout({ 64, 64 }, "right"))
      assert.equal(tile.size(part), tile.size(f))
      assert.is_true(tile.is_bijective(f))
      assert.equal(f, mma["make_fragment_" .. x](mma, part))
      assert.equal(f, slice["make_fragment_" .. x](slice, part))
    end
  end)

  it("of a tensor is a tensor that its part is copied into", function()
    local T = tile.tensor("f32", layout({ 64, 64 }, "right"))
    for i = 0, 63 do for j = 0, 63 do T[{ i, j }] = i + 64 * j end end
    local slice = mma:get_slice(5)
    local part, f = slice:partition_C(T), slice:partition_fragment_C(T)
    assert.equal("f32", f:dtype())
    assert.equal(tile.size(part), f:cosize())
    tile.copy(part, f)
    for i = 0, part:size() - 1 do assert.equal(part(i), f(i)) end
  end)

  it("may be of the descriptors of wgmma", function()
    local wgmma = tile.tiled_mma { atom = "SM90_64x64x16_F32F16F16_SS" }
    local smem = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16), { 128, 64, 3 })
    local slice = wgmma:get_slice(0)
    assert.equal("(1,2,4,(1,3)):(0,512,2,(0,1024))", tostring(slice:partition_fragment_A(smem)))
    assert.equal("((2,2,8),2,1):((1,2,4),32,0)",
                 tostring(slice:partition_fragment_C(layout { 128, 64 })))
  end)

  dofile "spec/refused.lua"(it, {
    { 'mma:make_fragment_A(tile.layout(8))',
      "make_fragment_A: a part has the modes (V,M,K), (V,N,K) or (V,M,N), and more: 8:1 has 1" },
    { 'mma:make_fragment_A()',
      "bad argument #1 to 'make_fragment_A' (layout expected, got no value; "
      .. "make_fragment_A takes part [, offset])" },
    { 'mma:get_slice(0):partition_fragment_A(tile.layout(8))',
      "partition_fragment_A: A has the modes (M,K), 8:1 has 1" },
  }, setmetatable({ tile = tile, mma = mma }, { __index = _G }))
end)
