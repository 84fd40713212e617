# halcyon::hdf5_serial: the serial HDF5, for the store module and the view.
# halcyon::hdf5_parallel: the HDF5 of the MPI in use, for files that all servers of a world write together.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
# Debian keeps both kinds side by side and calls the serial one so; elsewhere there is one, plain hdf5.
pkg_search_module(HDF5_SERIAL REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
find_library(HDF5_SERIAL_HL NAMES hdf5_serial_hl hdf5_hl HINTS ${HDF5_SERIAL_LIBRARY_DIRS} REQUIRED)
add_library(halcyon::hdf5_serial INTERFACE IMPORTED)
target_link_libraries(halcyon::hdf5_serial INTERFACE ${HDF5_SERIAL_HL} PkgConfig::HDF5_SERIAL)

# Debian keeps one for each MPI side by side; elsewhere the name of its pkg-config file has to be told. Without one
# halcyon-server-world refuses `collective: true`.
set(HALCYON_PARALLEL_HDF5 "hdf5-${HALCYON_MPI}" CACHE STRING "pkg-config name of the HDF5 built with this MPI")
pkg_check_modules(HDF5_PARALLEL IMPORTED_TARGET ${HALCYON_PARALLEL_HDF5})
if(HDF5_PARALLEL_FOUND)
  add_library(halcyon::hdf5_parallel INTERFACE IMPORTED)
  target_link_libraries(halcyon::hdf5_parallel INTERFACE PkgConfig::HDF5_PARALLEL MPI::MPI_C)
endif()
