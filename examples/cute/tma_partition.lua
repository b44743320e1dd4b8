-- The loads of CuTe's tutorial wgmma_tma_sm90: the tensor of coordinates, tiles of it, what an
-- instruction brings, alone and shared by the CTAs of a cluster:
--   moontile examples/cute/tma_partition.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

local M, K, bM, bK, bP = 512, 256, 128, 64, 3

-- major: of A; alone: what a CTA has of it without a multicast
local function load(major, alone, shared)
  local atom = tile.smem_atom(("GMMA::Layout_%s_SW128_Atom"):format(major), "f16")
  local sA = tile.tile_to_shape(atom, { bM, bK, bP })
  local mA = layout({ M, K }, major == "K" and "right" or "left")
  local t = tile.tma { tensor = mA, dtype = "f16", smem = sA:slice { _, _, 0 } }
  assert(t.ok, t.why)
  check(major .. ": mA, coordinates of TMA", major == "K" and "(512,256):(1@1,1@0)"
        or "(512,256):(1@0,1@1)", t.coords)
  local gA, from = tile.local_tile(t.coords, { bM, bK }, { 1, _ })
  check(major .. ": gA", "(128,64,4)", gA:shape())
  local tAgA, at, tAsA = tile.tma_partition(t, sA:group(1, 2), gA:group(1, 2), from)
  check(major .. ": tAgA (TMA,k)", alone, tAgA, at)
  check(major .. ": tAsA (TMA,PIPE)", major == "K" and "((8192,1),(1,3)):((1,0),(0,8192))"
        or "((512,16),(1,3)):((1,512),(0,8192))", tAsA)
  local bytes = tile.size(tAsA, 1) * 2
  check(major .. ": bytes that a barrier waits for", "16384", bytes)

  t = tile.tma { tensor = mA, dtype = "f16", smem = sA:slice { _, _, 0 }, multicast = 2 }
  local cluster = layout { 2, 2 }                 -- CTAs along N share A: those of one row
  local cta, group = 1, layout(2)
  local part = table.pack(tile.tma_partition(t, cta, group, sA:group(1, 2), gA:group(1, 2), from))
  check(major .. ": CTA 1 of two brings its half", shared, part[2], part[4])
  check(major .. ": for the CTAs of row 1", "10",
        tile.create_tma_multicast_mask(cluster, { 1, _ }))
end
load("K", "(((64,128),1),4):(((1@0,1@1),0),64@0) + (0,128)", "(0,192) + 4096")
load("MN", "(((64,8),(2,8)),4):(((1@0,1@1),(64@0,8@1)),64@1) + (128,0)", "(128,4) + 256")
print(check.count .. " results of the loads")
