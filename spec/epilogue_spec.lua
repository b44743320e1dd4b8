-- epilogue_spec.lua: C = activation(alpha A B + beta C + bias) + residual on every device, against
-- doubles; what is refused.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local refused = dofile "spec/refused.lua"
local epilogues = dofile "spec/epilogues.lua"
local families = dofile "spec/families.lua"

local SEED = tonumber(os.getenv "MOONTILE_SEED") or 11
local CASES = math.ceil(60 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))
local pick = families.pick

local TYPES = {
  { "f32", "f32", "f32" }, { "f16", "f16", "f16" }, { "bf16", "bf16", "f32" },
  { "f64", "f64", "f64" }, { "bf16", "bf16", "bf16" }, { "f32", "f32", "f64" },
  { "f64", "f64", "f32" }, { "f16", "f16", "bf16" }, { "e4m3", "e4m3", "f16" },
}

local function matrix(x, y, l)
  return pick { layout(l > 1 and { x, y, l } or { x, y }, "left"),
                layout(l > 1 and { x, y, l } or { x, y }, "right") }
end

-- A product of small integers with an epilogue of any numbers.
local function random_case(device, seed)
  math.randomseed(seed)
  local types, M, N, K = pick(TYPES), math.random(40), math.random(40), math.random(20)
  local L = pick { 1, 1, 1, 2 }
  if math.random(8) == 1 then N = M end
  local e = epilogues.draw(M, N, L)
  local case = { seed = seed, types = types, size = { M, N, K, L }, epilogue = e, most = 2,
                 A = matrix(M, K, L), B = matrix(N, K, L), C = matrix(M, N, L) }
  families.check(device, case, { alpha = pick { 1, 1, 0.25, 0 }, beta = pick { 0, 0, 0.5 } })
end

-- All numbers that are special, and many that are not.
local function numbers()
  local list = { 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 1e-30, -1e-30, 1e30, -1e30, 88, -88, 104, -104 }
  for i = -60, 60 do list[#list + 1] = i / 4 end
  return list
end

local LIMITS = {           -- of inf, of -inf
  none = { 1 / 0, -1 / 0 }, relu = { 1 / 0, 0 }, gelu = { 1 / 0, 0 }, gelu_tanh = { 1 / 0, 0 },
  silu = { 1 / 0, 0 }, sigmoid = { 1, 0 }, tanh = { 1, -1 },
}

local function check_activation(device, name, dtype)
  local list = numbers()
  local A = tile.tensor(dtype, layout({ #list, 1 }), device)     -- alpha 0: nothing of it is read
  local B = tile.tensor(dtype, layout({ 1, 1 }), device)
  local C = tile.tensor(dtype, layout({ #list, 1 }), device)
  local bias = tile.tensor(dtype, layout(#list), device):fill(list)
  tile.gemm(A, B, C, { alpha = 0, bias = { column = bias }, activation = name })
  device:synchronize()
  local f, digits = epilogues.activations[name], dtype == "f64" and 2.0 ^ -50 or 2.0 ^ -21
  for i, x in ipairs(bias:totable()) do
    local got, want = C(i - 1, 0), f(x)
    if x ~= x then
      assert.truthy(got ~= got, name .. " of NaN")
    elseif x - x ~= 0 then
      assert.equal(LIMITS[name][x > 0 and 1 or 2], got, name)
    elseif want == want and want - want == 0 then
      local most = digits * math.max(1, math.abs(x))
      assert.truthy(math.abs(got - want) <= most, ("%s of %s: %s, not %s"):format(name, x, got,
                                                                                  want))
    end
  end
end

for _, d in ipairs(devices) do
  local device = d.device
  local function of(dtype, A) return tile.tensor(dtype, layout(A), device) end

  describe("epilogues on " .. d.label, function()
    for i = 1, CASES do
      it("random " .. i, function() random_case(device, SEED * 1000 + i) end)
    end

    for name in pairs(epilogues.activations) do
      it(name .. " at all ends", function()
        check_activation(device, name, "f32")
        check_activation(device, name, "f64")
      end)
    end

    it("the bias comes before the activation, the residual after it, C is read before", function()
      local A, B = of("f32", { 2, 1 }):fill { 1, 2 }, of("f32", { 3, 1 }):fill { 1, -5, 10 }
      local C = of("f32", "(2,3):(3,1)"):fill(-1)
      tile.gemm(A, B, C, { beta = 2, bias = of("f32", 3):fill { 1, 2, 3 }, activation = "relu",
                           residual = C })
      device:synchronize()
      -- relu(a b - 2 + bias) - 1
      assert.same({ -1, 0, -1, -1, 10, 20 }, C:totable())
    end)

    it("bias goes along a row or a column", function()
      local A, B, C = of("f32", { 2, 1 }), of("f32", { 2, 1 }), of("f32", { 2, 2 })
      local T = of("f32", 2):fill { 1, 2 }
      tile.gemm(A, B, C, { bias = { row = T } })
      device:synchronize()
      assert.same({ 1, 1, 2, 2 }, C:totable())
      tile.gemm(A, B, C, { bias = { column = T } })
      device:synchronize()
      assert.same({ 1, 2, 1, 2 }, C:totable())
      tile.gemm(A, B, C, { bias = of("f32", { 1, 2 }):fill { 3, 4 }, residual = of("f32", { 1, 1 })
                           :fill(1) })
      device:synchronize()
      assert.same({ 4, 4, 5, 5 }, C:totable())
    end)

    it("is a plan that keeps bias and residual alive, and knows when one was freed", function()
      local C = of("f32", { 4, 5 })
      local plan = tile.plan_gemm(of("f32", { 4, 3 }), of("f32", { 5, 3 }), C,
                                  { bias = of("f32", 5):fill(1), residual = of("f32", { 4, 5 })
                                    :fill(2) })
      collectgarbage()
      plan()
      device:synchronize()
      assert.equal(3, C(3, 4))
      assert.truthy(tostring(plan):find("\nepilogue: bias of f32; residual of f32\n", 1, true)
                    or tostring(plan):find("\nepilogue: bias of f32; residual of f32$"))
      local bias = of("f32", 5)
      plan = tile.plan_gemm(of("f32", { 4, 3 }), of("f32", { 5, 3 }), C, { bias = bias })
      bias:free()
      assert.error(plan, "plan: the tensor bias was freed")
    end)

    it("are recorded by graphs", function()
      local A, B = of("f32", { 4, 3 }):fill(1), of("f32", { 5, 3 }):fill(1)
      local C, bias = of("f32", { 4, 5 }), of("f32", 5):fill(1)
      local graph = device:graph(function()
        tile.gemm(A, B, C, { bias = bias, residual = C })
      end)
      bias = nil                                                 -- luacheck: ignore
      collectgarbage()
      device:synchronize()
      graph()
      graph()
      device:synchronize()
      assert.equal(8, C(3, 4))
    end)
  end)
end

describe("epilogues", function()
  it("are summed up in einsum's activation", function()
    local A = tile.tensor("f32", layout { 2, 3 }):fill(-1)
    local B = tile.tensor("f32", layout { 2, 3 }):fill(1)
    assert.same({ 0, 0, 0, 0 }, tile.einsum("ik,jk->ij", A, B, { activation = "relu" }):totable())
    assert.same({ 0, 0 }, tile.einsum("ik->i", A, { activation = "relu" }):totable())
    assert.same({ 0, 0, 0, 0, 0, 0 }, tile.einsum("ik->ik", A, { activation = "relu" }):totable())
  end)

  it("ragged tensors have one where all that C has is there", function()
    local A, B = tile.tensor("f32", layout { 5, 3 }):fill(1), tile.tensor("f32", layout { 7, 3 })
    local C, R = tile.tensor("f32", layout { 5, 7 }), tile.tensor("f32", layout { 5, 7 }):fill(2)
    local bias = tile.tensor("f32", layout(8)):fill(1)
    for i = 0, 1 do
      for j = 0, 1 do
        tile.gemm(A:local_tile({ 4, 3 }, { i, 0 }), B:local_tile({ 4, 3 }, { j, 0 }),
                  C:local_tile({ 4, 4 }, { i, j }),
                  { residual = R:local_tile({ 4, 4 }, { i, j }),
                    bias = { row = bias:local_tile({ 4 }, { j }) } })
      end
    end
    for i = 0, 34 do assert.equal(3, C(i)) end
  end)
end)

-- ---- what is refused

local env = setmetatable({ tile = tile, layout = tile.layout }, { __index = _G })
function env.of(dtype, text) return tile.tensor(dtype, tile.layout(text)) end
-- A (4,6), B (5,6), C (4,5) or (5,5) of these types, and options.
function env.with(o, ab, c)
  return env.of(ab or "f32", "(4,6):(6,1)"), env.of(ab or "f32", "(5,6):(6,1)"),
         env.of(c or "f32", "(4,5):(5,1)"), o
end
function env.square(o)
  return env.of("f32", "(5,6):(6,1)"), env.of("f32", "(5,6):(6,1)"), env.of("f32", "(5,5):(5,1)"),
         o
end

-- luacheck: push no max line length
describe("epilogues that are none:", function()
  refused(it, {
    { 'tile.gemm(with { activation = "swish" })',
      'gemm: activation: "none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid" or "tanh" expected,'
      .. " got swish" },
    { 'tile.gemm(with { bias = 1 })',
      "gemm: bias: a tensor expected, { row = T } or { column = T }, got number" },
    { 'tile.gemm(with { residual = {} })', "gemm: residual: a tensor expected, got table" },
    { 'tile.gemm(with { bias = {} })',
      "gemm: bias: row or column expected, got neither: bias = { row = T } or bias = { column = T }" },
    { 'tile.gemm(with { bias = { rows = of("f32", "5:1") } })',
      "gemm: bias: unknown option 'rows'; did you mean row? there are: row, column" },
    { 'tile.gemm(with { bias = of("f32", "6:1") })',
      "gemm: bias has 6 elements, C is 4 by 5: a row has 5, a column 4" },
    { 'tile.gemm(with { bias = { row = of("f32", "4:1") } })',
      "gemm: bias has 4 elements, C is 4 by 5: a row has 5, a column 4" },
    { 'tile.gemm(square { bias = of("f32", "5:1") })', [[
gemm: bias has 5 elements, as many as C has rows and columns
say which: bias = { row = T }, an element for each column, or bias = { column = T }, one for each row]] },
    { 'tile.gemm(with { bias = { row = of("f32", "(4,5):(5,1)") } })',
      "gemm: bias (4,5):(5,1) is no vector: bias = T takes it" },
    { 'tile.gemm(with { residual = of("f32", "5:1") })', [[
gemm: residual 5:1 does not fit C (4,5):(5,1)
it has the modes of C, each of its size or of size 1]] },
    { 'tile.gemm(with { bias = of("f32", "(5,4):(4,1)") })', [[
gemm: bias (5,4):(4,1) does not fit C (4,5):(5,1)
it has the modes of C, each of its size or of size 1, or is a vector of the size of a row or a column]] },
    { 'tile.gemm(with { residual = of("f32", "(4,5,2):(1,4,20)") })', [[
gemm: residual (4,5,2):(1,4,20) does not fit C (4,5):(5,1)
it has the modes of C, each of its size or of size 1]] },
    { 'tile.gemm(with({ activation = "relu" }, "i8", "i32"))', [[
gemm: C is i32: bias, activation and residual go with f16, bf16, f32 and f64
make C one of them, and copy it to i32]] },
    { 'tile.gemm(with { bias = of("i32", "5:1") })', [[
gemm: bias is i32: f16, bf16, f32 or f64 expected
copy it to a tensor of one of them]] },
    { 'local A, B, C = with(); tile.gemm(A, B, C, { residual = C:view(layout("(4,5):(1,4)"), 0) })', [[
gemm: residual and C may overlap, and are not one tensor: residual reaches over 80 bytes, C begins 0 bytes behind its beginning
give C itself, or a tensor apart from it
A is (4,6):(6,1) at offset 0
B is (5,6):(6,1) at offset 0
C is (4,5):(5,1) at offset 0]] },
    { 'local A, B, C = with(); tile.gemm(A, B, C, { bias = C:view(layout(5), 3) })', [[
gemm: bias and C may overlap, and are not one tensor: bias reaches over 20 bytes, C begins -12 bytes behind its beginning
give C itself, or a tensor apart from it
A is (4,6):(6,1) at offset 0
B is (5,6):(6,1) at offset 0
C is (4,5):(5,1) at offset 0]] },
    { 'local d = tile.device "cpu:checked"; tile.gemm(with { bias = tile.tensor("f32", layout(5), d) })',
      "gemm: A is on cpu, bias is on cpu:checked; T:to(device) moves a tensor" },
  }, env)
end)
-- luacheck: pop
