#!/bin/sh
# builds.sh: other compilers, other Luas, another processor; Lua's own hard tests. For run.sh, which
# has `root`, `out`, `jobs`, `log`.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154

# configure SOURCE FOLDER [OPTION...]
configure() {
  from=$1 to=$2
  shift 2
  cmake -S "$from" -B "$to" -G "$(generator)" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMOONTILE_CUDA=OFF \
    -DMOONTILE_PYTHON=OFF "$@"
}

generator() { if have ninja; then echo Ninja; else echo 'Unix Makefiles'; fi; }

# make FOLDER TARGET...
make() {
  to=$1
  shift
  cmake --build "$to" -j "$jobs" --target "$@"
}

# ---- Lua

# lua_source VERSION: the folder of its sources, as Lua's repository has them.
lua_source() {
  for dir in "${MOONTILE_LUA_SOURCES:-$out}/lua-$1" "$out/lua-$1"; do
    [ ! -e "$dir/lua.h" ] || { echo "$dir"; return 0; }
  done
  git clone -q --depth 1 -b "v$1" https://github.com/lua/lua "$out/lua-$1" >&2 && echo "$out/lua-$1"
}

# lua VERSION FOLDER CC FLAGS: include/, lib/liblua.a
lua() {
  dir=$(lua_source "$1") || return 1
  mkdir -p "$2/include" "$2/lib" "$2/o"
  for file in "$dir"/l*.c; do
    name=$(basename "$file" .c)
    case $name in lua | luac) continue ;; esac
    # shellcheck disable=SC2086
    $3 -std=gnu99 $4 -fPIC -DLUA_USE_LINUX -c "$file" -o "$2/o/$name.o" || return 1
  done
  rm -f "$2/lib/liblua.a"
  ar rcs "$2/lib/liblua.a" "$2"/o/*.o
  for file in lua.h luaconf.h lualib.h lauxlib.h ltests.h; do cp "$dir/$file" "$2/include/"; done
}

# with_lua FOLDER: the options that take it.
with_lua() { printf '%s\n' "-DLUA_INCDIR=$1/include" "-DLUA_LIBDIR=$1/lib"; }

# ---- what is run of a build

# try FOLDER [EMULATOR...]: the tests in C, and scripts, without tools of this machine's.
try() {
  to=$1
  shift
  mkdir -p "$to/tried"
  "$@" "$to/moontile_algebra_test" --cases 100000 || return 1
  for room in core types; do "$@" "$to/moontile_${room}_test" >"$to/tried/$room" || return 1; done
  "$@" "$to/moontile_vm_test" "$to/tried" || return 1
  (cd "$root" && for file in examples/transpose.lua examples/tour.lua; do
    "$@" "$to/moontile" "$file" || exit 1
  done) || return 1
  (cd "$root" && "$@" "$to/moontile" spec/golden/check.lua spec/golden/*.tsv)
}

tried='moontile_shared moontile_program moontile_module moontile_algebra_test moontile_core_test
moontile_types_test moontile_vm_test'

# one NAME OPTION...: builds and tries it.
one() {
  name=$1
  shift
  # shellcheck disable=SC2086
  if configure "$root" "$out/$name" -DMOONTILE_WERROR=ON "$@" && make "$out/$name" $tried &&
    try "$out/$name"; then
    good="$good $name"
  else
    bad="$bad $name"
  fi
}

# headers CC CXX: each header of ours alone, in each language, in a file of its own.
headers() {
  for file in "$root"/include/moontile.h "$root"/include/moontile/*.h; do
    [ "$(basename "$file")" != lua.h ] || continue
    echo "#include \"$file\"" >"$out/header.c"
    for std in c11 c17 c2x; do header "$1" $std c || return 1; done
    for std in c++11 c++14 c++17 c++20; do header "$2" $std c++ || return 1; done
  done
}

header() {
  "$1" -std="$2" -Wall -Wextra -Wpedantic -Werror -I "$root/include" -fsyntax-only -x "$3" "$out/header.c"
}

compilers() {
  for cc in gcc-12 gcc-13 gcc-14 gcc-15 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20; do
    case $cc in gcc*) cxx=g++${cc#gcc} ;; *) cxx=clang++${cc#clang} ;; esac
    if ! have $cc || ! have "$cxx"; then continue; fi
    headers $cc "$cxx" || bad="$bad headers.$cc"
    one $cc -DCMAKE_C_COMPILER=$cc "-DCMAKE_CXX_COMPILER=$cxx"
  done
}

luas() {
  for version in 5.4.4 5.4.5 5.4.6 5.4.7 5.4.8 5.5.0; do
    if lua $version "$out/luas/$version" gcc -O2; then
      # shellcheck disable=SC2046
      one lua-$version $(with_lua "$out/luas/$version")
    else
      bad="$bad lua-$version"
    fi
  done
}

# Cross-built, run under qemu.
aarch64() {
  gcc=aarch64-linux-gnu-gcc libs=/usr/aarch64-linux-gnu
  if ! have $gcc || ! have aarch64-linux-gnu-g++ || ! have qemu-aarch64; then
    lacks="$lacks aarch64 (Debian: g++-aarch64-linux-gnu, qemu-user)"
    return
  fi
  # shellcheck disable=SC2046,SC2086
  if lua 5.4.8 "$out/luas/aarch64" $gcc -O2 &&
    configure "$root" "$out/aarch64" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
      -DCMAKE_C_COMPILER=$gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DMOONTILE_WERROR=ON \
      $(with_lua "$out/luas/aarch64") &&
    make "$out/aarch64" $tried && try "$out/aarch64" qemu-aarch64 -L $libs; then
    good="$good aarch64"
  else
    bad="$bad aarch64"
  fi
}

gate_builds() {
  good='' bad='' lacks=''
  for kind in ${MOONTILE_GATE_BUILDS:-compilers luas aarch64}; do $kind; done
  figure "good:$good; bad:${bad:- none}${lacks:+; lacks:$lacks}"
  [ -z "$bad" ]
}

# ---- Lua's own hard tests: its assertions, an allocator that marks what is free, small buffers; the
# stack moves, and the collector runs, wherever they may

gate_hardlua() {
  good='' bad=''
  for kind in ${MOONTILE_GATE_HARD:-HARDSTACKTESTS HARDMEMTESTS EMERGENCYGCTESTS}; do
    made=$out/luas/$kind
    lua 5.4.8 "$made" gcc "-O1 -g -DLUA_USER_H=\"ltests.h\" -D$kind" || return 1
    # shellcheck disable=SC2046
    configure "$root" "$out/$kind" "-DCMAKE_C_FLAGS=-DLUA_USER_H='\"ltests.h\"' -I$made/include" \
      $(with_lua "$made") || return 1
    make "$out/$kind" moontile_program moontile_vm_test moontile_host_test moontile_fake || return 1
    if hard "$out/$kind"; then good="$good $kind"; else bad="$bad $kind"; fi
  done
  figure "good:$good; bad:${bad:- none}"
  [ -z "$bad" ]
}

# Hosts, scripts with many arguments, and specs where there is busted: Debian's libraries in C for it
# can be loaded into such a Lua.
hard() {
  to=$1
  mkdir -p "$to/tried"
  case $to in
    *EMERGENCYGCTESTS) ;;              # where each allocation collects all its scripts run out of time
    *) with_driver "$to" "$to/moontile_host_test" "$to/tried" "$to/fake/libcuda.so.1" || return 1 ;;
  esac
  (cd "$root" && for file in examples/transpose.lua spec/golden/check.lua; do
    case $file in spec/*) set -- spec/golden/*.tsv ;; *) set -- ;; esac
    "$to/moontile" "$file" "$@" || exit 1
  done) || return 1
  have busted || return 0
  echo 'return {}' >"$to/program.cfg"
  (cd "$root" && for name in layout construct lifetime broken tensor memory; do
    LUA_PATH="/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;;" \
      LUA_CPATH="/usr/lib/$(gcc -dumpmachine)/lua/5.4/?.so;;" MOONTILE_TIMES=0.1 \
      with_driver "$to" "$to/moontile" "$(command -v busted)" --ignore-lua --output plainTerminal \
      --config-file "$to/program.cfg" "spec/${name}_spec.lua" || exit 1
  done)
}
