-- offset_spec.lua: layouts with a base offset, handed on beside them or as one value; coordinates
-- that add, subtract and compare.
-- SPDX-License-Identifier: MIT
local tile = require "moontile"
local layout = tile.layout

describe("an offset beside a layout", function()
  local copy = tile.tiled_copy {
    atom = "UniversalCopy<uint32_t>", bits = 32, thr = layout { 4, 4 },
  }
  local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }
  local A = layout({ 32, 32 }, "right")
  local I = tile.make_identity_layout { 32, 32 }

  it("is handed on by partitions of a thread", function()
    for thr = 0, 15 do
      local part, offset = copy:get_slice(thr):partition_S(A:local_tile({ 8, 8 }, { 1, 2 }))
      local coords, at = copy:get_slice(thr):partition_S(I:local_tile({ 8, 8 }, { 1, 2 }))
      for i = 0, part:size() - 1 do assert.equal(A(at + coords(i)), offset + part(i)) end
    end
    for thr = 0, 31 do
      local part, offset = mma:get_slice(thr):partition_C(A:local_tile({ 16, 8 }, { 1, 3 }))
      local coords, at = mma:get_slice(thr):partition_C(I:local_tile({ 16, 8 }, { 1, 3 }))
      for i = 0, part:size() - 1 do assert.equal(A(at + coords(i)), offset + part(i)) end
    end
  end)

  it("is handed on by partitions of all threads", function()
    assert.equal(272, select(2, copy:partition_S(A:local_tile({ 8, 8 }, { 1, 2 }))))
    assert.equal("(8,16)", tostring(select(2, copy:partition_D(I:local_tile({ 8, 8 }, { 1, 2 })))))
    assert.equal(536, select(2, mma:partition_C(A:local_tile({ 16, 8 }, { 1, 3 }))))
    assert.equal(1, select("#", copy:partition_S(A)))
  end)

  it("is where a proof begins", function()
    local v = tile.verify(copy, A:local_tile({ 8, 8 }, { 1, 2 }))
    assert.is_true(v.ok)
    assert.equal(272, v.lowest)
    assert.equal(272 + 7 * 32 + 7, v.highest)
    local tiled, offset = A:local_tile({ 8, 8 }, { 1, 2 })
    assert.is_true(tile.verify(copy, tiled, offset, "S").ok)
    assert.is_true(tile.verify(mma, A:local_tile({ 16, 16 }, { 0, 1 })).ok)
  end)

  it("is none of a tensor's", function()
    local T = tile.tensor("f32", A)
    assert.equal(272, copy:get_slice(0):partition_S(T:local_tile({ 8, 8 }, { 1, 2 })):offset())
    assert.error(function() copy:get_slice(0):partition_S(T, 3) end,
                 "bad argument #1 to 'partition_S' (a tensor knows where it begins: no offset"
                 .. " beside it)")
  end)

  it("makes one value of both", function()
    local L = tile.with_offset(A:local_tile({ 8, 8 }, { 1, 2 }))
    assert.equal("Sw<0,0,0> o 272 o (8,8):(32,1)", tostring(L))
    for i = 0, 63 do assert.equal(A(8 + i % 8, 16 + i // 8), L(i)) end
    assert.equal(L, layout(tostring(L)))
    local S = tile.with_offset(layout "Sw<2,0,3> o 0 o 8:1", 64)
    assert.equal("Sw<2,0,3> o 64 o 8:1", tostring(S))
    assert.equal(layout { 4, 2 }, tile.with_offset(layout { 4, 2 }, 0))
    for thr = 0, 15 do
      local p, at = copy:get_slice(thr):partition_S(L)
      local q, base = copy:get_slice(thr):partition_S(A:local_tile({ 8, 8 }, { 1, 2 }))
      assert.equal(q, p)
      assert.equal(base, at)
    end
    local T = tile.tensor("i32", A)
    for i = 0, 31 do for j = 0, 31 do T[{ i, j }] = 32 * i + j end end
    local D = tile.tensor("i32", layout { 8, 8 })
    tile.copy(T:local_tile({ 8, 8 }, { 1, 2 }), D)
    for i = 0, 63 do assert.equal(L(i), D(i)) end
  end)

  it("is a coordinate, too", function()
    local random = math.random
    math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or os.time())
    local function extents(depth)
      local t = {}
      for i = 1, random(3) do
        t[i] = depth < 2 and random(3) == 1 and extents(depth + 1) or random(5)
      end
      return t
    end
    local function origin(t)
      local o = {}
      for i = 1, #t do o[i] = type(t[i]) == "table" and origin(t[i]) or random(0, 9) end
      return o
    end
    local function text(o) return tostring(tile.make_coord(table.unpack(o))) end
    for _ = 1, math.ceil(60 * (tonumber(os.getenv "MOONTILE_TIMES") or 1)) do
      local shape = extents(1)
      local J, o = tile.make_identity_layout(shape), origin(shape)
      local cut, divided = pcall(J.zipped_divide, J, { random(4) })
      if random(2) == 1 and cut then J = divided end
      local R, at = J:with_offset(o), tile.make_coord(table.unpack(o))
      -- Zero is no offset: coordinates are as long as without. at - at makes them alike.
      for i = 0, J:size() - 1 do assert.equal(at + J(i), at - at + R(i)) end
      assert.equal(tile.shape(J), tile.shape(R))
      assert.equal(R, layout(tostring(R)))
      assert.equal(R, layout(("ArithTuple%s o %s"):format(text(o), J)))
    end
    local S = layout "(4,3):(1@0+2@1,1@1)"
    for i = 0, 11 do assert.equal(tile.make_coord(5, 6) + S(i), S:with_offset { 5, 6 }(i)) end
    local small = tile.make_identity_layout { 8, 8 }
    local part, from = copy:get_slice(3):partition_S(small:with_offset { 8, 16 })
    local beside, corner = copy:get_slice(3):partition_S(small)
    assert.equal(0, from)
    for i = 0, part:size() - 1 do
      assert.equal(tile.make_coord(8, 16) + (corner + beside(i)), part(i))
    end
  end)

  it("lies between a function and a layout", function()
    local F, G = layout({ 4, 8 }, { 8, 1 }), layout({ 2, 2 }, { 4, 8 })
    local B = tile.make_composed_layout(F, 3, G)
    for i = 0, 3 do assert.equal(F(3 + G(i)), B(i)) end
    local S = tile.make_composed_layout(tile.swizzle(3, 4, 3), 8, layout({ 8, 64 }, { 64, 1 }))
    assert.equal("Sw<3,4,3> o 8 o (8,64):(64,1)", tostring(S))
    local O = tile.with_offset(layout "Sw<1,0,1> o 0 o 4:1", 1) -- the swizzle takes 1 elsewhere
    assert.equal("Sw<0,0,0> o 1 o Sw<1,0,1> o 0 o 4:1", tostring(O))
    assert.same({ 1, 2, 4, 3 }, { O(0), O(1), O(2), O(3) })
    local T = tile.make_composed_layout(layout(4, 2), 1, layout "Sw<1,0,1> o 0 o 4:1")
    assert.same({ 2, 4, 8, 6 }, { T(0), T(1), T(2), T(3) })
  end)

  dofile "spec/refused.lua"(it, {
    { 'tile.with_offset(tile.layout "4:1@0", 1)',
      "with_offset: the strides of 4:1@0 are no integers" },
    { 'tile.with_offset(tile.layout "4:-1@0", { 1 })',
      "with_offset: (1) + 4:-1@0 goes below 0" },
    { 'tile.with_offset(tile.layout(4), { 1 })',
      "with_offset: 4:1 has no coordinates, it takes an integer" },
    { 'tile.with_offset(tile.layout "4:1@0", { math.maxinteger })',
      "with_offset: (9223372036854775807) + 4:1@0 leaves 64 bits" },
    { 'tile.with_offset(tile.layout(4), math.maxinteger)',
      "with_offset: an offset leaves 64 bits" },
    { 'tile.make_composed_layout(3, 4, tile.layout(4))',
      "function: layout or swizzle expected, got 3" },
    { 'tile.make_composed_layout(tile.layout "(2,4):(F1,F4)", -1, tile.layout '
      .. '"Sw<1,0,1> o 0 o 4:1")',
      "make_composed_layout: A = (2,4):(F1,F4) has no values below 0, where "
      .. "-1 + Sw<1,0,1> o 0 o 4:1 goes" },
  }, setmetatable({ tile = tile }, { __index = _G }))
end)

describe("coordinates", function()
  local c = tile.make_identity_layout { 4, { 8, 2 } }(3, { 5, 1 })

  it("add and subtract", function()
    assert.equal("(4,(6,2))", tostring(c + { 1, { 1, 1 } }))
    assert.equal("(2,(5,1))", tostring(c - { 1 }))
    assert.equal("(3,(5,1))", tostring(c + 0))
    assert.equal("(-3,(-5,-1))", tostring(0 - c))
    assert.equal("(3,(5,3))", tostring(c + { 0, { 0, 2 } }))
  end)

  it("compare integer by integer", function()
    assert.is_true(c < tile.make_shape(4, { 8, 2 }))
    assert.is_false(c < tile.make_shape(4, { 5, 2 }))
    assert.is_true(c <= tile.make_shape(4, { 5, 2 }))
    assert.is_false(c + { 0, { 1, 1 } } > c)
    assert.is_true(c + { 1, { 1, 1 } } > c)
  end)

  dofile "spec/refused.lua"(it, {
    { 'return c + 1', "add: A = (3,(5,1)) has 2 modes, B = 1 is no tuple" },
    { 'return c + "x"', "coordinate: integer or table expected, got string" },
    { 'return c + { math.maxinteger, 0 }',
      "add: 3 and 9223372036854775807: the result leaves 64 bits" },
  }, setmetatable({ c = c }, { __index = _G }))
end)
