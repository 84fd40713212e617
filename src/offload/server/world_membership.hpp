#pragma once

#include <utility>

#include "base/error.hpp"
#include "offload/model/model.hpp"
#include "offload/server/job_events.hpp"
#include "offload/server/shared_files.hpp"

namespace halcyon::offload {

/// A server's part in the world of all servers of its job, where it has one: as long as this lives, the others may call
/// it. It ends the calls before anything that they use goes.
class world_membership {
  public:
    /// Null: there is no such world, or it cannot write files together.
    world_membership(job_events* job, shared_files* files) : job_(job), files_(files) {}
    world_membership(world_membership&& from) noexcept
        : job_(std::exchange(from.job_, nullptr)), files_(std::exchange(from.files_, nullptr)) {}
    world_membership& operator=(world_membership&&) = delete;
    ~world_membership() {
        leave_files();
        if (job_ != nullptr) job_->on_event({});
    }

    /// Failure (config): `data` asks for what takes such a world. A server that takes over from one of a world has no
    /// world, but the blocks have to be stored.
    static result<void> check(const model& data, const job_events* job, const shared_files* files, bool takes_over);

    /// Nothing is left to store here.
    void leave_files() {
        if (files_ != nullptr) files_->leave();
    }
    /// As job_events::finish().
    [[nodiscard]] bool finish(int64_t events_taken) { return job_ == nullptr || job_->finish(events_taken); }

  private:
    job_events* job_;
    shared_files* files_;
};

}  // namespace halcyon::offload
