-- epilogues.lua: for specs of products: random epilogues, and what they make of a product,
-- computed here in doubles, with the bound that moontile/epilogue.h gives. Random numbers are
-- math.random's: seed it.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local epilogues = {}

local random = math.random
local function pick(list) return list[random(#list)] end

-- ---- activations

-- By a sum of positive terms, 2 x / sqrt(pi) e^-xx (1 + 2 xx / 3 + (2 xx)^2 / 15 + ...), or, where
-- that is near 1, by a fraction: e^-xx / sqrt(pi) / (x + 1/2 / (x + 2/2 / (x + 3/2 / ...))).
local function erfc(x)
  if x < 0 then return 2 - erfc(-x) end
  local factor, sum = math.exp(-x * x) / math.sqrt(math.pi), x
  if x > 2 then
    for n = 120, 1, -1 do sum = x + n / 2 / sum end
    return factor / sum
  end
  local term, n = x, 0
  while term > sum * 1e-18 do
    n = n + 1
    term = term * 2 * x * x / (2 * n + 1)
    sum = sum + term
  end
  return 1 - 2 * factor * sum
end

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end
local function tanh(x) return 2 * sigmoid(2 * x) - 1 end

epilogues.activations = {
  none = function(x) return x end,
  relu = function(x) return x < 0 and 0 or x end,
  gelu = function(x) return x * 0.5 * erfc(-x / math.sqrt(2)) end,
  gelu_tanh = function(x)
    return x * 0.5 * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ^ 3)))
  end,
  silu = function(x) return x * sigmoid(x) end,
  sigmoid = sigmoid,
  tanh = tanh,
}
local NAMES = { "none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh" }
local FLOATS = { "f32", "f16", "bf16", "f64" }
local DIGITS = { f64 = 2.0 ^ -50 }
local STEEPEST = 1.2            -- no activation changes faster than its argument by more

-- ---- drawing

-- Numbers of (M,N,L) where some modes have one index, by a list in order of coordinates.
local function reader(values, sizes)
  return function(m, n, l)
    local at, place = 1, 1
    for i, x in ipairs { m, n, l } do
      local size = sizes[i] or 1
      if size > 1 then at = at + x * place end
      place = place * size
    end
    return values[at]
  end
end

-- A tensor of (M,N) or (M,N,L), of which each mode may have size 1, or stride 0.
local function any_tensor(M, N, L)
  local sizes, strides, at = { M, N }, {}, 1
  if L > 1 and random(2) == 1 then sizes[3] = L end
  for i = 1, #sizes do if random(4) == 1 then sizes[i] = 1 end end
  local first = random(#sizes)
  for k = 0, #sizes - 1 do
    local i = (first - 1 + k) % #sizes + 1
    strides[i] = random(8) == 1 and 0 or at
    if strides[i] ~= 0 then at = at * sizes[i] + random(0, 1) end
  end
  return layout(sizes, strides), sizes
end

-- key -> how the tensor is given to the product, its sizes along M, N and L
local BIASES = {
  function(M, N) return layout(N), { 1, N }, M == N and N > 1 and "row" end,
  function(M, N) return layout(M), { M, 1 }, (M == N or random(2) == 1) and "column" end,
  function(_, N) return layout({ N }, { 2 }), { 1, N }, "row" end,
  any_tensor, any_tensor,
}

-- A side's tensor: { layout =, sizes =, dtype =, key = }.
local function side(make, M, N, L, whole)
  local A, sizes, key = make(M, N, L)
  return { layout = A, sizes = sizes, key = key or nil, dtype = pick(FLOATS), whole = whole }
end

-- A random epilogue for a product of these sizes. whole: all numbers are small integers, and the
-- activation is none or relu.
function epilogues.draw(M, N, L, whole)
  local e = { activation = whole and pick { "none", "relu" } or pick(NAMES), whole = whole }
  if random(3) > 1 then e.bias = side(pick(BIASES), M, N, L, whole) end
  local r = random(4)
  if r == 1 then e.residual = "C"
  elseif r > 2 then e.residual = side(any_tensor, M, N, L, whole) end
  e.title = ("epilogue %s, bias %s, residual %s"):format(
    e.activation, e.bias and e.bias.dtype .. " " .. tostring(e.bias.layout) or "none",
    e.residual == "C" and "C" or e.residual and e.residual.dtype .. " "
    .. tostring(e.residual.layout) or "none")
  return e
end

local function fill(x)
  local values = {}
  for i = 1, tile.cosize(x.layout) do
    values[i] = x.whole and random(-3, 3) or (random() * 2 - 1) * 3
  end
  local T = tile.tensor(x.dtype, layout(#values)):fill(values)
  x.values = T:totable()
  x.read = reader(T:view(x.layout, 0):totable(), x.sizes)
end

-- Draws the numbers of both.
function epilogues.fill(e)
  if e.bias then fill(e.bias) end
  if e.residual and e.residual ~= "C" then fill(e.residual) end
end

local function tensor(x, device)
  return tile.tensor(x.dtype, layout(#x.values), device):fill(x.values):view(x.layout, 0)
end

-- The options of a product into C, with those of the epilogue.
function epilogues.options(e, C, options)
  local o, device = { activation = e.activation }, C:device()
  for key, value in pairs(options or {}) do o[key] = value end
  if e.bias then
    o.bias = tensor(e.bias, device)
    if e.bias.key then o.bias = { [e.bias.key] = o.bias } end
  end
  if e.residual then o.residual = e.residual == "C" and C or tensor(e.residual, device) end
  return o
end

-- What becomes of x at (m,n,l), where C was old and is of this dtype, and how far from it that may
-- be, if x may be so far from what it is.
function epilogues.apply(e, m, n, l, x, old, dtype, far)
  local digits = DIGITS[dtype] or 2.0 ^ -21
  local bias = e.bias and e.bias.read(m, n, l) or 0
  local residual = e.residual == "C" and old or e.residual and e.residual.read(m, n, l) or 0
  local v = x + bias
  local scale = 1 + math.abs(x) + math.abs(bias) + math.abs(residual)
  local want = epilogues.activations[e.activation](v) + residual
  return want, STEEPEST * (far or 0) + (e.whole and 0 or 2 * digits * scale)
end

local ROUNDED = { f16 = 2.0 ^ -11, bf16 = 2.0 ^ -8, f32 = 2.0 ^ -24, f64 = 2.0 ^ -53 }

-- What rounding to C adds; without an epilogue numbers are integers, exact where C has them all.
function epilogues.rounding(e, dtype, x)
  local part = ROUNDED[dtype] or 0
  if not e and part * math.abs(x) <= 1 then return 0 end
  return 1.01 * part * math.abs(x) + 2.0 ^ -25
end

return epilogues
