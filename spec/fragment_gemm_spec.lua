-- fragment_gemm_spec.lua: products of fragments, of one thread or of all, by CuTe's dispatch.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._

-- A tensor of small integers, whose products and sums are exact in every type.
local function numbers(dtype, shape, order)
  local T = tile.tensor(dtype, type(shape) == "table" and layout(shape, order) or shape)
  local list = {}
  for i = 1, T:size() do list[i] = math.random(0, 3) end
  return T:fill(list)
end

-- The fragments of all threads of the operands, filled with their parts.
local function fragments(mma, x, T)
  local list = {}
  for t = 0, mma:size() - 1 do
    local slice = mma:get_slice(t)
    local part = slice["partition_" .. x](slice, T)
    list[t + 1] = slice["make_fragment_" .. x](slice, part)
    tile.copy(part, list[t + 1])
  end
  return list
end

local function same(X, Y) assert.same(X:totable(), Y:totable()) end

describe("a product of fragments", function()
  local CASES = {
    { atom = "SM80_16x8x16_F32F16F16F32_TN", "f16", "f32", atoms = layout { 2, 2, 1 },
      permutation = { _, 32 } },
    { atom = "SM80_16x8x8_F16F16F16F16_TN", "f16", "f16" },
    { atom = "SM80_16x8x32_S32S8S8S32_TN", "i8", "i32", atoms = layout({ 1, 2, 1 }, { 0, 1, 0 }) },
    { atom = "SM75_16x8x8_F32F16F16F32_TN", "f16", "f32", atoms = layout { 2, 1, 1 } },
    { atom = "UniversalFMA<float>", "f32", "f32", atoms = layout { 4, 4, 1 } },
    { atom = "UniversalFMA<double>", "f64", "f64", atoms = layout { 2, 2, 1 },
      permutation = { layout({ 2, 2 }, { 2, 1 }), _ } },
  }
  for _, case in ipairs(CASES) do
    it("of all threads is what they compute together: " .. case.atom, function()
      local mma = tile.tiled_mma { atom = case.atom, atoms = case.atoms,
                                   permutation = case.permutation }
      local m, n, k = table.unpack(mma:tile_shape())
      local A = numbers(case[1], { 2 * m, 3 * k }, "right")
      local B = numbers(case[1], { 3 * n, 3 * k })
      local C = numbers(case[2], { 2 * m, 3 * n })
      local want = tile.tensor(case[2], C:layout())
      tile.copy(C, want)
      tile.gemm(A, B, want, { beta = 1 })
      local rA, rB, rC = fragments(mma, "A", A), fragments(mma, "B", B), fragments(mma, "C", C)
      tile.gemm(mma, rA, rB, rC)
      for t = 0, mma:size() - 1 do
        tile.copy(rC[t + 1], mma:get_slice(t):partition_C(C))
      end
      same(want, C)
    end)
  end

  it("of one thread by each of CuTe's dispatches", function()
    local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 4, 4, 1 } }
    local slice = mma:get_slice(5)
    local M, N, K = 3, 2, 4
    local A, B = numbers("f32", { M, K }), numbers("f32", { N, K }, "right")
    local C = tile.tensor("f32", layout { M, N })
    tile.gemm(A, B, C)
    local function fresh() return tile.tensor("f32", layout { M, N }) end
    local function as(T, ...) return T:view(tile.make_layout(layout(1, 0), ...)) end
    local D = fresh()                                           -- (M,K) x (N,K) => (M,N)
    tile.gemm(slice, A, B, D)
    same(C, D)
    D = fresh()                                                 -- (V,M,K) x (V,N,K) => (V,M,N)
    tile.gemm(slice, as(A, layout(M), layout(K, M)), as(B, layout(N, K), layout(K)),
              as(D, layout(M), layout(N, M)))
    same(C, D)
    local outer, byone, byv = fresh(), fresh(), fresh()
    for k = 0, K - 1 do
      local a, b = A(_, k), B(_, k)
      tile.gemm(slice, a, b, outer)                             -- (M) x (N) => (M,N)
      tile.gemm(slice, as(a, layout(M)), as(b, layout(N, K)),   -- (V,M) x (V,N) => (V,M,N)
                as(byv, layout(M), layout(N, M)))
      for m = 0, M - 1 do
        for n = 0, N - 1 do                                     -- (V) x (V) => (V)
          tile.gemm(slice, a:view(layout(1), m), b:view(layout(1), n * K),
                    byone:view(layout(1), m + M * n))
        end
      end
    end
    for _, X in ipairs { outer, byv, byone } do same(C, X) end
  end)

  it("to a D of its own leaves C", function()
    local slice = tile.tiled_mma { atom = "UniversalFMA<float>" }:get_slice(0)
    local A, B, C = numbers("f32", { 2, 3 }), numbers("f32", { 4, 3 }), numbers("f32", { 2, 4 })
    local before, D, want = C:totable(), tile.tensor("f32", layout { 2, 4 }),
                            tile.tensor("f32", layout { 2, 4 })
    tile.copy(C, want)
    tile.gemm(A, B, want, { beta = 1 })
    tile.gemm(slice, D, A, B, C)
    assert.same(before, C:totable())
    same(want, D)
  end)

  it("may be of the parts themselves, where a tile overhangs too", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }
    local A, B = numbers("f16", { 21, 37 }), numbers("f16", { 11, 37 })
    local C, want = tile.tensor("f32", layout { 21, 11 }), tile.tensor("f32", layout { 21, 11 })
    tile.gemm(A, B, want)
    local a, b, c = A:local_tile({ 32, 48 }, { 0, 0 }), B:local_tile({ 16, 48 }, { 0, 0 }),
                    C:local_tile({ 32, 16 }, { 0, 0 })
    local rA, rB, rC = {}, {}, {}
    for t = 1, mma:size() do
      local slice = mma:get_slice(t - 1)
      rA[t], rB[t], rC[t] = slice:partition_A(a), slice:partition_B(b), slice:partition_C(c)
    end
    tile.gemm(mma, rA, rB, rC)
    same(want, C)
  end)

  it("of wgmma takes the tiles that its descriptors lead to", function()
    local mma = tile.tiled_mma { atom = "SM90_64x16x16_F32F16F16_SS" }
    local smem = tile.smem_atom("GMMA::Layout_K_SW64_Atom", "f16")
    local A = numbers("f16", tile.tile_to_shape(smem, { 64, 32 }))
    local B = numbers("f16", tile.tile_to_shape(smem, { 16, 32 }))
    local C, want = tile.tensor("f32", layout { 64, 16 }), tile.tensor("f32", layout { 64, 16 })
    tile.gemm(A, B, want)
    local rA, rB, rC = {}, {}, {}
    for t = 1, 128 do
      local slice = mma:get_slice(t - 1)
      rA[t], rB[t], rC[t] = slice:partition_A(A), slice:partition_B(B), slice:partition_C(C)
    end
    tile.gemm(mma, rA, rB, rC)
    same(want, C)
    rA[1] = mma:get_slice(0):partition_fragment_A(A)
    assert.has_error(function() tile.gemm(mma, rA, rB, rC) end, [[
gemm: mode 1 of A (1,1,2):(0,0,2) has 1 values, a thread of SM90_64x16x16_F32F16F16_SS has 1024 of A
it reads shared memory through a descriptor: give partition_A or _B of that tensor, not a fragment]])
  end)

  it("of a quadpair takes the numbers that its threads have", function()
    local mma = tile.tiled_mma { atom = "SM70_8x8x4_F32F16F16F32_TN" }
    local A, B = numbers("f16", { 8, 8 }), numbers("f16", { 8, 8 })
    local C, want = tile.tensor("f32", layout { 8, 8 }), tile.tensor("f32", layout { 8, 8 })
    tile.gemm(A, B, want)
    local rA, rB, rC = {}, {}, {}
    for _, t in ipairs { 0, 1, 2, 3, 16, 17, 18, 19 } do
      local slice = mma:get_slice(t)
      rA[t + 1], rB[t + 1] = slice:partition_A(A), slice:partition_B(B)
      rC[t + 1] = slice:partition_C(C)
    end
    tile.gemm(mma, rA, rB, rC)
    same(want, C)
  end)

  it("gives threads along K sums of their own", function()
    local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 1, 1, 2 } }
    local A, B = numbers("f32", { 1, 4 }), numbers("f32", { 1, 4 })
    local rA, rB, rC = {}, {}, {}
    for t = 1, 2 do
      local slice = mma:get_slice(t - 1)
      rA[t], rB[t], rC[t] = slice:partition_A(A), slice:partition_B(B),
                            tile.tensor("f32", layout { 1, 1, 1 })
    end
    tile.gemm(mma, rA, rB, rC)
    local want = tile.tensor("f32", layout { 1, 1 })
    tile.gemm(A, B, want)
    assert.equal(want(0), rC[1](0) + rC[2](0))
  end)

  it("that fails leaves its sums as they were", function()
    local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 2, 1, 1 } }
    local c = tile.tensor("f32", layout { 1, 1, 1 }):fill(7)
    local one, two = tile.tensor("f32", layout { 1, 1, 1 }):fill(1),
                     tile.tensor("f32", layout { 1, 1, 1 }):fill(2)
    assert.has_error(function() tile.gemm(mma, { one, two }, { one, one }, { c, c }) end, [[
gemm: value 0 of thread 0 and value 0 of thread 1 of C are one place in memory, and their sums differ
give each thread a fragment of its own]])
    assert.equal(7, c(0))
    tile.gemm(mma, { one, one }, { one, one }, { c, c })        -- one sum: no matter who writes it
    assert.equal(8, c(0))
  end)

  local env = setmetatable({ tile = tile }, { __index = _G })
  env.mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }
  env.fma = tile.tiled_mma { atom = "UniversalFMA<float>" }
  function env.of(dtype, text) return tile.tensor(dtype, layout(text)) end
  dofile "spec/refused.lua"(it, {
    { 'tile.gemm(mma:get_slice(3), of("f16", "(8,1,1)"), of("f16", "(4,1,1)"), of("f32", "(4,1,1)"))', [[
gemm: SM80_16x8x16_F32F16F16F32_TN is an instruction of 32 threads, this is one of them
gemm(mma, {...}, {...}, {...}) takes the fragments of all, that of thread t at t + 1]] },
    { 'tile.gemm(mma, {}, {}, {})', [[
gemm: A[1]: the fragment of thread 0 expected, got nil
SM80_16x8x16_F32F16F16F32_TN has 32 threads: A[t + 1] is a tensor of what thread t has]] },
    { 'tile.gemm(mma, {}, {}, {}, { alpha = 2 })',
      "gemm: fragments are multiplied without options, as C = A B + C: alpha" },
    { 'tile.gemm(mma, {}, {}, of("f32", "1"))',
      "gemm: C: a table with a fragment of each thread expected, got moontile.Tensor" },
    { 'tile.gemm(fma:get_slice(0), of("f32", "(1,2,3)"), of("f32", "(1,2,3)"))',
      "gemm: C: a tensor expected, got nil" },
    { 'tile.gemm(fma:get_slice(0), of("f32", "(1,2,3)"), of("f32", "(1,2,4)"), of("f32", "(1,2,2)"))', [[
gemm: K is mode 3 of A and mode 3 of B: 3 and 4
A is (1,2,3):(0,1,2)
B is (1,2,4):(0,1,2)]] },
    { 'tile.gemm(fma:get_slice(0), of("f32", "(3,3)"), of("f32", "(2,3)"), of("f32", "(4,2)"))', [[
gemm: M is mode 1 of A and mode 1 of C: 3 and 4
A is (3,3):(1,3)
C is (4,2):(1,4)]] },
    { 'tile.gemm(fma:get_slice(0), of("f32", "(3,3)"), of("f32", "(2,3)"), of("f32", "6"))', [[
gemm: fragments are (V), (V,M) and (V,N) with (V,M,N), or (V,M,K), (V,N,K) and (V,M,N); single values (M), (N) or (M,K), (N,K) with (M,N)
A is (3,3):(1,3), B is (2,3):(1,2), C is 6:1]] },
    { 'tile.gemm(fma:get_slice(0), of("f16", "(3,3)"), of("f32", "(2,3)"), of("f32", "(3,2)"))',
      "gemm: A is f16, but UniversalFMA<float,float,float,float> has f32 there: fragments of f32 hold it" },
    { 'tile.gemm(mma, setmetatable({}, { __index = function() return of("f16", "(8,1,1)") end }), {}, {})', [[
gemm: A[1]: the fragment of thread 0 expected, got nil
SM80_16x8x16_F32F16F16F32_TN has 32 threads: A[t + 1] is a tensor of what thread t has]] },
    { 'tile.gemm(fma:get_slice(0), of("f32", "(4,3,3)"), of("f32", "(1,2,3)"), of("f32", "(1,3,2)"))',
      "gemm: mode 1 of A (4,3,3):(1,4,12) has 4 values, a thread of UniversalFMA<float,float,float,float> has 1 of A" },
    { 'tile.gemm(fma:get_slice(0), of("f32", "(2,3)"), of("f32", "(3,3)"), of("f32", "(2,3)"), of("f32", "(3,2)"))',
      "gemm: D is (2,3):(1,2), C is (3,2):(1,3): they have one shape" },
  }, env)
end)

it("fragments of composed layouts are those of their values", function()
  local composed = layout "(4,4):(5,1)" * layout "Sw<1,0,2> o 0 o (4,4):(4,1)"
  assert.matches("^%(4,4%):%(5,1%) o 0 o Sw", tostring(composed))
  local slice = tile.tiled_mma { atom = "UniversalFMA<float>" }:get_slice(0)
  local values = {}
  for i = 1, 16 do values[i] = i end
  local B = slice:partition_B(tile.tensor("f32", layout { 4, 4 }):fill(values))
  local function product(of_a, of_c)
    local A = tile.tensor("f32", of_a):fill(values)
    local C = tile.tensor("f32", of_c):fill(1)
    tile.gemm(slice, slice:partition_A(A), B, slice:partition_C(C))
    return C:totable()
  end
  assert.same(product(layout { 4, 4 }, layout { 4, 4 }), product(composed, composed))
end)
