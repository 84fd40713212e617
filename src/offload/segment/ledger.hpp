#pragma once

#include <atomic>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace halcyon::offload {

/// What a node's servers have counted, whichever of them is at work; see docs/run-directory.md.
struct server_counts {
    int64_t iterations = 0, blocks = 0, bytes = 0;  ///< of iterations that are stored
    int64_t early_parts = 0, missing_blocks = 0, incomplete_iterations = 0;
    int64_t unstored_blocks = 0, unstored_bytes = 0;  ///< of a configuration without stores
    int64_t lost_signals = 0;
    int64_t rejected_blocks = 0, failed_files = 0, failed_actions = 0;
    int64_t ended_plugins = 0;      ///< processes of plugins that ended, or were ended, before their time
    int64_t plugins_aside = 0;      ///< plugins that are not run any more, since that was so too often
    int64_t skipped_actions = 0;    ///< runs of these
    int64_t unseen_blocks = 0;      ///< that a plugin did not get: stored to make room before it ran
    int64_t waiting_actions = 0;    ///< the most that waited for their turn at once, where that is notable
    int64_t overflowed_values = 0;  ///< finite values that `half` made infinite
    int64_t lost_files = 0;         ///< stored, and not there any more at the end
    int64_t unasked_bytes = 0;      ///< stored without the turn that the configuration asks for
    int64_t busy_ns = 0, idle_ns = 0;
};

/// The mark and the counts, which change together: a server that is killed between two instructions leaves the counts
/// of exactly the iterations that it marked.
struct ledger {
    int64_t stored_through = -1;  ///< all iterations up to this one are stored
    server_counts counts;
};

/// The ledger of a segment; lies in shared memory. The server at work is the only writer: it fills the page that is not
/// valid, then makes it the valid one by a single store (release). Its successor, or a client when there is none any
/// more, reads the valid page; nobody reads it while a server is at work.
class ledger_book {
  public:
    [[nodiscard]] ledger read() const { return pages_[valid_.load(std::memory_order_acquire) & 1]; }
    void write(const ledger& l) {
        const uint32_t other = (valid_.load(std::memory_order_relaxed) + 1) & 1;
        pages_[other] = l;
        valid_.store(other, std::memory_order_release);
    }

  private:
    ledger pages_[2];
    std::atomic<uint32_t> valid_{0};
};
static_assert(has_copied_layout<server_counts, 176, 8>());
static_assert(has_copied_layout<ledger, 184, 8>());
static_assert(has_shared_layout<ledger_book, 376, 8>());
static_assert(are_shared_atomics<uint32_t>);

}  // namespace halcyon::offload
