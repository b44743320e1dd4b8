-- graph_spec.lua: what a function launches, recorded and replayed, on every device.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

local A, B = layout({ 6, 10 }, "right"), layout({ 6, 10 }, "left")

local function described(t)
  local how = tile.tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32",
                               thr = layout{ 3, 2 }, val = layout{ 1, 2 } }
  tile.copy(how, t.a, t.c)
end

local function products(t)
  tile.copy(t.a, t.b)
  tile.gemm(t.b, t.b, t.d, { alpha = 0.5, beta = 1 })
  tile.gemm(t.a, t.b, t.d, { beta = 1 })
end

local function made(t)
  local own = tile.tensor("f32", A, t.a:device())
  tile.copy(t.a, own)
  tile.copy(own, t.c)
end

local function empty(t)
  local none = tile.tensor("f32", layout(0), t.a:device())
  tile.copy(none, none)
  tile.copy(t.a, t.b)
end

-- What is done with tensors a, b, c (6,10), d (6,6) of f32, and the number of launches.
local SEQUENCES = {
  { "one copy", 1, function(t) tile.copy(t.a, t.b) end },
  { "a chain of copies", 2, function(t) tile.copy(t.a, t.b); tile.copy(t.b, t.c) end },
  { "plans made before", 3, function(t) t.plan(); t.plan(); t.next() end },
  { "a described copy", 1, described },
  { "a fill and a copy", 2, function(t) t.b:fill(7); tile.copy(t.b, t.c) end },
  { "fills, the last of which counts", 3, function(t) t.b:fill(1); t.b:fill(2); t.b:fill(3) end },
  { "a product", 1, function(t) tile.gemm(t.a, t.a, t.d) end },
  { "products that add up", 3, products },
  { "a tensor made meanwhile", 2, made },
  { "nothing to copy", 1, empty },
  { "a hundred copies", 100, function(t) for _ = 1, 50 do t.plan(); t.next() end end },
  { "nothing", 0, function() end },
}

local function tensors(device, first)
  local t, values = {}, {}
  for i = 1, 60 do values[i] = (first + 7 * i) % 23 - 11 end
  t.a = tile.tensor("f32", A, device):fill(values)
  t.b, t.c = tile.tensor("f32", B, device), tile.tensor("f32", A, device)
  t.d = tile.tensor("f32", layout{ 6, 6 }, device)
  t.plan, t.next = tile.plan(t.a, t.b), tile.plan(t.b, t.c)
  return t
end

local function state(t)
  t.a:device():synchronize()
  return { t.a:totable(), t.b:totable(), t.c:totable(), t.d:totable() }
end

-- What is done inside, and the error.
local REFUSED = {
  { function(t) t.device:synchronize() end,
    "synchronize: DEVICE is recording a graph, and what it records runs when the graph is "
    .. "launched\ndo this before the recording, or after a launch of the graph" },
  { function(t) t.stream:synchronize() end,
    "synchronize: DEVICE is recording a graph, and what it records runs when the graph is "
    .. "launched\ndo this before the recording, or after a launch of the graph" },
  { function(t) t.plan(t.stream) end,
    "graph: a launch on a stream of its own cannot be recorded: a graph is one sequence\n"
    .. "leave the stream out, and give it to the launch of the graph" },
  { function(t) tile.copy(t.a, t.b, t.stream) end,
    "graph: a launch on a stream of its own cannot be recorded: a graph is one sequence\n"
    .. "leave the stream out, and give it to the launch of the graph" },
  { function(t) tile.gemm(t.a, t.a, t.d, { stream = t.stream }) end,
    "graph: a launch on a stream of its own cannot be recorded: a graph is one sequence\n"
    .. "leave the stream out, and give it to the launch of the graph" },
  { function(t) t.device:graph(function() end) end,
    "graph: DEVICE is recording a graph already\nend that one first: what it records can be "
    .. "several graphs, one after another" },
  { function(t) t.graph() end, "replay" },
  { function(t) return t.a(0, 0) end, "access to elements" },
  { function(t) t.a[{ 0, 0 }] = 1 end, "access to elements" },
  { function(t) t.a:set(1, 0, 0) end, "access to elements" },
  { function(t) t.a:totable() end, "access to elements" },
  { function(t) t.a:fill(t.a:shape()) end, "fill: 60 values expected, got 2" },
  { function(t) t.four:fill{ 1, 2, 3, 4 } end, "access to elements" },
  { function(t) t.a:save "/nonexistent/file.npy" end, "T:save" },
  { function(t) t.a:to(t.other) end, "T:to" },
  { function(t) tile.tensor("f32", A, t.other):to(t.device) end, "T:to" },
  { function() error "a fault of its own" end, "a fault of its own" },
  { function(t) tile.copy(t.a, t.d) end,
    "copy: mode 2 of src (6,10):(10,1) has size 10, of dst (6,6):(1,6) it has 6" },
  { function() coroutine.yield() end, "attempt to yield" },
}

local WORDS = ": DEVICE is recording a graph, and what it records runs when the graph is called\n"
  .. "do this before device:graph, or after a call of the graph"

for _, d in ipairs(devices) do
  local device = d.device

  describe("graphs on " .. d.label, function()
    for _, row in ipairs(SEQUENCES) do
      local name, n, f = table.unpack(row)
      it("do what was recorded: " .. name, function()
        local plain, recorded = tensors(device, 1), tensors(device, 1)
        local before = state(recorded)
        local graph = device:graph(function() return f(recorded) end)
        assert.equal(n, graph:size())
        assert.same(before, state(recorded))          -- recording runs nothing
        for round = 1, 3 do
          plain.a:fill(round)
          recorded.a:fill(round)
          f(plain)
          assert.equal(0, select("#", graph()))
          collectgarbage()
          assert.same(state(plain), state(recorded))
        end
      end)
    end

    for i, row in ipairs(REFUSED) do
      local f, message = table.unpack(row)
      it(("refuse inside, %d: %s"):format(i, message:match "[^\n]*"), function()
        local t = tensors(device, 3)
        t.device, t.stream = device, device:stream()
        t.other = device:name() == "cpu" and "cpu:checked" or "cpu"
        t.graph = device:graph(function() t.plan() end)
        t.four = tile.tensor("f32", layout(4), device)
        local ok, text = pcall(device.graph, device, function()
          t.plan()
          f(t)
        end)
        assert.is_false(ok)
        local want = message
        if want == "replay" or want == "T:to" or want == "T:save"
           or want == "access to elements" then want = want .. WORDS end
        want = want:gsub("DEVICE", device:name())
        assert.truthy(text:find(want, 1, true), text)
        tile.copy(t.a, t.b)                            -- nothing is being recorded now
        device:synchronize()
        assert.same(t.a:totable(), t.b:totable())
      end)
    end

    it("go on recording after an error that was caught", function()
      local t = tensors(device, 4)
      local graph = device:graph(function()
        t.plan()
        assert.is_false(pcall(device.synchronize, device))
        assert.is_false(pcall(tile.copy, t.a, t.d))
        t.next()
      end)
      assert.equal(2, graph:size())
      graph()
      device:synchronize()
      assert.same(t.a:totable(), t.c:totable())
    end)

    it("launch on a stream", function()
      local t = tensors(device, 5)
      local stream <close> = device:stream()
      local graph = device:graph(function() t.plan(); t.next() end)
      graph(stream)
      stream:synchronize()
      assert.same(t.a:totable(), t.c:totable())
      local closed = device:stream()
      closed:close()
      assert.has_error(function() graph(closed) end, "this stream is closed")
    end)

    it("keep the buffers of their plans alive", function()
      local result = tile.tensor("f32", A, device)
      local graph
      do
        local t = tensors(device, 6)
        t.a:fill(9)
        graph = device:graph(function() t.plan(); tile.copy(t.b, result) end)
      end
      for _ = 1, 3 do collectgarbage() end
      graph()
      device:synchronize()
      assert.equal(9.0, result(5, 9))
      local held = tile.held()
      graph:free()
      for _ = 1, 3 do collectgarbage() end
      assert.is_true(tile.held() < held)
    end)

    it("refuse to replay on what was freed", function()
      local t = tensors(device, 7)
      local graph = device:graph(function() t.plan(); t.next() end)
      assert.equal("graph of 2 launches on " .. device:name(), tostring(graph))
      t.plan:free()
      t.next:free()
      graph()
      t.c:free()
      assert.has_error(function() graph() end,
                       "graph: the tensor dst of launch 2 was freed\nrecord the graph again")
      t.a:free()
      assert.has_error(function() graph() end,
                       "graph: the tensor src of launch 1 was freed\nrecord the graph again")
      graph:free()
      graph:free()
      assert.has_error(function() graph() end, "this graph was freed")
      assert.has_error(function() graph:size() end, "this graph was freed")
      assert.equal("freed graph", tostring(graph))
    end)

    it("want a function", function()
      assert.has_error(function() device:graph() end,
                       "bad argument #1 to 'graph' (function expected, got no value)")
      assert.has_error(function() device:graph "f" end,
                       "bad argument #1 to 'graph' (function expected, got string)")
    end)
  end)
end

describe("graphs", function()
  it("are of one device: others are not recorded", function()
    local here, there = tile.device "cpu", tile.device "cpu:checked"
    local t, other = tensors(here, 8), tensors(there, 8)
    local graph = here:graph(function()
      tile.copy(t.a, t.b)
      tile.copy(other.a, other.b)
    end)
    assert.equal(1, graph:size())
    assert.same(other.a:totable(), other.b:totable())
    assert.not_same(t.a:totable(), t.b:totable())
  end)
end)
