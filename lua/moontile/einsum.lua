-- moontile.einsum - contractions and convolutions as matrix products: views, nothing is moved.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check, kind = need "faults", need "kind"
local gsub, match, sub = string.gsub, string.match, string.sub

local einsum = {}

local function layout_of(value, what)
  check(getmetatable(value) == "moontile.Layout", "%s: layout expected, got %s", what,
        kind(value))
  return value
end

-- A, whose modes are those of its base, over others: after a swizzle or other links as A is.
function einsum.above(A, modes)
  if not tile.is_swizzled(A) and not tile.is_composed(A) then return modes end
  return tile.relink(A, modes)
end

-- ---------------------------------------------------------------- contractions

-- "mk,nk->mn" -> { "mk", "nk", "mn" }
local function operands(expression)
  check(type(expression) == "string", "einsum_fold: an expression like \"mk,nk->mn\" expected")
  local words = { match(gsub(expression, "%s+", ""), "^(%a*),(%a*)%->(%a*)$") }
  check(#words == 3, "einsum_fold: \"%s\" is not of the form \"mk,nk->mn\": letters for the"
                     .. " modes of A and of B, then of C", expression)
  return words
end

local names = { "A", "B", "C" }

-- The labels in the order in which they first appear, each with its modes: { "k", A = 2, B = 2 }.
local function labels(words, layouts)
  local list, found = {}, {}
  for i, word in ipairs(words) do
    local which = names[i]
    local rank = tile.rank(layout_of(layouts[i], "einsum_fold: " .. which))
    check(rank == #word, "einsum_fold: %s = %s has %d modes, its labels are \"%s\"", which,
          layouts[i], rank, word)
    for mode = 1, #word do
      local label = sub(word, mode, mode)
      local entry = found[label] or { label }
      check(not entry[which], "einsum_fold: the label %s stands twice in \"%s\": a diagonal is a"
                              .. " view of its own", label, word)
      if not found[label] then list[#list + 1] = entry end
      entry[which], found[label] = mode, entry
    end
  end
  return list
end

-- Which operands a label is in decides its group.
local groups = { AC = "M", BC = "N", AB = "K", ABC = "L" }

-- The group of a label; its modes must have one size.
local function group_of(entry, layouts)
  local where, size, first = "", nil, nil
  for i, which in ipairs(names) do
    if entry[which] then
      where = where .. which
      local n = tile.size(tile.get(layouts[i], entry[which]))
      check(not size or n == size, "einsum_fold: the label %s has size %s in %s, %d in %s",
            entry[1], size, first, n, which)
      size, first = n, first or which
    end
  end
  check(groups[where], "einsum_fold: the label %s is only in %s: sum that mode first",
        entry[1], where)
  return groups[where]
end

-- The modes of a layout with these numbers as one: 1:0 for none.
local function fold(A, modes)
  if #modes == 0 then return tile.layout(1) end
  if #modes == 1 then return tile.get(A, modes[1]) end
  return tile.select(A, table.unpack(modes))
end

-- einsum_fold("mk,nk->mn", A, B, C) -> the operands as (M,K,L), (N,K,L), (M,N,L). A label in A
-- and C belongs to M, in B and C to N, in A and B to K, in all three to L; each group has its
-- labels in the order in which they first appear, the same in both operands. One product, any
-- modes:
--   C(m,n,l) += A(m,k,l) * B(n,k,l).
function einsum.einsum_fold(expression, A, B, C)
  local layouts = { A, B, C }
  local words = operands(expression)
  local modes = { A = { M = {}, K = {}, L = {} }, B = { N = {}, K = {}, L = {} },
                  C = { M = {}, N = {}, L = {} } }
  for _, entry in ipairs(labels(words, layouts)) do
    local group = group_of(entry, layouts)
    for _, which in ipairs(names) do
      if entry[which] then table.insert(modes[which][group], entry[which]) end
    end
  end
  local function view(i, ...)
    local parts, base = {}, tile.get_nonswizzle_portion(layouts[i])
    for k, group in ipairs { ... } do parts[k] = fold(base, modes[names[i]][group]) end
    return einsum.above(layouts[i], tile.make_layout(parts))
  end
  return view(1, "M", "K", "L"), view(2, "N", "K", "L"), view(3, "M", "N", "L")
end

-- ---------------------------------------------------------------- convolutions

-- An argument of im2col with a value for each of n spatial modes.
local function each(value, n, default, least, what)
  if value == nil then value = default end
  if math.type(value) == "integer" then
    local one = value
    value = {}
    for k = 1, n do value[k] = one end
  end
  for key in pairs(type(value) == "table" and value or {}) do
    check(math.type(key) == "integer", "im2col: %s: a field '%s'; the arguments are A, stencil,"
          .. " lower, upper, stride, dilation, each an integer or a sequence", what, key)
  end
  check(type(value) == "table" and #value == n,
        "im2col: %s: an integer, or one for each of %d spatial modes expected", what, n)
  for k = 1, n do
    check(math.type(value[k]) == "integer" and value[k] >= least, "im2col: %s[%d]: %s is no integer"
          .. " >= %d", what, k, value[k], least)
  end
  return value
end

local function negative(v)
  if type(v) ~= "table" then return -v end
  local t = {}
  for i = 1, #v do t[i] = negative(v[i]) end
  return t
end

-- Of one spatial mode: the positions of the stencil, and its taps. Their indices add up inside the
-- mode, so both are cut together.
local function walk(A, k, size, o)
  local span = (o.stencil[k] - 1) * o.dilation[k] + 1
  local room = size + o.lower[k] + o.upper[k] - span
  check(room >= 0, "im2col: the stencil spans %d elements of spatial mode %d, which has %d with its"
                   .. " padding", span, k, room + span)
  local steps = tile.layout({ room // o.stride[k] + 1, o.stencil[k] },
                            { o.stride[k], o.dilation[k] })
  local both = tile.composition(A, steps)
  check(o.lower[k] == 0 or tile.rank(tile.coalesce(A)) == 1,
        "im2col: spatial mode %d, %s, is no single mode: what lies before its begin has no offset;"
        .. " lower padding takes a copy", k, A)
  return tile.get(both, 1), tile.get(both, 2)
end

-- im2col(A, stencil [, lower, upper, stride, dilation]) -> the layout ((N,(Z..)),((T..),C)) and the
-- offset to add to the data: A is (N, spatial.., C), Z the positions of the stencil, T its taps.
-- R((n,z),(t,c)) + offset = A(n, z*stride + t*dilation - lower, c). A convolution is the product of
-- R with filters (Kout,((T..),C)). What lies in the padding is outside of A: predicate it with the
-- same im2col of make_identity_layout(shape(A)).
function einsum.im2col(A, stencil, lower, upper, stride, dilation)
  local n = tile.rank(layout_of(A, "im2col")) - 2
  check(n >= 1, "im2col: (N, spatial.., C) expected, got %s", A)
  local o = {
    stencil = each(stencil, n, nil, 1, "stencil"), lower = each(lower, n, 0, 0, "lower"),
    upper = each(upper, n, 0, 0, "upper"), stride = each(stride, n, 1, 1, "stride"),
    dilation = each(dilation, n, 1, 1, "dilation"),
  }
  local positions, taps, corner = {}, {}, { 0 }
  for k = 1, n do
    local mode = tile.get(A, k + 1)
    positions[k], taps[k] = walk(mode, k, tile.size(mode), o)
    corner[k + 1] = o.lower[k]
  end
  corner[n + 2] = 0
  local before = A(corner)
  check(type(before) ~= "userdata", "im2col: the strides of %s are F2: its offsets do not add up",
        A)
  local rows = tile.make_layout(tile.get(A, 1), tile.make_layout(positions))
  local columns = tile.make_layout(tile.make_layout(taps), tile.get(A, n + 2))
  return tile.make_layout(rows, columns), negative(before)
end

return einsum
