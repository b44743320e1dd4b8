-- left_inverse_spec.lua: an inverse of every injective layout that has one; where it is refused,
-- a search finds none.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local random = math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

local function random_layout(extent, stride)
  local s, d = {}, {}
  for k = 1, random(3) do s[k], d[k] = random(2, extent), random(stride) end
  return tile.layout(s, d)
end

-- What is left of the points behind a first digit with extent p and stride e; nil: no digit.
local function behind(points, p, e)
  local rest = {}
  for x, f in pairs(points) do
    local q, g = x // p, f - e * (x % p)
    if rest[q] and rest[q] ~= g then return nil end
    rest[q] = g
  end
  return (rest[0] or 0) == 0 and rest or nil
end

-- Some layout takes each x to points[x]; strides are tried within `most`.
local function exists(points, most)
  local x1, top = math.huge, 0
  for x in pairs(points) do
    if x > 0 then x1, top = math.min(x1, x), math.max(top, x) end
  end
  if top == 0 or behind(points, top + 1, points[x1] // x1) then return true end
  for p = 2, top do
    local lo, hi = -most, most
    if p > x1 then
      lo = points[x1] // x1
      hi = points[x1] % x1 == 0 and lo or lo - 1
    end
    for e = lo, hi do
      local rest = behind(points, p, e)
      if rest and exists(rest, most) then return true end
    end
  end
  return false
end

describe("the left inverse (seed " .. SEED .. ")", function()
  setup(function() math.randomseed(SEED) end)

  it("is one", function()
    for _ = 1, 2000 * TIMES do
      local A = random_layout(6, 40)
      local ok, L = pcall(tile.left_inverse, A)
      for i = 0, ok and A:size() - 1 or -1 do
        if A(L(A(i))) ~= A(i) then error(("%s: %s at %d"):format(A, L, i)) end
      end
      if not ok and A:is_injective() then assert.matches("every chain of digits was tried", L) end
    end
  end)

  it("is refused where there is none", function()
    local refused, tried = 0, 0
    while tried < 300 * TIMES or refused == 0 do         -- one in a hundred is refused
      tried = tried + 1
      local A = random_layout(3, 9)
      local ok = not A:is_injective() or A:cosize() > 20 or pcall(tile.left_inverse, A)
      if not ok then
        local points = {}
        for i = 0, A:size() - 1 do points[A(i)] = i end
        if exists(points, 8) then error(tostring(A) .. " has one") end
        refused = refused + 1
      end
    end
  end)

  it("may need digits that no stride begins", function()
    for text, L in pairs {
      ["(3,2):(20,34)"] = "(4,5,4):(-2,2,1)", ["(3,5):(4,37)"] = "(4,30,2):(-6,1,5)",
    } do
      assert.equal(L, tostring(tile.left_inverse(tile.layout(text))))
    end
  end)

  it("of a chain over F2 that is as far as it goes a chain again is refused", function()
    local A = tile.parse "(4,(3,2)):(F0,(F3,F5))" * tile.layout(8, 3)
    local ok, said = pcall(tile.left_inverse, A)
    assert.is_false(ok)
    assert.matches("^left_inverse: over F2 the extents have to be powers of two", said)
  end)

  dofile "spec/refused.lua"(it, {
    { 'tile.left_inverse(tile.layout("(5,4):(25,32)"))',
      "left_inverse: no layout L has L(A(i)) = i for A = (5,4):(25,32): every chain of digits was"
      .. " tried\n  the digits of A's strides carry into each other; strides that divide one"
      .. " another would do" },
  }, setmetatable({ tile = tile }, { __index = _G }))
end)
