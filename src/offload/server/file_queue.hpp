#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/turn.hpp"
#include "offload/model/model.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/server/file_assembly.hpp"
#include "offload/server/file_work.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"
#include "offload/server/settlement.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// Files that this server writes alone, in the order in which they were submitted. One at a time has blocks of spill
/// files in memory, the file of an iteration waits for the early parts that it publishes, and a file that fails is
/// tried again until its time is over; then it is settled.
///
/// Threads: the event loop alone calls it; files are written on the pool, each when its turn has come, and the outcome
/// comes back through the inbox.
class file_queue {
  public:
    file_queue(const model& data, turn& turns, iteration_book& book, output_writer& output, file_assembly& assembly,
               settlement& settled, journal& notes, loss_report& losses, inbox& news, worker_pool& workers);

    void submit(const std::shared_ptr<file_work>& work);

    /// Files of this store that wait or are written.
    [[nodiscard]] size_t files_of(uint32_t store) const { return under_way_[store].files; }
    [[nodiscard]] bool is_idle() const;
    /// No file waits to be given to the pool.
    [[nodiscard]] bool empty() const { return waiting_.empty(); }

  private:
    void submit_again(const std::shared_ptr<file_work>& work);
    void begin_waiting();
    void write(const std::shared_ptr<file_work>& work);
    void written(const std::shared_ptr<file_work>& work, const result<file_report>& outcome, const file_record& begun);

    struct of_store {
        size_t files = 0;
        size_t parts = 0;  ///< early parts that are with the pool
    };

    const model& data_;
    turn& turns_;
    iteration_book& book_;
    output_writer& output_;
    file_assembly& assembly_;
    settlement& settlement_;
    journal& journal_;
    loss_report& losses_;
    inbox& inbox_;
    worker_pool& pool_;
    std::vector<of_store> under_way_;
    std::deque<std::shared_ptr<file_work>> waiting_;  ///< not with the pool yet
    std::shared_ptr<file_work> unspilled_;            ///< has blocks of spill files in memory
};

}  // namespace halcyon::offload
