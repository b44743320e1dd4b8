-- questions_spec.lua: what is asked of a layout, against its values one by one.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local parse = tile.parse
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

local function pick(...) return (select(math.random(select("#", ...)), ...)) end

local function random_layout(kind)
  local shape, stride, size = {}, {}, 1
  for k = 1, math.random(4) do
    local s = kind == "F2" and pick(1, 2, 2, 4, 3) or math.random(4)
    local d = kind == "F2" and "F" .. math.random(0, 9)
              or pick(size, size, 1, math.random(0, 6), -math.random(0, 9))
    shape[k], stride[k], size = s, d, size * s
  end
  local text = ("(%s):(%s)"):format(table.concat(shape, ","), table.concat(stride, ","))
  if kind ~= "swizzled" then return parse(text) end
  return parse(("Sw<%s,%d,3> o %d o %s"):format(pick(1, 2, 3), math.random(0, 2),
                                                math.random(0, 5), text))
end

local function values(A)
  local v = {}
  for i = 0, A:size() - 1 do v[#v + 1] = tonumber((tostring(A(i)):gsub("^F", ""))) end
  return v
end

local function model(v)
  local seen, distinct, run = {}, 0, 1
  for _, x in ipairs(v) do
    if not seen[x] then distinct = distinct + 1 end
    seen[x] = true
  end
  while run < #v and v[run + 1] == v[1] + run do run = run + 1 end
  local range = math.max(table.unpack(v)) - math.min(table.unpack(v)) + 1
  return { is_injective = distinct == #v, is_surjective = distinct == range,
           is_bijective = distinct == #v and distinct == range,
           is_contiguous = run == #v, contiguity = run }
end

-- What a "no" shows, of values that are numbers.
local function meet(v, i, j) return i and j and i < j and v[i + 1] == v[j + 1] end
local function first_gap(v)
  local seen, x = {}, math.min(table.unpack(v))
  for _, y in ipairs(v) do seen[y] = true end
  while seen[x] do x = x + 1 end
  return x
end
local function check_witness(A, v, want)
  if not want.is_injective then
    local _, i, j = A:is_injective()
    assert(meet(v, i, j), ("%s: %s and %s do not meet"):format(A, i, j))
  end
  if not want.is_surjective then
    local _, x = A:is_surjective()
    local gap = first_gap(v)
    assert(x == gap, ("%s: %s is not the first gap, %d"):format(A, x, gap))
  end
  local is, i, j = A:is_bijective()
  assert(is or j == nil and i == first_gap(v) and not want.is_surjective or meet(v, i, j), A)
  assert(is or (j == nil) == not want.is_surjective, A)
  if not want.is_contiguous then
    assert.equal(want.contiguity, (select(2, A:is_contiguous())))
  end
  for name in pairs(want) do
    if want[name] == true then assert.equal(1, select("#", A[name](A))) end
  end
end

describe("questions about random layouts", function()
  for _, kind in ipairs { "plain", "swizzled", "F2" } do
    it("are answered by brute force, " .. kind, function()
      math.randomseed(18)
      for _ = 1, 1500 * TIMES do
        local A = random_layout(kind)
        local v = values(A)
        check_witness(A, v, model(v))
        for name, want in pairs(model(v)) do
          local is = A[name](A)
          if want ~= is then error(("%s of %s: %s, should be %s"):format(name, A, is, want)) end
        end
      end
    end)
  end
end)

describe("a no to a question", function()
  local functions = dofile "spec/functions.lua"
  it("is shown of composed and of listed layouts", function()
    math.randomseed(19)
    local seen = 0
    for _ = 1, 400 * TIMES do
      local A = functions.chain()
      if math.random(4) == 1 then
        local m = math.random(2, 20)
        A = tile.function_layout({ 4, 5 }, function(i, j) return (i * i + 7 * j) % m end)
      end
      if A:size() > 1 and pcall(A.is_bijective, A) then
        local v = values(A)
        check_witness(A, v, model(v))
        seen = seen + 1
      end
    end
    assert(seen > 300 * TIMES, seen)
  end)
  it("is shown of coordinates", function()
    math.randomseed(20)
    local seen = 0
    for _ = 1, 400 * TIMES do
      local s, d = {}, {}
      for k = 1, math.random(4) do
        local one, two = pick("%d@0", "%d@1"), "%d@0+%d@1"
        s[k] = math.random(4)
        d[k] = math.random(3) == 1 and two:format(math.random(3), math.random(3))
               or one:format(math.random(3))
      end
      local A = parse(("(%s):(%s)"):format(table.concat(s, ","), table.concat(d, ",")))
      local is, i, j = A:is_injective()
      local shared = #A:aliases() > 0
      assert.equal(not shared, is)
      if shared then
        assert(i < j and tostring(A(i)) == tostring(A(j)), A)
        seen = seen + 1
      end
    end
    assert(seen > 60 * TIMES, seen)
  end)
  for _, row in ipairs {
    { "is_injective", "(1000000008,1000003):(1000002,1)" },
    { "is_injective", "(1048576,1048576,2):(F1,F1048576,F3)" },
    { "is_injective", "Sw<3,4,3> o 0 o (4096,4096,4096):(4096,1,4096)" },
    { "is_injective", "(1000000007,3):(1,0)" },
  } do
    it(row[1] .. " " .. row[2], function()
      local A = parse(row[2])
      local is, i, j = A[row[1]](A)
      assert.is_false(is)
      assert(i < j and j < A:size() and A(i) == A(j))
    end)
  end
  for _, row in ipairs {
    { "(1000000007,1000003):(1000004,1)", 1000003 }, { "(1048576,2):(F1,F2097152)", 1 << 20 },
    { "(1000000007,1000003):(-1000004,1)", 1000003 - 1000000006 * 1000004 },
  } do
    it("is_surjective " .. row[1], function()
      local A = parse(row[1])
      local is, x = A:is_surjective()
      assert.is_false(is)
      assert.equal(row[2], x)
    end)
  end
end)

describe("a question about a layout", function()
  for _, row in ipairs {
    { "is_injective", "(1000000007,1000003):(1000003,1)", true },
    { "is_injective", "(1000000008,1000003):(1000002,1)", false },
    { "is_injective", "(4,8):(1@0,1@1)", true },
    { "is_injective", "(4,8,2):(1@0,1@1,3@0)", false },
    { "is_injective", "Sw<3,4,3> o 0 o (4096,4096,4096):(4096,1,16777216)", true },
    { "is_injective", "(1048576,1048576):(F1,F1048576)", true },
    { "is_surjective", "(1000000007,1000003):(1000003,1)", true },
    { "is_surjective", "(1000000007,1000003):(1000004,1)", false },
    { "is_surjective", "8:-1", true },
    { "is_bijective", "(1048576,1048576):(F3,F1048576)", true },
    { "is_bijective", "(4,8):(8,1)", true },
    { "is_bijective", "(4,0):(8,3)", true },
    { "is_contiguous", "(4,8):(8,1)", false },
    { "is_contiguous", "(4,8,1000000007):(1,4,32)", true },
    { "contiguity", "(4,8,1000000007):(1,4,33)", 32 },
    { "contiguity", "(1048576,1048576):(F1,F1048576)", 1 << 40 },
    { "contiguity", "4:-1", 1 },
    { "contiguity", "0:1", 0 },
    { "contiguity", "Sw<3,3,3> o 0 o (8,64):(64,1)", 1 },
    { "contiguity", "Sw<3,3,3> o 0 o (64,8):(1,64)", 64 },
  } do
    it(row[1] .. " " .. row[2], function()
      local A = parse(row[2])
      assert.equal(row[3], A[row[1]](A))
      assert.equal(row[3], tile[row[1]](A))
    end)
  end
  for _, row in ipairs {
    { "is_surjective", "(4,8):(1@0,1@1)", "is_surjective: the strides of (4,8):(1@0,1@1) " ..
      "are no integers; what it would have to fill has no order" },
    { "contiguity", "(4,8):(1@0,1@1)", "contiguity: the strides of (4,8):(1@0,1@1) are no " ..
      "integers; there is no next offset" },
    { "is_contiguous", "Sw<1,40,3> o 0 o 2097152:1", "is_contiguous: Sw<1,40,3> o 0 o " ..
      "2097152:1 goes on for 1048576 elements and more; farther it is not followed" },
  } do
    it("refuses " .. row[3], function()
      local ok, text = pcall(tile[row[1]], parse(row[2]))
      assert.is_false(ok)
      assert.equal(row[3], (tostring(text):gsub("^[^\n]-:%d+: ", "")))
    end)
  end
end)

-- Another layout, often the same function: two modes swapped, one cut, or A coalesced.
local function relative(A)
  local text = tostring(A)
  if math.random(4) == 1 then return A:coalesce() end
  if math.random(3) == 1 then return A:flatten():group(1, 2) end
  if math.random(2) == 1 then return parse((text:gsub("2:", "(2,1):"))) end
  return parse((text:gsub("(%d)(%D*)$", function(d, rest) return (d + 1) % 10 .. rest end)))
end

local function difference(A, B)
  local v, w = values(A), values(B)
  if #v ~= #w then return false end
  for i = 1, #v do
    if v[i] ~= w[i] then return false, i - 1 end
  end
  return true
end

describe("equivalent", function()
  for _, kind in ipairs { "plain", "swizzled", "F2" } do
    it("agrees with brute force, and has the first difference, " .. kind, function()
      math.randomseed(19)
      for _ = 1, 1500 * TIMES do
        local A = random_layout(kind)
        local ok, B = pcall(relative, A)
        if not ok then B = random_layout(kind) end
        local same, at = difference(A, B)
        local is, where = A:equivalent(B)
        if same ~= is or at ~= where then
          error(("%s and %s: %s, %s; should be %s, %s"):format(A, B, is, where, same, at))
        end
      end
    end)
  end
  for _, row in ipairs {
    { "(4,8):(1,4)", "32:1", "true" },
    { "(4,8):(8,1)", "32:1", "false 1" },
    { "(4,8):(1,4)", "31:1", "false" },
    { "(4,8):(1@0,1@1)", "32:1@0", "false 4" },
    { "(4,8):(1@0,1@1)", "((2,2),8):((1@0,2@0),1@1)", "true" },
    { "4:2@0+1@1", "(2,2):(1@1+2@0,4@0+2@1)", "true" },
    { "(1000000007,1000003):(1000003,1)", "(1000000007,1000003):(1000003,2)",
      "false 1000000007" },
    { "Sw<3,4,3> o 0 o (4096,4096):(4096,1)", "Sw<3,4,3> o 0 o (4096,64,64):(4096,1,64)",
      "true" },
    { "Sw<3,3,3> o 0 o (64,8):(1,64)", "512:1", "false 64" },
    { "(8,4):(F3,F24)", "32:F3", "true" },
  } do
    it("of " .. row[1] .. " and " .. row[2] .. ": " .. row[3], function()
      local result = table.pack(tile.equivalent(parse(row[1]), parse(row[2])))
      for i = 1, result.n do result[i] = tostring(result[i]) end
      assert.equal(row[3], table.concat(result, " "))
    end)
  end
  it("refuses what it does not compare to the end", function()
    local ok, text = pcall(tile.equivalent, parse "Sw<1,40,3> o 0 o 2097152:1", parse "2097152:1")
    assert.is_false(ok)
    assert.equal("equivalent: A = Sw<1,40,3> o 0 o 2097152:1 and B = 2097152:1 agree in the " ..
                 "first 1048576 of 2097152 values; farther they are not compared",
                 (tostring(text):gsub("^[^\n]-:%d+: ", "")))
  end)
end)

describe("a layout of coordinates", function()
  it("has an image, and coordinates that indices share", function()
    for _ = 1, math.floor(100 * TIMES) do
      local d = function() return pick("0", "1@0", "2@0", "1@1", "3@1", "1@0+1@1", "-1@1") end
      local A = parse(("(%d,%d,%d):(%s,%s,%s)"):format(math.random(4), math.random(3),
                      math.random(3), d(), d(), pick("1@0", "1@1")))
      local at, order, shared = {}, {}, {}
      for i = 0, A:size() - 1 do
        local key = tostring(A(i))
        if not at[key] then
          at[key] = {}
          order[#order + 1] = key
        end
        table.insert(at[key], i)
      end
      for k, c in ipairs(tile.image(A)) do assert.equal(order[k], tostring(c)) end
      for _, key in ipairs(order) do
        if #at[key] > 1 then shared[#shared + 1] = key end
      end
      local got = tile.aliases(A)
      assert.equal(#shared, #got)
      for k, one in ipairs(got) do
        assert.equal(shared[k], tostring(one.offset))
        assert.same(at[shared[k]], { table.unpack(one) })
      end
      assert.equal(#tile.image(A) == A:size(), tile.is_injective(A), tostring(A))
    end
  end)

  it("of too many is not looked at", function()
    assert.error_matches(function() tile.image(tile.make_identity_layout { 1024, 1024 }) end,
                         "has 1048576 coordinates, at most 262144 are looked at")
  end)
end)
