-- listed.lua: inverses of layouts with a function that is listed: they are listed as well.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"

local MOST <const> = 1 << 16

local listed = {}

-- at[v] = the least i with A(i) = v >= 0; the least and the largest v
local function places(A)
  local at, first, last = {}, A(0), 0
  for i = 0, tile.size(A) - 1 do
    local v = A(i)
    if v >= 0 and at[v] == nil then at[v] = i end
    first, last = math.min(first, v), math.max(last, v)
  end
  return at, first, last
end

-- As many i, from 0 on, as are values of A: A(R(i)) = i.
function listed.right_inverse(A, found)
  local at, n = places(A), 0
  while at[n] do n = n + 1 end
  if n > found then return need "function_layout"(n, function(i) return at[i] end) end
end

-- A(L(A(i))) = A(i); of what A skips, what stands before it.
function listed.left_inverse(A)
  local at, first, last = places(A)
  if first < 0 or last >= MOST then return nil end
  local before = 0
  return need "function_layout"(last + 1, function(v)
    before = at[v] or before
    return before
  end)
end

-- undo_listed(name, A, found): the inverse of this name, if there is one that can be listed, and
-- it has more than `found` elements.
return function(name, A, found)
  if tile.size(A) == 0 or tile.size(A) > MOST or not math.type(A(0)) then return nil end
  return listed[name](A, found)
end
