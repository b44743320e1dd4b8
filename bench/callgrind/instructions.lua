-- instructions.lua: one call again and again, for counting its instructions under valgrind.
-- usage: valgrind --tool=callgrind moontile bench/callgrind/instructions.lua CALL TIMES
-- What N calls take is the difference between two runs, divided by how many more were made.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

local A, B = layout({ 4, 8, { 2, 3 } }, { 1, 4, { 32, 64 } }), layout({ 8, 3 }, { 3, 24 })
local R, P = layout({ 128, 64 }, { 64, 1 }), layout { 4, 8 }
local cpu = tile.device { "cpu", threads = 1 }
local T = tile.tensor("f32", layout { 128, 64 }, cpu)
local src, dst = tile.tensor("f32", layout(16), cpu), tile.tensor("f32", layout(16), cpu)
local rows = tile.tensor("f32", layout({ 16, 8 }, { 8, 1 }), cpu)
local columns = tile.tensor("f32", layout { 16, 8 }, cpu)
local plan = tile.plan(src, dst)

local CALLS = {
  composition = function() return A * layout(16, 2) end,
  logical_divide = function() return A / layout(4, 2) end,
  zipped_divide = function() return tile.zipped_divide(R, { 16, 8 }) end,
  logical_product = function() return tile.logical_product(P, B) end,
  blocked_product = function() return tile.blocked_product(P, layout { 2, 3 }) end,
  complement = function() return tile.complement(P, 256) end,
  coalesce = function() return tile.coalesce(A) end,
  layout = function() return layout({ 4, 8, { 2, 3 } }, { 1, 4, { 32, 64 } }) end,
  tostring = function() return tostring(A) end,
  offset = function() return A(3, 5, 2) end,
  element = function() return T(3, 5) end,
  view = function() return T:zipped_divide { 16, 8 } end,
  launch = function() plan() end,
  copy = function() tile.copy(src, dst) end,
  plan = function() tile.plan(rows, columns):free() end,
}

-- On a GPU, or on the tests' driver: what it does itself is to be subtracted.
local gpu = tile.device "cuda"
if gpu then
  local function new(dtype, shape) return tile.tensor(dtype, shape, gpu) end
  local from, to, many = new("f32", layout(16)), new("f32", layout(16)), layout({ 16, 64 }, "right")
  local X, Y, Z = new("bf16", many), new("bf16", many), new("bf16", layout({ 16, 16 }, "right"))
  local move, product = tile.plan(from, to), tile.plan_gemm(X, Y, Z)
  CALLS["launch on a GPU"] = function() move() end
  CALLS["copy on a GPU"] = function() tile.copy(from, to) end
  CALLS["product on a GPU"] = function() product() end
  CALLS["gemm on a GPU"] = function() tile.gemm(X, Y, Z) end
end

local call = CALLS[arg[1]]
if not call then
  local names = {}
  for name in pairs(CALLS) do names[#names + 1] = name end
  table.sort(names)
  io.stderr:write("usage: instructions.lua CALL TIMES; calls: ", table.concat(names, " "), "\n")
  os.exit(2)
end
for _ = 1, tonumber(arg[2]) or 1000 do call() end
