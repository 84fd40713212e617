#pragma once

#include <cstdint>
#include <set>

#include "offload/model/model.hpp"
#include "offload/output/run_records.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/file_work.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/idle_compression.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/iteration_pace.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"
#include "offload/server/progress_notice.hpp"
#include "offload/server/view_refresh.hpp"

namespace halcyon::offload {

/// What follows from a file that is written or given up: its blocks go back, its iterations are counted, and the mark
/// moves over those that all stores have written, in their order. It also learns from each file whether there is time
/// to compress the next.
///
/// The loop's thread alone uses it.
class settlement {
  public:
    settlement(const segment& shared, const model& data, iteration_book& book, held_blocks& held,
               const iteration_pace& pace, view_refresh& view, journal& notes, loss_report& losses,
               progress_notice& progress);

    /// `begun`: the record of the file as far as its writer knows it. `shared`: all servers wrote it together.
    void settle(const file_work& work, const result<file_report>& outcome, const file_record& begun, bool shared);
    /// Every store has written the iteration, or given it up, or there are none.
    void iteration_stored(int64_t number);
    /// Whether the next file is compressed where the configuration says `when-idle`.
    [[nodiscard]] bool compresses() const { return idle_.on(); }

  private:
    void count_written(const file_work& work, const file_report& report, const file_record& begun, bool shared);

    const segment& segment_;
    const model& data_;
    iteration_book& book_;
    held_blocks& held_;
    const iteration_pace& pace_;
    view_refresh& view_;
    journal& journal_;
    loss_report& losses_;
    progress_notice& progress_;
    idle_compression idle_;
    std::set<int64_t> stored_out_of_order_;
};

}  // namespace halcyon::offload
