-- traits.lua: atoms of one's own as what CuTe asks of an operation: MMA_Traits, Copy_Traits.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local dsl = need "dsl"
local format = string.format

local traits = {}

local function cpp_type(atom, dtype)
  local name = dsl.cpp_type(dtype)
  check(name, "cute: %s has elements of %s, for which CuTe has no type here", atom.name, dtype)
  return name
end

local MMA <const> = [[
// %s: fma() is yours to write
struct %s {};
]]
local MMA_TRAITS <const> = [[
template <>
struct cute::MMA_Traits<%s> {
  using ValTypeD = %s;
  using ValTypeA = %s;
  using ValTypeB = %s;
  using ValTypeC = %s;
  using Shape_MNK = %s;
  using ThrID = %s;
  using ALayout = %s;
  using BLayout = %s;
  using CLayout = %s;
};]]

-- The operation `op`, and its traits by its whole name; w: the writers of layouts and tuples.
function traits.mma(w, atom, op, whole)
  local function of(x) return w.layouts.type(tostring(x)) end
  return format(MMA, atom.name, op),
         format(MMA_TRAITS, whole, cpp_type(atom, atom.dtype.D), cpp_type(atom, atom.dtype.A),
                cpp_type(atom, atom.dtype.B), cpp_type(atom, atom.dtype.C),
                w.tuples.type(tostring(atom.shape_MNK)), of(atom.thr_id), of(atom.layout_A),
                of(atom.layout_B), of(atom.layout_C))
end

local COPY <const> = [[
// %s: copy() is yours to write
struct %s {};
]]
local COPY_TRAITS <const> = [[
template <>
struct cute::Copy_Traits<%s> {
  using ThrID = %s;
  using SrcLayout = %s;
  using DstLayout = %s;
  using RefLayout = %s;
};]]

-- (thread, value) -> value, as (thread, (bit, value)) -> bit
local function in_bits(A, bits)
  local L = tile.composition(tile.layout(tile.cosize(A), bits), A)
  return tile.make_layout(L[1], tile.make_layout(tile.layout(bits, 1), L[2]))
end

function traits.copy(w, atom, op, whole)
  local function of(x) return w.layouts.type(tostring(x)) end
  local bits = atom.bits
  return format(COPY, atom.name, op),
         format(COPY_TRAITS, whole, of(atom.thr_id), of(in_bits(atom.layout_src, bits)),
                of(in_bits(atom.layout_dst, bits)), of(in_bits(atom.layout_ref, bits)))
end

return traits
