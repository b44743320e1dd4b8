-- predicate_spec.lua: copies of what a predicate lets pass; which elements of a view are real.
-- SPDX-License-Identifier: MIT
local tile = require "moontile"
local layout = tile.layout

local function counted(dtype, a)
  local T, numbers = tile.tensor(dtype, a), {}
  for i = 1, tile.size(a) do numbers[i] = i end
  return T:fill(numbers)
end

for _, device in ipairs { "cpu", "cpu:checked" } do
  describe("copy_if on " .. device, function()
    local S = counted("f32", layout { 6, 5 }):to(tile.device(device))
    local D

    before_each(function()
      D = tile.tensor("f32", layout({ 6, 5 }, "right"), tile.device(device))
    end)

    local function moved(pred)
      for i = 0, 29 do assert.equal(pred(i) and S(i) or 0, D(i)) end
    end

    it("moves what a function of the index lets pass", function()
      local I = tile.make_identity_layout { 6, 5 }
      tile.copy_if(function(i) return I(i) < { 4, 3 } end, S, D)
      moved(function(i) return i % 6 < 4 and i // 6 < 3 end)
    end)

    it("moves what a tensor lets pass", function()
      local P = tile.tensor("f32", layout { 6, 5 }):fill(0)
      P[{ 5, 4 }], P[{ 1, 0 }] = -0.5, 1
      tile.copy { src = S, dst = D, pred = P }
      moved(function(i) return i == 29 or i == 1 end)
    end)

    it("proves the whole, by a tiled copy, too", function()
      local copy = tile.tiled_copy {
        atom = "UniversalCopy<uint32_t>", bits = 32, thr = layout { 2, 5 },
      }
      tile.copy { copy = copy, src = S, dst = D, pred = function(i) return i % 2 == 0 end }
      moved(function(i) return i % 2 == 0 end)
      tile.copy { copy = copy, src = S, dst = D }
      moved(function() return true end)
      local B = tile.tensor("f32", layout({ 6, 5 }, { 1, 0 }), tile.device(device))
      assert.has_error(function() tile.copy_if(function() return true end, S, B) end)
    end)

    it("keeps what a failing predicate has not written", function()
      assert.has_error(function()
        tile.copy_if(function(i) return i < 9 or error "no" end, S, D)
      end)
      moved(function() return false end)
    end)

    it("keeps every bit", function()
      local A, B = tile.tensor("u32", layout(4)), tile.tensor("u32", layout(4))
      A:fill { 0x7f800001, 0xffffffff, 0x80000000, 1 }
      tile.copy_if(function(i) return i ~= 3 end, A, B)
      assert.same({ 0x7f800001, 0xffffffff, 0x80000000, 0 }, B:totable())
    end)
  end)
end

describe("a ragged view's predicate", function()
  it("is 1 where an element is real", function()
    local T = counted("f32", layout { 10, 7 })
    for m = 0, 2 do
      for n = 0, 1 do
        local V = T:local_tile({ 4, 4 }, { m, n })
        local P, coords = V:predicate(), tile.make_identity_layout { 10, 7 }
        local I, at = coords:local_tile({ 4, 4 }, { m, n })
        assert.equal("u8", P:dtype())
        for i = 0, 15 do assert.equal(at + I(i) < { 10, 7 } and 1 or 0, P(i)) end
      end
    end
    assert.same({ 1, 1 }, tile.tensor("f16", layout(2)):predicate():totable())
  end)
end)

-- CuTe's tiled_copy_if at 528 x 300: tiles of 128 x 64, the predicate from the coordinates that
-- each thread's part of the identity tensor has.
describe("the tutorial tiled_copy_if", function()
  it("copies all of a tensor that its tiles overhang", function()
    local M, N = 528, 300
    local S, D = counted("f32", layout { M, N }), tile.tensor("f32", layout { M, N })
    local I = tile.make_identity_layout { M, N }
    local thr = layout { 32, 8 }
    for m = 0, (M - 1) // 128 do
      for n = 0, (N - 1) // 64 do
        local tS, tD = S:local_tile({ 128, 64 }, { m, n }), D:local_tile({ 128, 64 }, { m, n })
        local tI, at = I:local_tile({ 128, 64 }, { m, n })
        for t = 0, thr:size() - 1, 37 do
          local cI, base = tile.local_partition(tI, thr, t)
          tile.copy_if(function(i) return at + base + cI(i) < { M, N } end,
                       tile.local_partition(tS, thr, t), tile.local_partition(tD, thr, t))
        end
      end
    end
    for i = 0, M * N - 1 do
      local t = i % M % 128 % 32 + 32 * (i // M % 64 % 8)
      if D(i) ~= (t % 37 == 0 and S(i) or 0) then error(("element %d is %s"):format(i, D(i))) end
    end
  end)
end)

describe("what copy_if refuses", function()
  local S, D = tile.tensor("f32", layout { 6, 5 }), tile.tensor("f32", layout { 6, 5 })
  local env = { tile = tile, layout = layout, S = S, D = D }
  dofile "spec/refused.lua"(it, {
    { 'tile.copy_if(3, S, D)',
      "copy_if: pred: a tensor or a function of the index expected, got number" },
    { 'tile.copy_if(tile.tensor("u8", layout(4)), S, D)',
      "copy_if: the predicate has 4 elements, the tensors have 30" },
    { 'tile.copy_if(S, S, tile.tensor("f16", layout { 6, 5 }))',
      "copy_if: src has the type f32, dst f16: it converts nothing" },
    { 'tile.copy_if(D, S, tile.tensor("f32", layout { 6, 4 }))',
      "copy: mode 2 of src (6,5):(1,6) has size 5, of dst (6,4):(1,6) it has 4" },
    { 'tile.copy { src = S }', "copy: dst: a tensor expected, got nil" },
    { 'tile.copy { src = S, dst = D, copy = 3 }', "copy: copy: a tiled copy expected, got number" },
    { 'tile.copy { src = S, dst = D, prd = S }',
      "copy: unknown option 'prd'; did you mean pred? there are: "
      .. "copy, src, dst, rounding, pred, stream" },
    { 'tile.copy { src = S, dst = D, pred = S, stream = 1 }',
      "copy: pred and stream: a copy by a predicate waits" },
  }, setmetatable(env, { __index = _G }))
end)
