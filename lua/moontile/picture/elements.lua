-- moontile.picture.elements - the elements of a tensor as CuTe's print_tensor writes them.
-- SPDX-License-Identifier: MIT
--
-- Of one mode a line each, of two a matrix, of three and four matrices behind one another; a
-- tensor of more modes has them folded into the fourth.

local need = ...
local tile = need "core"
local check = need "faults"
local format, rep = string.format, string.rep

local MOST = 1 << 16

-- Of a ragged tensor elements that are not real have no value.
local function text_of(v)
  if v == nil then return "." end
  if math.type(v) == "float" then return format("%.2e", v) end
  return tostring(v)
end

-- All elements as texts of one width, by their index.
local function texts_of(T, size)
  local texts, width, values = {}, 0, T:totable()
  for i = 0, size - 1 do
    texts[i] = text_of(values[i + 1])
    width = math.max(width, #texts[i])
  end
  for i = 0, size - 1 do texts[i] = rep(" ", width - #texts[i]) .. texts[i] end
  return texts, width
end

local function add_matrix(out, texts, rows, columns, first)
  for i = 0, rows - 1 do
    local line = {}
    for j = 0, columns - 1 do line[j + 1] = texts[first + i + rows * j] end
    out[#out + 1] = "  " .. table.concat(line, "  ")
  end
end

-- The sizes of the modes, four at most.
local function sizes_of(A)
  local sizes, rank = {}, tile.rank(A)
  for mode = 1, math.min(rank, 3) do sizes[mode] = tile.size(tile.get(A, mode)) end
  if rank > 3 then sizes[4] = tile.size(tile.take(A, 4, rank)) end
  return sizes
end

-- print_tensor(T) -> text
return function(T)
  check(getmetatable(T) == "moontile.Tensor", "print_tensor: a tensor expected, got %s",
        getmetatable(T) and tostring(getmetatable(T)) or type(T))
  local A = T:layout()
  local size = tile.size(A)
  check(size <= MOST, "print_tensor: %s has %d elements, at most %d are printed\n"
        .. "print a part of it: a slice, or a tile", T, size, MOST)
  local out, s = { tostring(T) .. ":" }, sizes_of(A)
  if size == 0 then return out[1] end
  local texts, width = texts_of(T, size)
  local rows, columns = s[1] or 1, s[2] or 1
  for l = 0, (s[4] or 1) - 1 do
    for k = 0, (s[3] or 1) - 1 do
      if #s > 2 and k > 0 then out[#out + 1] = "  " .. rep("-", columns * (width + 2) - 2) end
      add_matrix(out, texts, rows, columns, rows * columns * (k + (s[3] or 1) * l))
    end
    if #s > 3 and l < s[4] - 1 then out[#out + 1] = "  " .. rep("=", columns * (width + 2) - 2) end
  end
  return table.concat(out, "\n")
end
