-- bits_spec.lua: compositions and inverses by the bits, of random bijections, against brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local env = setmetatable({ tile = tile, layout = tile.layout }, { __index = _G })
local layout, parse = tile.layout, tile.parse
local random = math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local CASES = math.ceil(1000 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))

-- Extents 2^k whose product is 2^n, some of them nested.
local function random_extents(n)
  local s = {}
  while n > 0 do
    local k = random(math.min(n, 3))
    s[#s + 1] = 1 << k
    n = n - k
  end
  return s
end

local function shape_of(s)
  if #s < 3 or random(2) == 1 then return s end
  return { s[1], { table.unpack(s, 2) } }
end

-- 2^n values, each once: a permutation of modes, under a swizzle or not; or images of bits.
local function random_bijection(n)
  local s = random_extents(n)
  if random(3) == 1 then
    local d, bit = {}, 0
    local bits = {}
    for i = 0, n - 1 do bits[i + 1] = 1 << i ~ random(0, (1 << i) - 1) end
    s = {}
    for i = n, 1, -1 do table.insert(bits, table.remove(bits, random(i))) end
    for i = 1, n do s[i], d[i], bit = 2, "F" .. bits[i], bit + 1 end
    return layout("(" .. table.concat(s, ",") .. "):(" .. table.concat(d, ",") .. ")")
  end
  local order = {}
  for i = 1, #s do table.insert(order, random(#order + 1), i - 1) end
  local shape = shape_of(s)
  if shape ~= s then order = { order[1], { table.unpack(order, 2) } } end
  local A = tile.make_ordered_layout(shape, order)
  local b = random(0, n // 2)
  if b == 0 or random(4) == 1 then return A end
  local m = random(0, n - 2 * b)
  local shift = random(b, n - m - b)
  return tile.swizzle(b, m, random(2) == 1 and shift or -shift) * A
end

-- An integer, whatever the ring.
local function int(v)
  return math.type(v) == "integer" and v or tonumber((tostring(v):gsub("^F", "")))
end

local function value(A, i) return int(A:at(i)) end

describe("by the bits (seed " .. SEED .. ")", function()
  setup(function() math.randomseed(SEED) end)

  it("every bijection has its inverses", function()
    for _ = 1, CASES do
      local n = random(1, 6)
      local A = random_bijection(n)
      local R, L = tile.right_inverse(A), tile.left_inverse(A)
      assert.equal(1 << n, tile.size(R), tostring(A))
      assert.equal(1 << n, tile.size(L), tostring(A))
      for i = 0, (1 << n) - 1 do
        if int(A(value(R, i))) ~= i or value(L, value(A, i)) ~= i then
          error(("%s: %s and %s at %d"):format(A, R, L, i))
        end
      end
    end
  end)

  it("every two compose, and swizzles with them", function()
    for _ = 1, CASES do
      local n = random(1, 6)
      local A, B = random_bijection(n), random_bijection(n)
      local R = A * B
      assert.is_true(tile.compatible(B, R), tostring(R))
      local b = random(0, n // 2)
      local W = tile.swizzle(b, 0, n - b)
      local S = W * A
      for i = 0, (1 << n) - 1 do
        local r, s = value(R, i) == value(A, value(B, i)), value(S, i) == W(value(A, i))
        if not r then error(("%s o %s: %s at %d"):format(A, B, R, i)) end
        if not s then error(("%s o %s: %s at %d"):format(W, A, S, i)) end
      end
    end
  end)

  it("a layout is its matrix", function()
    for _ = 1, CASES do
      local n = random(1, 6)
      local A = random_bijection(n)
      local M, at0 = tile.to_f2_matrix(A)
      local R = tile.from_f2_matrix(M, tile.shape(A), at0)
      assert.is_true(tile.compatible(A, R))
      for i = 0, (1 << n) - 1 do assert.equal(value(A, i), value(R, i)) end
    end
  end)

  it("with an offset they are inverted where a layout has it", function()
    local answered = 0
    for _ = 1, CASES do
      local n = random(2, 6)
      local A = random_bijection(n)
      local offset = random(0, (1 << n) - 1)
      local ok, R = pcall(tile.from_f2_matrix, (tile.to_f2_matrix(A)), nil, offset)
      local inverted, L = pcall(tile.left_inverse, ok and R or layout(1))
      if ok and inverted then
        answered = answered + 1
        for i = 0, (1 << n) - 1 do
          if value(R, i) ~= value(A, i) ~ offset or value(L, value(R, i)) ~= i then
            error(("%s and %d: %s, %s at %d"):format(A, offset, R, L, i))
          end
        end
      end
    end
    assert.is_true(answered > CASES / 4)
  end)
end)

describe("by the bits", function()
  for _, row in ipairs {
    { "(4,4):(4,1)", "Sw<3,0,3> o 0 o (4,4):(4,1)", "Sw<1,1,-1> o 0 o (4,4):(1,4)" },
    { "Sw<1,0,2>", "Sw<3,0,3> o 0 o (8,8):(8,1)", "Sw<1,0,2> o 0 o Sw<3,0,3> o 0 o (8,8):(8,1)" },
    { "(2,2):(F2,F3)", "(2,2):(F2,F3)", "(2,2):(F3,F1)" },
    { "(2,2):(2,1)", "(2,2):(F2,F3)", "Sw<1,0,1> o 0 o (2,2):(1,2)" },
    { "Sw<1,0,1>", "(2,2):(F2,F3)", "(2,2):(F3,F2)" },
    { "(2,2):(F2,F3)", "Sw<1,0,1> o 0 o (2,2):(2,1)", "(2,2):(F1,F2)" },
    { "Sw<1,0,1> o 0 o (2,2):(2,1)", "(2,2):(F2,F3)", "(2,2):(1,2)" },
    { "(4,2):(1,4)", "6:F1", "6:1" },
  } do
    it(row[1] .. " o " .. row[2] .. " is " .. row[3], function()
      assert.equal(row[3], tostring(parse(row[1]) * parse(row[2])))
    end)
  end

  it("inverses are what they are", function()
    assert.equal("(2,2):(F3,F1)", tostring(tile.right_inverse(layout "(2,2):(F2,F3)")))
    assert.equal("Sw<2,1,-6> o 0 o (64,8):(8,1)",
                 tostring(tile.left_inverse(layout "Sw<3,4,3> o 0 o (8,64):(64,1)")))
  end)
end)

describe("matrices over F2", function()
  it("are rows of bits", function()
    local M, at0 = tile.to_f2_matrix(layout "Sw<1,0,1> o 0 o (2,2):(2,1)")
    assert.same({ { 1, 1 }, { 1, 0 } }, M)
    assert.equal(0, at0)
    assert.equal("Sw<1,0,1> o 0 o (2,2):(2,1)", tostring(tile.from_f2_matrix(M, { 2, 2 })))
    assert.same({}, (tile.to_f2_matrix(layout(1))))
    assert.equal("1:0", tostring(tile.from_f2_matrix {}))
    for _, text in ipairs { "(4,2):(2,1)", "Sw<1,0,1> o 4 o 4:1", "Sw<1,0,1> o 8 o 8:1", "8:1" } do
      assert.equal(text, tostring(tile.from_f2_matrix(tile.to_f2_matrix(layout(text)))))
      assert.equal(text, tostring(tile.from_f2_matrix((tile.to_f2_matrix(layout(text))))))
    end
    assert.equal(parse "F3", layout "(2,2):(F3,F1)"(1))
  end)

  dofile "spec/refused.lua"(it, {
    { 'tile.to_f2_matrix(layout(6))',
      "to_f2_matrix: the extent 6 of 6:1 is no power of two: an index is no word of bits" },
    { 'tile.to_f2_matrix(layout("(2,2):(1,3)"))', "to_f2_matrix: (2,2):(1,3) is no map of bits"
      .. ": A(3) = 4, the xor of A(1), A(2) and A(0) is 2" },
    { 'tile.to_f2_matrix(layout("(2,2):(1@0,1@1)"))',
      "to_f2_matrix: (2,2):(1@0,1@1) is no map of bits" },
    { 'tile.from_f2_matrix{{1,0},{2,1}}',
      "from_f2_matrix: row 2, column 1: 0 or 1 expected, got 2" },
    { 'tile.from_f2_matrix{{1,0},{1}}', "from_f2_matrix: row 2 is no list of 2 bits, as row 1 is" },
    { 'tile.from_f2_matrix({{1,0},{0,1}}, {3})',
      "from_f2_matrix: the extent 3 of the shape (3) is no power of two" },
    { 'tile.from_f2_matrix({{1,0},{0,1}}, {2,4})',
      "from_f2_matrix: the shape (2,4) has 8 elements, 2 columns have 4" },
    { 'tile.from_f2_matrix({{1,0},{1,1}}, nil, -1)',
      "from_f2_matrix: the value at 0 is below 0 or has more than 62 bits" },
    { 'tile.from_f2_matrix(3)',
      "bad argument #1 to 'from_f2_matrix' (table of rows of 0 and 1 expected, got number)" },
  }, env)
end)
