-- laws.lua: what is true of every answer. A law that is broken is noted in laws.found, and raises.
-- SPDX-License-Identifier: MIT

local tile = {}                  -- scripts may change the table of the module
for name, f in pairs(require "moontile") do tile[name] = f end
local layout = tile.layout
local error, getmetatable, ipairs, math, next, pcall, rawget, tostring, type =
      error, getmetatable, ipairs, math, next, pcall, rawget, tostring, type

local laws = { found = {}, quiet = 0 }      -- quiet: how many metatables are changed

-- Values that are looked at one by one, and elements of a tensor that are.
local MOST, ELEMENTS = 256, 1 << 16

function laws.broken(name, format, ...)
  local said = ("law %s: " .. format):format(name, ...)
  laws.found[#laws.found + 1] = said
  error(said, 0)
end

local function hold(condition, ...)
  if not condition and laws.quiet == 0 then laws.broken(...) end
end

-- A call in the middle of another may write to what a law has looked at; it says so before.
local acts = 0
function laws.act() acts = acts + 1 end
local function since(n) return acts ~= n end

-- "Layout", "Tensor", ...; of other values what type says.
function laws.class(x)
  local t = type(x)
  if t ~= "userdata" and t ~= "table" then return t end
  local meta = getmetatable(x)
  if type(meta) == "table" then meta = rawget(meta, "__name") end
  return type(meta) == "string" and meta:match "^moontile%.(%a+)$" or t
end
local class = laws.class

-- ---------------------------------------------------------------- layouts

-- The product of a shape; nil if it leaves 53 bits.
local function product(shape)
  if type(shape) ~= "table" then return shape end
  local n = 1
  for i = 1, #shape do
    local m = product(shape[i])
    if not m or n * 1.0 * m > 2.0^53 then return nil end
    n = n * m
  end
  return n
end

-- Coordinates below n: all, or some of a large domain.
local function samples(n)
  local list = {}
  for i = 0, math.min(n, MOST) - 1 do list[#list + 1] = i end
  for i = MOST, math.min(n, 4 * MOST) - 1 do
    list[#list + 1] = (i * 0x9E3779B97F4A7C15 >> 1) % n
  end
  return list
end

local function value(A, i)
  local ok, x = pcall(A, i)
  return ok, x
end

-- The text of a value of a layout; a coordinate has as many zeros behind it as one likes.
local function key_of(x)
  local text = type(x) ~= "table" and tostring(x)
  if text then return text == "F0" and "0" or text end      -- of extent 1 no stride is one of F2
  local list, n = {}, 0
  for k = 1, #x do
    list[k] = key_of(x[k])
    if list[k] ~= "0" then n = k end
  end
  -- (x) is x, but ((x,y)) is not (x,y)
  if n < 2 and (n == 0 or list[1]:sub(1, 1) ~= "(") then return n == 0 and "0" or list[1] end
  return "(" .. table.concat(list, ",", 1, n) .. ")"
end

-- Maps of words of bits are composed and inverted over F2: F5 is the word of 5.
local function word_of(x) return (key_of(x):gsub("^F(%d+)$", "%1")) end

-- Wherever both are answered.
local function same_function(name, R, A, f, key)
  key = key or key_of
  local n = tile.size(R)
  for _, i in ipairs(samples(n)) do
    local known, wanted = f(i)
    local ok, got = value(R, i)
    if known and ok then
      hold(key(got) == key(wanted), name, "%s at %d is %s, of %s it is %s", R, i, got, A,
           wanted)
    end
  end
end

-- Values that are listed have no text that is read, and say so.
local function is_list(said, ok, again)
  return not ok and said:find "{" and tostring(again):find("a list of values has no text", 1, true)
end

local function of_layout(A)
  local said = tostring(A)
  local ok, again = pcall(layout, said)
  if not is_list(said, ok, again) then
    hold(ok, "text", "%s is not read again: %s", said, again)
    hold(again == A, "text", "%s is read as %s", said, again)
    hold(tostring(again) == said, "text", "%s prints as %s", said, again)
  end
  local n = product(tile.shape(A))
  hold(not n or n == tile.size(A), "size", "%s has size %d, its shape %s", A, tile.size(A), n)
  hold(#A == tile.rank(A), "rank", "%s", A)
end

local function of_value(x)
  local said = tostring(x)
  local ok, again = pcall(tile.parse, said)
  if is_list(said, ok, again) then return end
  hold(ok, "text", "%s is not read again: %s", said, again)
  hold(again == x, "text", "%s is read as %s", said, again)
end

local function of_tensor(T)
  tostring(T)
  local ok, A = pcall(function() return (T:layout()) end)
  if ok then of_layout(A) end
end

local of = { Layout = of_layout, Value = of_value, Tuple = of_value, Tensor = of_tensor }

-- What holds of every result, and of what lies in it.
function laws.result(x, depth)
  if laws.quiet > 0 then return end
  local kind = class(x)
  local f = of[kind]
  if f then return f(x) end
  if kind == "userdata" or (type(x) == "userdata" and kind ~= "userdata") then tostring(x) end
  if type(x) ~= "table" or (depth or 0) > 2 then return end
  if kind ~= "table" then hold(type(tostring(x)) == "string", "text", "of a %s", kind) end
  local n = 0
  for _, y in next, x do
    n = n + 1
    if n > 8 then return end
    if type(y) == "userdata" or type(y) == "table" then laws.result(y, (depth or 0) + 1) end
  end
end

-- ---------------------------------------------------------------- operations

local function are_layouts(...)
  for _, x in ipairs { ... } do if class(x) ~= "Layout" then return false end end
  return true
end

-- R(i) = A(B(i)).
function laws.composition(R, A, B)
  if not are_layouts(R, A, B) then return end
  hold(tile.size(R) == tile.size(B), "composition", "%s of %s and %s", R, A, B)
  same_function("composition", R, A, function(i)
    local ok, k = value(B, i)
    if not ok or math.type(k) ~= "integer" then return false end
    return value(A, k)
  end, word_of)
end

-- The same function of an index.
function laws.same(R, A)
  if not are_layouts(R, A) then return end
  hold(tile.size(R) == tile.size(A), "same", "%s of %s", R, A)
  same_function("same", R, A, function(i) return value(A, i) end)
end

-- How often each value is there; nil if the layout is large.
local function values(A)
  local n, count = tile.size(A), {}
  if n > ELEMENTS >> 4 then return nil end
  for i = 0, n - 1 do
    local ok, x = value(A, i)
    if not ok then return nil end
    local key = key_of(x)
    count[key] = (count[key] or 0) + 1
  end
  return count
end

-- The same values as often, in another order, if R has as many as A.
function laws.cover(R, A)
  if not are_layouts(R, A) then return end
  if tile.size(R) ~= tile.size(A) then return end
  local a, r = values(A), values(R)
  if not a or not r then return end
  for key, n in next, a do
    hold(r[key] == n, "cover", "%s has %s values %s, %s has %d", R, r[key] or "no", key, A, n)
  end
end

-- A(R(i)) = i, and R(A(i)) = i where A meets a place once.
function laws.right_inverse(R, A)
  if not are_layouts(R, A) or math.type(A(0)) ~= "integer" then return end
  same_function("right_inverse", layout(tile.size(R)), A, function(i)
    local ok, k = value(R, i)
    if not ok or math.type(k) ~= "integer" then return false end
    return value(A, k)
  end)
end

function laws.left_inverse(R, A)
  if not are_layouts(R, A) then return end
  local count = values(A)
  if not count then return end
  for i = 0, tile.size(A) - 1 do
    local x = A(i)
    if math.type(x) == "integer" and count[tostring(x)] == 1 then
      local ok, k = value(R, x)
      hold(not ok or word_of(k) == tostring(i), "left_inverse", "%s of %s: at %d is %s, not %d",
           R, A, x, k, i)
    end
  end
end

-- What stands under the swizzles of A; A where another link does.
local function under_swizzles(A)
  local links, base = tostring(A):match "^(.* o )([^ ]*)$"
  for link in (links or ""):gmatch "(%S+) o %S+ o " do
    if not link:find "^Sw<" then return A end
  end
  return base and layout(base) or A
end

-- Each value of (A, R) is there as often as in A alone: what R adds is disjoint. Swizzles stand
-- before both.
function laws.complement(R, A)
  if not are_layouts(R, A) then return end
  A = under_swizzles(A)
  if tile.size(R) * tile.size(A) > ELEMENTS >> 4 then return end
  local ok, both = pcall(tile.make_layout, A, R)
  local a, r = values(A), ok and values(both)
  if not a or not r then return end
  local most = 0
  for _, n in next, a do most = math.max(most, n) end
  for key, n in next, r do
    hold(n <= most, "complement", "(%s, %s) has %d values %s", A, R, n, key)
  end
end

-- ---------------------------------------------------------------- tensors

-- Tensors that are views of a larger one: { base =, pad = }.
local whole = setmetatable({}, { __mode = "k" })
laws.whole = whole

local PAD = 24

-- The least and the largest offset of a layout of integers.
local function reach(A)
  local lo, hi = 0, 0
  for i = 0, tile.size(A) - 1 do
    local x = A(i)
    lo, hi = math.min(lo, x), math.max(hi, x)
  end
  return lo, hi
end

-- A tensor of the layout in the middle of a larger one whose other elements are not its own.
function laws.make(dtype, A, device)
  if tile.size(A) == 0 or tile.size(A) > ELEMENTS then return tile.tensor(dtype, A, device) end
  local lo, hi = reach(A)
  if hi - lo > ELEMENTS then return nil, "large" end
  local base, why = tile.tensor(dtype, layout(hi - lo + 1 + 2 * PAD), device)
  if not base then return nil, why end
  local some = {}
  for i = 1, base:size() do some[i] = i % 7 end
  if dtype == "bool" then for i = 1, #some do some[i] = some[i] > 3 end end
  local T = base:fill(some):view(A, PAD - lo)
  whole[T] = { base = base }
  return T
end

-- The results; tensors among them are views of T.
function laws.of(T, ...)
  for _, x in ipairs { ... } do
    if class(x) == "Tensor" then whole[x] = whole[T] end
  end
  return ...
end

function laws.burn(T)
  if whole[T] then whole[T].base:free() else T:free() end
end

-- The elements as a sequence, where they can be read.
local function elements(T)
  local ok, t = pcall(function()
    if T:size() > ELEMENTS then return nil end
    return T:totable()
  end)
  return ok and t or nil
end

local function equal(a, b) return a == b or (a ~= a and b ~= b) end

-- The places of the elements that T has.
local function places(T, of_T)
  local at, A, first = {}, T:layout(), T:offset()
  for i = 0, T:size() - 1 do
    if of_T[i + 1] ~= nil then at[first + A(i)] = true end
  end
  return at
end

-- f() changes no element of the larger tensor that is not one of T.
function laws.inside(T, f)
  local n, around, own = acts, whole[T], elements(T)
  local before = around and own and elements(around.base)
  f()
  local after = before and elements(around.base)
  if not after or since(n) then return end
  local at = places(T, own)
  for i = 1, #before do
    hold(at[i - 1] or equal(before[i], after[i]), "inside",
         "%s: place %d is none of it: it was %s, it is %s", T, i - 1, before[i], after[i])
  end
end

local function wait(T, stream)
  if stream then stream:synchronize() end
  T:device():synchronize()
end

-- f() copies src to dst, of one type.
function laws.copy(src, dst, f, stream)
  local n, wanted = acts, src:dtype() == dst:dtype() and elements(src)
  local own = elements(dst)
  laws.inside(dst, function() f() wait(dst, stream) end)
  local got = wanted and own and elements(dst)
  if not got or since(n) then return end
  for i = 1, dst:size() do
    hold(own[i] == nil or wanted[i] == nil or equal(got[i], wanted[i]), "copy",
         "%s to %s: element %d is %s, not %s", src, dst, i - 1, got[i], wanted[i])
  end
end

-- T:fill(x) writes what one element of it would be.
function laws.fill(T, x)
  local n = acts
  wait(T)                        -- for products that lines before have on streams
  laws.inside(T, function() T:fill(x) wait(T) end)
  local one = elements(tile.tensor(T:dtype(), layout(1)):fill(x))
  local got = elements(T)
  if since(n) then return end
  for i = 1, got and T:size() or 0 do
    hold(got[i] == nil or equal(got[i], one[1]), "fill", "%s: element %d is %s, not %s", T, i - 1,
         got[i], one[1])
  end
end

-- What f() returns has the same elements as T.
function laws.equal(T, f)
  local n, U = acts, f()
  if class(T) ~= "Tensor" or class(U) ~= "Tensor" then return end
  local a, b = elements(T), elements(U)
  if not a or not b or since(n) then return end
  for i = 1, T:size() do
    hold(equal(a[i], b[i]), "equal", "%s, %s: element %d is %s and %s", T, U, i - 1, a[i], b[i])
  end
end

-- ---------------------------------------------------------------- products

local EXACT = { i32 = true, i64 = true, f32 = true, f64 = true }

-- Whether the n elements are small integers, or none of the tensor's own.
local function small(t, n)
  for i = 1, n do
    local x = t[i] or 0
    if type(x) ~= "number" or x ~= math.floor(x) or math.abs(x) > 64 then return false end
  end
  return true
end

-- The elements of T by (row, column, batch): C(m, n, l) is at m + M (n + N l).
local function cube(T)
  local t = elements(T)
  if not t or not small(t, T:size()) then return nil end
  local rank, size = T:rank(), {}
  for k = 1, 3 do size[k] = k <= rank and tile.size(tile.get(T:layout(), k)) or 1 end
  return t, size
end

-- The sum of a(row, k) b(column, k); what is not there is 0.
local function dot(a, b, row, column, batch, M, N, K)
  local sum = 0
  for k = 0, K - 1 do
    local x, y = a[row + M * (k + K * batch) + 1], b[column + N * (k + K * batch) + 1]
    sum = sum + (x or 0) * (y or 0)
  end
  return sum
end

-- f() is C = alpha A B + beta C of small integers.
function laws.product(A, B, C, alpha, beta, f)
  local before, a, m = acts, cube(A)
  local b, n = cube(B)
  local c = cube(C)
  laws.inside(C, function() f() wait(C) end)
  local got = a and b and c and EXACT[C:dtype()] and elements(C)
  if not got or since(before) or m[1] * n[1] * m[2] * m[3] > 8192 then return end
  local M, N, K = m[1], n[1], m[2]
  for i = 0, M * N * m[3] - 1 do
    local wanted = c[i + 1] and alpha * dot(a, b, i % M, i // M % N, i // (M * N), M, N, K) +
                   beta * c[i + 1]
    hold(got[i + 1] == wanted, "product", "%s %s %s: element %d is %s, not %s", A, B, C, i,
         got[i + 1], wanted)
  end
end

-- ---------------------------------------------------------------- errors

-- What Lua says of the operands of a line itself.
local OWN = { "field '?'", "field 'integer index'", "local 'x'", "upvalue '", "method '" }
local function is_own(said)
  if said:find "yield" then return true end
  if said:find "^case:%d+: attempt to %a+ a nil value" then return true end   -- of no memory
  if said:find "^case:%d+: attempt to call a moontile%." then return true end -- it was a graph
  for _, name in ipairs(OWN) do
    if said:find "^case:%d+:" and said:find("(" .. name, 1, true) then return true end
  end
  return false
end

-- What a call raised is told at the line of the caller, and is no slip of the library.
function laws.fault(said)
  if type(said) ~= "string" or said:find "^[^:\n]*surface/%a+%.lua:" then return end
  local strange = said:find "moontile/%a+%.lua:%d" or (said:find "attempt to " and not is_own(said))
  hold(not strange, "fault", "%s", said)
end

return laws
