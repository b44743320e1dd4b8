-- arguments.lua: arguments as Lua text, by kinds: words of the table of calls.
-- SPDX-License-Identifier: MIT
--
-- A kind is a function of the line that is being written. The line knows the first layout or tensor
-- among its arguments, its subject: tilers, coordinates and modes fit that.

local tile = require "moontile"
local text = require "surface.text"
local laws = require "surface.laws"
local chance, pick, small = text.chance, text.pick, text.small

local kinds = {}

local DTYPES = tile.dtypes()
local MOST = 1 << 16

-- ---------------------------------------------------------------- subjects

-- The shape of a layout or a tensor as a plain table or an integer; nil if it has none.
local function shape_of(x)
  local ok, s = pcall(tile.shape, x)
  return ok and s or nil
end

-- Also what was freed.
local function is_small(x)
  local ok, n = pcall(tile.size, x)
  return not ok or n <= MOST
end

-- The text of a slot of these classes that the condition holds for, and what is in it. A finalizer
-- may empty the slots at any time.
local function slot(line, classes, condition)
  local list, found = {}, {}
  for _, i in ipairs(line.room:slots(classes)) do
    local x = line.room.v[i]
    if x ~= nil and (not condition or condition(x)) then
      list[#list + 1], found[#found + 1] = i, x
    end
  end
  if #list == 0 then return nil end
  local k = math.random(#list)
  return ("v[%d]"):format(list[k]), found[k]
end

local LAYOUTS, TENSORS = { Layout = true }, { Tensor = true }
local BOTH = { Layout = true, Tensor = true }

local function subject(line, x)
  if line.shape == nil then line.shape = shape_of(x) end
end

-- The object whose method is called.
function kinds.about(line, x)
  subject(line, x)
  local ok, d = pcall(function() return x:device() end)
  line.device = line.device or (ok and d or nil)
end

local function some(line) return line.shape or text.shape() end

-- The text of a new layout, which becomes the subject if there is none.
local function fresh(line, said)
  if line.shape == nil then
    local ok, A = pcall(tile.layout, said)
    if ok then subject(line, A) end
  end
  return ("layout %q"):format(said)
end

function kinds.L(line)
  local said, x
  if chance(0.6) then said, x = slot(line, chance(0.9) and LAYOUTS or BOTH) end
  if not said then return fresh(line, text.layout()) end
  subject(line, x)
  return said
end

-- Of many elements, of which the first list has few in memory.
local WIDE = { "(1048576,1048576):(0,0)", "(8,1099511627776):(1,0)", "4294967296:0",
               "(3,(7,1073741824)):(1,(3,0))", "((65536,3),(65536,5)):((0,1),(0,3))" }
local LONG = { "(1048576,1048576):(1048576,1)", "(2000,2000):(1,2000)", "16777216:1",
               "Sw<3,3,3> o 0 o (65536,65536):(65536,1)", "((1024,1024),1024):((1,2048),4194304)" }

-- One whose every element may be looked at; if the line ends whatever it has to do, any.
function kinds.A(line)
  local said, x
  if line.ends and chance(0.6) then return fresh(line, pick(chance(0.5) and WIDE or LONG)) end
  if chance(0.6) then said, x = slot(line, BOTH, is_small) end
  if not said then return fresh(line, text.memory(1024)) end
  subject(line, x)
  return said
end

-- On the device of the tensors before it, mostly.
function kinds.X(line)
  local said, x
  if line.ends and chance(0.7) then return kinds.make(line, fresh(line, pick(WIDE))) end
  local device = chance(0.9) and line.device or nil
  if chance(line.device and 0.85 or 0.93) then
    said, x = slot(line, TENSORS, function(T)
      local ok, d = pcall(T.device, T)
      return is_small(T) and (not device or (ok and d == device))
    end)
  end
  if said then
    subject(line, x)
    local ok, d = pcall(x.device, x)
    line.device = line.device or (ok and d or nil)
    return said
  end
  return kinds.make(line)
end

-- A new tensor.
function kinds.make(line, said)
  local name = kinds.D(line)
  for _, n in ipairs(line.room.names) do
    if line.device == line.room.devices[n] then name = n end
  end
  line.device = line.device or line.room.devices[name]
  local f = chance(0.8) and "law.make" or "tile.tensor"
  return ("%s(%q, %s, %s)"):format(f, kinds.dtype(), said or fresh(line, text.memory(512)), name)
end

-- ---------------------------------------------------------------- tuples

function kinds.S(line)
  if chance(0.1) then
    local said = slot(line, { Tuple = true })
    if said then return said end
  end
  if line.tuple and chance(0.6) then return text.lua(text.like(line.tuple)) end
  line.tuple = line.shape and chance(0.6) and line.shape or text.shape()
  return text.lua(chance(0.9) and line.tuple or text.strides(line.tuple))
end

function kinds.T(line) return text.tiler(some(line)) end
function kinds.C(line) return text.coordinate(some(line), 0.15) end
function kinds.c(line) return text.coordinate(some(line), 0) end

function kinds.M(line)
  local rank = type(line.shape) == "table" and #line.shape or 1
  return chance(0.92) and tostring(math.random(1, math.max(1, rank))) or text.integer()
end

function kinds.W() return ("tile.parse %q"):format(text.swizzle()) end
function kinds.E() return ("tile.parse %q"):format(text.basis()) end

local ANY = { kinds.L, kinds.L, kinds.L, kinds.S, kinds.S, kinds.T, kinds.C, kinds.W, kinds.E,
              small, function() return "_" end }
function kinds.V(line)
  local said = chance(0.3) and slot(line, { Layout = true, Tuple = true, Value = true })
  return said or pick(ANY)(line)
end

-- ---------------------------------------------------------------- numbers and words

kinds.I = small
kinds.N = text.integer
function kinds.f() return "function() end" end
function kinds.bits() return pick { "1", "4", "8", "16", "32", "64", "128", "'f16'", "'f32'" } end
function kinds.dtype()
  return chance(0.5) and pick { "f32", "f32", "f16", "i32", "u8" } or pick(DTYPES)
end
function kinds.d() return ("%q"):format(kinds.dtype()) end
function kinds.order(line)
  return chance(0.6) and pick { "'left'", "'right'" } or text.lua(text.strides(some(line)))
end
function kinds.number()
  return chance(0.7) and small() or pick { "0.5", "-1", "1e38", "0/0", "-math.huge", text.edge() }
end
function kinds.value() return chance(0.1) and pick { "true", "false" } or kinds.number() end

-- What can be written down and read.
function kinds.said()
  if chance(0.7) then return ("%q"):format(text.layout()) end
  local s = pick { text.layout(), text.basis(), text.swizzle(), "(4,(2,_))", "LayoutRight" }
  local at = math.random(#s)
  local odd = pick { "", "(", ")", ":", ",", "@", "9", "-", "\0", " ", "F", "Sw<", "_" }
  return ("%q"):format(s:sub(1, at - 1) .. odd .. s:sub(at + math.random(0, 1)))
end

function kinds.path()
  return chance(0.8) and ("file %q"):format(pick { "a.npy", "b.npy" }) or
         pick { "'/nonexistent/a.npy'", "file ''", "file 'a\\0b'", "''", "'/dev/null'", "'.'" }
end
function kinds.tuned() return "file 'tuned.txt'" end
function kinds.expression()
  return ("%q"):format(pick { "mk,nk->mn", "mk,kn->mn", "ij->ji", "ij->i", "ij,jk,kl->il", "ii->i",
    "ab,ab->", "abk,bk->ab", "i,j->ij", "ij", "", "->", "ij,jk->ijk", "a,a,a", "mk,nk->mnx" })
end
function kinds.op()
  return ("%q"):format(pick { "composition", "complement", "coalesce", "logical_divide",
    "right_inverse", "left_inverse", "zipped_divide", "logical_product", "nothing" })
end
function kinds.kind()
  return pick { "'read'", "'write'", "'ldmatrix'", "'stmatrix'", "{ kind = 'read', bytes = 16 }",
                "{ bytes = 4, offset = 3 }", "{ kind = 'ldmatrix', matrices = 4 }" }
end
function kinds.side() return pick { "'S'", "'D'", "'A'", "'B'", "'C'" } end
function kinds.smem()
  return ("%q"):format(pick(tile.smem_atoms()))
end

local COPIES = { "UniversalCopy<uint8_t>", "UniversalCopy<uint32_t>", "UniversalCopy<uint64_t>",
                 "UniversalCopy<uint128_t>", "AutoVectorizingCopy", "SM75_U32x4_LDSM_N",
                 "SM75_U32x1_LDSM_N", "SM75_U16x8_LDSM_T", "SM90_U32x4_STSM_N", "DefaultCopy",
                 "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>" }
function kinds.copy_name() return ("%q"):format(pick(COPIES)) end
function kinds.copy_atom(line)
  local said = chance(0.2) and slot(line, { CopyAtom = true })
  return said or kinds.copy_name()
end
local MMAS = { "UniversalFMA<float>", "SM70_8x8x4_F32F16F16F32_TN", "SM80_16x8x8_F32TF32TF32F32_TN",
               "SM80_16x8x16_F32F16F16F32_TN", "SM80_8x8x4_F64F64F64F64_TN",
               "SM80_16x8x32_S32S8S8S32_TN", "SM89_16x8x32_F32E4M3E4M3F32_TN",
               "SM90_64x16x16_F32F16F16_SS", "SM80_16x8x256_S32U1U1S32_TN_XORPOPC" }
kinds.MMAS = MMAS
function kinds.mma_name() return ("%q"):format(pick(MMAS)) end

-- ---------------------------------------------------------------- objects

-- A slot of a class, or what makes a new one.
local function object(class, new)
  return function(line)
    local said = slot(line, { [class] = true })
    return said or new(line)
  end
end

kinds.mma = object("MmaAtom", function() return ("tile.mma_atom(%s)"):format(kinds.mma_name()) end)
kinds.tc = object("TiledCopy", function(line) return kinds.new_copy(line) end)
kinds.tm = object("TiledMMA", function(line) return kinds.new_mma(line) end)
kinds.plan = object("Plan", function(line)
  return ("tile.plan(%s, %s)"):format(kinds.X(line), kinds.X(line))
end)
-- What a driver without a GPU has begun, it ends.
function kinds.D(line)
  local name = pick(line.room.names)
  return line.ends and name == "gpu" and "cpu" or name
end
kinds.stream = object("Stream", function(line)
  for _, n in ipairs(line.room.names) do
    if line.device == line.room.devices[n] then return n .. ":stream()" end
  end
  return kinds.D(line) .. ":stream()"
end)

local THREADS = { "(8,4):(4,1)", "(4,8):(1,4)", "(32):(1)", "(2,16):(16,1)" }
local VALUES = { "(1,4):(4,1)", "(2,2):(1,2)", "4:1" }

function kinds.new_copy()
  local odd = chance(0.2)
  local val = chance(0.6) and ", val = layout '$v'" or ""
  return text.fill("tile.tiled_copy{ atom = $atom, $bits, thr = layout '$thr'" .. val .. " }", {
    atom = kinds.copy_name(), thr = odd and text.layout(64) or pick(THREADS),
    v = odd and text.layout(16) or pick(VALUES),
    bits = pick { "dtype = 'f32'", "dtype = 'f16'", "bits = 8", "bits = 32" },
  })
end

local REPEATS = { "layout{2, 2}", "layout{1, 2, 1}", "layout '(2,2):(2,1)'" }
local PERMUTATIONS = { "{_, 32}", "{32, 32, 32}", "{_, layout '(8,2):(1,16)'}" }

-- `name`: of the atom, as Lua text.
function kinds.new_mma(line, name)
  local odd, said = chance(0.08), "tile.tiled_mma{ atom = $name"
  if chance(0.6) then said = said .. ", atoms = $atoms" end
  if chance(0.3) then said = said .. ", permutation = $p" end
  return text.fill(said .. " }", {
    name = name or kinds.mma_name(), atoms = odd and kinds.V(line) or pick(REPEATS),
    p = odd and kinds.V(line) or pick(PERMUTATIONS),
  })
end

-- ---------------------------------------------------------------- what no argument should be

local STRANGE = {
  "nil", "type", "coroutine.create(type)", "io.stdout", "tile", "setmetatable({}, {})", "_",
  "cycle()", "deep(30)", "deep(5000)", "many(60)", "many(5000)", "holes{4, 8}", "{}", "{{}}",
  "{{}, 2}",
  "''", "('x'):rep(5000)", "'4:1\\0'", "getmetatable(tile.shape(layout{2, 2}))",
  "getmetatable(tile.shape(layout{2, 2}))[1]", "{ tile._, -4 }", "{ layout(2, 2), -4 }",
  "{ tile.parse '1@0', 2 }", "{ layout{2, 2}, { -1, _ } }", "{ [1] = 4, [2] = 8, x = 1 }",
  "{ 2, nil, 3 }", "{ 1.5 }", "{ 0/0 }", "{ math.mininteger }",
}

function kinds.strange(line)
  local r = math.random()
  if r < 0.3 then
    local i = math.random(line.room.SLOTS)
    local x = line.room.v[i]
    if x ~= nil and (not BOTH[laws.class(x)] or is_small(x)) then return ("v[%d]"):format(i) end
  end
  return r < 0.6 and text.edge() or pick(STRANGE)
end

kinds.slot, kinds.is_small, kinds.laws = slot, is_small, laws
return kinds
