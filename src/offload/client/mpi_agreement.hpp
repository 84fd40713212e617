#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload {

/// Owns a communicator.
class communicator {
  public:
    communicator() = default;
    explicit communicator(MPI_Comm c) : comm_(c) {}
    communicator(communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
    communicator& operator=(communicator&& other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }
    ~communicator() { reset(); }

    [[nodiscard]] MPI_Comm get() const { return comm_; }
    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;
    void reset();

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The processes of `all` that can share a segment: one shared-memory communicator, less those in another network
/// namespace or on another kernel.
communicator node_of(MPI_Comm all);

/// Whether a message names the rank that failed: where agreements follow each other, only the last one does.
enum class naming { rank, nobody };

/// Collective: everybody gets the failure of the lowest rank that has one, with that rank and its host in
/// the message.
result<void> agree(MPI_Comm comm, const result<void>& mine, naming whom = naming::rank);

/// Collective: `text` of rank `root` for everybody.
std::string broadcast(MPI_Comm comm, int root, const std::string& text);

/// Collective: the text of each rank, on rank 0; empty elsewhere.
std::vector<std::string> gather(MPI_Comm comm, const std::string& text);

/// Collective: the text of each rank, on all ranks. No text may contain a new line.
std::vector<std::string> gather_to_all(MPI_Comm comm, const std::string& text);

}  // namespace halcyon::offload
