-- signatures.lua: the kinds of the arguments of functions and methods. A `?` may be left out, with
-- all that follows; a `*` is there 0 to 3 times. Behind `->` stands a law, with R for the result,
-- a and b for the first two arguments. What is not here is called with what the names of its
-- arguments say.
-- SPDX-License-Identifier: MIT

local functions = [[
append V V | prepend V V | at L c | back V | front V | bank_conflicts A bits kind?
blocked_product A T | raked_product A T | logical_product A T | zipped_product A T
tiled_product A T | flat_product A T | ceil_div S S | shape_div S S | round_up S S
coalesce L C? -> same R a | coalesce_x L C? | coalesce_z L C? | filter L C?
coalescing A bits kind?
colex_geq S S | colex_gtr S S | colex_leq S S | colex_less S S | lex_geq S S | lex_gtr S S
lex_leq S S | lex_less S S | elem_geq S S | elem_gtr S S | elem_leq S S | elem_less S S
elem_scale S S | common_coarsening S S | common_refinement S S | greatest_common_domain S S
compact_col_major S I? | compact_row_major S I? | compact_order S S
compatible S S | weakly_congruent S S | evenly_divides S S | congruent V V
complement L N? -> complement R a | composition L L -> composition R a b | composition L T
coprofile L | size V | rank V | depth V
size L M? M? | rank L M? M? | depth L M? M? | shape L M? M? | stride L M? M? | cosize L M? M?
coshape L M? M? | footprint L | footprint A | bounds X
copy_atom copy_name bits? | crd2crd c S S | crd2idx c L | crd2idx c S S? | idx2crd I S S?
devices | dice C V | domain_distribute S I | domain_offset L c | downcast L I | upcast L I
dtypes | einsum expression X X* | einsum_fold expression L L L | explain op L L?
extent L | filter_zeros L C? | flatten V | flatten_to_tuple V | gcd S | max S | min S | sum S
gemm X X X | get V M M? | get_1d_coord L I | get_flat_coord L I | get_hier_coord L I
get_nonswizzle_portion L | get_swizzle_portion L | group V M M | held | im2col A I I? I? I? I?
increment S S | info | inner_partition A T c | outer_partition A T c | inner_product S S
insert V M V | kernels d | layout S S? | layout S order | layout said | layout W
layout_add A A | left_inverse L -> left_inverse R a | right_inverse L -> right_inverse R a
load path D? d? | load_tuning tuned | local_partition A A I C? | local_tile A T C C?
logical_divide L T -> cover R a | zipped_divide L T -> cover R a | tiled_divide L T -> cover R a
flat_divide L T -> cover R a | tile_unzip L T
make_fragment_like L | make_identity_layout S | make_layout L L* | make_layout_like L
make_ordered_layout S order | make_swizzle N N | make_tiled_copy_A copy_atom tm bits?
make_tiled_copy_B copy_atom tm bits? | make_tiled_copy_C copy_atom tm bits?
make_tiled_copy_S copy_atom tc bits? | make_tiled_copy_D copy_atom tc bits?
max_alignment L | max_common_layout L L | max_common_vector L L | mma_atom mma_name
mma_bound mma I number | nullspace L | parse said | plan X X | plan tc X X | plan tm X X X
plan_gemm X X X | print_layout A | product_each S | product_like S S
recast_layout bits bits L | remove V M | repeat V I | repeat_like V V | replace V M V | reverse V
select V M M? M? | slice C L | slice_and_offset C L | smem_atom smem bits | smem_atoms
swizzle I I I? | swizzle_to_f2 W I L | take V M M | tensor d A D? | tile_to_shape L S order?
tiler_to_layout T | unflatten V V | unwrap V | wrap V | zip V V* | zip2_by V V
verify tc A side? | verify tm A side? | with_shape L S | copy X X stream? | copy tc X X stream?
]]

-- Of classes; `self` is there already.
local methods = [[
Layout.slice C | Layout.slice_and_offset C | Layout.crd2idx c | Layout.idx2crd I | Layout.dice C
Layout.recast_layout bits bits | Layout.explain op L? | Layout.domain_offset c
Tensor.fill value | Tensor.set value c | Tensor.slice C | Tensor.save path | Tensor.to D
Tensor.view L I? | TiledCopy.get_slice I | TiledMMA.get_slice I | Plan.measure I | Plan.take d I
Device.graph f
TiledCopy.partition A | TiledCopy.partition_S A | TiledCopy.partition_D A
TiledCopy.retile_S A | TiledCopy.retile_D A
ThrCopy.partition_S A | ThrCopy.partition_D A | ThrCopy.retile_S A | ThrCopy.retile_D A
TiledMMA.partition_A A | TiledMMA.partition_B A | TiledMMA.partition_C A
TiledMMA.partition_shape_A S | TiledMMA.partition_shape_B S | TiledMMA.partition_shape_C S
TiledMMA.thrfrg_A A | TiledMMA.thrfrg_B A | TiledMMA.thrfrg_C A
ThrMMA.partition_A A | ThrMMA.partition_B A | ThrMMA.partition_C A
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

local WORDS = { A = "L", B = "L", T = "X", tiler = "T", shape = "S", coordinate = "C", n = "I",
                path = "path", device = "D", tensor = "X", mode = "M", modes = "M", bits = "bits",
                dtype = "d", stream = "stream", value = "value", thread = "I" }

-- "A, tiler [, n], x..." as { "L", "T", "I?", "V*" }, without the first `skip` words.
local function guess(takes, skip)
  local s = {}
  for open, word, dots in takes:gmatch "(%[?),? *([%w_]+)(%.*)" do
    local mark = dots ~= "" and "*" or open == "[" and "?" or ""
    s[#s + 1] = (WORDS[word] or "V") .. mark
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
      known[where .. name] = { guess(takes, where == "tile" and 0 or 1) }
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
