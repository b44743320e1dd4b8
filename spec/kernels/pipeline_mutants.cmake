# pipeline_mutants.cmake: the literal pipeline with one mistake each, which the emulation has to find:
# for mutants.cmake.
# SPDX-License-Identifier: MIT

set(KERNELS gemm)
set(MAIN kernels/gemm/pipeline.cuh)
set(ROWS kernels/gemm/pipeline.cuh)
set(GUARDS PIPELINE_CUH)

source(pipeline.cuh)
mutant(no_meeting mma_16x8x16_f32_f16 ""
       [[    wait_for(ahead == 0 ? 0 : ahead - 1);
    __syncthreads();
]] [[    wait_for(ahead == 0 ? 0 : ahead - 1);
]])
mutant(short_wait mma_16x8x16_f32_f16 "" [[ahead == 0 ? 0 : ahead - 1]] [[ahead]])
mutant(fill_before_the_meeting mma_16x8x16_f32_f16 ""
       [[    wait_for(ahead == 0 ? 0 : ahead - 1);
    __syncthreads();
    if (ahead > 0) fill<OP>(memory, c, i + ahead);
]] [[    if (ahead > 0) fill<OP>(memory, c, i + ahead);
    wait_for(ahead);
    __syncthreads();
]])
mutant(another_stage mma_16x8x16_f32_f16 ""
       [[{memory, i % piped.stages}]] [[{memory, (i + 1) % piped.stages}]])
mutant(no_group_at_the_end mma_16x8x16_f32_f16 ""
       [[                           {operand == MT_A ? c.x : c.y, k});
  copies_end_group();]] [[                           {operand == MT_A ? c.x : c.y, k});
  if (i < piped.tiles[MT_K]) copies_end_group();]])
mutant(sums_of_the_last_tile mma_16x8x16_f32_f16 ""
       [[j < WORDS; j++) sums]] [[(i == blockIdx.x || j % 2) && j < WORDS; j++) sums]])
mutant(another_raster mma_16x8x16_f32_f16 "" [[piped.raster ? m : n]] [[piped.raster ? n : m]])
mutant(one_tile_of_the_mma mma_16x8x16_f32_f16 "" [[return q * here]] [[return 0 * here]])
mutant(columns_as_rows mma_16x8x16_f32_f16 ""
       [[first.x + element - y * t.rows]] [[first.x + element / t.rows]])
mutant(first_of_an_access mma_16x8x16_f32_f16 ""
       [[place_in_stage(t, stage, element[j])]] [[place_in_stage(t, stage, element[0])]])
