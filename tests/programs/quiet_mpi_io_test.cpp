// What stands between the parallel HDF5 and MPI-IO: what it is told, and what it tells.

#include "programs/shared_file/quiet_mpi_io.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace {

/// Zeros that take no memory.
class zeros {
  public:
    explicit zeros(size_t bytes)
        : bytes_(bytes), at_(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~zeros() {
        if (at_ != MAP_FAILED) munmap(at_, bytes_);
    }
    zeros(const zeros&) = delete;
    zeros& operator=(const zeros&) = delete;
    [[nodiscard]] const void* data() const { return at_; }

  private:
    size_t bytes_;
    void* at_;
};

/// Bytes that a write of `count` times 1 GiB to `path` is told to have written; -1 when it returned an error.
MPI_Count told_of_gibibytes(const char* path, int count) {
    constexpr int gibibyte = 1 << 30;
    const zeros data(static_cast<size_t>(gibibyte) * static_cast<size_t>(count));
    MPI_Datatype all = MPI_DATATYPE_NULL, one = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(gibibyte, MPI_BYTE, &one);
    MPI_Type_contiguous(count, one, &all);
    MPI_Type_commit(&all);
    MPI_File file = MPI_FILE_NULL;
    EXPECT_EQ(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &file), MPI_SUCCESS);
    MPI_Status status;
    const int outcome = MPI_File_write_at(file, 0, data.data(), 1, all, &status);
    MPI_Count bytes = -1;
    if (outcome == MPI_SUCCESS) MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    MPI_File_close(&file);
    MPI_Type_free(&all);
    MPI_Type_free(&one);
    return bytes;
}

TEST(quiet_mpi_io, a_write_of_more_than_2_gibibytes_is_told_in_full) {
    const halcyon::quiet_mpi_io io("/dev/null");
    EXPECT_EQ(told_of_gibibytes("/dev/null", 3), MPI_Count{3} << 30);
    EXPECT_TRUE(io.outcome().ok()) << io.outcome().why().message;
}

TEST(quiet_mpi_io, such_a_write_that_fails_is_told_as_done_and_kept) {
    const halcyon::quiet_mpi_io io("/dev/full");
    EXPECT_EQ(told_of_gibibytes("/dev/full", 3), MPI_Count{3} << 30);
    ASSERT_FALSE(io.outcome().ok());
    EXPECT_NE(io.outcome().why().message.find("/dev/full: cannot write"), std::string::npos)
        << io.outcome().why().message;
}

}  // namespace
