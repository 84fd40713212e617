#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <halcyon/logfs.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
    constexpr int64_t cells = 1000, blocks = 50, steps = 3;
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string path = argc > 1 ? argv[1] : "checkpoint";

    // A number that the ranks of this run have in common, and those of no other.
    uint64_t group = static_cast<uint64_t>(std::time(nullptr));
    MPI_Bcast(&group, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    using halcyon::logfs::access;
    halcyon::logfs::file file(path, access::write,
                              {.creates = true, .rank = rank, .group = group, .data_checks = true});

    std::vector<double> block(cells);
    const auto bytes = static_cast<int64_t>(cells * sizeof(double));
    for (int64_t step = 0; step < steps; ++step) {
        // Each step writes over the one before: blocks of all ranks in turn, the worst that one file can be given.
        for (int64_t b = 0; b < blocks; ++b) {
            const int64_t number = b * ranks + rank;
            for (int64_t i = 0; i < cells; ++i)
                block[static_cast<size_t>(i)] =
                    static_cast<double>(step) + 1e-6 * static_cast<double>(number * cells + i);
            file.write(number * bytes, block);
        }
        file.sync();
        // What any rank writes from here on is later, whatever the clock of its node says.
        int64_t latest = file.propose_epoch();
        MPI_Allreduce(MPI_IN_PLACE, &latest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        file.raise_epoch(latest);
    }
    file.close();
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 0) {
        const halcyon::logfs::file whole(path, access::read);
        whole.read(whole.size() - bytes, block);
        std::printf("%lld bytes, the last value is %.6f\n", static_cast<long long>(whole.size()), block.back());
    }
    MPI_Finalize();
} catch (const halcyon::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(e.kind()));
}
