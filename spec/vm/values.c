/*
** values.c - what goes into a VM, what comes out, what its errors say.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <unistd.h>

#include "vm_spec.h"

static bool is_text (mt_vm_value x, const char *want) {
  return x.text && x.size == strlen(want) && memcmp(x.text, want, x.size + 1) == 0;
}

static void test_results (void) {
  mt_vm *v = open_vm(NULL);
  CHECK(run_vm(v, "return 1, 2.5, 'a\\0b', true, nil, {}, tile.layout{2, 3}")[0] == 0,
        "%s", run_vm(v, "return"));
  CHECK(mt_vm_results(v) == 7, "%d results", mt_vm_results(v));
  CHECK(mt_vm_result(v, 0).kind == MT_VM_INTEGER && mt_vm_result(v, 0).integer == 1, "1");
  CHECK(mt_vm_result(v, 1).kind == MT_VM_NUMBER && mt_vm_result(v, 1).number == 2.5,
        "2.5");
  CHECK(mt_vm_result(v, 2).kind == MT_VM_TEXT && mt_vm_result(v, 2).size == 3, "a\\0b");
  CHECK(mt_vm_result(v, 3).kind == MT_VM_BOOLEAN && mt_vm_result(v, 3).integer == 1,
        "true");
  CHECK(mt_vm_result(v, 4).kind == MT_VM_NIL && mt_vm_result(v, 99).kind == MT_VM_NIL,
        "nil");
  CHECK(mt_vm_result(v, 5).kind == MT_VM_OTHER, "a table");
  CHECK(is_text(mt_vm_result(v, 6), "(2,3):(1,2)"), "a layout");
  CHECK(run_vm(v, "return table.unpack({}, 1, 40)")[0] == 0 && mt_vm_results(v) == 16,
        "%d results of 40", mt_vm_results(v));
  mt_vm_close(v);
}

static void test_call (void) {
  mt_vm *v = open_vm(NULL);
  mt_err err = MT_NOERR;
  const mt_vm_value args[] = {{.kind = MT_VM_INTEGER, .integer = 40},
                              {.kind = MT_VM_NUMBER, .number = 2},
                              {.kind = MT_VM_TEXT, .text = "abc", .size = 3},
                              {.kind = MT_VM_BOOLEAN, .integer = 1}};
  run_vm(v, "function f(a, b, c, d) return a + b, c .. (g or ''), not d end");
  CHECK(mt_vm_call(v, "f", args, 4, &err) == MT_OK, "%s", err.text);
  CHECK(mt_vm_result(v, 0).number == 42 && is_text(mt_vm_result(v, 1), "abc"), "f");
  CHECK(mt_vm_set(v, "g", &args[2], &err) == MT_OK, "%s", err.text);
  CHECK(mt_vm_call(v, "f", args, 4, &err) == MT_OK &&
            is_text(mt_vm_result(v, 1), "abcabc"),
        "a global");
  CHECK(mt_vm_call(v, "h", NULL, 0, &err) == MT_EINVAL &&
            strstr(err.text, "h: the script has no such function"),
        "%s", err.text);
  CHECK(run_vm(v, "function Total() end")[0] == 0 &&
            mt_vm_call(v, "total", NULL, 0, &err) == MT_EINVAL &&
            strstr(err.text, "the script has no such function; did you mean Total?"),
        "%s", err.text);
  CHECK(mt_vm_call(v, "g", NULL, 0, &err) == MT_EINVAL &&
            strstr(err.text, "g: the script has a string of this name, and no function"),
        "%s", err.text);
  mt_vm_close(v);
}

/* A matrix of the host is doubled by a script, and taken back. */
static void test_tensor (void) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  mt_layout layout;
  mt_err err = MT_NOERR;
  mt_vm *v = open_vm(NULL);
  mt_parse(&layout, "(2,3):(3,1)", 11, &err);
  mt_tensor t = {.layout = layout.node,
                 .dtype = MT_f32,
                 .data = data,
                 .bytes = sizeof data};
  const mt_vm_value x = {.kind = MT_VM_TENSOR, .tensor = &t};
  CHECK(mt_vm_set(v, "m", &x, &err) == MT_OK, "%s", err.text);
  CHECK(run_vm(v,
               "for i = 0, 1 do for j = 0, 2 do m:set(2 * m(i, j), i, j) end end")[0] ==
            0,
        "%s", run_vm(v, "return m"));
  CHECK(data[0] == 2 && data[5] == 12, "%g %g", (double)data[0], (double)data[5]);
  mt_vm_revoke(v);
  CHECK(strstr(run_vm(v, "m:fill(1)"), "freed"), "%s", run_vm(v, "m:fill(1)"));
  t.bytes = 20;
  CHECK(mt_vm_set(v, "m", &x, &err) == MT_EINVAL, "a layout that leaves its memory");
  mt_vm_close(v);
}

typedef struct said {
  char text[256];
  int n, warnings;
} said;

static void take (void *ud, mt_vm_level level, const char *text, size_t size) {
  said *s = ud;
  s->n++;
  s->warnings += level == MT_VM_WARN;
  snprintf(s->text, sizeof s->text, "%.*s", (int)size, text);
}

static void test_log (void) {
  said s = {"", 0, 0};
  const mt_vm_options o = {.size = sizeof o, .log = take, .log_ud = &s};
  mt_vm *v = open_vm(&o);
  run_vm(v, "print(1, 'a', nil, tile.layout(4))");
  CHECK(s.n == 1 && strcmp(s.text, "1\ta\tnil\t4:1") == 0, "%s", s.text);
  run_vm(v, "warn('b', 'c')");
  CHECK(s.n == 2 && s.warnings == 1 && strcmp(s.text, "bc") == 0, "%s", s.text);
  mt_vm_close(v);
}

void test_values (void) {
  test_results();
  test_call();
  test_tensor();
  test_log();
}

/* ---------------------------------------------------------------- messages */

static const struct {
  const char *code, *want;
} messages[] = {
    {"local a = 1\n  local b = a +\n",
     "MT_ESYNTAX: script:3: unexpected symbol near <eof>"},
    {"x = = 2", "MT_ESYNTAX: script:1: unexpected symbol near '='\n  1 | x = = 2"},
    {"local t = {}\n\n  t.a.b = 1 -- here\n",
     "MT_ESCRIPT: script:3: attempt to index a nil value (field 'a')\n"
     "  3 | t.a.b = 1 -- here"},
    {"function f(x)\n  return x.y\nend\nlocal function g()\n  f(nil)\n  return 1\nend\n"
     "g()\n",
     "MT_ESCRIPT: script:2: attempt to index a nil value (local 'x')\n"
     "  2 | return x.y\ncalled from script:5\n  5 | f(nil)\n"
     "called from script:8\n  8 | g()"},
    {"os.exit(1)", "MT_ESCRIPT: script:1: attempt to index a nil value (global 'os')\n"
                   "  1 | os.exit(1)\nscripts of this program have no os"},
    {"pritn(1)", "MT_ESCRIPT: script:1: attempt to call a nil value (global 'pritn')\n"
                 "  1 | pritn(1)\nthere is no pritn; near it: print"},
    {"error('mine', 0)", "MT_ESCRIPT: script:1: mine\n  1 | error('mine', 0)"},
    {"error{}", "MT_ESCRIPT: script:1: an error that is a table, which has no text"},
    {"error(setmetatable({}, { __tostring = function() return 'own' end }))",
     "MT_ESCRIPT: script:1: own\n  1 | error("},
    {"\n\ntile.composition(tile.layout '(4,6,8):(2,3,5)', tile.layout(6, 3))",
     "MT_ESCRIPT: script:3: composition: no layout R has R(i) = A(B(i)) for "},
    {"tile.copi(1)", "MT_ESCRIPT: script:1: tile.copi: no such function; did you mean "
                     "copy?\n  1 | tile.copi(1)"},
    {"local T = tile.load('m.npy')\nreturn T:shape()",
     "MT_ESCRIPT: script:2: attempt to index a nil value (local 'T')\n"
     "  2 | return T:shape()\nthe last call that returned nil said: the host permits no "
     "files"},
    {"local x = 1\nx += 1", "MT_ESYNTAX: script:2: syntax error near '+'\n  2 | x += 1\n"
                            "there is no += here: x = x + y"},
    {"if 1 != 2 then end", "MT_ESYNTAX: script:1: 'then' expected near '!'\n"
                           "  1 | if 1 != 2 then end\nwhat differs is x ~= y here"},
    {"local L = tile.layout((4,8),(8,1))",
     "MT_ESYNTAX: script:1: ')' expected near ','\n"
     "  1 | local L = tile.layout((4,8),(8,1))\na tuple is a table here: {4, 8}"},
    {"require 'socket'", "MT_ESCRIPT: script:1: require: there is no \"socket\" for "
                         "scripts of this program\n  1 | require 'socket'"},
    {"require 'moontiel'",
     "MT_ESCRIPT: script:1: require: there is no \"moontiel\" for scripts of this "
     "program; did you mean moontile?\n  1 | require 'moontiel'"},
    {"while true do end", "MT_ELIMIT: script:1: the script was stopped: it took longer "
                          "than it may\n  1 | while true do end"},
    {"local t = {}\nwhile true do t[#t + 1] = {} end",
     "MT_ELIMIT: script: more memory than the 8388608 bytes that it may have\n"
     "shortly before it was at script:2\n  2 | while true do"},
    {"\nlocal function f(n)\n  return f(n + 1) + 1\nend\nf(1)",
     "MT_ELIMIT: script: more memory than the 8388608 bytes that it may have\n"
     "shortly before it was at script:3\n  3 | return f(n + 1) + 1"},
    {"\033Lua", "MT_ESYNTAX: script: attempt to load a binary chunk: a script is a text"},
    {"\377\376p", "MT_ESYNTAX: script:1: unexpected symbol near '<\\255>'\n  1 | ??p\n"
                  "the text is no UTF-8: is it UTF-16?"},
    {"local s = 'abc \xC3\xA4 \033[31m \xC3' error(s)",
     "MT_ESCRIPT: script:1: abc \xC3\xA4 ?[31m ?\n"
     "  1 | local s = 'abc \xC3\xA4 ?[31m ?' e"},
    {"print 'a' // and more", "MT_ESYNTAX: script:1: unexpected symbol near '//'\n"
                              "  1 | print 'a' // and more\na comment begins with --"},
    {"function f(x)\n  if x then\n    return 1\n  else if not x then\n    return 2\n"
     "  end\nend\n",
     "MT_ESYNTAX: script:8: 'end' expected (to close 'function' at line 1) near <eof>\n"
     "line 4 has else if, which needs an end of its own; elseif needs none"},
    {"for i = 1, 3\n  print(i)\nend",
     "MT_ESYNTAX: script:2: 'do' expected near 'print'\n  2 | print(i)\n"
     "a loop begins its block by do: while x do ... end"},
    {"if 1\n  print(i)\nend",
     "MT_ESYNTAX: script:2: 'then' expected near 'print'\n  2 | print(i)\n"
     "if and elseif begin their block by then: if x then ... end"},
    {"string.format('%d', 1.5)",
     "MT_ESCRIPT: script:1: bad argument #2 to 'format' (number has no integer"},
    {"tonumber()",
     "MT_ESCRIPT: script:1: bad argument #1 to 'tonumber' (value expected)"},
    {"if x = 3 then end", "MT_ESYNTAX: script:1: 'then' expected near '='\n"
                          "  1 | if x = 3 then end\n= sets, == compares: if x == 3 then"},
    {"while x = 3 do end", "MT_ESYNTAX: script:1: 'do' expected near '='\n"
                           "  1 | while x = 3 do end\n= sets, == compares: while x == 3"},
    {"tile.copy(src=T)", "MT_ESYNTAX: script:1: ')' expected near '='\n"
                         "  1 | tile.copy(src=T)\nnames of arguments go into a table"},
    {"T(1,2) = 3", "MT_ESYNTAX: script:1: syntax error near '='\n"
                   "  1 | T(1,2) = 3\nan element is set by T[{1, 2}] = 3"},
    {"local a = T[1:2]", "MT_ESYNTAX: script:1: ']' expected near ':'\n"
                         "  1 | local a = T[1:2]\na part of a tensor is T(tile._, 1)"},
    {"a = [1, 2]", "MT_ESYNTAX: script:1: unexpected symbol near '['\n"
                   "  1 | a = [1, 2]\na list is a table here: {1, 2, 3}"},
    {"function f(x) {\n}", "MT_ESYNTAX: script:1: unexpected symbol near '{'\n"
                           "  1 | function f(x) {\na block has no braces here"},
    {"if a then\nelif b then\nend", "MT_ESYNTAX: script:2: syntax error near 'b'\n"
                                    "  2 | elif b then\nelseif x then"},
    {"def f(x):\n", "MT_ESYNTAX: script:1: syntax error near 'f'\n"
                    "  1 | def f(x):\nfunction f(x) ... end"},
    {"let x = 3", "MT_ESYNTAX: script:1: syntax error near 'x'\n"
                  "  1 | let x = 3\nlocal x = 3"},
    {"x = y if c else z", "MT_ESYNTAX: script:1: 'then' expected near 'else'\n"
                          "  1 | x = y if c else z\nx and y or z, here"},
    {"print(T:size)", "MT_ESYNTAX: script:1: function arguments expected near ')'\n"
                      "  1 | print(T:size)\na method is called: A:size()"},
    {"x = 'abc\n'", "MT_ESYNTAX: script:1: unfinished string near ''abc'\n"
                    "  1 | x = 'abc\na text ends on its line"},
    {"for i in range(3) do end",
     "MT_ESCRIPT: script:1: attempt to call a nil value (global 'range')\n"
     "  1 | for i in range(3) do end\n"
     "there is no range here: for i = 0, n - 1 do ... end"},
    {"local x = None + 1",
     "MT_ESCRIPT: script:1: attempt to perform arithmetic on a nil value (global 'None')"
     "\n  1 | local x = None + 1\nthere is no None here: nil"},
    {"for x in {1, 2} do end",
     "MT_ESCRIPT: script:1: attempt to call a table value (for iterator 'for iterator')\n"
     "  1 | for x in {1, 2} do end\nfor i, x in ipairs(t) do"},
    {"local t = { 1, 2 }\nreturn t[0] + 1",
     "MT_ESCRIPT: script:2: attempt to perform arithmetic on a nil value (field '"},
    {"return 'n: ' + 3",
     "MT_ESCRIPT: script:1: attempt to add a 'string' with a 'number'\n"
     "  1 | return 'n: ' + 3\ntexts are joined by .."},
    {"local A = layout{4, 8}",
     "MT_ESCRIPT: script:1: attempt to call a nil value (global 'layout')\n"
     "  1 | local A = layout{4, 8}\nthere is no layout here: tile.layout"},
    {"return nope.x", "MT_ESCRIPT: script:1: attempt to index a nil value (global 'nope')"
                      "\n  1 | return nope.x"},
    {"coroutine.wrap(function() error 'in it' end)()",
     "MT_ESCRIPT: script:1: in it\n  1 | coroutine.wrap("}};

/* One has all the time that it needs; the other is for the script that never ends. */
void test_messages (void) {
  const mt_vm_options o = {.size = sizeof o, .milliseconds = -1, .memory = 8 << 20};
  mt_vm_options short_of_time = o;
  short_of_time.milliseconds = 100;
  mt_vm *v = open_vm(&o), *hasty = open_vm(&short_of_time);
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
    const char *want = messages[i].want;
    const char *got = run_vm(strstr(want, "longer") ? hasty : v, messages[i].code);
    CHECK(strncmp(got, want, strlen(want)) == 0, "%s\n  wanted \"%s\"\n  got    \"%s\"",
          messages[i].code, want, got);
  }
  mt_vm_close(v);
  mt_vm_close(hasty);
}

/* ---------------------------------------------------------------- options */

static void test_refused (void) {
  mt_vm *v;
  mt_err err = MT_NOERR;
  static const struct {
    mt_vm_options o;
    mt_status s;
    const char *want;
  } rows[] =
      {{{.size = 4}, MT_EINVAL, "sizeof(mt_vm_options)"},
       {{.size = sizeof(mt_vm_options), .threads = -1}, MT_EINVAL, "threads: -1"},
       {{.size = sizeof(mt_vm_options), .milliseconds = -2}, MT_EINVAL, "-2"},
       {{.size = sizeof(mt_vm_options), .libraries = 1 << 20}, MT_EINVAL, "0x100000"},
       {{.size = sizeof(mt_vm_options), .memory = 1000}, MT_ELIMIT, "no memory"},
       {{.size = sizeof(mt_vm_options), .memory = 60000}, MT_ELIMIT, "60000"},
       {{.size = sizeof(mt_vm_options), .root = "/no/such"}, MT_EINVAL, "/no/such"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mt_status s = mt_vm_open(&v, &rows[i].o, &err);
    CHECK(s == rows[i].s && v == NULL && strstr(err.text, rows[i].want), "%zu: %s: %s", i,
          mt_status_name(s), err.text);
  }
}

/* Every allocation of opening fails in turn; all memory comes back. */
typedef struct meter {
  long left;
  size_t bytes;
} meter;

static void *metered (void *ud, void *p, size_t old, size_t size) {
  meter *m = ud;
  if (p == NULL) old = 0;
  if (size > old && m->left-- <= 0) return NULL;
  void *q = size ? realloc(p, size) : (free(p), NULL);
  m->bytes += size - old;
  return q;
}

static void test_no_memory (void) {
  long n = 0, points = 0;
  for (mt_status s = MT_ENOMEM; s != MT_OK; n += 1 + n / 16, points++) {
    meter m = {.left = n};
    const mt_vm_options o = {.size = sizeof o, .alloc = metered, .alloc_ud = &m};
    mt_vm *v;
    mt_err err = MT_NOERR;
    s = mt_vm_open(&v, &o, &err);
    CHECK(s == MT_OK || (s == MT_ENOMEM && v == NULL), "%ld: %s: %s", n,
          mt_status_name(s), err.text);
    mt_vm_close(v);
    CHECK(m.bytes == 0, "%ld: %zu bytes are left", n, m.bytes);
  }
  printf("opening a VM: failed at %ld allocations, the last with %ld before\n", points,
         n);
}

/* A script whose n-th allocation fails, and all after it: its VM can be used again. */
static void test_no_memory_in_calls (void) {
  static const char code[] =
      "local t = { a = ('x'):rep(100), b = ('a b c'):gsub('%w', '%0%0') }\n"
      "local co = coroutine.wrap(function(...) coroutine.yield(pcall(error, 'x')) end)\n"
      "co(1)\n"
      "table.sort({ 3, 1, 2 }, function(a, b) return a < b end)\n"
      "local s = tostring(tile.layout { 4, 8 } / 4) .. table.concat({ 1, 2 }, ', ')\n"
      "local A = assert(tile.tensor('f32', tile.layout { 4, 4 })):fill(2)\n"
      "tile.gemm(A, A, assert(tile.tensor('f32', tile.layout { 4, 4 })))\n"
      "for a in ('abc'):gmatch '.' do s = s .. a end return s, t";
  meter m = {.left = 1 << 30};
  const mt_vm_options o = {.size = sizeof o, .alloc = metered, .alloc_ud = &m};
  mt_vm *v = open_vm(&o);
  const char *got = run_vm(v, code);
  CHECK(got[0] == '\0', "%s", got);
  long n = 0;
  for (bool done = false; !done; n++) {
    m.left = n;
    got = run_vm(v, code);
    done = m.left >= 0;
    CHECK(done == (got[0] == '\0'), "%ld: %s", n, got);
    m.left = 1 << 30;
    got = run_vm(v, "return #'abc'");
    CHECK(got[0] == '\0' && mt_vm_result(v, 0).integer == 3, "%ld: after it: %s", n, got);
  }
  mt_vm_close(v);
  CHECK(m.bytes == 0, "%zu bytes are left", m.bytes);
  printf("a script failed at each of %ld allocations\n", n);
}

static void test_files (const char *dir) {
  char path[4096];
  mt_err err = MT_NOERR;
  const mt_vm_options o = {.size = sizeof o, .root = dir};
  mt_vm *v = open_vm(&o), *none = open_vm(NULL);
  snprintf(path, sizeof path, "%s/vm_script_with_a_name_that_is_longer_than_sixty.lua",
           dir);
  FILE *f = fopen(path, "w");
  if (f == NULL) exit(2);
  fputs("#!/usr/bin/env moontile\nt = tile.tensor('u8', tile.layout(4)):fill(7)\n"
        "assert(t:save 'vm.npy')\nreturn assert(tile.load 'vm.npy')(3)\n",
        f);
  fclose(f);
  CHECK(mt_vm_run_file(v, path, &err) == MT_OK && mt_vm_result(v, 0).integer == 7, "%s",
        err.text);
  CHECK(mt_vm_run_file(none, path, &err) == MT_ESCRIPT &&
            strstr(err.text, "longer_than_sixty.lua:3: ") &&
            strstr(err.text, "3 | assert"),
        "%s", err.text);
  static const char maps[] = "local T, why, code = tile.map 'vm.npy' "
                             "assert(not T and code == 'EDENIED', why) return why";
  const char *why = run_vm(v, maps);
  CHECK(why[0] == '\0' && strstr(mt_vm_result(v, 0).text, "permits no mapped files"),
        "%s", why);
  CHECK(mt_vm_run_file(v, "/no/such.lua", &err) == MT_EIO &&
            strcmp(err.text, "/no/such.lua: No such file or directory") == 0,
        "%s", err.text);
  CHECK(mt_vm_run_file(v, dir, &err) == MT_EIO, "a folder: %s", err.text);
  unlink(path);
  mt_vm_close(v);
  mt_vm_close(none);
}

/* What is not in the list of libraries is not there. */
static void test_libraries (void) {
  static const struct {
    unsigned libraries;
    const char *code, *want; /* "": it runs */
  } rows[] = {{MT_VM_TABLE,
               "assert(not (string or math or utf8 or coroutine or tile or load))", ""},
              {MT_VM_TABLE, "return ('x'):rep(2)", "attempt to index a string value"},
              {MT_VM_TABLE, "return table.concat { 1, 2 }", ""},
              {MT_VM_TABLE, "require 'moontile'", "there is no \"moontile\""},
              {MT_VM_MOONTILE, "return require 'moontile'.layout(4) == tile.layout(4)",
               ""},
              {MT_VM_MOONTILE,
               "return tile.svg(tile.layout { 2, 2 }), tostring(tile.layout(4))", ""},
              {MT_VM_MATH, "return math.sqrt(4) + math.random(3)", ""},
              {MT_VM_USUAL, "load 'return 1'", "nil value (global 'load')"},
              {MT_VM_LOAD, "return assert(load('return ...'))(1)", ""},
              {MT_VM_LOAD, "return assert(load('x y', 'mine'))",
               "mine:1: syntax error near 'y'"},
              {MT_VM_LOAD, "return assert(load('\\27Lua', 'b', 'b'))",
               "attempt to load a binary"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const mt_vm_options o = {.size = sizeof o, .libraries = rows[i].libraries};
    mt_vm *v = open_vm(&o);
    const char *got = run_vm(v, rows[i].code);
    CHECK(rows[i].want[0] ? strstr(got, rows[i].want) != NULL : got[0] == '\0', "%s: %s",
          rows[i].code, got);
    mt_vm_close(v);
  }
}

void test_options (const char *dir) {
  test_libraries();
  test_refused();
  test_no_memory();
  test_no_memory_in_calls();
  test_files(dir);
}
