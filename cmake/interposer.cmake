# halcyon_interposer(<target>): a shared library of calls/wrappers, to be preloaded. It depends on nothing but the C library
# and shows nothing but the functions that it stands in front of, and those by which libhalcyon asks for forecasts and
# for the name of its job: an exported symbol of C++'s run time would capture the application's own. The versions of some
# functions (VERSION in calls/record/table.def) are names that the linker must be given.
set(table ${PROJECT_SOURCE_DIR}/src/calls/record/table.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} versions REGEX "^VERSION")
list(TRANSFORM versions REPLACE "^[^\"]*\"([^\"]+)\".*" "\\1")
list(REMOVE_DUPLICATES versions)
string(JOIN " { };\n" map ${versions})
string(APPEND map " { local: halcyon_*; };\nHALCYON_IO_1 { global: halcyon_io_forecast; halcyon_io_job; };\n")
set(HALCYON_VERSIONS ${PROJECT_BINARY_DIR}/interposed_versions.map)
file(CONFIGURE OUTPUT ${HALCYON_VERSIONS} CONTENT "${map}" @ONLY)
function(halcyon_interposer target)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  target_link_libraries(${target} PRIVATE halcyon_calls)
  target_link_options(${target} PRIVATE
    -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,-z,nodelete)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_link_options(${target} PRIVATE -Wl,--version-script=${HALCYON_VERSIONS})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${HALCYON_VERSIONS})
  endif()
endfunction()
