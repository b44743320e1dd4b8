-- described.lua: random descriptions of kernels, most of them wrong somewhere, with their operands.
-- description() -> options of tile.kernel, a row { atom, atoms, dtype of A and B, of C };
-- operands(row, device) -> A, B, C; ending(options, row, C) -> what gemm gets by the kernel, what
-- without one. device: nil is the CPU.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local random = math.random

local function one(list) return list[random(#list)] end

-- atom, atoms, dtype of A and B, of C
local MMAS = {
  { "SM80_16x8x16_F32BF16BF16F32_TN", { 2, 2 }, "bf16", "f32" },
  { "SM80_16x8x8_F32F16F16F32_TN", { 2, 1 }, "f16", "f32" },
  { "SM80_16x8x32_S32S8S8S32_TN", { 1, 2 }, "i8", "i32" },
  { "SM80_16x8x8_F32TF32TF32F32_TN", { 2, 1, 2 }, "f32", "f32" },
  { "SM70_8x8x4_F32F16F16F32_TN", { 2, 2 }, "f16", "f32" },
  { "UniversalFMA<float>", { 8, 8 }, "f32", "f32" },
  { "SM90_64x32x16_F32BF16BF16_SS", 1, "bf16", "f32" },
  { "SM90_64x16x16_F32F16F16_SS", { 2, 1 }, "f16", "f32" },
  { "SM90_64x16x16_F32F16F16_RS", 1, "f16", "f32" },
  { "SM90_64x32x8_F32TF32TF32_SS_TN", 1, "f32", "f32" },
}

local function stage_of(m, k, bits)
  local rows, columns = layout({ m, k }, "right"), layout { m, k }
  local way = random(8)
  if way == 1 then return rows end
  if way == 2 then return columns end
  if way == 3 then return layout({ m, k }, { k + one { 1, 2, 4, 8 }, 1 }) end
  if way == 4 then return layout({ m, k }, { 1, m + one { -1, 1, 8 } }) end
  if way == 5 then return tile.swizzle(random(0, 3), random(0, 4), random(3, 4)) * rows end
  if way == 6 then return layout({ m, k, 2 }, { k, 1, m * k - one { 0, 0, 1, 8 } }) end
  local atom = ("GMMA::Layout_%s_%s_Atom"):format(one { "K", "K", "MN" },
                                                  one { "INTER", "SW32", "SW64", "SW128" })
  local ok, smem = pcall(tile.tile_to_shape, tile.smem_atom(atom, bits), { m, k })
  return ok and smem or nil
end

local function copy_of(m, bits)
  local width = one { 16, 32, 64, 128 }
  if width < bits then width = bits end
  local vec, c = width // bits, one { 1, 2, 4, 8 }
  local atom = one { "SM80_CP_ASYNC_CACHEALWAYS<uint%d_t>", "UniversalCopy<uint%d_t>" }
  if width < 32 then atom = "UniversalCopy<uint%d_t>" end
  local thr = one { 32, 64, 128 } // c
  local ok, copy = pcall(tile.tiled_copy, {
    atom = atom:format(width), bits = bits, thr = layout({ thr, c }, { c, 1 }),
    val = layout { 1, vec } })
  return ok and m > 0 and copy or nil
end

local function description()
  local row = one(MMAS)
  local mma = tile.tiled_mma { atom = row[1], atoms = layout(row[2]) }
  local shape, bits = mma:tile_shape(), 8 * ({ bf16 = 2, f16 = 2, i8 = 1, f32 = 4 })[row[3]]
  local bM, bN, bK = shape[1] * random(2), shape[2] * random(2), shape[3] * one { 1, 2, 2, 4 }
  if random(12) == 1 then bN = bN + 8 end
  local k = { mma = mma, tile = { bM, bN, bK }, stages = random(4),
              schedule = one { "multistage", "multistage", "cooperative", "pingpong" } }
  if random(4) == 1 then k.ahead = random(0, 5) end
  local function some(of, chance) if random(chance) == 1 then return of() end end
  k.smem = { A = some(function() return stage_of(bM, bK, bits) end, 2),
             B = some(function() return stage_of(bN, bK, bits) end, 2),
             D = some(function() return layout({ bM, bN }, { bN + one { 0, 1, 4 }, 1 }) end, 4) }
  local function fill(m)
    if random(3) > 1 then return one { "tma", "cp.async", "threads" } end
    return copy_of(m, bits)
  end
  k.g2s = { A = some(function() return fill(bM) end, 2),
            B = some(function() return fill(bN) end, 2) }
  if random(6) == 1 then k.s2r = { A = one { "SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N",
                                             "SM75_U16x4_LDSM_T", "UniversalCopy<uint32_t>" } } end
  if row[4] == "f32" and random(3) == 1 then
    k.epilogue = { alpha = random(2), beta = random(0, 1), activation = one { "none", "relu" },
                   bias = one { "row", "column", false } or nil, residual = random(2) == 1 }
  end
  return k, row
end

local function numbers(dtype, A, device)
  local values = {}
  for i = 1, A:size() do values[i] = random(-3, 3) end
  return tile.tensor(dtype, A, device):fill(values)
end

local function operands(row, device)
  local m, n, k = random(1, 140), random(1, 80), 8 * random(0, 20)
  local function of(rows)
    if random(3) > 1 then return layout({ rows, k }, "right") end
    return layout({ rows, k }, { 1, (rows + 15) // 16 * 16 })
  end
  local A, B = numbers(row[3], of(m), device), numbers(row[3], of(n), device)
  return A, B, tile.tensor(row[4], layout({ m, n }, "right"), device)
end

-- What the kernel's epilogue reads, and its product without a kernel: two tables of options.
local function ending(options, row, C, device)
  local e, given, plain = options.epilogue or {}, {}, {}
  local n = e.bias == "row" and C:size(2) or C:size(1)
  local bias = e.bias and numbers(row[4], layout(n), device)
  given.bias, given.residual = bias, e.residual and C or nil
  plain.bias, plain.residual = bias and { [e.bias] = bias }, given.residual
  plain.alpha, plain.beta, plain.activation = e.alpha, e.beta, e.activation
  return given, plain
end

return { description = description, operands = operands, ending = ending }
