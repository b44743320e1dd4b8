-- moontile - a language for tiling: what the module adds in Lua to its part in C.
-- SPDX-License-Identifier: MIT

local tile = require "moontile.core"
local contraction = require "moontile.contraction"
local einsum = require "moontile.einsum"
local show = require "moontile.show"
local tuning = require "moontile.tuning"

-- print_layout(A), A:print_layout() -> text: the library itself never prints.
tile.print_layout = show.print_layout
tile._methods.Layout.print_layout = show.print_layout

tile.einsum, tile.einsum_fold = contraction.einsum, contraction.einsum_fold
tile.im2col, tile._methods.Tensor.im2col = contraction.im2col, contraction.im2col
tile._methods.Layout.im2col = einsum.im2col

tile.tune, tile.load_tuning = tuning.tune, tuning.load_tuning

-- Parts of a tensor are views of it.
for _, name in ipairs { "local_tile", "local_partition", "inner_partition", "outer_partition",
                        "domain_offset" } do
  tile._methods.Tensor[name] = tile[name]
end

-- info() -> what this build carries and what it found:
--   { version =, kernels = { cpu = {...}, cuda = {...} }, devices = { { name =, about = }, ... },
--     cuda = why there is no GPU, or nil }
-- `libcuda` is the path of another driver.
function tile.info(libcuda)
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

return tile
