-- einsum_epilogue_spec.lua: bias and residual of contractions: the same as a contraction and then,
-- element by element, what they add; what is refused.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local refused = dofile "spec/refused.lua"
local epilogues = dofile "spec/epilogues.lua"

local SEED = tonumber(os.getenv "MOONTILE_SEED") or 5
local CASES = math.ceil(40 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))
local random = math.random
local function pick(list) return list[random(#list)] end

local EXPRESSIONS = {
  "mk,nk->mn", "mk,nk->nm", "bmk,bnk->bmn", "abk,kc->cab", "ij->ij", "ij->j", "i,j->ji",
  "ij,jk,kl->il", "abcd,dbe->ace", "mk,k->m", "lmk,lkn->nlm",
}

local function letters(word) return word:gmatch "%a" end

-- A tensor of small numbers with these labels, its modes in any order in memory.
local function tensor(dtype, word, extent, device, thin)
  local shape, stride, order, at = {}, {}, {}, 1
  for label in letters(word) do
    shape[#shape + 1] = thin and random(4) == 1 and 1 or extent[label]
    table.insert(order, random(#order + 1), #shape)
  end
  for _, i in ipairs(order) do
    stride[i] = thin and random(8) == 1 and 0 or at
    if stride[i] ~= 0 then at = at * shape[i] + random(0, 1) end
  end
  local A = layout(shape, stride)
  local T, values = tile.tensor(dtype, layout(math.max(at, 1)), device), {}
  for i = 1, T:size() do values[i] = random(-3, 3) end
  return T:fill(values):view(A, 0)
end

-- What a tensor with labels has where the output's labels have values.
local function reader(T, word)
  return function(value)
    local index, mode = {}, 0
    for label in letters(word) do
      mode = mode + 1
      index[mode] = T:size(mode) == 1 and 0 or value[label]
    end
    if #index == 0 then return T(0) end
    return T(#index == 1 and index[1] or index)
  end
end

-- Some labels of the output, in any order.
local function some(out)
  local list = {}
  for label in letters(out) do
    if random(3) > 1 then table.insert(list, random(#list + 1), label) end
  end
  if #list == 0 then list[1] = out:sub(1, 1) end
  return table.concat(list)
end

-- A side of the epilogue as it is given, and how it is read.
local function side(out, extent, device)
  local dtype = pick { "f32", "f16", "bf16", "f64" }
  if random(2) == 1 then
    local T = tensor(dtype, out, extent, device, true)
    return T, reader(T, out)
  end
  local word = some(out)
  local T = tensor(dtype, word, extent, device, true)
  return { [word] = T }, reader(T, word)
end

-- f at the values of the labels of the output, the first fastest.
local function each(out, extent, f)
  local total = 1
  for label in letters(out) do total = total * extent[label] end
  for i = 0, total - 1 do
    local value, rest = {}, i
    for label in letters(out) do
      value[label], rest = rest % extent[label], rest // extent[label]
    end
    f(i + 1, value)
  end
end

local function random_case(device, seed)
  math.randomseed(seed)
  local expression = pick(EXPRESSIONS)
  local inputs, out = expression:match "^(.*)%->(.*)$"
  local extent, operands = {}, {}
  for label in letters(inputs) do extent[label] = extent[label] or random(6) end
  for word in inputs:gmatch "%a+" do
    operands[#operands + 1] = tensor("f32", word, extent, device)
  end
  local C = tensor("f32", out, extent, device)
  local beta, activation = pick { 0, 0, 2 }, pick { "none", "relu" }
  local o = { activation = activation, beta = beta }
  local bias, residual
  if random(3) > 1 then o.bias, bias = side(out, extent, device) end
  if random(4) == 1 then o.residual = C
  elseif random(3) > 1 then o.residual, residual = side(out, extent, device) end
  device:synchronize()
  local old = C:totable()
  local sums = tile.einsum(expression, table.unpack(operands))
  device:synchronize()
  sums = sums:totable()
  local arguments = { table.unpack(operands) }
  arguments[#arguments + 1] = C
  arguments[#arguments + 1] = o
  tile.einsum(expression, table.unpack(arguments))
  device:synchronize()
  local got = C:totable()
  each(out, extent, function(i, value)
    local x = sums[i] + (beta == 0 and 0 or beta * old[i]) + (bias and bias(value) or 0)
    local more = o.residual == C and old[i] or residual and residual(value) or 0
    local want = epilogues.activations[activation](x) + more
    assert(got[i] == want, ("seed %d, %s: element %d is %s, not %s"):format(seed, expression, i - 1,
                                                                            got[i], want))
  end)
end

for _, d in ipairs(devices) do
  local device = d.device
  describe("epilogues of contractions on " .. d.label, function()
    for i = 1, CASES do
      it("random " .. i, function() random_case(device, SEED * 1000 + i) end)
    end

    it("a vector is of the label of its size, what is given by labels of these", function()
      local A = tile.tensor("f32", layout { 2, 3 }, device)
      local B = tile.tensor("f32", layout { 4, 3 }, device)
      local v = tile.tensor("f32", layout(4), device):fill { 1, 2, 3, 4 }
      local T = tile.tensor("f32", layout { 4, 2 }, device):fill { 1, 2, 3, 4, 5, 6, 7, 8 }
      local function result(o)
        local C = tile.einsum("mk,nk->mn", A, B, o)
        device:synchronize()
        return C:totable()
      end
      assert.same({ 1, 1, 2, 2, 3, 3, 4, 4 }, result { bias = v })
      assert.same({ 1, 5, 2, 6, 3, 7, 4, 8 }, result { residual = { nm = T } })
      assert.same({ 1, 1, 1, 1, 1, 1, 1, 1 }, result { bias = { [""] = v:view(layout {}, 0) } })
    end)
  end)
end

local env = { tile = tile, layout = layout }
env.A, env.B = tile.tensor("f32", layout { 4, 6 }), tile.tensor("f32", layout { 5, 6 })
env.S = tile.tensor("f32", layout { 4, 6 })
function env.of(...) return tile.tensor("f32", layout(...)) end

describe("epilogues of contractions that are none:", function()
  refused(it, {
    { 'tile.einsum("mk,nk->mn", A, B, { bias = 1 })',
      "einsum: bias: a tensor, or { labels = tensor }, expected, got number" },
    { 'tile.einsum("mk,nk->mn", A, B, { bias = {} })',
      "einsum: bias: one tensor with its labels expected, as in bias = { n = T }" },
    { 'tile.einsum("mk,nk->mn", A, B, { residual = { k = of(6) } })',
      "einsum: residual: the label k is not in the output \"mn\"" },
    { 'tile.einsum("mk,nk->mn", A, B, { bias = of(7) })',
      "einsum: bias has 7 elements; the labels of the output have m 4, n 5\n"
      .. "say which: bias = { m = T }" },
    { 'tile.einsum("mk,nk->mn", A, S, { bias = of(4) })',
      "einsum: bias has 4 elements, as many as m and n have\nsay which: bias = { m = T }" },
    { 'tile.einsum("mk,nk->mn", A, B, { residual = of { 5, 4 } })',
      "einsum: residual: mode 1 is m: 5, which C has 4 times\n"
      .. "each mode has the size of its label, or 1" },
    { 'tile.einsum("mk,nk->mn", A, B, { bias = of { 4, 5, 1 } })',
      "einsum: bias = (4,5,1):(1,4,0) has 3 modes, its labels are \"mn\"" },
    { 'tile.einsum("mk,nk->mn", A, B, { bias = { n = of { 5, 1 } } })',
      "einsum: bias = (5,1):(1,0) has 2 modes, its labels are \"n\"" },
  }, env)
end)
