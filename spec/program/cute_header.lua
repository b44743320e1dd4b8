-- cute_header.lua DECLARED [SEED]: prints C++ that says by static_assert what tile.cute says of
-- many values: layouts, swizzles, shared-memory atoms, an MMA of each family, all copy atoms,
-- kernels. Of atoms those whose names are in the file DECLARED.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local random = math.random
local declared = dofile(arg[0]:match "^(.*/)" .. "cute_declared.lua")
local mmas, copies = declared(arg[1], "mma"), declared(arg[1], "copy")
math.randomseed(tonumber(arg[2]) or 1)

local count = 0
local function put(x)
  count = count + 1
  print(("namespace n%d {\n%s\n}"):format(count, tile.cute(x, "cpp", "A")))
end

local function shape(depth)
  if depth > 1 or random(3) > 1 then return ({ 1, 2, 3, 4, 5, 8, 16, 20 })[random(8)] end
  local t = {}
  for i = 1, random(3) do t[i] = shape(depth + 1) end
  return t
end
local function strides(s)
  if type(s) ~= "table" then return ({ 0, 1, 2, 3, 8, 17, 64, -1 })[random(8)] end
  local t = {}
  for i = 1, #s do t[i] = strides(s[i]) end
  return t
end

print [[
#include <cute/tensor.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cutlass/version.h>
using namespace cute;]]

for _ = 1, 150 do
  local s = { shape(0), shape(0) }
  put(layout(s, strides(s)))
  put(tile.make_identity_layout(s))
  put(s)
end
for _, name in ipairs(tile.smem_atoms()) do
  local ok, atom = pcall(tile.smem_atom, name, 16)
  if ok then put(atom) end
end
for bits = 0, 3 do put(tile.swizzle(bits, random(0, 4), bits + random(0, 2))) end

local seen = {}
for _, name in ipairs(mmas) do
  local family = name:gsub("%d+x%d+x%d+", ""):gsub("<.*", "")
  local ok, mma = pcall(tile.tiled_mma, { atom = name })
  if ok and not seen[family] then
    seen[family] = true
    put(mma)
    put(mma:atom())
  end
end

-- The same atoms as one's own: their traits are of the scope of all.
local function put_own(x)
  count = count + 1
  local ok, text = pcall(tile.cute, x, "cpp", "own" .. count)
  if ok then print(text) end
end
local function described(atom)
  return tile.mma_atom { name = "own", shape = atom.shape_MNK, thr_id = atom.thr_id,
                         A = atom.layout_A, B = atom.layout_B, C = atom.layout_C,
                         dtypes = atom.dtype }
end
for i, name in ipairs(mmas) do
  local ok, own = pcall(function() return described(tile.mma_atom(name)) end)
  if ok and i % 40 == 1 then
    put_own(own)
    put_own(tile.tiled_mma { atom = own, atoms = layout { 2, 1 } })
  end
end

-- A copy of one atom, in values of 16 or of 8 bits.
local function copy_of(name)
  local ok, atom = pcall(tile.copy_atom, name, 16)
  if not ok then atom = tile.copy_atom(name, 8) end
  return tile.tiled_copy { atom = atom, bits = atom.bits, thr = tile.size(atom.layout_ref, 1),
                           val = { 1, tile.size(atom.layout_ref, 2) } }
end
for _, name in ipairs(copies) do
  local ok, copy = pcall(copy_of, name)
  if ok then put(copy) end
  for _, bits in ipairs { 8, 16, 32 } do
    local there, atom = pcall(tile.copy_atom, name, bits)
    if there then put(atom) end
    if there and bits == 16 then
      put_own(tile.copy_atom { name = "own", bits = bits, thr_id = atom.thr_id,
                               src = atom.layout_src, dst = atom.layout_dst,
                               ref = atom.layout_ref })
    end
  end
end

-- Kernels of each architecture.
for _, arch in ipairs { 80, 90 } do
  for i, kernel in ipairs(tile.kernels { arch = arch }) do
    if i % 7 == 1 then put(kernel) end
  end
end
