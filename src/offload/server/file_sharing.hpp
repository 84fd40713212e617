#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/server/file_assembly.hpp"
#include "offload/server/file_queue.hpp"
#include "offload/server/file_work.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"
#include "offload/server/pending_iterations.hpp"
#include "offload/server/settlement.hpp"
#include "offload/server/shared_files.hpp"

namespace halcyon::offload {

/// This server's part in files that all servers of a world write together: offers what is complete, tells the others
/// for which iterations somebody waits here, and settles or takes back what became of an offer.
///
/// Threads: the event loop alone calls it; `shared_files` writes on threads of its own, and its news comes back through
/// the inbox.
class file_sharing {
  public:
    /// `files`: null where the server has no world, and shares nothing.
    file_sharing(const model& data, shared_files* files, iteration_book& book, output_writer& output,
                 file_assembly& assembly, settlement& settled, pending_iterations& pending, const file_queue& queue,
                 journal& notes, loss_report& losses, inbox& news);

    /// Says what of the configuration does not hold for shared files, or that there are none any more; takes part.
    void begin();
    [[nodiscard]] bool is_shared(uint32_t store) const { return files_ != nullptr && data_.stores[store].collective; }
    /// Somebody here waits for `iteration` of a shared store.
    void want(uint32_t store, int64_t iteration);
    /// Makes each offer whose time has come.
    void offer_what_is_ready();
    /// True when some offer was taken back, and its blocks are free for other files.
    bool withdraw_offers();
    [[nodiscard]] bool has_offers() const;
    /// How long until a failed file is tried again, but no more than `longest_ns`.
    [[nodiscard]] int64_t due_in_ns(int64_t longest_ns) const;

  private:
    struct of_store {
        std::shared_ptr<file_work> offered;
        int64_t wanted_by_any = -1;  ///< some server waits for this iteration
        int64_t told = -1;           ///< this server said that it waits for this one
        int64_t not_before_ns = 0;   ///< of the next attempt, after a failure
        int64_t give_up_ns = 0;      ///< 0: no attempt has failed
    };
    [[nodiscard]] bool is_ready(uint32_t store) const;
    void offer(uint32_t store, std::vector<int64_t> iterations);
    void done(uint32_t store, const shared_outcome& outcome);
    void take_back(uint32_t store, file_work& work, size_t kept);

    const model& data_;
    shared_files* files_;
    iteration_book& book_;
    output_writer& output_;
    file_assembly& assembly_;
    settlement& settlement_;
    pending_iterations& pending_;
    const file_queue& queue_;
    journal& journal_;
    loss_report& losses_;
    inbox& inbox_;
    std::vector<of_store> stores_;
};

}  // namespace halcyon::offload
