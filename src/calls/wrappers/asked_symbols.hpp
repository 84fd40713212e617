#pragma once

#include <string_view>

#include "calls/wrappers/hdf5_questions.hpp"

namespace halcyon::calls {

/// What we ask the application's libraries ourselves (mpi_library.hpp, hdf5_library.hpp).
inline constexpr std::string_view asked_symbols[] = {"PMPI_Comm_rank",
                                                     "PMPI_Comm_size",
                                                     "PMPI_Error_class",
                                                     "PMPI_File_f2c",
                                                     "PMPI_File_get_byte_offset",
                                                     "PMPI_File_get_info",
                                                     "PMPI_File_get_position",
                                                     "PMPI_Get_elements_x",
                                                     "PMPI_Get_library_version",
                                                     "PMPI_Info_free",
                                                     "PMPI_Info_get",
                                                     "PMPI_Info_get_nkeys",
                                                     "PMPI_Info_get_nthkey",
                                                     "PMPI_Initialized",
                                                     "PMPI_Type_size_x",
#define HALCYON_HDF5_NAME(symbol, result, parameters) #symbol,
                                                     HALCYON_HDF5_QUESTIONS(HALCYON_HDF5_NAME)
#undef HALCYON_HDF5_NAME
};

}  // namespace halcyon::calls
