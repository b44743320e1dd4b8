-- operations.lua: the rows of binding/operations.def, what scripts can call:
-- { { name =, of = { TILE = true, ... }, most = n or "MANY", takes = }, ... }
-- SPDX-License-Identifier: MIT

local EVERYWHERE = { OF_BOTH = "OF_TILE OF_LAYOUT", OF_ALL = "OF_TILE OF_LAYOUT OF_TENSOR" }

local function read_rows(path)
  local most_of, rows = {}, {}
  for line in io.lines "src/binding/lmt.h" do
    for signature, n in line:gmatch "MOST_([%w_]+) = (%d)" do most_of[signature] = tonumber(n) end
  end
  for line in io.lines(path) do
    local kind, name, columns, takes = line:match '^LMT_(%w+)%(([%w_]+),(.-)"(.-)"'
    if kind then
      local signature = columns:match "%f[%w]([IVBP]_%u+)%f[%W]"
      local row = { name = name, takes = takes, of = {},
                    most = tonumber(columns:match "(%d+),%s*$") or most_of[signature] or "MANY" }
      columns = columns:gsub("OF_%u+", EVERYWHERE)
      for word in columns:gmatch "OF_(%u+)" do row.of[word] = true end
      rows[#rows + 1] = row
    end
  end
  return rows
end

return read_rows "src/binding/operations.def"
