-- read.lua: an SVG of a picture read back: what stands in it, and where.
-- SPDX-License-Identifier: MIT

local read = {}

local function number(tag, name) return tonumber(tag:match(" " .. name .. '="([%d.%-]+)"')) end

-- Whether all tags are closed in their order, and all text is escaped; else where not.
function read.is_well_formed(text)
  local open = {}
  for slash, name, rest, last in text:gmatch "<(/?)([%w:]+)([^<>]*)>([^<]*)" do
    if slash == "/" then
      if table.remove(open) ~= name then return false, "</" .. name .. ">" end
    elseif rest:sub(-1) ~= "/" then
      open[#open + 1] = name
    end
    if last:find ">" or last:gsub("&%l+;", ""):find "&" then return false, last end
  end
  return #open == 0, open[#open]
end

local function unescape(text)
  return (text:gsub("&(%l+);", { amp = "&", lt = "<", gt = ">", quot = '"' }))
end

local function read_cell(classes, attributes, body)
  local cell = { dim = classes:find " d" ~= nil, labels = {}, fonts = {} }
  local rect = body:match "<rect.->"
  cell.class = rect:match 'class="(%w+)"'
  for _, key in ipairs { "x", "y", "width", "height" } do cell[key] = number(rect, key) end
  for text in body:gmatch "<text.->(.-)</text>" do
    cell.labels[#cell.labels + 1] = unescape(text)
  end
  for key, value in attributes:gmatch 'data%-(%l)="(.-)"' do cell[key] = value end
  cell.title = body:match "<title>(.-)</title>"
  return cell
end

local function place_by(cells, key)
  local seen, list = {}, {}
  for _, cell in ipairs(cells) do
    if not seen[cell[key]] then list[#list + 1], seen[cell[key]] = cell[key], true end
  end
  table.sort(list)
  local place = {}
  for i, value in ipairs(list) do place[value] = i - 1 end
  return place
end

-- The panels: each a list of cells, with row and column, from where they stand.
function read.panels(text)
  local panels = {}
  for body in text:gmatch '<g class="p".->(.-)</g>\n' do
    local cells = { title = unescape(body:match '<text class="h".->(.-)</text>' or "") }
    for classes, attributes, inner in body:gmatch '<g class="(c[ d]*)"(.-)>(.-)</g>' do
      cells[#cells + 1] = read_cell(classes, attributes, inner)
    end
    local rows, columns = place_by(cells, "y"), place_by(cells, "x")
    for _, cell in ipairs(cells) do
      cell.row, cell.column = rows[cell.y], columns[cell.x]
      cells[cell.row .. "," .. cell.column] = cell
    end
    panels[#panels + 1] = cells
  end
  return panels
end

-- The size of the letters in cells, in pixels.
function read.font(text) return tonumber(text:match "%.c text{font%-size:([%d.]+)px") end

return read
