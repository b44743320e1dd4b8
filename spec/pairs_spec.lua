-- pairs_spec.lua: copies between random layouts of one shape on every device, against the copy that
-- the layouts mean: all of the destination's buffer, what it does not reach too. Many convert.
-- Half of them are done in another way than the chosen one, if there is any.
-- MOONTILE_SEED and MOONTILE_PAIRS (how many) make it another run, MOONTILE_TIMES a longer one.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local devices = dofile "spec/devices.lua"
local random = math.random
local floor = math.floor

local SEED = tonumber(os.getenv "MOONTILE_SEED") or 5
local COUNT = tonumber(os.getenv "MOONTILE_PAIRS") or
              math.ceil(300 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))

local function pick(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

-- dtype -> whole numbers that it holds from 0 on; others: many
local HOLDS = { bool = 2, i8 = 127, u8 = 251, i16 = 32749, u16 = 65521, f16 = 2039, bf16 = 251,
                e4m3 = 13, e5m2 = 7 }
local DTYPES = tile.dtypes()

-- ---- shapes: a list of modes, each a list of extents

local function factors(n)
  local list = {}
  for p = 2, n do
    while n % p == 0 do list[#list + 1], n = p, n // p end
  end
  while #list > 3 do list[#list - 1] = table.remove(list) * list[#list] end
  return #list > 0 and list or { 1 }
end

local EXTENTS = { 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24, 31, 32, 64 }

local function random_shape()
  local rank, room, shape = random(8), chance(5) and 20000 or 1500, {}
  for k = 1, rank do
    local n = chance(1) and 0 or pick(EXTENTS)
    if rank <= 3 and chance(25) then n = random(150) end
    n = math.min(n, math.max(1, room))
    if n > 1 then room = room // n end
    shape[k] = n > 1 and chance(35) and factors(n) or { n }
  end
  for i = rank, 2, -1 do
    local j = random(i)
    shape[i], shape[j] = shape[j], shape[i]
  end
  return shape
end

-- ---- layouts of a shape, as text

-- Leaves that get strides: of a mode those of its extents, or one of their product.
local function leaves_of(shape)
  local modes, all = {}, {}
  for k, extents in ipairs(shape) do
    local whole = 1
    for _, n in ipairs(extents) do whole = whole * n end
    modes[k] = {}
    for j, n in ipairs(chance(20) and { whole } or extents) do
      modes[k][j] = { extent = n }
      all[#all + 1] = modes[k][j]
    end
  end
  return modes, all
end

local function order(leaves)
  if chance(30) then return end
  for i = #leaves, 2, -1 do
    local j = chance(50) and 1 or random(i)
    leaves[i], leaves[j] = leaves[j], leaves[i]
  end
end

local function text_of(modes, key)
  local out = {}
  for k, leaves in ipairs(modes) do
    local list = {}
    for j, leaf in ipairs(leaves) do list[j] = tostring(leaf[key]) end
    out[k] = #list > 1 and "(" .. table.concat(list, ",") .. ")" or list[1]
  end
  return "(" .. table.concat(out, ",") .. ")"
end

-- Strides without collisions; of a source some are 0, or anything.
local function set_strides(leaves, is_source)
  local at, broadcast, holes = 1, is_source and chance(30), chance(30)
  for _, leaf in ipairs(leaves) do
    leaf.stride = at
    if broadcast and chance(40) then
      leaf.stride = chance(80) and 0 or random(-4, 4)
    else
      at = at * leaf.extent + (holes and chance(40) and random(5) or 0)
      if at == 0 then at = 1 end
      if chance(15) then leaf.stride = -leaf.stride end
    end
  end
  return broadcast
end

local function random_swizzle()
  local bits = random(3)
  local by = random(bits, bits + 3) * (chance(75) and 1 or -1)
  local offset = pick { 0, 0, 0, random(64), 16 * random(20), -random(64), -64 * random(9) }
  return ("Sw<%d,%d,%d> o %d o "):format(bits, random(0, 4), by, offset)
end

-- A layout of the shape: its text, and what it is an example of.
local function random_layout(shape, is_source)
  local modes, leaves = leaves_of(shape)
  order(leaves)
  local what = { broadcast = set_strides(leaves, is_source) }
  for _, leaf in ipairs(leaves) do what.negative = what.negative or leaf.stride < 0 end
  local text = text_of(modes, "extent") .. ":" .. text_of(modes, "stride")
  what.swizzled = chance(30)
  return (what.swizzled and random_swizzle() or "") .. text, what
end

-- ---- sides

-- The offsets of all elements that the side means, and how they lie in a buffer of their own:
-- { view = function (buffer), place = {...} (from 1), size =, text = }.
local function side_of(shape, is_source)
  local n, sliced = 1, #shape < 8 and chance(12) and random(2, 4)
  for _, extents in ipairs(shape) do for _, e in ipairs(extents) do n = n * e end end
  local whole = table.move(shape, 1, #shape, 1, {})
  if sliced then whole[#whole + 1] = { sliced } end
  local text, what = random_layout(whole, is_source)
  local A = tile.layout(text)
  local place, lo, hi, all = {}, 0, 0, A:size()
  for i = 0, all - 1 do
    local at = A(i)
    place[i + 1] = at
    if i == 0 or at < lo then lo = at end
    if i == 0 or at > hi then hi = at end
  end
  local before, index = random(0, 9), sliced and random(0, sliced - 1)
  local s = { text = text, what = what, size = hi - lo + 1 + before + random(0, 9), place = {} }
  local from = sliced and index * n or 0
  for i = 1, n do s.place[i] = place[from + i] - lo + before + 1 end
  function s.view(buffer)
    local T = buffer:view(A, before - lo)
    if not sliced then return T end
    local c = {}
    for k = 1, #shape do c[k] = tile._ end
    c[#c + 1] = index
    return T(c)
  end
  if sliced then
    s.text = ("%s, index %d of the last mode"):format(text, index)
    what.sliced = true
    -- A swizzle is sliced by whole digits.
    local scratch = tile.tensor("u8", tile.layout(s.size))
    if not pcall(s.view, scratch) then return side_of(shape, is_source) end
  end
  return s
end

-- ---- partitions

local function random_partition(shape, dtype)
  local modes, n, m = math.min(#shape, random(3)), {}, {}
  for k = 1, modes do
    n[k] = pick { 1, 2, 4, 8, 3, 5 }
    m[k] = pick { 1, 1, 2, 4, 3 }
  end
  local bits = tile.tensor(dtype, tile.layout(1)):itemsize() * 8
  local atom = chance(50) and "AutoVectorizingCopy" or ("UniversalCopy<uint%d_t>"):format(bits)
  return tile.tiled_copy { atom = atom, dtype = dtype,
                           thr = tile.layout(n, pick { "left", "right" }),
                           val = tile.layout(m, pick { "left", "right" }) }
end

-- ---- numbers, and what becomes of them

local function is_float(dtype) return dtype:match "f" or dtype:match "^e" end
local function bits_of(dtype) return 8 * tile.tensor(dtype, tile.layout(1)):itemsize() end

local function numbers(dtype, n, step)
  local holds, list = HOLDS[dtype] or 1 << 20, {}
  for i = 1, n do list[i] = (i * step + i // holds) % holds end
  return tile.tensor(dtype, tile.layout(n)):fill(list):totable()
end

-- Ties, ends of ranges, the smallest of a type and less, what is no number.
local SPECIAL = { 0.0, -0.0, 0.5, 1.5, 2.5, 3.25, 126.5, 127.5, 128.5, 255.5, 32767.5, 65504.0,
                  65520.0, 65535.5, 2.0^31, 2.0^31 - 0.5, 2.0^32, 2.0^53 + 2, 2.0^63, 2.0^64,
                  1e300, 3.4e38, 448.0, 464.0, 480.0, 57344.0, 61440.0, 2.0^-6, 2.0^-9, 2.0^-10,
                  2.0^-16, 2.0^-17, 2.0^-24, 2.0^-25, 6e-8, 1e-45, 1e-300, 1 + 2.0^-8,
                  1 + 3 * 2.0^-8, 1 + 2.0^-11, math.huge, 0 / 0 }

local function special(dtype)
  if is_float(dtype) then
    local v = chance(50) and pick(SPECIAL) or random() * 2.0^random(-30, 70)
    return chance(50) and v or -v
  end
  local bits = bits_of(dtype)
  local v = random(0) >> random(0, bits - 1)
  if bits < 64 then v = v & ((1 << bits) - 1) end
  return dtype:match "^i" and bits < 64 and v - ((v >> (bits - 1)) << bits) or v
end

-- Of any size, where the type has them; whole numbers in between.
local function specials(dtype, n)
  local list = numbers(dtype, n, 7)
  if dtype == "bool" then return list end
  for i = 1, n do if chance(60) then list[i] = special(dtype) end end
  return tile.tensor(dtype, tile.layout(n)):fill(list):totable()
end

local function nearest(f)
  local down = floor(f)
  local rest = f - down
  if rest ~= 0.5 then return rest < 0.5 and down or down + 1.0 end
  return math.fmod(down, 2) == 0 and down or down + 1.0
end

-- The end of an integer's range that v lies beyond, or v; v and ends are floats or integers.
local function clamp(v, dtype)
  local bits = bits_of(dtype)
  local low = dtype:match "^u" and 0 or -1 << (bits - 1)
  local high = dtype:match "^u" and (bits == 64 and -1 or (1 << bits) - 1) or ~(-1 << (bits - 1))
  local top = 2.0^(dtype:match "^u" and bits or bits - 1)
  if v ~= v then return 0 end
  if v >= top then return high end
  if v <= low then return low end
  if v >= 2.0^63 then return floor(v - 2.0^63) | math.mininteger end
  return floor(v)
end

-- The number v of one type as one of another, but for u64 beyond 2^63.
local function convert(v, to)
  if to == "bool" then return v == 0 and 0 or 1 end
  if is_float(to) then return v end                             -- its tensor rounds
  return clamp(math.type(v) == "float" and nearest(v) or v, to)
end

-- A u64 beyond 2^63 reads as a number below 0.
local function convert_u64(v, to)
  if v >= 0 or to == "u64" then return to == "u64" and v or convert(v, to) end
  if is_float(to) then
    local n = v >> 1 | v & 1
    return (to == "f64" and n or n & ~1023 | (n & 1023 ~= 0 and 1024 or 0)) * 2.0
  end
  return to == "bool" and 1 or clamp(2.0^64, to)
end

-- The list in another type; v at any place of it that has no number.
local function converted(list, from, to)
  local out = {}
  for i, v in ipairs(list) do
    if type(v) == "boolean" then v = v and 1 or 0 end
    out[i] = from == "u64" and convert_u64(v, to) or convert(v, to)
  end
  return tile.tensor(to, tile.layout(#out)):fill(out):totable()
end

-- ---- cases

local function random_case(number)
  math.randomseed(SEED, number)
  local shape = random_shape()
  local case = { number = number, dtype = pick(DTYPES), src = side_of(shape, true),
                 dst = side_of(shape, false) }
  case.to = chance(40) and pick(DTYPES) or case.dtype
  case.from = (case.to == case.dtype and numbers or specials)(case.dtype, case.src.size, 7)
  case.old = numbers(case.to, case.dst.size, 5)
  case.want = table.move(case.old, 1, #case.old, 1, {})
  local become = case.to == case.dtype and case.from or converted(case.from, case.dtype, case.to)
  for i, place in ipairs(case.dst.place) do case.want[place] = become[case.src.place[i]] end
  if chance(12) then case.copy = random_partition(shape, case.dtype) end
  return case
end

local function describe_case(case)
  return ("pair %d of seed %d: %s %s -> %s%s%s"):format(case.number, SEED, case.dtype,
    case.src.text, case.to == case.dtype and "" or case.to .. " ", case.dst.text,
    case.copy and "\nby " .. tostring(case.copy) or "")
end

-- One number, its last bit, the sign of a zero and of a NaN too.
local function same(a, b)
  if a == b and a ~= 0 then return true end
  local float = math.type(a) == "float" and math.type(b) == "float"
  return float and string.pack("d", a) == string.pack("d", b) or not float and a == b
end

-- What partitions that do not exist, or that no kernel takes, are refused with.
local NO_PARTITION = { "no common refinement", "no layout R has", "axes, a kernel has",
                       "bounds and strides do not go together", "overhangs more than" }

-- A partition is of one device.
local function plan_of(case, src, dst)
  if not case.copy or src:device() ~= dst:device() then return tile.plan(src, dst) end
  local good, plan = pcall(tile.plan, case.copy, src, dst)
  if good then return plan, true end
  local known = false
  for _, text in ipairs(NO_PARTITION) do known = known or plan:find(text, 1, true) end
  assert(known, plan)
  return tile.plan(src, dst)
end

local taken = {}       -- algorithm -> how many pairs had it by another way than the chosen one

-- Half of the plans take one of their other ways, if there are any; each sixth takes "gather".
local function take_another(case, plan)
  if case.number % 2 == 0 then return end
  local found, gather = {}, nil
  for _, way in ipairs(plan:why()) do
    if way.possible and not way.chosen then
      found[#found + 1] = way
      if way.algorithm == "gather" then gather = way end
    end
  end
  local way = case.number % 6 == 1 and gather or found[case.number // 2 % math.max(1, #found) + 1]
  if not way then return end
  plan:take(way.kernel, way.vector)
  taken[way.algorithm] = (taken[way.algorithm] or 0) + 1
end

-- nil, or what is wrong; whether the partition was used
local function run(case, device, other)
  local from = tile.tensor(case.dtype, tile.layout(case.src.size), device):fill(case.from)
  local to = tile.tensor(case.to, tile.layout(case.dst.size), other):fill(case.old)
  local plan, described = plan_of(case, case.src.view(from), case.dst.view(to))
  if device == other and not described then take_another(case, plan) end
  plan()
  device:synchronize()
  local got, want = to:totable(), case.want
  from:free()
  to:free()
  for i = 1, #want do
    if not same(got[i], want[i]) then
      return ("element %d of dst's buffer is %s, not %s, it was %s\n%s"):format(
        i - 1, got[i], want[i], case.old[i], plan), described
    end
  end
  return nil, described
end

-- Ways: { label, the devices of src and of dst for a case }.
local PIECES = { 64, 200, 1024, 30000 }
local ways = {}

local function one(d) return { d.label, function() return d.device, d.device end } end

local function between(d, host)
  local what, pieces = type(d.what) == "table" and d.what or { d.what }, {}
  for i, piece in ipairs(PIECES) do
    pieces[i] = assert(tile.device { what[1], libcuda = what.libcuda, piece = piece })
  end
  local function gpu(case) return pieces[case.number % #PIECES + 1] end
  ways[#ways + 1] = { ("%s to %s"):format(host:name(), d.label),
                      function(case) return host, gpu(case) end }
  ways[#ways + 1] = { ("%s to %s"):format(d.label, host:name()),
                      function(case) return gpu(case), host end }
end

for _, d in ipairs(devices) do ways[#ways + 1] = one(d) end
for _, d in ipairs(devices) do
  if d.device:name():match "^cuda" then
    between(d, devices[1].device)
    between(d, devices[2].device)
  end
end

local wrong, seen

local function run_all()
  if wrong then return end
  wrong, seen = {}, { described = 0, converts = 0, converts_described = 0 }
  for i in ipairs(ways) do wrong[i] = {} end
  for number = 1, COUNT do
    local case = random_case(number)
    for _, what in ipairs { case.src.what, case.dst.what } do
      for name, is in pairs(what) do seen[name] = (seen[name] or 0) + (is and 1 or 0) end
    end
    for i, way in ipairs(ways) do
      local _, why, described = pcall(run, case, way[2](case))
      if i == 1 then
        local converts = case.to ~= case.dtype
        seen.described = seen.described + (described and 1 or 0)
        seen.converts = seen.converts + (converts and 1 or 0)
        seen.converts_described = seen.converts_described + (converts and described and 1 or 0)
      end
      if why then table.insert(wrong[i], describe_case(case) .. "\n" .. tostring(why)) end
    end
  end
end

describe("copies of random pairs of layouts", function()
  for i, way in ipairs(ways) do
    it("on " .. way[1], function()
      run_all()
      assert(#wrong[i] == 0, ("%d of %d are wrong; the first:\n%s"):format(#wrong[i], COUNT,
                                                                         wrong[i][1]))
    end)
  end

  it("are of every kind", function()
    run_all()
    for _, name in ipairs { "swizzled", "negative", "broadcast", "sliced" } do
      assert(seen[name] >= floor(COUNT / 20), name)
    end
    assert(seen.described >= floor(COUNT / 20), "described")
    assert(seen.converts >= floor(COUNT / 4), "converts")
    assert(seen.converts_described >= floor(COUNT / 150), "converts, described")
    assert((taken.gather or 0) >= floor(COUNT / 30), "gather")
  end)
end)
