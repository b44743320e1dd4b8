-- moontile - a language for tiling: what the module adds in Lua to its part in C.
-- SPDX-License-Identifier: MIT
--
-- What is returned is called by scripts: a row of src/binding/operations.def each says where it
-- is found and what it takes.

local need = ...
local tile = need "core"

-- info() -> what this build carries and what it found:
--   { version =, kernels = { cpu = {...}, cuda = {...} }, devices = { { name =, about = }, ... },
--     cuda = why there is no GPU, or nil }
-- `libcuda` is the path of another driver.
local function info(libcuda)
  local names, why = tile.devices(libcuda)
  local devices = {}
  for i, name in ipairs(names) do
    local device, message = tile.device { name, libcuda = libcuda }
    devices[i] = { name = name, about = device and device:about() or message }
  end
  return {
    version = tile._VERSION,
    kernels = { cpu = tile.kernels "cpu", cuda = tile.kernels "cuda" },
    devices = devices,
    cuda = why,
  }
end

-- Of a plan its kernel and others, of a kernel the precompiled ones beside it.
local function why(x)
  return getmetatable(x) == "moontile.Kernel" and need "nearest"(x) or need "tuning".why(x)
end

-- Pictures are read when the first one is drawn.
local function drawing(way)
  return function(...) return need "picture"[way](...) end
end

-- So are contractions, and constructors and questions that are written in Lua.
local function contracting(name)
  return function(...) return need "contraction"[name](...) end
end
local function making(name)
  return function(...) return need "construct"[name](...) end
end
local function asking(name)
  return function(...) return need "questions"[name](...) end
end

-- read_text(text [, atom]): what parse reads of tiled MMAs, tiled copies and atoms; nothing if the
-- text is none of these.
local function read_text(text, atom) return need "read".read(text, atom) end

local function of_hardware(name)
  return function(...) return need "hardware"[name](...) end
end

return {
  info = info, read_text = read_text,
  by_values = function(...) return need "by_values"(...) end,
  undo_listed = function(...) return need "listed"(...) end,
  einsum = contracting "einsum", einsum_fold = contracting "einsum_fold",
  im2col = contracting "im2col",
  tune = function(...) return need "tuning".tune(...) end, why = why,
  draw = drawing "draw", svg = drawing "svg", html = drawing "html", latex = drawing "latex",
  print_tensor = drawing "print_tensor",
  image = asking "image", gaps = asking "gaps", aliases = asking "aliases",
  order = asking "order", shape_mod = asking "shape_mod", sort = asking "sort",
  function_layout = function(...) return need "function_layout"(...) end,
  export = function(...) return need "export"(...) end,
  cute = function(...) return need "cute"(...) end,
  atom_summary = function(...) return need "summary"(...) end,
  tma_partition = of_hardware "tma_partition",
  create_tma_multicast_mask = of_hardware "create_tma_multicast_mask",
  tmem_frg = of_hardware "tmem_frg", tmem_fragment = of_hardware "tmem_fragment",
  tmem_frg_1sm = of_hardware "tmem_frg_1sm", tmem_frg_2sm = of_hardware "tmem_frg_2sm",
  make_tiled_copy = making "make_tiled_copy", make_cotiled_copy = making "make_cotiled_copy",
  make_tiled_copy_C_atom = making "make_tiled_copy_C_atom",
  make_tiled_mma = making "make_tiled_mma", tile_to_mma_shape = making "tile_to_mma_shape",
  ss_smem_selector = making "ss_smem_selector", rs_smem_selector = making "rs_smem_selector",
  sm100_smem_selector = making "sm100_smem_selector",
}
