-- by_mode_spec.lua: tilers by mode that have composed, swizzled or F2 layouts in them: each mode as
-- by that tile alone, by brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local functions = dofile "spec/functions.lua"
local layout = tile.layout
local random, pick = math.random, functions.pick

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- ---------------------------------------------------------------- random tilers

-- A permutation of n values, as a function of one coordinate.
local function permutation(n)
  local v = {}
  for i = 0, n - 1 do v[i] = i end
  for i = n - 1, 1, -1 do
    local j = random(0, i)
    v[i], v[j] = v[j], v[i]
  end
  return tile.function_layout(n, function(i) return v[i] end)
end

local SOME = {
  function() return permutation(random(2, 6)) end,
  function() return layout "Sw<1,0,1> o 0 o 4:1" end,
  function() return layout "Sw<1,0,2> o 0 o (4,2):(2,1)" end,
  function() return layout "(2,2):(F2,F3)" end,
  function() return layout "(5,3,1):(1,0,5) o 4 o 5:2" end,
}
local function plain() return pick { 2, 3, 4, layout(2), layout(2, 2), tile._ } end

-- Extents that the tiles divide, a tiler of them, at least one of them no layout of strides.
local function tiler()
  local t, s, n = {}, {}, random(1, 3)
  local which = random(n)
  for i = 1, n do
    t[i] = (i == which or random(3) == 1) and pick(SOME)() or plain()
    local c = t[i] == tile._ and 1 or math.type(t[i]) and t[i]
              or math.type(t[i](0)) and tile.cosize(t[i]) or tile.size(t[i])
    s[i] = c * pick { 1, 2, 3 } * (tostring(t[i]) == "2:2" and 2 or 1)
  end
  if random(4) == 1 then t, s = { t, pick { 2, tile._ } }, { s, 4 } end
  return t, s
end

-- A layout with these modes; some are swizzled or composed.
local function block(s)
  local A = layout(s, pick { "left", "right" })
  if random(3) == 1 then A = tile.composition(tile.swizzle(1, 1, 2), A) end
  if random(4) == 1 then A = tile.with_offset(A, random(1, 9)) end
  return A
end

-- ---------------------------------------------------------------- brute force

local function number(v) return functions.number(v) end

-- What `of` makes of each mode that the tiler reaches, as a tree; the mode itself where it is `_`.
local function tree(t, s, of)
  local R = {}
  for i, x in ipairs(t) do
    R[i] = type(x) == "table" and getmetatable(x) == nil and tree(x, s[i], of)
           or x == tile._ and layout(s[i]) or of(s[i], x)
  end
  return R
end

local function size(R)
  if type(R) ~= "table" then return tile.size(R) end
  local n = 1
  for _, x in ipairs(R) do n = n * size(x) end
  return n
end

-- The coordinate of index i of the tree.
local function coordinate(R, i)
  if type(R) ~= "table" then return number(R(i)) end
  local c = {}
  for k, x in ipairs(R) do
    c[k] = coordinate(x, i % size(x))
    i = i // size(x)
  end
  return c
end

local laws = {}

function laws.logical_divide()
  local t, s = tiler()
  local A = block(s)
  local R = tile.logical_divide(A, t)
  local T = tree(t, s, function(n, x) return tile.logical_divide(layout(n), x) end)
  assert(tile.size(R) == size(T), R)
  for i = 0, size(T) - 1 do assert(R(i) == A(coordinate(T, i)), R) end
end

-- The same in other forms, by the divide of the coordinates that are read one by one.
function laws.forms()
  local t, s = tiler()
  local A = block(s)
  local R = tile.logical_divide(A, t)
  for _, x in ipairs(t) do
    if #t == 1 or x == tile._ or type(x) == "table" and getmetatable(x) == nil then return end
  end
  local Z, F = tile.zipped_divide(A, t), tile.flat_divide(A, t)
  for i = 0, tile.size(R) - 1 do
    local c = tile.idx2crd(i, tile.shape(R))
    local x, y = {}, {}
    for k = 1, #t do x[k], y[k] = c[k][1], c[k][2] end
    assert(Z(x, y) == R(i), Z)
    local flat = table.move(y, 1, #t, #t + 1, table.move(x, 1, #t, 1, {}))
    if tile.rank(F) == 2 * #t then assert(F(table.unpack(flat)) == R(i), F) end
  end
end

function laws.composition()
  local t, s = tiler()
  local A = block(s)
  local T = tree(t, s, function(_, x) return math.type(x) and layout(x) or x end)
  local R = tile.composition(A, t)
  assert(tile.size(R) == size(T), R)
  for i = 0, size(T) - 1 do assert(R(i) == A(coordinate(T, i)), R) end
end

function laws.logical_product()
  local t, s = tiler()
  for i, x in ipairs(t) do
    if x == tile._ then t[i] = 2 end
    if type(x) == "table" and getmetatable(x) == nil then return end
  end
  local A = layout(s)
  local sum = {}
  for i, x in ipairs(t) do
    local ok, P = pcall(tile.logical_product, A[i], x)
    if not ok then return end -- refused by itself
    sum[i] = P
  end
  local R = tile.logical_product(A, t)
  assert(tile.size(R) == size(sum), R)
  for i = 0, size(sum) - 1 do
    local v = 0
    for _, x in ipairs(coordinate(sum, i)) do v = v + x end
    if R(i) ~= v then error(("%s of %s"):format(R, A)) end
  end
end

describe("tilers by mode with functions in them", function()
  for name, law in pairs(laws) do
    it("have the law " .. name, function()
      local large = 0
      for i = 1, 40 * TIMES do
        math.randomseed(SEED + i)
        local ok, err = pcall(law)
        local text = tostring(err)
        if not ok and (text:find("more than 64 nodes", 1, true)
                       or text:find("was not found in", 1, true)) then large = large + 1
        elseif not ok then error(("%s, seed %d: %s"):format(name, SEED + i, err), 0) end
      end
      assert(large < 4 + 10 * TIMES, large)
    end)
  end

  it("say what is past the end", function()
    local P = permutation(5)
    local ok, err = pcall(tile.logical_divide, layout { 8, 8 }, { P, 4 })
    assert.truthy(not ok and err:find "past the end of the mode 8:1, which has 8 elements", err)
  end)
end)
