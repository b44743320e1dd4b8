-- moontile.console.words - for completion: the keys of options, and the strings that arguments and
-- options take.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "tile"

local words = {}

local function list(text)
  local t = {}
  for word in text:gmatch "%S+" do t[#t + 1] = word end
  return t
end

-- ---------------------------------------------------------------- keys of options

local MMA_AND_COPY = "kind arch runs_on M N K A B C D"
local ACCESS = "kind bytes matrices offset"
local PICTURE = list [[by bits slice tile nested thread value part banks access title rows columns
                       width colour]]

words.keys = {
  tiled_copy = list "atom dtype bits thr val tv tiler", tiled_mma = list "atom atoms permutation",
  mma_atom = list "shape thr_id A B C dtypes name",
  copy_atom = list "src dst ref bits dtype thr_id name",
  atoms = list(MMA_AND_COPY), device = list "threads libcuda libblas piece",
  gemm = list "alpha beta family precision stream activation bias residual",
  plan_gemm = list "alpha beta family precision activation bias residual",
  plan = list "alpha beta family precision activation bias residual", bias = list "row column",
  einsum = list "activation alpha beta bias dtype mma precision residual stream",
  tune = list "file rounds",
  verify = list "tv tiler", kernels = list "arch A epilogue",
  epilogue = list "alpha beta bias activation residual scale_a scale_b amax dtype",
  find_swizzle = list "smem write read bits dtype write_kind read_kind",
  tma = list "tensor smem box multicast dtype",
  kernel = list "mma tile stages ahead smem g2s s2r cluster schedule raster split arch epilogue",
  bank_conflicts = list(ACCESS), coalescing = list(ACCESS),
  draw = PICTURE, svg = PICTURE, html = PICTURE, latex = PICTURE,
}

-- ---------------------------------------------------------------- strings

local function sum(...)
  local all = {}
  for _, t in ipairs { ... } do table.move(t, 1, #t, #all + 1, all) end
  return all
end

-- Kinds of strings; none of them asks for a device.
local kinds = {
  mma = function() return tile.atoms() end,
  copy = function() return tile.atoms { kind = "copy" } end,
  smem = function() return tile.smem_atoms() end,
  dtype = function() return tile.dtypes() end,
  device = function() return list "cpu cpu:checked cuda cuda:0" end,
  backend = function() return list "cpu cuda" end,
  kernel = function() return sum(tile.kernels "cpu", tile.kernels "cuda") end,
  order = function() return list "left right" end,
  access = function() return list "read write ldmatrix stmatrix" end,
  part = function() return list "A B C S D" end,
  arch = function() return list "sm_70 sm_75 sm_80 sm_89 sm_90 sm_100 sm_120" end,
  way = function() return list "offset coordinate index bank value" end,
  atom_kind = function() return list "mma copy" end,
  operation = function()
    return list [[coalesce composition complement logical_divide zipped_divide tiled_divide
                  flat_divide logical_product right_inverse left_inverse]]
  end,
}

-- What strings a function takes, and an option: of a function, or of any.
local arguments = {
  mma_atom = { "mma" }, copy_atom = { "copy", "dtype" }, smem_atom = { "smem", "dtype" },
  atom_summary = { "mma", "copy" },
  tensor = { "dtype", "device" }, device = { "device" }, to = { "device" },
  kernels = { "backend" }, take = { "kernel" }, layout = { "order" }, explain = { "operation" },
  verify = { "part" }, bank_conflicts = { "dtype", "access", "part" },
  coalescing = { "dtype", "access", "part" }, make_tiled_copy_A = { "copy" },
  make_tiled_copy_B = { "copy" }, make_tiled_copy_C = { "copy" }, make_tiled_copy_S = { "copy" },
  make_tiled_copy_D = { "copy" }, load = { "file", "device", "dtype" }, save = { "file" },
  draw = { "mma", "copy" }, svg = { "mma", "copy" }, html = { "mma", "copy" },
  latex = { "mma", "copy" }, load_tuning = { "file" }, dofile = { "file" },
  loadfile = { "file" }, open = { "file" },
}
local options = {
  ["tiled_copy.atom"] = "copy", ["tiled_mma.atom"] = "mma", ["atoms.kind"] = "atom_kind",
  ["bank_conflicts.kind"] = "access", ["coalescing.kind"] = "access", ["tune.file"] = "file",
  arch = "arch", dtype = "dtype", bits = "dtype", write_kind = "access", read_kind = "access",
  by = "way", part = "part", banks = "dtype", access = "access",
  A = "dtype", B = "dtype", C = "dtype", D = "dtype", libcuda = "file", libblas = "file",
}

local cache = {}
local function strings_of(kind, beginning)
  if kind == "file" then return words.files and words.files(beginning) or {} end
  cache[kind] = cache[kind] or kinds[kind]()
  return cache[kind]
end

-- The strings that the arguments of a function are.
function words.of_argument(name, beginning)
  local all = {}
  for i, kind in ipairs(arguments[name] or {}) do all[i] = strings_of(kind, beginning) end
  return sum(table.unpack(all))
end

function words.of_option(name, key, beginning)
  local kind = options[name .. "." .. key] or options[key]
  return kind and strings_of(kind, beginning) or {}
end

return words
