-- script.lua: a script that a careful host runs: a product of two matrices of twos.
-- SPDX-License-Identifier: MIT

local a = tile.tensor("f32", tile.layout{4,4}):fill(2)
local c = tile.tensor("f32", tile.layout{4,4})
tile.gemm(a,a,c)
return c(1,1)
