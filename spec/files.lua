-- files.lua: what the specs of files have in common.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local files = { read = dofile "docs/read.lua" }

function files.write(name, bytes)
  local f = assert(io.open(name, "wb"))
  f:write(bytes)
  f:close()
end

-- A tensor that holds 1, 2, ... 100, 0, 1, ...; of bool 1, 0, 1, ...
function files.counting(dtype, A, device)
  local T, values = tile.tensor(dtype, A, device), {}
  for i = 1, T:size() do values[i] = i % (dtype == "bool" and 2 or 101) end
  return T:fill(values)
end

return files
