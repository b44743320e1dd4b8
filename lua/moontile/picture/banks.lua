-- moontile.picture.banks - a warp's access to shared memory over time: a row for each wavefront,
-- a column for each bank, in the cell who is served.
-- SPDX-License-Identifier: MIT
--
-- The rules are those of include/moontile/analysis.h; bank_conflicts says how wide the accesses
-- are, and the spec holds the wavefronts drawn against its count.

local need = ...
local tile = need "core"
local check = need "faults"
local options = need "picture.options"
local panel = need "picture.panel"
local format = string.format

local banks = {}

local WARP, BANKS, BANKBYTES = 32, 32, 4

-- ---------------------------------------------------------------- one phase

-- Serves the threads [from, to): rows of words by bank; each { threads... , word = }.
local function wavefronts(addresses, from, to, bytes)
  local rows, found = {}, {}
  for t = from, to - 1 do
    for b = 0, bytes - 1, BANKBYTES do
      local word = (addresses[t] + b) // BANKBYTES
      local bank = word % BANKS
      local served = found[word]
      if served then
        if served.threads[#served.threads] ~= t then served.threads[#served.threads + 1] = t end
      else
        local way = 1
        while rows[way] and rows[way][bank] do way = way + 1 end
        rows[way] = rows[way] or {}
        served = { threads = { t }, word = word }
        rows[way][bank], found[word] = served, served
      end
    end
  end
  return rows
end

-- Whether threads that differ in a bit of their number want the same address.
local function paired(addresses, n, bit)
  for i = 0, n - 1 do
    local other = i ~ bit
    if other < n and addresses[other] ~= addresses[i] then return false end
  end
  return true
end

local function threads_of_phase(how, addresses, n)
  local threads = how.bytes == 16 and 8 or how.bytes == 8 and 16 or WARP
  local wide = how.kind == "read" and how.bytes >= 8
  if wide and (paired(addresses, n, 1) or paired(addresses, n, 2)) then threads = threads * 2 end
  return threads
end

-- ---------------------------------------------------------------- all

-- The rows of one access: lane -> address; those where a phase begins are marked.
local function add_access(rows, how, addresses, n, first_thread, most)
  local each = threads_of_phase(how, addresses, n)
  local begins = true
  for from = 0, n - 1, each do
    for _, row in ipairs(wavefronts(addresses, from, math.min(from + each, n), how.bytes)) do
      row.begins, begins = begins, false
      row.first_thread = first_thread
      rows.count = rows.count + 1
      if #rows < most then rows[#rows + 1] = row end
    end
  end
end

-- A: (thread, value...) -> element. Rows for all accesses of all warps, the first `most` kept.
local function rows_of(A, how, offset, most)
  local threads = tile.rank(A) > 1 and tile.size(tile.get(A, 1)) or tile.size(A)
  local values = tile.size(A) // threads
  local width = math.max(1, how.bytes * 8 // how.bits)
  local lanes = how.matrices and 8 * how.matrices or WARP
  local rows = { count = 0, accesses = 0, threads = threads }
  for first = 0, threads - 1, WARP do
    local n = math.min(lanes, threads - first)
    for value = 0, values - 1, width do
      local addresses = {}
      for t = 0, n - 1 do
        addresses[t] = (A(first + t + threads * value) + offset) * how.bits // 8
      end
      rows.accesses = rows.accesses + 1
      add_access(rows, how, addresses, n, first, most)
    end
  end
  return rows
end

local function cell_of(row, j, first)
  local served = row and row[j]
  if not served then return { "", bank = j } end
  local threads, t = {}, served.threads[1]
  for i, each in ipairs(served.threads) do threads[i] = first + each end
  local label = #threads > 1 and format("T%d+%d", first + t, #threads - 1)
                or format("T%d", first + t)
  return { label, bank = j, threads = threads, colour = t % 8, offset = served.word * BANKBYTES }
end

local MOST_ELEMENTS = 1 << 16

-- picture(A, bits, how, o, title): how: as bank_conflicts takes it.
local function draw(A, figures, offset, o, title)
  check(tile.size(A) <= MOST_ELEMENTS, "%s: %s has %d elements, at most %d are drawn", o.way, A,
        tile.size(A), MOST_ELEMENTS)
  local rows = rows_of(A, figures, offset, o.rows or o.most_rows)
  local p = { title = "wavefronts over the 32 banks", all_rows = rows.count, all_columns = BANKS,
              palette = "many", row_levels = {}, threads = rows.threads, is_time = true }
  p.cell = function(i, j)
    local cell = cell_of(rows[i + 1], j, rows[i + 1].first_thread)
    p.broadcast = p.broadcast or cell.threads and #cell.threads > 1
    return cell
  end
  panel.new(p, o)
  for i = 1, p.rows - 1 do p.row_levels[i] = rows[i + 1].begins and 1 or nil end
  local notes = { format("%d wavefront%s where %d would do: %d conflict%s", figures.wavefronts,
                         figures.wavefronts == 1 and "" or "s", figures.ideal, figures.conflicts,
                         figures.conflicts == 1 and "" or "s") }
  if p.broadcast then notes[2] = "T0+3: thread 0 and 3 others are served by one word" end
  return { title = title, panels = { p }, notes = notes }
end

local function offset_of(o) return type(o.access) == "table" and o.access.offset or 0 end

-- Of a layout; o.banks: bits of an element or a dtype, o.access: a kind of access.
function banks.of_layout(A, o)
  local bits = options.bits(o, "banks")
  local figures = tile.bank_conflicts(A, bits, o.access)
  return draw(A, figures, offset_of(o), o, format("%s of %s", figures.kind, A))
end

-- Of a tiled copy; o.banks: the layout of shared memory, o.part: the side that lies there.
function banks.of_copy(tiled, o)
  check(getmetatable(o.banks) == "moontile.Layout",
        "%s: banks: the layout of shared memory expected, got %s", o.way, need "kind"(o.banks))
  local side = options.word(o, "part", { "S", "D" }) or "S"
  local figures = tile.bank_conflicts(tiled, o.banks, side, o.access)
  local A = side == "S" and tiled:partition_S(o.banks) or tiled:partition_D(o.banks)
  return draw(A, figures, offset_of(o), o, format("%s: %s of %s", figures.kind, side, o.banks))
end

return banks
