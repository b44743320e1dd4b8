-- rows.lua: the rows of golden tables, and what came of them, per operation.
-- SPDX-License-Identifier: MIT

local rows = { files = {} }

local verbose = false
for _, a in ipairs(arg) do
  if a == "-v" then verbose = true else rows.files[#rows.files + 1] = a end
end

-- What a script shows of a value.
function rows.show(v)
  if type(v) == "table" and not (getmetatable(v) or {}).__tostring then
    local t = {}
    for i = 1, #v do t[i] = rows.show(v[i]) end
    return "(" .. table.concat(t, ",") .. ")"
  elseif math.type(v) == "float" and v == math.floor(v) then return ("%d"):format(v)
  end
  return tostring(v)
end

-- The fields between tabs.
function rows.split(line)
  local t = {}
  for field in (line .. "\t"):gmatch "(.-)\t" do t[#t + 1] = field end
  return t
end

local tally, order = {}, {}

-- what: "pass", or why not; the first two of each kind are shown, or all.
function rows.note(key, what, line, got)
  local t = tally[key]
  if not t then
    t = setmetatable({}, { __index = function() return 0 end })
    tally[key], order[#order + 1] = t, key
  end
  t[what], t.all = t[what] + 1, t.all + 1
  if what ~= "pass" and (verbose or t[what] <= 2) then
    io.write(what, "\t", line, "\n\t\tgot ", tostring(got), "\n")
  end
end

-- Says how many rows hold, and ends with that.
function rows.report()
  local pass, total = 0, 0
  for _, key in ipairs(order) do
    local t = tally[key]
    pass, total = pass + t.pass, total + t.all
    if t.pass < t.all then
      io.write(("%-40s %5d of %5d  (wrong %d, raised %d, missing %d)\n"):format(key, t.pass, t.all,
               t.fail, t.raised, t.missing))
    end
  end
  io.write(("%d passed, %d failed\n"):format(pass, total - pass))
  os.exit(pass == total)
end

return rows
