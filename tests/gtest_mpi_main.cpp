#include <gtest/gtest.h>
#include <mpi.h>

#include "skipped_exit_code.hpp"

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    MPI_Init(&argc, &argv);
    int code = halcyon::testing::exit_code(RUN_ALL_TESTS());
    // The launcher reports one code for all ranks: let it be the worst. 1 (failed) must win over 77 (skipped).
    const int here[] = {code != 0 && code != 77, code == 77};
    int anywhere[2] = {};
    MPI_Allreduce(here, anywhere, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (anywhere[0] != 0) {
        code = 1;
    } else if (anywhere[1] != 0) {
        code = 77;
    }
    MPI_Finalize();
    return code;
}
