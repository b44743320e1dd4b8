#!/bin/sh
# sass.sh - what the compiler made of the kernels: instructions, registers, stack, sizes.
# usage: sass.sh FOLDER [CUOBJDUMP]      FOLDER has the fatbins: build/kernels
# SPDX-License-Identifier: MIT
#
# A row for each fatbin and architecture: its kernels, the most registers of one, kernels with a
# stack (8 bytes and more of it are spilled or indexed), and how often each of WORDS is there.
set -eu
folder=$1 tool=${2:-cuobjdump}
words="HGMMA QGMMA IGMMA HMMA IMMA DMMA QMMA LDSM LDGSTS UTMALDG UTMASTG STL"

# rows NAME ARCH: from both listings of one architecture.
rows() {
  awk -v name="$1" -v arch="$2" -v words="$words" '
    BEGIN { n = split(words, word, " ") }
    / Function .*:$/ { next }
    / REG:/ {
      kernels++
      match($0, /REG:[0-9]+/); r = substr($0, RSTART + 4, RLENGTH - 4) + 0
      match($0, /STACK:[0-9]+/); s = substr($0, RSTART + 6, RLENGTH - 6) + 0
      if (r > most) most = r
      if (s > 0) stacks++
      next
    }
    /^[ \t]*\/\*[0-9a-f]+\*\// {
      for (i = 2; i <= 4; i++) { sub(/[.;].*/, "", $i); if ($i in is) { count[$i]++; break } }
    }
    function has(w) { is[w] = 1 }
    BEGIN { for (i = 1; i <= n; i++) has(word[i]) }
    END {
      printf "| %s | %s | %d | %d | %d |", name, arch, kernels, most, stacks
      for (i = 1; i <= n; i++) printf " %d |", count[word[i]]
      print ""
    }'
}

printf '| kernels of | for | how many | registers | with a stack |'
for w in $words; do printf ' %s |' "$w"; done
printf '\n| - | - | -: | -: | -: |'
for w in $words; do printf ' -: |'; done
printf '\n'
for name in copy mma ampere hopper pack; do
  file=$folder/$name.fatbin
  for arch in $("$tool" -lelf "$file" | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin.*/\1/p' | sort -u); do
    { "$tool" -res-usage -arch "$arch" "$file" 2>&1; "$tool" -sass -arch "$arch" "$file"; } |
      rows "$name" "$arch"
  done
done
printf '\n'
for name in copy mma ampere hopper pack; do
  file=$folder/$name.fatbin
  printf '%s: %d bytes\n' "$name.fatbin" "$(wc -c < "$file")"
done

# Where the compiler does not know that a loop is as long for all lanes (of_warp of
# kernels/gemm/sm90.cuh), lanes meet before each product, by a third more instructions.
"$tool" -sass "$folder/hopper.fatbin" | awk '
  /Function :/ { all++; far = 99; told = 0 }
  /WARPSYNC/ { far = 0 }
  /WARPGROUP.ARRIVE/ && far < 24 && !told { bad++; told = 1 }
  { far++ }
  END { printf "hopper: %d of %d kernels whose lanes meet before each product\n", bad, all }'
