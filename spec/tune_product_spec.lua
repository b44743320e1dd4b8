-- tune_product_spec.lua: the ways of products on every device, and those that were measured.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local families = dofile "spec/families.lua"
local ways_of = dofile "spec/ways.lua"
local devices = dofile "spec/devices.lua"
local layout = tile.layout
local the_chosen, possible = ways_of.the_chosen, ways_of.possible

-- types of A, B, C; M, N, K, L; layouts; options
local PRODUCTS = {
  { "bf16 bf16 bf16", { 40, 33, 200, 1 }, "(40,200):(200,1)", "(33,200):(200,1)",
    "(40,33):(40,1)" },
  { "bf16 bf16 bf16", { 7, 20, 33, 1 }, "(7,33):(33,1)", "(20,33):(33,1)", "(7,20):(20,1)" },
  { "f16 f16 f32", { 20, 30, 64, 3 }, "(20,64,3):(64,1,1280)", "(30,64,3):(1,32,2048)",
    "(20,30,3):(1,20,600)", { alpha = 2 } },
  { "i8 i8 i32", { 65, 9, 50, 1 }, "(65,50):(1,65)", "(9,50):(50,1)", "(65,9):(9,1)" },
  { "f32 f32 f32", { 16, 70, 33, 1 }, "(16,33):(33,1)", "(70,33):(33,1)", "(16,70):(70,1)" },
  { "f32 f32 f32", { 40, 41, 64, 1 }, "(40,64):(64,1)", "(41,64):(1,41)", "(40,41):(1,40)",
    { precision = "3xtf32" } },
  { "bf16 bf16 f32", { 24, 16, 48, 1 }, "((4,6),48):((1,200),4)", "(16,48):(-48,1)",
    "(24,(4,4)):(16,(4,1))" },
}

local function tensors(row, device)
  local M, N, K, L = table.unpack(row[2])
  local sizes, t, i = { M * K * L, N * K * L, M * N * L }, {}, 0
  for dtype in row[1]:gmatch "%S+" do
    i = i + 1
    local A = layout(row[2 + i])
    local low, high = tile.footprint(A)
    t[i] = tile.tensor(dtype, layout(high - low + 1), device):view(A, -low)
    t[i]:fill(families.values(sizes[i], 3, true))
  end
  return t[1], t[2], t[3]
end

local forget = tile.forget_tuning

-- The numbers of lines "packed:" and "memory:" of a plan.
local function packed(plan)
  local text = tostring(plan)
  return select(2, text:gsub("\npacked: ", "")), tonumber(text:match "\nmemory: (%d+)" or "0")
end

for _, d in ipairs(devices) do
  local device = d.device
  local A, B, C = tensors(PRODUCTS[1], device)
  local way = tile.plan_gemm(A, B, C):why()[1]

  if way.parts then
    describe("ways of a product on " .. d.label, function()
      before_each(forget)
      after_each(forget)

      for _, row in ipairs(PRODUCTS) do
        local name = ("%s: %s by %s to %s"):format(row[1], row[3], row[4], row[5])

        it("one is chosen, none is predicted to be faster: " .. name, function()
          local a, b, c = tensors(row, device)
          local plan = tile.plan_gemm(a, b, c, row[6])
          local chosen, last = the_chosen(plan:why()), nil
          assert.truthy(tostring(plan):find("kernel: " .. chosen.kernel, 1, true))
          for _, x in ipairs(plan:why()) do
            assert.equal(x.chosen, x.why == nil)
            assert.equal(x.possible, x.parts ~= nil)
            if x.possible then
              assert.is_true(x.predicted >= chosen.predicted)
              assert.is_true(last == nil or last.predicted <= x.predicted)
              assert.equal(x.algorithm, x.kernel:match "^%a+")
              last = x
            end
          end
        end)

        it("each gives the same: " .. name, function()
          local a, b, c = tensors(row, device)
          local M, N, K, L = table.unpack(row[2])
          local alpha = row[6] and row[6].alpha or 1
          local want = families.reference(a:totable(), b:totable(), {}, M, N, K, L, alpha, 0)
          -- as C holds it: 267 is 268 in bf16
          want = tile.tensor(row[1]:match "%S+$", layout(#want)):fill(want):totable()
          local plan = tile.plan_gemm(a, b, c, row[6])
          for _, x in ipairs(possible(plan:why())) do
            c:fill(0)
            assert.equal(plan, plan:take(x.kernel, x.parts))
            plan()
            device:synchronize()
            local got = c:totable()
            for i = 1, #want do
              if got[i] ~= want[i] then
                error(("%s by %d parts: C(%d) is %s, not %s"):format(x.kernel, x.parts, i - 1,
                                                                    got[i], want[i]))
              end
            end
            local chosen = the_chosen(plan:why())
            assert.same({ x.kernel, x.parts }, { chosen.kernel, chosen.parts })
            local lines, bytes = packed(plan)
            assert.is_true(lines == 0 or bytes > 0)
            if x.algorithm ~= "hopper" then assert.equal(0, bytes) end
          end
        end)

        it("tuned, the fastest is taken and remembered: " .. name, function()
          local a, b, c = tensors(row, device)
          local plan = tile.plan_gemm(a, b, c, row[6])
          local tuned, ways = tile.tune(plan, { rounds = 1 })
          local chosen = the_chosen(ways)
          assert.equal(plan, tuned)
          for _, x in ipairs(ways) do
            assert.equal(x.possible, x.measured ~= nil)
            if x.measured then assert.is_true(chosen.measured * 0.99 <= x.measured) end
          end
          a, b, c = tensors(row, device)
          local later = tile.plan_gemm(a, b, c, row[6])
          local again = the_chosen(later:why())
          assert.same({ chosen.kernel, chosen.parts, true },
                      { again.kernel, again.parts, again.tuned })
          later()
          local first = c:totable()
          c:fill(0)
          tile.gemm(a, b, c, row[6])
          assert.same(first, c:totable())
        end)
      end

      it("are kept in a file, and decide against the prediction", function()
        local path = os.tmpname()
        local a, b, c = tensors(PRODUCTS[1], device)
        local plan, slowest = tile.plan_gemm(a, b, c), nil
        for _, x in ipairs(plan:why()) do if x.possible then slowest = x end end
        tile.tune(plan, { rounds = 1, file = path })
        local file = assert(io.open(path, "a"))
        file:write(plan:key(), "\t", slowest.kernel, "\t", slowest.parts, "\n")
        file:close()
        forget()
        assert.equal(2, tile.load_tuning(path))
        os.remove(path)
        local chosen = the_chosen(tile.plan_gemm(a, b, c):why())
        assert.same({ slowest.kernel, slowest.parts, true },
                    { chosen.kernel, chosen.parts, chosen.tuned })
      end)

      it("are those of the family that was asked for", function()
        local a, b, c = tensors(PRODUCTS[2], device)
        for _, name in ipairs { "hopper", "ampere" } do
          local plan = tile.plan_gemm(a, b, c, { family = name })
          for _, x in ipairs(plan:why()) do
            if x.possible then assert.equal(name, x.algorithm) end
          end
          assert.not_equal(tile.plan_gemm(a, b, c):key(), plan:key())
        end
      end)

      it("are not measured where each launch adds to C", function()
        local a, b, c = tensors(PRODUCTS[1], device)
        local before = c:totable()
        local ok, message = pcall(tile.tune, tile.plan_gemm(a, b, c, { beta = 1 }))
        assert.is_false(ok)
        assert.equal("tune: with beta, or with C as residual, each launch adds to C\n"
                     .. "tune a plan of such tensors with a C that may be lost; later plans take "
                     .. "its kernel", message)
        assert.same(before, c:totable())
      end)

      it("that there are not are refused, and nothing changes", function()
        local a, b, c = tensors(PRODUCTS[2], device)
        local plan = tile.plan_gemm(a, b, c)
        local before = tostring(plan)
        local chosen = the_chosen(plan:why())
        for _, x in ipairs { { chosen.kernel, 3 }, { chosen.kernel, 0 }, { "mma", 1 },
                             { "ampere_f64_tn", 1 } } do
          local ok, message = pcall(plan.take, plan, x[1], x[2])
          assert.is_false(ok)
          local what = "plan: %s with K in %d parts is no way to do it on %s"
          assert.truthy(message:find(what:format(x[1], x[2], device:name()), 1, true), message)
          assert.equal(before, tostring(plan))
        end
        local x = tile.tensor("f32", layout { 8, 8 }, device)
        local y = tile.tensor("f32", layout { 8, 8 }, device)
        plan = tile.plan_gemm(x, x, y)
        y:free()
        local ok, message = pcall(plan.take, plan, "ampere_f32", 1)
        assert.is_false(ok)
        assert.matches("the tensor C was freed", message)
      end)

      it("leave what a graph recorded as it was", function()
        local a, b, c = tensors(PRODUCTS[2], device)
        local plan = tile.plan_gemm(a, b, c)
        plan()
        local want = c:totable()
        for _, family in ipairs { "hopper", "ampere" } do
          local ways = possible(plan:why())
          local first = ways[1]
          for _, x in ipairs(ways) do if x.algorithm == family then first = x end end
          plan:take(first.kernel, first.parts)
          local graph = device:graph(function() plan() end)
          for _, x in ipairs(ways) do
            plan:take(x.kernel, x.parts)
            for _, f in ipairs { graph, plan } do
              c:fill(0)
              f()
              assert.same(want, c:totable())
            end
          end
          graph:free()
        end
      end)

      it("print themselves", function()
        local a, b, c = tensors(PRODUCTS[1], device)
        local text = tostring(tile.plan_gemm(a, b, c):why())
        assert.matches("^kernel +algorithm +parts +predicted us", text)
        assert.matches("hopper_bf16_tn_%d+", text)
        assert.matches("ampere_bf16_tn", text)
      end)
    end)
  elseif device:name():match "^cpu$" then
    it("a product of a processor has one way", function()
      local ok, message = pcall(tile.tune, tile.plan_gemm(A, B, C))
      assert.is_false(ok)
      assert.equal("tune: this product has one way, print(plan:why()) shows it", message)
    end)
  end
end

