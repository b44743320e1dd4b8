-- cute_older.lua: types that CUTLASS says otherwise before some version.
-- SPDX-License-Identifier: MIT

local format, gmatch, gsub = string.format, string.gmatch, string.gsub
local concat = table.concat

-- Before 4.5.1 these operations are no templates: their parameters are those of the traits, which
-- have the scales written out.
local VERSION <const>, OPERATION <const> = 451, "MMA_Atom<(SM100_MMA_F8F6F4_[%w_]*SS)<([^<>]*)>>"
local WRAP <const> = { [4] = "C<%s>", [5] = "C<%s>", [6] = "integral_constant<UMMA::Major,%s>",
                       [7] = "integral_constant<UMMA::Major,%s>" }
local ONE <const> = "integral_constant<UMMA::ScaleIn,UMMA::ScaleIn::One>"

local function as_traits(operation, parameters)
  local list = { operation }
  for p in gmatch(parameters, "[^,]+") do list[#list + 1] = format(WRAP[#list] or "%s", p) end
  return format("MMA_Atom<MMA_Traits<%s,%s,%s>>", concat(list, ","), ONE, ONE)
end

-- using NAME = TYPE, for all versions.
return function(name, type)
  local now = format("using %s = %s;", name, type)
  local before, n = gsub(type, OPERATION, as_traits)
  if n == 0 then return now end
  return format("#if defined(CUTLASS_VERSION) && CUTLASS_VERSION < %d  // <cutlass/version.h>\n"
                .. "using %s = %s;\n#else\n%s\n#endif", VERSION, name, before, now)
end
