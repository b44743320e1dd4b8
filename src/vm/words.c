/*
** words.c - what people write who know another language, and how it is written here.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "vm/vm.h"

const char *vm_word (const char *name, bool tile) {
  static const struct {
    const char *name, *here;
  } rows[] = {
      {"None", "nil"},
      {"null", "nil"},
      {"NULL", "nil"},
      {"undefined", "nil"},
      {"True", "true"},
      {"False", "false"},
      {"len", "#x"},
      {"range", "for i = 0, n - 1 do ... end"},
      {"enumerate", "for i, x in ipairs(t) do ... end"},
      {"str", "tostring(x)"},
      {"int", "x // 1, or math.tointeger(x)"},
      {"float", "x + 0.0, or tonumber(text)"},
      {"printf", "print(string.format(...))"},
      {"console", "print(...)"},
      {"abs", "math.abs(x)"},
      {"min", "math.min(x, y)"},
      {"max", "math.max(x, y)"},
      {"sqrt", "math.sqrt(x)"},
      {"switch", "if x == 1 then ... elseif x == 2 then ... end"},
      {"try", "local ok, message = pcall(f)"},
      {"catch", "local ok, message = pcall(f)"},
      {"raise", "error(\"text\")"},
      {"throw", "error(\"text\")"},
      {"Layout", "tile.layout"},
      {"Tensor", "tile.tensor"},
      {"layout", "tile.layout"},
      {"tensor", "tile.tensor"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(name, rows[i].name) == 0)
      return tile || strncmp(rows[i].here, "tile.", 5) != 0 ? rows[i].here : NULL;
  return NULL;
}

/* What the parser said, what is in the line; the first row counts. */
static const struct {
  const char *said, *written, *advice;
} lines[] = {
    {"near '+'", "+=", "there is no += here: x = x + y"},
    {"near '-'", "-=", "there is no -= here: x = x - y"},
    {"near '*'", "*=", "there is no *= here: x = x * y"},
    {"near '+'", "++", "there is no ++ here: x = x + 1"},
    {"near '!'", "!=", "what differs is x ~= y here"},
    {"near '!'", "!", "not x, here"},
    {"near '&'", "&&", "x and y, here"},
    {"near '|'", "||", "x or y, here"},
    {"near '?'", "?", "x and y or z, here"},
    {"')' expected near ','", ",", "a tuple is a table here: {4, 8}"},
    {"')' expected near '='", "=",
     "names of arguments go into a table, f{ x = 3 }; == compares"},
    {"'then' expected near '='", "=", "= sets, == compares: if x == 3 then ... end"},
    {"'do' expected near '='", "=", "= sets, == compares: while x == 3 do ... end"},
    {"near '='", ") =", "an element is set by T[{1, 2}] = 3"},
    {"near 'to'", "for ", "for i = first, last do ... end"},
    {"']' expected near ':'", "[", "a part of a tensor is T(tile._, 1), here"},
    {"near ':'", ":", "if x then ... end, while x do ... end, function f(x) ... end"},
    {"near '['", "[", "a list is a table here: {1, 2, 3}"},
    {"near '{'", "{", "a block has no braces here: if x then ... end"},
    {"'then' expected near 'else'", "if ", "x and y or z, here"},
    {"syntax error near", "elif ", "elseif x then"},
    {"syntax error near", "def ", "function f(x) ... end"},
    {"syntax error near", "lambda ", "function(x) return x end"},
    {"syntax error near", "let ", "local x = 3"},
    {"syntax error near", "var ", "local x = 3"},
    {"syntax error near", "const ", "local x <const> = 3"},
    {"syntax error near", "int ", "local x = 3"},
    {"syntax error near", "auto ", "local x = 3"},
    {"syntax error near", "float ", "local x = 3"},
    {"function arguments expected", ":", "a method is called: A:size()"},
    {"unfinished string", "", "a text ends on its line; [[...]] goes on over lines"},
    {"'do' expected", "", "a loop begins its block by do: while x do ... end"},
    {"'then' expected", "", "if and elseif begin their block by then: if x then ... end"},
    {"near 'moontile'", "import", "local tile = require \"moontile\""},
    {"near '#'", "#", "a comment begins with --"},
    {"near '//'", "//", "a comment begins with --"},
    {"near '/'", "//", "a comment begins with --"},
    {"near '<\\255>'", "", "the text is no UTF-8: is it UTF-16?"},
    {"near '<\\254>'", "", "the text is no UTF-8: is it UTF-16?"},
};

const char *vm_writing (const char *said, const char *line) {
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (strstr(said, lines[i].said) && strstr(line, lines[i].written))
      return lines[i].advice;
  return NULL;
}
