-- export_spec.lua: what tile.export takes, writes and refuses; that what it writes runs is the test
-- `export`.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local fake = os.getenv "MOONTILE_TEST_LIBCUDA"
local cuda = fake and tile.device { "cuda", libcuda = fake }

local function tensor(n, device) return tile.tensor("f32", layout(n), device) end

local function refused(words, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and message:find(words, 1, true), tostring(message))
end

describe("tile.export", function()
  local plan = tile.plan(tensor(8), tensor(8))

  it("returns both texts, header first", function()
    local header, source = tile.export(plan)
    assert(header:find "int moontile_plan_run %(const void %*src, void %*dst%);")
    assert(source:find('#include "moontile_plan.h"', 1, true))
  end)

  it("says what it does not take", function()
    refused("a plan expected, got number", tile.export, 5)
    refused("a folder expected, got number", tile.export, plan, 5)
    refused("a C identifier expected, got 1st", tile.export, plan, nil, { name = "1st" })
    refused("no option nam; there is name", tile.export, plan, nil, { nam = "x" })
    refused("a table of options expected, got string", tile.export, plan, nil, "x")
    refused("{ name = plan, ... } expected, got x = number", tile.export, { x = 5 }, "/tmp")
    refused("say in which folder", tile.export, { x = plan })
    refused("have names of their own", tile.export, { x = plan }, "/tmp", { name = "y" })
    refused("the table has no plan", tile.export, {}, "/tmp")
  end)

  it("returns nil where a file cannot be written", function()
    local paths, message, code = tile.export(plan, "/there/is/no/folder")
    assert(paths == nil and message:find("/there/is/no/folder/moontile_plan.h", 1, true))
    assert.equal("EIO", code)
  end)

  it("says what is no loop", function()
    local A = tile.tensor("f32", layout { 4, 4 })
    local C = tile.tensor("f32", layout { 4, 4 })
    refused("a product on cpu is no loop", tile.export, tile.plan_gemm(A, A, C))
    refused("a copy that converts is no loop", tile.export,
            tile.plan(tensor(4), tile.tensor("i32", layout(4))))
    refused("nothing to do", tile.export, tile.plan(tensor(0), tensor(0)))
    local p = tile.plan(tensor(4), tensor(4))
    p:free()
    refused("this plan was freed", tile.export, p)
  end)

  if not cuda then return end

  it("says what is no launch", function()
    refused("between the host and a device", tile.export, tile.plan(tensor(4), tensor(4, cuda)))
    refused("nothing to do", tile.export, tile.plan(tensor(0, cuda), tensor(0, cuda)))
  end)

  it("launches nothing", function()
    local a, b = tensor(16, cuda):fill(3), tensor(16, cuda)
    local p = tile.plan(a, b)
    local header = tile.export(p, nil, { name = "move" })
    assert(header:find("int move_launch (move *x, void *stream, uint64_t src, uint64_t dst);", 1,
                       true))
    cuda:synchronize()
    assert.equal(0, b(5))
    p()
    cuda:synchronize()
    assert.equal(3, b(5))
  end)

  it("wants buffers that are one or apart", function()
    local all = tensor(64, cuda)
    local p = tile.plan(all:view(layout(16)), all:view(layout(16), 32))
    assert(tile.export(p):find("the buffer of src", 1, true))
  end)
end)
