#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// Keeps the view of the run's files up to date while the run goes on: on the first node, at the pace of the
/// configuration, and no faster than views can be made beside everything else.
///
/// Threads: the event loop alone calls it; views are made on the pool, one at a time, and the outcome comes back
/// through the inbox.
class view_refresh {
  public:
    /// On node `node` of `nodes`.
    view_refresh(const model& data, int node, int nodes, output_writer& output, journal& notes, inbox& news,
                 worker_pool& workers);

    /// There is something new to show.
    void mark_stale() { stale_ = true; }
    void rebuild_if_due();
    /// How long until the next view is due, but no more than `longest_ns`.
    [[nodiscard]] int64_t due_in_ns(int64_t longest_ns) const;
    /// The last view, on the calling thread. `of_all`: of every writer, however far it has come; false: of iterations
    /// that all nodes have.
    result<int64_t> rebuild_at_end(bool of_all);
    /// What became of that.
    void tell_of(const result<int64_t>& outcome, const std::vector<std::string>& remarks);

  private:
    [[nodiscard]] int64_t pause_ns() const;
    [[nodiscard]] std::vector<std::string> all_writers() const;

    static constexpr int64_t share = 10;  ///< making views takes no more than this part of a thread's time

    const model& data_;
    int node_, nodes_;
    output_writer& output_;
    journal& journal_;
    inbox& inbox_;
    worker_pool& pool_;
    bool stale_ = false, running_ = false;
    int64_t took_ns_ = 0;              ///< the last one
    int64_t last_ns_ = INT64_MIN / 2;  ///< so that the first one is due as soon as there is something to see
};

}  // namespace halcyon::offload
