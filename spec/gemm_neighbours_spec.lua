-- gemm_neighbours_spec.lua: an element of a product on the CPU is the same, bit by bit, whatever
-- its neighbours, the layouts and the threads: narrow, long and square products, and alone.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local random = math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or 17
local CASES = math.ceil(60 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))
local function pick(list) return list[random(#list)] end

-- types of A and B, of C
local TYPES = { { "f32", "f32" }, { "f64", "f64" }, { "bf16", "f32" }, { "f32", "f16" },
                { "f16", "f64" } }
local SIDES = { 1, 2, 3, 5, 11, 12, 13, 16, 17, 31, 33, 64, 70, 130 }
local DEPTHS = { 1, 7, 40, 383, 400, 1600, 5000 }

local devices = {}
for _, threads in ipairs { 1, 2, 3 } do
  devices[threads] = assert(tile.device { "cpu", threads = threads, libblas = "" })
end

-- Rows, columns, padded rows, rows that are repeated backwards, blocks of 4 by 2.
local function any_layout(x, y)
  local way = random(6)
  if way == 1 then return layout({ x, y }, "right") end
  if way == 2 then return layout({ x, y }, "left") end
  if way == 3 then return layout({ x, y }, { y + random(9), 1 }) end
  if way == 4 then return layout({ x, y }, { 1, x + random(9) }) end
  if way == 5 then return layout({ x, y }, { 2 * y, 2 }) end
  if x % 4 ~= 0 or y % 2 ~= 0 then return layout({ x, y }, "right") end
  return layout({ { 4, x // 4 }, { 2, y // 2 } }, { { 2, 8 }, { 1, 2 * x } })
end

local function numbers(dtype, x, y)
  local A = any_layout(x, y)
  local list = {}
  for i = 1, tile.cosize(A) do list[i] = random() * 2 - 1 end
  return { dtype = dtype, layout = A, list = list }
end

local function tensor(what, device)
  return tile.tensor(what.dtype, layout(#what.list), device):fill(what.list):view(what.layout, 0)
end

-- The same numbers in rows.
local function copied(T)
  local S = tile.tensor(T:dtype(), layout(T:shape(), "right"), T:device())
  tile.copy(T, S)
  return S
end

local function product(A, B, dtype, o)
  local C = tile.tensor(dtype, any_layout(A:size(1), B:size(1)), A:device()):fill(0.5)
  tile.gemm(A, B, C, o)
  return C
end

local function random_case(seed)
  math.randomseed(seed)
  local types, K = pick(TYPES), pick(DEPTHS)
  local M, N = pick(SIDES), pick(SIDES)
  if K > 1000 then M, N = math.min(M, 33), math.min(N, 33) end
  if random(10) == 1 then M, N = 700, 3 end
  local a, b = numbers(types[1], M, K), numbers(types[1], N, K)
  local o = { alpha = pick { 1, 1, 0.3 }, beta = pick { 0, 0, 1 },
              activation = pick { "none", "none", "relu" } }
  local want
  for _, device in ipairs(devices) do
    local A, B = tensor(a, device), tensor(b, device)
    local C = product(A, B, types[2], o)
    local got = C:totable()
    want = want or got
    assert.same(want, got, ("seed %d: %d x %d x %d by other threads"):format(seed, M, N, K))
    assert.same(want, product(copied(A), copied(B), types[2], o):totable(),
                ("seed %d: %d x %d x %d of other layouts"):format(seed, M, N, K))
    local m, n = random(0, M - 1), random(0, N - 1)
    local row, column = A:local_tile({ 1, K }, { m, 0 }), B:local_tile({ 1, K }, { n, 0 })
    local one = product(row, column, types[2], o)
    assert.equal(want[1 + m + M * n], one(0, 0),
                 ("seed %d: (%d,%d) of %d x %d x %d alone"):format(seed, m, n, M, N, K))
  end
end

describe("elements of a product are the same with other neighbours:", function()
  for i = 1, CASES do
    it("random " .. i, function() random_case(SEED * 1000 + i) end)
  end
end)
