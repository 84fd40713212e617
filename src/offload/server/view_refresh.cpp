#include "offload/server/view_refresh.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "offload/store/file_name.hpp"

namespace halcyon::offload {

view_refresh::view_refresh(const model& data, int node, int nodes, output_writer& output, journal& notes, inbox& news,
                           worker_pool& workers)
    : data_(data), node_(node), nodes_(nodes), output_(output), journal_(notes), inbox_(news), pool_(workers) {}

/// From the beginning of one view to that of the next.
int64_t view_refresh::pause_ns() const {
    int64_t interval = INT64_MAX;
    for (const store& s : data_.stores) interval = std::min(interval, s.view_interval.count());
    return std::max(interval, share * took_ns_);
}

int64_t view_refresh::due_in_ns(int64_t longest_ns) const {
    if (!stale_ || running_ || node_ != 0) return longest_ns;
    return std::min(longest_ns, std::max<int64_t>(1'000'000, last_ns_ + pause_ns() - monotonic_ns()));
}

void view_refresh::rebuild_if_due() {
    if (node_ != 0 || running_ || data_.stores.empty()) return;
    const int64_t time = monotonic_ns();
    if (!stale_ || time - last_ns_ < pause_ns()) return;
    // With other nodes there may always be something new that they published.
    stale_ = nodes_ > 1;
    running_ = true;
    last_ns_ = time;
    pool_.submit([this] {
        const int64_t begin = monotonic_ns();
        const result<int64_t> outcome = output_.rebuild_views(all_writers());
        std::vector<std::string> remarks = output_.new_view_remarks();
        inbox_.tell([this, outcome, took = monotonic_ns() - begin, remarks = std::move(remarks)] {
            running_ = false;
            took_ns_ = took;
            tell_of(outcome, remarks);
        });
    });
}

result<int64_t> view_refresh::rebuild_at_end(bool of_all) {
    return output_.rebuild_views(of_all ? std::vector<std::string>{} : all_writers());
}

void view_refresh::tell_of(const result<int64_t>& outcome, const std::vector<std::string>& remarks) {
    if (!outcome) journal_.note("view: " + outcome.why().message);
    for (const std::string& remark : remarks) journal_.note("view: " + remark);
}

std::vector<std::string> view_refresh::all_writers() const {
    std::vector<std::string> writers;
    writers.reserve(static_cast<size_t>(nodes_));
    for (int node = 0; node < nodes_; ++node) writers.push_back(node_writer(node));
    return writers;
}

}  // namespace halcyon::offload
