-- api.lua: calls everything that Lua can reach with whatever values: only errors may come of it.
-- usage: moontile api.lua [SEED [CALLS]]; most useful with the sanitizers. MOONTILE_TEST_LIBCUDA
-- adds a GPU.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

local seed, calls = tonumber(arg[1]) or os.time(), tonumber(arg[2]) or 20000
math.randomseed(seed)

local function pick(t) return t[math.random(#t)] end

local INTEGERS = { 0, 1, 2, 3, 4, 5, 7, 8, 16, 24, -1, -2, 1 << 20, 1 << 40, 1 << 62,
                   math.maxinteger - 1, math.maxinteger, math.mininteger, 2.0, 2.5 }
local TEXTS = {
  "4:1", "(4,8):(8,1)", "(4,(2,2)):(2,(1,8))", "Sw<2,0,3> o 0 o (8,8):(8,1)", "():()", "8:-1",
  "(4,8):(1@0,1@1)", "(2,3):(0,1)", "(3,0):(1,1)", "(4,2):(1@0+2@1,1@1)", "Sw<3,4,3>", "1@0",
  "(_,2)", "(2:1,(2,4):(1,8))", "left", "right", "f32", "i8", "cpu", "x", "",
  "((8,2),(4,4)):((1,64),(8,256))", "9223372036854775807:1", "4:4611686018427387904",
  "9223372036854775807:0", "(2,4611686018427387903):(1,0)", "8:-4611686018427387904",
  "Sw<2,0,3> o -9223372036854775808 o 8:1", "Sw<1,0,1> o 9223372036854775800 o (2,2):(4,1)",
  "((2,2),(2,4)):((F5,F3),(F16,F1))", "((3,2),4):((F1,F6),F8)", "(4,(3,2)):(F0,(F3,F5)) o 0 o 8:3",
}
local LAYOUTS = { "(4,8):(8,1)", "(4,(2,2)):(2,(1,8))", "Sw<2,0,3> o 0 o (8,8):(8,1)", "64:1",
                  "(2,3):(0,1)", "():()", "8:-1", "(3,0):(1,1)", "(8,8):(1,8)",
                  "1:1 o 0 o ((3,2),4):((F1,F6),F8)" }
local ATOMS = { "UniversalCopy<uint32_t>", "UniversalCopy<uint128_t>", "AutoVectorizingCopy",
                "SM75_U32x2_LDSM_N" }
local MMAS = { "UniversalFMA<float>", "SM70_8x8x4_F32F16F16F32_TN", "SM80_16x8x8_F32TF32TF32F32_TN",
               "SM80_16x8x16_F32F16F16F32_TN" }

local devices = { "cpu", "cpu:checked", tile.device { "cpu", threads = 2 } }
local libcuda = os.getenv "MOONTILE_TEST_LIBCUDA"
if libcuda then devices[#devices + 1] = tile.device { "cuda", libcuda = libcuda } end

-- Objects that earlier calls have given.
local pool = {}
local function keep(v)
  if type(v) ~= "userdata" and type(v) ~= "table" then return end
  if type(v) == "userdata" then tostring(v) else pcall(tostring, v) end -- it may be broken
  pool[#pool < 60 and #pool + 1 or math.random(60)] = v
end

local function tuple(depth)
  local t = {}
  for i = 1, math.random(0, 4) do
    local r = math.random()
    if r < 0.25 and depth < 4 then t[i] = tuple(depth + 1)
    elseif r < 0.35 then t[i] = tile._
    elseif r < 0.4 then t[i] = layout(pick { 2, 4, 8 }, pick { 0, 1, 2, 3 })
    elseif r < 0.9 then t[i] = math.random(0, 6)
    else t[i] = pick(INTEGERS)
    end
  end
  return t
end

local function value()
  local r = math.random()
  if r < 0.15 then return pick(INTEGERS)
  elseif r < 0.3 then return tuple(1)
  elseif r < 0.35 then return pick(TEXTS)
  elseif r < 0.4 then return tile._
  elseif r < 0.45 then return nil
  elseif r < 0.5 then return pick(devices)
  elseif r < 0.65 then
    local ok, v = pcall(tile.parse, pick(TEXTS))
    return ok and v or nil
  end
  return #pool > 0 and pick(pool) or nil
end

-- What works through every element of a layout is not asked for large ones.
local LARGE = { print_layout = true, totable = true }
local SKIP = { device = true, devices = true, export = true, info = true, load = true, save = true,
               tensor = true }
local function skipped(name, a)
  if not LARGE[name] then return false end
  local ok, n = pcall(tile.size, a)
  return not ok or n > 4096
end

-- What there is, as the program lists it.
local functions, methods, most = {}, {}, {}
for line in assert(io.popen(("'%s' --operations"):format(arg[-1]))):lines() do
  local where, name, n = line:match "^(%w+)\t([%w_]+)\t(%-?%d+)\t"
  local list = where == "tile" and functions or methods
  if not name:match "^__" and not SKIP[name] then
    list[#list + 1], most[name] = name, math.tointeger(n)
  end
end
assert(#functions > 100 and #methods > 100, "the program lists its operations")

local OPERATORS = {
  function(a, b) return a * b end, function(a, b) return a / b end,
  function(a, b) return a == b end, function(a) return #a end, function(a, b) return a[b] end,
  function(a, b) return a(b) end, function(a, b) return a(b, value()) end,
  function(a, b) a[b] = value() end, function(a) return a() end,
}

-- At most n values, seldom more; -1 and less: any number.
local function values(n)
  local list = {}
  if n < 0 or math.random() < 0.05 then n = 4 end
  for i = 1, math.random() < 0.7 and n or math.random(0, n) do list[i] = value() end
  return table.unpack(list)
end

-- A call that runs 2^28 of Lua's instructions is one that does not end, whatever it was given.
local TURNS <const>, MOST <const> = 1 << 16, 1 << 12
local turns = 0
debug.sethook(function()
  turns = turns + 1
  if turns < MOST then return end
  debug.sethook()
  io.write(debug.traceback("api: a call does not end"), "\n")
  os.exit(1)
end, "", TURNS)

local good = 0
local function try(f, ...)
  turns = 0
  local r = table.pack(pcall(f, ...))
  if not r[1] then return end
  good = good + 1
  for k = 2, r.n do keep(r[k]) end
end

local function step()
  local r = math.random()
  if r < 0.02 then
    keep(tile.tensor(pick(tile.dtypes()), layout(pick(LAYOUTS)), pick(devices)))
  elseif r < 0.04 then
    try(tile.tiled_copy, { atom = pick(ATOMS), dtype = pick { "f32", "i8" }, thr = value(),
                           val = value() })
  elseif r < 0.06 then
    try(tile.tiled_mma, { atom = pick(MMAS), atoms = pick { value(), layout { 2, 2 }, layout(4) },
                          permutation = pick { value(), { 32, 32, 32 }, tile._ } })
  elseif r < 0.08 and #pool > 0 then
    try(tile["make_tiled_copy_" .. pick { "A", "B", "C", "S", "D" }], pick(ATOMS), pick(pool))
  elseif r < 0.5 then
    local name, a = pick(functions), value()
    if not skipped(name, a) then try(tile[name], a, values(most[name] - 1)) end
  elseif #pool > 0 and r < 0.9 then
    local o, name = pick(pool), pick(methods)
    local ok, method = pcall(function() return o[name] end)
    if ok and method and not skipped(name, o) then
      try(method, o, values(most[name] - 1))
    end
  elseif #pool > 0 then
    try(pick(OPERATORS), pick(pool), value())
  end
end

io.write("api: seed ", seed, "\n")
for _ = 1, calls do step() end
io.write(("api: %d calls, %d of them answered\n"):format(calls, good))
