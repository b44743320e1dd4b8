-- signatures.lua: the kinds of the arguments of functions and methods. A `?` may be left out, with
-- all that follows; a `*` is there 0 to 3 times. Behind `->` stands a law, with R for the result,
-- a and b for the first two arguments. What there is, and what it takes, the program lists from
-- operations.def (--operations); here is only what the names of the arguments there do not say:
-- laws, other ways to call, other kinds.
-- SPDX-License-Identifier: MIT

local functions = [[
append V V | prepend V V | at L c | back V | front V | bank_conflicts A bits kind?
blocked_product A T | raked_product A T | logical_product A T | zipped_product A T
tiled_product A T | flat_product A T | ceil_div S S | shape_div S S | coalesce L C? -> same R a
coalescing A bits kind? | common_coarsening S S | common_refinement S S
greatest_common_domain S S | compact_order S S | compatible S S | weakly_congruent S S
evenly_divides S S | congruent V V | complement L N? -> complement R a
composition L L -> composition R a b | composition L T | size V | rank V | depth V | size L M? M?
rank L M? M? | depth L M? M? | shape L M? M? | stride L M? M? | cosize L M? M? | coshape L M? M?
footprint L | footprint A | bounds X | copy_atom copy_name bits? | crd2crd c S S | crd2idx c L
crd2idx c S S? | idx2crd I S S? | devices | dice C V | domain_distribute S I | domain_offset L c
einsum expression X X* | einsum_fold expression L L L | flatten V | flatten_to_tuple V
gemm X X X | get V M M? | group V M M | im2col A I I? I? I? I? | increment S S | info
inner_partition A T c | outer_partition A T c | insert V M V | kernels d | layout S S?
layout S order | layout said | layout W | layout_add A A | left_inverse L -> left_inverse R a
right_inverse L -> right_inverse R a | load_tuning tuned | local_partition A A I C?
local_tile A T C C? | logical_divide L T -> cover R a | zipped_divide L T -> cover R a
tiled_divide L T -> cover R a | flat_divide L T -> cover R a | make_layout L L*
make_tiled_copy_A copy_atom tm bits? | make_tiled_copy_B copy_atom tm bits?
make_tiled_copy_C copy_atom tm bits? | make_tiled_copy_S copy_atom tc bits?
make_tiled_copy_D copy_atom tc bits? | mma_atom mma_name | mma_bound mma I number | plan X X
plan tc X X | plan tm X X X | plan_gemm X X X | print_layout A | product_each S | product_like S S
remove V M | repeat V I | repeat_like V V | replace V M V | reverse V | select V M M? M?
smem_atom smem bits | swizzle I I I? | take V M M | tensor d A D? | unflatten V V | unwrap V
wrap V | zip V V* | zip2_by V V | verify tc A side? | verify tm A side? | with_shape L S
copy X X stream? | copy tc X X stream? | draw A | draw tc | draw tm | draw mma | svg A | svg tc
html A | latex A | html tm | print_tensor X
]]

-- Of classes; `self` is there already.
local methods = [[
Layout.crd2idx c | Layout.domain_offset c | Tensor.set value c | Tensor.to D | Tensor.view L I?
Plan.measure I | Plan.take d I | Device.graph f
]]

local signatures = { module = {}, classes = {} }

-- "name kind kind -> law | ..." into { name = { { kind, kind, law = }, ... } }.
local function read(list)
  local into = {}
  for entry in (list:gsub("\n", " | ")):gmatch "[^|]+" do
    local call, law = entry:match "^%s*(.-)%s*%->%s*(.-)%s*$"
    local name, rest = (call or entry):match "^%s*(%S+)%s*(.-)%s*$"
    if name then
      local s = { law = law }
      for kind in rest:gmatch "%S+" do s[#s + 1] = kind end
      into[name] = into[name] or {}
      table.insert(into[name], s)
    end
  end
  return into
end
local of_functions, of_methods = read(functions), read(methods)

-- ---------------------------------------------------------------- what there is

local WORDS = {
  A = "L", B = "L", C = "X", T = "X", W = "W", Y = "N", Z = "N", a = "S", b = "S",
  bits = "bits", bound = "N", coordinate = "C", device = "D", dilation = "I", dst = "X",
  dtype = "d", expression = "expression", first = "M", index = "I", k = "I", kind = "kind",
  last = "M", layouts = "L", lower = "I", mode = "M", modes = "M", n = "I", new_bits = "bits",
  offset = "I", old_bits = "bits", operation = "op", order = "order", part = "side",
  path = "path", profile = "C", projection = "C", shape = "S", src = "X", stencil = "I",
  stream = "stream", stride = "I", sum = "number", swizzle = "W", t = "S", tensor = "X",
  tensors = "X", text = "said", thread = "I", threads = "L", tiled_copy = "tc",
  tiled_mma = "tm", tiler = "T", to = "S", upper = "I", value = "value"
}

-- Of partitions: layouts and tensors alike.
local EITHER = { A = "A", B = "A", C = "A", fragment = "A" }

-- "A, tiler [, n], x..." as { "L", "T", "I?", "V*" }, without the first `skip` words.
local function guess(takes, skip, words)
  local s = {}
  for open, word, dots in takes:gmatch "(%[?),? *([%w_]+)(%.*)" do
    local mark = dots ~= "" and "*" or open == "[" and "?" or ""
    s[#s + 1] = (words and words[word] or WORDS[word] or "V") .. mark
  end
  return table.move(s, skip + 1, #s + skip, 1)
end

-- Reads what the program lists: where a function is found, its name, what it takes.
function signatures.list(program)
  local known = {}
  for line in assert(io.popen(("'%s' --operations"):format(program))):lines() do
    local where, name, takes = line:match "^(%w+)\t([%w_]+)\t%-?%d+\t(.*)$"
    if name and not name:match "^__" then
      local list = signatures.module
      if where ~= "tile" then
        signatures.classes[where] = signatures.classes[where] or {}
        list = signatures.classes[where]
      end
      if not known[where .. name] then list[#list + 1] = name end
      local words = where:match "^Tiled" or where:match "^Thr"
      known[where .. name] = { guess(takes, where == "tile" and 0 or 1, words and EITHER) }
    end
  end
  signatures.known = known
end

-- Ways to call a function of the module.
function signatures.call(name) return of_functions[name] or signatures.known["tile" .. name] end

local SELF = { L = true, A = true, V = true, X = true, S = true }

-- Ways to call a method: its own, or those of the function without its first argument.
function signatures.method(class, name)
  local own, list = of_methods[class .. "." .. name], {}
  if own then return own end
  for _, s in ipairs(class:find "Atom" and {} or of_functions[name] or {}) do
    if SELF[s[1]] then list[#list + 1] = table.move(s, 2, #s, 1, { law = s.law, self = true }) end
  end
  return #list > 0 and list or signatures.known[class .. name]
end

return signatures
