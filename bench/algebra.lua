-- algebra.lua: the algebra of layouts against CUTLASS's pycute and tensor-layouts.
-- SPDX-License-Identifier: MIT
--
-- Both peers are pure Python; they run in a process of their own in between, where a Python
-- (PYTHON, or python3) has them. A call from Lua makes its userdata and lets it be collected;
-- all layouts have at most 8 leaves. Medians are shown.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"

local ROUNDS, BATCH, TURNS = 15, 2e-3, 3
local PEERS = { "pycute", "tensor-layouts" }

--  operation         operands
local CASES = {
  { "composition",    "20:2", "(5,4):(4,1)" },
  { "composition",    "(10,2):(16,4)", "(5,4):(1,5)" },
  { "composition",    "(4,6,8,10):(2,3,5,7)", "6:12" },
  { "composition",    "((4,8),(2,2,2)):((64,1),(8,16,32))", "(8,(4,8)):(1,(8,32))" },
  { "composition",    "(2,2,2,2,2,2,2,2):(128,1,64,2,32,4,16,8)", "(16,16):(16,1)" },
  { "complement",     "4:2", "24" },
  { "complement",     "(2,2):(1,6)", "24" },
  { "complement",     "(4,(2,2)):(16,(1,4))", "256" },
  { "complement",     "(2,2,2,2,2,2,2,2):(1,4,16,64,256,1024,4096,16384)", "65536" },
  { "logical_divide", "24:2", "4:2" },
  { "logical_divide", "(4,2,3):(2,1,8)", "4:2" },
  { "logical_divide", "(9,(4,8)):(59,(13,1))", "(3:3,(2,4):(1,8))" },
  { "logical_divide", "((4,8),(2,2,2)):((64,1),(8,16,32))", "(8,4):(1,8)" },
  { "logical_divide", "(16,(4,4),32):(1,(16,512),64)", "(4:4,(2,2):(1,4),8:1)" },
  { "coalesce",       "(2,(1,6)):(1,(6,2))" },
  { "coalesce",       "((4,8),(2,2,2)):((64,1),(8,16,32))" },
  { "coalesce",       "(2,2,2,2,2,2,2,2):(1,2,4,8,16,32,64,128)" },
  { "evaluation",     "24:2", "17" },
  { "evaluation",     "(4,(2,2)):(2,(1,8))", "11" },
  { "evaluation",     "((4,8),(2,2,2)):((64,1),(8,16,32))", "201" },
  { "evaluation",     "(2,2,2,2,2,2,2,2):(128,1,64,2,32,4,16,8)", "201" },
}

local function find_python()
  local python = os.getenv "PYTHON" or "python3"
  if os.execute(python .. " -c '' 2>/dev/null") then return python end
end

-- The text as Lua has it: an integer as such.
local function operand(text)
  local v = text:match "^%d+$" and math.tointeger(text) or tile.parse(text)
  return v
end

-- A batch of n calls with no other loop around them.
local function contestant(case)
  local op, a, b = case[1], operand(case[2]), case[3] and operand(case[3])
  local f = op == "evaluation" and a or tile[op]
  local x, y = a, b
  if op == "evaluation" then x, y = b, nil end
  local function start()
    for _ = 1, 100 do f(x, y) end
  end
  if y == nil then start = function() for _ = 1, 100 do f(x) end end end
  return { start = start, finish = function() end }
end

local samples = {}                       -- of a peer and a case
for _, name in ipairs(PEERS) do samples[name] = {} end

local function run_peers(python, file)
  if not python then return end
  local pipe = assert(io.popen(("%s %speers/algebra.py %s"):format(python, here, file)))
  for name, k, t in pipe:read "a":gmatch "(%S+) (%d+) (%S+)\n" do
    local list = samples[name]
    k = math.tointeger(k)
    list[k] = list[k] or {}
    table.insert(list[k], tonumber(t))
  end
  pipe:close()
end

local function median(list)
  if not list or #list == 0 then return nil end
  table.sort(list)
  return list[#list // 2 + 1]
end

local file = os.tmpname()
local out = assert(io.open(file, "w"))
for _, case in ipairs(CASES) do out:write(table.concat(case, "\t"), "\n") end
out:close()

local python, ours = find_python(), {}
for _, case in ipairs(CASES) do ours[#ours + 1] = { contestant = contestant(case), all = {} } end
for _ = 1, TURNS do
  for _, c in ipairs(ours) do
    measure.run({ c.contestant }, ROUNDS, BATCH)
    table.move(c.contestant.samples, 1, ROUNDS, #c.all + 1, c.all)
  end
  run_peers(python, file)
end
os.remove(file)

-- ---- the tables

local rows = { { "operation", "operands", "ns", "pycute us", "times", "tensor-layouts us", "times" } }
local means = {}                         -- sum of logarithms, count; of an operation and a peer

local function add(op, name, ratio)
  for _, key in ipairs { op, "all" } do
    means[key] = means[key] or {}
    local m = means[key][name] or { 0, 0 }
    means[key][name] = m
    m[1], m[2] = m[1] + math.log(ratio), m[2] + 1
  end
end

for k, case in ipairs(CASES) do
  local t = median(ours[k].all) / 100
  local row = { case[1], ("`%s`"):format(table.concat(case, " ", 2)), ("%.0f"):format(t * 1e9) }
  for _, name in ipairs(PEERS) do
    local peer = median(samples[name][k])
    row[#row + 1] = peer and ("%.1f"):format(peer * 1e6) or "-"
    row[#row + 1] = peer and ("%.0f"):format(peer / t) or "-"
    if peer then add(case[1], name, peer / t) end
  end
  rows[#rows + 1] = row
end
measure.print(rows)

if not next(means) then
  print("\nno peer was found: PYTHON may name a Python that has pycute or tensor-layouts")
  os.exit(0)
end
print("\nTimes as fast, geometric mean:\n")
local summary = { { "operation", table.unpack(PEERS) } }
for _, op in ipairs { "composition", "complement", "logical_divide", "coalesce", "evaluation",
                      "all" } do
  local row = { op }
  for _, name in ipairs(PEERS) do
    local m = means[op] and means[op][name]
    row[#row + 1] = m and ("%.0f"):format(math.exp(m[1] / m[2])) or "-"
  end
  summary[#summary + 1] = row
end
measure.print(summary)
