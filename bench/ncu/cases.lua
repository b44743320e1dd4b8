-- cases.lua: accesses of one warp, as offsets, with what bank_conflicts and coalescing say.
-- usage: moontile cases.lua > cases.txt
-- SPDX-License-Identifier: MIT
--
-- A line: name, kind, bytes of a thread, threads, predicted wavefronts (shared) or 0, predicted
-- sectors (global) or 0, then for each thread the byte where it begins. Prediction and offsets
-- come from one layout.

local tile = require "moontile"
local layout, parse = tile.layout, tile.parse

-- name, kind, bits of an element, bytes, (thread, value) -> element [, matrices or offset]
local SHARED = {
  { "row_f32",            "read",     32,  4, "32:1" },
  { "stride2_f32",        "read",     32,  4, "32:2" },
  { "stride4_f32",        "read",     32,  4, "32:4" },
  { "column_f32",         "read",     32,  4, "32:32" },
  { "column_padded",      "read",     32,  4, "32:33" },
  { "column_swizzled",    "read",     32,  4, "Sw<5,0,5> o 0 o 32:32" },
  { "column_8x8",         "read",     32,  4, "8:8" },
  { "column_8x8_swizzled", "read",    32,  4, "Sw<3,0,3> o 0 o 8:8" },
  { "broadcast_f32",      "read",     32,  4, "32:0" },
  { "broadcast_of_4",     "read",     32,  4, "((4,8)):((0,32))" },
  { "row_u16",            "read",     16,  2, "32:1" },
  { "stride64_u16",       "read",     16,  2, "32:64" },
  { "row_u8",             "read",      8,  1, "32:1" },
  { "row_v2",             "read",     32,  8, "(32,2):(2,1)" },
  { "half_warps_apart",   "read",     32,  8, "((16,2),2):((2,64),1)" },
  { "half_warps_mixed",   "read",     32,  8, "((2,16),2):((32,2),1)" },
  { "column_v2",          "read",     32,  8, "(32,2):(32,1)" },
  { "broadcast_v2",       "read",     32,  8, "(32,2):(0,1)" },
  { "pairs_v2",           "read",     32,  8, "((2,16),2):((0,2),1)" },
  { "pairs_v2_of_4",      "read",     32,  8, "((2,2,8),2):((2,0,4),1)" },
  { "fours_v2",           "read",     32,  8, "((4,8),2):((2,0),1)" },
  { "row_v4",             "read",     32, 16, "(32,4):(4,1)" },
  { "column_v4",          "read",     32, 16, "(32,4):(32,1)" },
  { "column_v4_padded",   "read",     32, 16, "(32,4):(36,1)" },
  { "column_v4_swizzled", "read",     32, 16, "Sw<3,2,3> o 0 o (32,4):(32,1)" },
  { "quarters_mixed",     "read",     32, 16, "((4,8),4):((32,4),1)" },
  { "broadcast_v4",       "read",     32, 16, "(32,4):(0,1)" },
  { "pairs_v4",           "read",     32, 16, "((2,16),4):((0,4),1)" },
  { "pairs_v4_of_4",      "read",     32, 16, "((2,2,8),4):((4,0,8),1)" },
  { "row_v4_of_8",        "read",     32, 16, "((8,4),4):((4,0),1)" },
  { "ldmatrix_x1",        "ldmatrix", 16, 16, "(8,8):(64,1)", 1 },
  { "ldmatrix_x2",        "ldmatrix", 16, 16, "(16,8):(64,1)", 2 },
  { "ldmatrix_x4",        "ldmatrix", 16, 16, "(32,8):(64,1)", 4 },
  { "ldmatrix_x4_swizzled", "ldmatrix", 16, 16, "Sw<3,3,3> o 0 o (32,8):(64,1)", 4 },
  { "ldmatrix_x4_short",  "ldmatrix", 16, 16, "Sw<2,3,3> o 0 o (32,8):(32,1)", 4 },
  { "ldmatrix_x4_padded", "ldmatrix", 16, 16, "(32,8):(72,1)", 4 },
  { "write_row",          "write",    32,  4, "32:1" },
  { "write_column",       "write",    32,  4, "32:32" },
  { "write_one_word",     "write",    32,  4, "32:0" },
  { "write_u8",           "write",     8,  1, "32:1" },
  { "write_v2",           "write",    32,  8, "(32,2):(2,1)" },
  { "write_v2_column",    "write",    32,  8, "(32,2):(32,1)" },
  { "write_v2_one",       "write",    32,  8, "(32,2):(0,1)" },
  { "write_v4",           "write",    32, 16, "(32,4):(4,1)" },
  { "write_v4_column",    "write",    32, 16, "(32,4):(32,1)" },
  { "write_v4_swizzled",  "write",    32, 16, "Sw<3,2,3> o 0 o (32,4):(32,1)" },
  { "write_v4_one",       "write",    32, 16, "(32,4):(0,1)" },
}
local GLOBAL = {
  { "g_row_f32",          "gread",    32,  4, "32:1" },
  { "g_stride2",          "gread",    32,  4, "32:2" },
  { "g_stride4",          "gread",    32,  4, "32:4" },
  { "g_stride33",         "gread",    32,  4, "32:33" },
  { "g_misaligned",       "gread",    32,  4, "32:1", 1 },
  { "g_reversed",         "gread",    32,  4, "32:-1", 31 },
  { "g_broadcast",        "gread",    32,  4, "32:0", 5 },
  { "g_tile_8x4",         "gread",    32,  4, "((4,8)):((1,64))" },
  { "g_row_u8",           "gread",     8,  1, "32:1" },
  { "g_row_v2",           "gread",    32,  8, "(32,2):(2,1)" },
  { "g_row_v4",           "gread",    32, 16, "(32,4):(4,1)" },
  { "g_column_v4",        "gread",    32, 16, "(32,4):(64,1)" },
  { "g_misaligned_v4",    "gread",    32, 16, "(32,4):(4,1)", 4 },
  { "g_write_row",        "gwrite",   32,  4, "32:1" },
  { "g_write_stride4",    "gwrite",   32,  4, "32:4" },
  { "g_write_v4",         "gwrite",   32, 16, "(32,4):(4,1)" },
}

-- The bytes where threads begin.
local function offsets(A, elem, threads, offset)
  local list = {}
  for t = 0, threads - 1 do list[#list + 1] = (A(t) + offset) * elem end
  return table.concat(list, " ")
end

local function line(c, offset, threads, wavefronts, sectors)
  local A = parse(c[5])
  print(("%s %s %d %d %d %d %s"):format(c[1], c[2], c[4], threads, wavefronts, sectors,
                                        offsets(A, c[3] // 8, threads, offset)))
end

for _, c in ipairs(SHARED) do
  local A = parse(c[5])
  local r = tile.bank_conflicts(A, c[3], { kind = c[2], bytes = c[4], matrices = c[6] })
  assert(r.accesses == 1 and r.warps == 1, c[1])
  line(c, 0, A:rank() > 1 and A:get(1):size() or A:size(), r.wavefronts, 0)
end
for _, c in ipairs(GLOBAL) do
  local A, offset = parse(c[5]), c[6] or 0
  local r = tile.coalescing(A, c[3], { kind = c[2]:sub(2), bytes = c[4], offset = offset })
  assert(r.accesses == 1 and r.warps == 1, c[1])
  line(c, offset, A:rank() > 1 and A:get(1):size() or A:size(), 0, r.sectors)
end
