-- moontile.export - plans as C: launches, or loops, for programs without the library.
-- SPDX-License-Identifier: MIT
--
-- The launches of a plan come as data (src/plan/recording.h): parameters in which addresses are
-- those of its tensors. Here each becomes a tensor's number and a distance, to be added again by
-- the program: moontile/export_stub.lua has what that is in C.

local need = ...
local tile = need "core"
local check = need "faults"
local stub = need "export_stub"
local format, concat, unpack = string.format, table.concat, string.unpack

local FATBIN <const> = 0xba55ed50
local CODE <const> = 2 -- kind of an entry: machine code, not PTX
local ALIGNED <const> = 16 -- bytes: no access is wider

-- ---------------------------------------------------------------- images

-- The entries of a fatbin that `f` wants, as text; nothing if it is built in another way.
local function entries(image, head, f)
  local at, kept = head, {}
  while at + 64 <= #image do
    local kind, _, size, rest = unpack("<I2I2I4I8", image, at + 1)
    local arch = unpack("<I4", image, at + 29)
    if size < 32 or rest < 0 or rest > #image - at - size then return end
    if f(kind, arch) then kept[#kept + 1] = image:sub(at + 1, at + size + rest) end
    at = at + size + rest
  end
  return at == #image and #kept > 0 and concat(kept) or nil
end

-- Of a fatbin only the machine code that this GPU ran; a list of kernels as it is.
local function slim(image, binary)
  if #image < 16 or unpack("<I4", image) ~= FATBIN then return image end
  local _, version, head = unpack("<I4I2I2", image)
  local body = entries(image, head, function(kind, arch) return kind == CODE and arch == binary end)
  if not body then return image end
  return string.pack("<I4I2I2I8", FATBIN, version, head, #body) .. image:sub(17, head) .. body
end

-- ---------------------------------------------------------------- addresses

local function contains(t, address, ends)
  local first, last = t.address, t.address + t.bytes
  if ends then return first < address and address <= last end
  return first <= address and address < last
end

-- Buffers are one or apart: else an address could be of either.
local function check_apart(tensors)
  for i, t in ipairs(tensors) do
    for j = 1, i - 1 do
      local u = tensors[j]
      check(t.address == u.address or t.address >= u.address + u.bytes
            or u.address >= t.address + t.bytes,
            "export: the buffers of %s and %s overlap, and are not the same\n"
            .. "plan it with tensors of one buffer, or of two that lie apart", u.name, t.name)
    end
  end
end

-- What an address is: { tensor, distance }; nothing where it is NULL.
local function place(tensors, x)
  if x.value == 0 then return end
  for i, t in ipairs(tensors) do
    if contains(t, x.value, x.ends) then return { i - 1, x.value - t.address } end
  end
  check(false, "export: a kernel's address is of none of the plan's tensors")
end

-- The parameter without what is put into it anew.
local function blank(parameter, x, size)
  return parameter:sub(1, x.at) .. ("\0"):rep(size) .. parameter:sub(x.at + size + 1)
end

-- Of operands that are not packed, nothing.
local function is_idle(launch, x)
  if launch.image ~= "pack" then return false end
  local half = #launch.parameter // 2
  local first = x.at < half and 0 or half
  for _, y in ipairs(launch.addresses) do
    if y.at >= first and y.at < first + half and y.value == 0 then return true end
  end
  return false
end

local function relocate(tensors, launch)
  local places, maps, parameter = {}, {}, launch.parameter
  for _, x in ipairs(launch.addresses) do
    local p = not is_idle(launch, x) and place(tensors, x)
    parameter = blank(parameter, x, 8)
    if p then places[#places + 1] = format("{%d, %d, %d}", x.at, p[1], p[2]) end
  end
  for _, m in ipairs(launch.maps) do
    local p = place(tensors, m)
    parameter = blank(parameter, m, 128)
    maps[#maps + 1] =
      format("{%d, %d, %d, %d, %d, {%du, %du, %du}, {%du, %du}, {%du, %du, %du}}", m.at, p[1],
             p[2], m.type, m.swizzle, m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
  end
  return { places = places, maps = maps, parameter = parameter }
end

-- ---------------------------------------------------------------- arguments

-- The first tensor of the same buffer.
local function group_of(tensors, i)
  for j = 1, i do
    if tensors[j].address == tensors[i].address then return j - 1 end
  end
end

local function arguments(tensors)
  for i, t in ipairs(tensors) do
    t.group, t.residue = group_of(tensors, i), t.address % ALIGNED
    t.written = i == tensors.result or t.name == "workspace"
  end
  return tensors
end

-- ---------------------------------------------------------------- both kinds

local function of_launches(plan, name)
  local x = tile.plan_launches(plan)
  check(#x.launches > 0, "export: this plan has nothing to do: one of its extents is 0")
  check_apart(x.tensors)
  arguments(x.tensors)
  local images, binary = {}, x.launches[1].binary
  for key, image in pairs(x.images) do
    images[#images + 1] = { name = key, text = slim(image, binary) }
  end
  table.sort(images, function(a, b) return a.name < b.name end)
  for i, image in ipairs(images) do images[image.name] = i - 1 end
  for _, launch in ipairs(x.launches) do
    launch.data, launch.index = relocate(x.tensors, launch), images[launch.image]
  end
  return stub.launches(name, x, images, tostring(plan))
end

local function of_loops(plan, name)
  local x = tile.plan_loops(plan)
  check(x.empty == 0, "export: this plan has nothing to do: one of its extents is 0")
  check_apart(x.tensors)
  for _, t in ipairs(arguments(x.tensors)) do t.residue = 0 end
  return stub.loops(name, x, tostring(plan))
end

local function is_name(x) return type(x) == "string" and x:find "^[%a_][%w_]*$" ~= nil end

local function read_options(options)
  options = options == nil and {} or options
  check(type(options) == "table", "export: a table of options expected, got %s",
        need "kind"(options))
  for key in pairs(options) do
    check(key == "name", "export: no option %s; there is name", tostring(key))
  end
  local name = options.name == nil and "moontile_plan" or options.name
  check(is_name(name), "export: name: a C identifier expected, got %s",
        tostring(name))
  return name
end

local function write(paths, folder, name, header, source)
  for _, file in ipairs { { "h", header }, { "c", source } } do
    local path = format("%s/%s.%s", folder, name, file[1])
    local ok, message, code = tile.write_file(path, file[2])
    if not ok then return nil, message, code end
    paths[#paths + 1] = path
  end
  return paths
end

local function is_plan(x) return getmetatable(x) == "moontile.Plan" end

local function text_of(plan, name)
  return (tile.plan_is_host(plan) and of_loops or of_launches)(plan, name)
end

local function sorted_names(plans)
  local names = {}
  for name, plan in pairs(plans) do
    check(is_name(name) and is_plan(plan), "export: of several plans a table { name = plan, ... } "
          .. "expected, got %s = %s", tostring(name), need "kind"(plan))
    names[#names + 1] = name
  end
  check(#names > 0, "export: the table has no plan")
  table.sort(names)
  return names
end

local function export_all(plans, folder, options)
  local paths, names = {}, sorted_names(plans)
  check(folder ~= nil, "export: of several plans the files are written: say in which folder")
  check(options == nil or options.name == nil, "export: the plans have names of their own")
  for _, name in ipairs(names) do
    local ok, message, code = write(paths, folder, name, text_of(plans[name], name))
    if not ok then return nil, message, code end
  end
  return paths
end

-- export(plan [, folder [, options]]) -> the paths that were written, header first; without a
-- folder the texts of both, header first. export({ name = plan, ... }, folder): all of them.
return function(plan, folder, options)
  check(is_plan(plan) or type(plan) == "table", "export: a plan expected, got %s", type(plan))
  check(folder == nil or type(folder) == "string", "export: a folder expected, got %s",
        need "kind"(folder))
  local name = read_options(options)
  if not is_plan(plan) then return export_all(plan, folder, options) end
  if folder == nil then return text_of(plan, name) end
  return write({}, folder, name, text_of(plan, name))
end
