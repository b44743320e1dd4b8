-- gemm_cache_spec.lua: plans that tile.gemm finds again on a GPU: when it does, when it must not.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

-- Hits and misses of f on the device.
local function counted(device, f, ...)
  local hits, misses = device:plans()
  f(...)
  local h, m = device:plans()
  return h - hits, m - misses
end

-- What was remembered of a tensor that is gone is found again by one that has its memory: so these
-- stay.
local kept = {}

-- What differs from tile.gemm(t.A, t.B, t.C): arguments of another product.
local PRODUCTS = {
  { "A", function(t) return t.other, t.B, t.C end },
  { "B", function(t) return t.A, t.A, t.C end },
  { "C", function(t) return t.A, t.B, t.D end },
  { "the layout of A", function(t) return t.A:view(layout({ 16, 24 }, "left")), t.B, t.C end },
  { "alpha", function(t) return t.A, t.B, t.C, { alpha = 2 } end },
  { "beta", function(t) return t.A, t.B, t.C, { beta = -1 } end },
  { "a family", function(t) return t.A, t.B, t.C, { family = "ampere" } end },
  { "an activation", function(t) return t.A, t.B, t.C, { activation = "relu" } end },
  { "a bias", function(t) return t.A, t.B, t.C, { bias = { row = t.bias } } end },
  { "a bias of columns", function(t) return t.A, t.B, t.C, { bias = { column = t.bias } } end },
  { "a residual", function(t) return t.A, t.B, t.C, { residual = t.D } end },
}

local function filled(dtype, A, device)
  local T, values = tile.tensor(dtype, A, device), {}
  for i = 1, T:size() do values[i] = math.random(-2, 2) end
  return T:fill(values)
end

-- C of a plan of its own.
local function planned(A, B, C, options)
  local before = C:totable()
  tile.plan_gemm(A, B, C, options)()
  local want = C:totable()
  C:fill(before)
  return want
end

local gpu = devices[#devices]
if gpu.device:name():match "^cuda" then
  local device = gpu.device

  local function operands(pitch)
    local t = { A = filled("bf16", layout({ 16, 24 }, { pitch or 24, 1 }), device),
                B = filled("bf16", layout({ 16, 24 }, { 24, 1 }), device),
                C = filled("f32", layout({ 16, 16 }, "right"), device) }
    t.other, t.bias = filled("bf16", layout({ 16, 24 }, "right"), device),
                      filled("f32", layout(16), device)
    t.D = filled("f32", layout({ 16, 16 }, "right"), device)
    kept[#kept + 1] = t
    return t
  end

  local function check(A, B, C, options)
    local want = planned(A, B, C, options)
    tile.gemm(A, B, C, options)
    assert.same(want, C:totable())
  end

  describe("plans of products remembered on " .. gpu.label, function()
    it("are those of the same product", function()
      local t = operands()
      assert.same({ 0, 1 }, { counted(device, check, t.A, t.B, t.C) })
      for k = 1, 3 do
        t.A:fill(k)
        assert.same({ 1, 0 }, { counted(device, check, t.A, t.B, t.C) })
        assert.same({ 1, 0 }, { counted(device, check, t.A, t.B, t.C, {}) })
      end
    end)

    for _, row in ipairs(PRODUCTS) do
      it("are not those of others: " .. row[1], function()
        local t = operands()
        check(t.A, t.B, t.C)
        assert.same({ 0, 1 }, { counted(device, check, row[2](t)) })
        assert.same({ 1, 0 }, { counted(device, check, row[2](t)) })
        assert.same({ 1, 0 }, { counted(device, check, t.A, t.B, t.C) })
      end)
    end

    it("go on streams, but where they have memory of their own", function()
      local t, packed = operands(), operands(25)
      local plan = tile.plan_gemm(packed.A, packed.B, packed.C, { family = "hopper" })
      assert.is_truthy(tostring(plan):find "memory: ")
      local stream <close> = device:stream()
      local function on_stream(x, family)
        local want = planned(x.A, x.B, x.C, { family = family })
        device:synchronize()
        tile.gemm(x.A, x.B, x.C, { family = family, stream = stream })
        stream:synchronize()
        assert.same(want, x.C:totable())
      end
      assert.same({ 0, 1 }, { counted(device, on_stream, t, "hopper") })
      assert.same({ 1, 0 }, { counted(device, on_stream, t, "hopper") })
      local plans = select(3, device:plans())
      assert.same({ 0, 1 }, { counted(device, on_stream, packed, "hopper") })
      assert.equal(plans, select(3, device:plans()))
      assert.same({ 0, 1 }, { counted(device, check, packed.A, packed.B, packed.C,
                                      { family = "hopper" }) })
      assert.same({ 1, 0 }, { counted(device, check, packed.A, packed.B, packed.C,
                                      { family = "hopper" }) })
      assert.same({ 1, 0 }, { counted(device, on_stream, packed, "hopper") })
    end)

    it("count the memory that they have", function()
      local t = operands(25)
      tile.forget_tuning()                         -- and all plans
      collectgarbage()
      local held = tile.held()
      check(t.A, t.B, t.C, { family = "hopper" })
      collectgarbage()
      assert.equal(held + 16 * 64 * 2, tile.held())    -- rows of A
      tile.forget_tuning()
      assert.equal(0, select(3, device:plans()))
      assert.equal(held, tile.held())
    end)

    it("need no memory of Lua", function()
      local t = operands()
      local A, B, C, gemm = t.A, t.B, t.C, tile.gemm
      gemm(A, B, C)
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      for _ = 1, 100 do gemm(A, B, C) end
      local after = collectgarbage "count"
      collectgarbage "restart"
      assert.equal(before, after)
    end)

    it("are forgotten with a tensor that is freed, and go into no graph", function()
      local t = operands()
      check(t.A, t.B, t.C)
      assert.same({ 0, 0 }, { counted(device, function()
        device:graph(function() tile.gemm(t.A, t.B, t.C) end)
      end) })
      t.B:free()
      assert.has_error(function() tile.gemm(t.A, t.B, t.C) end)
    end)
  end)
end
