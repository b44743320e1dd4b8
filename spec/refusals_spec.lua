-- refusals_spec.lua: over Z, what is refused has no answer: a search of all layouts.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one; bench/refusals.lua counts.
local tile = require "moontile"
local answers, refusals = dofile "spec/answers.lua", dofile "spec/refusals.lua"

local SEED = tonumber(os.getenv "MOONTILE_SEED") or 18
local CASES = math.ceil(1000 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))

describe("refused over Z, and no layout is the answer (seed " .. SEED .. "):", function()
  setup(function() math.randomseed(SEED) end)
  for _, row in ipairs(refusals.rows) do
    it(row[1], function()
      for _ = 1, CASES do
        local reason, found, operands = refusals.try(tile, answers, row)
        assert.is_falsy(found, ("%s of %s: %s"):format(row[1], operands, reason))
      end
    end)
  end
end)
