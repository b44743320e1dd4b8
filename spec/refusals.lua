-- refusals.lua: one random call over Z; if it is refused, why, and whether it has an answer.
-- SPDX-License-Identifier: MIT
local random = math.random
local refusals = {}

-- What a refusal says, without its operands.
local function reason_of(message)
  local line = message:match "^[^\n]*"
  line = line:gsub("^%S-%.lua:%d+: ", ""):gsub("^[%w_]+: ", "")
  return (line:gsub("%(+[%d%-][%d,()@%-]*:[%d,()@%-]*", "A")
              :gsub("%-?%d+:%-?[%d@]+", "A"):gsub("%f[%w]A(%f[%W])", "A%1"):gsub("%-?%d+", "n"))
end

local function family(answers) return answers.FAMILIES[random(#answers.FAMILIES)] end

-- A tile or a block: most of them steps forward.
local function forward(answers) return answers.FAMILIES[random(8) < 8 and random(4) or 5] end

-- name, operands(answers), call(tile, operands), the search
refusals.rows = {
  { "composition", function(a)
      return a.operand(64, family(a), random(4) == 1), a.operand(24, family(a)) end,
    function(tile, A, B) return tile.composition(A, B) end },
  { "with an offset", function(a)
      return a.operand(64, family(a)), a.operand(24, a.FAMILIES[random(3)]), random(0, 8) end,
    function(tile, A, B, n) return tile.composition(A, B:with_offset(n)) end, "composition" },
  { "right_inverse", function(a) return a.operand(64, family(a), random(4) == 1) end,
    function(tile, A) return tile.right_inverse(A) end },
  { "left_inverse", function(a) return a.operand(16, family(a)) end,
    function(tile, A) return tile.left_inverse(A) end },
  { "complement", function(a) return a.operand(24, family(a)), random(0, 80) end,
    function(tile, A, n) return tile.complement(A, n) end },
  { "logical_divide", function(a)
      return a.operand(64, family(a), random(4) == 1), a.operand(12, forward(a)) end,
    function(tile, A, T) return tile.logical_divide(A, T) end },
  { "logical_product", function(a) return a.operand(12, family(a)), a.operand(12, family(a)) end,
    function(tile, A, B) return tile.logical_product(A, B) end },
}

-- One call of a row. nil: it is answered; else why not, whether an answer was found, operands.
function refusals.try(tile, answers, row)
  local operands = table.pack(row[2](answers))
  local given, texts = {}, {}
  for i = 1, operands.n do
    local x = operands[i]
    given[i] = type(x) == "table" and tile.layout(x.text) or x
    texts[i] = type(x) == "table" and x.text or tostring(x)
  end
  local ok, message = pcall(row[3], tile, table.unpack(given))
  if ok then return nil end
  local search = answers[row[4] or row[1]]
  return reason_of(message), not search or search(table.unpack(operands)), table.concat(texts, " ")
end

return refusals
