-- answers.lua: whether an operation over Z has an answer, by brute force: what the operation
-- asks for is searched among all layouts, and nothing is taken from the library.
-- SPDX-License-Identifier: MIT
--
-- An operand is { text =, s = extents of its leaves, d = their strides }, leaves from left to
-- right. A coordinate v@k counts as v * AXIS^k: sums of small ones are told apart.

local random = math.random
local answers = { AXIS = 1 << 20, LEAVES = 4, EXTENT = 6 } -- of an operand, at most

-- ---- operands

local function value(A, i)
  local sum, n = 0, #A.s
  for k = 1, n - 1 do
    sum = sum + math.fmod(i, A.s[k]) * A.d[k]
    i = (i - math.fmod(i, A.s[k])) // A.s[k]
  end
  return sum + i * A.d[n]
end

local function size(A)
  local n = 1
  for _, s in ipairs(A.s) do n = n * s end
  return n
end

local function values(A)
  local v = {}
  for i = 0, size(A) - 1 do v[i] = value(A, i) end
  return v
end

local function range(v)
  local lo, hi = 0, 0
  for i = 0, #v do lo, hi = math.min(lo, v[i]), math.max(hi, v[i]) end
  return lo, hi
end

-- Leaves as text; a nested one has its last leaves in modes of their own.
local function text(list, nested, from)
  local n, t = #list, {}
  from = from or 1
  if from == n then return tostring(list[n]) end
  if nested and n - from > 1 then
    return ("(%s,%s)"):format(list[from], text(list, n - from > 2, from + 1))
  end
  for i = from, n do t[#t + 1] = list[i] end
  return "(" .. table.concat(t, ",") .. ")"
end

local STRIDES = {
  compact = function(run) return run end,
  gaps = function(run) return run * random(3) end,
  any = function() return random(0, 16) end,
  still = function(run) return random(2) == 1 and 0 or run end,
  back = function(run) return (random(2) == 1 and -1 or 1) * run end,
  anywhere = function() return random(-12, 12) end,
}
local FAMILIES = { "compact", "gaps", "any", "still", "back", "anywhere" }
answers.FAMILIES = FAMILIES

-- A random operand of at most `most` elements; its family; on axes: its strides are
-- coordinates.
function answers.operand(most, family, axes)
  local s, d, shown, run = {}, {}, {}, 1
  for k = 1, random(random(answers.LEAVES)) do
    local extent = random(answers.EXTENT)
    if run * extent > most then break end
    s[k], d[k], run = extent, run, run * extent
  end
  if #s == 0 then s[1], d[1] = 1, 1 end
  for k = #s, 2, -1 do                       -- strides in any order
    local j = random(2) == 1 and k or random(k)
    d[k], d[j] = d[j], d[k]
  end
  for k = 1, #s do
    d[k] = STRIDES[family](d[k])
    shown[k] = d[k]
    if axes then
      local axis = random(0, 1)
      shown[k] = d[k] .. "@" .. axis
      d[k] = d[k] * (axis == 0 and 1 or answers.AXIS)
    end
  end
  local nested = random(2) == 1
  return { text = text(s, nested) .. ":" .. text(shown, nested), s = s, d = d }
end

-- ---- which sequences are layouts

-- v[0], v[step], ... n of them: 0, d, 2d, ... for some d, repeated as another layout says.
local function factors(v, step, n)
  if n <= 1 then return true end
  for m = 2, n do
    local good = n % m == 0
    for c = 0, good and n - 1 or -1 do
      local low = c % m
      good = good and v[c * step] == low * v[step] + v[(c - low) * step]
    end
    if good and factors(v, step * m, n // m) then return true end
  end
  return false
end

-- Whether c -> f(sum of part_k(c_k)) is a layout with these leaves, each in modes of any
-- extents; parts[k][0 .. n-1] are integers.
local function is_layout(f, parts)
  local zero = f(0)
  for _, part in ipairs(parts) do
    local v = {}
    for c = 0, #part do v[c] = f(part[c]) - zero end
    if not factors(v, 1, #part + 1) then return false end
  end
  local function sums(k, at, sum)
    if k > #parts then return f(at) - zero == sum end
    for c = 0, #parts[k] do
      if not sums(k + 1, at + parts[k][c], sum + f(parts[k][c]) - zero) then return false end
    end
    return true
  end
  return sums(1, 0, 0)
end

local function parts_of(A)
  local parts = {}
  for k, s in ipairs(A.s) do
    parts[k] = {}
    for c = 0, s - 1 do parts[k][c] = c * A.d[k] end
  end
  return parts
end

-- ---- what fills the gaps

-- C with values(A) + C = lo .. lo + n - 1 each once, n >= bound the least such; nil: there is
-- none with n <= limit. C is unique: the least offset that is missing begins a copy.
local function gaps(A, bound, limit)
  local set, seen, lo = {}, {}, math.maxinteger
  local v = values(A)
  for i = 0, #v do lo = math.min(lo, v[i]) end
  for i = 0, #v do
    if not seen[v[i]] then set[#set + 1], seen[v[i]] = v[i] - lo, true end
  end
  local C, taken, edge, held = {}, {}, 0, 0
  while edge <= limit do
    while taken[edge] do edge = edge + 1 end
    if edge == held * #set and edge >= bound and held > 0 then return C end
    for _, x in ipairs(set) do
      if taken[edge + x] then return nil end
      taken[edge + x] = true
    end
    C[held], held = edge, held + 1
  end
end

-- Whether elements that moves meet.
local function collides(A)
  local seen, s, d = {}, {}, {}
  for k = 1, #A.s do
    if A.d[k] ~= 0 then s[#s + 1], d[#d + 1] = A.s[k], A.d[k] end
  end
  if #s == 0 then return false end
  local v = values { s = s, d = d }
  for i = 0, #v do
    if seen[v[i]] then return true end
    seen[v[i]] = true
  end
  return false
end

-- ---- linear equations over the integers

-- x = e + any sum of multiples of the vectors b solves the equations so far; adds a x = f.
local function require_equation(e, b, a, f)
  local function dot(v)
    local sum = 0
    for j = 1, #a do sum = sum + a[j] * v[j] end
    return sum
  end
  local function add(v, q, w) for j = 1, #a do v[j] = v[j] + q * w[j] end end
  local rest = f - dot(e)
  while true do
    local least, others
    for i, v in ipairs(b) do
      local g = dot(v)
      if g ~= 0 and (not least or math.abs(g) < math.abs(dot(b[least]))) then least = i end
    end
    if not least then return rest == 0 end
    local g = dot(b[least])
    for i, v in ipairs(b) do
      if i ~= least and dot(v) ~= 0 then
        add(v, -(dot(v) // g), b[least])
        others = others or dot(v) ~= 0
      end
    end
    if not others then
      if rest % g ~= 0 then return false end
      add(e, rest // g, b[least])
      table.remove(b, least)
      return true
    end
  end
end

-- Whether the layout with the extents P[2]/P[1], P[3]/P[2], ... has strides with L(x) = f.
local function solves(P, points)
  local e, b = {}, {}
  for j = 1, #P do
    e[j], b[j] = 0, {}
    for k = 1, #P do b[j][k] = j == k and 1 or 0 end
  end
  for x, f in pairs(points) do
    local a = {}
    for j = 1, #P do a[j] = P[j + 1] and x // P[j] % (P[j + 1] // P[j]) or x // P[j] end
    if not require_equation(e, b, a, f) then return false end
  end
  return true
end

-- ---- the operations: an answer exists

function answers.composition(A, B, offset)
  return is_layout(function(i) return value(A, (offset or 0) + i) end, parts_of(B))
end

-- L with L(A(i)) = the least index of that value. A layout takes no index below 0.
function answers.left_inverse(A)
  local points, v = {}, values(A)
  local lo, hi = range(v)
  if lo < 0 or collides(A) then return false end
  for i = #v, 0, -1 do points[v[i]] = i end
  local function extend(P)
    if solves(P, points) then return true end
    for q = 2 * P[#P], hi, P[#P] do
      P[#P + 1] = q
      if extend(P) then return true end
      P[#P] = nil
    end
    return false
  end
  return extend { 1 }
end

local FAR = 600

-- A layout whose values ascend, which fills what A skips.
function answers.complement(A, bound)
  if collides(A) then return false end
  local C = gaps(A, bound, bound + FAR)
  return C and factors(C, 1, #C + 1) or false
end

-- A o (T, T*), T* what fills the gaps of T up to the size of A.
function answers.logical_divide(A, T)
  if range(values(T)) < 0 or collides(T) then return false end
  local rest = gaps(T, size(A), size(A) + FAR)
  if not rest then return false end
  local parts = parts_of(T)
  parts[#parts + 1] = rest
  return is_layout(function(i) return value(A, i) end, parts)
end

-- Copies of A at C o B, C what fills its gaps; copies at two values of B do not meet.
function answers.logical_product(A, B)
  if collides(A) then return false end
  local v = values(B)
  local lo, hi = range(v)
  if lo < 0 and collides(B) then return false end
  local C = gaps(A, size(A) * (math.max(hi, -lo) + 1), size(A) * (hi - lo + 1) + FAR)
  if not C then return false end
  local function at(i) return i < 0 and -(C[-i] or 0) or C[i] or 0 end
  if math.max(hi, -lo) > #C or not is_layout(at, parts_of(B)) then return false end
  local taken, seen, own = {}, {}, {}
  for _, x in pairs(values(A)) do own[x] = true end
  for i = 0, #v do
    if not seen[v[i]] then
      seen[v[i]] = true
      for x in pairs(own) do
        if taken[x + at(v[i])] then return false end
        taken[x + at(v[i])] = true
      end
    end
  end
  return true
end

return answers
