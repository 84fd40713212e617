#include "offload/session/failing_mpi.hpp"

#include <mpi.h>

namespace halcyon::testing {

int collectives_left = 0;

}  // namespace halcyon::testing

namespace {

/// Whether it is the turn of this call to fail.
bool fails(MPI_Comm comm) {
    int processes = 0;
    PMPI_Comm_size(comm, &processes);
    if (processes < 2 || halcyon::testing::collectives_left == 0) return false;
    if (--halcyon::testing::collectives_left > 0) return false;
    PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return true;
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
    return fails(comm) ? MPI_ERR_OTHER : PMPI_Comm_dup(comm, made);
}
[[gnu::visibility("default")]] int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
    return fails(comm) ? MPI_ERR_OTHER : PMPI_Comm_split(comm, color, key, made);
}
[[gnu::visibility("default")]] int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                                       MPI_Comm* made) {
    return fails(comm) ? MPI_ERR_OTHER : PMPI_Comm_split_type(comm, type, key, info, made);
}
[[gnu::visibility("default")]] int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type,
                                                 MPI_Op op, MPI_Comm comm) {
    return fails(comm) ? MPI_ERR_OTHER : PMPI_Allreduce(send, receive, count, type, op, comm);
}
[[gnu::visibility("default")]] int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return fails(comm) ? MPI_ERR_OTHER : PMPI_Bcast(data, count, type, root, comm);
}
[[gnu::visibility("default")]] int MPI_Gather(const void* send, int count, MPI_Datatype type, void* receive,
                                              int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
    return fails(comm) ? MPI_ERR_OTHER
                       : PMPI_Gather(send, count, type, receive, receive_count, receive_type, root, comm);
}
[[gnu::visibility("default")]] int MPI_Gatherv(const void* send, int count, MPI_Datatype type, void* receive,
                                               const int* counts, const int* begins, MPI_Datatype receive_type,
                                               int root, MPI_Comm comm) {
    return fails(comm) ? MPI_ERR_OTHER
                       : PMPI_Gatherv(send, count, type, receive, counts, begins, receive_type, root, comm);
}
[[gnu::visibility("default")]] int MPI_Allgather(const void* send, int count, MPI_Datatype type, void* receive,
                                                 int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
    return fails(comm) ? MPI_ERR_OTHER : PMPI_Allgather(send, count, type, receive, receive_count, receive_type, comm);
}
}
