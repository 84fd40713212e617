# One room = one folder of src/ = one CMake target `halcyon_<room>`, linked only with what the architecture's
# table allows. A room without sources yet is an INTERFACE target, so that the arrows are already checked.
# What needs no link, a header without a source, tests/python/house/test_includes.py checks by the same table.
set(HALCYON_ROOMS base calls policy offload insitu observe predict coordinate logfs fabric simulate models)
set(HALCYON_MAY_USE_base)
set(HALCYON_MAY_USE_calls base)
set(HALCYON_MAY_USE_policy)
set(HALCYON_MAY_USE_offload base)
set(HALCYON_MAY_USE_insitu base offload)
set(HALCYON_MAY_USE_observe base calls)
set(HALCYON_MAY_USE_predict base calls policy)
set(HALCYON_MAY_USE_coordinate base calls policy)
set(HALCYON_MAY_USE_logfs base calls)
set(HALCYON_MAY_USE_fabric base)
set(HALCYON_MAY_USE_simulate base policy fabric)
set(HALCYON_MAY_USE_models base)

# halcyon_room(<name> SOURCES … USES <rooms> LIBRARIES <outside libraries>)
function(halcyon_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  foreach(used IN LISTS ARG_USES)
    if(NOT used IN_LIST HALCYON_MAY_USE_${name} AND NOT (used STREQUAL "models" AND NOT name STREQUAL "base"))
      message(FATAL_ERROR "room '${name}' may not use room '${used}'; it may use: ${HALCYON_MAY_USE_${name}}")
    endif()
  endforeach()
  list(TRANSFORM ARG_USES PREPEND halcyon_)
  if(ARG_SOURCES)
    add_library(halcyon_${name} STATIC ${ARG_SOURCES})
    target_include_directories(halcyon_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(halcyon_${name} PUBLIC ${ARG_USES} ${ARG_LIBRARIES})
  else()
    add_library(halcyon_${name} INTERFACE)
    target_link_libraries(halcyon_${name} INTERFACE ${ARG_USES} ${ARG_LIBRARIES})
  endif()
endfunction()

# halcyon_precompile(<target>): of a target with twenty files or more. The headers of the standard library that most of
# them include, compiled once: a quarter of the work on such a file. They fit what is compiled with the same options, so
# each target has its own. scripts/lint looks at each file without them, so that a file names all headers it needs.
function(halcyon_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <charconv> <cmath> <cstddef> <cstdint> <cstring> <functional> <map> <memory> <optional>
    <set> <span> <string> <string_view> <utility> <vector>)
  halcyon_trust_precompiled(${target})
endfunction()

# halcyon_unite(<target> [<folder>…]): the files of each folder of a target, or of these alone, are compiled as one, some
# at a time: most of what each costs are the headers that all of them include. So what a file has for itself has a name of
# its own in the folder. Not for libraries of which a program takes some files alone, nor for what has options of its own.
function(halcyon_unite target)
  if(NOT HALCYON_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(groups)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(NOT source MATCHES "[.]cpp$" OR (ARGN AND NOT folder IN_LIST ARGN))
      continue()
    endif()
    list(APPEND files_in_${folder} ${source})
    list(APPEND groups ${folder})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(folder IN LISTS groups)
    list(LENGTH files_in_${folder} files)
    if(files EQUAL 1)
      continue()
    endif()
    math(EXPR units "(${files} + 7) / 8")
    set(number 0)
    foreach(source IN LISTS files_in_${folder})
      math(EXPR unit "${number} * ${units} / ${files}")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${folder}_${unit})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# halcyon_trust_precompiled(<target>): libstdc++ turns these warnings off for itself where std::string copies, and GCC
# forgets that in precompiled headers.
function(halcyon_trust_precompiled target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overread>)
endfunction()
