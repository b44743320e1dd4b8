-- listed_spec.lua: functions of coordinates that no layout of steps, bits or turns is: they are
-- listed, and are layouts wherever one is; against brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local functions = dofile "spec/functions.lua"
local layout = tile.layout
local function_layout = tile.function_layout
local random = math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1
local DEVICE = os.getenv "MOONTILE_TEST_LIBCUDA"

-- ---------------------------------------------------------------- random functions

local function shuffled(n, step)
  local t = {}
  for i = 1, n do t[i] = (i - 1) * step end
  for i = n, 2, -1 do
    local j = random(i)
    t[i], t[j] = t[j], t[i]
  end
  return t
end

-- A shape, a function of its coordinates, and its values v[0 ..].
local function any(injective)
  local shape, n = {}, 1
  for i = 1, random(3) do
    shape[i] = random(1, 5)
    if random(4) == 1 then shape[i] = { shape[i], random(1, 3) } end
    n = n * tile.size(shape[i])
  end
  local v = shuffled(n, 1)
  if not injective and random(2) == 1 then
    for i = 1, n do v[i] = random(0, 3 * n) end
  elseif random(3) == 1 then
    for i = 1, n do v[i] = 2 * v[i] + random(0, 1) end
  end
  local S = layout(shape)
  local function f(...)
    local c = { ... }
    return v[S(#shape == 1 and c[1] or c) + 1]
  end
  return function_layout(shape, f), table.move(v, 1, n, 0, {}), shape
end

local function equal(R, w, n)
  assert(tile.size(R) == n, ("size %d of %s, expected %d"):format(tile.size(R), R, n))
  for i = 0, n - 1 do
    if R(i) ~= w(i) then error(("%s: R(%d) = %s, expected %d"):format(R, i, R(i), w(i))) end
  end
end

-- ---------------------------------------------------------------- laws

local laws = {}

function laws.values(A, v, n, shape)
  equal(A, function(i) return v[i] end, n)
  for i = 0, n - 1 do assert(A(tile.idx2crd(i, shape)) == v[i]) end
  for i, s in ipairs(shape) do assert(tile.size(A[i]) == tile.size(s)) end
  local lo, hi = math.maxinteger, math.mininteger
  for i = 0, n - 1 do lo, hi = math.min(lo, v[i]), math.max(hi, v[i]) end
  local first, last = A:footprint()
  assert(first == lo and last == hi, A)
  assert(A:cosize() == hi + 1)
end

function laws.equality(A, v, n, shape)
  local S = layout(shape)
  local B = function_layout(n, function(i) return v[i] end)
  assert(tile.equivalent(A, B) and A == A:coalesce() == (A == A:coalesce()))
  local C = function_layout(shape, function(...)
    local c = { ... }
    return v[S(#shape == 1 and c[1] or c)]
  end)
  assert(A == C and tostring(A) == tostring(C))
  local k = random(0, n - 1)
  local D = function_layout(n, function(i) return i == k and v[i] + 100 or v[i] end)
  local same, at = tile.equivalent(A, D)
  assert(not same and (at == nil or tile.size(A) > k), A)
  assert(n == 1 or A ~= D)
end

function laws.structure(A, v, n)
  for _, op in ipairs { "coalesce", "flatten", "coalesce_z" } do
    equal(tile[op](A), function(i) return v[i] end, n)
  end
end

function laws.slices(A, v, _, shape)
  local c = {}
  for i, s in ipairs(shape) do c[i] = random(2) == 1 and tile._ or random(0, tile.size(s) - 1) end
  c[random(#shape)] = tile._
  local I = layout(shape)
  local Q, from = tile.slice_and_offset(c, I)
  if tostring(A):find "^Sw" then return end -- what becomes of swizzles is in swizzle_spec.lua
  local P, at = tile.slice_and_offset(c, A)
  equal(P, function(j) return v[from + Q(j)] - at end, tile.size(Q))
end

function laws.questions(A, v, n)
  local seen, count, first, again = {}, 0, nil, nil
  for i = 0, n - 1 do
    if seen[v[i]] == nil then seen[v[i]], count = i, count + 1
    elseif not first then first, again = seen[v[i]], i end
  end
  assert(tile.is_injective(A) == (first == nil))
  local lo, hi = A:footprint()
  assert(tile.is_surjective(A) == (hi - lo + 1 == count), A)
  assert(#tile.image(A) == count)
  assert((#tile.aliases(A) > 0) == (first ~= nil), again)
  local steps = true
  for i = 0, n - 1 do steps = steps and v[i] == v[0] + i end
  assert(tile.is_contiguous(A) == steps, A)
end

-- More than a layout over the integers, at an offset or not.
local function is_linked(A)
  local text = tostring(A)
  return text:find(" o ", 1, true) and not text:find("Sw<0", 1, true)
end

-- A of T, and T2 of A; T with values that A has.
function laws.composition(A, v, n)
  local T = functions.over_z(random(2) == 1)
  local more = is_linked(A)
  local inside = T:cosize() <= n and more -- over the integers some are refused
  local ok, R = pcall(tile.composition, A, T)
  assert(ok or not inside, R)
  if inside then equal(R, function(i) return v[T(i)] end, tile.size(T)) end
  local F = functions.over_z(random(2) == 1)
  if more then equal(tile.composition(F, A), function(i) return F(v[i]) end, n) end
  local w = tile.swizzle(2, 0, 2)
  equal(tile.composition(w, A), function(i) return w(v[i]) end, n)
end

function laws.divides(A, v, n)
  local d = random(1, n)
  if n % d ~= 0 then d = 1 end
  if not is_linked(A) then d = n end -- over the integers some are refused
  local L = layout(n):logical_divide(d)
  equal(A:logical_divide(d), function(i) return v[L(i)] end, n)
  equal(A:zipped_divide(d), function(i) return v[L(i)] end, n)
end

-- A permutation as a tile: T and what it leaves, of another layout.
function laws.tiles(_, _, _, _)
  local k = random(2, 4)
  local w = shuffled(k, 1)
  local T = function_layout(k, function(i) return w[i + 1] end)
  local m = random(1, 3)
  local R = tile.logical_divide(layout(k * m, 3), T)
  equal(R, function(i) return 3 * (w[i % k + 1] + i // k * k) end, k * m)
  local P = tile.logical_product(T, layout(m))
  equal(P, function(i) return w[i % k + 1] + i // k * k end, k * m)
  local Q = tile.logical_product(layout(m), T) -- copies in the order of w
  equal(Q, function(i) return i % m + m * w[i // m + 1] end, k * m)
end

function laws.inverses(A, v, n)
  local seen = {}
  for i = n - 1, 0, -1 do seen[v[i]] = i end
  if seen[0] then
    local R = tile.right_inverse(A)
    local top = 0
    while seen[top] do top = top + 1 end
    assert(tile.size(R) >= top, A)
    for i = 0, tile.size(R) - 1 do assert(A(R(i)) == i) end
  end
  local L = tile.left_inverse(A)
  for i = 0, n - 1 do assert(A(L(v[i])) == v[i], A) end
end

function laws.offsets(A, v, n)
  equal(tile.with_offset(A, 5), function(i) return v[i] + 5 end, n)
end

local function filled(n, device)
  local T = tile.tensor("f32", layout(n))
  local list = {}
  for i = 1, n do list[i] = random(-8, 8) end
  T:fill(list)
  return device and T:to(device) or T, list
end

-- Only of what is composed: what function_layout finds is asked in the specs of layouts.
local function is_listed(A) return tostring(A):find("^{") ~= nil end

local function distinct(f, n)
  local set, count = {}, 0
  for i = 0, n - 1 do
    if not set[f(i)] then count = count + 1 end
    set[f(i)] = true
  end
  return set, count
end

function laws.sums(A, v, n)
  local B = function_layout(n, function(i) return v[i] * v[i] % 11 end)
  if is_listed(A) then equal(tile.layout_add(A, B), function(i) return v[i] + B(i) end, n) end
  local C = layout(3, random(20))
  if not is_listed(A) then return end
  equal(tile.make_layout(A, C), function(i) return v[i % n] + C(i // n) end, 3 * n)
  equal(tile.make_layout { C, A }, function(i) return C(i % 3) + v[i // 3] end, 3 * n)
  equal(tile.make_layout(A), function(i) return v[i] end, n)
end

-- Narrower elements, and wide ones of these again.
function laws.downcasts(A, v, n)
  local k = random(1, 4)
  if not is_listed(A) then return end
  local R = tile.downcast(A, k)
  assert(tile.size(R) == k * n)
  local set = distinct(R, k * n)
  for i = 0, n - 1 do for j = 0, k - 1 do assert(set[k * v[i] + j]) end end
  if tile.is_injective(A) then
    assert(tile.is_injective(R))
    equal(tile.upcast(R, k), function(i) return v[i] end, n)
    equal(tile.recast_layout(8 * k, 8, A), R, k * n)
    equal(tile.recast_layout(8, 8 * k, R), function(i) return v[i] end, n)
  end
end

-- Wider elements: each is one of R, once where A is injective; or two neighbours are torn apart.
function laws.upcasts(A, v, n)
  local k = random(2, 4)
  if not is_listed(A) then return end
  local ok, R = pcall(tile.upcast, A, k)
  local want, count = distinct(function(i) return v[i] // k end, n)
  if ok then
    local got, has = distinct(R, tile.size(R))
    assert(has == count and (not tile.is_injective(A) or tile.size(R) == count), A)
    for x in pairs(want) do assert(got[x]) end
  else
    local i, x, j, y = R:match "A%((%d+)%) = (%d+) and A%((%d+)%) = (%d+) lie"
    i, x, j, y = tonumber(i), tonumber(x), tonumber(j), tonumber(y)
    assert(v[i] == x and v[j] == y and x // k == y // k and i ~= j, R)
  end
end

-- To places of its own, and from any.
function laws.copies(A, v, n, shape, device)
  local from, x = filled(A:cosize(), device)
  local src = from:view(A)
  local dst = tile.tensor("f32", layout(shape), device)
  tile.copy(src, dst)
  local host = dst:to "cpu"
  for i = 0, n - 1 do assert(host(tile.idx2crd(i, shape)) == x[v[i] + 1]) end
  if not tile.is_injective(A) then
    assert(not pcall(tile.copy, dst, src))
    return
  end
  local back = tile.tensor("f32", layout(A:cosize()), device)
  back:fill(0)
  tile.copy(dst, back:view(A))
  host = back:to "cpu"
  for i = 0, n - 1 do assert(host(v[i]) == x[v[i] + 1]) end
end

-- Products of operands that are listed, C too.
function laws.products(_, _, _, _, device)
  local m, n, k = random(1, 6), random(1, 6), random(1, 6)
  local function operand(a, b)
    local w = shuffled(a * b, 1)
    local L = function_layout({ a, b }, function(i, j) return w[i + a * j + 1] end)
    local T, x = filled(a * b, device)
    return T:view(L), function(i, j) return x[w[i + a * j + 1] + 1] end, T, L
  end
  local A, a = operand(m, k)
  local B, b = operand(n, k)
  local C, c, T, L = operand(m, n)
  local beta = random(0, 1)
  tile.gemm(A, B, C, { alpha = 2, beta = beta })
  local host = T:to "cpu"
  for i = 0, m - 1 do
    for j = 0, n - 1 do
      local sum = beta * c(i, j)
      for l = 0, k - 1 do sum = sum + 2 * a(i, l) * b(j, l) end
      assert(host(L(i, j)) == sum, ("C(%d,%d) is %s, expected %s"):format(i, j, host(L(i, j)), sum))
    end
  end
end

-- Each thread's part of a tile, and the proof of it.
function laws.partitions()
  local w = shuffled(64, 1)
  local A = function_layout({ 8, 8 }, function(i, j) return w[i + 8 * j + 1] end)
  local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                 thr = layout { 2, 4 }, val = layout { 2, 1 } }
  local I = layout { 8, 8 }
  for t = 0, 7 do
    local P, p = copy:get_slice(t):partition_S(A)
    local Q, q = copy:get_slice(t):partition_S(I)
    p, q = p or 0, q or 0
    equal(P, function(i) return w[q + Q(i) + 1] - p end, tile.size(Q))
  end
  assert(tostring(tile.verify(copy, A)):find("exactly once", 1, true))
  local D = tile.zipped_divide(A, { 4, 2 })
  local E = tile.zipped_divide(I, { 4, 2 })
  equal(D, function(i) return w[E(i) + 1] end, 64)
end

-- ---------------------------------------------------------------- running them

local function run(name, device)
  for i = 1, 40 * TIMES do
    local seed = SEED + i
    math.randomseed(seed)
    local A, v, shape = any()
    local ok, err = pcall(laws[name], A, v, #v + 1, shape, device)
    if not ok then error(("%s, seed %d: %s"):format(name, seed, err), 0) end
  end
end

describe("functions that are listed", function()
  for name in pairs(laws) do
    it("have the law " .. name, function() run(name) end)
  end

  it("are cast where elements stay whole", function()
    local w = { 0, 1, 4, 5, 2, 3, 8, 9 }
    local A = function_layout({ 2, 4 }, function(i, j) return w[1 + i + 2 * j] end)
    equal(tile.upcast(A, 2), function(i) return ({ 0, 2, 1, 4 })[i + 1] end, 4)
    assert.equal(1, tile.upcast(A, 2):size(1))
    equal(A:recast_layout(8, 16), tile.upcast(A, 2), 4)
    assert.equal(tostring(A:shape()), tostring(tile.common_refinement(A, 8)))
    local torn = function_layout(8, function(i) return w[1 + i * 5 % 8] end)
    local ok, why = pcall(tile.upcast, torn, 2)
    assert.is_false(ok)
    assert.matches("the modes tear elements apart", why)
    ok, why = pcall(tile.recast_layout, 8, 48, A)
    assert.is_false(ok)
    assert.matches("recast_layout", why)
  end)

  it("number threads, or the error says why not", function()
    local P = function_layout(4, function(i) return ({ 0, 2, 1, 3 })[i + 1] end)
    P = tile.make_layout(P, layout(2, 4))
    local ok, why = pcall(tile.tiled_copy, { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                             thr = function_layout(6, function(i)
                                               return i * (i + 1) // 2 % 7 % 6 end),
                                             val = layout(4) })
    assert.is_false(ok)
    assert.matches("gives elements 0 and 3 the same thread number 0", why)
    equal(layout(8, 2) * P, function(i) return 2 * P(i) end, 8)
  end)

  it("add to swizzled modes", function()
    local A = layout "Sw<2,0,3> o 0 o (8,4):(1,8)"
    local R = tile.make_layout(A, layout(2, 32))
    equal(R, function(i) return A(i % 32) + 32 * (i // 32) end, 64)
    assert.matches("^Sw<2,0,3>", tostring(R))
  end)

  it("are others where others lie now: no plan is taken for another's", function()
    local from, to = tile.tensor("f32", layout(64)), tile.tensor("f32", layout(16))
    local numbers = {}
    for i = 1, 64 do numbers[i] = i - 1 end
    from:fill(numbers)
    for k = 1, 60 do
      local A = function_layout(16, function(i) return (i * i * k + 3 * i) % 61 end)
      tile.copy(from:view(A), to)
      for i = 0, 15 do assert.equal((i * i * k + 3 * i) % 61, to(i)) end
      A = nil -- luacheck: ignore 311
      collectgarbage()
    end
  end)

  dofile "spec/refused.lua"(it, {
    { "F:local_tile({ 2, 2 }, { 1, 1 })",
      "local_tile: {0,1,4,5,6,9,20,21,24,45,46,49} has 12 values, and is asked for number 12: past"
      .. " its coordinates a function that is listed is not known\n"
      .. "take a tile that divides its extents, or list it for a larger shape" },
    { "tile.upcast(F, 2)",
      "upcast: of {0,1,4,5,6,9,20,21,24,45,46,49} o 0 o (3,4):(1,3) by 2: the modes tear elements"
      .. " apart: A(0) = 0 and A(1) = 1 lie in element 0, and no mode goes from one to the other" },
    { "tile.sort(F)",
      "sort: {0,1,4,5,6,9,20,21,24,45,46,49} o 0 o (3,4):(1,3) is composed: its modes have no"
      .. " strides to be sorted by" },
    { "F(12)", "call: a list of 12 values has none at 12: past its coordinates a function that is"
      .. " listed is not known" },
  }, { tile = tile, F = function_layout({ 3, 4 }, function(i, j) return i * i + 5 * j * j end) })

  if DEVICE then
    it("are copied and multiplied on a GPU", function()
      local device = assert(tile.device { "cuda", libcuda = DEVICE })
      run("copies", device)
      run("products", device)
    end)
  end
end)
