#!/bin/sh
# run.sh: the moontile program: its command line beside lua's, the console, Ctrl-C.
# usage: run.sh PROGRAM SCRATCH
# SPDX-License-Identifier: MIT
set -u
P=$1 W=$2
rm -rf "$W" && mkdir -p "$W" && cd "$W" || exit 1
unset LUA_INIT LUA_INIT_5_4 LUA_PATH LUA_CPATH LUA_PATH_5_4 LUA_CPATH_5_4
export XDG_CONFIG_HOME="$W/config" XDG_STATE_HOME="$W/state" TERM=dumb
passed=0 failed=0

pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); printf 'FAILED %s\n' "$1"; sed 's/^/  | /' out err; }

# holds NAME COMMAND: the command succeeds.
holds() { name=$1; shift; if "$@"; then pass; else fail "$name"; fi; }

# expect NAME STATUS STDOUT-PATTERN STDERR-PATTERN: what the last `try` did; '' is nothing at all.
matches() {
  if [ -z "$2" ]; then [ ! -s "$1" ]; else grep -q -e "$2" "$1"; fi
}
expect() {
  if [ "$status" = "$2" ] && matches out "$3" && matches err "$4"; then pass; else
    fail "$1 (status $status)"; fi
}
try() { "$P" "$@" >out 2>err </dev/null; status=$?; }
feed() { input=$1; shift; printf %b "$input" | "$P" "$@" >out 2>err; status=$?; }

# ---- lua's command line

echo 'print(#arg, arg[0], ...) return 1' >args.lua
echo 'error "oops"' >bad.lua
echo 'x = = 1' >syntax.lua
echo 'print(arg[-1], arg[-2] ~= nil)' >before.lua
echo 'return { name = "a module" }' >amodule.lua
echo 'os.exit(7)' >seven.lua

try -e 'print(1 + 1)';               expect '-e' 0 '^2$' ''
try '-eprint(3)';                    expect '-eSTAT' 0 '^3$' ''
try -e 'a = 5' -e 'print(a)';        expect '-e twice' 0 '^5$' ''
try args.lua x 'y z';                expect 'script arguments' 0 '^2	args.lua	x	y z$' ''
try -e 'b = 1' before.lua;           expect 'negative arg' 0 '^b = 1	true$' ''
try -- args.lua -e;                  expect '--' 0 '^1	args.lua	-e$' ''
try bad.lua;                         expect 'error in a script' 1 '' 'bad.lua:1: oops'
holds 'traceback of a script' grep -q 'stack traceback' err
try syntax.lua;                      expect 'syntax error' 1 '' 'syntax.lua:1: unexpected symbol'
try nofile.lua;                      expect 'no such script' 1 '' 'cannot open nofile.lua'
try seven.lua;                       expect 'os.exit' 7 '' ''
try -l amodule -e 'print(amodule.name)'; expect '-l mod' 0 '^a module$' ''
try -l g=amodule -e 'print(g.name)'; expect '-l g=mod' 0 '^a module$' ''
try -lamodule -e 'print(amodule.name)';  expect '-lmod' 0 '^a module$' ''
try -l nomodule -e 'print(1)';       expect '-l of nothing' 1 '' "module 'nomodule' not found"
try -v;                              expect '-v' 0 '^Lua 5.4' ''
try -W -e 'warn "careful"';          expect '-W' 0 '' 'Lua warning: careful'
try -e 'warn "careful"';             expect 'warnings are off' 0 '' ''
try -e;                              expect '-e without a text' 1 '' "'-e' needs argument"
try -x;                              expect 'an unknown option' 1 '' "unrecognized option '-x'"
holds 'usage' grep -q '^usage:' err
try -E2;                             expect '-E2' 1 '' "unrecognized option '-E2'"
try -e 'error(setmetatable({}, { __tostring = function() return "as text" end }))'
expect 'an error object' 1 '' ': as text$'
try -e 'error {}';                   expect 'an error table' 1 '' 'error object is a table value'
feed 'print(...)\n' - a b;           expect 'script from stdin' 0 '^a	b$' ''
feed 'print "piped"\n';              expect 'stdin is the script' 0 '^piped$' ''
feed 'error "x"\n';                  expect 'error in stdin' 1 '' 'stdin:1: x'

export LUA_INIT='z = "from init"'
try -e 'print(z)';                   expect 'LUA_INIT' 0 '^from init$' ''
try -E -e 'print(z)';                expect '-E' 0 '^nil$' ''
LUA_INIT='@seven.lua' try -e 'print(z)'; expect 'LUA_INIT=@file' 7 '' ''
LUA_INIT='error "in init"' try -e 'print(1)'; expect 'LUA_INIT fails' 1 '' 'LUA_INIT:1: in init'
LUA_INIT_5_4='z = "5.4"' try -e 'print(z)'; expect 'LUA_INIT_5_4' 0 '^5.4$' ''
unset LUA_INIT
LUA_PATH='./?.none' try -E -e 'print(package.path:find "%.none")'; expect '-E, paths' 0 '^nil$' ''

# ---- our own

try --version;                       expect '--version' 0 '^moontile [0-9.]* (Lua 5.4' ''
try --help;                          expect '--help' 0 '^usage: .*script' ''
try -h;                              expect '-h' 0 '^usage: .*script' ''
try --operations;                    expect '--operations' 0 'Layout	zipped_divide	2	A, tiler' ''
try --info;                          expect '--info' 0 '^kernels:  cpu *cpu_' ''
for line in '^device:   cpu' '^kernels:  cuda' '^compiled: '; do
  holds "--info, $line" grep -q "$line" out
done
printf 'local tile = require "moontile"; local T = tile.tensor("i32", tile.layout(4))
return tile.plan(T, tile.tensor("i32", tile.layout(4)))' > plan.lua
try --export plan.lua -o made;        expect '--export' 0 '^made/plan.c$' ''
holds '--export, what it writes' grep -q 'int plan_run' made/plan.h
try --export plan.lua;               expect '--export without -o' 1 '' 'needs: --export script -o folder'
try --export none.lua -o made;       expect '--export of no script' 1 '' 'none.lua'
echo 'return 5' > plan.lua
try --export plan.lua -o made;       expect '--export of no plan' 1 '' 'export: a plan expected, got number'
rm -r made plan.lua
try -e 'local tile = require "moontile"; print(tile.layout({ 4, { 2, 2 } }, { 2, { 1, 8 } }))'
expect 'require without an installation' 0 '^(4,(2,2)):(2,(1,8))$' ''
try -e 'print(package.loaded.moontile)'; expect 'moontile is not loaded unasked' 0 '^nil$' ''

# ---- the names of the console in -e

try -e 'print(layout(24, 2) / layout(4, 2), tile.layout(4))'
expect 'names in -e' 0 '^(4,(2,3)):(4,(2,16))	4:1$' ''
try -e 'print(layout({ 2, 3 })(_, 1), load == tile.load)'; expect '_ in -e' 0 '^(2):(1)	false$' ''
try -e 'x = 5' -e 'print(_G.x, rawget(_G, "layout"))'; expect 'globals in -e' 0 '^5	nil$' ''
try -e 'print(no_such_name)';        expect 'no name in -e' 0 '^nil$' ''
try -e 'layot(4)';                   expect 'an error in -e' 1 '' "call a nil value (global 'layot')"
try -e 'quit(3)';                    expect 'quit in -e' 3 '' ''
try -e 'local t = {} for i = 1, 3 do t[i] = layout(i) end print(#t)'; expect '-e' 0 '^3$' ''
echo 'print(layout)' >plain.lua
try -e 'x = layout(4)' plain.lua;    expect 'a script has plain globals' 0 '^nil$' ''

# ---- the console

feed '1 + 1\n' -i;                   expect 'an expression' 0 '^> 2$' ''
feed 'A = layout({4, {2, 2}}, {2, {1, 8}})\nA, A(5), A[2]\n' -i
expect 'several values' 0 '(4,(2,2)):(2,(1,8))	3	(2,2):(1,8)$' ''
feed 'layout(24, 2) / layout(4, 2)\n' -i; expect 'names of moontile' 0 '(4,(2,3)):(4,(2,16))$' ''
feed 'tile.layout(4)(_G.tonumber "3")\n' -i; expect 'tile, _G' 0 '> 3$' ''
feed 'layout({2, 3})(_, 1)\n' -i;    expect 'the wildcard' 0 '(2):(1)$' ''
feed '= 7\n' -i;                     expect 'a leading =' 0 '> 7$' ''
feed 'x = 5\n_G.x\n' -i;             expect 'globals are globals' 0 '> 5$' ''
feed 'nil, false\n' -i;              expect 'nil is printed' 0 'nil	false$' ''
feed 'local y = 1\n' -i;             expect 'a statement prints nothing' 0 '^> > $' ''
feed 'for i = 1, 2 do\nprint(i)\nend\n' -i; expect 'several lines' 0 '>> >> 1$' ''
feed 'layout({4,\n2})\n' -i;         expect 'an expression in lines' 0 '>> (4,2):(1,4)$' ''
feed '1 +\n2\n' -i;                  expect 'half an expression' 0 '>> 3$' ''
feed 'x = = 1\n"on"\n' -i;           expect 'syntax error' 0 '> on$' "unexpected symbol near '='"
feed 'error "bad"\n"on"\n' -i;       expect 'the console goes on' 0 '> on$' '^bad$'
feed 'function f() error "deep" end\nf()\n' -i; expect 'an error deeper down' 0 '>' "^stdin:1: deep$"
holds 'its traceback' grep -q "in function 'f'" err
holds 'nothing of ours in it' test "$(grep -c xpcall err)" = 0
feed 'layout "(4,6,8):(2,3,5)" * layout(6, 3)\n' -i
expect 'an error of the algebra' 0 '> $' '^composition: no layout R has R(i) = A(B(i))'
feed 'error(nil)\n"on"\n' -i;        expect 'error(nil)' 0 '> on$' 'error object is a nil value'
feed '_PROMPT = "? "\n1\n' -i;       expect '_PROMPT' 0 '^> ? 1$' ''
feed '"on"' -i;                      expect 'no newline at the end' 0 '> on$' ''
feed 'for i = 1' -i;                 expect 'the end inside a statement' 0 '>>' '<eof>'
feed 's = 1\n' -i seven.lua;         expect '-i after a script' 7 '^Lua' ''
feed 'z\n' -i -e 'z = 42';           expect '-i after -e' 0 '> 42$' ''
feed '1\nexit\n2\n' -i;              expect 'exit' 0 '> 1$' ''
holds 'nothing behind exit' test "$(grep -c 2$ out)" = 0
feed 'exit(5)\n' -i;                 expect 'exit with a status' 5 '> $' ''

mkdir -p config/moontile
echo 'greeting = "hello"; mine = layout(4)' >config/moontile/init.lua
feed 'greeting, mine\n' -i;          expect 'init.lua' 0 '> hello	4:1$' ''
feed 'greeting\n' -E -i;             expect '-E: no init.lua' 0 '> nil$' ''
try -e 'print(greeting)';            expect 'init.lua is of the console' 0 '^nil$' ''
echo 'error "bad settings"' >config/moontile/init.lua
feed '"on"\n' -i;                    expect 'init.lua fails' 0 '> on$' 'init.lua:1: bad settings'
rm -r config

# ---- Ctrl-C

# Waits until the output has the text of $1.
until_seen() {
  i=0
  while ! grep -q -e "$1" out; do
    i=$((i + 1)); [ $i -lt 300 ] || { fail "waiting for $1"; return 1; }
    sleep 0.05
  done
}

"$P" -e 'print "go" io.flush() while true do end' >out 2>err </dev/null &
pid=$!
until_seen go; kill -INT $pid; wait $pid; status=$?
expect 'Ctrl-C in a script' 1 '^go$' 'interrupted!'

# Inside of calls that would last for ever: a product, one in a coroutine, a GPU that works on.
# $1: a name, $2: code that calls endless().
interrupt() {
  "$P" -e "tile = require 'moontile' layout = tile.layout
    A, C = tile.tensor('f32', layout({ 4, 1 << 40 }, { 1, 0 })), tile.tensor('f32', layout { 4, 4 })
    function endless() print 'go' io.flush() tile.gemm(A, A, C) end" -e "$2" >out 2>err </dev/null &
  pid=$!
  until_seen go && sleep 0.2
  begin=$(date +%s)
  kill -INT $pid; wait $pid; status=$?
  [ $(($(date +%s) - begin)) -le 5 ] || fail "$1: it went on"
  expect "$1" 1 '^go$' 'interrupted!'
}
interrupt 'Ctrl-C in a call' 'endless()'
interrupt 'Ctrl-C in a call of a coroutine' 'coroutine.wrap(endless)()'
interrupt 'Ctrl-C in a call of a method' 'getmetatable("").__call = endless; ("x")()'
if [ -n "${MOONTILE_TEST_LIBCUDA:-}" ]; then
  # The kernel never ends, and the program all the same: what it holds is the driver's.
  export FAKECUDA_SLOW=1000000 ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
  interrupt 'Ctrl-C while a GPU works' "
    gpu = assert(tile.device { 'cuda', libcuda = os.getenv 'MOONTILE_TEST_LIBCUDA' })
    D, E = tile.tensor('f32', layout(64), gpu), tile.tensor('f32', layout(64), gpu)
    print 'go' io.flush() tile.copy(D, E) gpu:synchronize()"
  unset FAKECUDA_SLOW
fi

mkfifo in
"$P" -i >out 2>err <in &
pid=$!
exec 3>in
echo 'print "go" io.flush() while true do end' >&3
until_seen go; kill -INT $pid
echo '"after", 1' >&3
until_seen 'after	1'
# Errors that are caught come again; coroutines are no shelter.
for code in 'while true do pcall(function() while true do end end) end' \
            'coroutine.wrap(function() while true do end end)()' \
            'while true do coroutine.wrap(pcall)(function() while true do end end) end'; do
  number=$((${number:-0} + 1))
  echo "print 'going $number' io.flush() $code" >&3
  until_seen "^going $number\|> going $number"; sleep 0.1; kill -INT $pid; kill -INT $pid
  echo "'back', $number" >&3
  until_seen "back	$number"
done
echo 'for i = 1, 3 do' >&3               # a statement is half typed
until_seen '>> '; sleep 0.2; kill -INT $pid; sleep 0.2
echo '"again", 2' >&3
until_seen 'again	2'
exec 3>&-
wait $pid; status=$?
expect 'Ctrl-C in the console' 0 'again' '^interrupted!$'

# ---- a terminal

if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  printf '6 * 7\n' >typed
  script -qec "'$P'" /dev/null <typed >out 2>err
  status=$?
  expect 'a terminal starts the console' 0 '42' ''
  holds 'the greeting' grep -q '^moontile [0-9]' out
else
  echo 'no terminal can be made here: the console in one is not tested'
fi

printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
