-- swizzle_spec.lua: swizzles, layouts under them, their slices, shared-memory atoms.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, swizzle, X = tile.layout, tile.swizzle, tile._

local function texts(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  return table.concat(t, "; ")
end

describe("a swizzle", function()
  local w = swizzle(3, 3)
  local A = w * layout({ 8, 64 }, "right")
  local get = tile.get_swizzle_portion
  for _, row in ipairs {
    { function() return swizzle(3, 4, 3), swizzle(3, 4) end,
      "Sw<3,4,3>; Sw<3,4,3>" },
    { function() return swizzle(2, 1, -3) end,                    "Sw<2,1,-3>" },
    { function() return tile.make_swizzle(896, 112) end,          "Sw<3,4,3>" },
    { function() return tile.make_swizzle(24, 3) end,             "Sw<2,0,3>" },
    { function() return tile.make_swizzle(3, 4, 3) end,           "Sw<3,4,3>" },
    { function() return tile.make_swizzle(2, 0, -3) end,          "Sw<2,0,-3>" },
    { function() return tile.make_swizzle(0, 0) end,              "Sw<0,0,0>" },
    { function() return swizzle(3, 4)(735), swizzle(1, 0)(-1) end, "655; -2" },
    { function() return w * w, w * swizzle(0, 4, 3) end,
      "Sw<0,0,0>; Sw<3,3,3>" },
    { function() return swizzle(3, 3) * swizzle(1, 3, 3) end,     "Sw<2,4,3>" },
    { function() return layout(w) end,                            "Sw<3,3,3> o 0 o 9:1" },
    { function() return A end,
      "Sw<3,3,3> o 0 o (8,64):(64,1)" },
    { function() return w * A, swizzle(0, 0) * layout(4) end,     "(8,64):(64,1); 4:1" },
    { function() return layout(8) * w end,                        "Sw<3,3,3> o 0 o 8:1" },
    { function() return layout(512) * A end,                      tostring(A) },
    { function() return layout(512, 2) * A end,
      "Sw<3,4,3> o 0 o (8,64):(128,2)" },
    { function() return A * tile.make_swizzle(7, 448) end,        "(8,64):(64,1)" },
    { function() return A:size(), A:cosize(), A:extent(), A:min() end,
      "512; 512; 512; 0" },
    { function() return layout "8:-1":extent(), layout "8:-1":min() end, "8; -7" },
    { function() return tile.cosize(tile.parse "Sw<3,0,3> o 0 o (8,3):(8,1)") end, "64" },
    { function() return A / { 4, 16 } end,
      "Sw<3,3,3> o 0 o ((4,2),(16,4)):((64,256),(1,16))" },
    { function() return A[2], #A end,
      "Sw<3,3,3> o 0 o 64:1; 2" },
    { function() return A:get_swizzle_portion(), A:get_nonswizzle_portion() end,
      "Sw<3,3,3>; (8,64):(64,1)" },
    { function() return get(layout(8)), get(w) end,
      "Sw<0,4,3>; Sw<3,3,3>" },
    { function() return A:complement(1024), A:max_alignment() end, "2:512; 8" },
    { function() return A:right_inverse(), A:left_inverse() end,
      "Sw<3,0,-6> o 0 o (64,8):(8,1); Sw<3,0,-6> o 0 o (64,8):(8,1)" },
    { function() return tile.upcast(w, 4), tile.downcast(w, 4) end,  "Sw<3,1,3>; Sw<3,5,3>" },
    { function() return tile.recast_layout(16, 32, w) end,           "Sw<3,2,3>" },
    { function() return A:upcast(8), A:recast_layout(16, 8) end,
      "Sw<3,0,3> o 0 o (8,8):(8,1); Sw<3,4,3> o 0 o (8,128):(128,1)" },
    { function() return A:slice { X, 0 }, A:slice { 1, X }, A:slice { X, X } end,
      "(8):(72); ((8,2,4)):((1,-8,16)); Sw<3,3,3> o 0 o (8,64):(64,1)" },
    { function() return A:slice_and_offset { 3, X } end,
      "((8,4,2)):((1,-8,32)); 216" },
  } do
    it("gives " .. row[2], function() assert.equal(row[2], texts(row[1]())) end)
  end

  it("is a value", function()
    assert.is_true(w == swizzle(3, 3, 3))
    assert.is_true(w ~= swizzle(3, 2, 3))
  end)
end)

-- layout(j) + offset at each j of a slice, by coordinates.
describe("slices of swizzled layouts", function()
  for _, text in ipairs {
    "Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<2,1,-3> o 0 o (16,8):(1,16)",
    "Sw<2,0,4> o 5 o (8,16):(1,8)",
    "Sw<1,4,3> o 16 o ((4,2),16):((1,64),4)", "Sw<0,4,3> o 3 o (4,4):(4,1)",
  } do
    it("of " .. text .. " have its values", function()
      local A = layout(text)
      local m, n = tile.size(A[1]), tile.size(A[2])
      for i = 0, m - 1 do
        local row, offset = A:slice_and_offset { i, X }
        for j = 0, n - 1 do assert.equal(A(i, j), offset + row(j)) end
      end
      for j = 0, n - 1 do
        local column, offset = A:slice_and_offset { X, j }
        for i = 0, m - 1 do assert.equal(A(i, j), offset + column(i)) end
      end
    end)
  end

  it("of tensors are views", function()
    local T = tile.tensor("i32", layout "Sw<2,0,3> o 0 o (8,16):(16,1)")
    for i = 0, 7 do
      for j = 0, 15 do T[{ i, j }] = 100 * i + j end
    end
    for i = 0, 7 do
      local row = T(i, X)
      for j = 0, 15 do assert.equal(100 * i + j, row(j)) end
    end
  end)
end)

describe("partitions of swizzled layouts", function()
  it("give each thread its elements", function()
    local copy = tile.tiled_copy {
      atom = "UniversalCopy<uint128_t>", bits = 16,
      thr = layout({ 8, 4 }, "right"), val = layout { 1, 8 },
    }
    local A = layout "Sw<2,3,3> o 0 o ((8,4),(32,1)):((32,256),(1,0))"
    local plain = A:get_nonswizzle_portion()
    assert.equal("Sw<2,3,3>", tostring(copy:partition(A):get_swizzle_portion()))
    for thread = 0, 31 do
      local slice = copy:get_slice(thread)
      local part, offset = slice:partition_S(A)
      local want, start = slice:partition_S(plain)
      assert.equal(tile.size(want), tile.size(part))
      for i = 0, tile.size(want) - 1 do
        assert.equal(swizzle(2, 3, 3)(start + want(i)), offset + part(i))
      end
    end
  end)
end)

describe("shared-memory atoms", function()
  it("are bijections of one size, for every width", function()
    assert.equal(17, #tile.smem_atoms())
    for _, name in ipairs(tile.smem_atoms()) do
      for log = 0, 7 do
        local atom = tile.smem_atom(name, 1 << log)
        local plain = atom:get_nonswizzle_portion()
        assert.equal(tile.smem_atom(name, 1):size() >> log, atom:size())
        if tile.size(plain[1]) > 1 and tile.size(plain[2]) > 1 then
          assert.equal(name:match "_MN_" ~= nil, plain(1, 0) == 1)
        end
        local seen = {}
        for i = 0, atom:size() - 1 do seen[atom(i)] = true end
        for i = 0, atom:size() - 1 do assert.is_true(seen[i]) end
      end
    end
  end)

  it("move whole 16 bytes", function()
    assert.equal(tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16),
                 tile.smem_atom("GMMA::Layout_K_SW128_Atom", "f16"))
    assert.equal(128, tile.smem_atom("GMMA::Layout_K_SW128_Atom", 1):max_alignment())
    assert.equal(8, tile.smem_atom("GMMA::Layout_K_SW32_Atom", 16):max_alignment())
    assert.equal(16, tile.smem_atom("UMMA::Layout_MN_SW128_32B_Atom", 16):max_alignment())
  end)

  it("tile a shape", function()
    local atom = tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16)
    assert.equal("Sw<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))",
                 tostring(atom:tile_to_shape { 128, 128 }))
  end)
end)

-- A coordinate table whose length is not the rank is, for rank 1, the coordinate of mode 1.
describe("a swizzled layout of rank 1", function()
  local P = layout "((4,16)):((16,1))"
  local w = swizzle(3, 0)
  local A = w * P
  it("takes the nested coordinate that the plain one takes", function()
    assert.equal(1, A { 0, 1 })
    for i = 0, 3 do
      for j = 0, 15 do
        local c = { i, j }
        local want = w(P(c))
        assert.same({ want, want, want, want },
                    { A(c), A:at(c), tile.crd2idx(c, A), A { c } })
        assert.equal(want, select(2, A:domain_offset(c)) + A:domain_offset(c)(0))
      end
    end
  end)
  it("is sliced at one", function()
    for j = 0, 15 do
      local s, at = A:slice_and_offset { X, j }
      for i = 0, 3 do assert.equal(A { i, j }, at + s(i)) end
    end
    assert.error_matches(function() A:slice { 0, 1, X } end,
                         "coordinate %(0,1,_%) has 3 modes")
  end)
  it("lays out a tensor whose elements have such coordinates", function()
    local T = tile.tensor("i32", A)
    T:set(7, { 2, 5 })
    assert.same({ 7, 7 }, { T { 2, 5 }, T(2 + 5 * 4) })
  end)
end)
