-- algebra.lua: the algebra of layouts against CUTLASS's pycute and tensor-layouts.
-- SPDX-License-Identifier: MIT
--
-- Both peers are pure Python; they run in a process of their own in between, where a Python
-- (PYTHON, or python3) has them. C is a call of the core by a C program; a call from Lua also
-- makes a userdata and lets it be collected. All layouts have at most 8 leaves. Medians are
-- shown.

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

local CALLS = 100                        -- of one start of a contestant

local function finish() end

local function from_lua(case)
  local op, a, b = case[1], tile.parse(case[2]), case[3] and tile.parse(case[3])
  local f, x, y
  if op == "evaluation" then f, x = a, b else f, x, y = tile[op], a, b end
  local function two() for _ = 1, CALLS do f(x, y) end end
  local function one() for _ = 1, CALLS do f(x) end end
  return { start = y and two or one, finish = finish, all = {} }
end

local function from_c(case)
  local run = measure.bench.core(table.unpack(case))
  return { start = function() run(CALLS) end, finish = finish, all = {} }
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
for _, case in ipairs(CASES) do ours[#ours + 1] = { from_lua(case), from_c(case) } end
for _ = 1, TURNS do
  for _, both in ipairs(ours) do
    measure.run(both, ROUNDS, BATCH)
    for _, c in ipairs(both) do table.move(c.samples, 1, ROUNDS, #c.all + 1, c.all) end
  end
  run_peers(python, file)
end
os.remove(file)

-- ---- the tables

local WAYS = { "Lua", "C" }
local means = {}                         -- sums of logarithms and their number, by name

local function add(name, ratio)
  local m = means[name] or { 0, 0 }
  means[name] = m
  m[1], m[2] = m[1] + math.log(ratio), m[2] + 1
end

local function mean(name)
  local m = means[name]
  return m and ("%.0f"):format(math.exp(m[1] / m[2])) or "-"
end

local rows = { { "operation", "operands", "Lua ns", "C ns", "pycute us", "tensor-layouts us" } }
for k, case in ipairs(CASES) do
  local row, time = { case[1], ("`%s`"):format(table.concat(case, " ", 2)) }, {}
  for w in ipairs(WAYS) do
    time[w] = median(ours[k][w].all) / CALLS
    row[#row + 1] = ("%.0f"):format(time[w] * 1e9)
  end
  for _, name in ipairs(PEERS) do
    local t = median(samples[name][k])
    row[#row + 1] = t and ("%.1f"):format(t * 1e6) or "-"
    for w, way in ipairs(WAYS) do
      if t then add(case[1] .. name .. way, t / time[w]) end
      if t then add("all" .. name .. way, t / time[w]) end
    end
  end
  rows[#rows + 1] = row
end
measure.print(rows)

if not next(means) then
  print("\nno peer was found: PYTHON may name a Python that has pycute or tensor-layouts")
  os.exit(0)
end
print("\nTimes as fast, geometric means:\n")
local summary = { { "operation", "C / pycute", "Lua / pycute", "C / tensor-layouts",
                    "Lua / tensor-layouts" } }
for _, op in ipairs { "composition", "complement", "logical_divide", "coalesce", "evaluation",
                      "all" } do
  summary[#summary + 1] = { op, mean(op .. "pycuteC"), mean(op .. "pycuteLua"),
                            mean(op .. "tensor-layoutsC"), mean(op .. "tensor-layoutsLua") }
end
measure.print(summary)
