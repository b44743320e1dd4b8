-- saturation_spec.lua: sums that C cannot hold, on every device: C stops at the end of its type, as
-- copies do; what an accumulator does with them is the atom's.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

local LOW, HIGH = -0x80000000, 0x7fffffff
local RANGE = {
  i8 = { -128, 127 }, i16 = { -32768, 32767 }, i32 = { LOW, HIGH },
  i64 = { math.mininteger, math.maxinteger },
  u8 = { 0, 255 }, u16 = { 0, 65535 }, u32 = { 0, 0xffffffff }, u64 = { 0, -1 },
}
local NAMES = { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" }

local function same(want, got)
  if want == want then assert.equal(want, got) else assert.is_true(got ~= got) end
end

-- C(0,0) of K products a b.
local function product(device, types, K, a, b, old, options, mma)
  local A = tile.tensor(types[1], layout { 2, K }, device):fill(a)
  local B = tile.tensor(types[2], layout { 3, K }, device):fill(b)
  local C = tile.tensor(types[3], layout { 2, 3 }, device):fill(old)
  if mma then tile.gemm(mma, A, B, C, options) else tile.gemm(A, B, C, options) end
  device:synchronize()
  local got = C:totable()
  for i = 2, 6 do same(got[1], got[i]) end
  return got[1]
end

local WRAPS, STOPS = "SM80_8x8x16_S32U8S8S32_TN", "SM80_8x8x16_S32U8S8S32_TN_SATURATE"
local WRAPS_U, STOPS_U = "SM80_8x8x16_S32U8U8S32_TN", "SM80_8x8x16_S32U8U8S32_TN_SATURATE"
local FMA = "UniversalFMA<int32_t,int32_t,int32_t,int32_t>"
local SUMS = "SM80_16x8x16_F32F16F16F32_TN"

-- atom, atoms, types, K, a, b, C before, alpha, beta -> C
local DESCRIBED = {
  -- the atom's sum is right, what the factors make of it is not in range
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 127, 127, 0, 3000, 0, HIGH },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 127, -128, 0, 3000, 0, LOW },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, HIGH, 1, 1, HIGH },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, -1, LOW, 1, 1, LOW },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, HIGH, -1, 1, HIGH - 64 },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, HIGH, 2, -1, 128 - HIGH },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, LOW, 2^53, -2^53, HIGH },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, 64, 2^53, -2^53, 0 },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, 65, 2^53, -2^53, LOW },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, HIGH, 0, 2, HIGH },
  { WRAPS, "(1,1,1)", "u8 i8 i32", 64, 1, 1, LOW, 0, -1, HIGH },
  -- the atom's own sum is not
  { WRAPS_U, "(1,1,1)", "u8 u8 i32", 33056, 255, 255, 0, 1, 0, 33056 * 65025 - (1 << 32) },
  { STOPS_U, "(1,1,1)", "u8 u8 i32", 33056, 255, 255, 0, 1, 0, HIGH },
  { STOPS, "(1,1,1)", "u8 i8 i32", 65808, 255, -128, 0, 1, 0, LOW },
  -- of two threads that share K each has a sum in range
  { WRAPS_U, "(1,1,2)", "u8 u8 i32", 33056, 255, 255, 0, 1, 0, 33056 * 65025 - (1 << 32) },
  { STOPS_U, "(1,1,2)", "u8 u8 i32", 33056, 255, 255, 0, 1, 0, HIGH },
  { STOPS, "(1,1,2)", "u8 i8 i32", 65808, 255, -128, 0, 1, 0, LOW },
  { FMA, "(2,2,1)", "i32 i32 i32", 3, 1 << 30, 2, 0, 1, 0, 3 * (1 << 31) - (2 << 32) },
  { SUMS, "(1,1,1)", "f16 f16 f16", 2, 300, 300, 0, 1, 0, math.huge },
  { SUMS, "(1,1,1)", "f16 f16 bf16", 2, 300, 300, 0, 2^100, 0, 2^100 * 180224 },
  { SUMS, "(1,1,1)", "f16 f16 bf16", 2, 300, 300, 0, -2^127, 0, -math.huge },
  { SUMS, "(1,1,1)", "f16 f16 e5m2", 2, 300, -300, 0, 1, 0, -math.huge },
  { SUMS, "(1,1,1)", "f16 f16 e4m3", 2, 20, 20, 0, 1, 0, 0 / 0 },
  { SUMS, "(1,1,1)", "f16 f16 f32", 2, 300, 300, 0, 2^120, 0, math.huge },
  { SUMS, "(1,1,1)", "f16 f16 f64", 2, 300, 300, 0, 2^120, 0, 2^120 * 180000 },
  { "SM80_8x8x4_F64F64F64F64_TN", "(1,1,1)", "f64 f64 f32", 2, 1e30, 1e30, 0, 1, 0, math.huge },
}

local function has(device, atom)
  local mma = tile.tiled_mma { atom = atom }
  local one = tile.tensor("i32", layout { 1, 1 }, device)
  return pcall(tile.plan_gemm, mma, one, one, tile.tensor("i32", layout { 1, 1 }, device))
end

describe("sums that are out of range", function()
  for _, found in ipairs(devices) do
    local device = found.device
    for _, row in ipairs(DESCRIBED) do
      local atom, atoms, types, K, a, b, old, alpha, beta, want = table.unpack(row)
      local title = ("%s on %s: %d of %s %g %g to %g, by %g %g"):format(
        atom, found.label, K, types, a, b, old, alpha, beta)
      if atom ~= FMA or has(device, FMA) then
        it(title, function()
          local list = {}
          for name in types:gmatch "%S+" do list[#list + 1] = name end
          local mma = tile.tiled_mma { atom = atom, atoms = layout(tile.parse(atoms)) }
          local got = product(device, list, K, a, b, old, { alpha = alpha, beta = beta }, mma)
          same(want, got)
        end)
      end
    end
    it("are those of a chosen instruction, which stops too, on " .. found.label, function()
      assert.equal(HIGH, product(device, { "u8", "u8", "i32" }, 33056, 255, 255, 0))
      assert.equal(LOW, product(device, { "u8", "i8", "i32" }, 65808, 255, -128, 0))
    end)
  end
end)

-- Of the processor's own product: operands and C of any integer type.
describe("the processor's own product", function()
  local device = tile.device "cpu"
  for _, a in ipairs(NAMES) do
    it("of " .. a .. " stops at the ends of C", function()
      for _, b in ipairs(NAMES) do
        for _, c in ipairs(NAMES) do
          local x, y, ends = RANGE[a], RANGE[b], RANGE[c]
          local top = product(device, { a, b, c }, 1024, x[2], y[2], 0, { alpha = 2^53 })
          assert.equal(ends[2], top)
          if x[1] < 0 then
            local least = product(device, { a, b, c }, 5, x[1], y[2], 0, { alpha = 1 << 50 })
            assert.equal(ends[1], least)
          end
          assert.equal(6, product(device, { a, b, c }, 3, 2, 1, 0))
          assert.equal(ends[1], product(device, { a, b, c }, 3, 100, 100, 1, { alpha = -2^53 }))
        end
      end
    end)
  end
  it("is exact on the way there", function()
    -- 2^126 - 2^126 + 7
    local A = tile.tensor("i64", layout { 1, 3 }):fill { math.mininteger, math.mininteger, 7 }
    local B = tile.tensor("i64", layout { 1, 3 }):fill { math.mininteger, math.mininteger + 1, 1 }
    local C = tile.tensor("i8", layout { 1, 1 })
    tile.gemm(A, B, C)
    assert.equal(127, C(0, 0))
    B:fill { math.maxinteger, -math.maxinteger, 1 }
    tile.gemm(A, B, C)
    assert.equal(7, C(0, 0))
  end)
  it("rounds once", function()
    local A, B = tile.tensor("f64", layout { 1, 1 }), tile.tensor("f64", layout { 1, 1 }):fill(1)
    for _, row in ipairs { { "f16", 65519.9999999999, 65504 }, { "f16", 65520, math.huge },
                           { "f16", 1 + 2^-11 + 2^-40, 1 + 2^-10 },
                           { "bf16", 1 + 2^-8 - 2^-40, 1 }, { "e4m3", 463.9999999999, 448 },
                           { "e5m2", 1 + 2^-3 + 2^-40, 1.25 } } do
      local C = tile.tensor(row[1], layout { 1, 1 })
      tile.gemm(A:fill(row[2]), B, C)
      assert.equal(row[3], C(0, 0))
    end
  end)
end)
