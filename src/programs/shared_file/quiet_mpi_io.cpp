#include "programs/shared_file/quiet_mpi_io.hpp"

#include <mpi.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstdint>

namespace halcyon {
namespace {

quiet_mpi_io* watching = nullptr;

int errno_of(int status) {
    int kind = MPI_SUCCESS;
    MPI_Error_class(status, &kind);
    switch (kind) {
        case MPI_ERR_NO_SPACE:
            return ENOSPC;
        case MPI_ERR_QUOTA:
            return EDQUOT;
        case MPI_ERR_READ_ONLY:
            return EROFS;
        default:
            return EIO;
    }
}

/// ROMIO tells a full disk like any other error of the device.
bool disk_is_full(const std::string& path) {
    constexpr uint64_t next_to_nothing = uint64_t{1} << 20;
    struct statvfs disk {};
    return ::statvfs(path.c_str(), &disk) == 0 && uint64_t{disk.f_bavail} * disk.f_frsize < next_to_nothing;
}

std::string text_of(int status) {
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    MPI_Error_string(status, text, &length);
    return text;
}

}  // namespace

quiet_mpi_io::quiet_mpi_io(std::string path) : path_(std::move(path)) {
    watching = this;
}

quiet_mpi_io::~quiet_mpi_io() {
    watching = nullptr;
}

int quiet_mpi_io::take(const char* doing, int status) {
    if (status == MPI_SUCCESS || !outcome_) return MPI_SUCCESS;
    if (errno_of(status) == EIO && disk_is_full(path_))
        outcome_ = system_failure(path_ + ": cannot " + doing, ENOSPC);
    else
        outcome_ = failure{error_kind::system, path_ + ": cannot " + doing + ": " + text_of(status), errno_of(status)};
    return MPI_SUCCESS;
}

/// A write that got a part of its bytes into the file met its end.
int quiet_mpi_io::take(const char* doing, int status, int64_t bytes, int64_t written) {
    if (status == MPI_SUCCESS && written != bytes && outcome_)
        outcome_ = failure{error_kind::system,
                           path_ + ": cannot " + doing + ": " + std::to_string(written) + " of " +
                               std::to_string(bytes) + " bytes went into the file; is the disk full?",
                           ENOSPC};
    return take(doing, status);
}

}  // namespace halcyon

// ---- what HDF5 calls instead of MPI's own --------------------------------------------------------------------------

using halcyon::watching;

namespace {

using write_function = int (*)(MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*);

int write_quietly(write_function write, MPI_File file, MPI_Offset at, const void* data, int count, MPI_Datatype type,
                  MPI_Status* status) {
    if (watching == nullptr) return write(file, at, data, count, type, status);
    MPI_Status own{};
    const int outcome = write(file, at, data, count, type, &own);
    // One write may be more than an int holds: 2 GiB.
    MPI_Count size = 0, written = 0;
    MPI_Type_size_x(type, &size);
    const MPI_Count bytes = size * count;
    if (outcome == MPI_SUCCESS) MPI_Get_elements_x(&own, MPI_BYTE, &written);
    const int told = watching->take("write", outcome, bytes, written);
    // HDF5 compares what was written with what it asked for.
    if (status != MPI_STATUS_IGNORE) {
        *status = own;
        MPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    }
    return told;
}

}  // namespace

// Seen by the libraries of the program, which MPICH's header does not ask for.
#pragma GCC visibility push(default)
extern "C" {

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* data, int count, MPI_Datatype type,
                      MPI_Status* status) {
    return write_quietly(PMPI_File_write_at, file, at, data, count, type, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* data, int count, MPI_Datatype type,
                          MPI_Status* status) {
    return write_quietly(PMPI_File_write_at_all, file, at, data, count, type, status);
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
    const int outcome = PMPI_File_set_size(file, size);
    return watching == nullptr ? outcome : watching->take("set the size", outcome);
}

int MPI_File_sync(MPI_File file) {
    const int outcome = PMPI_File_sync(file);
    return watching == nullptr ? outcome : watching->take("sync", outcome);
}
}
#pragma GCC visibility pop
