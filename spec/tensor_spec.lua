-- tensor_spec.lua: tensors on every device: elements, views, filling, moving, freeing.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, X = tile.layout, tile._
local devices = dofile "spec/devices.lua"

-- dtype -> values that it holds exactly
local EXACT = {
  bool = { true, false },
  i8 = { -128, 0, 127 }, i16 = { -32768, 1, 32767 }, i32 = { -2^31 | 0, 5, 2^31 - 1 | 0 },
  i64 = { math.mininteger, -1, math.maxinteger },
  u8 = { 0, 255 }, u16 = { 0, 65535 }, u32 = { 0, 4294967295 }, u64 = { 0, math.maxinteger },
  f16 = { 0.0, -1.5, 65504.0, 2.0^-24 }, bf16 = { 0.0, -1.5, 2.0^100 },
  f32 = { 0.0, -1.5, 2.0^-149, math.huge }, f64 = { 0.1, -math.huge, math.pi },
  e4m3 = { 0.0, -1.5, 448.0, 2.0^-9 }, e5m2 = { 0.0, -1.75, 57344.0, 2.0^-16, math.huge },
}

for _, d in ipairs(devices) do
  local device = d.device
  describe("tensors on " .. d.label, function()
    it("are zeroed", function()
      for _, dtype in ipairs(tile.dtypes()) do
        local T = tile.tensor(dtype, layout { 3, 5 }, device)
        for _, v in ipairs(T:totable()) do assert.is_true(v == 0 or v == false) end
      end
    end)

    it("hold the values of their dtype", function()
      for dtype, values in pairs(EXACT) do
        local T = tile.tensor(dtype, layout(#values), device)
        for i, v in ipairs(values) do
          T:set(v, i - 1)
          assert.equal(v, T(i - 1), dtype)
        end
        assert.same(values, T:totable())
        assert.same(values, tile.tensor(dtype, layout(#values, 2), device):fill(values):totable())
      end
    end)

    it("say what they are", function()
      local A = layout({ 4, 5 }, "right")
      local T = tile.tensor("f32", A, device)
      assert.equal(("tensor f32 (4,5):(5,1) %s"):format(device:name()), tostring(T))
      assert.equal(A, T:layout())
      assert.equal("(4,5)", tostring(T:shape()))
      assert.equal("(5,1)", tostring(T:stride()))
      assert.same({ 20, 2, 2, 4, "f32", 0 },
                  { T:size(), T:rank(), #T, T:itemsize(), T:dtype(), T:offset() })
      assert.equal(device, T:device())
      assert.equal(5, tile.size(T:get(2)))
    end)

    it("are written as T[{i, j}] = v and T:set(v, i, j)", function()
      local T = tile.tensor("i32", layout { 4, { 2, 3 } }, device)
      T[{ 1, 2 }] = 7
      T:set(8, 3, { 1, 2 })
      assert.same({ 7, 8 }, { T(1, { 0, 1 }), T(3, 5) })
      assert.same({ 7, 8 }, { T[{ 1, 2 }], T[{ 3, { 1, 2 } }] })
      assert.same(T(tile._, 2):totable(), T[{ tile._, 2 }]:totable())
    end)

    it("fill", function()
      for _, dtype in ipairs(tile.dtypes()) do
        local T = tile.tensor(dtype, layout({ 5, 3 }, { 7, 2 }), device)
        assert.equal(T, T:fill(1))
        for _, v in ipairs(T:totable()) do assert.is_true(v == 1 or v == true) end
      end
      local T = tile.tensor("i16", layout { 4, 4 }, device)
      T(X, 2):fill(5)
      assert.same({ 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 0, 0, 0, 0 }, T:totable())
      tile.tensor("i16", layout { 4, 0 }, device):fill(3)
    end)

    it("have views that share the buffer", function()
      local T = tile.tensor("i32", layout { 8, 24 }, device)
      local values = {}
      for i = 1, 8 * 24 do values[i] = i - 1 end
      T:fill(values)
      local Z = T:zipped_divide { 4, 8 }
      assert.equal(8, Z({ 0, 1 }, { 0, 0 }))
      assert.equal(68, T(X, 8)(4))
      assert.equal(68, T:slice { X, 8 }(4))
      assert.equal(9, T:select(2, 1)(1, 1))
      assert.equal(10, (T * layout(16, 2))(5))
      assert.equal(3, (T / layout(4, 2))(1, 1))
      Z:set(-1, { 0, 1 }, { 0, 0 })
      assert.equal(-1, T(0, 1))
      assert.equal(11, T:view(layout(4, 2), 5)(3))
      assert.equal(13, T:view(layout(4, 2), 5):view(layout(2, 2), 6)(1))
    end)

    it("move to other devices and back", function()
      for _, other in ipairs(devices) do
        for _, text in ipairs {
          "(5,7):(7,1)", "(5,7):(1,5)", "(5,(2,3)):(6,(3,1))", "6:-2", "(3,4):(0,1)",
          "(3,4):(100,7)", "7:1000", "(2,0):(1,2)", "():()", "Sw<2,0,3> o 0 o (8,4):(4,1)",
        } do
          local T = tile.tensor("i32", layout(text), device)
          for i = 0, T:size() - 1 do T:set(i * i + 1, i) end
          local there = T:to(other.device)
          assert.equal(other.device, there:device())
          assert.same(T:totable(), there:totable())
          assert.same(T:totable(), there:to(device):totable())
          if other.device == device then assert.equal(T, there) end
        end
      end
    end)

    it("move as views", function()
      local T = tile.tensor("i32", layout { 64, 64 }, device)
      T:set(7, 3, 5)
      T:set(8, 3, 6)
      for _, other in ipairs(devices) do
        local row = T(3, X):to(other.device)
        assert.same({ 7, 8, 0 }, { row(5), row(6), row(7) })
        local column = T(X, 5):to(other.device)
        assert.equal(7, column(3))
      end
    end)

    it("are freed once, with all their views", function()
      collectgarbage()
      local before = tile.held()
      local T = tile.tensor("f32", layout(1024), device)
      local V = T:view(layout(16))
      assert.equal(before + 4096, tile.held())
      V:free()
      assert.has_error(function() V:totable() end, "this tensor was freed")
      assert.equal(0.0, T(5))
      local W = T:view(layout(16))
      T:free()
      T:free()
      assert.equal(before, tile.held())
      assert.has_error(function() return T(0) end)
      assert.has_error(function() return W(0) end)
      assert.matches("%(freed%)$", tostring(W))
      do local _ <close> = tile.tensor("f32", layout(1024), device) end
      assert.equal(before, tile.held())
    end)

    it("live as long as a view of them", function()
      local V = tile.tensor("i32", layout { 32, 32 }, device):fill(3)(X, 4)
      collectgarbage()
      collectgarbage()
      assert.equal(3, V(7))
    end)
  end)
end

describe("T:totable()", function()
  it("takes at most 2^22 elements, and says so before it makes a table", function()
    local T = tile.tensor("u8", layout({ 4, 1 << 40 }, { 1, 0 }))
    assert.has_error(function() T:totable() end, "T:totable: (4,1099511627776):(1,0) has "
      .. "4398046511104 elements, at most 4194304 become a table\n"
      .. "take a part of it: a slice, or a tile")
    assert.same({ 0, 0, 0, 0 }, T(tile._, 7):totable())
  end)
end)
