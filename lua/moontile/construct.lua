-- construct.lua: tiled copies, tiled MMAs, layouts of shared memory by CuTe's functions.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local construct = {}

-- ---------------------------------------------------------------- tiled copies and MMAs

-- Why a call in here failed, without the line of it.
local function reason(message) return (message:gsub("^moontile/construct%.lua:%d+: ", "")) end

-- What f gives, or why it fails under the name that was called.
local function as(name, f, options)
  local made, x = pcall(f, options)
  return made and x or error(name .. ": " .. reason(x):gsub("^[%w_]+: ", "", 1), 0)
end

-- make_tiled_copy(atom, thr, val [, bits | dtype])
function construct.make_tiled_copy(atom, thr, val, bits)
  local key = type(bits) == "string" and "dtype" or "bits"
  return as("make_tiled_copy", tile.tiled_copy,
            { atom = atom, thr = thr, val = val, [key] = bits })
end

-- make_tiled_mma(atom [, atoms [, permutation]])
function construct.make_tiled_mma(atom, atoms, permutation)
  return as("make_tiled_mma", tile.tiled_mma,
            { atom = atom, atoms = atoms, permutation = permutation })
end

-- The coordinate k of an index of this shape.
local function coordinate(shape, k)
  local strides = {}
  for i = 1, #shape do strides[i] = i == k and 1 or 0 end
  return tile.layout(shape, strides)
end

-- (thread,value) -> index of this shape as a tile: what it takes of each mode, and the same
-- function into that tile.
local function tile_of(shape, tv)
  local tiler = {}
  for k = 1, #shape do tiler[k] = tile.filter(coordinate(shape, k) * tv) end
  local taken = tile.composition(tile.layout(shape), tiler)
  return tile.left_inverse(taken) * tv, tiler
end

local MOST <const> = 1 << 20

-- A layout of addresses, not too many of them.
local function addresses_of(what, A)
  if type(A) ~= "userdata" then A = tile.layout(A) end
  if tile.size(A) < 1 or tile.size(A) > MOST then
    error(("make_cotiled_copy: %s: %s has %d elements, 1 to %d expected"):format(what, A,
          tile.size(A), MOST), 0)
  elseif not math.type(tile.layout(tostring(A))(0)) then
    error(("make_cotiled_copy: %s: the strides of %s are no integers"):format(what, A), 0)
  end
  return tile.layout(tostring(A))
end

-- Addresses that tv gives as coordinates of data: what L leaves at 0 it has not.
local function coordinates_of(tv, data)
  local ok, inverse = pcall(tile.left_inverse, data)
  if not ok then
    error(("make_cotiled_copy: the data %s has no inverse\n  %s"):format(data, inverse), 0)
  end
  for i = 0, tile.size(tv) - 1 do
    local inside, at = pcall(inverse, tv(i))
    if not inside or at >= tile.size(data) or data(at) ~= tv(i) then
      error(("make_cotiled_copy: (thread,value) %d is at address %s, where the data %s has"
             .. " nothing"):format(i, tv(i), data), 0)
    end
  end
  local composes, index = pcall(tile.composition, inverse, tv)
  if not composes then error("make_cotiled_copy: " .. index, 0) end
  return index
end

-- make_cotiled_copy(atom, tv, data [, bits | dtype]): tv gives addresses of data; the tile is of
-- the coordinates that have them.
function construct.make_cotiled_copy(atom, tv, data, bits)
  tv, data = addresses_of("tv", tv), addresses_of("data", data)
  local index, shape = coordinates_of(tv, data), tile.product_each(tile.shape(data))
  local ok, place, tiler = pcall(tile_of, shape, index)
  if not ok then
    error(("make_cotiled_copy: what %s has of %s is no tile: %s"):format(tv, data,
          reason(place)), 0)
  end
  local key = type(bits) == "string" and "dtype" or "bits"
  return as("make_cotiled_copy", tile.tiled_copy,
            { atom = atom, [key] = bits, tv = place, tiler = tiler })
end

-- The copy atom of a name or an atom, in values of the bits or the dtype.
local function copy_atom(what, atom, bits)
  local is_atom = type(atom) == "userdata" and getmetatable(atom) == "moontile.CopyAtom"
  if type(atom) ~= "string" and not is_atom then
    error(("%s: atom: a copy atom or the name of one expected, got %s"):format(what,
          need "kind"(atom)), 0)
  end
  if type(bits) == "string" then bits = 8 * tile.tensor(bits, tile.layout(1)):itemsize() end
  return tile.copy_atom(atom, bits)
end

-- make_tiled_copy_C_atom(atom, mma [, bits | dtype]): the smallest tiled copy whose threads have
-- the first values that they have of C.
function construct.make_tiled_copy_C_atom(atom, mma, bits)
  if type(mma) ~= "userdata" or getmetatable(mma) ~= "moontile.TiledMMA" then
    error("make_tiled_copy_C_atom: a tiled MMA expected, got " .. need "kind"(mma), 0)
  end
  local bits_of_atom = type(atom) == "userdata" and atom.bits > 1 and atom.bits
  bits = bits or bits_of_atom
  if not bits then
    error("make_tiled_copy_C_atom: the bits of a value, or its type, expected: what C has", 0)
  end
  local a = copy_atom("make_tiled_copy_C_atom", atom, bits)
  local tv = mma:layout_C_TV()
  local values, have = tile.size(a.layout_ref, 2), tile.size(tv, 2)
  if have % values ~= 0 then
    error(("make_tiled_copy_C_atom: %s moves %d values of a thread, of C it has %d")
          :format(a.name, values, have), 0)
  end
  local first = tv * tile.layout { tile.size(tv, 1), values }
  local extents = mma:tile_shape()
  local place, tiler = tile_of({ extents[1], extents[2] }, first)
  return tile.tiled_copy { atom = a, bits = a.bits, tv = place, tiler = tiler }
end

-- ---------------------------------------------------------------- shared memory

-- As a text: (64,(8,2)).
local function shown(x)
  return type(x) == "table" and tostring(tile.shape(tile.layout(x))) or tostring(x)
end

-- The first mode's size of an extent, which may be a tuple; its whole size.
local function extents(x)
  local A = tile.layout(x)
  return tile.size(A, 1), tile.size(A)
end

local function refuse(what, major, bits, mn, k)
  error(("%s: no layout of major %s with %d bits divides (%s,%s)"):format(what, major, bits,
        shown(mn), shown(k)), 0)
end

-- The widest of these kinds whose atom divides the first mode of the extent along the major; INTER
-- has to divide all of it if `whole`.
local function choose(what, major, bits, mn, k, kinds, whole)
  local first, all = extents(major == "K" and k or mn)
  for _, kind in ipairs(kinds) do
    local space = kind:find "_32B" and "UMMA" or "GMMA"
    local name = ("%s::Layout_%s_%s_Atom"):format(space, major, kind)
    local atom = tile.smem_atom(name, bits)
    local n = tile.size(tile.get_nonswizzle_portion(atom), major == "K" and 2 or 1)
    if (kind == "INTER" and whole and all or first) % n == 0 then return atom, name end
  end
  return refuse(what, major, bits, mn, k)
end

local ALL = { "SW128", "SW64", "SW32", "INTER" }

local function checked(what, major, bits, mn, k)
  major = tostring(major):match "[^:]*$" -- GMMA::Major::K
  if major ~= "K" and major ~= "MN" then
    error(('%s: major: "K" or "MN" expected, got %s'):format(what, tostring(major)), 0)
  end
  if type(bits) == "string" then bits = 8 * tile.tensor(bits, tile.layout(1)):itemsize() end
  if bits ~= 8 and bits ~= 16 and bits ~= 32 then
    error(("%s: 8, 16 or 32 bits, or a type of them, expected, got %s")
          :format(what, tostring(bits)), 0)
  end
  if mn == nil or k == nil then
    error(("%s: the extents of both modes, MN and K, expected"):format(what), 0)
  end
  if extents(mn) % 8 ~= 0 or extents(k) % 8 ~= 0 then refuse(what, major, bits, mn, k) end
  return bits, major
end

-- ss_smem_selector(major, bits | dtype, MN, K): for wgmma of shared memory
function construct.ss_smem_selector(major, bits, mn, k)
  bits, major = checked("ss_smem_selector", major, bits, mn, k)
  return choose("ss_smem_selector", major, bits, mn, k, ALL, major == "MN")
end

-- What wgmma of registers and shared memory takes along MN, by bits; of 8 bits what is transposed
-- by the kernel needs whole lines.
local RS = { [8] = { "SW128", "SW64" }, [16] = ALL, [32] = { "SW32" } }

-- rs_smem_selector(major, bits | dtype, MN, K [, transposed])
function construct.rs_smem_selector(major, bits, mn, k, transposed)
  bits, major = checked("rs_smem_selector", major, bits, mn, k)
  local kinds = major == "K" and ALL or bits == 8 and transposed and { "SW128" } or RS[bits]
  return choose("rs_smem_selector", major, bits, mn, k, kinds)
end

-- sm100_smem_selector(major, bits | dtype, MN, K): for tcgen05
function construct.sm100_smem_selector(major, bits, mn, k)
  bits, major = checked("sm100_smem_selector", major, bits, mn, k)
  local kinds = major == "MN" and bits == 32 and { "SW128_32B" } or ALL
  return choose("sm100_smem_selector", major, bits, mn, k, kinds)
end

-- tile_to_mma_shape(atom, shape [, order]): a layout of ((MMA_M,MMA_K),M,K,...)
function construct.tile_to_mma_shape(atom, shape, order)
  shape = tile.shape(tile.layout(shape))
  if type(shape) ~= "table" then shape = tile.make_shape(shape) end
  local mma, modes = shape[1], {}
  if type(mma) ~= "table" or #mma ~= 2 or #shape < 3 then
    error("tile_to_mma_shape: a shape ((MMA_M,MMA_K),M,K,...) expected, got " .. shown(shape), 0)
  end
  modes[1], modes[2] = { mma[1], shape[2] }, { mma[2], shape[3] }
  for i = 4, #shape do modes[i - 1] = shape[i] end
  local tiled = tile.tile_to_shape(atom, modes, order)
  return tile.tiled_divide(tiled, tile.product_each(mma))
end

return construct
