/// What copying a phase costs, and nothing else: `fast_storage BYTES PHASES`. Each rank sweeps over 8 fields of BYTES
/// in all, as a simulation does, and copies them into memory that was touched before, in one of several places in turn.
/// Rank 0 prints how long the slowest rank's copy took in each phase, in nanoseconds. Started by fast_storage.py.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr size_t fields = 8;
constexpr size_t places = 3;

using field = std::vector<float>;

void compute(field& values) {
    for (float& value : values) value = value * 0.5F + 1.0F;
}

double copy_ns(const std::array<field, fields>& from, std::array<field, fields>& to) {
    const double begin = MPI_Wtime();
    for (size_t i = 0; i < fields; ++i) std::memcpy(to[i].data(), from[i].data(), from[i].size() * sizeof(float));
    return (MPI_Wtime() - begin) * 1e9;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: fast_storage BYTES PHASES\n");
        return 2;
    }
    const size_t values = std::strtoul(arguments[1], nullptr, 10) / sizeof(float) / fields;
    const long phases = std::strtol(arguments[2], nullptr, 10);
    MPI_Init(&count, &arguments);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::array<field, fields> source;
    std::array<std::array<field, fields>, places> copies;
    for (field& one : source) one.assign(values, 1.0F);
    for (auto& copy : copies)
        for (field& one : copy) one.assign(values, 0.0F);
    for (long phase = 0; phase < phases; ++phase) {
        for (field& one : source) compute(one);
        const double own = copy_ns(source, copies[static_cast<size_t>(phase) % places]);
        double slowest = 0;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) std::printf("%.0f\n", slowest);
    }
    MPI_Finalize();
}
