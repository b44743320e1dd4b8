-- moontile.export_stub - exported plans: what is C, whatever the plan.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local text = need "export_text"
local format, concat, gsub = string.format, table.concat, string.gsub

-- $NAME is the identifier, $KEY a piece of text.
local function fill(template, pieces) return (gsub(template, "%$(%u+)", pieces)) end

-- ---------------------------------------------------------------- data

local WORDS_A_LINE <const> = 6

-- Bytes as an array of words; a zero follows.
local function array(name, bytes)
  bytes = bytes .. ("\0"):rep(8 - #bytes % 8)
  local lines, line = {}, {}
  for at = 1, #bytes, 8 do
    line[#line + 1] = format("0x%xu", (string.unpack("<I8", bytes, at)))
    if #line == WORDS_A_LINE then
      lines[#lines + 1], line = concat(line, ","), {}
    end
  end
  if #line > 0 then lines[#lines + 1] = concat(line, ",") end
  return format("static _Alignas(64) const uint64_t %s[%d] = {\n%s};\n", name, #bytes // 8,
                concat(lines, ",\n"))
end

local function rows(kind, name, list)
  if #list == 0 then return "" end
  return format("static const %s %s[] = {\n  %s};\n", kind, name, concat(list, ",\n  "))
end

local function launch_data(launch, i)
  local x = launch.data
  return array("parameter_" .. i, x.parameter) .. rows("place", "places_" .. i, x.places)
         .. rows("map", "maps_" .. i, x.maps)
end

local function launch_row(launch, i)
  local function list(kind, x) return #x > 0 and format("%s_%d, %d", kind, i, #x) or "NULL, 0" end
  return format('  {"%s", %d, parameter_%d, %d, %du, %du, %du, %du, %d, %d, %s, %s}', launch.kernel,
                launch.index, i, #launch.parameter, launch.blocks, launch.threads, launch.shared,
                launch.cluster, launch.early and 1 or 0, launch.most_shared,
                list("places", launch.data.places), list("maps", launch.data.maps))
end

-- ---------------------------------------------------------------- arguments

local function comment(words)
  local lines = {}
  for line in (gsub(words, "%*/", "* /") .. "\n"):gmatch "(.-)\n" do
    lines[#lines + 1] = gsub("**   " .. line, "%s+$", "")
  end
  return concat(lines, "\n")
end

local function each(tensors, f, separator)
  local list = {}
  for i, t in ipairs(tensors) do list[i] = f(t, i) end
  return concat(list, separator)
end

local function described(tensors, align)
  return each(tensors, function(t)
    local words = format("**   %s: %d bytes, at an address that is %d modulo %d", t.name, t.bytes,
                         t.residue, align)
    if t.element then words = format("%s; its element 0 at byte %d", words, t.element) end
    local first = tensors[t.group + 1]
    return first == t and words or format("%s; the buffer of %s", words, first.name)
  end, "\n")
end

local function sizes(name, tensors)
  return "/* Bytes of the buffers. */\n" .. each(tensors, function(t)
    return format("#define %s_%s_BYTES UINT64_C(%d)", name, t.name:upper(), t.bytes)
  end, "\n")
end

local function pieces_of(name, tensors, align, about)
  local p = { NAME = name, VERSION = tile._VERSION, ABOUT = comment(about), ALIGN = align,
              TENSORS = #tensors }
  p.ARGUMENTS = described(tensors, align)
  p.SIZES = sizes(name, tensors)
  p.ROWS = each(tensors, function(t)
    return format("    {%du, %d, %d, %d}, /* %s */", t.bytes, t.residue, t.group,
                  t.written and 1 or 0, t.name)
  end, "\n")
  return p
end

local function texts(p, functions, source)
  local inner = { FUNCTIONS = fill(functions, p), CHECK = fill(text.check, p) }
  for key, piece in pairs(p) do inner[key] = piece end
  return fill(text.header, inner), fill(source, inner) .. fill(text.words, p)
end

local stub = {}

function stub.launches(name, x, images, about)
  local p = pieces_of(name, x.tensors, 16, about)
  p.PARAMETERS = each(x.tensors, function(t) return "uint64_t " .. t.name end, ", ")
  p.NAMES = each(x.tensors, function(t) return t.name end, ", ")
  local last = x.tensors[#x.tensors]
  p.MEMORY = last.name == "workspace"
             and "The workspace is\n** memory of the device, of any contents." or ""
  p.NIMAGES, p.NLAUNCHES = #images, #x.launches
  p.IMAGES = each(images, function(i) return "image_" .. i.name end, ", ")
  p.LAUNCHROWS = each(x.launches, launch_row, ",\n")
  p.DATA = each(images, function(i) return array("image_" .. i.name, i.text) end, "")
           .. each(x.launches, launch_data, "")
  return texts(p, text.of_launches, text.launches)
end

-- ---------------------------------------------------------------- loops

-- The furthest steps of dst outside.
local function ordered(axes)
  table.sort(axes, function(a, b)
    local s, t = math.abs(a[3]), math.abs(b[3])
    if s ~= t then return s > t end
    return math.abs(a[2]) > math.abs(b[2])
  end)
  return axes
end

local function element(side, of, last)
  local at = format("%s%d", of, last)
  if side.mask ~= 0 then
    at = format(side.shift < 0 and "(%s ^ ((%s & %d) << %d))" or "(%s ^ ((%s & %d) >> %d))", at, at,
                side.mask, math.abs(side.shift))
  end
  return side.origin ~= 0 and format("%d + %s", side.origin, at) or at
end

-- The sums of an axis: of src, dst and each bound.
local function sums(axis, k, nbound)
  local list = {}
  for i = 1, 2 + nbound do
    local of = i == 1 and "s" or i == 2 and "d" or "b" .. i - 2 .. "_"
    list[i] = format("%s%d = %s%d + i%d * %d", of, k, of, k - 1, k, axis[i + 1])
  end
  return "const int64_t " .. concat(list, ", ") .. ";"
end

local function loop_lines(x)
  local axes, n = ordered(x.axes), #x.bounds
  local first = { format("s0 = %d", x[1].offset), format("d0 = %d", x[2].offset) }
  for i = 1, n do first[#first + 1] = format("b%d_0 = 0", i) end
  local lines = { "  const int64_t " .. concat(first, ", ") .. ";" }
  for k, axis in ipairs(axes) do
    lines[#lines + 1] = format("  for (int64_t i%d = 0; i%d < %d; i%d++) {", k, k, axis[1], k)
    lines[#lines + 1] = "    " .. sums(axis, k, n)
  end
  for i, bound in ipairs(#axes > 0 and x.bounds or {}) do
    lines[#lines + 1] = format("    if (b%d_%d >= %d) continue;", i, #axes, bound)
  end
  lines[#lines + 1] = format("    memcpy((char *)dst + (%s) * %d, "
                             .. "(const char *)src + (%s) * %d, %d);",
                             element(x[2], "d", #axes), x.elem, element(x[1], "s", #axes), x.elem,
                             x.elem)
  lines[#lines + 1] = "  " .. ("}"):rep(#axes)
  return concat(lines, "\n")
end

function stub.loops(name, x, about)
  local p = pieces_of(name, x.tensors, x.elem, about)
  p.PARAMETERS = "const void *src, void *dst"
  p.LOOPS = loop_lines(x)
  return texts(p, text.of_loops, text.loops)
end

return stub
