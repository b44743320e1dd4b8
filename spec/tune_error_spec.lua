-- tune_error_spec.lua: what tuning refuses, and the whole text that says why.
-- SPDX-License-Identifier: MIT
--
-- Rows as in error_spec.lua.

local tile = require "moontile"
local refused = dofile "spec/refused.lua"
local layout = tile.layout

local env = setmetatable({ tile = tile, layout = layout }, { __index = _G })

-- A plan of a copy of 64 floats.
function env.plan()
  local function new() return tile.tensor("f32", layout(64), "cpu:checked") end
  return tile.plan(new(), new())
end

describe("refused tuning", function()
  refused(it, {
    { 'tile.tune(5)', "tune: a plan expected, got number: plan(src, dst) and plan_gemm(A, B, C) "
      .. "make one" },
    { 'tile.tune(tile.tensor("f32", tile.layout(4)))',
      "tune: a plan expected, got moontile.Tensor: plan(src, dst) and plan_gemm(A, B, C) make "
      .. "one" },
    { 'tile.tune(plan(), 5)', "tune: a table of options expected, got number" },
    { 'tile.tune(plan(), { round = 5 })',
      "tune: unknown option 'round'; did you mean rounds? there are: file, rounds" },
    { 'tile.tune(plan(), { rounds = 0 })', "tune: rounds: 1 to 10000 expected, got 0" },
    { 'tile.tune(plan(), { rounds = "x" })', "tune: rounds: 1 to 10000 expected, got x" },
    { 'tile.tune(plan(), { file = 5 })', "tune: file: the name of a file expected, got number" },
    { 'local T = tile.tensor("f32", layout { 8, 8 }); '
      .. 'tile.tune(tile.plan_gemm(T, T, tile.tensor("f32", layout { 8, 8 })))',
      "tune: this product has one way, print(plan:why()) shows it" },
    { 'tile.load_tuning(5)', "load_tuning: the name of a file expected, got number" },
    { 'plan():take("copy_strided_u128", 16)', [[
plan: copy_strided_u128 by 16 bytes at once is no way to do it on cpu:checked
print(plan:why()) shows those that are]] },
    { 'plan():measure(0)', "bad argument #1 to 'measure' (1 launch or more expected)" },
    { 'local p = plan(); p:free(); tile.tune(p)', "this plan was freed" },
    { 'local p = plan(); p:free(); p:why()', "this plan was freed" },
    { 'plan():whi()', "Plan.whi: no such method; did you mean why?" },
  }, env)
end)

describe("the world of tuning", function()
  refused(it, {
    { 'return tile.load_tuning "/nonexistent"', "/nonexistent: No such file or directory", "EIO" },
    { 'return tile.load_tuning "/"', "/: Is a directory", "EIO" },
    { 'return tile.tune(plan(), { rounds = 1, file = "/nonexistent/x" })',
      "/nonexistent/x: No such file or directory", "EIO" },
  }, env)
end)
