#include "offload/server/durability.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "offload/store/file_name.hpp"

namespace halcyon::offload {

durability::durability(const segment& shared, const model& data, const iteration_book& book, output_writer& output,
                       journal& notes, loss_report& losses, progress_notice& progress, inbox& news,
                       worker_pool& workers)
    : segment_(shared),
      data_(data),
      book_(book),
      output_(output),
      journal_(notes),
      losses_(losses),
      progress_(progress),
      inbox_(news),
      pool_(workers) {}

void durability::sync_if_wanted() {
    const segment_header& h = segment_.header();
    const int64_t through = journal_.stored_through();
    const int64_t wanted = h.durable_wanted.load(std::memory_order_acquire);
    if (running_ || wanted <= h.durable_through.load(std::memory_order_relaxed) || through < wanted) return;
    running_ = true;
    pool_.submit([this, through, others = clients_that_stored()] {
        const result<void> outcome = output_.sync(others);
        inbox_.tell([this, through, outcome] {
            running_ = false;
            synced(through, outcome);
        });
    });
}

bool durability::is_wanted_at_end() const {
    return segment_.header().durable_wanted.load() >= 0 ||
           std::all_of(data_.stores.begin(), data_.stores.end(), [](const store& s) { return s.durable; });
}

result<void> durability::sync_files() const {
    return output_.sync(clients_that_stored());
}

/// The clients of this node that stored blocks by themselves: an iteration is not durable without those.
output_writer::writers_meant durability::clients_that_stored() const {
    std::set<std::string> names;
    for (uint32_t c = 0; c < segment_.geometry().clients; ++c)
        if (segment_.page(c).inlined_blocks.load(std::memory_order_acquire) > 0)
            names.insert(client_writer(book_.rank_of(c)));
    if (names.empty()) return {};
    return [names = std::move(names)](const std::string& writer) { return names.contains(writer); };
}

void durability::synced(int64_t through, const result<void>& outcome) {
    segment_header& h = segment_.header();
    if (!outcome) {
        journal_.note(outcome.why().message);
        losses_.file_failed(outcome.why(), h.durable_through.load(std::memory_order_relaxed) + 1);
    }
    h.durable_through.store(through, std::memory_order_release);
    progress_.note();
}

}  // namespace halcyon::offload
