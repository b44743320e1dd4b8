# copy_mutants.cmake: the kernels that copy with one mistake each, which the emulation has to find: for
# mutants.cmake.
# SPDX-License-Identifier: MIT

set(KERNELS copy)
set(MAIN kernels/copy/algos.cuh)
set(ROWS spec/kernels/copy_rows.h)
set(GUARDS MT_ALGOS_CUH BASE_CUH PLACE_CUH PIXELS_CUH COPY_CUH TILE_CUH PERMUTE_CUH PERMUTE_COLLECT_CUH
           PERMUTE_RUNS_CUH PERMUTE_UNALIGNED_CUH PERMUTE_LISTED_CUH BITS_CUH GATHER_CUH STAGED_CUH STAGED_ROWS_CUH STAGED_TABLES_CUH ROWS_CUH WEAVE_CUH PACK_CUH)

# ---- places

source(place.cuh)
mutant(digit_without_remainder copy_strided_u32 ""
       [[    t.step(d.axis[i], n - q * (uint32_t)d.axis[i].extent);
    n = q;
  }
  t.step(d.axis[i], n);
}

/* The same for N]] [[    t.step(d.axis[i], n);
    n = q;
  }
  t.step(d.axis[i], n);
}

/* The same for N]])

# ---- pixels, accesses one by one

source(pixels.cuh)
mutant(pair_exchanged copy_strided_u8 ""
       [[(data[u] | data[u + 1] << 8)]] [[(data[u + 1] | data[u] << 8)]])
mutant(pairs_anywhere copy_strided_u8 ""
       [[all % 2 == 0;]] [[all != 0;]])
mutant(pairs_of_units_apart copy_strided_u8 ""
       [[d.axis[0].stride[MT_DST] == 1 &&]] [[]])
mutant(pixels_beyond_the_last copy_strided_u8 ""
       [[    if (n + k * blockDim.x < end)
      put_pixel]] [[    if (n < end)
      put_pixel]])
mutant(one_turn_of_pixels copy_strided_u32 ""
       [[  for (block_turns t(count, each); t.first < count; t.first += t.step) {]]
       [[  for (block_turns t(count, each); t.first < each; t.first += t.step) {]])
mutant(turns_of_another_block copy_strided_u8 ""
       [[first = (uint64_t)blockIdx.x * turn;]] [[first = (uint64_t)blockIdx.x * each;]])
mutant(words_that_begin_anywhere copy_strided_u8 "" [[((uintptr_t)dst & 3) == 0;]] [[dst != nullptr;]])
mutant(words_of_a_lower_byte copy_strided_u8 ""
       [[    low -= (int32_t)((uintptr_t)(src + low) & 3);
]] "")
mutant(last_words_beyond_the_buffer copy_strided_u8 ""
       [[groups = (pixels - 1) / 4,]] [[groups = pixels / 4,]])
mutant(last_pixels_forgotten copy_strided_u8 "" [[if (blockIdx.x == 0)]] [[if (blockIdx.x == 1)]])
mutant(upper_words_forgotten copy_strided_u8 "" [[(at < 8 ? k : k + 4)]] [[(at < 9 ? k : k + 4)]])
mutant(words_before_the_buffer copy_strided_u8 "" [[src >= (const char *)p.base[MT_SRC] &&]] "")
mutant(vectors_that_begin_anywhere copy_strided_u8 "" [[step == 4 && ((uintptr_t)src & 15) == 0;]] [[step == 4;]])
mutant(vector_of_three_words copy_strided_u8 "" [[count == 4 && ((uintptr_t)dst & 15)]] [[count >= 3 && ((uintptr_t)dst & 15)]])
mutant(groups_beyond_the_last copy_strided_u8 ""
       [[if (group < end) store_words]] [[if (n < end) store_words]])
mutant(selectors_without_meeting copy_strided_u8 ""
       [[select_of(p.desc, w, threadIdx.x);
  __syncthreads();
]] [[select_of(p.desc, w, threadIdx.x);
]])
mutant(sectors_behind_the_buffer copy_strided_u8 "" [[ask_for(dst);]] [[ask_for(dst + 255);]])
source(strided.cuh)
mutant(value_without_its_run copy_described_u16 ""
       [[if (d.nval > 1) walk(at, d, first + 1, end, run);]] [[if (d.nval > 2) walk(at, d, first + 1, end, run);]])

# ---- rows

source(rows.cuh)
mutant(row_not_turned copy_rows_b2 "" [[if (backwards) a = reversed<ES>(a);]] "")
mutant(next_vector_forgotten copy_rows_b4 ""
       [[    if (x.shift != 0) x.b = load<16>(at + 16);
]] "")
mutant(edge_without_its_end copy_rows_b4 ""
       [[if (x.shift != 0) x.b = load_edge<ES>(at + 16, m);]] "")
mutant(halves_beyond_the_buffer copy_rows_b2 "" [[at + 32 <= m.high]] [[at + 16 <= m.high]])
mutant(vectors_beyond_the_last copy_rows_b2 "" [[if (n + 256 * u < all)]] [[if (n < all)]])
mutant(period_beyond_the_last copy_rows_b16 ""
       [[from + (MT_ROWS_EACH - 1) * period + V > end)]] [[from + V > end)]])
mutant(periods_one_too_few copy_rows_b16 ""
       [[i < MT_ROWS_EACH; i++, to += period * ES) store<16>(to, a);]]
       [[i < MT_ROWS_EACH - 1; i++, to += period * ES) store<16>(to, a);]])
mutant(ends_as_whole copy_rows_b1 ""
       [[if (low <= at && at + BYTES <= high)]] [[if (low <= at && at < high)]])
mutant(period_without_its_begin copy_rows_b1 ""
       [[  if (unit + V > row)
]] [[  if (unit + V > 2 * row)
]])
mutant(begin_joined_too_early copy_rows_b2 "" [[(row - unit) * ES);]] [[(row - unit - 1) * ES);]])
mutant(period_before_the_first copy_rows_b1 "" [[const int begin = from < 0;]] [[const int begin = 0;]])
mutant(periods_of_another_group copy_rows_b8 "" [[  if (begin)
    store_bytes<ES, 16>(to, a, 0, (int)-from * ES,]] [[  if (begin)
    store_bytes<ES, 16>(to, a, 0, 0,]])

# ---- words of units

source(gather.cuh)
mutant(phase_of_another_row copy_gather_b1 "" [[f = ((uint32_t)(uintptr_t)to & 3) / ES;]] [[f = 0;]])
mutant(whole_beyond_the_row copy_gather_b2 "" [[first + V <= t.high;]] [[first < t.high;]])
mutant(span_of_another_place copy_gather_b1 "" [[at = ((first + low) & ~3) - low;]] [[at = (first + low) & ~3;]])
mutant(tile_along_for_across copy_gather_b4 ""
       [[if (j > 0) at.step(d.axis[d.nthr + d.nval - 1], (int64_t)(j * g.cut[1]));]] "")
mutant(first_of_the_rest_alone copy_gather_b4 "" [[r * g.first.extent + near]] [[r + near]])

# ---- words by way of shared memory

source(staged.cuh)
mutant(nobody_waits copy_staged_b4 ""
       [[  staged_make_units<ES>(p.desc, tables);
  fetched();
]] [[  staged_make_units<ES>(p.desc, tables);
  __syncthreads();
]])
mutant(pieces_without_meeting copy_staged_b4 ""
       [[  staged_make_pieces(s, tables);
  __syncthreads();
]] [[  staged_make_pieces(s, tables);
]])
mutant(fetch_beyond_the_buffer copy_staged_b8 ""
       [[at >= first && at <= last;]] [[at >= first && at <= last + 16;]])
mutant(fetch_before_the_buffer copy_staged_b4 ""
       [[at >= first && at <= last;]] [[at >= first - 16 && at <= last;]])
mutant(edges_forgotten copy_staged_b1 ""
       [[    else if (a.real) staged_fetch_edge(x, a, data);
]] "")
mutant(tile_inside_by_its_first_byte copy_staged_b2 ""
       [[if (x.has(-(int32_t)m) && x.has(s.reach))]] [[if (x.has(-(int32_t)m))]])
mutant(tile_inside_by_its_last_byte copy_staged_b2 ""
       [[if (x.has(-(int32_t)m) && x.has(s.reach))]] [[if (x.has(s.reach))]])
mutant(all_of_an_edge copy_staged_b2 ""
       [[if (a.from + i >= x.first && a.from + i < x.last + 16)]] [[if (a.from + i >= x.first)]])
mutant(last_vector_of_a_piece copy_staged_b2 ""
       [[real = k < shift + s.length;]] [[real = k + 16 < shift + s.length;]])
mutant(ends_forgotten copy_staged_b1 ""
       [[  if (staged_has_ends<ES>(s, t)) staged_ends<ES>(s, t, tables, base);
]] "")
mutant(words_from_the_row copy_staged_b4 ""
       [[return k + ahead - before / V + phase]] [[return k + ahead + phase]])
mutant(skip_of_the_first copy_staged_b4 ""
       [[skip[m] = s.skip[j + m],]] [[skip[m] = s.skip[j],]])
mutant(words_beyond_the_tile copy_staged_b2 ""
       [[real[m] = at + m * pitch <= room;]] [[real[m] = at + m * pitch <= room + V;]])
mutant(units_not_rotated copy_staged_rotated_b1 ""
       [[  if constexpr (ROTATED) places.rotate(unit);
]] "")
mutant(words_not_rotated copy_staged_rotated_b2 ""
       [[x = __funnelshift_l(x, x, 8 * ES * first);]] "")
mutant(words_rotated_alike copy_staged_rotated_b1 ""
       [[x = __funnelshift_l(x, x, 8 * ES * first);]] [[x = __funnelshift_l(x, x, 8 * ES);]])

source(staged_tables.cuh)
mutant(pieces_in_a_row copy_staged_b1 ""
       [[if (i + 1 == s.twist) at.to += (int32_t)(digit >> s.twist_log) * 16;]] "")
mutant(pieces_by_half copy_staged_b4 "" [[.mul >> MT_STAGED_LEVELSHIFT;]] [[.mul >> (MT_STAGED_LEVELSHIFT + 1);]])
mutant(units_in_a_row copy_staged_b2 ""
       [[    by[j] += staged_twist(s, j < left ? first + (int32_t)j : (int32_t)(j - left));]] "    continue;")
mutant(units_of_one_index copy_staged_b1 "" [[(j < left ? from[0] : from[1])]] "from[0]")
mutant(units_of_a_short_axis copy_staged_b1 "" [[d.axis[0].extent >= 3]] [[d.axis[0].extent >= 2]])
mutant(table_of_one_phase copy_staged_b2 ""
       [[f < V && f <= early; f++, at += pitch + 1)]] [[f < V && f <= early; f++)]])
mutant(begin_of_one_phase copy_staged_b1 ""
       [[f = 0; f <= early; f++, at += pitch + 1)]] [[f = 0; f <= early; f++)]])

source(staged_rows.cuh)
mutant(line_behind_the_buffer copy_staged_b4 "" [[ask_for(end - 1);]] [[ask_for(end + 255);]])
mutant(line_beyond_the_row copy_staged_b4 "" [[s.gaps != 0 && units > 0)]] [[s.gaps != 0)]])
mutant(rows_alone_of_the_first copy_staged_b1 ""
       [[const staged_row row = rows[k + m * step];]] [[const staged_row row = rows[k];]])
mutant(unit_alone_of_a_thread copy_staged_b2 ""
       [[unit = n - q * s.alone.extent;]] [[unit = n % 16;]])
mutant(firsts_in_a_row copy_staged_b1 ""
       [[first = n - b * turn + turn * each * b;]] [[first = n;]])
mutant(firsts_beyond_the_tile copy_staged_b2 ""
       [[k, staged_firsts(s, t, q), step]] [[k, s.firsts, step]])
mutant(lines_beyond_the_tile copy_staged_b1 ""
       [[while (last >= s.each.extent || k >= staged_firsts(s, t, last)) last--;]] "")
mutant(rows_not_turned copy_staged_b4 "" [[[k * each + q] = at;]] [[[k * each] = at;]])

# ---- boxes

source(bits.cuh)
mutant(lanes_of_one_place copy_bits_b4 "" [[box + (first ^ b.lane[j])]] [[box + (first ^ b.lane[0])]])
mutant(bits_not_waited_for copy_bits_b2 ""
       [[  fetched();
#pragma unroll AT_ONCE]] [[  __syncthreads();
#pragma unroll AT_ONCE]])
mutant(blocks_of_one_box copy_bits_b8 ""
       [[if (blockIdx.x >> i & 1) s.src]] [[if (blockIdx.x >> i & 2) s.src]])
source(permute.cuh)
mutant(groups_not_waited_for copy_permute_b4 ""
       [[  x.find(t, box, first);
  fetched();
]] [[  x.find(t, box, first);
  __syncthreads();
]])
mutant(first_unit_of_a_group copy_permute_b2 "" [[(j % G ? t.lane[j % G] : 0)]] [[(j % G ? t.lane[0] : 0)]])

source(permute_runs.cuh)
mutant(runs_one_too_short copy_permute_unaligned_b1 "" [[r < k.long_runs ?]] [[r + 1 < k.long_runs ?]])
mutant(boxes_inside_by_their_first_run copy_permute_unaligned_b4 ""
       [[ + (by > 0 ? by : 0)]] "")
mutant(loads_of_the_first_vector copy_permute_unaligned_b4 ""
       [[n + i * ON, back]] [[n, back]])
mutant(runs_without_gaps copy_permute_unaligned_b4 ""
       [[ + r / (16 / ES) * k.gap]] "")

source(permute_unaligned.cuh)
mutant(windows_of_rows_that_went_on copy_permute_unaligned_b2 ""
       [[return b.size.begun ? k.tasks[1] : k.tasks[0];]] [[return k.tasks[1];]])
mutant(windows_from_the_next_sector copy_permute_unaligned_b4 ""
       [[(later ? (int32_t)(-lead & mask) : -(int32_t)(lead & mask))]]
       [[(int32_t)(-lead & mask)]])
mutant(lines_that_began_before copy_permute_unaligned_b1 ""
       [[b.size.begun && k.align < MT_UNALIGNED_LINE]] [[b.size.begun]])
mutant(windows_of_eight copy_permute_unaligned_b2 ""
       [[window << log : t.last]] [[window << MT_UNALIGNED_WINDOW : t.last]])
mutant(rows_never_begin copy_permute_unaligned_b1 ""
       [[from = b.size.begun ? k.nrows : 0]] [[from = k.nrows]])
mutant(rows_never_end copy_permute_unaligned_b2 ""
       [[to = whole ? k.nrows : 2 * k.nrows]] [[to = k.nrows]])
mutant(limit_of_the_first_row copy_permute_unaligned_b2 ""
       [[unaligned_limit<ES>(k, b, at, half != turns)]] [[unaligned_limit<ES>(k, b, at, half)]])
mutant(places_without_gaps copy_permute_unaligned_b1 ""
       [[n / V * MT_UNALIGNED_GROUP(V) + n % V * 2]] [[n / V * (2 * V) + n % V * 2]])
mutant(second_row_of_the_first copy_permute_unaligned_b2 ""
       [[(k, b, r, 1, units, box, k.apart[0])]] [[(k, b, r, 1, units, box, 0)]])
mutant(third_row_of_the_second copy_permute_unaligned_b1 ""
       [[(k, b, r, 0, units, box, k.apart[1])]] [[(k, b, r, 0, units, box, k.apart[0])]])
mutant(fourth_row_of_the_third copy_permute_unaligned_b1 ""
       [[(k, b, r, 1, units, box, k.apart[2])]] [[(k, b, r, 1, units, box, k.apart[1])]])
mutant(fifth_row_of_the_fourth copy_permute_unaligned_b1 ""
       [[units.go(k.apart[3]);]] [[units.go(k.apart[2]);]])
mutant(turns_of_three_rows copy_permute_unaligned_b2 ""
       [[if (n > 3) unaligned_put_row]] [[if (n > 4) unaligned_put_row]])
mutant(vectors_along_a_row copy_permute_unaligned_b1 ""
       [[to += by * ES;
    units.go(k.apart[1]);]] [[to += by * ES;
    units.go(k.apart[0]);]])
mutant(runs_of_more_threads copy_permute_unaligned_b1 ""
       [[unaligned_fetch<ES, MT_PERMUTE_UNALIGNED_MANY>]] [[unaligned_fetch<ES, 640>]])
mutant(vectors_behind_the_segment copy_permute_unaligned_b1 ""
       [[if (last > length - V) last = length - V;]] "")

source(permute_listed.cuh)
mutant(counts_of_the_block_before copy_permute_listed_b1 ""
       [[  if (threadIdx.x < MT_UNALIGNED_CLASSES) counts[threadIdx.x] = 0;
]] "")
mutant(rows_of_another_class copy_permute_listed_b2 ""
       [[dst = b.dst + (c << k.list_log);]] [[dst = b.dst;]])
mutant(rows_beyond_the_class copy_permute_listed_b1 ""
       [[end = list + 8 * counts[c];]] [[end = list + 8 * k.slots;]])
mutant(chunks_of_the_first copy_permute_listed_b1 ""
       [[row = list + 8 * (n >> log),]] [[row = list,]])
mutant(last_row_of_a_group copy_permute_listed_b1 ""
       [[(int32_t)(g.end - g.row) > 0);]] [[(int32_t)(g.end - g.row) > 8);]])
mutant(halves_exchanged copy_permute_listed_b2 ""
       [[(16 & ~(uint32_t)(uintptr_t)to)]] [[(16 & (uint32_t)(uintptr_t)to)]])
mutant(segments_without_places copy_permute_listed_b1 ""
       [[k.segment ? n % each * k.segment : 0;]] [[0;]])
mutant(rows_not_listed_yet copy_permute_listed_b4 ""
       [[  fetched();
]] "")

# ---- tiles

source(transpose.cuh)
mutant(tile_without_meeting copy_transpose_b4 ""
       [[  rows.put(tile);
  __syncthreads();
]] [[  rows.put(tile);
]])
mutant(chunk_without_its_xor copy_transpose_b2 ""
       [[const int chunk = (u * T::U / 16) ^ (vector & 7);]] [[const int chunk = u * T::U / 16;]])
mutant(window_of_a_neighbour copy_transpose_unaligned_b1 ""
       [[from_on(out[j], on + 1, 8), shift & 15);]] [[from_on(out[j], on, 8), shift & 15);]])
