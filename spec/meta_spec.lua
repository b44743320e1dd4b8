-- meta_spec.lua: each public function has an entry in lua/moontile/meta: what it takes, a sentence,
-- and an example that gives what it says.
-- SPDX-License-Identifier: MIT

require "moontile"
local console = require "moontile.console"
local rows = dofile "spec/operations.lua"
local meta = console.meta

local CLASSES = {
  TILE = "tile", LAYOUT = "Layout", TENSOR = "Tensor", VALUE = "Value", DEVICE = "Device",
  STREAM = "Stream", PLAN = "Plan", GRAPH = "Graph", TILEDCOPY = "TiledCopy", THRCOPY = "ThrCopy",
  TILEDMMA = "TiledMMA", THRMMA = "ThrMMA", KERNEL = "Kernel",
}

-- The names in what a row takes: "A [, modes...]" has A and "...".
local function names_in(takes)
  local names = {}
  for name in takes:gsub("|%s*%w+", ""):gmatch "[%w_.]+" do
    names[#names + 1] = name:match "%.%.%.$" or name
    if names[#names] == "..." then return names end
  end
  return names
end

local function names_of(entry)
  local names = {}
  for i, param in ipairs(entry.params) do names[i] = param.name end
  return names
end

describe("each public function", function()
  for _, row in ipairs(rows) do
    for class in pairs(row.of) do
      local where = CLASSES[class]
      if where then
        it(where .. "." .. row.name .. " is described", function()
          local entry = meta.entries[where .. "." .. row.name]
          assert.is_table(entry)
          assert.is_truthy(entry.summary and entry.summary:find "[.:]$")
          assert.is_true(#entry.notes + #entry.errors > 0)
          assert.is_true(#entry.example > 0)
        end)
      end
    end
  end

  it("is there", function()
    local there = {}
    for _, row in ipairs(rows) do
      for class in pairs(row.of) do there[(CLASSES[class] or "?") .. "." .. row.name] = true end
    end
    for _, entry in ipairs(meta.entries) do
      assert.is_true(there[entry.where .. "." .. entry.name], entry.where .. "." .. entry.name)
    end
  end)
end)

-- Fields of atoms, whose classes know what they have.
describe("the fields", function()
  local tile = require "moontile"
  for class, x in pairs { MmaAtom = tile.mma_atom "SM80_16x8x16_F32F16F16F32_TN",
                          CopyAtom = tile.copy_atom "SM75_U32x4_LDSM_N" } do
    it("of " .. class .. " are there", function()
      assert.is_true(#meta.fields[class] > 0)
      for _, field in ipairs(meta.fields[class]) do assert.is_not_nil(x[field], field) end
    end)
  end
end)

-- Where a function is described it takes what operations.def says; a method without its self.
describe("the arguments", function()
  local described = {}
  for _, entry in ipairs(meta.entries) do
    local block = getmetatable(entry).__index
    if not described[block] then
      described[block] = true
      it("of " .. entry.where .. "." .. entry.name, function()
        for _, row in ipairs(rows) do
          for class in pairs(row.of) do
            if row.name == entry.name and CLASSES[class] == entry.where then
              local names = names_in(row.takes)
              if entry.where ~= "tile" then table.remove(names, 1) end
              assert.same(names, names_of(entry))
            end
          end
        end
      end)
    end
  end
end)

-- What the console prints when the example is typed.
local function typed(lines)
  local out = {}
  local function write(text) out[#out + 1] = text end
  local s = console.new { write = write, complain = write }
  for _, line in ipairs(lines) do
    if not line:match "^%-%->" then s:feed((line:gsub("%s*%-%->.*$", ""))) end
  end
  s:unfinished()
  return (table.concat(out):gsub("\n$", ""))
end

local function said(lines)
  local out = {}
  for _, line in ipairs(lines) do out[#out + 1] = line:match "%-%->%s?(.*)$" end
  return table.concat(out, "\n")
end

describe("the example", function()
  local run = {}
  for _, entry in ipairs(meta.entries) do
    if not run[entry.example] then
      run[entry.example] = true
      it("of " .. entry.where .. "." .. entry.name .. " gives what it says", function()
        assert.equal(said(entry.example), typed(entry.example))
        local name = entry.name:gsub("^__call$", "%%("):gsub("_[ABCS]%f[^%a]", "_[ABCSD]")
        assert.truthy(table.concat(entry.example, " "):find(name)
                      or table.concat(entry.example):find "[*/#]")
      end)
    end
  end
end)
