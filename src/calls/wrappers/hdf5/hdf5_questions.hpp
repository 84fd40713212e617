#pragma once

// clang-format off
/// What we ask of a library of HDF5: ask(symbol, result, parameters).
#define HALCYON_HDF5_QUESTIONS(ask)                                                        \
    ask(H5get_libversion, int, (unsigned* major, unsigned* minor, unsigned* release))      \
    ask(H5Iget_type, int, (int64_t id))                                                    \
    ask(H5Fget_name, int64_t, (int64_t id, char* out, size_t room))                        \
    ask(H5Dget_space, int64_t, (int64_t dataset))                                          \
    ask(H5Aget_space, int64_t, (int64_t attribute))                                        \
    ask(H5Sget_simple_extent_npoints, int64_t, (int64_t space))                            \
    ask(H5Sget_select_npoints, int64_t, (int64_t space))                                   \
    ask(H5Sclose, int, (int64_t space))                                                    \
    ask(H5Tget_size, size_t, (int64_t type))                                               \
    ask(H5Pget_alignment, int, (int64_t access, uint64_t* threshold, uint64_t* alignment)) \
    ask(H5Pget_layout, int, (int64_t creation))                                            \
    ask(H5Pget_chunk, int, (int64_t creation, int most, uint64_t* dimensions))             \
    ask(H5Pget_dxpl_mpio, int, (int64_t properties, int* mode))
// clang-format on
