-- analysis_error_spec.lua: accesses of warps that are refused, and the whole text that says why.
-- SPDX-License-Identifier: MIT
--
-- Rows as in error_spec.lua.

local tile = require "moontile"
local refused = dofile "spec/refused.lua"
local layout = tile.layout

local env = setmetatable({ tile = tile, layout = layout }, { __index = _G })

-- A tiled copy of f32 by accesses of 16 bytes along rows.
function env.tiled()
  return tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f32",
                           thr = layout({ 4, 8 }, "right"), val = layout { 1, 4 } }
end

function env.mma() return tile.tiled_mma { atom = "UniversalFMA<float>" } end

describe("refused accesses of warps", function()
  refused(it, {
    { 'tile.bank_conflicts(layout(32), 12)',
      "bank_conflicts: elements of 12 bits; 8, 16, 32, 64 and 128 have addresses" },
    { 'tile.bank_conflicts(layout(32), 4)',
      "bank_conflicts: elements of 4 bits; 8, 16, 32, 64 and 128 have addresses" },
    { 'tile.bank_conflicts(layout(32))',
      "bad argument #2 to 'bank_conflicts' (bits of an element, or a dtype, expected, " ..
      "got no value)" },
    { 'tile.bank_conflicts(layout(32), {})',
      "bad argument #2 to 'bank_conflicts' (bits of an element, or a dtype, expected, " ..
      "got table)" },
    { 'tile.bank_conflicts(mma(), 32)', "bank_conflicts: a tiled MMA has no accesses of " ..
      "its own: give partition_A(layout), or a tiled copy by make_tiled_copy_A" },
    { 'tile.coalescing(mma(), 32)', "coalescing: a tiled MMA has no accesses of " ..
      "its own: give partition_A(layout), or a tiled copy by make_tiled_copy_A" },
    { 'tile.coalescing(tiled(), tile.tensor("f16", layout { 32, 32 }))',
      "coalescing: the tiled copy moves elements of 32 bits, f16 has 16" },
    { 'tile.bank_conflicts(tiled(), "S")',
      "bad argument #2 to 'bank_conflicts' (layout expected, got string; "
      .. '"S" is the text of no layout, "(4,2):(1,4)" is one)' },
    { 'tile.bank_conflicts(tiled(), layout { 32, 32 })',
      "bank_conflicts: \"S\" or \"D\", the side of the copy, expected, got no value" },
    { 'tile.bank_conflicts(layout(32), 32, "load")',
      "bank_conflicts: no access is a \"load\"; there are: read write ldmatrix " ..
      "stmatrix" },
    { 'tile.bank_conflicts(layout(32), 32, { width = 4 })',
      "bank_conflicts: unknown option 'width'; there are: kind, bytes, matrices, " ..
      "offset" },
    { 'tile.bank_conflicts(layout(32), 32, { bytes = "x" })',
      "bank_conflicts: bytes: integer expected, got string" },
    { 'tile.bank_conflicts(layout(32), 32, { bytes = 12 })',
      "bank_conflicts: 12 bytes at once; 1, 2, 4, 8 and 16 are possible" },
    { 'tile.bank_conflicts(layout(32), 64, { bytes = 4 })',
      "bank_conflicts: 4 bytes at once are less than an element of 8" },
    { 'tile.bank_conflicts(layout(32), 32, { bytes = 16 })',
      "bank_conflicts: 16 bytes at once do not fit 32:1: thread 1 has value 0 at " ..
      "element 1 of 4 bytes, not aligned\n  4 at once fit" },
    { 'tile.bank_conflicts(layout({ 32, 4 }, { 5, 1 }), 32, { bytes = 16 })',
      "bank_conflicts: 16 bytes at once do not fit (32,4):(5,1): thread 1 has value " ..
      "0 at element 5 of 4 bytes, not aligned\n  4 at once fit" },
    { 'tile.bank_conflicts(layout({ 32, 4 }, { 4, 2 }), 32, { bytes = 8 })',
      "bank_conflicts: 8 bytes at once do not fit (32,4):(4,2): thread 0 has value 0 " ..
      "at element 0, value 1 at 2\n  4 at once fit" },
    { 'tile.bank_conflicts(tile.swizzle(3, 1, 3) * layout({ 32, 4 }, { 4, 1 }), 32, { ' ..
      'bytes = 16 })',
      "bank_conflicts: 16 bytes at once do not fit Sw<3,1,3> o 0 o (32,4):(4,1): " ..
      "thread 4 has value 0 at element 18 of 4 bytes, not aligned\n  8 at once fit" },
    { 'tile.bank_conflicts(layout({ 32, 8 }, { 64, 1 }), 16, { kind = "ldmatrix", ' ..
      'matrices = 3 })',
      "bank_conflicts: ldmatrix of 3 matrices; 1, 2 and 4 are possible, with 8 " ..
      "threads each" },
    { 'tile.bank_conflicts(layout({ 16, 8 }, { 64, 1 }), 16, { kind = "ldmatrix", ' ..
      'matrices = 4 })',
      "bank_conflicts: ldmatrix of 4 matrices needs 32 threads, there are 16" },
    { 'tile.bank_conflicts(layout({ 32, 4 }, { 64, 1 }), 16, "ldmatrix")',
      "bank_conflicts: 16 bytes at once do not fit (32,4):(64,1): a thread has 4 " ..
      "values of 2 bytes" },
    { 'tile.bank_conflicts(layout({ 32, 8 }, { 64, 1 }), 16, { kind = "ldmatrix", bytes = 8 })',
      "bank_conflicts: the rows of ldmatrix have 16 bytes, not 8" },
    { 'tile.bank_conflicts(layout({ 32, 0 }), 32)',
      "bank_conflicts: (32,0):(1,32) is empty" },
    { 'tile.bank_conflicts(tile.make_identity_layout { 32, 4 }, 32)',
      "bank_conflicts: the strides of (32,4):(1@0,1@1) are no integers" },
    { 'tile.bank_conflicts(tile.parse "():()", 32)',
      "bank_conflicts: a layout without modes has no threads" },
    { 'tile.bank_conflicts(layout(32, 1 << 58), 32)',
      "bank_conflicts: the addresses of 32:288230376151711744 leave 56 bits" },
    { 'tile.bank_conflicts(layout(1 << 40), 32)',
      "bank_conflicts: 1099511627776:1 has 1 different accesses in a warp and " ..
      "34359738368 warps: more than 1048576 in all\n  count a part of " ..
      "it: a slice" },
    { 'tile.bank_conflicts(tile.swizzle(3, 10, 8) * layout({ 32, 1 << 21 }, { 1, 32 }), 32)',
      "bank_conflicts: Sw<3,10,8> o 0 o (32,2097152):(1,32) has 2097152 different " ..
      "accesses in a warp and 1 warps: more than 1048576 in all\n  " ..
      "count a part of it: a slice" },
    { 'tile.bank_conflicts({ 32 }, 32)',
      "bad argument #1 to 'bank_conflicts' (layout expected, got table (tile.layout " ..
      "builds one from a shape))" },
    { 'tile.coalescing(layout(32), 32, "ldmatrix")',
      "coalescing: ldmatrix reaches shared memory only" },
    { 'tile.bank_conflicts(tiled(), layout { 32, 32 }, "X")',
      "bank_conflicts: \"S\" or \"D\", the side of the copy, expected, got X" },
    { 'tile.bank_conflicts(tiled(), layout { 32, 32 }, "D")',
      "bank_conflicts: 16 bytes at once do not fit " ..
      "((8,4),(4,1),(8,1)):((128,1),(32,0),(4,0)): thread 8 has value 0 at element 1 of 4 " ..
      "bytes, not aligned\n  4 at once fit" },
    { 'tile.find_swizzle { smem = layout { 8, 8 }, bits = 32 }',
      "find_swizzle: write or read: a layout expected" },
    { 'tile.find_swizzle { smem = layout { 8, 8 }, write = layout(8) }',
      "find_swizzle: dtype = \"f16\" or bits = 16 expected" },
    { 'tile.find_swizzle { smem = layout { 8, 8 }, write = layout(8), bits = {} }',
      "find_swizzle: dtype = \"f16\" or bits = 16 expected" },
    { 'tile.find_swizzle { smem = layout { 8, 32 }, write = tiled(), dtype = "f16" }',
      "find_swizzle: the tiled copy moves elements of 32 bits, f16 has 16" },
    { 'tile.find_swizzle { smem = layout { 8, 8 }, write = layout(65), bits = 32 }',
      "find_swizzle: write: 65:1 reaches index 64, smem (8,8):(1,8) has 64 elements" },
    { 'tile.find_swizzle { write = layout(8), bits = 32 }',
      "find_swizzle: smem: layout expected, got nil" },
    { 'tile.find_swizzle { smem = tile.swizzle(3, 0) * layout { 8, 8 }, write = ' ..
      'layout(8), bits = 32 }',
      "find_swizzle: smem: a layout without a swizzle expected" },
    { 'tile.find_swizzle { smem = layout(8, -1), write = layout(8), bits = 32 }',
      "find_swizzle: smem 8:-1 has negative offsets, or leaves 64 bits" },
    { 'tile.find_swizzle { smem = layout({ 4, 6 }, { 8, 1 }), write = layout(6, 3), bits = 32 }',
      "composition: no layout R has R(i) = A(B(i)) for A = (4,6):(8,1), B = 6:3\n  " ..
      "B's stride 3 runs over the end of A's mode 1 (extent 4): A(B(4)) = 3, where a " ..
      "layout would give 34\n  6:2, 6:4 and 6:12 compose with this A; so would 6:3 " ..
      "if mode 1 had extent 3" },
    { 'tile.find_swizzle { smem = layout { 8, 8 }, read = layout(8, 8), bits = 32, ' ..
      'read_kind = 7 }',
      "find_swizzle: the name of an access or a table of options expected, got number" },
    { 'tile.find_swizzle { smem = layout { 8, 8 }, read = layout(8, 8), bits = 32, ' ..
      'swizzle = 1 }',
      "find_swizzle: unknown option 'swizzle'; there are: smem, write, read, bits, " ..
      "dtype, write_kind, read_kind" },
    { 'tile.find_swizzle { smem = layout { 8, 8 }, read = layout(8, 8), bits = 32, ' ..
      'write_kind = "load" }',
      "find_swizzle: no access is a \"load\"; there are: read write ldmatrix stmatrix" },
  }, env)
end)
