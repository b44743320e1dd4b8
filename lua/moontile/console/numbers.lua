-- moontile.console.numbers - elements of a tensor as texts of one width.
-- SPDX-License-Identifier: MIT
--
-- A number has the fewest digits that mean it and no other of its type, but at most 8 behind the
-- point. Points stand in one column. Numbers of very different sizes are written with exponents.

local DIGITS = 8

-- Bits of a significand behind its leading one.
local BITS = { f64 = 52, f32 = 23, f16 = 10, bf16 = 7, e4m3 = 3, e5m2 = 2 }

local function is_finite(x) return x == x and x ~= math.huge and x ~= -math.huge end

-- Half the distance to the nearest number of the type that is not x.
local function half_step(x, bits)
  local size = math.abs(x)
  local exponent = math.floor(math.log(size, 2))
  return 2.0 ^ (exponent - bits - (size == 2.0 ^ exponent and 2 or 1))
end

-- How many digits behind the point the format "%.3f" or "%.3e" needs for x.
local function digits_of(x, bits, letter)
  if x == 0 then return 0 end
  local step = half_step(x, bits)
  for digits = 0, DIGITS - 1 do
    local text = ("%." .. digits .. letter):format(x)
    if math.abs(tonumber(text) - x) < step then return digits end
  end
  return DIGITS
end

local function needs_exponents(values)
  local least, most = math.huge, 0
  for _, x in pairs(values) do
    if math.type(x) == "float" and is_finite(x) and x ~= 0 then
      least, most = math.min(least, math.abs(x)), math.max(most, math.abs(x))
    end
  end
  return most > 0 and (most >= 1e8 or least < 1e-4 or most / least > 1000)
end

local function special(x) return x ~= x and "nan" or x > 0 and "inf" or "-inf" end

local function fixed(x, bits)
  local text = ("%." .. digits_of(x, bits, "f") .. "f"):format(x)
  if not text:find(".", 1, true) then return text .. "." end
  return (text:gsub("0+$", ""))
end

local function scientific(values, texts, bits)
  local digits = 0
  for _, x in pairs(values) do
    if is_finite(x) then digits = math.max(digits, digits_of(x, bits, "e")) end
  end
  for key, x in pairs(values) do
    texts[key] = is_finite(x) and ("%." .. digits .. "e"):format(x) or special(x)
  end
end

local function pad(texts, point)
  local before, behind = 0, 0
  for key, text in pairs(texts) do
    local at = point and text:find(".", 1, true) or #text
    before, behind = math.max(before, at), math.max(behind, #text - at)
    texts[key] = { text, at }
  end
  for key, t in pairs(texts) do
    local text, at = t[1], t[2]
    texts[key] = (" "):rep(before - at) .. text .. (" "):rep(behind - (#text - at))
  end
  return texts
end

-- values, by any keys, of a dtype -> texts by the same keys.
return function(values, dtype)
  local texts, bits = {}, BITS[dtype]
  if not bits then
    for key, v in pairs(values) do texts[key] = tostring(v) end
    return pad(texts, false)
  end
  if needs_exponents(values) then
    scientific(values, texts, bits)
    return pad(texts, false)
  end
  for key, x in pairs(values) do texts[key] = is_finite(x) and fixed(x, bits) or special(x) end
  return pad(texts, true)
end
