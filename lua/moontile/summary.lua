-- summary.lua: an atom in a few numbers: threads, values of each, who shares, registers.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local bits_of = need "element"

-- Threads that hold each element: the extents of the thread mode whose stride is 0.
local function sharing(tv)
  local thr, n = tile.flatten(tile.get(tv, 1)), 1
  for i = 1, tile.rank(thr) do
    local m = tile.get(thr, i)
    if tile.size(m) > 1 and tile.cosize(m) == 1 then n = n * tile.size(m) end
  end
  return n
end

-- Places that a thread has side by side.
local function run(tv)
  local m = tile.get(tile.coalesce(tile.get(tv, 2)), 1)
  return tile.size(m) > 1 and tile.cosize(m) == tile.size(m) and tile.size(m) or 1
end

local function count(n, what) return ("%d %s%s"):format(n, what, n == 1 and "" or "s") end

-- "128 bits": whole bytes as bytes.
local function size(bits)
  return bits % 8 == 0 and count(bits // 8, "byte") or count(bits, "bit")
end

local function held(n)
  return n == 1 and "each held once" or ("each held by %d threads"):format(n)
end

local function show(s)
  local lines = { s.head }
  for _, side in ipairs(s) do
    lines[#lines + 1] = ("  %s  %s"):format(side.name, side.text)
  end
  return table.concat(lines, "\n")
end

local Summary = { __tostring = show, __name = "moontile.Summary", __metatable = "moontile.Summary" }

-- ---------------------------------------------------------------- MMA atoms

local function operand(atom, name)
  local tv, element = atom["layout_" .. name], atom.dtype[name]
  local side = { name = name, element = element, values = tile.size(tv, 2), shared = sharing(tv),
                 source = atom.src[name] }
  local text
  if side.source == "reg" then
    side.registers = -(-side.values * bits_of(element) // 32)
    text = ("%s: %s of a thread in %s, %s"):format(
      element, count(side.values, "value"), count(side.registers, "register"), held(side.shared))
  else
    text = ("%s: %s in %s"):format(element, count(side.values, "value"), side.source == "tmem"
                                   and "tensor memory" or "shared memory, by a descriptor")
  end
  side.text = text
  return side
end

local function of_mma(atom)
  local shape, threads = atom.shape_MNK, tile.size(atom.thr_id)
  local s = { name = atom.name, arch = atom.arch, threads = threads,
              products = shape[1] * shape[2] * shape[3] }
  for i, name in ipairs { "A", "B", "C" } do
    s[i] = operand(atom, name)
    s[name] = s[i]
  end
  s.head = ("%s: %s, %s by %s"):format(s.name, s.arch, count(s.products, "product"),
                                       count(threads, "thread"))
  return setmetatable(s, Summary)
end

-- ---------------------------------------------------------------- copy atoms

local function side_of(name, tv, bits)
  local side = { name = name, values = tile.size(tv, 2), shared = sharing(tv), run = run(tv) }
  side.text = ("%s of a thread, %s side by side, %s"):format(
    count(side.values, "value"), size(side.run * bits), held(side.shared))
  return side
end

local function of_copy(atom)
  local threads = tile.size(atom.thr_id)
  local places = tile.size(atom.layout_src) // sharing(atom.layout_src)
  local s = { name = atom.name, arch = atom.arch, threads = threads, bits = atom.bits,
              moved = places * atom.bits }
  s[1], s[2] = side_of("source     ", atom.layout_src, s.bits),
               side_of("destination", atom.layout_dst, s.bits)
  s.src, s.dst = s[1], s[2]
  local open = s.moved == 1 and s.arch ~= "own"      -- DefaultCopy and its like: any width
  s.head = ("%s: %s, %s by %s"):format(s.name, s.arch, open and "as many bits as can be proven"
                                       or size(s.moved), count(threads, "thread"))
  if open then s[1], s[2] = nil, nil end
  return setmetatable(s, Summary)
end

-- ---------------------------------------------------------------- any

-- atom_summary(atom | name [, bits | dtype])
return function(atom, bits)
  local given = atom
  if type(atom) == "string" then
    local found, x = pcall(tile.copy_atom, atom, bits)
    if not found and not bits then found, x = pcall(tile.mma_atom, atom) end
    if not found then error(x, 0) end
    atom = x
  end
  local class = getmetatable(atom)
  if class == "moontile.TiledMMA" then return of_mma(atom:atom()) end
  if class == "moontile.MmaAtom" then return of_mma(atom) end
  if class == "moontile.CopyAtom" then
    return of_copy(bits and tile.copy_atom(atom, bits) or atom)
  end
  error(("atom_summary: an atom or the name of one expected, got %s"):format(
    need "kind"(given)), 0)
end
