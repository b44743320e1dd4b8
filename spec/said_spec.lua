-- said_spec.lua: where a layout, a shape or a tiler is taken, a text that says one is, too.
-- SPDX-License-Identifier: MIT
local tile = require "moontile"
local layout = tile.layout

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- Of one layout, of two, by tiler.
local ONE = { "size", "rank", "depth", "cosize", "coalesce", "flatten", "right_inverse", "image",
              "is_injective", "is_surjective", "is_bijective", "contiguity", "footprint", "shape",
              "make_layout_like", "make_fragment_like", "cute", "latex", "filter" }
local TWO = { "composition", "logical_divide", "zipped_divide", "logical_product", "equivalent",
              "blocked_product", "raked_product", "make_layout", "layout_add" }

local TEXTS = {
  "(4,8):(1,4)", "((2,4),8):((1,2),8)", "(_2,_8):(_8,_1)", "((_2,(_2,_2)):(_4,(_2,_1)))",
  "Layout<Shape<_4,_8>,Stride<_8,_1>>", "make_layout(make_shape(4,8), LayoutRight{})",
  "Sw<3,0,3> o 0 o (8,8):(8,1)", "gmem_ptr[32b](0x7f) o (_4,_8):(_8,_1)",
  "Sw<1,0,2> o Sw<3,0,3> o (8,8):(8,1)", "Layout((4,8),(8,1))",
  "cute.make_layout((4, 8), stride=(8, 1))",
}

local function outcome(f, ...)
  local r = table.pack(pcall(f, ...))
  for i = 1, r.n do
    if type(r[i]) == "table" then r[i] = tostring(getmetatable(r[i]) and r[i] or #r[i]) end
    r[i] = tostring(r[i])
  end
  return r
end

describe("a text that says a layout", function()
  it("is one of the arguments of every operation (seed " .. SEED .. ")", function()
    math.randomseed(SEED)
    for _, text in ipairs(TEXTS) do
      local A = layout(text)
      for _, name in ipairs(ONE) do
        assert.same(outcome(tile[name], A), outcome(tile[name], text))
      end
      for _ = 1, math.ceil(4 * TIMES) do
        local other = TEXTS[math.random(#TEXTS)]
        local name = TWO[math.random(#TWO)]
        assert.same(outcome(tile[name], A, layout(other)), outcome(tile[name], text, other))
      end
    end
  end)

  it("stands beside an operator, in a tiler, among options", function()
    local A = layout { 8, 8 }
    assert.equal(A * layout "4:2", A * "4:2")
    assert.equal(layout "(4,8):(8,1)" * A, "(4,8):(8,1)" * A)
    assert.equal(A / layout "4:2", A / "4:2")
    assert.equal(A / { layout "4:2", 4 }, A / { "4:2", 4 })
    assert.equal(A / { layout "4:2", 4 }, A / "(4:2,4)")
    assert.equal(A:zipped_divide { 4, 4 }, A:zipped_divide "(4,4)")
    local w = tile.swizzle(3, 0, 3)
    assert.equal(w * layout "(8,8):(8,1)", w * "(8,8):(8,1)")
    assert.equal(6, tile.crd2idx({ 2, 1 }, "(4,8)", "(1,4)"))
    local given = { atom = "UniversalCopy<uint128_t>", dtype = "f16" }
    given.thr, given.val = "(32,8):(8,1)", "(1,8)"
    local said = tostring(tile.tiled_copy(given))
    given.thr, given.val = layout({ 32, 8 }, "right"), { 1, 8 }
    assert.equal(tostring(tile.tiled_copy(given)), said)
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = "(2,2)" }
    assert.equal(128, mma:size())
    assert.is_true(tile.verify(mma, "(64,64):(64,1)", "C").ok)
    local C = "Sw<1,0,2> o Sw<3,0,3> o (8,8):(8,1)"
    assert.equal(layout(C):downcast(2), tile.downcast(C, 2))
    assert.equal(layout(C):recast_layout(16, 8), tile.recast_layout(16, 8, C))
    assert.equal("tensor f32 (4,8):(8,1) cpu", tostring(tile.tensor("f32", "(4,8):(8,1)")))
    assert.equal("(3,4)", tostring(layout { 8, 8 }:idx2crd(layout { 8, 8 } "(3,4)")))
  end)

  local function none(text)
    return ('got string; "%s" is the text of no layout, "(4,2):(1,4)" is one'):format(text)
  end
  for _, row in ipairs {
    { { "composition", "(4,8", 4 },
      "parse: the parenthesis at character 1 is not closed, near \"(4,8\"" },
    { { "composition", "four", 4 },
      "bad argument #1 to 'composition' (layout expected, " .. none "four" .. ")" },
    { { "size", "3" }, "shape: integer, _, table or layout expected, " .. none "3" },
    { { "complement", "(4,8)", 4 },
      "bad argument #1 to 'complement' (layout expected, " .. none "(4,8)" .. ")" },
    { { "make_layout", "4:1", "x" },
      "mode 2: layout expected, got string (tile.layout builds one from a shape)" },
    { { "blocked_product", { "x" }, 4 },
      "blocked_product: block[1]: integer or layout expected, " .. none "x" },
  } do
    it("or not: " .. row[2], function()
      local ok, text = pcall(function() return tile[row[1][1]](table.unpack(row[1], 2)) end)
      assert.is_false(ok)
      assert.equal(row[2], (text:gsub("^[^:]*:%d+: ", ""):gsub("'%?'", "'" .. row[1][1] .. "'")))
    end)
  end
end)
