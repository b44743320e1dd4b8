-- moontile.picture.kinds - what can be drawn, by what it is: each gives a description of cells.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local options = need "picture.options"
local match = string.match

-- By the class of a value: the options it takes, the file that describes it, the function there.
local KINDS = {
  ["moontile.Layout"] = { "layout", "layout" },
  ["moontile.Tensor"] = { "layout", "tensor" },
  ["moontile.Value"] = { "swizzle", "value" },
  ["moontile.MmaAtom"] = { "mma", "mma_atom" },
  ["moontile.TiledMMA"] = { "mma", "tiled_mma" },
  ["moontile.CopyAtom"] = { "copy", "copy_atom" },
  ["moontile.TiledCopy"] = { "copy", "tiled_copy" },
  ["moontile.Plan"] = { "plan", "plan" },
  ["moontile.Kernel"] = { "plan", "kernel" },
  table = { "tv", "tv" },
}

local describe = {}

function describe.layout(A, o)
  if o.banks ~= nil then return need("picture.banks").of_layout(A, o) end
  local swizzle = need "picture.swizzle"
  if swizzle.is_swizzled(A) and not o.tensor then return swizzle.picture(A, o) end
  return need("picture.grid").picture(A, o)
end

function describe.tensor(T, o)
  o.tensor, o.bits = T, o.bits or 8 * T:itemsize()
  local picture = describe.layout(T:layout(), o)
  if o.banks == nil then picture.title = tostring(T) end
  return picture
end

function describe.value(w, o)
  check(match(tostring(w), "^Sw<"), "%s: %s is no layout and no swizzle", o.way, w)
  return need("picture.swizzle").of_integers(w, o)
end

function describe.mma_atom(atom, o) return need("picture.mma").atom(atom, o) end
function describe.tiled_mma(mma, o) return need("picture.mma").tiled(mma, o) end
function describe.copy_atom(atom, o) return need("picture.copy").atom(atom, o) end
function describe.plan(plan) return need("picture.costs").picture(plan) end

function describe.kernel(kernel, o) return need("picture.pipeline").picture(kernel, o) end

function describe.tiled_copy(copy, o)
  if o.banks ~= nil then return need("picture.banks").of_copy(copy, o) end
  return need("picture.copy").tiled(copy, o)
end

function describe.tv(x, o)
  if o.banks ~= nil then return need("picture.banks").of_layout(x.tv, o) end
  return need("picture.tv").picture(x, o)
end

-- A text stands for the layout that it writes, or the atom that has it as its name: one that
-- copies is drawn with values of 16 bits, where it can move some.
local function named(text)
  local is_one, x = pcall(tile.parse, text)
  if is_one or match(text, "^%s*[%d(%-]") or match(text, "^%s*Sw<") then
    x = is_one and x or tile.parse(text)
    local one = type(x) == "table" and #x == 1 and x[1] -- CuTe prints ((2,3):(3,1))
    return getmetatable(one) == "moontile.Layout" and one or x
  end
  local ok, atom = pcall(tile.mma_atom, text)
  if ok then return atom end
  for _, bits in ipairs { 16, 8, 1 } do
    local is_copy, other = pcall(tile.copy_atom, text, bits)
    if is_copy then return other end
  end
  error(atom, 0)
end

-- One thread of a tiled copy or MMA does not say which it is of.
local INSTEAD = {
  ["moontile.ThrCopy"] = "; draw the tiled copy with { thread = n }",
  ["moontile.ThrMMA"] = "; draw the tiled MMA with { thread = n }",
  ["moontile.Tuple"] = "; tile.layout(shape) makes a layout of it",
  ["moontile.Device"] = "",
}

local function kind_of(x, way)
  local class = type(x) == "userdata" and getmetatable(x) or type(x)
  if type(class) ~= "string" then class = "userdata" end
  local kind = KINDS[class]
  if kind and (class ~= "table" or rawget(x, "tv") ~= nil) then return kind end
  if getmetatable(x) == "moontile.Tuple" then class = "moontile.Tuple" end
  check(false, "%s: a layout, a tensor, a swizzle, an atom or its name, a tiled copy or MMA,"
        .. " a plan, a kernel, or { tv = layout, tiler = shape } expected, got %s%s", way, class,
        INSTEAD[class] or "")
end

-- kinds(way, x, given, most): the picture of x, and its options.
return function(way, x, given, most)
  if type(x) == "string" then x = named(x) end
  local kind = kind_of(x, way)
  local o = options.of(way, kind[1], given, most)
  local picture = describe[kind[2]](x, o)
  picture.title = o.title or picture.title
  return picture, o
end
