# hopper_mutants.cmake: the kernels of TMA and wgmma with one mistake each, which the emulation has to
# find: for mutants.cmake.
# SPDX-License-Identifier: MIT

set(KERNELS gemm)
set(MAIN kernels/gemm/hopper.cuh)
set(ROWS spec/kernels/hopper_rows.h)
set(GUARDS WINDOW_CUH PAIRS_CUH BY_MAP_CUH BY_ROWS_CUH BY_WORDS_CUH LATE_CUH LOADING_CUH MULTIPLYING_CUH PARTS_CUH CLEARING_CUH STREAM_K_CUH
    TURNED_CUH
    HOPPER_CUH)

# ---- the copy engine reads what threads wrote

source(by_map.cuh)
mutant(no_proxy_fence hopper_bf16_tn_64 "without a fence for copies"
       [[  fence_for_copies();
]] "")
mutant(no_wait_for_reads hopper_bf16_tn_128 "what a store of warp"
       [[  if (is_one_lane()) tma_store_wait_read<TWO>();
]] "")
mutant(short_wait_for_reads hopper_f16_f32_tn_128 "what a store of warp"
       [[tma_store_wait_read<TWO>]] [[tma_store_wait_read<2>]])
mutant(no_meeting_after_reads hopper_bf16_f32_tn_64 "what a store of warp"
       [[  if (is_one_lane()) tma_store_wait_read<TWO>();
  __syncwarp();
]] [[  if (is_one_lane()) tma_store_wait_read<TWO>();
]])
mutant(no_meeting_before_stores hopper_bf16_tn_64 "without a fence for copies"
       [[  fence_for_copies();
  __syncwarp();
]] [[  fence_for_copies();
]])
mutant(no_group_of_stores hopper_f16_tn_64 "stores in no group"
       [[    tma_store_commit();
]] "")
mutant(no_swizzle_out hopper_f16_tn_64 ", not "
       [[((2 * j + lane / 16) ^ lane % 8) << 4]] [[(2 * j + lane / 16) << 4]])
mutant(swizzle_of_other_rows hopper_tf32_64 ", not "
       [[((2 * j + lane % 4 / 2) ^ row) << 4]] [[((2 * j + lane % 4 / 2) ^ row % 4) << 4]])

# ---- an epilogue

mutant(bias_of_the_first_columns hopper_bf16_tn_128_epilogue ", not "
       [=[alpha, bits[u], bias.dtype]=] [=[alpha, bits[0], bias.dtype]=])
mutant(bias_of_a_neighbour hopper_bf16_tn_64_epilogue ", not "
       [[(FIRST / 4 + i / 2) * 8 + pair + i % 2]] [[(FIRST / 4 + i / 2) * 8 + pair]])
mutant(rows_of_bias_exchanged hopper_bf16_tn_64_epilogue ", not "
       [=[y[i / 2 % 2]]=] [=[y[i % 2]]=])
mutant(side_of_the_unit_before hopper_bf16_tn_256_sides ", not "
       [[read_words<SIZE>(w, from, u + COUNT, left)]] [[read_words<SIZE>(w, from, u, left)]])
mutant(columns_beside_the_side hopper_bf16_tn_64_epilogue ", not "
       [[left.columns - u * UNIT]] [[left.columns - u * UNIT - 2]])
mutant(two_of_one_piece hopper_bf16_tn_64_epilogue "what a store of warp"
       [[if (N > 2 * UNIT || wide)]] [[if (N > 1 * UNIT || wide)]])
mutant(sums_scaled_twice hopper_bf16_tn_64_epilogue ", not "
       [=[p.beta != 0 ? 1 : alpha;]=] [=[alpha;]=])
mutant(sums_stay_where_they_are hopper_bf16_tn_256_sides ", not "
       [=[c[i] = c[i + COUNT];]=] [=[c[i] = c[i];]=])

# ---- the end of a block

source(hopper.cuh)
mutant(no_wait_at_the_end hopper_f16_tn_64 "ends while its stores may still read"
       [[  if (MT_HOPPER_STORES(H::N) && is_one_lane()) tma_store_wait<0>();
]] "")

# ---- what is kept of a tile

mutant(last_tile_kept hopper_bf16_tn_256 ", not "
       [[last = tile + clusters >= p.tiles]] [[last = tile > p.tiles]])
mutant(kept_where_slabs_are_few hopper_bf16_tn_256_alone "all wait"
       [[!last && slabs >= kept_type::SLABS]] [[!last]])
mutant(slabs_of_what_was_kept hopper_tf32_256 "all wait"
       [[  return KEPT::STEPS;
]] [[  return 0;
]])
source(late.cuh)
mutant(first_piece_again hopper_bf16_tn_256 ", not "
       [[w + i * PIECE_WORDS, pieces, FIRST + i]] [[w, pieces, FIRST + i]])
mutant(kept_piece_of_the_first hopper_s8_256_alone ", not "
       [[pieces, FIRST + i, m, n, l]] [[pieces, i, m, n, l]])
mutant(kept_row_of_the_first_tile hopper_f16_tn_256 ", not "
       [[m = m_, n = n_,]] [[m = any ? m : m_, n = n_,]])
mutant(bias_of_the_first_round hopper_bf16_tn_256_linear ", not "
       [[read_bias<N>(bias, p, m_, n_ + HALF, l_)]] [[read_bias<N>(bias, p, m_, n_, l_)]])
mutant(bias_of_the_tile_before hopper_f16_tn_256_linear ", not "
       [[    read_bias<N>(bits, p, m_, n_, l_);
]] "")
mutant(bias_of_the_first_half_kept hopper_bf16_tn_256_linear ", not "
       [[    if (step == 0) read_second(p, m, n, l);
]] "")
mutant(half_into_what_goes_out hopper_bf16_tn_256_linear "what a store of warp"
       [[    if (!MAPPED && p.dtype != MT_f32) begin_piece<false>();
]] "")
mutant(first_half_kept hopper_bf16_nt_256_linear ", not "
       [=[k.c[i] = c[R::UNITS * UNIT_SUMS + i];]=] [=[k.c[i] = c[i];]=])
mutant(kept_half_in_place_of_the_first hopper_f16_tn_256_linear ", not "
       [[UNITS + i, i % 2, m, n, l]] [[i, i % 2, m, n, l]])
mutant(side_of_the_first_columns hopper_bf16_tn_256_linear_mapped ", not "
       [[map, bar, n + i * 2 * UNIT, m,]] [[map, bar, n, m,]])
mutant(side_of_another_batch hopper_f16_tn_256_linear_mapped ", not "
       [[p.beta != 0 ? l : l * p.side_step]] [[p.beta != 0 ? l : 0]])
mutant(side_before_it_comes hopper_bf16_tn_256_linear_mapped "did not wait for the load"
       [[    if (MAPPED) k.side.wait(half);
]] "")
mutant(second_half_before_it_comes hopper_bf16_nt_256_linear_mapped "did not wait for the load"
       [[    if (MAPPED && step == LEAD) side.wait(1);
]] "")
mutant(second_half_at_the_end_by_the_first hopper_bf16_tn_256_linear_mapped ", not "
       [=[    for (int i = 0; i < R::UNITS * UNIT_SUMS; i++) c[i] = k.c[i];
]=] "")
mutant(end_at_the_first_columns hopper_f16_tn_256_gelu_mapped ", not "
       [[end_pieces(p, to, m, n + half * R::HALF, l);]] [[end_pieces(p, to, m, n, l);]])
mutant(second_half_over_the_first hopper_bf16_tn_256_linear "what a store of warp"
       [[uint32_t to = half == 0 ? pieces : others]] [[uint32_t to = pieces]])
mutant(part_of_a_unit_twice hopper_bf16_tn_256_silu ", not "
       [[finish<1>(p, pieces, i);]] [[finish<0>(p, pieces, i);]])
mutant(side_over_what_goes_out hopper_bf16_tn_256_linear_mapped "what a store of warp"
       [[    tma_store_wait_read<0>();
    barrier_expect]] [[    barrier_expect]])
mutant(half_a_side_expected hopper_bf16_tn_256_linear_mapped "all wait"
       [[barrier_expect(bar, 2 * MT_WARP_PIECE)]] [[barrier_expect(bar, 3 * MT_WARP_PIECE)]])
mutant(pieces_without_a_fence hopper_f16_tn_256_linear "without a fence for copies"
       [[  fence_for_copies();
]] "")
mutant(residual_by_the_map_of_d hopper_bf16_tn_256_linear_mapped ", not "
       [[p.beta != 0 ? &p.d : &p.side]] [[&p.d]])
mutant(second_half_asked_by_one_alone hopper_bf16_tn_256_linear_mapped "all wait"
       [[      __syncwarp();
      k.side.ask(p, others]] [[      k.side.ask(p, others]])
source(hopper.cuh)
mutant(pieces_of_two_warps hopper_bf16_tn_256_gelu "an"
       [[warp_of_block() % 4 * H::STAGE]] [[threadIdx.x / 32 % 2 * H::STAGE]])
mutant(side_asked_a_slab_late hopper_bf16_tn_256_linear_mapped "all wait"
       [[k == next) second();]] [[k == next + 1) second();]])
mutant(part_of_a_side_again hopper_bf16_tn_256_sides ", not "
       [[(next, p, i, STEPS, m, n, l)]] [[(next, p, 0, STEPS, m, n, l)]])

# ---- stages: barriers and parities

source(loading.cuh)
mutant(loader_waits_for_the_first_round hopper_bf16_tn_64 "all wait"
       [[ring_place<H::STAGES> at = {0, 1}]] [[ring_place<H::STAGES> at = {0, 0}]])
source(hopper.cuh)
mutant(multipliers_do_not_wait hopper_s8_64 "did not wait for the load"
       [[bars, rows, {0, 0}, -1}]] [[bars, rows, {0, 1}, -1}]])
source(loading.cuh)
mutant(parity_stays hopper_bf16_tn_128 "more arrivals than the barrier counts"
       [[if (++slot == STAGES) slot = 0, parity ^= 1]] [[if (++slot == STAGES) slot = 0]])
source(hopper.cuh)
source(multiplying.cuh)
mutant(no_wait_for_loads hopper_u8_64 "did not wait for the load"
       [[    barrier_wait(full_at<H::STAGES>(bars, at.slot), at.parity);
]] "")
source(loading.cuh)
mutant(no_wait_for_readers hopper_bf16_tn_64 "more arrivals than the barrier counts"
       [[    wait_for_room<H>(bars, at);
]] "")
mutant(room_of_the_first_of_two hopper_bf16_tn_16 "may still multiply"
       [[at.slot | 1 : at.slot]] [[at.slot & ~1 : at.slot]])
mutant(too_few_bytes hopper_e4m3_bf16_64 "all wait"
       [[barrier_expect(full, all_bytes)]] [[barrier_expect(full, of_a)]])
mutant(too_many_bytes hopper_e5m2_bf16_64 "all wait"
       [[barrier_expect(full, all_bytes)]] [[barrier_expect(full, all_bytes + 16)]])
source(hopper.cuh)
source(multiplying.cuh)
mutant(early_release hopper_bf16_tn_64 "may still multiply"
       [[    wgmma_wait<1>();
    if (before >= 0) release<H>(bars, before);
    before = at.slot;
    at.next();
  }
  MT_INLINE void finish (typename H::sum *c) {
    wgmma_wait<0>();
    wgmma_settle<H::SUMS>(c);
    release<H>(bars, before);
]] [[    release<H>(bars, at.slot);
    wgmma_wait<1>();
    before = at.slot;
    at.next();
  }
  MT_INLINE void finish (typename H::sum *c) {
    wgmma_wait<0>();
    wgmma_settle<H::SUMS>(c);
]])
mutant(no_last_release hopper_bf16_tn_64 "all wait"
       [[    wgmma_settle<H::SUMS>(c);
    release<H>(bars, before);
]] [[    wgmma_settle<H::SUMS>(c);
]])
mutant(two_threads_release hopper_bf16_tn_64 "may still multiply"
       [[  if (t < H::CLUSTER) {
]] [[  if (t < H::CLUSTER + 1) {
]])
mutant(stage_of_another hopper_bf16_tn_64 "did not wait for the load"
       [[    const uint32_t stage = ring + at.slot * H::STAGE;
]] [[    const uint32_t stage = ring + (at.slot + 1) % H::STAGES * H::STAGE;
]])
source(hopper.cuh)
mutant(no_fence_of_barriers hopper_bf16_tn_64 "no fence has shown"
       [[    barrier_init_fence();
  } else if]] [[  } else if]])
mutant(nobody_meets_at_the_start hopper_bf16_tn_256_alone "may not be there yet"
       [[  else __syncthreads();
]] "")

# ---- wgmma

source(multiplying.cuh)
mutant(short_wait hopper_bf16_tn_64 "may still multiply"
       [[wgmma_wait<1>()]] [[wgmma_wait<2>()]])
mutant(no_wait_for_sums hopper_bf16_tn_64 "while wgmma has its registers"
       [[  wgmma_wait<0>();
]] "")
mutant(no_fence_of_registers hopper_bf16_tn_64 "without a fence since"
       [[  wgmma_fence();
]] "")
mutant(no_group_of_products hopper_bf16_tn_64 "while wgmma has its registers"
       [[  wgmma_commit();
]] "")
mutant(lbo_and_sbo_exchanged hopper_bf16_tn_128_alone "did not wait for the load"
       [[operand(b, MT_CHUNK, 1024)]] [[operand(b, 1024, MT_CHUNK)]])
mutant(lbo_and_sbo_exchanged_mn hopper_bf16_nt_128 ", not "
       [[operand(a, MT_CHUNK, 1024), from_b = operand(b, MT_CHUNK, 1024)]]
       [[operand(a, MT_CHUNK, 1024), from_b = operand(b, H::B_MN ? 1024 : MT_CHUNK, H::B_MN ? MT_CHUNK : 1024)]])
mutant(swizzle_of_64_bytes hopper_bf16_tn_64 ", not "
       [[(uint64_t)1 << 62]] [[(uint64_t)2 << 62]])
mutant(step_of_other_major hopper_f16_nn_64 ", not "
       [[STEP_A = H::A_MN ? 2048 / 16 : 2]] [[STEP_A = H::A_MN ? 2 : 2048 / 16]])
mutant(sums_forgotten hopper_bf16_tn_64 ", not "
       [[!first || k > 0);]] [[!first);]])
mutant(sums_kept hopper_bf16_tn_64 ", not "
       [[!first || k > 0);]] [[true);]])
source(hopper.cuh)
mutant(rows_of_the_other_half hopper_bf16_tn_64 ", not "
       [[const uint32_t rows = group * MT_GROUP_ROWS * MT_SLAB]] [[const uint32_t rows = 0 * group]])

# ---- clusters

source(loading.cuh)
mutant(half_of_b_twice hopper_bf16_tn_128 "did not wait for the load"
       [[b + above * PART * MT_SLAB]] [[b]])
mutant(multicast_to_one hopper_bf16_tn_256 "all wait"
       [[(1 << H::CLUSTER) - 1 : 0]] [[1 : 0]])
source(hopper.cuh)
mutant(only_own_readers hopper_bf16_tn_128 "may still multiply"
       [[MT_MULTIPLIERS * H::CLUSTER]] [[MT_MULTIPLIERS]])
source(multiplying.cuh)
mutant(release_of_own_only hopper_f16_tn_256 "did not wait for the load"
       [[barrier_arrive(free_at<H::STAGES>(bars, slot), t)]] [[barrier_arrive(free_at<H::STAGES>(bars, slot))]])
source(hopper.cuh)
mutant(no_meeting_at_the_start hopper_bf16_tn_128 "may not be there yet"
       [[  if constexpr (H::CLUSTER > 1 || H::SPLITS) cluster_meet();
  else __syncthreads();
]] [[  __syncthreads();
]])
mutant(no_meeting_at_the_end hopper_bf16_tn_128 "block "
       [[  if constexpr (H::CLUSTER > 1 || H::SPLITS) cluster_meet();
}
]] [[}
]])

mutant(waits_apart hopper_bf16_tn_64 "before all of the block did"
       [[  if (group == 0) {
    registers_give<H::LATE_ENDS ? 24 : 40>();
    if (warp_of_block() == 0 && is_one_lane()) {
      if constexpr (H::STREAM_K) produce_shares<H>(p, ring, bars);
      else produce<H>(p, first, ring, bars);
    }
    __syncwarp();
  } else {
]] [[  cluster_arrive();
  if (group != 0) cluster_wait();
  if (group == 0) {
    registers_give<H::LATE_ENDS ? 24 : 40>();
    if (warp_of_block() == 0 && is_one_lane()) {
      if constexpr (H::STREAM_K) produce_shares<H>(p, ring, bars);
      else produce<H>(p, first, ring, bars);
    }
    __syncwarp();
    cluster_wait();
  } else {
]])

# ---- parts of K

source(parts.cuh)
mutant(sums_not_waited_for hopper_bf16_tn_64 "it reads what nobody wrote"
       [[    barrier_wait(of_warp(joined), turn & 1);
]] "")
mutant(own_sums_expected hopper_bf16_tn_64 "all wait"
       [[(parts - 1) * ROOM + besides);]] [[parts * ROOM + besides);]])
mutant(sums_of_a_block_not_expected hopper_bf16_tn_64_epilogue "all wait"
       [[barrier_expect(joined, (parts - 1) * ROOM + besides)]]
       [[barrier_expect(joined, (parts - 1) * ROOM / 2 + besides)]])
mutant(sums_overwritten hopper_bf16_tn_64 "did not wait for the load"
       [[    if (turn > 0) barrier_wait_acquire(taken, (turn - 1) & 1);
]] "")
mutant(taken_before hopper_bf16_tn_64 "all wait"
       [[barrier_wait_acquire(taken, (turn - 1) & 1)]] [[barrier_wait_acquire(taken, turn & 1)]])
mutant(taken_in_one_block hopper_bf16_tn_64 "may still read"
       [[barrier_arrive_release(taken, lane)]] [[barrier_arrive(taken, lane)]])
mutant(taken_heard_in_one_block hopper_bf16_tn_64 "may still read"
       [[barrier_wait_acquire(taken, ]] [[barrier_wait(taken, ]])
mutant(taken_by_one_lane hopper_bf16_tn_64 "may still read"
       [[    __syncwarp();
    const uint32_t lane]] [[    const uint32_t lane]])
mutant(a_part_missing hopper_bf16_tn_64 ", not "
       [[for (uint32_t block = 0; block < parts; block++)]] [[for (uint32_t block = 1; block < parts; block++)]])
mutant(room_of_what_goes_out hopper_bf16_tn_64 "a store of warp"
       [[(block + (block < home)) * ROOM]] [[(block - (block > home)) * ROOM]])
mutant(home_of_another hopper_bf16_tn_64 "all wait"
       [[home, joined, bits_of(c[i])]] [[(home + 1) % parts, joined, bits_of(c[i])]])
source(hopper.cuh)
source(loading.cuh)
mutant(slab_of_two_parts hopper_s8_128_alone ", not "
       [[(int)shared_by((rank + 1) * slabs, p.parts)]] [[(int)shared_by((rank + 1) * slabs, p.parts) + (rank + 1 < (uint32_t)p.parts)]])

# ---- rows that are not there

source(clearing.cuh)
mutant(zeros_that_loads_do_not_see hopper_bf16_nt_256_rows "it loads over what threads wrote"
       [[  fence_for_copies();
]] "")

# ---- tiles, edges, launches

source(loading.cuh)
mutant(edge_by_whole_boxes hopper_bf16_tn_128_alone "all wait"
       [[bytes == ROWS * MT_SLAB ? map : edge;]] [[map;]])
mutant(whole_boxes_as_edges hopper_bf16_tn_128_alone ", not "
       [[left >= ROWS) return ROWS * MT_SLAB]] [[left > ROWS) return ROWS * MT_SLAB]])
mutant(edge_of_the_other hopper_bf16_tn_64 ", not "
       [[p.edge[I] * MT_SLAB;]] [[p.edge[1 - I] * MT_SLAB;]])
mutant(last_boxes_missing hopper_bf16_nt_128_alone ", not "
       [[(left + H::K - 1) / H::K * MT_CHUNK]] [[left / H::K * MT_CHUNK]])
mutant(own_half_expected hopper_bf16_tn_128 "all wait"
       [[p, t.n * H::N + i * PART);]] [[p, n);]])

mutant(terms_exchanged hopper_tf32_64 ", not "
       [[term == p.terms - 2 ? &p.a_rest]] [[term == p.terms - 3 ? &p.a_rest]])
mutant(batch_of_a_shared hopper_bf16_tn_64 ", not "
       [[t.l * p.b_step, false, all]] [[t.l, false, all]])
source(hopper.cuh)
mutant(before_the_launch hopper_bf16_tn_64 "before what went before the launch"
       [[  grid_wait();
]] "")
mutant(place_of_the_same_tile hopper_bf16_tn_256 ", not "
       [[if (!last) then = place(tile_of(p, tile + clusters));]] "")
mutant(registers_that_nobody_has hopper_bf16_tn_64 "all wait"
       [[H::LATE_ENDS ? 240 : 232]] [[240]])
mutant(shared_memory_of_another hopper_bf16_tn_64 "is outside of"
       [[BARRIERS = OUT + MT_HOPPER_OUT(N, CLUSTER, TURNED)]] [[BARRIERS = OUT + MT_HOPPER_OUT(N, CLUSTER, TURNED) + 1024]])
mutant(ring_not_aligned hopper_bf16_tn_64 "where its swizzle does"
       [[+ 1023) & ~1023u]] [[+ 511) & ~511u]])

# ---- by rows

source(by_rows.cuh)
mutant(one_column_too_many hopper_bf16_tn_16 "beside C was written"
       [=[x.real = p.size[1] - x.column;]=] [=[x.real = p.size[1] - x.column + 1;]=])
mutant(one_row_too_many hopper_bf16_tn_16 "beside C was written"
       [=[left = p.size[0] - row;]=] [=[left = p.size[0] - row + 1;]=])
mutant(pieces_of_the_first hopper_bf16_tn_256_rows ", not "
       [[c + i * P::PAIRS]] [[c]])
mutant(pairs_do_not_trade_places hopper_bf16_tn_64 ", not "
       [[store_words(to + P::place(row + 8 * half, 4 * j + pair)]]
       [[store_words(to + ((row + 8 * half) * P::PAIRS + 4 * j + pair) * 8]])

source(by_words.cuh)
mutant(words_before_they_are_there hopper_bf16_f32_tn_256_rows "wrote"
       [[c, q, (float)p.alpha);
    __syncwarp();
]] [[c, q, (float)p.alpha);
]])
mutant(words_beyond_a_row hopper_f16_tn_128 "beside C was written"
       [[left < WIDTH]] [[left < 0]])
mutant(line_of_a_neighbour hopper_f16_tn_256_rows "beside C was written"
       [[at[k] + D_LINE <= d.bytes]] [[at[k] < d.bytes]])
mutant(line_that_is_not_shared hopper_bf16_tn_256_rows ", not "
       [[if (at % D_LINE != 0) load_four]] [[if (at % D_LINE > 8) load_four]])
mutant(no_ends_of_rows hopper_bf16_tn_256_rows ", not "
       [[if (p.d_width == SIZE) store_ends]] [[if (p.d_width == 4) store_ends]])
mutant(unit_of_the_first hopper_tf32_256_rows ", not "
       [[x[k] = c[i * P::SUMS + k];]] [[x[k] = c[k];]])

source(pairs.cuh)
mutant(pairs_that_are_not_together hopper_bf16_tn_16 ", not "
       [=[stride[1] == 1 && size < 8]=] [=[size < 8]=])

# ---- turned

source(turned.cuh)
mutant(halves_stay_where_they_are hopper_bf16_tn_160_turned ", not "
       [[(lane / 8 % 2 ^ lane / 4 % 2) << 4]] [[(lane / 8 % 2) << 4]])
mutant(rows_below_first hopper_f16_nn_160_turned_alone ", not "
       [[(lane / 8 % 2 ^ lane / 4 % 2) << 4]] [[(lane / 8 % 2 == lane / 4 % 2) << 4]])
mutant(columns_of_the_other_matrix hopper_bf16_tn_160_turned_alone ", not "
       [[lane / 16 * 8 + lane % 8]] [[(1 - lane / 16) * 8 + lane % 8]])
mutant(units_that_are_still_read hopper_bf16_tn_160_turned "what a store of warp"
       [[  begin_piece<false>(); /* what went out before has been read */
]] "")
mutant(turned_side_over_what_goes_out hopper_bf16_tn_160_turned_epilogue "what a store of warp"
       [[  tma_store_wait_read<0>();
  if (p.parts == 1)]] [[  if (p.parts == 1)]])
mutant(side_that_nobody_waits_for hopper_bf16_tn_160_turned_alone_epilogue "did not wait for the load"
       [[(p.parts == 1) barrier_expect(bar, bytes);]] [[(p.parts == 1) barrier_expect(bar, 0);]])
mutant(side_of_one_unit hopper_bf16_tn_160_turned_alone_epilogue ", not "
       [[units + u * TURNED_UNIT, (float)p.beta);]]
       [[units, (float)p.beta);]])
mutant(side_of_a_unit_too_few hopper_bf16_tn_160_turned_epilogue ", not "
       [[(columns + UNIT - 1) / UNIT]] [[columns / UNIT]])
mutant(columns_of_the_first_unit hopper_e4m3_bf16_160_turned ", not "
       [[n + u * UNIT, m, l]] [[n, m, l]])
mutant(coordinates_not_turned hopper_bf16_tn_160_turned ", not "
       [[n + u * UNIT, m, l]] [[m, n + u * UNIT, l]])
mutant(bias_of_no_column hopper_bf16_tn_160_turned_alone_epilogue ", not "
       [[  scale_units<N / UNIT>(c, reads ? 1 : (float)p.alpha, bias, p.finish.side[MT_BIAS]);]]
       [[  scale_all<N / 2>(c, reads ? 1 : (float)p.alpha);]])
source(by_map.cuh)
mutant(one_round_of_four hopper_bf16_tn_160_turned_alone_epilogue ", not "
       [[alpha, bits[u], bias.dtype]] [[alpha, bits[u % 4], bias.dtype]])

# ---- stream-K

source(stream_k.cuh)
mutant(sums_of_one_cluster hopper_bf16_tn_160_turned "a flag that nobody put down"
       [[const int first = (int)of_warp((uint32_t)own.first_of(p, row));]]
       [[const int first = own.number - 1;]])
mutant(one_cluster_not_added hopper_bf16_tn_192_turned ", not "
       [[g >= first; g--)]] [[g > first; g--)]])
mutant(nobody_waits_for_sums hopper_bf16_tn_160_turned "a flag that nobody put down"
       [[    flags_wait(mine < own.number ? of_group(mine).flag : nullptr);]] [[    (void)mine;]])
mutant(group_before_the_row hopper_bf16_tn_160_turned "a cluster waits for one"
       [[row * p.slabs + 1) * all - 1) / units]] [[row * p.slabs) * all) / units]])
mutant(beginning_not_taken hopper_f16_nn_192_turned "a flag that nobody put down"
       [[    if (own.from > 0) take_sums<H>(p, c, own.row, warp);
]] "")
mutant(sums_begin_with_the_tile hopper_bf16_tn_160_turned ", not "
       [[k == own.from]] [[k == 0]])
mutant(one_flag_for_all_warps hopper_bf16_tn_160_turned "a flag that nobody put down"
       [[flag = (int32_t *)p.work + at;]] [[flag = (int32_t *)p.work + at / 8;]])
