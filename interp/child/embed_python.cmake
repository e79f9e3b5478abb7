# Writes OUTPUT, a C++ source that holds every *.py file of FOLDER as a raw string literal.
# String literals have a length limit in the standard, so each file is cut into pieces at line ends.
file(GLOB files ${FOLDER}/*.py)
list(SORT files)
set(body "")
set(table "")
foreach(path IN LISTS files)
  get_filename_component(name ${path} NAME_WE)
  file(READ "${path}" text)
  if(text MATCHES "\\)GLOVEPORT\"")
    message(FATAL_ERROR "${path} contains the delimiter of the literal it is embedded in")
  endif()
  set(literal "")
  string(LENGTH "${text}" length)
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 8000 piece)
    string(APPEND literal "R\"GLOVEPORT(${piece})GLOVEPORT\"\n")
    math(EXPR start "${start} + 8000")
  endwhile()
  if(literal STREQUAL "")
    set(literal "\"\"")
  endif()
  string(APPEND body "constexpr char k_${name}[] =\n${literal};\n")
  string(APPEND table "    {\"${name}\", {k_${name}, sizeof k_${name} - 1}},\n")
endforeach()
file(WRITE "${OUTPUT}.new"
"// Made by embed_python.cmake from interp/child/python.
#include \"gloveport/interp/child/python_parts.h\"

namespace gloveport::child {
namespace {
${body}
constexpr PythonPart kParts[] = {
${table}};
}  // namespace

std::span<const PythonPart> PythonParts() { return kParts; }

}  // namespace gloveport::child
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
