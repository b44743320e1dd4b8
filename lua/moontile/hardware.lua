-- hardware.lua: what an instruction of TMA has of a tile, tensor memory of sm_100.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local bits_of = need "element"
local check = need "faults"
local hardware = {}

local function is_layout(x) return getmetatable(x) == "moontile.Layout" end

-- ---------------------------------------------------------------- TMA

-- Modes of a layout as a list; of rank 1 without nesting, itself.
local function modes(A)
  local list = {}
  for i = 1, tile.rank(A) do list[i] = tile.get(A, i) end
  return list
end

-- A tensor (tile, rest...) as ((TMA,iteration),rest...), from `first` of the tile on.
local function of_instruction(A, V, first)
  local list, zeros = modes(A), { { first, 0 } }
  list[1] = tile.composition(list[1], V)
  for i = 2, #list do zeros[i] = 0 end
  local all = tile.coalesce(tile.make_layout(table.unpack(list)), { { 1, 1 } })
  return tile.domain_offset(zeros, all)
end

local function tma_arguments(t, cta, ctas, smem, gmem, offset)
  if is_layout(cta) then cta, ctas, smem, gmem, offset = 0, tile.layout(1), cta, ctas, smem end
  check(type(t) == "table" and t.coords and t.elements,
        "tma_partition: what tile.tma gives expected first, got %s", need "kind"(t))
  if not is_layout(ctas) then ctas = tile.layout(ctas) end
  check(is_layout(smem) and is_layout(gmem), "tma_partition: layouts (tile,rest...) of shared and "
        .. "of global memory expected, got %s and %s", tostring(smem), tostring(gmem))
  local all = tile.cosize(ctas)
  check(all == t.multicast, "tma_partition: %s are %d CTAs, the instruction is for %d: "
        .. "tile.tma{ multicast = %d }", ctas, all, t.multicast, all)
  smem = tile.get_nonswizzle_portion(smem)
  local s, g = tile.size(smem, 1), tile.size(gmem, 1)
  check(s == g, "tma_partition: mode 1 of smem, the tile, has %d elements, of the tensor %d\n"
        .. "the modes of the tile are to be one: tile.group(A, 1, 2)", s, g)
  check(s % t.elements == 0, "tma_partition: a tile of %d elements: an instruction brings %d",
        s, t.elements)
  return ctas(cta), all, smem, gmem, offset
end

-- tma_partition(t [, cta, ctas], smem, gmem [, offset]): CuTe's; the tensor of coordinates and the
-- shared memory as ((TMA,iteration),rest...), each with where it begins.
function hardware.tma_partition(...)
  local t = ...
  local id, all, smem, gmem, offset = tma_arguments(...)
  local inverse = tile.right_inverse(tile.get(smem, 1))
  local V = tile.tile_to_shape(tile.make_layout(inverse), tile.size(smem, 1))
  V = tile.logical_divide(tile.coalesce(V), t.elements)
  local first = id * (t.elements // all)
  local g, g_at = of_instruction(gmem, V, first)
  local s, s_at = of_instruction(smem, V, first)
  return g, offset and offset + g_at or g_at, s, s_at
end

local MOST_CTAS <const> = 1 << 12

-- create_tma_multicast_mask(ctas, coordinate): a bit for each CTA that `_` in it ranges over.
function hardware.create_tma_multicast_mask(ctas, coordinate)
  local part, offset = tile.slice_and_offset(coordinate, ctas)
  local mask = 0
  if not tile.is_composed(part) then part = tile.filter(part) end
  check(tile.size(part) <= MOST_CTAS, "create_tma_multicast_mask: %d CTAs: the mask has 16 bits",
        tile.size(part))
  for i = 0, tile.size(part) - 1 do
    local value = part(i)
    check(math.type(offset) == "integer" and math.type(value) == "integer",
          "create_tma_multicast_mask: %s has no integers as values", ctas)
    local bit = offset + value
    check(bit >= 0 and bit < 16, "create_tma_multicast_mask: CTA %d: the mask has 16 bits", bit)
    mask = mask | 1 << bit
  end
  return mask
end

-- ---------------------------------------------------------------- tensor memory

local LANES <const>, COLUMNS <const>, WORD <const> = 128, 512, 32 -- columns of 32 bits

-- (M,N) of an instruction -> lane + 128 column, by how many SMs work together, M of one of them,
-- and how it is allocated.
local function whole(M, N) return tile.layout({ M, N }, { 1, LANES }) end
local function whole_lanes(_, N) return whole(LANES, N) end
local function halves(M, N)
  return tile.layout({ M, { N // (LANES // M), LANES // M } }, { 1, { LANES, M } })
end
local function quarters(_, N) return tile.layout({ { 16, 4 }, N }, { { 1, 32 }, LANES }) end

local ATOMS = {
  { [64] = { Interleaved = quarters, NonInterleaved = quarters },
    [128] = { Interleaved = whole, NonInterleaved = whole } },
  { [32] = { Interleaved = halves }, [64] = { Interleaved = halves, Duplicated = whole_lanes },
    [128] = { Interleaved = whole, Duplicated = whole } },
}

local function tmem_atom(what, sms, M, N, mode)
  local by_mode = ATOMS[sms][M]
  check(by_mode, "%s: M of one SM is %d: %s expected", what, M, sms == 1 and "64 or 128"
        or "32, 64 or 128")
  check(by_mode[mode], "%s: no allocation %s with M = %d: Interleaved, or %s", what, tostring(mode),
        M, sms == 1 and "NonInterleaved" or "with M of 64 and 128 Duplicated")
  check(sms == 1 or M == LANES or N % (LANES // M) == 0, "%s: N is %d: a multiple of %d expected",
        what, N, LANES // M)
  return by_mode[mode](M, N)
end

-- The same, of all of a shape ((M,N),rest...): tiles go down the lanes first, then along columns.
local function tmem_logical(what, sms, shape, mode)
  local whole_shape = tile.shape(tile.layout(shape))
  check(type(whole_shape) == "table" and type(whole_shape[1]) == "table" and #whole_shape[1] == 2,
        "%s: a shape ((M,N),rest...) expected, got %s: mma:partition_shape_C makes one", what,
        tostring(whole_shape))
  local M, N = tile.size(whole_shape[1][1]), tile.size(whole_shape[1][2])
  local atom = tmem_atom(what, sms, M, N, mode)
  if #whole_shape == 1 then return tile.make_layout(atom) end
  local rest = tile.layout { table.unpack(whole_shape, 2) }
  if mode == "NonInterleaved" and M == 64 then
    local strides = tile.stride(tile.layout { 2, table.unpack(whole_shape, 2) })
    rest = tile.layout(tile.shape(rest), { table.unpack(strides, 2) })
  end
  return tile.tiled_product(atom, rest)
end

local function element_bits(what, x)
  local bits = type(x) == "string" and bits_of(x) or x
  check(math.type(bits) == "integer" and bits >= 1 and bits <= WORD and WORD % bits == 0,
        "%s: 1 to 32 bits, a power of two, or a type of them, expected, got %s", what, tostring(x))
  return bits
end

local function tmem_frg(what, sms, shape, bits, storage, mode)
  bits = element_bits(what, bits)
  storage = element_bits(what, storage or WORD)
  check(bits <= storage, "%s: values of %d bits in %d bits", what, bits, storage)
  local logical = tmem_logical(what, sms, shape, mode or "Interleaved")
  local columns = -(-tile.cosize(logical) // LANES) * storage // WORD
  check(columns <= COLUMNS, "%s: %s needs %d columns of tensor memory, there are %d", what,
        tile.shape(logical), columns, COLUMNS)
  local space, unit = { LANES, COLUMNS * WORD }, storage // bits
  local lane = (1 << 21) // bits
  local address = tile.layout(space, { lane, unit })
  local place = tile.make_identity_layout(space)
  if unit > 1 then place = tile.layout(("(128,16384):(1@0,%d@1)"):format(unit)) end
  return tile.composition(address, logical), tile.composition(place, logical), columns
end

-- tmem_frg_1sm(shape, bits [, storage [, mode]]), tmem_frg_2sm: CuTe's; the layout of addresses, of
-- (lane,value), how many columns.
function hardware.tmem_frg_1sm(...) return tmem_frg("tmem_frg_1sm", 1, ...) end
function hardware.tmem_frg_2sm(...) return tmem_frg("tmem_frg_2sm", 2, ...) end

-- What lies in tensor memory of a part of this shape.
local function fragment(what, mma, side, part)
  local atom = mma:atom()
  local sms, from_tmem = tile.size(atom.thr_id), atom.src.A == "tmem"
  local mode = from_tmem and (sms == 1 and "NonInterleaved" or side == "A" and "Duplicated") or nil
  local bits = bits_of(atom.dtype[side])
  return tmem_frg(what, sms, part, bits, side == "A" and bits or WORD, mode)
end

-- tmem_fragment(name, mma, side, shape): the addresses, for the function of this name.
function hardware.tmem_fragment(...) return (fragment(...)) end

-- tmem_frg(mma, side, shape): of an operand of a tiled MMA of sm_100.
function hardware.tmem_frg(mma, side, shape)
  check(getmetatable(mma) == "moontile.TiledMMA", "tmem_frg: a tiled MMA expected, got %s",
        tostring(mma))
  check(side == "A" or side == "C", 'tmem_frg: "A" or "C" expected, got %s', tostring(side))
  local atom = mma:atom()
  check(atom.src[side] == "tmem", "tmem_frg: %s of %s is in %s, not in tensor memory", side,
        atom.name, atom.src[side])
  return fragment("tmem_frg", mma, side, mma["partition_shape_" .. side](mma, shape))
end

return hardware
