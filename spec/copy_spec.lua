-- copy_spec.lua: copies on every device, described and chosen, against element by element.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

-- A tensor whose elements are all different (as far as the dtype can tell).
local function counting(dtype, A, device)
  local T, values = tile.tensor(dtype, A, device), {}
  for i = 1, T:size() do values[i] = i % (dtype == "bool" and 2 or 101) end
  return T:fill(values)
end

local function tiled(bits, dtype, thr, val)
  local atom = bits == 0 and "AutoVectorizingCopy" or ("UniversalCopy<uint%d_t>"):format(bits)
  return tile.tiled_copy { atom = atom, dtype = dtype, thr = layout(thr), val = layout(val) }
end

-- bits of an access (0: AutoVectorizingCopy), dtype, thr, val, src, dst
local DESCRIBED = {
  { 128, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(64,1)", "(8,64):(64,1)" },
  { 64, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(64,1)", "(8,64):(64,1)" },
  { 32, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(64,1)", "(8,64):(1,8)" },
  { 32, "f32", "(4,8):(1,4)", "(2,2):(1,2)", "(17,31):(31,1)", "(17,31):(1,17)" },
  { 16, "f16", "(8,4):(4,1)", "(2,2):(2,1)", "(33,9):(9,1)", "(33,9):(1,33)" },
  { 16, "i8", "(8,4):(4,1)", "(1,4):(0,1)", "(16,32):(32,1)", "(16,32):(32,1)" },
  { 8, "bool", "(8,4):(4,1)", "(3,1):(1,0)", "(25,13):(13,1)", "(25,13):(1,25)" },
  { 64, "i64", "(32):(1)", "(2):(1)", "(1000):(1)", "(1000):(3)" },
  { 128, "u16", "(2,4):(4,1)", "(2,8):(8,1)", "(10,96):(96,1)", "(10,96):(96,1)" },
  { 0, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(64,1)", "(8,64):(64,1)" },
  { 0, "bf16", "(4,8):(8,1)", "(2,2):(2,1)", "(19,45):(45,1)", "(19,45):(1,19)" },
}

-- dtype, src, dst: a partition of moontile's own
local CHOSEN = {
  { "f32", "(64,64):(64,1)", "(64,64):(64,1)" }, { "f32", "(64,48):(48,1)", "(64,48):(1,64)" },
  { "u8", "(81,49):(49,1)", "(81,49):(1,81)" }, { "f16", "(5,6,7):(42,7,1)", "(5,6,7):(1,35,5)" },
  { "f64", "(12,10):(1,12)", "(12,10):(20,2)" }, { "i32", "(8,8):(0,1)", "(8,8):(8,1)" },
  { "i32", "(8,(2,4)):(1,(8,16))", "(8,(2,4)):(8,(4,1))" }, { "i8", "100:-1", "100:1" },
  { "i16", "100:1", "100:-3" }, { "i64", "1:0", "1:0" }, { "f32", "(3,0):(1,3)", "(3,0):(1,3)" },
  { "i32", "():()", "():()" }, { "bool", "(7,9):(9,1)", "(7,9):(1,7)" },
}

-- dtype of src, of dst, their layouts
local CONVERTED = {
  { "f32", "bf16", "1000:1", "1000:1" }, { "f32", "bf16", "(64,48):(48,1)", "(64,48):(1,64)" },
  { "f32", "bf16", "(200,160):(160,1)", "(200,160):(1,200)" },
  { "f32", "f16", "(130,70):(70,1)", "(130,70):(1,130)" },
  { "bf16", "f32", "(128,200):(200,1)", "(128,200):(1,128)" },
  { "f16", "f32", "(81,49):(49,1)", "(81,49):(1,81)" }, { "f16", "bf16", "999:2", "999:1" },
  { "u8", "f32", "(5,6,7):(42,7,1)", "(5,6,7):(1,35,5)" }, { "i32", "u8", "100:-1", "100:1" },
  { "f64", "i16", "(96,80):(80,1)", "(96,80):(1,96)" }, { "f32", "f64", "1:0", "1:0" },
  { "i64", "f32", "(8,8):(0,1)", "(8,8):(8,1)" }, { "f32", "i8", "(3,0):(1,3)", "(3,0):(1,3)" },
  { "u16", "u8", "(70,90):(90,1)", "(70,90):(1,70)" }, { "f32", "i32", "4096:1", "4096:1" },
}

-- Numbers of a dtype: ends of ranges, halves, infinities, NaN, and many of any size.
local function special(dtype)
  local values, T = {}, tile.tensor(dtype, layout(1024))
  local seed = { 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1.0, -1.0, 1e-45, 6e-8, 2.0^-24, 2.0^-25,
                 65504.0, 65519.0, 65520.0, 3.4e38, 1e300, 127.5, 128.5, 255.5, 32767.5, 65535.5,
                 2.0^31, 2.0^32, 2.0^53, 2.0^63, 2.0^64, math.huge, 0 / 0, 1 + 2.0^-8 }
  for i = 1, T:size() do
    local v = seed[i % 61 + 1] or math.random() * 2.0 ^ math.random(-30, 70)
    v = math.random(2) == 1 and v or -v
    if dtype == "bool" then
      v = i % 2
    elseif not dtype:match "f" then
      local bits = 8 * T:itemsize()
      v = math.random(0) >> math.random(0, bits - 1)
      v = bits == 64 and v or v & ((1 << bits) - 1)
      if dtype:match "^i" and bits < 64 then v = v - ((v >> (bits - 1)) << bits) end
    end
    values[i] = v
  end
  return T:fill(values)
end

-- Every bit of the elements, as a string.
local function bits_of(T)
  local out = T:totable()
  for i, v in ipairs(out) do
    out[i] = math.type(v) and string.pack(math.type(v) == "float" and "d" or "j", v) or tostring(v)
  end
  return table.concat(out)
end

for _, d in ipairs(devices) do
  local device = d.device

  describe("described copies on " .. d.label, function()
    for _, row in ipairs(DESCRIBED) do
      local bits, dtype, thr, val, from, to = table.unpack(row)
      it(("%d bits, %s, thr %s val %s: %s to %s"):format(table.unpack(row)), function()
        local src = counting(dtype, layout(from), device)
        local dst = tile.tensor(dtype, layout(to), device)
        tile.copy(tiled(bits, dtype, thr, val), src, dst)
        device:synchronize()
        assert.same(src:totable(), dst:totable())
      end)
    end
  end)

  describe("chosen copies on " .. d.label, function()
    for _, row in ipairs(CHOSEN) do
      local dtype, from, to = table.unpack(row)
      it(("%s: %s to %s"):format(dtype, from, to), function()
        local src = counting(dtype, layout(from), device)
        local dst = tile.tensor(dtype, layout(to), device)
        tile.copy(src, dst)
        device:synchronize()
        assert.same(src:totable(), dst:totable())
      end)
    end
  end)

  describe("copies that convert on " .. d.label, function()
    for _, row in ipairs(CONVERTED) do
      local from, to, a, b = table.unpack(row)
      it(("%s to %s: %s to %s"):format(from, to, a, b), function()
        local src = counting(from, layout(a), device)
        local dst, want = tile.tensor(to, layout(b), device), tile.tensor(to, layout(b))
        tile.copy(src, dst)
        device:synchronize()
        want:fill(src:totable())
        assert.same(want:totable(), dst:totable())
      end)
    end

    it("by a described partition, element by element, also where it overhangs", function()
      local by = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f32",
                                   thr = layout({ 8, 4 }, "right"), val = layout { 1, 4 } }
      local src = tile.tensor("f32", layout({ 21, 30 }, "right"), device):fill(300.5)
      local all = tile.tensor("u8", layout(22 * 31), device):fill(7)
      tile.copy(by, src, all:view(layout({ 21, 30 }, { 31, 1 })))
      device:synchronize()
      for i, v in ipairs(all:totable()) do
        local m, n = (i - 1) // 31, (i - 1) % 31
        assert.equal(m < 21 and n < 30 and 255 or 7, v)
      end
    end)

    it("round to nearest even and saturate, as the CPU does: every pair of types", function()
      for _, from in ipairs(tile.dtypes()) do
        local src = special(from):to "cpu"
        local there = src:to(device)
        for _, to in ipairs(tile.dtypes()) do
          for _, shape in ipairs { 1024, { 32, 32 }, { 31, 33 } } do
            local A, B = layout(shape), layout(shape, "right")
            local want, got = tile.tensor(to, B, "cpu"), tile.tensor(to, B, device)
            tile.copy(src:view(A), want)
            tile.copy(there:view(A), got)
            device:synchronize()
            assert.is_true(bits_of(want) == bits_of(got), from .. " to " .. to)
          end
        end
      end
    end)
  end)

  describe("plans on " .. d.label, function()
    local A, B = layout({ 32, 48 }, "right"), layout({ 32, 48 }, "left")

    it("can be called again and again", function()
      local src, dst = tile.tensor("f32", A, device), tile.tensor("f32", B, device)
      local plan = tile.plan(tiled(32, "f32", "(8,8):(8,1)", "(1,2):(0,1)"),
                             src, dst)
      for k = 1, 5 do
        src:fill(k)
        assert.equal(0, select("#", plan()))
        device:synchronize()
        assert.equal(k + 0.0, dst(31, 47))
      end
    end)

    it("print themselves", function()
      local plan = tile.plan(tile.tensor("f32", A, device), tile.tensor("f32", B, device))
      local text = tostring(plan)
      assert.matches("kernel:", text)
      assert.matches("grid:", text)
    end)

    it("launch on a stream", function()
      local src, dst = counting("f32", A, device), tile.tensor("f32", B, device)
      local stream <close> = device:stream()
      tile.plan(src, dst)(stream)
      stream:synchronize()
      assert.same(src:totable(), dst:totable())
      dst:fill(0)
      device:synchronize()                         -- the stream waits for no other
      tile.copy(src, dst, stream)
      stream:synchronize()
      assert.same(src:totable(), dst:totable())
    end)

    it("keep the buffers alive", function()
      local dst = tile.tensor("f32", A, device)
      local plan = tile.plan(tile.tensor("f32", A, device):fill(3), dst)
      collectgarbage()
      collectgarbage()
      plan()
      device:synchronize()
      assert.equal(3.0, dst(1, 1))
    end)

    it("refuse what was freed or closed", function()
      local src, dst = tile.tensor("f32", A, device), tile.tensor("f32", B, device)
      local plan, freed = tile.plan(src, dst), tile.plan(src, dst)
      freed:free()
      freed:free()
      assert.has_error(function() freed() end, "this plan was freed")
      local stream = device:stream()
      stream:close()
      assert.has_error(function() plan(stream) end, "this stream is closed")
      src:free()
      assert.has_error(function() plan() end, "plan: the tensor src was freed")
      assert.has_error(function() tile.copy(src, dst) end, "this tensor was freed")
    end)
  end)

  describe("partitions on " .. d.label, function()
    it("of a tensor are views", function()
      local T = counting("i32", layout({ 8, 16 }, "right"), device)
      local copy = tiled(64, "i32", "(4,4):(4,1)", "(1,2):(0,1)")
      local seen = {}
      for thr = 0, copy:size() - 1 do
        local part = copy:get_slice(thr):partition_S(T)
        for i = 0, part:size() - 1 do seen[#seen + 1] = part(i) end
      end
      local all = T:totable()
      table.sort(seen)
      table.sort(all)
      assert.same(all, seen)
    end)
  end)
end

describe("tiled copies", function()
  local copy = tiled(128, "f32", "(32,8):(8,1)", "(1,4):(0,1)")

  it("say who copies what", function()
    assert.equal("((8,32),4):((128,1),32)", tostring(copy:tiled_layout_TV()))
    assert.equal("(32,32)", tostring(copy:tiler_MN()))
    assert.equal("((8,32),(4,1)):((128,1),(32,0))", tostring(copy:layout_S_TV()))
    assert.equal(copy:layout_S_TV(), copy:layout_D_TV())
    assert.equal(256, copy:size())
  end)

  it("print what makes them again", function()
    local again = load("local tile = ...; return " .. tostring(copy))(tile)
    assert.equal(tostring(copy), tostring(again))
    assert.equal(copy:tiled_layout_TV(), again:tiled_layout_TV())
  end)

  it("partition layouts", function()
    local P = copy:partition(layout({ 64, 64 }, "right"))
    assert.equal(3, #P)
    assert.equal(64 * 64, P:size())
    local S, offset = copy:get_slice(9):partition_S(layout({ 64, 64 }, "right"))
    assert.equal("((4,1),2,2):((1,0),2048,32)", tostring(S))
    assert.equal(64 + 4, offset)
    local C, corner = copy:get_slice(9):partition_D(tile.make_identity_layout { 64, 64 })
    assert.equal("((4,1),2,2):((1@1,0),32@0,32@1)", tostring(C))
    assert.equal("(1,4)", tostring(corner))
  end)
end)
