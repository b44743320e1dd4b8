-- compare.lua: what ncu counted beside what was predicted, access by access.
-- usage: moontile compare.lua cases.txt ncu.csv
-- SPDX-License-Identifier: MIT
--
-- ncu.csv is the output of `ncu --csv` with the metrics below, with or without `--page raw`; its
-- launches come in the order of cases.txt. The exit status is 0 if all agree.

local LD, ST = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
               "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
local ALL = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
local CONFLICTS = { read = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                    ldmatrix = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                    write = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum" }
local GLOBAL = {
  gread = { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum" },
  gwrite = { "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" },
}

local function read_cases(name)
  local list = {}
  for line in io.lines(name) do
    local case, kind, wavefronts, sectors =
      line:match "^(%S+) (%S+) %d+ %d+ (%d+) (%d+) "
    list[#list + 1] = { name = case, kind = kind, wavefronts = tonumber(wavefronts),
                        sectors = tonumber(sectors) }
  end
  return list
end

-- The fields of a line of CSV; commas inside quotes, as in 1,024, are dropped.
local function fields(line)
  local list = {}
  line = line:gsub('"([^"]*)"', function(s) return (s:gsub(",", "")) end)
  for field in (line .. ","):gmatch "([^,]*)," do list[#list + 1] = field end
  return list
end

-- Launches by number, each metric -> value. Both forms of ncu: a column for each metric, or a
-- row for each metric.
local function read_counts(name)
  local header
  local at, launches, order = {}, {}, {}
  for line in io.lines(name) do
    local row = fields(line)
    if not header then
      if row[1] == "ID" then
        header = row
        for i, key in ipairs(row) do at[key] = i end
      end
    elseif tonumber(row[1]) then
      local id = tonumber(row[1])
      if not launches[id] then
        launches[id] = {}
        order[#order + 1] = launches[id]
      end
      if at["Metric Name"] then
        launches[id][row[at["Metric Name"]]] = tonumber(row[at["Metric Value"]])
      else
        for i, key in ipairs(header) do launches[id][key] = tonumber(row[i]) end
      end
    end
  end
  assert(header, name .. ": no CSV of ncu")
  return order
end

-- What was counted for a case: wavefronts or sectors, and a remark.
local function counted(case, c)
  if case.wavefronts == 0 then
    local keys = GLOBAL[case.kind]
    return c[keys[1]], ("requests %s"):format(c[keys[2]])
  end
  local n = case.kind == "write" and c[ST] or c[LD]
  if case.kind == "ldmatrix" and n == 0 and c[ALL] and c[ST] then n = c[ALL] - c[ST] end
  return n, ("conflicts %s"):format(c[CONFLICTS[case.kind]])
end

local cases, counts = read_cases(arg[1]), read_counts(arg[2])
assert(#cases == #counts, ("%d cases, %d launches"):format(#cases, #counts))
local differ = 0
print(("%-22s %-9s %10s %10s"):format("access", "unit", "predicted", "counted"))
for i, case in ipairs(cases) do
  local n, remark = counted(case, counts[i])
  local predicted = case.wavefronts + case.sectors
  local same = n == predicted
  if not same then differ = differ + 1 end
  print(("%-22s %-9s %10d %10s %s%s"):format(case.name,
    case.wavefronts > 0 and "wavefront" or "sector", predicted, tostring(n), remark,
    same and "" or "  DIFFERS"))
end
print(("%d accesses, %d differ"):format(#cases, differ))
os.exit(differ == 0)
