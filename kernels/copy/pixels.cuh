/*
** pixels.cuh - few accesses at each index of one axis: STRIDED of two axes.
** SPDX-License-Identifier: MIT
**
** A thread moves MT_STRIDED_PIXELS pixels, which lie `threads` apart, so that a warp
** writes neighbours. Bytes are written two at once where they lie together; larger units
** one by one, which takes less time than pairs of them. Of pixels of bytes that follow
** one another in the destination (MT_STRIDED_WORDS) four are a group, which is whole
** words of either side: words are put together by byte permutes.
*/
#ifndef PIXELS_CUH
#define PIXELS_CUH

#include "kernels/copy/place.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* Writes the first `count` units of a pixel; PAIRS: bytes, two at once. */
template <int BYTES, int UNROLL, bool PAIRS>
MT_INLINE void put_pixel (char *dst, int64_t step, uint32_t count,
                          const typename word<BYTES>::type data[UNROLL]) {
#pragma unroll
  for (uint32_t u = 0; u < UNROLL; u += 1 + PAIRS, dst += (1 + PAIRS) * step) {
    if constexpr (PAIRS) {
      if (u + 1 < count) {
        store<2>(dst, (uint16_t)(data[u] | data[u + 1] << 8));
        continue;
      }
    }
    if (u < count) store<BYTES>(dst, data[u]);
  }
}

/* Pixels lie near one another in the destination, but gaps between them. Of wider units
** than bytes it takes longer to ask for what is there. */
MT_INLINE bool has_gaps (const mt_desc &d) {
  const int64_t pixel = d.axis[0].extent * d.vec, step = d.axis[1].stride[MT_DST];
  return d.axis[0].stride[MT_DST] == d.vec && step > pixel &&
         step <= MT_PIXEL_NEAR * pixel;
}

/* The indices n, n + threads, ... of the other axis, MANY at once. They find their place
** by one product. GAPS: sectors, of which some is not written, are asked for. */
template <int BYTES, int UNROLL, bool PAIRS, bool GAPS>
MT_INLINE void flat_pixels (const mt_launch &p, uint32_t n, uint32_t end) {
  enum { MANY = MT_STRIDED_PIXELS(BYTES) };
  const mt_desc &d = p.desc;
  const int64_t elem = (int64_t)d.elem;
  const uint32_t count = (uint32_t)d.axis[0].extent;
  const int64_t in = kept(d.axis[0].stride[MT_SRC] * elem);
  const int64_t out = kept(d.axis[0].stride[MT_DST] * elem);
  const int64_t step[2] = {d.axis[1].stride[MT_SRC] * elem,
                           d.axis[1].stride[MT_DST] * elem};
  typename word<BYTES>::type data[MANY][UNROLL];
  sides s(p);
  s.src += n * step[MT_SRC], s.dst += n * step[MT_DST];
#pragma unroll
  for (uint32_t k = 0; GAPS && k < MANY; k++) {
    const char *dst = s.dst + k * blockDim.x * step[MT_DST];
    if (n + k * blockDim.x < end && ((uintptr_t)dst & 31) < (uint64_t)step[MT_DST])
      ask_for(dst);
  }
#pragma unroll
  for (uint32_t k = 0; k < MANY; k++, s.src += blockDim.x * step[MT_SRC])
    if (n + k * blockDim.x < end) {
      const char *src = s.src;
#pragma unroll
      for (uint32_t u = 0; u < UNROLL; u++, src += in)
        if (u < count) data[k][u] = load<BYTES>(src);
    }
#pragma unroll
  for (uint32_t k = 0; k < MANY; k++, s.dst += blockDim.x * step[MT_DST])
    if (n + k * blockDim.x < end)
      put_pixel<BYTES, UNROLL, PAIRS>(s.dst, PAIRS ? BYTES : out, count, data[k]);
}

/* Bytes of a pixel lie together in the destination, from multiples of two on. */
MT_INLINE bool has_pairs (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const uint64_t all =
      (uint64_t)(uintptr_t)sides(p).dst | (uint64_t)d.axis[1].stride[MT_DST];
  return d.axis[0].stride[MT_DST] == 1 && all % 2 == 0;
}

/* What a block has of n indices, `each` at a time: MT_PIXEL_TURNS times as many, unless
** the grid has enough blocks for one turn. */
struct block_turns {
  uint64_t step, first;
  uint32_t turn;
  MT_INLINE block_turns (uint32_t n, uint32_t each)
      : turn((uint64_t)gridDim.x * each >= n ? each : MT_PIXEL_TURNS * each) {
    step = (uint64_t)gridDim.x * turn, first = (uint64_t)blockIdx.x * turn;
  }
  MT_INLINE uint32_t end (uint32_t n) const {
    return first + turn < n ? (uint32_t)first + turn : n;
  }
};

template <int BYTES, int UNROLL, bool PAIRS, bool GAPS>
MT_INLINE void all_pixels (const mt_launch &p, uint32_t count) {
  const uint32_t each = blockDim.x * MT_STRIDED_PIXELS(BYTES);
#pragma unroll 1
  for (block_turns t(count, each); t.first < count; t.first += t.step) {
    const uint32_t end = t.end(count);
#pragma unroll 1
    for (uint32_t n = (uint32_t)t.first + threadIdx.x; n < end; n += each)
      flat_pixels<BYTES, UNROLL, PAIRS, GAPS>(p, n, end);
  }
}

/* ------------------------------------------------------------------ bytes */

/* The words of four pixels, which begin with byte `low` of the first one: `step` of the
** source from `src` on, `count` of the destination. */
struct pixel_words {
  const char *src;
  char *dst;
  int32_t low, step, count;
  bool vector_in, vector_out; /* a group is a vector */
  MT_INLINE pixel_words (const mt_launch &p)
      : step((int32_t)p.desc.axis[1].stride[MT_SRC]),
        count((int32_t)p.desc.axis[0].extent) {
    const int64_t by = p.desc.axis[0].stride[MT_SRC];
    const sides s(p);
    src = s.src, dst = s.dst;
    low = by < 0 ? (int32_t)by * (count - 1) : 0;
    low -= (int32_t)((uintptr_t)(src + low) & 3);
    src += low;
    vector_in = step == 4 && ((uintptr_t)src & 15) == 0;
    vector_out = count == 4 && ((uintptr_t)dst & 15) == 0;
  }
  /* A pixel lies in a step, all words of all groups but the last in the buffer. */
  MT_INLINE bool fit (const mt_launch &p) const {
    const int64_t by = p.desc.axis[0].stride[MT_SRC];
    const int32_t high = by < 0 ? 0 : (int32_t)by * (count - 1);
    return high - low < step && src >= (const char *)p.base[MT_SRC] &&
           ((uintptr_t)dst & 3) == 0;
  }
};

/* Bytes of a word of the destination: `each` takes them from words 0 and 1 of the source,
** and from words 2 and 3; `both` takes them from these. */
struct word_select {
  uint32_t each, both;
};

MT_INLINE word_select select_of (const mt_desc &d, const pixel_words &w, uint32_t word) {
  word_select s = {0, 0};
#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    const uint32_t pixel = divide(4 * word + k, d.axis[0]);
    const int32_t unit = (int32_t)(4 * word + k - pixel * (uint32_t)w.count);
    const uint32_t at = (uint32_t)((int32_t)pixel * w.step - w.low +
                                   unit * (int32_t)d.axis[0].stride[MT_SRC]);
    s.each |= (at & 7) << 4 * k;
    s.both |= (at < 8 ? k : k + 4) << 4 * k;
  }
  return s;
}

MT_INLINE uint4 load_words (const pixel_words &w, const char *src) {
  uint4 v = {0, 0, 0, 0};
  if (w.vector_in) return load<16>(src);
  v.x = load<4>(src), v.y = load<4>(src + 4);
  if (w.step > 2) v.z = load<4>(src + 8);
  if (w.step > 3) v.w = load<4>(src + 12);
  return v;
}

MT_INLINE void store_words (const pixel_words &w, char *dst, const uint4 &v) {
  if (w.vector_out) return store<16>(dst, v);
  store<4>(dst, v.x), store<4>(dst + 4, v.y);
  if (w.count > 2) store<4>(dst + 8, v.z);
  if (w.count > 3) store<4>(dst + 12, v.w);
}

MT_INLINE uint32_t put_word (const uint4 &v, word_select s) {
  return __byte_perm(__byte_perm(v.x, v.y, s.each), __byte_perm(v.z, v.w, s.each),
                     s.both);
}

/* The groups n, n + threads, ..., some at once. */
MT_INLINE void flat_words (const pixel_words &w, const word_select s[4], uint32_t n,
                           uint32_t end) {
  enum { MANY = MT_STRIDED_GROUPS };
  uint4 in[MANY];
#pragma unroll
  for (uint32_t k = 0; k < MANY; k++) {
    const uint32_t group = n + k * blockDim.x;
    if (group < end) in[k] = load_words(w, w.src + (int64_t)group * (4 * w.step));
  }
#pragma unroll
  for (uint32_t k = 0; k < MANY; k++) {
    const uint32_t group = n + k * blockDim.x;
    const uint4 v = make_uint4(put_word(in[k], s[0]), put_word(in[k], s[1]),
                               put_word(in[k], s[2]), put_word(in[k], s[3]));
    if (group < end) store_words(w, w.dst + (int64_t)group * (4 * w.count), v);
  }
}

/* All pixels; the last ones, four at most, byte by byte: behind them the buffer may
** end. */
template <int UNROLL>
MT_INLINE void copy_words (const mt_launch &p, const pixel_words &w, uint32_t pixels) {
  __shared__ word_select shared[4];
  const uint32_t groups = (pixels - 1) / 4, each = blockDim.x * MT_STRIDED_GROUPS;
  word_select s[4];
  if (threadIdx.x < 4) shared[threadIdx.x] = select_of(p.desc, w, threadIdx.x);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; i++) s[i] = shared[i];
#pragma unroll 1
  for (block_turns t(groups, each); t.first < groups; t.first += t.step) {
    const uint32_t end = t.end(groups);
#pragma unroll 1
    for (uint32_t n = (uint32_t)t.first + threadIdx.x; n < end; n += each)
      flat_words(w, s, n, end);
  }
  if (blockIdx.x == 0)
    flat_pixels<1, UNROLL, false, false>(p, 4 * groups + threadIdx.x, pixels);
}

/* ------------------------------------------------------------------ all of them */

template <int BYTES, int UNROLL>
MT_INLINE void copy_pixels (const mt_launch &p, uint32_t count) {
  if constexpr (BYTES == 1) {
    if (MT_STRIDED_WORDS(&p.desc)) {
      const pixel_words w(p);
      if (w.fit(p)) return copy_words<UNROLL>(p, w, count);
    }
    const bool pairs = has_pairs(p), gaps = has_gaps(p.desc);
    if (gaps && pairs) return all_pixels<1, UNROLL, true, true>(p, count);
    if (gaps) return all_pixels<1, UNROLL, false, true>(p, count);
    if (pairs) return all_pixels<1, UNROLL, true, false>(p, count);
  }
  all_pixels<BYTES, UNROLL, false, false>(p, count);
}

} // namespace mt

#undef MT_INLINE
#endif
