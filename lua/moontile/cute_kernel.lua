-- cute_kernel.lua: kernels as CuTe's C++: the types that a kernel template takes.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local bits_of = need "element"
local format, concat = string.format, table.concat

local SIDES <const> = { "A", "B" }

-- The description of a kernel, which is what it prints.
local function described(text)
  local env = { tile = setmetatable({ kernel = function(t) return t end }, { __index = tile }) }
  return load("return " .. text, "=kernel", "t", env)()
end

-- Who brings an operand: TMA, a tiled copy, an atom by its name. w: the writers of other things.
local function mover(w, x, bits)
  if x == "tma" then return "SM90_TMA_LOAD" end
  if type(x) == "table" then return x.multicast and "SM90_TMA_LOAD_MULTICAST" or "SM90_TMA_LOAD" end
  if type(x) == "userdata" then return w.copies.type(tostring(x), x) end
  return format("Copy_Atom<%s,uint_bit_t<%d>>", x, bits)
end

local function members(w, k)
  local shape, cluster = tile.make_shape(table.unpack(k.tile)), k.cluster or { 1, 1 }
  local lines = {
    "using TiledMma = " .. w.mmas.type(nil, k.mma),
    "using TileShape = " .. w.tuples.type(tostring(shape)),
    format("using ClusterShape = Shape<_%d,_%d,_1>", cluster[1], cluster[2]),
    format("static constexpr int Stages = %d", k.stages),
  }
  local function using(name, x) lines[#lines + 1] = format("using %s = %s", name, x) end
  for _, side in ipairs(SIDES) do
    local bits = bits_of(k.mma:atom().dtype[side])
    using("SmemLayout" .. side, w.layouts.type(tostring(k.smem[side])))
    using("GmemCopy" .. side, mover(w, k.g2s[side], bits))
    if k.s2r and k.s2r[side] then using("SmemCopy" .. side, mover(w, k.s2r[side], bits)) end
  end
  return lines
end

-- The writers of kernels, by those of what they are made of.
return function(w)
  local kernels = {}
  function kernels.cpp(text, _, name)
    local k = described(text)
    local lines = { format("struct %s {\n  %s;\n};", name, concat(members(w, k), ";\n  ")) }
    lines[2] = format("static_assert(size(typename %s::TiledMma{}) == %d);", name, k.mma:size())
    for _, side in ipairs(SIDES) do
      lines[#lines + 1] = w.assertions(k.smem[side],
                                       format("typename %s::SmemLayout%s", name, side))
    end
    return concat(lines, "\n")
  end
  return kernels
end
