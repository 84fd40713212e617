# What `cmake --install` puts where, and how outside programs find it: find_package(halcyon) and pkg-config.
#
#   include/halcyon/      headers
#   <lib>/                libhalcyon, libhalcyon-turns, libhalcyon-logfs, store modules, libhalcyon_fortran, libhalcyon_turns_fortran,
#                         libhalcyon-io, cmake/halcyon/, pkgconfig/
#   <lib>/halcyon/fortran Fortran modules: they fit one compiler
#   share/halcyon/grafana Grafana's board of coordinators
#   bin/                  halcyon-server, halcyon-server-world, halcyon-worker, halcyon-coordinator, halcyon-check, halcyon-mount,
#                         halcyon-log-agent, halcyon-cc and its like
#
# A wheel holds libraries and server inside the Python package: halcyon/lib, halcyon/bin.
include(CMakePackageConfigHelpers)

if(SKBUILD)
  set(HALCYON_INSTALL_LIB halcyon/lib)
  set(HALCYON_INSTALL_BIN halcyon/bin)
else()
  set(HALCYON_INSTALL_LIB ${CMAKE_INSTALL_LIBDIR})
  set(HALCYON_INSTALL_BIN ${CMAKE_INSTALL_BINDIR})
endif()
set(HALCYON_INSTALL_FORTRAN ${HALCYON_INSTALL_LIB}/halcyon/fortran)
cmake_path(RELATIVE_PATH HALCYON_INSTALL_LIB BASE_DIRECTORY ${HALCYON_INSTALL_BIN} OUTPUT_VARIABLE lib_from_bin)

# What a run needs, without anything to develop against: the wheel's share.
if(TARGET halcyon)
  set_target_properties(halcyon PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS halcyon EXPORT HalcyonTargets
    LIBRARY DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT python NAMELINK_COMPONENT development)
endif()
set_target_properties(halcyon_turns PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS halcyon_turns EXPORT HalcyonTurnsTargets
  LIBRARY DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT python NAMELINK_COMPONENT development)
# Programs in C and C++ link it; Python has a module of its own.
set_target_properties(halcyon_logfs_api PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS halcyon_logfs_api EXPORT HalcyonLogfsTargets
  LIBRARY DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT development NAMELINK_COMPONENT development)
foreach(program halcyon-agent halcyon-log-agent halcyon-server halcyon-server-world halcyon-check halcyon-coordinator halcyon-mount halcyon-worker)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
    # A wheel has `halcyon check`.
    set(component python)
    if(program STREQUAL "halcyon-check")
      set(component development)
    endif()
    install(TARGETS ${program} RUNTIME DESTINATION ${HALCYON_INSTALL_BIN} COMPONENT ${component})
  endif()
endforeach()
if(TARGET halcyon_slurm)
  # Slurm's own programs load it.
  set_target_properties(halcyon_slurm PROPERTIES INSTALL_RPATH "")
  install(TARGETS halcyon_slurm LIBRARY DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT python)
endif()
foreach(type hdf5 zarr)
  if(TARGET halcyon_store_${type})
    # Beside libhalcyon, where it and the server look for modules.
    install(TARGETS halcyon_store_${type} LIBRARY DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT python)
  endif()
endforeach()
if(TARGET halcyon_io)
  # What `halcyon run` preloads; it needs the C library alone.
  set_target_properties(halcyon_io PROPERTIES INSTALL_RPATH "")
  install(TARGETS halcyon_io LIBRARY DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT python)
  # For programs that are linked statically.
  install(FILES ${PROJECT_BINARY_DIR}/lib/libhalcyon-io.a ${PROJECT_BINARY_DIR}/lib/halcyon-io.link
    DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/halcyon-cc ${PROJECT_BINARY_DIR}/bin/halcyon-c++
                   ${PROJECT_BINARY_DIR}/bin/halcyon-fortran
    DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development)
endif()

# For operators of coordinators.
install(FILES ${PROJECT_SOURCE_DIR}/share/grafana/coordinator.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/halcyon/grafana COMPONENT development)

# What outside programs are built with.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/halcyon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
# halcyon_install_fortran(<target> <export set>)
function(halcyon_install_fortran target export)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
  get_target_property(modules ${target} Fortran_MODULE_DIRECTORY)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${HALCYON_INSTALL_FORTRAN}>)
  install(TARGETS ${target} EXPORT ${export}
    LIBRARY DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT development
    ARCHIVE DESTINATION ${HALCYON_INSTALL_LIB} COMPONENT development)
  install(DIRECTORY ${modules}/ DESTINATION ${HALCYON_INSTALL_FORTRAN}
    COMPONENT development FILES_MATCHING PATTERN "*.mod" PATTERN "*.smod")
endfunction()
if(TARGET halcyon_fortran)
  halcyon_install_fortran(halcyon_fortran HalcyonFortranTargets)
endif()
if(TARGET halcyon_turns_fortran)
  halcyon_install_fortran(halcyon_turns_fortran HalcyonTurnsFortranTargets)
endif()

set(HALCYON_INSTALL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/halcyon)
if(TARGET halcyon)
  # Apart, because they need no MPI.
  install(EXPORT HalcyonTurnsTargets NAMESPACE halcyon:: DESTINATION ${HALCYON_INSTALL_CMAKE} COMPONENT development)
  install(EXPORT HalcyonLogfsTargets NAMESPACE halcyon:: DESTINATION ${HALCYON_INSTALL_CMAKE} COMPONENT development)
  if(TARGET halcyon_turns_fortran)
    install(EXPORT HalcyonTurnsFortranTargets NAMESPACE halcyon:: DESTINATION ${HALCYON_INSTALL_CMAKE}
      COMPONENT development)
  endif()
  install(EXPORT HalcyonTargets NAMESPACE halcyon:: DESTINATION ${HALCYON_INSTALL_CMAKE} COMPONENT development)
  if(TARGET halcyon_fortran)
    # Apart, because only projects with Fortran switched on have what it links.
    install(EXPORT HalcyonFortranTargets NAMESPACE halcyon:: DESTINATION ${HALCYON_INSTALL_CMAKE} COMPONENT development)
  endif()
  get_target_property(halcyon_mpi_includes MPI::MPI_C INTERFACE_INCLUDE_DIRECTORIES)
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/halcyonConfig.cmake.in
    ${PROJECT_BINARY_DIR}/halcyonConfig.cmake INSTALL_DESTINATION ${HALCYON_INSTALL_CMAKE})
  # 0.x: a minor version may change the interface.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/halcyonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/halcyonConfig.cmake ${PROJECT_BINARY_DIR}/halcyonConfigVersion.cmake
    DESTINATION ${HALCYON_INSTALL_CMAKE} COMPONENT development)

  # Relocatable: ${prefix} follows from where the file lies.
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    OUTPUT_VARIABLE HALCYON_PREFIX_FROM_PC)
  # MPI's own pkg-config name: ompi-c of Open MPI, mpich of MPICH.
  set(HALCYON_PC_MPI_openmpi ompi-c)
  set(HALCYON_PC_MPI_mpich mpich)
  set(HALCYON_PC_MPI ${HALCYON_PC_MPI_${HALCYON_MPI}})
  set(HALCYON_PC_MPI_FORTRAN_openmpi ompi-fort)
  set(HALCYON_PC_MPI_FORTRAN_mpich mpich)
  set(HALCYON_PC_MPI_FORTRAN ${HALCYON_PC_MPI_FORTRAN_${HALCYON_MPI}})
  # MPICH's has no name for its Fortran library.
  set(HALCYON_PC_MPI_FORTRAN_LIBS_mpich " -lmpichfort")
  set(HALCYON_PC_MPI_FORTRAN_LIBS "${HALCYON_PC_MPI_FORTRAN_LIBS_${HALCYON_MPI}}")
  # Not all of those name the folder of their Fortran modules.
  if(TARGET halcyon_fortran)
    get_target_property(folders MPI::MPI_Fortran INTERFACE_INCLUDE_DIRECTORIES)
    list(TRANSFORM folders PREPEND " -I")
    list(JOIN folders "" HALCYON_PC_MPI_FORTRAN_FLAGS)
  endif()
  foreach(name halcyon halcyon-fortran halcyon-logfs halcyon-turns halcyon-turns-fortran)
    if(TARGET halcyon_fortran OR NOT name MATCHES "fortran")
      configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
      install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
    endif()
  endforeach()
endif()
