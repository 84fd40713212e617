#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "base/contained.hpp"
#include "base/error.hpp"

namespace halcyon::offload {

/// Owns a communicator.
class communicator {
  public:
    communicator() = default;
    /// `who`: the rank by which messages name this process, -1 for its rank in `c`.
    explicit communicator(MPI_Comm c, int who = -1);
    communicator(communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), who_(other.who_) {}
    communicator& operator=(communicator&& other) noexcept {
        std::swap(comm_, other.comm_);
        std::swap(who_, other.who_);
        return *this;
    }
    ~communicator() { reset(); }

    [[nodiscard]] MPI_Comm get() const { return comm_; }
    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;
    [[nodiscard]] int who() const { return who_; }
    /// Frees it; after MPI_Finalize, which took all communicators, only forgets it.
    void reset();

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int who_ = -1;
};

/// Whether MPI can be called: between MPI_Init and MPI_Finalize.
[[nodiscard]] bool mpi_runs();

/// Failure (system): `call`, which gave `code`, did not succeed.
result<void> outcome_of(int code, const char* call);

/// Collective: a communicator of the same processes for calls of our own, whose errors are returned and never abort
/// the program. The error handler of `comm` is the application's: it is set aside for this one call, and not called.
result<communicator> own_communicator(MPI_Comm comm);

/// Collective: as MPI_Comm_split; an empty communicator for MPI_UNDEFINED. Processes keep their names.
result<communicator> split(const communicator& of, int color, int key);

/// The processes of `all` that can share a segment: one shared-memory communicator, less those in another network
/// namespace or on another kernel.
result<communicator> node_of(const communicator& all);

/// Whether the message of an agreement names the process that failed, with its host. Of agreements that hand on the
/// same failure only the first does. A wrong configuration is nobody's fault in particular.
enum class naming { rank, nobody };

/// Collective: everybody gets the failure of the lowest rank that has one. Needs no memory before all have it, so that
/// a process without memory can say so; of a message beyond 4000 bytes the rest is left out.
result<void> agree(const communicator& comm, const result<void>& mine, naming whom = naming::rank);
/// The same for processes whose names are their ranks in `comm`.
result<void> agree(MPI_Comm comm, const result<void>& mine);

/// Collective: each process takes `step`, and then all agree. No process is missing in the agreement: what a step
/// throws is its failure. A step calls no MPI, or has the same outcome on all processes with which it does.
template <class Step>
result<void> agree_after(const communicator& comm, const Step& step, naming whom = naming::rank) {
    return agree(comm, contained("", [&step]() -> result<void> { return step(); }), whom);
}

/// Collective: `text` of rank `root` becomes everybody's.
result<void> broadcast(const communicator& comm, int root, std::string& text);

/// Collective: the text of each rank, on rank 0; empty elsewhere.
result<std::vector<std::string>> gather(const communicator& comm, const std::string& text);

/// Collective: the text of each rank, on all ranks. No text may contain a new line.
result<std::vector<std::string>> gather_to_all(const communicator& comm, const std::string& text);

}  // namespace halcyon::offload
