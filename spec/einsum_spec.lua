-- einsum_spec.lua: contractions and convolutions of tensors, on every device, against their
-- definition in loops; integers in f32, so that the sums are exact.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

local function size(A, mode) return tile.size(tile.get(A, mode)) end

-- A tensor of small integers, the same for the same number.
local function numbers(dtype, A, device, seed)
  local T, values = tile.tensor(dtype, A, device), {}
  for i = 1, T:size() do values[i] = (i * 7 + seed * 5 + i // 11) % 9 - 4 end
  if dtype:match "^u" then for i = 1, #values do values[i] = values[i] + 4 end end
  return T:fill(values)
end

-- What a tensor has at an index for each mode; a swizzled or overlapping layout counts.
local function reader(T)
  local A, values = T:layout(), T:totable()
  local extents = {}
  for i = 1, tile.rank(A) do extents[i] = size(A, i) end
  return function(index)
    local at, scale = 1, 1
    for i = 1, #extents do at, scale = at + index[i] * scale, scale * extents[i] end
    return values[at]
  end
end

-- The sum that an expression stands for: at the indices of the output, colexicographic.
local function defined(words, out, tensors)
  local extent, order, reads = {}, {}, {}
  for i, word in ipairs(words) do
    reads[i] = reader(tensors[i])
    for k = 1, #word do
      local label = word:sub(k, k)
      if not extent[label] then order[#order + 1] = label end
      extent[label] = size(tensors[i]:layout(), k)
    end
  end
  local sums, value = {}, {}
  local function place()
    local at, scale = 1, 1
    for k = 1, #out do
      local label = out:sub(k, k)
      at, scale = at + value[label] * scale, scale * extent[label]
    end
    return at
  end
  local function loop(n)
    if n <= #order then
      for i = 0, extent[order[n]] - 1 do value[order[n]] = i; loop(n + 1) end
      return
    end
    local product = 1
    for i, word in ipairs(words) do
      local index = {}
      for k = 1, #word do index[k] = value[word:sub(k, k)] end
      product = product * reads[i](index)
    end
    local at = place()
    sums[at] = (sums[at] or 0) + product
  end
  loop(1)
  return sums
end

-- Words and output of "ab,bc->ac"; expressions without "->" name their output apart.
local function split(expression, output)
  local words = {}
  local inputs, out = expression:match "^(.-)%->(.*)$"
  for word in ((inputs or expression) .. ","):gmatch "(%a*)," do words[#words + 1] = word end
  return words, out or output
end

local function check(expression, tensors, C, output)
  local words, out = split(expression, output)
  C:device():synchronize()
  assert.same(defined(words, out, tensors), C:totable())
end

local function rows_of(file, name)
  local rows = {}
  for line in io.lines(file) do
    local f = {}
    for x in (line .. "\t"):gmatch "(.-)\t" do f[#f + 1] = x end
    if f[1] == name and f[#f] ~= "error" then rows[#rows + 1] = f end
  end
  return rows
end

local GOLDEN = rows_of("spec/golden/pycute/einsum_im2col.tsv", "einsum_fold")
local IM2COL = rows_of("spec/golden/pycute/einsum_im2col.tsv", "im2col")

-- Expression, operands' layouts; the output where the expression has none.
local SUMS = {
  { "ij,jk", "ik", "(3,4):(4,1)", "(4,5):(1,4)" },
  { "ba", "ab", "(3,4):(4,1)" },
  { "ij->ji", nil, "(3,4):(4,1)" },
  { "ij->i", nil, "(3,4):(4,1)" },
  { "ij->", nil, "(3,4):(4,1)" },
  { "ii->i", nil, "(4,4):(4,1)" },
  { "ii", "", "(4,4):(4,1)" },
  { "iji->j", nil, "(3,4,3):(1,3,12)" },
  { "iij,jk->ik", nil, "(3,3,4):(12,4,1)", "(4,5):(5,1)" },
  { "ijz,jk->ik", nil, "(3,4,2):(8,2,1)", "(4,5):(5,1)" },
  { "ij,jkz->ik", nil, "(3,4):(4,1)", "(4,5,2):(10,2,1)" },
  { "ijz,jkw->ik", nil, "(3,4,2):(8,2,1)", "(4,5,3):(15,3,1)" },
  { "i,i->", nil, "7:1", "7:-1" },
  { "i,j->ij", nil, "3:1", "5:0" },
  { ",ij->ij", nil, "():()", "(3,4):(4,1)" },
  { "ij,jk,kl->il", nil, "(3,4):(4,1)", "(4,5):(5,1)", "(5,2):(1,5)" },
  { "ab,b,bc,c->a", nil, "(2,3):(3,1)", "3:1", "(3,4):(4,1)", "4:1" },
  { "ij,jk->ik", nil, "Sw<2,0,2> o 0 o (4,4):(4,1)", "(4,5):(5,1)" },
  { "ijl,jk->lik", nil, "Sw<1,1,2> o 0 o (4,4,2):(4,1,16)", "Sw<1,0,2> o 0 o (4,8):(8,1)" },
  { "aB,Bc->ca", nil, "((2,3),4):((1,8),2)", "(4,(3,2)):(1,(4,12))" },
  { " b m k , b n k -> b m n ", nil, "(2,3,4):(12,4,1)", "(2,5,4):(20,4,1)" },
}

-- The contraction table, scaled down: the extents are those of the labels in their order.
local TABLE = {
  { "abcd,dbe->ace", "a4 b4 c8 d4 e16" }, { "abcd,bde->ace", "a4 b4 c8 d4 e16" },
  { "abcd,eafd->bcef", "a4 b3 c4 d4 e4 f5" }, { "abcd,cebf->afde", "a3 b4 c4 d6 e4 f5" },
  { "bqhd,bkhd->bhqk", "b2 q10 h4 d8 k11" }, { "abcd,eb->aecd", "a6 b8 c4 d4 e9" },
  { "abcd,ed->abce", "a6 b4 c4 d16 e15" }, { "abcde,efbad->cf", "a3 b4 c5 d4 e3 f6" },
  { "dega,gfbc->abcdef", "a3 b2 c4 d3 e2 f3 g4" },
  { "aebf,dfce->abcd", "a4 b3 c4 d5 e3 f4" },
}

local function shape(word, extents)
  local s = {}
  for k = 1, #word do s[k] = tonumber(extents:match(word:sub(k, k) .. "(%d+)")) end
  return s
end

for _, d in ipairs(devices) do
  local device = d.device

  describe("einsum on " .. d.label, function()
    for n, row in ipairs(SUMS) do
      it(row[1] .. " of " .. table.concat(row, " and ", 3), function()
        local tensors = {}
        for i = 3, #row do tensors[i - 2] = numbers("f32", layout(row[i]), device, n + i) end
        check(row[1]:gsub("%s+", ""), tensors, tile.einsum(row[1], table.unpack(tensors)), row[2])
      end)
    end

    for n, row in ipairs(TABLE) do
      it(row[1] .. " with " .. row[2], function()
        local words, out = split(row[1])
        local A = numbers("f32", layout(shape(words[1], row[2]), "right"), device, n)
        local B = numbers("f32", layout(shape(words[2], row[2]), "right"), device, n + 1)
        local C = tile.einsum(row[1], A, B)
        assert.same(tostring(layout(shape(out, row[2]), "right")), tostring(C:layout()))
        check(row[1], { A, B }, C)
      end)
    end

    it("writes into the C of every row of the golden table that is written once", function()
      local done = 0
      for n, f in ipairs(GOLDEN) do
        local A = numbers("f32", tile.parse(f[3]), device, n)
        local B = numbers("f32", tile.parse(f[4]), device, n + 3)
        local C = tile.tensor("f32", tile.parse(f[5]), device)
        local fine, why = pcall(tile.einsum, f[2], A, B, C)
        if fine then
          check(f[2], { A, B }, C)
          done = done + 1
        else
          assert.truthy(why:find("C: ", 1, true), why)    -- not injective
        end
      end
      assert.truthy(done > 50, done)
    end)

    it("adds to C: alpha, beta", function()
      local A = numbers("f32", layout({ 3, 4 }, "right"), device, 1)
      local B = numbers("f32", layout({ 4, 5 }, "right"), device, 2)
      local C = numbers("f32", layout({ 3, 5 }, "right"), device, 3)
      local before, sums = C:totable(), defined({ "ij", "jk" }, "ik", { A, B })
      assert.equal(C, tile.einsum("ij,jk->ik", A, B, C, { alpha = 2, beta = -3 }))
      device:synchronize()
      for i, v in ipairs(C:totable()) do assert.equal(2 * sums[i] - 3 * before[i], v) end
      tile.einsum("ij->ji", A, C:view(layout({ 4, 3 })), { beta = 1 })
    end)
  end)

  describe("im2col on " .. d.label, function()
    it("makes a product of a convolution", function()
      local X = numbers("f32", layout({ 2, 6, 7, 3 }, "right"), device, 1)
      local F = numbers("f32", layout("(5,((3,2),3)):(18,((6,3),1))"), device, 2)
      local out = tile.tensor("f32", layout("((2,(4,3)),5):((60,(15,5)),1)"), device)
      tile.gemm(tile.im2col(X, { 3, 2 }, 0, 0, { 1, 2 }), F, out)
      device:synchronize()
      local x, f, got = reader(X), reader(F), out:totable()
      local at = 0
      for k = 0, 4 do for q = 0, 2 do for p = 0, 3 do for n = 0, 1 do
        local sum = 0
        for c = 0, 2 do for s = 0, 1 do for r = 0, 2 do
          sum = sum + x { n, p + r, q * 2 + s, c } * f { k, r + 3 * (s + 2 * c) }
        end end end
        at = at + 1
        assert.equal(sum, got[at])
      end end end end
    end)

    it("runs the rows of the golden table that have no padding", function()
      local done = 0
      for n, f in ipairs(IM2COL) do
        local o = {}
        for i = 3, 7 do o[i] = tile.parse(f[i]) end
        local X = numbers("f32", tile.parse(f[2]), device, n)
        local fine, R = pcall(tile.im2col, X, table.unpack(o, 3, 7))
        if fine then
          local taps = size(R:layout(), 2)
          local F = numbers("f32", layout { 3, taps }, device, n)
          local C = tile.einsum("mk,nk->mn", R, F)
          check("mk,nk->mn", { R, F }, C)
          done = done + 1
        else
          assert.truthy(R:find "padding", R)
        end
      end
      assert.truthy(done > 10, done)
    end)
  end)
end

describe("the type of a result", function()
  it("is that of the sums", function()
    local function of(a, b)
      return tile.einsum("i,i->", tile.tensor(a, layout(4)), tile.tensor(b, layout(4))):dtype()
    end
    assert.equal("i32", of("i8", "u8"))
    assert.equal("f32", of("e4m3", "e5m2"))
    assert.equal("f16", of("f16", "f16"))
    assert.equal("f32", of("f16", "bf16"))
    assert.equal("f64", of("f32", "f64"))
    assert.equal("i64", of("i64", "i8"))
    local A = tile.tensor("f16", layout(4))
    assert.equal("f64", tile.einsum("i,i->", A, A, { dtype = "f64" }):dtype())
  end)
end)
