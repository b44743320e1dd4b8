-- plan_cache_spec.lua: plans that tile.copy finds again: when it does, when it must not.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

local ROOM = 16                                    -- plans of a device

local function counting(A, device, first)
  local T, values = tile.tensor("i32", A, device), {}
  for i = 1, T:size() do values[i] = (first or 0) + i end
  return T:fill(values)
end

-- Hits and misses of f on the device.
local function counted(device, f, ...)
  local hits, misses = device:plans()
  f(...)
  local h, m = device:plans()
  return h - hits, m - misses
end

local function tiled(bits)
  return tile.tiled_copy { atom = ("UniversalCopy<uint%d_t>"):format(bits), dtype = "i32",
                           thr = layout({ 4, 8 }, "right"), val = layout { 1, 2 } }
end

local A, B = layout({ 16, 32 }, "right"), layout({ 16, 32 }, "left")

-- What differs from tile.copy(t.src, t.dst): arguments of another copy.
local OTHERS = {
  { "the source's layout", function(t) return t.src:view(B), t.dst end },
  { "the destination's layout", function(t) return t.src, t.dst:view(A) end },
  { "both layouts' nesting", function(t)
    local C = layout "((4,4),32):((128,32),1)"
    return t.src:view(C), t.dst:view(layout "((4,4),32):((1,4),16)")
  end },
  { "the source's offset", function(t) return t.big:view(A, 1), t.dst end },
  { "the destination's offset", function(t) return t.src, t.big:view(B, 3) end },
  { "the source", function(t) return t.other, t.dst end },
  { "the destination", function(t) return t.src, t.other end },
  { "a partition", function(t) return t.how, t.src, t.dst end },
  { "another partition", function(t) return tiled(64), t.src, t.dst:view(A) end },
  { "a swizzle", function(t)
    return t.src, t.dst:view(layout "Sw<2,2,3> o 0 o (16,32):(32,1)")
  end },
  { "the type", function(t) return t.float, t.float2 end },
  { "the source's type", function(t) return t.float, t.dst end },
  { "the destination's type", function(t) return t.src, t.float2 end },
}

-- What was remembered of a tensor that is gone is found again by one that has its memory: so these
-- stay.
local kept = {}

for _, d in ipairs(devices) do
  local device = d.device

  local function tensors()
    local t = { src = counting(A, device), dst = tile.tensor("i32", B, device) }
    t.other, t.big = counting(A, device, 1000), counting(layout(1000), device, 7)
    t.float, t.float2 = tile.tensor("f32", A, device), tile.tensor("f32", B, device)
    t.how = tiled(32)
    kept[#kept + 1] = t
    return t
  end

  local function check(...)
    local src, dst = ...
    if select("#", ...) == 3 then src, dst = select(2, ...) end
    tile.copy(...)
    device:synchronize()
    assert.same(src:totable(), dst:totable())
  end

  describe("plans remembered on " .. d.label, function()
    it("are those of the same copy", function()
      local t = tensors()
      assert.same({ 0, 1 }, { counted(device, check, t.src, t.dst) })
      for k = 1, 5 do
        t.src:fill(k)
        assert.same({ 1, 0 }, { counted(device, check, t.src, t.dst) })
        assert.same({ 1, 0 }, { counted(device, check, t.src:view(A), t.dst:view(B)) })
      end
      assert.same({ 0, 1 }, { counted(device, check, t.how, t.src, t.dst) })
      assert.same({ 1, 0 }, { counted(device, check, t.how, t.src, t.dst) })
    end)

    for _, row in ipairs(OTHERS) do
      it("are not those of others: " .. row[1], function()
        local t = tensors()
        check(t.src, t.dst)
        local arguments = { row[2](t) }
        assert.same({ 0, 1 }, { counted(device, check, table.unpack(arguments)) })
        assert.same({ 1, 0 }, { counted(device, check, table.unpack(arguments)) })
        assert.same({ 1, 0 }, { counted(device, check, t.src, t.dst) })
      end)
    end

    it("are the last ones that were used", function()
      local t, views = tensors(), {}
      for k = 1, ROOM do
        views[k] = t.big:view(layout { 16, 16 }, k)
        check(views[k], t.dst:view(layout({ 16, 16 }, "right")))
      end
      local to = t.dst:view(layout({ 16, 16 }, "right"))
      for k = 1, ROOM do assert.same({ 1, 0 }, { counted(device, check, views[k], to) }) end
      assert.equal(ROOM, select(3, device:plans()))
      check(views[1], to)
      check(t.src, t.dst)                          -- in the place of the second
      assert.equal(ROOM, select(3, device:plans()))
      assert.same({ 1, 0 }, { counted(device, check, views[1], to) })
      assert.same({ 0, 1 }, { counted(device, check, views[2], to) })
      assert.same({ 1, 0 }, { counted(device, check, views[4], to) })
    end)

    it("do no harm when buffers go and others come", function()
      for round = 1, 40 do
        local src = counting(A, device, round)
        local dst = tile.tensor("i32", round % 2 == 0 and A or B, device)
        check(src, dst)
        if round % 3 == 0 then src:free() else dst:free() end
        assert.has_error(function() tile.copy(src, dst) end, "this tensor was freed")
        local new = counting(A, device, -round)
        local to = tile.tensor("i32", B, device)
        check(new, to)
        collectgarbage()
      end
    end)

    it("need no memory", function()
      local t = tensors()
      local src, dst, how, copy = t.src, t.dst, t.how, tile.copy
      copy(src, dst)
      copy(how, src, dst)
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      for _ = 1, 100 do
        copy(src, dst)
        copy(how, src, dst)
      end
      local after = collectgarbage "count"
      collectgarbage "restart"
      assert.equal(before, after)
    end)

    it("are not those of refused copies", function()
      local t = tensors()
      local plans = select(3, device:plans())
      for _ = 1, 2 do
        local hits, misses = counted(device, function()
          assert.is_false(pcall(tile.copy, t.src, t.dst:view(layout({ 16, 32 }, { 0, 1 }))))
        end)
        assert.same({ 0, 1 }, { hits, misses })
      end
      assert.equal(plans, select(3, device:plans()))
    end)

    it("go on streams, and into graphs of their own", function()
      local t = tensors()
      check(t.src, t.dst)
      local stream <close> = device:stream()
      t.src:fill(4)
      device:synchronize()                         -- the stream waits for no other
      assert.same({ 1, 0 }, { counted(device, tile.copy, t.src, t.dst, stream) })
      stream:synchronize()
      assert.equal(4, t.dst(15, 31))
      local graph
      assert.same({ 0, 0 }, { counted(device, function()
        graph = device:graph(function() tile.copy(t.src, t.dst) end)
      end) })
      t.src:fill(5)
      graph()
      check(t.src, t.dst)
      assert.same({ 0, 0 }, { counted(device, tile.plan, t.src, t.dst) })
    end)
  end)
end

local gpu = devices[#devices]
if gpu.device:name():match "^cuda" then
  describe("plans between devices", function()
    it("are remembered by the one that is not the host", function()
      local device, host = gpu.device, tile.device "cpu"
      local src, dst = counting(A, host), tile.tensor("i32", B, device)
      local function check()
        tile.copy(src, dst)
        assert.same(src:totable(), dst:totable())
      end
      local hits, misses = host:plans()
      assert.same({ 0, 1 }, { counted(device, check) })
      src:fill(3)
      assert.same({ 1, 0 }, { counted(device, check) })
      assert.same({ hits, misses }, { (select(1, host:plans())), (select(2, host:plans())) })
    end)
  end)
end
