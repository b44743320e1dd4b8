-- moontile.console.picture - a layout as a grid of its values: as much of it as there is room for.
-- SPDX-License-Identifier: MIT

local WIDTH, ROWS = 80, 32

-- A as rows and columns: mode 1, and all others.
local function matrix(A)
  if A:rank() > 2 then A = A:group(2, A:rank()) end
  local rows = A:rank() == 2 and A:size(1) or 1
  local columns = A:rank() == 2 and A:size(2) or A:size()
  local function at(i, j)
    if A:rank() == 2 then return tostring(A(i, j)) end
    return tostring(A(j))
  end
  return rows, columns, at
end

local function centre(text, width) return (" "):rep(width - #text - 1) .. text .. " " end

-- The cells as texts, and how wide they have to be; no more columns than fit.
local function cells_of(rows, columns, at, width)
  local cells, widest = {}, 1
  for i = 0, rows - 1 do cells[i] = {} end
  for j = 0, columns - 1 do
    local longest = math.max(widest, #tostring(j))
    for i = 0, rows - 1 do
      cells[i][j] = at(i, j)
      longest = math.max(longest, #cells[i][j])
    end
    if j > 0 and (longest + 3) * (j + 1) + 6 > width then return cells, widest, j end
    widest = longest
  end
  return cells, widest, columns
end

local function more(n, all, what)
  return n < all and ("%d of %d %s"):format(n, all, what) or nil
end

-- picture(A, width) -> text
return function(A, width)
  local rows, columns, at = matrix(A)
  local shown = math.min(rows, ROWS)
  local cells, cell, n = cells_of(shown, columns, at, width or WIDTH)
  local label = #tostring(shown)
  local border = (" "):rep(label + 2) .. ("+" .. ("-"):rep(cell + 2)):rep(n) .. "+"
  local lines = { tostring(A), (" "):rep(label + 2) }
  for j = 0, n - 1 do lines[2] = lines[2] .. " " .. centre(tostring(j), cell + 2) end
  lines[3] = border
  for i = 0, shown - 1 do
    local line = (" "):rep(label - #tostring(i) + 1) .. i .. " "
    for j = 0, n - 1 do line = line .. "|" .. centre(cells[i][j], cell + 2) end
    lines[#lines + 1] = line .. "|"
    lines[#lines + 1] = border
  end
  local left = { more(shown, rows, "rows"), nil }
  left[#left + 1] = more(n, columns, "columns")
  if #left > 0 then lines[#lines + 1] = "  " .. table.concat(left, ", ") end
  return table.concat(lines, "\n")
end
