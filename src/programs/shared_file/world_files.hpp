#pragma once

#include <mpi.h>

#include <map>
#include <mutex>

#include "offload/client/mpi_agreement.hpp"
#include "offload/server/shared_files.hpp"
#include "programs/mpi_job_events.hpp"

namespace halcyon {

/// shared_files over MPI, between the servers of one world.
///
/// Protocol. A server that made an offer says so (`meet`, through mpi_job_events). When all servers of the session
/// have, every server of the world is told at the same place of the common order, on the thread of carry(), and they
/// meet: one all-gather says who serves clients and who has an offer. If one that serves has none (it took it back
/// meanwhile), the others get outcome 0 and come again. Otherwise those with offers write, the rest go on. So what
/// counts is said at the meeting itself, and a `meet` too many costs a round, nothing else. Events wait while a file is
/// written.
///
/// Threads: the node server's calls only touch what `mutex_` guards; MPI and HDF5 are used by the thread of carry().
class world_files final : public offload::shared_files {
  public:
    /// Collective over `world`, before carry(). Both arguments outlive it.
    world_files(MPI_Comm world, mpi_job_events& events);

    void serve(std::function<void(uint32_t store, int64_t iteration)> wanted) override;
    void want(uint32_t store, int64_t iteration) override;
    void offer(offload::shared_offer what) override;
    bool withdraw(uint32_t store) override;
    void leave() override;

  private:
    void hear(const notice& n);
    void meet(uint32_t store);

    offload::communicator world_;
    mpi_job_events& events_;

    std::mutex mutex_;
    bool serving_ = false;
    std::function<void(uint32_t, int64_t)> wanted_;
    std::map<uint32_t, int64_t> wanted_before_;  ///< what came before serve(), by store
    std::map<uint32_t, offload::shared_offer> offers_;
};

}  // namespace halcyon
