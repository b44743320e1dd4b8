-- moontile.nearest - the precompiled kernels beside a described one, and what they differ in.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"

local SHOWN = 3
local NONE = "no precompiled kernel that can be described so reads these types of A and B"

-- What would have to change, a field a pair of lines.
local function add_differences(lines, row)
  for _, d in ipairs(row.differs) do
    lines[#lines + 1] = ("    %-9s %s"):format(d.field, d.here)
    lines[#lines + 1] = ("    %9s %s"):format("there", d.there)
  end
end

local function show(rows)
  if #rows == 0 then return NONE end
  local first = rows[1]
  local lines = { #first.differs == 0 and "precompiled:" or "not precompiled; the nearest are:" }
  for i = 1, math.min(SHOWN, #rows) do
    if #first.differs == 0 and #rows[i].differs > 0 then break end
    lines[#lines + 1] = ("  %s (sm_%d)"):format(rows[i].kernel, rows[i].arch)
    add_differences(lines, rows[i])
  end
  return table.concat(lines, "\n")
end

local Rows = { __tostring = show, __name = "moontile.Rows", __metatable = "moontile.Rows" }

-- kernel:why() -> { { kernel = name, arch =, differs = { { field =, here =, there = }, ... } },
-- ... }, the nearest first, which prints itself.
return function(kernel)
  return setmetatable(tile.kernel_near(kernel), Rows)
end
