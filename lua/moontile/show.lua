-- moontile.show - layouts as text pictures.
-- SPDX-License-Identifier: MIT

local tile = require "moontile.core"

local show = {}

-- The values A(m, n) as text, row by row, and the width of a cell: CuTe takes as many digits as the
-- cosize has; values that need more (negative ones, coordinates) widen it.
local function cells(A, rows, columns)
  local integral, cosize = pcall(tile.cosize, A)
  local width = integral and #tostring(cosize) or 1
  local two = #A == 2
  local text = {}
  for m = 0, rows - 1 do
    local row = {}
    for n = 0, columns - 1 do
      local cell = tostring(two and A(m, n) or A(m))
      row[n + 1] = cell
      width = math.max(width, #cell)
    end
    text[m + 1] = row
  end
  return text, width
end

local function grid(A)
  local rows = tile.size(tile.get(A, 1))
  local columns = #A == 2 and tile.size(tile.get(A, 2)) or 1
  local text, width = cells(A, rows, columns)
  local out = { tostring(A) }
  local head, rule = { "    " }, { "    " }
  for n = 0, columns - 1 do
    head[#head + 1] = string.format("  %" .. width .. "d ", n)
    rule[#rule + 1] = "+" .. string.rep("-", width + 2)
  end
  out[#out + 1] = table.concat(head)
  rule = table.concat(rule) .. "+"
  for m, row in ipairs(text) do
    local line = { string.format("%2d  ", m - 1) }
    for n, cell in ipairs(row) do
      line[n + 1] = "| " .. string.rep(" ", width - #cell) .. cell .. " "
    end
    out[#out + 1] = rule
    out[#out + 1] = table.concat(line) .. "|"
  end
  out[#out + 1] = rule
  return table.concat(out, "\n")
end

local function listing(A)
  local out = { tostring(A) }
  for i = 0, tile.size(A) - 1 do
    out[#out + 1] = tostring(tile.idx2crd(i, A)) .. "  " .. tostring(A(i))
  end
  return table.concat(out, "\n")
end

-- The table that CuTe prints for a layout of rank 2: row and column indices and the offsets. Rank 1
-- is one column. Beyond rank 2: a line for every coordinate. A tensor shows its layout.
function show.print_layout(A)
  if getmetatable(A) == "moontile.Tensor" then A = A:layout() end
  if getmetatable(A) ~= "moontile.Layout" then error("print_layout: layout expected", 2) end
  local rank = #A
  if (rank == 1 or rank == 2) and tile.size(A) > 0 then return grid(A) end
  return listing(A)
end

return show
