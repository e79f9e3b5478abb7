# Helpers that every folder uses: one function per kind of target.

# Headers are included as "gloveport/<folder>/<file>.h", in the tree as after installation.
set(GLOVEPORT_INCLUDE_ROOT ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${GLOVEPORT_INCLUDE_ROOT})
file(CREATE_LINK ${CMAKE_SOURCE_DIR} ${GLOVEPORT_INCLUDE_ROOT}/gloveport SYMBOLIC)

add_library(gloveport_flags INTERFACE)
target_compile_features(gloveport_flags INTERFACE cxx_std_20)
# Warnings are errors only where a preset sets CMAKE_COMPILE_WARNING_AS_ERROR.
target_compile_options(gloveport_flags INTERFACE
  $<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Wno-missing-field-initializers>)

# gloveport_library(base SOURCES a.cc b.cc DEPS gloveport::wire fmt::fmt [PRIVATE_DEPS x])
# makes target gloveport_base, alias gloveport::base.
function(gloveport_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  set(target gloveport_${name})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:gloveport_flags> ${ARG_PRIVATE_DEPS})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(gloveport::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${GLOVEPORT_INCLUDE_ROOT}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${ARG_DEPS})
  set_property(GLOBAL APPEND PROPERTY GLOVEPORT_TARGETS ${target})
endfunction()

# gloveport_test(name SOURCES a_test.cc DEPS gloveport::wire): a GoogleTest program, one ctest case.
function(gloveport_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(GLOVEPORT_SANITIZE)
    math(EXPR ARG_TIMEOUT "5 * ${ARG_TIMEOUT}")  # that build is several times slower
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${GLOVEPORT_INCLUDE_ROOT})
  target_link_libraries(${name} PRIVATE gloveport_flags ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE GLOVEPORT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/sanitize.cmake)
