#include "coordinate/client/known_accesses.hpp"

#include <algorithm>

namespace halcyon::coordinate {

namespace {

int64_t bytes_of(const known_access& one) {
    return one.bytes > 0 ? one.bytes
                         : std::min(one.files, phase_forecast::farthest / known_accesses::bytes_of_file) *
                               known_accesses::bytes_of_file;
}

int64_t nanoseconds(double seconds) {
    return static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e9);
}

}  // namespace

phase_forecast known_accesses::forecast(int64_t moved, double since_s) const {
    phase_forecast coming;
    const level* const volume = outermost(bytes_of);
    const level* const time = outermost([](const known_access& one) { return one.alone_s; });
    const level* const period = outermost([](const known_access& one) { return one.period_s; });
    double share_left = 1;
    if (volume != nullptr) {
        const int64_t all = bytes_of(volume->known);
        coming.bytes_left = std::max<int64_t>(all - std::max<int64_t>(moved - volume->moved_before, 0), 0);
        share_left = static_cast<double>(coming.bytes_left) / static_cast<double>(all);
    }
    if (time != nullptr) coming.left_ns = nanoseconds(time->known.alone_s * share_left);
    if (period != nullptr) {
        coming.next_in_ns = nanoseconds(period->known.period_s - since_s);
        coming.next_bytes = volume == nullptr ? 0 : bytes_of(volume->known);
        coming.next_alone_ns = time == nullptr ? 0 : nanoseconds(time->known.alone_s);
        coming.next_probability = 1;
    }
    return coming;
}

phase_forecast known_accesses::after(int64_t moved, double since_s) const {
    phase_forecast coming = forecast(moved, since_s);
    coming.bytes_left = coming.left_ns = 0;
    return coming;
}

std::span<const uint32_t> known_accesses::targets() const {
    const level* const knows =
        outermost([](const known_access& one) { return one.uses_all_targets || !one.targets.empty() ? 1 : 0; });
    if (knows == nullptr || knows->known.uses_all_targets) return {};
    return knows->known.targets;
}

bool known_accesses::knows_next() const {
    return outermost([](const known_access& one) { return one.period_s; }) != nullptr;
}

}  // namespace halcyon::coordinate
