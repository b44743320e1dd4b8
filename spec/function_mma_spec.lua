-- function_mma_spec.lua: tiled MMAs whose atoms or places are numbered by functions: swizzled, over
-- F2, listed; against brute force.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local devices = dofile "spec/devices.lua"
local numberings = dofile "spec/numberings.lua"
local layout, random = tile.layout, math.random
local number, listed, numbering = numberings.number, numberings.listed, numberings.numbering
local ordinate, same_values = numberings.ordinate, numberings.same_values
local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

local ATOMS <const> = { "SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x8_F32TF32TF32F32_TN",
                        "SM70_8x8x4_F32F16F16F32_TN", "UniversalFMA<float>" }

local function extents(mma)
  local e = {}
  for n in tostring(mma):match("threads, ([%dx]+)$"):gmatch "%d+" do e[#e + 1] = tonumber(n) end
  return e
end

-- Of an atom and atoms by steps, permuted: a tiled MMA and the same by steps; nil where
-- those atoms have no threads of their own.
local function mma_of(atom, atoms, numbers, permutation)
  local x = { atom = atom, P = {}, extent = {} }
  local ok, base = pcall(tile.tiled_mma, { atom = x.atom, atoms = layout(atoms) })
  if not ok then return nil end
  for k, e in ipairs(extents(base)) do
    x.P[k] = permutation(e)
    x.extent[k] = x.P[k] == tile._ and e or tile.size(x.P[k])
  end
  x.mma = tile.tiled_mma{ atom = x.atom, atoms = numbers(atoms), permutation = x.P }
  x.steps = tile.tiled_mma{ atom = x.atom, atoms = layout(atoms), permutation = x.extent }
  local from, to = x.steps:thr_layout_VMNK(), x.mma:thr_layout_VMNK()
  x.thread = {}
  for i = 0, tile.size(from) - 1 do x.thread[from(i)] = to(i) end
  return x
end

local function random_mma()
  return mma_of(ATOMS[random(#ATOMS)], { random(2), random(3), random(2) }, numbering, function(e)
    return random(3) == 1 and numbering{ e * random(2) } or tile._
  end)
end

local function permuted(x, k, q)
  local e = x.extent[k]
  return x.P[k] == tile._ and q or number(x.P[k](q % e)) + q // e * e
end

local AXES <const> = { A = { 1, 3 }, B = { 2, 3 }, C = { 1, 2 } }

-- False: more nodes than a layout has.
local function check_operand(x, part)
  local axes, partition = AXES[part], "partition_" .. part
  local shape = { x.extent[axes[1]] * random(2), x.extent[axes[2]] * random(2) }
  local A, id = layout(shape, { random(9), random(70) }), tile.make_identity_layout(shape)
  local ok, P = pcall(x.mma[partition], x.mma, A)
  if not ok then
    assert.match("more than 64 nodes", P)
    return
  end
  local steps, name = x.steps[partition](x.steps, id), tostring(x.mma) .. part
  for _ = 1, 25 do
    local t, v, r = random(0, tile.size(steps, 1) - 1), random(0, tile.size(steps, 2) - 1),
                    random(0, tile.size(steps, 3) - 1)
    if x.thread[t] then
      local p = steps{ t, v, r }
      local want = A{ permuted(x, axes[1], ordinate(p, 1)), permuted(x, axes[2], ordinate(p, 2)) }
      assert.equal(want, P{ x.thread[t], v, r }, name)
      local slice = x.mma:get_slice(x.thread[t])
      local S, offset = slice[partition](slice, A)
      assert.equal(want, S(v + tile.size(steps, 2) * r) + offset, name)
    end
  end
  assert.is_true(tile.verify(x.mma, layout(shape), part).covers, name)
end

describe("atoms and places that functions number #seed" .. SEED, function()
  setup(function() math.randomseed(SEED) end)

  it("have the elements that the definition says", function()
    for _ = 1, 30 * TIMES do
      local x = random_mma()
      for part in pairs(x and AXES or {}) do check_operand(x, part) end
    end
  end)

  it("are permuted by layouts that no atom divides", function()
    local reversed = tile.parse "Sw<0,0,0> o 5 o (2,3):(-3,-1)"
    for _, P in ipairs{ reversed, layout({ 2, 3 }, { 3, 1 }) } do
      for _, numbers in ipairs{ listed, layout } do
        local x = mma_of("UniversalFMA<float>", { 1, 3, 2 }, numbers, function(e)
          return e == 3 and P or tile._
        end)
        for part in pairs(AXES) do check_operand(x, part) end
      end
    end
  end)

  it("multiply on every device", function()
    local M, N, K = 70, 37, 40
    local a, b = tile.tensor("f16", layout({ M, K }, "right")), tile.tensor("f16", layout{ N, K })
    for k = 0, K - 1 do
      for i = 0, M - 1 do a:set(random(-3, 3), i, k) end
      for i = 0, N - 1 do b:set(random(-3, 3), i, k) end
    end
    local want = tile.tensor("f32", layout({ M, N }, "right"))
    tile.gemm(a, b, want)
    for _, d in ipairs(devices) do
      for _, permutation in ipairs{ { tile._, tile._, tile._ },
                                    { tile.parse "Sw<1,0,3> o 0 o 64:1", 32, listed{ 16 } },
                                    { tile._, layout({ 6, 8 }, { 8, 1 }), tile._ } } do
        local mma = tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN",
                                    atoms = numbering{ 2, 2, 1 }, permutation = permutation }
        local c = tile.tensor("f32", layout({ M, N }, "right"), d.device)
        tile.gemm(mma, a:to(d.device), b:to(d.device), c)
        same_values(want, c, tostring(mma))
      end
    end
  end)

  it("make kernels, copies and fragments", function()
    local mma = tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN",
                                atoms = tile.parse "Sw<1,0,1> o 0 o (2,2,1):(1,2,4)" }
    local a, b = tile.tensor("f16", layout({ 64, 32 }, "right")),
                 tile.tensor("f16", layout({ 32, 32 }, "right"))
    a:fill(2)
    b:fill(3)
    local c = tile.tensor("f32", layout({ 64, 32 }, "right"))
    tile.gemm(tile.kernel{ mma = mma, tile = { 64, 32, 32 } }, a, b, c)
    assert.equal(192, c(63, 31))
    assert.equal(mma:layout_A_TV(), tile.make_tiled_copy_A("DefaultCopy", mma):tiled_layout_TV())
    assert.equal("((2,2),2,2):((1,2),4,8)",
                 tostring(mma:get_slice(5):partition_fragment_C(layout{ 64, 32 })))
    local again = load("local tile = require 'moontile' return " .. tostring(mma))()
    assert.equal(mma:thr_layout_VMNK(), again:thr_layout_VMNK())
    for _, draw in ipairs{ tile.latex, tile.svg, tile.draw } do
      assert.is_true(#draw(mma) > 100)
    end
  end)
end)
