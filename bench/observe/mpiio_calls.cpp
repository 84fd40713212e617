/// One process that writes through MPI-IO into a tmpfs, block after block: prints nanoseconds per call of each. Started
/// in turn with and without the recording by mpiio_calls.py.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "bench/recorded_process.hpp"

int main(int count, char** arguments) {
    using namespace halcyon::bench;
    if (count != 4) stop("usage: mpiio_calls FILE BYTES BLOCKS");
    constexpr int calls_per_block = 1000;
    const std::vector<char> data(std::strtoul(arguments[2], nullptr, 10), 'x');
    MPI_Init(&count, &arguments);
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(MPI_COMM_SELF, arguments[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS) {
        stop("cannot open the file");
    }
    const auto write_block = [&] {
        const double begin = wall_ns();
        for (int i = 0; i < calls_per_block; ++i) {
            const auto bytes = static_cast<int>(data.size());
            if (MPI_File_write_at(file, MPI_Offset{i} * bytes, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE) !=
                MPI_SUCCESS) {
                stop("MPI_File_write_at failed");
            }
        }
        return (wall_ns() - begin) / calls_per_block;
    };
    write_block();  // the pages of the file
    for (long block = 0; block < std::strtol(arguments[3], nullptr, 10); ++block) std::printf("%.1f\n", write_block());
    MPI_File_close(&file);
    MPI_Finalize();
}
