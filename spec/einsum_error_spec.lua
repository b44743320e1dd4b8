-- einsum_error_spec.lua: contractions that are refused, and the whole text that says why.
-- SPDX-License-Identifier: MIT
--
-- Rows as in error_spec.lua.

local tile = require "moontile"
local layout = tile.layout

local env = setmetatable({ tile = tile, layout = layout }, { __index = _G })

function env.f32(shape) return tile.tensor("f32", layout(shape)) end

describe("refused contractions", function()
  for _, row in ipairs {
    { 'tile.einsum(5, f32 { 3, 4 })',
      'einsum: an expression like "mk,nk->mn" expected, got number' },
    { 'tile.einsum("ij;jk", f32 { 3, 4 })', [[
einsum: "ij;jk" is not of the form "mk,nk->mn": a letter for each mode of each tensor; an ellipsis]]
      .. " is not taken" },
    { 'tile.einsum("...i,i", f32 { 3, 4 })', [[
einsum: "...i,i" is not of the form "mk,nk->mn": a letter for each mode of each tensor; an ellipsis]]
      .. " is not taken" },
    { 'tile.einsum("ij,jk->iz", f32 { 3, 4 }, f32 { 4, 2 })',
      'einsum: "ij,jk->iz": the label z of the output is in no operand: its size is not known' },
    { 'tile.einsum("ij,jk->ii", f32 { 3, 4 }, f32 { 4, 2 })', [[
einsum: "ij,jk->ii": the label i stands twice in the output
give the result to a diagonal view of C]] },
    { 'tile.einsum("ij,kj->ik", f32 { 3, 4 }, f32 { 4, 2 })',
      "einsum: the label j is mode 2 of A and mode 2 of B: 4 and 2" },
    { 'tile.einsum("ij,jk->ik", f32 { 3, 4 }, f32 { 1, 2 })', [[
einsum: the label j is mode 2 of A and mode 1 of B: 4 and 1
a size of 1 is not repeated by itself: a view with stride 0 repeats it]] },
    { 'tile.einsum("ii->i", f32 { 3, 4 })',
      "einsum: the label i is mode 1 of A and mode 2 of A: 3 and 4" },
    { 'tile.einsum("a,b,cc->a", f32 { 3 }, f32 { 4 }, f32 { 3, 4 })',
      "einsum: the label c is mode 1 of operand 3 and mode 2 of operand 3: 3 and 4" },
    { 'tile.einsum("ijk,jk->ik", f32 { 3, 4 }, f32 { 4, 2 })',
      'einsum: A = (3,4):(1,3) has 2 modes, its labels are "ijk"' },
    { 'tile.einsum("ij,jk->ik", f32 { 3, 4 })', 'einsum: "ij,jk->ik" has 2 operands, 1 tensors were'
      .. " given (C may follow the operands)" },
    { 'tile.einsum("ij,jk->ik", f32 { 3, 4 }, layout(4))', 'einsum: "ij,jk->ik" has 2 operands,'
      .. " 1 tensors were given (C may follow the operands): argument 3 is no tensor" },
    { 'tile.einsum("ij->i", f32 { 3, 4 }, f32(3), f32(3))', 'einsum: "ij->i" has 1 operands,'
      .. " 3 tensors were given (C may follow the operands)" },
    { 'tile.einsum("ij->i", f32 { 3, 4 }, 5)', "einsum: options in a table expected, got number" },
    { 'tile.einsum("ij->i", f32 { 3, 4 }, { gamma = 2 })',
      "einsum: unknown option 'gamma'; there are: alpha, beta, dtype, mma, stream" },
    { 'tile.einsum("ij->i", f32 { 3, 4 }, { beta = 2 })', [[
einsum: beta is 2, but there is no C to add to
give C behind the operands]] },
    { 'tile.einsum("ij,jk->ki", f32 { 3, 4 }, f32 { 4, 2 }, f32 { 3, 2 })',
      "einsum: the label k is mode 2 of B and mode 1 of C: 2 and 3" },
    { 'tile.einsum("ij->i", f32 { 3, 4 }, { dtype = "i32" })', [[
gemm: A is f32, B is f32, C is i32: floats are not added up as integers
make C of f32 or f64]] },
    { 'tile.einsum_fold("ij,jk->ik", f32 { 3, 4 }, f32 { 4, 2 })',
      'einsum_fold: tensors A, B and C for "ij,jk->ik" expected' },
    { 'tile.im2col(f32 { 1, 8, 8, 3 }, 3, 1, 1)', [[
im2col: a padding of 1 lies outside of the tensor
copy it into the middle of a larger tensor of zeros, and take im2col of that without padding]] },
    { 'tile.im2col(f32 { 8, 3 }, 3)', "im2col: (N, spatial.., C) expected, got (8,3):(1,8)" },
  } do
    it(row[1], function()
      local ok, message = pcall(assert(load(row[1], "=row", "t", env)))
      assert.is_false(ok)
      assert.equal("row:1: " .. row[2], message)
    end)
  end
end)
