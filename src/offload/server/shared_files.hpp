#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>

#include "base/error.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// What became of an offer.
struct shared_outcome {
    /// Of the offered ones, from the first: those of the file. 0 and no failure: a server was not ready; 0 and a
    /// failure: of iterations that only other servers have.
    size_t iterations = 0;
    result<file_report> report = file_report{};
    bool try_again = false;            ///< after a failure: all servers will
    int64_t begin_ns = 0, end_ns = 0;  ///< real time
};

/// One server's share of a file that all servers of the world write together. The functions are called on the thread
/// that writes.
struct shared_offer {
    uint32_t store = 0;
    file_job job;                             ///< iterations and blocks of this server
    result<void> prepared;                    ///< failure: this server cannot take part, so the file fails for all
    int64_t give_up_ns = 0;                   ///< monotonic time after which a failing file is not tried again
    std::recursive_mutex* library = nullptr;  ///< held by whoever uses HDF5: it may be the one of this node's store
    std::function<result<void>(const shared_file&)> lay_out;
    std::function<result<void>(std::span<const int64_t>)> publish_parts;
    std::function<void()> published;
    std::function<void(const shared_outcome&)> done;  ///< called once, unless the offer was withdrawn
};

/// Files that all servers of a world write together: one for each group of iterations, when all have it complete.
/// Implemented over MPI in `programs`; a server started alone has none.
///
/// When every server that serves clients has made an offer for a store, the file is written from the first iteration of
/// the offers to the last one that all have. Whoever offered more keeps the rest and offers it again.
class shared_files {
  public:
    virtual ~shared_files() = default;

    /// This server has clients: from now on no file is written without it. `wanted` is told, on another thread, when
    /// some server wants all iterations of a store through `iteration` in a file soon.
    virtual void serve(std::function<void(uint32_t store, int64_t iteration)> wanted) = 0;
    /// Somebody here waits for `iteration`: tells all servers, this one too.
    virtual void want(uint32_t store, int64_t iteration) = 0;
    /// At most one offer for each store at a time. Returns at once.
    virtual void offer(shared_offer what) = 0;
    /// Takes the offer back. False: too late, `done` will be called.
    virtual bool withdraw(uint32_t store) = 0;
    /// This server has nothing to store any more; no `wanted` is under way on return.
    virtual void leave() = 0;
};

}  // namespace halcyon::offload
