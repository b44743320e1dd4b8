-- everything.lua: a call of each row of binding/operations.def that takes what may be freed, as
-- found by trying.
-- SPDX-License-Identifier: MIT
--
-- everything(device, path, add): add(name, make, call) as in scenarios.lua.

local tile = require "moontile"
local L = tile.layout
local rows = dofile "spec/operations.lua"

local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                               thr = L { 4, 4 }, val = L { 2, 1 } }
local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = L { 4, 4 } }

-- Arguments by a word: what may be freed, made anew each time, then the rest.
local function victims(device)
  local function T() return (assert(tile.tensor("f32", L({ 16, 8 }, "right"), device))) end
  return {
    T = T, U = T, V = function() return (assert(tile.tensor("f32", L { 16, 16 }, device))) end,
    S = function() return (assert(device:stream())) end,
    P = function() return (assert(tile.plan(T(), T()))) end,
    G = function()
      local a, b = T(), T()
      return (assert(device:graph(function() tile.copy(a, b) end)))
    end,
  }
end

local function constants(device, path)
  return {
    D = device, L = L { 4, 2 }, B = L(4), tiler = { 4, 4 }, coordinate = { 0, 1 }, one = 1, two = 2,
    copy = copy, mma = mma, path = path, dtype = "f32", bits = 32, half = 16, op = "composition",
    side = "S", options = {}, c = copy:get_slice(3), m = mma:get_slice(3),
    f = function() end, einsum = "ij,kj->ik", kernel = "copy",
  }
end

local FUNCTION = {
  "T", "T U", "T U V", "T L", "T B", "T tiler", "T coordinate", "coordinate T", "T one", "one T",
  "T one one", "T one two", "T tiler coordinate", "L T", "B T", "tiler T", "copy T", "copy T U",
  "mma T", "mma T U V", "P", "P options", "einsum T U", "dtype T", "T dtype", "half bits T",
  "bits half T", "op T L", "T one L", "T B one", "T tiler dtype", "dtype L D", "path D",
}
local METHOD = {
  "", "S", "path", "L", "B", "tiler", "coordinate", "one", "one two", "tiler coordinate", "B one",
  "D", "T", "V", "one coordinate", "T side", "L one", "f", "kernel two", "tiler dtype", "U",
}
local CLASSES = { TILE = "", TENSOR = "T ", PLAN = "P ", GRAPH = "G ", STREAM = "S ", DEVICE = "D ",
                  TILEDCOPY = "copy ", THRCOPY = "c ", TILEDMMA = "mma ", THRMMA = "m " }
-- One picture stands for the four: they read a value once, and in the same way.
local SKIPPED = { device = true, devices = true, info = true, print_layout = true, draw = true,
                  html = true, latex = true }

return function(device, path, add)
  local fresh, known = victims(device), constants(device, path)
  local function make_of(words)
    return function()
      local o = {}
      for word in words:gmatch "%a+" do
        if fresh[word] then o[#o + 1] = fresh[word]() end
      end
      return o
    end
  end
  local function arguments(words, o)
    local list, n, k = {}, 0, 0
    for word in words:gmatch "%a+" do
      n = n + 1
      if fresh[word] then k = k + 1 list[n] = o[k] else list[n] = known[word] end
    end
    return table.unpack(list, 1, n)
  end
  local function call_of(name, class, words)
    if class == "TILE" then return function(o) tile[name](arguments(words, o)) end end
    return function(o)
      local self = arguments(words, o)
      if name == "__call" then self(select(2, arguments(words, o)))
      else self[name](arguments(words, o)) end
    end
  end
  local function works(make, call)
    local o = make()
    return #o > 0 and pcall(call, o)
  end
  for _, row in ipairs(rows) do
    for class, self in pairs(CLASSES) do
      local patterns = class == "TILE" and FUNCTION or METHOD
      for _, pattern in ipairs(row.of[class] and not SKIPPED[row.name] and patterns or {}) do
        local words = self .. pattern
        local make, call = make_of(words), call_of(row.name, class, words)
        if works(make, call) then
          add(("%s.%s(%s)"):format(class:lower(), row.name, words), make, call)
          break
        end
      end
    end
  end
end
