-- gemm_error_spec.lua: products and contractions that are refused, and the whole text that says
-- why.
-- SPDX-License-Identifier: MIT
--
-- Rows as in error_spec.lua.

local tile = require "moontile"
local refused = dofile "spec/refused.lua"

local env = setmetatable({ tile = tile, layout = tile.layout }, { __index = _G })

-- A tensor of this type and layout.
function env.of(dtype, text) return tile.tensor(dtype, tile.layout(text)) end

function env.f32(shape) return tile.tensor("f32", tile.layout(shape)) end

-- Two tensors that go together, A (4,6) and B (5,6), and a C of this type.
function env.abc(ab, c)
  return env.of(ab, "(4,6):(1,4)"), env.of(ab, "(5,6):(1,5)"), env.of(c, "(4,5):(1,4)")
end

-- A tiled MMA of 16x8x16; `over` has other options.
function env.mma(over)
  local options = { atom = "SM80_16x8x16_F32F16F16F32_TN" }
  for key, value in pairs(over or {}) do options[key] = value end
  return tile.tiled_mma(options)
end

-- A, B and C of f32 with these layouts.
function env.abc_of(a, b, c) return env.of("f32", a), env.of("f32", b), env.of("f32", c) end

-- A, B, C and options.
function env.with(options, ab, c)
  local A, B, C = env.abc(ab, c)
  return A, B, C, options
end

local ROWS = {}
local function rows(title, list) ROWS[#ROWS + 1] = { title = title, list = list } end

rows("products", {
  { 'tile.gemm(abc_of("(4,6):(1,4)", "(5,7):(1,5)", "(4,5):(1,4)"))', [[
gemm: K is mode 2 of A and mode 2 of B: 6 and 7
A is (4,6):(1,4)
B is (5,7):(1,5)]] },
  { 'tile.gemm(abc_of("(4,6):(1,4)", "(5,6):(1,5)", "(5,4):(1,5)"))', [[
gemm: M is mode 1 of A and mode 1 of C: 4 and 5
A is (4,6):(1,4)
C is (5,4):(1,5)]] },
  { 'tile.gemm(abc_of("(4,6,2):(1,4,24)", "(5,6):(1,5)", "(4,5):(1,4)"))', [[
gemm: A has a batch of 2, C (4,5):(1,4) has none
give C a third mode of that size, or sum over the batch: group it with K]] },
  { 'tile.gemm(abc_of("24:1", "(5,6):(1,5)", "(4,5):(1,4)"))', [[
gemm: A 24:1 has rank 1, it is (M,K) and may have a last mode for the batch
group its modes to 2 or 3]] },
  { 'tile.gemm(abc_of("(4,6):(1,4)", "(5,6):(1,5)", "(4,5):(1,0)"))', [[
gemm: elements (0,0) and (0,1) of C are one place in memory
an element of C is written once: give each its own place
A is (4,6):(1,4) at offset 0
B is (5,6):(1,5) at offset 0
C is (4,5):(1,0) at offset 0]] },
  { 'local T = of("f32", "(4,4):(1,4)"); tile.gemm(T, of("f32", "(4,4):(1,4)"), T)', [[
gemm: A and C may overlap: A reaches over 64 bytes, C begins 0 bytes behind its beginning ]] .. [[
and reaches over 64
multiply into a tensor of its own
A is (4,4):(1,4) at offset 0
B is (4,4):(1,4) at offset 0
C is (4,4):(1,4) at offset 0]] },
  { 'local A = abc("f16", "f32"); tile.gemm(mma(), A, select(2, abc("f32", "f32")))',
    "gemm: B is f32, but SM80_16x8x16_F32F16F16F32_TN has f16 there: tensors of f16 hold it" },
  { 'tile.gemm(mma(), abc("f16", "i32"))',
    "gemm: C is i32, but SM80_16x8x16_F32F16F16F32_TN has f32 there: "
    .. "tensors of any float type hold it" },
  { 'tile.gemm(mma { atom = "SM80_8x8x32_S32S4U4S32_TN" }, abc("i16", "i32"))',
    "gemm: A is i16, but SM80_8x8x32_S32S4U4S32_TN has s4 there: tensors of i8 or u8 hold it" },
  { 'tile.gemm(mma { atoms = layout { 8, 8 } }, abc("f16", "f32"))',
    "gemm: SM80_16x8x16_F32F16F16F32_TN as (8,8,1):(1,8,0) has 2048 threads, "
    .. "a block has at most 1024" },
  { 'tile.gemm(with({ gamma = 1 }, "f32", "f32"))',
    "gemm: unknown option 'gamma'; there are: alpha, beta, family, precision, stream, "
      .. "activation, bias, residual" },
  { 'local A, B, C = abc("f32", "f32"); tile.plan_gemm(A, B, C, { stream = 1 })',
    "plan: unknown option 'stream'; there are: alpha, beta, family, precision, activation, "
      .. "bias, residual" },
  { 'tile.gemm(with({ family = "hopper" }, "f16", "f16"))',
    'gemm: cpu has no kernels of a family "hopper"' },
  { "tile.gemm(with({ precision = 'half' }, 'f32', 'f32'))",
    'gemm: precision: "full", "tf32" or "3xtf32" expected, got half' },
  { "tile.gemm(with({ precision = 'tf32' }, 'f16', 'f16'))",
    "gemm: precision: tf32 is a way to read f32, but A is f16\nleave precision out, or convert A" },
  { 'tile.plan(f32(4), f32(4), f32(4))', [[
plan: a copy has two tensors, src and dst, got a third argument
plan(tiled_mma, A, B, C) and plan_gemm(A, B, C) plan a product]] },
  { 'tile.plan()',
    "bad argument #1 to 'plan' (tiled copy, tiled MMA or tensor expected, got no value)" },
  { 'tile.copy(mma(), f32(4), f32(4))', "bad argument #1 to 'copy' (tiled copy or tensor "
    .. "expected, got moontile.TiledMMA)" },
  { 'tile.gemm("SM61_DP4A", abc("f32", "f32"))',
    "bad argument #1 to 'gemm' (tiled MMA, kernel or tensor expected, got string)" },
  { 'tile.gemm(with({ stream = 1 }, "f32", "f32"))',
    "gemm: stream: a stream expected, got number" },
  { 'tile.gemm(with({ alpha = "2" }, "f32", "f32"))', "gemm: alpha: a number expected" },
  { 'tile.gemm(with({ beta = 0.5 }, "i8", "i32"))',
    "gemm: beta is 0.5, but C is i32: an integer of at most 53 bits is needed" },
  { 'tile.gemm(with({ alpha = 1 << 60 }, "i8", "i32"))',
    "gemm: alpha is 1152921504606846976: at most 53 bits" },
  { 'tile.mma_bound(tile.mma_atom "SM61_DP4A", -1, 1)',
    "bad argument #2 to 'mma_bound' (a number of products expected)" },
  { 'tile.gemm(mma { atom = "SM80_8x8x4_C64C64C64C64_TN" }, abc("f64", "f64"))', [[
mma: SM80_8x8x4_C64C64C64C64_TN cannot be run: no dtype has complex numbers
  atoms of real numbers run, dense and without scales]] },
  { 'tile.gemm(mma { atom = "SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e4m3_t,'
    .. 'float_e4m3_t,float>" }, abc("e4m3", "f32"))', [[
mma: SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e4m3_t,float_e4m3_t,float> ]] .. [[
cannot be run: half of the values of an operand are not stored
  atoms of real numbers run, dense and without scales]] },
})

rows("contractions", {
  { 'tile.einsum(5, f32 { 3, 4 })',
    'einsum: an expression like "mk,nk->mn" expected, got number' },
  { 'tile.einsum("ij;jk", f32 { 3, 4 })', [[
einsum: "ij;jk" is not of the form "mk,nk->mn": a letter for each mode of each tensor; ]]
    .. "an ellipsis is not taken" },
  { 'tile.einsum("...i,i", f32 { 3, 4 })', [[
einsum: "...i,i" is not of the form "mk,nk->mn": a letter for each mode of each tensor; ]]
    .. "an ellipsis is not taken" },
  { 'tile.einsum("ij,jk->iz", f32 { 3, 4 }, f32 { 4, 2 })',
    'einsum: "ij,jk->iz": the label z of the output is in no operand: its size is not known' },
  { 'tile.einsum("ij,jk->ii", f32 { 3, 4 }, f32 { 4, 2 })', [[
einsum: "ij,jk->ii": the label i stands twice in the output
give the result to a diagonal view of C]] },
  { 'tile.einsum("ij,kj->ik", f32 { 3, 4 }, f32 { 4, 2 })',
    "einsum: the label j is mode 2 of A and mode 2 of B: 4 and 2" },
  { 'tile.einsum("ij,jk->ik", f32 { 3, 4 }, f32 { 1, 2 })', [[
einsum: the label j is mode 2 of A and mode 1 of B: 4 and 1
a size of 1 is not repeated by itself: a view with stride 0 repeats it]] },
  { 'tile.einsum("ii->i", f32 { 3, 4 })',
    "einsum: the label i is mode 1 of A and mode 2 of A: 3 and 4" },
  { 'tile.einsum("ii->i", tile.tensor("f32", tile.parse "((2,6),(3,4)):((1,6),(0,1))"))', [[
einsum: the label i stands twice in A: its modes (2,6):(1,6) and (3,4):(0,1) have no diagonal ]]
    .. [[
that is a layout
copy A first into a tensor whose modes are divided alike: tile.copy(A, B)
  no layout R has R(i) = A(i) + B(i) for A = (2,6):(1,6), B = (3,4):(0,1)
  the modes of R would have to end at i = 2 and at i = 3, and 2 does not divide 3; at i = 3 ]]
    .. "the sum is 8, a layout would have 7" },
  { 'tile.einsum("a,b,cc->a", f32 { 3 }, f32 { 4 }, f32 { 3, 4 })',
    "einsum: the label c is mode 1 of operand 3 and mode 2 of operand 3: 3 and 4" },
  { 'tile.einsum("ijk,jk->ik", f32 { 3, 4 }, f32 { 4, 2 })',
    'einsum: A = (3,4):(1,3) has 2 modes, its labels are "ijk"' },
  { 'tile.einsum("ij,jk->ik", f32 { 3, 4 })', 'einsum: "ij,jk->ik" has 2 operands, 1 tensors were'
    .. " given (C may follow the operands)" },
  { 'tile.einsum("ij,jk->ik", f32 { 3, 4 }, layout(4))', 'einsum: "ij,jk->ik" has 2 operands,'
    .. " 1 tensors were given (C may follow the operands): argument 3 is no tensor" },
  { 'tile.einsum("ij->i", f32 { 3, 4 }, f32(3), f32(3))', 'einsum: "ij->i" has 1 operands,'
    .. " 3 tensors were given (C may follow the operands)" },
  { 'tile.einsum("ij->i", f32 { 3, 4 }, 5)', "einsum: options in a table expected, got number" },
  { 'tile.einsum("ij->i", f32 { 3, 4 }, { gamma = 2 })',
    "einsum: unknown option 'gamma'; did you mean mma? "
      .. "there are: activation, alpha, beta, bias, dtype, mma, precision, residual, stream" },
  { 'tile.einsum("ij->i", f32 { 3, 4 }, { mma = "SM61_DP4A" })',
    "einsum: mma: a tiled MMA expected, got string" },
  { 'tile.einsum("ij->i", f32 { 3, 4 }, { beta = 2 })', [[
einsum: beta is 2, but there is no C to add to
give C behind the operands]] },
  { 'tile.einsum("ij,jk->ki", f32 { 3, 4 }, f32 { 4, 2 }, f32 { 3, 2 })',
    "einsum: the label k is mode 2 of B and mode 1 of C: 2 and 3" },
  { 'tile.einsum("ij->i", f32 { 3, 4 }, { dtype = "i32" })', [[
gemm: A is f32, B is f32, C is i32: floats are not added up as integers
make C of f32 or f64]] },
  { 'tile.einsum_fold("ij,jk->ik", f32 { 3, 4 }, f32 { 4, 2 })',
    'einsum_fold: tensors A, B and C for "ij,jk->ik" expected' },
  { 'tile.im2col(f32 { 1, 8, 8, 3 }, 3, 1, 1)', [[
im2col: a padding of 1 lies outside of the tensor
copy it into the middle of a larger tensor of zeros, and take im2col of that without padding]] },
  { 'tile.im2col(f32 { 8, 3 }, 3)', "im2col: (N, spatial.., C) expected, got (8,3):(1,8)" },
})

for _, group in ipairs(ROWS) do
  describe("refused " .. group.title, function()
    refused(it, group.list, env)
  end)
end
