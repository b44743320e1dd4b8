-- tune_spec.lua: why plans have their kernels, and those that were measured, on every device.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

-- dtype, src, dst [, dtype of dst]
local COPIES = {
  { "f32", "(64,64):(64,1)", "(64,64):(64,1)" }, { "f32", "(64,48):(48,1)", "(64,48):(1,64)" },
  { "u8", "(81,49):(49,1)", "(81,49):(1,81)" }, { "f64", "(4,4,9):(1,4,16)", "(4,4,9):(4,1,16)" },
  { "u8", "(3,3000):(3000,1)", "(3,3000):(1,3)" },
  { "f16", "(5,6,7):(42,7,1)", "(5,6,7):(1,35,5)" },
  { "i32", "(8,8):(0,1)", "(8,8):(8,1)" }, { "i8", "100:-1", "100:1" }, { "i64", "1:0", "1:0" },
  { "f32", "(8,8,40):(1,8,64)", "(8,8,40):(8,1,64)" },
  { "f16", "(2,8,32):(1,2,16)", "(2,8,32):(1,64,2)" },
  { "u8", "(101,5,7):(1,101,505)", "(101,5,7):(1,707,101)" },
  { "u8", "(270,3,80):(240,80,-1)", "(270,3,80):(1,270,810)" },       -- backwards
  { "u8", "(5,24,31):(744,31,1)", "(5,24,31):(1,7,168)" },         -- short rows with gaps
  { "f32", "(3,24,9):(216,9,1)", "(3,24,9):(1,5,120)" },
  { "f32", "Sw<2,0,3> o 0 o (8,8):(1,8)", "(8,8):(1,8)" },
  { "f32", "(64,64):(64,1)", "(64,64):(64,1)", "bf16" },
  { "f32", "(96,72):(72,1)", "(96,72):(1,96)", "bf16" },
  { "bf16", "(96,72):(72,1)", "(96,72):(1,96)", "f32" },
  { "u8", "(81,49):(49,1)", "(81,49):(1,81)", "f32" }, { "i32", "100:-1", "100:1", "f64" },
  { "f32", "Sw<2,0,3> o 0 o (8,8):(1,8)", "(8,8):(1,8)", "f16" },
}

local ALGORITHMS = { "transpose", "transpose_unaligned", "interleave", "permute", "rows",
                     "permute_unaligned", "gather", "staged" }

local function counting(dtype, A, device)
  local T, values = tile.tensor(dtype, A, device), {}
  for i = 1, T:size() do values[i] = i % 101 end
  return T:fill(values)
end

local function tensors(row, device)
  local src = counting(row[1], layout(row[2]), device)
  return src, tile.tensor(row[4] or row[1], layout(row[3]), device)
end

local the_chosen = dofile "spec/ways.lua".the_chosen

-- What was measured before says nothing in the test that follows.
local forget = tile.forget_tuning

for _, d in ipairs(devices) do
  local device = d.device
  local gpu = d.label:match "^cuda" or d.label == "cpu:checked"

  describe("ways on " .. d.label, function()
    before_each(forget)
    after_each(forget)

    for _, row in ipairs(COPIES) do
      local to = row[4] and row[4] .. " " or ""
      local name = ("%s: %s to %s%s"):format(row[1], row[2], to, row[3])

      it("one is chosen, none is predicted to be much faster: " .. name, function()
        local plan = tile.plan(tensors(row, device))
        local ways = plan:why()
        local chosen = the_chosen(ways)
        assert.truthy(tostring(plan):find("kernel: " .. chosen.kernel, 1, true))
        assert.matches(("vector: %d %sbyte"):format(chosen.vector, row[4] and "[to %d]*" or ""),
                       tostring(plan))
        for _, way in ipairs(ways) do
          assert.equal(way.chosen, way.why == nil)
          if gpu and way.possible then
            local us = chosen.predicted            -- a hundredth, or a fifth of a microsecond
            local worth = math.max(us * 0.95, math.min(us * 0.99, us - 0.2))
            assert.is_true(way.predicted >= worth and way.predicted > 2)
            assert.is_true(way.traffic > 0 and way.used > 0 and way.used <= 1)
          end
        end
      end)

      it("the possible come first, the fastest in front: " .. name, function()
        local last
        for _, way in ipairs(tile.plan(tensors(row, device)):why()) do
          if last then
            assert.is_true(last.possible or not way.possible)
            if way.predicted then assert.is_true(last.predicted <= way.predicted) end
          end
          last = way
        end
      end)

      it("each copies the same: " .. name, function()
        local src, dst = tensors(row, device)
        local plan = tile.plan(src, dst)
        for _, way in ipairs(plan:why()) do
          if way.possible then
            dst:fill(0)
            assert.equal(plan, plan:take(way.kernel, way.vector))
            plan()
            device:synchronize()
            assert.same(src:totable(), dst:totable())
            local chosen = the_chosen(plan:why())
            assert.same({ way.kernel, way.vector }, { chosen.kernel, chosen.vector })
          end
        end
      end)

      it("tuned, the fastest is taken and remembered: " .. name, function()
        local src, dst = tensors(row, device)
        local first = tile.plan(src, dst)
        local plan, ways = tile.tune(first, { rounds = 1 })
        local chosen = the_chosen(ways)
        assert.equal(first, plan)
        assert.same(src:totable(), dst:totable())
        for _, way in ipairs(ways) do
          assert.equal(way.possible, way.measured ~= nil)
          if way.measured then
            assert.is_true(way.measured >= 0 and chosen.measured * 0.99 <= way.measured)
          end
        end
        local again = the_chosen(tile.plan(tensors(row, device)):why())
        assert.same({ chosen.kernel, chosen.vector }, { again.kernel, again.vector })
      end)
    end

    it("have tiles and boxes where the source goes backwards along its run", function()
      if not gpu then return end
      local found = {}
      local src = counting("u8", layout "(270,3,80):(240,80,-1)", device)
      local plan = tile.plan(src, tile.tensor("u8", layout "(270,3,80):(1,270,810)", device))
      for _, way in ipairs(plan:why()) do
        if way.possible and way.algorithm then found[way.algorithm] = true end
      end
      assert.is_true(found.permute_unaligned and found.transpose_unaligned)
    end)

    it("say of every algorithm that it is possible, or what it is for", function()
      if not gpu then return end
      for _, row in ipairs(COPIES) do
        local swizzled, named = row[2]:find "Sw", {}
        for _, way in ipairs(tile.plan(tensors(row, device)):why()) do
          local algorithm = way.algorithm or way.kernel:match "^copy_([%a_]+)$"
          if algorithm and algorithm ~= "strided" then
            assert.is_true(row[4] ~= nil or not named[algorithm])
            named[algorithm] = true
            assert.is_true(way.possible or #way.why > 0)
          end
        end
        for _, algorithm in ipairs(ALGORITHMS) do
          assert.equal(not swizzled or algorithm == "transpose", named[algorithm] or false)
        end
      end
    end)

    it("are asked for anew by copies that were remembered", function()
      local src, dst = tensors(COPIES[2], device)
      tile.copy(src, dst)
      tile.tune(tile.plan(src, dst), { rounds = 1 })
      assert.equal(0, select(3, device:plans()))
      local hits, misses = device:plans()
      tile.copy(src, dst)
      tile.copy(src, dst)
      assert.same({ hits + 1, misses + 1, 1 }, { device:plans() })
      device:synchronize()
      assert.same(src:totable(), dst:totable())
    end)

    it("are shown with what was measured of them, then and later", function()
      local plan, ways = tile.tune(tile.plan(tensors(COPIES[1], device)), { rounds = 1 })
      local later = tile.plan(tensors(COPIES[1], device)):why()
      for _, shown in ipairs { ways, plan:why(), later } do
        assert.equal(tostring(ways), tostring(shown))
        assert.is_true(the_chosen(shown).tuned)
        for _, way in ipairs(shown) do
          if way.possible and not way.chosen then
            assert.equal("slower, as measured", way.why)
            assert.is_number(way.measured)
          end
        end
      end
      assert.matches("chosen, as measured", tostring(ways))
    end)

    it("are not measured while the device records a graph", function()
      local plan = tile.plan(tensors(COPIES[1], device))
      local before = tostring(plan)
      for _, f in ipairs { function() plan:measure() end, function() tile.tune(plan) end } do
        local ok, message = pcall(device.graph, device, f)
        assert.is_false(ok)
        assert.matches("measure: .* is recording a graph", message)
        assert.equal(before, tostring(plan))
      end
    end)

    it("print themselves in columns", function()
      local plan = tile.plan(tensors(COPIES[2], device))
      local text = tostring(plan:why())
      assert.matches("^kernel +algorithm +vector", text)
      assert.matches("chosen", text)
      assert.is_nil(text:find "measured us")
      assert.is_nil(text:find " \n" or text:find "\n$")
      assert.matches("measured us", tostring(select(2, tile.tune(plan, { rounds = 1 }))))
    end)

    it("of a partition: one", function()
      local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                     thr = layout({ 4, 8 }, "right"), val = layout { 1, 2 } }
      local src, dst = tensors(COPIES[2], device)
      local plan, ways = tile.tune(tile.plan(copy, src, dst), { rounds = 1 })
      assert.equal("described", the_chosen(ways).algorithm)
      plan()
      device:synchronize()
      assert.same(src:totable(), dst:totable())
    end)

    it("of a product: the kernels for its types", function()
      local A = tile.tensor("f16", layout { 64, 32 }, device)
      local plan = tile.plan_gemm(A, A, tile.tensor("f32", layout { 64, 64 }, device))
      local chosen = the_chosen(plan:why())
      assert.truthy(tostring(plan):find("kernel: " .. chosen.kernel, 1, true))
      assert.matches("^kernel", tostring(plan:why()))
      if device:name():match "cuda" then
        assert.matches("mma_16x8x16_f16_f16 +of another atom: ", tostring(plan:why()))
      end
    end)

    it("are refused where there is none, and of freed tensors", function()
      local src, dst = tensors(COPIES[1], device)
      local plan = tile.plan(src, dst)
      local before = tostring(plan)
      assert.has_error(function() plan:take("copy_transpose_b4", 4) end)
      assert.equal(before, tostring(plan))
      src:free()
      assert.has_error(function() plan:measure() end, "plan: the tensor src was freed")
      plan:free()
      assert.has_error(function() plan:why() end, "this plan was freed")
    end)
  end)

  describe("files on " .. d.label, function()
    local path
    before_each(function() path = os.tmpname(); forget() end)
    after_each(function() os.remove(path); forget() end)

    it("keep what was measured", function()
      local first = tile.plan(tensors(COPIES[1], device))
      local plan = tile.tune(first, { rounds = 1, file = path })
      tile.tune(plan, { rounds = 1, file = path })
      tile.tune(tile.plan(tensors(COPIES[2], device)), { rounds = 1, file = path })
      forget()
      assert.is_nil(the_chosen(tile.plan(tensors(COPIES[1], device)):why()).tuned)
      assert.is_true(tile.load_tuning(path) >= 2)
      local kept = the_chosen(tile.plan(tensors(COPIES[1], device)):why())
      assert.is_true(kept.tuned)
      local lines, said = {}, nil
      for line in io.lines(path) do
        assert.not_equal(lines[#lines], line)
        lines[#lines + 1] = line
        assert.matches("^%x+\t[^\t]+\t[%w_]+\t%d+$", line)
        if line:sub(1, #plan:key()) == plan:key() then said = line end
      end
      assert.equal(("%s\t%s\t%d"):format(plan:key(), kept.kernel, kept.vector), said)
    end)

    it("decide, also against the prediction", function()
      local row = COPIES[1]
      local plan = tile.plan(tensors(row, device))
      local last
      for _, way in ipairs(plan:why()) do if way.possible then last = way end end
      local file = assert(io.open(path, "w"))
      file:write("\n", plan:key(), "\t", last.kernel, "\t", last.vector, "\n")
      file:close()
      assert.equal(1, tile.load_tuning(path))
      assert.equal(0, select(3, device:plans()))
      local chosen = the_chosen(tile.plan(tensors(row, device)):why())
      assert.same({ last.kernel, last.vector }, { chosen.kernel, chosen.vector })
      local src, dst = tensors(row, device)
      tile.copy(src, dst)
      device:synchronize()
      assert.same(src:totable(), dst:totable())
    end)

    it("of kernels that are not here change nothing", function()
      local plan = tile.plan(tensors(COPIES[2], device))
      local file = assert(io.open(path, "w"))
      file:write(plan:key(), "\tcopy_of_another_time\t16\n")
      file:close()
      assert.equal(1, tile.load_tuning(path))
      assert.equal(tostring(plan), tostring(tile.plan(tensors(COPIES[2], device))))
    end)
  end)
end

describe("keys", function()
  local function key(dtype, from, to, offset, other)
    local src = tile.tensor(dtype, layout(8192)):view(layout(from), offset or 0)
    return tile.plan(src, tile.tensor(other or dtype, layout(to))):key()
  end

  it("are those of the problem, not of how it was written", function()
    assert.equal(key("f32", "(8,8):(8,1)", "(8,8):(8,1)"), key("i32", "64:1", "64:1"))
    assert.equal(key("f32", "(8,4):(4,1)", "(8,4):(1,8)"), key("f32", "(4,8):(1,4)", "(4,8):(8,1)"))
    assert.equal(key("f32", "64:1", "64:1"), key("f32", "64:1", "64:1", 4))
  end)

  it("tell sizes, strides and alignments apart", function()
    local all, seen = { key("f32", "64:1", "64:1"), key("f32", "64:1", "64:1", 1),
                        key("f32", "64:1", "64:1", 2), key("f64", "64:1", "64:1"),
                        key("f32", "64:2", "64:1"), key("f32", "68:1", "68:1"),
                        key("f32", "Sw<2,2,3> o 0 o 64:1", "64:1"),
                        key("f32", "Sw<2,2,3> o 1 o 64:1", "64:1"),
                        key("f32", "64:1", "64:1", 0, "i32"), key("i32", "64:1", "64:1", 0, "f32"),
                        key("f32", "64:1", "64:1", 0, "f16"),
                        key("f32", "Sw<2,2,3> o 0 o 64:1", "64:1", 1) }, {}
    for _, k in ipairs(all) do
      assert.is_nil(seen[k])
      seen[k] = true
    end
  end)
end)
