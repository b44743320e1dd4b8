-- moontile.faults - faults of the caller, told at the caller's line.
-- SPDX-License-Identifier: MIT

local faults = {}

function faults.check(condition, format, ...)
  if not condition then error(format:format(...), 0) end
end

-- f, its errors raised where it was called.
local function at_caller(f)
  return function(...)
    local results = table.pack(pcall(f, ...))
    if not results[1] then
      local why = results[2]
      error(type(why) == "string" and why:gsub("^moontile/%a+%.lua:%d+: ", "") or why, 2)
    end
    return table.unpack(results, 2, results.n)
  end
end

-- The same for each function of a module.
function faults.raising(module)
  for name, f in pairs(module) do module[name] = at_caller(f) end
  return module
end

return faults
