#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "insitu/workers/plugin_seat.hpp"
#include "offload/actions/plugin_host.hpp"

namespace halcyon::insitu {

/// Runs each plugin of a server in a worker process of its own: starts it, sends it runs, and ends it when one takes
/// longer than the action's `timeout`. A worker that ended is started anew for the next run.
///
/// Threads: a thread of its own starts workers, hears them, and watches the clock; it lives as long as the workers,
/// since the system ends them with it. A run for a worker that waits is sent by post() itself. One lock guards all.
class plugin_workers final : public offload::plugin_host {
  public:
    /// `document`: the session's, frozen. `program`: the worker's; "" the one beside this program, or what
    /// HALCYON_WORKER names.
    explicit plugin_workers(descriptor document, std::string program = {});
    ~plugin_workers() override;

    result<void> begin(surroundings where) override;
    void post(task what, std::function<void(const outcome&)> tell) override;
    std::vector<std::string> finish() override;

  private:
    void run();
    void set_clock();
    void wake() const;

    std::string program_;
    descriptor document_, wake_, clock_;
    surroundings where_;
    std::mutex mutex_;
    std::condition_variable changed_;                         ///< a worker has loaded its plugin, or one has ended
    std::map<uint32_t, std::unique_ptr<plugin_seat>> seats_;  ///< by number of the action
    bool ending_ = false, stopping_ = false;
    int64_t clock_set_ns_ = 0;
    std::thread thread_;
};

/// The installed program. Failure (unavailable): there is none; where it was looked for.
result<std::string> find_worker(const std::string& named);

}  // namespace halcyon::insitu
