-- kernel_epilogue_spec.lua: described kernels that finish what they store: bias, activation,
-- residual, the type of C; proven, executed by stages and, on a GPU, by the row that does the same:
-- against products and then element by element in doubles.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local refused = dofile "spec/refused.lua"
local epilogues = dofile "spec/epilogues.lua"
local families = dofile "spec/families.lua"

local random, pick = math.random, families.pick
local SEED = tonumber(os.getenv "MOONTILE_SEED") or 3
local CASES = math.ceil(40 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))

local function mma(atom, atoms, permutation)
  return tile.tiled_mma { atom = atom, atoms = layout(atoms or 1), permutation = permutation }
end
local SYNC = mma("SM80_16x8x16_F32BF16BF16F32_TN", { 2, 2 }, { tile._, 32 })
local WGMMA = mma("SM90_64x32x16_F32F16F16_SS", { 2, 1 })
local FMA = mma("UniversalFMA<float>", { 8, 8 })
local PARTS = mma("SM80_16x8x8_F32TF32TF32F32_TN", { 1, 2, 2 })
local DOUBLES = mma("SM80_8x8x4_F64F64F64F64_TN", { 2, 2 })

-- what is described but for its epilogue, the type of A and B, types of C
local FLOATS = { "f32", "f16", "bf16", "f64" }
local KERNELS = {
  { { mma = SYNC, tile = { 64, 64, 32 }, stages = 3 }, "bf16", FLOATS },
  { { mma = SYNC, tile = { 32, 64, 32 }, stages = 2, smem = { D = layout({ 32, 64 }, { 68, 1 }) } },
    "bf16", { "f32", "bf16" } },
  { { mma = WGMMA, tile = { 128, 32, 32 }, stages = 3, schedule = "cooperative" }, "f16", FLOATS },
  { { mma = FMA, tile = { 32, 16, 8 } }, "f32", FLOATS },
  { { mma = PARTS, tile = { 32, 32, 32 }, stages = 2 }, "f32", FLOATS },
  { { mma = DOUBLES, tile = { 32, 32, 16 }, stages = 2 }, "f64", { "f64", "f32" } },
}

-- A vector for a bias along a row or a column.
local function vector(M, N, whole)
  local key = pick { "row", "column" }
  local n = key == "row" and N or M
  return { layout = layout({ n }, { pick { 1, 1, 2 } }), dtype = pick(FLOATS), whole = whole,
           sizes = key == "row" and { 1, N } or { M, 1 }, key = pick { key, false }, along = key }
end

local function draw(M, N, L)
  local e = epilogues.draw(M, N, L, random(2) == 1)
  e.bias = e.bias and vector(M, N, e.whole)
  return e
end

-- An epilogue as a kernel describes it.
local function description(e, o)
  return { alpha = o.alpha, beta = o.beta, activation = e.activation, residual = e.residual ~= nil,
           bias = e.bias and e.bias.along, dtype = o.dtype }
end

local function copied(t, more)
  local out = {}
  for key, value in pairs(t) do out[key] = value end
  for key, value in pairs(more) do out[key] = value end
  return out
end

-- The product by the kernel is alpha A B + beta C and what the epilogue makes of it. Returns the
-- name of the kernel of a GPU.
local function check(device, kernel, types, size, e, o, seed)
  local M, N, K, L = table.unpack(size)
  local function matrix(dtype, rows, columns)
    return tile.tensor(dtype, layout({ rows, columns, L }, { columns, 1, rows * columns }), device)
  end
  local A, B, C = matrix(types[1], M, K), matrix(types[1], N, K), matrix(types[2], M, N)
  for _, T in ipairs { A, B, C } do T:fill(families.values(T:size(), 3, true)) end
  device:synchronize()
  local a, b, old = A:totable(), B:totable(), C:totable()
  epilogues.fill(e)
  local operands = epilogues.options(e, C)
  operands.activation = nil
  local proof = tile.verify(kernel, A, B, C, operands)
  assert.is_true(proof.ok, ("seed %d: %s"):format(seed, proof))
  local name
  if device:about():find "sm_" then
    name = tostring(tile.plan_gemm(kernel, A, B, C, operands)):match "kernel: (%S+)"
  end
  tile.gemm(kernel, A, B, C, operands)
  device:synchronize()
  local got = C:totable()
  if K == 0 then
    K, a, b = 1, families.values(M * L, 0), families.values(N * L, 0)
  end
  local want = families.reference(a, b, old, M, N, K, L, o.alpha, o.beta)
  for i = 1, #want do
    local m, n, l = (i - 1) % M, (i - 1) // M % N, (i - 1) // M // N
    local x, far = epilogues.apply(e, m, n, l, want[i], old[i], types[2])
    far = far + epilogues.rounding(e, types[2], x)
    assert(math.abs(got[i] - x) <= far, ("seed %d, %s of %s to %s: C(%d) is %s, not %s\n%s\n%s")
           :format(seed, name, types[1], types[2], i - 1, got[i], x, e.title, kernel))
  end
  return name
end

local function random_case(seed)
  math.randomseed(seed)
  local row = pick(KERNELS)
  local types = { row[2], pick(row[3]) }
  local size = { random(90), random(90), 8 * random(0, 9), pick { 1, 1, 2 } }
  local e = draw(size[1], size[2], size[4])
  local o = { alpha = pick { 1, 1, 0.5, 0 }, beta = pick { 0, 0, 2 },
              dtype = pick { types[2], false } or nil }
  local kernel = tile.kernel(copied(row[1], { epilogue = description(e, o) }))
  local again = assert(load("local tile = ...; return " .. tostring(kernel)))(tile)
  assert.equal(tostring(kernel), tostring(again))
  check(tile.device "cpu", kernel, types, size, e, o, seed)
end

describe("kernels with an epilogue", function()
  for i = 1, CASES do
    it("random " .. i, function() random_case(SEED * 1000 + i) end)
  end

  it("say what they do", function()
    local kernel = tile.kernel { mma = SYNC, tile = { 32, 32, 32 }, epilogue = {
      scale_a = 0.5, scale_b = 0.25, alpha = 4, bias = "column", activation = "gelu",
      residual = true, dtype = "f16" } }
    assert.truthy(tostring(kernel):find('epilogue = { alpha = 0.5, beta = 0, bias = "column", ' ..
      'activation = "gelu", residual = true, dtype = "f16" } }', 1, true), tostring(kernel))
    assert.equal("each element of C is written once, from registers; then a bias along a column,"
                 .. " gelu, a residual", tile.verify(kernel).laws.out)
    kernel = tile.kernel { mma = SYNC, epilogue = { residual = true } }
    assert.equal("each element of C is written once, from registers; then a residual",
                 tile.verify(kernel).laws.out)
    local half = tile.kernel { mma = SYNC, tile = { 32, 32, 32 }, epilogue = { dtype = "f16" },
                               smem = { D = layout { 32, 32 } } }
    local one = tile.kernel { mma = SYNC, tile = { 32, 32, 32 }, smem = { D = layout { 32, 32 } } }
    assert.is_true(tile.verify(half).shared <= tile.verify(one).shared)
  end)
end)

-- ---- the rows of GPUs

describe("precompiled kernels with an epilogue", function()
  for _, arch in ipairs { 80, 90 } do
    it("are what their descriptions say: " .. arch, function()
      math.randomseed(SEED)
      local e = draw(100, 70, 1)
      e.bias, e.residual, e.activation, e.whole = vector(100, 70, true), "C", "relu", true
      local kernels, names = tile.kernels { arch = arch, epilogue = description(e, {}) }
      assert.is_true(#kernels >= 8)
      local ran = 0
      for i, kernel in ipairs(kernels) do
        assert.matches(names[i]:find "_256_" and "_mapped$" or "_epilogue$", names[i])
        assert.equal(names[i], kernel:why()[1].kernel)
        assert.same({}, kernel:why()[1].differs)
        assert.is_true(tile.verify(kernel).ok, names[i])
        local type = names[i]:match "_(b?f16)_tn"
        if type and not names[i]:find "256" then
          ran = ran + 1
          check(tile.device "cpu", kernel, { type, "f32" }, { 100, 70, 72, 1 }, e,
                { alpha = 1, beta = 0 }, SEED)
        end
      end
      assert.is_true(ran >= 2)
    end)
  end
end)

-- As hopper_bf16_tn_128_alone_epilogue is.
local function described(epilogue)
  return tile.kernel { mma = mma("SM90_64x128x16_F32BF16BF16_SS", { 2, 1 }),
                       tile = { 128, 128, 64 }, stages = 5, schedule = "cooperative",
                       g2s = { A = "tma", B = "tma" }, epilogue = epilogue }
end

for _, d in ipairs(devices) do
  local sm = tonumber(d.device:about():match "sm_(%d+)")
  if sm and sm >= 90 then
    describe("a described kernel with an epilogue on " .. d.label, function()
      it("is multiplied by the precompiled one", function()
        for seed = SEED, SEED + 7 do
          math.randomseed(seed)
          local size = { random(200), random(200), 8 * random(12), 1 }
          local e = draw(size[1], size[2], 1)
          if e.activation == "none" and not e.bias and not e.residual then
            e.activation, e.whole = "silu", false
          end
          local o = { alpha = pick { 1, 2 }, beta = pick { 0, 1 } }
          assert.equal("hopper_bf16_tn_128_alone_epilogue",
                       check(d.device, described(description(e, o)),
                             { "bf16", pick { "f32", "bf16", "f16" } }, size, e, o, seed))
        end
      end)

      it("is literal where none is the same; an error where C is of another type", function()
        local A = tile.tensor("bf16", layout({ 64, 64 }, "right"), d.device)
        local C = tile.tensor("f32", layout({ 64, 64 }, "right"), d.device)
        local other = tile.kernel { mma = mma("SM90_64x128x16_F32BF16BF16_SS", { 2, 1 }),
                                    tile = { 128, 128, 64 }, stages = 6, schedule = "cooperative",
                                    epilogue = { activation = "relu" } }
        assert.matches("refused: hopper_bf16_tn_128_alone_epilogue: differs in stages",
                       tostring(tile.plan_gemm(other, A, A, C)))
        local half = described { dtype = "f16", activation = "relu" }
        assert.has_error(function() tile.gemm(half, A, A, C) end,
          "gemm: C is f32, the epilogue's dtype is f16\n"
          .. "give such a C, or leave dtype out")
        assert.has_error(function() tile.gemm(described { bias = "row" }, A, A, C) end,
          "gemm: the kernel adds a bias, and none is given\n"
          .. "tile.gemm(kernel, A, B, C, { bias = T })")
      end)
    end)
  end
end

-- ---- what is refused

local env = { tile = tile, layout = layout, mma = SYNC, described = described }
function env.of(dtype, A) return tile.tensor(dtype, layout(A)) end
env.A, env.B = tile.tensor("bf16", layout({ 32, 64 }, "right")),
               tile.tensor("bf16", layout({ 40, 64 }, "right"))
env.C, env.row = tile.tensor("f32", layout { 32, 40 }), tile.tensor("f32", layout(40))
function env.with(epilogue) return tile.kernel { mma = SYNC, tile = { 32, 32, 32 },
                                                 epilogue = epilogue } end
function env.law(kernel, ...) error(tile.verify(kernel, ...).reason, 2) end

-- luacheck: push no max line length
describe("epilogues of kernels that are none:", function()
  refused(it, {
    { 'tile.kernel { mma = mma, epilogue = { activation = "swish" } }',
      "kernel: epilogue: activation: 'swish' is none; there are: none, relu, gelu, gelu_tanh, silu, sigmoid, tanh" },
    { 'tile.kernel { mma = mma, epilogue = { bias = "rows" } }', "kernel: epilogue: bias: 'rows' is none; did you mean row; there are: row, column" },
    { 'tile.kernel { mma = mma, epilogue = { bias = row } }',
      'kernel: epilogue: bias: "row" or "column" expected; the tensor is given to the product: tile.gemm(kernel, A, B, C, { bias = T })' },
    { 'tile.kernel { mma = mma, epilogue = { residual = C } }',
      "kernel: epilogue: residual: true expected; the tensor is given to the product: tile.gemm(kernel, A, B, C, { residual = T })" },
    { 'tile.kernel { mma = mma, epilogue = { scale_a = row } }', "kernel: epilogue: scale_a: a number expected" },
    { 'tile.kernel { mma = mma, epilogue = { amax = true } }', [[
kernel: epilogue: amax: no kernel finds the largest magnitude
take it of what is stored: a C of f32, and C:totable()]] },
    { 'tile.gemm(with { bias = "row" }, A, B, C)', [[
gemm: the kernel adds a bias, and none is given
tile.gemm(kernel, A, B, C, { bias = T })]] },
    { 'tile.gemm(with { residual = true }, A, B, C, { seed = 2 })', [[
gemm: the kernel adds a residual, and none is given
tile.gemm(kernel, A, B, C, { residual = T })]] },
    { 'tile.gemm(with {}, A, B, C, { bias = row })', [[
gemm: bias: the kernel adds none
describe it: epilogue = { bias = "row" } or { bias = "column" }]] },
    { 'tile.verify(with {}, A, B, C, { residual = C })', [[
gemm: residual: the kernel adds none
describe it: epilogue = { residual = true }]] },
    { 'tile.gemm(with { bias = "column" }, A, B, C, { bias = { row = row } })',
      "gemm: bias: the kernel's lies along a column, not a row" },
    { 'tile.gemm(with { bias = "row" }, A, B, C, { bias = C })',
      "gemm: the kernel breaks a law, out: gemm: bias (32,40):(1,32) is no vector: bias = T takes it" },
    { 'law(with { bias = "column" }, A, B, C, { bias = row })',
      "gemm: bias has 40 elements, C is 32 by 40: a row has 40, a column 32" },
    { 'law(with { residual = true }, A, B, C, { residual = of("f32", { 32, 4 }) })', [[
gemm: residual (32,4):(1,32) does not fit C (32,40):(1,32)
it has the modes of C, each of its size or of size 1]] },
    { 'law(with { bias = "row" }, A, B, C, { bias = of("i32", 40) })', [[
gemm: bias is i32: f16, bf16, f32 or f64 expected
copy it to a tensor of one of them]] },
    { 'law(with { activation = "relu", dtype = "i32" })', [[
C is i32, SM80_16x8x16_F32BF16BF16F32_TN has sums of f32
tensors of any float type hold them]] },
    { 'law(with { activation = "relu", dtype = "e4m3" })', [[
C is e4m3: bias, activation and residual go with f16, bf16, f32 and f64
make C one of them, and copy it to e4m3]] },
    { 'law(with { dtype = "f16" }, A, B, C)', [[
C is f32, the epilogue's dtype is f16
give such a C, or leave dtype out]] },
    { 'tile.gemm(with {}, A, B, of("i8", { 32, 40 }))', [[
gemm: the kernel breaks a law, cover: C is i8, SM80_16x8x16_F32BF16BF16F32_TN has sums of f32
tensors of any float type hold them]] },
    { 'tile.gemm(with { residual = true }, A, B, C, { residual = C:view(layout({ 32, 40 }, { 40, 1 }), 0) })', [[
gemm: residual and C may overlap, and are not one tensor: residual reaches over 5120 bytes, C begins 0 bytes behind its beginning
give C itself, or a tensor apart from it]] },
  }, env)
end)
-- luacheck: pop
