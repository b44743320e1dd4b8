# ampere_mutants.cmake: the kernels of cp.async and mma.sync with one mistake each, which the emulation
# has to find: for mutants.cmake.
# SPDX-License-Identifier: MIT

set(KERNELS gemm)
set(MAIN kernels/gemm/ampere.cuh)
set(ROWS spec/kernels/ampere_rows.h)
set(GUARDS WINDOW_CUH PAIRS_CUH FEED_CUH ENGINE_CUH ONE_ROW_CUH OUT_CUH AMPERE_SHAPE_CUH AMPERE_CUH)

# ---- stages

source(ampere.cuh)
mutant(short_wait ampere_f16_tn ", not "
       [[copies_wait<G::STAGES - 2>]] [[copies_wait<G::STAGES - 1>]])
mutant(no_wait ampere_f64_tn ", not "
       [[    copies_wait<G::STAGES - 2>();
]] "")
mutant(no_meeting ampere_bf16_tn ", not "
       [[    copies_wait<G::STAGES - 2>();
    __syncthreads();
]] [[    copies_wait<G::STAGES - 2>();
]])
mutant(meeting_before_the_wait ampere_f64_nt ", not "
       [[    copies_wait<G::STAGES - 2>();
    __syncthreads();
]] [[    __syncthreads();
    copies_wait<G::STAGES - 2>();
]])
mutant(no_group_of_copies ampere_i8_i8_tn "copies that nobody waited for"
       [[    if (G::FILLS || k + G::STAGES - 1 < p.slabs) load(slot);
    copies_end_group();
]] [[    if (G::FILLS || k + G::STAGES - 1 < p.slabs) load(slot);
]])
mutant(load_before_the_meeting ampere_f32_64 ", not "
       [[      wait();
      multiply(e, read, [&] { load_behind(k, write); });
]] [[      load_behind(k, write);
      copies_wait<G::STAGES - 1>();
      __syncthreads();
      multiply(e, read, [] {});
]])
mutant(load_where_it_is_read ampere_f16_nn ", not "
       [[    int read = 0, write = G::STAGES - 1;
    load_first();
#pragma unroll 1
]] [[    int read = 0, write = 0;
    load_first();
#pragma unroll 1
]])
mutant(next_stage_is_this_one ampere_f64_tt ", not "
       [[const int next = behind(read);]] [[const int next = read;]])
mutant(read_before_the_wait ampere_f64_nn ", not "
       [[    wait();
    e.read(0,]] [[    e.read(0,]])
mutant(last_slab_missing ampere_u8_u8_tn ", not "
       [[G::FILLS || k + G::STAGES - 1 < p.slabs]] [[G::FILLS || k + G::STAGES < p.slabs]])
mutant(first_slabs_not_loaded ampere_f64_16 ", not "
       [[for (int k = 0; k < G::STAGES - 1; k++) {]] [[for (int k = 0; k < G::STAGES - 2; k++) {]])

# ---- chunks by registers

mutant(put_without_meeting ampere_f16_any ", not "
       [[    for (int i = 0; i < TIMES; i++) put(i, 0), fetch(i);
    next();
    __syncthreads();
]] [[    for (int i = 0; i < TIMES; i++) put(i, 0), fetch(i);
    next();
]])
mutant(stages_without_meeting ampere_i8_i8_any ", not "
       [[        fetch(i);
      }
      next();
      __syncthreads();
]] [[        fetch(i);
      }
      next();
]])
mutant(put_where_it_is_read ampere_bf16_any ", not "
       [[put(i, (k + 1) % 2);]] [[put(i, k % 2);]])
mutant(fetched_before_it_is_put ampere_e4m3_e4m3_any ", not "
       [[        put(i, (k + 1) % 2);
        fetch(i);
]] [[        fetch(i);
        put(i, (k + 1) % 2);
]])

# ---- sums

mutant(sums_over_stages ampere_f16_tt ", not "
       [[  __syncthreads();
  if (mine && k == 0) e]] [[  if (mine && k == 0) e]])
mutant(sums_stored_at_once ampere_f64_nn ", not "
       [[  if (mine && k == 0) e.template put<PITCH, false>(to);
  __syncthreads();
]] [[  if (mine && k == 0) e.template put<PITCH, false>(to);
]])
mutant(sums_of_one_warp ampere_f32_16 ", not "
       [[turn < G::WARPS_K; turn++]] [[turn < G::WARPS_K - 1; turn++]])
mutant(sums_added_together ampere_f32_16 ", not "
       [[      if (mine && k == turn) e.template put<PITCH, true>(to);
      __syncthreads();
]] [[      if (mine && k == turn) e.template put<PITCH, true>(to);
]])
mutant(sums_of_another_row ampere_f16_tn ", not "
       [[t.m * G::M + i * G::T_M, t.n]] [[t.m * G::M, t.n]])

mutant(parts_without_meeting ampere_f32_tn_parts ", not "
       [[(all + line.row * PITCH + line.column, e, true);
  parts_meet();
]] [[(all + line.row * PITCH + line.column, e, true);
]])
mutant(part_of_k_twice ampere_f32_tn_parts ", not "
       [[(int)((part + 1) * (int64_t)p.slabs / p.parts) - from]] [[p.slabs - from]])
mutant(parts_but_the_last ampere_f32_tn_parts ", not "
       [[other < p.parts; other++]] [[other < p.parts - 1; other++]])

# ---- stream-K

mutant(sums_not_taken ampere_f32_tn ", not "
       [[  } while (G::TOGETHER ? block > first : span_of(p, block).from > start);]] [[  } while (false);]])
mutant(one_flag_not_awaited ampere_f64_tn_64 "a flag is up"
       [[int b = first + threadIdx.x; b < own;]] [[int b = first + 1 + threadIdx.x; b < own;]])
mutant(sums_of_this_block ampere_f32 ", not "
       [[(sums_of_block<typename G::sum>(p, block, SUMS));]] [[(sums_of_block<typename G::sum>(p, blockIdx.x, SUMS));]])
mutant(one_unit_later ampere_f64_nt_64 "a flag is up"
       [[(((start + 1) * p.streams - 1) / all)]] [[((start + 1) * p.streams / all)]])
mutant(taken_before_the_flag ampere_f32 "a flag is up"
       [[  if (threadIdx.x == 0) flag_wait((int32_t *)p.work + block);
]] [[
]])
mutant(tile_of_stream_k_twice ampere_f32 ", not "
       [[tile = p.streamed + block - p.streams;]] [[tile = p.streamed + block - p.streams - 1;]])
mutant(ends_of_tiles_alone ampere_f32_tn ", not "
       [[  if (s.from > at.from) take_sums<G, SUMS>(p, e, at.from);
]] "")
mutant(all_slabs_of_a_part ampere_f64_nt_64 ", not "
       [[    for (int k = 0; k < slabs(); k++) {
      const int next]] [[    for (int k = 0; k < p.slabs; k++) {
      const int next]])
mutant(next_part_over_this_one ampere_f32 ", not "
       [[    __syncthreads();
    left.to = own.from;]] [[    left.to = own.from;]])

mutant(half_of_another_row ampere_f32 ", not "
       [[    at.t.m *= 2;
]] "")
mutant(half_of_another_column ampere_f32_tn ", not "
       [[    at.t.n *= 2;
]] "")
mutant(half_of_the_slabs ampere_f32_tn ", not "
       [[from, from + p.half, 2};]] [[from, from + p.half, 1};]])
mutant(last_column_twice ampere_f32 ", not "
       [[p.half_n * (p.tiles_m - p.half_m);]] [[p.half_n * p.tiles_m;]])

# ---- what comes in: places, edges

source(feed.cuh)
mutant(one_byte_too_many ampere_f16_tn "outside"
       [[return left < 0 ? 0 : left > 16 ? 16 : left;]] [[return left <= -16 ? 0 : 16;]])
mutant(one_row_too_many ampere_i8_u8_tn "outside"
       [[    const int r = threadIdx.x / CHUNKS, c = threadIdx.x % CHUNKS * 16;
    rows = o.extent - row - r;
]] [[    const int r = threadIdx.x / CHUNKS, c = threadIdx.x % CHUNKS * 16;
    rows = o.extent - row - r + 1;
]])
mutant(window_beyond_its_memory ampere_u8_i8_any "outside"
       [[(at < end ? end : at) + left + 32 <= o.high]] [[(at < end ? end : at) + left - 32 <= o.high]])
mutant(k_left_of_a_part ampere_f64_tn_64 "a"
       [[    left -= slabs * LINE;
]] "")

source(window.cuh)
mutant(other_bytes_kept ampere_e4m3_e5m2_any ", not "
       [[if (real < 4) v.w[i] &=]] [[if (real < 0) v.w[i] &=]])
mutant(bytes_of_another_window ampere_f16_any ", not "
       [[shift % 4 * 8]] [[shift % 2 * 8]])
mutant(window_not_cut ampere_u8_i8_any "outside"
       [[p + 16 <= high]] [[p <= high]])

# ---- one row

source(one_row.cuh)
mutant(columns_beyond_the_last ampere_f32_1 "outside"
       [[column + i < b.extent ? column + i : b.extent - 1]] [[column + i]])
mutant(part_of_a_line_for_all ampere_f32_1 "outside"
       [[LINES && first + EACH <= left]] [[LINES && first < left]])
mutant(lanes_without_meeting ampere_f32_1 ", not "
       [[  for (int i = 0; i < G::T_N; i++) lanes[(column + i) * PITCH + lane_of_warp()] = c[i];
  __syncthreads();
]] [[  for (int i = 0; i < G::T_N; i++) lanes[(column + i) * PITCH + lane_of_warp()] = c[i];
]])

# ---- operands

source(engine.cuh)
mutant(halves_exchanged ampere_f16_tn ", not "
       [[const int half = IS_B ? x : y, other = IS_B ? y : x;]] [[const int half = IS_B ? x : y, other = x;]])
mutant(rows_of_k_exchanged ampere_f16_nn ", not "
       [[from + column_place<ROWS>(kk * 16 + half * 8 + lane % 8,]] [[from + column_place<ROWS>(kk * 16 + half * 8 + 7 - lane % 8,]])
mutant(next_step_not_read ampere_f32_64 ", not "
       [[c[i][j] = fmaf(x[k % 2][i], y[k % 2][j], c[i][j])]] [[c[i][j] = fmaf(x[k % 2][i], y[(k + 1) % 2][j], c[i][j])]])

# ---- what goes out

source(out.cuh)
mutant(one_column_too_many ampere_i8_i8_tn "beside C was written"
       [[if (n + column >= p.size[1]) return;]] [[if (n + column > p.size[1]) return;]])
mutant(one_row_too_many_out ampere_bf16_tn "beside C was written"
       [[p.size[0] - m < ROWS ? p.size[0] - m : ROWS;]] [[p.size[0] - m < ROWS ? p.size[0] - m + 1 : ROWS;]])
mutant(c_forgotten ampere_f64_tn ", not "
       [[if (p.beta == 0) x *= p.alpha;]] [[if (p.beta != 3) x *= p.alpha;]])
