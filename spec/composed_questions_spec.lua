-- composed_questions_spec.lua: what is asked of composed layouts - proofs, accesses, derivations,
-- pictures - and their inverses, by brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local functions = dofile "spec/functions.lua"
local layout = tile.layout
local number, chain = functions.number, functions.chain

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

local C = tile.swizzle(1, 0, 2) * layout "Sw<3,0,3> o 0 o (8,8):(8,1)"
local F = tile.make_composed_layout(layout "(4,6):(2,3)", 1, layout({ 2, 3 }, { 1, 6 }))

local function composed(A) return tostring(A):find " o [F%d]+ o .* o " ~= nil end

-- Composed layouts with integers at their base and in the end, of at least two modes.
local function of_integers()
  while true do
    local A = chain()
    local base = A:get_nonswizzle_portion()
    if composed(A) and math.type(A(0)) == "integer" and not tostring(base):find "F"
      and tile.rank(A) > 1 then
      return A
    end
  end
end

-- The sectors of 32 bytes that warps touch, an element of 4 bytes a thread at a time.
local function sectors(A)
  local threads, n = tile.size(A[1]), 0
  for from = 0, tile.size(A) - 1, threads do
    for warp = 0, threads - 1, 32 do
      local met = {}
      for t = warp, math.min(warp + 32, threads) - 1 do met[A(from + t) * 4 // 32] = true end
      for _ in pairs(met) do n = n + 1 end
    end
  end
  return n
end

describe("questions about composed layouts", function()
  it("count the sectors of their accesses", function()
    math.randomseed(SEED)
    for i = 1, 100 * TIMES do
      local A = of_integers()
      local c = tile.coalescing(A, 32, { bytes = 4 })
      assert.equal(sectors(A), c.sectors, ("case %d of seed %d: %s"):format(i, SEED, A))
    end
  end)

  it("widen accesses as far as values lie side by side", function()
    local A = tile.swizzle(1, 3, 2) * layout "Sw<2,3,3> o 0 o (8,8):(8,1)"
    assert.truthy(tostring(tile.coalescing(A, 16)):find("1 access of 16 bytes", 1, true))
    local ok, err = pcall(tile.coalescing, C, 32, { bytes = 16 })
    assert.truthy(not ok and err:find("16 bytes at once do not fit", 1, true))
  end)

  it("are proven", function()
    local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                   thr = layout { 4, 2 }, val = layout { 2, 1 } }
    local v = tile.verify(copy, C)
    assert.truthy(tostring(v):find("memory: offsets 0 to 63, each element at a place of its own", 1,
                                   true))
    assert.truthy(tostring(v):find("the layout is composed: each element is looked up", 1, true))
    local twice = tile.make_composed_layout(layout "(4,16):(1,0)", 0, C)
    v = tile.verify(copy, twice, "D")
    assert.truthy(tostring(v):find("(1,0) and (4,0) of the tensor, which is written, are both at "
                                   .. "offset 1", 1, true), tostring(v))
    assert.equal(twice(v.witness.at[1]), twice(v.witness.at[2]))
  end)

  it("are told link by link", function()
    local text = tile.explain("composition", C, layout(4))
    for _, line in ipairs { "x0 = (8,8):(8,1) of the coordinates", "x2 = Sw<1,0,2> of x1",
                            "the links act on the values" } do
      assert.truthy(text:find(line, 1, true), text)
    end
    text = tile.explain("logical_divide", layout "(8,16):(16,1)", layout "4:1@0")
    assert.truthy(text:find("(T,T*) = (4,(2,16)):(1@0,(4@0,1@1))", 1, true), text)
    assert.truthy(tile.explain("composition", layout "(2,4):(-1,512)", layout "4:-1")
      :find("below 0 it is -A(-i)", 1, true))
    assert.truthy(tile.explain("left_inverse", F):find("x1 = (4,6):(2,3) of 1 + x0", 1, true))
    assert.truthy(tile.explain("logical_divide", layout(64), C)
      :find("T*: the layout that fills what the values of T leave", 1, true))
    assert.truthy(tile.explain("logical_product", layout(4), C)
      :find("B numbers the copies: R(x,y) = A(x) + C(B(y))", 1, true))
  end)

  it("are drawn, first and in the end", function()
    local text = tile.draw(F)
    assert.truthy(text:find("first: (2,3):(1,6)    in the end", 1, true), text)
    assert.truthy(text:find("| 0 | 6 | 12 |", 1, true) or text:find("|  0 |  6 | 12 |", 1, true))
    for _, way in ipairs { "svg", "html", "latex" } do
      assert.truthy(#tile[way](F) > 500, way)
    end
    assert.truthy(tile.print_layout(F):find("|  2 |  9 | 11 |", 1, true))
    assert.truthy(tile.draw(C, { banks = "f32" }):find("wavefronts", 1, true))
  end)

  it("have extents like others", function()
    assert.equal("(3,5)", tostring(tile.idx2crd(43, C)))
    assert.equal("(8,8)", tostring(tile.product_each(C)))
    assert.equal("(2,4)", tostring(tile.ceil_div(C, { 4, 2 })))
    assert.equal("(1,8)", tostring(tile.compact_col_major(C)))
  end)
end)

describe("inverses of composed layouts", function()
  it("undo offsets and swizzles that no swizzle undoes", function()
    local A = layout "Sw<3,0,3> o 3 o (8,8):(8,1)"
    local L = A:left_inverse()
    for i = 0, 63 do assert.equal(i, L(A(i))) end
    local B = layout "Sw<3,0,3> o 0 o (2,10,7):(70,7,1)"
    local R = B:right_inverse()
    assert.equal(140, tile.size(R))
    for i = 0, 139 do assert.equal(i, B(R(i))) end
  end)

  it("undo random chains", function()
    math.randomseed(SEED)
    local found, all = 0, 0
    for i = 1, 400 * TIMES do
      local A = chain()
      local ok, once = pcall(tile.is_injective, A)
      if composed(A) and ok and once then
        local undone, L = pcall(tile.left_inverse, A)
        all = all + 1
        for k = 0, undone and tile.size(A) - 1 or -1 do
          assert.equal(k, number(L(number(A(k)))), ("case %d of seed %d: %s"):format(i, SEED, A))
        end
        found = found + (undone and 1 or 0)
      end
    end
    assert.is_true(found >= 0.6 * all, ("%d of %d"):format(found, all))
  end)
end)
