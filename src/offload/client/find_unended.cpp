#include "offload/client/find_unended.hpp"

#include <array>

namespace halcyon::offload {

result<std::optional<unended_iterations>> find_unended(const communicator& all, const communicator& node,
                                                       int node_index, const ended_iterations& own) {
    // Iterations, and whether a client stores itself.
    std::array<int64_t, 2> most{own.count, own.stores_itself ? 1 : 0}, most_of_node = most;
    struct {
        long iteration;
        int rank;
    } first{own.first_unmarked, node.rank()};
    const auto reduce = [](void* values, int count, MPI_Datatype type, MPI_Op how, const communicator& over) {
        return outcome_of(MPI_Allreduce(MPI_IN_PLACE, values, count, type, how, over.get()), "MPI_Allreduce");
    };
    if (auto done = reduce(most.data(), 2, MPI_INT64_T, MPI_MAX, all); !done) return done.why();
    if (auto done = reduce(most_of_node.data(), 2, MPI_INT64_T, MPI_MAX, node); !done) return done.why();
    if (auto done = reduce(&first, 1, MPI_LONG_INT, MPI_MINLOC, node); !done) return done.why();
    const auto [end, somebody_alone] = most;
    const auto [end_of_node, node_alone] = most_of_node;
    std::optional<unended_iterations> found;
    if (node_alone != 0 && own.first_unmarked < end)
        found = {own.first_unmarked, end, "rank " + std::to_string(all.rank()), first.rank == node.rank()};
    else if (node_alone == 0 && somebody_alone != 0 && node.rank() == 0 && end_of_node < end)
        found = {end_of_node, end, "node " + std::to_string(node_index), true};
    return found;
}

}  // namespace halcyon::offload
