-- algebra_spec.lua: orders, filters, inverses, products, tiles, recasts, tensors.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, X = tile.layout, tile._

local function texts(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  return table.concat(t, "; ")
end

local function gives(rows)
  for _, row in ipairs(rows) do
    it("gives " .. row[2], function() assert.equal(row[2], texts(row[1]())) end)
  end
end

local function refuses(rows)
  for _, row in ipairs(rows) do
    it("refuses: " .. row[2]:match "^[^\n]*", function()
      local ok, text = pcall(row[1])
      assert.is_false(ok)
      assert.equal(row[2], (tostring(text):gsub("^[^\n]-:%d+: ", "")))
    end)
  end
end

describe("a compact layout", function()
  gives {
    { function() return tile.make_ordered_layout({ 2, 3, 4 }, { 2, 3, 1 }) end,
      "(2,3,4):(4,8,1)" },
    { function() return tile.make_ordered_layout({ 2, { 3, 4 } }, { 1, 0 }) end,
      "(2,(3,4)):(12,(1,3))" },
    { function() return tile.make_ordered_layout({ 9, 3 }, { 2, 2 }) end, "(9,3):(1,9)" },
    { function() return tile.make_ordered_layout({ 4, 8 }, "right") end, "(4,8):(8,1)" },
    { function() return tile.make_layout_like(layout "(12,16,12):(3,64,3)") end,
      "(12,16,12):(1,144,1)" },
    { function() return layout "((2,2),4,3):((0,8),1,30)":make_fragment_like() end,
      "((2,2),4,3):((0,1),2,8)" },
    { function() return layout "(4,2,3):(1,0,0)":make_fragment_like() end,
      "(4,2,3):(1,4,8)" },
    { function() return layout "(16,16):(1,16)":make_fragment_like() end,
      "(16,(16)):(1,(16))" },
    { function() return tile.make_fragment_like { 4, 2 } end, "(4,2):(1,4)" },
    { function()
        return layout "(4,6):(1,4)":with_shape(8, 3), layout(24):with_shape { 8, 3 }
      end,
      "(8,3):(1,8); (8,3):(1,8)" },
  }
  refuses {
    { function() tile.make_ordered_layout({ 4, 8 }, { 1, 2, 3 }) end,
      "make_ordered_layout: A = (4,8) has 2 modes, B = (1,2,3) has 3 modes" },
    { function() tile.make_ordered_layout({ 4, 8 }, "up") end,
      'order: a tuple, "left" or "right" expected, got "up"' },
    { function() tile.make_fragment_like(tile.parse "(2,2):(1@0,1@1)") end,
      "make_fragment_like: the strides of (2,2):(1@0,1@1) are no integers" },
  }
end)

describe("fewer modes", function()
  gives {
    { function()
        return tile.coalesce_x(layout "(4,1):(1,0)"),
          tile.coalesce_z(layout "(4,1):(1,0)")
      end,
      "(4,2):(1,0); (4,1):(1,0)" },
    { function() return tile.coalesce_x(layout "(2,4,1):(1,2,0)", { 1, X }) end,
      "(2,4,1):(1,2,0)" },
    { function() return layout "((4,2),8):((0,32),0)":filter() end, "2:32" },
    { function() return layout "((4,2),8):((0,32),0)":filter_zeros() end,
      "((1,2),1):((0,32),0)" },
    { function() return tile.filter_zeros(layout "(2,10):(9,10)", { 1, 0 }) end,
      "(2,1):(9,10)" },
    { function() return tile.filter_zeros({ 0, 1 }, { 4, 8 }) end, "(1,8)" },
    { function() return layout "(4,3,2):(0,1,0)":nullspace() end, "(4,2):(1,12)" },
    { function()
        return tile.coshape(layout "(4,8):(1,4)"), tile.coshape(tile.parse "6:3@2")
      end,
      "32; (1,1,16)" },
    { function() return tile.coprofile(tile.parse "(4,8,5):(2@0@0,8@0@0,1@1@0)") end,
      "((0,0))" },
  }
  refuses {
    { function() tile.filter(layout "(2,3):(1,2)", { 1, 1, 1 }) end,
      "filter: profile (1,1,1) has 3 modes, (2,3):(1,2) has 2" },
    { function() tile.filter_zeros(layout "(2,3):(1,2)", { 1, 1, 1 }) end,
      "filter_zeros: profile (1,1,1) has 3 modes, (2,3):(1,2) has 2" },
  }
end)

describe("an inverse", function()
  gives {
    { function()
        return layout "(4,8):(1,5)":left_inverse(), layout "5:3":left_inverse()
      end,
      "(5,8):(1,4); (3,5):(0,1)" },
    { function() return layout "(3,2):(2,3)":left_inverse() end, "(2,4):(2,1)" },
    { function() return layout "(2,2,5):(36,5,3)":left_inverse()(36 + 5 + 4 * 3) end,
      "19" },
    { function() return layout "(2,2):(6,9)":left_inverse() end, "(3,2,3):(0,1,1)" },
    { function() return tile.left_inverse(tile.parse "(5,8):(1@2,1@1)") end,
      "(1,8,5):(0,5,1)" },
    { function() return tile.right_inverse(tile.parse "(4,3,3):(1@1,1@0,4@1)") end,
      "(3,(4,3)):(4,(1,12))" },
    { function() return layout "4:2":complement { 3, 4 } end, "(2,2):(1,8); true" },
    { function() return layout "3:2":complement { { 8, 24, 2, 7 }, 1 } end,
      "(2,672):(1,6); true" },
    { function() return tile.parse "(4,2):(2@0,1@1)":complement() end,
      "(2,1):(1@0,0); true" },
  }
  refuses {
    { function() tile.left_inverse(layout "(2,2):(1,1)") end,
      "left_inverse: (2,2):(1,1) has none, it is not injective: A(1) = A(2) = 1" },
    { function() tile.left_inverse(layout "(4,3):(1,-4)") end,
      "left_inverse: (4,3):(1,-4) has a negative stride: A(4) = -4, and no layout " ..
      "takes an offset " ..
      "below 0" },
    { function() tile.left_inverse(layout "(3,4):(2,3)") end,
      "left_inverse: no layout L has L(A(i)) = i for A = (3,4):(2,3): " ..
      "every chain of digits was tried\n " ..
      " the digits of A's " ..
      "strides carry into each other; strides that divide one another would do" },
    { function() tile.complement(layout "2:4611686018427387904", { 4, 8 }) end,
      "complement: the bound (4,8) leaves 64 bits" },
    { function() tile.complement(tile.parse "(2,3):(1@0,1@1)", 8) end,
      "complement: the bound 8 has no mode for each coordinate of (2,3):(1@0,1@1)" },
  }
end)

describe("a run", function()
  local A = layout "(8,4):(1,8)"
  gives {
    { function()
        return A:max_common_vector(layout "(8,4):(1,32)"), A:max_common_layout(A)
      end,
      "8; 32:1" },
    { function() return layout "(2,8,(8,8)):(1,128,(16,2))":max_alignment() end, "1024" },
    { function() return layout "(8,4):(1,12)":max_alignment() end, "4" },
    { function() return tile.domain_distribute({ 15, 14 }, 6) end, "(3,2):(1,15)" },
  }
  refuses {
    { function() tile.max_common_layout(layout "(3,2):(2,1)", layout "(2,3):(3,1)") end,
      "max_common_layout: no layout R has R(i) = A(B(i)) for A = (3,2):(2,1), B = " ..
      "(3,2):(2,1)\n" ..
      "  B's stride 2 runs over the end of A's mode 1 (extent 3): A(4) = 3, where " ..
      "a layout would " ..
      "give 8\n  B is the right inverse of (2,3):(3,1)" },
    { function() tile.domain_distribute({ 4, 8 }, 0) end,
      "domain_distribute: 0 elements; at least 1 expected" },
  }
end)

describe("a product", function()
  it("takes integers and shapes for compact layouts", function()
    for name, of in pairs {
      logical_product = { 4, 6 }, zipped_product = { { 2, 3 }, 4 },
      tiled_product = { { 2, { 3, 5 } }, 4 },
      flat_product = { 7, 3 }, blocked_product = { { 2, 3 }, { 4, 5 } },
      raked_product = { { 2, { 3 } }, { 4, 5 } },
    } do
      local want = tile[name](layout(of[1]), layout(of[2]))
      assert.equal(want, tile[name](of[1], of[2]))
      assert.equal(want, tile[name](of[1], layout(of[2])))
      assert.equal(want, layout(of[1])[name](layout(of[1]), of[2]))
    end
    assert.has_error(function() tile.blocked_product({ 2, "x" }, 4) end,
                     "blocked_product: block[2]: integer or layout expected, got string; "
                     .. '"x" is the text of no layout, "(4,2):(1,4)" is one')
  end)

  local A = layout "(4,8):(1,4)"
  gives {
    { function() return A:zipped_product { 2, 3 } end, "((4,8),(2,3)):((1,4),(4,1))" },
    { function() return A:tiled_product(layout { 2, 3 }) end,
      "((4,8),2,3):((1,4),32,64)" },
    { function() return A:flat_product(layout { 2, 3 }) end, "(4,8,2,3):(1,4,32,64)" },
    { function() return layout "((4,2),(8,2)):((1,4),(8,64))":tile_unzip { 4, 8 } end,
      "((4,8),(2,2)):((1,8),(4,64))" },
    { function()
        return A:tile_to_shape { 8, 16 }, A:tile_to_shape({ 8, 16 }, { 2, 1 })
      end,
      "((4,2),(8,2)):((1,32),(4,64)); ((4,2),(8,2)):((1,64),(4,32))" },
    { function() return A:tile_to_shape({ 8, 16, 3 }, "right") end,
      "((4,2),(8,2),(1,3)):((1,192),(4,96),(0,32))" },
    { function() return A:tile_to_shape({ 8, 16 }, tile.parse "LayoutLeft") end,
      "((4,2),(8,2)):((1,32),(4,64))" },
  }
  refuses {
    { function() tile.zipped_product(layout "(8,8):(1,8)", { 2, X }) end,
      "zipped_product: a mode under `_` must have two modes, tile and rest, not 8:8" },
    { function() A:tile_unzip { 2, 2, 2 } end,
      "tile_unzip: tiler (2:1,2:1,2:1) has 3 modes, (4,8):(1,4) has 2" },
    { function() A:tile_to_shape { 6, 16 } end,
      "tile_to_shape: the block (4,8):(1,4) does not divide the shape (6,16): its " ..
      "mode 1 has 4 " ..
      "elements, the shape has 6\n  4 and 8 would do" },
    { function() A:tile_to_shape(64) end,
      "tile_to_shape: the block (4,8):(1,4) has 2 modes, the shape 64 has 1" },
    { function() A:tile_to_shape({ 8, 16 }, { 1 }) end,
      "tile_to_shape: the order (1) has 1 modes, the shape (8,16) has 2" },
  }
end)

describe("a tiler", function()
  gives {
    { function() return tile.tiler_to_layout { 4, { 2, layout(3, 5) } } end,
      "(4,(2,3)):(1@0,(1@0@1,5@1@1))" },
    { function() return tile.composition(X, { 4, X, 2 }) end, "(4,1,2):(1@0,1@1,1@2)" },
    { function()
        return tile.composition({ 8, 4 }, { 2, 2 }), tile.logical_divide({ 16, 4 }, 2)
      end,
      "(2,2):(1@0,1@1); (2,(8,4)):(1@0,(2@0,1@1))" },
    { function() return layout "(8,4):(1,8)" * tile.parse "4:2@0+1@1" end, "4:10" },
    { function() return layout "(4,(2,6)):(1,(4,8))" * tile.parse "6:1@0@1" end, "6:4" },
  }
  refuses {
    { function() tile.tiler_to_layout { 4, X } end,
      "tiler_to_layout: _ in (4:1,_) has no extents" },
    { function() tile.composition(X, X) end, "composition: `_` with `_` has no extents" },
    { function() tile.logical_divide(X, 4) end,
      "logical_divide: `_` has no extents to divide" },
    { function()
        return layout "((4,3),(6,2)):((1,7),(30,3))" * tile.parse "12:1@0+1@1"
      end,
      "composition: the terms of a stride of B are cut by the modes of A at " ..
      "different places: A = " ..
      "((4,3),(6,2)):((1,7),(30,3)), B = 12:1@0+1@1" },
  }
end)

describe("another width", function()
  gives {
    { function()
        return layout "(8,4):(1,16)":upcast(4), layout "(8,4):(1,16)":downcast(2)
      end,
      "(2,4):(1,4); (16,4):(1,32)" },
    { function() return tile.recast_layout(16, 32, layout "(4,8):(8,1)") end,
      "(4,4):(4,1)" },
    { function() return layout "(4,8):(8,1)":recast_layout(6, 8) end, "(4,6):(6,1)" },
    -- an element of its own has neighbours, but not two kinds of them
    { function() return layout "((4,6),4,8,1):((448,1),12,56,1)":downcast(2) end,
      "((4,12),4,8,1):((896,1),24,112,2)" },
    { function() return tile.recast_layout(6, 4, layout "(2,8):(1,2)") end,
      "(1,24):(3,1)" },
    { function() return tile.recast_layout(6, 32, layout "16:1") end, "3:1" },
    { function() return tile.recast_layout(6, 32, layout "(2,8):(8,1)") end, "(3,1):(1,3)" },
    -- an element of twice the width is the one that begins there, all of it A's or not
    { function() return tile.recast_layout(8, 16, layout "3:1"), layout "4:-1":upcast(2) end,
      "2:1; 2:-1" },
    { function() return layout "Sw<1,0,1> o 1 o 4:-1":upcast(2) end, "2:-1" },
  }
  refuses {
    { function() layout "(8,3):(1,3)":upcast(2) end,
      "upcast: (8,3):(1,3) in elements of 2: the stride 3 is no multiple of 2 and " ..
      "no divisor\n  a " ..
      "stride of 4 would do" },
    { function() layout "(3,2):(1,2)":upcast(4) end,
      "upcast: (3,2):(1,2) in elements of 4: its modes overlap: A(5) = 4 lies in " ..
      "element 1, where a " ..
      "layout would give 0\n  elements of 2 would do" },
    { function() layout "8:2":downcast(2) end,
      "downcast: 8:2 has no mode of stride 1, in which the 2 narrow elements of " ..
      "each could be " ..
      "neighbours\n  make_layout(1:1, A) would do" },
    { function() layout(8):upcast(0) end, "upcast: by 0; at least 1 expected" },
    { function() tile.recast_layout(6, 32, layout "2:1") end,
      "recast_layout: 2:1 of 6 bits in elements of 32: 16 of the former are 3 of the latter, " ..
      "and A does not fill such groups: 3:1 has 96 bits, not 12\n  an extent of 16 would do\n  " ..
      "elements of 2 bits, which divides both, would do" },
    { function() tile.recast_layout(6, 64, layout "(4,16):(1,0)") end,
      "recast_layout: (4,16):(1,0) of 6 bits in elements of 64: 32 of the former are 3 of the " ..
      "latter, and A does not fill such groups: (3,16):(1,0) has 3072 bits, not 384\n  " ..
      "elements of 2 bits, which divides both, would do" },
    { function() layout "Sw<3,2,-3> o 0 o (2,4):(4,1)":upcast(16) end,
      "upcast: of Sw<3,2,-3> o 0 o (2,4):(4,1) by 16: the swizzle tears elements apart: 0 .. " ..
      "15 are one, but 4 goes to 36\n  elements of 4 would do" },
    { function() layout "Sw<1,0,1> o 0 o 4:-1":upcast(2) end,
      "upcast: of Sw<1,0,1> o 0 o 4:-1 by 2: its offset 0 is not a multiple plus 1, what its " ..
      "negative strides reach back in an element" },
  }
end)

describe("a part", function()
  local A, I = layout({ 32, 32 }, "right"), tile.make_identity_layout { 32, 8 }
  gives {
    { function() return tile.local_tile(A, { 8, 4 }, { 1, 2 }) end, "(8,4):(32,1); 264" },
    { function() return tile.local_tile(I, { 8, 4 }, { X, 1 }) end,
      "(8,4,4):(1@0,1@1,8@0); (0,4)" },
    { function()
        return tile.local_tile(layout { 8, 16 }, { 2, 4, 2 }, { X, 0, 3 }, { 1, X, 1 })
      end,
      "(2,2,4):(1,8,2); 48" },
    { function() return A:local_partition(layout { 2, 4 }, 5) end, "(16,8):(64,4); 34" },
    { function() return layout { 128, 8 }:local_partition(layout { 16, 16 }, 37, { 1, X }) end,
      "(8,8):(16,128); 5" },
    { function() return layout { 128, 8 }:local_partition(layout { 16, 16 }, 37, { X, 1 }) end,
      "(8,8):(16,128); 2" },
    { function()
        return layout { 128, 8 }:local_partition(layout { { 4, 4 }, 8 }, 37, { { X, 1 }, X })
      end,
      "(32,8):(4,128); 1" },
    { function() return tile.inner_partition(layout { 6, 12 }, { 2, 1 }, { 2, 4 }) end,
      "(2,1):(1,6); 28" },
    { function() return tile.outer_partition(layout { 6, 12 }, { 2, 1 }, { 1, 0 }) end,
      "(3,12):(2,6); 1" },
    { function() return tile.slice(I, { X, 3 }) end, "(32):(1@0); (0,3)" },
    { function() return tile.slice({ X, 3 }, A) end, "(32):(32)" },
    { function() return tile.domain_offset({ 1, 2 }, A) end, "(32,32):(32,1); 34" },
    { function() return tile.domain_offset(I, { 1, 2 }) end, "(32,8):(1@0,1@1); (1,2)" },
  }
  it("of a tensor is a view", function()
    local T = tile.tensor("i32", A)
    local V = tile.local_tile(T, { 8, 4 }, { 1, 2 })
    V:fill(7)
    assert.equal("(8,4):(32,1)", tostring(V:layout()))
    assert.same({ 7, 7, 0, 0 }, { T(8, 8), T(15, 11), T(7, 8), T(8, 12) })
    assert.equal(V:layout(), T:local_tile({ 8, 4 }, { 1, 2 }):layout())
    assert.equal(7, tile.local_partition(V, layout { 2, 2 }, 3)(0, 0))
    assert.equal(7, V:local_partition(layout { 2, 2 }, 3)(0, 0))
    assert.equal(7, tile.domain_offset(T, { 8, 8 })(0, 0))
    assert.equal("(32):(1)", tostring(tile.slice(T, { 3, X }):layout()))
  end)
  refuses {
    { function() tile.local_tile(A, { 8, 4 }, { 4, 0 }) end,
      "local_tile: coordinate 4 is outside of mode 1, 4:256, whose size is 4" },
    { function() tile.local_tile(A, { 8, 4 }, { 0, 0, 0 }) end,
      "local_tile: coordinate (0,0,0) has 3 modes, (4,8):(256,4) has 2" },
    { function() A:local_partition(layout "(2,2):(1,2)", 4) end,
      "local_partition: there is no coordinate c with A(c) = 4 in A = " ..
      "(2,2):(1,2)\n  the values of A " ..
      "lie in 0 .. 3" },
    { function() A:local_partition(layout { 16, 16 }, 256, { 1, X }) end,
      "local_partition: there is no coordinate c with A(c) = 256 in A = " ..
      "(16,16):(1,16)\n  the values of A " ..
      "lie in 0 .. 255" },
    { function() A:local_partition(layout { 16, 16 }, 5, { 1 }) end,
      "local_partition: (16,16):(1,16) has no 1 modes, as the projection (1) has\n  " ..
      "1 in the projection keeps a mode, `_` leaves it out" },
    { function() A:local_tile({ 8, 4 }, { 1, 2 }, { 1, X, 1 }) end,
      "local_tile: (8:1,4:1) has no 3 modes, as the projection (1,_,1) has\n  " ..
      "1 in the projection keeps a mode, `_` leaves it out" },
    { function() tile.logical_divide(tile.parse "(8,8):(1@0,1@1)", tile.parse "(2,0):(1@0,0)") end,
      "logical_divide: (2,0):(1@0,0) is empty" },
    { function() tile.domain_offset({ 1, 2, 3 }, A) end,
      "domain_offset: coordinate (1,2,3) has 3 modes, (32,32):(32,1) has 2" },
  }
end)
