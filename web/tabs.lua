-- tabs.lua: the tabs of the playground: an operation each, with its fields and what they run.
-- SPDX-License-Identifier: MIT
--
-- { name, { { field, what it begins with [, list] } }, code }: $field in the code is what
-- stands there. list: of atoms, for the field to complete: "mma", "copy", "smem", "dtype".

return {
  { "layout", { { "shape", "(4,8)" }, { "stride", "(8,1)" }, { "type", "f32", "dtype" } }, [[
A = layout "$shape:$stride"
A, A:size(), A:cosize()
coalescing(A:coalesce(), "$type")    -- each thread of a warp takes one element: what does it cost?
:draw A, { bits = "$type" }]] },

  { "composition", { { "A", "(6,2):(8,2)" }, { "B", "(4,3):(3,1)" } }, [[
-- R(i) = A(B(i))
explain("composition", layout "$A", layout "$B")
:draw layout "$A"
:draw layout "$A" * layout "$B"]] },

  { "divide", { { "A", "(8,16):(16,1)" }, { "tile", "{4, 8}" } }, [[
-- mode by mode (tile,rest); zipped: a column is a tile
A = layout "$A"
logical_divide(A, $tile), zipped_divide(A, $tile)
:draw A, { tile = $tile }
:draw zipped_divide(A, $tile)]] },

  { "product", { { "block", "(2,2):(1,2)" }, { "by", "(3,4):(4,1)" } }, [[
block, by = layout "$block", layout "$by"
logical_product(block, by), blocked_product(block, by), raked_product(block, by)
:draw blocked_product(block, by)
:draw raked_product(block, by)]] },

  { "complement", { { "A", "(2,2):(1,6)" }, { "bound", "24" } }, [[
-- what A skips
explain("complement", layout "$A", $bound)
:draw layout("$A")]] },

  { "inverse", { { "A", "(4,8):(8,1)" } }, [[
explain("right_inverse", layout "$A")
explain("left_inverse", layout "$A")
:draw layout "$A"
:draw right_inverse(layout "$A")]] },

  { "swizzle", { { "B", "3" }, { "M", "3" }, { "S", "3" }, { "layout", "(8,64):(64,1)" },
                 { "type", "f16", "dtype" } }, [[
-- before and after; the banks that reading a column meets
S = swizzle($B, $M, $S) * layout "$layout"
:draw S, { bits = "$type" }
bank_conflicts(layout "$layout", "$type")
bank_conflicts(S, "$type")]] },

  { "threads, values", { { "threads", "(8,4):(4,1)" }, { "values", "(2,2)" } }, [[
-- who has what of a tile: thr and val as make_layout_tv takes them; a click isolates a thread
tiler, tv = make_layout_tv(layout "$threads", layout "$values")
tiler, tv
verify({ tv = tv, tiler = tiler }, layout{64, 64})
picture{ tv = tv, tiler = tiler }]] },

  { "MMA atom", { { "atom", "SM80_16x8x16_F32F16F16F32_TN", "mma" } }, [[
-- A at the left, B above, C in the corner; a click isolates a thread
:draw "$atom"
mma_atom "$atom"]] },

  { "tiled MMA", { { "atom", "SM80_16x8x16_F32F16F16F32_TN", "mma" }, { "atoms", "{2, 2}" },
                   { "permutation", "{_, 32}" } }, [[
mma = tiled_mma{ atom = "$atom", atoms = layout$atoms, permutation = $permutation }
mma
verify(mma, layout({1000, 300}, "right"), "C")
:draw mma, { part = "C" }]] },

  { "copy atom", { { "atom", "SM75_U32x4_LDSM_N", "copy" } }, [[
-- who reads what, who writes what
:draw "$atom"
copy_atom "$atom"]] },

  { "tiled copy", { { "atom", "UniversalCopy<uint128_t>", "copy" }, { "type", "f16", "dtype" },
                    { "threads", "{16, 8}" }, { "values", "{8, 1}" },
                    { "tensor", "{128, 64}" } }, [[
load = tiled_copy{ atom = "$atom", dtype = "$type", thr = layout$threads, val = layout$values }
verify(load, layout$tensor)
coalescing(load, layout$tensor)      -- sectors of 32 bytes of each access
:draw load]] },

  { "banks", { { "smem", "({64, 64}, \"right\")" }, { "atom", "SM75_U32x4_LDSM_N", "copy" } }, [[
-- ldmatrix for an MMA out of shared memory: its conflicts, and the swizzle that ends them
mma = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout{2, 2},
                 permutation = {_, 32} }
load = make_tiled_copy_A("$atom", mma)
smem = layout$smem
bank_conflicts(load, smem, "S")
best = find_swizzle{ smem = smem, read = load }
best, bank_conflicts(load, best, "S").conflicts
:draw load, { banks = smem, part = "S" }
:draw load, { banks = best, part = "S" }]] },

  { "prove", { { "tensor", "({1000, 300}, \"right\")" }, { "threads", "(8,4):(4,1)" },
               { "values", "(2,4)" } }, [[
tiler, tv = make_layout_tv(layout "$threads", layout "$values")
verify({ tv = tv, tiler = tiler }, layout$tensor)
-- and one that is wrong
verify({ tv = layout({4, 4}, {4, 2}), tiler = {4, 4} }, layout$tensor)]] },

  { "run a copy", { { "source", "({4, 6}, \"right\")" }, { "destination", "{4, 6}" },
                    { "type", "f32", "dtype" } }, [[
src, dst = tensor("i32", layout$source), tensor("$type", layout$destination);
for i = 0, src:size() - 1 do src:set(i, i) end
tile.copy(src, dst)
src
dst
plan(src, dst)]] },

  { "run a product", { { "M", "4" }, { "N", "3" }, { "K", "8" } }, [[
-- C = A B for A (M,K), B (N,K), C (M,N)
A, B = tensor("f16", layout({$M, $K}, "right")):fill(1), tensor("f16", layout({$N, $K}, "right"));
for n = 0, $N - 1 do for k = 0, $K - 1 do B[{n, k}] = n + 1 end end
C = tensor("f32", layout({$M, $N}, "right"));
gemm(A, B, C)
C
-- the same as the threads of an MMA do it
mma = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" };
gemm(mma, A, B, C:fill(0))
C]] },
}
