-- moontile.console.tour - a short tour: a sentence, then code that is run before your eyes.
-- SPDX-License-Identifier: MIT

return {
  { "A layout is a function from coordinates to offsets, shape:stride. Coordinates count from 0.",
    "A = layout({4, 8}, {8, 1})", "A(2, 3)", "A(14)", ":draw A" },
  { "Shapes nest. A coordinate may be an index, one for each mode, or nested as the shape is.",
    "B = layout({4, {2, 2}}, {2, {1, 8}})", "B(5), B(1, 1), B(1, {1, 0})", "B[2], #B, B:size()" },
  { "A * B is the composition A(B(i)): the answer is exact, or it is said why there is none.",
    "layout(20, 2) * layout({4, 5}, {1, 4})", "layout '(4,6,8):(2,3,5)' * layout(6, 3)",
    ":explain layout(24, 2) * layout(4, 3)" },
  { "A / T cuts a layout into tiles. A table as a tiler is by mode.",
    "layout(24, 2) / layout(4, 2)", "layout{8, 24}:zipped_divide{4, 8}" },
  { "A tensor is a layout and memory. Views share it; _ is a whole mode.",
    "T = tensor('i32', layout({3, 4}, 'right')):fill{ 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11 }",
    "T", "T(_, 1)", "T:select(2, 1)" },
  { "A tiled MMA says which thread has what of A, B, C. Atoms have CuTe's names: try the Tab key.",
    "mma = tiled_mma{ atom = 'SM80_16x8x16_F32F16F16F32_TN', atoms = layout{2, 2} }",
    "mma:tile_shape(), mma:size()", ":draw mma:atom(), { part = 'C', rows = 8 }",
    "mma:get_slice(5):partition_C(layout{64, 32})",
    "verify(mma, layout{1000, 300}, 'C')" },
  { "Shared memory has 32 banks. A swizzle spreads a column over them.",
    "bank_conflicts(layout(32, 32), 'f32').conflicts",
    "bank_conflicts(swizzle(5, 0, 5) * layout(32, 32), 'f32').conflicts" },
  { "And it runs, here or on a GPU. That was the tour: ? lists all names, ?name says more of one.",
    "P, Q = tensor('f32', layout{2, 3}):fill(2), tensor('f32', layout{4, 3}):fill(5)",
    "einsum('mk,nk->mn', P, Q)" },
}
