-- compositions.lua [PAIRS [SEED]]: which compositions are answered, here and elsewhere.
-- SPDX-License-Identifier: MIT
--
-- Random pairs A, B with our answers go to a file, which peers/compositions.py judges by
-- brute force: beside the Python libraries that are installed (PYTHON, or python3), and beside
-- the rules of CuTe and of its paper, told again there. What any of them answers rightly must
-- be answered here, and nothing that is answered here may be wrong: else the exit status is 1.

local tile = require "moontile"

local here = arg[0]:match "^(.*/)" or ""
local count, seed = tonumber(arg[1]) or 200000, tonumber(arg[2]) or os.time()
local python = os.getenv "PYTHON" or "python3"
if not os.execute(python .. " -c '' 2>/dev/null") then
  print("compositions: not compared, there is no " .. python)
  os.exit(0)
end
math.randomseed(seed)
local random = math.random

local function pick(t) return t[random(#t)] end

-- A layout as text from a tree of extents; `stride` gives each leaf its stride.
local function text(tree, stride)
  if type(tree) ~= "table" then return tostring(tree), tostring(stride(tree)) end
  local s, d = {}, {}
  for i, v in ipairs(tree) do s[i], d[i] = text(v, stride) end
  return "(" .. table.concat(s, ",") .. ")", "(" .. table.concat(d, ",") .. ")"
end

local function tree(most, largest, nested)
  local t = {}
  for i = 1, random(1, most) do
    t[i] = nested and random(6) == 1 and tree(2, largest) or random(largest)
  end
  return #t == 1 and type(t[1]) ~= "table" and random(2) == 1 and t[1] or t
end

local function product(t)
  if type(t) ~= "table" then return t end
  local n = 1
  for _, v in ipairs(t) do n = n * product(v) end
  return n
end

-- Compact in order, with gaps now and then; or any strides.
local function strides(negative)
  local run, kind = 1, random(4)
  return function(s)
    if kind == 1 then return random(negative and -12 or 0, 24) end
    if random(12) == 1 then return 0 end
    local d = run
    run = run * s * (kind == 2 and random(4) == 1 and random(3) or 1)
    return kind == 3 and random(3) == 1 and random(0, 40) or d
  end
end

-- Strides likely to meet the ends of A's modes.
local function cuts(a)
  local flat, ends = {}, { 1 }
  local function walk(t)
    if type(t) ~= "table" then flat[#flat + 1] = t else for _, v in ipairs(t) do walk(v) end end
  end
  walk(a)
  local run = 1
  for _, s in ipairs(flat) do
    for k = 2, s do
      if s % k == 0 then ends[#ends + 1] = run * k end
    end
    run = run * s
  end
  return function() return random(5) == 1 and random(0, run) or pick(ends) end
end

local function layout(t, stride)
  local s, d = text(t, stride)
  return s .. ":" .. d
end

local name = os.tmpname()
local file = assert(io.open(name, "w"))
for _ = 1, count do
  local a, b
  repeat a = tree(4, 8, true) until product(a) <= 1024
  repeat b = tree(3, 8, true) until product(b) <= 64
  local A = layout(a, strides(true))
  local B = layout(b, random(2) == 1 and cuts(a) or strides())
  local ok, R = pcall(tile.composition, tile.parse(A), tile.parse(B))
  file:write(A, "\t", B, "\t", ok and tostring(R) or "none", "\n")
end
file:close()
print(("%d pairs, seed %d"):format(count, seed))
local good = os.execute(("%s %speers/compositions.py %s"):format(python, here, name))
os.remove(name)
os.exit(good and true or false)
