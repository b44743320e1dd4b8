-- composed_spec.lua: composed layouts, f o offset o A, where no layout of one kind has their
-- values: as values, and all that works on layouts by brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local functions = dofile "spec/functions.lua"
local layout, _ = tile.layout, tile._
local random = math.random
local pick, any, over_z = functions.pick, functions.any, functions.over_z
local chain, number, values = functions.chain, functions.number, functions.values

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- ---------------------------------------------------------------- laws

local laws = {}

function laws.text(A)
  assert(layout(tostring(A)) == A)
end

function laws.structure(A, v)
  for _, op in ipairs { "coalesce", "flatten", "coalesce_z" } do
    local R = tile[op](A)
    assert(tile.size(R) == #v + 1, op)
    for i = 0, #v do assert(number(R(i)) == v[i], op) end
  end
end

function laws.range(A, v)
  if type(A(0)) ~= "number" then return end
  local lo, hi = A:footprint()
  assert(lo == math.min(v[0], table.unpack(v)) and hi == math.max(v[0], table.unpack(v)))
end

function laws.coordinates(A, v, S)
  for i = 0, #v do
    local c = tile.idx2crd(i, tile.shape(A))
    assert(number(A(c)) == v[i] and S(c) ~= nil)
  end
end

local function cut(s)
  if type(s) ~= "table" then return random(2) == 1 and _ or random(0, s - 1) end
  local c = {}
  for i, x in ipairs(s) do c[i] = cut(x) end
  return c
end

-- I: where a part of A lies among the indices, by the same call on them.
local function same_part(R, at, I, from, v)
  for j = 0, tile.size(I) - 1 do
    local is, want = number(R(j)), v[from + I(j)]
    assert(want == number(at) + is or want == number(at) ~ is)
  end
end

function laws.slices(A, v, S)
  local c = cut(tile.shape(A))
  local ok, R, at = pcall(tile.slice_and_offset, c, A)
  if not ok then return false end
  local I, from = tile.slice_and_offset(c, S)
  same_part(R, at, I, from, v)
end

-- A tiler that divides each mode.
local function tiler(S)
  local t = {}
  for k = 1, tile.rank(S) do
    local n = tile.size(S, k)
    t[k] = n % 4 == 0 and pick { 1, 2, 4 } or n % 2 == 0 and pick { 1, 2 } or 1
  end
  return t
end

function laws.divides(A, v, S)
  local t = tiler(S)
  for _, op in ipairs { "logical_divide", "zipped_divide", "tiled_divide", "flat_divide",
                        "composition" } do
    local ok, R = pcall(tile[op], A, t)
    local fine, I = pcall(tile[op], S, t)
    if ok and fine then same_part(R, 0, I, 0, v) end
  end
end

function laws.local_tile(A, v, S)
  local t, c = tiler(S), {}
  for k = 1, #t do c[k] = random(0, tile.size(S, k) // t[k] - 1) end
  local ok, R, at = pcall(tile.local_tile, A, t, c)
  if not ok then return false end
  local I, from = tile.local_tile(S, t, c)
  same_part(R, at, I, from, v)
end

function laws.local_partition(A, v, S)
  if tile.rank(A) == 1 then return end
  local threads = layout(tiler(S))
  local n = random(0, tile.size(threads) - 1)
  local ok, R, at = pcall(tile.local_partition, A, threads, n)
  if not ok then return false end
  local I, from = tile.local_partition(S, threads, n)
  same_part(R, at, I, from, v)
end

function laws.right(A)
  local B = over_z(true)
  local ok, R = pcall(tile.composition, A, B)
  if not ok then return false end
  for i = 0, tile.size(B) - 1 do assert(number(R(i)) == number(A(B(i)))) end
end

function laws.left(A, v)
  local f = any()
  local ok, R = pcall(tile.composition, f, A)
  if not ok then return false end
  for i = 0, #v do assert(number(R(i)) == number(f(v[i]))) end
end

function laws.right_inverse(A)
  local ok, R = pcall(tile.right_inverse, A)
  if not ok then return false end
  for i = 0, tile.size(R) - 1 do assert(number(A(number(R(i)))) == i) end
end

function laws.left_inverse(A, v)
  local ok, L = pcall(tile.left_inverse, A)
  if not ok then return false end
  for i = 0, #v do assert(number(A(number(L(v[i])))) == v[i]) end
end

function laws.questions(A, v)
  local seen, once = {}, true
  for i = 0, #v do once, seen[v[i]] = once and not seen[v[i]], true end
  local ok, is = pcall(tile.is_injective, A)
  assert(not ok or is == once)
  assert(tile.equivalent(A, layout(tostring(A))))
end

describe("composed layouts, at random:", function()
  local names = {}
  for name in pairs(laws) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    it(name, function()
      math.randomseed(SEED)
      local held = 0
      for k = 1, 250 * TIMES do
        local A = chain()
        local S = layout(tile.shape(A))
        if tile.size(A) > 0 then
          local ok, why = xpcall(laws[name], debug.traceback, A, values(A), S)
          assert(ok, ("MOONTILE_SEED=%d, case %d: %s\n%s"):format(SEED, k, A, why))
          if why ~= false then held = held + 1 end
        end
      end
      assert.is_true(held > 0)
    end)
  end
end)

-- ---------------------------------------------------------------- as values

describe("composed layouts", function()
  local B = layout "Sw<3,0,3> o 0 o (4,4):(4,1)"
  local C = tile.swizzle(1, 0, 2) * layout "Sw<3,0,3> o 0 o (8,8):(8,1)"

  it("are kept where no layout of one kind has their values", function()
    assert.equal("Sw<1,0,2> o 0 o Sw<3,0,3> o 0 o (8,8):(8,1)", tostring(C))
    assert.equal("(8):(F9) o 0 o 4:6", tostring(layout "(8):(F9)" * layout(4, 6)))
    assert.equal("(3,8):(1,4) o 0 o Sw<1,0,1> o 0 o (3,8):(1,3)",
                 tostring(layout "(3,8):(1,4)" * tile.swizzle(1, 0)))
    local A, D = layout "(6,4):(1,7)", layout "(2,6):(12,1)"
    assert.equal("(6,4):(1,7) o 5 o (2,6):(12,1)", tostring(tile.make_composed_layout(A, 5, D)))
  end)

  it("are simpler where that is exact", function()
    assert.equal("Sw<1,1,-1> o 0 o (4,4):(1,4)", tostring(layout "(4,4):(4,1)" * B))
    assert.equal("Sw<0,0,0> o 24 o (2,2):(1,2)", tostring(
      tile.make_composed_layout(layout({ 4, 8 }, { 8, 1 }), 3, layout({ 2, 2 }, { 4, 8 }))))
    assert.equal("Sw<3,0,3> o 0 o (8,8):(8,1)", tostring(tile.swizzle(1, 0, 2) * C))
  end)

  it("stay a refusal over the integers: make_composed_layout keeps one by hand", function()
    local A, D = layout "(4,6,8):(2,3,5)", layout(6, 3)
    assert.is_false(pcall(tile.composition, A, D))
    local R = tile.make_composed_layout(A, 0, D)
    assert.equal("(4,6,8):(2,3,5) o 0 o 6:3", tostring(R))
    for i = 0, 5 do assert.equal(A(D(i)), R(i)) end
  end)

  it("are asked below 0 as layouts are: A(-i) = -A(i)", function()
    local turn = "(5,3,1):(1,0,5) o 4 o 5:2" -- 4 1 3 0 2
    for _ = 1, 60 * TIMES do
      local F, at = over_z(), -random(0, 9)
      local A = tile.make_composed_layout(F, at, layout(turn))
      for i = 0, 4 do
        local v = at + layout(turn)(i)
        assert.equal(v < 0 and -F(-v) or F(v), A(i), tostring(A))
      end
    end
    assert.equal(-6, layout "(4,6,8):(2,3,5) o -3 o 6:3"(0))
    assert.is_false(pcall(tile.make_composed_layout, layout "(2,4):(F1,F4)", -1, layout(turn)))
    local L = tile.function_layout(9, function(i) return i * i end)
    assert.is_false(pcall(tile.make_composed_layout, L, -1, layout(turn)))
  end)

  it("take values over F2 where these need no digits", function()
    local bits = layout "(2,4):(F22,F5)"
    for text, is in pairs {
      ["Sw<1,4,3> o 0 o (3,8):(1,3)"] = true, ["(5,8):(0,0)"] = true,
      ["(8,4,3):(7,1,9)"] = true, ["(5,6):(14,10)"] = false,
      ["Sw<3,0,5> o 32 o ((4,1),8,1):((2,2),14,10) o 4 o (4,4,8):(1,4,16)"] = true } do
      local A = layout(text)
      local ok, R = pcall(tile.composition, A, bits)
      assert.equal(is, ok, text)
      for i = 0, ok and 7 or -1 do assert.equal(A(number(bits(i))), R(i), text) end
    end
  end)

  it("are written as they are read", function()
    for _, text in ipairs { "4:1 o 3 o 2:1", "(4,4):(F1,F4) o F3 o (2,2):(F1,F2)",
                            "Sw<2,0,3> o F5 o (4,4):(F1,F4) o 0 o Sw<1,0,2> o 1 o 8:1",
                            "(2,3):(1@0,1@1) o 0 o Sw<1,0,1> o 0 o 4:1" } do
      assert.equal(text, tostring(layout(text)))
    end
    assert.equal("4:2 o 0 o 2:1", tostring(layout "4:2 o 2:1"))
    assert.equal("Sw<1,0,1> o 0 o 4:1 o 0 o 2:1", tostring(layout "Sw<1,0,1> o 4:1 o 2:1"))
    assert.equal("4:2 o 3 o Sw<1,0,1> o 0 o 2:1", tostring(layout
      "ComposedLayout<Layout<_4,_2>,_3,ComposedLayout<Swizzle<1,0,1>,_0,Layout<_2,_1>>>"))
    assert.not_equal(layout "4:2 o 2:1", layout "4:2 o 1 o 2:1")
    local crd = layout "(2,3):(1@0,1@1) o 0 o Sw<1,0,1> o 0 o 4:1"
    assert.equal("(0,1) (1,1) (1,0)", table.concat({ tostring(crd(3)), tostring(crd(2)),
                                                     tostring(crd(1)) }, " "))
  end)

  it("have the modes of what is applied first", function()
    assert.same({ 2, 64, 1 }, { tile.rank(C), tile.size(C), tile.depth(C) })
    assert.equal(layout "(8,8):(8,1)", C:get_nonswizzle_portion())
    assert.same({ 0, 63 }, { C:footprint() })
    assert.is_true(tile.is_bijective(C))
    assert.equal("Sw<1,0,2> o 0 o Sw<3,0,3> o 0 o 8:8", tostring(C[1]))
  end)

  it("are CuTe's", function()
    assert.equal("ComposedLayout<Swizzle<1,0,2>,_0,ComposedLayout<Swizzle<3,0,3>,_0,"
                 .. "Layout<Shape<_8,_8>,Stride<_8,_1>>>>", tile.cute(C, "type"))
    for _, form in ipairs { "type", "dsl", "pycute" } do
      assert.equal(C, layout(tile.cute(C, form)), form)
    end
  end)

  it("are undone", function()
    local R, L = C:right_inverse(), C:left_inverse()
    for i = 0, 63 do
      assert.equal(i, number(C(number(R(i)))))
      assert.equal(i, number(L(C(i))))
    end
  end)

  it("of no elements have slices where their function has no values", function()
    local A = tile.parse "(2,8):(F7,F31) o 0 o (20,0):(-1,1)"
    for i = 0, 19 do assert.equal(0, tile.size((A:slice { i, tile._ }))) end
    assert.error_matches(function() A:slice { tile._, 0 } end, "has no values below 0")
  end)

  it("begin where a slice does", function()
    local S = C(_, 3)
    for i = 0, 7 do assert.equal(C(i, 3), S(i)) end
    local T, at = tile.local_tile(C, { 4, 4 }, { 1, 1 })
    assert.equal(0, at)
    assert.equal(C(5, 6), T(1, 2))
    local D = tile.domain_offset(C, { 2, 1 })
    assert.equal(C(5, 6), D(3, 5))
    assert.equal(C(1, 2) + 7, C:with_offset(7)(1, 2))
  end)

  it("are divided among threads", function()
    local A = tile.swizzle(1, 0, 2) * layout "Sw<3,0,3> o 0 o (32,32):(32,1)"
    local S = layout { 32, 32 }
    local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                   thr = layout { 4, 4 }, val = layout { 2, 1 } }
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2, 1 } }
    for part, tiled in pairs { S = copy, D = copy, A = mma, B = mma, C = mma } do
      for thr = 0, tiled:size() - 1, 5 do
        local slice = tiled:get_slice(thr)
        local R, at = slice["partition_" .. part](slice, A)
        local I, from = slice["partition_" .. part](slice, S)
        for i = 0, tile.size(R) - 1 do assert.equal(A(from + I(i)), at + R(i)) end
      end
    end
  end)

  it("are layouts of tensors, copied by a list of offsets", function()
    local T, P = tile.tensor("f32", C), tile.tensor("f16", layout { 8, 8 })
    local list = {}
    for i = 1, 64 do list[i] = i end
    T:fill(list)
    assert.truthy(tostring(tile.plan(T, P)):find("kernel: copy_table (cpu)", 1, true))
    tile.copy(T, P)
    for i = 0, 63 do assert.equal(i + 1, P(i)) end
    T:local_tile({ 4, 4 }, { 1, 1 }):fill(0)
    assert.same({ 0, 28 }, { T(4, 4), T(3, 3) })
    assert.is_false(pcall(tile.copy, T, T))
  end)

  it("are no layouts of strides, and that is said", function()
    for _, code in ipairs { "C:stride()", "tile.append(C, C)" } do
      local f = load("local tile, C = ... return " .. code)
      local ok, err = pcall(f, tile, C)
      assert.is_false(ok, code)
      err = tostring(err)
      assert.truthy(err:find("composed", 1, true), err)
    end
  end)
end)
