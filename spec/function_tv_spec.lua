-- function_tv_spec.lua: tiled copies and tiled MMAs whose threads, values, atoms or places are
-- numbered by functions: swizzled, over F2, listed; against brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local devices = dofile "spec/devices.lua"
local layout, random = tile.layout, math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- ---------------------------------------------------------------- random numberings

local function number(x)
  return math.type(x) and x or math.tointeger(tostring(x):match "%d+")
end

local function size(shape)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  return n
end

local function bits_of(n)
  local bits = 0
  while 1 << bits < n do bits = bits + 1 end
  return 1 << bits == n and bits
end

local function swizzled(L, bits)
  local b = random(1, bits // 2)
  local s = random(b, bits - b)
  return tile.make_composed_layout(
    tile.swizzle(b, random(0, bits - b - s), random(2) == 1 and s or -s), 0, L)
end

local function over_f2(shape, bits)
  local A
  repeat
    local M = {}
    for i = 1, bits do
      M[i] = {}
      for j = 1, bits do M[i][j] = random(0, 1) end
    end
    A = tile.from_f2_matrix(M, shape)
  until tile.is_injective(A)
  return A
end

local function listed(shape)
  local p, at = {}, 0
  for i = 1, size(shape) do p[i] = i - 1 end
  for i = #p, 2, -1 do
    local j = random(i)
    p[i], p[j] = p[j], p[i]
  end
  return tile.function_layout(shape, function()
    at = at + 1
    return p[at]
  end)
end

-- A bijection of the shape onto 0 .. n-1.
local function numbering(shape)
  local kind, bits = random(4), bits_of(size(shape))
  local L = layout(shape, random(2) == 1 and "left" or "right")
  if kind == 1 then return L end
  if kind == 2 and bits and bits >= 2 then return swizzled(L, bits) end
  if kind == 3 and bits and bits >= 1 then return over_f2(shape, bits) end
  return listed(shape)
end

-- ---------------------------------------------------------------- coordinates

-- Ordinate k of a coordinate whose last zeros may be left out.
local function ordinate(c, k)
  if math.type(c) then return k == 1 and c or 0 end
  return c[k] or 0
end

local function same(a, b)
  return ordinate(a, 1) == ordinate(b, 1) and ordinate(a, 2) == ordinate(b, 2)
end

local function plus(a, b)
  if math.type(a) and math.type(b) then return a + b end
  return { ordinate(a, 1) + ordinate(b, 1), ordinate(a, 2) + ordinate(b, 2) }
end

local function same_values(want, got, name)
  got = got:to "cpu"
  for i = 0, tile.size(want, 1) - 1 do
    for j = 0, tile.size(want, 2) - 1 do
      if want(i, j) ~= got(i, j) then assert.equal(want(i, j), got(i, j), name) end
    end
  end
end

-- ---------------------------------------------------------------- tiled copies

local function power() return 1 << random(0, 3) end

local function random_copy(atom, val)
  local x = { thr = { random(2) == 1 and power() or random(6), power() }, val = val }
  x.val = x.val or { random(2) == 1 and power() or random(4), power() }
  x.thr_layout = numbering(x.thr)
  x.val_layout = val and layout(val, "right") or numbering(x.val)
  x.tile = { x.thr[1] * x.val[1], x.thr[2] * x.val[2] }
  x.copy = tile.tiled_copy{ atom = atom or "DefaultCopy", bits = 32, thr = x.thr_layout,
                            val = x.val_layout }
  x.name = tostring(x.copy)
  return x
end

-- What the definition says of (thread, value): place[t][v] = { m, n } in the tile.
local function places(x)
  local place = {}
  for t = 0, size(x.thr) - 1 do place[t] = {} end
  for i = 0, size(x.thr) - 1 do
    for j = 0, size(x.val) - 1 do
      local t1, t2, v1, v2 = i % x.thr[1], i // x.thr[1], j % x.val[1], j // x.val[1]
      place[number(x.thr_layout{ t1, t2 })][number(x.val_layout{ v1, v2 })] =
        { v1 + x.val[1] * t1, v2 + x.val[2] * t2 }
    end
  end
  return place
end

local function random_tensors(x)
  local m, n = x.tile[1] * random(3), x.tile[2] * random(3)
  return { layout({ m, n }, { random(20), random(20) }), tile.make_identity_layout{ m, n },
           layout({ m, n + random(0, 3) }, "right") }
end

local function check_partition(x, place, A)
  local P, name = x.copy:partition_S(A), x.name .. " of " .. tostring(A)
  local rest = {}
  for k = 1, 2 do rest[k] = (tile.size(A, k) + x.tile[k] - 1) // x.tile[k] end
  for _ = 1, 15 do
    local t, v = random(0, size(x.thr) - 1), random(0, size(x.val) - 1)
    local r = { random(0, rest[1] - 1), random(0, rest[2] - 1) }
    local want = A{ place[t][v][1] + x.tile[1] * r[1], place[t][v][2] + x.tile[2] * r[2] }
    assert.is_true(same(want, P{ t, v, r }), name)
    local part, offset = x.copy:get_slice(t):partition_D(A)
    assert.is_true(same(want, plus(part{ v, r[1], r[2] }, offset)), name)
  end
end

describe("threads and values that functions number #seed" .. SEED, function()
  setup(function() math.randomseed(SEED) end)

  it("have the places that thr and val say", function()
    for _ = 1, 60 * TIMES do
      local x = random_copy()
      local place, tv = places(x), x.copy:tiled_layout_TV()
      for t = 0, #place do
        for v = 0, #place[t] do
          assert.equal(place[t][v][1] + x.tile[1] * place[t][v][2], tv{ t, v }, x.name)
        end
      end
      local tiler, made = tile.make_layout_tv(x.thr_layout, x.val_layout)
      assert.equal(x.copy:tiler_MN(), tiler)
      assert.is_true(tile.equivalent(made, x.copy:tiled_layout_TV()), x.name)
      for _, A in ipairs(random_tensors(x)) do check_partition(x, place, A) end
    end
  end)

  it("are proven, or refuted with who has the place", function()
    for _ = 1, 25 * TIMES do
      local x = random_copy()
      for _, side in ipairs{ "S", "D" } do
        local v = tile.verify(x.copy, layout{ x.tile[1] * 2, x.tile[2] + 1 }, side)
        assert.is_true(v.covers, x.name)
      end
      local n = size(x.tile)
      local broken, hit = random(0, n - 1), random(0, n - 1)
      local T, V = size(x.thr), size(x.val)
      local tv = x.copy:tiled_layout_TV()
      local wrong = tile.function_layout({ T, V }, function(t, v)
        return tv{ t, v } == broken and hit or tv{ t, v }
      end)
      local verdict = tile.verify({ tv = wrong, tiler = x.tile }, layout(x.tile), "D")
      assert.equal(broken == hit, verdict.covers, x.name)
      if verdict.problem == "twice" then
        local w = verdict.witness
        for k = 1, 2 do assert.equal(w.index, wrong{ w.threads[k], w.values[k] }) end
        assert.equal(hit, w.index)
      elseif broken ~= hit then
        assert.equal("gap", verdict.problem)
      end
    end
  end)

  it("have accesses that are proven one by one", function()
    local thr = tile.parse "Sw<2,0,3> o 0 o (8,4):(1,8)"
    local copy = tile.tiled_copy{ atom = "UniversalCopy<uint128_t>", dtype = "f32", thr = thr,
                                  val = layout({ 1, 4 }, "right") }
    assert.equal(4, tile.verify(copy, layout({ 64, 64 }, "right")).vector)
    local narrow = tile.verify(copy, layout{ 64, 64 })
    assert.equal("vector", narrow.problem)
    assert.match("2 values of thread 0 do not lie together", tostring(narrow))
    assert.equal("vector", tile.verify(copy, layout({ 64, 62 }, "right")).problem)
  end)

  -- Whether all accesses of n values are runs that begin at multiples of n.
  local function is_wide(copy, A, n)
    local P = copy:partition_S(A)
    local threads, values = tile.size(P, 1), tile.size(P, 2)
    for r = 0, tile.size(P, 3) - 1 do
      for t = 0, threads - 1 do
        for v = 0, values - 1, n do
          local first = P{ t, v, r }
          if first % n ~= 0 then return false end
          for k = 1, n - 1 do
            if P{ t, v + k, r } ~= first + k then return false end
          end
        end
      end
    end
    return true
  end

  it("are refused by a plan, too, where accesses are not as wide as the atom", function()
    local refused, planned = 0, 0
    for _ = 1, 150 * TIMES do
      local n = random(2) == 1 and 2 or 4
      local x = random_copy(("UniversalCopy<uint%d_t>"):format(32 * n),
                            random(4) > 1 and { 1, n * random(2) } or { n, random(2) })
      local M, N = x.tile[1] * random(2), x.tile[2] * random(2)
      local function side()
        local A = random(4) > 1 and layout({ M, N }, { N + random(0, 1) * 4, 1 })
                  or random(2) == 1 and layout{ M, N } or layout({ M, N }, { N + random(3), 1 })
        return random(3) == 1 and tile.swizzle(1, random(0, 3), random(2, 3)) * A or A
      end
      local A, B = side(), side()
      if tostring(x.copy:tiled_layout_TV()):find " o " then
        local wide = is_wide(x.copy, A, n) and is_wide(x.copy, B, n)
        local ok, plan = pcall(tile.plan, x.copy, tile.tensor("f32", A), tile.tensor("f32", B))
        local name = ("%s, %s -> %s: %s"):format(x.name, A, B, plan)
        if not wide then assert.is_false(ok, name) end
        if wide and not tostring(A):find "Sw" and not tostring(B):find "Sw" then
          assert.is_true(ok, name)
        end
        if ok then
          planned = planned + 1
          assert.equal("nil", tostring(tile.verify(x.copy, A, "S").problem), name)
        else
          refused = refused + 1
          assert.match("UniversalCopy<uint%d+_t> moves %d elements at once, but ", plan)
          local way = tonumber(plan:match "\nUniversalCopy<uint(%d+)_t> would do")
          assert.is_true(way < 32 * n)
          assert.is_true(way == 32 or is_wide(x.copy, A, way // 32)
                         and is_wide(x.copy, B, way // 32), name)
        end
      end
    end
    assert.is_true(TIMES < 1 or refused > 0 and planned > 0)
  end)

  it("are refused at an address that the atom does not take", function()
    local thr = tile.parse "Sw<2,0,3> o 0 o (8,4):(1,8)"
    local copy = tile.tiled_copy{ atom = "UniversalCopy<uint128_t>", dtype = "f32", thr = thr,
                                  val = layout({ 1, 4 }, "right") }
    local rows, T = layout({ 64, 64 }, "right"), tile.tensor("f32", layout(4096 + 8))
    local D = tile.tensor("f32", rows)
    assert.is_true(pcall(tile.copy, copy, T:view(rows, 4), D))
    local _, e = pcall(tile.copy, copy, T:view(rows, 2), D)
    assert.match("src begins 8 bytes past a multiple of 16 bytes\n", e)
    assert.match("UniversalCopy<uint64_t> would do", e)
    _, e = pcall(tile.copy, copy, D, tile.tensor("f32", layout{ 64, 64 }))
    assert.match("values 0 and 1 of thread 0 of dst are at 0 and 64\n", e)
    _, e = pcall(tile.copy, copy, D, tile.tensor("f32", layout({ 64, 64 }, { 66, 1 })))
    assert.match("value 0 of thread %d+ of dst is at %d+, no multiple of 4\n", e)
  end)

  it("are worth a plain layout where one equals the function", function()
    local copy = tile.tiled_copy{ atom = "DefaultCopy", bits = 32, val = layout(4),
                                  thr = tile.function_layout({ 4, 8 }, function(i, j)
      return j + 8 * i
    end) }
    assert.equal(tile.tiled_copy{ atom = "DefaultCopy", bits = 32, val = layout(4),
                                  thr = layout({ 4, 8 }, "right") }:tiled_layout_TV(),
                 copy:tiled_layout_TV())
  end)

  it("keep the lists that they are made of", function()
    local copy = tile.tiled_copy{ atom = "DefaultCopy", bits = 32, thr = listed{ 5, 7 },
                                  val = listed{ 3, 2 } }
    local slice, before = copy:get_slice(11), tostring(copy:partition_S(layout{ 15, 14 }))
    collectgarbage()
    collectgarbage()
    assert.equal(before, tostring(copy:partition_S(layout{ 15, 14 })))
    assert.equal(6, tile.size((slice:partition_S(layout{ 15, 14 }))))
  end)

  it("go through their texts", function()
    local copy = tile.tiled_copy{ atom = "DefaultCopy", bits = 32, val = layout(2),
                                  thr = tile.parse "Sw<1,0,2> o 0 o (4,2):(2,1)" }
    local again = load("local tile = require 'moontile' return " .. tostring(copy))()
    assert.equal(copy:tiled_layout_TV(), again:tiled_layout_TV())
    assert.match("ComposedLayout<Swizzle<1,2,-1>", tile.cute(copy), 1, true)
    for _, draw in ipairs{ tile.latex, tile.svg, tile.draw } do
      assert.is_true(#draw(copy) > 100)
    end
  end)

  it("copy on every device", function()
    for _, d in ipairs(devices) do
      for _ = 1, 4 * TIMES do
        local x = random_copy("AutoVectorizingCopy")
        local m, n = x.tile[1] * 2 - random(0, 1), x.tile[2] * 2
        local host = tile.tensor("f32", layout({ m, n }, "right"))
        for i = 0, m - 1 do for j = 0, n - 1 do host:set(100 * i + j, i, j) end end
        local src = host:to(d.device)
        local dst = tile.tensor("f32", layout{ m, n }, d.device)
        local plan = tile.plan(x.copy, src, dst)
        if tostring(x.copy:tiled_layout_TV()):find " o " then
          assert.match("a function numbers its threads", tostring(plan))
        end
        plan()
        same_values(host, dst, x.name)
      end
    end
  end)

  it("have a view for each thread of a tensor that their tile overhangs", function()
    local copy = tile.tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                  thr = tile.parse "Sw<2,0,3> o 0 o (8,4):(1,8)",
                                  val = layout({ 1, 4 }, "right") }
    local T = tile.tensor("f32", layout{ 10, 30 })
    local _, e = pcall(copy.partition_S, copy, T)
    assert.match("of a partition by a function each thread has a view: get_slice%(t%)", e)
    local real = 0
    for t = 0, 31 do
      for _, is in ipairs(copy:get_slice(t):partition_S(T):predicate():totable()) do
        real = real + is
      end
    end
    assert.equal(300, real)
  end)

  it("copy what a tv has, and no more", function()
    local tv = tile.function_layout({ 8, 4 }, function(t, v) return t * 7 % 8 + 8 * v ~ v & 1 end)
    local copy = tile.tiled_copy{ atom = "DefaultCopy", bits = 32, tv = tv, tiler = { 8, 8 } }
    assert.equal("gap", tile.verify(copy, layout{ 16, 30 }, "D").problem)
    for _, d in ipairs(devices) do
      local host = tile.tensor("f32", layout({ 15, 30 }, "right"))
      for i = 0, 14 do for j = 0, 29 do host:set(100 * i + j, i, j) end end
      local src, dst = host:to(d.device), tile.tensor("f32", layout{ 15, 30 }, d.device)
      dst:fill(-1)
      tile.copy(copy, src, dst)
      local got = dst:to("cpu")
      for i = 0, 14 do
        for j = 0, 29 do assert.equal(j % 8 < 4 and 100 * i + j or -1, got(i, j)) end
      end
    end
  end)

  it("say why they number nothing", function()
    local function refused(text, o)
      local _, e = pcall(tile.tiled_copy, o)
      assert.match(text, e, 1, true)
    end
    refused("thr Sw<1,0,1> o 0 o (2,2):(1,4) gives element 2 the thread number 4",
            { atom = "DefaultCopy", bits = 32, val = layout(1),
              thr = tile.parse "Sw<1,0,1> o 0 o (2,2):(1,4)" })
    refused("val is not a layout of numbers: (2,2):(1@0,1@1)",
            { atom = "DefaultCopy", bits = 32, thr = layout(1),
              val = tile.make_identity_layout{ 2, 2 } })
    refused("tv Sw<1,0,2> o 0 o 8:1 has 1 modes: (thread,value) has 2",
            { atom = "DefaultCopy", bits = 32, tv = tile.parse "Sw<1,0,2> o 0 o 8:1",
              tiler = { 8 } })
  end)
end)

-- ---------------------------------------------------------------- tiled MMAs

local ATOMS <const> = { "SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x8_F32TF32TF32F32_TN",
                        "SM70_8x8x4_F32F16F16F32_TN", "UniversalFMA<float>" }

local function extents(mma)
  local e = {}
  for n in tostring(mma):match("threads, ([%dx]+)$"):gmatch "%d+" do e[#e + 1] = tonumber(n) end
  return e
end

-- A tiled MMA and the same by steps; nil where those atoms have no threads of their own.
local function random_mma()
  local x = { atom = ATOMS[random(#ATOMS)], P = {}, extent = {} }
  local atoms = { random(2), random(3), random(2) }
  local ok, base = pcall(tile.tiled_mma, { atom = x.atom, atoms = layout(atoms) })
  if not ok then return nil end
  for k, e in ipairs(extents(base)) do
    x.P[k] = random(3) == 1 and numbering{ e * random(2) } or tile._
    x.extent[k] = x.P[k] == tile._ and e or tile.size(x.P[k])
  end
  x.mma = tile.tiled_mma{ atom = x.atom, atoms = numbering(atoms), permutation = x.P }
  x.steps = tile.tiled_mma{ atom = x.atom, atoms = layout(atoms), permutation = x.extent }
  local from, to = x.steps:thr_layout_VMNK(), x.mma:thr_layout_VMNK()
  x.thread = {}
  for i = 0, tile.size(from) - 1 do x.thread[from(i)] = to(i) end
  return x
end

local function permuted(x, k, q)
  local e = x.extent[k]
  return x.P[k] == tile._ and q or number(x.P[k](q % e)) + q // e * e
end

local AXES <const> = { A = { 1, 3 }, B = { 2, 3 }, C = { 1, 2 } }

-- False: more nodes than a layout has.
local function check_operand(x, part)
  local axes, partition = AXES[part], "partition_" .. part
  local shape = { x.extent[axes[1]] * random(2), x.extent[axes[2]] * random(2) }
  local A, id = layout(shape, { random(9), random(70) }), tile.make_identity_layout(shape)
  local ok, P = pcall(x.mma[partition], x.mma, A)
  if not ok then
    assert.match("more than 64 nodes", P)
    return
  end
  local steps, name = x.steps[partition](x.steps, id), tostring(x.mma) .. part
  for _ = 1, 25 do
    local t, v, r = random(0, tile.size(steps, 1) - 1), random(0, tile.size(steps, 2) - 1),
                    random(0, tile.size(steps, 3) - 1)
    if x.thread[t] then
      local p = steps{ t, v, r }
      local want = A{ permuted(x, axes[1], ordinate(p, 1)), permuted(x, axes[2], ordinate(p, 2)) }
      assert.equal(want, P{ x.thread[t], v, r }, name)
      local slice = x.mma:get_slice(x.thread[t])
      local S, offset = slice[partition](slice, A)
      assert.equal(want, S(v + tile.size(steps, 2) * r) + offset, name)
    end
  end
  assert.is_true(tile.verify(x.mma, layout(shape), part).covers, name)
end

describe("atoms and places that functions number #seed" .. SEED, function()
  setup(function() math.randomseed(SEED) end)

  it("have the elements that the definition says", function()
    for _ = 1, 30 * TIMES do
      local x = random_mma()
      for part in pairs(x and AXES or {}) do check_operand(x, part) end
    end
  end)

  it("multiply on every device", function()
    local M, N, K = 70, 37, 40
    local a, b = tile.tensor("f16", layout({ M, K }, "right")), tile.tensor("f16", layout{ N, K })
    for k = 0, K - 1 do
      for i = 0, M - 1 do a:set(random(-3, 3), i, k) end
      for i = 0, N - 1 do b:set(random(-3, 3), i, k) end
    end
    local want = tile.tensor("f32", layout({ M, N }, "right"))
    tile.gemm(a, b, want)
    for _, d in ipairs(devices) do
      for _, permutation in ipairs{ { tile._, tile._, tile._ },
                                    { tile.parse "Sw<1,0,3> o 0 o 64:1", 32, listed{ 16 } } } do
        local mma = tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN",
                                    atoms = numbering{ 2, 2, 1 }, permutation = permutation }
        local c = tile.tensor("f32", layout({ M, N }, "right"), d.device)
        tile.gemm(mma, a:to(d.device), b:to(d.device), c)
        same_values(want, c, tostring(mma))
      end
    end
  end)

  it("make kernels, copies and fragments", function()
    local mma = tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN",
                                atoms = tile.parse "Sw<1,0,1> o 0 o (2,2,1):(1,2,4)" }
    local a, b = tile.tensor("f16", layout({ 64, 32 }, "right")),
                 tile.tensor("f16", layout({ 32, 32 }, "right"))
    a:fill(2)
    b:fill(3)
    local c = tile.tensor("f32", layout({ 64, 32 }, "right"))
    tile.gemm(tile.kernel{ mma = mma, tile = { 64, 32, 32 } }, a, b, c)
    assert.equal(192, c(63, 31))
    assert.equal(mma:layout_A_TV(), tile.make_tiled_copy_A("DefaultCopy", mma):tiled_layout_TV())
    assert.equal("((2,2),2,2):((1,2),4,8)",
                 tostring(mma:get_slice(5):partition_fragment_C(layout{ 64, 32 })))
    local again = load("local tile = require 'moontile' return " .. tostring(mma))()
    assert.equal(mma:thr_layout_VMNK(), again:thr_layout_VMNK())
    for _, draw in ipairs{ tile.latex, tile.svg, tile.draw } do
      assert.is_true(#draw(mma) > 100)
    end
  end)
end)
