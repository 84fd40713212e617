# halcyon_interposer(<target>): a shared library of calls/wrappers, to be preloaded. It depends on nothing but the C library
# and shows nothing but the functions that it stands in front of: an exported symbol of C++'s run time would capture the
# application's own. Some functions exist in two versions (calls/wrappers/versions.hpp).
set(HALCYON_OLD_VERSIONS ${PROJECT_SOURCE_DIR}/src/programs/io/old_versions.map)
function(halcyon_interposer target)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  target_link_libraries(${target} PRIVATE halcyon_calls)
  target_link_options(${target} PRIVATE
    -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,-z,nodelete)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_link_options(${target} PRIVATE -Wl,--version-script=${HALCYON_OLD_VERSIONS})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${HALCYON_OLD_VERSIONS})
  endif()
endfunction()
