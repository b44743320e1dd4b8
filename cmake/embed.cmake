# embed.cmake: writes the Lua files of DIR into the C file OUT, as the table mt_embedded.
# SPDX-License-Identifier: MIT
# init.lua is the module "moontile", NAME.lua is "moontile.NAME", FOLDER/NAME.lua is
# "moontile.FOLDER.NAME"; the last row is empty.

file(GLOB_RECURSE files RELATIVE ${DIR} ${DIR}/*.lua)
list(SORT files)
set(arrays "")
set(rows "")
foreach(file IN LISTS files)
  string(REGEX REPLACE "[.]lua$" "" name ${file})
  string(REPLACE "/" "." module ${name})
  string(REPLACE "/" "_" array ${name})
  file(READ ${DIR}/${file} hex HEX)
  file(SIZE ${DIR}/${file} size)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND arrays "static const unsigned char text_${array}[] = {\n${hex}0 };\n")
  if(name STREQUAL "init")
    set(module moontile)
  else()
    set(module moontile.${module})
  endif()
  string(APPEND rows "  { \"${module}\", text_${array}, ${size} },\n")
endforeach()

file(WRITE ${OUT} "/* moontile_embed.c - made by cmake/embed.cmake from lua/moontile. */
#include <stddef.h>

struct mt_embedded { const char *name; const unsigned char *text; size_t size; };
extern const struct mt_embedded mt_embedded[];

${arrays}
const struct mt_embedded mt_embedded[] = {
${rows}  { 0, 0, 0 }
};
")
