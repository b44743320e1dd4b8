-- kernel_random_spec.lua: random descriptions of kernels, most of them wrong somewhere: whatever is
-- proven computes what it should; nothing else is executed, and nothing crashes.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local described = dofile "spec/described.lua"
local random = math.random

local times = tonumber(os.getenv "MOONTILE_TIMES") or 1

describe("random kernels", function()
  it("compute products, if they are proven", function()
    local seed = os.time()
    math.randomseed(seed)
    local proven, refused, impossible = 0, 0, 0
    local few = 30 * times               -- it goes on until there are more of both
    while proven + refused + impossible < 600 * times or proven <= few or refused <= few do
      local options, row = described.description()
      local made, kernel = pcall(tile.kernel, options)
      if not made then impossible = impossible + 1
      else
        local k = kernel
        local A, B, C = described.operands(row)
        C:fill(2)
        local given, plain = described.ending(options, row, C)
        local proof = tile.verify(k, A, B, C, given)
        if proof.ok then
          proven = proven + 1
          local D = tile.tensor(row[4], C:layout()):fill(2)
          plain.residual = plain.residual and D
          given.seed = random(1 << 30)
          tile.gemm(k, A, B, C, given)
          tile.gemm(A, B, D, plain)
          assert.same(D:totable(), C:totable(), ("seed %d\n%s\n%s"):format(seed, k, proof))
        else
          refused = refused + 1
          assert.is_false(pcall(tile.gemm, k, A, B, C, given))
        end
      end
    end
  end)
end)
