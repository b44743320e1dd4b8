-- function_tv_spec.lua: tiled copies whose threads or values are numbered by functions: swizzled,
-- over F2, listed; against brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local devices = dofile "spec/devices.lua"
local numberings = dofile "spec/numberings.lua"
local layout, random = tile.layout, math.random
local number, size, listed, numbering = numberings.number, numberings.size, numberings.listed,
                                        numberings.numbering
local ordinate, same_values = numberings.ordinate, numberings.same_values
local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

local function same(a, b)
  return ordinate(a, 1) == ordinate(b, 1) and ordinate(a, 2) == ordinate(b, 2)
end

local function plus(a, b)
  if math.type(a) and math.type(b) then return a + b end
  return { ordinate(a, 1) + ordinate(b, 1), ordinate(a, 2) + ordinate(b, 2) }
end

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
