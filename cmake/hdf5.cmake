# halcyon::hdf5_serial: the serial HDF5, for the store module and the view.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5_SERIAL REQUIRED IMPORTED_TARGET hdf5-serial)
find_library(HDF5_SERIAL_HL NAMES hdf5_serial_hl hdf5_hl HINTS ${HDF5_SERIAL_LIBRARY_DIRS} REQUIRED)
add_library(halcyon::hdf5_serial INTERFACE IMPORTED)
target_link_libraries(halcyon::hdf5_serial INTERFACE ${HDF5_SERIAL_HL} PkgConfig::HDF5_SERIAL)
