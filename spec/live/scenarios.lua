-- scenarios.lua: every call that takes a tensor, a plan, a graph, a stream or a device, with what
-- it takes.
-- SPDX-License-Identifier: MIT
--
-- scenarios(device, others, path) -> { { name =, make =, call = }, ... }: make() gives the
-- objects, the first of them those that may be freed in the middle of call(objects). A scenario
-- with `trap` calls call(objects, hooked): hooked(t) is t behind functions that may free.

local tile = require "moontile"
local everything = dofile "spec/live/everything.lua"
local L = tile.layout

local A = {
  matrix = L({ 16, 8 }, "right"), left = L { 16, 8 }, square = L({ 8, 8 }, "right"),
  swizzled = L "Sw<2,0,3> o 0 o (8,8):(8,1)", padded = L({ 8, 8 }, { 1, 9 }),
  sparse = L({ 8, 8 }, { 1, 100 }), small = L { 4, 4 },
}
local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                               thr = L { 4, 4 }, val = L { 2, 1 } }
local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = L { 4, 4 } }
local kernel = tile.kernel { mma = mma, tile = { 8, 8, 8 } }

-- A list of values, made anew: nothing else keeps it.
local function listed()
  return tile.function_layout({ 8, 8 }, function(i, j) return (i * i * 7 + j * j * 3 + i) % 97 end)
end

local device, others, path, list

local function add(name, make, call)
  list[#list + 1] = { name = name, make = make, call = call }
end
local function add_trap(name, make, call)
  list[#list + 1] = { name = name .. " (trap)", make = make, call = call, trap = true }
end

local function T(shape, dtype, d)
  return assert(tile.tensor(dtype or "f32", shape or A.matrix, d or device))
end
local function stream() return (assert(device:stream())) end
local function one(shape, dtype) return function() return { T(shape, dtype) } end end
local function two() return { T(), T() } end
local function planned() local a, b = T(), T() return { a, b, tile.plan(a, b) } end
local function operands() return { T(A.matrix), T(A.square), T(A.matrix) } end
local function recorded()
  local a, b = T(), T()
  return { a, b, device:graph(function() tile.copy(a, b) a:fill(1) end), stream() }
end
-- What `make` gives and one more.
local function with(make, extra)
  return function()
    local o = make()
    o[#o + 1] = extra(o)
    return o
  end
end
local function numbers(n)
  local t = {}
  for i = 1, n do t[i] = i end
  return t
end

-- ---------------------------------------------------------------- what is in a tensor

local function contents()
  for name, shape in pairs { matrix = A.matrix, swizzled = A.swizzled, sparse = A.sparse,
                             listed = listed() } do
    local n = tile.size(shape)
    local values = numbers(n)
    add("totable " .. name, one(shape), function(o) o[1]:totable() end)
    add("fill " .. name, one(shape), function(o) o[1]:fill(3) end)
    add("fill a table " .. name, one(shape), function(o) o[1]:fill(values) end)
    add("save " .. name, one(shape), function(o) o[1]:save(path) end)
  end
  add_trap("fill", one(), function(o, hooked) o[1]:fill(hooked(numbers(128))) end)
  add_trap("fill of a view", with(one(A.left), function(o) return o[1]:view(L(16), 3) end),
           function(o, hooked) o[2]:fill(hooked(numbers(16))) end)
  add("save padded", one(A.padded), function(o) o[1]:save(path) end)
  add("fill of a view", with(one(), function(o) return o[1]:view(L(16), 3) end),
      function(o) o[2]:fill(1) end)
  add("save tensors", one(A.padded), function(o) tile.save(path, { a = o[1], b = o[1] }) end)
  add("load tensors", function() tile.save(path, { a = T(), b = T() }) return {} end,
      function() tile.load(path, device) end)
  add("load", function() T():save(path) return {} end, function() tile.load(path, device) end)
  add("load as", function() T():save(path) return {} end,
      function() tile.load(path, device, "f32") end)
  add("read", one(), function(o) return o[1](3, 4), o[1] { 3, 4 } end)
  add("write", one(), function(o) o[1][{ 3, 4 }] = 2 o[1]:set(1, 2, 3) end)
  add("tensor", one(), function() return T(A.sparse) end)
end

local function between_devices()
  for _, to in ipairs(others) do
    local where = " to " .. tostring(to)
    for name, shape in pairs { matrix = A.matrix, sparse = A.sparse, swizzled = A.swizzled } do
      add("to " .. name .. where, one(shape), function(o) o[1]:to(to) end)
    end
    local function apart() return { T(), T(A.left, "f32", to) } end
    add("copy" .. where, apart, function(o) pcall(tile.copy, o[1], o[2]) end)
    add("plan" .. where, apart, function(o)
      local ok, p = pcall(tile.plan, o[1], o[2])
      if ok then p() tostring(p) end
    end)
    for name, d in pairs { here = device, there = to } do
      add("copy on a stream" .. where .. name, with(apart, function() return d:stream() end),
          function(o) pcall(tile.copy, o[1], o[2], o[3]) end)
    end
    add("copy by a partition" .. where, apart, function(o)
      pcall(tile.copy, tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                         thr = L { 4, 4 } }, o[1], o[2])
    end)
  end
end

-- ---------------------------------------------------------------- copies

local function copies()
  add("copy", two, function(o) tile.copy(o[1], o[2]) end)
  add("copy again", two, function(o) for _ = 1, 3 do tile.copy(o[1], o[2]) end end)
  add("copy converts", function() return { T(), T(A.left, "f16") } end,
      function(o) tile.copy(o[1], o[2]) end)
  add("copy on a stream", with(two, stream), function(o) tile.copy(o[1], o[2], o[3]) end)
  add("copy of a list", function() return { T(listed()), T(A.square) } end,
      function(o) tile.copy(o[1]:slice { tile._, 1 }, o[2]:slice { 1, tile._ }) end)
  add("copy of a list", function() return { T(listed()), T(A.square) } end,
      function(o) tile.copy(o[1]:slice { tile._, 1 }, o[2]:slice { 1, tile._ }) end)
  add("copy of a partition", two, function(o) tile.copy(copy, o[1], o[2]) end)
  add("copy of a partition on a stream", with(two, stream),
      function(o) tile.copy(copy, o[1], o[2], o[3]) end)
end

local function plans()
  add("plan", two, function(o) local p = tile.plan(o[1], o[2]) p() end)
  add("plan of a partition", two, function(o) local p = tile.plan(copy, o[1], o[2]) p() end)
  add("plan called", planned, function(o) o[3]() end)
  add("plan called on a stream", with(planned, stream), function(o) o[3](o[4]) end)
  add("plan as text", planned, function(o) return tostring(o[3]) end)
  add("plan:why", planned, function(o) return tostring(o[3]:why()) end)
  add("plan:key", planned, function(o) return o[3]:key() end)
  add("plan:take", planned, function(o)
    local way = o[3]:why()[1]
    o[3]:take(way.kernel, way.vector)
  end)
  add("plan:take of a number", planned, function(o) pcall(o[3].take, o[3], 12.5, "4") end)
  add("plan:measure", planned, function(o) o[3]:measure(2) end)
  add("tune", planned, function(o) tile.tune(o[3], { rounds = 1 }) end)
  add("tune to a file", planned, function(o)
    os.remove(path)
    tile.tune(o[3], { rounds = 1, file = path })
    tile.load_tuning(path)
  end)
  add("copy as tuned", with(planned, function(o) tile.tune(o[3], { rounds = 1 }) return T() end),
      function(o) tile.copy(o[1], o[4]) local p = tile.plan(o[1], o[4]) p() end)
  add_trap("tune", planned, function(o, hooked) tile.tune(o[3], hooked { rounds = 1 }) end)
end

-- ---------------------------------------------------------------- products

local function products()
  add("gemm", operands, function(o) tile.gemm(o[1], o[2], o[3]) end)
  add("gemm of lists", function() return { T(listed()), T(listed()), T(A.square) } end,
      function(o) tile.gemm(o[1], o[2], o[3]) end)
  add("gemm with a partition", operands, function(o) tile.gemm(mma, o[1], o[2], o[3]) end)
  add("verify a kernel", operands,
      function(o) return tostring(tile.verify(kernel, o[1], o[2], o[3])) end)
  add("gemm by a kernel", operands, function(o) pcall(tile.gemm, kernel, o[1], o[2], o[3]) end)
  add_trap("gemm by a kernel", operands, function(o, hooked)
    pcall(tile.gemm, kernel, o[1], o[2], o[3], hooked { seed = 2 })
  end)
  add("gemm with options", with(operands, stream),
      function(o) tile.gemm(o[1], o[2], o[3], { alpha = 2, beta = 1, stream = o[4] }) end)
  add_trap("gemm", with(operands, stream), function(o, hooked)
    tile.gemm(o[1], o[2], o[3], hooked { alpha = 2, beta = 1, stream = o[4] })
  end)
  add("plan_gemm", operands, function(o)
    local p = tile.plan_gemm(o[1], o[2], o[3], { beta = 1 })
    p()
    tostring(p)
  end)
  add_trap("plan_gemm", operands, function(o, hooked)
    tile.plan_gemm(o[1], o[2], o[3], hooked { alpha = 2, beta = 1 })()
  end)
  add("plan of a tiled MMA", operands,
      function(o) tile.plan(mma, o[1], o[2], o[3], { beta = 1 })() end)
  add("plan_gemm called", with(operands, function(o) return tile.plan_gemm(o[1], o[2], o[3]) end),
      function(o) o[4]:key() o[4]() end)
end

local function contractions()
  add("einsum", function() return { T(), T() } end,
      function(o) tile.einsum("ij,kj->ik", o[1], o[2]) end)
  add("einsum into C", function() return { T(), T(), T(L { 16, 16 }), stream() } end, function(o)
    tile.einsum("ij,kj->ik", o[1], o[2], o[3], { alpha = 2, beta = 1, stream = o[4] })
  end)
  add_trap("einsum", function() return { T(), T(), T(L { 16, 16 }), stream() } end,
    function(o, hooked)
      tile.einsum("ij,kj->ik", o[1], o[2], o[3], hooked { alpha = 2, beta = 1, stream = o[4] })
    end)
  add("einsum of three", function() return { T(A.small), T(A.small), T(A.small) } end,
      function(o) tile.einsum("ij,jk,kl->il", o[1], o[2], o[3]) end)
  add("einsum sums", one(), function(o) tile.einsum("ij->i", o[1]) end)
  add("einsum copies", one(), function(o) tile.einsum("ij->ji", o[1]) end)
  add("einsum_fold", operands, function(o) tile.einsum_fold("mk,nk->mn", o[1], o[2], o[3]) end)
  add("im2col", one(L { 2, 6, 3 }), function(o) tile.im2col(o[1], { 3 }) end)
end

-- ---------------------------------------------------------------- graphs, streams, devices

local function graphs()
  add("graph of a plan", planned, function(o) device:graph(function() o[3]() end)() end)
  add("graph of a copy", two, function(o) device:graph(function() tile.copy(o[1], o[2]) end)() end)
  add("graph of a fill", two, function(o) device:graph(function() o[1]:fill(2) end)() end)
  add("graph of a product", operands,
      function(o) device:graph(function() tile.gemm(o[1], o[2], o[3]) end)() end)
  add("graph of a partition", two,
      function(o) device:graph(function() tile.copy(copy, o[1], o[2]) end)() end)
  add("graph called", recorded, function(o) o[3]() o[3](o[4]) end)
  add("graph as text", recorded, function(o) return tostring(o[3]), o[3]:size() end)
  add("graph that fails", planned,
      function(o) pcall(device.graph, device, function() o[3]() error "no" end) end)
  add("stream", function() return { stream() } end,
      function(o) o[1]:synchronize() return tostring(o[1]) end)
  add("device", function() return { stream(), T() } end, function()
    device:synchronize()
    return device:name(), device:about(), device:plans(), tostring(device), stream()
  end)
end

-- ---------------------------------------------------------------- tensors as layouts

local views = {
  function(t) return t:layout() end, function(t) return t:dtype() end,
  function(t) return t:itemsize(), t:offset() end, function(t) return t:device() end,
  function(t) return tostring(t) end, function(t) return t:view(L(8), 3) end,
  function(t) return t(tile._, 4)(3) end, function(t) return t:slice { tile._, 4 } end,
  function(t) return t:select(2, 1), t:get(1), t:take(1, 2), t:group(1, 2), t:flatten() end,
  function(t) return t / L(4), t * L(8), #t end, function(t) return t:zipped_divide { 4, 2 } end,
  function(t) return t:logical_divide { 4, 2 }, t:tiled_divide { 4, 2 } end,
  function(t) return t:flat_divide { 4, 2 }, t:composition { 4, 2 } end,
  function(t) return tile.local_tile(t, { 4, 4 }, { 0, 1 }) end,
  function(t) return tile.local_partition(t, L { 2, 2 }, 1) end,
  function(t) return tile.inner_partition(t, { 4, 4 }, { 0, 1 }) end,
  function(t) return tile.outer_partition(t, { 4, 4 }, { 0, 1 }) end,
  function(t) return tile.domain_offset({ 1, 1 }, t) end,
  function(t)
    return tile.coalesce(t), tile.size(t), tile.shape(t), tile.cosize(t), tile.footprint(t)
  end,
  function(t) return tile.print_layout(t:view(L { 3, 2 })) end,
  function(t) return copy:partition_S(t), copy:partition_D(t), copy:partition(t) end,
  function(t) return copy:get_slice(3):partition_S(t) end,
  function(t) return copy:retile_S(copy:get_slice(3):partition_S(t)) end,
  function(t) return mma:thrfrg_C(t), mma:partition_C(t) end,
  function(t) return mma:get_slice(3):partition_C(t) end,
  function(t) return tile.verify(copy, t, "S"), tostring(tile.verify(copy, t)) end,
  function(t) return tile.verify(mma, t, "C") end,
  function(t) return tile.coalescing(copy, t), tile.coalescing(t) end,
  function(t) return tile.bank_conflicts(t, "f32") end,
  function(t) return tile.get(t, 1), tile.select(t, 2), tile.with_shape(t, 128) end,
  function(t) return tile.filter_zeros(t), tile.filter(t), tile.slice({ tile._, 1 }, t) end,
  function(t) return tile.upcast(t, 2), tile.downcast(t, 2), tile.recast_layout(32, 16, t) end,
  function(t) return tile.tile_unzip(t, { 4, 2 }), tile.zip(t) end,
}

local function tensors_as_layouts()
  for i, f in ipairs(views) do
    add("view " .. i, one(), function(o) pcall(f, o[1]) end)
  end
  add_trap("verify", one(), function(o, hooked)
    tile.verify(hooked { tv = L { 4, 4 }, tiler = { 4, 4 } }, o[1], "S")
  end)
  add_trap("coalescing", one(), function(o, hooked)
    tile.coalescing(o[1], hooked { kind = "read", bytes = 4, offset = 0 })
  end)
  add_trap("device", function() return { T() } end,
           function(_, hooked) tile.device(hooked { "cpu", threads = 1, piece = 64 }) end)
end

local groups = { contents, between_devices, copies, plans, products, contractions, graphs,
                 tensors_as_layouts }

return function(on, other_devices, file)
  device, others, path, list = on, other_devices, file, {}
  for _, group in ipairs(groups) do group() end
  if device:name() == "cpu" then everything(device, path, add) end
  return list
end
