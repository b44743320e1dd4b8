# mutants.cmake: the source of a family of kernels with one mistake each, from a list of mutants.
# SPDX-License-Identifier: MIT
#
# cmake -D ROOT=DIR -D LIST=NAME_mutants.cmake -D FOLDER=DIR -P mutants.cmake writes FOLDER/NAME.cuh
# for each mutant, and FOLDER/mutants.inc, which includes them. The list says
#   KERNELS  the folder of the headers, in kernels
#   MAIN     the header of the family, GUARDS those of all of its headers, ROWS what names its rows
#   source   which header the next mutants change
#   mutant   name; the row that shows it; what the test reports, where ", not " is a wrong result and
#            "all wait" a deadlock; a text of the header, and what stands there instead
# A text that is not in the header exactly once is an error.

set(INCLUDES "")
set(TABLE "")

function(source name)
  file(READ ${ROOT}/kernels/${KERNELS}/${name} text)
  string(LENGTH "${text}" length)
  set(SOURCE_TEXT "${text}" PARENT_SCOPE)
  set(SOURCE_LENGTH ${length} PARENT_SCOPE)
  set(SOURCE ${name} PARENT_SCOPE)
endfunction()

function(mutant name kernel told text instead)
  string(REPLACE "${text}" "" without "${SOURCE_TEXT}")
  string(LENGTH "${without}" left)
  string(LENGTH "${text}" length)
  math(EXPR gone "${SOURCE_LENGTH} - ${left}")
  if(NOT gone EQUAL length)
    message(FATAL_ERROR "mutant ${name}: its text is not in ${SOURCE} exactly once:\n${text}")
  endif()
  string(REPLACE "${text}" "${instead}" mutated "${SOURCE_TEXT}")
  file(WRITE ${FOLDER}/${name}.cuh.new "${mutated}")
  file(COPY_FILE ${FOLDER}/${name}.cuh.new ${FOLDER}/${name}.cuh ONLY_IF_DIFFERENT)
  file(REMOVE ${FOLDER}/${name}.cuh.new)
  list(TRANSFORM GUARDS PREPEND "#undef " OUTPUT_VARIABLE guards)
  list(JOIN guards "\n" guards)
  string(APPEND INCLUDES "\nMT_MUTANT_BEGIN(${name})\n${guards}\n#define mt mutant_${name}\n"
                         "#include \"${name}.cuh\"\n#include \"${MAIN}\"\n#include \"${ROWS}\"\n"
                         "#undef mt\nMT_MUTANT_END(${name}, ${kernel})\n")
  string(APPEND TABLE "MT_MUTANT(${name}, ${kernel}, \"${told}\")\n")
  set(INCLUDES "${INCLUDES}" PARENT_SCOPE)
  set(TABLE "${TABLE}" PARENT_SCOPE)
endfunction()

include(${LIST})
file(WRITE ${FOLDER}/mutants.inc "${INCLUDES}\n#define MT_MUTANTS \\\n")
string(REPLACE "\n" " \\\n" TABLE "${TABLE}")
file(APPEND ${FOLDER}/mutants.inc "${TABLE}\n")
