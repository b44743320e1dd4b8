-- epilogues.lua [part of a name ...]: what an epilogue costs: products with one beside the same
-- product without, in turn, rested (lib/rested.lua). The ratio is the time with the epilogue by
-- the time without: 1.03 is 3 % dearer.
-- SPDX-License-Identifier: MIT

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local rested = assert(loadfile(here .. "lib/rested.lua"))(measure)
local tile = require "moontile"

local ROUNDS, BEYOND, MOST = 9, 400 << 20, 60

local device, why = tile.device "cuda"
if not device then
  print("epilogues: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

-- Types of A and B, of C; M, N, K.
local PRODUCTS = {
  { "bf16", "bf16", 8192, 8192, 8192 },
  { "bf16", "bf16", 4096, 4096, 4096 },
  { "bf16", "bf16", 2048, 2048, 2048 },
  { "bf16", "bf16", 1024, 1024, 1024 },
  { "bf16", "bf16", 512, 4096, 4096 },
  { "bf16", "bf16", 320, 4096, 4096 },
  { "bf16", "bf16", 16, 8192, 8192 },
  { "f16", "f16", 4096, 4096, 4096 },
  { "e4m3", "bf16", 4096, 4096, 4096 },
  { "f32", "f32", 2048, 2048, 2048 },
}
-- Names; what is asked for: a bias that is a row (N of them) or a column, "matrix": one as C.
local EPILOGUES = {
  { "alpha", { alpha = 0.5 } },
  { "beta", { beta = 1 } },
  { "bias row", { bias = "row" } },
  { "bias column", { bias = "column" } },
  { "bias, relu", { bias = "row", activation = "relu" } },
  { "bias, gelu", { bias = "row", activation = "gelu" } },
  { "bias, gelu_tanh", { bias = "row", activation = "gelu_tanh" } },
  { "bias, silu", { bias = "row", activation = "silu" } },
  { "residual", { residual = "matrix" } },
  { "all, gelu", { alpha = 0.5, bias = "row", activation = "gelu", residual = "matrix" } },
}

local BYTES = { bf16 = 2, f16 = 2, f32 = 4, e4m3 = 1 }

local function rows(m, n) return tile.layout({ m, n }, "right") end

local function side(kind, dtype, m, n)
  local strides = { row = { 0, 1 }, column = { 1, 0 }, matrix = { n, 1 } }
  if not strides[kind] then return kind end
  local A = tile.layout({ m, n }, strides[kind])
  return measure.fill(assert(tile.tensor(dtype, tile.layout(A:cosize()), device))):view(A)
end

-- The options of one product, with tensors of their own.
local function options_of(epilogue, dtype, m, n)
  local options = {}
  for k, v in pairs(epilogue) do options[k] = side(v, dtype, m, n) end
  return options
end

-- As many plans as take tensors beyond the L2.
local function contestant(product, epilogue)
  local t, out, m, n, k = table.unpack(product)
  local bytes, plans = BYTES[t] * (m + n) * k + BYTES[out] * m * n, {}
  for i = 1, math.min(BEYOND // bytes + 1, MOST) do
    local A = measure.tensor(t, rows(m, k), device)
    local B = measure.tensor(t, rows(n, k), device)
    local C = measure.tensor(out, rows(m, n), device)
    plans[i] = assert(tile.plan_gemm(A, B, C, options_of(epilogue, out, m, n)))
  end
  local c = rested.in_turn(plans, function() device:synchronize() end)
  c.kernel = measure.kernel(plans[1])
  return c
end

print(("moontile %s on %s\n"):format(tile._VERSION, device:about()))
local table_rows = { { "product", "epilogue", "kernel", "us", "plain us", "ratio" } }
for _, product in ipairs(PRODUCTS) do
  local t, out, m, n, k = table.unpack(product)
  local name = ("%s>%s %dx%dx%d"):format(t, out, m, n, k)
  if measure.is_asked(name) then
    local plain = contestant(product, {})
    for _, row in ipairs(EPILOGUES) do
      local other = contestant(product, row[2])
      rested.run({ plain, other }, ROUNDS)
      local x, y = rested.median(other.samples), rested.median(plain.samples)
      table_rows[#table_rows + 1] = { name, row[1], other.kernel, ("%.1f"):format(x * 1e6),
                                      ("%.1f"):format(y * 1e6), ("%.3f"):format(x / y) }
      collectgarbage()
    end
  end
end
measure.print(table_rows)
