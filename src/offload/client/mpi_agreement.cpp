#include "offload/client/mpi_agreement.hpp"

#include <climits>
#include <cstring>
#include <sstream>

#include "base/node_identity.hpp"

namespace halcyon::offload {

int communicator::rank() const {
    int r = 0;
    MPI_Comm_rank(comm_, &r);
    return r;
}

int communicator::size() const {
    int n = 0;
    MPI_Comm_size(comm_, &n);
    return n;
}

void communicator::reset() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

communicator node_of(MPI_Comm all) {
    MPI_Comm shared = MPI_COMM_NULL;
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    const communicator candidates(shared);
    const node_identity me = node_identity::of_this_process();
    std::vector<node_identity> everybody(static_cast<size_t>(candidates.size()));
    MPI_Allgather(&me, sizeof me, MPI_BYTE, everybody.data(), sizeof me, MPI_BYTE, shared);
    int color = 0;
    while (!(everybody[static_cast<size_t>(color)] == me)) ++color;
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split(shared, color, candidates.rank(), &node);
    return communicator(node);
}

std::string broadcast(MPI_Comm comm, int root, const std::string& text) {
    auto length = static_cast<uint64_t>(text.size());
    MPI_Bcast(&length, 1, MPI_UINT64_T, root, comm);
    std::string all = text;
    all.resize(length);
    MPI_Bcast(all.data(), static_cast<int>(length), MPI_BYTE, root, comm);
    return all;
}

std::vector<std::string> gather(MPI_Comm comm, const std::string& text) {
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<size_t>(size)), begins(static_cast<size_t>(size));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
    int total = 0;
    for (size_t i = 0; i < lengths.size() && rank == 0; ++i) {
        begins[i] = total;
        total += lengths[i];
    }
    std::string all(static_cast<size_t>(total), '\0');
    MPI_Gatherv(text.data(), length, MPI_BYTE, all.data(), lengths.data(), begins.data(), MPI_BYTE, 0, comm);
    std::vector<std::string> texts;
    for (size_t i = 0; i < lengths.size() && rank == 0; ++i) texts.push_back(all.substr(begins[i], lengths[i]));
    return texts;
}

std::vector<std::string> gather_to_all(MPI_Comm comm, const std::string& text) {
    std::string lines;
    for (const std::string& one : gather(comm, text)) lines += one + '\n';
    std::istringstream all(broadcast(comm, 0, lines));
    std::vector<std::string> texts;
    for (std::string line; std::getline(all, line);) texts.push_back(line);
    return texts;
}

result<void> agree(MPI_Comm comm, const result<void>& mine, naming whom) {
    int rank = 0, first = INT_MAX;
    MPI_Comm_rank(comm, &rank);
    const int failing = mine ? INT_MAX : rank;
    MPI_Allreduce(&failing, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == INT_MAX) return {};
    int kind[2] = {mine ? 0 : static_cast<int>(mine.why().kind), mine ? 0 : mine.why().system_errno};
    MPI_Bcast(kind, 2, MPI_INT, first, comm);
    // A wrong configuration is nobody's fault in particular.
    std::string why = mine ? std::string() : mine.why().message;
    if (rank == first && whom == naming::rank && mine.why().kind != error_kind::config)
        why += " (rank " + std::to_string(rank) + " on " + host_name() + ")";
    return failure{static_cast<error_kind>(kind[0]), broadcast(comm, first, why), kind[1]};
}

}  // namespace halcyon::offload
