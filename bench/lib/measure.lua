-- measure.lua: contestants measured in turn, in one process, and a table of the results.
-- SPDX-License-Identifier: MIT

-- moontile_bench.so lies beside the program that runs this script.
local program, i = arg[0], -1
while arg[i] do program, i = arg[i], i - 1 end
package.cpath = (program:match "^(.*/)" or "./") .. "?.so;" .. package.cpath

local ok, bench = pcall(require, "moontile_bench")
if not ok then
  print("the benchmarks need moontile_bench.so, which the build makes: try ./dev bench")
  os.exit(0)
end

local tile = require "moontile"
local measure = { bench = bench }

-- The value below which the fraction p of the sorted samples lies.
local function quantile(samples, p)
  return samples[math.max(1, math.ceil(p * #samples))]
end

-- Seconds of one call of c.start, from a batch of n with one c.finish at the end.
local function sample(c, n)
  local t = bench.now()
  for _ = 1, n do c.start() end
  c.finish()
  return (bench.now() - t) / n
end

-- Contestants { start = f, finish = f [, calls = n] } take turns for `rounds` rounds; a
-- batch has about `batch` seconds. Sets c.time (the median) and c.spread (of the middle
-- 80 %, relative).
function measure.run(contestants, rounds, batch)
  for _, c in ipairs(contestants) do
    c.samples = {}
    sample(c, c.calls or 2)
    c.calls = c.calls or math.max(1, math.ceil(batch / sample(c, 3)))
  end
  for _ = 1, rounds do
    for _, c in ipairs(contestants) do c.samples[#c.samples + 1] = sample(c, c.calls) end
  end
  for _, c in ipairs(contestants) do
    table.sort(c.samples)
    c.time = quantile(c.samples, 0.5)
    c.spread = (quantile(c.samples, 0.9) - quantile(c.samples, 0.1)) / c.time
  end
end

-- Fills a contiguous tensor with random numbers: a piece, again and again.
function measure.fill(t)
  local n, piece = t:size(), 1 << 16
  local values = {}
  local floating = t:dtype():match "f%d"
  for k = 1, math.min(n, piece) do
    values[k] = floating and math.random() or math.random(0, 100)
  end
  local device = t:device()
  local part = tile.tensor(t:dtype(), tile.layout(#values)):fill(values)
  tile.copy(assert(part:to(device)), t:view(tile.layout(#values)))
  local at = #values
  while at < n do                                        -- doubles what is there
    local half = tile.layout(math.min(at, n - at))
    tile.copy(t:view(half), t:view(half, at))
    at = at + half:size()
  end
  device:synchronize()
  return t
end

-- Whether the text has one of the script's arguments in it; without any it does.
function measure.is_asked(text)
  for _, part in ipairs(arg) do
    if text:find(part, 1, true) then return true end
  end
  return #arg == 0
end

-- A tensor of random numbers.
function measure.tensor(dtype, layout, device)
  local t = assert(tile.tensor(dtype, tile.layout(layout:size()), device))
  return measure.fill(t):view(layout)
end

-- Rows are sequences of texts; the first row is the head. As Markdown.
function measure.print(rows)
  local width = {}
  for _, row in ipairs(rows) do
    for k, text in ipairs(row) do width[k] = math.max(width[k] or 3, utf8.len(text)) end
  end
  for r, row in ipairs(rows) do
    local cells = {}
    for k, text in ipairs(row) do
      local pad = (" "):rep(width[k] - utf8.len(text))
      cells[k] = k == 1 and text .. pad or pad .. text
    end
    print("| " .. table.concat(cells, " | ") .. " |")
    if r == 1 then
      for k, n in ipairs(width) do
        cells[k] = ("-"):rep(n - 1) .. (k == 1 and "-" or ":")
      end
      print("| " .. table.concat(cells, " | ") .. " |")
    end
  end
end

function measure.gigabytes(bytes, seconds)
  return ("%.0f"):format(2 * bytes / seconds * 1e-9)
end

-- The kernel that a plan chose, from its text.
function measure.kernel(plan) return tostring(plan):match "kernel:%s*(%S+)" or "?" end

return measure
