-- composed_products_spec.lua: products whose operands are composed layouts: swizzles after
-- swizzles, layouts over F2, lists, with offsets between: A, B, C, bias, residual, batches; by
-- tile.gemm, tile.einsum and described kernels, on every device, against sums in loops.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.

local tile = require "moontile"
local layout = tile.layout
local random = math.random
local devices = dofile "spec/devices.lua"
local pick = dofile "spec/functions.lua".pick

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- ---------------------------------------------------------------- layouts

local function shuffled(n)
  local w = {}
  for i = 0, n - 1 do w[i] = i end
  for i = n - 1, 1, -1 do
    local j = random(0, i)
    w[i], w[j] = w[j], w[i]
  end
  return w
end

local function listed(shape)
  local n, I = tile.size(layout(shape)), layout(shape)
  local w = shuffled(n)
  return tile.function_layout(shape, function(...) return w[I { ... }] end)
end

local function swizzles(shape)
  local A = layout(shape, pick { "left", "right" })
  for _ = 1, random(2, 3) do
    local w = tile.swizzle(random(2), random(0, 2), random(2, 3))
    A = tile.make_composed_layout(w, random(0, 5), A)
  end
  return A
end

-- Bits of a number up to 2^12, turned round: after any layout of fewer places.
local function over_f2(shape)
  local to = shuffled(12)
  local F = {}
  for i = 1, 12 do F[i] = "F" .. (1 << to[i - 1]) end
  local twos = ("2,"):rep(11) .. "2"
  local bits = layout(("(%s):(%s)"):format(twos, table.concat(F, ",")))
  return tile.make_composed_layout(layout "4096:1", 0,
    tile.make_composed_layout(bits, 0, layout(shape, pick { "left", "right" })))
end

-- A layout after a swizzle, with an offset between.
local function after(shape)
  local w = tile.make_composed_layout(tile.swizzle(2, 0, 2), 0, layout(shape, "right"))
  return tile.make_composed_layout(layout({ 4, 1 << 14 }, { 1 << 14, 1 }), random(0, 7), w)
end

local function plain(shape) return layout(shape, pick { "left", "right" }) end

local KINDS = { listed, swizzles, over_f2, after, plain }

local function any(shape)
  local ok, A = pcall(pick(KINDS), shape)
  if ok and tile.is_injective(A) and A:min() >= 0 then return A end
  return listed(shape)
end

local function is_composed(A)
  local ok, err = pcall(A.stride, A)
  return not ok and tostring(err):find("composed", 1, true) ~= nil
end

-- A tensor of small integers, of this layout.
local function numbers(dtype, A, device)
  local values, first = {}, random(0, 3)
  local T = tile.tensor(dtype, layout(A:cosize() + first), device)
  for i = 1, T:size() do values[i] = random(-3, 3) end
  return T:fill(values):view(A, first)
end

-- A function of indices from 0 on, one of each mode.
local function reader(T)
  local values, A = T:totable(), layout(T:layout():shape())
  return function(...) return values[A { ... } + 1] end
end

-- ---------------------------------------------------------------- tile.gemm

local function sum_of(a, b, m, n, k, l)
  local sum = 0
  for i = 0, k - 1 do sum = sum + a(m, i, l) * b(n, i, l) end
  return sum
end

local function check_all(C, size, want, what)
  C:device():synchronize()
  local own, rank = reader(C), C:rank()
  local function got(m, n, l)
    if rank == 2 then return own(m, n) end
    return own(m, n, l)
  end
  for l = 0, size[4] - 1 do
    for n = 0, size[2] - 1 do
      for m = 0, size[1] - 1 do
        local x = want(m, n, l)
        assert(got(m, n, l) == x, ("%s: C(%d,%d,%d) is %s, not %s: C is %s")
               :format(what, m, n, l, got(m, n, l), x, C:layout()))
      end
    end
  end
end

-- Operands of a product, and what it is to be, by what C was.
local function draw(dtype, device, size, o)
  local M, N, K, L = table.unpack(size)
  local x = { A = numbers(dtype, any { M, K, L }, device),
              B = numbers(dtype, any { N, K, L }, device),
              C = numbers("f32", any { M, N, L }, device) }
  if o.bias then x.bias = numbers("f32", any(o.bias == "row" and { N } or { M }), device) end
  if o.residual then
    x.residual = random(4) == 1 and x.C or numbers("f32", any { M, N, L }, device)
  end
  local a, b, old = reader(x.A), reader(x.B), reader(x.C)
  local bias = x.bias and x.bias:totable()
  local residual = x.residual and reader(x.residual)
  function x.want(m, n, l)
    local v = o.alpha * sum_of(a, b, m, n, K, l) + (o.beta == 0 and 0 or o.beta * old(m, n, l))
    if bias then v = v + bias[1 + (o.bias == "row" and n or m)] end
    if o.relu then v = math.max(v, 0) end
    return v + (residual and residual(m, n, l) or 0)
  end
  return x
end

local function ending()
  return { alpha = pick { 1, 2 }, beta = pick { 0, 0, 3 }, relu = random(3) == 1,
           bias = pick { "row", "column", false }, residual = random(2) == 1 }
end

local laws = {}

function laws.gemm(device)
  local dtype = pick { "f32", "f16", "bf16" }
  local size = { random(20), random(20), random(0, 20), pick { 1, 1, 2 } }
  local o = ending()
  local x = draw(dtype, device, size, o)
  local options = { alpha = o.alpha, beta = o.beta, activation = o.relu and "relu" or nil,
                    bias = x.bias and { [o.bias] = x.bias }, residual = x.residual }
  if random(2) == 1 then tile.plan_gemm(x.A, x.B, x.C, options)()
  else tile.gemm(x.A, x.B, x.C, options) end
  check_all(x.C, size, x.want, "gemm " .. dtype)
end

-- ---------------------------------------------------------------- kernels

local SYNC = tile.tiled_mma { atom = "SM80_16x8x16_F32BF16BF16F32_TN", atoms = layout { 2, 2 },
                              permutation = { tile._, 32 } }
local WGMMA = tile.tiled_mma { atom = "SM90_64x32x16_F32F16F16_SS", atoms = layout { 2, 1 } }
local FMA = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 8, 8 } }
local DESCRIBED = {
  { { mma = SYNC, tile = { 64, 64, 32 }, stages = 3 }, "bf16" },
  { { mma = SYNC, tile = { 32, 64, 32 }, stages = 2, smem = { A = layout({ 32, 32 }, { 1, 40 }) } },
    "bf16" },
  { { mma = WGMMA, tile = { 128, 32, 32 }, stages = 3, schedule = "cooperative" }, "f16" },
  { { mma = FMA, tile = { 32, 16, 8 } }, "f32" },
}

function laws.kernels(device)
  if device:about():find "sm_" then return end
  local row, o = pick(DESCRIBED), ending()
  local description = { epilogue = {
    alpha = o.alpha, beta = o.beta, activation = o.relu and "relu" or nil,
    bias = o.bias or nil, residual = o.residual } }
  for key, value in pairs(row[1]) do description[key] = value end
  local kernel = tile.kernel(description)
  local size = { random(2, 40), random(2, 40), random(2, 40), pick { 1, 1, 2 } }
  local x = draw(row[2], device, size, o)
  local options = { bias = x.bias, residual = x.residual }
  local proof = tile.verify(kernel, x.A, x.B, x.C, options)
  local both = is_composed(x.A:layout()) and is_composed(x.B:layout())
  if not both and proof.problem == "hardware" then return end
  if not proof.ok then error(("%s: %s, %s"):format(proof, x.A:layout(), x.B:layout())) end
  tile.gemm(kernel, x.A, x.B, x.C, options)
  check_all(x.C, size, x.want, "kernel of " .. row[2])
end

-- Rows of a GPU are kernels, too.
function laws.rows(device)
  if not device:about():find "sm_" then return end
  local kernels = tile.kernels { arch = 90, A = "f16" }
  local kernel = pick(kernels)
  local size = { random(40), random(40), 8 * random(4), 1 }
  local dtype = "f16"
  local x = draw(dtype, device, size, { alpha = 1, beta = 0 })
  local ok, err = pcall(tile.gemm, kernel, x.A, x.B, x.C)
  if not ok and is_composed(x.A:layout()) and is_composed(x.B:layout()) then error(err, 0) end
  if ok then check_all(x.C, size, x.want, "row") end
end

-- ---------------------------------------------------------------- tile.einsum

function laws.einsum(device)
  local M, N, K, L = random(8), random(8), random(8), random(3)
  local bias = random(2) == 1 and numbers("f32", any { N }, device) or nil
  local A, B = numbers("f32", any { K, M, L }, device), numbers("f32", any { N, L, K }, device)
  local C = numbers("f32", any { M, N, L }, device)
  local residual = random(2) == 1 and numbers("f32", any { N, M }, device) or nil
  local a, b, c, r = reader(A), reader(B), bias and reader(bias), residual and reader(residual)
  tile.einsum("kml,nlk->mnl", A, B, C, { bias = bias and { n = bias },
                                         residual = residual and { nm = residual } })
  check_all(C, { M, N, 0, L }, function(m, n, l)
    local sum = 0
    for k = 0, K - 1 do sum = sum + a(k, m, l) * b(n, l, k) end
    return sum + (c and c(n) or 0) + (r and r(n, m) or 0)
  end, "einsum")
end

-- A diagonal, a copy with its modes in another order, a sum over what only one operand has.
function laws.views(device)
  local M, N, K = random(8), random(8), random(5)
  local A, B = numbers("f32", any { M, K, M }, device), numbers("f32", any { N, K }, device)
  local C, D = numbers("f32", any { N, M }, device), numbers("f32", any { K, N }, device)
  local a, b = reader(A), reader(B)
  tile.einsum("mkm,nk->nm", A, B, C)
  check_all(C, { N, M, 0, 1 }, function(n, m)
    local sum = 0
    for k = 0, K - 1 do sum = sum + a(m, k, m) * b(n, k) end
    return sum
  end, "diagonal")
  tile.einsum("nk->kn", B, D)
  check_all(D, { K, N, 0, 1 }, function(k, n) return b(n, k) end, "copy")
  local S = tile.einsum("mkm->k", A)
  local s = S:totable()
  for k = 0, K - 1 do
    local sum = 0
    for m = 0, M - 1 do sum = sum + a(m, k, m) end
    assert(s[k + 1] == sum)
  end
end

-- As layouts; a convolution.
function laws.folds(device)
  local A, B, C = any { 2, 3, 4 }, any { 5, 3 }, any { 4, 5, 2 }
  local X, Y, Z = tile.einsum_fold("mkl,nk->lnm", A, B, C)
  for i = 0, 2 * 3 * 4 - 1 do
    local m, k, l = i % 2, i // 2 % 3, i // 6
    assert(X { { m, l }, k, 0 } == A { m, k, l } and Y { l, k, 0 } == B { l, k })
    assert(Z { { m, l }, k, 0 } == C { l, k, m })
  end
  local T = numbers("f32", any { 2, 7, 3 }, device)
  local R = tile.im2col(T, 3)
  local t, r = reader(T), reader(R)
  for i = 0, 2 * 5 * 3 * 3 - 1 do
    local n, z, s, c = i % 2, i // 2 % 5, i // 10 % 3, i // 30
    assert(r({ n, z }, { s, c }) == t(n, z + s, c))
  end
end

-- ---------------------------------------------------------------- running them

describe("products of composed operands", function()
  for _, d in ipairs(devices) do
    for name, law in pairs(laws) do
      it(name .. " on " .. d.label, function()
        for i = 1, 25 * TIMES do
          math.randomseed(SEED + i)
          local ok, err = pcall(law, d.device)
          if not ok then error(("seed %d: %s"):format(SEED + i, err), 0) end
        end
      end)
    end

    it("take a swizzled bias of as many elements as C has, on " .. d.label, function()
      local A, B = tile.tensor("f32", layout { 2, 1 }, d.device):fill { 1, 2 },
                   tile.tensor("f32", layout { 1, 1 }, d.device):fill(3)
      local C, T = tile.tensor("f32", layout { 2, 1 }, d.device),
                   tile.tensor("f32", layout(2), d.device):fill { 10, 20 }
      local back = tile.make_composed_layout(tile.swizzle(0, 0, 0), 1, layout(2, -1))
      tile.gemm(A, B, C, { bias = { column = T:view(back) } })
      d.device:synchronize()
      assert.same({ 23, 16 }, C:totable())
    end)

    it("say where two values of C meet, on " .. d.label, function()
      local A = numbers("f32", layout { 4, 4 }, d.device)
      local P = numbers("f32", layout { 4, 4 }, d.device)
      local twice = tile.function_layout({ 4, 4 }, function(i, j)
        return (3 * i * i + 5 * j * j) % 7
      end)
      local C = tile.tensor("f32", layout(16), d.device):view(twice)
      local met = "two values go to element %d+, one of them at %d+.*dst here is C"
      for _, f in ipairs { function() tile.gemm(A, P, C) end,
                           function() tile.plan_gemm(A, P, C, { beta = 1 }) end,
                           function() tile.einsum("mk,nk->mn", A, P, C) end } do
        local ok, err = pcall(f)
        assert.truthy(not ok and err:find(met), err)
      end
      if d.device:about():find "sm_" then return end
      local kernel = tile.kernel { mma = FMA, tile = { 32, 16, 8 } }
      local proof = tile.verify(kernel, A, P, C)
      assert.is_false(proof.ok)
      assert.equal("out", proof.problem)
      assert.truthy(proof.reason:find "^C: ", proof.reason)
      local ok, err = pcall(tile.gemm, kernel, A, P, C)
      assert.truthy(not ok and err:find("breaks a law, out: C: ", 1, true), err)
    end)
  end
end)
