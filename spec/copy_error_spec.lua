-- copy_error_spec.lua: refused copies of swizzled tensors, and the whole text that says why.
-- SPDX-License-Identifier: MIT
--
-- Rows as in error_spec.lua.

local tile = require "moontile"
local refused = dofile "spec/refused.lua"

local env = setmetatable({ tile = tile, layout = tile.layout }, { __index = _G })

function env.view(text) return tile.tensor("f32", tile.layout(4096)):view(tile.layout(text)) end

-- A tiled copy of f32 by accesses of 16 bytes.
function env.tiled()
  return tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f32",
                           thr = tile.layout({ 4, 8 }, "right"), val = tile.layout { 1, 4 } }
end

local WIDE = "copy: UniversalCopy<uint128_t> moves 4 elements at once, but "

local ROWS = {
  { 'local T = tile.tensor("f32", layout "Sw<1,1,2> o 0 o 15:1"); '
    .. 'tile.copy(T:view(layout "Sw<1,1,2> o 0 o 32:1", 0, layout "32:1@0", {0}, {31}), '
    .. 'tile.tensor("f32", layout(32)))', [[
copy: src: element 29 lies at offset 31 under the swizzle; the buffer has elements 0 to 15
src is Sw<1,1,2> o 0 o 32:1 at offset 0
dst is 32:1 at offset 0]] },
  { 'tile.copy(view "(8,32):(32,1)", view "Sw<2,2,3> o 0 o (8,32):(16,1)")', [[
copy: dst: elements 1 and 128 write offset 16
src is (8,32):(32,1) at offset 0
dst is Sw<2,2,3> o 0 o (8,32):(16,1) at offset 0
an element of dst is written once: give each value a place of its own]] },
  { 'tile.copy(view "(8,32):(32,1)", view "Sw<2,2,3> o 0 o (8,32):(32,0)")', [[
copy: dst mode 2 has stride 0: elements 0 and 248 write offset 0
dst is Sw<2,2,3> o 0 o (8,32):(32,0)
an element of dst is written once: give each value a place of its own]] },
  { 'local T = tile.tensor("f32", layout(512)); tile.copy(T:view(layout "(8,32):(32,1)"), '
    .. 'T:view(layout "Sw<2,2,3> o 0 o (8,32):(32,1)", 16))', [[
copy: that src and dst do not overlap could not be proven: swizzled in two ways, elements ]]
    .. "0 to 255 of the buffer of src and 16 to 271 of that of dst lie between each other\n" .. [[
src is (8,32):(32,1) at offset 0
dst is Sw<2,2,3> o 0 o (8,32):(32,1) at offset 16
copy through a tensor of its own in between]] },
  { 'local T = tile.tensor("f32", layout(512)); '
    .. 'tile.copy(T:view(layout "Sw<2,2,3> o 0 o (8,32):(32,1)"), '
    .. 'T:view(layout "Sw<2,2,3> o 224 o (8,32):(32,1)"))', [[
copy: src and dst overlap: offset 236 of src is offset 236 of dst
src is Sw<2,2,3> o 0 o (8,32):(32,1) at offset 0
dst is Sw<2,2,3> o 224 o (8,32):(32,1) at offset 0
copy through a tensor of its own in between]] },
  { 'tile.copy(tiled(), view "(8,32):(32,1)", view "Sw<2,1,4> o 0 o (8,32):(32,1)")', WIDE .. [[
the swizzle of dst keeps 2 elements together
UniversalCopy<uint64_t> would do, or AutoVectorizingCopy]] },
  { 'tile.copy(tiled(), view "(8,32):(32,1)", view "Sw<2,2,4> o 2 o (8,32):(32,1)")', WIDE .. [[
the offset under the swizzle of dst, 2, is no multiple of 4 elements
UniversalCopy<uint64_t> would do, or AutoVectorizingCopy]] },
}

describe("refused copies of swizzled tensors", function()
  refused(it, ROWS, env)
end)
