// What is synced, what is lost, and the view.

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "offload/server/node_server.hpp"

namespace halcyon::offload {

void node_server::sync_if_wanted() {
    segment_header& h = segment_.header();
    const int64_t through = stored_through_;
    const int64_t wanted = h.durable_wanted.load(std::memory_order_acquire);
    if (sync_running_ || wanted <= h.durable_through.load(std::memory_order_relaxed) || through < wanted) return;
    sync_running_ = true;
    pool_->submit([this, through, others = clients_that_stored()] {
        const result<void> outcome = output_->sync(others);
        tell([this, through, outcome] {
            sync_running_ = false;
            synced(through, outcome);
        });
    });
}

/// The clients of this node that stored blocks by themselves: an iteration is not durable without those.
output_writer::writers_meant node_server::clients_that_stored() const {
    std::set<std::string> names;
    for (uint32_t c = 0; c < segment_.geometry().clients; ++c)
        if (segment_.page(c).inlined_blocks.load(std::memory_order_acquire) > 0)
            names.insert(client_writer(book_.rank_of(c)));
    if (names.empty()) return {};
    return [names = std::move(names)](const std::string& writer) { return names.contains(writer); };
}

/// What could not be synced counts as failed; whoever waits for it hears so.
void node_server::synced(int64_t through, const result<void>& outcome) {
    segment_header& h = segment_.header();
    if (!outcome) {
        note(outcome.why().message);
        tell_of_failure(outcome.why(), h.durable_through.load(std::memory_order_relaxed) + 1);
    }
    h.durable_through.store(through, std::memory_order_release);
    progress_ = true;
}

void node_server::tell_of_failure(const failure& why, int64_t first) {
    ++counts_.failed_files;
    tell_clients_of_loss(first, why.message);
}

/// The lost files may have held any iteration, and some exist nowhere else.
void node_server::tell_of_lost(const std::optional<output_writer::lost_directory>& lost) {
    if (!lost) return;
    note(lost->what);
    counts_.lost_files += lost->files;
    tell_clients_of_loss(0, lost->what);
}

void node_server::tell_clients_of_loss(int64_t first, const std::string& why) {
    segment_header& h = segment_.header();
    std::strncpy(h.last_error, why.c_str(), sizeof h.last_error - 1);
    h.lost_from.store(std::min(first, h.lost_from.load(std::memory_order_relaxed)), std::memory_order_release);
    h.failed_files.fetch_add(1, std::memory_order_acq_rel);
}

/// Nobody could tell later that something is missing: the clients are told before they close.
void node_server::tell_of_unsaved_counts(const failure& why) {
    segment_header& h = segment_.header();
    // Of files that could not be written the clients hear all the same.
    if (h.failed_files.load(std::memory_order_relaxed) == 0)
        std::strncpy(h.last_error, why.message.c_str(), sizeof h.last_error - 1);
    h.unsaved_counts.store(1, std::memory_order_release);
}

/// From the beginning of one view to that of the next.
int64_t node_server::view_pause_ns() const {
    int64_t interval = INT64_MAX;
    for (const store& s : data_.stores) interval = std::min(interval, s.view_interval.count());
    return std::max(interval, view_share * view_took_ns_);
}

void node_server::rebuild_view_if_due() {
    if (document_.node != 0 || view_running_ || data_.stores.empty()) return;
    const int64_t time = monotonic_ns();
    if (!view_dirty_ || time - last_view_ns_ < view_pause_ns()) return;
    // With other nodes there may always be something new that they published.
    view_dirty_ = document_.nodes > 1;
    view_running_ = true;
    last_view_ns_ = time;
    pool_->submit([this] {
        const int64_t begin = monotonic_ns();
        const result<int64_t> outcome = output_->rebuild_views(all_writers());
        std::vector<std::string> remarks = output_->new_view_remarks();
        tell([this, outcome, took = monotonic_ns() - begin, remarks = std::move(remarks)] {
            view_running_ = false;
            view_took_ns_ = took;
            if (!outcome) note("view: " + outcome.why().message);
            for (const std::string& remark : remarks) note("view: " + remark);
        });
    });
}

std::vector<std::string> node_server::all_writers() const {
    std::vector<std::string> writers;
    writers.reserve(static_cast<size_t>(document_.nodes));
    for (int node = 0; node < document_.nodes; ++node) writers.push_back(node_writer(node));
    return writers;
}

}  // namespace halcyon::offload
