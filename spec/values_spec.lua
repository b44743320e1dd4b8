-- values_spec.lua: image, gaps, aliases and order of a layout, against its values; sorted
-- modes, shape_mod, rows of values, why shapes are not compatible.
-- SPDX-License-Identifier: MIT
local tile = require "moontile"
local layout = tile.layout
local functions = dofile "spec/functions.lua"

local function random_layout()
  local s, d = {}, {}
  for k = 1, math.random(3) do s[k], d[k] = math.random(4), math.random(-6, 9) end
  return layout(s, d)
end

describe("the values of random layouts", function()
  it("are what image, gaps and aliases say", function()
    math.randomseed(18)
    for _ = 1, 500 * (tonumber(os.getenv "MOONTILE_TIMES") or 1) do
      local A = random_layout()
      local at = {}
      for i = 0, A:size() - 1 do
        local list = at[A(i)] or {}
        at[A(i)], list[#list + 1] = list, i
      end
      local image, last = A:image(), -math.huge
      for _, x in ipairs(image) do
        assert.is_true(x > last and at[x] ~= nil)
        last = x
      end
      local n, shared = 0, 0
      for _, list in pairs(at) do n, shared = n + 1, shared + (#list > 1 and 1 or 0) end
      assert.equal(n, #image)
      local runs, missing = A:gaps()
      assert.equal(image[#image] - image[1] + 1, n + missing)
      for _, run in ipairs(runs) do
        for x = run[1], run[2] do assert.is_nil(at[x]) end
        assert.is_truthy(at[run[1] - 1] and at[run[2] + 1])
      end
      local aliases = A:aliases()
      assert.equal(shared, #aliases)
      for k, list in ipairs(aliases) do
        assert.same(at[list.offset], { table.unpack(list) })
        assert.is_true(k == 1 or aliases[k - 1].offset < list.offset)
      end
      assert.equal(A:is_injective(), shared == 0)
    end
  end)

  it("under swizzles, over F2, composed are what image and aliases say", function()
    math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or 18)
    for _ = 1, 300 * (tonumber(os.getenv "MOONTILE_TIMES") or 1) do
      local A = functions.chain()
      local v, at, sorted, shared = functions.values(A), {}, {}, {}
      for i = 0, tile.size(A) - 1 do
        if not at[v[i]] then at[v[i]], sorted[#sorted + 1] = {}, v[i] end
        table.insert(at[v[i]], i)
      end
      table.sort(sorted)
      assert.same(sorted, tile.image(A), tostring(A))
      for _, x in ipairs(sorted) do if #at[x] > 1 then shared[#shared + 1] = x end end
      local got = tile.aliases(A)
      assert.equal(#shared, #got)
      for k, one in ipairs(got) do
        assert.equal(shared[k], one.offset)
        assert.same(at[one.offset], { table.unpack(one) })
      end
    end
  end)

  it("that meet are told in so many of Lua's instructions a value", function()
    for _, text in ipairs { "(131072,2):(-1,0)", "(2,131072):(0,1)", "262144:0",
                            "Sw<3,4,3> o 0 o (131072,2):(1,0)" } do
      local A, thousands = layout(text), 0
      debug.sethook(function() thousands = thousands + 1 end, "", 1000)
      local n = #tile.aliases(A)
      debug.sethook()
      assert.equal(text:find "^2621" and 1 or 131072, n)
      assert.is_true(thousands < 262144 * 20 // 1000, text .. ": " .. thousands)
    end
  end)

  it("of which none meet are as many as they like", function()
    for _, text in ipairs { "1099511627776:1", "(2,1099511627776):(1@0,1@1)",
                            "(1024,512):(1@0,1@1)", "(4194304,4):(4,-1)" } do
      assert.same({}, tile.aliases(layout(text)))
    end
  end)

  it("come back after order steps", function()
    for _, text in ipairs { "(4,2):(2,1)", "(3,5):(5,1)", "Sw<2,0,2> o 0 o 16:1", "(2,2):(F2,F3)",
                            "(2,3,4):(12,4,1)", "8:1" } do
      local A = layout(text)
      local n, cycles = tile.order(A)
      local sum = 0
      for _, c in ipairs(cycles) do
        sum = sum + c
        assert.equal(0, n % c)
      end
      assert.equal(A:size(), sum)
      for i = 0, A:size() - 1 do
        local x = i
        for _ = 1, n do x = tonumber((tostring(A(x)):gsub("F", ""))) end
        assert.equal(i, x)
      end
    end
  end)
end)

describe("shapes", function()
  it("are sorted", function()
    assert.equal("(2,3,4):(1,2,6)", tostring(tile.sort(layout({ 4, { 2, 3 } }, { 6, { 1, 2 } }))))
    assert.equal("(2,4):(1,1)", tostring(tile.sort(layout({ 4, 2 }, { 1, 1 }))))
    assert.equal("(1,2,3)", tostring(tile.sort { 3, { 1, 2 } }))
    assert.equal("4:2", tostring(tile.sort(layout(4, 2))))
    assert.equal(5, tile.sort(5))
  end)

  it("have shapes of their first elements", function()
    for n, text in pairs { [1] = "(1,1)", [2] = "(2,1)", [3] = "(3,1)", [6] = "(6,1)",
                           [12] = "(6,2)" } do
      assert.equal(text, tostring(tile.shape_mod({ 6, 2 }, n)))
      assert.equal(n, tile.size(tile.shape_mod({ 6, 2 }, n)))
    end
    assert.equal("(3,(6,2),2)", tostring(tile.shape_mod({ 3, { 6, 2 }, 8 }, 72)))
    assert.equal(4, tile.shape_mod(12, 4))
  end)

  it("say why they are not compatible", function()
    local function why(a, b) return (select(2, tile.compatible(a, b))) end
    assert.is_nil(why(24, { 4, 6 }))
    assert.equal("(24) is not compatible with 24: (24) is a tuple, 24 is none, so a tuple is no"
                 .. " coordinate of it\n  the other way round they are: an integer stands for a"
                 .. " tuple", why({ 24 }, 24))
    assert.equal("(4,6) is not compatible with (4,(2,4)): 6 of the one stands for (2,4) of the"
                 .. " other, whose size is 8", why({ 4, 6 }, { 4, { 2, 4 } }))
    assert.equal("(4,6) is not congruent with (4,(2,3)): 6 of the one is an integer where the"
                 .. " other has (2,3)", select(2, tile.congruent({ 4, 6 }, { 4, { 2, 3 } })))
    assert.equal("(4,(2,3)):(1,(4,8)) is not congruent with (4,6): (2,3):(4,8) is a tuple, 6 is"
                 .. " none", select(2, tile.congruent(tile.layout "(4,(2,3))", { 4, 6 })))
    assert.equal("((2,2),4) is not weakly congruent with (4,4): (2,2) is a tuple, 4 is none\n"
                 .. "  the other way round they are: an integer stands for a tuple",
                 select(2, tile.weakly_congruent({ { 2, 2 }, 4 }, { 4, 4 })))
    assert.equal("(2,4) is not weakly compatible with (2,(3,5)): 4 of the one does not divide (3,5)"
                 .. " of the other, whose size is 15",
                 select(2, tile.weakly_compatible({ 2, 4 }, { 2, { 3, 5 } })))
    assert.equal("(4,6) is not compatible with (4,6,1): (4,6) has 2 modes, (4,6,1) has 3",
                 why({ 4, 6 }, { 4, 6, 1 }))
    assert.equal("(4,6) is not compatible with 25: (4,6) is a tuple, 25 is none, so a tuple is no"
                 .. " coordinate of it", why({ 4, 6 }, 25))
  end)

  it("have a default order", function()
    assert.equal(layout { 4, { 2, 3 } }, tile.make_ordered_layout { 4, { 2, 3 } })
  end)
end)

describe("rows of values", function()
  it("fill a tensor of any layout", function()
    for _, text in ipairs { "(2,3):(1,2)", "(2,3):(3,1)", "((1,2),3):((7,1),2)" } do
      local T = tile.tensor("i32", layout(text)):fill({ 1, 2, 3, 4, 5, 6 }, "right")
      for i = 0, 1 do for j = 0, 2 do assert.equal(3 * i + j + 1, T(i, j)) end end
    end
    local T = tile.tensor("f16", layout { 2, 2 }):fill({ 1, 2, 3, 4 }, "left")
    assert.same({ 1, 2, 3, 4 }, T:totable())
    assert.same({ 7, 7, 7, 7 }, T:fill(7, "right"):totable())
  end)

  it("fill a ragged view", function()
    local V = tile.tensor("i32", layout { 5, 5 }):local_tile({ 3, 3 }, { 1, 1 })
    V:fill({ 1, 2, 0, 3, 4, 0, 0, 0, 0 }, "right")
    assert.equal("1 2 3 4", ("%d %d %d %d"):format(V(0, 0), V(0, 1), V(1, 0), V(1, 1)))
  end)
end)

describe("what is refused of values", function()
  dofile "spec/refused.lua"(it, {
    { 'tile.image(1 << 30)',
      "image: 1073741824:1 has 1073741824 values, at most 4194304 are looked at" },
    { 'tile.aliases(tile.layout "(2,1099511627776):(0,1)")',
      "aliases: (2,1099511627776):(0,1) has 2199023255552 values, at most 4194304 are looked at;" ..
      " A(0) = A(1); ask a tile of it, or its modes" },
    { 'tile.aliases(tile.layout "(1024,512):(1@0,0)")',
      "aliases: (1024,512):(1@0,0) has 524288 coordinates, at most 262144 are looked at;" ..
      " A(0) = A(1024); ask a tile of it, or its modes" },
    { 'tile.gaps(tile.layout "4:1@0")', "gaps: the strides of 4:1@0 are no integers" },
    { 'tile.order(tile.layout(3, 2))',
      "order: 3:2 is no permutation: A(2) = 4 is outside of 0 .. 2" },
    { 'tile.order(tile.layout({ 2, 2 }, { 1, 1 }))',
      "order: (2,2):(1,1) is no permutation: A(2) = 1 is not the first in 0 .. 3" },
    { 'tile.shape_mod({ 6, 2 }, 4)',
      "shape_mod: the first 4 elements of (6,2) are no shape: 6 and 4 do not divide each other" },
    { 'tile.shape_mod({ 6, 2 }, 24)', "shape_mod: (6,2) has 12 elements, not 24" },
    { 'tile.shape_mod({ 6, 2 }, 0)',
      "shape_mod: a number of elements from 1 on expected, got 0" },
    { 'tile.sort(tile.layout "(2,2):(1@0,1@1)")',
      "sort: the strides of (2,2):(1@0,1@1) are no integers" },
    { 'tile.tensor("f32", tile.layout(2)):fill({ 1, 2 }, "rows")',
      'fill: order: "left" or "right" expected, got rows' },
  }, setmetatable({ tile = tile }, { __index = _G }))
end)
