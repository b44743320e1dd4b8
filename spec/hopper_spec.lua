-- hopper_spec.lua: products by TMA and wgmma where a GPU has them: which are taken, and random
-- ones against sums of integers. MOONTILE_HOPPER: how many.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local families = dofile "spec/families.lua"
local epilogues = dofile "spec/epilogues.lua"
local pick = families.pick

local CASES = math.tointeger(os.getenv "MOONTILE_HOPPER") or 40

-- A, B, C, and the largest integer of operands whose sums all types hold.
local TYPES = {
  { "bf16", "bf16", "bf16", 1 }, { "bf16", "bf16", "f32", 4 }, { "f16", "f16", "f16", 1 },
  { "f16", "f16", "f32", 4 }, { "e4m3", "e4m3", "bf16", 1 }, { "e4m3", "e4m3", "f32", 1 },
  { "e4m3", "e4m3", "f16", 1 }, { "e5m2", "e5m2", "f32", 1 }, { "e5m2", "e5m2", "bf16", 1 },
  { "i8", "i8", "i32", 100 }, { "u8", "u8", "i32", 200 }, { "f32", "f32", "f32", 9 },
}
local BYTES = { bf16 = 2, f16 = 2, f32 = 4, e4m3 = 1, e5m2 = 1, i8 = 1, u8 = 1, i32 = 4 }

local function has_kernels(device)
  return device:about():find "sm_90" ~= nil
end

-- A (x,y,l) of the type: one mode contiguous, rows of `pitch` elements.
local function matrix(x, y, l, first, pitch)
  local inner, outer = first and x or y, first and y or x
  local stride = first and { 1, pitch } or { pitch, 1 }
  assert(pitch >= inner)
  if l == 1 then return layout({ x, y }, stride) end
  return layout({ x, y, l }, { stride[1], stride[2], pitch * outer })
end

-- Two factors of n.
local function cut(n)
  if n % 3 == 0 then return 3, n // 3 end
  if n % 2 == 0 then return n // 2, 2 end
  return n, 1
end

-- A (x,y,l) whose modes have two axes each, in any order in memory, the batch anywhere, with gaps
-- or without.
local function folded(x, y, l)
  local p, q, order, stride, step = { cut(x) }, { cut(y) }, { 1, 2, 3, 4, 5 }, {}, math.random(2)
  local extents = { p[1], p[2], q[1], q[2], l }
  for i = 5, 2, -1 do
    local k = math.random(i)
    order[i], order[k] = order[k], order[i]
  end
  for _, i in ipairs(order) do stride[i], step = step, step * extents[i] end
  local modes = { { stride[1], stride[2] }, { stride[3], stride[4] }, stride[5] }
  return layout({ p, q, l > 1 and l or nil }, { modes[1], modes[2], l > 1 and modes[3] or nil })
end

-- The layout, or what all batches share: without a batch, or with one of stride 0.
local function maybe_shared(A)
  if tile.rank(A) < 3 or math.random(3) < 3 then return A end
  local one = A:take(1, 2)
  return pick { one, tile.make_layout(one[1], one[2], layout(A:shape()[3], 0)) }
end

local function random_case(device, seed)
  math.randomseed(seed)
  local types = pick(TYPES)
  local M, N, K = math.random(1, 150), math.random(1, 280), math.random(1, 140)
  local L = pick { 1, 1, 1, 2, 3 }
  if math.random(3) == 1 then                    -- narrow, and long: K in parts
    M, N, K, L = math.random(1, 70), math.random(1, 140), math.random(1, 600), 1
    if math.random(2) == 1 then M, N = N, M end
  end
  local free = math.random(4) == 1 or BYTES[types[1]] == 2
  local unit = math.max(pick { 16, 16, 16, 1 } // BYTES[types[1]], 1)
  local function pitch(n) return (n + unit) // unit * unit end
  local a_first, b_first = free and pick { true, false }, free and pick { true, false }
  local c_first, integral = pick { true, false }, types[3] == "i32"
  local A = matrix(M, K, L, a_first, pitch(a_first and M or K))
  local B = matrix(N, K, L, b_first, pitch(b_first and N or K))
  local C = matrix(M, N, L, c_first, (c_first and M or N) + math.random(0, 9))
  if math.random(5) == 1 then A = folded(M, K, L) end
  if math.random(5) == 1 then B = folded(N, K, L) end
  local e = types[3] ~= "i32" and math.random(3) == 1 and epilogues.draw(M, N, L) or nil
  if math.random(5) == 1 then
    C = folded(M, N, L)
    if e and e.residual == "C" then e.residual = nil end      -- it is no matrix
  end
  A, B = maybe_shared(A), maybe_shared(B)
  local alpha = integral and 1 or pick { 1, 1, 2, -1 }
  local beta = integral and 0 or pick { 0, 0, 1, -2 }
  local precision = types[1] == "f32" and pick { "tf32", "3xtf32" } or nil
  return families.check(device, { seed = seed, types = types, A = A, B = B, C = C,
                                  most = types[4], size = { M, N, K, L }, epilogue = e },
                        { alpha = alpha, beta = beta, precision = precision, family = "hopper" })
end

-- types, A, B, C, options, what the plan says
local PLANS = {
  { "bf16 bf16 bf16", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", nil,
    "kernel: hopper_bf16_tn_256" },
  { "f16 f16 f32", "(1024,1024):(1,1024)", "(1024,1024):(1,1024)", "(1024,1024):(1,1024)", nil,
    "kernel: hopper_f16_f32_nt_64" },
  { "bf16 bf16 bf16", "(16,8192):(8192,1)", "(8192,8192):(8192,1)", "(16,8192):(8192,1)", nil,
    "clusters of 2, K in 2 parts" },
  { "f16 f16 f32", "(1,8192):(8192,1)", "(8192,8192):(1,8192)", "(1,8192):(8192,1)", nil,
    "kernel: hopper_f16_f32_nn_16" },
  { "bf16 bf16 bf16", "(320,4096):(4096,1)", "(4096,4096):(4096,1)", "(320,4096):(4096,1)", nil,
    "kernel: hopper_bf16_tn_160_turned_alone" },
  { "f16 f16 f16", "(620,4096):(4096,1)", "(4096,4096):(1,4096)", "(620,4096):(4096,1)", nil,
    "kernel: hopper_f16_nn_160_turned (cuda)" },
  { "bf16 bf16 bf16", "(780,5120):(5120,1)", "(5120,5120):(5120,1)", "(780,5120):(5120,1)", nil,
    "tiles: 40 x 5 x 80\nstream-K: by 65 clusters, memory: 10665984 bytes\nout: by TMA, turned" },
  { "e4m3 e4m3 bf16", "(320,8192):(8192,1)", "(4096,8192):(8192,1)", "(320,4096):(4096,1)", nil,
    "out: by TMA, turned" },
  { "bf16 bf16 f32", "(320,4096):(4096,1)", "(4096,4096):(4096,1)", "(320,4096):(4096,1)", nil,
    "out: by TMA\n" },
  { "e4m3 e4m3 bf16", "(300,4096):(4096,1)", "(9,4096):(4096,1)", "(300,9):(9,1)", nil,
    "kernel: hopper_e4m3_bf16_16" },
  { "bf16 bf16 bf16", "(64,64):(64,1)", "(63,64):(64,1)", "(64,63):(63,1)", nil,
    "out: by rows" },
  { "bf16 bf16 bf16", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", { beta = 1 },
    "kernel: hopper_bf16_tn_64_epilogue" },
  { "bf16 bf16 bf16", "(442,72):(72,1)", "(8722,72):(72,1)", "(442,8722):(8722,1)", nil,
    "out: by words of rows" },
  { "bf16 bf16 bf16", "(442,72):(72,1)", "(8723,72):(72,1)", "(442,8723):(8723,1)", nil,
    "out: by words of rows" },
  { "bf16 bf16 f32", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", { beta = 1 },
    "out: by rows" },
  { "bf16 bf16 bf16", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", nil, "out: by TMA" },
  { "bf16 bf16 bf16", "(2048,2047):(2047,1)", "(2048,2047):(2048,1)", "(2048,2048):(2048,1)", nil,
    "packed: mode 1 of A has a stride of 4094 bytes: TMA takes multiples of 16\n"
    .. "packing: pack_rows_4, 512 blocks of 256 threads\nmemory: 8388608 bytes" },
  { "bf16 bf16 bf16", "(300,63):(63,1)", "(200,63):(63,1)", "(300,200):(200,1)",
    { family = "hopper" }, "packing: pack_rows_1, 17 blocks of 256 threads" },
  { "bf16 bf16 bf16", "(300,64):(1,301)", "(200,64):(64,1)", "(300,200):(200,1)",
    { family = "hopper" },
    "packed: mode 2 of A has a stride of 602 bytes: TMA takes multiples of 16\n"
    .. "packing: pack_rows_1, 10 blocks of 256 threads" },
  { "e4m3 e4m3 f32", "(64,64):(1,64)", "(64,64):(64,1)", "(64,64):(64,1)", nil,
    "packed: K of A is not contiguous, which e4m3 wants" },
  { "bf16 bf16 bf16", "(64,64):(128,2)", "(64,64):(64,1)", "(64,64):(64,1)",
    { family = "hopper" },
    "packed: mode 1 of A is not contiguous" },
  { "bf16 bf16 bf16", "(64,(8,8)):(64,(8,1))", "(64,64):(64,1)", "(64,64):(64,1)", nil,
    "packed: mode 2 of A has 2 axes: 1 is a matrix" },
  { "bf16 bf16 bf16", "(64,64):(64,1)", "(64,64):(64,1)", "(64,(8,8)):(64,(8,1))", nil,
    "packed: mode 2 of C has 2 axes: 1 is a matrix" },
  { "f32 f32 f32", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)",
    { precision = "tf32" }, "kernel: hopper_tf32_256" },
  { "f32 f32 f32", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", "(4096,4096):(4096,1)",
    { precision = "3xtf32" }, "refused: ampere: " },
  { "f32 f32 f32", "(16,8192):(8192,1)", "(8192,8192):(8192,1)", "(16,8192):(8192,1)",
    { precision = "3xtf32" }, "refused: hopper: " },
  { "f32 f32 f32", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", nil,
    "refused: hopper: f32 is read as tf32 with precision = \"tf32\" or \"3xtf32\"" },
  { "i8 i8 i32", "(64,64):(64,1)", "(64,64):(64,1)", "(64,64):(64,1)", { alpha = 2 },
    "refused: hopper: integers are not scaled" },
}

for _, d in ipairs(devices) do
  if has_kernels(d.device) then
    describe("TMA and wgmma on " .. d.label, function()
      for _, row in ipairs(PLANS) do
        it(row[1] .. " " .. row[2] .. " " .. row[6], function()
          families.check_plan(d.device, row)
        end)
      end

      -- A block alone has more slabs than stages, or one more tile than one. On the driver of
      -- the tests kernels do not run, and these take long: kernels.hopper emulates them.
      for _, x in ipairs(d.fake and {} or {
        { "bf16", "bf16", 1024, 1024, 1024 }, { "bf16", "bf16", 1804, 6728, 64 },
        { "i8", "i32", 1024, 1024, 2048 },
      }) do
        local M, N, K = x[3], x[4], x[5]
        it(("more slabs than stages: %s %dx%dx%d"):format(x[1], M, N, K), function()
          local A = tile.tensor(x[1], layout({ M, K }, "right"), d.device):fill(1)
          local B = tile.tensor(x[1], layout({ N, K }, "right"), d.device):fill(1)
          local C = tile.tensor(x[2], layout({ M, N }, "right"), d.device)
          local plan = tile.plan_gemm(A, B, C)
          assert.matches("kernel: hopper", tostring(plan))
          plan()
          for _, at in ipairs { { 0, 0 }, { M - 1, N - 1 }, { M // 2, N // 3 } } do
            assert.equal(K, C(at[1], at[2]))
          end
        end)
      end

      it("three terms keep what tf32 leaves out", function()
        local M, N, K = 40, 30, 200
        local a, b, most = {}, {}, { tf32 = 0, ["3xtf32"] = 0 }
        for i = 1, M * K do a[i] = string.unpack("f", string.pack("f", math.random() + 0.5)) end
        for i = 1, N * K do b[i] = string.unpack("f", string.pack("f", math.random() + 0.5)) end
        local A = tile.tensor("f32", layout({ M, K }, "right"), d.device):fill(a)
        local B = tile.tensor("f32", layout({ N, K }, "left"), d.device):fill(b)
        local want = families.reference(a, b, {}, M, N, K, 1, 1, 0)
        for precision in pairs(most) do
          local C = tile.tensor("f32", layout({ M, N }, "right"), d.device)
          tile.gemm(A, B, C, { precision = precision, family = "hopper" })
          for i, x in ipairs(C:totable()) do
            most[precision] = math.max(most[precision], math.abs(x / want[i] - 1))
          end
        end
        assert.is_true(most.tf32 > 2 ^ -13, ("tf32: %g"):format(most.tf32))
        assert.is_true(most["3xtf32"] < 2 ^ -17, ("3xtf32: %g"):format(most["3xtf32"]))
      end)

      it(CASES .. " random products", function()
        local first, taken = math.random(1 << 30), 0
        for i = 1, CASES do
          if random_case(d.device, first + i):find "^hopper" then taken = taken + 1 end
        end
        assert.is_true(taken > 0)
      end)
    end)
  end
end
