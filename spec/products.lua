-- products.lua: for specs of products: random operands in any layout, and what the product is,
-- computed here from the elements. Random numbers are math.random's: seed it.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local epilogues = dofile "spec/epilogues.lua"
local products = {}

local random = math.random
local function pick(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end
products.pick, products.chance = pick, chance

-- ---- layouts, as text

-- n as factors of which none is 1, at most three; {} of 1.
local function factors(n)
  local list = {}
  for p = 2, n do
    while n % p == 0 do list[#list + 1], n = p, n // p end
  end
  while #list > 3 or #list > 1 and chance(40) do
    local p = table.remove(list, random(#list))
    local i = random(#list)
    list[i] = list[i] * p
  end
  return list
end

local function shuffle(list)
  for i = #list, 2, -1 do
    local j = random(i)
    list[i], list[j] = list[j], list[i]
  end
end

-- kind -> the order in which leaves (mode, place in it) get their strides
local ORDERS = {
  column = function() end,
  row = function(leaves) table.sort(leaves, function(a, b)
    return a.mode > b.mode or a.mode == b.mode and a.place < b.place
  end) end,
  blocked = function(leaves) table.sort(leaves, function(a, b)
    return a.place < b.place or a.place == b.place and a.mode < b.mode
  end) end,
  permuted = shuffle,
}
ORDERS.padded, ORDERS.broadcast, ORDERS.reversed = ORDERS.column, shuffle, shuffle
ORDERS.swizzled = ORDERS.row

local function text_of(modes, key)
  local out = {}
  for i, leaves in ipairs(modes) do
    local list = {}
    for j, leaf in ipairs(leaves) do list[j] = tostring(leaf[key]) end
    out[i] = #list > 1 and "(" .. table.concat(list, ",") .. ")" or list[1]
  end
  return "(" .. table.concat(out, ",") .. ")"
end

local function leaves_of(sizes, kind)
  local modes, all = {}, {}
  local split = kind == "blocked" or kind ~= "column" and kind ~= "row" and chance(50)
  for i, n in ipairs(sizes) do
    modes[i] = {}
    local list = split and factors(n) or { n }
    for j, extent in ipairs(#list > 0 and list or { 1 }) do
      modes[i][j] = { extent = extent, mode = i, place = j }
      all[#all + 1] = modes[i][j]
    end
  end
  return modes, all
end

-- A layout of these sizes: { text =, lo =, hi = }, the least and the largest offset.
function products.layout(sizes, kind)
  local modes, leaves = leaves_of(sizes, kind)
  local at, lo, hi = 1, 0, 0
  ORDERS[kind](leaves)
  local absent = kind == "broadcast" and random(#sizes)
  local back = kind == "reversed" and pick(leaves)
  for _, leaf in ipairs(leaves) do
    if leaf.mode == absent then
      leaf.stride = 0
    else
      leaf.stride = leaf == back and -at or at
      local reach = (leaf.extent - 1) * leaf.stride
      if reach < 0 then lo = lo + reach else hi = hi + reach end
      at = at * leaf.extent + (kind == "padded" and random(0, 3) or 0)
    end
  end
  local text = text_of(modes, "extent") .. ":" .. text_of(modes, "stride")
  if kind == "swizzled" then
    text = ("Sw<%d,%d,%d> o 0 o "):format(random(3), random(0, 2), random(3, 4)) .. text
    lo, hi = 0, tile.cosize(tile.layout(text)) - 1
  end
  return { text = text, lo = lo, hi = hi }
end

-- ---- elements

-- Codes of 4 and 6 bits as numbers: exponent and fraction bits.
local CODES = { e2m1 = { 2, 1 }, e3m2 = { 3, 2 }, e2m3 = { 2, 3 } }

local function of_code(code, e, m)
  local x, f = code >> m & (1 << e) - 1, code & (1 << m) - 1
  local bias = (1 << e - 1) - 1
  local v = x == 0 and f * 2.0 ^ (1 - bias - m) or (1 + f / (1 << m)) * 2.0 ^ (x - bias)
  return code >> e + m & 1 == 1 and -v or v
end

-- element -> what a value of a tensor is to the instruction; others: itself
local MEANS = {
  tf32 = function(v)
    return (string.unpack("<f", string.pack("<I4", string.unpack("<I4", string.pack("<f", v))
                                            & ~0x1fff)))
  end,
  s4 = function(v) return (v & 15 ~ 8) - 8 end,
  u4 = function(v) return v & 15 end,
  u1 = function(v) return v == true and 1 or v and v & 1 or 0 end,
}
for name, bits in pairs(CODES) do
  MEANS[name] = function(v) return of_code(v, bits[1], bits[2]) end
end

-- element -> dtypes of a tensor that holds it; others: the dtype of the same name
products.HOLDERS = {
  s4 = { "i8", "u8" }, u4 = { "i8", "u8" }, u1 = { "u8", "bool" }, tf32 = { "f32" },
  e2m1 = { "u8" }, e3m2 = { "u8" }, e2m3 = { "u8" }, s8 = { "i8" }, s16 = { "i16" },
  s32 = { "i32" },
}

local INTEGERS = {
  i8 = { -128, 127 }, u8 = { 0, 255 }, i16 = { -32768, 32767 }, i32 = { -2^31 | 0, 2^31 - 1 | 0 },
}

-- A random element; `scale`: of floats, the largest.
local function element(dtype, scale)
  local range = INTEGERS[dtype]
  if range then return random(range[1], range[2]) end
  if dtype == "bool" then return chance(50) end
  return (random() * 2 - 1) * scale
end

-- ---- operands

-- What an operand holds: a list for the whole of its buffer, as the dtype rounds it. `more`
-- elements lie before and behind those that the layout reaches.
function products.operand(dtype, layout, what, scale, more)
  local n, list = layout.hi - layout.lo + 1 + 2 * more, {}
  for i = 1, n do list[i] = element(dtype, scale) end
  local buffer = tile.tensor(dtype, tile.layout(n)):fill(list)
  return { dtype = dtype, layout = tile.layout(layout.text), at = more - layout.lo, size = n,
           values = buffer:totable(), means = MEANS[what] }
end

-- The operand on a device: the tensor, and all of its buffer.
function products.on(o, device)
  local buffer = tile.tensor(o.dtype, tile.layout(o.size), device):fill(o.values)
  return buffer:view(o.layout, o.at), buffer
end

-- Rows of numbers: [l][x][y], for a layout of (X,Y) or (X,Y,L); L 1: for every l.
local function numbers(o, X, Y)
  local A, means, out = o.layout, o.means, {}
  for l = 0, tile.size(A) // (X * Y) - 1 do
    local rows = {}
    for x = 0, X - 1 do
      local row = {}
      for y = 0, Y - 1 do
        local v = o.values[o.at + A(x + X * (y + Y * l)) + 1]
        row[y + 1] = means and means(v) or v
      end
      rows[x + 1] = row
    end
    out[l + 1] = rows
  end
  return out
end

-- sum of a b, sum of |a b|; of integers modulo 2^64
local function dot(a, b, K)
  local sum, magnitude = 0, 0.0
  for k = 1, K do
    local p = a[k] * b[k]
    sum = sum + p
    magnitude = magnitude + (p < 0 and -p or p)
  end
  return sum, magnitude
end

local function dot_bits(xor)
  return function(a, b, K)
    local sum = 0
    for k = 1, K do sum = sum + (xor and a[k] ~ b[k] or a[k] & b[k]) end
    return sum, 0.0
  end
end

-- Of each element of C, in order of its coordinates: the product, the sum of magnitudes, and
-- where it lies in the buffer.
function products.exact(case)
  local s = case.size
  local A, B = numbers(case.A, s.M, s.K), numbers(case.B, s.N, s.K)
  local sums, magnitudes, places = {}, {}, {}
  local add = case.bits and dot_bits(case.bits == "xor") or dot
  for l = 1, s.L do
    local a, b = A[#A == 1 and 1 or l], B[#B == 1 and 1 or l]
    for n = 1, s.N do
      for m = 1, s.M do
        local i = #sums + 1
        sums[i], magnitudes[i] = add(a[m], b[n], s.K)
        places[i] = case.C.at + case.C.layout(i - 1) + 1
      end
    end
  end
  return { sums = sums, magnitudes = magnitudes, places = places }
end

-- ---- judging

-- dtype -> half a unit in the last place of 1, half of the least number
local ROUNDED = {
  f64 = { 2.0 ^ -53, 0.0 }, f32 = { 2.0 ^ -24, 2.0 ^ -150 }, f16 = { 2.0 ^ -11, 2.0 ^ -25 },
  bf16 = { 2.0 ^ -8, 2.0 ^ -134 }, e4m3 = { 2.0 ^ -4, 2.0 ^ -10 }, e5m2 = { 2.0 ^ -3, 2.0 ^ -17 },
}

-- The largest numbers of small floats; what is more may become infinity or NaN.
local LARGEST = { f16 = 65504, e4m3 = 448, e5m2 = 57344 }

-- An accumulator of 32 bits wraps; C saturates.
local function wrap(x) return (x + 0x80000000 & 0xffffffff) - 0x80000000 end
local function clamp(x) return math.max(-0x80000000, math.min(0x7fffffff, x)) end

-- What C is to be at element i, and how far from it it may be. A device may scale in f32 (f64
-- products: in f64).
local function wanted(case, exact, i)
  local old = case.C.values[exact.places[i]]
  local sum = exact.sums[i]
  if case.C.dtype == "i32" then sum = wrap(sum) end
  local want = case.alpha * sum
  if case.beta ~= 0 then want = want + case.beta * old end
  if case.C.dtype == "i32" then return clamp(want), 0 end
  local scaled
  sum, scaled = exact.magnitudes[i], case.beta ~= 0 and math.abs(case.beta * old) or 0
  local e = math.abs(case.alpha) * tile.mma_bound(case.atom, case.steps, sum)
  local digits = case.atom.dtype.C == "f64" and 2.0 ^ -51 or 2.0 ^ -22
  e = e + digits * (math.abs(case.alpha) * sum + scaled)
  if case.epilogue then
    local s = case.size
    local m, n, l = (i - 1) % s.M, (i - 1) // s.M % s.N, (i - 1) // s.M // s.N
    want, e = epilogues.apply(case.epilogue, m, n, l, want, old, case.C.dtype, e)
  end
  local unit = ROUNDED[case.C.dtype]
  return want, e + unit[1] * (math.abs(want) + e) + unit[2]
end

-- nil, or what is wrong with the buffer of C: an element that is not the product, one beside
-- C that was written.
function products.wrong(case, exact, got)
  local inside = {}
  for i, place in ipairs(exact.places) do
    inside[place] = true
    local want, most = wanted(case, exact, i)
    local v = got[place]
    local beyond = math.abs(want) + most > (LARGEST[case.C.dtype] or math.huge)
    if not (math.abs(v - want) <= most or beyond and (v ~= v or v - v ~= 0)) then
      local m, n = (i - 1) % case.size.M, (i - 1) // case.size.M
      return ("C(%d,%d,%d) is %s, not %s: %g beyond %g"):format(
        m, n % case.size.N, n // case.size.N, v, want, math.abs(v - want), most)
    end
  end
  for place, old in ipairs(case.C.values) do
    local v = got[place]
    if not inside[place] and v ~= old and (v == v or old == old) then
      return ("element %d of the buffer, which is not of C, was %s and is %s"):format(
        place - 1, old, v)
    end
  end
end

return products
