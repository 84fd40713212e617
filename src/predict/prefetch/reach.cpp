#include "predict/prefetch/reach.hpp"

#include <algorithm>

namespace halcyon::predict::prefetch {

void reach::see_pause(int64_t begin_ns) {
    if (end_ns_ == 0) return;
    const int64_t pause = std::max<int64_t>(begin_ns - end_ns_, 0);
    pause_ns_ = std::max(pause_ns_, static_cast<double>(pause));
    since_paused_ns_ += pause;
}

/// A read had to wait until now.
void reach::measure(int64_t end_ns, int64_t bytes) {
    constexpr int64_t least_ns = 1'000'000;
    const int64_t took = end_ns - since_ns_;
    if (since_ns_ != 0 && took > 2 * since_paused_ns_) {
        if (took < least_ns || since_bytes_ < 4 * bytes) return;  // it goes on
        const double now = static_cast<double>(since_bytes_) / static_cast<double>(took);
        // A read that was only interrupted may be taken for one that had to wait: the next measure is much too fast.
        bytes_per_ns_ = bytes_per_ns_ <= 0 ? now : std::min((bytes_per_ns_ + now) / 2, 1.05 * bytes_per_ns_);
    }
    since_ns_ = end_ns;
    since_bytes_ = since_paused_ns_ = 0;
}

int64_t reach::enough(int64_t bytes) const {
    if (bytes_per_ns_ <= 0) return farthest;
    return std::max(static_cast<int64_t>(1.25 * pause_ns_ * bytes_per_ns_) + 4 * bytes, least);
}

void reach::read_asked(int64_t begin_ns, int64_t end_ns, int64_t bytes, bool waited) {
    see_pause(begin_ns);
    since_bytes_ += bytes;
    // One that waits for the storage waits half of the time that it takes there, on average; others were interrupted.
    if (bytes_per_ns_ > 0)
        waited &= 4 * bytes_per_ns_ * static_cast<double>(end_ns - begin_ns) >= static_cast<double>(bytes);
    if (waited) measure(end_ns, bytes);
    if (waited && !waited_) bytes_ = std::min(bytes_ * 2, enough(bytes));
    waited_ = waited;
    waited_lately_ |= waited;
    end_ns_ = end_ns;
}

void reach::read_other(int64_t begin_ns, int64_t end_ns, int64_t bytes) {
    see_pause(begin_ns);
    since_bytes_ += bytes;
    measure(end_ns, bytes);
    waited_ = true;
    end_ns_ = end_ns;
}

void reach::age() {
    pause_ns_ *= 0.9;
    if (!waited_lately_) bytes_ = std::max(bytes_ - bytes_ / 16, least);
    waited_lately_ = false;
}

}  // namespace halcyon::predict::prefetch
