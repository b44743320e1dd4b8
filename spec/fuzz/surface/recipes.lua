-- recipes.lua: lines that belong together: operands that fit each other, and what is done with
-- them. A template's $a, $b, ... are slots of the case.
-- SPDX-License-Identifier: MIT

local kinds = require "surface.arguments"
local text = require "surface.text"
local chance, pick, fill, random = text.chance, text.pick, text.fill, math.random

local recipes = {}

-- Different slots by the names: { a = "v[3]", b = "v[7]" }.
local function slots(line, names)
  local by_name, taken = {}, {}
  for name in names:gmatch "%a" do
    local i
    repeat i = random(line.room.SLOTS) until not taken[i]
    by_name[name], taken[i] = ("v[%d]"):format(i), true
  end
  return by_name
end

-- What was in the slot is gone, also if the call fails.
local function put(slot, said)
  return ("%s = nil keep(%s, %s)"):format(slot, slot:match "%d+", said)
end

-- What a method of the tensor in `from` answers.
local function part(slot, from, method)
  return fill("local x = assert($from) $slot = nil keep($n, law.of(x, x:$method))",
              { from = from, slot = slot, n = slot:match "%d+", method = method })
end

-- ---------------------------------------------------------------- operands

local function layout_of(shape)
  return text.paper(shape) .. ":" .. text.paper(text.strides(shape))
end
local function memory(shape) return ("layout %q"):format(layout_of(shape)) end

-- A new tensor of the shape, mostly in the middle of a larger one.
local function tensor(slot, shape, dtype, device)
  local said = layout_of(shape)
  if chance(0.06) and text.product(shape) <= 512 then said = text.swizzle() .. " o 0 o " .. said end
  return put(slot, fill("$f('$dtype', layout '$said', $device)", {
    f = chance(0.85) and "law.make" or "tile.tensor", dtype = dtype or kinds.dtype(), said = said,
    device = device }))
end

-- A law about the operands of these names: it holds them before anything happens in the middle of
-- it, so that all of the line is about the very same, whatever is put into their slots.
local function claim(s, names, said)
  local list, own = {}, setmetatable({}, { __index = s })
  for name in names:gmatch "%a" do list[#list + 1], own[name] = s[name], name end
  return { hold = ("local %s = %s "):format(names:gsub(" ", ", "), table.concat(list, ", ")),
           fill(said, own) }
end

local function small() return random(1, 6) end

-- ---------------------------------------------------------------- copies

local function copies(line)
  local s = slots(line, "a b p")
  local shape, device, dtype = text.shape(pick { 64, 512, 4096 }), kinds.D(line), kinds.dtype()
  s.how = chance(0.3) and kinds.tc(line) .. ", " or ""
  local list = { tensor(s.a, shape, dtype, device),
                 tensor(s.b, shape, chance(0.6) and dtype or nil,
                        chance(0.8) and device or kinds.D(line)) }
  if chance(0.4) then
    list[3] = put(s.p, fill("tile.plan($how$a, $b)", s))
    list[4] = claim(s, "a b p", "law.copy($a, $b, function() $p() end)")
  else
    list[3] = claim(s, "a b", "law.copy($a, $b, function() tile.copy($how$a, $b) end)")
  end
  if chance(0.3) then
    list[#list + 1] = put(s.p, device .. ":stream()")
    list[#list + 1] = claim(s, "a b p",
                            "law.copy($a, $b, function() tile.copy($a, $b, $p) end, $p)")
  end
  return list
end

local PARTS = { "zipped_divide($t)", "logical_divide($t)", "flat_divide($t)", "tiled_divide($t)",
                "local_tile($t, $c)", "local_tile($t, $c)", "slice($c)", "inner_partition($t, $c)",
                "outer_partition($t, $c)", "local_partition(layout($t), $n)", "flatten()",
                "coalesce()", "get($m)", "domain_offset($c)" }

-- Parts of a tensor, and parts of parts.
local function tiles(line)
  local s = slots(line, "a b c")
  local shape, device, dtype = text.shape(512), kinds.D(line), kinds.dtype()
  local function method()
    return fill(pick(PARTS), { t = text.tiler(shape), c = text.coordinate(shape, 0.3),
                               n = random(0, 8), m = random(1, 2) })
  end
  s.x, s.device = kinds.value(), kinds.D(line)
  local list = {
    tensor(s.a, shape, dtype, device), part(s.b, s.a, method()), part(s.b, s.b, method()),
    claim(s, "b", "law.fill($b, $x)"), tensor(s.c, shape, dtype, device),
    part(s.c, s.c, method()), claim(s, "b c", "law.copy($b, $c, function() tile.copy($b, $c) end)"),
    claim(s, "b", "law.equal($b, function() return $b:to($device) end)"),
  }
  if chance(0.4) then table.remove(list, 3) end
  return list
end

local FILLS = {
  "law.fill($x, $value)", "law.inside($x, function() $x:fill{$list} end)",
  "law.inside($x, function() local t = $x:totable() t[1] = $value $x:fill(t) end)",
  "law.equal($x, function() return $x:to($device) end)",
  "local t = $x:totable() $x:fill(spy(t, $k, $f)) -- HOSTILE",
  "local t = $x:totable() $x:fill(spy(t, $k, $f, true)) -- HOSTILE",
}

local function fills(line)
  local x = kinds.slot(line, { Tensor = true }, kinds.is_small)
  if not x then return copies(line) end
  return { claim({
    x = x, value = kinds.value(), list = text.list(small(), kinds.value), device = kinds.D(line),
    k = random(1, 20), f = recipes.action(line) }, "x", pick(FILLS)) }
end

-- ---------------------------------------------------------------- products

-- Atoms with the types of A, B, C.
local ATOMS = {
  { "'UniversalFMA<float>'", "f32", "f32", "f32" },
  { "'UniversalFMA<double>'", "f64", "f64", "f64" },
  { "'SM80_16x8x16_F32F16F16F32_TN'", "f16", "f16", "f32" },
  { "'SM80_16x8x8_F32TF32TF32F32_TN'", "f32", "f32", "f32" },
  { "'SM80_8x8x4_F64F64F64F64_TN'", "f64", "f64", "f64" },
  { "'SM80_16x8x32_S32S8S8S32_TN'", "i8", "i8", "i32" },
  { "'SM89_16x8x32_F32E4M3E4M3F32_TN'", "e4m3", "e4m3", "f32" },
}
local TYPES = { { "f32", "f32", "f32" }, { "i8", "i8", "i32" }, { "f16", "f16", "f32" },
                { "f64", "f64", "f64" }, { "u8", "i8", "i32" } }

local function types()
  if chance(0.3) then return { kinds.dtype(), kinds.dtype(), kinds.dtype() } end
  return pick(TYPES)
end

local function extent() return chance(0.8) and random(1, 9) or text.extents(12, 1) end

-- The tensors A, B, C of a product.
local function operands(s, type, device)
  local M, N, K, L = extent(), extent(), extent(), chance(0.2) and random(1, 3) or nil
  return { tensor(s.a, { M, K, L }, type[1], device), tensor(s.b, { N, K, L }, type[2], device),
           tensor(s.c, { M, N, L }, type[3], device) }
end

local function products(line)
  local s, device = slots(line, "a b c p"), kinds.D(line)
  local atom = chance(0.35) and pick(ATOMS) or nil
  s.how = atom and kinds.new_mma(line, atom[1]) .. ", " or ""
  s.alpha, s.beta, s.x = pick { 1, 1, 2, -1 }, pick { 0, 0, 1, 2 }, kinds.number()
  s.options = chance(0.5) and fill(", { alpha = $alpha, beta = $beta }", s) or ""
  if s.options == "" then s.alpha, s.beta = 1, 0 end
  local list = operands(s, atom and { table.unpack(atom, 2) } or types(), device)
  local names, f = "a b c", "tile.gemm($how$a, $b, $c$options)"
  if chance(0.4) then
    list[4] = put(s.p, fill("tile.plan_gemm($how$a, $b, $c$options)", s))
    names, f = "a b c p", "$p()"
  end
  list[#list + 1] = claim(s, names, "law.product($a, $b, $c, $alpha, $beta, function() " .. f
                                    .. " end)")
  if chance(0.2) then
    list[#list + 1] = put(s.p, device .. ":stream()")
    list[#list + 1] = fill("tile.gemm($how$a, $b, $c, { alpha = $x, stream = $p })", s)
  end
  return list
end

-- A product of tiles that leave their tensors on one side or another.
local function tiled(line)
  local s, device, type = slots(line, "a b c d"), kinds.D(line), pick(TYPES)
  local m, n, k = random(2, 9), random(2, 9), random(2, 9)
  s.M, s.N, s.K = random(1, m), random(1, n), random(1, k)
  local i, j, l = random(0, (m - 1) // s.M), random(0, (n - 1) // s.N), random(0, (k - 1) // s.K)
  local function tile(slot, x, y, row, column)
    return part(slot, slot, ("local_tile({%d, %d}, {%d, %d})"):format(s[x], s[y], row, column))
  end
  return {
    tensor(s.a, { m, k }, type[1], device), tensor(s.b, { n, k }, type[2], device),
    tensor(s.c, { m, n }, type[3], device), tile(s.a, "M", "K", i, l), tile(s.b, "N", "K", j, l),
    tile(s.c, "M", "N", i, j),
    claim(s, "a b c", "law.product($a, $b, $c, 1, 0, function() tile.gemm($a, $b, $c) end)"),
    claim(s, "a b c", "law.product($a, $b, $c, 2, 1, function() tile.gemm($a, $b, $c, "
          .. "{ alpha = 2, beta = 1 }) end)"),
  }
end

local SUMS = { "ij,kj->ik", "ij,kj->ki", "ij,kj->i", "ij,kj->", "ij,kj", "ij,kj->ijk", "ij->ji" }
local OPTIONS = { "", "", "", ", { dtype = 'f64' }", ", { alpha = 2 }", ", { alpha = 2, beta = 1 }",
                  ", { stream = $stream }" }

local function sums(line)
  local s, device = slots(line, "a b c"), kinds.D(line)
  local i, j, k = small(), small(), small()
  s.e, s.stream = pick(SUMS), kinds.stream(line)
  s.second = s.e:find "," and ", " .. s.b or ""
  return { tensor(s.a, { i, j }, nil, device), tensor(s.b, { k, j }, nil, device),
           put(s.c, fill("tile.einsum('$e', $a$second" .. pick(OPTIONS) .. ")", s)) }
end

local FOLDS = { "tile.einsum_fold('mkl,nkl->mnl', $A, $B, $C)", "tile.im2col($image, $n)",
                "tile.im2col($image, $n, 0, $k, $n)",
                "law.make('f32', $image, $device):im2col($n)" }

local function folds(line)
  local m, n, k, l = small(), small(), small(), small()
  return { put(slots(line, "a").a, fill(pick(FOLDS), {
    A = memory { m, k, l }, B = memory { n, k, l }, C = memory { m, n, l }, n = random(1, 3), k = k,
    image = memory { m, random(3, 9), random(3, 9), n }, device = kinds.D(line) })) }
end

-- ---------------------------------------------------------------- graphs

local STATEMENTS = {
  "tile.copy($x, $y)", "tile.copy($x, $y)", "$x:fill($value)", "tile.gemm($x, $y, $z)", "$plan()",
  "$x:totable()", "$device:synchronize()", "$x:to($device)", "$x($c)", "($f)()", "collectgarbage()",
  "tile.tune($plan, { rounds = 1 })", "$device:graph(function() tile.copy($x, $y) end)",
}

local function statement(line)
  return fill(pick(STATEMENTS), {
    x = kinds.X(line), y = kinds.X(line), z = kinds.X(line), value = kinds.value(),
    plan = kinds.slot(line, { Plan = true }) or "v[1]", device = kinds.D(line), c = kinds.c(line),
    f = recipes.action(line) })
end

local function graphs(line)
  local s, body = slots(line, "g s"), {}
  s.device = kinds.D(line)
  line.device = line.room.devices[s.device]
  for i = 1, random(1, 4) do body[i] = statement(line) end
  s.body = table.concat(body, " ")
  local list = { put(s.g, fill("$device:graph(function() $body end)", s)) .. " -- HOSTILE",
                 s.g .. "()" }
  if chance(0.4) then
    list[3], list[4] = put(s.s, s.device .. ":stream()"), fill("$g($s)", s)
    list[5] = fill(pick { "$s:close()", "$s:synchronize()", "$s = nil collectgarbage()" }, s)
    list[6] = s.g .. "()"
  end
  if chance(0.3) then list[#list + 1] = fill("$g:free() $g()", s) end
  return list
end

-- ---------------------------------------------------------------- plans, files, devices

local TUNES = {
  "tile.tune($p, { rounds = 1 })", "tile.tune($p, { rounds = 1, file = file 'tuned.txt' })",
  "local w = $p:why()[$k] or {} $p:take(w.kernel, w.vector or 4)",
  "for _, w in ipairs($p:why()) do $p:take(w.kernel, w.vector or 4) $p() end",
  "tile.load_tuning(file 'tuned.txt')",
  "corrupt('tuned.txt', $at, $byte) tile.load_tuning(file 'tuned.txt')",
}

local function tunes(line)
  return { fill(pick(TUNES), { p = kinds.slot(line, { Plan = true }) or "v[1]", k = random(1, 4),
                               at = random(0, 200), byte = random(0, 255) }) }
end

local function files(line)
  local list = { fill("assert($x:save(file 'a.npy'))", { x = kinds.X(line) }) }
  if chance(0.4) then
    list[2] = fill("corrupt('a.npy', $at, $byte)", {
      at = random(0, chance(0.7) and 127 or 1000), byte = chance(0.8) and random(0, 255) or nil })
  end
  list[#list + 1] = put(slots(line, "a").a, fill("tile.load(file 'a.npy', $device$dtype)", {
    device = kinds.D(line), dtype = chance(0.2) and ", " .. kinds.d() or "" }))
  return list
end

local function archives(line)
  local list = { fill("assert(tile.save(file 'a.npy', { a = $x, ['b\\n'] = $y }))",
                      { x = kinds.X(line), y = kinds.X(line) }) }
  if chance(0.4) then
    list[2] = fill("corrupt('a.npy', $at, $byte)", {
      at = random(0, chance(0.7) and 200 or 1000), byte = chance(0.8) and random(0, 255) or nil })
  end
  list[#list + 1] = put(slots(line, "a").a, fill("assert(tile.load(file 'a.npy', $device)).a",
                                                 { device = kinds.D(line) }))
  return list
end

local DEVICES = { "'cpu'", "'cpu:checked'", "'cuda'", "'cuda:1'", "'x'", "''", "'cpu\\0'", "nil" }
local CHOICES = {
  "threads = 1", "threads = 2", "threads = -1", "threads = 1025", "threads = 1 << 32", "piece = 16",
  "piece = 15", "piece = -1", "piece = 1 << 62", "libcuda = libcuda", "libcuda = '/nonexistent'",
  "libblas = '/nonexistent'", "libblas = ''", "libcuda = 'a\\0b'", "x = 1",
}

local function devices(line)
  return { put(slots(line, "a").a, ("tile.device{ %s, %s }"):format(pick(DEVICES), pick(CHOICES))) }
end

-- Memory that there is not.
local HUGE = { "1 << 40", "1 << 45", "(1 << 60) - 1", "1 << 61", "math.maxinteger" }
local function huge(line)
  return { put(slots(line, "a").a, ("tile.tensor(%s, layout(%s), %s)"):format(
    kinds.d(), pick(HUGE), kinds.D(line))) }
end

-- More than can be done: it ends when a hook says so, or acts, again and again.
local LONG = {
  "tile.gemm($a, $b, $c)", "tile.copy($a, $c)", "$c:fill(3)", "$a:totable()", "$a:to($device)",
  "tile.einsum('mk,nk->mn', $a, $b)", "tile.plan($a, $c):measure($n)", "$a:save(file 'a.npy')",
  "tile.print_layout($a)", "tile.verify({ tv = layout(1 << 20), tiler = {1024} }, $a)",
  "tile.copy($a, $b)", "tile.plan($b, $a)()", "tile.tune(tile.plan($a, $b), { rounds = 1000 })",
  "$a:fill{1, 2, 3}", "$b:fill($b:totable())",
}
local function longs(line)
  line.ends = true
  local s = slots(line, "a b c")
  local how = pick { "ends($body)", "ends($body)", "ends(function() asked($f, $body) end)" }
  s.device, s.n, s.f = kinds.D(line), pick { 3, 1000, 1 << 30 }, recipes.action(line)
  local K = pick { 300, 1 << 20, 1 << 40 }
  local function make(slot, M, strides)
    return put(slot, ("tile.tensor(%s, layout({%d, %d}, %s), %s)"):format(
      kinds.d(), M, K, strides, s.device))
  end
  s.body = "function() " .. fill(pick(LONG), s) .. " end"
  return { make(s.a, 300, "{1, 0}"), make(s.b, 300, pick { "{0, 0}", "{1, 0}", "{1, 300}" }),
           put(s.c, ("tile.tensor(%s, layout{300, 300}, %s)"):format(kinds.d(), s.device)),
           fill(how, s) .. " -- HOSTILE" }
end

-- ---------------------------------------------------------------- atoms, partitions, proofs

local QUERIES = { "kind = 'copy'", "arch = 'sm_80'", "A = 'bf16'", "kind = 'mma', M = 16",
                  "arch = 'sm_90', N = -1", "x = 1", "M = 1 << 40", "arch = 5" }
local function atoms(line)
  return { put(slots(line, "a").a, ("tile.atoms{ %s }"):format(pick(QUERIES))) }
end

local OF_COPY = { "partition_S", "partition_D", "partition", "retile_S", "retile_D" }
local OF_MMA = { "partition_A", "partition_B", "partition_C", "thrfrg_A" }

local function partitions(line)
  local s, copy = slots(line, "c x p t"), chance(0.5)
  s.f, s.n, s.side = pick(copy and OF_COPY or OF_MMA), random(0, 40), kinds.side()
  return {
    put(s.c, copy and kinds.new_copy() or kinds.new_mma(line)),
    tensor(s.x, { random(1, 40), random(1, 40) }, nil, kinds.D(line)),
    put(s.p, fill("law.of($x, $c:$f($x))", s)), put(s.t, fill("$c:get_slice($n)", s)),
    put(s.p, fill("law.of($x, $t:$f($x))", s)), put(s.t, fill("tile.verify($c, $x, $side)", s)),
    claim(s, "p", "law.fill($p, 3)"),
  }
end

local PROOFS = {
  "tile.verify({ tv = $A, tiler = $S }, $B)", "tile.bank_conflicts($tc, $B, $side)",
  "tile.coalescing($tc, $B)", "tile.find_swizzle{ smem = $B, dtype = 'f16', read = $tc }",
  "tile.find_swizzle{ smem = layout '(8,8):(8,1)', bits = 32, write = $A, read = layout(8) }",
  "tile.make_gmma_desc($A, 16)", "tile.tma{ tensor = $A, smem = $B, dtype = 'f16' }",
}
-- Kernels: of any layouts and copies; whatever is proven is executed.
local FIELDS = {
  "smem = { A = $A }", "smem = { B = $B, D = $A }", "g2s = { A = $tc }", "g2s = { B = 'cp.async' }",
  "g2s = { A = { tma = true, multicast = 'n' } }", "s2r = { A = $tc }", "stages = $n",
  "ahead = $n", "schedule = 'pingpong'", "schedule = 'cooperative'", "cluster = {2, $n}",
  "tile = {$m, $m, $n}", "tile = {64, 64, 32}", "tile = {64, 64, 32}", "epilogue = { beta = $n }",
}
local function kernels(line)
  local s = slots(line, "c k p x y z")
  s.mma, s.A, s.B, s.tc = kinds.new_mma(line), kinds.A(line), kinds.A(line), kinds.new_copy()
  s.n, s.m = random(-1, 6), 8 * random(0, 9)
  local said = { "mma = $mma" }
  for _ = 1, random(0, 4) do said[#said + 1] = fill(pick(FIELDS), s) end
  local M, N, K = random(1, 90), random(1, 90), 8 * random(0, 9)
  local dtype = pick { "f16", "bf16", "f32", "i8" }
  s.fields = table.concat(said, ", ")
  s.fields = fill(s.fields, s)
  return {
    put(s.k, fill("tile.kernel{ $fields }", s)), put(s.p, fill("tostring($k)", s)),
    tensor(s.x, { M, K }, dtype, "'cpu'"), tensor(s.y, { N, K }, dtype, "'cpu'"),
    tensor(s.z, { M, N }, pick { "f32", "f16", "i32" }, "'cpu'"),
    put(s.p, fill("tostring(tile.verify($k))", s)),
    put(s.p, fill("tostring(tile.verify($k, $x, $y, $z))", s)),
    fill("tile.gemm($k, $x, $y, $z)", s),
  }
end

local function proofs(line)
  return { put(slots(line, "a").a, fill(pick(PROOFS), {
    A = kinds.A(line), B = kinds.A(line), S = kinds.S(line), tc = kinds.tc(line),
    side = kinds.side() })) }
end

-- ---------------------------------------------------------------- all of them

local RECIPES = {
  copies, copies, copies, tiles, tiles, tiles, fills, fills, products, products, tiled, sums, folds,
  graphs, graphs, tunes, files, archives, devices, huge, longs, atoms, partitions, partitions,
  proofs, kernels,
}

local MARK = " -- HOSTILE"

-- The lines; some of them with something in the middle: what follows is not what it would be.
function recipes.next(line)
  local list, quiet = pick(RECIPES)(line), false
  for i, said in ipairs(list) do
    local claimed = type(said) == "table" and said or { hold = "", said }
    local body, n = claimed[1]:gsub(MARK:gsub("%p", "%%%0"), "")
    local wrap = chance(0.12) and n == 0
    if quiet then body = ("quietly(function() %s end)"):format(body) end
    if wrap then body = recipes.wrapped(line, body) end
    list[i] = claimed.hold .. ((wrap or n > 0) and body .. MARK or body)
    quiet = quiet or wrap
  end
  return list
end

return recipes
