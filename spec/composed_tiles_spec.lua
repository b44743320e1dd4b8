-- composed_tiles_spec.lua: products of blocks and grids that are swizzled, over F2 or composed,
-- divides by such tiles and by tiles of coordinates, by brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local functions = dofile "spec/functions.lua"
local layout = tile.layout
local random = math.random
local pick, extents, written, over_z = functions.pick, functions.extents, functions.written,
                                       functions.over_z
local any, chain, swizzle = functions.any, functions.chain, functions.swizzle
local number = functions.number

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- ---------------------------------------------------------------- products and divides

local FORMS = { "logical", "zipped", "tiled", "flat" }

-- Copies of A: the j-th lies where T(j) wants it, later than that of every smaller T(k).
local function is_product(R, A, T)
  local n, m, at = tile.size(A), tile.size(T), {}
  assert(tile.size(R) == n * m)
  for j = 0, m - 1 do
    local first, t = number(R(n * j)), number(T(j))
    assert(at[t] == nil or at[t] == first)
    at[t] = first
    for i = 0, n - 1 do assert(number(R(i + n * j)) - first == A(i) - A(0)) end
  end
  local order = {}
  for t in pairs(at) do order[#order + 1] = t end
  table.sort(order)
  for k = 2, #order do assert(at[order[k - 1]] < at[order[k]]) end
  if order[1] == 0 then assert(at[0] == A(0)) end
  local copies, seen = #order, {}
  for i = 0, n * m - 1 do seen[number(R(i))] = true end
  local all, own, block = 0, 0, {}
  for _ in pairs(seen) do all = all + 1 end
  for i = 0, n - 1 do block[A(i)] = true end
  for _ in pairs(block) do own = own + 1 end
  assert(all == own * copies, "copies meet")
end

-- A(i) is B(j): the same number, or neither is known, behind the end of a function.
local function same(A, i, B, j)
  local known, v = pcall(A, i)
  local is, w = pcall(B, j)
  return known == is and (not known or number(v) == number(w))
end

-- The forms are one another's modes.
local function same_forms(op, R, A, T)
  for i = 2, #FORMS do
    local F = tile[FORMS[i] .. op](A, T)
    for j = 0, tile.size(R) - 1 do assert(same(F, j, R, j), FORMS[i]) end
  end
end

local function is_blocked(A, T, R)
  local n, m = tile.rank(A), tile.rank(T)
  local B, K = tile.blocked_product(A, T), tile.raked_product(A, T)
  for i = 0, tile.size(A) - 1, 3 do
    for j = 0, tile.size(T) - 1, 2 do
      local x, y = tile.idx2crd(i, tile.shape(A)), tile.idx2crd(j, tile.shape(T))
      local c, d = {}, {}
      for k = 1, math.max(n, m) do
        local p = n == 1 and k == 1 and i or x[k] or 0
        local q = m == 1 and k == 1 and j or y[k] or 0
        c[k], d[k] = { p, q }, { q, p }
      end
      local is = math.max(n, m) > 1
      assert(number(is and B(c) or B(c[1])) == number(R(i + tile.size(A) * j)))
      assert(number(is and K(d) or K(d[1])) == number(R(i + tile.size(A) * j)))
    end
  end
end

local function flat_extents(A)
  for _, e in ipairs(A:shape()) do if type(e) ~= "number" then return false end end
  return true
end

local function check_product()
  local A, T = over_z(random(2) == 1), any()
  local ok, R = pcall(tile.logical_product, A, T)
  if not ok then return nil, R end
  is_product(R, A, T)
  same_forms("_product", R, A, T)
  if tile.rank(A) > 1 and tile.rank(T) > 1 and flat_extents(A) and flat_extents(T) then
    is_blocked(A, T, R)
  end
  return true
end

local function distinct(A)
  local seen, n = {}, 0
  for i = 0, tile.size(A) - 1 do
    local v = number(A(i))
    if not seen[v] then seen[v], n = true, n + 1 end
  end
  return n
end

-- A block that is composed: as many places as it has, for each of the grid; the complement fills
-- what it says it fills.
local function check_block()
  local A, T = chain(), over_z(random(2) == 1)
  local ok, R = pcall(tile.logical_product, A, T)
  if not ok then return nil, R end
  assert(distinct(R) == distinct(A) * distinct(T), "copies meet")
  for i = 0, tile.size(A) - 1 do
    if T(0) == 0 then assert(number(R(i)) == number(A(i))) end
  end
  same_forms("_product", R, A, T)
  local C, fills = tile.complement(A, 64)
  if fills and tile.is_injective(A) and not tostring(A):find "^Sw.*Sw" then
    assert(distinct(C) * distinct(A) >= 64)
  end
  return true
end

-- All of A, once; the tile is A o T.
local function is_divide(R, A, T)
  for x = 0, tile.size(T) - 1 do assert(same(R, x, A, number(T(x)))) end
  if tile.size(R) ~= tile.size(A) then return end
  local count = {}
  for i = 0, tile.size(A) - 1 do
    local v, w = number(A(i)), number(R(i))
    count[v] = (count[v] or 0) + 1
    count[w] = (count[w] or 0) - 1
  end
  for _, n in pairs(count) do assert(n == 0) end
end

-- A tile that fills: what is under the swizzle is compact.
local function tile_of_bits()
  local s = extents(true)
  local T = tile.make_composed_layout(swizzle(), random(3) == 1 and 4 or 0,
                                      random(2) == 1 and layout(s) or layout(s, "right"))
  return random(3) == 1 and tile.composition(over_z(true), T) or T
end

local function check_divide()
  local A, T = chain(), tile_of_bits()
  local ok, R = pcall(tile.logical_divide, A, T)
  if not ok then return nil, R end
  is_divide(R, A, T)
  same_forms("_divide", R, A, T)
  return true
end

-- A tile of coordinates: T(x) as an index of A.
local function check_axes()
  local s = { pick { 4, 8, 12 }, pick { 4, 6, 16 }, pick { 2, 3 } }
  local A = layout(s, random(2) == 1 and "left" or "right")
  if random(3) == 1 then A = tile.composition(swizzle(), A) end
  local modes, strides = {}, {}
  for k, axis in ipairs(pick { { 0 }, { 1 }, { 0, 1 }, { 1, 0 }, { 2, 0 }, { 0, 0 } }) do
    local step = pick { 1, 1, 2 } * (1 << k - 1)
    modes[k], strides[k] = pick { 1, 2, 2, 4 }, ("%d@%d"):format(step, axis)
  end
  local T = layout(written(modes) .. ":(" .. table.concat(strides, ",") .. ")")
  local ok, R = pcall(tile.logical_divide, A, T)
  if not ok then return nil, R end
  local S = layout(s)
  local index = tile.logical_divide(S, T)
  is_divide(index, S, tile.composition(S, T))
  if tile.size(R) > tile.size(A) then return true end -- beyond the end of a mode
  for i = 0, tile.size(R) - 1 do assert(R(i) == A(index(i))) end
  same_forms("_divide", R, A, T)
  return true
end

describe("products and divides by functions", function()
  local function run(check, n, most)
    math.randomseed(SEED)
    local done, refused, why = 0, 0, nil
    for i = 1, n * TIMES do
      local ok, is, err = pcall(check)
      if not ok then error(("case %d of MOONTILE_SEED=%d: %s"):format(i, SEED, is), 0) end
      if is then done = done + 1 else refused, why = refused + 1, err end
    end
    local all = n * TIMES
    assert.is_true(refused <= most * all + 3 * math.sqrt(all),
                   ("%d refused, %d not: %s"):format(refused, done, tostring(why)))
  end

  it("put copies where no two meet", function() run(check_product, 150, 0.6) end)
  it("put copies of what is composed", function() run(check_block, 200, 0.95) end)
  it("cut by permutations", function() run(check_divide, 100, 0.6) end)
  it("cut by coordinates", function() run(check_axes, 200, 0.6) end)

  local C = tile.swizzle(1, 0, 2) * layout "Sw<3,0,3> o 0 o (8,8):(8,1)"

  it("are what is written", function()
    local blk, sw = layout "(2,2):(1,2)", layout "Sw<3,0,3> o 0 o (8,8):(8,1)"
    assert.equal("Sw<3,2,3> o 0 o ((2,2),(8,8)):((1,2),(32,4))", tostring(blk:logical_product(sw)))
    assert.equal("Sw<3,2,3> o 0 o ((2,8),(2,8)):((1,32),(2,4))", tostring(blk:blocked_product(sw)))
    assert.equal("Sw<3,2,3> o 0 o ((8,2),(8,2)):((32,1),(4,2))", tostring(blk:raked_product(sw)))
    local R = C:blocked_product(layout { 2, 3 })
    for i = 0, 7 do
      for j = 0, 7 do assert.equal(C(i, j), R({ i, 0 }, { j, 0 })) end
    end
    local ok, err = pcall(tile.logical_product, layout "(2,2):(F1,F2)", layout(4))
    assert.truthy(not ok and err:find("a block over F2 has no complement in the integers", 1, true))
  end)

  it("are blocks: a rotation has copies of its values", function()
    local A = tile.function_layout({ 4, 4 }, function(i, j) return 4 * i + (i + j) % 4 end)
    for _, R in ipairs { A:logical_product(layout { 2, 3 }), A:zipped_product(layout { 2, 3 }) } do
      assert.is_true(tile.is_bijective(R))
      for i = 0, 95 do assert.equal(A(i % 16) + 16 * (i // 16), R(i)) end
    end
    local B, K = A:blocked_product(layout { 2, 3 }), A:raked_product(layout { 2, 3 })
    local T = A:tile_to_shape { 8, 12 }
    for i = 0, 3 do
      for j = 0, 3 do
        assert.equal(A(i, j) + 16 * 5, B({ i, 1 }, { j, 2 }))
        assert.equal(A(i, j) + 16 * 5, K({ 1, i }, { 2, j }))
        assert.equal(A(i, j) + 16 * 5, T(4 + i, 8 + j))
      end
    end
    local ok, err = pcall(tile.logical_product, A, { 2, 2 })
    assert.truthy(not ok and err:find("whose links are layouts", 1, true), err)
    local two = tile.make_composed_layout(layout "(4,4):(1,0)", 0, layout({ 4, 2 }, { 1, 4 }) )
    assert.equal("(4,2):(1,0)", tostring(two))
  end)

  it("are tiles: a permutation divides what it permutes", function()
    local T = layout "Sw<1,0,1> o 0 o 4:1"
    local R = layout({ 4, 8 }, { 8, 1 }):zipped_divide(T)
    for i = 0, 3 do
      for j = 0, 7 do assert.equal(8 * T(i) + j, R(i, j)) end
    end
    for text, why in pairs {
      ["Sw<1,0,1> o 1 o 4:1"] = "are 1 .. 4: a tile, or a block, begins with 0",
      ["Sw<1,0,1> o 0 o (4,2):(1,0)"] = "has elements twice: T(0) = T(4) = 0",
      ["Sw<1,0,1> o 16 o 4:1"] = "a tile, or a block, begins with 0",
      ["Sw<1,0,1> o 0 o 3:1"] = "nothing fills what" } do
      local ok, err = pcall(tile.logical_divide, layout(64), layout(text))
      assert.truthy(not ok and (err:find(why, 1, true)), text .. ": " .. tostring(err))
    end
  end)

  it("have no bounds of modes past the end of a tensor", function()
    local T = tile.tensor("f32", layout(61))
    for _, code in ipairs { "T:composition(tile.layout 'Sw<1,0,2> o 0 o 64:1')",
                            "T:logical_divide(tile.layout 'Sw<1,0,2> o 0 o 64:1')" } do
      local ok, err = pcall(load("local tile, T = ... return " .. code), tile, T)
      assert.truthy(not ok and err:find("its coordinates go by Sw<1,0,2>", 1, true), err)
    end
    local V = tile.tensor("f32", layout { 10, 6 }):zipped_divide(layout "4:1@0")
    assert.equal("(4,(3,6)):(1@0,(4@0,0)) + (0) < (10)", tostring(V):match "ragged: (.*)$")
  end)

  it("divides what is swizzled or composed also where its base has no such layout", function()
    local divided, tried = 0, 0
    local wanted = math.ceil(40 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))
    while divided < wanted and tried < 200 * wanted do
      tried = tried + 1
      local B = layout({ random(5), random(4) }, { random(9), random(9) })
      local A = ({
        function() return tile.swizzle(random(2), 0, 3) * B end,
        function() return tile.swizzle(1, 0, 2) * (tile.swizzle(2, 0, 3) * B) end,
        function() return B:with_offset(random(9)) end,
        function() return tile.make_composed_layout(layout "(6,3,1):(1,0,6)", random(0, 5), B) end,
      })[random(4)]()
      local t = random(2) == 1 and random(6) or { random(4), random(3) }
      local I = layout(tile.shape(A))
      local ok, parts = pcall(tile.logical_divide, I, t)
      if ok and parts:size() == I:size() and tostring(A):find(" o ", 1, true) then
        for _, form in ipairs(FORMS) do
          local divide = tile[form .. "_divide"]
          local index, R = divide(I, t), divide(A, t)
          assert.equal(tile.size(index), tile.size(R))
          for i = 0, index:size() - 1 do assert.equal(A(index(i)), R(i), tostring(A)) end
        end
        divided = divided + 1
      end
    end
    assert.equal(wanted, divided)
  end)
end)
