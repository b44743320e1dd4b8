#!/bin/sh
# build.sh: the playground, one page that opens from a file: build-web/moontile.html.
# usage: sh web/build.sh MOONTILE   (the native program; ./dev web does all of it)
# SPDX-License-Identifier: MIT
#
# Needs emcc (Debian: emscripten) and Lua's sources: in LUA_SOURCES, or from Debian's archive.
set -eu

native=$1
root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/build-web
cd "$root"
mkdir -p "$out"
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"

# Lua's own sources, unpacked to $out/lua.
fetch_lua() {
  apt=$out/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  # shellcheck disable=SC1091
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  key=/usr/share/keyrings/debian-archive-keyring.gpg
  printf 'deb-src [signed-by=%s] http://deb.debian.org/debian %s main\n' "$key" "$release" >"$apt/src.list"
  set -- -q -o Dir::Etc::sourcelist="$apt/src.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root
  apt-get "$@" update
  (cd "$apt" && apt-get "$@" source --download-only lua5.4)
  mkdir -p "$out/lua"
  tar -xf "$apt"/lua5.4_*.orig.tar.* -C "$out/lua" --strip-components=1
}

if [ -z "${LUA_SOURCES:-}" ]; then
  [ -e "$out/lua/src/lua.h" ] || fetch_lua
  LUA_SOURCES=$out/lua/src
fi

cmake -DOUT="$out/embed.c" -DDIR="$root/lua/moontile" -P cmake/embed.cmake

# compile FILE: its object, unless it is newer than the file. Headers count too: see below.
compile() {
  object=$out/$(printf '%s' "$1" | tr '/' '_' | sed 's/^_*//').o
  objects="$objects $object"
  if [ -z "$(find "$object" -newer "$1" 2>/dev/null)" ]; then
    emcc -Os -std=gnu11 -D_POSIX_C_SOURCE=200809L -I include -I src -I . -I "$LUA_SOURCES" -c "$1" -o "$object" &
    running=$((running + 1))
    if [ $running -ge "$(getconf _NPROCESSORS_ONLN)" ]; then wait; running=0; fi
  fi
}

# One header that changed makes all objects anew.
if [ -n "$(find src include -name '*.h' -newer "$out/headers" 2>/dev/null || echo all)" ]; then
  rm -f "$out"/*.o
  touch "$out/headers"
fi

objects=
running=0
for file in src/*/*.c src/backends.c web/page.c "$out/embed.c" "$LUA_SOURCES"/*.c; do
  case $file in
    src/console/* | */lua.c | */luac.c) ;;
    *) compile "$file" ;;
  esac
done
wait
for object in $objects; do
  [ -e "$object" ] || { echo "web/build.sh: $object was not made" >&2; exit 1; }
done

# shellcheck disable=SC2086
emcc -Os $objects -o "$out/program.js" -s SINGLE_FILE=1 -s MODULARIZE=1 -s EXPORT_NAME=Moontile \
  -s ALLOW_MEMORY_GROWTH=1 -s TOTAL_STACK=1048576 -s EXPORTED_RUNTIME_METHODS=ccall \
  -s EXPORTED_FUNCTIONS=_page_open,_page_run -s FILESYSTEM=1
"$native" web/make.lua "$out/program.js" "$out/moontile.html"
