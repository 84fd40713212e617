# zstd as an archive: libhalcyon-io may depend on nothing but the C library.
find_library(HALCYON_ZSTD_ARCHIVE NAMES libzstd.a REQUIRED)
find_path(HALCYON_ZSTD_INCLUDE NAMES zstd.h REQUIRED)
add_library(halcyon::zstd_static INTERFACE IMPORTED)
target_include_directories(halcyon::zstd_static INTERFACE ${HALCYON_ZSTD_INCLUDE})
target_link_libraries(halcyon::zstd_static INTERFACE ${HALCYON_ZSTD_ARCHIVE})
