-- served.lua: operations of one of many threads that serve, each VM for itself: plans that were
-- made once, on a stream of their own, and a wait for that stream. work(n) does n of them.
-- SPDX-License-Identifier: MIT
-- luacheck: globals tile device own work

local layout, d = tile.layout, assert(tile.device(device))
local stream = d:stream()
local A, B = tile.tensor("f32", layout{ 8, 8 }, d), tile.tensor("f32", layout({ 8, 8 }, "right"), d)
local C = tile.tensor("f32", layout{ 8, 8 }, d)
A:fill(2)
local turn, product = assert(tile.plan(A, B)), assert(tile.plan_gemm(A, B, C))

function work(n)
  for _ = 1, n do
    turn(stream)
    product(stream)
    if stream then stream:synchronize() end
  end
  return C(3, 5) == 32 and n or 0
end
