-- random.lua: random ragged tiles against counting by hand: what is real is read, filled, copied,
-- converted and multiplied, and nothing else in memory changes.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local model = require "model"
local steps = require "steps"

local random = math.random
local names = {}
for name in pairs(steps) do names[#names + 1] = name end
table.sort(names)

-- ---------------------------------------------------------------- memory

local function random_shape(rank, room)
  local s = {}
  for k = 1, rank do
    if random(4) == 1 then
      local a = random(1, 4)
      local b = random(1, math.max(1, math.min(4, room // a)))
      s[k], room = { a, b }, room // (a * b)
    else
      s[k] = random(1, math.max(1, math.min(12, room)))
      room = room // s[k]
    end
  end
  return s
end

local function leaves(s, out)
  for _, v in ipairs(s) do
    if type(v) == "table" then leaves(v, out) else out[#out + 1] = v end
  end
  return out
end

local function with_leaves(s, d, i)
  local t = {}
  for k, v in ipairs(s) do
    if type(v) == "table" then t[k], i = with_leaves(v, d, i) else t[k], i = d[i], i + 1 end
  end
  return t, i
end

-- Strides that give each element a place of its own: in any order, with gaps, of both signs.
local function random_layout(shape, swizzles)
  local n, d, order, step = leaves(shape, {}), {}, {}, 1
  for k = 1, #n do table.insert(order, random(3) == 1 and random(k) or k, k) end
  if random(3) == 1 then table.sort(order, function(a, b) return a > b end) end
  for _, k in ipairs(order) do
    d[k] = random(8) == 1 and -step or step
    step = step * n[k] + (random(5) == 1 and random(3) or 0)
  end
  local A = tile.layout(shape, (with_leaves(shape, d, 1)))
  if swizzles and random(8) == 1 then
    local b = random(2)
    return tile.composition(tile.swizzle(b, random(0, 2), b + random(0, 1)), A)
  end
  return A
end

-- A tensor of integers somewhere in a buffer: T, the buffer as a tensor, what is in it, the model.
local function random_memory(x, shape, dtype)
  local A = random_layout(shape, x.swizzles)
  local low, high = 0, 0
  for i = 0, tile.size(A) - 1 do
    local at = A(i)
    low, high = math.min(low, at), math.max(high, at)
  end
  local offset = -low + random(0, 3)
  local n = offset + high + 1 + random(0, 3)
  local raw = assert(tile.tensor(dtype, tile.layout(n), x.device))
  local values = {}
  for i = 1, n do values[i] = random(0, 9) end
  raw:fill(values)
  return { raw = raw, values = values, T = raw:view(A, offset), dtype = dtype,
           model = model.whole(A, offset), text = tostring(A) }
end

-- ---------------------------------------------------------------- views

local function sizes_of(A)
  local n = {}
  for k = 1, tile.rank(A) do n[k] = tile.size(tile.get(A, k)) end
  return n
end

local function same_list(a, b)
  if #a ~= #b then return false end
  for k = 1, #a do if a[k] ~= b[k] then return false end end
  return true
end

-- What may be refused: what has no layout at all, and what has none on coordinates.
local function may_refuse(message, ragged, apply, A)
  if message:find("at most 4", 1, true) then return true end
  if message:find("own first", 1, true) then return ragged end
  return not pcall(apply, A)
end

-- The layout of the view T is that of the layout; where coordinates step otherwise, with some of
-- its modes cut.
local function check_layout(v, T, A, ragged)
  local B = T:layout()
  if tostring(B) == tostring(A) then return end
  local same = (ragged or T:bounds()) and tile.size(A) == tile.size(B)
  for i = 0, tile.size(A) - 1 do same = same and A(i) == B(i) end
  assert(same, ("%s: %s, not %s"):format(v.text, T, A))
end

-- One more cut of v. False: it was refused.
local function cut(x, v, step)
  local made, text, apply, result, regroups = pcall(steps[step], v.model, v.T)
  if not made or text == nil then return false end
  local A, ragged = v.T:layout(), v.T:bounds() ~= nil
  local ok, T = pcall(apply, v.T)
  if not ok then
    x.refused = x.refused + 1
    assert(may_refuse(T, ragged, apply, A), text .. ": " .. tostring(T))
    return false
  end
  v.text = v.text .. " " .. text
  check_layout(v, T, apply(A), ragged)
  if regroups then result = model.reshaped(v.model, T:layout()) end
  assert(same_list(sizes_of(T:layout()), result.n), v.text .. ": sizes of " .. tostring(T))
  v.T, v.model = T, result
  return true
end

-- ---------------------------------------------------------------- checks

local function check_memory(v, what)
  local got = v.raw:totable()
  for i = 1, #v.values do
    if got[i] ~= v.values[i] then
      error(("%s: place %d of memory has %s, not %s: %s"):format(what, i - 1, got[i], v.values[i],
                                                                   v.text), 0)
    end
  end
end

local function check_read(v)
  local got, m = v.T:totable(), v.model
  for i = 1, #m.at do
    local want = m.at[i] and v.values[m.at[i] + 1] or nil
    if got[i] ~= want then
      error(("element %d is %s, not %s: %s = %s"):format(i - 1, got[i], want, v.text, v.T), 0)
    end
  end
  local all = model.reals(m) == #m.at
  assert((v.T:bounds() == nil) == all, v.text .. ": bounds of " .. tostring(v.T))
  if #m.at == 0 then return end
  local i = random(#m.at)
  local ok, value = pcall(v.T, i - 1)
  if m.at[i] then assert(ok and value == v.values[m.at[i] + 1], v.text)
  else
    assert(not ok and value:find("is not its own", 1, true), v.text)
    ok, value = pcall(v.T.set, v.T, 1, i - 1)
    assert(not ok and value:find("is not its own", 1, true), v.text)
  end
end

local function is_injective(m)
  local seen = {}
  for i = 1, #m.at do
    if m.at[i] then
      if seen[m.at[i]] then return false end
      seen[m.at[i]] = true
    end
  end
  return true
end

-- What cannot be proven or described is refused: swizzles between each other, a search without an
-- end, more bounds than there are.
local function unproven(message)
  return message:find("proven", 1, true) or message:find("decided", 1, true)
         or message:find("no common refinement", 1, true) or message:find("axes, a kernel", 1, true)
         or message:find("more than 4 bounds", 1, true)
end

local function check_fill(x, v)
  local value = random(10, 19)
  local table_of = random(3) == 1 and {}
  if table_of then
    for i = 1, #v.model.at do table_of[i] = random(20, 29) end
    v.T:fill(table_of)
  else
    local ok, message = pcall(v.T.fill, v.T, value)
    if not ok then
      x.refused = x.refused + 1
      assert(not is_injective(v.model) or unproven(message), v.text .. ": " .. tostring(message))
      return
    end
  end
  for i = 1, #v.model.at do
    local at = v.model.at[i]
    if at then v.values[at + 1] = table_of and table_of[i] or value end
  end
  check_memory(v, "fill")
  x.filled = x.filled + 1
end

-- The same cuts of another tensor of the same shape, or a tensor of the view's own shape.
local function partner(x, v, dtype)
  if random(2) == 1 then
    local shape = {}
    for k = 1, #v.model.n do shape[k] = v.model.n[k] end
    return random_memory(x, shape, dtype)
  end
  local other = random_memory(x, v.shape, dtype)
  math.randomseed(v.seed)
  for _, step in ipairs(v.steps) do
    math.randomseed(step.seed)
    if not cut(x, other, step.name) then return nil end
  end
  return same_list(other.model.n, v.model.n) and other or nil
end

local types = { "i32", "f32", "u8", "f64", "bf16" }

local function check_copy(x, v)
  local dtype = random(3) == 1 and types[random(#types)] or v.dtype
  local w = partner(x, v, dtype)
  if not w then return end
  local src, dst = v, w
  if random(2) == 1 then src, dst = w, v end
  local across = x.host and random(4) == 1                -- by way of a tensor on the host
  local ok, message
  if across then
    local there
    ok, message = pcall(function()
      there = assert(src.T:to(x.host))
      tile.copy(there, dst.T)
    end)
  else ok, message = pcall(tile.copy, src.T, dst.T) end
  if not ok then
    x.refused = x.refused + 1
    assert(not is_injective(dst.model) or unproven(message) or (across and
           message:find("are no box", 1, true)), src.text .. " -> " .. dst.text .. ": " .. message)
    return
  end
  for i = 1, #v.model.at do
    local a, b = src.model.at[i], dst.model.at[i]
    if a and b then dst.values[b + 1] = src.values[a + 1] end
  end
  check_memory(dst, "copy from " .. src.text)
  check_memory(src, "copy to " .. dst.text)
  x.copied = x.copied + 1
end

-- ---------------------------------------------------------------- products

-- A tile of a random matrix: its view, extents as asked for.
local function random_matrix(x, rows, columns, dtype)
  if random(3) == 1 then return random_memory(x, { rows, columns }, dtype) end
  local n = { random(1, 12), random(1, 12) }
  local v = random_memory(x, n, dtype)
  local t, c = { rows, columns }, {}
  for k = 1, 2 do c[k] = random(0, (n[k] - 1) // t[k]) end
  local all = model.divided(v.model, t)
  local ok, T = pcall(tile.local_tile, v.T, t, c)
  if not ok then                                        -- a swizzle that does not go with it
    assert(not pcall(tile.local_tile, v.T:layout(), t, c), T)
    return random_memory(x, { rows, columns }, dtype)
  end
  v.T, v.model = T, model.slice(all, { [3] = c[1], [4] = c[2] })
  v.text = ("%s local_tile({%d,%d},{%d,%d})"):format(v.text, rows, columns, c[1], c[2])
  return v
end

local function check_product(x)
  local M, N, K = random(1, 7), random(1, 7), random(1, 7)
  local dtype = random(3) == 1 and "f64" or "f32"
  local A, B = random_matrix(x, M, K, dtype), random_matrix(x, N, K, dtype)
  local C = random_matrix(x, M, N, dtype)
  local alpha, beta = random(-2, 2), random(-1, 1)
  local how = random(3)
  local ok, message
  local options = { alpha = alpha, beta = beta }
  if how == 1 then ok, message = pcall(tile.einsum, "km,nk->mn", tile.select(A.T, 2, 1), B.T, C.T,
                                       options)
  elseif how == 2 and dtype == "f32" then
    local mma = tile.tiled_mma { atom = "UniversalFMA<float>",
                                 atoms = tile.layout { random(1, 3), random(1, 3), random(1, 2) } }
    ok, message = pcall(tile.gemm, mma, A.T, B.T, C.T, options)
  else ok, message = pcall(tile.gemm, A.T, B.T, C.T, options) end
  if not ok then
    x.refused = x.refused + 1
    assert(message:find("under its swizzle", 1, true)
             or message:find("a swizzled operand", 1, true),
           ("%s by %s to %s: %s"):format(A.text, B.text, C.text, message))
    return
  end
  for n = 0, N - 1 do
    for m = 0, M - 1 do
      local c, sum = C.model.at[m + M * n + 1], 0
      for k = 0, K - 1 do
        local a, b = A.model.at[m + M * k + 1], B.model.at[n + N * k + 1]
        if a and b then sum = sum + A.values[a + 1] * B.values[b + 1] end
      end
      if c then C.values[c + 1] = alpha * sum + beta * C.values[c + 1] end
    end
  end
  check_memory(C, ("product of %s and %s"):format(A.text, B.text))
  x.products = x.products + 1
end

-- ---------------------------------------------------------------- cases

local function one(x, seed)
  math.randomseed(seed)
  if random(5) == 1 then return check_product(x) end
  local shape = random_shape(random(3), 90)
  local dtype = types[random(2)]
  local v = random_memory(x, shape, dtype)
  v.shape, v.seed, v.steps = shape, seed, {}
  for _ = 1, random(1, 4) do
    if #v.model.at > 600 then break end
    local step = { name = names[random(#names)], seed = random(0) }
    local back = random(0)
    math.randomseed(step.seed)
    if cut(x, v, step.name) then v.steps[#v.steps + 1] = step end
    math.randomseed(back)
  end
  check_read(v)
  if v.T:bounds() then x.ragged = x.ragged + 1 end
  check_fill(x, v)
  check_copy(x, v)
  if random(40) == 1 then
    collectgarbage()
  end
end

-- run{ device =, cases =, seed = [, host =] } -> counts. An error names the case's seed.
return function(o)
  local x = { device = o.device, host = o.host, swizzles = true, refused = 0, filled = 0,
              copied = 0, products = 0, ragged = 0, cases = o.cases }
  for i = 1, o.cases do
    local seed = o.seed + i
    local ok, message = pcall(one, x, seed)
    if not ok then
      error(("seed %d on %s: %s"):format(seed, o.device:name(), tostring(message)), 0)
    end
  end
  return x
end
