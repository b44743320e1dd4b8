-- ragged_spec.lua: a tile never touches what is not its own: views by tiles that the shape is no
-- multiple of know which of their elements are real, and everything that is done with them keeps to
-- these. What is random: ragged/.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local devices = dofile(here .. "/devices.lua")
package.path = here .. "/ragged/?.lua;" .. package.path
local run = require "random"
local layout, _ = tile.layout, tile._

-- Elements that are their own numbers.
local function numbered(A, device, dtype)
  local t = {}
  for i = 1, tile.size(A) do t[i] = i - 1 end
  return assert(tile.tensor(dtype or "i32", A, device)):fill(t)
end
local function list(T)
  local t, s = T:totable(), {}
  for i = 1, T:size() do s[i] = t[i] and ("%d"):format(t[i]) or "-" end
  return table.concat(s, " ")
end
local env = setmetatable({ tile = tile, layout = layout, _ = _, numbered = numbered, list = list },
                         { __index = _G })
env.T = numbered(layout { 10, 7 })

-- ---------------------------------------------------------------- what is real

-- A view, what prints, which elements it reads.
local VIEWS = {
  { 'T:local_tile({4,3}, {1,1})', "(4,3):(1,10) cpu", "34 35 36 37 44 45 46 47 54 55 56 57" },
  { 'T:local_tile({4,3}, {2,2})', "(4,3):(1,10) cpu, ragged: (4,3):(1@0,1@1) + (8,6) < (10,7)",
    "68 69 - - - - - - - - - -" },
  { 'T:local_tile({4,3}, {2,0})', "(4,3):(1,10) cpu, ragged: (4,3):(1@0,0) + (8) < (10)",
    "8 9 - - 18 19 - - 28 29 - -" },
  -- more of it: the bounds go along
  { 'T:local_tile({4,3}, {2,0}):select(2,1)',
    "(3,4):(10,1) cpu, ragged: (3,4):(0,1@0) + (8) < (10)", "8 18 28 9 19 29 - - - - - -" },
  { 'T:local_tile({4,3}, {2,0})(1, _)', "(3):(10) cpu", "9 19 29" },
  { 'T:local_tile({4,3}, {2,0})(2, _)', "(3):(10) cpu, ragged: (3):(0) + (10) < (10)", "- - -" },
  { 'T:local_tile({4,3}, {2,0}):local_tile({2,3}, {0,0})', "(2,3):(1,10) cpu", "8 9 18 19 28 29" },
  { 'T:local_tile({4,3}, {2,0}):local_tile({2,3}, {1,0})',
    "(2,3):(1,10) cpu, ragged: (2,3):(1@0,0) + (10) < (10)", "- - - - - -" },
  -- a tile of a tile has its own end
  { 'T:local_tile({4,3}, {0,0}):local_tile({3,3}, {1,0})',
    "(3,3):(1,10) cpu, ragged: (3,3):(1@0,0) + (3) < (4)", "3 - - 13 - - 23 - -" },
  { 'numbered(layout(10)):local_tile({4}, {_}):local_tile({3}, {1})',
    "((3),3):((1),4) cpu, ragged: ((3),3):((1@0+1@1),4@0) + (3,3) < (10,4)",
    "3 - - 7 - - - - -" },
  -- all tiles at once
  { 'numbered(layout{3,3}):zipped_divide{2,2}',
    "((2,2),(2,2)):((1,3),(2,6)) cpu, ragged: ((2,2),(2,2)):((1@0,1@1),(2@0,2@1)) + (0,0) < (3,3)",
    "0 1 3 4 2 - 5 - 6 7 - - 8 - - -" },
  { 'numbered(layout{3,3}):zipped_divide{2,2}(_, 3)',
    "((2,2)):((1,3)) cpu, ragged: ((2,2)):((1@0,1@1)) + (2,2) < (3,3)", "8 - - -" },
  { 'numbered(layout{3,3}) / {2, 3}', "((2,2),(3,1)):((1,2),(3,0)) cpu, ragged: "
    .. "((2,2),(3,1)):((1@0,2@0),(0,0)) + (0) < (3)", "0 1 2 - 3 4 5 - 6 7 8 -" },
  { 'numbered(layout{10,7}) / {5, 7}', "((5,2),(7,1)):((1,5),(10,0)) cpu" },
  -- as one function: the coordinate is the index
  { 'numbered(layout{4,6}):logical_divide(5)', "(5,5):(1,5) cpu, ragged: (5,5):(1@0,5@0) + (0) < (24)",
    "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 -" },
  { 'numbered(layout(6)) * layout(4, 2)', "4:2 cpu, ragged: 4:2@0 + (0) < (6)", "0 2 4 -" },
  { 'numbered(layout{{2,3},2}):local_tile({4}, {1})',
    "((4),2):((1),6) cpu, ragged: ((4),2):((1@0),0) + (4) < (6)", "4 5 - - 10 11 - -" },
  { 'numbered(layout{5,2}):local_tile({layout(2,2)}, {1})', "((2),2):((2),5) cpu", "1 3 6 8" },
  { 'numbered(layout{5,2}):local_tile({layout(3,2)}, {1})',
    "((3),2):((2),5) cpu, ragged: ((3),2):((2@0),0) + (1) < (5)", "1 3 - 6 8 -" },
  { 'numbered(layout{5,2}):domain_offset{2,1}',
    "(5,2):(1,5) cpu, ragged: (5,2):(1@0,1@1) + (2,1) < (5,2)", "7 8 9 - - - - - - -" },
  { 'numbered(layout(7)):local_partition(layout(4), 3)',
    "((2)):((4)) cpu, ragged: ((2)):((4@0)) + (3) < (7)", "3 -" },
  { 'numbered(layout(7)):local_partition(layout(4), 2)', "((2)):((4)) cpu", "2 6" },
  -- offsets that coalesce where the coordinates do not
  { 'numbered(layout{4,4}):local_tile({4,3}, {0,1}):coalesce()',
    "((4,3)):((1,4)) cpu, ragged: ((4,3)):((0,1@0)) + (3) < (4)", "12 13 14 15 - - - - - - - -" },
  { 'numbered(layout{3,4}):local_tile({2,4}, {1,0}):flatten()',
    "(2,4):(1,3) cpu, ragged: (2,4):(1@0,0) + (2) < (3)", "2 - 5 - 8 - 11 -" },
  { 'numbered(layout "Sw<1,0,2> o 0 o (3,4):(1,4)"):local_tile({2,4}, {1,0})',
    "Sw<1,0,2> o 0 o (2,4):(1,4) cpu, ragged: (2,4):(1@0,0) + (2) < (3)", "2 - 5 - 8 - 11 -" },
}

describe("what is real of", function()
  for _, row in ipairs(VIEWS) do
    it(row[1], function()
      local T = assert(load("return " .. row[1], "=row", "t", env))()
      assert.equal("tensor i32 " .. row[2], tostring(T))
      if row[3] then assert.equal(row[3], list(T)) end
    end)
  end

  it("what threads have", function()
    local T = numbered(layout { 5, 3 })
    local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "i32",
                                   thr = layout { 2, 1 }, val = layout { 2, 2 } }
    local slice = copy:get_slice(0)
    assert.equal("0 1 5 6 4 - 9 - 10 11 - - 14 - - -", list(slice:partition_S(T)))
    assert.equal("2 3 7 8 - - - - 12 13 - - - - - -", list(copy:get_slice(1):partition_D(T)))
    local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 4, 2 } }
    assert.equal("4 14 11 -", list((mma:get_slice(0):partition_C(T)(0, 1, _)))
                 .. " " .. list((mma:get_slice(1):partition_C(T)(0, _, 1))))
    local frg = numbered(layout { 4, 2, 2 }):local_tile({ 4, 2, 1 }, { 0, 0, 1 })
    assert.equal("8 9 10 11 12 13 14 15", list(copy:get_slice(0):retile_D(frg)))
  end)

  it("what counts is what overhangs, not how many modes the tile might overhang", function()
    local T, two = tile.tensor("i32", layout { 3, 3, 3, 3, 3, 3, 3, 3, 3 }), {}
    for i = 1, 9 do two[i] = 2 end
    local function at(...)
      local c = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
      for _, k in ipairs { ... } do c[k] = 1 end
      return T:local_tile(two, c)
    end
    assert.is_nil(at():bounds())
    assert.equal("(2)", tostring((select(2, at(5):bounds()))))
    assert.equal("(2,2,2,2)", tostring((select(2, at(1, 5, 7, 9):bounds()))))
    at(1, 5, 7, 9):fill(1)
    assert.equal(32, select(2, list(T):gsub("1", "")))
    local WAY = "\ncut fewer modes at a time, or copy into a tensor of its own between"
    for _, n in ipairs { 5, 9 } do
      local good, message = pcall(at, table.unpack({ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 1, n))
      assert.is_false(good)
      assert.matches("bounds, a tensor has at most 4" .. WAY, message, 1, true)
    end
    local good, message = pcall(T.zipped_divide, T, two)
    assert.is_false(good)
    assert.matches("would have more than 8 bounds, a tensor has at most 4" .. WAY, message, 1, true)
  end)

  it("exact views are what they were: one block, without anything of bounds", function()
    local function bytes_of(f)
      f()
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      for _ = 1, 100 do f() end
      local grown = (collectgarbage "count" - before) * 1024 / 100
      collectgarbage "restart"
      return grown
    end
    local T = tile.tensor("f32", layout { 128, 96 })
    local header = bytes_of(function() return T(_, 3) end)         -- a view of one leaf
    local tiler, at, threads = { 32, 32 }, { 1, 2 }, layout { 16, 8 }
    local leaf = bytes_of(function() return T(_, _) end) - header  -- three nodes, not one
    assert.is_true(header <= 152, header)
    local sizes = {
      [function() return T:local_tile(tiler, at) end] = header + leaf,
      [function() return T:local_partition(threads, 5) end] = header + leaf,
      [function() return T:zipped_divide(tiler) end] = header + 3 * leaf,
      [function() return T:composition(tiler) end] = header + leaf,
      [function() return T:flatten() end] = header + leaf,
    }
    for view, most in pairs(sizes) do assert.is_true(bytes_of(view) <= most + 64, bytes_of(view)) end
    assert.is_true(bytes_of(function() return T:local_tile({ 48, 30 }, at) end) > header + 1000)
  end)

  it("bounds() gives the coordinates, where they begin, the extents", function()
    local X, base, extents = env.T:local_tile({ 4, 3 }, { 2, 2 }):bounds()
    assert.equal("(4,3):(1@0,1@1) (8,6) (10,7)", ("%s %s %s"):format(X, base, extents))
    assert.is_nil(env.T:bounds())
    assert.is_nil(env.T:local_tile({ 5, 7 }, { 1, 0 }):bounds())
  end)

  it("proofs of memory are of what is real", function()
    local t = tile.tensor("f32", layout { 10, 7 }):local_tile({ 4, 4 }, { 2, 1 })
    local copy = tile.tiled_copy { atom = "AutoVectorizingCopy", dtype = "f32", thr = layout { 2, 2 },
                                   val = layout { 2, 1 } }
    local proof = tile.verify(copy, t, "D")
    assert.equal([[
proof: each element of (4,4) exactly once
tile: 4 x 2 by 4 threads with 2 values each
tiles: 2 = 1 x 2
ragged: 6 of 16 elements are real
memory: offsets 0 to 21, each element at a place of its own
vector: 2 elements, 8 bytes, contiguous and aligned; not more: 2 elements lie together, not a multiple of 4]],
                 tostring(proof))
    assert.equal(6, proof.real)
    assert.equal(21, tile.verify(tile.tiled_mma { atom = "UniversalFMA<float>" }, t, "C").highest)
    -- rows of 8 elements that begin 5 apart: as far as they are real, they do not meet
    local overlaps = tile.tensor("f32", layout(40)):view(layout({ 8, 3 }, { 1, 5 }), 0,
                                                        layout "(8,3):(1@0,0)", { 0 }, { 5 })
    assert.is_true(tile.verify(copy, overlaps, "D").injective)
    local twice = overlaps:view(overlaps:layout(), 0, layout "(8,3):(1@0,0)", { 0 }, { 6 })
    proof = tile.verify(copy, twice, "D")
    assert.matches("elements 5 and 6 write offset 5", proof.reason)
    assert.matches("^no proof: dst: elements 5 and 6 write offset 5", tostring(proof))
    assert.same({ "one place", false, true }, { proof.problem, proof.injective, proof.covers })
    assert.is_nil(proof.witness)
    assert.is_true(tile.verify(copy, twice, "S").ok)
  end)

  it("view() of what is ragged is told them", function()
    local t = env.T:local_tile({ 4, 3 }, { 2, 2 })
    local X, base, extents = t:bounds()
    local u = t:view(layout({ 3, 4 }, { 10, 1 }), 0, X:select(2, 1), base, extents)
    assert.equal("68 - - 69 - - - - - - - -", list(u))
    assert.equal("tensor i32 2:1 cpu", tostring(t:view(layout(2), 0, layout "2:0", 0, 1)))
    assert.has_error(function() t:view(layout(3), 0, layout "3:0", 0, 1) end,
                     "tensor: 3:1 reaches elements 68 to 70 of a buffer of 70 elements")
  end)
end)

-- ---------------------------------------------------------------- what is refused

local REFUSED = {
  { 'T:local_tile({4,3}, {2,2})(2, 0)', [[
element (2,0) of the ragged (4,3):(1,10) is not its own: its coordinate 0 is 10, the extent is 10
T:bounds() says which elements are real]] },
  { 'T:local_tile({4,3}, {2,2}):set(1, 0, 1)', [[
element (0,1) of the ragged (4,3):(1,10) is not its own: its coordinate 1 is 7, the extent is 7
T:bounds() says which elements are real]] },
  { 'T:local_tile({4,3}, {2,2}):view(layout(2))', [[
view: the tensor is ragged: which elements of the view are real is to be said
local X, base, extents = T:bounds(); T:view(layout, offset, f(X), base, extents)]] },
  -- coordinates and offsets, of what is not real, too, are within 64 bits
  { 'T:view(layout(2), 0, layout "2:1@0", { math.maxinteger }, { 5 })', [[
view: 2:1: one of its coordinates leaves 64 bits
copy the tensor into one of its own first]] },
  { 'T:view(layout(4), 1 << 61, layout "4:1@0", { 0 }, { 0 })', "the offset of a view leaves 64 bits" },
  { 'T:view(layout("2:2305843009213693952"), 0, layout "2:1@0", { 0 }, { 1 })',
    "the offset of a view leaves 64 bits" },
  { 'T:view(layout(0), math.mininteger)', "the offset of a view leaves 64 bits" },
  { 'T:local_tile({4,3}, {2,2}):save("x.npy")', [[
save: the tensor is ragged, a file has no elements that are not real
copy it into one of zeros: tile.copy(T, tile.tensor(T:dtype(), tile.layout(T:shape()))), and save that]] },
  { 'numbered(layout{4,6}):local_tile({4,4}, {0,1}):logical_divide(3)', nil,
    "copy it into a tensor of its own first$" },
  { 'numbered(layout{4,6}) * layout(4, -1)', [[
4:-1 begins 3 elements before the tensor's own
T:view(layout, offset) names any elements of its memory]] },
  { 'numbered(layout{3,3,3,3,3}):zipped_divide{2,2,2,2,2}', nil,
    "would have 5 bounds, a tensor has at most 4\ncut fewer modes at a time" },
  { 'T:local_tile({4,3}, {2,2}):fill{1,2,3,4,5,6,7,8,9,10,11,12,13}',
    "fill: 12 values expected, got 13" },
  { 'tile.gemm(numbered(layout{4,4}):logical_divide(5), numbered(layout{5,4}), '
    .. 'tile.tensor("i32", layout{5,5}))', [[
gemm: what is real of A (5,4):(1,5) is not the beginning of each of its modes: its coordinates are (5,4):(1@0,5@0)
copy it into a tensor of zeros of its own shape, and multiply that
]] },
  { 'T:bounds(1)', "T:bounds: takes no arguments, got 1" },
}

describe("refused:", function()
  for _, row in ipairs(REFUSED) do
    it(row[1], function()
      local ok, message = pcall(assert(load("return " .. row[1], "=row", "t", env)))
      assert.is_false(ok)
      if row[2] then assert.equal("row:1: " .. row[2]:gsub("\n$", ""), message)
      else assert.matches(row[3], message) end
    end)
  end
end)

-- ---------------------------------------------------------------- on every device

for i = 1, #devices do
  local d = devices[i]
  describe("on " .. d.label, function()
    it("what was not addressed stays what it was", function()
      local D = numbered(layout { 4, 6 }, d.device, "f32")
      local t = D:local_tile({ 2, 4 }, { 0, 1 })
      t:fill(-1)
      assert.equal("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 -1 -1 18 19 -1 -1 22 23", list(D))
      t:fill { 50, 51, 52, 53 }
      assert.equal("50 51 52 53 - - - -", list(t))
      assert.equal("50 51 18 19 52 53 22 23", (list(D:local_tile({ 4, 4 }, { 0, 1 })):gsub(" %-", "")))
    end)

    it("copies and conversions", function()
      local S = numbered(layout({ 5, 5 }, "right"), d.device)
      local D = tile.tensor("i32", layout { 5, 5 }, d.device)
      local F = tile.tensor("f32", layout { 5, 5 }, d.device)
      for m = 0, 1 do
        for n = 0, 2 do
          tile.copy(S:local_tile({ 3, 2 }, { m, n }), D:local_tile({ 3, 2 }, { m, n }))
          tile.copy(S:local_tile({ 3, 2 }, { m, n }), F:local_tile({ 3, 2 }, { m, n }))
        end
      end
      assert.equal(list(S), list(D))
      assert.equal(list(S), list(F))
      local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "i32",
                                     thr = layout { 2, 2 }, val = layout { 2, 1 } }
      local C = tile.tensor("i32", layout { 3, 2 }, d.device):fill(7)
      tile.copy(copy, S:local_tile({ 3, 2 }, { 1, 2 }), C)
      assert.equal("3 8 7 7 7 7", (list(C):gsub("23", "3"):gsub("24", "8")))
    end)

    it("products: nothing is added, nothing is stored", function()
      local A = tile.tensor("f32", layout { 4, 6 }, d.device):fill(1)
      local B = tile.tensor("f32", layout { 4, 6 }, d.device):fill(1)
      local C = tile.tensor("f32", layout { 4, 4 }, d.device)
      for k = 0, 1 do
        tile.gemm(A:local_tile({ 4, 4 }, { 0, k }), B:local_tile({ 4, 4 }, { 0, k }), C, { beta = 1 })
      end
      assert.equal(6, C(3, 3))
      local E = tile.einsum("mk,nk->nm", A:local_tile({ 3, 4 }, { 1, 1 }), B:local_tile({ 3, 4 }, { 0, 1 }))
      assert.equal("2 2 2 0 0 0 0 0 0", list(E))
      local G = tile.tensor("f32", layout { 4, 4 }, d.device):fill(5)
      tile.gemm(A:local_tile({ 3, 6 }, { 1, 0 }), B:local_tile({ 3, 6 }, { 1, 0 }),
                G:local_tile({ 3, 3 }, { 1, 1 }), { alpha = 2, beta = -1 })
      assert.equal("5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 7", list(G))
    end)

    it("batches, graphs, plans that are remembered", function()
      local A = tile.tensor("f32", layout { 3, 3, 4 }, d.device):fill(1)
      local C = tile.tensor("f32", layout { 3, 3, 4 }, d.device)
      tile.gemm(A:local_tile({ 2, 2, 4 }, { 1, 1, 0 }), A:local_tile({ 2, 2, 4 }, { 0, 1, 0 }),
                C:local_tile({ 2, 2, 4 }, { 1, 0, 0 }))
      assert.equal("0 0 1 0 0 1 0 0 0", list(C:slice { _, _, 3 }))
      local T, x = numbered(layout { 10, 7 }, d.device), tile.tensor("i32", layout { 4, 3 }, d.device)
      local t = T:local_tile({ 4, 3 }, { 1, 2 })
      local g = d.device:graph(function()
        t:fill(3)
        tile.copy(t, x)
      end)
      g()
      assert.equal("3 3 3 3 0 0 0 0 0 0 0 0", list(x))
      -- the same layout at the same place, with other bounds: another plan
      local X, base, extents = t:bounds()
      local y, z = tile.tensor("i32", layout { 4, 3 }, d.device), tile.tensor("i32", layout { 4, 3 }, d.device)
      for turn, end_ in ipairs { 7, 7, 6 } do
        local u = t:view(t:layout(), 0, X, base, { end_ })
        tile.copy(u, turn < 3 and y or z)
      end
      assert.equal("3 3 3 3 0 0 0 0 0 0 0 0", list(y))
      assert.equal("0 0 0 0 0 0 0 0 0 0 0 0", list(z))
      assert.equal(7, extents[1])
    end)

    it("to another device and back", function()
      local T = numbered(layout { 10, 7 }, d.device)
      local t = T:local_tile({ 4, 3 }, { 2, 2 }):select(2, 1)
      local there = assert(t:to "cpu")
      assert.equal("68 - - 69 - - - - - - - -", list(there))
      assert.equal(tostring(t):match "ragged.*", tostring(there):match "ragged.*")
      local host = d.label == "cpu:checked" and d.device or tile.device "cpu"
      local H = tile.tensor("i32", layout { 10, 7 }, host):fill(-1)
      tile.copy(t, H:local_tile({ 4, 3 }, { 2, 2 }):select(2, 1))
      assert.equal("68 69", (list(H):gsub("%-1 ?", "")))
      tile.copy(H:local_tile({ 3, 2 }, { 3, 3 }), T:local_tile({ 3, 2 }, { 0, 3 }))
      assert.equal(69, T(0, 6))
      assert.equal(61, T(1, 6))
    end)

    it("plans say so", function()
      local T = numbered(layout { 10, 7 }, d.device)
      local t, x = T:local_tile({ 4, 3 }, { 2, 2 }), tile.tensor("i32", layout { 4, 3 }, d.device)
      assert.matches("\nragged: src (4,3):(1@0,1@1) + (8,6) < (10,7)\n", tostring(tile.plan(t, x)), 1, true)
      local f = tile.tensor("f32", layout { 4, 3 }, d.device)
      local plan = tile.plan_gemm(tile.tensor("f32", layout { 4, 2 }, d.device),
                                  tile.tensor("f32", layout { 3, 2 }, d.device),
                                  tile.tensor("f32", layout { 10, 7 }, d.device):local_tile({ 4, 3 }, { 2, 2 }))
      assert.matches("\nragged: C (4,3):(1@0,1@1) + (8,6) < (10,7)\n", tostring(plan), 1, true)
      assert.is_not_nil(f)
    end)

    it("random tiles, by hand", function()
      local seed = tonumber(os.getenv "MOONTILE_SEED") or os.time() * 1000
      local x = run { device = d.device, cases = 150, seed = seed,
                      host = d.label:match "^cuda" and tile.device "cpu" or nil }
      assert.is_true(x.ragged > 20 and x.copied > 50)
    end)
  end)
end

describe("one value into a tile that is far larger than the tensor", function()
  for _, text in ipairs { "(24,9):(1,24)", "Sw<2,3,4> o 0 o (24,9):(1,24)" } do
    it("touches the elements that are there: " .. text, function()
      local T = tile.tensor("f32", layout(text))
      T:logical_divide { 5, 1 << 40 }:fill(7)
      for i = 0, T:size() - 1 do assert.equal(7, T(i)) end
    end)
  end
end)
