-- gemm_spec.lua: products on every device, described and chosen, against sums of integers; their
-- plans.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

-- Small integers, which every type here holds, as their sums.
local function counting(dtype, A, device, step)
  local T, values = tile.tensor(dtype, A, device), {}
  for i = 1, T:size() do values[i] = (i * step) % 7 - (dtype:find "^u" and 0 or 3) end
  return T:fill(values)
end

-- Elements by their index: (x,y,l) -> value, for a tensor with or without a batch.
local function reader(T)
  local values, A = T:totable(), T:layout()
  local x, y = tile.size(A:get(1)), tile.size(A:get(2))
  local batch = #A == 3
  return function(i, j, l) return values[1 + i + x * (j + (batch and y * l or 0))] end
end

local function expected(A, B, C, alpha, beta)
  local a, b, old, out, c = reader(A), reader(B), C:totable(), {}, C:layout()
  local M, N = tile.size(c:get(1)), tile.size(c:get(2))
  local K = tile.size(A:layout():get(2))
  for i = 0, tile.size(c) - 1 do
    local m, n, l, sum = i % M, i // M % N, i // M // N, 0
    for k = 0, K - 1 do sum = sum + a(m, k, l) * b(n, k, l) end
    out[i + 1] = alpha * sum + beta * old[i + 1]
  end
  return out
end

local function check(device, mma, types, A, B, C, alpha, beta)
  local a, b = counting(types[1], layout(A), device, 5), counting(types[2], layout(B), device, 3)
  local c = counting(types[3], layout(C), device, 2)
  local want = expected(a, b, c, alpha, beta)
  if mma then tile.gemm(mma, a, b, c, { alpha = alpha, beta = beta })
  else tile.gemm(a, b, c, { alpha = alpha, beta = beta }) end
  device:synchronize()
  local got = c:totable()
  for i = 1, #want do
    if got[i] ~= want[i] then error(("C(%d) is %s, not %s"):format(i - 1, got[i], want[i])) end
  end
end

-- atom, atoms, permutation, types, A, B, C
local DESCRIBED = {
  { "UniversalFMA<float>", "(8,8,1):(8,1,0)", nil, "f32 f32 f32",
    "(17,9):(9,1)", "(13,9):(1,13)", "(17,13):(13,1)" },
  { "UniversalFMA<double>", "(4,2,3):(1,4,8)", "(8,8,6)", "f64 f64 f64",
    "((3,5),9):((9,27),1)", "(13,9):(9,1)", "((3,5),13):((1,39),3)" },
  { "SM80_16x8x16_F32F16F16F32_TN", "(2,2,1):(1,2,0)", "(64,32,16)", "f16 f16 f32",
    "(70,35):(35,1)", "(41,35):(35,1)", "(70,41):(1,70)" },
  { "SM80_16x8x16_F32F16F16F32_TN", "(1,2,2):(0,1,2)", "(_,(8,2,2):(1,16,8),_)", "f16 f16 f16",
    "(20,35,3):(35,1,700)", "(41,35):(1,0)", "(20,41,3):(1,60,20)" },
  { "SM80_16x8x32_S32S8U8S32_TN", "(1,2,1):(0,1,0)", nil, "i8 u8 i32",
    "Sw<3,4,3> o 0 o (32,64):(64,1)", "(24,64):(64,1)", "(32,24):(24,1)" },
  { "SM80_8x8x4_F64F64F64F64_TN", "(2,1,1):(1,0,0)", nil, "f64 f64 f32",
    "(9,5):(1,9)", "(10,5):(-1,-10)", "(9,10):(10,1)" },
  { "SM90_64x24x16_F32F16F16_SS", "(2,1,1):(1,0,0)", "(_,48,32)", "f16 f16 f32",
    "(100,40):(40,1)", "(30,40):(40,1)", "(100,30):(30,1)" },
  { "SM90_64x16x32_S32S8S8_SS_TN", "(1,1,1):(0,0,0)", nil, "i8 i8 i32",
    "(70,33):(33,1)", "(30,33):(33,1)", "(70,30):(30,1)" },
  { "UniversalFMA<float>", "(1,1,1):(0,0,0)", nil, "f32 f32 f32",
    "(3,4,2):(4,1,12)", "(5,4,2):(4,1,20)", "(3,5,2):(5,1,15)" },
  { "UniversalFMA<double>", "(1,2,1):(0,1,0)", nil, "f64 f64 f64",
    "(3,4,2):(4,1,12)", "(5,4,2):(4,1,20)", "(3,5,2):(5,1,15)" },
}

-- types, A, B, C
local CHOSEN = {
  { "f32 f32 f32", "(33,20):(20,1)", "(18,20):(20,1)", "(33,18):(18,1)" },
  { "f16 f16 f32", "(33,20,2):(20,1,660)", "(18,20,2):(40,2,1)", "(33,18,2):(1,33,594)" },
  { "bf16 bf16 f32", "(5,8):(8,1)", "(7,8):(1,7)", "(5,7):(1,5)" },
  { "f64 f64 f64", "(5,(2,4)):(8,(4,1))", "(7,(2,4)):(1,(7,14))", "(5,7):(1,5)" },
  { "i8 u8 i32", "(33,70):(70,1)", "(9,70):(70,1)", "(33,9):(9,1)" },
  { "f32 f32 f32", "(3,0):(1,3)", "(4,0):(1,4)", "(3,4):(1,3)" },
  { "f32 f32 f32", "(0,5):(1,1)", "(4,5):(1,4)", "(0,4):(1,1)" },
}

local function split(types)
  local out = {}
  for word in types:gmatch "%S+" do out[#out + 1] = word end
  return out
end

local function zeros(dtype, shape, device) return tile.tensor(dtype, layout(shape), device) end

local function described(row)
  return tile.tiled_mma { atom = row[1], atoms = layout(row[2]),
                          permutation = row[3] and tile.parse(row[3]) }
end

for _, d in ipairs(devices) do
  local device = d.device

  describe("described products on " .. d.label, function()
    for _, row in ipairs(DESCRIBED) do
      it(("%s %s %s"):format(row[1], row[2], row[4]), function()
        check(device, described(row), split(row[4]), row[5], row[6], row[7], 1, 0)
        check(device, described(row), split(row[4]), row[5], row[6], row[7], 2, -1)
      end)
    end
  end)

  describe("products on " .. d.label, function()
    for _, row in ipairs(CHOSEN) do
      it(table.concat(row, " "), function()
        check(device, nil, split(row[1]), row[2], row[3], row[4], 1, 0)
        check(device, nil, split(row[1]), row[2], row[3], row[4], -1, 2)
      end)
    end

    it("are plans that are launched again and again, on streams", function()
      local A, B = zeros("f32", { 4, 3 }, device):fill(1), zeros("f32", { 5, 3 }, device):fill(2)
      local C = zeros("f32", { 4, 5 }, device)
      device:synchronize()
      local plan = assert(tile.plan_gemm(A, B, C, { beta = 1 }))
      local stream <close> = device:stream()
      for _ = 1, 3 do plan(stream) end
      stream:synchronize()
      assert.equal(18, C(3, 4))
      tile.gemm(A, B, C, { alpha = 0, stream = stream })
      stream:synchronize()
      assert.equal(0, C(3, 4))
    end)

    it("scale C alone where alpha is 0, whatever is in A and B", function()
      local A, B = zeros("f32", { 4, 3 }, device):fill(0 / 0), zeros("f32", { 5, 3 }, device)
      local options = { alpha = 0, beta = -2 }
      local fma = tile.tiled_mma { atom = "UniversalFMA<float>" }
      for _, mma in ipairs { false, fma } do
        local C = zeros("f32", { 4, 5 }, device):fill(3)
        if mma then tile.gemm(mma, A, B, C, options) else tile.gemm(A, B, C, options) end
        device:synchronize()
        assert.equal(-6, C(0, 0))
        assert.equal(-6, C(3, 4))
      end
    end)

    it("keep their buffers alive, and know when one was freed", function()
      local C = zeros("f32", { 4, 5 }, device)
      local plan = tile.plan_gemm(zeros("f32", { 4, 3 }, device):fill(1),
                                  zeros("f32", { 5, 3 }, device):fill(1), C)
      collectgarbage()
      plan()
      device:synchronize()
      assert.equal(3, C(0, 0))
      C:free()
      assert.error(plan, "plan: the tensor C was freed")
      plan:free()
      assert.error(plan, "this plan was freed")
    end)
  end)

  if device:name():find "^cuda" then
    it("an atom of another architecture is refused, with those that are there", function()
      local mma = tile.tiled_mma { atom = "SM100_MMA_F16BF16_SS<half_t,half_t,float,64,64,K,K>" }
      local A = tile.tensor("f16", layout { 64, 16 }, device)
      local C = tile.tensor("f32", layout { 64, 64 }, device)
      local ok, text = pcall(tile.gemm, mma, A, A, C)
      assert.falsy(ok)
      assert.truthy(text:find("an instruction of sm100a, has no kernel on cuda:0", 1, true), text)
      assert.truthy(text:find("for f16, f16 and f32 it has: ", 1, true), text)
      assert.truthy(text:find("SM*_16x8x16_F32F16F16F32_TN", 1, true), text)
      assert.falsy(text:find("_F32BF16", 1, true), text)
    end)
  end
end

describe("plans of products", function()
  local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN",
                               atoms = layout({ 2, 1, 2 }, { 1, 0, 2 }),
                               permutation = { 64, 8, 32 } }
  local cpu = tile.device "cpu:checked"
  local A = tile.tensor("f16", layout({ 100, 40 }, "right"), cpu)
  local B = tile.tensor("f16", layout({ 20, 40 }, "right"), cpu)
  local C = tile.tensor("f32", layout({ 100, 20 }, "right"), cpu)

  it("print themselves", function()
    assert.equal([[
plan: gemm f16 (100,40):(40,1) by f16 (20,40):(40,1) to f32 (100,20):(20,1)
kernel: mma_ref (cpu:checked)
grid: 12 atoms of every thread on 1 thread
atom: SM80_16x8x16_F32F16F16F32_TN
threads: 128, 2 of them along K
tile: 64 x 8 x 32, atoms of a thread: 2 x 1 x 1
tiles: 2 x 3 x 2
size: 100 x 20 x 40
factors: alpha 1.5, beta 1]], tostring(tile.plan(mma, A, B, C, { alpha = 1.5, beta = 1 })))
  end)
end)
