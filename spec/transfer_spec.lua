-- transfer_spec.lua: copies between the host and a GPU. Random pairs of layouts: pairs_spec.lua.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

local function counting(A, device)
  local T, values = tile.tensor("i32", A, device), {}
  for i = 1, T:size() do values[i] = 7 * i - 300 end
  return T:fill(values)
end

-- Layout on the host, on the device; bytes of a piece.
local PAIRS = {
  { "(64,48):(48,1)", "(64,48):(48,1)", 1024 },
  { "(64,48):(48,1)", "(64,48):(1,64)", 1024 },
  { "(64,48):(64,1)", "(64,48):(1,70)", 1000 },
  { "(64,48):(1,65)", "(64,48):(48,1)", 16 },
  { "(63,47):(-47,1)", "(63,47):(1,63)", 300 },
  { "(8,(2,4)):(1,(8,16))", "(8,(2,4)):(8,(4,1))", 64 },
  { "(31,7,5):(35,1,7)", "(31,7,5):(1,31,217)", nil },
  { "Sw<2,2,3> o 0 o (32,16):(16,1)", "(32,16):(16,1)", 200 },
  { "(32,16):(16,1)", "Sw<2,2,3> o 0 o (32,16):(16,1)", 200 },
  { "1:0", "1:0", 16 }, { "(3,0):(1,3)", "(3,0):(1,3)", 16 }, { "():()", "():()", 16 },
}

-- Only a source may repeat itself.
local REPEATED = { "(64,48):(0,1)", "(64,48):(1,0)", "(64,48):(1,1)", "(64,(6,8)):(8,(0,1))" }

-- The GPU of `d` with pieces of so many bytes.
local function gpu_of(d, piece)
  local what = type(d.what) == "table" and d.what or { d.what }
  return assert(tile.device { what[1], libcuda = what.libcuda, piece = piece })
end

local host = tile.device "cpu"
local gpus = {}
for _, d in ipairs(devices) do
  if d.device:name():match "^cuda" then gpus[#gpus + 1] = d end
end

describe("locked pages", function()
  local function message(...) return select(2, pcall(tile.tensor, "f32", layout(4), ...)) end

  it("are those of a GPU's driver", function()
    local text = message { "cpu", locked = true }
    assert.matches("cpu locks no pages of the host: a GPU's driver does", text, 1, true)
    assert.matches("which GPU", message { locked = true })
    assert.matches("true or false expected, got number", message { "cpu", locked = 1 })
    assert.matches("lock", message { "cpu", lock = true })
    assert.equal("cpu", tile.tensor("f32", layout(4), { "cpu" }):device():name())
    assert.equal("cpu", tile.tensor("f32", layout(4), { "cpu", locked = false }):device():name())
  end)
end)

for _, d in ipairs(gpus) do
  describe("transfers to and from " .. d.label, function()
    for _, row in ipairs(PAIRS) do
      local here, there, piece = layout(row[1]), layout(row[2]), row[3]
      it(("%s and %s, pieces of %s bytes"):format(row[1], row[2], piece or "so many"), function()
        local device = gpu_of(d, piece)
        local A, B = counting(here), tile.tensor("i32", there, device)
        local C = tile.tensor("i32", here)
        tile.copy(A, B)
        assert.same(A:totable(), B:totable())
        tile.copy(B, C)
        assert.same(A:totable(), C:totable())
        local stream <close> = device:stream()
        A:fill(5)
        tile.copy(A, B, stream)
        assert.same(A:totable(), B:totable())
      end)
      it(("%s in locked pages and %s, pieces of %s bytes"):format(row[1], row[2], piece or "all"),
        function()
          local device = gpu_of(d, piece)
          local A, B = counting(here), tile.tensor("i32", there, device)
          local H = assert(tile.tensor("i32", here, { device, locked = true }))
          assert.equal("cpu", H:device():name())
          assert.same(tile.tensor("i32", here):totable(), H:totable())
          tile.copy(A, H)
          tile.copy(H, B)
          assert.same(A:totable(), B:totable())
          H:fill(9)
          tile.copy(B, H)
          assert.same(A:totable(), H:totable())
          H:free()
          assert.has_error(function() H:totable() end)
        end)
    end

    -- Rows of 60, 300 and 1200 bytes, and elements apart: pieces of many threads go other ways
    -- past their caches than those of few.
    for _, text in ipairs { "(15,600):(1,17)", "(75,200):(1,80)", "(300,90):(1,301)",
                            "(2048,5):(2,5000)", "(40,(3,100)):(3,(1,130))" } do
      it("by many threads: " .. text, function()
        local many = tile.device { "cpu", threads = 12 }
        local here = layout(text)
        for _, piece in ipairs { 5000, 70000 } do
          local A, device = counting(here, many), gpu_of(d, piece)
          local B = tile.tensor("i32", layout(here:shape()), device)
          local C = tile.tensor("i32", layout(here:cosize() + 3), many):fill(-7)
          tile.copy(A, B)
          assert.same(A:totable(), B:totable())
          tile.copy(B, C:view(here))
          assert.same(A:totable(), C:view(here):totable())
          local kept = 0
          for i = 0, C:size() - 1 do kept = kept + (C(i) == -7 and 1 or 0) end
          assert.is_true(kept >= C:size() - A:size())
        end
      end)
    end

    it("locked pages need no packing", function()
      local device, line = gpu_of(d, 64), layout(1 << 14)
      local B = tile.tensor("f32", line, device)
      local C = tile.tensor("f32", layout({ 128, 128 }, "right"), device)
      local free = tile.tensor("f32", line)
      local locked = tile.tensor("f32", line, { device, locked = true })
      assert.matches("pieces of at most", tostring(tile.plan(free, B)))
      assert.matches("as one run", tostring(tile.plan(locked, B)))
      assert.matches("as one run", tostring(tile.plan(B, locked)))
      local turned = locked:view(layout { 128, 128 })
      assert.matches("kernel: [%w_]+ %(cuda%)\n", tostring(tile.plan(turned, C)))
      assert.matches("kernel: [%w_]+ %(cuda%)\n", tostring(tile.plan(C, turned)))
    end)

    it("locked pages outlive the name of their GPU, and end with the state", function()
      local made = {}
      for i = 1, 40 do
        local place = { gpu_of(d, 32 * i), locked = true }
        made[i % 7 + 1] = tile.tensor("u8", layout(1000 + i), place):fill(i)
        collectgarbage()
      end
      for k, T in pairs(made) do assert.equal(k - 1, T(0) % 7) end
      assert.equal(0, tile.tensor("u8", layout(0), { gpu_of(d), locked = true }):size())
    end)

    for _, text in ipairs(REPEATED) do
      it("of a source that repeats itself: " .. text, function()
        local device = gpu_of(d, 256)
        local whole = layout({ 64, 48 }, "right")
        local A, B = counting(layout(4000)), tile.tensor("i32", whole, device)
        tile.copy(A:view(layout(text)), B)
        assert.same(A:view(layout(text)):totable(), B:totable())
        local C = counting(layout(4000), device)
        local D = tile.tensor("i32", whole)
        tile.copy(C:view(layout(text)), D)
        assert.same(A:view(layout(text)):totable(), D:totable())
      end)
    end

    it("are plans that can be called again and again, and print themselves", function()
      local device = gpu_of(d, 1024)
      local A = tile.tensor("f32", layout({ 64, 64 }, "right"))
      local B = tile.tensor("f32", layout({ 64, 64 }, "left"), device)
      local up, down = tile.plan(A, B), tile.plan(B, A)
      for k = 1, 3 do
        A:fill(k)
        assert.equal(0, select("#", up()))
        A:fill(0)
        down()
        assert.equal(k + 0.0, A(63, 63))
      end
      assert.matches("from cpu to cuda:%d+, 16 pieces of at most 1024 bytes", tostring(up))
      assert.matches("from cuda:%d+ to cpu, 16 pieces of at most 1024 bytes", tostring(down))
      assert.matches("kernel: cpu_rows %(cpu%), copy_", tostring(up))
      B:free()
      assert.has_error(function() up() end, "plan: the tensor dst was freed")
      assert.has_error(function() down() end, "plan: the tensor src was freed")
      up:free()
      assert.equal("freed plan", tostring(up))
    end)

    it("keep what is not reached", function()
      local device = gpu_of(d, 100)
      local B = tile.tensor("u8", layout { 40, 40 }, device):fill(9)
      tile.copy(tile.tensor("u8", layout { 20, 20 }):fill(1), B:view(layout({ 20, 20 }, { 2, 80 })))
      local seen = { [1] = 0, [9] = 0 }
      for _, v in ipairs(B:totable()) do seen[v] = seen[v] + 1 end
      assert.same({ [1] = 400, [9] = 1200 }, seen)
    end)

    for _, from in ipairs { "f32", "bf16", "i64", "u8", "e4m3" } do
      for _, to in ipairs { "f32", "f16", "i32", "i8", "bool" } do
        it(("convert as on one device: %s to %s"):format(from, to), function()
          local device = gpu_of(d, 128)
          for _, row in ipairs(PAIRS) do
            local A, B = layout(row[1]), layout(row[2])
            local src, values = tile.tensor(from, A), {}
            for i = 1, src:size() do values[i] = i * 37 % 249 + (from:match "[fe]" and 0.5 or 0) end
            src:fill(values)
            local there, want = tile.tensor(from, B, device), tile.tensor(to, B)
            local up, down = tile.tensor(to, B, device), tile.tensor(to, A)
            tile.copy(src, want)
            tile.copy(src, up)
            assert.same(want:totable(), up:totable())
            tile.copy(src, there)
            tile.copy(there, down)
            assert.same(want:totable(), down:totable())
          end
        end)
      end
    end

    it("send elements in the shorter type", function()
      local device = gpu_of(d, 1024)
      local A = layout { 64, 32 }
      for _, row in ipairs { { "f32", "bf16", "bf16" }, { "u8", "f64", "u8" },
                             { "i32", "f32", "i32" } } do
        local here, there = tile.tensor(row[1], A), tile.tensor(row[2], A, device)
        for _, plan in ipairs { tile.plan(here, there), tile.plan(there, here) } do
          assert.matches(" bytes of " .. row[3] .. "$", tostring(plan))
        end
      end
    end)

    it("move tensors by T:to", function()
      local device = gpu_of(d, 128)
      local A = counting(layout({ 30, 20 }, "right"))
      assert.equal(A:layout(), A:to(device):layout())
      assert.same(A:totable(), A:to(device):totable())
      assert.same(A:totable(), A:to(device):to(host):totable())
      local far = A:view(layout({ 2, 2 }, { 70, 300 }))
      for _, T in ipairs { far:to(device), A:to(device):view(far:layout()):to(host) } do
        assert.equal(layout { 2, 2 }, T:layout())
        assert.same(far:totable(), T:totable())
      end
    end)

    it("refuse what copies refuse", function()
      local device = gpu_of(d, 256)
      local A, B = counting(layout { 8, 4 }), tile.tensor("i32", layout { 8, 4 }, device)
      local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "i32",
                                     thr = layout(4), val = layout(1) }
      local name = device:name()
      local function refused(text, f, ...)
        local ok, message = pcall(f, ...)
        assert.is_false(ok)
        assert.equal(text, (message:gsub("^[^\n]-%.lua:%d+: ", "")))
      end
      refused("copy: src is on cpu, dst is on " .. name .. "; T:to(device) moves a tensor",
              tile.copy, copy, A, B)
      refused("copy: dst mode 1 has stride 0: elements 0 and 7 write offset 0\n"
              .. "dst is (8,4):(0,1)\n"
              .. "an element of dst is written once: give each value a place of its own",
              tile.copy, A, B:view(layout({ 8, 4 }, { 0, 1 })))
      refused("copy: mode 2 of src (8,4):(1,8) has size 4, of dst (8,3):(1,8) it has 3",
              tile.plan, A, B:view(layout { 8, 3 }))
      local plan = tile.plan(A, B)
      for _, f in ipairs { plan.why, plan.key, plan.measure, tile.tune,
                           function() plan:take("copy_strided_u128", 16) end } do
        refused("plan: a copy between the host and " .. name .. " goes in pieces, by kernels at "
                .. "both ends: it has no other ways\n"
                .. "print(plan) shows them; plan() returns when the copy is done: any clock can "
                .. "time it", f, plan)
      end
      refused("this stream is one of another device", tile.copy, A, B, host:stream())
      local words = " is recording a graph, and what it records runs when the graph is launched\n"
        .. "do this before the recording, or after a launch of the graph"
      refused("copy: " .. name .. words, device.graph, device, function() tile.copy(A, B) end)
      refused("copy: cpu" .. words, host.graph, host, function() tile.copy(B, A) end)
    end)
  end)
end

describe("pieces of transfers", function()
  it("have 16 bytes at least", function()
    assert.has_error(function() tile.device { "cuda", piece = 15 } end,
                     "device: piece: at least 16 bytes")
    assert.has_error(function() tile.device { "cuda", piece = -1 } end,
                     "device: piece: at least 16 bytes")
  end)
end)
