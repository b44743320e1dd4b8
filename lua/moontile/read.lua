-- read.lua: tiled MMAs, tiled copies and atoms out of CuTe's texts: what it prints, types of C++,
-- calls of C++ and of its DSL.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local dsl = need "dsl"
local find, gmatch, gsub, match, sub = string.find, string.gmatch, string.gsub, string.match,
                                       string.sub
local reader, dumps = {}, {}

-- ---------------------------------------------------------------- calls and types

local OPEN <const>, CLOSE <const> = "[%(<%[{]", "[%)>%]}]"

local function trim(s) return match(s, "^%s*(.-)%s*$") end

-- What is between commas outside of brackets; nil if the brackets do not match.
local function split(text)
  local list, depth, from = {}, 0, 1
  for i = 1, #text do
    local c = sub(text, i, i)
    if find(c, OPEN) then depth = depth + 1
    elseif find(c, CLOSE) then depth = depth - 1
    elseif c == "," and depth == 0 then
      list[#list + 1], from = trim(sub(text, from, i - 1)), i + 1
    end
    if depth < 0 then return nil end
  end
  local rest = trim(sub(text, from))
  if rest ~= "" then list[#list + 1] = rest end
  return depth == 0 and list or nil
end

-- "cute::Name<a, b>{}", "cute.name(a, key=b)": { name =, last =, 1 = a, key = b }; nil: it is none.
local function call_of(text)
  local name, args = match(text, "^%s*([%w_.:]+)%s*[(<](.*)[)>]%s*{?%s*}?%s*$")
  local list = name and split(args)
  if not list then return nil end
  local call = { name = name, last = match(name, "([%w_]+)$") }
  for _, x in ipairs(list) do
    local key, value = match(x, "^([%a_][%w_]*)%s*=%s*(.*)$")
    if key then call[key] = value else call[#call + 1] = x end
  end
  return call
end

-- The name of an operation without namespaces, blanks, braces.
local function plain(text)
  local name = gsub(gsub(text, "{%s*}$", ""), "%s+", "")
  return (gsub(gsub(name, "cute::", ""), "cutlass::", ""))
end

-- ---------------------------------------------------------------- atoms

local function mma_atom(text)
  local call = call_of(text)
  if call and (call.last == "MMA_Atom" or call.last == "MMA_Traits" or call.last == "make_mma_atom")
  then return mma_atom(call[1] or "") end
  if call and find(call.last, "Op$") then return tile.mma_atom(dsl.mma_name(call)) end
  return tile.mma_atom(plain(text))
end

local BITS = { float = 32, double = 64, char = 8, short = 16, int = 32, bool = 8,
               half_t = 16, bfloat16_t = 16, tfloat32_t = 32, Boolean = 8, half = 16 }

-- Bits of a type of C++ or of the DSL.
local function bits_of(text)
  local word = match(plain(text), "([%w_<>]+)$") or text
  local bits = BITS[word] or tonumber(match(word, "^u?int_bit_t<(%d+)>$"))
               or tonumber(match(word, "^u?int(%d+)_t$")) or tonumber(match(word, "^%u%a*(%d+)"))
               or tonumber(match(word, "^float_e%dm%d_t$") and 8)
               or tonumber(match(word, "^[su](%d+)$"))
  check(bits, "parse: a type of elements expected, got %s", text)
  return bits
end

local function copy_atom(text)
  local call = call_of(text)
  check(call and call[1], "parse: a copy atom expected, got %s", text)
  if call.last == "Copy_Atom" then
    local traits = call_of(call[1])
    local op = traits and traits.last == "Copy_Traits" and traits[1] or call[1]
    return tile.copy_atom(plain(op), bits_of(call[2] or ""))
  end
  check(call.last == "make_copy_atom", "parse: a copy atom expected, got %s", text)
  local op = call_of(call[1])
  check(op, "parse: an operation expected, got %s", call[1])
  return tile.copy_atom(dsl.copy_name(op, tonumber(call.num_bits_per_copy)),
                        bits_of(call[2] or call.copy_internal_type or ""))
end

-- ---------------------------------------------------------------- tiled

local WILD = { None = true, Underscore = true, _ = true }

-- By mode: an extent, a layout, none.
local function tiler_of(text)
  if not text or WILD[plain(text)] then return nil end
  local call = call_of(text)
  local list = call and (call.last == "Tile" or call.last == "make_tile" or call.last == "tuple")
               and call or not call and split(match(text, "^%s*%((.*)%)%s*$") or "")
  if not list then return tile.parse(plain(text)) end
  local t = {}
  for i, x in ipairs(list) do
    t[i] = WILD[plain(x)] and tile._ or tile.parse((gsub(x, "{%s*}", "")))
  end
  return t
end

-- A layout, or the shape of one.
local function layout_of(text)
  local x = tile.parse((gsub(text, "{%s*}", "")))
  return getmetatable(x) == "moontile.Layout" and x or tile.layout(x)
end

local function tiled_mma(call)
  local atoms = call[2] or call.atom_layout_mnk
  return tile.tiled_mma { atom = mma_atom(call[1] or call.op_or_atom or ""),
                          atoms = atoms and layout_of(atoms),
                          permutation = tiler_of(call[3] or call.permutation_mnk) }
end

local function of_tv(call)
  local atom = copy_atom(call[1] or call.atom or "")
  return tile.tiled_copy { atom = atom, bits = atom.bits,
                           tv = layout_of(call[2] or call.layout_tv or ""),
                           tiler = tiler_of(call[3] or call.tiler_mn) }
end

local function of_thr_val(call)
  local atom = copy_atom(call[1] or call.atom or "")
  local val = call[3] or call.val_layout
  return tile.tiled_copy { atom = atom, bits = atom.bits,
                           thr = layout_of(call[2] or call.thr_layout or ""),
                           val = val and layout_of(val) }
end

local CALLS = {
  TiledMMA = tiled_mma, make_tiled_mma = tiled_mma, TiledCopy = of_tv,
  make_tiled_copy_tv = of_thr_val,
  make_tiled_copy = function(call)                -- of C++ it takes threads and values
    return (find(call.name, "%.") and of_tv or of_thr_val)(call)
  end,
}
for _, name in ipairs { "MMA_Atom", "make_mma_atom" } do
  CALLS[name] = function(_, text) return mma_atom(text) end
end
for _, name in ipairs { "Copy_Atom", "make_copy_atom" } do
  CALLS[name] = function(_, text) return copy_atom(text) end
end

-- ---------------------------------------------------------------- what CuTe prints

local function fields_of(text)
  local f = {}
  for line in gmatch(text, "[^\r\n]+") do
    local key, value = match(line, "^%s*([%w_ ]-):%s+(.-)%s*$")
    if key then f[key] = value end
  end
  return f
end

local function field(f, key)
  check(f[key], "parse: %s: not there in what CuTe prints", key)
  return f[key]
end

-- CuTe prints A of SM80_16x8x128_S32U1U1S32_TN with a pair of parentheses too many.
local function layout_in(f, key)
  local text = field(f, key)
  local ok, A = pcall(tile.layout, text)
  if ok then return A end
  local fewer, n = gsub(text, "%(%(([^()]*)%)%)%)$", "(%1))")
  return tile.layout(n == 1 and fewer or text)
end

local PARTS = { "thr_id", "layout_A", "layout_B", "layout_C" }
local COPY_PARTS = { "thr_id", "layout_src", "layout_dst", "layout_ref" }

-- The first of its names whose atom has these parts; which one it has not.
local function named(names, parts, want, make)
  local other
  for _, name in ipairs(names) do
    local ok, atom = pcall(make, name)
    local same = ok
    for _, key in ipairs(same and parts or {}) do
      if tostring(atom[key]) ~= want[key] then same, other = false, other or key end
    end
    if same then return atom end
  end
  return nil, other
end

local function mma_names(shape)
  return tile.atoms { M = shape[1], N = shape[2], K = shape[3] }
end

local function given(atom, key)
  check(atom == nil, "parse: %s has another %s than what CuTe printed", atom, key)
end

-- atom: the name of the one that is meant; or the types of one's own.
function dumps.MMA_Atom(f, atom)
  local shape, want = tile.parse(field(f, "Shape_MNK")), {}
  for i, key in ipairs { "ThrID", "LayoutA_TV", "LayoutB_TV", "LayoutC_TV" } do
    want[PARTS[i]] = tostring(layout_in(f, key))
  end
  local name = type(atom) == "string" and atom or nil
  if type(atom) ~= "table" then
    local found, other = named(name and { name } or mma_names(shape), PARTS, want, tile.mma_atom)
    if found then return found end
    given(name, other or "name")
  end
  local one = atom or { A = "f32", B = "f32", C = "f32" }
  return tile.mma_atom { shape = shape, thr_id = want.thr_id, dtypes = one, A = want.layout_A,
                         B = want.layout_B, C = want.layout_C }
end

function dumps.Copy_Atom(f, atom)
  local bits, want = tonumber(match(field(f, "ValueType"), "^(%d+)b$")), {}
  check(bits, "parse: ValueType: bits as 16b expected, got %s", f.ValueType)
  for i, key in ipairs { "ThrID", "ValLayoutSrc", "ValLayoutDst", "ValLayoutRef" } do
    want[COPY_PARTS[i]] = tostring(layout_in(f, key))
  end
  local found, other = named(atom and { atom } or tile.atoms { kind = "copy" }, COPY_PARTS, want,
                             function(name) return tile.copy_atom(name, bits) end)
  if found then return found end
  given(atom, other or "name")
  return tile.copy_atom { bits = bits, thr_id = want.thr_id, src = want.layout_src,
                          dst = want.layout_dst, ref = want.layout_ref }
end

-- (V,M,N,K) -> thread, as (M,N,K) -> atom: what lies between the threads of one atom is left out.
local function atoms_of(vmnk, thr_id)
  local mnk = tile.make_layout(tile.get(vmnk, 2), tile.get(vmnk, 3), tile.get(vmnk, 4))
  local between = tile.complement(thr_id, tile.cosize(vmnk) * tile.size(thr_id))
  local atoms = tile.composition(tile.left_inverse(between), mnk)
  return tile.equivalent(tile.composition(between, atoms), mnk) and atoms
end

function dumps.TiledMMA(f, atom)
  local vmnk = layout_in(f, "ThrLayoutVMNK")
  check(tile.rank(vmnk) == 4, "parse: ThrLayoutVMNK: (V,M,N,K) expected, got %s", vmnk)
  local a = dumps.MMA_Atom(f, atom)
  local ok, atoms = pcall(atoms_of, vmnk, a.thr_id)
  check(ok and atoms and tile.equivalent(tile.get(vmnk, 1), a.thr_id), "parse: ThrLayoutVMNK: %s "
        .. "is no layout of atoms with the threads %s", vmnk, a.thr_id)
  return tile.tiled_mma { atom = a, atoms = atoms,
                          permutation = tiler_of(field(f, "PermutationMNK")) }
end

function dumps.TiledCopy(f, atom)
  local a = dumps.Copy_Atom(f, atom)
  return tile.tiled_copy { atom = a, bits = a.bits, tv = layout_in(f, "TiledLayout_TV"),
                           tiler = tile.parse(field(f, "Tiler_MN")) }
end

function dumps.ThrMMA(f, atom)
  local mma = dumps.TiledMMA(f, atom)
  return mma:get_slice(mma:thr_layout_VMNK()(tile.parse(field(f, "Thr VMNK"))))
end

function dumps.ThrCopy(f, atom)
  local n = tile.parse(field(f, "ThrIdx"))
  return dumps.TiledCopy(f, atom):get_slice(n)
end

-- ---------------------------------------------------------------- all of them

-- read(text [, atom]): its value; nothing if it is none of these.
function reader.read(text, atom)
  local dump = dumps[match(text, "^%s*(%a[%w_]*)%s*\n") or ""]
  if dump then return dump(fields_of(text), atom) end
  local word = match(text, "^%s*[%w_.:]*%f[%w_]([%a_][%w_]*)%s*[(<]")
  if not CALLS[word or ""] then return nil end
  local call = call_of(text)
  check(call and call.last == word, "parse: the brackets of %s do not match", word)
  return CALLS[word](call, text)
end

return reader
