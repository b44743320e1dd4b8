-- moontile.tuning - plans of copies measured on their device; why a plan has its kernel.
-- SPDX-License-Identifier: MIT

local tile = require "moontile.core"
local faults = require "moontile.faults"
local check = faults.check

local tuning, methods = {}, {}
local why, key_of = tile._methods.Plan.why, tile._methods.Plan.key

-- ---------------------------------------------------------------- tables of ways

local function bytes(n)
  local units, i = { "B", "KiB", "MiB", "GiB", "TiB" }, 1
  while n >= 1024 and i < #units do n, i = n / 1024, i + 1 end
  return (i == 1 and "%.0f %s" or "%.1f %s"):format(n, units[i])
end

local function microseconds(t) return t and ("%.1f"):format(t) or "" end

local columns = {
  { "kernel", function(way) return way.kernel end },
  { "form", function(way) return way.form or "" end },
  { "vector", function(way) return way.vector and tostring(way.vector) or "" end, right = true },
  { "traffic", function(way) return way.traffic and bytes(way.traffic) or "" end, right = true },
  { "used", function(way) return way.used and ("%.0f %%"):format(100 * way.used) or "" end,
    right = true },
  { "predicted us", function(way) return microseconds(way.predicted) end, right = true },
  { "measured us", function(way) return microseconds(way.measured) end, right = true },
  { "", function(way) return way.chosen and (way.tuned and "chosen, as measured" or "chosen")
                             or way.why or "" end },
}

-- A column in which nothing stands is left out.
local function add_column(lines, ways, column)
  local cells, width = { column[1] }, #column[1]
  for i, way in ipairs(ways) do cells[i + 1] = column[2](way) end
  if table.concat(cells, "", 2) == "" then return end
  for _, cell in ipairs(cells) do width = math.max(width, #cell) end
  for i, cell in ipairs(cells) do
    local pad = (" "):rep(width - #cell)
    local text = column.right and pad .. cell or cell .. pad
    lines[i] = lines[i] and lines[i] .. "  " .. text or text
  end
end

local function format(ways)
  local lines = {}
  for _, column in ipairs(columns) do add_column(lines, ways, column) end
  for i, line in ipairs(lines) do lines[i] = line:gsub("%s+$", "") end
  return table.concat(lines, "\n")
end

local Ways = { __tostring = format, __name = "moontile.Ways" }

local function name_of(way) return way.kernel .. " " .. way.vector end

-- What was measured of a plan's ways: { kernel =, vector = [, measured = by name_of] }.
local function add_measured(ways, kept)
  local tuned
  for _, way in ipairs(ways) do
    if way.possible and way.vector then
      way.measured = kept.measured and kept.measured[name_of(way)]
      way.tuned = way.chosen and way.kernel == kept.kernel and way.vector == kept.vector or nil
      tuned = tuned or way.tuned
    end
  end
  for _, way in ipairs(ways) do
    if tuned and way.possible and not way.chosen then way.why = "slower, as measured" end
  end
end

-- What is possible first, the faster before the slower, as far as that is known.
local function sort(ways)
  local place = {}
  for i, way in ipairs(ways) do
    place[way] = { way.possible and (way.measured or way.predicted or 0) or math.huge, i }
  end
  table.sort(ways, function(a, b)
    local x, y = place[a], place[b]
    if x[1] ~= y[1] then return x[1] < y[1] end
    return x[2] < y[2]
  end)
end

-- plan:why() -> { { kernel =, form =, vector =, possible =, chosen =, why =, traffic =, used =,
-- predicted =, measured =, tuned = }, ... }, which prints itself: the ways in which the plan
-- could be done, what each would cost, and the kernels that could not do it.
function methods.why(plan)
  local ways = why(plan)
  local kept = tile._tuned[key_of(plan)]
  if kept then add_measured(ways, kept) end
  sort(ways)
  return setmetatable(ways, Ways)
end

-- ---------------------------------------------------------------- files

-- A line: the key (16 digits, the device's name), the kernel, the bytes of an access; between
-- them tabulators.
local LINE = "^(%x+\t[^\t]+)\t([%w_]+)\t(%d+)$"

local function world(path, message)
  message = message or "an error of the file"
  local named = message:sub(1, #path + 2) == path .. ": "
  return nil, named and message or path .. ": " .. message, "EIO"
end

-- What a file says, by key, and how many lines that are; a later line of a key stands.
local function read_lines(path, text)
  local found, number, lines = {}, 0, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local key, kernel, vector = line:match(LINE)
    if key then
      found[key], lines = { kernel = kernel, vector = math.tointeger(vector) }, lines + 1
    elseif line:match "%S" then
      return nil, ("%s: line %d is no key, device, kernel and vector: \"%s\"")
                  :format(path, number, line:sub(1, 60)), "EFORMAT"
    end
  end
  return found, lines
end

local function read_file(path)
  local file, message = io.open(path)
  if not file then return world(path, message) end
  local text, why_not = file:read "a"
  file:close()
  if not text then return world(path, why_not) end
  local found, lines, code = read_lines(path, text)
  for key, way in pairs(found or {}) do tile._tuned[key] = way end
  if found then tile._retune() end
  return found, lines, code
end

-- load_tuning(path) -> how many lines were read; later plans take what they say | nil, message,
-- code
function tuning.load_tuning(path)
  check(type(path) == "string", "load_tuning: the name of a file expected, got %s", type(path))
  local found, lines, code = read_file(path)
  if not found then return nil, lines, code end
  return lines
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- Nothing is written that the file says already.
local function append(path, key, way, known)
  if known and known.kernel == way.kernel and known.vector == way.vector then return true end
  local file, message = io.open(path, "a")
  if not file then return world(path, message) end
  local ok, text = file:write(("%s\t%s\t%d\n"):format(key, way.kernel, way.vector))
  local closed, late = file:close()
  if not (ok and closed) then return world(path, text or late) end
  return true
end

-- ---------------------------------------------------------------- measuring

local BATCH, MOST = 2000, 200           -- microseconds and launches of a sample

local function median(samples)
  table.sort(samples)
  return samples[(#samples + 1) // 2]
end

local function possible(ways)
  local found = {}
  for _, way in ipairs(ways) do if way.possible then found[#found + 1] = way end end
  return found
end

-- The ways take turns; each has a first launch that does not count.
local function measure(plan, ways, rounds)
  local samples = {}
  for i, way in ipairs(ways) do
    local first = plan:take(way.kernel, way.vector):measure(1)
    samples[i] = { n = math.max(1, math.min(MOST, BATCH // math.max(first, 1) // 1 | 0)) }
  end
  for round = 1, rounds do
    for i, way in ipairs(ways) do
      samples[i][round] = plan:take(way.kernel, way.vector):measure(samples[i].n)
    end
  end
  for i, way in ipairs(ways) do way.measured = median(samples[i]) end
end

-- The fastest; the one that was chosen is preferred to one that is faster by less than 1 %.
local function best_of(ways)
  local best
  for _, way in ipairs(ways) do
    if not best or way.measured < best.measured then best = way end
  end
  for _, way in ipairs(ways) do
    if way.chosen and way.measured * 0.99 < best.measured then best = way end
  end
  return best
end

local function read_options(options)
  options = options or {}
  check(type(options) == "table", "tune: a table of options expected, got %s", type(options))
  for key in pairs(options) do
    check(key == "file" or key == "rounds", "tune: unknown option '%s'; there are: file, rounds",
          key)
  end
  local rounds, file = options.rounds or 5, options.file
  check(math.type(rounds) == "integer" and rounds > 0 and rounds <= 10000,
        "tune: rounds: 1 to 10000 expected, got %s", rounds)
  check(file == nil or type(file) == "string", "tune: file: the name of a file expected, got %s",
        type(file))
  return rounds, file
end

-- Measures the ways of a plan; the plan takes the fastest, and later ones of its key do.
local function take_fastest(plan, rounds)
  local open, measured = possible(plan:why()), {}
  check(open[1].vector, "tune: a product has no other ways")
  measure(plan, open, rounds)
  local best = best_of(open)
  for _, way in ipairs(open) do measured[name_of(way)] = way.measured end
  plan:take(best.kernel, best.vector)
  tile._tuned[plan:key()] = { kernel = best.kernel, vector = best.vector, measured = measured }
  tile._retune()
  return plan:why(), best
end

-- tune(plan [, { file = path, rounds = n }]) -> the plan, by the kernel that was the fastest on
-- its device, and the ways with `measured`, in microseconds | nil, message, code. The copy is
-- made again and again, between the same buffers: small ones lie in the caches. Later plans of
-- such copies take the winner; if a file is given, what it says is remembered too, and the
-- winner is appended.
function tuning.tune(plan, options)
  check(getmetatable(plan) == "moontile.Plan", "tune: a plan expected, got %s",
        math.type(plan) or type(plan))
  local rounds, path = read_options(options)
  local said = {}
  if path and exists(path) then
    local message, code
    said, message, code = read_file(path)
    if not said then return nil, message, code end
  end
  local ways, best = take_fastest(plan, rounds)
  if path then
    local ok, message, code = append(path, plan:key(), best, said[plan:key()])
    if not ok then return nil, message, code end
  end
  return plan, ways
end

faults.raising(methods)
tile._methods.Plan.why = methods.why

return faults.raising(tuning)
