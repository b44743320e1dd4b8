-- moontile.picture.costs - the kernels that a plan could take, as bars of what each would cost.
-- SPDX-License-Identifier: MIT

local format = string.format

local costs = {}

local function text_of(way)
  local time = way.measured or way.predicted
  if not way.possible then return way.why or "not possible" end
  local parts = {}
  if time then parts[1] = format("%.1f us %s", time, way.measured and "measured" or "predicted") end
  if way.chosen then parts[#parts + 1] = "chosen" end
  return #parts > 0 and table.concat(parts, ", ") or way.why or "possible"
end

function costs.picture(plan)
  local bars, ways = {}, plan:why()
  for i, way in ipairs(ways) do
    bars[i] = {
      label = way.vector and format("%s %d", way.kernel, way.vector) or way.kernel,
      value = way.possible and (way.measured or way.predicted) or nil,
      text = text_of(way), chosen = way.chosen, dim = not way.possible,
    }
  end
  return { title = "what each kernel would cost", bars = bars, panels = {} }
end

return costs
