-- ampere_spec.lua: products by cp.async and mma.sync: which are taken, and random ones of all
-- types and layouts against sums of integers. MOONTILE_AMPERE: how many.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local families = dofile "spec/families.lua"
local epilogues = dofile "spec/epilogues.lua"
local pick = families.pick

local CASES = math.tointeger(os.getenv "MOONTILE_AMPERE") or 40

-- A, B, C, and the largest integer of operands whose sums all types hold. Types of C that the
-- other family has not, so that this one takes what is aligned, too.
local TYPES = {
  { "f32", "f32", "f32", 4 }, { "f32", "f32", "f64", 4 }, { "f32", "f32", "bf16", 1 },
  { "f64", "f64", "f64", 100 }, { "f64", "f64", "f32", 4 },
  { "bf16", "bf16", "f16", 1 }, { "bf16", "bf16", "bf16", 1 }, { "bf16", "bf16", "f32", 4 },
  { "f16", "f16", "bf16", 1 }, { "f16", "f16", "f64", 4 }, { "f16", "f16", "f16", 1 },
  { "i8", "i8", "i32", 100 }, { "i8", "u8", "i32", 100 }, { "u8", "i8", "i32", 100 },
  { "u8", "u8", "i32", 200 },
  { "e4m3", "e4m3", "f64", 1 }, { "e4m3", "e5m2", "f32", 1 }, { "e5m2", "e4m3", "bf16", 1 },
  { "e5m2", "e5m2", "f16", 1 },
}
local BYTES = { bf16 = 2, f16 = 2, f32 = 4, f64 = 8, e4m3 = 1, e5m2 = 1, i8 = 1, u8 = 1, i32 = 4 }

local function has_kernels(device)
  return (tonumber(device:about():match "sm_(%d+)") or 0) >= 80
end

-- Whether blocks of a cluster may share a tile.
local function has_clusters(device) return device:about():find("sm_90", 1, true) ~= nil end

-- A matrix (x,y,l) of the type: rows of whole lines, or of any length; one mode contiguous, or
-- none; a batch that may share its memory, or be none.
local function matrix(dtype, x, y, l, shared)
  local first, lines, step = pick { true, false }, pick { true, false }, pick { 1, 1, 1, 1, 2 }
  local unit = lines and math.max(16 // BYTES[dtype], 1) or 1
  local inner, outer = first and x or y, first and y or x
  local pitch = (inner * step + math.random(0, 9) + unit - 1) // unit * unit
  local stride = first and { step, pitch } or { pitch, step }
  if l == 1 or shared and math.random(5) == 1 then return layout({ x, y }, stride) end
  return layout({ x, y, l }, { stride[1], stride[2],
                               shared and pick { true, false } and 0 or pitch * outer })
end

local function random_case(device, seed)
  math.randomseed(seed)
  local types = pick(TYPES)
  local shares = types[1] == "f32" or types[1] == "f64"
  local wide = shares and pick { 1, 1, 4 } or 1 -- so wide that stream-K shares tiles
  local M, N = math.random(1, pick { 20, 150 } * wide), math.random(1, pick { 20, 200 } * wide)
  local deep = shares and M * N < 5000 and pick { 1, 20 } or 1
  local L, most = pick { 1, 1, 1, 2, 3 }, types[4]
  local listed = 4000000 // (math.max(M, N) * L) -- tables of operands are no longer
  local K = math.random(1, math.min(listed, pick { 30, 140 } * wide * deep))
  local A, B = matrix(types[1], M, K, L, true), matrix(types[2], N, K, L, true)
  local C = matrix(types[3], M, N, L, false)
  local alpha, beta = pick { 1, 1, 2, -1 }, pick { 0, 0, 1, -2 }
  local e = types[3] ~= "i32" and math.random(3) == 1 and epilogues.draw(M, N, L) or nil
  return families.check(device, { seed = seed, types = types, A = A, B = B, C = C, most = most,
                                  size = { M, N, K, L }, epilogue = e },
                        { alpha = alpha, beta = beta, family = "ampere" })
end

-- types, A, B, C, options, what the plan says; whether it takes clusters
local PLANS = {
  { "f32 f32 f32", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", nil,
    "kernel: ampere_f32_tn " },
  { "f32 f32 f32", "(128,8192):(8192,1)", "(8192,8192):(8192,1)", "(128,8192):(8192,1)", nil,
    "stream-K: 64 tiles by " },
  { "f32 f32 f32", "(1024,1024):(1024,1)", "(1024,1024):(1024,1)", "(1024,1024):(1024,1)", nil,
    "K in 2 parts", true },
  { "f32 f32 f32", "(512,4096):(4096,1)", "(4096,4096):(4096,1)", "(512,4096):(4096,1)", nil,
    "stream-K: 128 tiles by " },
  { "f32 f32 f32", "(8192,8192):(8192,1)", "(8192,8192):(8192,1)", "(8192,8192):(8192,1)", nil,
    "kernel: ampere_f32_tn " },
  { "f32 f32 f32", "(4096,4096):(1,4096)", "(4096,4096):(1,4096)", "(4096,4096):(4096,1)", nil,
    "kernel: ampere_f32_nt " },
  { "f32 f32 f32", "(4096,4096):(1,4096)", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", nil,
    "kernel: ampere_f32_nn " },
  { "f32 f32 f32", "(4096,4096):(4096,1)", "(4096,4096):(1,4096)", "(4096,4096):(4096,1)", nil,
    "kernel: ampere_f32_tt " },
  { "f32 f32 f32", "(1,4096):(4096,1)", "(4096,4096):(4096,1)", "(1,4096):(4096,1)", nil,
    "kernel: ampere_f32_1 " },
  { "f32 f32 f32", "(4096,4096):(4096,1)", "(1,4096):(4096,1)", "(4096,1):(1,1)", nil,
    "kernel: ampere_f32_1 " },
  { "f32 f32 f32", "(1,4095):(4095,1)", "(4096,4095):(4095,1)", "(1,4096):(4096,1)", nil,
    "in: A by elements along K, B by elements along K" },
  { "f32 f32 f32", "(2,4096):(4096,1)", "(4096,4096):(4096,1)", "(2,4096):(4096,1)", nil,
    "kernel: ampere_f32_16 " },
  { "f32 f32 f32", "(64,64):(64,1)", "(64,64):(1,64)", "(64,64):(64,1)", nil,
    "in: A by elements along K, B by lines\nout: by vectors" },
  { "f32 f32 f32", "(64,64):(65,1)", "(63,64):(1,65)", "(64,63):(63,1)", nil,
    "in: A by elements along K, B by elements\nout: by elements" },
  { "f64 f64 f64", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", nil,
    "kernel: ampere_f64_tn " },
  { "f64 f64 f64", "(256,16384):(16384,1)", "(256,16384):(16384,1)", "(256,256):(256,1)", nil,
    "stream-K: " },
  { "bf16 bf16 f16", "(4001,5003):(5003,1)", "(3001,5003):(5003,1)", "(4001,3001):(3001,1)",
    nil, "kernel: ampere_bf16_any (cuda)" },
  { "bf16 bf16 bf16", "(64,63):(63,1)", "(64,63):(1,65)", "(64,64):(64,1)",
    { family = "ampere" }, "in: A by windows, B by elements\n" },
  { "bf16 bf16 f16", "(64,64):(1,64)", "(64,64):(64,1)", "(64,64):(64,1)", nil,
    "kernel: ampere_bf16_nn (cuda)" },
  { "f16 f16 bf16", "(64,64):(64,1)", "(64,64):(1,64)", "(64,64):(1,64)", nil,
    "kernel: ampere_f16_nn (cuda)" },
  { "i8 u8 i32", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", nil,
    "kernel: ampere_i8_u8_tn (cuda)" },
  { "i8 i8 i32", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", { alpha = 2 },
    "kernel: ampere_i8_i8_tn (cuda)" },
  { "e4m3 e5m2 f32", "(64,64):(1,64)", "(64,64):(64,1)", "(64,64):(64,1)", nil,
    "kernel: ampere_e4m3_e5m2_any (cuda)" },
  { "f32 f32 f32", "(64,(8,8)):(64,(8,2))", "(64,64):(64,1)", "(64,64):(64,1)", nil,
    "refused: ampere: mode 2 of A has 2 axes: 1 is a matrix" },
  { "f32 f32 f32", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", { alpha = 0 },
    "refused: ampere: it is empty" },
  { "f32 f32 f32", "Sw<1,2,1> o 0 o (8,8):(8,1)", "(8,8):(8,1)", "(8,8):(8,1)", nil,
    "refused: ampere: A is swizzled in memory" },
}

for _, d in ipairs(devices) do
  if has_kernels(d.device) then
    describe("cp.async and mma.sync on " .. d.label, function()
      for _, row in ipairs(PLANS) do
        local try = (not row[7] or has_clusters(d.device)) and it or function() end
        try(row[1] .. " " .. row[2] .. " " .. row[6], function()
          families.check_plan(d.device, row)
        end)
      end

      it("an operand that runs backwards, and one that begins anywhere", function()
        local A = tile.tensor("f32", layout "24:1", d.device)
        local values_of_a = {}
        for i = 1, 24 do values_of_a[i] = i end
        A:fill(values_of_a)
        local back = A:view(layout "(5,4):(-4,1)", 17)
        local B = tile.tensor("f32", layout "(3,4):(4,1)", d.device):fill(1)
        local C = tile.tensor("f32", layout "(5,3):(3,1)", d.device)
        assert.truthy(tostring(tile.plan_gemm(back, B, C)):find("kernel: ampere_f32", 1, true))
        tile.gemm(back, B, C)
        d.device:synchronize()
        assert.same({ 78, 62, 46, 30, 14 }, { table.unpack(C:totable(), 1, 5) })
      end)

      it(CASES .. " random products", function()
        local first, taken = math.random(1 << 30), 0
        for i = 1, CASES do
          if random_case(d.device, first + i):find "^ampere" then taken = taken + 1 end
        end
        assert.equal(CASES, taken)
      end)
    end)
  end
end
