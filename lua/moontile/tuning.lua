-- moontile.tuning - plans measured on their device; why a plan has its kernel.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local format = string.format

local tuning = {}

-- ---------------------------------------------------------------- tables of ways

local function bytes(n)
  local units, i = { "B", "KiB", "MiB", "GiB", "TiB" }, 1
  while n >= 1024 and i < #units do n, i = n / 1024, i + 1 end
  return format(i == 1 and "%.0f %s" or "%.1f %s", n, units[i])
end

local function microseconds(t) return t and format("%.1f", t) or "" end

local columns = {
  { "kernel", function(way) return way.kernel end },
  { "algorithm", function(way) return way.algorithm or "" end },
  { "vector", function(way) return way.vector and tostring(way.vector) or "" end, right = true },
  { "parts", function(way) return way.parts and tostring(way.parts) or "" end, right = true },
  { "traffic", function(way) return way.traffic and bytes(way.traffic) or "" end, right = true },
  { "used", function(way) return way.used and format("%.0f %%", 100 * way.used) or "" end,
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
    local pad = string.rep(" ", width - #cell)
    local text = column.right and pad .. cell or cell .. pad
    lines[i] = lines[i] and lines[i] .. "  " .. text or text
  end
end

local function show(ways)
  local lines = {}
  for _, column in ipairs(columns) do add_column(lines, ways, column) end
  for i, line in ipairs(lines) do lines[i] = string.gsub(line, "%s+$", "") end
  return table.concat(lines, "\n")
end

local Ways = { __tostring = show, __name = "moontile.Ways", __metatable = "moontile.Ways" }

-- The number that plan:take wants besides the kernel, of a way that can be asked for.
local function number_of(way) return way.vector or way.parts end

local function name_of(way) return way.kernel .. " " .. number_of(way) end

-- What was measured of a plan's ways: { kernel =, vector = [, measured = by name_of] }; vector
-- is the number.
local function add_measured(ways, kept)
  local tuned
  for _, way in ipairs(ways) do
    if way.possible and number_of(way) then
      way.measured = kept.measured and kept.measured[name_of(way)]
      way.tuned = way.chosen and way.kernel == kept.kernel and number_of(way) == kept.vector or nil
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

-- plan:why() -> { { kernel =, algorithm =, vector =, parts =, possible =, chosen =, why =,
-- traffic =, used =, predicted =, measured =, tuned = }, ... }, which prints itself: the ways in
-- which the plan could be done, what each would cost, and the kernels that could not do it.
function tuning.why(plan)
  local ways = tile.plan_why(plan)
  local kept = tile.tuned[plan:key()]
  if kept then add_measured(ways, kept) end
  sort(ways)
  return setmetatable(ways, Ways)
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
  local samples, launches = {}, 0
  local work <close> = tile.stint("tune", #ways * (rounds + 1))
  for i, way in ipairs(ways) do
    tile.stint_step(work)
    local first = plan:take(way.kernel, number_of(way)):measure(1)
    samples[i] = { n = math.max(1, math.min(MOST, BATCH // math.max(first, 1) // 1 | 0)) }
  end
  for _, sample in ipairs(samples) do launches = launches + rounds * sample.n end
  tile.check_launches(plan, "tune", launches)
  for round = 1, rounds do
    for i, way in ipairs(ways) do
      tile.stint_step(work)
      samples[i][round] = plan:take(way.kernel, number_of(way)):measure(samples[i].n)
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
  check(type(options) == "table", "tune: a table of options expected, got %s",
        need "kind"(options))
  tile.check_options("tune", options, "file", "rounds")
  local rounds, file = options.rounds or 5, options.file
  check(math.type(rounds) == "integer" and rounds > 0 and rounds <= 10000,
        "tune: rounds: 1 to 10000 expected, got %s", rounds)
  check(file == nil or type(file) == "string", "tune: file: the name of a file expected, got %s",
        need "kind"(file))
  return rounds, file
end

-- Measures the ways of a plan; the plan takes the fastest, and later ones of its key do.
local function take_fastest(plan, rounds)
  local open, measured = possible(plan:why()), {}
  check(number_of(open[1]), "tune: this product has one way, print(plan:why()) shows it")
  tile.check_repeatable(plan, "tune")
  measure(plan, open, rounds)
  local best = best_of(open)
  for _, way in ipairs(open) do measured[name_of(way)] = way.measured end
  plan:take(best.kernel, number_of(best))
  tile.tuned[plan:key()] = { kernel = best.kernel, vector = number_of(best), measured = measured }
  tile.retune()
  return plan:why(), best
end

-- tune(plan [, { file = path, rounds = n }]) -> the plan, by the kernel that was the fastest on
-- its device, and the ways with `measured`, in microseconds | nil, message, code. It is launched
-- again and again, with the same buffers: small ones lie in the caches. Later plans of such
-- copies, or products, take the winner; if a file is given, what it says is remembered too, and the
-- winner is appended.
function tuning.tune(plan, options)
  check(getmetatable(plan) == "moontile.Plan", "tune: a plan expected, got %s: plan(src, dst) and "
        .. "plan_gemm(A, B, C) make one", need "kind"(plan))
  local rounds, path = read_options(options)
  if path then
    local lines, message, code = tile.recall_tuning(path)
    if not lines then return nil, message, code end
  end
  local ways, best = take_fastest(plan, rounds)
  if path then
    local ok, message, code = tile.append_tuning(path, plan:key(), best.kernel, number_of(best))
    if not ok then return nil, message, code end
  end
  return plan, ways
end

return tuning
