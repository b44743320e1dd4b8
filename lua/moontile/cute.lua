-- moontile.cute - values as CuTe's C++ (with assertions that prove them there), as calls of its DSL
-- for Python, or of pycute, as what it prints.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check, assertions = need "faults", need "assertions"
local dsl = need "dsl"
local traits, using = need "traits", need "cute_older"
local find, format, gmatch, gsub, match = string.find, string.format, string.gmatch, string.gsub,
                                          string.match
local concat, tostring, type = table.concat, tostring, type
local getmetatable = getmetatable

local FORMS = { cpp = "C++", type = "C++", header = "C++", dsl = "CuTe's DSL", pycute = "pycute",
                print = "what CuTe prints" }

-- ---------------------------------------------------------------- numbers and tuples

-- The integers that CuTe has names for.
local NAMED = {}
for n in gmatch("0 1 2 3 4 5 6 7 8 9 10 12 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 256 "
                .. "512 1024 2048 4096 8192 16384 32768 65536", "%d+") do
  NAMED[n] = "_" .. n
end

local function cpp_number(text)
  return NAMED[text] or text == "_" and "Underscore" or format("Int<%s>", text)
end

-- "4@1@0", a basis element printed from the inside, as ScaledBasis<_4,0,1>.
local function path_of(text, separator)
  local path = {}
  for i in gmatch(text, "@(%d+)") do table.insert(path, 1, i) end
  return concat(path, separator)
end

local function cpp_scalar(text)
  local n = match(text, "^(%-?%d+)@")
  if not n then return cpp_number(text) end
  return format("ScaledBasis<%s,%s>", cpp_number(n), path_of(text, ","))
end

local function dsl_scalar(text)
  local n = match(text, "^(%-?%d+)@")
  return n and format("cute.ScaledBasis(%s, [%s])", n, path_of(text, ", ")) or text
end

-- The text of a tuple, written by these functions: of a scalar, of the items of a tuple.
local function tuple(text, scalar, items)
  local at = 1
  local function read()
    if text:sub(at, at) ~= "(" then
      local word = match(text, "^[^,()]+", at)
      at = at + #word
      return scalar(word)
    end
    local list = {}
    at = at + 1
    while text:sub(at, at) ~= ")" do
      list[#list + 1] = read()
      if text:sub(at, at) == "," then at = at + 1 end
    end
    at = at + 1
    return items(list)
  end
  return read()
end

local function of_template(name)
  return function(list) return name .. "<" .. concat(list, ",") .. ">" end
end

-- A tuple of one has a comma in Python.
local function of_python(list)
  return "(" .. concat(list, ", ") .. (#list == 1 and "," or "") .. ")"
end

-- As CuTe prints it: numbers with an underscore, but for those of a swizzle and of paths.
local function printed(text)
  text = gsub(text, "%f[%w_@-]%-?%d+", "_%0")
  return (gsub(text, "Sw<.->", function(w) return (gsub(w, "_", "")) end))
end

-- ---------------------------------------------------------------- layouts

-- Shape and stride of a layout's text.
local function parts_of(text)
  check(not find(text, "{", 1, true), "cute: the values %s are listed, and no text of CuTe's has"
        .. " them: write the function there, or a tensor of these values", text)
  local shape, stride = match(text, "^(.-):(.*)$")
  check(not find(stride, "F", 1, true), "cute: %s has strides of F2, which CuTe has not", text)
  check(not find(stride, "+", 1, true), "cute: %s has strides that are sums, which CuTe has not",
        text)
  return shape, stride
end

-- The text of a layout by how a layout of strides is written, a swizzle, and two composed.
local function written(text, plain, swizzle, composed)
  local f, offset, under = match(text, "^(.-) o (%-?%d+) o (.*)$")
  if not f then return plain(text) end
  local w = match(f, "^Sw<(.-)>$")
  return composed(w and swizzle(w) or plain(f), offset, written(under, plain, swizzle, composed))
end

local layouts = {}

local function plain_type(text)
  local shape, stride = parts_of(text)
  return format("Layout<%s,%s>", tuple(shape, cpp_number, of_template "Shape"),
                tuple(stride, cpp_scalar, of_template "Stride"))
end

function layouts.type(text)
  return written(text, plain_type, function(w)
    return "Swizzle<" .. w .. ">"
  end, function(f, offset, under)
    return format("ComposedLayout<%s,%s,%s>", f, cpp_number(offset), under)
  end)
end

local function itself(text) return text end

local function plain_dsl(text)
  local shape, stride = parts_of(text)
  return format("cute.make_layout(%s, stride=%s)", tuple(shape, itself, of_python),
                tuple(stride, dsl_scalar, of_python))
end

function layouts.dsl(text)
  return written(text, plain_dsl, function(w)
    return "cute.make_swizzle(" .. gsub(w, ",", ", ") .. ")"
  end, function(f, offset, under)
    return format("cute.make_composed_layout(%s, %s, %s)", f, offset, under)
  end)
end

local function plain_pycute(text)
  check(not find(text, "@", 1, true),
        "cute: %s has strides that are basis elements, which pycute has not", text)
  local shape, stride = parts_of(text)
  return format("Layout(%s, %s)", tuple(shape, itself, of_python), tuple(stride, itself, of_python))
end

function layouts.pycute(text)
  return written(text, plain_pycute, function(w)
    return "Swizzle(" .. gsub(w, ",", ", ") .. ")"
  end, function(f, offset, under)
    return format("ComposedLayout(%s, %s, %s)", f, offset, under)
  end)
end

function layouts.print(text)
  return written(text, function(plain)
    parts_of(plain)
    return printed(plain)
  end, function(w) return "Sw<" .. w .. ">" end, function(f, offset, under)
    return format("%s o _%s o %s", f, offset, under)
  end)
end

function layouts.cpp(text, A, name)
  return format("// %s\nusing %s = %s;\n%s", text, name, layouts.type(text), assertions(A, name))
end

-- ---------------------------------------------------------------- tuples, swizzles

local tuples = {}

function tuples.type(text) return tuple(text, cpp_number, of_template "Shape") end
local function python_number(text) return text == "_" and "None" or text end
function tuples.dsl(text) return tuple(text, python_number, of_python) end
tuples.pycute, tuples.print = tuples.dsl, printed
function tuples.cpp(text, _, name) return format("using %s = %s;", name, tuples.type(text)) end

-- Tuples with layouts in them.
local tilers = {}

local function tiler_of(t, of_layout, of_number, around)
  local items = {}
  for i = 1, #t do
    local x = t[i]
    items[i] = type(x) == "table" and tiler_of(x, of_layout, of_number, around)
               or (getmetatable(x) == "moontile.Layout" and of_layout or of_number)(tostring(x))
  end
  return around(items)
end

function tilers.type(_, t) return tiler_of(t, layouts.type, cpp_number, of_template "Tile") end
function tilers.dsl(_, t) return tiler_of(t, layouts.dsl, python_number, of_python) end
function tilers.pycute(_, t) return tiler_of(t, layouts.pycute, python_number, of_python) end
function tilers.print(text) return printed(text) end
function tilers.cpp(_, t, name) return format("using %s = %s;", name, tilers.type(nil, t)) end

local swizzles = {}

function swizzles.type(text) return (gsub(text, "^Sw", "Swizzle")) end
function swizzles.dsl(text)
  return "cute.make_swizzle(" .. gsub(match(text, "<(.*)>"), ",", ", ") .. ")"
end
function swizzles.pycute(text)
  return "Swizzle(" .. gsub(match(text, "<(.*)>"), ",", ", ") .. ")"
end
function swizzles.print(text) return text end
function swizzles.cpp(text, w, name)
  local lines = { format("using %s = %s;", name, swizzles.type(text)) }
  for i = 0, 9 do
    local k = (1 << i) * 5
    lines[#lines + 1] = format("static_assert(%s{}(%d) == %d);", name, k, w(k))
  end
  return concat(lines, "\n")
end

-- ---------------------------------------------------------------- tiled copies and MMAs

-- Operations of sm_90 have the majors of what lies in shared memory, where there is a choice; those
-- of sm_100 have them in their name.
local function operation(name)
  if match(name, "^SM100_MMA_") then
    return (gsub(name, "%f[%w](M?N?K?)%f[^%w]", { K = "UMMA::Major::K", MN = "UMMA::Major::MN" }))
  end
  if not match(name, "^SM90_64x") then return name end
  local bare, a, b = match(name, "^(.*)<(M?[KN]),?(M?[KN]?)>$")
  if not a and match(name, "_[SR]S$") then bare, a = name, "K" end
  if a then
    return format("%s<GMMA::Major::%s,GMMA::Major::%s>", bare, a, b and b ~= "" and b or "K")
  end
  return match(name, "_S32") and name or name .. "<>"
end

-- The modes of a tiler as texts. Beside a layout an extent n is n:1 here; CuTe keeps it as it is.
local function items_of(tiler, n)
  local items, mixed = {}, false
  for i = 1, n do
    local x = tiler[i]
    items[i] = tostring(x == nil and "_" or x)
    mixed = mixed or find(items[i], ":", 1, true) and not match(items[i], "^%d+:1$")
  end
  for i = 1, mixed and n or 0 do items[i] = gsub(items[i], "^(%d+):1$", "%1") end
  return items
end

local function tiler_item(text)
  if text == "_" then return "Underscore" end
  return find(text, ":", 1, true) and layouts.type(text) or cpp_number(text)
end

local mmas, mma_atoms, copy_atoms = {}, {}, {}

-- CuTe has no name for an atom that was described here; `op` is the operation that is declared.
local function operation_of(atom, op)
  if atom.arch ~= "own" then return operation(atom.name) end
  check(op, "cute: %s is an atom of your own: CuTe has no operation of this name\n"
        .. "tile.cute(x) and tile.cute(x, \"header\") declare one, with its traits", atom.name)
  return op
end

function mmas.type(_, mma, op)
  local items, atom = items_of(mma:permutation(), 3), mma:atom()
  for i = 1, 3 do items[i] = tiler_item(items[i]) end
  return format("TiledMMA<MMA_Atom<%s>,%s,Tile<%s>>", operation_of(atom, op),
                layouts.type(tostring(mma:atoms())), concat(items, ","))
end

-- By mode: an extent, a layout, None.
local function dsl_tiler(tiler, n)
  local items = items_of(tiler, n)
  for i, text in ipairs(items) do
    items[i] = text == "_" and "None" or find(text, ":", 1, true) and layouts.dsl(text) or text
  end
  return of_python(items)
end

function mmas.dsl(_, mma)
  local atoms, tiler = layouts.dsl(tostring(mma:atoms())), dsl_tiler(mma:permutation(), 3)
  local more = tiler ~= "(None, None, None)" and ", permutation_mnk=" .. tiler or ""
  return format("cute.make_tiled_mma(%s, %s%s)", dsl.mma_op(mma:atom()), atoms, more)
end

function mmas.print(_, mma)
  return format("TiledMMA\n  ThrLayoutVMNK:  %s\n  PermutationMNK: (%s)\n%s",
                layouts.print(tostring(mma:thr_layout_VMNK())),
                printed(concat(items_of(mma:permutation(), 3), ",")),
                mma_atoms.print(nil, mma:atom()))
end

function mmas.cpp(_, mma, name)
  local lines = { using(name, mmas.type(nil, mma, name .. "_op")),
                  format("static_assert(size(%s{}) == %d);", name, mma:size()) }
  for i = 1, 3 do
    lines[#lines + 1] = format("static_assert(tile_size<%d>(%s{}) == %d);", i - 1, name,
                               mma:tile_shape()[i])
  end
  return concat(lines, "\n")
end

local copies = {}

-- Of extents a shape, of layouts a tile.
local function tile_type(tiler)
  local text = tostring(tiler)
  if not find(text, ":", 1, true) then return tuples.type(text) end
  local items = items_of(tiler, tile.rank(tiler))
  for i, item in ipairs(items) do items[i] = tiler_item(item) end
  return format("Tile<%s>", concat(items, ","))
end

function copies.type(_, copy, op)
  return format("TiledCopy<%s,%s,%s>", copy_atoms.type(nil, copy:atom(), op),
                layouts.type(tostring(copy:tiled_layout_TV())),
                tile_type(copy:tiler_MN()))
end

function copies.dsl(_, copy)
  local tiler = copy:tiler_MN()
  return format("cute.make_tiled_copy(%s, %s, %s)", dsl.copy_atom(copy:atom()),
                layouts.dsl(tostring(copy:tiled_layout_TV())), dsl_tiler(tiler, tile.rank(tiler)))
end

function copies.print(_, copy)
  local tiler = copy:tiler_MN()
  return format("TiledCopy\n  Tiler_MN:       (%s)\n  TiledLayout_TV: %s\n%s",
                printed(concat(items_of(tiler, tile.rank(tiler)), ",")),
                layouts.print(tostring(copy:tiled_layout_TV())),
                copy_atoms.print(nil, copy:atom()))
end

function copies.cpp(text, copy, name)
  return format("using %s = %s;\nstatic_assert(size(%s{}) == %d);", name,
                copies.type(text, copy, name .. "_op"), name, copy:size())
end

-- ---------------------------------------------------------------- atoms

-- Assertions of the layouts of an atom, by the names that they have in it.
local function asserted(lines, name, members, layouts_of)
  for i, member in ipairs(members) do
    lines[#lines + 1] = assertions(layouts_of[i], format("typename %s::%s", name, member))
  end
  return concat(lines, "\n")
end

function mma_atoms.type(_, atom, op) return format("MMA_Atom<%s>", operation_of(atom, op)) end

function mma_atoms.dsl(_, atom) return format("cute.make_mma_atom(%s)", dsl.mma_op(atom)) end

-- "Key:   layout", a line each, under a head.
local function lines_of(head, width, rows)
  local lines = { head }
  for i = 1, #rows, 2 do
    lines[#lines + 1] = format("  %-" .. width .. "s %s", rows[i] .. ":", rows[i + 1])
  end
  return concat(lines, "\n")
end
local function print_of(x) return printed(tostring(x)) end

function mma_atoms.print(_, atom)
  return lines_of("MMA_Atom", 11, {
    "ThrID", print_of(atom.thr_id), "Shape_MNK", print_of(atom.shape_MNK),
    "LayoutA_TV", print_of(atom.layout_A), "LayoutB_TV", print_of(atom.layout_B),
    "LayoutC_TV", print_of(atom.layout_C) })
end

function mma_atoms.cpp(_, atom, name)
  local lines = { using(name, mma_atoms.type(nil, atom, name .. "_op")) }
  for i = 1, 3 do
    lines[#lines + 1] = format("static_assert(size<%d>(typename %s::Shape_MNK{}) == %d);", i - 1,
                               name, atom.shape_MNK[i])
  end
  return asserted(lines, name, { "ThrID", "LayoutA_TV", "LayoutB_TV", "LayoutC_TV" },
                  { atom.thr_id, atom.layout_A, atom.layout_B, atom.layout_C })
end

function copy_atoms.type(_, atom, op)
  local own = atom.arch == "own"
  return format("Copy_Atom<%s,uint_bit_t<%d>>", own and operation_of(atom, op) or atom.name,
                atom.bits)
end

function copy_atoms.dsl(_, atom) return dsl.copy_atom(atom) end

function copy_atoms.print(_, atom)
  return lines_of("Copy_Atom", 13, {
    "ThrID", print_of(atom.thr_id), "ValLayoutSrc", print_of(atom.layout_src),
    "ValLayoutDst", print_of(atom.layout_dst), "ValLayoutRef", print_of(atom.layout_ref),
    "ValueType", atom.bits .. "b" })
end

function copy_atoms.cpp(_, atom, name)
  local lines = { format("using %s = %s;", name, copy_atoms.type(nil, atom, name .. "_op")) }
  return asserted(lines, name, { "ThrID", "ValLayoutSrc", "ValLayoutDst", "ValLayoutRef" },
                  { atom.thr_id, atom.layout_src, atom.layout_dst, atom.layout_ref })
end

-- ---------------------------------------------------------------- atoms of one's own

-- The traits of the atom in x, if that is one's own.
local declares = {
  ["moontile.MmaAtom"] = function(x) return traits.mma, x end,
  ["moontile.TiledMMA"] = function(x) return traits.mma, x:atom() end,
  ["moontile.CopyAtom"] = function(x) return traits.copy, x end,
  ["moontile.TiledCopy"] = function(x) return traits.copy, x:atom() end,
}

-- The declaration of the operation NAME_op and its traits, in the scope of which it is; nothing if
-- CuTe has the operation. They stand outside of any namespace.
local function declared(x, name, scope)
  local of = declares[getmetatable(x)]
  if not of then return end
  local write, atom = of(x)
  if atom.arch ~= "own" then return end
  return write({ layouts = layouts, tuples = tuples }, atom, name .. "_op", scope .. name .. "_op")
end

-- ---------------------------------------------------------------- all of them

local HEADER = [[
#pragma once
#include <cute/tensor.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cutlass/version.h>

%snamespace moontile {
using namespace cute;

%s
}  // namespace moontile]]

local kernels = need "cute_kernel" {
  layouts = layouts, tuples = tuples, mmas = mmas, copies = copies, assertions = assertions,
}

local of = { ["moontile.MmaAtom"] = mma_atoms, ["moontile.CopyAtom"] = copy_atoms,
             ["moontile.Kernel"] = kernels,
             ["moontile.Layout"] = layouts, ["moontile.Tuple"] = tuples,
             ["moontile.TiledMMA"] = mmas, ["moontile.TiledCopy"] = copies }

-- The writers for x, and its text.
local function writers_of(x)
  if math.type(x) == "integer" then return tuples, tostring(x) end
  if type(x) == "table" then
    local text = #x == 0 and "()" or tostring(tile.take(x, 1, #x))
    return find(text, ":", 1, true) and tilers or tuples, text
  end
  local text = tostring(x)
  if match(text, "^Sw<[^>]*>$") then return swizzles, text end
  return of[getmetatable(x)], text
end

-- CuTe prints (shape:stride) for shape:stride.
local function said(text)
  local x = tile.parse(text)
  local one = type(x) == "table" and #x == 1 and x[1]
  return getmetatable(one) == "moontile.Layout" and one or x
end

-- cute(x [, form [, name]]): x as text; form: "cpp" (declared by a name, A unless it is said, and
-- asserted), "header" (the same as a file of its own), "type", "dsl", "pycute", "print".
return function(x, form, name)
  form, name = form or "cpp", name or "A"
  check(type(form) == "string" and FORMS[form], "cute: \"cpp\", \"header\", \"type\", \"dsl\", "
        .. "\"pycute\" or \"print\" expected, got %s", tostring(form))
  check(type(name) == "string" and match(name, "^[%a_][%w_]*$"),
        "cute: a name of C++ expected, got %s", tostring(name))
  if type(x) == "string" then x = said(x) end
  local writers, text = writers_of(x)
  check(writers, "cute: a layout, a tuple, a swizzle, an atom, a tiled copy, a tiled MMA or a "
        .. "kernel expected, got %s", text)
  local op, its = declared(x, name, form == "header" and "moontile::" or "")
  if form == "header" then
    op = op and format("namespace moontile {\n%s}\n\n%s\n\n", op, its) or ""
    return format(HEADER, op, writers.cpp(text, x, name))
  end
  if form == "cpp" and op then return op .. its .. "\n" .. writers.cpp(text, x, name) end
  check(writers[form], "cute: %s has no text for %s", FORMS[form], text)
  return writers[form](text, x, form == "cpp" and name or nil)
end
