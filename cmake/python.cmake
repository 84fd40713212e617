# Extension modules of the Python package, through nanobind.
#
# In a development build they are put beside the package's sources, python/halcyon/, so that one path entry of .venv
# serves both; git ignores them. In a wheel they are installed into the package.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

# halcyon_python_module(<name> SOURCES … LIBRARIES …): builds halcyon.<name>.
function(halcyon_python_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  nanobind_add_module(${name} NB_STATIC NOMINSIZE ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
  halcyon_unite(${name})
  # Not our code: no warnings of it.
  target_compile_options(nanobind-static PRIVATE -w)
  set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ${HALCYON_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
  if(NOT SKBUILD)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/python/halcyon)
  endif()
  install(TARGETS ${name} LIBRARY DESTINATION halcyon COMPONENT python EXCLUDE_FROM_ALL)
endfunction()
