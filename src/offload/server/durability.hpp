#pragma once

#include <cstdint>

#include "offload/model/model.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"
#include "offload/server/progress_notice.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// Syncs what is stored when clients ask for that, and says how far everything is on the device.
///
/// Threads: the event loop alone calls it, but for sync_files(); syncing takes place on the pool, once at a time, and
/// its outcome comes back through the inbox.
class durability {
  public:
    durability(const segment& shared, const model& data, const iteration_book& book, output_writer& output,
               journal& notes, loss_report& losses, progress_notice& progress, inbox& news, worker_pool& workers);

    void sync_if_wanted();
    /// At the end: whether somebody has asked, or all stores are durable anyway.
    [[nodiscard]] bool is_wanted_at_end() const;
    /// Syncs the files of this node now, on any thread; the outcome is for synced().
    [[nodiscard]] result<void> sync_files() const;
    /// The iterations up to `through` are on the device; what could not be synced counts as failed, and clients that
    /// wait for it hear so.
    void synced(int64_t through, const result<void>& outcome);

  private:
    [[nodiscard]] output_writer::writers_meant clients_that_stored() const;

    const segment& segment_;
    const model& data_;
    const iteration_book& book_;
    output_writer& output_;
    journal& journal_;
    loss_report& losses_;
    progress_notice& progress_;
    inbox& inbox_;
    worker_pool& pool_;
    bool running_ = false;
};

}  // namespace halcyon::offload
