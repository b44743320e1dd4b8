-- function_layout_spec.lua: layouts told by functions of coordinates.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local functions = dofile "spec/functions.lua"
local layout, function_layout = tile.layout, tile.function_layout
local number, random = functions.number, math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- f as a function of the index, for shapes of any tree.
local function at_index(A)
  local S = layout(tile.shape(A))
  return function(...) return number(A(S({ ... }))) end
end

local function is_layout_of(f, shape)
  local R, S = function_layout(shape, f), layout(shape)
  assert.is_true(tile.compatible(layout(shape), R))
  for i = 0, tile.size(S) - 1 do
    local c = tile.idx2crd(i, shape)
    local want = math.type(c) and f(c) or f(c[1], c[2], c[3])
    assert.equal(want, R(i), tostring(R))
  end
  return R
end

describe("function_layout", function()
  it("finds every plain, swizzled and F2 layout again", function()
    math.randomseed(SEED)
    for i = 1, 200 * TIMES do
      local A = functions.any()
      if random(2) == 1 then
        local s = functions.extents(true)
        A = tile.make_composed_layout(functions.swizzle(), random(0, 9), layout(s, "right"))
      end
      local shape = tile.shape(A)
      local ok, R = pcall(function_layout, shape, at_index(A))
      assert.is_true(ok, ("case %d of seed %d: %s: %s"):format(i, SEED, A, R))
      for k = 0, tile.size(A) - 1 do assert.equal(number(A(k)), R(k), tostring(A)) end
    end
  end)

  it("finds rotations", function()
    math.randomseed(SEED)
    for _ = 1, 60 * TIMES do
      local n, rows = random(2, 9), random(2, 9)
      local by, from, first = random(0, n - 1), random(0, 5), random(0, 3)
      is_layout_of(function(i, j) return n * (i + first) + (by * i + j + from) % n end, { rows, n })
    end
  end)

  it("says which layout that is", function()
    for text, f in pairs {
      ["Sw<3,0,3> o 0 o (8,8):(8,1)"] = function(i, j) return 8 * i + (i ~ j) end,
      ["Sw<0,0,0> o 63 o (8,8):(-1,-8)"] = function(i, j) return 63 - i - 8 * j end,
      ["((4,2),8):((1,5),10)"] = function(i, j) return i + i // 4 + 10 * j end } do
      assert.equal(text, tostring(is_layout_of(f, { 8, 8 })))
    end
    assert.equal("Sw<0,0,0> o 7 o ():()", tostring(function_layout({}, function() return 7 end)))
    local nested = function_layout({ 4, { 2, 3 } }, function(i, c)
      return i + 4 * c[1] + 8 * c[2]
    end)
    assert.equal("(4,(2,3)):(1,(4,8))", tostring(nested))
  end)

  it("is a layout like any other", function()
    local R = function_layout({ 8, 8 }, function(i, j) return 8 * i + (i + j) % 8 end)
    assert.is_true(tile.is_bijective(R))
    local T, P = tile.tensor("f32", R), tile.tensor("f32", layout { 8, 8 })
    local list = {}
    for i = 1, 64 do list[i] = i end
    T:fill(list)
    tile.copy(T, P)
    for i = 0, 7 do
      for j = 0, 7 do assert.equal(T(i, j), P(i, j)) end
    end
    assert.equal(R(5, 6), R:zipped_divide { 4, 4 }({ 1, 2 }, { 1, 1 }))
  end)

  it("lists the values of any other", function()
    local L = function_layout({ 3, 3 }, function(i, j) return i * i + 4 * j * j end)
    assert.equal("{0,1,4,4,5,8,16,17,20} o 0 o (3,3):(1,3)", tostring(L))
    local M = function_layout({ 64, 64 }, function(i, j) return i * j end)
    assert.equal("{0,0,0,0,0,0,0,0,... 4096 values} o 0 o (64,64):(1,64)", tostring(M))
    assert.equal(63 * 62, M(63, 62))
    for why, f in pairs {
      ["a list of 9 values has none at 9: past its coordinates"] = function() return L(9) end,
      ["has 9 values, and is asked for number 9: past its coordinates"] =
        function() return L * layout(10) end,
      ["a list of values has no text that is read: function_layout makes one"] =
        function() return layout(tostring(L)) end,
      ["are listed, and no text of CuTe's has them: write the function there"] =
        function() return tile.cute(L) end,
      ["of the list {0,1,4,4,5,8,16,17,20}: none was found"] =
        function() return tile.left_inverse(tile.with_offset(L, -1)) end } do
      local ok, err = pcall(f)
      assert.truthy(not ok and err:find(why, 1, true), err)
    end
  end)

  it("says what is none", function()
    for why, f in pairs {
      ["f(1,0) is 0.5, an integer was expected"] = function(i) return i / 2 end,
      ["f(0,0) is a string, an integer was expected"] = function() return "3" end,
      ["f(0,0) is a nil, an integer was expected"] = function() end,
      ["f(2,0): boom"] = function(i) return i < 2 and i or error("boom", 0) end } do
      local ok, err = pcall(function_layout, { 8, 8 }, f)
      assert.truthy(not ok and err:find(why, 1, true), err)
    end
    local ok, err = pcall(function_layout, { 512, 512 }, function() return 1 end)
    assert.truthy(not ok and err:find("at most 65536 are asked", 1, true), err)
    ok, err = pcall(function_layout, { 8, 8 }, 3)
    assert.truthy(not ok and err:find("a function of coordinates expected, got number", 1, true))
    ok, err = pcall(function_layout, { 8, 8 }, io.stdout)
    assert.truthy(not ok and err:find("coordinates expected, got FILE*", 1, true), err)
  end)
end)
