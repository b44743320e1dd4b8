-- moontile.contraction - sums of products of tensors: einsum, and im2col of a tensor.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local einsum = need "einsum"
local check = need "faults"
local find, format, gmatch = string.find, string.format, string.gmatch
local gsub, match, sub = string.gsub, string.match, string.sub

local contraction = {}
local names = { "A", "B", "C" }

-- ---------------------------------------------------------------- expressions

local function is_tensor(value) return getmetatable(value) == "moontile.Tensor" end

-- "ab, bc -> ac" -> { "ab", "bc" }, "ac". Without "->" the output has the labels that stand
-- once, in alphabetical order.
local function read_expression(expression)
  check(type(expression) == "string", "einsum: an expression like \"mk,nk->mn\" expected,"
        .. " got %s", need "kind"(expression))
  local text = gsub(expression, "%s+", "")
  local inputs, out = match(text, "^([%a,]*)%->(%a*)$")
  inputs = inputs or match(text, "^[%a,]*$")
  check(inputs, "einsum: \"%s\" is not of the form \"mk,nk->mn\": a letter for each mode of"
                .. " each tensor; an ellipsis is not taken", expression)
  local words, count, once = {}, {}, {}
  for word in gmatch(inputs .. ",", "(%a*),") do words[#words + 1] = word end
  for label in gmatch(inputs, "%a") do count[label] = (count[label] or 0) + 1 end
  for label, n in pairs(count) do if n == 1 then once[#once + 1] = label end end
  table.sort(once)
  out = out or table.concat(once)
  for i = 1, #out do
    local label = sub(out, i, i)
    check(count[label], "einsum: \"%s\": the label %s of the output is in no operand: its size"
                        .. " is not known", expression, label)
    check(not find(out, label, i + 1, true), "einsum: \"%s\": the label %s stands twice in the"
          .. " output\ngive the result to a diagonal view of C", expression, label)
  end
  return words, out
end

-- Of a label: its size, and the operand and mode that said it first.
local function add_size(size, label, n, name, mode)
  local known = size[label]
  size[label] = known or { n = n, name = name, mode = mode }
  if not known or known.n == n then return end
  local way = known.n ~= 1 and n ~= 1 and "" or
    "\na size of 1 is not repeated by itself: a view with stride 0 repeats it"
  check(false, "einsum: the label %s is mode %d of %s and mode %d of %s: %d and %d%s", label,
        known.mode, known.name, mode, name, known.n, n, way)
end

-- Of a label that stands twice the diagonal of both modes.
local function add_mode(modes, label, mode, name)
  local before = modes[label]
  local ok, sum = true, mode
  if before then ok, sum = pcall(tile.layout_add, before, mode) end
  check(ok, "einsum: the label %s stands twice in %s: its modes %s and %s have no diagonal that is"
        .. " a layout\ncopy %s first into a tensor whose modes are divided alike: tile.copy(%s, B)"
        .. "\n  %s", label, name, before, mode, name, name, ok or match(sum, "layout_add: (.*)"))
  modes[label] = sum
end

-- A tensor whose modes have labels: `labels` in their order, `mode` by label, of what its layout
-- applies first. A label that stands twice is the diagonal of its modes.
local function labelled(T, word, name, size)
  local L = T:layout()
  local A = tile.get_nonswizzle_portion(L)
  check(tile.rank(A) == #word, "einsum: %s = %s has %d modes, its labels are \"%s\"", name,
        T:layout(), tile.rank(A), word)
  local X = { tensor = T, labels = {}, mode = {}, name = name }
  local coordinates, base, extents = T:bounds()
  if coordinates then X.coordinate, X.base, X.extents = {}, base, extents end
  for i = 1, #word do
    local label, mode = sub(word, i, i), tile.get(A, i)
    add_size(size, label, tile.size(mode), name, i)
    if not X.mode[label] then X.labels[#X.labels + 1] = label end
    add_mode(X.mode, label, mode, name)
    if coordinates then add_mode(X.coordinate, label, tile.get(coordinates, i), name) end
  end
  return X
end

-- The smallest step of a mode that moves.
local function step(mode)
  local least = math.maxinteger
  local flat = tile.flatten(mode)
  for i = 1, tile.rank(flat) do
    local m = tile.get(flat, i)
    local d = tile.stride(tile.coalesce(m))
    if math.type(d) and tile.size(m) > 1 and d ~= 0 then least = math.min(least, math.abs(d)) end
  end
  return least
end

-- Labels in the order of their steps in X: what lies together stays together.
local function ordered(list, X)
  local key = {}
  for i, label in ipairs(list) do
    key[label] = { X.mode[label] and step(X.mode[label]) or 0, i }
  end
  table.sort(list, function(a, b)
    if key[a][1] ~= key[b][1] then return key[a][1] < key[b][1] end
    return key[a][2] < key[b][2]
  end)
  return list
end

-- The labels of two operands by the part that they have in the product. What only one operand
-- has and C has not is summed too: along it the other is repeated.
local function grouped(X, Y, C)
  local group = { M = {}, N = {}, K = {}, L = {} }
  for _, label in ipairs(X.labels) do
    local kept = Y.mode[label] and "L" or "M"
    table.insert(group[C.mode[label] and kept or "K"], label)
  end
  for _, label in ipairs(Y.labels) do
    if not X.mode[label] then table.insert(group[C.mode[label] and "N" or "K"], label) end
  end
  for _, name in ipairs { "M", "N", "L" } do ordered(group[name], C) end
  ordered(group.K, X)
  return group
end

-- The layout with these groups of labels as its modes, from the layouts of the labels.
local function joined(mode, group, size, ...)
  local parts = {}
  for i, name in ipairs { ... } do
    local modes = {}
    for k, label in ipairs(group[name]) do
      modes[k] = mode[label] or tile.layout(size[label].n, 0)
    end
    if #modes == 0 then modes[1] = tile.layout(1, 0) end
    parts[i] = #modes == 1 and modes[1] or tile.make_layout(modes)
  end
  return tile.make_layout(parts)
end

-- The view of X with these groups of labels as its modes; what is real of X is real of it.
local function view(X, group, size, ...)
  local A = joined(X.mode, group, size, ...)
  A = einsum.above(X.tensor:layout(), A)
  if not X.coordinate then return X.tensor:view(A) end
  return X.tensor:view(A, 0, joined(X.coordinate, group, size, ...), X.base, X.extents)
end

-- ---------------------------------------------------------------- epilogues

-- The labels of the output, each with its size: "m 4, n 5".
local function sizes_of(out, size)
  local list = {}
  for label in gmatch(out, "%a") do list[#list + 1] = label .. " " .. size[label].n end
  return table.concat(list, ", ")
end

-- The label of the output of which a vector has so many elements.
local function label_of(n, out, size, name)
  local found
  for label in gmatch(out, "%a") do
    check(size[label].n ~= n or not found, "einsum: %s has %d elements, as many as %s and %s have\n"
          .. "say which: %s = { %s = T }", name, n, found, label, name, found)
    if size[label].n == n then found = label end
  end
  check(found, "einsum: %s has %d elements; the labels of the output have %s\nsay which: %s = "
        .. "{ %s = T }", name, n, sizes_of(out, size), name, sub(out, 1, 1))
  return found
end

-- The tensor and its labels: T has those of the output, a vector the one of its size.
local function with_labels(value, name, out, size)
  if is_tensor(value) then
    local vector = #out > 1 and value:rank() == 1
    return value, vector and label_of(value:size(), out, size, name) or out
  end
  check(type(value) == "table", "einsum: %s: a tensor, or { labels = tensor }, expected, got %s",
        name, need "kind"(value))
  local word, T = next(value)
  check(type(word) == "string" and is_tensor(T) and next(value, word) == nil, "einsum: %s: one "
        .. "tensor with its labels expected, as in %s = { %s = T }", name, name, sub(out, -1))
  for label in gmatch(word, ".") do
    check(find(out, label, 1, true), "einsum: %s: the label %s is not in the output \"%s\"", name,
          label, out)
  end
  return T, word
end

-- A bias or a residual: the same everywhere along what it has no label for, or a mode of size 1.
local function beside(value, name, out, size)
  if value == nil then return nil end
  local T, word = with_labels(value, name, out, size)
  local own = {}
  local X = labelled(T, word, name, own)
  for _, label in ipairs(X.labels) do
    local x, n = own[label], size[label].n
    check(x.n == n or x.n == 1, "einsum: %s: mode %d is %s: %d, which C has %d times\neach mode has"
          .. " the size of its label, or 1", name, x.mode, label, x.n, n)
    if x.n ~= n then
      X.mode[label] = nil
      if X.coordinate then X.coordinate[label] = nil end
    end
  end
  return X
end

-- ---------------------------------------------------------------- products

-- X, Y, C as (M,K,L), (N,K,L), (M,N,L), and which labels are in each.
local function views(X, Y, C, size)
  local group = grouped(X, Y, C)
  return view(X, group, size, "M", "K", "L"), view(Y, group, size, "N", "K", "L"),
         view(C, group, size, "M", "N", "L"), group
end

-- By type: which of two is the wider one, what sums of it are.
local rank, sums = tile.dtype_ranks()

local function result_type(X, Y)
  local a, b = X.tensor:dtype(), Y.tensor:dtype()
  local c = rank[a] >= rank[b] and a or b
  if a ~= b and (c == "f16" or c == "bf16") then c = "f32" end
  return sums[c]
end

-- A new C, row-major over its labels: with its labels, or nil, message, code.
local function new_result(word, size, dtype, device)
  local shape = {}
  for i = 1, #word do shape[i] = size[sub(word, i, i)].n end
  local T, message, code = tile.tensor(dtype, tile.layout(shape, "right"), device)
  if not T then return nil, message, code end
  return labelled(T, word, "C", size)
end

-- A single 1, without labels. For a product on a stream of its own it is written before that
-- is launched, without waiting for what runs on others, as T:fill does; a graph, which has no
-- such streams, records T:fill.
local function one_like(X, stream)
  local T, message, code = tile.tensor(X.tensor:dtype(), tile.layout(1), X.tensor:device())
  if not T then return nil, message, code end
  if stream then T:set(1, 0) else T:fill(1) end
  return { tensor = T, labels = {}, mode = {}, name = "1" }
end

-- How many of the arguments are tensors, from the first on.
local function count_tensors(...)
  local n = 0
  while is_tensor((select(n + 1, ...))) do n = n + 1 end
  return n
end

-- The tensors of the words, C or nil, the options.
local function arguments(expression, words, ...)
  local given, n = { ... }, count_tensors(...)
  local other = given[n + 1]
  check(n == #words or n == #words + 1, "einsum: \"%s\" has %d operands, %d tensors were given"
        .. " (C may follow the operands)%s", expression, #words, n, other ~= nil and
        type(other) ~= "table" and format(": argument %d is no tensor", n + 2) or "")
  local at = #words + 1
  local C = is_tensor(given[at]) and given[at] or nil
  if C or given[at] == nil then at = at + 1 end
  local options = given[at] or {}
  check(type(options) == "table", "einsum: options in a table expected, got %s",
        need "kind"(options))
  for i = at + 1, select("#", ...) do
    check(given[i] == nil, "einsum: behind C and the options nothing is taken, got a %s",
          type(given[i]))
  end
  tile.check_options("einsum", options, "activation", "alpha", "beta", "bias", "dtype",
                     "mma", "precision", "residual", "stream")
  check(options.mma == nil or getmetatable(options.mma) == "moontile.TiledMMA",
        "einsum: mma: a tiled MMA expected, got %s", need "kind"(options.mma))
  check(C or not options.beta or options.beta == 0, "einsum: beta is %s, but there is no C to"
        .. " add to\ngive C behind the operands", options.beta)
  check(not C or not options.dtype, "einsum: dtype is that of the C that is made, but C is given")
  return { table.unpack(given, 1, #words) }, C, options
end

-- The labels of X and Y that are still needed: in one of the words from i on, or in `out`.
local function needed(X, Y, words, i, out)
  local rest, word = table.concat(words, "", i) .. out, ""
  for _, Z in ipairs { X, Y } do
    for _, label in ipairs(Z.labels) do
      if find(rest, label, 1, true) and not find(word, label, 1, true) then
        word = word .. label
      end
    end
  end
  return word
end

-- What has no sum and no second operand is copied.
local function is_copy(X, C, o)
  return #X.labels == #C.labels and X.tensor:dtype() == C.tensor:dtype()
         and (o.alpha or 1) == 1 and (o.beta or 0) == 0
         and not (o.activation or o.bias or o.residual)
end

-- bias, residual: with labels, or nil.
local function multiply(X, Y, C, size, o, bias, residual)
  local a, b, c, group = views(X, Y, C, size)
  local factors = { alpha = o.alpha, beta = o.beta, precision = o.precision, stream = o.stream,
                    activation = o.activation,
                    bias = bias and view(bias, group, size, "M", "N", "L"),
                    residual = residual and view(residual, group, size, "M", "N", "L") }
  if o.mma then tile.gemm(o.mma, a, b, c, factors) else tile.gemm(a, b, c, factors) end
end

-- The last two operands, the first of them the product of all before it, and the size of each
-- label. Of a single operand the second is nil.
local function last_two(words, list, out, o)
  local size, operands = {}, {}
  for i, T in ipairs(list) do
    operands[i] = labelled(T, words[i], #list <= 2 and names[i] or "operand " .. i, size)
  end
  local X = operands[1]
  for i = 2, #operands - 1 do
    local Y = operands[i]
    local word = needed(X, Y, words, i + 1, out)
    local Z, message, code = new_result(word, size, result_type(X, Y), X.tensor:device())
    if not Z then return nil, message, code end
    multiply(X, Y, Z, size, { precision = o.precision, stream = o.stream })
    X = Z
  end
  return X, #operands > 1 and operands[#operands] or nil, size
end

-- einsum(expression, A, B, ... [, C] [, { activation =, alpha =, beta =, bias =, dtype =, mma =,
-- precision =, residual =, stream = }]) -> C.
-- Contractions in the notation of NumPy: C = activation(alpha sum A B ... + beta C + bias) +
-- residual, where the sum is over the labels that are not in the output; without "->" the output
-- has the labels that stand once, in alphabetical order. bias, residual: tensors of the output's
-- labels, or { labels = T }; the same everywhere along labels that they do not have. A label that
-- stands twice in one operand is its diagonal. Two operands are one product (tile.gemm) of views:
-- nothing is permuted in memory; more go from left to right, through tensors of the type that a C
-- would have. Without C one is made, row-major over the output, of the wider type of the operands
-- (f32 for f16 with bf16, i32 for 8-bit integers, f32 for 8-bit floats), or of `dtype`; `mma` is a
-- tiled MMA.
function contraction.einsum(expression, ...)
  local words, out = read_expression(expression)
  local list, given, o = arguments(expression, words, ...)
  local X, Y, size = last_two(words, list, out, o)
  if not X then return nil, Y, size end
  local C, message, code
  if given then
    C = labelled(given, out, "C", size)
  else
    local dtype = o.dtype or result_type(X, Y or X)
    C, message, code = new_result(out, size, dtype, X.tensor:device())
    if not C then return nil, message, code end
  end
  if not Y and not o.mma and is_copy(X, C, o) then
    local group = { M = ordered(C.labels, C) }
    tile.copy(view(X, group, size, "M"), view(C, group, size, "M"), o.stream)
    return C.tensor
  end
  if not Y then
    Y, message, code = one_like(X, o.stream)
    if not Y then return nil, message, code end
  end
  multiply(X, Y, C, size, o, beside(o.bias, "bias", out, size),
           beside(o.residual, "residual", out, size))
  return C.tensor
end

-- einsum_fold of tensors: views, their modes in the order that suits memory.
function contraction.einsum_fold(expression, A, B, C)
  if not is_tensor(A) then return einsum.einsum_fold(expression, A, B, C) end
  local words, out = read_expression(expression)
  check(#words == 2 and is_tensor(B) and is_tensor(C), "einsum_fold: tensors A, B and C for \"%s\""
        .. " expected", expression)
  local size = {}
  local X, Y = labelled(A, words[1], "A", size), labelled(B, words[2], "B", size)
  return views(X, Y, labelled(C, out, "C", size), size)
end

local function check_padding(padding)
  for _, n in ipairs(type(padding) == "table" and padding or { padding }) do
    check(n == 0, "im2col: a padding of %s lies outside of the tensor\ncopy it into the middle"
          .. " of a larger tensor of zeros, and take im2col of that without padding", n)
  end
end

-- im2col of a tensor: the view ((N,(Z..)),((T..),C)) of which a convolution is the product
-- with filters (Kout,((T..),C)). Of a layout: as einsum.im2col says.
function contraction.im2col(A, stencil, lower, upper, stride, dilation)
  if not is_tensor(A) then
    return einsum.im2col(A, stencil, lower, upper, stride, dilation)
  end
  check_padding(lower or 0)
  check_padding(upper or 0)
  local function columns(X) return (einsum.im2col(X, stencil, lower, upper, stride, dilation)) end
  local L, X, base, extents = A:layout(), A:bounds()
  local R = einsum.above(L, columns(tile.get_nonswizzle_portion(L)))
  if not X then return A:view(R) end
  return A:view(R, 0, columns(X), base, extents)
end

return contraction
