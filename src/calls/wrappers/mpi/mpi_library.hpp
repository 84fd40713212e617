#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "calls/wrappers/wrapper.hpp"

/// The MPI library of the process, whichever it is, without its header. What it hands out is opaque: Open MPI's handles
/// are pointers, MPICH's are ints (in the lower half of a register or of a word; its MPI_File alone is a pointer).
/// Everything is asked through the profiling interface (PMPI), which nobody stands in front of.
namespace halcyon::calls::mpi {

using handle = void*;
enum class language : uint8_t { c, fortran };

constexpr int success = 0;

/// True with Open MPI, false with MPICH and its descendants.
bool open_mpi();

/// False with the standard ABI of MPI 5, whatever library it is of: its handles, constants and statuses are others, and
/// nothing here reads them. The calls of such a program are not recorded, which this tells once.
bool handles_are_known();

/// Asks the library something; -1 where it lacks the function, else what that returned. No own_work: the library goes
/// on with the application's messages meanwhile, and a signal's handler may come. Their calls are what they always are:
/// on sockets, which nobody records, or on files.
template <class... Parameters>
int ask(int (*function)(Parameters...), std::type_identity_t<Parameters>... arguments) {
    return function == nullptr ? -1 : function(arguments...);
}
#define HALCYON_PMPI(symbol, parameters) HALCYON_FOREIGN(PMPI_##symbol, int, parameters)

/// The number by which tables know a handle.
uint64_t key_of(handle value);

handle communicator_from_fortran(int value);
handle type_from_fortran(int value);
handle request_from_fortran(int value);
handle file_from_fortran(int value);
handle info_from_fortran(int value);
int fortran_info(handle value);

handle world();
/// MPI_BYTE.
handle byte_type();
/// MPI_INT64_T.
handle int64_type();
/// MPI_MAX and MPI_SUM.
handle maximum();
handle sum_of_all();
/// MPI_INFO_NULL.
handle null_info();
/// MPI_ERRORS_RETURN.
handle errors_return();

/// Bytes of data of one element of a type; none where it is not known.
int64_t bytes_of_type(handle type);
bool is_byte(handle type);

/// Bytes that were transferred, by a status that the library filled in; none where it does not tell.
int64_t bytes_of_status(const void* status);
size_t status_bytes();

/// True for MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
bool ignores(const void* status, language spoken);

/// The class of an error that a function returned, for call_record::error.
uint16_t class_of_error(int code);

/// Room for a status of any library.
struct alignas(16) status_room {
    unsigned char bytes[64];
};

}  // namespace halcyon::calls::mpi
