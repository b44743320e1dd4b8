-- plans.lua: random plans as C, each with its tensors before and after, and the program that runs
-- them without the library.
-- SPDX-License-Identifier: MIT
--
-- usage: plans.lua FOLDER LIBCUDA SEED COUNT     LIBCUDA may be "": the driver of the machine
-- MOONTILE_TIMES as many of them, each kind at least once.

local tile = require "moontile"
local products = dofile "spec/products.lua"
local folder, libcuda, seed, count = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4])
math.randomseed(seed)
local device = assert(tile.device { "cuda", libcuda = libcuda ~= "" and libcuda or nil })
local pick, random = products.pick, math.random
local format = string.format

local function write(name, text)
  local f = assert(io.open(folder .. "/" .. name, "wb"))
  f:write(text)
  assert(f:close())
end

local KINDS = { "column", "row", "blocked", "permuted", "padded", "reversed", "swizzled" }

local function operand(dtype, sizes, kind, more)
  local where = sizes.device or device
  local o = products.operand(dtype, products.layout(sizes, kind or pick(KINDS)), nil, 1, more or 0)
  local t, buffer = products.on(o, where)
  return t, buffer
end

-- ---- plans: each returns the plan, its buffers in the order of arguments, which one is written

-- The plan of a copy between two operands of these types and sizes. Modes that two layouts split
-- so that neither split refines the other are no copy: then other operands are drawn.
local function plan_copy(from, to, sizes, more)
  local src, a = operand(from, sizes, nil, more)
  local dst, b = operand(to, sizes, nil, more)
  local ok, plan = pcall(tile.plan, src, dst)
  if ok then return plan, { a, b }, 2 end
  assert(tostring(plan):find("no common refinement", 1, true), plan)
  return plan_copy(from, to, sizes, more)
end

local COPIED = { "u8", "i8", "bf16", "f32", "f64", "i32" }

local function copy(where)
  local shapes = { { random(200), random(150) }, { random(60), random(20), random(20) },
                   { 64, random(2, 6) * 32 }, { random(3000) } }
  local sizes = pick(shapes)
  sizes.device = where
  local dtype = pick(COPIED)
  return plan_copy(dtype, dtype, sizes, random(0, 5))
end

local function convert()
  return plan_copy("f32", pick { "bf16", "f16", "f64" }, { random(90), random(90) })
end

local TYPES = { { "bf16", "f32" }, { "bf16", "bf16" }, { "f16", "f16" }, { "f32", "f32" },
                { "f64", "f64" } }

local function gemm(options)
  local types = pick(TYPES)
  local odd = random(2) == 1
  local function extent() return odd and random(90) or 64 * random(3) end
  local M, N, K, kinds = extent(), extent(), extent(), { "column", "row", "padded" }
  if random(4) == 1 then kinds = KINDS end
  local A, a = operand(types[1], { M, K }, pick(kinds))
  local B, b = operand(types[1], { N, K }, pick(kinds))
  local C, c = operand(types[2], { M, N }, pick(kinds))
  local list = { a, b, c }
  options = options or { alpha = pick { 1, 2 }, beta = pick { 0, 1 } }
  if options.bias then
    local bias, buffer = operand(types[2], { N }, "column")
    options.bias, list[4] = { row = bias }, buffer
  end
  return tile.plan_gemm(A, B, C, options), list, 3
end

local function ending() return gemm { bias = true, activation = pick { "relu", "gelu" } } end

local function tf32()
  local M, N, K = 128, 64 + random(3), 96
  local A, a = operand("f32", { M, K }, "row")
  local B, b = operand("f32", { N, K }, "row")
  local C, c = operand("f32", { M, N }, "row")
  return tile.plan_gemm(A, B, C, { precision = "3xtf32" }), { a, b, c }, 3
end

local function described()
  local mma = tile.tiled_mma { atom = "UniversalFMA<float,float,float,float>",
                               atoms = tile.layout { 8, 8, 1 } }
  local A, a = operand("f32", { 33, 20 })
  local B, b = operand("f32", { 21, 20 })
  local C, c = operand("f32", { 33, 21 })
  return tile.plan(mma, A, B, C), { a, b, c }, 3
end

-- Both halves of one buffer.
local function shared()
  local n = 16 * random(20)
  local all = tile.tensor("f32", tile.layout(2 * n), device):fill(random(9))
  local plan = tile.plan(all:view(tile.layout(n)), all:view(tile.layout(n), n))
  return plan, { all, all }, 2
end

local function loops() return copy(tile.device "cpu") end

local MAKERS = { copy, convert, gemm, gemm, ending, tf32, described, shared, loops, gemm, copy }

-- ---- the program

local bodies, calls = {}, {}

local function lines_of(name, plan, buffers, written)
  local host = plan.name == "host"
  local lines, at = { format("static void run_%s (void) {", name) }, {}
  for i, T in ipairs(buffers) do
    local first = i
    for j = 1, i - 1 do if buffers[j] == T then first = j end end
    at[i] = first < i and at[first] or "t" .. i
    if first == i then
      lines[#lines + 1] = format('  uint64_t t%d = bring("%s_%d.npy", %s);', i, name, i,
                                 tostring(host))
    end
  end
  local list = table.concat(at, ", ")
  if host then
    list = list:gsub("t%d", "(void *)(uintptr_t)%0")
    lines[#lines + 1] = format("  MUST(%s_run(%s));", name, list)
  else
    if plan.workspace then
      lines[#lines + 1] = format("  uint64_t w = room(%s_WORKSPACE_BYTES);", name)
      list = list .. ", w"
    end
    lines[#lines + 1] = format("  %s *x;\n  MUST(%s_open(&x, libcuda));", name, name)
    for _ = 1, plan.twice and 2 or 1 do
      lines[#lines + 1] = format("  MUST(%s_launch(x, stream, %s));", name, list)
    end
  end
  lines[#lines + 1] = format('  equal("%s", "%s_want.npy", %s, %s);', name, name, at[written],
                             tostring(host))
  if not host then lines[#lines + 1] = format("  %s_close(x);", name) end
  for i = 1, host and #buffers or 0 do
    if i ~= written then lines[#lines + 1] = format("  free((void *)(uintptr_t)t%d);", i) end
  end
  return table.concat(lines, "\n") .. "\n}\n"
end

local function export(name, make)
  local plan, buffers, written = make()
  local words = tostring(plan)
  assert(tile.export(plan, folder, { name = name }))
  local header = tile.export(plan, nil, { name = name })
  for i, T in ipairs(buffers) do assert(T:save(format("%s/%s_%d.npy", folder, name, i))) end
  local kind = { name = words:find "%(cpu" and "host", workspace = header:find "WORKSPACE_BYTES" }
  plan()
  if device then device:synchronize() end
  if random(2) == 1 and kind.name ~= "host" then
    plan()
    device:synchronize()
    kind.twice = true
  end
  assert(buffers[written]:save(format("%s/%s_want.npy", folder, name)))
  bodies[#bodies + 1] = format('#include "%s.h"\n', name) .. lines_of(name, kind, buffers, written)
  calls[#calls + 1] = format("  run_%s();\n", name)
end

count = math.max(#MAKERS, math.ceil(count * (tonumber(os.getenv "MOONTILE_TIMES") or 1)))
for i = 1, count do export("p" .. i, MAKERS[(i - 1) % #MAKERS + 1]) end

-- What is wrong with arguments: a plan of 64 floats each way.
local a, b = tile.tensor("f32", tile.layout(64), device),
             tile.tensor("f32", tile.layout(64), device)
tile.export(tile.plan(a, b), folder, { name = "bad" })
write("main.c", '#include "host.h"\n' .. table.concat(bodies)
      .. '#include "bad.h"\n#include "bad_main.h"\n'
      .. "int main (int n, char **argv) {\n  begin(n, argv);\n" .. table.concat(calls)
      .. "  wrong();\n  return end();\n}\n")
