-- far_spec.lua: offsets, strides and sums at the ends of 64 bits: exact, or an error.
-- SPDX-License-Identifier: MIT

local assert = require "luassert"
local tile = require "moontile"
local layout = tile.layout
local MIN = math.mininteger

local times = tonumber(os.getenv "MOONTILE_TIMES") or 1
math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or os.time())

describe("coordinates that begin far away", function()
  it("are exact where a stride that nobody takes leaves 64 bits", function()
    for origin, rows in pairs {
      ["(12377777775554,0)"] = { "1:22338777780@7", "1:22338777780@1", "0:22338777780@1",
                                 "(1,4):(22338777780@1,1@0)", "(1,4):(22338777780@1+1@0,1@0)" },
      ["(780200001715451146,5)"] = { "00:-2@10+2@13", "1:-20@10+2@13", "1:20@1+-1@7" },
    } do
      for _, text in ipairs(rows) do
        local A = layout(text)
        local R = tile.parse(("ArithTuple%s o %s"):format(origin, text))
        assert.equal(tile.size(A), tile.size(R))
        for i = 0, tile.size(A) - 1 do assert.equal(tile.parse(origin) + A(i), R(i)) end
        assert.equal(R, layout(tostring(R)))
      end
    end
  end)

  it("are exact or refused", function()
    local random = math.random
    local function far() return random(0, 1 << random(0, 40)) end
    for _ = 1, 100 * times do
      local shape, stride = {}, {}
      for k = 1, 3 do
        shape[k] = random(0, 3)
        stride[k] = ("%d@%d+%d@%d"):format(far() + 1, random(0, 1), far() + 1, random(2, 3))
      end
      local A = layout(("(%d,%d,%d):(%s)"):format(shape[1], shape[2], shape[3],
                                                  table.concat(stride, ",")))
      local at = tile.make_coord(far(), far(), far(), far())
      local ok, R = pcall(tile.with_offset, A, at)
      if ok then
        for i = 0, tile.size(A) - 1 do assert.equal(at + A(i), R(i)) end
      else
        assert.matches("leaves 64 bits", R)
      end
    end
  end)
end)

describe("an offset of -2^63", function()
  local function at(bits, base, plain)
    return tile.make_composed_layout(tile.make_swizzle(bits, base, 3), MIN, layout(plain))
  end

  it("is a multiple of every run and alignment", function()
    for _, plain in ipairs { "8:0", "1:0", "0:1" } do
      for _, A in ipairs { at(2, 0, plain), at(2, 3, plain), at(0, 0, plain) } do
        local B = layout((tostring(A):gsub("%-%d+", "4096")))
        assert.equal(tile.max_alignment(B), tile.max_alignment(A))
        assert.equal(tile.max_common_vector(B, layout(8)), tile.max_common_vector(A, layout(8)))
      end
    end
  end)

  it("is no tensor's", function()
    local ok, text = pcall(tile.tensor, "u8", at(0, 0, "8:0"))
    assert.is_false(ok)
    assert.matches("tensor: the layout begins 2^63 elements below 0", text, 1, true)
  end)

  it("is left again", function()
    local A = layout "Sw<2,0,3> o -9223372036854775808 o 8:0"
    local R = tile.with_offset(A, math.maxinteger)
    for i = 0, 7 do assert.equal(A(i) + math.maxinteger, R(i)) end
  end)
end)

-- What is made is read again.
describe("a swizzle after an offset", function()
  local function made(offset, plain)
    local ok, A = pcall(tile.make_composed_layout, tile.swizzle(2, 4, -3), offset, layout(plain))
    if ok then assert.equal(A, layout(tostring(A))) end
    return ok, A
  end

  it("and a range that leave 64 bits are refused", function()
    for _, row in ipairs {
      { 5, "9223372036854775807:1" }, { -5, "9223372036854775807:1" },
      { 2, "9223372036854775807:1" }, { math.maxinteger, "2:1" }, { MIN, "2:1" },
      { math.maxinteger, "(2,2):(1,-1)" }, { 1, "2:-9223372036854775807" },
    } do
      local ok, text = made(row[1], row[2])
      assert.is_false(ok)
      assert.matches(("make_composed_layout: the offset %d and the range of %s leave 64 bits")
                     :format(row[1], row[2]), text, 1, true)
    end
  end)

  it("and a range within them are made", function()
    for _, row in ipairs {
      { 1, "9223372036854775807:1" }, { -1, "9223372036854775807:1" }, { MIN, "1:1" },
      { math.maxinteger, "1:1" }, { math.maxinteger - 1, "2:1" }, { 0, "9223372036854775807:1" },
    } do
      assert.is_true(made(row[1], row[2]))
    end
  end)

  it("is read again, whatever it and the layout are", function()
    local random = math.random
    local function far() return random(0) >> random(0, 62) end
    for _ = 1, 200 * times do
      local ok, A = pcall(layout, ("(%d,%d):(%d,%d)"):format(random(1, 3), far() >> 1,
                                                            random(-2, 2), random(-1, 1)))
      if ok then made(far() * (random(0, 1) * 2 - 1), tostring(A)) end
    end
  end)
end)

describe("a mode of 2^63 - 1 beside an empty one", function()
  it("is cut as any other", function()
    for _, text in ipairs { "(9223372036854775807,0):(0,0)", "(0,9223372036854775807):(1,0)" } do
      local T = tile.tensor("u64", layout(text), "cpu:checked")
      assert.equal(0, tile.size(tile.sort(T)))
      local R = T:composition(layout(3, 0))
      assert.is_false(pcall(function() return R(0) end))
      assert.is_false(pcall(R.fill, R, 1))
    end
  end)
end)

describe("values that are listed", function()
  dofile "spec/refused.lua"(it, {
    { 'tile.make_layout(tile.layout "Sw<2,0,3> o 5 o 8:0", tile.layout(math.maxinteger))',
      "make_layout: of 9223372036854775807:1 there are 2^63 and more values, at most 65536 are "
      .. "listed: take a tile of it" },
    { 'tile.make_layout(tile.layout "Sw<2,0,3> o -9223372036854775808 o 8:0", '
      .. 'tile.layout "4:-1")',
      "make_layout: -9223372036854775808 + -1 leaves 64 bits" },
  }, { tile = tile, math = math })
end)

-- A composition goes on along the last mode, which may be empty: its values lie anywhere.
describe("views of a tensor without elements", function()
  local MAX <const> = math.maxinteger
  local function far(stride)
    return tile.composition(tile.tensor("u8", layout(0)), layout(2, stride))
  end
  local function use(V, i)
    return { function() return V(i) end, function() V[{ i }] = 3 end, function() V:set(3, i) end,
             function() V:fill(3) end, function() return V:totable() end,
             function() return V:to "cpu:checked" (i) end,
             function() tile.copy(V, tile.tensor("u8", layout(2))) end,
             function() tile.copy(tile.tensor("u8", layout(2)), V) end }
  end

  it("say which element is outside of the buffer", function()
    for _, stride in ipairs { MAX, MAX - 1, 1 << 62, 1, -1, -(1 << 62), -MAX } do
      local V = far(stride)
      assert.equal(stride, V:layout()(1))
      local _, why = pcall(V, 1)
      assert.matches(("reaches elements %d to %d of"):format(stride, stride), why, 1, true)
      for _, f in ipairs(use(V, 1)) do assert.is_false(pcall(f)) end
    end
  end)

  it("whatever they are moved by", function()
    for _ = 1, 50 * times do
      local at = { math.random(0) >> math.random(1, 63), MAX - math.random(0, 2), math.random(3) }
      local stride, by = at[math.random(3)], at[math.random(3)]
      local V = far(math.random(2) == 1 and stride or -stride)
      local ok, moved = pcall(tile.domain_offset, { math.random(0, 1) }, V)
      local _, cut = pcall(tile.composition, V, layout(2, by))
      for _, W in ipairs { V, ok and moved or V, cut } do
        for i = 0, 1 do
          for _, f in ipairs(type(W) == "userdata" and use(W, i) or {}) do
            assert.is_false(pcall(f), tostring(W))
          end
        end
      end
    end
  end)
end)
